"""Distributions of counts: of successes, of failures before one, of events in a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.distributions.base import NOT_REPARAMETERIZED, ScalarDistribution
from tideflow.distributions.parameters import check_counts, check_whole, derived_seed, logits_and_probs
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation
from tideflow.ops.arrays.indexing import where_v2
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, checks, special, unary
from tideflow.ops.nn import activations
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _OfTrials(ScalarDistribution):
    """A distribution of counts in trials of one probability of success."""

    _logits: Tensor
    _probs: Tensor

    # TensorFlow does not tell the shapes of these distributions' parameters.
    _param_shapes = None  # type: ignore[assignment]

    @property
    def logits(self) -> Tensor:
        """The logits of success."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probability of success."""
        return self._probs

    def _checked(self, counts: Tensor) -> Tensor:
        return check_counts(counts) if self.validate_args else counts


@export("contrib.distributions.Binomial")
class Binomial(_OfTrials):
    """The binomial distribution: how many of a number of trials succeed.

    Args:
      total_count: The number of trials.
      logits: The logits of success.
      probs: The probabilities of success. Exactly one of the two must be given.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    _PARAMETERS = ("total_count", "probs")

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                fraction = "total_count cannot contain fractional components."
                negative = "total_count must be non-negative."
                assertions = [
                    checks.assert_non_negative(self._total_count, message=negative),
                    check_whole(self._total_count, fraction),
                ]
                self._total_count = grouping.with_dependencies(assertions, self._total_count)
            self._logits, self._probs = logits_and_probs(logits, probs, validate_args, name)
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._logits, self._probs],
            name=name,
        )

    @property
    def total_count(self) -> Tensor:
        """The number of trials."""
        return self._total_count

    def _log_prob(self, counts: Tensor) -> Tensor:
        counts = self._checked(counts)
        failures = self.total_count - counts
        in_order = counts * unary.log(self.probs) + failures * unary.log1p(-self.probs)
        orders = unary.lgamma(1.0 + failures) + unary.lgamma(1.0 + counts)
        return in_order - (orders - unary.lgamma(1.0 + self.total_count))

    def _cdf(self, counts: Tensor) -> Tensor:
        counts = self._checked(counts)
        probs = self.probs + creation.zeros_like(counts)
        counts = counts + creation.zeros_like(self.probs)
        failures = self.total_count - counts
        is_all = binary.equal(counts, self.total_count)
        ones = creation.ones_like(failures)
        zeros = creation.zeros_like(failures)  # betainc takes one shape only
        share = special.betainc(where_v2(is_all, ones, failures), counts + 1 + zeros, 1 - probs + zeros)
        return where_v2(is_all, ones, share)

    def _mean(self) -> Tensor:
        return self.total_count * self.probs

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Tensor:
        return unary.floor((1.0 + self.total_count) * self.probs)

    def _checked(self, counts: Tensor) -> Tensor:
        if not self.validate_args:
            return counts
        counts = super()._checked(counts)
        message = "counts are not less than or equal to n."
        few = checks.assert_less_equal(counts, self.total_count, message=message)
        return grouping.with_dependencies([few], counts)


@export("contrib.distributions.Geometric")
class Geometric(_OfTrials):
    """The geometric distribution: how many trials fail before the first success.

    Args:
      logits: The logits of success.
      probs: The probabilities of success, above 0. Exactly one of the two must be given.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    _PARAMETERS = ("probs",)

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Geometric",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = logits_and_probs(logits, probs, validate_args, name)
            with control_dependencies([checks.assert_positive(self._probs)] if validate_args else []):
                self._probs = constants.identity(self._probs, name="probs")
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._probs, self._logits],
            name=name,
        )

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny  # not 0: its logarithm would be infinite
        shares = distributions.random_uniform(
            self._draws_shape(n), minval=smallest, maxval=1.0, seed=seed, dtype=self.dtype
        )
        return unary.floor(unary.log(shares) / unary.log1p(-self.probs))

    def _failures(self, x: Tensor) -> Tensor:
        x = check_counts(x) if self.validate_args else unary.floor(x)
        return x * creation.ones_like(self.probs)

    def _cdf(self, x: Tensor) -> Tensor:
        x = self._failures(x)
        share = -unary.expm1((1.0 + x) * unary.log1p(-self.probs))
        return where_v2(x < 0.0, creation.zeros_like(x), share)

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._failures(x)
        probs = self.probs * creation.ones_like(x)
        safe = where_v2(binary.equal(x, 0.0), creation.zeros_like(probs), probs)
        return x * unary.log1p(-safe) + unary.log(probs)

    def _entropy(self) -> Tensor:
        probs = self.probs
        if self.validate_args:
            message = "Entropy is undefined when logits = inf or probs = 1."
            one = constants.constant(1.0, probs.dtype)
            below_one = checks.assert_less(probs, one, message=message)
            probs = grouping.with_dependencies([below_one], probs)
        return activations.softplus(self.logits) / probs - self.logits

    def _mean(self) -> Tensor:
        return unary.exp(-self.logits)

    def _variance(self) -> Tensor:
        return self._mean() / self.probs

    def _mode(self) -> Tensor:
        return creation.zeros(self.batch_shape_tensor(), dtype=self.dtype)


@export("contrib.distributions.NegativeBinomial")
class NegativeBinomial(_OfTrials):
    """The negative binomial distribution: how many trials succeed before a number of failures.

    Args:
      total_count: The number of failures, above 0.
      logits: The logits of success.
      probs: The probabilities of success. Exactly one of the two must be given.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    _PARAMETERS = ("total_count", "probs")

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NegativeBinomial",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._logits, self._probs = logits_and_probs(logits, probs, validate_args, name)
            with control_dependencies([checks.assert_positive(total_count)] if validate_args else []):
                self._total_count = constants.identity(total_count)
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._probs, self._logits],
            name=name,
        )

    @property
    def total_count(self) -> Tensor:
        """The number of failures."""
        return self._total_count

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        rates = distributions.random_gamma(
            [n], alpha=self.total_count, beta=unary.exp(-self.logits), dtype=self.dtype, seed=seed
        )
        other_seed = derived_seed(seed, "negative_binom")
        return distributions.random_poisson(rates, shape=[], dtype=self.dtype, seed=other_seed)

    def _cdf(self, x: Tensor) -> Tensor:
        share = unary.sigmoid(-self.logits)
        zeros = creation.zeros_like(self.total_count + x + share)  # betainc takes one shape only
        return special.betainc(self.total_count + zeros, 1.0 + self._checked(x) + zeros, share + zeros)

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        in_order = self.total_count * unary.log_sigmoid(-self.logits) + x * unary.log_sigmoid(self.logits)
        orders = -unary.lgamma(self.total_count + x) + unary.lgamma(1.0 + x)
        return in_order - (orders + unary.lgamma(self.total_count))

    def _mean(self) -> Tensor:
        return self.total_count * unary.exp(self.logits)

    def _mode(self) -> Tensor:
        none = creation.zeros_like(self.total_count)
        failures = where_v2(self.total_count > 1.0, self.total_count - 1.0, none)
        return unary.floor(failures * unary.exp(self.logits))

    def _variance(self) -> Tensor:
        return self._mean() / unary.sigmoid(-self.logits)


@export("contrib.distributions.Poisson")
class Poisson(ScalarDistribution):
    """The Poisson distribution: how many events happen in a time.

    Args:
      rate: How many happen in the mean, above 0.
      log_rate: The logarithm of it. Exactly one of the two must be given.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If none or both are given.
      TypeError: If the rate is not of a floating type.
    """

    _PARAMETERS = ("rate",)
    _param_shapes = None  # type: ignore[assignment]

    def __init__(
        self,
        rate: TensorLike | None = None,
        log_rate: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            label = "rate" if log_rate is None else "log_rate"
            given = convert_to_tensor(rate if log_rate is None else log_rate, name=label)
            if not given.dtype.is_floating:
                raise TypeError(f"{label}.dtype ({given.dtype.name}) is a not a float-type.")
            if log_rate is None:
                with control_dependencies([checks.assert_positive(given)] if validate_args else []):
                    self._rate = constants.identity(given, name="rate")
                    self._log_rate = unary.log(given, name="log_rate")
            else:
                self._rate, self._log_rate = unary.exp(given, name="rate"), given
        super().__init__(
            dtype=self._rate.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._rate],
            name=name,
        )

    @property
    def rate(self) -> Tensor:
        """How many events happen in the mean."""
        return self._rate

    @property
    def log_rate(self) -> Tensor:
        """The logarithm of the rate."""
        return self._log_rate

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return distributions.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        return x * self.log_rate - unary.lgamma(1.0 + x) - self.rate

    def _cdf(self, x: Tensor) -> Tensor:
        return special.igammac(1.0 + self._checked(x), self.rate)

    def _mean(self) -> Tensor:
        return constants.identity(self.rate)

    _variance = _mean

    def _mode(self) -> Tensor:
        return unary.floor(self.rate)

    def _checked(self, x: Tensor) -> Tensor:
        return check_counts(x) if self.validate_args else x
