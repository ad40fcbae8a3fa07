"""Loops whose number of iterations is known, written out: their body once for each of them.

A loop asks the host after each iteration whether to go on, and puts values into TensorArrays and stacks,
which are the host's. Written out, nothing of that is left: who reads an element takes the value that was
written.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tideflow.compile.ir import Loop, Node, Program, Value, make_node
from tideflow.compile.rewrite import constant_node, drop_unused, folded
from tideflow.compile.rules_math import add_matmul_op
from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.op import Op
from tideflow.ops.arrays.joining import concat_v2_op, pack_op, unpack_op
from tideflow.ops.control_flow import stacks
from tideflow.ops.control_flow import tensor_array_ops as arrays
from tideflow.ops.math.adding import add_n_op

_MOST_NODES = 20_000  # of a program with its loops written out


class Unknown(Exception):
    """Something is known only when the step runs, so that a loop stays a loop."""


def unrolled(program: Program) -> Program | None:
    """The program without loops; None where it has none, or one of them must stay."""
    if not any(isinstance(node, Loop) for node in program.nodes):
        return None
    try:
        return _Unrolling().of(program)
    except Unknown:
        return None


@dataclass
class _Array:
    """The elements of a TensorArray."""

    dtype: DType
    size: int
    clears: bool
    can_grow: bool = False
    of: _Array | None = None  # the array whose gradients these are
    elements: dict[int, Value] = field(default_factory=dict)
    cleared: set[int] = field(default_factory=set)
    gradients: dict[str, _Array] = field(default_factory=dict)

    def gradient(self, source: str) -> _Array:
        if source not in self.gradients:
            self.gradients[source] = _Array(self.dtype, self.size, clears=False, of=self)
        return self.gradients[source]


class _Unrolling:
    """Follows a program node by node, through all iterations of its loops."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []  # of the program without loops
        self._values: dict[Value, Value] = {}  # those of them that stand for values of the program now
        self._targets: dict[Node, Node] = {}
        self._constants: dict[Node, Node] = {}  # of bodies: one for all iterations
        self._held: dict[Value, _Array | list[Value]] = {}  # what a handle leads to
        self._handlers: dict[Op, Callable[[Node], Sequence[Value]]] = {
            arrays.tensor_array_op: self._array,
            arrays.gradient_op: self._gradient_array,
            arrays.write_op: self._write,
            arrays.read_op: self._read,
            arrays.scatter_op: self._scatter,
            arrays.gather_op: self._gather,
            arrays.size_op: self._size,
            arrays.close_op: lambda node: (),
            stacks.stack_v2_op: self._stack,
            stacks.stack_push_v2_op: self._push,
            stacks.stack_pop_v2_op: self._pop,
            stacks.stack_close_v2_op: lambda node: (),
        }

    def of(self, program: Program) -> Program:
        for node in program.nodes:
            if isinstance(node, Loop) and not node.guards:
                self._unroll(node)
            elif node.definition in self._handlers and not node.guards:
                self._follow(node)
            else:
                self._keep(node)
        made = dataclasses.replace(
            program,
            nodes=self._nodes,
            fetches=self._now(program.fetches),
            targets={self._targets.get(node, node) for node in program.targets},
        )
        drop_unused(made)
        join_products(made)
        return made

    def _now(self, values: Iterable[Value]) -> list[Value]:
        return [self._values.get(value, value) for value in values]

    def _known(self, value: Value) -> np.ndarray:
        """The array of a value that is a constant now."""
        array = self._values.get(value, value).constant
        if array is None:
            raise Unknown
        return np.asarray(array)

    def _set(self, node: Node, values: Sequence[Value]) -> None:
        """Says what stands for the outputs of a node now."""
        self._values.update(zip(node.outputs, values, strict=True))

    def _keep(self, node: Node) -> None:
        """A node outside of loops, under the conditions that it has."""
        if isinstance(node, Loop) or node.definition in self._handlers:
            raise Unknown
        if any(value in self._values for value in node.dependencies):
            if node.guards or node.choices:
                kept = copy.copy(node)
                kept.replace_values(self._values)
            else:
                kept = self._copied(node)
                if self._fold(kept, node):
                    return
                self._set(node, kept.outputs)
            self._targets[node] = node = kept
        self._nodes.append(node)

    # ---------------------------------------------------------------------------------- loops

    def _unroll(self, loop: Loop) -> None:
        current = self._now(loop.inputs)
        while True:
            self._values.update(zip(loop.body.feeds, current, strict=True))
            for node in loop.body.nodes:
                if self._holds(node.guards):
                    self._iterate(node)
            if not self._known(loop.pred):
                break
            current = self._now(loop.body.fetches[1:])
            if len(self._nodes) > _MOST_NODES:
                raise Unknown
        self._set(loop, current)

    def _iterate(self, node: Node) -> None:
        """A node of a body, in one iteration."""
        if isinstance(node, Loop):
            self._unroll(node)
        elif node.definition in self._handlers:
            self._follow(node)
        elif node.choices:
            chosen = next(i for i, guards in enumerate(node.choices) if self._holds(guards))
            index = self._constant(np.array(chosen, np.int32), node)
            self._values.update(zip(node.outputs, [self._now(node.inputs)[chosen], index], strict=False))
        elif node.definition.role == "constant":
            if node not in self._constants:
                self._constants[node] = self._copied(node)
                self._nodes.append(self._constants[node])
            self._set(node, self._constants[node].outputs)
        else:
            made = self._copied(node)
            if not self._fold(made, node):
                self._nodes.append(made)
                self._set(node, made.outputs)

    def _holds(self, guards: Iterable[tuple[Value, bool]]) -> bool:
        return all(bool(self._known(pred)) == side for pred, side in guards)

    def _copied(self, node: Node) -> Node:
        """The node on the values of this iteration, without conditions: they hold."""
        made = copy.copy(node)
        made.inputs, made.guards = self._now(node.inputs), frozenset()
        made.outputs = [Value(made, v.value_index, v.dtype, v.shape) for v in node.outputs]
        made.refine_shapes()
        return made

    def _fold(self, made: Node, node: Node) -> bool:
        """Whether the node is a constant now, which its outputs then are."""
        constants = folded(made, self._constant)
        if constants is not None:
            self._set(node, constants)
        return constants is not None

    def _constant(self, array: np.ndarray, like: Node) -> Value:
        self._nodes.append(constant_node(array, like))
        return self._nodes[-1].outputs[0]

    def _make(self, op: Op, inputs: list[Value], attrs: dict[str, object], like: Node) -> list[Value]:
        node = make_node(op, inputs, attrs, like)
        node.guards = frozenset()
        self._nodes.append(node)
        return node.outputs

    # ---------------------------------------------------------------------------------- arrays and stacks

    def _follow(self, node: Node) -> None:
        """A node of a TensorArray or a stack: its outputs are values that are there."""
        self._values.update(zip(node.outputs, self._handlers[node.definition](node), strict=False))

    def _handle(self, node: Node, held: _Array | list[Value]) -> Value:
        """A new handle of an array or a stack, as the node's first output is one."""
        handle = Value(node, 0, node.outputs[0].dtype, node.outputs[0].shape)
        self._held[handle] = held
        return handle

    def _array_of(self, node: Node) -> _Array:
        held = self._held.get(self._now(node.inputs)[0])
        if not isinstance(held, _Array):
            raise Unknown
        return held

    def _stack_of(self, node: Node) -> list[Value]:
        held = self._held.get(self._now(node.inputs)[0])
        if not isinstance(held, list):
            raise Unknown
        return held

    def _array(self, node: Node) -> list[Value]:
        array = _Array(
            node.attrs["dtype"],
            int(self._known(node.inputs[0])),
            node.attrs["clear_after_read"],
            node.attrs["dynamic_size"],
        )
        return [self._handle(node, array), self._constant(np.array(0, np.float32), node)]

    def _gradient_array(self, node: Node) -> list[Value]:
        _, flow = self._now(node.inputs)
        return [self._handle(node, self._array_of(node).gradient(node.attrs["source"])), flow]

    def _write(self, node: Node) -> list[Value]:
        _, index, value, flow = self._now(node.inputs)
        self._put(self._array_of(node), int(self._known(index)), value, node)
        return [flow]

    def _put(self, array: _Array, index: int, value: Value, like: Node) -> None:
        if array.can_grow:
            array.size = max(array.size, index + 1)
        if not 0 <= index < array.size or index in array.cleared:
            raise Unknown
        if index in array.elements:
            if array.of is None:
                raise Unknown
            inputs = [array.elements[index], value]
            value = self._make(add_n_op, inputs, {"T": array.dtype, "N": 2}, like)[0]
        array.elements[index] = value

    def _read(self, node: Node) -> list[Value]:
        return [self._get(self._array_of(node), int(self._known(node.inputs[1])), node)]

    def _get(self, array: _Array, index: int, like: Node) -> Value:
        if not 0 <= index < array.size or index in array.cleared:
            raise Unknown
        if index not in array.elements:
            array.elements[index] = self._zeros(array, index, like)
        if array.clears:
            array.cleared.add(index)
        return array.elements[index]

    def _zeros(self, array: _Array, index: int, like: Node) -> Value:
        """A gradient that nobody has written."""
        forward = array.of.elements.get(index) if array.of is not None else None
        if forward is None or not forward.shape.is_fully_defined():
            raise Unknown
        zero = np.zeros((), array.dtype.as_numpy_dtype)
        sizes = [size or 0 for size in forward.shape.as_list()]
        return self._constant(np.broadcast_to(zero, sizes), like)

    def _scatter(self, node: Node) -> list[Value]:
        _, indices, value, flow = self._now(node.inputs)
        places = self._known(indices).tolist()
        parts = self._make(unpack_op, [value], {"T": value.dtype, "num": len(places), "axis": 0}, node)
        for index, part in zip(places, parts, strict=True):
            self._put(self._array_of(node), index, part, node)
        return [flow]

    def _gather(self, node: Node) -> list[Value]:
        array, places = self._array_of(node), self._known(node.inputs[1]).tolist()
        if not places:
            raise Unknown
        values = [self._get(array, index, node) for index in places]
        return self._make(pack_op, values, {"T": array.dtype, "N": len(values), "axis": 0}, node)

    def _size(self, node: Node) -> list[Value]:
        return [self._constant(np.array(self._array_of(node).size, np.int32), node)]

    def _stack(self, node: Node) -> list[Value]:
        return [self._handle(node, [])]

    def _push(self, node: Node) -> list[Value]:
        _, value = self._now(node.inputs)
        self._stack_of(node).append(value)
        return [value]

    def _pop(self, node: Node) -> list[Value]:
        stack = self._stack_of(node)
        if not stack:
            raise Unknown
        return [stack.pop()]


# -------------------------------------------------------------------------------------- sums of products


def join_products(program: Program) -> None:
    """AddMatMul(AddMatMul(s, a, b), c, d) -> AddMatMul(s, concat(a, c), concat(b, d)), all transposed_a: the
    gradient of weights that every iteration used is one large product, not a sum of small ones
    """
    uses = program.uses()
    chains: dict[Value, list[Node]] = {}  # by the sum at their end
    for node in program.nodes:
        if _adds_rows(node):
            total = node.inputs[0]
            before = chains.pop(total, []) if uses.get(total) == 1 else []
            chains[node.outputs[0]] = [*before, node]
    joined: dict[Node, list[Node]] = {}  # what takes the place of each node of a chain
    for chain in chains.values():
        if len(chain) > 1:
            joined.update({node: [] for node in chain})
            joined[chain[-1]] = _joined(chain)
    program.nodes = [new for node in program.nodes for new in joined.get(node, [node])]


def _adds_rows(node: Node) -> bool:
    """Whether a node adds a product over rows, of which there may be any number."""
    if node.definition is not add_matmul_op or node.guards:
        return False
    return bool(node.attrs["transpose_a"]) and not node.attrs["transpose_b"]


def _joined(chain: list[Node]) -> list[Node]:
    """Nodes whose last has the value of the chain's last, and its name."""
    last = chain[-1]
    axis = constant_node(np.array(0, np.int32), last)
    factors = []
    for place in (1, 2):
        rows = [node.inputs[place] for node in chain]
        attrs = {"N": len(rows), "T": rows[0].dtype, "Tidx": dtypes.int32}
        factors.append(make_node(concat_v2_op, [*rows, axis.outputs[0]], attrs, last))
    product = copy.copy(last)
    product.inputs = [chain[0].inputs[0], *(factor.outputs[0] for factor in factors)]
    return [axis, *factors, product]
