"""Metrics of classes, each of which counts the same however often it occurs."""

from __future__ import annotations

from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.metrics.streaming import Metric, collected, metric_variable, safe_ratio, squeezed
from tideflow.ops import (
    binary,
    casting,
    confusion,
    creation,
    diagonals,
    indexing,
    reductions,
    shapes,
    state,
    state_scatter,
)
from tideflow.variables.variable_scope import variable_scope


def _flat(tensor: Tensor | None) -> Tensor | None:
    """A tensor as a vector."""
    return shapes.reshape(tensor, [-1]) if tensor is not None and (tensor.shape.ndims or 0) > 1 else tensor


@export("metrics.mean_iou")
def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over classes of hits / (hits + false positives + false negatives). The update is the matrix."""
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions, labels, weights = _compatible(predictions, labels, weights)
        matrix = metric_variable([num_classes, num_classes], dtypes.float64, name="total_confusion_matrix")
        update = state.assign_add(matrix, _batch_matrix(labels, predictions, num_classes, weights))
        return collected(_intersection_over_union(matrix), update, metrics_collections, updates_collections)


def _compatible(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    convert = confusion.convert_to_tensor
    predictions, labels = convert(predictions), convert(labels)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return predictions, labels, None if weights is None else convert(weights)


def _batch_matrix(labels: Tensor, predictions: Tensor, num_classes: int, weights: Tensor | None) -> Tensor:
    predictions, labels = casting.cast(predictions, dtypes.int64), casting.cast(labels, dtypes.int64)
    num_classes = casting.cast(num_classes, dtypes.int64)
    predictions, labels, weights = _flat(predictions), _flat(labels), _flat(weights)
    return confusion.confusion_matrix(
        labels, predictions, num_classes, weights=weights, dtype=dtypes.float64
    )


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
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over classes of how often a label of the class was predicted. The update is a vector."""
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = casting.cast(labels, dtypes.int64)
        predictions, labels, weights = _compatible(predictions, _flat(labels), weights)
    raise NotImplementedError
