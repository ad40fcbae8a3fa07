"""Counts whose rate is log-normal: a mixture of Poisson distributions, at the points of a quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.distributions.bijectors.elementwise import Exp
from tideflow.contrib.distributions.counting import Poisson
from tideflow.contrib.distributions.tools import batch_rank, concat_vectors, pick_vector
from tideflow.contrib.distributions.transformed import TransformedDistribution
from tideflow.distributions.base import NOT_REPARAMETERIZED, Distribution
from tideflow.distributions.location_scale import Normal
from tideflow.distributions.parameters import derived_seed
from tideflow.distributions.trials import Categorical
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, broadcast_static_shape
from tideflow.ops.arrays import broadcasting, creation, indexing, joining, shapes
from tideflow.ops.math import casting, reductions, unary
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def gauss_hermite(size: int, dtype: DType) -> tuple[np.ndarray, Tensor]:
    """The points of the Gauss-Hermite quadrature, and their weights, which sum to 1."""
    points, weights = np.polynomial.hermite.hermgauss(deg=size)
    kind = dtype.as_numpy_dtype
    weights = weights.astype(kind)
    weights /= np.linalg.norm(weights, ord=1, keepdims=True)
    return points.astype(kind), convert_to_tensor(weights, name="probs", dtype=dtype)


def even_quantiles(distribution: Distribution, size: int) -> Tensor:
    """The quantiles between which all samples are in `size` + 2 equal shares, the outermost left out."""
    with_rank = creation.ones([batch_rank(distribution)], dtype=dtypes.int32)
    zero = creation.zeros([], dtype=distribution.dtype)
    edges = creation.linspace(zero, creation.ones([], dtype=distribution.dtype), size + 3)[1:-1]
    return distribution.quantile(shapes.reshape(edges, joining.concat([[-1], with_rank], 0)))


def first_axis_last(x: Tensor, rank: Any) -> Tensor:
    """Moves the first axis behind `rank` others."""
    return shapes.transpose(x, joining.concat([creation.range(1, 1 + rank), [0]], 0))


def equal_probs(size: int, dtype: DType) -> Tensor:
    """The weights of a quadrature whose points count the same."""
    return creation.fill([size], 1.0 / casting.cast(size, dtype))


@export("contrib.distributions.quadrature_scheme_lognormal_gauss_hermite")
def quadrature_scheme_lognormal_gauss_hermite(
    loc: Tensor, scale: Tensor, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Makes the points and weights of a Gauss-Hermite quadrature over a log-normal distribution.

    Args:
      loc: The means of the logarithms, as a tensor.
      scale: The standard deviations of the logarithms, as a tensor.
      quadrature_size: The number of points.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operation.

    Returns:
      The points, of shape [..., points], and their weights.
    """
    with name_scope(name, "vector_diffeomixture_quadrature_gauss_hermite", [loc, scale]):
        points, probs = gauss_hermite(quadrature_size, loc.dtype)
        return loc[..., None] + math.sqrt(2.0) * scale[..., None] * points, probs


@export("contrib.distributions.quadrature_scheme_lognormal_quantiles")
def quadrature_scheme_lognormal_quantiles(
    loc: TensorLike,
    scale: TensorLike,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Makes the points and weights of a quadrature over a log-normal distribution from its quantiles.

    Args:
      loc: The means of the logarithms.
      scale: The standard deviations of the logarithms.
      quadrature_size: The number of points.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operation.

    Returns:
      The points, of shape [..., points], and their weights.
    """
    with name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        rates = TransformedDistribution(
            distribution=Normal(loc=loc, scale=scale), bijector=Exp(), validate_args=validate_args
        )
        edges = first_axis_last(even_quantiles(rates, quadrature_size), batch_rank(rates))
        grid = (edges[..., :-1] + edges[..., 1:]) / 2.0
        grid.set_shape(rates.batch_shape.concatenate([quadrature_size]))
        return grid, equal_probs(quadrature_size, rates.dtype)


@export("contrib.distributions.PoissonLogNormalQuadratureCompound")
class PoissonLogNormalQuadratureCompound(Distribution):
    """The distribution of counts whose rate is itself log-normal, by a quadrature over the rate.

    Args:
      loc: The mean of the rate's logarithm.
      scale: The standard deviation of the rate's logarithm.
      quadrature_size: The number of points of the quadrature.
      quadrature_fn: The function of `loc`, `scale`, the number of points and `validate_args` that gives the
        logarithms of rates and their probabilities.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      TypeError: If the types of the quadrature's points and probabilities differ.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_lognormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "PoissonLogNormalQuadratureCompound",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            if scale is not None:
                scale = convert_to_tensor(scale, dtype=None if loc is None else loc.dtype, name="scale")
            grid, probs = tuple(quadrature_fn(loc, scale, quadrature_size, validate_args))
            if grid.dtype.base_dtype != probs.dtype.base_dtype:
                raise TypeError(
                    f"Quadrature grid dtype ({grid.dtype.name}) does not match quadrature probs dtype "
                    f"({probs.dtype.name})."
                )
            self._distribution = Poisson(
                log_rate=grid, validate_args=validate_args, allow_nan_stats=allow_nan_stats
            )
            self._mixture_distribution = Categorical(
                logits=unary.log(probs), validate_args=validate_args, allow_nan_stats=allow_nan_stats
            )
        self._loc, self._scale, self._quadrature_size = loc, scale, quadrature_size
        super().__init__(
            dtype=grid.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[loc, scale],
            name=name,
        )

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of which point of the quadrature a sample is of."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Poisson:
        """The Poisson distributions at the points of the quadrature."""
        return self._distribution

    @property
    def loc(self) -> Tensor:
        """The mean of the rate's logarithm."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the rate's logarithm."""
        return self._scale

    @property
    def quadrature_size(self) -> int:
        """The number of points of the quadrature."""
        return self._quadrature_size

    def _batch_shape_tensor(self) -> Tensor:
        points = shapes.shape(self.mixture_distribution.logits)
        return broadcasting.broadcast_dynamic_shape(self.distribution.batch_shape_tensor(), points)[:-1]

    def _batch_shape(self) -> TensorShape:
        points = self.mixture_distribution.logits.shape
        return broadcast_static_shape(self.distribution.batch_shape, points)[:-1]

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        batch_size = self.batch_shape.num_elements()
        if batch_size is None:
            batch_size = reductions.reduce_prod(self.batch_shape_tensor())
        nothing = np.zeros([0], np.int32)
        is_scalar = self.mixture_distribution.is_scalar_batch()
        points = self.mixture_distribution.sample(
            concat_vectors([n], pick_vector(is_scalar, [batch_size], nothing)),
            seed=derived_seed(seed, "poisson_lognormal_quadrature_compound"),
        )
        rest = pick_vector(self.is_scalar_batch(), nothing, np.array([-1], np.int32))
        points = shapes.reshape(points, concat_vectors([n], rest))
        first = creation.range(
            0, batch_size * self._quadrature_size, self._quadrature_size, dtype=points.dtype
        )
        rates = indexing.gather(shapes.reshape(self.distribution.rate, [-1]), points + first)
        rates = shapes.reshape(rates, concat_vectors([n], self.batch_shape_tensor()))
        return distributions.random_poisson(rates, shape=[], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Tensor) -> Tensor:
        logs = self.mixture_distribution.logits + self.distribution.log_prob(x[..., None])
        return reductions.reduce_logsumexp(logs, axis=-1)

    def _mean(self) -> Tensor:
        logs = self.mixture_distribution.logits + self.distribution.log_rate
        return unary.exp(reductions.reduce_logsumexp(logs, axis=-1))

    def _variance(self) -> Tensor:
        return unary.exp(self._log_variance())

    def _stddev(self) -> Tensor:
        return unary.exp(0.5 * self._log_variance())

    def _log_variance(self) -> Tensor:
        """The variance is that within the points plus that between them."""
        off = unary.log(unary.abs(self.distribution.mean() - self._mean()[..., None]))
        logs = joining.stack([self.distribution.log_rate, 2.0 * off], axis=-1)
        return reductions.reduce_logsumexp(self.mixture_distribution.logits[..., None] + logs, axis=[-2, -1])
