"""Metrics of classes, each of which counts the same however often it occurs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.metrics.streaming import Metric, collected, metric_variable, safe_ratio
from tideflow.ops.arrays import creation, diagonals, indexing, shapes
from tideflow.ops.math import binary, casting, confusion, reductions
from tideflow.ops.state import reference_variables, variable_rows
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _flat(tensor: Any) -> Tensor:
    """A tensor as a vector; a scalar stays what it is."""
    tensor = convert_to_tensor(tensor)
    return tensor if tensor.shape.ndims in (0, 1) else shapes.reshape(tensor, [-1])


@export("metrics.mean_iou")
def mean_iou(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the mean over classes of intersection over union.

    For a class it is `hits / (hits + false positives + false negatives)`. The update is the confusion matrix.

    Args:
      labels: The classes.
      predictions: The predicted classes, of the same shape.
      num_classes: The number of classes.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        predictions.shape.assert_is_compatible_with(labels.shape)
        matrix = metric_variable([num_classes, num_classes], dtypes.float64, name="total_confusion_matrix")
        predictions, labels = casting.cast(predictions, dtypes.int64), casting.cast(labels, dtypes.int64)
        limit = casting.cast(num_classes, dtypes.int64)
        predictions, labels = _flat(predictions), _flat(labels)
        weights = None if weights is None else _flat(weights)
        batch = confusion.confusion_matrix(labels, predictions, limit, weights=weights, dtype=dtypes.float64)
        update = reference_variables.assign_add(matrix, batch)
        return collected(_intersection_over_union(matrix), update, metrics_collections, updates_collections)


def _intersection_over_union(matrix: Any) -> Tensor:
    by_column = casting.cast(reductions.reduce_sum(matrix, 0), dtypes.float32)
    by_row = casting.cast(reductions.reduce_sum(matrix, 1), dtypes.float32)
    hits = casting.cast(diagonals.diag_part(matrix), dtypes.float32)
    union = by_column + by_row - hits
    # Classes that neither occur nor are predicted do not count.
    num_classes = reductions.reduce_sum(casting.cast(binary.not_equal(union, 0), dtypes.float32))
    union = indexing.where(binary.greater(union, 0), union, creation.ones_like(union))
    ratios = binary.div(hits, union)
    return indexing.where(
        binary.greater(num_classes, 0), reductions.reduce_sum(ratios, name="mean_iou") / num_classes, 0
    )


@export("metrics.mean_per_class_accuracy")
def mean_per_class_accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the mean over classes of the part of a class's labels that are predicted.

    The update is a vector.

    Args:
      labels: The classes.
      predictions: The predicted classes, of the same shape.
      num_classes: The number of classes.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels, predictions = _flat(casting.cast(labels, dtypes.int64)), _flat(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        ones = creation.ones([shapes.size(labels)], dtypes.float32)
        predictions = casting.cast(predictions, labels.dtype)
        hits = casting.cast(binary.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = casting.cast(_flat(weights), dtypes.float32)
            hits *= weights
            ones *= weights
        update_total = variable_rows.scatter_add(total, labels, ones)
        update_count = variable_rows.scatter_add(count, labels, hits)
        value = reductions.reduce_mean(safe_ratio(count, total), name="mean_accuracy")
        update = safe_ratio(update_count, update_total, name="update_op")
        return collected(value, update, metrics_collections, updates_collections)
