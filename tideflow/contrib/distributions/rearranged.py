"""Distributions whose batches are read otherwise, and distributions of samples of samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.distributions.tools import batch_rank, event_rank, rank_of, shape_from
from tideflow.distributions.base import Distribution
from tideflow.distributions.divergence import RegisterKL, kl_divergence
from tideflow.distributions.parameters import derived_seed
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import constants, creation, joining, shapes
from tideflow.ops.arrays.indexing import where_v2
from tideflow.ops.math import binary, checks, reductions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.distributions.Independent")
class Independent(Distribution):
    """A batch of distributions, the last axes of which are read as axes of an event.

    Args:
      distribution: The batch of distributions.
      reinterpreted_batch_ndims: How many of the last axes; all but the first by default.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations; by default that of the distribution after "Independent".

    Raises:
      ValueError: If the batch does not have so many axes.
    """

    def __init__(
        self,
        distribution: Distribution,
        reinterpreted_batch_ndims: TensorLike | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ):
        parameters = dict(locals())
        self._distribution = distribution
        with name_scope(name or "Independent" + distribution.name) as name:
            rank = batch_rank(distribution)
            if reinterpreted_batch_ndims is None:
                larger = max if isinstance(rank, int) else binary.maximum
                reinterpreted_batch_ndims = larger(0, rank - 1)
            count = convert_to_tensor(
                reinterpreted_batch_ndims, dtype=dtypes.int32, name="reinterpreted_batch_ndims"
            )
            known = constant_value(count)
            self._count = count if known is None else int(known)
            super().__init__(
                dtype=distribution.dtype,
                reparameterization_type=distribution.reparameterization_type,
                validate_args=validate_args,
                allow_nan_stats=distribution.allow_nan_stats,
                parameters=parameters,
                graph_parents=[count, *distribution._graph_parents],
                name=name,
            )
            self._assertions = []
            if isinstance(self._count, int) and isinstance(rank, int):
                if self._count > rank:
                    raise ValueError(
                        f"reinterpreted_batch_ndims({self._count}) cannot exceed "
                        f"distribution.batch_ndims({rank})"
                    )
            elif validate_args:
                message = "reinterpreted_batch_ndims cannot exceed distribution.batch_ndims"
                self._assertions = [checks.assert_less_equal(count, rank, message=message)]

    @property
    def distribution(self) -> Distribution:
        """The batch of distributions."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> Any:
        """How many of the last axes of the batch are read as axes of an event."""
        return self._count

    def _batch_shape_tensor(self) -> Tensor:
        with control_dependencies(self._assertions):
            return self.distribution.batch_shape_tensor()[: batch_rank(self.distribution) - self._count]

    def _event_shape_tensor(self) -> Tensor:
        with control_dependencies(self._assertions):
            batch = self.distribution.batch_shape_tensor()
            of_events = batch[batch_rank(self.distribution) - self._count :]
            return joining.concat([of_events, self.distribution.event_shape_tensor()], 0)

    def _batch_shape(self) -> TensorShape:
        known = self.distribution.batch_shape
        if known.ndims is None or not isinstance(self._count, int):
            return as_shape(None)
        return known[: known.ndims - self._count]

    def _event_shape(self) -> TensorShape:
        known = self.distribution.batch_shape
        if known.ndims is None or not isinstance(self._count, int):
            return as_shape(None)
        return known[known.ndims - self._count :].concatenate(self.distribution.event_shape)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        with control_dependencies(self._assertions):
            return self.distribution.sample(sample_shape=n, seed=seed)

    def _log_prob(self, x: Tensor) -> Tensor:
        with control_dependencies(self._assertions):
            return self._over_events(self.distribution.log_prob(x))

    def _entropy(self) -> Tensor:
        with control_dependencies(self._assertions):
            return self._over_events(self.distribution.entropy())

    def _mean(self) -> Tensor:
        with control_dependencies(self._assertions):
            return self.distribution.mean()

    def _variance(self) -> Tensor:
        with control_dependencies(self._assertions):
            return self.distribution.variance()

    def _stddev(self) -> Tensor:
        with control_dependencies(self._assertions):
            return self.distribution.stddev()

    def _mode(self) -> Tensor:
        with control_dependencies(self._assertions):
            return self.distribution.mode()

    def _over_events(self, statistic: Tensor) -> Tensor:
        if isinstance(self._count, int):
            return reductions.reduce_sum(statistic, axis=[-1 - i for i in range(self._count)])
        return reductions.reduce_sum(statistic, axis=-1 - creation.range(self._count))


@RegisterKL(Independent, Independent)
def _kl_independent(a: Independent, b: Independent, name: str = "kl_independent") -> Tensor:
    p, q = a.distribution, b.distribution
    if a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined():
        if a.event_shape != b.event_shape:
            raise ValueError("Event shapes do not match.")
        if p.event_shape != q.event_shape:
            raise NotImplementedError("KL between Independents with different event shapes not supported.")
        axes: Any = [-i - 1 for i in range(a.event_shape.ndims - p.event_shape.ndims)]
        return reductions.reduce_sum(kl_divergence(p, q, name=name), axis=axes)
    assertions = [
        checks.assert_equal(a.event_shape_tensor(), b.event_shape_tensor()),
        checks.assert_equal(p.event_shape_tensor(), q.event_shape_tensor()),
    ]
    with control_dependencies(assertions):
        axes = creation.range(shapes.size(p.event_shape_tensor()) - shapes.size(a.event_shape_tensor()), 0)
        return reductions.reduce_sum(kl_divergence(p, q, name=name), axis=axes)


@export("contrib.distributions.BatchReshape")
class BatchReshape(Distribution):
    """A batch of distributions in another shape.

    Args:
      distribution: The batch of distributions.
      batch_shape: The shape of the batch; -1 stands for the size that fits.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations; by default that of the distribution after "BatchReshape".

    Raises:
      ValueError: If the batch cannot have the shape.
    """

    def __init__(
        self,
        distribution: Distribution,
        batch_shape: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ):
        parameters = dict(locals())
        with name_scope(name or "BatchReshape" + distribution.name, values=[batch_shape]) as name:
            self._wanted = convert_to_tensor(batch_shape, dtype=dtypes.int32, name="batch_shape")
            self._distribution = distribution
            self._known_batch = _check_reshape(distribution, self._wanted)
            self._sizes, self._assertions = self._wanted, []
            if not self._known_batch.is_fully_defined():
                self._sizes, self._assertions = _filled_in(distribution, self._wanted, validate_args)
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._wanted, *distribution._graph_parents],
            name=name,
        )

    @property
    def distribution(self) -> Distribution:
        """The batch of distributions in its own shape."""
        return self._distribution

    def _batch_shape_tensor(self) -> Tensor:
        with control_dependencies(self._assertions):
            return constants.identity(self._sizes)

    def _batch_shape(self) -> TensorShape:
        return self._known_batch

    def _event_shape_tensor(self) -> Tensor:
        with control_dependencies(self._assertions):
            return constants.identity(self.distribution.event_shape_tensor())

    def _event_shape(self) -> TensorShape:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        with control_dependencies(self._assertions):
            draws = self.distribution.sample(sample_shape=n, seed=seed)
            return shapes.reshape(draws, joining.concat([[n], self._wanted, self.event_shape_tensor()], 0))

    def _log_prob(self, x: Tensor) -> Tensor:
        return self._of_samples(self.distribution.log_prob, x)

    def _prob(self, x: Tensor) -> Tensor:
        return self._of_samples(self.distribution.prob, x)

    def _log_cdf(self, x: Tensor) -> Tensor:
        return self._of_samples(self.distribution.log_cdf, x)

    def _cdf(self, x: Tensor) -> Tensor:
        return self._of_samples(self.distribution.cdf, x)

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return self._of_samples(self.distribution.log_survival_function, x)

    def _survival_function(self, x: Tensor) -> Tensor:
        return self._of_samples(self.distribution.survival_function, x)

    def _entropy(self) -> Tensor:
        return self._reshaped(self.distribution.entropy, 0)

    def _mean(self) -> Tensor:
        return self._reshaped(self.distribution.mean, 1)

    def _mode(self) -> Tensor:
        return self._reshaped(self.distribution.mode, 1)

    def _stddev(self) -> Tensor:
        return self._reshaped(self.distribution.stddev, 1)

    def _variance(self) -> Tensor:
        return self._reshaped(self.distribution.variance, 1)

    def _covariance(self) -> Tensor:
        return self._reshaped(self.distribution.covariance, 2)

    def _reshaped(self, statistic: Callable[[], Tensor], events: int) -> Tensor:
        """A statistic that has, behind the batch, the shape of an event so many times."""
        with control_dependencies(self._assertions):
            sizes = joining.concat([self._wanted, *[self.event_shape_tensor()] * events], 0)
            result = shapes.reshape(statistic(), sizes)
            known = self.batch_shape
            for _ in range(events):
                known = known.concatenate(self.event_shape)
            result.set_shape(known)
            return result

    def _of_samples(self, function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        with control_dependencies([*self._assertions, *self._check_sample(x)]):
            samples = rank_of(x) - batch_rank(self) - event_rank(self)
            sample_shape = shapes.shape(x)[:samples]
            old = [sample_shape, self.distribution.batch_shape_tensor(), self.event_shape_tensor()]
            result = function(shapes.reshape(x, joining.concat(old, 0)))
            result = shapes.reshape(result, joining.concat([sample_shape, self._wanted], 0))
            if isinstance(samples, int):
                result.set_shape(x.shape[:samples].concatenate(self.batch_shape))
            return result

    def _check_sample(self, x: Tensor) -> list[Operation]:
        with name_scope("validate_sample_arg", values=[x]):
            rank, least = rank_of(x), batch_rank(self) + event_rank(self)
            message = "Broadcasting is not supported; too few batch and event dims"
            assertions: list[Operation] = []
            if isinstance(rank, int) and isinstance(least, int):
                if rank < least:
                    raise NotImplementedError(f"{message} (expected at least {least}, saw {rank}).")
                found, wanted = x.shape[rank - least :], self.batch_shape.concatenate(self.event_shape)
                if found.is_fully_defined() and wanted.is_fully_defined():
                    if found != wanted:
                        raise NotImplementedError(
                            "Broadcasting is not supported; unexpected batch and event shape "
                            f"(expected {wanted.as_list()}, saw {found.as_list()})."
                        )
                    return []
            elif self.validate_args:
                assertions = [checks.assert_greater_equal(rank, least, message=f"{message}.")]
            if not self.validate_args:
                return []
            with control_dependencies(assertions):
                wanted = joining.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
                found = shapes.shape(x)[binary.maximum(rank - least, 0) :]
                message = "Broadcasting is not supported; unexpected batch and event shape."
                return [checks.assert_equal(wanted, found, message=message)]


def _check_reshape(distribution: Distribution, wanted: Tensor) -> TensorShape:
    """What is known of the new shape; an error where it cannot be."""
    if wanted.shape.ndims not in (None, 1):
        raise ValueError(f"`batch_shape` must be a vector (saw rank: {wanted.shape.ndims}).")
    known = shape_from(wanted)
    size, old_size = known.num_elements(), distribution.batch_shape.num_elements()
    if size is not None and old_size is not None and size != old_size:
        raise ValueError(
            f"`batch_shape` size ({size}) must match `distribution.batch_shape` size ({old_size})."
        )
    values = constant_value(wanted)
    if (values is not None and (values < -1).any()) or 0 in (known.tuple or ()):
        raise ValueError("`batch_shape` elements must be >=-1.")
    return known


def _filled_in(
    distribution: Distribution, wanted: Tensor, validate_args: bool
) -> tuple[Tensor, list[Operation]]:
    """The new shape, the size that fits in place of -1, and the assertions that it is one."""
    old = distribution.batch_shape_tensor()
    size = reductions.reduce_prod(old)
    is_open = binary.equal(wanted, -1)
    fitting = binary.floordiv(size, binary.maximum(1, -reductions.reduce_prod(wanted)))
    sizes = where_v2(is_open, creation.fill(shapes.shape(wanted), fitting), wanted)
    if not validate_args:
        return sizes, []
    open_ones = reductions.count_nonzero(is_open, dtype=dtypes.int32)
    total = reductions.reduce_prod(sizes)
    return sizes, [
        checks.assert_rank(old, 1, message="Original shape must be a vector."),
        checks.assert_rank(wanted, 1, message="New shape must be a vector."),
        checks.assert_less_equal(open_ones, 1, message="At most one dimension can be unknown."),
        checks.assert_positive(sizes, message="Shape elements must be >=-1."),
        checks.assert_equal(total, size, message="Shape sizes do not match."),
    ]


@export("contrib.distributions.Autoregressive")
class Autoregressive(Distribution):
    """A distribution of vectors, each element of which depends on those before.

    Args:
      distribution_fn: The function of a sample that gives the distribution of the next, in which element i
        depends on the elements before i of the sample only; without a sample, the first one.
      sample0: The first sample; by default `distribution_fn` is called without one.
      num_steps: How many samples follow on another; by default as many as a sample has elements.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If the number of steps is not known or less than 1.
    """

    def __init__(
        self,
        distribution_fn: Callable[..., Distribution],
        sample0: TensorLike | None = None,
        num_steps: int | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            self._distribution_fn = distribution_fn
            self._sample0 = sample0
            self._distribution0 = distribution_fn() if sample0 is None else distribution_fn(sample0)
            if num_steps is None:
                num_steps = self._distribution0.event_shape.num_elements()
                if num_steps is None:
                    raise ValueError(
                        "distribution_fn must generate a distribution with fully known `event_shape`."
                    )
            if num_steps < 1:
                raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
            self._num_steps = num_steps
        super().__init__(
            dtype=self._distribution0.dtype,
            reparameterization_type=self._distribution0.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=self._distribution0._graph_parents,
            name=name,
        )

    @property
    def distribution_fn(self) -> Callable[..., Distribution]:
        """The function of a sample that gives the distribution of the next."""
        return self._distribution_fn

    @property
    def sample0(self) -> Any:
        """The first sample."""
        return self._sample0

    @property
    def num_steps(self) -> int:
        """How many samples follow on another."""
        return self._num_steps

    @property
    def distribution0(self) -> Distribution:
        """The first distribution."""
        return self._distribution0

    def _batch_shape(self) -> TensorShape:
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self) -> Tensor:
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self) -> TensorShape:
        return self.distribution0.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        if seed is None:  # every step must draw the same numbers
            seed = derived_seed(int(np.random.randint(2**32 - 1)), "autoregressive")
        samples = self.distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            samples = self.distribution_fn(samples).sample(seed=seed)
        return samples

    def _log_prob(self, value: Tensor) -> Tensor:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Tensor) -> Tensor:
        return self.distribution_fn(value).prob(value)
