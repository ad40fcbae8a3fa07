"""`tensorflow.contrib.distributions.python.ops.statistical_testing`: have samples the mean they should have?

The Dvoretzky-Kiefer-Wolfowitz-Massart inequality bounds how far the distribution function of n samples is
from the true one: more than e off with a probability below 2·exp(-2·n·e²). Where values are bounded too, that
bounds the mean.
"""

from __future__ import annotations

import functools
from typing import Any

import tideflow as tf


def _envelope(n: Any, error_rate: Any) -> Any:
    """How far off the distribution function of n samples is, but for an error rate."""
    return tf.sqrt(-tf.log(error_rate / 2.0) / (2.0 * tf.cast(n, error_rate.dtype)))


def _rate_of_each(total: Any, shapes: list[Any]) -> Any:
    """The error rate of each of a batch's tests, which together err as often as the total says."""
    together = functools.reduce(tf.broadcast_dynamic_shape, shapes, tf.constant([1]))
    return total / tf.cast(tf.reduce_prod(together), total.dtype)


def _not_widened(samples: Any, parameters: list[Any]) -> Any:
    """The samples, if broadcasting with the parameters adds none to them."""
    batch = tf.shape(samples)[1:]
    checks = []
    for parameter in parameters:
        checks.append(tf.assert_greater_equal(tf.size(batch), tf.rank(parameter)))
        checks.append(tf.assert_equal(batch, tf.broadcast_dynamic_shape(batch, tf.shape(parameter))))
    with tf.control_dependencies(checks):
        return tf.identity(samples)


def _largest_mean(samples: Any, envelope: Any, high: Any) -> Any:
    """The mean when the smallest samples give a part of their probability to the upper bound."""
    rank = tf.rank(samples)
    last = tf.transpose(samples, tf.concat([tf.range(1, rank), [0]], axis=0))
    ascending = tf.sort(last, axis=-1)
    step = 1.0 / tf.cast(tf.shape(last)[-1], last.dtype)
    heaps = step * tf.cast(tf.range(1, tf.shape(last)[-1] + 1), last.dtype)
    weights = tf.clip_by_value(heaps - envelope[..., None], 0.0, step)
    return tf.reduce_sum(ascending * weights, axis=-1) + envelope * high


def _maximum_mean(samples: Any, envelope: Any, high: Any, name: str | None = None) -> Any:
    """An upper bound of the mean."""
    with tf.name_scope(name, "maximum_mean", [samples, envelope, high]):
        samples, envelope, high = map(tf.convert_to_tensor, (samples, envelope, high))
        message = "Given sample maximum value exceeds expectations"
        check = tf.assert_less_equal(tf.reduce_max(samples, axis=[0]), high, message=message)
        with tf.control_dependencies([check]):
            return tf.identity(_largest_mean(samples, envelope, high))


def _minimum_mean(samples: Any, envelope: Any, low: Any, name: str | None = None) -> Any:
    """A lower bound of the mean."""
    with tf.name_scope(name, "minimum_mean", [samples, envelope, low]):
        samples, envelope, low = map(tf.convert_to_tensor, (samples, envelope, low))
        message = "Given sample minimum value falls below expectations"
        check = tf.assert_greater_equal(tf.reduce_min(samples, axis=[0]), low, message=message)
        with tf.control_dependencies([check]):
            return -_largest_mean(-samples, envelope, -low)


def true_mean_confidence_interval_by_dkwm(
    samples: Any, low: Any, high: Any, error_rate: Any = 1e-6, name: str | None = None
) -> tuple[Any, Any]:
    """Bounds of the means of distributions with bounded values; all hold but for an error rate."""
    with tf.name_scope(name, "true_mean_confidence_interval_by_dkwm", [samples, low, high, error_rate]):
        samples, low, high, error_rate = map(tf.convert_to_tensor, (samples, low, high, error_rate))
        samples = _not_widened(samples, [low, high])
        tf.assert_scalar(error_rate)
        shapes = [tf.shape(low), tf.shape(high), tf.shape(samples)[1:]]
        envelope = _envelope(tf.shape(samples)[0], _rate_of_each(error_rate, shapes))
        return _minimum_mean(samples, envelope, low), _maximum_mean(samples, envelope, high)


def assert_true_mean_in_interval_by_dkwm(
    samples: Any,
    low: Any,
    high: Any,
    expected_low: Any,
    expected_high: Any,
    false_fail_rate: Any = 1e-6,
    name: str | None = None,
) -> Any:
    """An operation that fails where samples are evidence that a mean is outside of an interval."""
    values = [samples, low, high, expected_low, expected_high, false_fail_rate]
    with tf.name_scope(name, "assert_true_mean_in_interval_by_dkwm", values):
        samples, low, high, expected_low, expected_high, rate = map(tf.convert_to_tensor, values)
        samples = _not_widened(samples, [low, high, expected_low, expected_high])
        least, most = true_mean_confidence_interval_by_dkwm(samples, low, high, rate)
        missed = "Confidence interval does not intersect: true mean {} than expected"
        reaches = tf.assert_greater_equal(most, expected_low, message=missed.format("smaller"))
        with tf.control_dependencies([reaches]):
            return tf.assert_less_equal(least, expected_high, message=missed.format("greater"))


def assert_true_mean_equal_by_dkwm(
    samples: Any, low: Any, high: Any, expected: Any, false_fail_rate: Any = 1e-6, name: str | None = None
) -> Any:
    """An operation that fails where samples are evidence that a mean is another than expected."""
    with tf.name_scope(name, "assert_true_mean_equal_by_dkwm", [samples, low, high, expected]):
        return assert_true_mean_in_interval_by_dkwm(samples, low, high, expected, expected, false_fail_rate)


def assert_true_mean_equal_by_dkwm_two_sample(
    samples1: Any,
    low1: Any,
    high1: Any,
    samples2: Any,
    low2: Any,
    high2: Any,
    false_fail_rate: Any = 1e-6,
    name: str | None = None,
) -> Any:
    """An operation that fails where samples are evidence that two distributions differ in their means."""
    values = [samples1, low1, high1, samples2, low2, high2, false_fail_rate]
    with tf.name_scope(name, "assert_true_mean_equal_by_dkwm_two_sample", values):
        samples1, low1, high1, samples2, low2, high2, rate = map(tf.convert_to_tensor, values)
        samples1 = _not_widened(samples1, [low1, high1])
        samples2 = _not_widened(samples2, [low2, high2])
        with tf.control_dependencies([tf.assert_equal(tf.shape(samples1)[1:], tf.shape(samples2)[1:])]):
            least, most = true_mean_confidence_interval_by_dkwm(samples2, low2, high2, rate / 2.0)
            return assert_true_mean_in_interval_by_dkwm(samples1, low1, high1, least, most, rate / 2.0)


def min_discrepancy_of_true_means_detectable_by_dkwm(
    n: Any, low: Any, high: Any, false_fail_rate: Any, false_pass_rate: Any, name: str | None = None
) -> Any:
    """The smallest difference of means that a test of n samples finds."""
    values = [n, low, high, false_fail_rate, false_pass_rate]
    with tf.name_scope(name, "min_discrepancy_of_true_means_detectable_by_dkwm", values):
        n, low, high, fails, passes = map(tf.convert_to_tensor, values)
        fails = _rate_of_each(fails, [tf.shape(n), tf.shape(low), tf.shape(high)])
        return (high - low) * (_envelope(n, passes) + _envelope(n, fails))


def min_num_samples_for_dkwm_mean_test(
    discrepancy: Any,
    low: Any,
    high: Any,
    false_fail_rate: Any = 1e-6,
    false_pass_rate: Any = 1e-6,
    name: str | None = None,
) -> Any:
    """The number of samples with which a test finds a difference of means."""
    values = [discrepancy, low, high, false_fail_rate, false_pass_rate]
    with tf.name_scope(name, "min_num_samples_for_dkwm_mean_test", values):
        discrepancy, low, high, fails, passes = map(tf.convert_to_tensor, values)
        fails = _rate_of_each(fails, [tf.shape(low), tf.shape(high), tf.shape(discrepancy)])
        envelope = discrepancy / (2.0 * (high - low))  # half of it for the samples, half for the test
        counts = [-tf.log(rate / 2.0) / (2.0 * envelope**2) for rate in (fails, passes)]
        return tf.maximum(*counts)


def min_discrepancy_of_true_means_detectable_by_dkwm_two_sample(
    n1: Any,
    low1: Any,
    high1: Any,
    n2: Any,
    low2: Any,
    high2: Any,
    false_fail_rate: Any,
    false_pass_rate: Any,
    name: str | None = None,
) -> Any:
    """The smallest difference of two means that a test of n1 and n2 samples finds."""
    values = [n1, low1, high1, n2, low2, high2, false_fail_rate, false_pass_rate]
    with tf.name_scope(name, "min_discrepancy_of_true_means_detectable_by_dkwm_two_sample", values):
        rates = [tf.convert_to_tensor(rate) / 2.0 for rate in (false_fail_rate, false_pass_rate)]
        first = min_discrepancy_of_true_means_detectable_by_dkwm(n1, low1, high1, *rates)
        return first + min_discrepancy_of_true_means_detectable_by_dkwm(n2, low2, high2, *rates)


def min_num_samples_for_dkwm_mean_two_sample_test(
    discrepancy: Any,
    low1: Any,
    high1: Any,
    low2: Any,
    high2: Any,
    false_fail_rate: Any = 1e-6,
    false_pass_rate: Any = 1e-6,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The numbers of samples with which a test finds a difference of two means."""
    values = [low1, high1, low2, high2, false_fail_rate, false_pass_rate, discrepancy]
    with tf.name_scope(name, "min_num_samples_for_dkwm_mean_two_sample_test", values):
        half = tf.convert_to_tensor(discrepancy) / 2.0
        rates = [tf.convert_to_tensor(rate) / 2.0 for rate in (false_fail_rate, false_pass_rate)]
        first = min_num_samples_for_dkwm_mean_test(half, low1, high1, *rates)
        return first, min_num_samples_for_dkwm_mean_test(half, low2, high2, *rates)
