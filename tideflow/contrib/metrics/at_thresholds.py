"""Counts at thresholds, and rates made of them."""

from __future__ import annotations

import collections
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.metrics import counts
from tideflow.metrics.streaming import Metric, collected, metric_doc, metric_variable, squeezed, streamed
from tideflow.metrics.thresholds import KINDS, counts_at_thresholds, counts_of, spread_thresholds
from tideflow.ops.arrays import creation, indexing, joining, shapes
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.math import binary, casting, checks, cumulative, positions, reductions, unary
from tideflow.ops.state import variable_rows
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_EPSILON = 1e-7


def _counts(
    predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any, wanted: Sequence[str]
) -> tuple[list[Any], list[Any]]:
    """The counts of the wanted kinds, and their updates. Predictions may be any numbers."""
    return counts_of(*squeezed(predictions, labels, weights), thresholds, wanted)


def _counting(kind: str) -> Callable[..., Metric]:
    """The metric `streaming_<kind>_at_thresholds`: one of the four counts."""

    def metric(
        predictions: TensorLike,
        labels: TensorLike,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
    ) -> Metric:
        values, updates = _counts(predictions, labels, thresholds, weights, [kind])
        return values[0], updates[0]

    summary = f"The {kind.replace('_', ' ')} at each threshold: the variable that counts, and its update."
    return _published(metric, f"streaming_{kind}_at_thresholds", summary)


def _published(metric: Callable[..., Metric], name: str, summary: str) -> Callable[..., Metric]:
    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = metric_doc(summary, metric)
    return export(f"contrib.metrics.{name}")(metric)


streaming_true_positives_at_thresholds = _counting("true_positives")
streaming_false_negatives_at_thresholds = _counting("false_negatives")
streaming_true_negatives_at_thresholds = _counting("true_negatives")
streaming_false_positives_at_thresholds = _counting("false_positives")


def _share(errors: Any, rest: Any, name: str) -> Tensor:
    """The errors among errors and the rest; 0 where there are neither."""
    return indexing.where(binary.greater(errors + rest, 0), binary.div(errors, errors + rest), 0, name)


def _rate(word: str, of_one: Sequence[Callable], summary: str) -> Callable[..., Metric]:
    """The metric `streaming_<word>`: the share of the first count in both."""

    def metric(
        predictions: TensorLike,
        labels: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Iterable[Hashable] | None = None,
        updates_collections: Iterable[Hashable] | None = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, word, (predictions, labels, weights)):
            given = squeezed(
                casting.cast(predictions, dtypes.bool), casting.cast(labels, dtypes.bool), weights
            )
            predictions, labels, weights = given
            pairs = [count(labels, predictions, weights) for count in of_one]
            values, updates = zip(*pairs)
            return streamed(_share, values, updates, metrics_collections, updates_collections)

    return _published(metric, f"streaming_{word}", summary)


def _rate_at_thresholds(word: str, kinds: Sequence[str], summary: str) -> Callable[..., Metric]:
    """The metric `streaming_<word>_at_thresholds`: the share of the first kind's counts in both kinds'."""
    short = "".join(part[0] for part in word.split("_"))

    def share(errors: Any, rest: Any, name: str) -> Tensor:
        return binary.div(errors, _EPSILON + errors + rest, name=f"{short}_{name}")

    def metric(
        predictions: TensorLike,
        labels: TensorLike,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Iterable[Hashable] | None = None,
        updates_collections: Iterable[Hashable] | None = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, f"{word}_at_thresholds", (predictions, labels, weights)):
            counted = _counts(predictions, labels, thresholds, weights, kinds)
            return streamed(share, *counted, metrics_collections, updates_collections)

    return _published(metric, f"streaming_{word}_at_thresholds", summary)


streaming_false_positive_rate = _rate(
    "false_positive_rate",
    [counts.false_positives, counts.true_negatives],
    "The part of the false labels that are predicted to be true.",
)
streaming_false_negative_rate = _rate(
    "false_negative_rate",
    [counts.false_negatives, counts.true_positives],
    "The part of the true labels that are predicted to be false.",
)
streaming_false_positive_rate_at_thresholds = _rate_at_thresholds(
    "false_positive_rate",
    ["false_positives", "true_negatives"],
    "The part of the false labels that are predicted to be true, at each threshold.",
)
streaming_false_negative_rate_at_thresholds = _rate_at_thresholds(
    "false_negative_rate",
    ["false_negatives", "true_positives"],
    "The part of the true labels that are predicted to be false, at each threshold.",
)


@export("contrib.metrics.streaming_curve_points")
def streaming_curve_points(
    labels: TensorLike | None = None,
    predictions: TensorLike | None = None,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    curve: str = "ROC",
    name: str | None = None,
) -> Metric:
    """The points (x, y) of a curve, [num_thresholds, 2]: "ROC" or "PR".

    Args:
      labels: The labels, true or false.
      predictions: The predictions, in [0, 1], of the same shape.
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
    epsilon = 1e-6
    with variable_scope(name, "curve_points", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        values, updates = _counts(
            predictions, labels, spread_thresholds(num_thresholds), weights, list(KINDS)
        )
        tp, fn, tn, fp = values
        recall = binary.div(tp + epsilon, tp + fn + epsilon)
        if curve == "ROC":
            points = [binary.div(fp, fp + tn + epsilon), recall]
        else:
            points = [recall, binary.div(tp + epsilon, tp + fp + epsilon)]
        value, update = joining.stack(points, axis=1), grouping.group(*updates)
        return collected(value, update, metrics_collections, updates_collections)


@export("contrib.metrics.f1_score")
def f1_score(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """The highest harmonic mean of precision and recall over evenly spread thresholds.

    Args:
      labels: The labels, true or false.
      predictions: The predictions, in [0, 1], of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      num_thresholds: How many thresholds there are, spread evenly over [0, 1].
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it.

    Raises:
      ValueError: If shapes do not fit.
    """

    def best(tp: Any, fp: Any, fn: Any, name: str) -> Tensor:
        precision = binary.div(tp, _EPSILON + tp + fp, name=f"precision_{name}")
        recall = binary.div(tp, _EPSILON + tp + fn, name=f"recall_{name}")
        return reductions.reduce_max(2.0 * precision * recall / (precision + recall + _EPSILON))

    with variable_scope(name, "f1", (labels, predictions, weights)):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        values, updates = counts_at_thresholds(
            labels,
            predictions,
            spread_thresholds(num_thresholds),
            weights,
            ["true_positives", "false_positives", "false_negatives"],
        )
        value = best(*values, "value")
        return collected(value, best(*updates, "update"), metrics_collections, updates_collections)


@export("contrib.metrics.recall_at_precision")
def recall_at_precision(
    labels: TensorLike,
    predictions: TensorLike,
    precision: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> Metric:
    """The recall at the threshold whose precision is nearest to a given one.

    Args:
      labels: The labels, true or false.
      predictions: The predictions, in [0, 1], of the same shape.
      precision: The wanted precision, in [0, 1].
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      num_thresholds: How many thresholds there are, spread evenly over [0, 1].
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.
      strict_mode: Whether only thresholds that reach the precision count; the recall is 0 if none does.

    Returns:
      The value, and the operation that updates it.

    Raises:
      ValueError: If `precision` is not in [0, 1], or shapes do not fit.
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")

    def recall(tp: Any, fp: Any, fn: Any, name: str) -> Tensor:
        precisions = binary.div(tp, tp + fp + _EPSILON)
        if not strict_mode:
            best = positions.argmin(unary.abs(precisions - precision), 0, output_type=dtypes.int32)
            return binary.div(tp[best], tp[best] + fn[best] + _EPSILON, name)
        nearness = binary.div(1.0, precisions - precision + _EPSILON)
        best = positions.argmax(nearness, 0, output_type=dtypes.int32)
        return conditionals.cond(
            precisions[best] >= precision,
            lambda: binary.div(tp[best], tp[best] + fn[best] + _EPSILON, name),
            lambda: 0.0,
        )

    with variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        inner = [i * 1.0 / (num_thresholds - 1) for i in range(1, num_thresholds - 1)]
        limits = [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]
        counted = _counts(predictions, labels, limits, weights, _IN_ORDER)
        return streamed(
            lambda tp, fn, tn, fp, name: recall(tp, fp, fn, name),
            *counted,
            metrics_collections,
            updates_collections,
        )


@export("contrib.metrics.precision_at_recall")
def precision_at_recall(
    labels: TensorLike,
    predictions: TensorLike,
    target_recall: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """The precision at the highest threshold whose recall reaches a given one.

    Args:
      labels: The labels, true or false.
      predictions: The predictions, in [0, 1], of the same shape.
      target_recall: The wanted recall, in [0, 1].
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      num_thresholds: How many thresholds there are, spread evenly over [0, 1].
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it.

    Raises:
      ValueError: If `target_recall` is not in [0, 1], or shapes do not fit.
    """
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")

    def precision(tp: Any, fn: Any, tn: Any, fp: Any, name: str) -> Tensor:
        recalls = binary.div(tp, tp + fn + _EPSILON)
        reached = casting.cast(binary.greater_equal(recalls, target_recall), dtypes.int64)
        last = reductions.reduce_sum(reached) - 1
        return binary.div(tp[last] + _EPSILON, tp[last] + fp[last] + _EPSILON, name)

    with variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        counted = _counts(predictions, labels, spread_thresholds(num_thresholds), weights, _IN_ORDER)
        return streamed(precision, *counted, metrics_collections, updates_collections)


_IN_ORDER = list(KINDS)

PrecisionRecallData = collections.namedtuple(
    "PrecisionRecallData", ["tp", "fp", "tn", "fn", "precision", "recall", "thresholds"]
)


@export("contrib.metrics.precision_recall_at_equal_thresholds")
def precision_recall_at_equal_thresholds(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> tuple[PrecisionRecallData, Any]:
    """All counts, precision and recall at evenly spread thresholds, by buckets: cheap for many thresholds.

    Args:
      labels: The labels, bool.
      predictions: The predictions, in [0, 1].
      weights: The weights of the examples; 1 if None.
      num_thresholds: How many thresholds there are; 201 if None.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the variable scope.

    Returns:
      A named tuple of vectors, and the operation that updates them.
    """
    count = 201 if num_thresholds is None else num_thresholds
    weights = 1.0 if weights is None else weights
    locking = True if use_locking is None else use_locking
    checks.assert_type(labels, dtypes.bool)
    with variable_scope(name, "precision_recall_at_equal_thresholds", (labels, predictions, weights)):
        message = "predictions must be in [0, 1]"
        in_range = [
            checks.assert_greater_equal(predictions, casting.cast(0.0, predictions.dtype), message=message),
            checks.assert_less_equal(predictions, casting.cast(1.0, predictions.dtype), message=message),
        ]
        with control_dependencies(in_range):
            predictions, labels, weights = squeezed(predictions, labels, weights)
        is_true = casting.cast(labels, dtypes.float64)
        weights = casting.cast(weights, dtypes.float64)
        true, false = is_true * weights, (1.0 - is_true) * weights
        predictions, true, false = (shapes.reshape(each, [-1]) for each in (predictions, true, false))
        buckets = casting.cast(unary.floor(predictions * (count - 1)), dtypes.int32)
        with name_scope("variables"):
            true_buckets = metric_variable([count], dtypes.float64, name="tp_buckets")
            false_buckets = metric_variable([count], dtypes.float64, name="fp_buckets")
        with name_scope("update_op"):
            updates = [
                variable_rows.scatter_add(true_buckets, buckets, true, use_locking=locking),
                variable_rows.scatter_add(false_buckets, buckets, false, use_locking=locking),
            ]
        tp = cumulative.cumsum(true_buckets, reverse=True, name="tp")
        fp = cumulative.cumsum(false_buckets, reverse=True, name="fp")
        tn, fn = fp[0] - fp, tp[0] - tp
        epsilon = convert_to_tensor(_EPSILON, dtype=dtypes.float64)
        precision = tp / binary.maximum(epsilon, tp + fp)
        recall = tp / binary.maximum(epsilon, tp + fn)
        limits = creation.linspace(0.0, 1.0, count)
        parts = [tp, fp, tn, fn, precision, recall, limits]
        return (
            PrecisionRecallData(*[casting.cast(part, predictions.dtype) for part in parts]),
            grouping.group(*updates),
        )
