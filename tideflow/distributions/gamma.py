"""The gamma distribution, and the exponential one, which is its simplest case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.distributions.base import (
    FULLY_REPARAMETERIZED,
    ReparameterizationType,
    ScalarDistribution,
)
from tideflow.distributions.divergence import RegisterKL
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation, joining, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import checks, powers, special, unary
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class ConcentrationRate(ScalarDistribution):
    """A distribution with a concentration and a rate, both of which must be positive."""

    _PARAMETERS = ("concentration", "rate")

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        name: str,
        parameters: dict[str, Any],
    ):
        with name_scope(name, values=[concentration, rate]) as name:
            checked = [concentration, rate] if validate_args else []
            with control_dependencies([checks.assert_positive(parameter) for parameter in checked]):
                self._concentration = constants.identity(concentration, name="concentration")
                self._rate = constants.identity(rate, name="rate")
                checks.assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._concentration, self._rate],
            name=name,
        )

    @property
    def concentration(self) -> Tensor:
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The rate."""
        return self._rate

    def _checked(self, x: Tensor) -> Tensor:
        checks.assert_same_float_dtype([x], dtype=self.dtype)
        return grouping.with_dependencies([checks.assert_positive(x)], x) if self.validate_args else x


@export("distributions.Gamma", "contrib.distributions.Gamma")
class Gamma(ConcentrationRate):
    """The gamma distribution.

    Args:
      concentration: The shape parameter, above 0.
      rate: The inverse scale, above 0.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ):
        parameters = dict(locals())
        super().__init__(
            concentration, rate, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name, parameters
        )

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return distributions.random_gamma(
            [n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed
        )

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        unnormalized = powers.xlogy(self.concentration - 1.0, x) - self.rate * x
        return unnormalized - (unary.lgamma(self.concentration) - self.concentration * unary.log(self.rate))

    def _cdf(self, x: Tensor) -> Tensor:
        return special.igamma(self.concentration, self.rate * self._checked(x))

    def _entropy(self) -> Tensor:
        return (
            self.concentration
            - unary.log(self.rate)
            + unary.lgamma(self.concentration)
            + (1.0 - self.concentration) * unary.digamma(self.concentration)
        )

    def _mean(self) -> Tensor:
        return self.concentration / self.rate

    def _variance(self) -> Tensor:
        return self.concentration / unary.square(self.rate)

    def _stddev(self) -> Tensor:
        return unary.sqrt(self.concentration) / self.rate

    def _mode(self) -> Tensor:
        message = "mode not defined when any concentration <= 1"
        mode = (self.concentration - 1.0) / self.rate
        return self._where_defined(self.concentration > 1.0, mode, {message: self.concentration})


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    parameters = [a.concentration, a.rate, b.concentration, b.rate]
    with name_scope(name, "kl_gamma_gamma", parameters):
        return (
            (a.concentration - b.concentration) * unary.digamma(a.concentration)
            + unary.lgamma(b.concentration)
            - unary.lgamma(a.concentration)
            + b.concentration * unary.log(a.rate)
            - b.concentration * unary.log(b.rate)
            + a.concentration * (b.rate / a.rate - 1.0)
        )


@export("distributions.Exponential", "contrib.distributions.Exponential")
class Exponential(Gamma):
    """The exponential distribution.

    Args:
      rate: The rate, above 0: the inverse of the mean.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    _PARAMETERS = ("rate",)

    def __init__(
        self,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            rate = convert_to_tensor(rate, name="rate")
        super().__init__(
            concentration=creation.ones([], dtype=rate.dtype),
            rate=rate,
            allow_nan_stats=allow_nan_stats,
            validate_args=validate_args,
            name=name,
        )
        self._parameters = parameters

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = joining.concat([[n], shapes.shape(self.rate)], 0)
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny  # not 0: its logarithm would be infinite
        numbers = distributions.random_uniform(
            shape, minval=smallest, maxval=1.0, seed=seed, dtype=self.dtype
        )
        return -unary.log(numbers) / self.rate

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return self._log_prob(value) - unary.log(self.rate)
