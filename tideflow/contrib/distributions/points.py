"""Distributions of one value only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.distributions.base import NOT_REPARAMETERIZED, Distribution
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, joining, shapes, tiling
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import casting, checks, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _Point(Distribution):
    """A distribution that always draws `loc`; values within the tolerances count as it."""

    _IS_VECTOR: bool

    def __init__(
        self,
        loc: Any,
        atol: Any,
        rtol: Any,
        validate_args: bool,
        allow_nan_stats: bool,
        name: str,
        parameters: dict[str, Any],
    ):
        with name_scope(name, values=[loc, atol, rtol]) as name:
            loc = convert_to_tensor(loc, name="loc")
            if self._IS_VECTOR and validate_args:
                message = "Argument loc must be at least rank 1."
                if loc.shape.ndims == 0:
                    raise ValueError(message)
                if loc.shape.ndims is None:
                    is_vector = checks.assert_rank_at_least(loc, 1, message=message)
                    loc = grouping.with_dependencies([is_vector], loc)
            self._loc = loc
            self._atol, self._rtol = (self._tolerance(given, validate_args) for given in (atol, rtol))
            self._slack = self._atol if rtol is None else self._atol + self._rtol * unary.abs(loc)
        super().__init__(
            dtype=loc.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[loc],
            name=name,
        )

    def _tolerance(self, given: Any, validate_args: bool) -> Tensor:
        tolerance = convert_to_tensor(0 if given is None else given, dtype=self._loc.dtype)
        if given is None or not validate_args:
            return tolerance
        message = "Argument 'tol' must be non-negative"
        return grouping.with_dependencies([checks.assert_non_negative(tolerance, message=message)], tolerance)

    @property
    def loc(self) -> Tensor:
        """The value that is drawn."""
        return self._loc

    @property
    def atol(self) -> Tensor:
        """How far from `loc` a value may be."""
        return self._atol

    @property
    def rtol(self) -> Tensor:
        """How far from `loc` a value may be, as a share of it."""
        return self._rtol

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        times = joining.concat([[n], creation.ones_like(shapes.shape(self.loc))], 0)
        return tiling.tile(self.loc[None, ...], times)

    def _entropy(self) -> Tensor:
        return creation.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self) -> Tensor:
        return constants.identity(self.loc)

    _mode = _mean

    def _variance(self) -> Tensor:
        return creation.zeros_like(self.loc)


@export("contrib.distributions.Deterministic")
class Deterministic(_Point):
    """The distribution of a number that is always the same.

    Args:
      loc: The number.
      atol: How far from it a value may be and count as it; 0 by default.
      rtol: How far from it a value may be, as a share of it; 0 by default.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    _IS_VECTOR = False

    def __init__(
        self,
        loc: TensorLike,
        atol: TensorLike | None = None,
        rtol: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ):
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name, dict(locals()))

    def _batch_shape_tensor(self) -> Tensor:
        return shapes.shape(self.loc)

    def _batch_shape(self) -> TensorShape:
        return self.loc.shape

    def _event_shape_tensor(self) -> Tensor:
        return constants.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _prob(self, x: Tensor) -> Tensor:
        return casting.cast(unary.abs(x - self.loc) <= self._slack, self.dtype)

    def _cdf(self, x: Tensor) -> Tensor:
        return casting.cast(x >= self.loc - self._slack, self.dtype)


@export("contrib.distributions.VectorDeterministic")
class VectorDeterministic(_Point):
    """The distribution of a vector that is always the same.

    Args:
      loc: The vector, of shape [..., n].
      atol: How far from it a value may be and count as it; 0 by default.
      rtol: How far from it a value may be, as a share of it; 0 by default.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    _IS_VECTOR = True

    def __init__(
        self,
        loc: TensorLike,
        atol: TensorLike | None = None,
        rtol: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDeterministic",
    ):
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name, dict(locals()))

    def _batch_shape_tensor(self) -> Tensor:
        return shapes.shape(self.loc)[:-1]

    def _batch_shape(self) -> TensorShape:
        return self.loc.shape[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return shapes.shape(self.loc)[-1:]

    def _event_shape(self) -> TensorShape:
        return self.loc.shape[-1:]

    def _prob(self, x: Tensor) -> Tensor:
        if self.validate_args:
            message = "Argument 'x' not defined in the same space R^k as this distribution"
            with control_dependencies([checks.assert_rank_at_least(x, 1)]):
                sizes = shapes.shape(x)[-1:]
            same_space = checks.assert_equal(self.event_shape_tensor(), sizes, message=message)
            x = grouping.with_dependencies([same_space], x)
        near = reductions.reduce_all(unary.abs(x - self.loc) <= self._slack, axis=-1)
        return casting.cast(near, self.dtype)
