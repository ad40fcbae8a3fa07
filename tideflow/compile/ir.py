"""The program of one step, while it is compiled: a list of nodes, each after everything it needs.

Control edges are gone once the order is fixed: stateful nodes keep that order, pure ones may merge, fold and
vanish. Nodes and values have the attribute names of operations and tensors, so that shape and value rules
serve both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.op import Op, definition
from tideflow.graph.operation import Operation
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.runtime.devices import CPU

# The conditions under which a node runs: predicates and the side of each that must be taken.
Guards = frozenset[tuple["Value", bool]]


class Value:
    """One output of a node."""

    __slots__ = ("dtype", "op", "shape", "value_index")
    is_eager = False

    def __init__(self, op: Node, value_index: int, dtype: DType, shape: TensorShape):
        self.op = op
        self.value_index = value_index
        self.dtype = dtype
        self.shape = shape

    @property
    def constant(self) -> Any:
        """The ndarray of a constant, None for anything else."""
        return self.op.attrs["value"] if self.op.definition.role == "constant" else None

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of a value whose shape is fully defined."""
        return tuple(size for size in self.shape.as_list() if size is not None)

    @property
    def device(self) -> Any:
        """The torch device that has the value."""
        return self.op.device_of(self.value_index)

    def __repr__(self) -> str:
        return f"{self.op.name}:{self.value_index}"


class Node:
    """One operation of a program. `source` is the operation of the graph that it came from, which errors and
    traces name.
    """

    __slots__ = ("attrs", "choices", "definition", "device", "guards", "inputs", "name", "outputs", "source")

    def __init__(
        self, definition: Op, name: str, inputs: list[Value], attrs: dict[str, Any], source: Operation | None
    ):
        self.definition = definition
        self.name = name
        self.inputs = inputs
        self.attrs = attrs
        self.source = source
        self.device: Any = None
        self.guards: Guards = frozenset()
        self.choices: list[Guards] = []  # of a Merge: the conditions under which each input is computed
        self.outputs: list[Value] = []

    @property
    def type(self) -> str:
        return self.definition.name

    @property
    def effects(self) -> bool:
        """Whether the node does more than compute its outputs."""
        return self.definition.effects

    @property
    def grouped_inputs(self) -> list[Any]:
        """Inputs by argument of the schema; list arguments as lists."""
        return self.definition.group_inputs(self.inputs, self.attrs)

    @property
    def host_flags(self) -> list[bool]:
        """Of each input, whether the kernel takes it as Python numbers."""
        op, flags = self.definition, []
        for arg, given in zip(op.inputs, self.grouped_inputs, strict=True):
            flags += [arg.name in op.host] * (len(given) if arg.is_list else 1)
        return flags

    @property
    def host_inputs(self) -> list[Value]:
        """The inputs that the kernel takes as Python numbers."""
        if not self.definition.host:
            return []
        return [value for value, is_host in zip(self.inputs, self.host_flags, strict=True) if is_host]

    @property
    def dependencies(self) -> list[Value]:
        """The values that must be computed before this node can run, or be skipped."""
        if not self.guards and not self.choices:
            return self.inputs
        return [*self.inputs, *(pred for guards in (self.guards, *self.choices) for pred, _ in guards)]

    def device_of(self, index: int) -> Any:
        """The torch device that has an output."""
        return self.device

    def replace_values(self, replaced: dict[Value, Value]) -> None:
        """Replaces some of the values that the node uses."""
        self.inputs = [replaced.get(value, value) for value in self.inputs]
        if self.guards:
            self.guards = _replaced_guards(self.guards, replaced)
        if self.choices:
            self.choices = [_replaced_guards(guards, replaced) for guards in self.choices]

    def refine_shapes(self) -> None:
        """Infers anew what is not known of the outputs' shapes: inputs may have become constants."""
        if not all(value.shape.is_fully_defined() for value in self.outputs):
            inferred = self.definition.infer(self.grouped_inputs, self.attrs, self.name)
            for value, shape in zip(self.outputs, inferred, strict=True):
                value.shape = value.shape.merge_with(shape)

    def __repr__(self) -> str:
        return f"<{self.type} {self.name}>"


loop_op = Op("_Loop", "initial: Tin -> final: Tout", Tin=attr("list(type)"), Tout=attr("list(type)"))
loop_op.shape(lambda initial, *, Tout: [None] * len(Tout))
loop_op.kernel(lambda initial: None)
loop_op.gradient(lambda op, *grads: None)
loop_op.samples(covered_by="tests/control_flow/test_both_ways.py")


class Loop(Node):
    """A while loop. Its body is a program: variables in, the predicate and the variables' next values out.

    What the body takes from outside it takes as it is. Nodes that run only where the predicate holds have it
    among their guards.
    """

    __slots__ = ("body",)

    def __init__(self, name: str, initial: list[Value], body: Program, source: Operation | None):
        types = [value.dtype.base_dtype for value in body.feeds]
        super().__init__(loop_op, name, initial, {"Tin": types, "Tout": types}, source)
        self.body = body
        self.outputs = [Value(self, i, v.dtype, v.shape) for i, v in enumerate(body.feeds)]

    @property
    def pred(self) -> Value:
        return self.body.fetches[0]

    def device_of(self, index: int) -> Any:
        return self.body.feeds[index].device

    @property
    def effects(self) -> bool:
        return any(node.effects for node in self.body.nodes)

    @property
    def dependencies(self) -> list[Value]:
        return [*super().dependencies, *self.taken]

    @property
    def taken(self) -> list[Value]:
        """The values from outside that the body uses."""
        made = {value for node in self.body.nodes for value in node.outputs}.union(self.body.feeds)
        values = [value for node in self.body.nodes for value in node.dependencies]
        return [value for value in dict.fromkeys((*values, *self.body.fetches)) if value not in made]

    def replace_values(self, replaced: dict[Value, Value]) -> None:
        super().replace_values(replaced)
        for node in self.body.nodes:
            node.replace_values(replaced)
        self.body.fetches = [replaced.get(value, value) for value in self.body.fetches]


def walk(program: Program) -> Iterator[Node]:
    """Every node of the program, those of loops after the loop they are in."""
    for node in program.nodes:
        yield node
        if isinstance(node, Loop):
            yield from walk(node.body)


def states(values: Iterable[Value]) -> set[tuple[str, str]]:
    """The variables to which references and handles lead, by container and name. An operation that changes a
    variable passes its reference on, and two nodes may share one by name: different values can be the same
    state.
    """
    found: set[tuple[str, str]] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        node = value.op
        if node.definition.handle:
            found.add((node.attrs.get("container", ""), node.attrs.get("shared_name") or node.name))
        elif value.dtype._is_ref_dtype or value.dtype is dtypes.resource:
            if not node.inputs:  # a handle that is given: a function's argument, or a loop's variable
                found.add(("", node.name))
            waiting += node.inputs
    return found


def guards_of(value: Value) -> Guards:
    """The conditions under which a value is computed."""
    node = value.op
    if node.type not in ("Switch", "RefSwitch"):
        return node.guards
    return node.guards | {(predicate_root(node.inputs[1]), value.value_index == 1)}


def predicate_root(pred: Value) -> Value:
    """The value from which a predicate comes through identities and switches: one condition, one value."""
    while pred.op.type in ("Identity", "LoopCond", "Switch"):
        pred = pred.op.inputs[0]
    return pred


def _replaced_guards(guards: Guards, replaced: dict[Value, Value]) -> Guards:
    return frozenset((replaced.get(pred, pred), side) for pred, side in guards)


def make_node(
    op_type: str | Op,
    inputs: list[Value],
    attrs: dict[str, Any],
    like: Node | None = None,
    name: str | None = None,
) -> Node:
    """A new node with inferred outputs, and with the name, source and device of `like`."""
    op = definition(op_type) if isinstance(op_type, str) else op_type
    resolved = {**op._defaults, **attrs}
    node = Node(op, name or (like.name if like else op.name), inputs, resolved, like.source if like else None)
    if like is not None:
        node.device, node.guards = like.device, like.guards
    shapes = op.infer(node.grouped_inputs, resolved, node.name)
    node.outputs = [
        Value(node, i, t, s) for i, (t, s) in enumerate(zip(op.output_types(resolved), shapes, strict=True))
    ]
    return node


@dataclass
class Program:
    """A step: fed values, nodes in order, fetched values, and the nodes that run although their outputs are
    not used.
    """

    feeds: list[Value]
    nodes: list[Node]
    fetches: list[Value]
    targets: set[Node] = field(default_factory=set)
    is_body: bool = False  # of a loop: the feeds are its variables
    advice: list[str] = field(default_factory=list)
    fetch_to: Any = CPU  # the device to which a plan returns the fetches; None where they stay

    def uses(self) -> dict[Value, int]:
        """How often each value is used, fetches included. A value from outside of a loop counts more than
        once for the loop.
        """
        counts: dict[Value, int] = {}
        for node in walk(self):
            taken = node.dependencies
            if isinstance(node, Loop):
                taken = [*taken, *node.body.fetches]
            for value in taken:
                counts[value] = counts.get(value, 0) + 1
        for value in self.fetches:
            counts[value] = counts.get(value, 0) + 1
        return counts

    def check(self) -> None:
        """Checks that every input is computed before it is used, and that inputs fit their node's schema."""
        self._check(set())

    def _check(self, outside: set[Value]) -> None:
        made = outside.union(self.feeds)
        for node in self.nodes:
            for value in node.dependencies:
                if value not in made:
                    raise AssertionError(f"{node} takes {value} before it is made")
            node.grouped_inputs  # noqa: B018 - raises where the number of inputs is not the schema's
            if isinstance(node, Loop):
                node.body._check(made)
            made.update(node.outputs)
        for value in self.fetches:
            if value not in made:
                raise AssertionError(f"fetched {value} is never made")
