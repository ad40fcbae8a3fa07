"""Logarithms of densities, as the losses of time series models have them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import tideflow as tf

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor


def normal_log_prob(loc: Tensor, scale: Tensor, x: Tensor) -> Tensor:
    """As TensorFlow has it: the logarithm of the scale counts half of what it does in a normal density."""
    return -0.5 * (tf.square((x - loc) / scale) + math.log(2.0 * math.pi) + tf.log(scale))


def cauchy_log_prob(loc: Tensor, scale: Tensor, x: Tensor) -> Tensor:
    """The logarithm of the density of a Cauchy distribution."""
    return -math.log(math.pi) - tf.log(scale) - tf.log1p(tf.square((x - loc) / scale))


def mvn_tril_log_prob(loc: Tensor, scale_tril: Tensor, x: Tensor) -> Tensor:
    """The logarithm of the density of a normal distribution of vectors, by the root of its covariance."""
    residual = tf.matrix_triangular_solve(scale_tril, (x - loc)[..., None])[..., 0]
    log_determinant = 2.0 * tf.reduce_sum(tf.log(tf.matrix_diag_part(scale_tril)), axis=-1)
    size = tf.cast(tf.shape(scale_tril)[-1], log_determinant.dtype)
    squares = tf.reduce_sum(tf.square(residual), axis=-1)
    return -0.5 * (squares + size * math.log(2.0 * math.pi) + log_determinant)
