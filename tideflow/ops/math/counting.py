"""How often each number occurs: Bincount and, of later versions, DenseBincount."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.helpers.axes import brackets, scalar
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import INDICES, types
from tideflow.ops.math import binary, casting, reductions, segments

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

bincount_op = Op(
    "Bincount",
    "arr: int32, size: int32, weights: T -> bins: T",
    T=types("int32 int64 float double"),
    host="size",
    differentiable=None,
)


@bincount_op.shape
def _bincount_shape(arr, size, weights):
    if scalar(size) is not None and size < 0:
        raise ShapeError(f"size ({size}) must be non-negative")
    return [size]


@bincount_op.kernel
def _bincount_kernel(arr, size, weights):
    """Numbers that have no bin are not counted; no weights weigh 1 each."""
    if size < 0:
        raise ShapeError(f"size ({size}) must be non-negative")
    numbers = arr.reshape(-1).long()
    if numbers.numel() and int(numbers.min()) < 0:
        raise ShapeError("Input arr must be non-negative!")
    if not weights.numel() and type(numbers) is torch.Tensor and numbers.is_cpu:
        counted = numbers if not numbers.numel() or int(numbers.max()) < size else numbers[numbers < size]
        return torch.bincount(counted, minlength=size)[:size].to(weights.dtype)
    counted = numbers < size
    if not weights.numel():
        weights = torch.ones_like(numbers, dtype=weights.dtype)
    if weights.numel() != numbers.numel():
        raise ShapeError(f"weights has {weights.numel()} elements, arr has {numbers.numel()}")
    bins = weights.new_zeros(size)
    return bins.index_add(0, numbers[counted], weights.reshape(-1)[counted])


def reference(arr: np.ndarray, size: int, weights: np.ndarray) -> np.ndarray:
    """What NumPy counts."""
    weights = weights if weights.size else np.ones(arr.shape, weights.dtype)
    counts = np.bincount(arr.ravel(), weights.ravel(), minlength=size)[:size]
    return counts.astype(weights.dtype)


bincount_op.samples(
    (i32(6, low=0, high=4), 3, f32(6)),
    (i32(2, 3, low=0, high=4), 6, np.zeros(0, np.int64)),
    (i32(0), 2, f32(0)),
    against=reference,
)
bincount_op.refuses((i32(3, low=0), -4, f32(3)), "size (-4) must be non-negative")
bincount_op.refuses((i32(3, low=-5, high=0), 4, f32(3)), "must be non-negative", InvalidArgumentError)


@export("bincount", "math.bincount")
def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
) -> Tensor:
    """Counts how often each number occurs, or adds up the weights of its occurrences.

    Args:
      arr: A tensor of type int32 whose elements are not negative.
      weights: What each element counts, a tensor of the shape of `arr`; by default 1.
      minlength: The least number of counts to return.
      maxlength: The largest number of counts to return; numbers that have no place there are not counted.
      dtype: The type of the counts where there are no weights.

    Returns:
      A vector: the count, or weight, of 0, 1, 2 and so on, up to the largest element of `arr`.
    """
    with name_scope(None, "bincount"):
        arr = convert_to_tensor(arr, name="arr", dtype=dtypes.int32)
        nonempty = binary.greater(reductions.reduce_prod(shapes.shape(arr)), 0)
        size = casting.cast(nonempty, dtypes.int32) * (reductions.reduce_max(arr) + 1)
        if minlength is not None:
            minlength = convert_to_tensor(minlength, name="minlength", dtype=dtypes.int32)
            size = binary.maximum(minlength, size)
        if maxlength is not None:
            maxlength = convert_to_tensor(maxlength, name="maxlength", dtype=dtypes.int32)
            size = binary.minimum(maxlength, size)
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            return segments.unsorted_segment_sum(weights, arr, size)
        return bincount_op(arr, size, constants.constant([], dtype))


dense_bincount_op = Op(
    "DenseBincount",
    "input: Tidx, size: Tidx, weights: T -> output: T",
    Tidx=INDICES,
    T=types("int32 int64 float double"),
    binary_output=False,
    host="size",
    differentiable=False,
)


@dense_bincount_op.shape
def _dense_bincount_shape(input, size, weights):
    if input.ndims is not None and input.ndims not in (1, 2):
        raise ShapeError(f"Shape must be at most rank 2 but is rank {input.ndims}")
    return None if input.tuple is None else [*input.tuple[:-1], size]


@dense_bincount_op.kernel
def _dense_bincount_kernel(input, size, weights, *, binary_output):
    """Each row of a matrix is counted by itself; what has no bin is not counted."""
    scalar(size)
    rows = input.reshape(math.prod(input.shape[:-1]), input.shape[-1]).long()
    if size < 0:
        raise ShapeError(f"size ({size}) must be non-negative")
    if rows.numel() and int(rows.min()) < 0:
        raise ShapeError("Input arr must be non-negative!")
    if weights.numel() and weights.shape != input.shape:
        raise ShapeError(
            "weights must be of the same shape as the input, or empty, in which case all are 1; they are of "
            f"shapes {brackets(weights.shape)} and {brackets(input.shape)}"
        )
    counted = rows < size
    if binary_output or not weights.numel():
        weights = torch.ones_like(rows, dtype=weights.dtype)
    values = torch.where(counted, weights.reshape(rows.shape), 0)
    bins = weights.new_zeros(len(rows), size + 1)  # the last is for what has none
    places = torch.where(counted, rows, size)
    if binary_output:
        bins.scatter_(1, places, values)
    else:
        bins.scatter_add_(1, places, values)
    return bins[:, :size].reshape(*input.shape[:-1], size)


def _row_counts(input: np.ndarray, size: int, weights: np.ndarray, binary_output: bool = False) -> np.ndarray:
    rows = input.reshape(math.prod(input.shape[:-1]), input.shape[-1])
    given = weights.reshape(rows.shape) if weights.size else [np.zeros(0, weights.dtype)] * len(rows)
    counts = [reference(row, size, one) for row, one in zip(rows, given, strict=True)]
    result = np.array(counts, weights.dtype).reshape(*input.shape[:-1], size)
    return (result > 0).astype(weights.dtype) if binary_output else result


dense_bincount_op.samples(
    (i32(6, low=0, high=4), np.int32(3), f32(6)),
    (i32(2, 3, low=0, high=4), np.int32(6), np.zeros(0, np.int64)),
    (i32(2, 3, low=0, high=4), np.int32(3), np.zeros(0, np.float32), {"binary_output": True}),
    against=_row_counts,
)
dense_bincount_op.refuses(
    (i32(6, low=0), np.int32(3), f32(2)),
    "weights must be of the same shape as the input",
    InvalidArgumentError,
)
dense_bincount_op.refuses((i32(2, 2, 2, low=0), np.int32(2), f32(0)), "Shape must be at most rank 2")
