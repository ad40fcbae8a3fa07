"""Distributions of shares that sum to 1: Beta's of two, Dirichlet's of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.distributions.base import FULLY_REPARAMETERIZED, Distribution, ScalarDistribution
from tideflow.distributions.divergence import RegisterKL
from tideflow.distributions.parameters import derived_seed
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, diagonals, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.linalg import matmul
from tideflow.ops.math import binary, casting, checks, powers, reductions, special, unary
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_NOT_POSITIVE = "Concentration parameter must be positive."


@export("distributions.Beta", "contrib.distributions.Beta")
class Beta(ScalarDistribution):
    """The beta distribution, over [0, 1].

    Args:
      concentration1: The first concentration, above 0.
      concentration0: The second concentration, above 0.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    _PARAMETERS = ("concentration1", "concentration0")

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            self._concentration1 = _positive(concentration1, "concentration1", validate_args)
            self._concentration0 = _positive(concentration0, "concentration0", validate_args)
            checks.assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        super().__init__(
            dtype=self._total_concentration.dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            reparameterization_type=FULLY_REPARAMETERIZED,
            parameters=parameters,
            graph_parents=[self._concentration1, self._concentration0, self._total_concentration],
            name=name,
        )

    @property
    def concentration1(self) -> Tensor:
        """The first concentration."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """The second concentration."""
        return self._concentration0

    @property
    def total_concentration(self) -> Tensor:
        """The sum of the concentrations."""
        return self._total_concentration

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        first, other = (
            creation.ones_like(self.total_concentration, dtype=self.dtype) * concentration
            for concentration in (self.concentration1, self.concentration0)
        )
        other_seed = derived_seed(seed, "beta")
        first = distributions.random_gamma([n], alpha=first, dtype=self.dtype, seed=seed)
        other = distributions.random_gamma([n], alpha=other, dtype=self.dtype, seed=other_seed)
        return first / (first + other)

    def _log_prob(self, x: Tensor) -> Tensor:
        if self.validate_args:
            assertions = [
                checks.assert_positive(x, message="sample must be positive"),
                checks.assert_less(x, creation.ones([], self.dtype), message="sample must be less than `1`."),
            ]
            x = grouping.with_dependencies(assertions, x)
        first = powers.xlogy(self.concentration1 - 1.0, x)
        return first + (self.concentration0 - 1.0) * unary.log1p(-x) - self._log_normalization()

    def _cdf(self, x: Tensor) -> Tensor:
        zeros = creation.zeros_like(self.total_concentration + x)  # betainc takes one shape only
        return special.betainc(self.concentration1 + zeros, self.concentration0 + zeros, x + zeros)

    def _log_normalization(self) -> Tensor:
        parts = unary.lgamma(self.concentration1) + unary.lgamma(self.concentration0)
        return parts - unary.lgamma(self.total_concentration)

    def _entropy(self) -> Tensor:
        return (
            self._log_normalization()
            - (self.concentration1 - 1.0) * unary.digamma(self.concentration1)
            - (self.concentration0 - 1.0) * unary.digamma(self.concentration0)
            + (self.total_concentration - 2.0) * unary.digamma(self.total_concentration)
        )

    def _mean(self) -> Tensor:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Tensor:
        mode = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        defined = binary.logical_and(self.concentration1 > 1.0, self.concentration0 > 1.0)
        messages = {
            "Mode undefined for concentration1 <= 1.": self.concentration1,
            "Mode undefined for concentration0 <= 1.": self.concentration0,
        }
        return self._where_defined(defined, mode, messages)


@RegisterKL(Beta, Beta)
def _kl_beta_beta(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    parameters = [p for d in (a, b) for p in (d.concentration1, d.concentration0, d.total_concentration)]
    with name_scope(name, "kl_beta_beta", parameters):
        return (
            (b._log_normalization() - a._log_normalization())
            - unary.digamma(a.concentration1) * (b.concentration1 - a.concentration1)
            - unary.digamma(a.concentration0) * (b.concentration0 - a.concentration0)
            + unary.digamma(a.total_concentration) * (b.total_concentration - a.total_concentration)
        )


def _positive(concentration: Any, name: str, validate_args: bool) -> Tensor:
    concentration = convert_to_tensor(concentration, name=name)
    if not validate_args:
        return concentration
    return grouping.with_dependencies(
        [checks.assert_positive(concentration, message=_NOT_POSITIVE)], concentration
    )


class OfConcentrations(Distribution):
    """A distribution of vectors with a concentration each; `_variance_scale` says how they vary."""

    _concentration: Tensor
    _total_concentration: Tensor

    @property
    def concentration(self) -> Tensor:
        """The concentrations of the elements."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """Their sum."""
        return self._total_concentration

    def _batch_shape(self) -> TensorShape:
        return self.total_concentration.shape

    def _batch_shape_tensor(self) -> Tensor:
        return shapes.shape(self.total_concentration)

    def _event_shape(self) -> TensorShape:
        return self.concentration.shape.with_rank_at_least(1)[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return shapes.shape(self.concentration)[-1:]

    def _covariance(self) -> Tensor:
        x = self._variance_scale() * self._mean()
        products = matmul.matmul(x[..., None], x[..., None, :])
        return diagonals.matrix_set_diag(-products, self._variance())


@export("distributions.Dirichlet", "contrib.distributions.Dirichlet")
class Dirichlet(OfConcentrations):
    """The Dirichlet distribution, over vectors of positive numbers whose sum is 1.

    Args:
      concentration: The concentrations, above 0, of shape [..., classes].
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration]) as name:
            self._concentration = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                self._concentration = _checked_concentration(self._concentration)
            self._total_concentration = reductions.reduce_sum(self._concentration, -1)
        super().__init__(
            dtype=self._concentration.dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            reparameterization_type=FULLY_REPARAMETERIZED,
            parameters=parameters,
            graph_parents=[self._concentration, self._total_concentration],
            name=name,
        )

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        gammas = distributions.random_gamma([n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        return gammas / reductions.reduce_sum(gammas, -1, keepdims=True)

    def _log_prob(self, x: Tensor) -> Tensor:
        if self.validate_args:
            ones = creation.ones([], dtype=self.dtype)
            message = "sample last-dimension must sum to `1`"
            assertions = [
                checks.assert_positive(x, message="samples must be positive"),
                checks.assert_near(ones, reductions.reduce_sum(x, -1), message=message),
            ]
            x = grouping.with_dependencies(assertions, x)
        unnormalized = reductions.reduce_sum(powers.xlogy(self.concentration - 1.0, x), -1)
        return unnormalized - special.lbeta(self.concentration)

    def _entropy(self) -> Tensor:
        size = casting.cast(self.event_shape_tensor()[0], self.dtype)
        total = (self.total_concentration - size) * unary.digamma(self.total_concentration)
        parts = (self.concentration - 1.0) * unary.digamma(self.concentration)
        return special.lbeta(self.concentration) + total - reductions.reduce_sum(parts, axis=-1)

    def _mean(self) -> Tensor:
        return self.concentration / self.total_concentration[..., None]

    def _variance(self) -> Tensor:
        scale = self._variance_scale()
        x = scale * self._mean()
        return x * (scale - x)

    def _variance_scale(self) -> Tensor:
        return unary.rsqrt(1.0 + self.total_concentration[..., None])

    def _mode(self) -> Tensor:
        size = casting.cast(self.event_shape_tensor()[0], self.dtype)
        mode = (self.concentration - 1.0) / (self.total_concentration[..., None] - size)
        defined = reductions.reduce_all(self.concentration > 1.0, axis=-1, keepdims=True)
        message = "Mode undefined when any concentration <= 1"
        return self._where_defined(defined, mode, {message: self.concentration})


def _checked_concentration(concentration: Tensor) -> Tensor:
    assertions = [
        checks.assert_positive(concentration, message=_NOT_POSITIVE),
        checks.assert_rank_at_least(
            concentration, 1, message="Concentration parameter must have >=1 dimensions."
        ),
        checks.assert_less(
            1,
            shapes.shape(concentration)[-1],
            message="Concentration parameter must have event_size >= 2.",
        ),
    ]
    return grouping.with_dependencies(assertions, concentration)


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(a: Dirichlet, b: Dirichlet, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_dirichlet_dirichlet", [a.concentration, b.concentration]):
        total = unary.digamma(reductions.reduce_sum(a.concentration, axis=-1, keepdims=True))
        expected_logs = unary.digamma(a.concentration) - total
        moved = reductions.reduce_sum((a.concentration - b.concentration) * expected_logs, axis=-1)
        return moved - special.lbeta(a.concentration) + special.lbeta(b.concentration)
