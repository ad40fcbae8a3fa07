"""`tf.contrib.stat_summarizer`: where the time of traced steps goes, operation by operation, in tables."""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, NodeExecStats, StepStats

from tideflow.export import export

_LONGEST_TABLE = 10  # rows of the tables that begin with the largest
_NODES = (
    "\t             [node type]\t          [start]\t  [first]\t [avg ms]\t     [%]\t  [cdf%]\t  [mem KB]"
    "\t[times called]\t[Name]"
)
_TYPES = (
    "\t             [Node type]\t  [count]\t  [avg ms]\t    [avg %]\t    [cdf %]\t  [mem KB]\t[times called]"
)


@dataclass
class _Numbers:
    """What is left of integers that were seen, one a step."""

    count: int = 0
    first: int = 0
    last: int = 0
    least: int = 0
    most: int = 0
    sum: int = 0
    squares: int = 0

    def add(self, number: int) -> None:
        if not self.count:
            self.first = self.least = self.most = number
        self.count, self.last = self.count + 1, number
        self.least, self.most = min(self.least, number), max(self.most, number)
        self.sum, self.squares = self.sum + number, self.squares + number**2

    @property
    def mean(self) -> float:
        return self.sum / self.count

    def __str__(self) -> str:
        if not self.count:
            return "count=0"
        if self.least == self.most:
            return f"count={self.count} curr={self.last}" + ("(all same)" if self.count > 1 else "")
        deviation = math.sqrt(max(self.squares / self.count - self.mean**2, 0))
        return (
            f"count={self.count} first={self.first} curr={self.last} min={self.least} max={self.most} "
            f"avg={self.mean:g} std={int(deviation)}"
        )


@dataclass
class _Node:
    """What is known of an operation: in microseconds and bytes."""

    name: str
    type: str
    order: int
    start: _Numbers = field(default_factory=_Numbers)
    time: _Numbers = field(default_factory=_Numbers)
    memory: _Numbers = field(default_factory=_Numbers)
    calls: int = 0


@export("contrib.stat_summarizer.StatSummarizer")
class StatSummarizer:
    """Sums up traced steps of one graph.

    Args:
      *args: Once the graph, as bytes; not used.
    """

    def __init__(self, *args: Any) -> None:
        self._nodes: dict[str, _Node] = {}
        self._times, self._memory = _Numbers(), _Numbers()
        self._steps = 0

    def ProcessStepStatsStr(self, step_stats_str: bytes) -> None:
        """Adds a step.

        Args:
          step_stats_str: The `step_stats` of its RunMetadata, as bytes.
        """
        self.ProcessStepStats(StepStats.FromString(step_stats_str))

    def ProcessStepStats(self, step_stats: StepStats) -> None:
        """Adds a step.

        Args:
          step_stats: The `step_stats` of its RunMetadata.
        """
        every = [node for device in step_stats.dev_stats for node in device.node_stats]
        if not every:
            return
        begin, time, memory = every[0].all_start_micros, 0, 0
        self._steps += 1
        for device in step_stats.dev_stats:
            for stats in device.node_stats if _counts(device) else ():
                node = self._nodes.get(stats.node_name)
                if node is None:
                    node = _Node(stats.node_name, _type_of(stats), len(self._nodes))
                    self._nodes[stats.node_name] = node
                used = sum(each.total_bytes for each in stats.memory)
                node.start.add(stats.all_start_micros - begin)
                node.time.add(stats.all_end_rel_micros)
                node.memory.add(used)
                node.calls += 1
                time, memory = time + stats.all_end_rel_micros, memory + used
        self._times.add(time)
        self._memory.add(memory)

    def GetOutputString(self) -> str:
        """The tables: in order of execution, by time, by memory, by type, and a summary."""
        order, nodes = sorted(self._nodes.values(), key=lambda node: node.order), self._nodes.values()
        by_time = sorted(nodes, key=lambda node: node.time.sum, reverse=True)
        by_memory = sorted(nodes, key=lambda node: node.memory.sum, reverse=True)
        return "\n".join(
            [
                self._table("Run Order", order),
                self._table("Top by Computation Time", by_time[:_LONGEST_TABLE]),
                self._table("Top by Memory Use", by_memory[:_LONGEST_TABLE]),
                self._table_of_types(),
                self._summary(),
            ]
        )

    def PrintStepStats(self) -> None:
        """Writes the tables to the standard error output."""
        print(self.GetOutputString(), file=sys.stderr)

    def _table(self, title: str, nodes: Iterable[_Node]) -> str:
        rows, whole, share_so_far = [], max(self._times.sum, 1) if self._steps else 1, 0.0
        for node in nodes:
            share = 100.0 * node.time.sum / whole
            share_so_far += share
            rows.append(
                f"\t{node.type:>24}\t{node.start.mean / 1000:17.3f}\t{node.time.first / 1000:9.3f}"
                f"\t{node.time.mean / 1000:9.3f}\t{share:7.3f}%\t{share_so_far:7.3f}%"
                f"\t{node.memory.mean / 1000:10.3f}\t{node.calls // self._steps:9}\t{node.name}"
            )
        return _lines(title, _NODES, rows)

    def _table_of_types(self) -> str:
        types: dict[str, list[_Node]] = defaultdict(list)
        for node in self._nodes.values():
            types[node.type].append(node)
        times = {kind: _total(nodes, lambda node: node.time.mean) for kind, nodes in types.items()}
        rows, whole, so_far = [], max(sum(times.values()), 1), 0
        for kind in sorted(times, key=lambda kind: times[kind], reverse=True):
            nodes, time = types[kind], times[kind]
            so_far += time
            memory = _total(nodes, lambda node: node.memory.mean)
            calls = _total(nodes, lambda node: node.calls / self._steps)
            rows.append(
                f"\t{kind:>24}\t{len(nodes):9}\t{time / 1000:10.3f}\t{100 * time / whole:10.3f}%"
                f"\t{100 * so_far / whole:10.3f}%\t{memory / 1000:10.3f}\t{calls:9}"
            )
        executed = f"Number of nodes executed: {len(self._nodes)}\n"
        return executed + _lines("Summary by node type", _TYPES, rows)

    def _summary(self) -> str:
        return (
            f"Timings (microseconds): {self._times}\nMemory (bytes): {self._memory}\n"
            f"{len(self._nodes)} nodes observed\n\n"
        )


def _counts(device: DeviceStepStats) -> bool:
    """Whether a device's list is of operations, and not the same ones again as a device sees them."""
    of_one_stream = "/stream" in device.device and "/stream:all" not in device.device
    return not of_one_stream and "/host:CPU" not in device.device


def _type_of(stats: NodeExecStats) -> str:
    """The type, of a label such as `sum = AddV2(x, y)`."""
    _, sign, rest = stats.timeline_label.partition(" = ")
    return rest.partition("(")[0] if sign else "<>"


def _total(nodes: Iterable[_Node], of_node: Callable[[_Node], float]) -> int:
    return sum(int(of_node(node)) for node in nodes)


def _lines(title: str, columns: str, rows: Iterable[str]) -> str:
    bar = "=" * 30
    return "\n".join([f"{bar} {title} {bar}", columns, *rows, ""])


@export("contrib.stat_summarizer.NewStatSummarizer")
def NewStatSummarizer(unused: Any) -> StatSummarizer:
    """Makes an object that sums up traced steps.

    Args:
      unused: Once the graph, as bytes.

    Returns:
      The object.
    """
    return StatSummarizer()


@export("contrib.stat_summarizer.DeleteStatSummarizer")
def DeleteStatSummarizer(stat_summarizer: StatSummarizer) -> None:
    """Gives an object back, which Python does by itself.

    Args:
      stat_summarizer: The object.
    """
