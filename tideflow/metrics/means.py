"""Means over all elements of all batches: of values, of errors, of hits."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.metrics.streaming import Metric, collected, metric_variable, safe_ratio, squeezed, streamed
from tideflow.ops.arrays import creation, indexing, shapes
from tideflow.ops.math import binary, casting, confusion, reductions, unary
from tideflow.ops.nn.weights import broadcast_weights
from tideflow.ops.state import reference_variables
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _weighted(values: Tensor, weights: Any) -> tuple[Tensor, Tensor]:
    """Values times weights, and the weights in the values' shape."""
    values, _, weights = squeezed(values, None, weights)
    weights = broadcast_weights(casting.cast(weights, dtypes.float32), values)
    return binary.multiply(values, weights), weights


def _mean(
    total: Any, count: Any, values: Tensor, sum_values: Tensor, num_values: Tensor, *collections: Any
) -> Metric:
    """The quotient of two variables, to which `sum_values` and `num_values` are added in each step."""
    update_total = reference_variables.assign_add(total, sum_values)
    with control_dependencies([values]):
        update_count = reference_variables.assign_add(count, num_values)
    return streamed(safe_ratio, (total, count), (update_total, update_count), *collections)


@export("metrics.mean")
def mean(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the mean of all values.

    Args:
      values: The values.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    with variable_scope(name, "mean", (values, weights)):
        values = casting.cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            num_values = casting.cast(shapes.size(values), dtypes.float32)
        else:
            values, weights = _weighted(values, weights)
            num_values = reductions.reduce_sum(weights)
        sum_values = reductions.reduce_sum(values)
        return _mean(total, count, values, sum_values, num_values, metrics_collections, updates_collections)


@export("metrics.mean_tensor")
def mean_tensor(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the mean over batches of each element of a tensor.

    Args:
      values: The tensor.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    with variable_scope(name, "mean", (values, weights)):
        values = casting.cast(values, dtypes.float32)
        total = metric_variable(values.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(values.shape, dtypes.float32, name="count_tensor")
        num_values = creation.ones_like(values)
        if weights is not None:
            values, weights = _weighted(values, weights)
            num_values = binary.multiply(num_values, weights)
        return _mean(total, count, values, values, num_values, metrics_collections, updates_collections)


def _pair(labels: Any, predictions: Any, weights: Any) -> tuple[Tensor, Tensor, Tensor | None]:
    predictions, labels, weights = squeezed(predictions, labels, weights)
    return labels, predictions, weights


@export("metrics.accuracy")
def accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the part of the predictions that equal their labels.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    labels, predictions, weights = _pair(labels, predictions, weights)
    hits = casting.cast(binary.equal(casting.cast(predictions, labels.dtype), labels), dtypes.float32)
    return mean(hits, weights, metrics_collections, updates_collections, name or "accuracy")


@export("metrics.mean_absolute_error")
def mean_absolute_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the mean absolute difference of predictions and labels.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    labels, predictions, weights = _pair(labels, predictions, weights)
    errors = unary.abs(predictions - labels)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


@export("metrics.mean_squared_error")
def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the mean squared difference of predictions and labels.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    labels, predictions, weights = _pair(labels, predictions, weights)
    errors = binary.squared_difference(labels, predictions)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_squared_error")


@export("metrics.root_mean_squared_error")
def root_mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the root of the mean squared difference of predictions and labels.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    labels, predictions, weights = _pair(labels, predictions, weights)
    value, update = mean_squared_error(
        labels, predictions, weights, None, None, name or "root_mean_squared_error"
    )
    return collected(unary.sqrt(value), unary.sqrt(update), metrics_collections, updates_collections)


@export("metrics.mean_relative_error")
def mean_relative_error(
    labels: TensorLike,
    predictions: TensorLike,
    normalizer: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the mean absolute difference of predictions and labels, divided by a normalizer.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      normalizer: The normalizer, of the same shape. The relative error is 0 where it is 0.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    labels, predictions, weights = _pair(labels, predictions, weights)
    predictions, normalizer = confusion.remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = indexing.where(
        binary.equal(normalizer, 0.0),
        creation.zeros_like(labels),
        binary.div(unary.abs(labels - predictions), normalizer),
    )
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


@export("metrics.mean_cosine_distance")
def mean_cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    dim: int,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the mean of 1 minus the dot product along an axis.

    Args:
      labels: The labels, normalized to length 1.
      predictions: The predictions, normalized to length 1.
      dim: The axis.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    labels, predictions, weights = _pair(labels, predictions, weights)
    products = reductions.reduce_sum(binary.multiply(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    return collected(
        binary.subtract(1.0, value), binary.subtract(1.0, update), metrics_collections, updates_collections
    )


@export("metrics.percentage_below")
def percentage_below(
    values: TensorLike,
    threshold: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the part of the values that are below a threshold.

    Args:
      values: The values.
      threshold: The threshold.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    is_below = casting.cast(binary.less(values, threshold), dtypes.float32)
    return mean(
        is_below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold"
    )
