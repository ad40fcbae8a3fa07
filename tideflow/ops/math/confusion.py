"""Labels beside predictions: shapes that match, and how often which class was taken for which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.math import binary, casting, checks, reductions
from tideflow.ops.sparse.with_dense import sparse_tensor_dense_add_op

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


def may_end_in_one(tensor: Tensor) -> bool:
    """Whether a last axis of size 1 is there, or may be."""
    return tensor.shape.ndims is None or tensor.shape.ndims > 0 and tensor.shape.tuple[-1] in (1, None)


def squeezed_if(condition: Tensor, tensor: Tensor) -> Tensor:
    """The tensor, in steps where the condition holds without its last axis."""
    return conditionals.cond(condition, lambda: shapes.squeeze(tensor, [-1]), lambda: tensor)


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Labels and predictions; the one with one rank too many loses its last axis, which is of size 1."""
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        ranks = predictions.shape.ndims, labels.shape.ndims
        if None in ranks:
            return _squeezed_in_step(labels, predictions, expected_rank_diff)
        excess = ranks[0] - ranks[1] - expected_rank_diff
        if excess == 1:
            predictions = shapes.squeeze(predictions, [-1])
        elif excess == -1:
            labels = shapes.squeeze(labels, [-1])
        return labels, predictions


def _squeezed_in_step(labels: Tensor, predictions: Tensor, expected_rank_diff: int) -> tuple[Tensor, Tensor]:
    difference = shapes.rank(predictions) - shapes.rank(labels)
    if may_end_in_one(predictions):
        predictions = squeezed_if(binary.equal(expected_rank_diff + 1, difference), predictions)
    if may_end_in_one(labels):
        labels = squeezed_if(binary.equal(expected_rank_diff - 1, difference), labels)
    return labels, predictions


@export("confusion_matrix", "math.confusion_matrix")
def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Tensor:
    """Counts how often each class, by row, was predicted as each class, by column.

    Args:
      labels: The true classes, a vector of integers that are not negative.
      predictions: The predicted classes, a vector of the same length.
      num_classes: How many classes there are; by default one more than the largest number found.
      dtype: The type of the counts.
      name: A name for the scope of the operations.
      weights: What each prediction counts, instead of 1.

    Returns:
      A matrix of type `dtype` with `num_classes` rows and columns.
    """
    given = [value for value in (predictions, labels, num_classes, weights) if value is not None]
    with name_scope(name, "confusion_matrix", given):
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions, labels = casting.cast(predictions, dtypes.int64), casting.cast(labels, dtypes.int64)
        labels, predictions = (
            _after(checks.assert_non_negative(tensor, message=f"`{word}` contains negative values"), tensor)
            for word, tensor in (("labels", labels), ("predictions", predictions))
        )
        if num_classes is None:
            largest = binary.maximum(reductions.reduce_max(predictions), reductions.reduce_max(labels))
            num_classes = largest + 1
        else:
            limit = casting.cast(num_classes, dtypes.int64)
            labels, predictions = (
                _after(checks.assert_less(tensor, limit, message=f"`{word}` out of bound"), tensor)
                for word, tensor in (("labels", labels), ("predictions", predictions))
            )
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            predictions.shape.assert_is_compatible_with(weights.shape)
            weights = casting.cast(weights, dtype)
        size = joining.stack([num_classes, num_classes])
        pairs = joining.stack([labels, predictions], axis=1)
        values = creation.ones_like(predictions, dtype) if weights is None else weights
        sizes = casting.cast(size, dtypes.int64)
        zeros = creation.zeros(casting.cast(size, dtypes.int32), dtype)
        return sparse_tensor_dense_add_op(pairs, values, sizes, zeros)


def _after(check: Any, tensor: Tensor) -> Tensor:
    return grouping.with_dependencies([check], tensor)
