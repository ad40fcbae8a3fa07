"""Tensors of one known shape, stacked as each of them is ready."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, mismatch
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.helpers.axes import merged
from tideflow.ops.helpers.samples import f32

parallel_concat_op = Op("ParallelConcat", "values: N * T -> output: T", shape=attr("shape"))


@parallel_concat_op.shape
def _parallel_concat_shape(values, *, shape):
    for i, value in enumerate(values):
        if value.tuple is not None and value.tuple[:1] not in ((1,), (None,)):
            raise ShapeError(f"Size of first dimension must be 1, but values[{i}] has shape {value}")
        if difference := mismatch(value, values[0]):
            raise ShapeError(f"{difference}\n\tFrom merging shape {i} with other shapes.")
    return merged(shape, TensorShape(joining.joined(values, 0)))


@parallel_concat_op.kernel
def _parallel_concat_kernel(values):
    return torch.cat(values, 0)


@parallel_concat_op.kernel("string")
def _parallel_concat_string_kernel(values):
    return np.concatenate(values, 0)


@parallel_concat_op.gradient
def _parallel_concat_gradient(op, grad):
    return joining.split(grad, len(op.inputs), 0)


parallel_concat_op.samples(
    ([f32(1, 3), f32(1, 3)], {"shape": [2, 3]}), against=lambda values, shape: np.concatenate(values)
)


@export("parallel_stack")
def parallel_stack(values: Sequence[Any], name: str = "parallel_stack") -> Tensor:
    """Stacks tensors of one fully known shape along a new first axis.

    Args:
      values: A list of tensors of one shape and type.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the same type.

    Raises:
      ValueError: If the shape is not fully known.
    """
    with name_scope(name):
        shape = convert_to_tensor(values[0]).shape
        shape.assert_is_fully_defined()
        rows = [shapes.expand_dims(value, 0) for value in values]
        if not all(row.shape.is_fully_defined() for row in rows):
            raise ValueError("All input shapes must be fully defined.")
        return parallel_concat_op(rows, shape=[len(values), *shape.as_list()])
