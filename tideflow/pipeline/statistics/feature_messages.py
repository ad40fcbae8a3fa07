"""The FeatureNameStatistics message of what was accumulated of a feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tideflow.pipeline.engine.quantiles import Quantiles
from tideflow.pipeline.engine.value_counts import ValueCounts
from tideflow.pipeline.engine.workers import at_once
from tideflow.pipeline.messages import statistics as messages
from tideflow.pipeline.statistics.domains import fill_domain
from tideflow.pipeline.statistics.features import BYTES, FLOAT, INT, STRING, STRUCT, Feature, Level, Numbers
from tideflow.pipeline.statistics.histograms import (
    FINER,
    coarser,
    equal_width_histogram,
    median,
    number_of_values_histogram,
    quantiles_histogram,
)
from tideflow.pipeline.statistics.language import fill_language
from tideflow.pipeline.statistics.options import StatsOptions

_AT_ONCE = 1 << 18  # values that one thread looks at
NOT_UTF8 = "__BYTES_VALUE__"  # stands for a value that is not text


def feature_message(
    feature: Feature, parent: Level | None, rows: Level, options: StatsOptions, is_bytes: bool
) -> Any:
    """The message of a feature.

    Args:
      feature: What was accumulated.
      parent: The innermost level of the struct that the feature is in, if it is in one.
      rows: The rows of the data set, as a level of one list with all of them.
      options: How many buckets and values to list.
      is_bytes: Whether the schema says that the feature is bytes.
    """
    message = messages.FeatureNameStatistics()
    message.path.step.extend(feature.path)
    message.type = feature.kind if feature.kind is not None else feature.hint
    if is_bytes and message.type == STRING:
        message.type = BYTES
    has_weights = options.weight_of(feature.path) is not None
    common = _common(feature, parent or rows, options, has_weights)
    if message.type == BYTES:
        _fill_bytes(message.bytes_stats, feature)
        message.bytes_stats.common_stats.CopyFrom(common)
    elif message.type == STRUCT:
        message.struct_stats.common_stats.CopyFrom(common)
    elif message.type == STRING or feature.counts is not None:
        _fill_string(message.string_stats, feature, options, has_weights)
        message.string_stats.common_stats.CopyFrom(common)
    elif message.type in (INT, FLOAT):
        if feature.numbers is not None:
            _fill_numbers(message.num_stats, feature.numbers, options, has_weights)
        message.num_stats.common_stats.CopyFrom(common)
    _add_length_histograms(message, feature, options)
    if options.enable_semantic_domain_stats:
        fill_domain(message, feature)
    if feature.language is not None:
        fill_language(message, feature.language, options)
    return message


# ------------------------------------------------------------------------------------------------- presence


def _common(feature: Feature, outside: Level, options: StatsOptions, has_weights: bool) -> Any:
    common = messages.CommonStatistics()
    levels, top, leaf = feature.levels, feature.levels[0], feature.levels[-1]
    if len(levels) > 1:
        for around, level in zip([outside, *levels], levels):
            common.presence_and_valency_stats.append(_presence(around, level))
            if has_weights:
                common.weighted_presence_and_valency_stats.append(_weighted_presence(around, level, level))
    common.num_non_missing = top.non_missing
    common.num_missing = outside.total - top.non_missing
    common.tot_num_values = leaf.total if leaf.non_missing else 0
    if top.non_missing:
        per_row = feature.innermost or top
        common.min_num_values, common.max_num_values = per_row.least, per_row.most
        common.avg_num_values = common.tot_num_values / top.non_missing
        common.num_values_histogram.CopyFrom(
            number_of_values_histogram(per_row.lengths, options.num_values_histogram_buckets)
        )
    if has_weights:
        common.weighted_common_stats.CopyFrom(_weighted_presence(outside, top, leaf))
    return common


def _presence(around: Level, level: Level) -> Any:
    message = messages.PresenceAndValencyStatistics(
        num_non_missing=level.non_missing, num_missing=around.total - level.non_missing
    )
    if level.non_missing:
        message.min_num_values, message.max_num_values = level.least, level.most
        message.tot_num_values = level.total
    return message


def _weighted_presence(around: Level, level: Level, leaf: Level) -> Any:
    message = messages.WeightedCommonStatistics(
        num_non_missing=level.weighted_non_missing,
        num_missing=around.weighted_total - level.weighted_non_missing,
        tot_num_values=leaf.weighted_total,
    )
    if level.weighted_non_missing:
        message.avg_num_values = leaf.weighted_total / level.weighted_non_missing
    return message


def _add_length_histograms(message: Any, feature: Feature, options: StatsOptions) -> None:
    """Histograms of how long inner lists are; that of the outermost ones is among the common statistics."""
    if feature.kind is None:
        return
    buckets = options.num_values_histogram_buckets
    for number, level in enumerate(feature.levels[1:], 2):
        if not level.non_missing:
            continue
        boundaries, weights = level.lengths.boundaries(buckets)
        name = f"level_{number}_value_list_length"
        message.custom_stats.add(name=f"{name}_quantiles", histogram=quantiles_histogram(boundaries, weights))
        message.custom_stats.add(
            name=f"{name}_standard",
            histogram=equal_width_histogram(boundaries, weights, level.least, level.most, buckets),
        )


# -------------------------------------------------------------------------------------------------- numbers


def _fill_numbers(message: Any, numbers: Numbers, options: StatsOptions, has_weights: bool) -> None:
    if not numbers.quantiles.total:
        if numbers.nans:
            message.histograms.add(type=messages.Histogram.STANDARD, num_nan=numbers.nans)
            message.histograms.add(type=messages.Histogram.QUANTILES, num_nan=numbers.nans)
        return
    minus, plus = numbers.infinite
    message.mean, message.std_dev = _mean_and_deviation(numbers, numbers.moments)
    message.num_zeros = numbers.zeros
    message.min = -np.inf if minus else numbers.least
    message.max = np.inf if plus else numbers.most
    message.median = _add_histograms(message, numbers, numbers.quantiles, float(plus), options)
    if not has_weights:
        return
    weighted = message.weighted_numeric_stats
    if numbers.weighted_moments is not None and numbers.weighted_quantiles is not None:
        weighted.mean, weighted.std_dev = _mean_and_deviation(numbers, numbers.weighted_moments)
        if numbers.weighted_quantiles.total:
            weighted.median = _add_histograms(
                weighted, numbers, numbers.weighted_quantiles, numbers.infinite_weight, options
            )


def _mean_and_deviation(numbers: Numbers, moments: Any) -> tuple[float, float]:
    """With infinities, the mean is no number and the deviation 0, as TensorFlow Data Validation has it."""
    if any(numbers.infinite):
        return np.nan, 0.0
    return moments.mean, float(np.sqrt(max(0.0, moments.variance)))


def _add_histograms(
    message: Any, numbers: Numbers, quantiles: Quantiles, infinite_weight: float, options: StatsOptions
) -> float:
    """Adds both histograms to a message; returns the median."""
    boundaries, weights = quantiles.boundaries(FINER * options.num_quantiles_histogram_buckets)
    standard = equal_width_histogram(
        boundaries, weights, numbers.least, numbers.most, options.num_histogram_buckets, infinite_weight
    )
    even = quantiles_histogram(*coarser(boundaries, weights, FINER))
    standard.num_nan = even.num_nan = numbers.nans
    message.histograms.extend([standard, even])
    return median(boundaries)


# -------------------------------------------------------------------------------------------------- strings


def _fill_bytes(message: Any, feature: Feature) -> None:
    total = feature.levels[-1].total
    if total and feature.sizes is not None:
        message.avg_num_bytes = feature.sizes.total / total
        message.min_num_bytes = feature.sizes.least
        message.max_num_bytes = message.max_num_bytes_int = feature.sizes.most


def _fill_string(message: Any, feature: Feature, options: StatsOptions, has_weights: bool) -> None:
    counts = feature.counts
    if counts is None:
        return
    values, times, _ = counts.table()
    if not len(values):
        return
    lengths, invalid = _lengths_and_invalid(values, times)
    message.avg_length = lengths / feature.levels[-1].total
    message.invalid_utf8_count = invalid
    message.unique = len(values)
    _add_top_values(message, counts, options, weighted=False)
    if has_weights:
        _add_top_values(message.weighted_string_stats, counts, options, weighted=True)


def _lengths_and_invalid(values: pa.Array, times: np.ndarray) -> tuple[int, int]:
    """The bytes of all values, each as often as it occurs, and how many are not UTF-8."""

    def of_part(begin: int) -> tuple[int, int]:
        part, its_times = values.slice(begin, _AT_ONCE), times[begin : begin + _AT_ONCE]
        if pa.types.is_integer(values.type):
            return int(np.dot([len(str(value)) for value in part.to_pylist()], its_times)), 0
        total = int(np.dot(pc.binary_length(part).to_numpy(), its_times))
        try:
            part.cast(pa.string())
        except pa.ArrowInvalid:
            pairs = zip(part.to_pylist(), its_times.tolist())
            return total, sum(count for value, count in pairs if not _is_text(value))
        return total, 0

    parts = at_once(of_part, range(0, len(values), _AT_ONCE))
    return sum(total for total, _ in parts), sum(invalid for _, invalid in parts)


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def text_of(value: Any) -> str:
    """A value as messages show it."""
    if not isinstance(value, bytes):
        return str(value)
    return value.decode() if _is_text(value) else NOT_UTF8


def _add_top_values(message: Any, counts: ValueCounts, options: StatsOptions, weighted: bool) -> None:
    listed, ranked = options.num_top_values, options.num_rank_histogram_buckets
    least = options.weighted_frequency_threshold if weighted else options.frequency_threshold
    for rank, (value, count) in enumerate(counts.top(max(listed, ranked), weighted)):
        if count < least:
            break
        text = text_of(value)
        if rank < listed:
            message.top_values.add(value=text, frequency=count)
        if rank < ranked:
            message.rank_histogram.buckets.add(low_rank=rank, high_rank=rank, label=text, sample_count=count)
