"""Distributions of single numbers that bijectors make of simple ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.contrib.distributions.bijectors.base import Bijector
from tideflow.contrib.distributions.bijectors.combined import Chain
from tideflow.contrib.distributions.bijectors.elementwise import AffineScalar
from tideflow.contrib.distributions.bijectors.elementwise import Kumaraswamy as KumaraswamyBijector
from tideflow.contrib.distributions.bijectors.elementwise import SinhArcsinh as SinhArcsinhBijector
from tideflow.contrib.distributions.tools import get_broadcast_shape, maybe_check_scalar_distribution
from tideflow.contrib.distributions.transformed import TransformedDistribution
from tideflow.distributions.base import FULLY_REPARAMETERIZED, Distribution
from tideflow.distributions.location_scale import Normal
from tideflow.distributions.uniform import Uniform
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, joining
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, special, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def base_distribution(
    given: Distribution | None, dtype: DType, scale: Tensor, validate_args: bool, allow_nan_stats: bool
) -> tuple[Distribution, Tensor]:
    """What is warped: the standard normal distribution if none is given; and the scale once it is checked."""
    if given is None:
        zero, one = creation.zeros([], dtype=dtype), creation.ones([], dtype=dtype)
        return Normal(loc=zero, scale=one, allow_nan_stats=allow_nan_stats), scale
    assertions = maybe_check_scalar_distribution(given, dtype, validate_args)
    return given, grouping.with_dependencies(assertions, scale) if assertions else scale


def sinh_arcsinh(skewness: Tensor, tailweight: Tensor, scale: Tensor) -> tuple[Bijector, Tensor]:
    """The bijector, and the factor behind it by which 2, were there no skewness, becomes twice the scale."""
    warp = SinhArcsinhBijector(skewness=skewness, tailweight=tailweight)
    straight = SinhArcsinhBijector(skewness=creation.zeros_like(skewness), tailweight=tailweight)
    return warp, 2 * scale / straight.forward(convert_to_tensor(2, dtype=scale.dtype))


@export("contrib.distributions.SinhArcsinh")
class SinhArcsinh(TransformedDistribution):
    """The normal distribution made skew and its tails heavier or lighter.

    Args:
      loc: The location.
      scale: The scale, above 0.
      skewness: The skewness; 0 by default.
      tailweight: The weight of the tails, above 0; 1 by default.
      distribution: The distribution to warp; the standard normal one by default.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        distribution: Distribution | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            loc = convert_to_tensor(loc, name="loc")
            dtype = loc.dtype
            scale = convert_to_tensor(scale, dtype=dtype, name="scale")
            skewness = 0.0 if skewness is None else skewness
            skewness = convert_to_tensor(skewness, dtype=dtype, name="skewness")
            tailweight = 1.0 if tailweight is None else tailweight
            tailweight = convert_to_tensor(tailweight, dtype=dtype, name="tailweight")
            distribution, loc = base_distribution(distribution, dtype, loc, validate_args, allow_nan_stats)
            warp, factor = sinh_arcsinh(skewness, tailweight, scale)
            affine = AffineScalar(shift=loc, scale=factor, validate_args=validate_args)
            super().__init__(
                distribution=distribution,
                bijector=Chain([affine, warp]),
                batch_shape=get_broadcast_shape(loc, scale, tailweight, skewness),
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters
        self._loc, self._scale = loc, scale
        self._skewness, self._tailweight = skewness, tailweight

    @property
    def loc(self) -> Tensor:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    @property
    def tailweight(self) -> Tensor:
        """The weight of the tails."""
        return self._tailweight

    @property
    def skewness(self) -> Tensor:
        """The skewness."""
        return self._skewness


def _harmonic_number(x: Tensor) -> Tensor:
    return unary.digamma(x + 1.0) - unary.digamma(constants.constant(1.0, x.dtype))


@export("contrib.distributions.Kumaraswamy")
class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy's distribution over [0, 1], akin to the beta distribution.

    Args:
      concentration1: The first concentration, above 0.
      concentration0: The second concentration, above 0.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Kumaraswamy",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            concentration1 = convert_to_tensor(concentration1, name="concentration1")
            concentration0 = convert_to_tensor(concentration0, name="concentration0")
        dtype = concentration1.dtype
        super().__init__(
            distribution=Uniform(
                low=creation.zeros([], dtype=dtype),
                high=creation.ones([], dtype=dtype),
                allow_nan_stats=allow_nan_stats,
            ),
            bijector=KumaraswamyBijector(concentration1, concentration0, validate_args=validate_args),
            batch_shape=get_broadcast_shape(concentration1, concentration0),
            name=name,
        )
        self._parameters = parameters
        self._reparameterization_type = FULLY_REPARAMETERIZED

    @property
    def concentration1(self) -> Tensor:
        """The first concentration."""
        return self.bijector.concentration1

    @property
    def concentration0(self) -> Tensor:
        """The second concentration."""
        return self.bijector.concentration0

    def _entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return (1 - 1.0 / a) + (1 - 1.0 / b) * _harmonic_number(b) + unary.log(a) + unary.log(b)

    def _moment(self, n: int) -> Tensor:
        ones = creation.ones_like(self.concentration1 + self.concentration0, dtype=self.dtype)
        a, b = ones * self.concentration1, ones * self.concentration0
        return unary.exp(unary.log(b) + special.lbeta(joining.stack([1 + n / a, b], -1)))

    def _mean(self) -> Tensor:
        return self._moment(1)

    def _variance(self) -> Tensor:
        return self._moment(2) - unary.square(self._moment(1))

    def _mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** (1.0 / a)
        messages = {
            "Mode undefined for concentration1 <= 1.": a,
            "Mode undefined for concentration0 <= 1.": b,
        }
        return self._where_defined(binary.logical_and(a > 1.0, b > 1.0), mode, messages)
