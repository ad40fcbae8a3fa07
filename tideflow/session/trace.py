"""A trace of one step: when each op ran, for how long, and how much it made."""

from __future__ import annotations

import threading
import time
from typing import Any

import torch

from tideflow.compile.ir import Node

_CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


class Trace:
    """A hook of the plan that notes every op; `fill` writes what it saw into a RunMetadata message."""

    def __init__(self):
        self._began = time.time_ns()
        self._clock = self._last = time.perf_counter_ns()
        self._seen: list[tuple[Node, int, int, int]] = []

    def __call__(self, node: Node, outputs: tuple, inputs: tuple) -> None:
        now = time.perf_counter_ns()
        size = sum(value.nbytes for value in outputs if isinstance(value, torch.Tensor))
        self._seen.append((node, self._last, now, size))
        self._last = time.perf_counter_ns()

    def fill(self, run_metadata: Any) -> None:
        """Writes the step's statistics, by device."""
        run_metadata.Clear()
        by_device = {_CPU: run_metadata.step_stats.dev_stats.add(device=_CPU)}
        for node, start, end, size in self._seen:
            device = _device_name(node)
            if device not in by_device:
                by_device[device] = run_metadata.step_stats.dev_stats.add(device=device)
            stats = by_device[device].node_stats.add(
                node_name=node.name, thread_id=threading.get_native_id() % 2**31
            )
            stats.all_start_micros = (self._began + start - self._clock) // 1000
            stats.op_end_rel_micros = stats.all_end_rel_micros = max(1, (end - start) // 1000)
            stats.all_start_nanos = self._began + start - self._clock
            stats.op_end_rel_nanos = stats.all_end_rel_nanos = end - start
            stats.timeline_label = f"{node.name} = {node.type}({', '.join(map(repr, node.inputs))})"
            if size:
                stats.memory.add(allocator_name="cpu", total_bytes=size, peak_bytes=size)


def _device_name(node: Node) -> str:
    device = node.device
    if device is None or device.type == "cpu":
        return _CPU
    return f"/job:localhost/replica:0/task:0/device:GPU:{device.index}"
