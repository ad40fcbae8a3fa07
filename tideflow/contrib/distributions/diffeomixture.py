"""Distributions of vectors between two affine images of one: mixtures by how near they are to either."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.distributions.bijectors.affine import AffineLinearOperator
from tideflow.contrib.distributions.bijectors.vectors import SoftmaxCentered
from tideflow.contrib.distributions.poisson_mixture import (
    equal_probs,
    even_quantiles,
    first_axis_last,
    gauss_hermite,
)
from tideflow.contrib.distributions.tools import (
    batch_rank,
    concat_vectors,
    is_diagonal_scale,
    maybe_check_scalar_distribution,
    pad_axis,
    pick_vector,
)
from tideflow.distributions.base import FULLY_REPARAMETERIZED, Distribution
from tideflow.distributions.location_scale import Normal
from tideflow.distributions.parameters import derived_seed
from tideflow.distributions.trials import Categorical
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, broadcast_static_shape
from tideflow.linalg.dense import LinearOperatorDiag, LinearOperatorLowerTriangular
from tideflow.linalg.operator import LinearOperator
from tideflow.ops.arrays import broadcasting, creation, diagonals, indexing, joining, shapes, tiling
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import checks, reductions, unary
from tideflow.ops.nn import softmax

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _checked_scale(scale: Tensor, validate_args: bool) -> Tensor:
    """A parameter of the weights of two components, which are one number."""
    no_vector = "Mixing params must be a (batch of) vector; normal_scale.rank"
    if scale.shape.ndims == 0:
        raise ValueError(f"{no_vector}=0 is not at least one.")
    only_two = "Currently only bimixtures are supported; normal_scale.shape[-1]"
    size = None if scale.shape.ndims is None else scale.shape.tuple[-1]
    if size not in (None, 1):
        raise NotImplementedError(f"{only_two}={size} is not 1.")
    if not validate_args:
        return scale
    assertions = [
        checks.assert_rank_at_least(scale, 1, message=f"{no_vector} is not at least one."),
        checks.assert_equal(shapes.shape(scale)[-1], 1, message=f"{only_two} is not 1."),
    ]
    return grouping.with_dependencies(assertions, scale)


@export("contrib.distributions.quadrature_scheme_softmaxnormal_gauss_hermite")
def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc: TensorLike,
    normal_scale: TensorLike,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Makes the points and weights of a Gauss-Hermite quadrature over the softmax of a normal number.

    Args:
      normal_loc: The mean of the number, of shape [..., 1].
      normal_scale: The standard deviation of the number, of shape [..., 1].
      quadrature_size: The number of points.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operation.

    Returns:
      The points, of shape [..., 2, points], and their weights.
    """
    with name_scope(name, "quadrature_scheme_softmaxnormal_gauss_hermite", [normal_loc, normal_scale]):
        loc = convert_to_tensor(normal_loc, name="normal_loc")
        scale = convert_to_tensor(normal_scale, dtype=loc.dtype.base_dtype, name="normal_scale")
        scale = _checked_scale(scale, validate_args)
        points, probs = gauss_hermite(quadrature_size, loc.dtype.base_dtype)
        grid = loc[..., None] + math.sqrt(2.0) * scale[..., None] * points
        return softmax.softmax(-pad_axis(grid, -2, front=True), axis=-2), probs


@export("contrib.distributions.quadrature_scheme_softmaxnormal_quantiles")
def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc: TensorLike,
    normal_scale: TensorLike,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Makes the points and weights of a quadrature over the softmax of a normal number from its quantiles.

    Args:
      normal_loc: The mean of the number, of shape [..., 1].
      normal_scale: The standard deviation of the number, of shape [..., 1].
      quadrature_size: The number of points.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operation.

    Returns:
      The points, of shape [..., 2, points], and their weights.
    """
    with name_scope(name, "softmax_normal_grid_and_probs", [normal_loc, normal_scale]):
        loc = convert_to_tensor(normal_loc, name="normal_loc")
        scale = convert_to_tensor(normal_scale, dtype=loc.dtype.base_dtype, name="normal_scale")
        normal = Normal(loc=loc, scale=_checked_scale(scale, validate_args))
        shares = SoftmaxCentered().forward(even_quantiles(normal, quadrature_size))
        shares = first_axis_last(shares, batch_rank(normal))
        grid = (shares[..., :-1] + shares[..., 1:]) / 2.0
        known = normal.batch_shape.with_rank_at_least(1)
        if known.ndims is not None:
            size = known.tuple[-1]
            sizes = [None if size is None else size + 1, quadrature_size]
            grid.set_shape(known[:-1].concatenate(sizes))
        return grid, equal_probs(quadrature_size, normal.dtype)


@export("contrib.distributions.VectorDiffeomixture")
class VectorDiffeomixture(Distribution):
    """The distribution of vectors between two affine images of independent numbers.

    How near a vector is to either is the softmax of a normal number, by a quadrature over it.

    Args:
      mix_loc: The mean of the normal number times `temperature`, of shape [..., 1].
      temperature: The inverse of the normal number's standard deviation, of shape [..., 1].
      distribution: The distribution of the independent numbers.
      loc: Two shifts, of shape [..., n] or None; none by default.
      scale: Two linear operators.
      quadrature_size: The number of points of the quadrature.
      quadrature_fn: The function of a mean, a standard deviation, the number of points and `validate_args`
        that gives points, of shape [..., 2, points], and their probabilities.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If there are not as many shifts as operators, or fewer than two.
      TypeError: If the types of the operators differ.
      NotImplementedError: If there are more than two operators.
    """

    def __init__(
        self,
        mix_loc: TensorLike,
        temperature: TensorLike,
        distribution: Distribution,
        loc: Sequence[Any] | None = None,
        scale: Sequence[LinearOperator] | None = None,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_softmaxnormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDiffeomixture",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[mix_loc, temperature]) as name:
            locs = _check_ends(loc, scale, validate_args)
            dtype = scale[0].dtype.base_dtype
            self._endpoint_affine = [
                AffineLinearOperator(shift, operator, validate_args, f"endpoint_affine_{k}")
                for k, (shift, operator) in enumerate(zip(locs, scale, strict=True))
            ]
            if len(scale) != 2:
                raise NotImplementedError(
                    f"Currently only bimixtures are supported; len(scale)={len(scale)} is not 2."
                )
            mix_loc = convert_to_tensor(mix_loc, dtype=dtype, name="mix_loc")
            temperature = convert_to_tensor(temperature, dtype=dtype, name="temperature")
            grid, probs = tuple(
                quadrature_fn(mix_loc / temperature, 1.0 / temperature, quadrature_size, validate_args)
            )
            assertions = maybe_check_scalar_distribution(distribution, dtype, validate_args)
            self._grid = grouping.with_dependencies(assertions, grid) if assertions else grid
            self._mixture_distribution = Categorical(
                logits=unary.log(probs), validate_args=validate_args, allow_nan_stats=allow_nan_stats
            )
            self._distribution = distribution
            between = zip(_locs_between(self._grid, locs), _scales_between(self._grid, scale), strict=True)
            self._interpolated_affine = [
                AffineLinearOperator(shift, operator, validate_args, f"interpolated_affine_{k}")
                for k, (shift, operator) in enumerate(between)
            ]
            self._set_shapes()
        super().__init__(
            dtype=dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[
                *distribution._graph_parents,
                *(shift for shift in locs if shift is not None),
                *(parent for operator in scale for parent in operator.graph_parents),
            ],
            name=name,
        )

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of which point of the quadrature a sample is of."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Distribution:
        """The distribution of the independent numbers."""
        return self._distribution

    @property
    def grid(self) -> Tensor:
        """The points of the quadrature: how near to either image, of shape [..., 2, points]."""
        return self._grid

    @property
    def endpoint_affine(self) -> list[AffineLinearOperator]:
        """The two affine bijectors."""
        return self._endpoint_affine

    @property
    def interpolated_affine(self) -> list[AffineLinearOperator]:
        """The affine bijectors at the points of the quadrature."""
        return self._interpolated_affine

    def _set_shapes(self) -> None:
        """The shapes that the points, the shifts and the operators broadcast to."""
        batches = [(self._grid.shape[:-2], shapes.shape(self._grid)[:-2])]
        events = []
        for affine in self._endpoint_affine:
            if affine.shift is not None:
                batches.append((affine.shift.shape[:-1], shapes.shape(affine.shift)[:-1]))
                events.append((affine.shift.shape[-1:], shapes.shape(affine.shift)[-1:]))
            operator = affine.scale
            batches.append((operator.batch_shape, operator.batch_shape_tensor()))
            sizes = TensorShape([operator.range_dimension])
            events.append((sizes, operator.range_dimension_tensor()[None]))
        self._known_batch, self._batch_sizes = _broadcast(batches)
        self._known_event, self._event_sizes = _broadcast(events)

    def _batch_shape_tensor(self) -> Tensor:
        return self._batch_sizes

    def _batch_shape(self) -> TensorShape:
        return self._known_batch

    def _event_shape_tensor(self) -> Tensor:
        return self._event_sizes

    def _event_shape(self) -> TensorShape:
        return self._known_event

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        draws = self.distribution.sample(
            concat_vectors([n], self.batch_shape_tensor(), self.event_shape_tensor()), seed=seed
        )
        one, other = (affine.forward(draws) for affine in self.endpoint_affine)
        batch_size = _size(self.batch_shape, self.batch_shape_tensor)
        mixture = self.mixture_distribution
        mixture_size = _size(mixture.batch_shape, mixture.batch_shape_tensor)
        nothing = np.zeros([0], np.int32)
        rest = pick_vector(self.is_scalar_batch(), nothing, [batch_size // mixture_size])
        points = mixture.sample(concat_vectors([n], rest), seed=derived_seed(seed, "vector_diffeomixture"))
        rest = pick_vector(self.is_scalar_batch(), nothing, np.array([-1], np.int32))
        points = shapes.reshape(points, concat_vectors([n], rest))
        stride = _size(self.grid.shape.with_rank_at_least(2)[-2:], lambda: shapes.shape(self.grid)[-2:])
        first = creation.range(0, batch_size * stride, stride, dtype=points.dtype)
        weight = indexing.gather(shapes.reshape(self.grid, [-1]), points + first)
        weight = shapes.reshape(weight, concat_vectors([-1], self.batch_shape_tensor(), [1]))
        return weight * (one - other) + other

    def _log_prob(self, x: Tensor) -> Tensor:
        y = joining.stack([affine.inverse(x) for affine in self.interpolated_affine], axis=-1)
        log_prob = reductions.reduce_sum(self.distribution.log_prob(y), axis=-2)
        log_dets = [affine.forward_log_det_jacobian(x, event_ndims=1) for affine in self.interpolated_affine]
        logits = self.mixture_distribution.logits
        return reductions.reduce_logsumexp(logits - joining.stack(log_dets, axis=-1) + log_prob, axis=-1)

    def _mean(self) -> Tensor:
        probs, mean = self._probs_beside_events(), self._mean_of_numbers()
        return sum(probs[..., k] * affine.forward(mean) for k, affine in enumerate(self.interpolated_affine))

    def _covariance(self) -> Tensor:
        return self._within() + self._between(lambda x: x[..., :, None] * x[..., None, :], matrices=True)

    def _variance(self) -> Tensor:
        return diagonals.matrix_diag_part(self._within()) + self._between(unary.square, matrices=False)

    def _within(self) -> Tensor:
        """The mean of the covariances at the points of the quadrature."""
        probs = self.mixture_distribution.probs
        scales = [affine.scale for affine in self.interpolated_affine]
        covariances = [
            probs[..., k, None, None] * operator.matmul(operator.to_dense(), adjoint_arg=True)
            for k, operator in enumerate(scales)
        ]
        return sum(covariances) * self.distribution.variance()

    def _between(self, square: Callable[[Tensor], Tensor], matrices: bool) -> Tensor:
        """The covariance of the means at the points of the quadrature."""
        probs = self._probs_beside_events()
        probs = probs[..., None, :] if matrices else probs
        of_numbers, mean = self._mean_of_numbers(), self._mean()
        return sum(
            probs[..., k] * square(affine.forward(of_numbers) - mean)
            for k, affine in enumerate(self.interpolated_affine)
        )

    def _mean_of_numbers(self) -> Tensor:
        sizes = concat_vectors(self.batch_shape_tensor(), self.event_shape_tensor())
        ones = creation.ones_like(convert_to_tensor(sizes))
        mean = tiling.tile(shapes.reshape(self.distribution.mean(), ones), sizes)
        mean.set_shape(self.batch_shape.concatenate(self.event_shape))
        return mean

    def _probs_beside_events(self) -> Tensor:
        return self.mixture_distribution.probs[..., None, :]


def _check_ends(loc: Any, scale: Any, validate_args: bool) -> list[Tensor | None]:
    """The shifts as tensors, once they and the operators fit."""
    if not scale or len(scale) < 2:
        raise ValueError(
            "Must specify list (or list-like object) of scale LinearOperators, one for each component with "
            "num_component >= 2."
        )
    loc = [None] * len(scale) if loc is None else loc
    if len(loc) != len(scale):
        raise ValueError("loc/scale must be same-length lists (or same-length list-like objects).")
    dtype = scale[0].dtype.base_dtype
    for k, operator in enumerate(scale):
        if validate_args and not operator.is_positive_definite:
            raise ValueError(f"scale[{k}].is_positive_definite = {operator.is_positive_definite} != True")
        if operator.dtype.base_dtype != dtype:
            found = operator.dtype.base_dtype.name
            raise TypeError(f'dtype mismatch; scale[{k}].base_dtype="{found}" != "{dtype.name}"')
    return [
        None if shift is None else convert_to_tensor(shift, dtype=dtype, name=f"loc{k}")
        for k, shift in enumerate(loc)
    ]


def _points(grid: Tensor) -> int:
    known = grid.shape.with_rank_at_least(1).tuple
    if known is None or known[-1] is None:
        raise ValueError("Num quadrature grid points must be known prior to graph execution.")
    return known[-1]


def _locs_between(grid: Tensor, locs: list[Tensor | None]) -> list[Tensor | None]:
    """The shifts at the points of a quadrature."""
    with name_scope("interpolate_loc", values=[grid, *locs]):
        if all(loc is None for loc in locs):
            return [None] * _points(grid)
        return [
            sum(grid[..., k, q, None] * loc for k, loc in enumerate(locs) if loc is not None)
            for q in range(_points(grid))
        ]


def _scales_between(grid: Tensor, scales: Sequence[LinearOperator]) -> list[LinearOperator]:
    """The operators at the points of a quadrature: diagonal if all are, else lower triangular."""
    hints = {
        hint: True if all(getattr(scale, hint) for scale in scales) else None
        for hint in ("is_non_singular", "is_self_adjoint", "is_positive_definite")
    }
    with name_scope("interpolate_scale", values=[grid]):
        for scale in scales:
            if not (is_diagonal_scale(scale) or isinstance(scale, LinearOperatorLowerTriangular)):
                raise NotImplementedError(f"Unsupported Linop type ({type(scale).__name__})")
        weights = [[grid[..., k, q] for k in range(len(scales))] for q in range(_points(grid))]
        if all(is_diagonal_scale(scale) for scale in scales):
            parts = [scale.diag_part() for scale in scales]
            return [
                LinearOperatorDiag(
                    sum(w[..., None] * part for w, part in zip(weight, parts, strict=True)), **hints
                )
                for weight in weights
            ]
        parts = [scale.to_dense() for scale in scales]
        return [
            LinearOperatorLowerTriangular(
                sum(w[..., None, None] * part for w, part in zip(weight, parts, strict=True)),
                **{**hints, "is_self_adjoint": None},
            )
            for weight in weights
        ]


def _broadcast(parts: list[tuple[TensorShape, Tensor]]) -> tuple[TensorShape, Tensor]:
    known = functools.reduce(broadcast_static_shape, [shape for shape, _ in parts])
    return known, functools.reduce(broadcasting.broadcast_dynamic_shape, [sizes for _, sizes in parts])


def _size(known: TensorShape, sizes: Callable[[], Tensor]) -> Any:
    count = known.num_elements()
    return reductions.reduce_prod(sizes()) if count is None else count
