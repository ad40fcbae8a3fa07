"""What is known of a series: moments, start and length, kept up to date by the batches of training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.contrib.timeseries.keys import TIMES, VALUES

if TYPE_CHECKING:
    from tideflow.graph.dtypes import DType
    from tideflow.graph.operation import Tensor


class Moments(NamedTuple):
    """The mean and the variance of each number of a series."""

    mean: Any
    variance: Any


class InputStatistics(NamedTuple):
    """What is known of a series.

    Attributes:
      series_start_moments: Moments of the window that starts earliest.
      overall_feature_moments: Moments of all that was seen.
      start_time: The earliest time.
      total_observation_count: About how many observations the series has.
    """

    series_start_moments: Moments
    overall_feature_moments: Moments
    start_time: Any
    total_observation_count: Any


class _Sums(NamedTuple):
    """What statistics are computed from."""

    max_time_seen: Any
    chunk_count: Any
    inter_observation_duration_sum: Any
    example_count: Any
    overall_feature_sum: Any
    overall_feature_sum_of_squares: Any


def _variable(name: str, dtype: DType, shape: tuple[int, ...] = (), start: Any = 0) -> Any:
    initializer = tf.constant_initializer(start, dtype=dtype)
    return tf.get_variable(name, shape, dtype, initializer, trainable=False)


class InputStatisticsFromMiniBatch:
    """Statistics in variables, which batches of training bring up to date.

    Args:
      num_features: The number of values at a time.
      dtype: Their type.
      starting_variance_window_size: How many observations the moments of the start are of.
    """

    def __init__(self, num_features: int, dtype: DType, starting_variance_window_size: int = 16):
        self._num_features, self._dtype = num_features, dtype
        self._start_size = starting_variance_window_size

    def initialize_graph(
        self, features: Mapping[str, Any], update_statistics: bool = True
    ) -> InputStatistics:
        """The statistics, after an update from these features where asked for."""
        with tf.variable_scope("input_statistics", use_resource=True):
            statistics = self._statistics()
        with tf.variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        if not update_statistics or TIMES not in features or VALUES not in features:
            return statistics
        times = features[TIMES]
        with tf.control_dependencies([self._update(statistics, sums, times, features[VALUES])]):
            current = tf.nest.map_structure(tf.identity, statistics)
            return current._replace(start_time=tf.minimum(current.start_time, tf.reduce_min(times)))

    def _statistics(self) -> InputStatistics:
        each = (self._num_features,)
        return InputStatistics(
            Moments(
                _variable("series_start_mean", self._dtype, each),
                _variable("series_start_variance", self._dtype, each, 1),
            ),
            Moments(
                _variable("overall_feature_mean", self._dtype, each),
                _variable("overall_feature_var", self._dtype, each, 1),
            ),
            _variable("start_time", tf.int64, start=tf.int64.max),
            _variable("total_observation_count", tf.int64, start=1),
        )

    def _sums(self) -> _Sums:
        each = (self._num_features,)
        return _Sums(
            _variable("max_time_seen", tf.int64, start=tf.int64.min),
            _variable("chunk_count", tf.int64),
            _variable("inter_observation_duration_sum", self._dtype),
            _variable("example_count", tf.int64),
            _variable("overall_feature_sum", self._dtype, each),
            _variable("overall_feature_sum_of_squares", self._dtype, each),
        )

    def _update(self, statistics: InputStatistics, sums: _Sums, times: Tensor, values: Tensor) -> Any:
        values = tf.cast(values, self._dtype)
        latest, *counted = self._add_batch(sums, times, values)
        with tf.control_dependencies([latest, *counted]):
            moments = self._update_moments(statistics.overall_feature_moments, sums)
            start, started = self._update_start(statistics, times, values)
            duration = sums.inter_observation_duration_sum / tf.cast(sums.chunk_count, self._dtype)
            length = tf.cast(latest - start + 1, self._dtype)
            total = tf.cast(tf.round(length / duration), tf.int64)
            counted_all = tf.assign(statistics.total_observation_count, total)
            return tf.group(*moments, started, start, counted_all)

    def _add_batch(self, sums: _Sums, times: Tensor, values: Tensor) -> list[Any]:
        spans = tf.reduce_max(times, axis=1) - tf.reduce_min(times, axis=1)
        gaps = tf.cast(tf.shape(times)[1] - 1, self._dtype)
        durations = tf.cast(spans, self._dtype) / gaps
        latest = tf.maximum(sums.max_time_seen, tf.reduce_max(times))
        return [
            tf.assign(sums.max_time_seen, latest),
            tf.assign_add(sums.chunk_count, tf.shape(times, out_type=tf.int64)[0]),
            tf.assign_add(sums.inter_observation_duration_sum, tf.reduce_sum(durations)),
            tf.assign_add(sums.example_count, tf.size(times, out_type=tf.int64)),
            tf.assign_add(sums.overall_feature_sum, tf.reduce_sum(values, axis=[0, 1])),
            tf.assign_add(sums.overall_feature_sum_of_squares, tf.reduce_sum(values**2, axis=[0, 1])),
        ]

    def _update_moments(self, moments: Moments, sums: _Sums) -> tuple[Any, Any]:
        count = tf.cast(sums.example_count, self._dtype)
        mean = sums.overall_feature_sum / count
        variance = count / (count - 1.0) * (sums.overall_feature_sum_of_squares / count - mean**2)
        return tf.assign(moments.mean, mean), tf.assign(moments.variance, variance)

    def _update_start(self, statistics: InputStatistics, times: Tensor, values: Tensor) -> tuple[Any, Any]:
        first = tf.cast(tf.argmin(times[:, 0]), tf.int32)

        def earlier_start() -> Any:
            mean, variance = tf.nn.moments(values[first, : self._start_size], axes=[0])
            moments = statistics.series_start_moments
            return tf.group(tf.assign(moments.mean, mean), tf.assign(moments.variance, variance))

        is_earlier = times[first, 0] <= statistics.start_time
        started = tf.cond(is_earlier, earlier_start, tf.no_op)
        with tf.control_dependencies([started]):
            earliest = tf.minimum(statistics.start_time, tf.reduce_min(times))
            return tf.assign(statistics.start_time, earliest), started
