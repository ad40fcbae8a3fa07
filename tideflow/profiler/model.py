"""What is profiled: the nodes of a graph with what is known of them, from shapes, traces and logs."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.step_stats_pb2 import NodeExecStats

from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation
from tideflow.graph.shapes import TensorShape
from tideflow.platform.compat import as_str_any
from tideflow.profiler.protos import OpLogProto

_PLACED = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu):\d+")  # where the host's times stand
_STREAM = re.compile(r".*stream:all.*")  # where a GPU's own times stand
_GRADIENT = re.compile(r"gradients/(.*?)_grad/")


@dataclass
class Ran:
    """What a node did in one step."""

    cpu: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # by device: start and microseconds
    accelerator: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    memory: Counter = field(default_factory=Counter)

    def add(self, device: str, stats: NodeExecStats) -> None:
        times = self.accelerator if _STREAM.fullmatch(device) else self.cpu
        micros = stats.op_end_rel_micros if times is self.cpu else stats.all_end_rel_micros
        times.setdefault(device, []).append((stats.all_start_micros, max(1, micros)))
        kept = stats.memory_stats.persistent_memory_size
        taken = kept + stats.memory_stats.temp_memory_size
        for used in stats.memory:
            self.memory["requested_bytes"] += used.total_bytes
            self.memory["peak_bytes"] += used.peak_bytes
            self.memory["residual_bytes"] += used.live_bytes
        self.memory["requested_bytes"] += taken
        self.memory["peak_bytes"] += taken
        self.memory["residual_bytes"] += kept
        for output in stats.output:
            memory = output.tensor_description.allocation_description
            self.memory["output_bytes"] += max(memory.requested_bytes, memory.allocated_bytes)

    @property
    def counts(self) -> Counter:
        cpu, accelerator = (
            sum(micros for runs in times.values() for _, micros in runs)
            for times in (self.cpu, self.accelerator)
        )
        return Counter(
            run_count=max(map(len, self.cpu.values()), default=0),
            exec_micros=cpu + accelerator,
            cpu_exec_micros=cpu,
            accelerator_exec_micros=accelerator,
            **self.memory,
        )


@dataclass
class ModelNode:
    """One node of the graph, or of a trace whose graph has no such node."""

    name: str
    op: str
    inputs: list[str] = field(default_factory=list)
    input_shapes: dict[int, list[int] | None] = field(default_factory=dict)
    shape: list[int] = field(default_factory=list)  # of a variable or placeholder
    data_format: str = ""
    device: str = ""
    types: set[str] = field(default_factory=set)
    float_ops: int = 0
    traces: list[str] = field(default_factory=list)  # outermost line first
    steps: dict[int, Ran] = field(default_factory=dict)

    @property
    def parameters(self) -> int:
        known = self.shape and all(size >= 0 for size in self.shape)
        return math.prod(self.shape) if known else 0

    @property
    def all_types(self) -> set[str]:
        return {self.op, *self.types, *([self.device] if self.device else [])}

    def counts(self, step: int = -1) -> Counter:
        """Its numbers in a step, or on average over all of them."""
        ran = [self.steps[step]] if step in self.steps else list(self.steps.values()) if step < 0 else []
        total = sum((each.counts for each in ran), Counter())
        counts = Counter({key: value // len(ran) for key, value in total.items()})
        counts["parameters"] = self.parameters
        counts["float_ops"] = self.float_ops * (counts["run_count"] if self.steps else 1)
        counts["definition_count"] = 1
        return counts


class Model:
    """A graph's nodes by name, and the steps that were traced of it."""

    def __init__(self, graph: Graph | None):
        self.nodes: dict[str, ModelNode] = {}
        self.steps: list[int] = []
        if graph is not None:
            self.add_graph(graph)

    def add_graph(self, graph: Graph) -> None:
        """Takes in the graph's nodes that are new, and shapes that have become known."""
        for op in graph.get_operations():
            node = self.nodes.get(op.name)
            if node is None:
                node = self.nodes[op.name] = ModelNode(op.name, op.type, device=op.device.lower())
                node.shape = _dims(op.attrs.get("shape"))
                node.data_format = as_str_any(op.attrs.get("data_format", ""))
                node.inputs = [tensor.op.name for tensor in op.inputs]
                node.inputs += sorted(control.name for control in op.control_inputs)
            node.input_shapes = _input_shapes(op)

    def add_log(self, op_log: OpLogProto) -> None:
        """Takes in what a log says of nodes: types, counts, lines of the program."""
        words = op_log.id_to_string
        for entry in op_log.log_entries:
            node = self.nodes.get(entry.name)
            if node is None:
                continue
            node.types.update(entry.types)
            node.float_ops = entry.float_ops or node.float_ops
            if entry.code_def.traces:
                node.traces = [
                    _line(words[trace.file_id], trace.lineno, words[trace.function_id])
                    for trace in entry.code_def.traces
                ]

    def add_step(self, step: int, run_metadata: RunMetadata) -> None:
        """Takes in the trace of a step; several of the same number make one."""
        self.steps = sorted({*self.steps, step})
        for device in run_metadata.step_stats.dev_stats:
            name = device.device.lower()
            if not (_PLACED.fullmatch(name) or _STREAM.fullmatch(name)):
                continue
            for stats in device.node_stats:
                if stats.node_name in ("_SOURCE", "_SINK"):
                    continue
                called = stats.node_name.partition(":")[0]
                node = self.nodes.setdefault(called, ModelNode(called, called))
                if not _STREAM.fullmatch(name):
                    node.device = name
                node.steps.setdefault(step, Ran()).add(name, stats)

    def trace_of(self, node: ModelNode) -> list[str]:
        """The lines of the program that made a node; of a gradient those of what it is the gradient of."""
        match = _GRADIENT.search(node.name)
        forward = self.nodes.get(match[1]) if match else None
        if forward is not None and forward.traces:
            return [f"{line} (gradient)" for line in forward.traces]
        return node.traces


def _line(file: str, lineno: int, function: str) -> str:
    return f"{file.rpartition('/')[2]}:{lineno}:{function}"


def _dims(shape: Any) -> list[int]:
    if not isinstance(shape, TensorShape) or shape.ndims is None:
        return []
    return [-1 if size is None else size for size in shape.as_list()]


def _input_shapes(op: Operation) -> dict[int, list[int] | None]:
    """By input, those that only wait counted too: the shape of what comes from there, None where nothing is
    known of it; a scalar is `[1]`.
    """
    controls = sorted(op.control_inputs, key=lambda control: control.name)
    sources = [*op.inputs, *(control.outputs[0] if control.outputs else None for control in controls)]
    shapes = [TensorShape(None) if tensor is None else tensor.shape for tensor in sources]
    return {i: None if shape.ndims is None else _dims(shape) or [1] for i, shape in enumerate(shapes)}
