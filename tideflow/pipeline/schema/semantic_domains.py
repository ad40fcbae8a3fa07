"""Domains of images and of natural language, fitted to statistics, and domains that statistics found."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from google.protobuf import text_format

from tideflow.pipeline.messages.schema import Feature
from tideflow.pipeline.messages.statistics import NaturalLanguageStatistics
from tideflow.pipeline.schema.reasons import Reason, digits
from tideflow.pipeline.schema.statistics_views import FeatureView

_logger = logging.getLogger("tideflow.pipeline")
_NO_LANGUAGE_STATISTICS = Reason(
    "STATS_NOT_AVAILABLE",
    "Natural language stats are not computed.",
    "Constraints specified in natural language domain cannot be "
    "verified because natural language stats have not been computed.",
)


def set_found_domain(view: FeatureView, feature: Any) -> bool:
    """Gives a feature without a domain the one that statistics found (`domain_info`, as text).

    Returns:
      Whether there was one.
    """
    texts = [stat.str for stat in view.data.custom_stats if stat.name == "domain_info" and stat.str]
    if len(texts) != 1 or feature.WhichOneof("domain_info"):
        return False
    try:
        found = text_format.Parse(texts[0], Feature())
    except text_format.ParseError as error:
        _logger.warning(
            "the domain that statistics found for feature %r is not read: %s", feature.name, error
        )
        return False
    fields = [field for field, _ in found.ListFields()]
    if (
        len(fields) != 1
        or fields[0].containing_oneof is None
        or fields[0].containing_oneof.name != "domain_info"
    ):
        return False
    feature.MergeFrom(found)
    return True


def fit_image_domain(view: FeatureView, feature: Any) -> list[Reason]:
    """Loosens how many images must be of a known format and how big they may be."""
    domain, reasons = feature.image_domain, []
    formats = view.custom("image_format_histogram")
    if domain.HasField("minimum_supported_image_fraction") and formats is not None:
        buckets = formats.rank_histogram.buckets
        known = sum((bucket.sample_count for bucket in buckets if bucket.label != "UNKNOWN"), start=0.0)
        total = sum((bucket.sample_count for bucket in buckets), start=0.0)
        fraction = float(np.float32(known) / np.float32(total)) if total else float("nan")
        if fraction < domain.minimum_supported_image_fraction:
            why = (
                f"Fraction of values containing TensorFlow supported images: {fraction:f} is lower than the "
                f"threshold set in the Schema: {domain.minimum_supported_image_fraction:f}."
            )
            reasons.append(Reason("LOW_SUPPORTED_IMAGE_FRACTION", "Low supported image fraction", why))
            domain.minimum_supported_image_fraction = fraction
    biggest = view.data.bytes_stats.max_num_bytes_int
    if domain.HasField("max_image_byte_size") and biggest > domain.max_image_byte_size:
        why = (
            f"The largest image has bytes: {biggest}. "
            f"The max allowed byte size is: {domain.max_image_byte_size}."
        )
        short = "Num bytes exceeds the max byte size."
        reasons.append(Reason("MAX_IMAGE_BYTE_SIZE_EXCEEDED", short, why))
        domain.max_image_byte_size = biggest
    return reasons


def fit_natural_language_domain(view: FeatureView, feature: Any) -> list[Reason]:
    """Loosens how much of the text its vocabulary covers, and how often its tokens occur."""
    stat = view.custom("nl_statistics")
    # Whichever package the message came from, its wire format is the same.
    found = NaturalLanguageStatistics.FromString(stat.any.value) if stat is not None else None
    domain = feature.natural_language_domain
    coverage = domain.coverage
    constrained = coverage.HasField("min_coverage") or coverage.HasField("min_avg_token_length")
    if found is None:
        if not constrained and not domain.token_constraints:
            return []
        feature.ClearField("natural_language_domain")
        return [_NO_LANGUAGE_STATISTICS]
    reasons = _fit_coverage(found, coverage) if constrained else []
    by_token = {getattr(token, token.WhichOneof("token")): token for token in found.token_statistics}
    for constraint in domain.token_constraints:
        kind = constraint.WhichOneof("value")
        if kind is None:
            continue
        token = getattr(constraint, kind)
        if token not in by_token:
            feature.ClearField("natural_language_domain")
            return [*reasons, _NO_LANGUAGE_STATISTICS]
        reasons += _fit_token(by_token[token], token, constraint)
    return reasons


def _float32_bound(number: float, at_least: bool) -> float:
    """The float32 next to a number that accepts it as a least, or as a greatest value."""
    bound = np.float32(number)
    if (float(bound) > number) if at_least else (float(bound) < number):
        bound = np.nextafter(bound, np.float32(-np.inf if at_least else np.inf))
    return float(bound)


def _fit_coverage(found: Any, coverage: Any) -> list[Reason]:
    reasons = []
    if coverage.HasField("min_coverage") and coverage.min_coverage > found.feature_coverage:
        why = (
            f"Fraction of tokens in the vocabulary: {digits(found.feature_coverage)}"
            f" is lower than the threshold set in the Schema: {digits(coverage.min_coverage)}."
        )
        reasons.append(Reason("FEATURE_COVERAGE_TOO_LOW", "Feature coverage is too low.", why))
        coverage.min_coverage = _float32_bound(found.feature_coverage, at_least=True)
    if coverage.HasField("min_avg_token_length") and found.avg_token_length < coverage.min_avg_token_length:
        why = (
            f"Average token length is: {digits(found.avg_token_length)}"
            f" which is lower than the threshold set in the Schema: {digits(coverage.min_avg_token_length)}."
        )
        kind = "FEATURE_COVERAGE_TOO_SHORT_AVG_TOKEN_LENGTH"
        reasons.append(Reason(kind, "Average token length is too short.", why))
        coverage.min_avg_token_length = _float32_bound(found.avg_token_length, at_least=True)
    return reasons


def _fit_token(found: Any, token: str | int, constraint: Any) -> list[Reason]:
    fraction = found.fraction_of_sequences
    least, most = found.per_sequence_min_frequency, found.per_sequence_max_frequency
    share = f"Fraction of sequences with value: {token} is: {digits(fraction)} which is"
    than = "than the threshold set in the Schema:"
    reasons = []

    def fit(bound: str, broken: bool, number: float, kind: str, short: str, why: str) -> None:
        if constraint.HasField(bound) and broken:
            threshold, whole = getattr(constraint, bound), bound.endswith("sequence")
            reasons.append(Reason(kind, short, f"{why} {threshold if whole else digits(threshold)}."))
            at_least = bound.startswith("min")
            setattr(constraint, bound, int(number) if whole else _float32_bound(number, at_least))

    fit(
        "min_fraction_of_sequences",
        constraint.min_fraction_of_sequences > fraction,
        fraction,
        "SEQUENCE_VALUE_TOO_SMALL_FRACTION",
        "Value occurs in too small a fraction of sequences.",
        f"{share} lower {than}",
    )
    fit(
        "max_fraction_of_sequences",
        constraint.max_fraction_of_sequences < fraction,
        fraction,
        "SEQUENCE_VALUE_TOO_LARGE_FRACTION",
        "Value occurs in too large a fraction of sequences.",
        f"{share} higher {than}",
    )
    fit(
        "min_per_sequence",
        constraint.min_per_sequence > least,
        least,
        "SEQUENCE_VALUE_TOO_FEW_OCCURRENCES",
        "Value has too few per-sequence occurrences.",
        f"Value: {token} occurs at least: {digits(least)} times within a sequence, which is lower {than}",
    )
    fit(
        "max_per_sequence",
        constraint.max_per_sequence < most,
        most,
        "SEQUENCE_VALUE_TOO_MANY_OCCURRENCES",
        "Value has too many per-sequence occurrences.",
        f"Value: {token} occurs at most: {digits(most)} times within a sequence, which is higher {than}",
    )
    return reasons
