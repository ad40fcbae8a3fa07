"""The streaming metrics under their old names, with the predictions first; metrics of one batch."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export, expose
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.metrics import at_k, classes, counts, means, thresholds
from tideflow.metrics.streaming import collected, squeezed
from tideflow.ops.arrays import creation, ranking
from tideflow.ops.math import binary, casting, confusion, reductions
from tideflow.ops.sparse import sets

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

expose(means.mean, "contrib.metrics.streaming_mean")
expose(means.mean_tensor, "contrib.metrics.streaming_mean_tensor")
expose(means.percentage_below, "contrib.metrics.streaming_percentage_less")
expose(sets.set_size, "contrib.metrics.set_size")
expose(sets.set_union, "contrib.metrics.set_union")
expose(sets.set_difference, "contrib.metrics.set_difference")
expose(sets.set_intersection, "contrib.metrics.set_intersection")


def _predictions_first(metric: Callable, name: str, **renamed: str) -> Callable:
    """A metric of (labels, predictions, …) as one of (predictions, labels, …); `renamed` is old name: new
    name.
    """
    parameters = dict(inspect.signature(metric).parameters)
    old_names = {new: old for old, new in renamed.items()}
    first = [
        parameters.pop("predictions", None) or parameters.pop("predictions_idx"),
        parameters.pop("labels"),
    ]
    ordered = [p.replace(name=old_names.get(p.name, p.name)) for p in [*first, *parameters.values()]]
    signature = inspect.Signature(ordered)

    @functools.wraps(metric)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        return metric(**{renamed.get(key, key): value for key, value in given.items()})

    wrapper.__signature__ = signature
    wrapper.__name__ = wrapper.__qualname__ = name
    expose(wrapper, f"contrib.metrics.{name}")
    return wrapper


for _metric in (
    means.accuracy,
    means.mean_absolute_error,
    means.mean_squared_error,
    means.root_mean_squared_error,
    means.mean_relative_error,
    classes.mean_iou,
    counts.precision,
    counts.recall,
    counts.true_positives,
    counts.true_negatives,
    counts.false_positives,
    counts.false_negatives,
    thresholds.precision_at_thresholds,
    thresholds.recall_at_thresholds,
    thresholds.sensitivity_at_specificity,
    thresholds.specificity_at_sensitivity,
):
    _predictions_first(_metric, f"streaming_{_metric.__name__}")

_predictions_first(at_k.precision_at_k, "streaming_sparse_precision_at_k")
_predictions_first(at_k.recall_at_k, "streaming_sparse_recall_at_k")
_predictions_first(at_k.average_precision_at_k, "streaming_sparse_average_precision_at_k")


@export("contrib.metrics.streaming_auc")
def streaming_auc(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    curve: str = "ROC",
    name: str | None = None,
) -> Any:
    """The area under a curve; `tf.metrics.auc` with the predictions first.

    Args:
      predictions: The predictions, in [0, 1].
      labels: The labels, true or false, of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      num_thresholds: How many thresholds there are, spread evenly over [0, 1].
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      curve: "ROC" for true positives over false positives, "PR" for precision over recall.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it.

    Raises:
      ValueError: If shapes do not fit, or there is no such curve.
    """
    return thresholds.auc(
        labels, predictions, weights, num_thresholds, metrics_collections, updates_collections, curve, name
    )


@export("contrib.metrics.streaming_mean_cosine_distance")
def streaming_mean_cosine_distance(
    predictions: TensorLike,
    labels: TensorLike,
    dim: int,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Any:
    """One minus the mean product of predictions and labels, which have the norm 1 along `dim`.

    Args:
      predictions: The predictions, of norm 1 along `dim`.
      labels: The labels, of the same shape and norm.
      dim: The axis of the products.
      weights: The weights, of the shape of the labels but for a 1 at `dim`, or broadcast to it; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it.

    Raises:
      ValueError: If shapes do not fit.
    """
    predictions, labels, weights = squeezed(predictions, labels, weights)
    products = reductions.reduce_sum(binary.multiply(predictions, labels), axis=[dim], keepdims=True)
    value, update = means.mean(products, weights, None, None, name or "mean_cosine_distance")
    value, update = binary.subtract(1.0, value), binary.subtract(1.0, update)
    return collected(value, update, metrics_collections, updates_collections)


@export("contrib.metrics.streaming_sparse_precision_at_top_k")
def streaming_sparse_precision_at_top_k(
    top_k_predictions: TensorLike,
    labels: TensorLike,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Any:
    """The part of the predicted classes that are labels.

    Args:
      top_k_predictions: The predicted classes, of shape [..., k].
      labels: The labels: int64, dense or sparse, with the classes of an example along the last axis.
      class_id: If given, only this class is considered.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the name scope.

    Returns:
      The value, and the operation that updates it.

    Raises:
      ValueError: If shapes do not fit.
    """
    default = at_k.at_k_name("precision", None, class_id)
    with name_scope(name, default, (top_k_predictions, labels, weights)) as scope:
        return at_k.precision_at_top_k(
            labels,
            top_k_predictions,
            None,
            class_id,
            weights,
            metrics_collections,
            updates_collections,
            scope,
        )


@export("contrib.metrics.sparse_recall_at_top_k")
def sparse_recall_at_top_k(
    labels: TensorLike,
    top_k_predictions: TensorLike,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Any:
    """The part of the labels that are among the predicted classes.

    Args:
      labels: The labels: int64, dense or sparse, with the classes of an example along the last axis.
      top_k_predictions: The predicted classes, of shape [..., k].
      class_id: If given, only this class is considered.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the name scope.

    Returns:
      The value, and the operation that updates it.

    Raises:
      ValueError: If shapes do not fit.
    """
    default = at_k.at_k_name("recall", None, class_id)
    with name_scope(name, default, (top_k_predictions, labels, weights)) as scope:
        return at_k.recall_at_top_k(
            labels,
            top_k_predictions,
            None,
            class_id,
            weights,
            metrics_collections,
            updates_collections,
            scope,
        )


@export("contrib.metrics.streaming_sparse_average_precision_at_top_k")
def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Any:
    """The mean of the precisions at 1, 2 and so on up to k, at the ranks that have a label.

    Args:
      top_k_predictions: The predicted classes, of shape [..., k], the likeliest first.
      labels: The labels: int64, dense or sparse, with the classes of an example along the last axis.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the name scope.

    Returns:
      The value, and the operation that updates it.

    Raises:
      ValueError: If k is not known, or shapes do not fit.
    """
    return at_k.average_precision_at_top_k(
        labels, top_k_predictions, weights, metrics_collections, updates_collections, name
    )


@export("contrib.metrics.streaming_recall_at_k")
def streaming_recall_at_k(
    predictions: TensorLike,
    labels: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: str | Sequence[str] | None = None,
    updates_collections: str | Sequence[str] | None = None,
    name: str | None = None,
) -> Any:
    """How often the label is among the k classes with the highest predictions.

    Args:
      predictions: The scores, a matrix [batch, classes].
      labels: The class of each row, an int64 vector.
      k: How many of the highest scores count.
      weights: What each row counts; all count the same if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The variable scope of the metric.

    Returns:
      The value, and the update operation.
    """
    hits = casting.cast(ranking.in_top_k(predictions, labels, k), dtypes.float32)
    return means.mean(hits, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")


@export("contrib.metrics.accuracy")
def accuracy(
    predictions: TensorLike, labels: TensorLike, weights: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Computes how often predictions and labels are the same, of this batch alone.

    Args:
      predictions: The predictions, of type bool, int or string.
      labels: The labels, of the same type and shape.
      weights: What each prediction counts; all count the same if None.
      name: The name scope of the operations.

    Returns:
      A scalar.

    Raises:
      ValueError: If types or shapes differ.
    """
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype!r}")
    if labels.dtype != predictions.dtype:
        raise ValueError(
            "Dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype!r}) and labels ({labels.dtype!r})"
        )
    with name_scope(name, "accuracy", values=[predictions, labels]):
        is_right = casting.cast(binary.equal(predictions, labels), dtypes.float32)
        if weights is None:
            return reductions.reduce_mean(is_right)
        is_right = binary.multiply(is_right, weights)
        everywhere = binary.multiply(weights, creation.ones_like(is_right))
        return binary.div(reductions.reduce_sum(is_right), reductions.reduce_sum(everywhere))


@export("contrib.metrics.confusion_matrix")
def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Tensor:
    """How often each class was predicted for each label.

    Args:
      labels: The true classes, a vector of integers.
      predictions: The predicted classes, a vector of the same length.
      num_classes: How many classes there are; one more than the largest number if None.
      dtype: The type of the counts.
      name: The name scope of the operations.
      weights: What each prediction counts, instead of 1.

    Returns:
      A matrix: a row for each label, a column for each prediction.
    """
    return confusion.confusion_matrix(
        labels, predictions, num_classes, dtype=dtype, name=name, weights=weights
    )


@export("contrib.metrics.aggregate_metrics")
def aggregate_metrics(*value_update_tuples: tuple[Any, Any]) -> tuple[list, list]:
    """Takes the pairs of several metrics apart.

    Args:
      value_update_tuples: Pairs of a metric's value and update.

    Returns:
      The list of values and that of updates.

    Raises:
      ValueError: If there are none.
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


@export("contrib.metrics.aggregate_metric_map")
def aggregate_metric_map(names_to_tuples: Mapping[str, tuple[Any, Any]]) -> tuple[dict, dict]:
    """Takes the pairs of several metrics apart.

    Args:
      names_to_tuples: Pairs of a metric's value and update, by name.

    Returns:
      The values by name, and the updates by name.
    """
    values = {name: pair[0] for name, pair in names_to_tuples.items()}
    return values, {name: pair[1] for name, pair in names_to_tuples.items()}
