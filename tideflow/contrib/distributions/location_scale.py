"""Distributions that are moved and stretched copies of one: Cauchy's, the logistic, half of the normal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.distributions import normal_functions
from tideflow.distributions.base import FULLY_REPARAMETERIZED, ScalarDistribution
from tideflow.distributions.location_scale import LocationScale
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation
from tideflow.ops.math import casting, checks, unary
from tideflow.ops.nn import activations
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.distributions.Cauchy")
class Cauchy(LocationScale):
    """The Cauchy distribution, which has no mean.

    Args:
      loc: The median.
      scale: Half the distance of the quartiles, above 0.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else an error.
      name: The name of the operations.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Cauchy",
    ):
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shares = distributions.random_uniform(
            self._draws_shape(n), minval=0.0, maxval=1.0, dtype=self.dtype, seed=seed
        )
        return self._quantile(shares)

    def _log_prob(self, x: Tensor) -> Tensor:
        return -unary.log1p(unary.square(self._z(x))) - (math.log(math.pi) + unary.log(self.scale))

    def _cdf(self, x: Tensor) -> Tensor:
        return unary.atan(self._z(x)) / math.pi + 0.5

    def _log_cdf(self, x: Tensor) -> Tensor:
        return unary.log1p(2 / math.pi * unary.atan(self._z(x))) - math.log(2)

    def _quantile(self, p: Tensor) -> Tensor:
        return self.loc + self.scale * unary.tan(math.pi * (p - 0.5))

    def _entropy(self) -> Tensor:
        return (math.log(4 * math.pi) + unary.log(self.scale)) * creation.ones_like(self.loc)

    def _mean(self) -> Tensor:
        return self._undefined("mean")

    def _stddev(self) -> Tensor:
        return self._undefined("stddev")

    def _undefined(self, what: str) -> Tensor:
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        return creation.fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype))


@export("contrib.distributions.Logistic")
class Logistic(LocationScale):
    """The logistic distribution.

    Args:
      loc: The mean.
      scale: The scale, above 0.
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
        name: str = "Logistic",
    ):
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny  # not 0: its logarithm would be infinite
        shares = distributions.random_uniform(
            self._draws_shape(n), minval=smallest, maxval=1.0, dtype=self.dtype, seed=seed
        )
        return (unary.log(shares) - unary.log1p(-1.0 * shares)) * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Tensor:
        z = self._z(x)
        return -z - 2.0 * activations.softplus(-z) - unary.log(self.scale)

    def _log_cdf(self, x: Tensor) -> Tensor:
        return -activations.softplus(-self._z(x))

    def _cdf(self, x: Tensor) -> Tensor:
        return unary.sigmoid(self._z(x))

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return -activations.softplus(self._z(x))

    def _survival_function(self, x: Tensor) -> Tensor:
        return unary.sigmoid(-self._z(x))

    def _entropy(self) -> Tensor:
        return 2 + unary.log(self.scale * creation.ones_like(self.loc))

    def _mean(self) -> Tensor:
        return self._mode()

    def _stddev(self) -> Tensor:
        return self.scale * creation.ones_like(self.loc) * math.pi / math.sqrt(3)


@export("contrib.distributions.HalfNormal")
class HalfNormal(ScalarDistribution):
    """The distribution of the absolute value of a normal number of mean 0.

    Args:
      scale: The standard deviation of the normal number, above 0.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    _PARAMETERS = ("scale",)

    def __init__(
        self,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "HalfNormal",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            with control_dependencies([checks.assert_positive(scale)] if validate_args else []):
                self._scale = constants.identity(scale, name="scale")
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._scale],
            name=name,
        )

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the normal number."""
        return self._scale

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        draws = distributions.random_normal(
            self._draws_shape(n), mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed
        )
        return unary.abs(draws * self.scale)

    def _prob(self, x: Tensor) -> Tensor:
        density = math.sqrt(2) / self.scale / math.sqrt(math.pi) * unary.exp(-0.5 * (x / self.scale) ** 2)
        return density * casting.cast(x >= 0, self.dtype)

    def _cdf(self, x: Tensor) -> Tensor:
        return unary.erf(activations.relu(x) / self.scale / math.sqrt(2.0))

    def _quantile(self, p: Tensor) -> Tensor:
        inverse_erf = normal_functions.ndtri((p + 1.0) / 2.0) / math.sqrt(2.0)
        return math.sqrt(2.0) * self.scale * inverse_erf

    def _entropy(self) -> Tensor:
        return 0.5 * unary.log(math.pi * self.scale**2.0 / 2.0) + 0.5

    def _mean(self) -> Tensor:
        return self.scale * math.sqrt(2.0) / math.sqrt(math.pi)

    def _mode(self) -> Tensor:
        return creation.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _variance(self) -> Tensor:
        return self.scale**2.0 * (1.0 - 2.0 / math.pi)
