"""Posteriors of a normal distribution's mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tideflow.distributions.location_scale import Normal
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.math import casting, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _updated(prior: Normal, scale: TensorLike, s: Tensor, n: TensorLike) -> tuple[Tensor, Tensor, Tensor]:
    """The mean's mean and variance once the observations are seen, and the variance of one of them."""
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}")
    n = casting.cast(n, prior.dtype)
    prior_variance, variance = unary.square(prior.scale), unary.square(scale)
    updated = 1.0 / (1 / prior_variance + n / variance)
    return (prior.loc / prior_variance + s / variance) * updated, updated, variance


@export("contrib.distributions.normal_conjugates_known_scale_posterior")
def normal_conjugates_known_scale_posterior(
    prior: Normal, scale: TensorLike, s: Tensor, n: TensorLike
) -> Normal:
    """Computes the distribution of a normal mean after observations of known standard deviation.

    Args:
      prior: The distribution of the mean before.
      scale: The standard deviation of an observation.
      s: The sum of the observations.
      n: The number of observations.

    Returns:
      A normal distribution.

    Raises:
      TypeError: If `prior` is not normal, or the type of `s` is not that of `prior`.
    """
    loc, variance, _ = _updated(prior, scale, s, n)
    return Normal(loc=loc, scale=unary.sqrt(variance))


@export("contrib.distributions.normal_conjugates_known_scale_predictive")
def normal_conjugates_known_scale_predictive(
    prior: Normal, scale: TensorLike, s: Tensor, n: TensorLike
) -> Normal:
    """Computes the distribution of the next observation of known standard deviation and normal mean.

    Args:
      prior: The distribution of the mean before.
      scale: The standard deviation of an observation.
      s: The sum of the observations.
      n: The number of observations.

    Returns:
      A normal distribution.

    Raises:
      TypeError: If `prior` is not normal, or the type of `s` is not that of `prior`.
    """
    loc, variance, of_one = _updated(prior, scale, s, n)
    return Normal(loc=loc, scale=unary.sqrt(variance + of_one))
