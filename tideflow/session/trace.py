"""A trace of one step: when each op ran, where, for how long, and what it made."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from threading import get_native_id
from typing import Any, NamedTuple

import numpy as np
import torch
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.step_stats_pb2 import NodeExecStats, StepStats

from tideflow.compile.ir import Node, Value
from tideflow.compile.prune import feed_op
from tideflow.compile.request import Hook
from tideflow.graph.shapes import TensorShape
from tideflow.ops.state.grouped_training import MEMBERS
from tideflow.runtime.waiting import StepContext
from tideflow.session.partitions import Devices

_clock = time.perf_counter_ns
_MOST_RECORDS = 10_000  # kept from step to step: of ops, or of ops with shapes that vary


# One run of an op: its record, start and end in nanoseconds of the process' clock, and the thread.
_Run = tuple["_NodeRecord", int, int, int]


class _Share(NamedTuple):
    """A part of a run, of which an earlier part has taken `before`; both are fractions of the whole."""

    run: int
    before: float
    share: float


class Trace:
    """Records every op that a plan runs; `fill` writes the records into a RunMetadata message.

    It serves one step at a time, again and again. What is the same in every step (names, sizes, the message
    itself where the same ops ran) is made once, so that a traced step takes little longer than any other.
    """

    def __init__(self, devices: Devices):
        self._devices = devices
        self._records: dict[Any, _NodeRecord] = {}  # by node; by node and shapes where those vary
        self._layout: _Layout | None = None
        self.begin()

    @property
    def hook(self) -> Hook:
        """What the plan calls around its kernels."""
        return Hook(self._after, self._before, looks_at_values=False)

    def begin(self) -> None:
        """A new step starts."""
        if len(self._records) > _MOST_RECORDS:
            self._records.clear()
        self._runs: list[_Run] = []
        self._events: list[tuple[_NodeRecord, Any]] = []  # on GPUs: when the op was done there
        self._epoch = time.time_ns() - _clock()
        self._began = _clock()
        self._free_since: dict[int, int] = {}  # by thread: when its last op ended
        self._gpu_began = {device: _gpu_event(device) for device in self._devices.gpus}

    def _before(self) -> None:
        """The next op of this thread starts now, and not when its last one ended."""
        self._free_since[get_native_id()] = _clock()

    def _after(
        self, context: StepContext, node: Node, outputs: tuple[Any, ...], inputs: tuple[Any, ...]
    ) -> None:
        now = _clock()
        record = self._records.get(node) or self._record(node, outputs, inputs)
        thread = get_native_id()
        self._runs.append((record, self._free_since.get(thread, self._began), now, thread))
        if record.on_gpu:
            self._events.append((record, _gpu_event(node.device)))
        self._free_since[thread] = _clock()

    def _record(self, node: Node, outputs: tuple[Any, ...], inputs: tuple[Any, ...]) -> _NodeRecord:
        if all(value.shape.is_fully_defined() for value in node.outputs):
            key: Any = node
        else:
            key = (node, tuple(tuple(_sizes(value)) for value in outputs))
        if key not in self._records:
            self._records[key] = _NodeRecord(node, self._devices.name_of(node), outputs, inputs)
        return self._records[key]

    # ------------------------------------------------------------------ the records as a message

    def fill(self, run_metadata: RunMetadata) -> None:
        """Writes the step's statistics, by device."""
        records = [run[0] for run in self._runs]
        layout = self._layout
        if layout is None or layout.records != records:
            layout = self._layout = _Layout(records, self._devices)
        stats = run_metadata.step_stats
        stats.CopyFrom(layout.message)
        began = (self._epoch + self._began) // 1000
        for device, places in zip(stats.dev_stats, layout.places, strict=True):
            for node_stats, place in zip(device.node_stats, places, strict=True):
                if isinstance(place, _Share):
                    _, start, end, thread = self._runs[place.run]
                    start, took = start + int((end - start) * place.before), int((end - start) * place.share)
                    _set_times(node_stats, self._epoch + start, took, thread)
                elif place < 0:
                    node_stats.all_start_micros = began + 2 * place
                else:
                    _, start, end, thread = self._runs[place]
                    _set_times(node_stats, self._epoch + start, end - start, thread)
        if self._events:
            self._add_gpu_times(stats)

    def _add_gpu_times(self, stats: StepStats) -> None:
        """The hook sees when the host launched a kernel; when a GPU ran it goes to a stream of its own."""
        streams: dict[torch.device, Any] = {}
        ended = dict.fromkeys(self._gpu_began, 0)
        for record, event in self._events:
            device = record.node.device
            if device not in streams:
                torch.cuda.synchronize(device)
                streams[device] = stats.dev_stats.add(device=f"/device:GPU:{device.index}/stream:all")
            start, end = ended[device], int(self._gpu_began[device].elapsed_time(event) * 1e6)
            node_stats = streams[device].node_stats.add(
                node_name=record.stats.node_name, timeline_label=record.stats.timeline_label
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


def _gpu_event(device: torch.device) -> Any:
    event: Any = torch.cuda.Event(enable_timing=True)
    event.record(torch.cuda.current_stream(device))
    return event


class _NodeRecord:
    """What the message says of an op, except its times."""

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
            output.shape.SetInParent()  # TensorBoard expects it of scalars too
            for dim in _sizes(value):
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
            self.stats.all_end_rel_micros = 1  # at least: TensorBoard shows ops that took no time as unused
        if node.definition.role == "constant" or node.definition.handle:
            self.stats.memory_stats.persistent_memory_size = sum(map(_nbytes, outputs))


def _memory_of(value: Any) -> int | None:
    return value.untyped_storage().data_ptr() if isinstance(value, torch.Tensor) else None


def _nbytes(value: Any) -> int:
    return value.nbytes if isinstance(value, (torch.Tensor, np.ndarray, _ExpectedValue)) else 0


def _sizes(value: Any) -> Sequence[int]:
    """The sizes of what an operation returned: none where a variable's shape is unknown."""
    shape = getattr(value, "shape", ())
    if isinstance(shape, TensorShape):
        return [size or 0 for size in shape.as_list()] if shape.ndims is not None else ()
    return shape


def _name(node: Node) -> str:
    return node.name.partition(":")[0] if node.definition is feed_op else node.name


def _label(node: Node) -> str:
    """What runs, in the form that TensorFlow's tools parse: `name = Type(inputs)`."""
    kind = "_Arg" if node.definition is feed_op else node.type
    return f"{_name(node)} = {kind}({', '.join(map(_edge, node.inputs))})"


def _edge(value: Value) -> str:
    name = _name(value.op)
    return f"{name}:{value.value_index}" if value.value_index else name


class _ExpectedValue:
    """Stands for the value of an op that runs no kernel in a step: its shape and size, where known."""

    def __init__(self, value: Value):
        count = value.shape.num_elements()
        self.shape = () if count is None else value.shape.as_list()
        self.nbytes = 0 if count is None else count * value.dtype.base_dtype.size


class _Layout:
    """A step's message but for the times. Ops that run no kernel in the step (constants, variables, feeds)
    are in it too: a reader would take an op that is missing for one that the step does not need.
    """

    def __init__(self, records: list[_NodeRecord], devices: Devices):
        self.records = records
        seen = {record.node for record in records}
        given = dict.fromkeys(
            value.op
            for record in records
            for value in record.node.inputs
            if value.op not in seen and _is_given(value.op)
        )
        entries: list[tuple[_NodeRecord, int | _Share]] = [
            (
                _NodeRecord(node, devices.name_of(node), [_ExpectedValue(value) for value in node.outputs]),
                i - len(given),
            )
            for i, node in enumerate(given)
        ]
        for i, record in enumerate(records):
            if MEMBERS in record.node.attrs:
                entries += _members(record, i, devices)
            else:
                entries.append((record, i))
        self.message = StepStats()
        # By device and entry of the message: which run it is, or which share of one. Ops that run no kernel
        # have negative numbers, which count down to the start of the step.
        self.places: list[list[int | _Share]] = []
        by_device: dict[str, list[tuple[_NodeRecord, int | _Share]]] = {devices.first: []}
        for entry in entries:
            by_device.setdefault(entry[0].device, []).append(entry)
        for name, its_entries in by_device.items():
            self.message.dev_stats.add(device=name, node_stats=[record.stats for record, _ in its_entries])
            self.places.append([place for _, place in its_entries])


def _members(record: _NodeRecord, run: int, devices: Devices) -> Iterator[tuple[_NodeRecord, _Share]]:
    """The updates of which a grouped update is made, each with its share of the run, by the sizes of the
    variables.
    """
    members = record.node.attrs[MEMBERS]
    sizes = [member.inputs[0].shape.num_elements() or 1 for member in members]
    before = 0.0
    for member, size in zip(members, sizes, strict=True):
        share = size / sum(sizes)
        yield _NodeRecord(member, devices.name_of(member), ()), _Share(run, before, share)
        before += share


def _is_given(node: Node) -> bool:
    """Whether an op runs no kernel in a step: its value is there when the step starts."""
    if node.definition is feed_op:
        return ":" in node.name  # a fed tensor, and not the variable of a loop
    return node.definition.role == "constant" or node.definition.handle
