"""One of several classes, as a vector with one 1, and its relaxations, of which there are gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.distributions.bijectors.elementwise import Exp, Sigmoid
from tideflow.contrib.distributions.location_scale import Logistic
from tideflow.contrib.distributions.tools import as_one_hot
from tideflow.contrib.distributions.transformed import TransformedDistribution
from tideflow.distributions.base import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution
from tideflow.distributions.divergence import RegisterKL
from tideflow.distributions.parameters import logits_and_probs
from tideflow.distributions.trials import kl_of_classes
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, diagonals, joining, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.linalg import matmul
from tideflow.ops.math import casting, checks, reductions, unary
from tideflow.ops.nn import softmax
from tideflow.ops.random import choices, distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


class _OfClasses(Distribution):
    """A distribution of vectors with an element a class."""

    _logits: Tensor
    _probs: Tensor
    _event_size: Tensor

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
        """The probabilities of the classes."""
        return self._probs

    def _set_classes(self, logits: Any, probs: Any, validate_args: bool, name: str) -> None:
        self._logits, self._probs = logits_and_probs(logits, probs, validate_args, name, of_classes=True)
        self._logits.shape.with_rank_at_least(1)
        with name_scope("event_size"):
            self._event_size = shapes.shape(self._logits)[-1]

    def _batch_shape_tensor(self) -> Tensor:
        return shapes.shape(self.logits)[:-1]

    def _batch_shape(self) -> TensorShape:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return shapes.shape(self.logits)[-1:]

    def _event_shape(self) -> TensorShape:
        return self.logits.shape.with_rank_at_least(1)[-1:]

    def _draws_shape(self, n: Any) -> Tensor:
        return joining.concat([[n], shapes.shape(self.logits)], 0)

    def _beside_logits(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Values and logits of one shape."""
        logits = self.logits
        if x.shape.is_fully_defined() and x.shape == logits.shape:
            return x, logits
        logits = creation.ones_like(x, dtype=logits.dtype) * logits
        return creation.ones_like(logits, dtype=x.dtype) * x, logits

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        zero = creation.zeros([], dtype=self.dtype)
        total = reductions.reduce_logsumexp(x, axis=[-1])
        assertions = [checks.assert_non_positive(x), checks.assert_near(zero, total)]
        return grouping.with_dependencies(assertions, x)


@export("contrib.distributions.OneHotCategorical")
class OneHotCategorical(_OfClasses):
    """The categorical distribution, whose samples are vectors with a 1 for the class.

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
        name: str = "OneHotCategorical",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._set_classes(logits, probs, validate_args, name)
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        logits = self.logits
        if logits.shape.ndims != 2:
            logits = shapes.reshape(logits, [-1, self.event_size])
        draws = shapes.transpose(choices.multinomial(logits, n, seed=seed))
        draws = creation.one_hot(draws, self.event_size, dtype=self.dtype)
        return shapes.reshape(draws, self._draws_shape(n))

    def _log_prob(self, x: Tensor) -> Tensor:
        x, logits = self._beside_logits(self._checked(x))
        flat_x, flat_logits = (shapes.reshape(each, [-1, self.event_size]) for each in (x, logits))
        flat_x = casting.cast(flat_x, flat_logits.dtype)
        log_prob = -softmax.softmax_cross_entropy_with_logits_v2(labels=flat_x, logits=flat_logits)
        return shapes.reshape(log_prob, shapes.shape(reductions.reduce_sum(logits, -1)))

    def _entropy(self) -> Tensor:
        return -reductions.reduce_sum(softmax.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Tensor:
        mode = as_one_hot(self.logits, self.event_size, self.dtype)
        mode.set_shape(self.logits.shape)
        return mode

    def _variance(self) -> Tensor:
        return self.probs * (1.0 - self.probs)

    def _covariance(self) -> Tensor:
        products = matmul.matmul(self.probs[..., None], self.probs[..., None, :])
        return diagonals.matrix_set_diag(-products, self._variance())


RegisterKL(OneHotCategorical, OneHotCategorical)(kl_of_classes)


@export("contrib.distributions.ExpRelaxedOneHotCategorical")
class ExpRelaxedOneHotCategorical(_OfClasses):
    """The distribution of logarithms of relaxed one-hot vectors (`RelaxedOneHotCategorical`).

    Args:
      temperature: The temperature, above 0: the nearer to 0, the nearer samples are to one-hot vectors.
      logits: The logits, of shape [..., classes].
      probs: The probabilities, of shape [..., classes]. Exactly one of the two must be given.
      dtype: The type of the samples; that of the logits by default.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            self._set_classes(logits, probs, validate_args, name)
            if dtype is None:
                dtype = self._logits.dtype
                temperature = temperature if validate_args else casting.cast(temperature, dtype)
            with control_dependencies([checks.assert_positive(temperature)] if validate_args else []):
                self._temperature = constants.identity(temperature, name="temperature")
                self._temperature_2d = shapes.reshape(temperature, [-1, 1], name="temperature_2d")
        super().__init__(
            dtype=dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs, self._temperature],
            name=name,
        )

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self._temperature

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        sizes = self._draws_shape(n)
        logits = self.logits * creation.ones(sizes, dtype=self.dtype)
        logits = shapes.reshape(logits, [-1, self.event_size])
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny  # not 0: its logarithm would be infinite
        shares = distributions.random_uniform(
            shapes.shape(logits), minval=smallest, maxval=1.0, dtype=self.dtype, seed=seed
        )
        gumbels = -unary.log(-unary.log(shares))
        draws = softmax.log_softmax((gumbels + logits) / self._temperature_2d)
        return shapes.reshape(draws, sizes)

    def _log_prob(self, x: Tensor) -> Tensor:
        x, logits = self._beside_logits(self._checked(x))
        flat_x, flat_logits = (shapes.reshape(each, [-1, self.event_size]) for each in (x, logits))
        classes = casting.cast(self.event_size, x.dtype)
        constant = unary.lgamma(classes) + (classes - 1.0) * unary.log(self.temperature)
        shares = softmax.log_softmax(flat_logits - flat_x * self._temperature_2d)
        log_prob = constant + reductions.reduce_sum(shares, [-1])
        return shapes.reshape(log_prob, shapes.shape(reductions.reduce_sum(logits, axis=[-1])))


@export("contrib.distributions.RelaxedOneHotCategorical")
class RelaxedOneHotCategorical(TransformedDistribution):
    """The distribution of vectors of positive numbers whose sum is 1, near to one-hot vectors.

    Args:
      temperature: The temperature, above 0: the nearer to 0, the nearer samples are to one-hot vectors.
      logits: The logits, of shape [..., classes].
      probs: The probabilities, of shape [..., classes]. Exactly one of the two must be given.
      dtype: The type of the samples; that of the logits by default.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ):
        parameters = dict(locals())
        logarithms = ExpRelaxedOneHotCategorical(
            temperature,
            logits=logits,
            probs=probs,
            dtype=dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
        )
        super().__init__(logarithms, Exp(), name=name)
        self._parameters = parameters


@export("contrib.distributions.RelaxedBernoulli")
class RelaxedBernoulli(TransformedDistribution):
    """The distribution of numbers between 0 and 1 that are near to one or the other.

    Args:
      temperature: The temperature, above 0: the nearer to 0, the nearer samples are to 0 and 1.
      logits: The logits of 1.
      probs: The probabilities of 1. Exactly one of the two must be given.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            with control_dependencies([checks.assert_positive(temperature)] if validate_args else []):
                self._temperature = constants.identity(temperature, name="temperature")
            self._logits, self._probs = logits_and_probs(logits, probs, validate_args, "get_logits_and_probs")
            super().__init__(
                distribution=Logistic(
                    self._logits / self._temperature,
                    1.0 / self._temperature,
                    validate_args=validate_args,
                    allow_nan_stats=allow_nan_stats,
                    name=name + "/Logistic",
                ),
                bijector=Sigmoid(validate_args=validate_args),
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        return {"logits": convert_to_tensor(sample_shape, dtype=dtypes.int32)}

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self._temperature

    @property
    def logits(self) -> Tensor:
        """The logits of 1."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of 1."""
        return self._probs
