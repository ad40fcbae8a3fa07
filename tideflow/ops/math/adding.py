"""Sums of lists of tensors: AddN and AccumulateNV2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import constants
from tideflow.ops.helpers import flops, unsigned
from tideflow.ops.helpers.axes import common_shape, unequal_inputs
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import NUMERIC
from tideflow.runtime.tensor_lists import sum_of

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike


def _tensors(complaint: str, inputs: Any) -> list[Tensor]:
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(complaint)
    return [value if isinstance(value, IndexedSlices) else convert_to_tensor(value) for value in inputs]


@unsigned.modular
def sum_of_tensors(inputs):
    """The kernel of AddN and AccumulateNV2."""
    first, *others = inputs
    if any(other.shape != first.shape for other in others):
        shapes = [TensorShape(value.shape) for value in inputs]
        raise ShapeError("Parameters and update must be the same size", unequal_inputs("AddN", *shapes))
    if not others:
        return first
    total = torch.add(first, others[0])
    for other in others[1:]:
        total.add_(other)
    return total


def the_same_for_each(op, grad):
    """Their gradient."""
    return [grad] * len(op.inputs)


add_n_op = Op(
    "AddN", "inputs: N * T -> sum: T", T=NUMERIC + (dtypes.variant,), commutative=True, aggregate=True
)


@add_n_op.shape
def _add_n_shape(inputs):
    return common_shape(inputs, unequal_inputs("AddN", *inputs))


add_n_op.kernel(sum_of_tensors)


@add_n_op.kernel("string")
def _add_n_string_kernel(inputs):
    return sum_of(inputs)  # no strings are added; the other values that are objects are variants


@add_n_op.specialize
def _add_n_specialized(node):
    known = all(value.shape.is_fully_defined() for value in node.inputs)
    computable = node.outputs[0].dtype.is_floating or node.outputs[0].dtype.is_complex
    return (torch.add, node.inputs) if len(node.inputs) == 2 and known and computable else None


add_n_op.gradient(the_same_for_each)
add_n_op.flops(lambda op: flops.size(op.inputs[0]) * (len(op.inputs) - 1))
add_n_op.samples(
    ([f32(2, 3), f32(2, 3), f32(2, 3)],),
    ([f32(), f32()],),
    ([i32(2)],),
    ([f32(0, 2), f32(0, 2)],),
    against=lambda inputs: sum(inputs),
)
add_n_op.refuses(([f32(2), f32(3)],), "must be equal, but are 2 and 3")


@export("add_n", "math.add_n", ragged="values")
def add_n(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """The sum of tensors of one shape and type.

    Args:
      inputs: A list of tensors or IndexedSlices.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If the list is empty, or the shapes are known to differ.
    """
    tensors = _tensors(
        "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape", inputs
    )
    if len(tensors) > 1:
        return add_n_op(tensors, name=name)
    dense = convert_to_tensor(tensors[0])
    return constants.identity(dense, name=name) if name else dense


accumulate_n_op = Op(
    "AccumulateNV2",
    "inputs: N * T -> sum: T",
    T=NUMERIC,
    shape=attr("shape"),
    commutative=True,
    aggregate=True,
)


@accumulate_n_op.shape
def _accumulate_n_shape(inputs, *, shape):
    return common_shape([*inputs, shape])


accumulate_n_op.kernel(sum_of_tensors)
accumulate_n_op.gradient(the_same_for_each)
accumulate_n_op.samples(([f32(2, 3), f32(2, 3)], {"shape": [2, 3]}), against=lambda inputs: sum(inputs))
accumulate_n_op.refuses(([f32(2), f32(3)], {"shape": None}), "must be equal, but are 2 and 3")


@export("accumulate_n", "math.accumulate_n")
def accumulate_n(
    inputs: Sequence[Any],
    shape: ShapeLike | None = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The sum of tensors of one shape and type, of which `shape` may tell more than they do.

    Args:
      inputs: A list of tensors.
      shape: What is known of their shape.
      tensor_dtype: The type that they are expected to have.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If the list is empty, or shapes or types differ.
      TypeError: If the tensors are not of type `tensor_dtype`.
    """
    tensors = _tensors("inputs must be a list of at least one Tensor with the same dtype and shape", inputs)
    if any(tensor.dtype.base_dtype is not tensors[0].dtype.base_dtype for tensor in tensors):
        raise ValueError("inputs must be a list of at least one Tensor with the same dtype and shape")
    if tensor_dtype is not None and tensors[0].dtype.base_dtype is not dtypes.as_dtype(tensor_dtype):
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {tensors[0].dtype}")
    common = as_shape(shape)
    for tensor in tensors:
        common = common.merge_with(tensor.shape)
    if len(tensors) > 1:
        return accumulate_n_op(tensors, shape=common, name=name)
    return constants.identity(tensors[0], name=name) if name else tensors[0]
