"""Pruning: which operations of a graph a step needs."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import Any

from tideflow.compile.ir import Node, Value
from tideflow.graph.dtypes import DType
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.runtime.resources import device_of

feed_op = Op("_Feed", " -> value: dtype", differentiable=False)
feed_op.shape(lambda: None)
feed_op.kernel(lambda: None)
feed_op.samples(())


def given(name: str, dtype: DType, shape: TensorShape, source: Operation | None) -> Value:
    """A value that is given to a program: a feed, or a loop's variable."""
    node = Node(feed_op, name, [], {"dtype": dtype.base_dtype}, source)
    node.outputs = [Value(node, 0, dtype.base_dtype, shape)]
    return node.outputs[0]


known_op = Op("_Known", " -> value: dtype", handle=True, differentiable=False)
known_op.shape(lambda: None)
known_op.kernel(lambda *, node: node.attrs["object"])
known_op.samples(())


def known(tensor: Tensor, handle: Any) -> Node:
    """A node for a handle that every run of a plan has, as it has those of the graph's own variables."""
    dtype = getattr(handle, "dtype", tensor.dtype.base_dtype)
    node = Node(known_op, f"captured {tensor.name}", [], {"dtype": dtype, "object": handle}, tensor.op)
    node.outputs = [Value(node, 0, tensor.dtype.base_dtype, tensor.shape)]
    node.device = device_of(handle)
    return node


read_op = Op("_Read", "ref: Ref(T) -> value: T", stateful=True, differentiable=False, role="read")
read_op.shape(lambda ref: ref)
read_op.kernel(lambda ref: ref.read())
read_op.samples(())

aliased_op = Op("_Aliased", "old: T, ref: Ref(T) -> value: T", stateful=True, differentiable=False)
aliased_op.shape(lambda old, ref: old)


@aliased_op.kernel
def _aliased_kernel(old: Any, ref: Any) -> Any:
    """What a value that was read before a write has become: a write of as many elements is into the same
    memory, any other gives the variable new memory.
    """
    new = ref.read()
    return new.reshape(old.shape) if math.prod(new.shape) == math.prod(old.shape) else old


aliased_op.samples(())


def needed(
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: set[Tensor],
    done: Set[Operation] = frozenset(),
) -> set[Operation]:
    """Every operation that the fetches and targets depend on, except those that only fed tensors need, and
    those that are `done`.

    A control edge counts even where all outputs of its operation are fed; not so for a placeholder, which
    does nothing.
    """
    given = {tensor.op for tensor in feeds if tensor.op.definition.role == "placeholder"}
    return behind(fetches, targets, feeds, given | done)


def behind(
    fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: set[Tensor], passed: Set[Operation]
) -> set[Operation]:
    """What the fetches and targets need; control edges from the operations of `passed` do not count."""
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
