"""A trace of one step: when each op ran, where, for how long, and what it made."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from threading import get_native_id
from typing import Any

import numpy as np
import torch
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.step_stats_pb2 import NodeExecStats, StepStats

from tideflow.compile.group import MEMBERS
from tideflow.compile.ir import Node, Value
from tideflow.compile.prune import feed_op
from tideflow.session.partitions import Devices

_clock = time.perf_counter_ns
_MOST_TOLD = 10_000  # ops, or ops with shapes that vary, of which the words are kept


class Trace:
    """A hook of a plan that notes every op; `fill` writes what it saw into a RunMetadata message.

    It serves one step at a time, again and again: what is the same in every step (names, sizes, the message
    itself where the same ops ran) is made once, so that a traced step takes little longer than any other.
    """

    in_place = True  # it looks at no values: the plan may write over them, as it does when nobody looks

    def __init__(self, devices: Devices):
        self._devices = devices
        self._told: dict[Any, _Told] = {}  # by node; by node and shapes where those vary
        self._layout: _Layout | None = None
        self.begin()

    def begin(self) -> None:
        """A new step starts."""
        if len(self._told) > _MOST_TOLD:
            self._told.clear()
        self._seen: list[tuple[_Told, int, int, int]] = []
        self._events: list[tuple[_Told, torch.cuda.Event]] = []
        self._epoch = time.time_ns() - _clock()
        self._began = _clock()
        self._free_since: dict[int, int] = {}  # when each thread ended the op before
        self._gpu_began = {device: _gpu_event(device) for device in self._devices.gpus}

    def before(self) -> None:
        """The next op of this thread starts now, and not when the one before it ended."""
        self._free_since[get_native_id()] = _clock()

    def __call__(self, node: Node, outputs: tuple, inputs: tuple) -> None:
        now = _clock()
        told = self._told.get(node) or self._tell(node, outputs, inputs)
        thread = get_native_id()
        self._seen.append((told, self._free_since.get(thread, self._began), now, thread))
        if told.on_gpu:
            self._events.append((told, _gpu_event(node.device)))
        self._free_since[thread] = _clock()

    def _tell(self, node: Node, outputs: tuple, inputs: tuple) -> _Told:
        if all(value.shape.is_fully_defined() for value in node.outputs):
            key: Any = node
        else:
            key = (node, tuple(getattr(value, "shape", None) for value in outputs))
        if key not in self._told:
            self._told[key] = _Told(node, self._devices.name_of(node), outputs, inputs)
        return self._told[key]

    # ------------------------------------------------------------------ what was seen, as a message

    def fill(self, run_metadata: RunMetadata) -> None:
        """Writes the step's statistics, by device."""
        told = [entry[0] for entry in self._seen]
        layout = self._layout
        if layout is None or layout.told != told:
            layout = self._layout = _Layout(told, self._devices)
        stats = run_metadata.step_stats
        stats.CopyFrom(layout.message)
        began = (self._epoch + self._began) // 1000
        for device, where in zip(stats.dev_stats, layout.where, strict=True):
            for node_stats, i in zip(device.node_stats, where, strict=True):
                if i.__class__ is tuple:
                    i, before, share = i
                    _, start, end, thread = self._seen[i]
                    start, took = start + int((end - start) * before), int((end - start) * share)
                    _set_times(node_stats, self._epoch + start, took, thread)
                elif i < 0:
                    node_stats.all_start_micros = began + 2 * i
                else:
                    _, start, end, thread = self._seen[i]
                    _set_times(node_stats, self._epoch + start, end - start, thread)
        if self._events:
            self._add_gpu_times(stats)

    def _add_gpu_times(self, stats: StepStats) -> None:
        """What the host notes is when it asked for a kernel; a GPU's own times go to its stream."""
        streams: dict[torch.device, Any] = {}
        ended = dict.fromkeys(self._gpu_began, 0)
        for told, event in self._events:
            device = told.node.device
            if device not in streams:
                torch.cuda.synchronize(device)
                streams[device] = stats.dev_stats.add(device=f"/device:GPU:{device.index}/stream:all")
            start, end = ended[device], int(self._gpu_began[device].elapsed_time(event) * 1e6)
            node_stats = streams[device].node_stats.add(
                node_name=told.stats.node_name, timeline_label=told.stats.timeline_label
            )
            _set_times(node_stats, self._epoch + self._began + start, max(0, end - start), 0)
            ended[device] = max(start, end)


def _set_times(stats: NodeExecStats, start: int, took: int, thread: int) -> None:
    micros, took_micros = start // 1000, took // 1000
    stats.all_start_micros = stats.scheduled_micros = micros
    stats.op_end_rel_micros, stats.all_end_rel_micros = took_micros, took_micros + 1
    stats.all_start_nanos = start
    stats.op_end_rel_nanos = stats.all_end_rel_nanos = took
    stats.thread_id = thread


def _gpu_event(device: torch.device) -> torch.cuda.Event:
    event = torch.cuda.Event(enable_timing=True)
    event.record(torch.cuda.current_stream(device))
    return event


class _Told:
    """What is to be said of an op besides its times."""

    __slots__ = ("device", "node", "on_gpu", "stats")

    def __init__(self, node: Node, device: str, outputs: Sequence[Any], inputs: Sequence[Any] = ()):
        self.node, self.device = node, device
        self.on_gpu = node.device is not None and node.device.type == "cuda"
        self.stats = NodeExecStats(node_name=_name(node), timeline_label=_label(node))
        allocator = "gpu_bfc" if self.on_gpu else "cpu"
        held = {_memory_of(value) for value in inputs}
        made = 0
        for slot, (value, planned) in enumerate(zip(outputs, node.outputs, strict=False)):
            size = _nbytes(value)
            output = self.stats.output.add(slot=slot).tensor_description
            output.dtype = planned.dtype.base_dtype.as_datatype_enum
            output.shape.SetInParent()  # TensorBoard wants it of scalars too
            for dim in getattr(value, "shape", ()):
                output.shape.dim.add(size=dim)
            output.allocation_description.requested_bytes = size
            output.allocation_description.allocator_name = allocator
            if (
                isinstance(value, torch.Tensor)
                and _memory_of(value) not in held
                and node.definition.role not in ("constant", "read")
            ):
                made += size
        if made:
            self.stats.memory.add(
                allocator_name=allocator, total_bytes=made, peak_bytes=made, live_bytes=made
            )
        if _is_given(node):
            self.stats.all_end_rel_micros = 1  # at least: what took no time TensorBoard shows as unused
        if node.definition.role == "constant" or node.definition.handle:
            self.stats.memory_stats.persistent_memory_size = sum(map(_nbytes, outputs))


def _memory_of(value: Any) -> int | None:
    return value.untyped_storage().data_ptr() if isinstance(value, torch.Tensor) else None


def _nbytes(value: Any) -> int:
    return value.nbytes if isinstance(value, (torch.Tensor, np.ndarray, _Planned)) else 0


def _name(node: Node) -> str:
    return node.name.partition(":")[0] if node.definition is feed_op else node.name


def _label(node: Node) -> str:
    """What runs, in the words that TensorFlow's tools take apart: `name = Type(inputs)`."""
    kind = "_Arg" if node.definition is feed_op else node.type
    return f"{_name(node)} = {kind}({', '.join(map(_edge, node.inputs))})"


def _edge(value: Value) -> str:
    name = _name(value.op)
    return f"{name}:{value.value_index}" if value.value_index else name


class _Planned:
    """The value of an op that costs a step nothing, as its shape foretells it."""

    def __init__(self, value: Value):
        known = value.shape.is_fully_defined()
        self.shape = value.shape.as_list() if known else ()
        self.nbytes = value.shape.num_elements() * value.dtype.base_dtype.size if known else 0


class _Layout:
    """A step's message but for the times. Ops that are there before the step starts (constants, variables,
    feeds) stand in it too: what a reader finds missing he takes for unused.
    """

    def __init__(self, told: list[_Told], devices: Devices):
        self.told = told
        seen = {each.node for each in told}
        given = dict.fromkeys(
            value.op
            for each in told
            for value in each.node.inputs
            if value.op not in seen and _is_given(value.op)
        )
        entries: list[tuple[_Told, Any]] = [
            (_Told(node, devices.name_of(node), [_Planned(value) for value in node.outputs]), i - len(given))
            for i, node in enumerate(given)
        ]
        for i, each in enumerate(told):
            if MEMBERS in each.node.attrs:
                entries += [(part, (i, *share)) for part, *share in _parts(each, devices)]
            else:
                entries.append((each, i))
        self.message = StepStats()
        # By device: which of what was seen, or what part of it; what was given counts down to the start.
        self.where: list[list[int | tuple[int, float, float]]] = []
        by_device: dict[str, list[tuple[_Told, Any]]] = {devices.first: []}
        for entry in entries:
            by_device.setdefault(entry[0].device, []).append(entry)
        for name, mine in by_device.items():
            self.message.dev_stats.add(device=name, node_stats=[each.stats for each, _ in mine])
            self.where.append([i for _, i in mine])


def _parts(told: _Told, devices: Devices) -> Iterator[tuple[_Told, float, float]]:
    """Of a call that updates many variables: the updates that the user made, each with what is before it and
    its own share of the whole, by the sizes of the variables.
    """
    members = told.node.attrs[MEMBERS]
    sizes = [member.inputs[0].shape.num_elements() or 1 for member in members]
    before = 0.0
    for member, size in zip(members, sizes, strict=True):
        yield _Told(member, devices.name_of(member), ()), before, size / sum(sizes)
        before += size / sum(sizes)


def _is_given(node: Node) -> bool:
    if node.definition is feed_op:
        return ":" in node.name  # a fed tensor, and not the variable of a loop
    return node.definition.role == "constant" or node.definition.handle
