"""Partition: one graph for each task of a step, joined by Send and Recv where an edge was cut.

Every part keeps the order of the whole step: a Send comes right after what it sends, a Recv right before its
first use. So the tasks can run their parts in that order, each waiting at its Recvs, without a deadlock: the
first operation of the whole order that has not run never waits. Nodes that are added here have names that
begin with a dot. A value is sent to each task once, however many operations use it there. A reference to a
variable is sent as what the variable holds: to an operation that runs after a write of the step, what it held
then.

A loop that spans tasks needs an operation on each of them that runs once in every iteration: the Merge of a
loop variable on that task, or else a small control loop that receives the predicate.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.compile.build import variable_behind, writes_references
from tideflow.compile.calls import lowering
from tideflow.compile.frames import ENTER, MERGE, NEXT, SWITCH, Frame, frames_of, is_back_edge
from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.graph_def import add_library, attr_proto
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.ops.distributed.sending import RECV, SEND
from tideflow.ops.distributed.variants import PACK, UNPACK

_COPIED_BYTES = 1 << 20
_BEFORE, _AT, _AFTER = -1, 0, 1  # where an added node goes, seen from the operation that it was made for


@dataclass
class TaskGraph:
    """The part of a step that one task runs."""

    graph_def: GraphDef
    feeds: list[tuple[int, str]] = field(default_factory=list)  # position among the step's feeds, tensor here
    fetches: list[tuple[int, str]] = field(default_factory=list)  # position among its fetches, tensor
    targets: list[str] = field(default_factory=list)
    sends_to: set[str] = field(default_factory=set)


@dataclass
class Partition:
    """A step in parts, by task. All parts run on the token executor where an edge was cut that is in a loop,
    or that may carry a dead value.
    """

    parts: dict[str, TaskGraph]
    needs_tokens: bool


def partition(
    ops: Set[Operation],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: Sequence[Tensor],
    task_of: Mapping[Operation, str],
    device_of: Mapping[Operation, str],
) -> Partition:
    """Cuts a step, of which `ops` are the operations, into a part for each task."""
    cutter = _Cutter(ops, feeds, task_of, device_of)
    for op in cutter.order:
        cutter.add(op)
    parts = cutter.parts()
    for i, tensor in enumerate(fetches):
        if tensor not in cutter.fed:
            parts[cutter.task_of[tensor.op]].fetches.append((i, tensor.name))
    for op in dict.fromkeys(targets):
        parts[cutter.task_of[op]].targets.append(op.name)
    for task, part in parts.items():
        # A part runs whole: a Send is a target, since no fetch of this task depends on it.
        part.targets += [node.name for node in part.graph_def.node if node.op == SEND]
        part.feeds = sorted(cutter.taken_feeds.get(task, {}).items())
    return Partition(parts, cutter.needs_tokens)


class _Cutter:
    def __init__(
        self,
        ops: Set[Operation],
        feeds: Sequence[Tensor],
        task_of: Mapping[Operation, str],
        device_of: Mapping[Operation, str],
    ):
        self.ops = ops
        self.fed = {tensor: i for i, tensor in enumerate(feeds)}
        self.order, self.frame_of = frames_of(ops, set(self.fed))
        self.position = {op: i for i, op in enumerate(self.order)}
        self.task_of = _with_loops_together(self.order, task_of)
        self.device_of = device_of
        self.guards = _guards(self.order, self.fed)
        self.nodes: dict[str, list[tuple[tuple[int, int, int], NodeDef]]] = {}
        self.taken_feeds: dict[str, dict[int, str]] = {}
        self.needs_tokens = False
        # What was cut, and where to -> its Recv.
        self._received: dict[tuple[Any, str, frozenset[Any]], str] = {}
        self._constants: dict[Tensor, bool] = {}
        self._copies: dict[tuple[Operation, str], str] = {}
        self._triggers: dict[tuple[Frame, str], str] = {}
        self._sends_to: dict[str, set[str]] = {}
        self._numbers = itertools.count()
        self._writers = _writers(self.order)

    def parts(self) -> dict[str, TaskGraph]:
        made = {}
        for task, nodes in self.nodes.items():
            nodes.sort(key=lambda item: item[0])
            graph_def = GraphDef(node=[node for _, node in nodes])
            add_library(self.order[0].graph, graph_def)
            made[task] = TaskGraph(graph_def, sends_to=self._sends_to.get(task, set()))
        return made

    def add(self, op: Operation) -> None:
        """Adds an operation to the part of its task, with the names that its inputs have there."""
        task, at = self.task_of[op], self.position[op]
        device = self.device_of[op]
        node = NodeDef(name=op.name, op=op.type, device=device if device.startswith(f"{task}/") else "")
        for key, value in op.node_def.attr.items():
            if key != "_class":  # it has been placed
                node.attr[key].CopyFrom(value)
        node.input.extend([self._input(tensor, op, task) for tensor in op.inputs])
        controls = [control for control in dict.fromkeys(op.control_inputs) if control in self.ops]
        node.input.extend([f"^{self._control(control, task, at)}" for control in controls])
        self._put(task, at, _AT, node)

    def _put(self, task: str, position: int, side: int, node: NodeDef) -> str:
        self.nodes.setdefault(task, []).append(((position, side, next(self._numbers)), node))
        name: str = node.name
        return name

    # ------------------------------------------------------------------ edges

    def _input(self, tensor: Tensor, op: Operation, task: str) -> str:
        if tensor in self.fed:
            return self._feed(tensor, task)
        if self.task_of[tensor.op] == task:
            return tensor.name.removesuffix(":0")
        # The edge to the next iteration leads to a Merge, which comes before what makes the value.
        at = self.position[tensor.op] if is_back_edge(tensor, op) else self.position[op]
        return self._across(tensor, tensor.op, task, at, self._writes_seen(tensor, op))

    def _writes_seen(self, tensor: Tensor, reader: Operation) -> frozenset[Operation]:
        """What a reference must not be read before, if an operation of another task is the reader: the step's
        writes of the variable that come before it. Where they are conditional, and the reader is not, it is
        what the reader itself waits for.
        """
        if not tensor.dtype._is_ref_dtype or self.frame_of[reader].parent is not None:
            return frozenset()
        writers = self._writers.get(variable_behind(tensor), set()) & self._before(reader)
        if all(self.guards[writer] <= self.guards[reader] for writer in writers):
            return frozenset(writers)
        waited = {source.op for source in reader.inputs if source not in self.fed} | {*reader.control_inputs}
        return frozenset(waited & self.ops - {tensor.op})

    def _before(self, op: Operation) -> set[Operation]:
        """The operations on whose results or ends an operation depends."""
        found: set[Operation] = set()
        stack = [op]
        while stack:
            op = stack.pop()
            sources = {tensor.op for tensor in op.inputs if tensor not in self.fed} | {*op.control_inputs}
            stack += (sources & self.ops) - found
            found |= sources
        return found

    def _feed(self, tensor: Tensor, task: str) -> str:
        index = self.fed[tensor]
        taken = self.taken_feeds.setdefault(task, {})
        if index not in taken:
            node = NodeDef(name=f".feed_{index}", op="Placeholder")
            node.attr["dtype"].CopyFrom(attr_proto(tensor.dtype.base_dtype, "type"))
            node.attr["shape"].CopyFrom(attr_proto(tensor.shape, "shape"))
            self._put(task, -1, _AT, node)
            taken[index] = f"{node.name}:0"
        return f".feed_{index}"

    def _control(self, control: Operation, task: str, at: int) -> str:
        if self.task_of[control] == task:
            return control.name
        return self._across(None, control, task, at)

    def _across(
        self,
        tensor: Tensor | None,
        source: Operation,
        task: str,
        at: int,
        after: frozenset[Operation] = frozenset(),
    ) -> str:
        """The name, in the part of another task, of a tensor, or of a signal that an operation has run. It is
        sent after some operations, which come before the position where it is used.
        """
        key = (source if tensor is None else tensor, task, after)
        if key in self._received:
            self._advance(self._received[key], task, at)
            return self._received[key]
        if tensor is not None and self._is_constant(tensor):
            self._received[key] = self._copy(tensor, task, at)
            return self._received[key]
        here = self.task_of[source]
        frame = self.frame_of[source]
        self.needs_tokens |= (
            frame.parent is not None
            or source.type in SWITCH
            or any(self.guards[op] for op in (source, *after))
        )
        if tensor is None:
            sent = self._zero(here, self.position[source], _AFTER, [f"^{source.name}"])
            dtype, shape = dtypes.float32, TensorShape([])
        else:
            sent, dtype, shape = tensor.name.removesuffix(":0"), tensor.dtype.base_dtype, tensor.shape
        if dtype is dtypes.resource:
            raise InvalidArgumentError(
                source.node_def,
                source,
                f"'{sent}' is a handle ({dtype.name}), which means something on its own task only ({here}); "
                f"an operation on {task} takes it. Place the two on one task.",
            )
        is_variant = dtype is dtypes.variant
        if is_variant:
            sent = self._converted(PACK, sent, here, self.position[source], _AFTER)
            dtype, shape = dtypes.string, TensorShape([])
        edge = f"edge_{next(self._numbers)}_{sent}"
        send = self._end(SEND, edge, here, task, dtype, [sent])
        waited = sorted(after, key=self.position.__getitem__)
        send.input.extend(f"^{self._control(op, here, at)}" for op in waited)
        self._put(here, *((at, _BEFORE) if after else (self.position[source], _AFTER)), send)
        self._sends_to.setdefault(here, set()).add(task)
        recv = self._end(RECV, edge, here, task, dtype, [])
        recv.attr["shape"].CopyFrom(attr_proto(shape, "shape"))
        if frame.parent is not None:
            recv.input.append(f"^{self._trigger(frame, task, at)}")
        received = self._put(task, at, _BEFORE, recv)
        self._received[key] = self._converted(UNPACK, received, task, at, _BEFORE) if is_variant else received
        return self._received[key]

    def _converted(self, kind: str, source: str, task: str, at: int, side: int) -> str:
        """A variant packed into the string that is sent, or unpacked again."""
        node = NodeDef(name=f".{kind.strip('_')}_{next(self._numbers)}", op=kind, input=[source])
        return self._put(task, at, side, node)

    def _is_constant(self, tensor: Tensor) -> bool:
        """Whether a value follows from constants alone. A task then computes it itself, once, when it
        compiles its part, and need not be sent it in every step.
        """
        if tensor not in self._constants:
            op = tensor.op
            waits = any(control in self.ops for control in op.control_inputs)
            self._constants[tensor] = (
                tensor not in self.fed
                and not waits
                and self.frame_of[op].parent is None
                and _size(tensor) <= _COPIED_BYTES
                and (op.type == "Const" or (_is_pure(op) and all(map(self._is_constant, op.inputs))))
            )
        return self._constants[tensor]

    def _copy(self, tensor: Tensor, task: str, at: int) -> str:
        """The name of a constant in the part of another task, which computes it from copied inputs."""
        op, key = tensor.op, (tensor.op, task)
        if key not in self._copies:
            inputs = [self._copy(source, task, at) for source in op.inputs]
            node = NodeDef(name=f".copy_{next(self._numbers)}", op=op.type, input=inputs)
            for name, value in op.node_def.attr.items():
                if name != "_class":
                    node.attr[name].CopyFrom(value)
            self._copies[key] = self._put(task, at, _BEFORE, node)
        name = self._copies[key]
        return f"{name}:{tensor.value_index}" if tensor.value_index else name

    def _advance(self, name: str, task: str, at: int) -> None:
        """Moves a Recv before an earlier consumer, which an edge to the next iteration may lead to."""
        for i, ((position, side, number), node) in enumerate(self.nodes[task]):
            if node.name == name and position > at:
                self.nodes[task][i] = ((at, side, number), node)
                for source in node.input:  # of a value that is unpacked
                    self._advance(source, task, at)

    def _end(self, kind: str, edge: str, here: str, there: str, dtype: DType, inputs: list[str]) -> NodeDef:
        node = NodeDef(name=f".{kind.strip('_').lower()}_{next(self._numbers)}", op=kind, input=inputs)
        node.attr["T" if kind == SEND else "tensor_type"].CopyFrom(attr_proto(dtype, "type"))
        for name, value in (("tensor_name", edge), ("send_device", here), ("recv_device", there)):
            node.attr[name].CopyFrom(attr_proto(value, "string"))
        return node

    def _zero(self, task: str, at: int, side: int, controls: list[str]) -> str:
        """A value that is sent as a signal."""
        node = NodeDef(name=f".zero_{next(self._numbers)}", op="Const", input=controls)
        node.attr["dtype"].CopyFrom(attr_proto(dtypes.float32, "type"))
        node.attr["value"].CopyFrom(attr_proto(np.zeros((), np.float32), "tensor", dtypes.float32))
        return self._put(task, at, side, node)

    # ------------------------------------------------------------------ loops over tasks

    def _trigger(self, frame: Frame, task: str, at: int) -> str:
        """An operation that runs on a task once in every iteration of a frame."""
        key = (frame, task)
        if key not in self._triggers:
            merges = [
                op
                for op in self.order
                if self.frame_of[op] is frame and self.task_of[op] == task and _is_of_a_ring(op)
            ]
            self._triggers[key] = merges[0].name if merges else self._control_loop(frame, task)
        return self._triggers[key]

    def _control_loop(self, frame: Frame, task: str) -> str:
        """A loop with as many iterations as that of the frame, on a task that has none of its variables."""
        cond = next(op for op in self.order if op.type == "LoopCond" and self.frame_of[op] is frame)
        enter = next(op for op in self.order if op.type in ENTER and self.frame_of[op] is frame)
        at = self.position[enter]
        outside = []
        if frame.parent is not None and frame.parent.parent is not None:
            outside = [f"^{self._trigger(frame.parent, task, at)}"]
        start = self._zero(task, at, _BEFORE, outside)
        number = next(self._numbers)
        names = {kind: f".loop_{number}_{kind}" for kind in ("Enter", "Merge", "Switch", "NextIteration")}
        self._triggers[frame, task] = names["Merge"]  # the predicate's Recv is triggered by it, too
        pred = cond.name if self.task_of[cond] == task else self._across(cond.outputs[0], cond, task, at)
        inputs = {
            "Enter": [start],
            "Merge": [names["Enter"], names["NextIteration"]],
            "Switch": [names["Merge"], pred],
            "NextIteration": [f"{names['Switch']}:1"],
        }
        for kind, name in names.items():
            node = NodeDef(name=name, op=kind, input=inputs[kind])
            node.attr["T"].CopyFrom(attr_proto(dtypes.float32, "type"))
            if kind == "Enter":
                for attr in ("frame_name", "parallel_iterations"):
                    node.attr[attr].CopyFrom(enter.node_def.attr[attr])
                node.attr["is_constant"].CopyFrom(attr_proto(False, "bool"))
            elif kind == "Merge":
                node.attr["N"].CopyFrom(attr_proto(2, "int"))
            self._put(task, at, _BEFORE, node)
        return names["Merge"]


def _writers(order: Sequence[Operation]) -> dict[Operation, set[Operation]]:
    """The operations that write each reference variable."""
    writers: dict[Operation, set[Operation]] = {}
    for op in order:
        if writes_references(op):
            for tensor in op.inputs:
                if tensor.dtype._is_ref_dtype:
                    writers.setdefault(variable_behind(tensor), set()).add(op)
    return writers


def _is_pure(op: Operation) -> bool:
    definition = op.definition
    plain = not (definition.effects or definition.handle or definition.blocking or definition.calls)
    return plain and bool(op.inputs) and lowering(op) is None


def _size(tensor: Tensor) -> float:
    """Bytes of a value, as far as the graph knows."""
    count = tensor.shape.num_elements()
    known = count is not None and tensor.dtype.base_dtype.torch is not None
    return count * tensor.dtype.base_dtype.size if known and count is not None else float("inf")


def _is_of_a_ring(op: Operation) -> bool:
    return op.type in MERGE and any(tensor.op.type in NEXT for tensor in op.inputs)


def _with_loops_together(
    order: Sequence[Operation], task_of: Mapping[Operation, str]
) -> dict[Operation, str]:
    """The tasks of the operations, with Enter and NextIteration of a loop variable on that of its Merge."""
    tasks = dict(task_of)
    for op in order:
        if _is_of_a_ring(op):
            for tensor in op.inputs:
                if tensor.op.type in (*ENTER, *NEXT) and tensor.op in tasks:
                    tasks[tensor.op] = tasks[op]
    return tasks


_Sides = frozenset[tuple[Tensor, int]]  # predicates, and the side of their Switch that must be taken


def _guards(order: Sequence[Operation], feeds: Mapping[Tensor, int]) -> dict[Operation, _Sides]:
    """The sides of Switches on which each operation depends: the conditions under which it runs."""
    guards: dict[Operation, _Sides] = {}
    for op in order:
        arriving = [
            _guards_of(tensor, guards)
            for tensor in op.inputs
            if tensor not in feeds and not is_back_edge(tensor, op)
        ]
        waited = [guards[control] for control in op.control_inputs if control in guards]
        if op.type in MERGE and arriving:
            guards[op] = frozenset.intersection(*arriving).union(*waited)
        else:
            guards[op] = frozenset().union(*arriving, *waited)
    return guards


def _guards_of(tensor: Tensor, guards: Mapping[Operation, _Sides]) -> _Sides:
    op = tensor.op
    if op.type not in SWITCH:
        return guards[op]
    return guards[op] | {(op.inputs[1], tensor.value_index)}
