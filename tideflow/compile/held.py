"""What stacks and TensorArrays hold: the shape of what is taken out follows from what is put in, and so does
its value, where sizes are put in that are the same in every iteration.

A backward loop pops the sizes that the forward loop pushed. Where a step's feeds make them known, the
backward loop is compiled for them as the forward loop is.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, NamedTuple

import numpy as np

from tideflow.compile import calls
from tideflow.compile.ir import Node, Value
from tideflow.graph.functions import FunctionBody
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.shapes import TensorShape
from tideflow.ops.control_flow import stacks
from tideflow.ops.control_flow import tensor_array_ops as arrays

_PASSING = ("Enter", "Identity", "Switch")  # what takes a handle and gives it on
_HOLDERS = (stacks.stack_v2_op, arrays.tensor_array_op)
# The input that is put in; of a scatter, its parts are.
_PUTS: dict[Op, int] = {stacks.stack_push_v2_op: 1, arrays.write_op: 2, arrays.scatter_op: 2}
_TAKES = (stacks.stack_pop_v2_op, arrays.read_op, arrays.gather_op)
_OTHERS = (
    stacks.stack_close_v2_op,
    arrays.gradient_op,
    arrays.concat_op,
    arrays.size_op,
    arrays.close_op,
)


class Element(NamedTuple):
    """What is known of the elements of a stack or an array, or of what is made of them."""

    shape: TensorShape
    value: Any = None  # of integers: a number or a (nested) list of them, with None for what is unknown

    @property
    def array(self) -> np.ndarray | None:
        """The value, where all of it is known."""
        if not self.shape.is_fully_defined() or not fully_known(self.value):
            return None
        return np.array(self.value).reshape(self.shape.tuple)


_UNKNOWN = Element(TensorShape(None))


class Held:
    """By handle, what the operations so far put in. A loop's body may be built several times: each time it
    begins with what was known before it.
    """

    def __init__(self, ops: Set[Operation], before: Held | None = None) -> None:
        self.ops = ops  # all that may put something in
        self._put: dict[Value, dict[Operation | None, Element]] = {}
        self._puts: dict[Value, set[Operation]] = {}  # what `_puts_into` found
        self._commons: dict[Value, Element] = {}  # what elements have in common, until another is put in
        if before is not None:
            self._put = {handle: dict(elements) for handle, elements in before._put.items()}
            self._puts = before._puts

    def see(self, node: Node) -> Element | None:
        """Notes what a node puts in. If it takes something out, returns what is known of that."""
        op = node.definition
        if op in _PUTS:
            value = node.inputs[_PUTS[op]]
            if op is arrays.scatter_op:
                element = Element(value.shape[1:]) if value.shape.ndims else _UNKNOWN
            else:
                element = Element(value.shape, partial_value(value) if value.dtype.is_integer else None)
            handle = _origin(node.inputs[0])
            self._put.setdefault(handle, {})[node.source] = element
            self._commons.pop(handle, None)
        if op not in _TAKES:
            return None
        element = self._common(_origin(node.inputs[0]))
        if op is stacks.stack_pop_v2_op:
            return element
        if op is arrays.read_op:
            return Element(element.shape)
        return Element(node.inputs[1].shape[:1].concatenate(element.shape))

    def _common(self, handle: Value) -> Element:
        """What all elements have in common; nothing, unless all that may be put in is known."""
        if handle.op.definition is arrays.gradient_op:  # of the same shapes
            return Element(self._common(_origin(handle.op.inputs[0])).shape)
        if handle.op.definition not in _HOLDERS:
            return _UNKNOWN
        if handle not in self._commons:
            self._commons[handle] = self._compared(handle)
        return self._commons[handle]

    def _compared(self, handle: Value) -> Element:
        if handle not in self._puts:
            self._puts[handle] = _puts_into(handle, self.ops)
        puts, known = self._puts[handle], self._put.get(handle, {})
        if not puts or not puts <= known.keys():
            return _UNKNOWN
        first, *rest = (known[op] for op in puts)
        if any(other.shape.tuple != first.shape.tuple for other in rest):
            return _UNKNOWN
        return first if all(other.value == first.value for other in rest) else Element(first.shape)


def _origin(handle: Value) -> Value:
    while handle.op.type in _PASSING:
        handle = handle.op.inputs[0]
    return handle


class _Call(NamedTuple):
    """A call whose body is looked into, from the call around it."""

    op: Operation
    body: FunctionBody
    around: _Call | None

    @property
    def path(self) -> tuple[Operation, ...]:
        """The calls from the step to the body."""
        return (*(self.around.path if self.around is not None else ()), self.op)


def _puts_into(handle: Value, ops: Set[Operation]) -> set[Operation]:
    """The operations that put something in, those in functions too; none, where the handle goes where that
    cannot be seen.
    """
    assert handle.op.source is not None, "it was made for an operation"
    found: set[Operation] = set()
    first: tuple[Tensor, _Call | None] = (handle.op.source.outputs[handle.value_index], None)
    waiting, seen = [first], set()
    while waiting:
        tensor, call = waiting.pop()
        place = tensor, call.path if call is not None else ()
        if place in seen:
            continue
        seen.add(place)
        further = _behind_call(tensor, call)
        for op in tensor._consumers:
            if call is None and op not in ops or op.definition in _TAKES or op.definition in _OTHERS:
                continue
            bodies = calls.bodies_called(op)
            if op.type in _PASSING:
                further += [(output, call) for output in op.outputs]
            elif op.definition in _PUTS:
                found.add(op)
            elif not bodies:
                return set()
            places = [i for i, given in enumerate(op.inputs) if given is tensor]
            for skipped, body in bodies:
                further += [(body.inputs[i - skipped], _Call(op, body, call)) for i in places if i >= skipped]
        waiting += further
    return found


def _behind_call(tensor: Tensor, call: _Call | None) -> list[tuple[Tensor, _Call | None]]:
    """Where a handle goes that a function returns: out of the call, and into a loop's next iteration."""
    if call is None:
        return []
    op, body, around = call
    found: list[tuple[Tensor, _Call | None]] = []
    for i, output in enumerate(body.outputs):
        if output is tensor and i < len(op.outputs):
            found.append((op.outputs[i], around))
            if op.type in calls.LOOPS:
                found += [(each.inputs[i], _Call(op, each, around)) for _, each in calls.bodies_called(op)]
    return found
