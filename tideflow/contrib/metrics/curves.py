"""Areas under curves: exact ones of all values, with confidence intervals, or by histograms."""

from __future__ import annotations

import collections
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.metrics.statistics import streaming_concat
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, control_dependencies, name_scope
from tideflow.metrics.streaming import Metric, collected, squeezed
from tideflow.ops.arrays import constants, creation, distinct, indexing, ranking, shapes, tiling
from tideflow.ops.control_flow import conditionals, debugging, grouping
from tideflow.ops.math import (
    binary,
    casting,
    checks,
    confusion,
    cumulative,
    histograms,
    reductions,
    segments,
    unary,
)
from tideflow.variables.initializers import Zeros
from tideflow.variables.variable_scope import get_variable, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_EPSILON = 1e-7


def _zeros_and_ones(labels: Any) -> tuple[Tensor, list[Any]]:
    """Labels as a vector of int64, and the checks that they are 0 or 1."""
    labels = shapes.reshape(casting.cast(labels, dtypes.int64), [-1])
    zeros = creation.zeros_like(labels, dtypes.int64)
    at_least = checks.assert_greater_equal(labels, zeros, message="labels must be 0 or 1, at least one is <0")
    ones = creation.ones_like(labels, dtypes.int64)
    at_most = checks.assert_less_equal(labels, ones, message="labels must be 0 or 1, at least one is >1")
    return labels, [at_least, at_most]


@export("contrib.metrics.streaming_dynamic_auc")
def streaming_dynamic_auc(
    labels: Tensor,
    predictions: Tensor,
    curve: str = "ROC",
    metrics_collections: Iterable[Hashable] | None = (),
    updates_collections: Iterable[Hashable] | None = (),
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Metric:
    """The exact area under a curve of all predictions so far, which are kept.

    Args:
      labels: The labels, 0 or 1.
      predictions: The predictions, any numbers, of the same shape.
      curve: "ROC" or "PR".
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.
      weights: The weights of the examples; 1 if None.

    Returns:
      The value, and the operation that adds this step's predictions.

    Raises:
      ValueError: If shapes do not fit, or there is no such curve.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, default_name="dynamic_auc"):
        labels.shape.assert_is_compatible_with(predictions.shape)
        predictions = shapes.reshape(casting.cast(predictions, dtypes.float64), [-1])
        labels, in_range = _zeros_and_ones(labels)
        with control_dependencies(in_range):
            all_predictions, update_predictions = streaming_concat(predictions, name="concat_preds")
            all_labels, update_labels = streaming_concat(labels, name="concat_labels")
            updates, all_weights = [update_labels, update_predictions], None
            if weights is not None:
                weights = shapes.reshape(casting.cast(weights, dtypes.float64), [-1])
                all_weights, update_weights = streaming_concat(weights, name="concat_weights")
                updates.append(update_weights)
            update = grouping.group(*updates)
            value = _exact_area(all_labels, all_predictions, curve, all_weights)
            return collected(value, update, metrics_collections, updates_collections)


def _exact_area(labels: Tensor, predictions: Tensor, curve: str, weights: Any) -> Tensor:
    size = shapes.size(predictions)
    if weights is None:
        weights = creation.ones_like(labels, dtype=dtypes.float64)
    labels, predictions, weights = squeezed(labels, predictions, weights)
    total = reductions.reduce_sum(weights)
    nothing = creation.zeros_like(labels, dtype=dtypes.float64)
    positive = reductions.reduce_sum(indexing.where(binary.greater(labels, 0), weights, nothing))

    def area() -> Tensor:
        ordered, order = ranking.top_k(predictions, k=size)
        ordered_labels, ordered_weights = indexing.gather(labels, order), indexing.gather(weights, order)
        _, _, counts = distinct.unique_with_counts(ordered)
        splits = tiling.pad(cumulative.cumsum(counts), paddings=[[1, 0]])
        splits = casting.cast(splits, dtypes.int32)
        zeros = creation.zeros_like(ordered_labels, dtype=dtypes.float64)

        def up_to_splits(values: Tensor) -> Tensor:
            """The sums of all that is before each split: equal predictions are never split."""
            return indexing.gather(tiling.pad(cumulative.cumsum(values), paddings=[[1, 0]]), splits)

        true = up_to_splits(indexing.where(binary.greater(ordered_labels, 0), ordered_weights, zeros))
        if curve == "ROC":
            false = up_to_splits(indexing.where(binary.less(ordered_labels, 1), ordered_weights, zeros))
            x, y = binary.truediv(false, total - positive), binary.truediv(true, positive)
        else:
            x = binary.truediv(true, positive)
            precision = binary.truediv(true, up_to_splits(ordered_weights))
            ones = creation.ones_like(true, dtype=dtypes.float64)
            y = indexing.where(binary.greater(splits, 0), precision, ones)
        heights = binary.add(y[1:], y[:-1]) / 2.0
        widths = unary.abs(binary.subtract(x[1:], x[:-1]))
        return reductions.reduce_sum(binary.multiply(heights, widths))

    is_trivial = binary.logical_or(binary.equal(positive, 0), binary.equal(positive, total))
    return conditionals.cond(is_trivial, lambda: constants.constant(0, dtypes.float64), area)


AucData = collections.namedtuple("AucData", ["auc", "lower", "upper"])


@export("contrib.metrics.auc_with_confidence_intervals")
def auc_with_confidence_intervals(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Iterable[Hashable] | None = (),
    updates_collections: Iterable[Hashable] | None = (),
    name: str | None = None,
) -> tuple[AucData, Any]:
    """The area under the ROC curve with a confidence interval, by placement values (Delong et al., 1988).

    Args:
      labels: The labels, 0 or 1.
      predictions: The predictions, of the same shape.
      weights: The weights of the examples; 1 if None.
      alpha: The confidence, in (0, 1).
      logit_transformation: Whether the interval is computed for the logit of the area, and so lies in [0, 1].
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      A named tuple of the area and the ends of the interval, and the operation that adds this step's
      predictions.

    Raises:
      ValueError: If `alpha` is not in (0, 1), or shapes do not fit.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    if weights is None:
        weights = creation.ones_like(predictions)
    with variable_scope(
        name, default_name="auc_with_confidence_intervals", values=[labels, predictions, weights]
    ):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        total = reductions.reduce_sum(weights)
        weights = shapes.reshape(weights, [-1])
        predictions = shapes.reshape(casting.cast(predictions, dtypes.float64), [-1])
        labels, in_range = _zeros_and_ones(labels)
        with control_dependencies(in_range):
            all_predictions, update_predictions = streaming_concat(predictions, name="concat_preds")
            all_labels, update_labels = streaming_concat(labels, name="concat_labels")
            all_weights, update_weights = streaming_concat(weights, name="concat_weights")
            updated = grouping.group(update_labels, update_predictions, update_weights)
            has_both = binary.logical_and(
                binary.equal(reductions.reduce_min(labels), 0), binary.equal(reductions.reduce_max(labels), 1)
            )
            is_enough = binary.greater_equal(total, 1.0)
            is_valid = binary.logical_and(has_both, is_enough)
            update = conditionals.cond(is_enough, lambda: updated, constants.no_operation)
            value = _placement_area(
                all_labels, all_predictions, all_weights, alpha, logit_transformation, is_valid
            )
            return collected(value, update, metrics_collections, updates_collections)


def _placement_area(
    labels: Tensor, predictions: Tensor, weights: Tensor, alpha: float, logit: bool, is_valid: Tensor
) -> AucData:
    """A placement value is the share of the other class that an example is placed above."""
    # An inverse of the normal distribution; few need it, and distributions are large.
    from tideflow.distributions.location_scale import Normal  # loaded when asked for

    size = shapes.size(predictions, out_type=dtypes.int32)
    total_0 = reductions.reduce_sum(casting.cast(1 - labels, weights.dtype) * weights)
    total_1 = reductions.reduce_sum(casting.cast(labels, weights.dtype) * weights)
    ordered, order = ranking.top_k(predictions, k=size, sorted=True)
    ordered, order = tiling.reverse(ordered, axis=[0]), tiling.reverse(order, axis=[0])
    labels, weights = indexing.gather(labels, order), indexing.gather(weights, order)
    _, groups = distinct.unique(ordered)
    true = casting.cast(labels, dtypes.float32)
    false = 1.0 - true

    def placements(others: Tensor) -> Tensor:
        weight = segments.segment_sum(others, groups)
        below = cumulative.cumsum(weight, exclusive=True)
        share = (below + weight / 2.0) / (reductions.reduce_sum(weight) + _EPSILON)
        return indexing.gather(share, groups)

    placed = placements(weights * false) * true + placements(weights * true) * false
    is_0, is_1 = casting.cast(1 - labels, weights.dtype), casting.cast(labels, weights.dtype)
    placed_0, weights_0 = placed * is_0, weights * is_0
    placed_1, weights_1 = placed * is_1, weights * is_1
    auc_0 = reductions.reduce_sum(weights_0 * (1.0 - placed_0)) / (total_0 + _EPSILON)
    auc_1 = reductions.reduce_sum(weights_1 * placed_1) / (total_1 + _EPSILON)
    auc = indexing.where(binary.less(total_0, total_1), auc_1, auc_0)
    var_0 = reductions.reduce_sum(weights_0 * unary.square(1.0 - placed_0 - auc_0)) / (
        total_0 - 1.0 + _EPSILON
    )
    var_1 = reductions.reduce_sum(weights_1 * binary.squared_difference(placed_1, auc_1))
    var_1 /= total_1 - 1.0 + _EPSILON
    error = unary.sqrt(var_0 / (total_0 + _EPSILON) + var_1 / (total_1 + _EPSILON))
    z = Normal(loc=0.0, scale=1.0).quantile((1.0 - alpha) / 2.0)
    if logit:
        middle = unary.log(auc / (1.0 - auc + _EPSILON))
        error = error / (auc * (1.0 - auc + _EPSILON))
        ends = [1.0 / (1.0 + unary.exp(-end) + _EPSILON) for end in (middle + z * error, middle - z * error)]
    else:
        ends = [auc + z * error, auc - z * error]
    is_sure = binary.logical_or(
        binary.equal(auc, creation.ones_like(auc)), binary.equal(auc, creation.zeros_like(auc))
    )
    lower, upper = (indexing.where(is_sure, auc, end) for end in ends)
    nothing = constants.constant(0.0)
    return AucData(*conditionals.cond(is_valid, lambda: [auc, lower, upper], lambda: [nothing] * 3))


# ---------------------------------------------------------------------------------- by histograms


@export("contrib.metrics.auc_using_histogram")
def auc_using_histogram(
    boolean_labels: TensorLike,
    scores: TensorLike,
    score_range: TensorLike,
    nbins: int = 100,
    collections: Sequence[Hashable] | None = None,
    check_shape: bool = True,
    name: str | None = None,
) -> Metric:
    """The area under the ROC curve, by histograms of the scores of true and of false labels.

    Args:
      boolean_labels: The labels, a bool vector.
      scores: The scores, a vector.
      score_range: The least and the highest score that histograms tell apart.
      nbins: How many bins they have.
      collections: Collections of the variables; the local variables if None.
      check_shape: Whether the step checks that labels and scores are vectors.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it.

    Raises:
      ValueError: If labels are not bool.
    """
    if collections is None:
        collections = [GraphKeys.LOCAL_VARIABLES]
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        scores, labels = confusion.remove_squeezable_dimensions(scores, boolean_labels)
        score_range = convert_to_tensor(score_range, name="score_range")
        labels, scores = _checked_vectors(labels, scores, check_shape)
        with variable_scope(None, "make_auc_histograms", [labels, scores, nbins]):
            of_true = histograms.histogram_fixed_width(
                indexing.boolean_mask(scores, labels),
                score_range,
                nbins=nbins,
                dtype=dtypes.int64,
                name="hist_true",
            )
            of_false = histograms.histogram_fixed_width(
                indexing.boolean_mask(scores, unary.logical_not(labels)),
                score_range,
                nbins=nbins,
                dtype=dtypes.int64,
                name="hist_false",
            )
        with variable_scope(None, "hist_accumulate", [of_true, of_false]):
            true, false = (
                get_variable(
                    f"hist_{word}_acc",
                    shape=[nbins],
                    dtype=of_true.dtype,
                    initializer=Zeros(),
                    collections=collections,
                    trainable=False,
                )
                for word in ("true", "false")
            )
            update = grouping.group(true.assign_add(of_true), false.assign_add(of_false), name="update_op")
        return _area_of_histograms(true, false, nbins), update


def _checked_vectors(labels: Any, scores: Any, check_shape: bool) -> tuple[Tensor, Tensor]:
    with name_scope("_check_labels_and_scores", values=[labels, scores]):
        labels = convert_to_tensor(labels, name="boolean_labels")
        scores = convert_to_tensor(scores, name="scores")
        if labels.dtype != dtypes.bool:
            raise ValueError(f"Argument boolean_labels should have dtype bool.  Found: {labels.dtype!r}")
        if not check_shape:
            return labels, scores
        vectors = [
            debugging.Assert(
                binary.equal(1, shapes.rank(given)),
                [f"Argument {word} should have rank 1.  Found: ", given.name, shapes.shape(given)],
            )
            for word, given in (("boolean_labels", labels), ("scores", scores))
        ]
        with control_dependencies(vectors):
            return labels, scores


def _area_of_histograms(true: Any, false: Any, nbins: int) -> Tensor:
    of_true = binary.truediv(true, reductions.reduce_sum(true))
    of_false = binary.truediv(false, reductions.reduce_sum(false))
    rise = casting.cast(tiling.reverse(of_true, [0], name="delta_y_t"), dtypes.float32)
    run = casting.cast(tiling.reverse(of_false, [0], name="delta_x_t"), dtypes.float32)
    height = cumulative.cumsum(rise)
    first = run[0] * height[0] / 2.0
    others = run[1:] * (height[1:] + height[: nbins - 1]) / 2.0
    return binary.add(first, reductions.reduce_sum(others), name="auc")
