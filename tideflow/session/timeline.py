"""A step's statistics as a trace that Chrome (chrome://tracing) and Perfetto show."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from tensorboard.compat.proto.step_stats_pb2 import NodeExecStats, StepStats

_LABEL = re.compile(r"(.*) = (.*)\((.*)\)")


class AllocationMaximum(NamedTuple):
    """When an allocator had given out the most, how much that was, and which tensors had it."""

    timestamp: int
    num_bytes: int
    tensors: set[str]


class StepStatsAnalysis(NamedTuple):
    """A step's trace, and the most that each allocator had given out."""

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class ChromeTrace:
    """Events in Chrome's format: those that describe the trace, then those that happened."""

    def __init__(self) -> None:
        self._metadata: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []

    def name_process(self, name: str, pid: int) -> None:
        self._metadata.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}})

    def add(self, phase: str, category: str, name: str, pid: int, tid: int, time: int, **rest: Any) -> None:
        event = {"ph": phase, "cat": category, "name": name, "pid": pid, "tid": tid, "ts": time}
        self._events.append({**event, **rest})

    def format_to_string(self, pretty: bool = False) -> str:
        """The trace as JSON."""
        trace = {"traceEvents": self._metadata + self._events}
        if pretty:
            return json.dumps(trace, indent=4, separators=(",", ": "))
        return json.dumps(trace, separators=(",", ":"))


class _Tensor:
    """An output of an op: from when to when it was in use, and where its arrows start."""

    def __init__(self, number: int, pid: int, start: int, end: int, source: tuple[int, int], memory: Any):
        self.number, self.pid, self.created, self.last_use = number, pid, start, end
        self.made_at, self.source = end, source
        self.allocator, self.num_bytes = memory.allocator_name, memory.requested_bytes


class _Ran(NamedTuple):
    """One run of an op, on the lane of the device's process where nothing else runs meanwhile."""

    stats: NodeExecStats
    device: str
    pid: int
    tensors_pid: int
    lane: int

    @property
    def start(self) -> int:
        return int(self.stats.all_start_micros)

    @property
    def end(self) -> int:
        return int(self.stats.all_start_micros + self.stats.all_end_rel_micros)

    @property
    def of_gpu(self) -> bool:
        return "/stream:" in self.device or "/memcpy" in self.device

    @property
    def what(self) -> tuple[str, str, list[str]]:
        """The op's name, its type and the names of its inputs."""
        name = self.stats.node_name
        if self.of_gpu:
            name, _, kind = name.partition(":")
            return name, kind.partition(":")[0] or "unknown", []
        if name == "RecvTensor":  # labelled in words of its own
            return name, name, []
        match = _LABEL.match(self.stats.timeline_label)
        if match is None:
            return name, "unknown", []
        return name, match[2], match[3].split(", ") if match[3] else []


class Timeline:
    """Turns a `StepStats` message, from a run with `trace_level=FULL_TRACE`, into a trace."""

    def __init__(self, step_stats: StepStats, graph: Any = None):
        self._step_stats = step_stats
        self._graph = graph

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        """The trace as JSON: a process for each device, an event for each op, arrows for the dataflow."""
        return self.analyze_step_stats(show_dataflow, show_memory).chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(self, show_dataflow: bool = True, show_memory: bool = True) -> StepStatsAnalysis:
        """The trace, and with `show_memory` how much memory was in use at most."""
        trace = ChromeTrace()
        trace.name_process("Allocators", 0)
        ran = list(self._runs(trace))
        tensors = _made(ran, trace if show_memory else None)
        arrows = 0
        for op in ran:
            name, kind, inputs = op.what
            named = {f"input{i}": source for i, source in enumerate(inputs)}
            took = op.stats.all_end_rel_micros
            facts = {"name": name, "op": kind, **named}
            trace.add("X", "Op", kind, op.pid, op.lane, op.start, dur=took, args=facts)
            for source, tensor in _found(inputs, tensors):
                tensor.last_use = max(tensor.last_use, op.end - 1)
                if show_dataflow and tensor.source != (op.pid, op.lane):
                    trace.add("s", "DataFlow", source, *tensor.source, tensor.made_at, id=arrows)
                    trace.add("t", "DataFlow", source, op.pid, op.lane, op.start, id=arrows)
                    arrows += 1
        return StepStatsAnalysis(trace, _count_memory(tensors, trace) if show_memory else {})

    def _runs(self, trace: ChromeTrace) -> Iterator[_Ran]:
        for i, device in enumerate(self._step_stats.dev_stats):
            pid, tensors_pid = 2 * i + 1, 2 * i + 2
            trace.name_process(f"{device.device} Compute", pid)
            trace.name_process(f"{device.device} Tensors", tensors_pid)
            for stats, lane in zip(device.node_stats, _lanes(device.node_stats), strict=True):
                yield _Ran(stats, device.device, pid, tensors_pid, lane)


def _lanes(runs: Any) -> Iterator[int]:
    """For each run the first lane that is free by then."""
    free_after = [0]
    for stats in runs:
        free = (i for i, end in enumerate(free_after) if stats.all_start_micros > end)
        lane = next(free, len(free_after))
        free_after[lane : lane + 1] = [stats.all_start_micros + stats.all_end_rel_micros]
        yield lane


def _made(ran: list[_Ran], trace: ChromeTrace | None) -> dict[str, _Tensor]:
    """Every tensor that was made, by name, and on request its beginning and its description in the trace."""
    tensors: dict[str, _Tensor] = {}
    for op in ran:
        for index, output in enumerate(op.stats.output):
            name = f"{op.stats.node_name}:{index}" if index else op.stats.node_name
            memory = output.tensor_description.allocation_description
            tensor = _Tensor(len(tensors), op.tensors_pid, op.start, op.end, (op.pid, op.lane), memory)
            tensors[name] = tensor
            if trace is not None:
                description = str(output.tensor_description).replace('"', "")
                where = (op.tensors_pid, op.lane)
                trace.add("N", "Tensor", name, *where, op.start, id=tensor.number)
                snapshot = {"snapshot": {"tensor_description": description}}
                trace.add("O", "Tensor", name, *where, op.end - 1, id=tensor.number, args=snapshot)
    return tensors


def _found(inputs: list[str], tensors: dict[str, _Tensor]) -> Iterator[tuple[str, _Tensor]]:
    """The tensors an op took. What was sent over from another device counts as taken from its origin."""
    for name in inputs:
        if name not in tensors and name.rfind("/_") > 0:
            name = name[: name.rfind("/_")]
        if name in tensors:
            yield name, tensors[name]


def _count_memory(tensors: dict[str, _Tensor], trace: ChromeTrace) -> dict[str, AllocationMaximum]:
    """Writes into the trace how the bytes in use of each allocator rise and fall; returns their maximums."""
    changes = defaultdict(list)
    for name, tensor in tensors.items():
        trace.add("D", "Tensor", name, tensor.pid, 0, tensor.last_use, id=tensor.number)
        changes[tensor.allocator].append((tensor.created, tensor.num_bytes, name))
        changes[tensor.allocator].append((tensor.last_use, -tensor.num_bytes, name))
    most = {}
    for allocator, its_changes in changes.items():
        most[allocator] = AllocationMaximum(0, 0, set())
        total, alive = 0, set()
        for time, num_bytes, name in sorted(its_changes):
            total += num_bytes
            alive.discard(name) if num_bytes < 0 else alive.add(name)
            if total > most[allocator].num_bytes:
                most[allocator] = AllocationMaximum(time, total, set(alive))
            trace.add("C", "Memory", allocator, 0, 0, time, args={allocator: total})
    return most
