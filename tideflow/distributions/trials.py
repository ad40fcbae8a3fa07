"""One trial: of a coin (Bernoulli's distribution), of a die (the categorical one)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.distributions.base import NOT_REPARAMETERIZED, Distribution, ScalarDistribution
from tideflow.distributions.divergence import RegisterKL
from tideflow.distributions.parameters import check_classes, check_outcomes, logits_and_probs
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.nn.cross_entropy import sigmoid_cross_entropy_with_logits
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes
from tideflow.ops.math import casting, positions, reductions, unary
from tideflow.ops.nn import activations, softmax
from tideflow.ops.random import choices, distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


@export("distributions.Bernoulli", "contrib.distributions.Bernoulli")
class Bernoulli(ScalarDistribution):
    """The Bernoulli distribution: 1 with a probability, else 0.

    Args:
      logits: The logits of 1.
      probs: The probabilities of 1. Exactly one of the two must be given.
      dtype: The type of the samples.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    _PARAMETERS = ("logits",)

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            self._logits, self._probs = logits_and_probs(logits, probs, validate_args, name)
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )

    @property
    def logits(self) -> Tensor:
        """The logits of 1."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probability of 1."""
        return self._probs

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        numbers = distributions.random_uniform(self._draws_shape(n), seed=seed, dtype=self.probs.dtype)
        return casting.cast(numbers < self.probs, self.dtype)

    def _log_prob(self, event: Tensor) -> Tensor:
        if self.validate_args:
            event = check_outcomes(event, dtypes.bool)
        event, logits = casting.cast(event, self.logits.dtype), self.logits
        if not (event.shape.is_fully_defined() and event.shape == logits.shape):
            event, logits = creation.ones_like(logits) * event, creation.ones_like(event) * logits
        return -sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Tensor:
        surprise = activations.softplus(-self.logits)
        return -self.logits * (unary.sigmoid(self.logits) - 1.0) + surprise

    def _mean(self) -> Tensor:
        return constants.identity(self.probs)

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Tensor:
        return casting.cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_bernoulli_bernoulli", [a.logits, b.logits]):
        of_one = activations.softplus(-b.logits) - activations.softplus(-a.logits)
        of_zero = activations.softplus(b.logits) - activations.softplus(a.logits)
        return unary.sigmoid(a.logits) * of_one + unary.sigmoid(-a.logits) * of_zero


@export("distributions.Categorical", "contrib.distributions.Categorical")
class Categorical(Distribution):
    """The categorical distribution: the number of a class.

    Args:
      logits: The logits, of shape [..., classes].
      probs: The probabilities, of shape [..., classes]. Exactly one of the two must be given.
      dtype: The type of the samples.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = logits_and_probs(logits, probs, validate_args, name, of_classes=True)
            if validate_args:
                self._logits = check_classes(self._logits)
            self._set_sizes(self._logits.shape.with_rank_at_least(1))
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )

    def _set_sizes(self, known: TensorShape) -> None:
        """Constants for what is known of the shape of the logits, operations for the rest."""
        if known.ndims is not None:
            self._batch_rank = convert_to_tensor(known.ndims - 1, dtype=dtypes.int32, name="batch_rank")
        else:
            with name_scope("batch_rank"):
                self._batch_rank = shapes.rank(self._logits) - 1
        sizes = shapes.shape(self._logits, name="logits_shape")
        if known.ndims is not None and known.tuple[-1] is not None:
            self._event_size = convert_to_tensor(known.tuple[-1], dtype=dtypes.int32, name="event_size")
        else:
            with name_scope("event_size"):
                self._event_size = sizes[self._batch_rank]
        if known[:-1].is_fully_defined():
            batch = known[:-1].as_list()
            self._batch_sizes = constants.constant(batch, dtype=dtypes.int32, name="batch_shape")
        else:
            with name_scope("batch_shape"):
                self._batch_sizes = sizes[:-1]

    @property
    def event_size(self) -> Tensor:
        """The number of classes."""
        return self._event_size

    @property
    def logits(self) -> Tensor:
        """The logits of the classes."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._probs

    def _batch_shape(self) -> TensorShape:
        return self.logits.shape[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return constants.identity(self._batch_sizes)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        logits = self.logits
        if logits.shape.ndims != 2:
            logits = shapes.reshape(logits, [-1, self.event_size])
        sample_dtype = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        draws = choices.multinomial(logits, n, seed=seed, output_dtype=sample_dtype)
        draws = shapes.reshape(shapes.transpose(draws), joining.concat([[n], self.batch_shape_tensor()], 0))
        return casting.cast(draws, self.dtype)

    def _cdf(self, k: Tensor) -> Tensor:
        """The probability of the classes before `k`: TensorFlow leaves `k` itself out."""
        k, probs = self._broadcast(k, self.probs)
        flat_probs = shapes.reshape(probs, [-1, self.event_size])
        before = creation.sequence_mask(shapes.reshape(k, [-1]), self.event_size)
        chosen = indexing.where(before, flat_probs, creation.zeros_like(flat_probs))
        return shapes.reshape(reductions.reduce_sum(chosen, axis=-1), shapes.shape(k))

    def _log_prob(self, k: Tensor) -> Tensor:
        k, logits = self._broadcast(k, self.logits)
        return -softmax.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _entropy(self) -> Tensor:
        return -reductions.reduce_sum(softmax.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Tensor:
        mode = casting.cast(positions.argmax(self.logits, axis=self._batch_rank), self.dtype)
        mode.set_shape(self.batch_shape)
        return mode

    def _broadcast(self, k: Tensor, parameter: Tensor) -> tuple[Tensor, Tensor]:
        """Classes, and a parameter by class, of one batch shape."""
        if self.validate_args:
            k = check_outcomes(k, dtypes.int32)
        if k.dtype.is_floating:
            k = casting.cast(k, dtypes.int32)
        elif not k.dtype.is_integer:
            raise TypeError(f"`value` should have integer `dtype` or `self.dtype` ({self.dtype.base_dtype})")
        known = parameter.shape[:-1]
        if known.is_fully_defined() and k.shape.is_fully_defined() and known == k.shape:
            return k, parameter
        parameter = parameter * creation.ones_like(k[..., None], dtype=parameter.dtype)
        k = k * creation.ones(shapes.shape(parameter)[:-1], dtype=k.dtype)
        if parameter.shape.ndims is not None:
            k.set_shape(parameter.shape[:-1])
        return k, parameter


@RegisterKL(Categorical, Categorical)
def kl_of_classes(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The divergence of two distributions of classes that have logits."""
    with name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        difference = softmax.log_softmax(a.logits) - softmax.log_softmax(b.logits)
        return reductions.reduce_sum(softmax.softmax(a.logits) * difference, axis=-1)
