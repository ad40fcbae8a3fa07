"""How often a feature is there, with how many values, of which shape: made from statistics, or fitted."""

from __future__ import annotations

import math
from typing import Any

from tideflow.pipeline.messages.schema import FeatureType
from tideflow.pipeline.schema.reasons import Reason, digits
from tideflow.pipeline.schema.statistics_views import FeatureView

_DROPPED = "Column dropped"
_NESTEDNESS = "Mismatched value nest level"


def set_presence_and_shape(view: FeatureView, feature: Any, *, infer_shape: bool) -> None:
    """Describes how often a new feature is there and how many values it has, no tighter than it must."""
    feature.presence.min_count = 1 if view.num_present >= 1.0 else 0
    if view.num_present <= 0:
        return
    if view.num_missing == 0.0:
        feature.presence.min_fraction = 1.0
    if infer_shape:
        _set_shape(view, feature)
    if not feature.HasField("shape"):
        set_value_counts(view, feature)


def _set_shape(view: FeatureView, feature: Any) -> None:
    if view.schema_type == FeatureType.Value("STRUCT") or any(view.missing_by_level):
        return
    levels = view.num_values_by_level
    if all(low == high and low > 0 for low, high in levels):
        for size, _ in levels:
            feature.shape.dim.add(size=size)


def set_value_counts(view: FeatureView, feature: Any) -> None:
    """Describes how many values a feature has, at each level of nesting."""
    levels = view.num_values_by_level
    if len(levels) > 1:
        for level in levels:
            _set_value_count(*level, feature.value_counts.value_count.add())
    elif levels[0][0] > 0:
        _set_value_count(*levels[0], feature.value_count)


def _set_value_count(low: int, high: int, value_count: Any) -> None:
    if low > 0 and low == high:
        value_count.min, value_count.max = low, high  # fixed, so that it can be parsed as a dense tensor
    elif low > 0:
        value_count.min = 1


def fit_value_counts(view: FeatureView, feature: Any) -> list[Reason]:
    """Loosens `value_count` or `value_counts`."""
    levels = view.num_values_by_level
    if feature.HasField("value_count"):
        if len(levels) == 1:
            return _fit_value_count(levels[0], feature.value_count, ".")
        feature.ClearField("value_count")
        set_value_counts(view, feature)
        why = (
            "This feature has a value_count, but the nestedness level of the feature > 1. For features with "
            "nestedness levels greater than 1, value_counts, not value_count, should be specified."
        )
        return [Reason("VALUE_NESTEDNESS_MISMATCH", _NESTEDNESS, why)]
    if not feature.HasField("value_counts"):
        return []
    if len(feature.value_counts.value_count) != len(levels):
        feature.ClearField("value_counts")
        set_value_counts(view, feature)
        why = "The values have a different nest level than expected. Value counts will not be checked."
        return [Reason("VALUE_NESTEDNESS_MISMATCH", _NESTEDNESS, why)]
    return [
        reason
        for i, (level, value_count) in enumerate(zip(levels, feature.value_counts.value_count, strict=True))
        for reason in _fit_value_count(level, value_count, f" at nestedness level {i}.")
    ]


def _fit_value_count(level: tuple[int, int], value_count: Any, end: str) -> list[Reason]:
    low, high = level
    reasons = []
    if value_count.HasField("min") and low < value_count.min:
        why = "Some examples have fewer values than expected" + end
        reasons.append(Reason("FEATURE_TYPE_LOW_NUMBER_VALUES", "Missing values", why))
        if low:
            value_count.min = low
        else:
            value_count.ClearField("min")
    if value_count.HasField("max") and high > value_count.max:
        why = "Some examples have more values than expected" + end
        reasons.append(Reason("FEATURE_TYPE_HIGH_NUMBER_VALUES", "Superfluous values", why))
        value_count.max = high
    return reasons


def fit_shape(view: FeatureView, feature: Any) -> list[Reason]:
    """Drops a shape that not all examples have."""
    if not feature.HasField("shape"):
        return []
    expected = math.prod(dim.size for dim in feature.shape.dim)
    levels = view.num_values_by_level
    fixed = all(low == high and low > 0 for low, high in levels)
    actual = math.prod(low for low, _ in levels)
    if not fixed or any(view.missing_by_level):
        why = (
            "The feature has a shape, but it's not always present (if the feature is nested, then it should "
            "always be present at each nested level) or its value lengths vary."
        )
    elif actual != expected:
        why = f"The feature has fixed value length {actual} but it's not compatible with the specified shape."
    else:
        return []
    feature.ClearField("shape")
    return [Reason("INVALID_FEATURE_SHAPE", "Feature shape dropped", why)]


def fit_presence(view: FeatureView, presence: Any) -> list[Reason]:
    """Loosens how many examples must have a feature."""
    reasons = []
    if presence.HasField("min_count") and view.num_present < presence.min_count:
        expected, presence.min_count = presence.min_count, int(view.num_present)
        why = (
            "The feature was present in fewer examples than expected: "
            f"minimum count = {expected}, actual = {presence.min_count}"
        )
        reasons.append(Reason("FEATURE_TYPE_LOW_NUMBER_PRESENT", _DROPPED, why))
    fraction = view.fraction_present
    if not presence.HasField("min_fraction") or fraction is None:
        return reasons
    if fraction < presence.min_fraction:
        wanted, presence.min_fraction = presence.min_fraction, fraction
        why = (
            "The feature was present in fewer examples than expected: "
            f"minimum fraction = {wanted:f}, actual = {fraction:f}"
        )
        reasons.append(Reason("FEATURE_TYPE_LOW_FRACTION_PRESENT", _DROPPED, why))
    if presence.min_fraction == 1.0 and view.num_missing != 0.0:
        # So few are missing that the fraction rounds to 1: the new bound must be clearly below it.
        presence.min_fraction = 0.9999
        why = f"The feature was expected everywhere, but was missing in {digits(view.num_missing)} examples."
        reasons.append(Reason("FEATURE_TYPE_LOW_FRACTION_PRESENT", _DROPPED, why))
    return reasons


def fit_unique(view: FeatureView, feature: Any) -> list[Reason]:
    """Loosens how many distinct values a feature may have."""
    unique, bounds = view.num_unique, feature.unique_constraints
    if unique is None:
        feature.ClearField("unique_constraints")
        why = (
            "UniqueConstraints specified for the feature, but unique values "
            "were not counted (i.e., feature is not string or categorical)."
        )
        return [Reason("FEATURE_TYPE_NO_UNIQUE", "No unique values", why)]
    reasons = []
    if unique < bounds.min:
        why = f"Expected at least {bounds.min} unique values but found only {unique}."
        reasons.append(Reason("FEATURE_TYPE_LOW_UNIQUE", "Low number of unique values", why))
        bounds.min = unique
    if unique > bounds.max:
        why = f"Expected no more than {bounds.max} unique values but found {unique}."
        reasons.append(Reason("FEATURE_TYPE_HIGH_UNIQUE", "High number of unique values", why))
        bounds.max = unique
    return reasons
