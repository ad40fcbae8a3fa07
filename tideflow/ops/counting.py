"""How often each number occurs: Bincount and the confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops import (
    binary,
    casting,
    constants,
    creation,
    flow,
    indexing,
    joining,
    reductions,
    segments,
    shapes,
)
from tideflow.ops.axes import brackets, of_rank, scalar
from tideflow.ops.samples import f32, i32
from tideflow.ops.types import INDICES, NUMERIC, types

bincount_op = Op(
    "Bincount",
    "arr: int32, size: int32, weights: T -> bins: T",
    T=types("int32 int64 float double"),
    host="size",
    differentiable=False,
)


@bincount_op.shape
def _(arr, size, weights):
    if scalar(size) is not None and size < 0:
        raise ShapeError(f"size ({size}) must be non-negative")
    return [size]


@bincount_op.kernel
def _(arr, size, weights):
    """Numbers that have no bin are not counted; no weights weigh 1 each."""
    if size < 0:
        raise ShapeError(f"size ({size}) must be non-negative")
    numbers = arr.reshape(-1).long()
    if numbers.numel() and int(numbers.min()) < 0:
        raise ShapeError("Input arr must be non-negative!")
    counted = numbers < size
    if not weights.numel():
        weights = torch.ones_like(numbers, dtype=weights.dtype)
    if weights.numel() != numbers.numel():
        raise ShapeError(f"weights has {weights.numel()} elements, arr has {numbers.numel()}")
    bins = weights.new_zeros(size)
    return bins.index_add(0, numbers[counted], weights.reshape(-1)[counted])


def _reference(arr: np.ndarray, size: int, weights: np.ndarray) -> np.ndarray:
    weights = weights if weights.size else np.ones(arr.shape, weights.dtype)
    counts = np.bincount(arr.ravel(), weights.ravel(), minlength=size)[:size]
    return counts.astype(weights.dtype)


bincount_op.samples(
    (i32(6, low=0, high=4), 3, f32(6)),
    (i32(2, 3, low=0, high=4), 6, np.zeros(0, np.int64)),
    (i32(0), 2, f32(0)),
    against=_reference,
)
bincount_op.refuses((i32(3, low=0), -4, f32(3)), "size (-4) must be non-negative")
bincount_op.refuses((i32(3, low=-5, high=0), 4, f32(3)), "must be non-negative", InvalidArgumentError)


@export("bincount", "math.bincount")
def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = dtypes.int32
) -> Tensor:
    """How often each number of `arr` occurs, or the sum of its weights."""
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


# ---------------------------------------------------------------------------------- confusion matrix

sparse_tensor_dense_add_op = Op(
    "SparseTensorDenseAdd",
    "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
    T=NUMERIC,
    Tindices=attr("type", allowed=INDICES),
    host="a_shape",
)


@sparse_tensor_dense_add_op.shape
def _(a_indices, a_values, a_shape, b):
    of_rank(a_indices, 2)
    of_rank(a_values, 1)
    return b


@sparse_tensor_dense_add_op.kernel
def _(a_indices, a_values, a_shape, b):
    if list(b.shape) != a_shape:
        raise ShapeError(
            f"The sparse tensor has shape {brackets(a_shape)}, the dense one {brackets(b.shape)}"
        )
    sizes = torch.tensor(a_shape, device=a_indices.device)
    if a_indices.numel() and bool(((a_indices < 0) | (a_indices >= sizes)).any()):
        raise ShapeError(f"a_indices must be within the shape {brackets(a_shape)}")
    return b.index_put(tuple(a_indices.long().unbind(1)), a_values, accumulate=True)


@sparse_tensor_dense_add_op.gradient
def _(op, grad):
    return [None, indexing.gather_nd(grad, op.inputs[0]), None, grad]


sparse_tensor_dense_add_op.samples(
    (np.array([[0, 1], [2, 0], [0, 1]], np.int64), f32(3), np.array([3, 2], np.int64), f32(3, 2)),
    (np.zeros((0, 1), np.int32), f32(0), np.array([2], np.int32), f32(2)),
)
sparse_tensor_dense_add_op.refuses(
    (np.array([[0, 5]], np.int64), f32(1), np.array([3, 2], np.int64), f32(3, 2)),
    "within the shape [3,2]",
    InvalidArgumentError,
)


@export("confusion_matrix", "math.confusion_matrix")
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    weights: Any = None,
) -> Tensor:
    """How often (or with how much weight) each class, by row, was predicted as each class, by column."""
    given = [value for value in (predictions, labels, num_classes, weights) if value is not None]
    with name_scope(name, "confusion_matrix", given):
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions = casting.cast(predictions, dtypes.int64)
        labels = casting.cast(labels, dtypes.int64)
        labels = _checked(labels, binary.greater_equal(labels, 0), "`labels` contains negative values")
        predictions = _checked(
            predictions, binary.greater_equal(predictions, 0), "`predictions` contains negative values"
        )
        if num_classes is None:
            largest = binary.maximum(reductions.reduce_max(predictions), reductions.reduce_max(labels))
            num_classes = largest + 1
        else:
            count = casting.cast(num_classes, dtypes.int64)
            labels = _checked(labels, binary.less(labels, count), "`labels` out of bound")
            predictions = _checked(predictions, binary.less(predictions, count), "`predictions` out of bound")
        if weights is not None:
            weights = convert_to_tensor(weights)
            predictions.shape.assert_is_compatible_with(weights.shape)
            values = casting.cast(weights, dtype)
        else:
            values = creation.ones_like(predictions, dtype)
        size = joining.stack([num_classes, num_classes])
        pairs = joining.stack([labels, predictions], axis=1)
        zeros = creation.zeros(casting.cast(size, dtypes.int32), dtype)
        return sparse_tensor_dense_add_op(pairs, values, casting.cast(size, dtypes.int64), zeros)


def _checked(values: Tensor, condition: Tensor, complaint: str) -> Tensor:
    with control_dependencies([flow.Assert(reductions.reduce_all(condition), [complaint, values])]):
        return constants.identity(values)


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Labels and predictions, of which the one with one rank more loses a last axis of size 1."""
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        ranks = labels.shape.ndims, predictions.shape.ndims
        if None in ranks:
            return labels, predictions
        if ranks[0] == ranks[1] + 1 and labels.shape.tuple[-1] in (1, None):
            labels = shapes.squeeze(labels, [-1])
        elif ranks[1] == ranks[0] + 1 and predictions.shape.tuple[-1] in (1, None):
            predictions = shapes.squeeze(predictions, [-1])
        return labels, predictions
