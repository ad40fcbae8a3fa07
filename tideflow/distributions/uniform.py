"""The uniform distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tideflow.distributions.base import FULLY_REPARAMETERIZED, ScalarDistribution
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import broadcasting, constants, creation, shapes
from tideflow.ops.arrays.indexing import where_v2
from tideflow.ops.math import binary, checks, unary
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("distributions.Uniform", "contrib.distributions.Uniform")
class Uniform(ScalarDistribution):
    """The uniform distribution over [low, high).

    Args:
      low: The lower end.
      high: The upper end, above `low`.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    _PARAMETERS = ("low", "high")

    def __init__(
        self,
        low: TensorLike = 0.0,
        high: TensorLike = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as name:
            assertions = []
            if validate_args:
                message = "uniform not defined when low >= high."
                assertions.append(checks.assert_less(low, high, message=message))
            with control_dependencies(assertions):
                self._low = constants.identity(low, name="low")
                self._high = constants.identity(high, name="high")
                checks.assert_same_float_dtype([self._low, self._high])
        super().__init__(
            dtype=self._low.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._low, self._high],
            name=name,
        )

    @property
    def low(self) -> Tensor:
        """The lower end."""
        return self._low

    @property
    def high(self) -> Tensor:
        """The upper end, which is not drawn."""
        return self._high

    def range(self, name: str = "range") -> Tensor:
        """The distance of the ends.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        numbers = distributions.random_uniform(self._draws_shape(n), dtype=self.dtype, seed=seed)
        return self.low + self.range() * numbers

    def _prob(self, x: Tensor) -> Tensor:
        x = x * creation.ones(self.batch_shape_tensor(), dtype=x.dtype)
        outside = binary.logical_or(x < self.low, x >= self.high)
        density = where_v2(outside, creation.zeros_like(x), creation.ones_like(x) / self.range())
        return where_v2(unary.is_nan(x), x, density)

    def _cdf(self, x: Tensor) -> Tensor:
        shape = broadcasting.broadcast_dynamic_shape(shapes.shape(x), self.batch_shape_tensor())
        zeros, ones = creation.zeros(shape, dtype=self.dtype), creation.ones(shape, dtype=self.dtype)
        share = where_v2(x < self.low, zeros, (x * ones - self.low) / self.range())
        return where_v2(x >= self.high, ones, share)

    def _entropy(self) -> Tensor:
        return unary.log(self.range())

    def _mean(self) -> Tensor:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Tensor:
        return unary.square(self.range()) / 12.0

    def _stddev(self) -> Tensor:
        return self.range() / math.sqrt(12.0)
