"""Where the extremes stand: ArgMax and ArgMin."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers import cpu_functions, unsigned
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import brackets, scalar
from tideflow.ops.helpers.flops import per_reduced_element
from tideflow.ops.helpers.samples import boolean, f32, i32
from tideflow.ops.helpers.types import INDEX, INDICES, QUANTIZED, REAL, types

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

COMPARABLE = REAL + QUANTIZED + (dtypes.bool,)


def _checked_dimension(dimension: int, rank: int) -> int:
    if not -rank <= dimension < rank:
        raise ShapeError(
            f"Expected dimension in the range [{-rank}, {rank}), but got {dimension}. Dimension "
            f"({dimension}) must be in the range [{-rank}, {rank}), where {rank} is the number of "
            "dimensions in the input."
        )
    return dimension % rank


def without_axis(input, dimension):
    """The shape rule of both."""
    if input.ndims is None:
        return None
    if input.ndims <= 1:
        return []
    if scalar(dimension, "dim must be a scalar, but received tensor of shape: ") is None:
        return [None] * (input.ndims - 1)
    axis = _checked_dimension(dimension, input.ndims)
    return [*input.tuple[:axis], *input.tuple[axis + 1 :]]


def _position(find: Any, of_numpy: Any, instead_of_nan: float) -> Any:
    """The kernel of ArgMax or ArgMin: the first of equals, and a NaN never wins."""

    def _kernel(input, dimension, *, output_type):
        axis = _checked_dimension(dimension, input.dim())
        if not input.shape[axis]:
            raise ShapeError(f"Reduction axis {axis} is empty in shape {brackets(input.shape)}")
        if cpu_functions.is_for_search(input):
            return cpu_functions.search(of_numpy, input, axis).to(output_type.torch)
        if input.is_floating_point():
            input = input.nan_to_num(instead_of_nan, math.inf, -math.inf)  # which leaves infinities alone
        elif input.dtype == torch.bool:
            input = input.to(torch.uint8)
        return find(unsigned.comparable(input), axis).to(output_type.torch)

    return _kernel


def _add_refusals(op: Op) -> None:
    op.refuses((f32(2, 3), 2), "Dimension (2) must be in the range [-2, 2)")
    op.refuses((f32(2, 0), 1), "Reduction axis 1 is empty in shape [2,0]", InvalidArgumentError)


SAMPLES = (
    (f32(2, 3), 1),
    (i32(3, 4), -2, {"output_type": dtypes.int32}),
    (np.array([1.0, 3.0, 3.0], np.float32), 0),
    (boolean(2, 3), 0),
    (f32(0, 3), 1),
)

arg_max_op = Op(
    "ArgMax",
    "input: T, dimension: Tidx -> output: output_type",
    T=COMPARABLE,
    Tidx=attr("type", dtypes.int32, allowed=types("int16 int32 int64")),
    output_type=attr("type", dtypes.int64, allowed=types("int16 uint16 int32 int64")),
    host="dimension",
    differentiable=False,
)
arg_max_op.shape(without_axis)
arg_max_op.kernel(_position(torch.argmax, np.argmax, -math.inf))
arg_max_op.flops(per_reduced_element)
arg_max_op.samples(*SAMPLES, against=np.argmax)
_add_refusals(arg_max_op)


@export("argmax", "math.argmax")
def argmax(
    input: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
    dimension: TensorLike | None = None,
    output_type: DTypeLike = dtypes.int64,
) -> Tensor:
    """The position of the largest element along an axis; of equal ones, the first.

    Args:
      input: A tensor of real numbers or truth values.
      axis: The axis to look along, 0 by default; negative ones are counted from the end.
      name: A name for the operation.
      dimension: The deprecated name of `axis`.
      output_type: The type of the positions.

    Returns:
      A tensor of type `output_type` and of the shape of `input` without that axis.
    """
    axis = renamed("axis", axis, "dimension", dimension)
    return arg_max_op(input, 0 if axis is None else axis, output_type=output_type, name=name)


@export("arg_max")
def arg_max(
    input: TensorLike, dimension: TensorLike, output_type: DTypeLike = dtypes.int64, name: str | None = None
) -> Tensor:
    """The deprecated name of `tf.argmax`.

    Args:
      input: A tensor of real numbers or truth values.
      dimension: The axis to look along.
      output_type: The type of the positions.
      name: A name for the operation.

    Returns:
      A tensor of type `output_type` and of the shape of `input` without that axis.
    """
    return arg_max_op(input, dimension, output_type=output_type, name=name)


arg_min_op = Op(
    "ArgMin",
    "input: T, dimension: Tidx -> output: output_type",
    T=COMPARABLE,
    Tidx=INDEX,
    output_type=attr("type", dtypes.int64, allowed=INDICES),
    host="dimension",
    differentiable=False,
)
arg_min_op.shape(without_axis)
arg_min_op.kernel(_position(torch.argmin, np.argmin, math.inf))
arg_min_op.flops(per_reduced_element)
arg_min_op.samples(*SAMPLES, against=np.argmin)
_add_refusals(arg_min_op)


@export("argmin", "math.argmin")
def argmin(
    input: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
    dimension: TensorLike | None = None,
    output_type: DTypeLike = dtypes.int64,
) -> Tensor:
    """The position of the smallest element along an axis; of equal ones, the first.

    Args:
      input: A tensor of real numbers or truth values.
      axis: The axis to look along, 0 by default; negative ones are counted from the end.
      name: A name for the operation.
      dimension: The deprecated name of `axis`.
      output_type: The type of the positions.

    Returns:
      A tensor of type `output_type` and of the shape of `input` without that axis.
    """
    axis = renamed("axis", axis, "dimension", dimension)
    return arg_min_op(input, 0 if axis is None else axis, output_type=output_type, name=name)


@export("arg_min")
def arg_min(
    input: TensorLike, dimension: TensorLike, output_type: DTypeLike = dtypes.int64, name: str | None = None
) -> Tensor:
    """The deprecated name of `tf.argmin`.

    Args:
      input: A tensor of real numbers or truth values.
      dimension: The axis to look along.
      output_type: The type of the positions.
      name: A name for the operation.

    Returns:
      A tensor of type `output_type` and of the shape of `input` without that axis.
    """
    return arg_min_op(input, dimension, output_type=output_type, name=name)
