"""Metrics of many classes, and the plots: confusion matrices, calibration, distribution of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tideflow.pipeline.evaluation.binary_metrics import evenly_spaced, matrices
from tideflow.pipeline.evaluation.computations import SparseRows, SparseSums, histogram, rebinned
from tideflow.pipeline.evaluation.inputs import Batch, View, matched
from tideflow.pipeline.evaluation.metrics import Metric, key, metric, plot_key
from tideflow.pipeline.messages import evaluation as messages

_MOST_CLASSES = 1 << 20
_NO_CLASS = -1


class ClassMatrices(dict[tuple[float, int, int], float]):
    """Weights of examples by threshold, class and predicted class (-1: no score exceeds the threshold)."""

    def message(self) -> Any:
        """The matrices as a MetricValue."""
        value = messages.MetricValue()
        into = value.multi_class_confusion_matrix_at_thresholds
        into.SetInParent()
        for threshold in sorted({each[0] for each in self}):
            matrix = into.matrices.add(threshold=_within_one(threshold))
            for level, actual, predicted in sorted(self):
                if level == threshold:
                    matrix.entries.add(
                        actual_class_id=actual,
                        predicted_class_id=predicted,
                        num_weighted_examples=self[level, actual, predicted],
                    )
        return value


def _within_one(threshold: float) -> float:
    """The threshold that is shown for one just outside of [0, 1]."""
    return {-1e-7: 0.0, 1.0 + 1e-7: 1.0}.get(threshold, threshold)


def _class_entries(view: View, batch: Batch, thresholds: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    label, prediction, weight = view.rows(batch)
    if prediction.shape[1] == 1:
        raise ValueError(
            f"Predictions shape must be > 1 for multi-class confusion matrix: shape={prediction.shape[1:]}"
        )
    actual = label.argmax(axis=1) if label.shape[1] > 1 else label[:, 0].astype(np.int64)
    best = prediction.argmax(axis=1)
    score = prediction.max(axis=1)
    places = np.arange(len(thresholds))
    predicted = np.where(score[:, None] > np.asarray(thresholds), best[:, None], _NO_CLASS)
    ids = (places * _MOST_CLASSES + actual[:, None]) * _MOST_CLASSES + predicted + 1
    return ids, np.broadcast_to(weight[:, None, None], (*ids.shape, 1))


def _class_matrices(found: SparseRows, thresholds: tuple[float, ...]) -> ClassMatrices:
    made = ClassMatrices()
    for code, (weight,) in zip(found[0].tolist(), found[1].tolist(), strict=True):
        rest, predicted = divmod(code, _MOST_CLASSES)
        place, actual = divmod(rest, _MOST_CLASSES)
        made[thresholds[place], actual, predicted - 1] = weight
    return made


def _levels(
    thresholds: Sequence[float] | None, num_thresholds: int | None, default: float
) -> tuple[float, ...]:
    if num_thresholds is not None and thresholds is not None:
        raise ValueError("only one of thresholds or num_thresholds can be set at a time")
    if num_thresholds is not None:
        return tuple(evenly_spaced(num_thresholds))
    return tuple(thresholds) if thresholds else (default,)


@metric("MultiClassConfusionMatrixAtThresholds")
def _multi_class(view: View, name: str, thresholds: Sequence[float] | None = None) -> list[Metric]:
    view, levels = view.without_classes(), _levels(thresholds, None, 0.5)
    needs = (SparseSums(view, _class_entries, (levels,)),)
    return [Metric(key(view, name), needs, lambda found: _class_matrices(found, levels))]


@metric("MultiClassConfusionMatrixPlot")
def _multi_class_plot(
    view: View, name: str, thresholds: Sequence[float] | None = None, num_thresholds: int | None = None
) -> list[Metric]:
    view, levels = view.without_classes(), _levels(thresholds, num_thresholds, 0.0)

    def value(found: SparseRows) -> Any:
        return _class_matrices(found, levels).message().multi_class_confusion_matrix_at_thresholds

    return [Metric(plot_key(view, name), (SparseSums(view, _class_entries, (levels,)),), value)]


def _label_entries(view: View, batch: Batch, thresholds: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """For each class that an example is of, the outcomes of all classes: fn, tn, fp, tp."""
    label, prediction, weight = view.rows(batch)
    if prediction.shape[1] == 1:
        raise ValueError(
            f"Predictions shape must be > 1 for multi-label confusion matrix: shape={prediction.shape[1:]}"
        )
    has = matched(label, prediction).astype(bool)
    rows, classes = has.shape
    over = prediction[:, None, :] > np.asarray(thresholds)[:, None]
    is_of = has[:, None, :]
    outcome = np.stack([is_of & ~over, ~is_of & ~over, ~is_of & over, is_of & over], axis=-1)
    # (rows, thresholds, actual, predicted, outcome), counted where the example is of the actual class
    numbers = outcome[:, :, None] * (has[:, None, :, None, None] * weight[:, None, None, None, None])
    counted = np.broadcast_to(has[:, None, :, None, None], (*numbers.shape[:-1], 1))
    ids = np.arange(len(thresholds) * classes * classes)
    flat = np.concatenate([numbers, counted], axis=-1).reshape(rows, len(ids), 5)
    return np.broadcast_to(ids, (rows, len(ids))), flat


@metric("MultiLabelConfusionMatrixPlot")
def _multi_label_plot(
    view: View, name: str, thresholds: Sequence[float] | None = None, num_thresholds: int | None = None
) -> list[Metric]:
    view, levels = view.without_classes(), _levels(thresholds, num_thresholds, 0.5)

    def value(found: SparseRows) -> Any:
        ids, numbers = found
        classes = round((len(ids) / len(levels)) ** 0.5)
        made = messages.MultiLabelConfusionMatrixAtThresholds()
        by_level = numbers.reshape(len(levels), classes, classes, 5)
        for level, entries in sorted(zip(levels, by_level, strict=True), key=lambda each: each[0]):
            matrix = made.matrices.add(threshold=_within_one(level))
            for actual, predicted in np.argwhere(entries[..., 4] > 0).tolist():
                names = ("false_negatives", "true_negatives", "false_positives", "true_positives")
                values = dict(zip(names, entries[actual, predicted], strict=False))
                matrix.entries.add(actual_class_id=actual, predicted_class_id=predicted, **values)
        return made

    return [Metric(plot_key(view, name), (SparseSums(view, _label_entries, (levels,)),), value)]


# ----------------------------------------------------------------------------------------- plots of one class


def _plot_levels(num_thresholds: int) -> list[float]:
    return [-1e-6, *(i * 1.0 / num_thresholds for i in range(num_thresholds + 1))]


@metric("ConfusionMatrixPlot")
def _confusion_plot(view: View, name: str, num_thresholds: int = 1000) -> list[Metric]:
    computation, read = matrices(view, _plot_levels(num_thresholds), use_histogram=True)

    def value(found: SparseRows) -> Any:
        return read(found).message().confusion_matrix_at_thresholds

    return [Metric(plot_key(view, name), (computation,), value)]


def _scores_exceeded(
    view: View, batch: Batch, thresholds: tuple[float, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """As `exceeded`, of predictions that are their own labels."""
    _, prediction, weight = view.flat(batch)
    ids = np.searchsorted(np.asarray(thresholds), prediction, side="left")
    return ids, np.stack([prediction * weight, (1 - prediction) * weight], axis=-1)


@metric("ScoreDistributionPlot")
def _score_plot(view: View, name: str, num_thresholds: int = 1000) -> list[Metric]:
    levels = tuple(_plot_levels(num_thresholds))
    _, read = matrices(view, levels, use_histogram=False)

    def value(found: SparseRows) -> Any:
        plot = read(found).message().confusion_matrix_at_thresholds
        for each in plot.matrices:
            each.true_negatives += each.false_negatives
            each.true_positives += each.false_positives
            each.false_negatives = each.false_positives = each.precision = each.recall = 0.0
        return plot

    return [Metric(plot_key(view, name), (SparseSums(view, _scores_exceeded, (levels,)),), value)]


@metric("CalibrationPlot")
def _calibration_plot(
    view: View, name: str, num_buckets: int = 1000, left: float | None = None, right: float | None = None
) -> list[Metric]:
    low, high = 0.0 if left is None else left, 1.0 if right is None else right
    edges = [-np.inf, *(low + i * (high - low) / num_buckets for i in range(num_buckets + 1))]

    def value(found: SparseRows) -> Any:
        made = messages.CalibrationHistogramBuckets()
        sums = rebinned(found, np.asarray(edges), low, high)
        if sums is None:
            return made
        for begin, end, (labels, predictions, examples) in zip(
            edges, [*edges[1:], np.inf], sums, strict=True
        ):
            bucket = made.buckets.add(lower_threshold_inclusive=begin, upper_threshold_exclusive=end)
            bucket.total_weighted_label.value = labels
            bucket.total_weighted_refined_prediction.value = predictions
            bucket.num_weighted_examples.value = examples
        return made

    return [Metric(plot_key(view, name), (histogram(view, low, high),), value)]
