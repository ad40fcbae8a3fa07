"""What every distribution is: batches of random variables, each draw of which is an event.

A sample has shape [sample shape, batch shape, event shape]. A distribution defines hooks with the names of
the public methods and a leading underscore (`_sample_n`, `_log_prob`, `_mean` …), as many as it can. Of
several that would do (`_prob`, or the exponential of `_log_prob`) the first that is there is taken.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.distributions import divergence
from tideflow.export import export, expose
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape, broadcast_static_shape
from tideflow.ops.arrays import broadcasting, constants, creation, indexing, joining, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, checks, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


@export("distributions.ReparameterizationType", "contrib.distributions.ReparameterizationType")
class ReparameterizationType:
    """Whether gradients of samples reach the parameters of a distribution.

    Args:
      rep_type: The name of the type.
    """

    def __init__(self, rep_type: str):
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameteriation Type: {self._rep_type}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")
for _kind in ("FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED"):
    expose(globals()[_kind], f"distributions.{_kind}", f"contrib.distributions.{_kind}")


def _same(result: Any) -> Any:
    return result


# Which hooks answer a question, the best first, and what is made of their answers.
LOG_PROB = [("_log_prob", _same), ("_prob", unary.log)]
PROB = [("_prob", _same), ("_log_prob", unary.exp)]
LOG_CDF = [("_log_cdf", _same), ("_cdf", unary.log)]
CDF = [("_cdf", _same), ("_log_cdf", unary.exp)]
LOG_SURVIVAL = [("_log_survival_function", _same), ("cdf", lambda cdf: unary.log1p(-cdf))]
SURVIVAL = [("_survival_function", _same), ("cdf", lambda cdf: 1.0 - cdf)]


@export("distributions.Distribution", "contrib.distributions.Distribution")
class Distribution:
    """The base of probability distributions: a random variable, or a batch of them.

    A subclass defines methods such as `_log_prob` and `_sample_n`.

    Args:
      dtype: The type of the samples.
      reparameterization_type: Whether gradients of samples reach the parameters.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      parameters: The arguments of the constructor.
      graph_parents: The tensors that the distribution is made from.
      name: The name of the operations.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: Sequence[Tensor] | None = None,
        name: str | None = None,
    ):
        for i, parent in enumerate(graph_parents or ()):
            if not isinstance(parent, Tensor):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        if not name or not name.endswith("/"):
            with name_scope(name or type(self).__name__) as name:
                pass
        self._dtype = dtypes.as_dtype(dtype)
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._parameters = parameters or {}
        self._graph_parents = list(graph_parents or ())
        self._name = name

    # ------------------------------------------------------------------------ what it was made of

    @property
    def name(self) -> str:
        """The name scope of the operations."""
        return self._name

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        hidden = ("self", "__class__")
        return {key: value for key, value in self._parameters.items() if key not in hidden}

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether gradients of samples reach the parameters."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether a statistic that is not defined is NaN; else a step fails."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether steps check the parameters and values."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Distribution:
        """Copies the distribution with other values for some arguments.

        Args:
          **override_parameters_kwargs: The new values by name.

        Returns:
          The distribution.
        """
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    @classmethod
    def param_shapes(
        cls, sample_shape: TensorLike, name: str = "DistributionParamShapes"
    ) -> dict[str, Tensor]:
        """Computes the shapes of parameters for which samples have a shape.

        Args:
          sample_shape: The shape of the samples.
          name: The name of the operation.

        Returns:
          The shapes by parameter, as tensors.
        """
        with name_scope(name, values=[sample_shape]):
            hook = getattr(cls, "_param_shapes", None)
            if hook is None:
                raise NotImplementedError(f"param_shapes is not implemented: {cls.__name__}")
            return hook(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: TensorLike) -> dict[str, TensorShape]:
        """Computes the static shapes of parameters for which samples have a shape.

        Args:
          sample_shape: The static shape of the samples.

        Returns:
          The shapes by parameter.
        """
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        known = {name: constant_value(shape) for name, shape in cls.param_shapes(sample_shape).items()}
        if any(shape is None for shape in known.values()):
            raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
        return {name: as_shape(shape.tolist()) for name, shape in known.items()}

    # ------------------------------------------------------------------------ shapes

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape of the batch."""
        return as_shape(self._known("_batch_shape"))

    @property
    def event_shape(self) -> TensorShape:
        """The static shape of one sample."""
        return as_shape(self._known("_event_shape"))

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name):
            return self._shape_tensor(self.batch_shape, "batch_shape")

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """The shape of one sample.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name):
            return self._shape_tensor(self.event_shape, "event_shape")

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether a sample is a scalar.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name):
            is_scalar = self._is_scalar(self.event_shape, self.event_shape_tensor)
            return convert_to_tensor(is_scalar, name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether there is one random variable instead of a batch.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name):
            is_scalar = self._is_scalar(self.batch_shape, self.batch_shape_tensor)
            return convert_to_tensor(is_scalar, name="is_scalar_batch")

    def _known(self, hook: str) -> Any:
        return getattr(self, hook)() if hasattr(self, hook) else None

    def _shape_tensor(self, known: TensorShape, what: str) -> Tensor:
        if known.is_fully_defined():
            return convert_to_tensor(known.as_list(), dtype=dtypes.int32, name=what)
        return self._first_of(f"{what}_tensor", [(f"_{what}_tensor", _same)])

    @staticmethod
    def _is_scalar(known: TensorShape, shape_tensor: Callable[[], Tensor]) -> Any:
        if known.ndims is not None:
            return known.ndims == 0
        sizes = shape_tensor()
        if sizes.shape.ndims is not None and sizes.shape.tuple[0] is not None:
            return sizes.shape.as_list() == [0]
        return binary.equal(shapes.shape(sizes)[0], 0)

    # ------------------------------------------------------------------------ samples

    def sample(self, sample_shape: TensorLike = (), seed: int | None = None, name: str = "sample") -> Tensor:
        """Draws samples.

        Args:
          sample_shape: How many samples, as a shape.
          seed: The seed of the random numbers.
          name: The name of the operation.

        Returns:
          A tensor of shape [sample_shape, batch_shape, event_shape].
        """
        return self._call_sample_n(sample_shape, seed, name)

    def _call_sample_n(self, sample_shape: Any, seed: int | None, name: str, **conditions: Any) -> Tensor:
        with self._name_scope(name, [sample_shape]):
            sample_shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            sample_shape, count = _as_vector(sample_shape)
            samples = self._first_of("sample_n", [("_sample_n", _same)], count, seed, **conditions)
            final_shape = joining.concat([sample_shape, shapes.shape(samples)[1:]], 0)
            samples = self._of_draws(shapes.reshape(samples, final_shape), **conditions)
            self._tell_shape(samples, sample_shape)
            return samples

    def _of_draws(self, draws: Tensor, **conditions: Any) -> Tensor:
        """What samples are made of draws of their shape."""
        return draws

    def _tell_shape(self, samples: Tensor, sample_shape: Tensor) -> None:
        """What the distribution knows of its samples' shape, where the graph does not."""
        known = constant_value(sample_shape)
        parts = [as_shape(None if known is None else known.tolist()), self.batch_shape, self.event_shape]
        ranks = [part.ndims for part in parts]
        if ranks.count(None) == 1 and samples.shape.ndims is not None:
            missing = samples.shape.ndims - sum(rank for rank in ranks if rank is not None)
            parts[ranks.index(None)] = as_shape([None] * missing)
        if all(part.ndims is not None for part in parts):
            samples.set_shape([size for part in parts for size in part.tuple])

    # ------------------------------------------------------------------------ functions of a value

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> Tensor:
        """Computes the logarithm of the probability, or of its density.

        Args:
          value: The value.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, LOG_PROB)

    def prob(self, value: TensorLike, name: str = "prob") -> Tensor:
        """Computes the probability, or its density.

        Args:
          value: The value.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, PROB)

    def log_cdf(self, value: TensorLike, name: str = "log_cdf") -> Tensor:
        """Computes the logarithm of the probability of a sample up to a value.

        Args:
          value: The value.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, LOG_CDF)

    def cdf(self, value: TensorLike, name: str = "cdf") -> Tensor:
        """Computes the probability of a sample up to a value.

        Args:
          value: The value.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, CDF)

    def log_survival_function(self, value: TensorLike, name: str = "log_survival_function") -> Tensor:
        """Computes the logarithm of the probability of a sample above a value.

        Args:
          value: The value.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, LOG_SURVIVAL)

    def survival_function(self, value: TensorLike, name: str = "survival_function") -> Tensor:
        """Computes the probability of a sample above a value.

        Args:
          value: The value.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, SURVIVAL)

    def quantile(self, value: TensorLike, name: str = "quantile") -> Tensor:
        """Computes the number below which a sample is with a given probability.

        Args:
          value: The probability.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._of_value(name, value, [("_quantile", _same)])

    # ------------------------------------------------------------------------ statistics

    def entropy(self, name: str = "entropy") -> Tensor:
        """Computes the entropy in nats.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._statistic(name, [("_entropy", _same)])

    def mean(self, name: str = "mean") -> Tensor:
        """Computes the mean.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._statistic(name, [("_mean", _same)])

    def mode(self, name: str = "mode") -> Tensor:
        """Computes the most likely value.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._statistic(name, [("_mode", _same)])

    def variance(self, name: str = "variance") -> Tensor:
        """Computes the variance.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._statistic(name, [("_variance", _same), ("_stddev", unary.square)])

    def stddev(self, name: str = "stddev") -> Tensor:
        """Computes the standard deviation.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._statistic(name, [("_stddev", _same), ("_variance", unary.sqrt)])

    def covariance(self, name: str = "covariance") -> Tensor:
        """Computes the covariance matrix of a sample's elements.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._statistic(name, [("_covariance", _same)])

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """Computes the cross entropy of this and another distribution.

        Args:
          other: The other distribution.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name):
            return self._cross_entropy(other)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """Computes the Kullback-Leibler divergence of this and another distribution, in nats.

        Args:
          other: The other distribution.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name):
            return self._kl_divergence(other)

    def _cross_entropy(self, other: Distribution) -> Tensor:
        return divergence.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def _kl_divergence(self, other: Distribution) -> Tensor:
        return divergence.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    # ------------------------------------------------------------------------ hooks

    def _of_value(
        self, name: str, value: Any, hooks: list[tuple[str, Callable]], **conditions: Any
    ) -> Tensor:
        with self._name_scope(name, [value]):
            value = convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            return self._first_of(name, hooks, value, **conditions)

    def _statistic(self, name: str, hooks: list[tuple[str, Callable]]) -> Tensor:
        with self._name_scope(name):
            return self._first_of(name, hooks)

    def _first_of(self, what: str, hooks: list[tuple[str, Callable]], *args: Any, **conditions: Any) -> Any:
        """What the first hook that is there gives, made into what was asked for."""
        refusal = NotImplementedError(f"{what} is not implemented: {type(self).__name__}")
        for i, (hook, made) in enumerate(hooks):
            if hasattr(self, hook):
                try:
                    return made(getattr(self, hook)(*args, **conditions))
                except NotImplementedError as error:  # a hook may say that it is not there after all
                    refusal = error if i == 0 else refusal
        raise refusal

    def _where_defined(self, defined: Tensor, value: Tensor, above_one: dict[str, Tensor]) -> Tensor:
        """A statistic; where it is not defined, NaN. If that is not allowed, it is an error, with a message,
        that a parameter is not above 1.
        """
        if self.allow_nan_stats:
            nan = np.array(np.nan, self.dtype.as_numpy_dtype)
            return indexing.where_v2(defined, value, creation.fill(shapes.shape(value), nan, name="nan"))
        one = creation.ones([], dtype=self.dtype)
        assertions = [checks.assert_less(one, x, message=message) for message, x in above_one.items()]
        return grouping.with_dependencies(assertions, value)

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None, values: Sequence[Any] = ()) -> Iterator[str]:
        with name_scope(self.name), name_scope(name, values=[*values, *self._graph_parents]) as scope:
            yield scope

    def __str__(self) -> str:
        shown = "".join(
            f", {what}={shape}"
            for what, shape in (("batch_shape", self.batch_shape), ("event_shape", self.event_shape))
            if shape.ndims is not None
        )
        return f'tfp.distributions.{type(self).__name__}("{self.name}"{shown}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
            f"event_shape={self.event_shape} dtype={self.dtype.name}>"
        )


def _as_vector(sample_shape: Tensor) -> tuple[Tensor, Any]:
    """A sample shape as a vector, and how many draws it means."""
    known = constant_value(sample_shape)
    count = reductions.reduce_prod(sample_shape) if known is None else np.prod(known, dtype=np.int32)
    rank = sample_shape.shape.ndims
    if rank is None:
        is_scalar = binary.equal(shapes.rank(sample_shape), 0)
        size = indexing.where(is_scalar, 1, shapes.size(sample_shape))
        return shapes.reshape(sample_shape, [size]), count
    if rank > 1:
        raise ValueError("Input is neither scalar nor vector.")
    if rank == 1:
        return sample_shape, count
    if known is not None:
        return convert_to_tensor(np.array([known], np.int32), name="sample_shape"), count
    return shapes.reshape(sample_shape, [1]), count


class ScalarDistribution(Distribution):
    """One number a draw; the batch is what the parameters, named in `_PARAMETERS`, broadcast to."""

    _PARAMETERS: tuple[str, ...]

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        return dict.fromkeys(cls._PARAMETERS, convert_to_tensor(sample_shape, dtype=dtypes.int32))

    def _batch_shape(self) -> TensorShape:
        found = (getattr(self, name).shape for name in self._PARAMETERS)
        return functools.reduce(broadcast_static_shape, found)

    def _batch_shape_tensor(self) -> Tensor:
        found = [shapes.shape(getattr(self, name)) for name in self._PARAMETERS]
        return functools.reduce(broadcasting.broadcast_dynamic_shape, found)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _event_shape_tensor(self) -> Tensor:
        return constants.constant([], dtype=dtypes.int32)

    def _draws_shape(self, n: Any) -> Tensor:
        """The shape of `n` draws of the whole batch."""
        return joining.concat([[n], self.batch_shape_tensor()], 0)
