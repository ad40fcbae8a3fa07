"""Counts of the outcomes of many trials: the multinomial distribution, and one of unknown probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.distributions.base import NOT_REPARAMETERIZED, Distribution
from tideflow.distributions.parameters import (
    check_classes,
    check_counts,
    derived_seed,
    log_combinations,
    logits_and_probs,
)
from tideflow.distributions.simplex import OfConcentrations
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, diagonals, joining, shapes
from tideflow.ops.control_flow import grouping, map_and_fold
from tideflow.ops.linalg import matmul
from tideflow.ops.math import casting, checks, reductions, special, unary
from tideflow.ops.nn import softmax
from tideflow.ops.random import choices, distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _checked_total(total_count: Any, validate_args: bool) -> Tensor:
    total_count = convert_to_tensor(total_count, name="total_count")
    return check_counts(total_count) if validate_args else total_count


def _checked_counts(counts: Tensor, total_count: Tensor, message: str) -> Tensor:
    counts = check_counts(counts)
    total = reductions.reduce_sum(counts, -1)
    return grouping.with_dependencies([checks.assert_equal(total_count, total, message=message)], counts)


def _occurrences(draws: Tensor, classes: Tensor, dtype: dtypes.DType) -> Tensor:
    """How often each class is among the draws along the last axis."""
    return reductions.reduce_sum(creation.one_hot(draws, depth=classes, dtype=dtype), -2)


@export("distributions.Multinomial", "contrib.distributions.Multinomial")
class Multinomial(Distribution):
    """The multinomial distribution: how often each class occurs in a number of trials.

    Args:
      total_count: The number of trials.
      logits: The logits, of shape [..., classes].
      probs: The probabilities, of shape [..., classes]. Exactly one of the two must be given.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = _checked_total(total_count, validate_args)
            self._logits, self._probs = logits_and_probs(logits, probs, validate_args, name, of_classes=True)
            self._means = self._total_count[..., None] * self._probs
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

    @property
    def logits(self) -> Tensor:
        """The logits of the classes."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        return self._probs

    def _batch_shape(self) -> TensorShape:
        return self._means.shape.with_rank_at_least(1)[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return shapes.shape(self._means)[:-1]

    def _event_shape(self) -> TensorShape:
        return self._means.shape.with_rank_at_least(1)[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return shapes.shape(self._means)[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        classes = self.event_shape_tensor()[0]
        trials = casting.cast(self.total_count, dtypes.int32)
        trials = creation.ones_like(self.logits[..., 0], dtype=trials.dtype) * trials
        logits = creation.ones_like(trials[..., None], dtype=self.logits.dtype) * self.logits

        def counts_of(row: tuple[Tensor, Tensor]) -> Tensor:
            """Each of the batch may have a number of trials of its own."""
            logits, trials = row
            draws = choices.multinomial(logits[None, ...], trials, seed)
            return _occurrences(shapes.reshape(draws, [n, -1]), classes, self.dtype)

        rows = [shapes.reshape(logits, [-1, classes]), n * shapes.reshape(trials, [-1])]
        counts = map_and_fold.map_fn(counts_of, rows, dtype=self.dtype)
        counts = shapes.transpose(counts, perm=[1, 0, 2])
        return shapes.reshape(counts, joining.concat([[n], self.batch_shape_tensor(), [classes]], 0))

    def _log_prob(self, counts: Tensor) -> Tensor:
        if self.validate_args:
            counts = _checked_counts(counts, self.total_count, "counts must sum to `self.total_count`")
        in_order = reductions.reduce_sum(counts * softmax.log_softmax(self.logits), -1)
        return in_order + log_combinations(self.total_count, counts)

    def _mean(self) -> Tensor:
        return constants.identity(self._means)

    def _variance(self) -> Tensor:
        return self._means - self._means * self._full_probs()

    def _covariance(self) -> Tensor:
        products = matmul.matmul(self._means[..., None], self._full_probs()[..., None, :])
        return diagonals.matrix_set_diag(-products, self._variance())

    def _full_probs(self) -> Tensor:
        return self.probs * creation.ones_like(self.total_count)[..., None]


@export("distributions.DirichletMultinomial", "contrib.distributions.DirichletMultinomial")
class DirichletMultinomial(OfConcentrations):
    """A multinomial distribution whose probabilities are drawn from a Dirichlet distribution.

    Args:
      total_count: The number of trials.
      concentration: The concentrations of the Dirichlet distribution, of shape [..., classes].
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        total_count: TensorLike,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as name:
            self._total_count = _checked_total(total_count, validate_args)
            self._concentration = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                classes = check_classes(self._concentration)
                message = "Concentration parameter must be positive."
                positive = checks.assert_positive(classes, message=message)
                self._concentration = grouping.with_dependencies([positive], classes)
            self._total_concentration = reductions.reduce_sum(self._concentration, -1)
        super().__init__(
            dtype=self._concentration.dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            reparameterization_type=NOT_REPARAMETERIZED,
            parameters=parameters,
            graph_parents=[self._total_count, self._concentration],
            name=name,
        )

    @property
    def total_count(self) -> Tensor:
        """The number of trials."""
        return self._total_count

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        trials = casting.cast(self.total_count, dtypes.int32)
        classes = self.event_shape_tensor()[0]
        gammas = distributions.random_gamma([n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        logits = shapes.reshape(unary.log(gammas), [-1, classes])
        draws = choices.multinomial(logits, trials, seed=derived_seed(seed, "dirichlet_multinomial"))
        counts = _occurrences(draws, classes, self.dtype)
        return shapes.reshape(counts, joining.concat([[n], self.batch_shape_tensor(), [classes]], 0))

    def _log_prob(self, counts: Tensor) -> Tensor:
        if self.validate_args:
            message = "counts last-dimension must sum to `self.total_count`"
            counts = _checked_counts(counts, self.total_count, message)
        in_order = special.lbeta(self.concentration + counts) - special.lbeta(self.concentration)
        return in_order + log_combinations(self.total_count, counts)

    def _mean(self) -> Tensor:
        return self.total_count * (self.concentration / self.total_concentration[..., None])

    def _variance(self) -> Tensor:
        scale = self._variance_scale()
        x = scale * self._mean()
        return x * (self.total_count * scale - x)

    def _variance_scale(self) -> Tensor:
        total = self.total_concentration[..., None]
        return unary.sqrt((1.0 + total / self.total_count) / (1.0 + total))
