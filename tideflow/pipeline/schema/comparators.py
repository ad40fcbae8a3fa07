"""Drift and skew: how far data are from those of the previous span, the previous version or serving."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from tideflow.pipeline.messages.anomalies import DriftSkewInfo
from tideflow.pipeline.messages.schema import HistogramSelection
from tideflow.pipeline.schema import distances
from tideflow.pipeline.schema.reasons import Reason, digits
from tideflow.pipeline.schema.statistics_views import QUANTILES, STANDARD, DatasetView, FeatureView

_MEASURES = ("infinity_norm", "normalized_abs_difference", "jensen_shannon_divergence")
_UP_TO_SIX = "(up to six significant digits)"


class _Sides(NamedTuple):
    treatment: str
    control: str


_SIDES = {"drift": _Sides("current", "previous"), "skew": _Sides("training", "serving")}


def fit_comparator(
    view: FeatureView, kind: Literal["drift", "skew"], comparator: Any
) -> tuple[list[Reason], list[Any]]:
    """Raises the thresholds of a feature's comparator to the distances found.

    Returns:
      The reasons, and the distances as `DriftSkewInfo.Measurement`s.
    """
    asked = [name for name in _MEASURES if getattr(comparator, name).HasField("threshold")]
    dataset = view.dataset.previous if kind == "drift" else view.dataset.serving
    if not asked or dataset is None:
        return [], []
    sides, control = _SIDES[kind], dataset.find(view.path)
    if control is None:
        for name in asked:
            getattr(comparator, name).ClearField("threshold")
        reason = Reason(
            "COMPARATOR_CONTROL_DATA_MISSING",
            f"{sides.control} data missing",
            f"{sides.control} data is missing.",
        )
        return [reason], []
    reasons, measurements = [], []
    for name in asked:
        measure = getattr(comparator, name)
        found = _distance(name, view, control, measure)
        if found is None:
            continue
        value, distance = found
        measurements.append(_measurement(name, distance, measure.threshold))
        if distance > measure.threshold:
            reasons.append(_reason(name, sides, distance, measure.threshold, value))
            measure.threshold = distance
    return reasons, measurements


def _distance(name: str, view: FeatureView, control: FeatureView, measure: Any) -> tuple[str, float] | None:
    if name == "infinity_norm":
        return distances.l_infinity(view.counts, control.counts)
    if name == "normalized_abs_difference":
        return distances.normalized_absolute_difference(view.counts, control.counts)
    if view.counts and control.counts:
        divergence = distances.jensen_shannon_of_counts(view.counts, control.counts)
    else:
        quantiles = measure.source.type == HistogramSelection.Type.Value("QUANTILES")
        pair = [side.histogram(QUANTILES if quantiles else STANDARD) for side in (view, control)]
        divergence = None if None in pair else distances.jensen_shannon_of_histograms(*pair)
    return None if divergence is None else ("", divergence)


def _measurement(name: str, distance: float, threshold: float) -> Any:
    kind = {
        "infinity_norm": "L_INFTY",
        "jensen_shannon_divergence": "JENSEN_SHANNON_DIVERGENCE",
        "normalized_abs_difference": "NORMALIZED_ABSOLUTE_DIFFERENCE",
    }[name]
    return DriftSkewInfo.Measurement(type=kind, value=distance, threshold=threshold)


def _reason(name: str, sides: _Sides, distance: float, threshold: float, value: str) -> Reason:
    words = {
        "infinity_norm": "Linfty distance",
        "jensen_shannon_divergence": "approximate Jensen-Shannon divergence",
        "normalized_abs_difference": "normalized absolute difference",
    }[name]
    kind = {
        "infinity_norm": "COMPARATOR_L_INFTY_HIGH",
        "jensen_shannon_divergence": "COMPARATOR_JENSEN_SHANNON_DIVERGENCE_HIGH",
        "normalized_abs_difference": "COMPARATOR_NORMALIZED_ABSOLUTE_DIFFERENCE_HIGH",
    }[name]
    between = f"{words} between {sides.treatment} and {sides.control}"
    why = f"The {between} is {digits(distance)} {_UP_TO_SIX}, above the threshold {digits(threshold)}."
    if name != "jensen_shannon_divergence":
        why += f" The feature value with maximum difference is: {value}"
    return Reason(kind, f"High {between}", why)


def fit_dataset_constraints(view: DatasetView, constraints: Any) -> list[Reason]:
    """Loosens how many examples a dataset may have, by itself and beside earlier ones."""
    reasons = []
    for name, control, words in (
        ("num_examples_drift_comparator", view.previous, "previous span"),
        ("num_examples_version_comparator", view.previous_version, "previous version"),
    ):
        if constraints.HasField(name) and control is not None:
            reasons += _fit_num_examples(view, control, words, getattr(constraints, name))
    return reasons + _fit_examples_count(view, constraints)


def _fit_num_examples(view: DatasetView, control: DatasetView, words: str, comparator: Any) -> list[Reason]:
    high = "COMPARATOR_HIGH_NUM_EXAMPLES", f"High num examples in current dataset versus the {words}"
    if control.num_examples == 0:
        if not comparator.HasField("max_fraction_threshold"):
            return []
        comparator.ClearField("max_fraction_threshold")
        why = (
            f"The {words} has 0 examples, so there is a high number of "
            f"examples in the current dataset versus the {words}."
        )
        return [Reason(high[0], f"{high[1]}, which has 0.", why)]
    ratio = view.num_examples / control.num_examples
    said = (
        f"The ratio of num examples in the current dataset versus the {words} is {digits(ratio)} {_UP_TO_SIX}"
    )
    reasons = []
    if comparator.HasField("max_fraction_threshold") and ratio > comparator.max_fraction_threshold:
        why = f"{said}, which is above the threshold {digits(comparator.max_fraction_threshold)}."
        reasons.append(Reason(high[0], f"{high[1]}.", why))
        comparator.max_fraction_threshold = ratio
    if comparator.HasField("min_fraction_threshold") and ratio < comparator.min_fraction_threshold:
        why = f"{said}, which is below the threshold {digits(comparator.min_fraction_threshold)}."
        short = f"Low num examples in current dataset versus the {words}."
        reasons.append(Reason("COMPARATOR_LOW_NUM_EXAMPLES", short, why))
        comparator.min_fraction_threshold = ratio
    return reasons


def _fit_examples_count(view: DatasetView, constraints: Any) -> list[Reason]:
    count, reasons = view.num_examples, []
    if constraints.HasField("min_examples_count") and count < constraints.min_examples_count:
        why = f"The dataset has {digits(count)} examples, which is fewer than expected."
        reasons.append(Reason("DATASET_LOW_NUM_EXAMPLES", "Low num examples in dataset.", why))
        constraints.min_examples_count = int(count)
    if constraints.HasField("max_examples_count") and count > constraints.max_examples_count:
        why = f"The dataset has {digits(count)} examples, which is more than expected."
        reasons.append(Reason("DATASET_HIGH_NUM_EXAMPLES", "High num examples in dataset.", why))
        constraints.max_examples_count = int(count)
    return reasons
