"""Distributions of numbers rounded up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.distributions.base import NOT_REPARAMETERIZED, Distribution
from tideflow.distributions.parameters import check_whole
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation
from tideflow.ops.arrays.indexing import where_v2
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import checks, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _log_of_difference(larger: Tensor, smaller: Tensor) -> Tensor:
    """The logarithm of the difference of two numbers, by their logarithms."""
    with name_scope("logsum_expbig_minus_expsmall", values=[smaller, larger]):
        return unary.log(1.0 - unary.exp(smaller - larger)) + larger


@export("contrib.distributions.QuantizedDistribution")
class QuantizedDistribution(Distribution):
    """The distribution of numbers rounded up to whole ones, and moved into an interval.

    Args:
      distribution: The distribution of the numbers.
      low: The least whole number, which takes the place of all below; none by default.
      high: The greatest whole number, which takes the place of all above; none by default.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(
        self,
        distribution: Distribution,
        low: TensorLike | None = None,
        high: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "QuantizedDistribution",
    ):
        parameters = dict(locals())
        self._dist = distribution
        self._validate_args = validate_args
        with name_scope(name, values=[*distribution._graph_parents, low, high]) as name:
            low = None if low is None else convert_to_tensor(low, name="low")
            high = None if high is None else convert_to_tensor(high, name="high")
            checks.assert_same_float_dtype([x for x in (low, high) if x is not None], distribution.dtype)
            assertions = []
            if validate_args and low is not None and high is not None:
                message = "low must be strictly less than high."
                assertions.append(checks.assert_less(low, high, message=message))
            with control_dependencies(assertions):
                self._low = None if low is None else self._checked(low)
                self._high = None if high is None else self._checked(high)
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters,
            graph_parents=[
                *distribution._graph_parents,
                *(end for end in (self._low, self._high) if end is not None),
            ],
            name=name,
        )

    @property
    def distribution(self) -> Distribution:
        """The distribution of the numbers before they are rounded."""
        return self._dist

    @property
    def low(self) -> Tensor | None:
        """The least whole number."""
        return self._low

    @property
    def high(self) -> Tensor | None:
        """The greatest whole number."""
        return self._high

    def _batch_shape_tensor(self) -> Tensor:
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> TensorShape:
        return self.distribution.batch_shape

    def _event_shape_tensor(self) -> Tensor:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> TensorShape:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        with name_scope("transform"):
            draws = self.distribution.sample(n, seed=seed)
            ones, whole = creation.ones_like(draws), unary.ceil(draws)
            if self.low is not None:
                whole = where_v2(whole < self.low, self.low * ones, whole)
            if self.high is not None:
                whole = where_v2(whole > self.high, self.high * ones, whole)
            return whole

    def _log_prob(self, y: Tensor) -> Tensor:
        if not (hasattr(self.distribution, "_log_cdf") or hasattr(self.distribution, "_cdf")):
            raise NotImplementedError(
                "'log_prob' not implemented unless the base distribution implements 'log_cdf'"
            )
        y = self._checked(y)
        below, below_less = self.log_cdf(y), self.log_cdf(y - 1)
        try:
            above, above_less = self.log_survival_function(y), self.log_survival_function(y - 1)
        except NotImplementedError:
            return _log_of_difference(below, below_less)
        # The side of the median whose numbers are smaller is the exact one.
        on_the_right = above < below
        larger = where_v2(on_the_right, above_less, below)
        return _log_of_difference(larger, where_v2(on_the_right, above, below_less))

    def _prob(self, y: Tensor) -> Tensor:
        if not (hasattr(self.distribution, "_cdf") or hasattr(self.distribution, "_log_cdf")):
            raise NotImplementedError("'prob' not implemented unless the base distribution implements 'cdf'")
        y = self._checked(y)
        below, below_less = self.cdf(y), self.cdf(y - 1)
        try:
            above, above_less = self.survival_function(y), self.survival_function(y - 1)
        except NotImplementedError:
            return below - below_less
        return where_v2(above < below, above_less - above, below - below_less)

    def _log_cdf(self, y: Tensor) -> Tensor:
        j = unary.floor(y)
        return self._at_the_ends(j, self.distribution.log_cdf(j), -np.inf, 0.0)

    def _cdf(self, y: Tensor) -> Tensor:
        j = unary.floor(y)
        return self._at_the_ends(j, self.distribution.cdf(j), 0.0, 1.0)

    def _log_survival_function(self, y: Tensor) -> Tensor:
        j = unary.ceil(y)
        return self._at_the_ends(j, self.distribution.log_survival_function(j), 0.0, -np.inf)

    def _survival_function(self, y: Tensor) -> Tensor:
        j = unary.ceil(y)
        return self._at_the_ends(j, self.distribution.survival_function(j), 1.0, 0.0)

    def _at_the_ends(self, j: Tensor, value: Tensor, below: float, above: float) -> Tensor:
        """A function of whole numbers that is constant below the interval and from its end on."""
        j, ones = j + creation.zeros_like(value), creation.ones_like(value)
        if self.low is not None:
            value = where_v2(j < self.low, below * ones, value)
        if self.high is not None:
            value = where_v2(j >= self.high, above * ones, value)
        return value

    def _checked(self, value: Tensor) -> Tensor:
        with name_scope("check_integer", values=[value]):
            value = convert_to_tensor(value, name="value")
            if not self._validate_args:
                return value
            message = "value has non-integer components."
            return grouping.with_dependencies([check_whole(value, message)], value)
