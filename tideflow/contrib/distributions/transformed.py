"""Distributions of the images of samples, and distributions whose methods take further arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.contrib.distributions.bijectors.base import Bijector
from tideflow.contrib.distributions.bijectors.combined import Identity
from tideflow.contrib.distributions.tools import (
    concat_vectors,
    event_rank,
    pick_vector,
    shape_from,
    static_value,
)
from tideflow.distributions.base import (
    CDF,
    LOG_CDF,
    LOG_PROB,
    LOG_SURVIVAL,
    PROB,
    SURVIVAL,
    Distribution,
)
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, broadcast_static_shape
from tideflow.ops.arrays import creation, joining, shapes, tiling
from tideflow.ops.arrays.indexing import where_v2
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, casting, checks, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _and_not(condition: Any, *refused: Any) -> Any:
    """Whether the first holds and none of the others: a bool where that is known, else a tensor."""
    terms = [(condition, True), *((each, False) for each in refused)]
    left = None
    for term, wanted in terms:
        value = term if isinstance(term, bool) else static_value(term)
        if value is not None:
            if bool(value) != wanted:
                return False
            continue
        term = term if wanted else unary.logical_not(term)
        left = term if left is None else binary.logical_and(left, term)
    return True if left is None else left


@export("contrib.distributions.TransformedDistribution")
class TransformedDistribution(Distribution):
    """The distribution of what a bijector makes of samples.

    Args:
      distribution: The distribution of the samples.
      bijector: The bijector; the identity by default.
      batch_shape: The shape of the batch, in place of that of a distribution which has none.
      event_shape: The shape of an event, in place of that of a distribution of single numbers.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations; by default that of the bijector and of the distribution.

    Raises:
      ValueError: If a shape is given for a distribution that has one of its own.
    """

    def __init__(
        self,
        distribution: Distribution,
        bijector: Bijector | None = None,
        batch_shape: TensorLike | None = None,
        event_shape: TensorLike | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ):
        parameters = dict(locals())
        name = name or ("" if bijector is None else bijector.name) + distribution.name
        with name_scope(name, values=[event_shape, batch_shape]) as name:
            if bijector is None:
                bijector = Identity(validate_args=validate_args)
            scalar_batch, scalar_event = distribution.is_scalar_batch(), distribution.is_scalar_event()
            self._given_batch = _checked_override(batch_shape, scalar_batch, validate_args, "batch_shape")
            self._given_event = _checked_override(event_shape, scalar_event, validate_args, "event_shape")
            self._has_batch = _is_not_empty(self._given_batch)
            self._has_event = _is_not_empty(self._given_event)
            # Draws of a batch, one for each element of an event, have the event's axes first.
            self._needs_rotation = _and_not(self._has_event, self._has_batch, scalar_batch)
            event_axes = shapes.size(self._given_event)
            known = constant_value(event_axes)
            event_axes = event_axes if known is None else int(known)
            if isinstance(self._needs_rotation, bool):
                self._rotated_axes = event_axes if self._needs_rotation else 0
            else:
                self._rotated_axes = where_v2(self._needs_rotation, event_axes, 0)
            first = self._rotated_axes - event_axes
            self._event_axes = creation.range(first, self._rotated_axes)
        self._distribution, self._bijector = distribution, bijector
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters,
            graph_parents=[*distribution._graph_parents, *bijector.graph_parents],
            name=name,
        )

    @property
    def distribution(self) -> Distribution:
        """The distribution of the samples before the bijector."""
        return self._distribution

    @property
    def bijector(self) -> Bijector:
        """The bijector."""
        return self._bijector

    def _event_shape_tensor(self) -> Tensor:
        of_base = self.distribution.event_shape_tensor()
        sizes = pick_vector(self._has_event, self._given_event, of_base)
        return self.bijector.forward_event_shape_tensor(sizes)

    def _event_shape(self) -> TensorShape:
        if self._has_event is False:
            return self.bijector.forward_event_shape(self.distribution.event_shape)
        return self.bijector.forward_event_shape(shape_from(self._given_event))

    def _batch_shape_tensor(self) -> Tensor:
        return pick_vector(self._has_batch, self._given_batch, self.distribution.batch_shape_tensor())

    def _batch_shape(self) -> TensorShape:
        return self.distribution.batch_shape if self._has_batch is False else shape_from(self._given_batch)

    # ------------------------------------------------------------------------ samples

    def _sample_n(
        self, n: Any, seed: int | None = None, bijector_kwargs: Any = None, distribution_kwargs: Any = None
    ) -> Tensor:
        empty = creation.zeros([0], dtype=dtypes.int32)
        rotates = self._needs_rotation
        before, behind = pick_vector(rotates, empty, [n]), pick_vector(rotates, [n], empty)
        count = concat_vectors(before, self._given_batch, self._given_event, behind)
        draws = self.distribution.sample(sample_shape=count, seed=seed, **(distribution_kwargs or {}))
        return self._rotated(draws)

    def _of_draws(
        self, draws: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None
    ) -> Tensor:
        return self.bijector.forward(draws, **(bijector_kwargs or {}))

    def _rotated(self, x: Tensor, back: bool = False) -> Tensor:
        if self._needs_rotation is False:
            return x
        rank = shapes.rank(x)
        first = rank - self._rotated_axes if back else self._rotated_axes
        return shapes.transpose(x, concat_vectors(creation.range(first, rank), creation.range(0, first)))

    # ------------------------------------------------------------------------ functions of a value

    def _log_prob(self, y: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Tensor:
        densities = self._densities("log_prob", y, bijector_kwargs, distribution_kwargs)
        if len(densities) == 1:
            return densities[0]
        return reductions.reduce_logsumexp(joining.stack(densities), axis=0)

    def _prob(self, y: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Tensor:
        return sum(self._densities("prob", y, bijector_kwargs, distribution_kwargs))

    def _densities(self, which: str, y: Tensor, bijector_kwargs: Any, distribution_kwargs: Any) -> list:
        """The density, or its logarithm, by each value whose image is `y`: one, but for odd bijectors."""
        of_bijector, of_base = bijector_kwargs or {}, distribution_kwargs or {}
        x = self.bijector.inverse(y, **of_bijector)
        rank = event_rank(self)
        log_det = self.bijector.inverse_log_det_jacobian(y, event_ndims=rank, **of_bijector)
        pairs = [(x, log_det)] if self.bijector._is_injective else list(zip(x, log_det, strict=True))
        return [self._density(which, y, x, log_det, rank, of_base) for x, log_det in pairs]

    def _density(
        self, which: str, y: Tensor, x: Tensor, log_det: Tensor, rank: Any, of_base: dict[str, Any]
    ) -> Tensor:
        density = getattr(self.distribution, which)(self._rotated(x, back=True), **of_base)
        over_events = reductions.reduce_sum if which == "log_prob" else reductions.reduce_prod
        if self._has_event is not False:
            density = over_events(density, self._event_axes)
        log_det = casting.cast(log_det, density.dtype)
        density = density + log_det if which == "log_prob" else density * unary.exp(log_det)
        if self._has_event is not False and isinstance(rank, int) and y.shape.ndims is not None:
            of_samples = y.shape.with_rank_at_least(1)[:-rank]
            density.set_shape(broadcast_static_shape(of_samples, self.batch_shape))
        return density

    def _check_plain(self, what: str) -> None:
        if self._has_event is not False:
            raise NotImplementedError(f"{what} is not implemented when overriding event_shape")
        self._check_injective(what)

    def _check_injective(self, what: str) -> None:
        if not self.bijector._is_injective:
            raise NotImplementedError(f"{what} is not implemented when bijector is not injective.")

    def _of_preimage(self, what: str, y: Tensor, bijector_kwargs: Any, distribution_kwargs: Any) -> Tensor:
        self._check_plain(what)
        x = self.bijector.inverse(y, **(bijector_kwargs or {}))
        return getattr(self.distribution, what)(x, **(distribution_kwargs or {}))

    def _log_cdf(self, y: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Tensor:
        return self._of_preimage("log_cdf", y, bijector_kwargs, distribution_kwargs)

    def _cdf(self, y: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Tensor:
        return self._of_preimage("cdf", y, bijector_kwargs, distribution_kwargs)

    def _log_survival_function(
        self, y: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None
    ) -> Tensor:
        return self._of_preimage("log_survival_function", y, bijector_kwargs, distribution_kwargs)

    def _survival_function(
        self, y: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None
    ) -> Tensor:
        return self._of_preimage("survival_function", y, bijector_kwargs, distribution_kwargs)

    def _quantile(
        self, value: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None
    ) -> Tensor:
        self._check_plain("quantile")
        x = self.distribution.quantile(value, **(distribution_kwargs or {}))
        return self.bijector.forward(x, **(bijector_kwargs or {}))

    def _entropy(self) -> Tensor:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        self._check_injective("entropy")
        entropy = self.distribution.entropy()
        if self._has_event is not False:
            entropy *= casting.cast(reductions.reduce_prod(self._given_event), entropy.dtype.base_dtype)
        of_base = self.distribution.batch_shape_tensor()
        if self._has_batch is not False:
            before = creation.ones_like(self._given_batch)
            entropy = shapes.reshape(entropy, joining.concat([before, of_base], 0))
            times = joining.concat([self._given_batch, creation.ones_like(of_base)], 0)
            entropy = tiling.tile(entropy, times)
        anywhere = creation.zeros(
            joining.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), dtype=self.dtype
        )
        log_det = self.bijector.inverse_log_det_jacobian(anywhere, event_ndims=event_rank(self))
        entropy -= casting.cast(log_det, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy


def _is_not_empty(sizes: Tensor) -> Any:
    """Whether a shape has axes: a bool where that is known, else a tensor."""
    count = shapes.size(sizes)
    known = constant_value(count)
    return binary.not_equal(count, 0) if known is None else bool(known)


def _checked_override(given: Any, base_is_scalar: Any, validate_args: bool, name: str) -> Tensor:
    sizes = convert_to_tensor([] if given is None else given, dtype=dtypes.int32, name=name)
    if sizes.shape.ndims not in (None, 1):
        raise ValueError("shape override must be a vector")
    if sizes.shape.tuple == (0,):
        return sizes
    assertions = []
    if sizes.shape.ndims is None and validate_args:
        assertions.append(checks.assert_rank(sizes, 1, message="shape override must be a vector"))
    known = constant_value(sizes)
    message = "shape override must have positive elements"
    if known is not None and (known <= 0).any():
        raise ValueError(message)
    if known is None and validate_args:
        assertions.append(checks.assert_positive(sizes, message=message))
    both = _and_not(_is_not_empty(sizes), base_is_scalar)
    message = "base distribution not scalar"
    if both is True:
        raise ValueError(message)
    if both is not False and validate_args:
        assertions.append(checks.assert_equal(both, False, message=message))
    return grouping.with_dependencies(assertions, sizes) if assertions else sizes


@export("contrib.distributions.ConditionalDistribution")
class ConditionalDistribution(Distribution):
    """The base of distributions whose methods take further arguments, which reach `_log_prob` and its kin.

    Args:
      dtype: The type of the samples.
      reparameterization_type: Whether gradients of samples reach the parameters.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      parameters: The arguments of the constructor.
      graph_parents: The tensors that the distribution is made from.
      name: The name of the operations.
    """

    def sample(
        self,
        sample_shape: TensorLike = (),
        seed: int | None = None,
        name: str = "sample",
        **condition_kwargs: Any,
    ) -> Tensor:
        """Draws samples.

        Args:
          sample_shape: How many samples, as a shape.
          seed: The seed of the random numbers.
          name: The name of the operation.
          **condition_kwargs: The arguments of `_sample_n`.

        Returns:
          A tensor of shape [sample_shape, batch_shape, event_shape].
        """
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value: TensorLike, name: str = "log_prob", **condition_kwargs: Any) -> Tensor:
        """Computes the logarithm of the probability, or of its density.

        Args:
          value: The value.
          name: The name of the operation.
          **condition_kwargs: The arguments of `_log_prob`.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, LOG_PROB, **condition_kwargs)

    def prob(self, value: TensorLike, name: str = "prob", **condition_kwargs: Any) -> Tensor:
        """Computes the probability, or its density.

        Args:
          value: The value.
          name: The name of the operation.
          **condition_kwargs: The arguments of `_prob`.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, PROB, **condition_kwargs)

    def log_cdf(self, value: TensorLike, name: str = "log_cdf", **condition_kwargs: Any) -> Tensor:
        """Computes the logarithm of the probability of a sample up to a value.

        Args:
          value: The value.
          name: The name of the operation.
          **condition_kwargs: The arguments of `_log_cdf`.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, LOG_CDF, **condition_kwargs)

    def cdf(self, value: TensorLike, name: str = "cdf", **condition_kwargs: Any) -> Tensor:
        """Computes the probability of a sample up to a value.

        Args:
          value: The value.
          name: The name of the operation.
          **condition_kwargs: The arguments of `_cdf`.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, CDF, **condition_kwargs)

    def log_survival_function(
        self, value: TensorLike, name: str = "log_survival_function", **condition_kwargs: Any
    ) -> Tensor:
        """Computes the logarithm of the probability of a sample above a value.

        Args:
          value: The value.
          name: The name of the operation.
          **condition_kwargs: The arguments of `_log_survival_function`.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, LOG_SURVIVAL, **condition_kwargs)

    def survival_function(
        self, value: TensorLike, name: str = "survival_function", **condition_kwargs: Any
    ) -> Tensor:
        """Computes the probability of a sample above a value.

        Args:
          value: The value.
          name: The name of the operation.
          **condition_kwargs: The arguments of `_survival_function`.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, SURVIVAL, **condition_kwargs)


@export("contrib.distributions.ConditionalTransformedDistribution")
class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """The distribution of what a bijector makes of samples; both may take further arguments.

    Its methods take them as `bijector_kwargs` and `distribution_kwargs`.

    Args:
      distribution: The distribution of the samples.
      bijector: The bijector; the identity by default.
      batch_shape: The shape of the batch, in place of that of a distribution which has none.
      event_shape: The shape of an event, in place of that of a distribution of single numbers.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations; by default that of the bijector and of the distribution.
    """
