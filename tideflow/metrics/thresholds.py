"""Metrics of predictions between 0 and 1, which a threshold turns into true and false: one count for each
threshold, and what follows from the counts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.metrics.streaming import (
    Metric,
    collected,
    metric_doc,
    metric_variable,
    safe_ratio,
    squeezed,
    streamed,
)
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes, tiling
from tideflow.ops.math import binary, casting, checks, cumulative, positions, reductions, unary
from tideflow.ops.nn.weights import broadcast_weights
from tideflow.ops.state import reference_variables
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_EPSILON = 1e-7  # keeps quotients finite, and the outermost thresholds outside of [0, 1]

# The counts in the order in which their variables are made: is the label positive, is the prediction.
KINDS = {
    "true_positives": (True, True),
    "false_negatives": (True, False),
    "true_negatives": (False, False),
    "false_positives": (False, True),
}


def counts_at_thresholds(
    labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any, wanted: Sequence[str]
) -> tuple[list[Any], list[Any]]:
    """The variables that count the `wanted` kinds at each threshold, and their updates."""
    return counts_of(*_in_range(labels, predictions, weights), thresholds, wanted)


def counts_of(
    predictions: Tensor, labels: Tensor, weights: Any, thresholds: Sequence[float], wanted: Sequence[str]
) -> tuple[list[Any], list[Any]]:
    """The same for predictions, labels and weights whose shapes and values are checked already."""
    count = len(thresholds)
    column, row = (
        shapes.reshape(predictions, [-1, 1]),
        shapes.reshape(casting.cast(labels, dtypes.bool), [1, -1]),
    )
    size = column.shape.tuple[0]
    size = shapes.shape(column)[0] if size is None else size
    limits = shapes.expand_dims(constants.constant(thresholds), [1])
    limits = tiling.tile(limits, joining.stack([1, size]))
    predicted = {True: binary.greater(tiling.tile(shapes.transpose(column), [count, 1]), limits)}
    kinds = {kind: sides for kind, sides in KINDS.items() if kind in wanted}
    if not all(prediction for _, prediction in kinds.values()):
        predicted[False] = unary.logical_not(predicted[True])
    labelled = {True: tiling.tile(row, [count, 1])}
    if not all(label for label, _ in kinds.values()):
        labelled[False] = unary.logical_not(labelled[True])
    if weights is not None:
        weights = broadcast_weights(casting.cast(weights, dtypes.float32), predictions)
        weights = tiling.tile(shapes.reshape(weights, [1, -1]), [count, 1])
        limits.shape.assert_is_compatible_with(weights.shape)
    variables, updates = {}, {}
    for kind, (label, prediction) in kinds.items():
        variables[kind] = metric_variable([count], dtypes.float32, name=kind)
        hits = casting.cast(binary.logical_and(labelled[label], predicted[prediction]), dtypes.float32)
        if weights is not None:
            hits *= weights
        updates[kind] = reference_variables.assign_add(variables[kind], reductions.reduce_sum(hits, 1))
    return [variables[kind] for kind in wanted], [updates[kind] for kind in wanted]


def _in_range(labels: Any, predictions: Any, weights: Any) -> tuple[Tensor, Tensor, Tensor | None]:
    """Predictions as numbers, labels as booleans; the step fails where a prediction is not in [0, 1]."""
    predictions = convert_to_tensor(predictions)
    zero, message = casting.cast(0.0, predictions.dtype), "predictions must be in [0, 1]"
    is_positive = checks.assert_greater_equal(predictions, zero, message=message)
    one = casting.cast(1.0, predictions.dtype)
    with control_dependencies([is_positive, checks.assert_less_equal(predictions, one, message=message)]):
        predictions = casting.cast(predictions, dtypes.float32)
        return squeezed(predictions, casting.cast(labels, dtypes.bool), weights)


def spread_thresholds(count: int, given: Sequence[float] | None = None) -> list[float]:
    """`count` thresholds spread evenly from just below 0 to just above 1; or those given and these ends."""
    inner = sorted(given) if given is not None else [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]
    return [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]


# --------------------------------------------------------------------------------------------------- counts


def _counting(kind: str) -> Callable[..., Metric]:
    def metric(
        labels: TensorLike,
        predictions: TensorLike,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Iterable[Hashable] | None = None,
        updates_collections: Iterable[Hashable] | None = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, kind, (predictions, labels, weights)):
            values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, [kind])
            value = constants.identity(values[0])
            return collected(value, updates[0], metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = f"{kind}_at_thresholds"
    metric.__doc__ = metric_doc(f"Counts the {kind.replace('_', ' ')} at each threshold.", metric)
    return export(f"metrics.{metric.__name__}")(metric)


true_positives_at_thresholds = _counting("true_positives")
true_negatives_at_thresholds = _counting("true_negatives")
false_positives_at_thresholds = _counting("false_positives")
false_negatives_at_thresholds = _counting("false_negatives")


def _share_of_true_positives(word: str, misses: str, doc: str) -> Callable[..., Metric]:
    def share(hits: Any, missed: Any, name: str) -> Tensor:
        return binary.div(hits, _EPSILON + hits + missed, name=f"{word}_{name}")

    def metric(
        labels: TensorLike,
        predictions: TensorLike,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Iterable[Hashable] | None = None,
        updates_collections: Iterable[Hashable] | None = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, metric.__name__, (predictions, labels, weights)):
            counts = counts_at_thresholds(
                labels, predictions, thresholds, weights, ["true_positives", misses]
            )
            return streamed(share, *counts, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = f"{word}_at_thresholds"
    metric.__doc__ = metric_doc(doc, metric)
    return export(f"metrics.{metric.__name__}")(metric)


precision_at_thresholds = _share_of_true_positives(
    "precision",
    "false_positives",
    "Computes the part of the predictions of true that are right, at each threshold.",
)
recall_at_thresholds = _share_of_true_positives(
    "recall", "false_negatives", "Computes the part of the true labels that are predicted, at each threshold."
)


# --------------------------------------------------------------------------------------- areas under curves

_HEIGHTS = {  # of the piece of area between two thresholds
    "trapezoidal": lambda left, right: (left + right) / 2.0,
    "careful_interpolation": lambda left, right: (left + right) / 2.0,
    "minoring": binary.minimum,
    "majoring": binary.maximum,
}


@export("metrics.auc")
def auc(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Metric:
    """Computes the area under a curve.

    Args:
      labels: The labels, true or false.
      predictions: The predicted probabilities, in [0, 1], of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      num_thresholds: The number of thresholds, spread evenly over [0, 1].
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      curve: `"ROC"` for true positives over false positives, `"PR"` for precision over recall.
      name: The name of the variable scope.
      summation_method: How the area between two thresholds is computed: `"trapezoidal"`,
        `"careful_interpolation"` (for PR), `"minoring"` or `"majoring"`.
      thresholds: The thresholds, instead of `num_thresholds`.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If an argument is not valid.
    """
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        wanted = list(KINDS)
        counts = counts_at_thresholds(
            labels, predictions, spread_thresholds(num_thresholds, thresholds), weights, wanted
        )
        area = _area_under(curve, summation_method)
        return streamed(area, *counts, metrics_collections, updates_collections)


def _area_under(curve: str, method: str) -> Callable[..., Tensor]:
    """The function of the four counts that a curve and a way to sum up its area give."""
    if curve == "PR" and method == "careful_interpolation":
        return _interpolated_area
    if method not in _HEIGHTS:
        raise ValueError(f"Invalid summation_method: {method}")
    if curve == "PR" and method == "trapezoidal":
        logging.getLogger("tensorflow").warning(
            "Trapezoidal rule is known to produce incorrect PR-AUCs; "
            'please switch to "careful_interpolation" instead.'
        )
    epsilon = 1.0e-6

    def area(tp: Any, fn: Any, tn: Any, fp: Any, name: str) -> Tensor:
        y = binary.div(tp + epsilon, tp + fn + epsilon)
        if curve == "ROC":
            x = binary.div(fp, fp + tn + epsilon)
        else:
            x, y = y, binary.div(tp + epsilon, tp + fp + epsilon)
        last = x.shape.tuple[0] - 1
        widths, heights = x[:last] - x[1:], _HEIGHTS[method](y[:last], y[1:])
        return reductions.reduce_sum(binary.multiply(widths, heights), name=name)

    return area


def _interpolated_area(tp: Any, fn: Any, tn: Any, fp: Any, name: str) -> Tensor:
    """The area under precision over recall, with true positives taken as linear between two thresholds."""
    last = tp.shape.tuple[0] - 1
    step = tp[:last] - tp[1:]
    p = tp + fp
    slope = safe_ratio(step, p[:last] - p[1:], name="prec_slope")
    intercept = tp[1:] - binary.multiply(slope, p[1:])
    both_positive = binary.logical_and(p[:last] > 0, p[1:] > 0)
    ratio = safe_ratio(p[:last], p[1:], name="recall_relative_ratio")
    ratio = indexing.where(both_positive, ratio, creation.ones_like(p[1:]))
    pieces = slope * (step + intercept * unary.log(ratio))
    pieces = safe_ratio(pieces, tp[1:] + fn[1:], name="pr_auc_increment")
    return reductions.reduce_sum(pieces, name="interpolate_pr_auc")


# ---------------------------------------------------------------------------- one rate where another is met


def _check_rate(name: str, value: float) -> None:
    if value < 0 or value > 1:
        raise ValueError(f"`{name}` must be in the range [0, 1].")


@export("metrics.sensitivity_at_specificity")
def sensitivity_at_specificity(
    labels: TensorLike,
    predictions: TensorLike,
    specificity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the part of the true labels that are found, at a given specificity.

    Args:
      labels: The labels, true or false.
      predictions: The predicted probabilities, in [0, 1], of the same shape.
      specificity: The specificity, in [0, 1]: the part of the false labels that are recognized.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      num_thresholds: The number of thresholds, spread evenly over [0, 1].
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If `specificity` is not in [0, 1].
    """
    _check_rate("specificity", specificity)

    def sensitivity(tp: Any, fn: Any, tn: Any, fp: Any, name: str) -> Tensor:
        found = binary.div(tn, tn + fp + _EPSILON)
        i = casting.cast(positions.argmin(unary.abs(found - specificity), 0), dtypes.int32)
        return binary.div(tp[i], tp[i] + fn[i] + _EPSILON, name)

    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        counts = counts_at_thresholds(
            labels, predictions, spread_thresholds(num_thresholds), weights, list(KINDS)
        )
        return streamed(sensitivity, *counts, metrics_collections, updates_collections)


@export("metrics.specificity_at_sensitivity")
def specificity_at_sensitivity(
    labels: TensorLike,
    predictions: TensorLike,
    sensitivity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the part of the false labels that are recognized, at a given sensitivity.

    Args:
      labels: The labels, true or false.
      predictions: The predicted probabilities, in [0, 1], of the same shape.
      sensitivity: The sensitivity, in [0, 1]: the part of the true labels that are found.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      num_thresholds: The number of thresholds, spread evenly over [0, 1].
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If `sensitivity` is not in [0, 1].
    """
    _check_rate("sensitivity", sensitivity)

    def specificity(tp: Any, fn: Any, tn: Any, fp: Any, name: str) -> Tensor:
        found = binary.div(tp, tp + fn + _EPSILON)
        least = reductions.reduce_min(unary.abs(found - sensitivity))
        is_closest = binary.equal(unary.abs(found - sensitivity), least)
        # Counted up, the closest reach their number at the last of them.
        i = positions.argmax(cumulative.cumsum(casting.cast(is_closest, dtypes.int64)), 0)
        i = casting.cast(i, dtypes.int32)
        return binary.div(tn[i], tn[i] + fp[i] + _EPSILON, name)

    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        counts = counts_at_thresholds(
            labels, predictions, spread_thresholds(num_thresholds), weights, list(KINDS)
        )
        return streamed(specificity, *counts, metrics_collections, updates_collections)
