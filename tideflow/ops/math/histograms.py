"""Numbers by intervals: histograms, buckets, and the places of flat indices."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import shapes
from tideflow.ops.helpers.axes import brackets, scalar, vector
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import INDEX, types
from tideflow.ops.math import binary, casting, clipping, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_NUMBERS = types("int32 int64 float double")

# ---------------------------------------------------------------------------------- histograms

histogram_op = Op(
    "HistogramFixedWidth",
    "values: T, value_range: T, nbins: int32 -> out: dtype",
    T=_NUMBERS,
    dtype=INDEX,
    host="value_range, nbins",
    differentiable=False,
)


_TWO_ENDS = "value_range should be a vector of 2 elements."


@histogram_op.shape
def _histogram_shape(values, value_range, nbins):
    ends = vector(value_range, f"{_TWO_ENDS} It has shape ")
    if ends is not None and len(ends) != 2:
        raise ShapeError(f"Dimension must be 2 but is {len(ends)}", _TWO_ENDS)
    if scalar(nbins, "nbins should be a scalar. It has shape ") is not None and nbins <= 0:
        raise ShapeError(f"Requires nbins > 0: {nbins}")
    return [nbins]


@histogram_op.kernel
def _histogram_kernel(values, value_range, nbins, *, dtype):
    if len(vector(value_range, f"{_TWO_ENDS} It has shape ")) != 2:
        raise ShapeError(_TWO_ENDS)
    low, high = value_range
    if nbins <= 0:
        raise ShapeError(f"nbins should be a positive number, but got '{nbins}'")
    if not low < high:
        raise ShapeError(
            f"value_range should satisfy value_range[0] < value_range[1], but got '[{low:g}, {high:g}]'"
        )
    width = (high - low) / nbins
    numbers = values.reshape(-1).double()
    bins = (numbers - low).div_(width).clamp_(0, nbins - 1).nan_to_num_(0).int()
    return torch.bincount(bins, minlength=nbins).to(dtype.torch)


def _numpy_histogram(values: np.ndarray, value_range: np.ndarray, nbins: int) -> np.ndarray:
    low, high = value_range
    return np.histogram(np.clip(values, low, high), nbins, (low, high))[0].astype(np.int32)


histogram_op.samples(
    (np.array([-1.0, 0, 1.5, 2, 5, 15]), np.array([0.0, 5.0]), 5),
    (f32(2, 3), np.array([-0.5, 0.5], np.float32), 3),
    (i32(7), np.array([-2, 3], np.int32), 4),
    (f32(0), np.array([0, 1], np.float32), 2),
    against=_numpy_histogram,
)
histogram_op.refuses((f32(2), np.zeros(3, np.float32), 5), "Dimension must be 2 but is 3")
histogram_op.refuses((f32(2), np.array([0, 1], np.float32), 0), "Requires nbins > 0: 0")
histogram_op.refuses(
    (f32(2), np.array([5, 0], np.float32), 5),
    "should satisfy value_range[0] < value_range[1]",
    InvalidArgumentError,
)


@export("histogram_fixed_width")
def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Counts the values in each of several equally wide bins.

    Args:
      values: A tensor of real numbers. Those beyond the range count in the first and the last bin.
      value_range: A vector of two numbers of the type of `values`: where the first bin begins and the last
        ends.
      nbins: How many bins there are.
      dtype: The type of the counts.
      name: A name for the operation.

    Returns:
      A vector of `nbins` counts.
    """
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return histogram_op(values, value_range, nbins, dtype=dtype, name=scope)


@export("histogram_fixed_width_bins")
def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Finds the bin of a histogram that each value falls in.

    Args:
      values: A tensor of real numbers. Those beyond the range fall in the first and the last bin.
      value_range: A vector of two numbers of the type of `values`: where the first bin begins and the last
        ends.
      nbins: How many bins there are.
      dtype: Not used; the bins are numbers of type int32.
      name: A name for the scope of the operations.

    Returns:
      A tensor of type int32 and the shape of `values`.
    """
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        shape = shapes.shape(values)
        values = shapes.reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtype=dtypes.int32, name="nbins")
        count = casting.cast(nbins, values.dtype)
        share = binary.truediv(values - value_range[0], value_range[1] - value_range[0], name="scaled_values")
        bins = unary.floor(count * share, name="indices")
        bins = casting.cast(clipping.clip_by_value(bins, 0, count - 1), dtypes.int32)
        return shapes.reshape(bins, shape)


# ---------------------------------------------------------------------------------- buckets

bucketize_op = Op(
    "Bucketize", "input: T -> output: int32", T=_NUMBERS, boundaries=attr("list(float)"), differentiable=False
)

bucketize_op.shape(same_shape)


@bucketize_op.kernel
def _bucketize_kernel(input, *, boundaries):
    if boundaries != sorted(boundaries):
        raise ShapeError("Expected sorted boundaries")
    # Boundaries are float32 numbers; float64 holds them and the values alike.
    edges = torch.tensor(boundaries, dtype=torch.float64, device=input.device)
    return torch.bucketize(input.double(), edges, right=True, out_int32=True)


def _bisected(input: np.ndarray, boundaries: list[float]) -> np.ndarray:
    return np.array([bisect_right(boundaries, x) for x in input.ravel()], np.int32).reshape(input.shape)


bucketize_op.samples(
    (np.array([[-5, 10000], [150, 10], [5, 100]], np.float32), {"boundaries": [0.0, 10.0, 100.0]}),
    (i32(4), {"boundaries": [-1.0, 1.0]}),
    (f32(0, 2), {"boundaries": [0.5]}),
    (f32(3), {"boundaries": []}),
    against=_bisected,
)
bucketize_op.refuses((f32(3), {"boundaries": [3.0, 1.0]}), "Expected sorted boundaries", InvalidArgumentError)

# ---------------------------------------------------------------------------------- places

unravel_op = Op(
    "UnravelIndex",
    "indices: Tidx, dims: Tidx -> output: Tidx",
    Tidx=INDEX,
    host="dims",
    differentiable=False,
)


@unravel_op.shape
def _unravel_shape(indices, dims):
    sizes = vector(dims, "The indices can only be scalar or vector, and dims a vector, got ")
    count = None if sizes is None else len(sizes)
    if indices.ndims is None:
        return None
    return [count] if indices.ndims == 0 else [count, indices.num_elements()]


@unravel_op.kernel
def _unravel_kernel(indices, dims):
    if indices.dim() > 1:
        raise ShapeError(f'The indices can only be scalar or vector, got "{brackets(indices.shape)}"')
    if not isinstance(dims, list):
        raise ShapeError('The indices can only be 1-D, got "[]"')
    if 0 in vector(dims):
        raise ShapeError("dims cannot contain a dim of zero.")
    places, left = [], indices
    for size in reversed(dims):
        places.append(torch.fmod(left, size))
        left = torch.div(left, size, rounding_mode="trunc")
    return torch.stack(places[::-1]) if places else indices.new_zeros((0, *indices.shape))


unravel_op.samples(
    (np.array([22, 41, 37], np.int32), np.array([7, 6], np.int32)),
    (np.array(1621), np.array([6, 7, 8, 9])),
    (np.zeros(0, np.int32), np.array([7, 6], np.int32)),
    against=lambda indices, dims: np.array(np.unravel_index(indices, dims), indices.dtype),
)
unravel_op.refuses((i32(2, low=0), np.array(7, np.int32)), "Shape must be rank 1 but is rank 0")


@export("unravel_index")
def unravel_index(indices: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """Converts indices into the flat elements of an array to places along its axes.

    Args:
      indices: A scalar or vector of int32 or int64.
      dims: The sizes of the array, a vector of the same type.
      name: A name for the operation.

    Returns:
      A tensor with one row for each axis, of the type of `indices`.
    """
    return unravel_op(indices, dims, name=name)
