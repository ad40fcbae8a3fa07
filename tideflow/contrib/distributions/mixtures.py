"""Distributions of samples that are each of one of several distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tideflow.contrib.distributions.tools import batch_rank, dimension_size, event_rank, pick_vector, rank_of
from tideflow.distributions.base import NOT_REPARAMETERIZED, Distribution
from tideflow.distributions.parameters import derived_seed
from tideflow.distributions.trials import Categorical
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, indexing, joining, shapes, stitching, tiling
from tideflow.ops.math import adding, binary, checks, reductions, unary
from tideflow.ops.nn import softmax


def pad_mixture_dimensions(x: Tensor, mixture: Distribution, choice: Distribution, events: Any) -> Tensor:
    """Numbers by component, of shape [..., components], with axes for the mixture's batch and an event."""
    with name_scope("pad_mix_dims", values=[x]):
        rank, of_choice = batch_rank(mixture), batch_rank(choice)
        if isinstance(rank, int) and isinstance(of_choice, int):
            missing: Any = rank if of_choice == 0 else rank - of_choice
        else:
            missing = indexing.where_v2(choice.is_scalar_batch(), rank, rank - of_choice)
        sizes = shapes.shape(x)
        ones = [creation.ones([count], dtype=dtypes.int32) for count in (missing, events)]
        return shapes.reshape(x, joining.concat([sizes[:-1], ones[0], sizes[-1:], ones[1]], 0))


def _chosen(chosen: Tensor, components: Any, dtype: dtypes.DType) -> Tensor:
    kind = dtype.as_numpy_dtype
    return creation.one_hot(chosen, components, on_value=np.ones([], kind), off_value=np.zeros([], kind))


@export("contrib.distributions.Mixture")
class Mixture(Distribution):
    """The distribution of samples that are each of one of several distributions.

    Args:
      cat: The categorical distribution of which one a sample is.
      components: The distributions, of one type and shape.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      use_static_graph: Whether all distributions draw all samples, of which one is taken: for graphs that
        must have known shapes only.
      name: The name of the operations.

    Raises:
      TypeError: If `cat` is not categorical, or the components are not distributions of one type.
      ValueError: If there are no components, not as many as classes, or their shapes differ.
    """

    def __init__(
        self,
        cat: Categorical,
        components: Sequence[Distribution],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ):
        parameters = dict(locals())
        _check_components(cat, components)
        event_shape, batch_shape = components[0].event_shape, cat.batch_shape
        for component in components:
            event_shape = event_shape.merge_with(component.event_shape)
            batch_shape = batch_shape.merge_with(component.batch_shape)
        if event_shape.ndims is None:
            raise ValueError(
                "Expected to know rank(event_shape) from components, but none of the components provide a "
                "static number of ndims"
            )
        with name_scope(name, values=[cat.logits]) as name:
            classes = constant_value(cat.event_size)
            if classes is None:
                raise ValueError(
                    "Could not infer number of classes from cat and unable to compare this value to the "
                    "number of components passed in."
                )
            if int(classes) != len(components):
                raise ValueError(f"cat.num_classes != len(components): {classes} vs. {len(components)}")
            self._assertions = _check_batches(cat, components) if validate_args else []
        self._cat, self._components = cat, list(components)
        self._known_event, self._known_batch = event_shape, batch_shape
        self._use_static_graph = use_static_graph
        super().__init__(
            dtype=components[0].dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[parent for each in (cat, *components) for parent in each._graph_parents],
            name=name,
        )

    @property
    def cat(self) -> Categorical:
        """The distribution of which component a sample is of."""
        return self._cat

    @property
    def components(self) -> list[Distribution]:
        """The components."""
        return self._components

    @property
    def num_components(self) -> int:
        """The number of components."""
        return len(self._components)

    def _batch_shape_tensor(self) -> Tensor:
        return self.cat.batch_shape_tensor()

    def _batch_shape(self) -> TensorShape:
        return self._known_batch

    def _event_shape_tensor(self) -> Tensor:
        return self.components[0].event_shape_tensor()

    def _event_shape(self) -> TensorShape:
        return self._known_event

    def _shares(self) -> list[Tensor]:
        """The probability of each component, with axes for an event."""
        shares = joining.unstack(softmax.softmax(self.cat.logits), num=self.num_components, axis=-1)
        for _ in range(self._known_event.ndims):
            shares = [shapes.expand_dims(share, -1) for share in shares]
        return shares

    def _mean(self) -> Tensor:
        with control_dependencies(self._assertions):
            means = [component.mean() for component in self.components]
            return adding.add_n([s * mean for s, mean in zip(self._shares(), means, strict=True)])

    def _variance(self) -> Tensor:
        with control_dependencies(self._assertions):
            means = joining.stack([component.mean() for component in self.components])
            deviations = joining.stack([component.stddev() for component in self.components])
            shares = joining.stack(self._shares()) * creation.ones_like(means)
            squares = reductions.reduce_sum(shares * (unary.square(deviations) + unary.square(means)), 0)
            return squares - unary.square(reductions.reduce_sum(shares * means, 0))

    def _stddev(self) -> Tensor:
        return unary.sqrt(self._variance())

    def _log_prob(self, x: Tensor) -> Tensor:
        return self._mixed("log_prob", x)

    def _log_cdf(self, x: Tensor) -> Tensor:
        return self._mixed("log_cdf", x)

    def _mixed(self, function: str, x: Tensor) -> Tensor:
        with control_dependencies(self._assertions):
            logs = [getattr(component, function)(x) for component in self.components]
            log_shares = softmax.log_softmax(self.cat.logits)
            log_shares = joining.unstack(log_shares, num=self.num_components, axis=-1)
            parts = [share + each for share, each in zip(log_shares, logs, strict=True)]
            return reductions.reduce_logsumexp(joining.stack(parts), [0])

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        if self._use_static_graph:
            return self._sample_all(n, seed)
        with control_dependencies(self._assertions):
            chosen = self.cat.sample(n, seed=seed)
            sizes = shapes.shape(chosen)
            batch_size = self.batch_shape.num_elements()
            if batch_size is None:
                batch_size = reductions.reduce_prod(self.batch_shape_tensor())
            event_shape = self.event_shape_tensor()
            places = shapes.reshape(creation.range(0, shapes.size(chosen)), sizes)
            rows = shapes.reshape(tiling.tile(creation.range(0, batch_size), [n]), sizes)
            places = stitching.dynamic_partition(places, chosen, self.num_components)
            rows = stitching.dynamic_partition(rows, chosen, self.num_components)
            drawn = []
            for component, row in zip(self.components, rows, strict=True):
                # A draw of the whole batch for each sample of this component, of which it needs one row.
                count = shapes.size(row)
                seed = derived_seed(seed, "mixture")
                draws = component.sample(count, seed=seed)
                draws = shapes.reshape(draws, joining.concat([[count * batch_size], event_shape], 0))
                drawn.append(indexing.gather(draws, batch_size * creation.range(count) + row))
            samples = stitching.dynamic_stitch(places, drawn)
            samples = shapes.reshape(samples, joining.concat([sizes, event_shape], 0))
            samples.set_shape(chosen.shape.concatenate(self.event_shape))
            return samples

    def _sample_all(self, n: Any, seed: int | None) -> Tensor:
        chosen = self.cat.sample(n, seed=seed)
        drawn = []
        for component in self.components:
            seed = derived_seed(seed, "mixture")
            drawn.append(component.sample(n, seed=seed))
        rank = self._known_event.ndims
        draws = joining.stack(drawn, -rank - 1)
        mask = _chosen(chosen, self.num_components, draws.dtype)
        return reductions.reduce_sum(
            draws * pad_mixture_dimensions(mask, self, self.cat, rank), axis=-1 - rank
        )

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Tensor:
        """Computes a number that the entropy is not below: the mean of the components' entropies.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name, [self.cat.logits]), control_dependencies(self._assertions):
            entropies = [component.entropy() for component in self.components]
            shares = joining.unstack(softmax.softmax(self.cat.logits), num=self.num_components, axis=-1)
            return adding.add_n([s * entropy for s, entropy in zip(shares, entropies, strict=True)])


def _check_components(cat: Any, components: Any) -> None:
    if not isinstance(cat, Categorical):
        raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
    if not components:
        raise ValueError("components must be a non-empty list or tuple")
    if not isinstance(components, (list, tuple)):
        raise TypeError(f"components must be a list or tuple, but saw: {components}")
    if not all(isinstance(component, Distribution) for component in components):
        raise TypeError(f"all entries in components must be Distribution instances but saw: {components}")
    if not all(component.dtype == components[0].dtype for component in components):
        kinds = [(component.name, component.dtype) for component in components]
        raise TypeError(f"All components must have the same dtype, but saw dtypes: {kinds}")


def _check_batches(cat: Categorical, components: Sequence[Distribution]) -> list[Operation]:
    wanted = cat.batch_shape_tensor()
    found = [component.batch_shape_tensor() for component in components]
    messages = [f"components[{i}] batch shape must match cat batch shape" for i in range(len(found))]
    of_ranks = [
        checks.assert_equal(shapes.size(wanted), shapes.size(sizes), message=message)
        for sizes, message in zip(found, messages, strict=True)
    ]
    of_sizes = [
        checks.assert_equal(wanted, sizes, message=message)
        for sizes, message in zip(found, messages, strict=True)
    ]
    return of_ranks + of_sizes


@export("contrib.distributions.MixtureSameFamily")
class MixtureSameFamily(Distribution):
    """The distribution of samples that are each of one of a batch of distributions.

    Args:
      mixture_distribution: The categorical distribution of which one a sample is.
      components_distribution: The batch of distributions; its last axis is that of the components.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If `mixture_distribution` is not over integers, or the shapes do not fit.
    """

    def __init__(
        self,
        mixture_distribution: Distribution,
        components_distribution: Distribution,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            self._mixture_distribution = mixture_distribution
            self._components_distribution = components_distribution
            self._event_ndims = event_rank(components_distribution)
            self._assertions = _check_family(mixture_distribution, components_distribution, validate_args)
            self._num_components = dimension_size(mixture_distribution.logits, -1)
        super().__init__(
            dtype=components_distribution.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[*mixture_distribution._graph_parents, *components_distribution._graph_parents],
            name=name,
        )

    @property
    def mixture_distribution(self) -> Distribution:
        """The distribution of which component a sample is of."""
        return self._mixture_distribution

    @property
    def components_distribution(self) -> Distribution:
        """The components."""
        return self._components_distribution

    def _batch_shape_tensor(self) -> Tensor:
        with control_dependencies(self._assertions):
            return self.components_distribution.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> TensorShape:
        return self.components_distribution.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Tensor:
        with control_dependencies(self._assertions):
            return self.components_distribution.event_shape_tensor()

    def _event_shape(self) -> TensorShape:
        return self.components_distribution.event_shape

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        with control_dependencies(self._assertions):
            draws = self.components_distribution.sample(n, seed=seed)
            other_seed = derived_seed(seed, "mixture_same_family")
            chosen = self.mixture_distribution.sample(n, seed=other_seed)
            mask = _chosen(chosen, self._num_components, draws.dtype)
            mask = pad_mixture_dimensions(mask, self, self.mixture_distribution, self._event_ndims)
            return reductions.reduce_sum(draws * mask, axis=-1 - self._event_ndims)

    def _log_prob(self, x: Tensor) -> Tensor:
        return self._mixed("log_prob", x)

    def _log_cdf(self, x: Tensor) -> Tensor:
        return self._mixed("log_cdf", x)

    def _mixed(self, function: str, x: Tensor) -> Tensor:
        with control_dependencies(self._assertions):
            logs = getattr(self.components_distribution, function)(self._beside_components(x))
            log_shares = softmax.log_softmax(self.mixture_distribution.logits, axis=-1)
            return reductions.reduce_logsumexp(logs + log_shares, axis=-1)

    def _mean(self) -> Tensor:
        with control_dependencies(self._assertions):
            means = self.components_distribution.mean()
            return reductions.reduce_sum(self._shares() * means, axis=-1 - self._event_ndims)

    def _variance(self) -> Tensor:
        with control_dependencies(self._assertions):
            within = self.components_distribution.variance()
            mean = self._beside_components(self._mean())
            between = binary.squared_difference(self.components_distribution.mean(), mean)
            axis = -1 - self._event_ndims
            within = reductions.reduce_sum(self._shares() * within, axis=axis)
            return within + reductions.reduce_sum(self._shares() * between, axis=axis)

    def _covariance(self) -> Tensor:
        if self.event_shape.ndims != 1:
            raise NotImplementedError("covariance is not implemented")
        with control_dependencies(self._assertions):
            shares = self._shares()[..., None]
            off = self.components_distribution.mean() - self._beside_components(self._mean())
            within = reductions.reduce_sum(shares * self.components_distribution.covariance(), axis=-3)
            between = reductions.reduce_sum(shares * (off[..., None, :] * off[..., None]), axis=-3)
            return within + between

    def _shares(self) -> Tensor:
        """The probability of each component, with axes for an event."""
        probs = self.mixture_distribution.probs
        return pad_mixture_dimensions(probs, self, self.mixture_distribution, self._event_ndims)

    def _beside_components(self, x: Tensor) -> Tensor:
        """A value with an axis of size 1 for the components."""
        with name_scope("pad_sample_dims", values=[x]):
            before, sizes = rank_of(x) - self._event_ndims, shapes.shape(x)
            return shapes.reshape(x, joining.concat([sizes[:before], [1], sizes[before:]], 0))


def _check_family(mixture: Any, components: Distribution, validate_args: bool) -> list[Operation]:
    """Raises where a mixture and its components do not fit; assertions for what only a step knows."""
    if not mixture.dtype.is_integer:
        raise ValueError(f"`mixture_distribution.dtype` ({mixture.dtype.name}) is not over integers")
    assertions = []
    message = "`mixture_distribution` must have scalar `event_dim`s"
    if mixture.event_shape.ndims not in (None, 0):
        raise ValueError(message)
    if mixture.event_shape.ndims is None and validate_args:
        events = shapes.size(mixture.event_shape_tensor())
        assertions.append(checks.assert_equal(events, 0, message=message))
    of_mixture = mixture.batch_shape
    of_components = components.batch_shape.with_rank_at_least(1)[:-1]
    message = (
        "`mixture_distribution.batch_shape`{} is not compatible with `components_distribution.batch_shape`{}"
    )
    if of_mixture.is_fully_defined() and of_components.is_fully_defined():
        if of_mixture.ndims != 0 and of_mixture != of_components:
            raise ValueError(
                message.format(f" (`{of_mixture.as_list()}`)", f" (`{of_components.as_list()}`)")
            )
    elif validate_args:
        sizes = components.batch_shape_tensor()[:-1]
        found = pick_vector(mixture.is_scalar_batch(), sizes, mixture.batch_shape_tensor())
        assertions.append(checks.assert_equal(found, sizes, message=message.format("", "")))
    classes = dimension_size(mixture.logits, -1)
    known = components.batch_shape.with_rank_at_least(1).tuple
    count = components.batch_shape_tensor()[-1] if known is None or known[-1] is None else known[-1]
    message = "`mixture_distribution components`{} does not equal `components_distribution.batch_shape[-1]`{}"
    if isinstance(classes, int) and isinstance(count, int):
        if classes != count:
            raise ValueError(message.format(f" ({classes})", f" ({count})"))
    elif validate_args:
        classes = convert_to_tensor(classes, dtype=dtypes.int32)
        assertions.append(checks.assert_equal(classes, count, message=message.format("", "")))
    return assertions
