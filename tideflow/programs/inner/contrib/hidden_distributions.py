"""Distributions that `tensorflow.contrib.distributions` has in its inner modules only: Gumbel's, and vectors
of Student's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.contrib.distributions import tools
from tideflow.distributions.location_scale import LocationScale


class _Gumbel(LocationScale):
    """Gumbel's distribution, of the greatest of many numbers."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gumbel",
    ):
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)

    def _sample_n(self, n: Any, seed: int | None = None) -> tf.Tensor:
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny  # not 0: its logarithm would be infinite
        shares = tf.random_uniform(self._draws_shape(n), smallest, 1.0, dtype=self.dtype, seed=seed)
        return -tf.log(-tf.log(shares)) * self.scale + self.loc

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        z = self._z(x)
        return -z - tf.exp(-z) - tf.log(self.scale)

    def _log_cdf(self, x: tf.Tensor) -> tf.Tensor:
        return -tf.exp(-self._z(x))

    def _cdf(self, x: tf.Tensor) -> tf.Tensor:
        return tf.exp(-tf.exp(-self._z(x)))

    def _entropy(self) -> tf.Tensor:
        return 1 + tf.log(self.scale * tf.ones_like(self.loc)) + np.euler_gamma

    def _mean(self) -> tf.Tensor:
        return self.loc + self.scale * np.euler_gamma

    def _stddev(self) -> tf.Tensor:
        return self.scale * tf.ones_like(self.loc) * math.pi / math.sqrt(6)


class _VectorStudentT(tf.contrib.distributions.TransformedDistribution):
    """Vectors of numbers of Student's distribution, scaled by a matrix and moved."""

    def __init__(
        self,
        df: Any,
        loc: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorStudentT",
    ):
        parameters = dict(locals())
        given = [
            df,
            loc,
            scale_identity_multiplier,
            scale_diag,
            scale_tril,
            scale_perturb_factor,
            scale_perturb_diag,
        ]
        with tf.name_scope(name) as scope:
            with tf.name_scope("init", values=given):
                affine = tf.contrib.distributions.bijectors.Affine(
                    shift=loc,
                    scale_identity_multiplier=scale_identity_multiplier,
                    scale_diag=scale_diag,
                    scale_tril=scale_tril,
                    scale_perturb_factor=scale_perturb_factor,
                    scale_perturb_diag=scale_perturb_diag,
                    validate_args=validate_args,
                )
                zero, one = tf.zeros([], affine.dtype), tf.ones([], affine.dtype)
                student = tf.distributions.StudentT(df=df, loc=zero, scale=one)
                batch_shape, event_shape = tools.shapes_from_loc_and_scale(affine.shift, affine.scale)
                own_batch = tools.pick_vector(
                    student.is_scalar_batch(), batch_shape, tf.constant([], dtype=tf.int32)
                )
            super().__init__(
                distribution=student,
                bijector=affine,
                batch_shape=own_batch,
                event_shape=event_shape,
                validate_args=validate_args,
                name=scope,
            )
            self._parameters = parameters

    @property
    def df(self) -> tf.Tensor:
        """The degrees of freedom."""
        return self.distribution.df

    @property
    def loc(self) -> Any:
        """What is added."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """The matrix, a linear operator."""
        return self.bijector.scale
