"""`tensorflow.contrib.distributions.python.ops.test_util`: do samples agree with what a distribution says?

The classes are mixed into a `tf.test.TestCase`, whose assertions they use.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import tideflow as tf


class DiscreteScalarDistributionTestHelpers:
    """Checks of distributions of whole numbers."""

    assertAllClose: Callable[..., None]

    def run_test_sample_consistent_log_prob(
        self,
        sess_run_fn: Callable,
        dist: Any,
        num_samples: int = 100_000,
        num_threshold: int = 1000,
        seed: int | None = 42,
        batch_size: int | None = None,
        rtol: float = 1e-2,
        atol: float = 0.0,
    ) -> None:
        """Checks that numbers are drawn as often as `log_prob` says, those drawn more than a threshold."""
        if num_threshold < 1:
            raise ValueError(f"num_threshold({num_threshold}) must be at least 1.")
        drawn = tf.reshape(dist.sample(num_samples, seed=seed), [num_samples, -1])
        rank = tf.shape(dist.batch_shape_tensor())[0]
        if batch_size is None:
            batch_size = int(tf.contrib.util.constant_value(tf.reduce_prod(dist.batch_shape_tensor())))
        for member, x in enumerate(tf.unstack(drawn, num=batch_size, axis=1)):
            counts, edges = self.histogram(x)
            column = tf.reshape(edges, tf.concat([[-1], tf.ones([rank], tf.int32)], axis=0))
            probabilities = tf.reshape(tf.exp(dist.log_prob(column)), [-1, batch_size])[:, member]
            counted, expected = sess_run_fn([counts, probabilities])
            often = counted > num_threshold
            self.assertAllClose(expected[often], counted[often] / num_samples, rtol=rtol, atol=atol)

    def run_test_sample_consistent_mean_variance(
        self,
        sess_run_fn: Callable,
        dist: Any,
        num_samples: int = 100_000,
        seed: int | None = 24,
        rtol: float = 1e-2,
        atol: float = 0.0,
    ) -> None:
        """Checks that the moments of samples are those that the distribution says."""
        x = tf.cast(dist.sample(num_samples, seed=seed), tf.float32)
        mean, variance = tf.nn.moments(x, axes=[0])
        found = [mean, variance, tf.sqrt(variance)]
        for told, seen in zip(*sess_run_fn([[dist.mean(), dist.variance(), dist.stddev()], found])):
            self.assertAllClose(told, seen, rtol=rtol, atol=atol)

    def histogram(
        self, x: Any, value_range: Any = None, nbins: Any = None, name: str | None = None
    ) -> tuple[Any, Any]:
        """How often values fall between edges, and the edges; one for each whole number by default."""
        with tf.name_scope(name, "histogram", [x]):
            x = tf.convert_to_tensor(x, name="x")
            if value_range is None:
                value_range = [tf.reduce_min(x), 1 + tf.reduce_max(x)]
            value_range = tf.convert_to_tensor(value_range, name="value_range")
            low, high = value_range[0], value_range[1]
            if nbins is None:
                nbins = tf.cast(high - low, tf.int32)
            width = (high - low) / tf.cast(nbins, value_range.dtype.base_dtype)
            edges = tf.range(low, high, width, dtype=x.dtype.base_dtype)
            return tf.histogram_fixed_width(x, value_range, nbins), edges


class VectorDistributionTestHelpers:
    """Checks of distributions of vectors."""

    assertAllClose: Callable[..., None]

    def run_test_sample_consistent_log_prob(
        self,
        sess_run_fn: Callable,
        dist: Any,
        num_samples: int = 100_000,
        radius: float = 1.0,
        center: Any = 0.0,
        seed: int | None = 42,
        rtol: float = 1e-2,
        atol: float = 0.0,
    ) -> None:
        """Checks `log_prob` by the volume of a ball: the mean inverse density of the samples in it."""
        x = tf.identity(dist.sample(num_samples, seed=seed))  # bijectors remember the sample itself
        inside = tf.cast(tf.norm(x - center, axis=-1) <= radius, x.dtype)
        volume = tf.reduce_mean(tf.exp(-dist.log_prob(x)) * inside, axis=0)
        sess_run_fn(tf.global_variables_initializer())
        batch, event, estimated = sess_run_fn([dist.batch_shape_tensor(), dist.event_shape_tensor(), volume])
        half = int(event[0]) / 2
        exact = math.exp(half * math.log(math.pi) - math.lgamma(1 + half) + 2 * half * math.log(radius))
        self.assertAllClose(np.full(batch, exact), estimated, rtol=rtol, atol=atol)

    def run_test_sample_consistent_mean_covariance(
        self,
        sess_run_fn: Callable,
        dist: Any,
        num_samples: int = 100_000,
        seed: int | None = 24,
        rtol: float = 1e-2,
        atol: float = 0.1,
        cov_rtol: float | None = None,
        cov_atol: float | None = None,
    ) -> None:
        """Checks that the moments of samples are those that the distribution says."""
        x = dist.sample(num_samples, seed=seed)
        mean = tf.reduce_mean(x, axis=0)
        off = x - mean
        covariance = tf.reduce_mean(off[..., :, None] * off[..., None, :], axis=0)
        variance = tf.matrix_diag_part(covariance)
        found = [mean, covariance, variance, tf.sqrt(variance)]
        said = [dist.mean(), dist.covariance(), dist.variance(), dist.stddev()]
        usual = {"rtol": rtol, "atol": atol}
        of_covariance = {"rtol": cov_rtol or rtol, "atol": cov_atol or atol}
        tolerances = [usual, of_covariance, usual, usual]
        for told, seen, tolerance in zip(*sess_run_fn([said, found]), tolerances):
            self.assertAllClose(told, seen, **tolerance)
