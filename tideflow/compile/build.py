"""From a graph to the program of one step: what the fetches need, in an order that respects every edge, loops
and calls as what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from tideflow.compile import calls
from tideflow.compile.advice import advice_about_branches
from tideflow.compile.frames import (
    ENTER,
    EXIT,
    NEXT,
    SWITCH,
    Frame,
    LoopShape,
    arranged,
    exits_behind,
    is_back_edge,
    loop_shape,
    stays_inside,
)
from tideflow.compile.held import Element, Held
from tideflow.compile.ir import (
    Guards,
    Loop,
    Node,
    Program,
    Value,
    guards_of,
    make_node,
    predicate_root,
)
from tideflow.compile.progress import Progress
from tideflow.compile.prune import aliased_op, behind, feed_op, given, known, needed, read_op
from tideflow.compile.refusals import refusing
from tideflow.compile.request import StepRequest
from tideflow.graph import errors
from tideflow.graph.functions import FunctionBody
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays.constants import const_op
from tideflow.ops.control_flow.switches import common_shape, shape_within
from tideflow.ops.helpers.tensor_lists import ListShape
from tideflow.runtime.devices import CPU

_ALIASING = ("Enter", "Identity", "StopGradient", "Switch")  # their results are their inputs' memory
_PASSING = ("RefSwitch", "RefMerge", "RefEnter", "RefExit", "RefNextIteration", "RefIdentity", "RefSelect")
PASSED = (*ENTER, *EXIT, *NEXT)  # they make up a loop's structure, and are no nodes of its body


def build_program(request: StepRequest, progress: Progress | None = None) -> Program:
    """The pruned graph as a program. The shapes of the request's feeds make other shapes known."""
    fetches, targets, feeds = request.fetches, request.targets, request.feeds
    fed = {*feeds, *request.known}
    ops = needed(fetches, targets, fed, request.done)
    builder = Builder(ops, prefix=request.prefix)
    builder.held = Held(ops | request.done)
    builder.progress = progress or builder.progress
    builder.written, builder.resized = written_before(ops), resized_in(ops)
    for tensor, shape in zip(feeds, request.feed_shapes or [None] * len(feeds), strict=True):
        builder.feed(tensor, shape)
    for value, device in zip(builder.feeds, request.feed_devices):
        value.op.device = device
    for tensor, handle in request.known.items():
        builder.know(tensor, handle)
    builder.add_all(arranged(ops, fed))
    program = Program(builder.feeds, builder.nodes, [builder.fetch(tensor) for tensor in fetches])
    program.fetch_to = None if request.fetches_stay else CPU
    # An operation that others only wait for runs if it has an effect; a value that nothing takes is not
    # computed. A placeholder must be fed, unless only operations whose outputs are fed need it.
    unfed = [op for op in ops if op.definition.role == "placeholder"]
    if unfed:
        unfed = [op for op in behind(fetches, targets, fed, {t.op for t in feeds}) if op in unfed]
    asked = [*targets, *unfed]
    if request.prefix:  # of a function, whose targets may be inside its loops: these run for their effects
        asked = [op for op in asked if op in builder.node_of]
    program.targets = {builder.target(op) for op in asked} | builder.waited_reads()
    if any(op.type in SWITCH for op in ops):
        program.advice = advice_about_branches(ops, fetches, targets)
    return program


def written_before(ops: Set[Operation]) -> dict[Operation | None, set[Operation]]:
    """By operation, the reference variables that operations before it write; by None, all that the step
    writes.
    """
    writers = [op for op in ops if writes_references(op)]
    if not writers:
        return {}
    followers: dict[Operation, list[Operation]] = {}
    for op in ops:
        for before in {*(tensor.op for tensor in op.inputs), *op.control_inputs}:
            followers.setdefault(before, []).append(op)
    written: dict[Operation | None, set[Operation]] = {None: set()}
    for writer in writers:
        variables = _written_by(writer)
        written[None] |= variables
        stack = list(followers.get(writer, ()))
        while stack:
            op = stack.pop()
            known = written.setdefault(op, set())
            if not variables <= known:
                known |= variables
                stack += followers.get(op, ())
    return written


def writes_references(op: Operation) -> bool:
    """Whether an operation may write a reference variable."""
    return op.definition._takes_references and op.type not in _PASSING


def _written_by(writer: Operation) -> set[Operation]:
    return {variable_behind(t) for t in writer.inputs if t.dtype._is_ref_dtype}


def written_in(frame: Frame) -> set[Operation]:
    """The reference variables that operations of a loop, or of loops in it, write."""
    variables = set()
    for member in frame.members:
        if isinstance(member, Frame):
            variables |= written_in(member)
        elif writes_references(member):
            variables |= _written_by(member)
    return variables


def resized_in(ops: Set[Operation]) -> set[Operation]:
    """The reference variables that may get values of other sizes."""
    writers = [op for op in ops if op.attrs.get("validate_shape") is False and op.inputs]
    return {variable_behind(op.inputs[0]) for op in writers}


def variable_behind(tensor: Tensor) -> Operation:
    while tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor.op


def memory_behind(tensor: Tensor, is_fed: Callable[[Tensor], bool]) -> Tensor | None:
    """The reference of whose variable's memory a tensor is a read; None if it has memory of its own."""
    source = tensor
    while source.op.type in _ALIASING and not is_fed(source):
        source = source.op.inputs[0]
        if source.dtype._is_ref_dtype:
            return source
    return None


def _wider(a: TensorShape, b: TensorShape) -> TensorShape:
    """What holds of a loop's variable before and after an iteration."""
    if isinstance(a, ListShape):
        return a.common(b)
    return a if shape_within(b, a) else common_shape(a, b)


def _as_known(a: TensorShape, b: TensorShape) -> bool:
    if isinstance(a, ListShape) and isinstance(b, ListShape):
        return a.facts() == b.facts()
    return type(a) is type(b) and a.tuple == b.tuple


class Unstructured(Exception):
    """Raised for a frame that is no while loop: the step runs on the token executor."""


def _iterations_overlap(frame: Frame) -> bool:
    """Whether an iteration of the loop may run while an operation of an earlier one waits."""
    at_once = any(op.attrs["parallel_iterations"] > 1 for op in frame.enters)
    return at_once and _waits(frame)


def _waits(frame: Frame) -> bool:
    return any(_waits(m) if isinstance(m, Frame) else m.definition.blocking for m in frame.members)


_DEEPEST_CALL = 64


class Builder:
    """Adds operations to a program in their order. A loop's body, and a function's, is built by a builder of
    its own.
    """

    def __init__(
        self,
        ops: Set[Operation],
        outer: Builder | None = None,
        implied: Guards = frozenset(),
        under: Guards = frozenset(),
        prefix: str = "",
    ):
        self.ops = ops
        self.implied = implied  # conditions that hold wherever this program runs
        self.under = under  # conditions of every node that is added
        self.prefix = prefix  # of the nodes' names
        self.written: dict[Operation | None, set[Operation]] = {} if outer is None else outer.written
        self.resized: set[Operation] = set() if outer is None else outer.resized
        self.feeds: list[Value] = []
        self.nodes: list[Node] = []
        self.values: dict[Tensor, Value] = {} if outer is None else dict(outer.values)
        self.node_of: dict[Operation, Node] = {} if outer is None else dict(outer.node_of)
        # Nodes whose shapes may follow from this step's feeds, where the graph leaves them open.
        self._refined: set[Node] = set() if outer is None else set(outer._refined)
        self._depth: int = 0 if outer is None else outer._depth  # of calls within calls
        self.progress: Progress = Progress() if outer is None else outer.progress
        self.held: Held = Held(ops) if outer is None else Held(outer.held.ops, outer.held)

    def add_all(self, frame: Frame) -> None:
        for member in frame.members:
            if isinstance(member, Frame):
                self._add_frame(member)
            elif member.type not in PASSED and not any(is_back_edge(t, member) for t in member.inputs):
                self.add(member)

    def feed(self, tensor: Tensor, shape: tuple[int, ...] | None) -> None:
        known = tensor.shape if shape is None else TensorShape(shape).merge_with(tensor.shape)
        value = given(tensor.name, tensor.dtype, known, tensor.op)
        if not tensor.shape.is_fully_defined():
            self._refined.add(value.op)
        self.values[tensor] = value
        self.feeds.append(value)

    def know(self, tensor: Tensor, handle: Any) -> None:
        node = known(tensor, handle)
        self.values[tensor] = node.outputs[0]
        self.nodes.append(node)

    def add(self, op: Operation) -> None:
        self.progress.node()
        write_call = calls.lowering(op)
        if write_call is not None:
            write_call(self, op)
            return
        name = f"{self.prefix}{op.name}"
        node = Node(op.definition, name, [self._latest(op, t) for t in op.inputs], op.attrs, op)
        self._guard(node)  # first: the reads of its references run under the same conditions
        node.inputs = self._read_references(node)
        node.outputs = [Value(node, i, t.dtype, t.shape) for i, t in enumerate(op.outputs)]
        self._refine_shapes(node)
        self.nodes.append(node)
        self.node_of[op] = node
        for tensor, value in zip(op.outputs, node.outputs, strict=True):
            self.values.setdefault(tensor, value)  # a fed output stays fed
        if op.definition.stateful and (taken := self.held.see(node)) is not None:
            self._know_taken(node.outputs[0], op.outputs[0], taken)

    def _know_taken(self, value: Value, tensor: Tensor, taken: Element) -> None:
        """Notes what is known of a value that comes from a stack or an array. A known one is a constant for
        those that use it; it is taken all the same.
        """
        if not value.shape.is_compatible_with(taken.shape):
            return
        value.shape = value.shape.merge_with(taken.shape)
        self._refined.add(value.op)
        if taken.array is not None and self.values[tensor] is value:
            array = taken.array.astype(value.dtype.numpy)
            constant = make_node(const_op, [], {"value": array, "dtype": value.dtype}, value.op)
            self.nodes.append(constant)
            self.values[tensor] = constant.outputs[0]

    def _latest(self, op: Operation | None, tensor: Tensor) -> Value:
        """A tensor as an operation sees it, or at the end of the step. The read of a reference variable is
        the variable's own memory: an operation that runs after a write sees what was written, not what was
        there at the first read.
        """
        value = self.values[tensor]
        if op not in self.written:
            return value
        source = memory_behind(tensor, self._is_fed)
        if source is None or variable_behind(source) not in self.written[op]:
            return value
        variable, reference = variable_behind(source), self.values[source]
        if variable in self.resized:
            return self._derived(aliased_op, [value, reference], value.op)
        if not guards_of(value) - guards_of(reference):
            return reference
        again = self._read(reference, value.op)  # in a branch: under the branch's condition
        again.op.guards = guards_of(value)
        return again

    def _is_fed(self, tensor: Tensor) -> bool:
        return self.values[tensor].op.definition is feed_op

    # ------------------------------------------------------------------ calls

    def inline(self, body: FunctionBody, args: list[Value], guards: Guards, name: str) -> list[Value]:
        """Adds a function's body in the place of its call, under these conditions; returns its results."""
        if self._depth == _DEEPEST_CALL:
            raise errors.invalid_argument(
                f"{self.prefix}{name} is a call within {_DEEPEST_CALL} others: a function that calls itself "
                "cannot be run, since functions are written out where they are called; use a loop",
            )
        calls.check_arguments(body, [value.dtype for value in args])
        taken = set(body.inputs)
        ops = needed(body.outputs, body.targets, taken)
        inner = Builder(ops, None, self.implied, self.under | guards, f"{self.prefix}{name}/")
        inner.nodes = self.nodes
        inner._refined = self._refined
        inner._depth = self._depth + 1
        inner.progress = self.progress
        inner.held = Held(self.held.ops | ops, self.held)
        self.progress.inlined(len(ops) + 1, f"{self.prefix}{name}")
        for tensor, value in zip(body.inputs, args, strict=True):
            inner.values[tensor] = value
            self._refined.add(value.op)
        inner.add_all(arranged(ops, taken))
        self.held = inner.held
        return [inner._as_value(tensor) for tensor in body.outputs]

    def _as_value(self, tensor: Tensor) -> Value:
        value = self.values[tensor]
        return self._read(value, value.op) if value.dtype._is_ref_dtype else value

    def inputs(self, op: Operation) -> list[Value]:
        """The values a call is given."""
        return [self._as_value(tensor) for tensor in op.inputs]

    def guards_of(self, op: Operation) -> Guards:
        """The conditions under which a call, or the loop that an Enter begins, runs."""
        arriving = [guards_of(self.values[tensor]) for tensor in op.inputs]
        return self.under.union(*arriving, *self._waited(op)) - self.implied

    def _waited(self, op: Operation) -> list[Guards]:
        """The conditions of the operations that an operation waits for."""
        return [self.node_of[control].guards for control in op.control_inputs if control in self.node_of]

    # ------------------------------------------------------------------ loops

    def add_loop(
        self,
        name: str,
        initial: list[Value],
        guards: Guards,
        write: Callable[[Builder, list[Value]], tuple[Value, list[Value]]],
        source: Operation,
    ) -> Loop:
        """Adds a loop. `write` adds its body: from the variables to the predicate and their next values.

        A variable has the shape it enters with, if an iteration leaves it that way; where it does not, less
        is known of it. Of a list that enters empty, it is known what iterations push.
        """
        known = [
            value.shape if isinstance(value.shape, ListShape) else TensorShape(value.shape.tuple)
            for value in initial
        ]
        while True:
            inner = Builder(self.ops, self, self.implied | guards, prefix=self.prefix)
            variables = [
                given(f"{name}:{i}", value.dtype, shape, source)
                for i, (value, shape) in enumerate(zip(initial, known, strict=True))
            ]
            inner._refined.update(value.op for value in variables)
            pred, following = write(inner, variables)
            wider = [_wider(a, value.shape) for a, value in zip(known, following, strict=True)]
            if all(_as_known(a, b) for a, b in zip(known, wider, strict=True)):
                break
            known = wider
            self.progress.inlined(len(inner.nodes), name)  # loops in loops double what is written again
        goes_on = (pred, True)
        if any(guards_of(value) - inner.implied - {goes_on} for value in following):
            raise Unstructured(name)
        # First the nodes that run whatever the predicate is, among them those that compute it.
        nodes = sorted(inner.nodes, key=lambda node: goes_on in node.guards)
        loop = Loop(name, initial, Program(variables, nodes, [pred, *following], is_body=True), source)
        loop.guards = guards
        self._refined.add(loop)
        self.nodes.append(loop)
        self.held = inner.held
        return loop

    def _add_frame(self, frame: Frame) -> None:
        """A loop of Enter, Merge, Switch, NextIteration and Exit."""
        shape = loop_shape(frame, self.ops)
        if shape is None or _iterations_overlap(frame):
            raise Unstructured(frame.name)
        self._write_in_iterations(frame, written_in(frame))
        enters = [*(ring.enter for ring in shape.rings), *shape.constants]
        guards: Guards = frozenset().union(*[self.guards_of(op) for op in enters])
        initial = [self._as_value(ring.enter.inputs[0]) for ring in shape.rings]

        def write(inner: Builder, variables: list[Value]) -> tuple[Value, list[Value]]:
            for op in shape.constants:
                inner.values[op.outputs[0]] = inner.values[op.inputs[0]]
            for ring, value in zip(shape.rings, variables, strict=True):
                inner.values[ring.merge.outputs[0]] = value
            inner.add_all(frame)
            pred = predicate_root(inner.values[shape.cond.inputs[0]])
            return pred, [inner._as_value(ring.following.inputs[0]) for ring in shape.rings]

        self._leave(shape, self.add_loop(f"{self.prefix}{frame.name}", initial, guards, write, shape.cond))

    def _leave(self, shape: LoopShape, loop: Loop) -> None:
        for ring, value in zip(shape.rings, loop.outputs, strict=True):
            for switch in ring.merge.outputs[0]._consumers:
                if switch in self.ops and switch.type in SWITCH:
                    for op in exits_behind(switch.outputs[0], self.ops) or ():
                        self.values[op.outputs[0]] = value
                        self.node_of[op] = loop

    def _write_in_iterations(self, frame: Frame, variables: set[Operation]) -> None:
        """Notes what a loop writes for each of its operations: all of them run after earlier iterations."""
        if not variables:
            return
        for member in frame.members:
            if isinstance(member, Frame):
                self._write_in_iterations(member, variables)
            else:
                self.written.setdefault(member, set()).update(variables)

    def waited_reads(self) -> set[Node]:
        """Reads of variables that other operations wait for: they check that the variable is initialized."""
        waited_for = {control for op in self.ops for control in op.control_inputs if control in self.node_of}
        near = {n for op in waited_for for n in (self.node_of[op], *(v.op for v in self.node_of[op].inputs))}
        return {node for node in near if node.definition.role == "read"}

    def _guard(self, node: Node) -> None:
        """Sets the conditions under which the node runs: every side of a Switch that its inputs and control
        inputs passed. A Merge lifts those that its inputs do not share. A ControlTrigger runs whether or not
        the operations that it waits for do.
        """
        assert node.source is not None, "it was made for an operation"
        waited = [] if node.type == "ControlTrigger" else self._waited(node.source)
        if node.type in ("Merge", "RefMerge"):
            arriving = [guards_of(value) for value in node.inputs]
            common = frozenset.intersection(*arriving)
            node.choices = [guards - common for guards in arriving]
            node.guards = self.under.union(common, *waited) - self.implied
        elif node.type != "Const":
            arriving = [guards_of(value) for value in node.inputs]
            node.guards = self.under.union(*arriving, *waited) - self.implied
        elif any(waited):
            node.guards = self.under.union(*waited) - self.implied

    def target(self, op: Operation) -> Node:
        """The node that runs an operation which is asked for."""
        if op not in self.node_of:
            raise stays_inside(op)
        return self.node_of[op]

    def fetch(self, tensor: Tensor) -> Value:
        if tensor not in self.values:
            raise stays_inside(tensor)
        value = self._latest(None, tensor)
        guards = guards_of(self.values[tensor])
        if value.dtype._is_ref_dtype:
            value = self._read(value, value.op)
        return self._if_taken(value, guards, tensor) if guards else value

    def _if_taken(self, value: Value, guards: Guards, tensor: Tensor) -> Value:
        """The value, if the branch that computes it is taken; else the step fails."""
        node = make_node("Merge", [value], {"N": 1, "T": value.dtype}, value.op, tensor.name)
        node.guards, node.choices = frozenset(), [guards]
        self.nodes.append(node)
        return node.outputs[0]

    def _read_references(self, node: Node) -> list[Value]:
        """The node's inputs, with reads of the references where an argument takes a value.

        A reference to a step's values, such as the handle of an old TensorArray, is what is behind it.
        """
        if node.definition.role == "step values" or not any(v.dtype._is_ref_dtype for v in node.inputs):
            return node.inputs
        inputs = []
        for arg, members in zip(node.definition.inputs, node.grouped_inputs, strict=True):
            for value in members if arg.is_list else [members]:
                inputs.append(
                    value if arg.is_ref or not value.dtype._is_ref_dtype else self._read(value, node)
                )
        return inputs

    def _read(self, ref: Value, like: Node) -> Value:
        return self._derived(read_op, [ref], like)

    def _derived(self, definition: Op, inputs: list[Value], like: Node) -> Value:
        """What a read makes of a reference, for a node or under its conditions."""
        ref = inputs[-1]
        read = make_node(definition, inputs, {"T": ref.dtype.base_dtype}, like)
        if ref.op in self._refined:
            self._refined.add(read)
        read.guards = like.guards.union(*map(guards_of, inputs)) - self.implied
        self.nodes.append(read)
        return read.outputs[0]

    def _refine_shapes(self, node: Node) -> None:
        """Infers shapes that the graph leaves open, from those of this step's feeds."""
        if not any(value.op in self._refined for value in node.inputs):
            return
        self._refined.add(node)
        takes_lists = any(isinstance(value.shape, ListShape) for value in node.inputs)
        if not takes_lists and all(value.shape.is_fully_defined() for value in node.outputs):
            return
        try:
            shapes = node.definition.infer(node.grouped_inputs, node.attrs, node.name, in_step=True)
            for value, shape in zip(node.outputs, shapes, strict=True):
                is_list = isinstance(shape, ListShape)
                value.shape = shape if is_list else value.shape.merge_with(shape)
        except ValueError as error:  # in a branch that is not taken sizes need not fit
            node.definition = refusing(node.definition, str(error))
