"""From a graph to the straight program of one step: what the fetches need, in an order that honours every
edge.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence, Set

from tideflow.compile.ir import Guards, Node, Program, Value, make_node
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import TensorShape

feed_op = Op("_Feed", " -> value: dtype", differentiable=False)
feed_op.shape(lambda: None)
feed_op.kernel(lambda: None)
feed_op.samples(())

_PLACEHOLDERS = ("Placeholder", "PlaceholderV2")

read_op = Op("_Read", "ref: Ref(T) -> value: T", stateful=True, differentiable=False)
read_op.shape(lambda ref: ref)
read_op.kernel(lambda ref: ref.read())
read_op.samples(())

READS = ("_Read", "ReadVariableOp")


def needed(
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: set[Tensor],
    done: Set[Operation] = frozenset(),
) -> set[Operation]:
    """Every operation that the fetches and targets depend on, not looking behind fed tensors, but for what
    is `done`.

    Who waits for an operation waits for what it does, whether or not its outputs are fed; of a placeholder,
    feeding is all there is to wait for.
    """
    given = {tensor.op for tensor in feeds if tensor.op.type in _PLACEHOLDERS}
    return _behind(fetches, targets, feeds, given | done)


def _behind(
    fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: set[Tensor], passed: Set[Operation]
) -> set[Operation]:
    """What the fetches and targets need; nobody waits for the operations of `passed`."""
    found: set[Operation] = set()
    stack = [tensor.op for tensor in fetches if tensor not in feeds] + list(targets)
    while stack:
        op = stack.pop()
        if op in found:
            continue
        found.add(op)
        stack += [tensor.op for tensor in op.inputs if tensor not in feeds]
        stack += [control for control in op.control_inputs if control not in passed]
    return found


def ordered(ops: set[Operation], feeds: set[Tensor]) -> list[Operation]:
    """A topological order over data and control edges; where several may come next, the one made first
    does.
    """
    waiting: dict[Operation, int] = {}
    followers: dict[Operation, list[Operation]] = {}
    ready = []
    for op in ops:
        before = {tensor.op for tensor in op.inputs if tensor not in feeds}
        before.update(control for control in op.control_inputs if control in ops)
        waiting[op] = len(before)
        for other in before:
            followers.setdefault(other, []).append(op)
        if not before:
            ready.append((op._id, op))
    heapq.heapify(ready)
    order = []
    while ready:
        _, op = heapq.heappop(ready)
        order.append(op)
        for follower in followers.get(op, ()):
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, (follower._id, follower))
    if len(order) != len(ops):
        raise _cycle(min((op for op in ops if waiting[op]), key=lambda op: op._id))
    return order


def _cycle(op: Operation) -> InvalidArgumentError:
    return InvalidArgumentError(
        op.node_def,
        op,
        f"The graph has a cycle through '{op.name}' ({op.type}), made at {op.user_line}; without a loop "
        "construct (NextIteration) a step cannot begin anywhere on it.",
    )


def build_program(
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: Sequence[Tensor],
    feed_shapes: Sequence[tuple | None],
    done: Set[Operation] = frozenset(),
) -> Program:
    """The pruned graph as a program, without the operations that are `done`. `feed_shapes` are the shapes of
    this step's feeds: they make other shapes known.
    """
    fed = set(feeds)
    ops = needed(fetches, targets, fed, done)
    builder = _Builder()
    for tensor, shape in zip(feeds, feed_shapes, strict=True):
        builder.feed(tensor, shape)
    for op in ordered(ops, fed):
        builder.add(op)
    program = Program(builder.feeds, builder.nodes, [builder.fetch(tensor) for tensor in fetches])
    # What is only waited for runs if it has an effect; a value that nobody takes is not computed. A
    # placeholder must be fed, unless it stands only behind operations whose outputs are.
    unfed = [op for op in ops if op.type in _PLACEHOLDERS]
    if unfed:
        unfed = [op for op in _behind(fetches, targets, fed, {t.op for t in feeds}) if op in unfed]
    program.targets = {builder.node_of[op] for op in (*targets, *unfed)} | builder.waited_reads(ops)
    return program


def _guards_of(value: Value) -> Guards:
    """The conditions under which a value is there."""
    node = value.op
    if node.type not in ("Switch", "RefSwitch"):
        return node.guards
    return node.guards | {(_root(node.inputs[1]), value.value_index == 1)}


def _root(pred: Value) -> Value:
    """The predicate behind the identities and switches it passed, so that one condition has one name."""
    while pred.op.type in ("Identity", "Switch"):
        pred = pred.op.inputs[0]
    return pred


class _Builder:
    def __init__(self):
        self.feeds: list[Value] = []
        self.nodes: list[Node] = []
        self.values: dict[Tensor, Value] = {}
        self.node_of: dict[Operation, Node] = {}
        self._refined: set[Node] = set()  # nodes of which this step's feeds may tell more than the graph does

    def feed(self, tensor: Tensor, shape: tuple | None) -> None:
        node = Node(feed_op, tensor.name, [], {"dtype": tensor.dtype.base_dtype}, tensor.op)
        known = tensor.shape if shape is None else TensorShape(shape)
        node.outputs = [Value(node, 0, tensor.dtype.base_dtype, known)]
        if not tensor.shape.is_fully_defined():
            self._refined.add(node)
        self.values[tensor] = node.outputs[0]
        self.feeds.append(node.outputs[0])

    def add(self, op: Operation) -> None:
        node = Node(op.definition, op.name, [self.values[t] for t in op.inputs], op.attrs, op)
        node.inputs = self._read_references(node)
        node.outputs = [Value(node, i, t.dtype, t.shape) for i, t in enumerate(op.outputs)]
        self._guard(node)
        self._refine_shapes(node)
        self.nodes.append(node)
        self.node_of[op] = node
        for tensor, value in zip(op.outputs, node.outputs, strict=True):
            self.values.setdefault(tensor, value)  # a fed output stays fed

    def waited_reads(self, ops: set[Operation]) -> set[Node]:
        """Reads of variables that somebody waits for: they say that the variable is initialized."""
        waited_for = {control for op in ops for control in op.control_inputs if control in ops}
        near = {n for op in waited_for for n in (self.node_of[op], *(v.op for v in self.node_of[op].inputs))}
        return {node for node in near if node.type in READS}

    def _guard(self, node: Node) -> None:
        """When the node runs: every side of a Switch that its inputs and control inputs passed; a Merge
        undoes them.
        """
        waited = [self.node_of[op].guards for op in node.source.control_inputs if op in self.node_of]
        if node.type in ("Merge", "RefMerge"):
            arriving = [_guards_of(value) for value in node.inputs]
            common = frozenset.intersection(*arriving)
            node.choices = [guards - common for guards in arriving]
            node.guards = common.union(*waited)
        elif node.type != "Const":
            node.guards = frozenset().union(*[_guards_of(value) for value in node.inputs], *waited)
        elif any(waited):
            node.guards = frozenset().union(*waited)

    def fetch(self, tensor: Tensor) -> Value:
        value = self.values[tensor]
        guards = _guards_of(value)
        if value.dtype._is_ref_dtype:
            value = self._read(value, value.op)
        return self._if_taken(value, guards, tensor) if guards else value

    def _if_taken(self, value: Value, guards: Guards, tensor: Tensor) -> Value:
        """The value, where the branch that makes it is taken; else the step ends with an error."""
        node = make_node("Merge", [value], {"N": 1, "T": value.dtype}, value.op, tensor.name)
        node.guards, node.choices = frozenset(), [guards]
        self.nodes.append(node)
        return node.outputs[0]

    def _read_references(self, node: Node) -> list[Value]:
        """Arguments that want a value get the variable's value at this point of the program."""
        if not any(value.dtype._is_ref_dtype for value in node.inputs):
            return node.inputs
        inputs = []
        for arg, given in zip(node.definition.inputs, node.grouped_inputs, strict=True):
            for value in given if arg.is_list else [given]:
                inputs.append(
                    value if arg.is_ref or not value.dtype._is_ref_dtype else self._read(value, node)
                )
        return inputs

    def _read(self, ref: Value, like: Node) -> Value:
        read = make_node(read_op, [ref], {"T": ref.dtype.base_dtype}, like)
        if ref.op in self._refined:
            self._refined.add(read)
        read.guards = like.guards or _guards_of(ref)
        self.nodes.append(read)
        return read.outputs[0]

    def _refine_shapes(self, node: Node) -> None:
        """Shapes left open in the graph may follow from this step's feeds."""
        if not any(value.op in self._refined for value in node.inputs):
            return
        self._refined.add(node)
        if all(value.shape.is_fully_defined() for value in node.outputs):
            return
        try:
            shapes = node.definition.infer(node.grouped_inputs, node.attrs, node.name)
            for value, shape in zip(node.outputs, shapes, strict=True):
                value.shape = value.shape.merge_with(shape)
        except ValueError as error:
            if not node.guards:  # a branch that is not taken may have sizes that do not fit
                raise InvalidArgumentError(node.source.node_def, node.source, str(error)) from None
