"""Metrics of confusion matrices: at one threshold, at several, and of the curves through all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tideflow.pipeline.evaluation.computations import (
    HISTOGRAM_BUCKETS,
    Computation,
    SparseRows,
    SparseSums,
    counted,
    exceeded,
    histogram,
    rebinned,
)
from tideflow.pipeline.evaluation.inputs import View
from tideflow.pipeline.evaluation.keys import SubKey
from tideflow.pipeline.evaluation.metrics import Metric, key, metric
from tideflow.pipeline.messages import evaluation as messages

_EPSILON = 1e-7
Thresholds = float | Sequence[float] | None


class Matrices(NamedTuple):
    """Confusion matrices, by threshold."""

    thresholds: np.ndarray
    tp: np.ndarray
    tn: np.ndarray
    fp: np.ndarray
    fn: np.ndarray

    def message(self) -> Any:
        """The matrices as a MetricValue."""
        value = messages.MetricValue()
        _, tp, tn, fp, fn = self
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = np.where(tp + fp > 0, tp / (tp + fp), 1.0)
            recall = np.where(tp + fn > 0, tp / (tp + fn), 0.0)
            rates = {
                "precision": precision,
                "recall": recall,
                "false_positive_rate": fp / (fp + tn),
                "f1": 2 * precision * recall / (precision + recall),
                "accuracy": (tp + tn) / (tp + tn + fp + fn),
                "false_omission_rate": fn / (fn + tn),
            }
        for index, threshold in enumerate(self.thresholds.tolist()):
            value.confusion_matrix_at_thresholds.matrices.add(
                threshold=round(threshold, 6),
                false_negatives=fn[index],
                true_negatives=tn[index],
                false_positives=fp[index],
                true_positives=tp[index],
                **{name: each[index] for name, each in rates.items()},
            )
        return value


def evenly_spaced(count: int) -> list[float]:
    """Thresholds from just below 0 to just above 1."""
    inner = [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]
    return [-_EPSILON, *inner, 1.0 + _EPSILON]


def matrices(
    view: View,
    thresholds: Sequence[float] | None = None,
    num_thresholds: int | None = None,
    use_histogram: bool | None = None,
) -> tuple[Computation, Callable[[SparseRows], Matrices]]:
    """What is computed for confusion matrices at thresholds, and how they follow from it.

    Scores are compared with the thresholds that a person gave; the curves through evenly spaced ones come
    from a histogram.
    """
    if thresholds and num_thresholds in (HISTOGRAM_BUCKETS, 200) and len(thresholds) == num_thresholds - 2:
        thresholds = None
    if num_thresholds is not None and thresholds is not None:
        raise ValueError(
            "only one of thresholds or num_thresholds can be set at a time: "
            f"num_thresholds={num_thresholds}, thresholds={list(thresholds)}"
        )
    if thresholds is not None and list(thresholds) == evenly_spaced(len(thresholds)):
        num_thresholds, thresholds = len(thresholds), None
    if thresholds is None:
        num_thresholds = HISTOGRAM_BUCKETS if num_thresholds is None else num_thresholds
        if num_thresholds <= 1:
            raise ValueError("num_thresholds must be > 1")
        thresholds = evenly_spaced(num_thresholds)
    levels = np.asarray(thresholds, float)
    if use_histogram or (use_histogram is None and num_thresholds is not None):
        return histogram(view), lambda found: _of_histogram(found, levels)
    order = np.argsort(levels, kind="stable")
    computation = SparseSums(view, exceeded, (tuple(levels[order].tolist()),))
    return computation, lambda found: _of_counts(counted(found, len(levels) + 1), levels, order)


def _of_counts(counts: np.ndarray | None, levels: np.ndarray, order: np.ndarray) -> Matrices:
    """Matrices of the weights by how many thresholds they exceed."""
    if counts is None:
        return _unknown(levels)
    from_below = np.cumsum(counts, axis=0)
    from_above = np.cumsum(counts[::-1], axis=0)[::-1]
    rank = np.argsort(order, kind="stable")
    tp, fp = from_above[1:][rank].T
    fn, tn = from_below[:-1][rank].T
    return Matrices(levels, tp, tn, fp, fn)


def _of_histogram(found: SparseRows, levels: np.ndarray) -> Matrices:
    edges = np.where(levels != 0, levels + _EPSILON, levels)
    offset = int(levels[0] >= 0)
    edges = np.concatenate([[-_EPSILON] * offset, edges, [1.0 + _EPSILON] * int(levels[-1] < 1)])
    sums = rebinned(found, edges)
    if sums is None:
        return _unknown(levels)
    positive, negative = sums[:, 0], sums[:, 2] - sums[:, 0]
    chosen = slice(offset, offset + len(levels))
    tp, fp = (np.cumsum(each[::-1])[::-1][chosen].copy() for each in (positive, negative))
    fn, tn = ((np.cumsum(each) - each)[chosen].copy() for each in (positive, negative))
    past = levels >= 1.0 + _EPSILON
    fn[past], tn[past] = tp[0], fp[0]
    tp[past], fp[past] = 0.0, 0.0
    return Matrices(levels, tp, tn, fp, fn)


def _unknown(levels: np.ndarray) -> Matrices:
    """Matrices of scores among which is a NaN: neither above a threshold nor below it."""
    nan = np.full(len(levels), np.nan)
    return Matrices(levels, nan, nan, nan, nan)


def ratio(numerator: Any, denominator: Any) -> np.ndarray:
    """A quotient, NaN where the denominator is not positive."""
    numerator, denominator = np.asarray(numerator, float), np.asarray(denominator, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, np.nan)


def narrowed(view: View, name: str, top_k: int | None, class_id: int | None) -> View:
    """The view with the classes that a metric's own arguments name."""
    for argument, value in (("top_k", top_k), ("class_id", class_id)):
        if value is None:
            continue
        sub_key = view.sub_key or SubKey()
        if getattr(sub_key, argument) is not None:
            raise ValueError(
                f"Metric {name} is configured with overlapping settings. The metric was initialized with "
                f"{argument}={value}, but the metric was defined in a spec using sub_key={sub_key}, "
                f"model_name={view.model_name}, output_name={view.output_name}\n\n"
                "Binarization related settings can be configured in either the metrics_spec or the metric, "
                f"but not both. Either remove the {argument} setting from this metric or remove the "
                "metrics_spec.binarize settings."
            )
        view = replace(view, sub_key=replace(sub_key, **{argument: value}))
    return view


def as_list(value: Thresholds) -> list[float] | None:
    if value is None:
        return None
    return [float(value)] if isinstance(value, (int, float)) else [float(each) for each in value]


def _matrix_metric(
    view: View,
    name: str,
    value: Callable[[Matrices], Any],
    *,
    thresholds: Thresholds = None,
    num_thresholds: int | None = None,
    top_k: int | None = None,
    class_id: int | None = None,
    default: float | None = None,
) -> list[Metric]:
    view = narrowed(view, name, top_k, class_id)
    levels = as_list(thresholds)
    if num_thresholds is None and levels is None:
        if view.sub_key is not None and view.sub_key.top_k:
            levels = [-np.inf]
        elif default is not None:
            levels = [default]
    computation, read = matrices(view, levels, num_thresholds)

    def known(found: SparseRows) -> Any:
        at = read(found)
        return np.nan if np.isnan(at.tp).all() else value(at)

    return [Metric(key(view, name, aggregated=True), (computation,), known)]


Counts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _quotients(tp: Any, tn: Any, fp: Any, fn: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """True positive rate, true negative rate, and the predictive values of positives and negatives."""
    return ratio(tp, tp + fn), ratio(tn, tn + fp), ratio(tp, tp + fp), ratio(tn, tn + fn)


def _prevalence_threshold(tp: Any, tn: Any, fp: Any, fn: Any) -> Any:
    tpr, tnr, _, _ = _quotients(tp, tn, fp, fn)
    return (np.sqrt(tpr * (1 - tnr)) + tnr - 1) / (tpr + tnr - 1)


def _balanced_accuracy(tp: Any, tn: Any, fp: Any, fn: Any) -> Any:
    tpr, tnr, _, _ = _quotients(tp, tn, fp, fn)
    return (tpr + tnr) / 2


def _matthews(tp: Any, tn: Any, fp: Any, fn: Any) -> Any:
    return ratio(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


def _fowlkes_mallows(tp: Any, tn: Any, fp: Any, fn: Any) -> Any:
    tpr, _, ppv, _ = _quotients(tp, tn, fp, fn)
    return np.sqrt(ppv * tpr)


def _informedness(tp: Any, tn: Any, fp: Any, fn: Any) -> Any:
    tpr, tnr, _, _ = _quotients(tp, tn, fp, fn)
    return tpr + tnr - 1


def _markedness(tp: Any, tn: Any, fp: Any, fn: Any) -> Any:
    _, _, ppv, npv = _quotients(tp, tn, fp, fn)
    return ppv + npv - 1


def _odds(tp: Any, tn: Any, fp: Any, fn: Any) -> Any:
    return np.where(tn > 0, ratio(ratio(tp, fn), ratio(fp, tn)), np.nan)


_AT_THRESHOLD: dict[tuple[str, ...], Callable[..., Any]] = {
    ("TruePositives", "TP"): lambda tp, tn, fp, fn: tp,
    ("TrueNegatives", "TN"): lambda tp, tn, fp, fn: tn,
    ("FalsePositives", "FP"): lambda tp, tn, fp, fn: fp,
    ("FalseNegatives", "FN"): lambda tp, tn, fp, fn: fn,
    ("BinaryAccuracy",): lambda tp, tn, fp, fn: ratio(tp + tn, tp + tn + fp + fn),
    ("Precision", "PPV"): lambda tp, tn, fp, fn: ratio(tp, tp + fp),
    ("Recall", "TPR"): lambda tp, tn, fp, fn: ratio(tp, tp + fn),
    ("Specificity", "TNR"): lambda tp, tn, fp, fn: ratio(tn, tn + fp),
    ("FallOut", "FPR"): lambda tp, tn, fp, fn: ratio(fp, fp + tn),
    ("MissRate", "FNR"): lambda tp, tn, fp, fn: ratio(fn, fn + tp),
    ("NegativePredictiveValue", "NPV"): lambda tp, tn, fp, fn: ratio(tn, tn + fn),
    ("FalseDiscoveryRate",): lambda tp, tn, fp, fn: ratio(fp, fp + tp),
    ("FalseOmissionRate",): lambda tp, tn, fp, fn: ratio(fn, fn + tn),
    ("Prevalence",): lambda tp, tn, fp, fn: ratio(tp + fn, tp + tn + fp + fn),
    ("PrevalenceThreshold",): _prevalence_threshold,
    ("ThreatScore",): lambda tp, tn, fp, fn: ratio(tp, tp + fn + fp),
    ("BalancedAccuracy",): _balanced_accuracy,
    ("F1Score",): lambda tp, tn, fp, fn: ratio(2 * tp, 2 * tp + fp + fn),
    ("MatthewsCorrelationCoefficient",): _matthews,
    ("FowlkesMallowsIndex",): _fowlkes_mallows,
    ("Informedness",): _informedness,
    ("Markedness",): _markedness,
    ("PositiveLikelihoodRatio",): lambda tp, tn, fp, fn: ratio(ratio(tp, tp + fn), ratio(fp, fp + tn)),
    ("NegativeLikelihoodRatio",): lambda tp, tn, fp, fn: ratio(ratio(fn, fn + tp), ratio(tn, tn + fp)),
    ("DiagnosticOddsRatio",): _odds,
    ("PredictedPositiveRate",): lambda tp, tn, fp, fn: ratio(tp + fp, tp + tn + fp + fn),
}


def _at_threshold(formula: Callable[..., Any], default: float = 0.5) -> Callable[..., list[Metric]]:
    def value(at: Matrices) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(formula(at.tp, at.tn, at.fp, at.fn), float)
        return float(values[0]) if len(at.thresholds) == 1 else values

    def make(
        view: View,
        name: str,
        thresholds: Thresholds = None,
        num_thresholds: int | None = None,
        top_k: int | None = None,
        class_id: int | None = None,
        threshold: float | None = None,
    ) -> list[Metric]:
        return _matrix_metric(
            view,
            name,
            value,
            thresholds=thresholds if threshold is None else threshold,
            num_thresholds=num_thresholds,
            top_k=top_k,
            class_id=class_id,
            default=default,
        )

    return make


for _class_names, _formula in _AT_THRESHOLD.items():
    for _class_name in _class_names:
        metric(_class_name, _class_name.lower() if _class_name.isupper() else None)(_at_threshold(_formula))


@metric("MaxRecall")
def _max_recall(view: View, name: str, top_k: int | None = None, class_id: int | None = None) -> list[Metric]:
    recall = _at_threshold(_AT_THRESHOLD["Recall", "TPR"], default=1e-12)
    return recall(view, name, thresholds=1e-12, top_k=top_k, class_id=class_id)


def area(at: Matrices, curve: str = "ROC", summation_method: str = "interpolation") -> float:
    """The area under the ROC or the precision-recall curve."""
    curve, method = curve.upper(), summation_method.lower()
    if curve not in ("ROC", "PR"):
        raise ValueError(f"{curve!r} is not a valid AUCCurve")
    if method not in ("interpolation", "majoring", "minoring"):
        raise ValueError(f"{method!r} is not a valid AUCSummationMethod")
    _, tp, tn, fp, fn = at
    with np.errstate(divide="ignore", invalid="ignore"):
        if curve == "PR" and method == "interpolation":
            positives = tp + fp
            more = tp[:-1] - tp[1:]
            slope = more / np.maximum(positives[:-1] - positives[1:], 0)
            intercept = tp[1:] - slope * positives[1:]
            both = (positives[:-1] > 0) & (positives[1:] > 0)
            growth = np.where(both, positives[:-1] / np.maximum(positives[1:], 0), 1.0)
            return float(np.nansum(slope * (more + intercept * np.log(growth)) / (tp[1:] + fn[1:])))
        recall = tp / (tp + fn)
        x, y = (fp / (fp + tn), recall) if curve == "ROC" else (recall, tp / (tp + fp))
        pairs = (y[:-1], y[1:])
        combine = {"majoring": np.maximum, "minoring": np.minimum}
        heights = (pairs[0] + pairs[1]) / 2 if method == "interpolation" else combine[method](*pairs)
        return float(np.nansum((x[:-1] - x[1:]) * heights))


@metric("AUC", "auc")
def _auc(
    view: View,
    name: str,
    num_thresholds: int | None = None,
    curve: str = "ROC",
    summation_method: str = "interpolation",
    thresholds: Thresholds = None,
    top_k: int | None = None,
    class_id: int | None = None,
) -> Sequence[Metric]:
    def value(at: Matrices) -> float:
        return area(at, curve, summation_method)

    return _matrix_metric(
        view,
        name,
        value,
        thresholds=thresholds,
        num_thresholds=num_thresholds,
        top_k=top_k,
        class_id=class_id,
    )


@metric("AUCPrecisionRecall", "auc_precision_recall")
def _auc_precision_recall(view: View, name: str, **arguments: Any) -> Sequence[Metric]:
    return _auc(view, name, curve="PR", **arguments)


def _best_under(constrained: np.ndarray, dependent: np.ndarray, bounds: Any, *, at_most: bool = False) -> Any:
    """The largest dependent value where the constrained one reaches the bound; 0 where it nowhere does.

    It is NaN where there is none, as a recall where no label is positive.
    """
    values = []
    for bound in as_list(bounds) or ():
        feasible = dependent[constrained <= bound if at_most else constrained >= bound]
        values.append(float(np.fmax.reduce(feasible)) if feasible.size else 0.0)
    return values[0] if isinstance(bounds, (int, float)) else np.array(values)


_RATES: dict[str, Callable[..., np.ndarray]] = {
    "recall": lambda at: at.tp / (at.tp + at.fn),
    "precision": lambda at: at.tp / (at.tp + at.fp),
    "specificity": lambda at: at.tn / (at.tn + at.fp),
    "false_positive_rate": lambda at: at.fp / (at.fp + at.tn),
    "threshold": lambda at: at.thresholds,
}
_CONSTRAINED = {  # class: (argument, what it constrains, what is maximised)
    "SensitivityAtSpecificity": ("specificity", "specificity", "recall"),
    "SpecificityAtSensitivity": ("sensitivity", "recall", "specificity"),
    "PrecisionAtRecall": ("recall", "recall", "precision"),
    "RecallAtPrecision": ("precision", "precision", "recall"),
    "RecallAtFalsePositiveRate": ("false_positive_rate", "false_positive_rate", "recall"),
    "ThresholdAtRecall": ("recall", "recall", "threshold"),
}


def _constrained(argument: str, constrained: str, dependent: str) -> Callable[..., list[Metric]]:
    def make(view: View, name: str, **arguments: Any) -> list[Metric]:
        bounds = arguments.pop(argument, None)
        for bound in as_list(bounds) or [-1.0]:
            if not 0 <= bound <= 1:
                raise ValueError(
                    f"Argument `{argument}` must be in the range [0, 1]. Received: {argument}={bounds}"
                )

        def value(at: Matrices) -> Any:
            with np.errstate(divide="ignore", invalid="ignore"):
                return _best_under(
                    _RATES[constrained](at),
                    _RATES[dependent](at),
                    bounds,
                    at_most=constrained == "false_positive_rate",
                )

        return _matrix_metric(view, name, value, **arguments)

    return make


for _class_name, _words in _CONSTRAINED.items():
    metric(_class_name)(_constrained(*_words))


@metric("ConfusionMatrixAtThresholds")
def _confusion_matrices(
    view: View,
    name: str,
    thresholds: Sequence[float],
    top_k: int | None = None,
    class_id: int | None = None,
) -> list[Metric]:
    view = narrowed(view, name, top_k, class_id)
    computation, read = matrices(view, as_list(thresholds))
    return [Metric(key(view, name, aggregated=True), (computation,), read)]
