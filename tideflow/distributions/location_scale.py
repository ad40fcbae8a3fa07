"""Distributions that are moved and stretched copies of one: normal, Laplace's, Student's t."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.distributions import normal_functions
from tideflow.distributions.base import FULLY_REPARAMETERIZED, ScalarDistribution
from tideflow.distributions.divergence import RegisterKL
from tideflow.distributions.parameters import derived_seed
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation, joining
from tideflow.ops.arrays.indexing import where_v2
from tideflow.ops.math import binary, checks, special, unary
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class LocationScale(ScalarDistribution):
    """A distribution with a location and a scale, which must be positive."""

    _PARAMETERS = ("loc", "scale")

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool,
        allow_nan_stats: bool,
        name: str,
        parameters: dict[str, Any],
    ):
        with name_scope(name, values=[loc, scale]) as name:
            with control_dependencies([checks.assert_positive(scale)] if validate_args else []):
                self._loc = constants.identity(loc, name="loc")
                self._scale = constants.identity(scale, name="scale")
                checks.assert_same_float_dtype([self._loc, self._scale])
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._loc, self._scale],
            name=name,
        )

    @property
    def loc(self) -> Tensor:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    def _mode(self) -> Tensor:
        return self.loc * creation.ones_like(self.scale)

    def _z(self, x: Tensor) -> Tensor:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


@export("distributions.Normal", "contrib.distributions.Normal")
class Normal(LocationScale):
    """The normal distribution.

    Args:
      loc: The mean.
      scale: The standard deviation, above 0.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ):
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = self._draws_shape(n)
        numbers = distributions.random_normal(shape, mean=0.0, stddev=1.0, dtype=self.loc.dtype, seed=seed)
        return numbers * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Tensor:
        unnormalized = -0.5 * unary.square(self._z(x))
        return unnormalized - (0.5 * math.log(2.0 * math.pi) + unary.log(self.scale))

    def _log_cdf(self, x: Tensor) -> Tensor:
        return normal_functions.log_ndtr(self._z(x))

    def _cdf(self, x: Tensor) -> Tensor:
        return normal_functions.ndtr(self._z(x))

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return normal_functions.log_ndtr(-self._z(x))

    def _survival_function(self, x: Tensor) -> Tensor:
        return normal_functions.ndtr(-self._z(x))

    def _quantile(self, p: Tensor) -> Tensor:
        z = normal_functions.ndtri(p)
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc

    def _entropy(self) -> Tensor:
        scale = self.scale * creation.ones_like(self.loc)
        return 0.5 * math.log(2.0 * math.pi * math.e) + unary.log(scale)

    def _mean(self) -> Tensor:
        return self.loc * creation.ones_like(self.scale)

    _mode = _mean

    def _stddev(self) -> Tensor:
        return self.scale * creation.ones_like(self.loc)


@RegisterKL(Normal, Normal)
def _kl_normal_normal(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        variance = unary.square(b.scale)
        ratio = unary.square(a.scale) / variance
        distance = binary.squared_difference(a.loc, b.loc) / (2.0 * variance)
        return distance + 0.5 * (ratio - 1.0 - unary.log(ratio))


@export("distributions.Laplace", "contrib.distributions.Laplace")
class Laplace(LocationScale):
    """The Laplace distribution: exponential to both sides of its mean.

    Args:
      loc: The mean.
      scale: The mean distance from the mean, above 0.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ):
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        kind = self.dtype.as_numpy_dtype
        # Not -1 itself: its logarithm below would be infinite.
        uniforms = distributions.random_uniform(
            self._draws_shape(n), np.nextafter(kind(-1.0), kind(0.0)), 1.0, dtype=self.dtype, seed=seed
        )
        distance = self.scale * unary.sign(uniforms) * unary.log1p(-unary.abs(uniforms))
        return self.loc - distance

    def _log_prob(self, x: Tensor) -> Tensor:
        return -unary.abs(self._z(x)) - (math.log(2.0) + unary.log(self.scale))

    def _log_cdf(self, x: Tensor) -> Tensor:
        return self._log_below(self._z(x))

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return self._log_below(-self._z(x))

    def _cdf(self, x: Tensor) -> Tensor:
        z = self._z(x)
        return 0.5 + 0.5 * unary.sign(z) * (1.0 - unary.exp(-unary.abs(z)))

    def _entropy(self) -> Tensor:
        scale = self.scale + creation.zeros_like(self.loc)
        return math.log(2.0) + 1.0 + unary.log(scale)

    def _mean(self) -> Tensor:
        return self.loc + creation.zeros_like(self.scale)

    _mode = _mean

    def _stddev(self) -> Tensor:
        return math.sqrt(2.0) * self.scale + creation.zeros_like(self.loc)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    @staticmethod
    def _log_below(z: Tensor) -> Tensor:
        upper = unary.log1p(-0.5 * unary.exp(-unary.abs(z)))
        return where_v2(z < 0.0, z - math.log(2.0), upper)


@export("distributions.StudentT", "contrib.distributions.StudentT")
class StudentT(ScalarDistribution):
    """Student's t-distribution, shifted and scaled.

    Args:
      df: The degrees of freedom, above 0.
      loc: The shift.
      scale: The scale.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    _PARAMETERS = ("df", "loc", "scale")

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as name:
            with control_dependencies([checks.assert_positive(df)] if validate_args else []):
                self._df = constants.identity(df, name="df")
                self._loc = constants.identity(loc, name="loc")
                self._scale = constants.identity(scale, name="scale")
                checks.assert_same_float_dtype([self._df, self._loc, self._scale])
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._df, self._loc, self._scale],
            name=name,
        )

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self) -> Tensor:
        """The shift."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        normals = distributions.random_normal(self._draws_shape(n), dtype=self.dtype, seed=seed)
        df = self.df * self._ones()
        gammas = distributions.random_gamma(
            [n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=derived_seed(seed, "student_t")
        )
        return normals * unary.rsqrt(gammas / df) * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Tensor:
        z = (x - self.loc) / self.scale
        unnormalized = -0.5 * (self.df + 1.0) * unary.log1p(z**2.0 / self.df)
        return unnormalized - (
            unary.log(unary.abs(self.scale))
            + 0.5 * unary.log(self.df)
            + 0.5 * math.log(math.pi)
            + unary.lgamma(0.5 * self.df)
            - unary.lgamma(0.5 * (self.df + 1.0))
        )

    def _cdf(self, x: Tensor) -> Tensor:
        z = (x - self.loc) / unary.abs(self.scale)
        share = self.df / (z**2.0 + self.df)
        zeros = creation.zeros_like(share)  # betainc takes one shape only
        lower = 0.5 * special.betainc(0.5 * self.df + zeros, 0.5 + zeros, share)
        return where_v2(z < 0.0, lower, 1.0 - lower)

    def _entropy(self) -> Tensor:
        ones = self._ones()[..., None]
        halves = joining.concat([ones * self.df[..., None], ones], -1) / 2.0
        return (
            unary.log(unary.abs(self.scale))
            + 0.5 * unary.log(self.df)
            + special.lbeta(halves)
            + 0.5 * (self.df + 1.0) * (unary.digamma(0.5 * (self.df + 1.0)) - unary.digamma(0.5 * self.df))
        )

    def _mean(self) -> Tensor:
        return self._where_there_is_a_mean(self.loc * self._ones(), "mean")

    def _variance(self) -> Tensor:
        divisor = where_v2(self.df > 2.0, self.df - 2.0, creation.ones_like(self.df))
        variance = self._ones() * unary.square(self.scale) * self.df / divisor
        infinity = np.array(np.inf, self.dtype.as_numpy_dtype)
        variance = where_v2(self.df > 2.0 * self._ones(), variance, infinity * self._ones())
        return self._where_there_is_a_mean(variance, "variance")

    def _mode(self) -> Tensor:
        return constants.identity(self.loc)

    def _ones(self) -> Tensor:
        return creation.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _where_there_is_a_mean(self, value: Tensor, what: str) -> Tensor:
        message = f"{what} not defined for components of df <= 1"
        return self._where_defined(self.df > self._ones(), value, {message: self.df})
