"""Kin of the gamma distribution: chi-squared, and its inverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.distributions.base import NOT_REPARAMETERIZED
from tideflow.distributions.gamma import ConcentrationRate, Gamma
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation
from tideflow.ops.arrays.indexing import where_v2
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, checks, special, unary
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.distributions.Chi2")
class Chi2(Gamma):
    """The chi-squared distribution: of a sum of squares of normal numbers.

    Args:
      df: The degrees of freedom, above 0: how many numbers.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        return {"df": super()._param_shapes(sample_shape)["rate"]}

    def __init__(
        self,
        df: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            with control_dependencies([checks.assert_positive(df)] if validate_args else []):
                self._df = constants.identity(df, name="df")
            super().__init__(
                concentration=0.5 * self._df,
                rate=constants.constant(0.5, dtype=self._df.dtype),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df


@export("contrib.distributions.InverseGamma")
class InverseGamma(ConcentrationRate):
    """The distribution of the inverse of a number of a gamma distribution.

    Args:
      concentration: The shape parameter, above 0.
      rate: The scale, above 0: the inverse scale of the gamma distribution.
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
        name: str = "InverseGamma",
    ):
        parameters = dict(locals())
        super().__init__(
            concentration, rate, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name, parameters
        )

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return 1.0 / distributions.random_gamma(
            [n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed
        )

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        unnormalized = -(1.0 + self.concentration) * unary.log(x) - self.rate / x
        return unnormalized - (unary.lgamma(self.concentration) - self.concentration * unary.log(self.rate))

    def _cdf(self, x: Tensor) -> Tensor:
        return special.igammac(self.concentration, self.rate / self._checked(x))

    def _entropy(self) -> Tensor:
        return (
            self.concentration
            + unary.log(self.rate)
            + unary.lgamma(self.concentration)
            - (1.0 + self.concentration) * unary.digamma(self.concentration)
        )

    def _mean(self) -> Tensor:
        return self._above(1.0, self.rate / (self.concentration - 1.0), "mean")

    def _variance(self) -> Tensor:
        variance = unary.square(self.rate) / binary.squared_difference(self.concentration, 1.0)
        return self._above(2.0, variance / (self.concentration - 2.0), "variance")

    def _mode(self) -> Tensor:
        return self.rate / (1.0 + self.concentration)

    def _above(self, least: float, value: Tensor, what: str) -> Tensor:
        """A statistic that is defined for concentrations above a number."""
        if self.allow_nan_stats:
            nan = creation.fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype))
            return where_v2(self.concentration > least, value, nan)
        message = f"{what} undefined when any concentration <= {least:.0f}"
        bound = constants.constant(least, dtype=self.dtype)
        defined = checks.assert_less(bound, self.concentration, message=message)
        return grouping.with_dependencies([defined], value)
