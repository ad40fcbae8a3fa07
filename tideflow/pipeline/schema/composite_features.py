"""Sparse and weighted features, and what their statistics say is wrong with their columns."""

from __future__ import annotations

from typing import Any

from tideflow.pipeline.schema.reasons import Reason, digits
from tideflow.pipeline.schema.statistics_views import FeatureView


def check_sparse_feature(view: FeatureView) -> list[Reason]:
    """What is wrong with the value and the index columns of a sparse feature."""
    reasons = []
    for stat in view.data.custom_stats:
        if stat.name == "missing_value" and stat.num != 0:
            why = f"Found {digits(stat.num)} examples missing value feature"
            reasons.append(Reason("SPARSE_FEATURE_MISSING_VALUE", "Missing value feature", why))
        elif stat.name == "missing_index":
            for name, count in _counts(stat):
                why = f"Found {count} examples missing index feature: {name}"
                reasons.append(Reason("SPARSE_FEATURE_MISSING_INDEX", "Missing index feature", why))
        elif stat.name in ("max_length_diff", "min_length_diff"):
            for name, count in _counts(stat):
                why = f"Mismatch between index feature: {name} and value column, with {stat.name} = {count}"
                short = "Length mismatch between value and index feature"
                reasons.append(Reason("SPARSE_FEATURE_LENGTH_MISMATCH", short, why))
    return reasons


def _counts(stat: Any) -> list[tuple[str, int]]:
    buckets = stat.rank_histogram.buckets
    return [(bucket.label, int(bucket.sample_count)) for bucket in buckets if bucket.sample_count != 0]


def check_weighted_feature(view: FeatureView) -> list[Reason]:
    """What is wrong with the value and the weight column of a weighted feature."""
    reasons = []
    differences = {"min_weight_length_diff": 0, "max_weight_length_diff": 0}
    for stat in view.data.custom_stats:
        if stat.name in ("missing_value", "missing_weight") and stat.num != 0:
            column = stat.name.removeprefix("missing_")
            why = f"Found {digits(stat.num)} examples missing {column} feature."
            kind = f"WEIGHTED_FEATURE_MISSING_{column.upper()}"
            reasons.append(Reason(kind, f"Missing {column} feature", why))
        elif stat.name in differences:
            differences[stat.name] = int(stat.num)
    if any(differences.values()):
        least, most = differences.values()
        why = (
            "Mismatch between weight and value feature with "
            f"min_weight_length_diff = {least} and max_weight_length_diff = {most}."
        )
        short = "Length mismatch between value and weight feature"
        reasons.append(Reason("WEIGHTED_FEATURE_LENGTH_MISMATCH", short, why))
    return reasons
