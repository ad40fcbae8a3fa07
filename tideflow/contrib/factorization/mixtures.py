"""Mixtures of normal distributions, fitted by expectation and maximization."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import colocate_with, control_dependencies
from tideflow.nn.embeddings import embedding_lookup
from tideflow.ops.arrays import constants, creation, diagonals, joining, shapes, tiling
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.linalg.decompositions import cholesky
from tideflow.ops.linalg.matmul import matmul
from tideflow.ops.linalg.solvers import matrix_triangular_solve
from tideflow.ops.math import adding, binary, casting, checks, positions, reductions, unary
from tideflow.ops.random.distributions import random_uniform
from tideflow.ops.state.reference_variables import assign
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tideflow.graph.typing import TensorLike

_EPSILON = np.finfo(float).eps
_LEAST_VARIANCE = 1e-3
_FULL, _DIAGONAL = "full", "diag"


def _covariance(points: Tensor, diagonal: bool) -> Tensor:
    count = casting.cast(shapes.shape(points)[0], dtypes.float32)
    centered = points - reductions.reduce_mean(points, 0, keepdims=True)
    if diagonal:
        return reductions.reduce_sum(unary.square(centered), 0, keepdims=True) / (count - 1)
    exact = casting.cast(centered, dtypes.float64)  # sums of many products lose digits in float32
    return casting.cast(matmul(exact, exact, transpose_a=True), dtypes.float32) / (count - 1)


def _random_points(data: list[Any], count: int, seed: int) -> Tensor:
    total = adding.add_n([shapes.shape(points)[0] for points in data])
    with control_dependencies([checks.assert_less_equal(count, total)]):
        limit = casting.cast(total, dtypes.int64)
        places = random_uniform([count], minval=0, maxval=limit, seed=seed, dtype=dtypes.int64)
    return embedding_lookup(data, places % limit, partition_strategy="div")


@export("contrib.factorization.GmmAlgorithm")
class GmmAlgorithm:
    """A mixture of normal distributions that is fitted to points.

    Args:
      data: A list of tensors [points, size].
      num_classes: The number of distributions.
      initial_means: Their first means [classes, size]; random points if None.
      params: What is fitted: `w` for weights, `m` for means, `c` for covariances, in one string.
      covariance_type: `"full"` or `"diag"`.
      random_seed: The seed of the first means.
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self,
        data: Sequence[TensorLike],
        num_classes: int,
        initial_means: TensorLike | None = None,
        params: str = "wmc",
        covariance_type: str = _FULL,
        random_seed: int = 0,
    ):
        if covariance_type not in (_DIAGONAL, _FULL):
            raise Exception(f"programmer error: Invalid covariance type: {covariance_type}")
        self._params, self._num_classes = params, num_classes
        self._is_full = covariance_type == _FULL
        self._size = shapes.shape(data[0])[1]
        self._least = diagonals.diag(creation.ones(joining.stack([self._size]))) * _LEAST_VARIANCE
        self._make_variables()
        self._init_ops = self._initializers(list(data), initial_means, random_seed)
        log_probs = [self._log_probabilities(shapes.expand_dims(points, 0)) for points in data]
        self._evidence = [reductions.reduce_logsumexp(probs, axis=1, keepdims=True) for probs in log_probs]
        self._shares = [unary.exp(p - e) for p, e in zip(log_probs, self._evidence, strict=True)]
        self._train_ops = self._maximization(list(data))

    def _make_variables(self) -> None:
        empty = constants.constant([], dtype=dtypes.float32)
        self._means = Variable(empty, name=self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covs = Variable(empty, name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False)
        even = tiling.tile([1.0 / self._num_classes], [self._num_classes])
        self._alpha = Variable(even, name=self.CLUSTERS_WEIGHT, validate_shape=False)
        self._initialized = Variable(False, dtype=dtypes.bool, name="initialized")

    def _initializers(self, data: list[Any], means: Any, seed: int) -> list[Any]:
        if means is None:
            means = _random_points(data, self._num_classes, seed)
        means = shapes.expand_dims(means, 1)
        covariance = _covariance(data[0], not self._is_full) + self._least
        one = covariance if self._is_full else diagonals.diag_part(covariance)
        covs = joining.stack([one] * self._num_classes)
        before = grouping.with_dependencies([means, covs], constants.identity(self._initialized))

        def unless_done(variable: Any, value: Tensor) -> Operation:
            with colocate_with(variable):
                return conditionals.cond(
                    before,
                    constants.no_operation,
                    lambda: grouping.group(
                        assign(variable, value, validate_shape=False), assign(self._initialized, True)
                    ),
                ).op

        return [unless_done(self._means, means), unless_done(self._covs, covs)]

    def _log_probabilities(self, points: Tensor) -> Tensor:
        """The logarithm of the density of each point under each distribution, times its weight."""
        log_pi = casting.cast(self._size, dtypes.float32) * math.log(2 * math.pi)
        if self._is_full:
            roots = cholesky(self._covs + self._least)
            log_det = 2.0 * reductions.reduce_sum(unary.log(diagonals.matrix_diag_part(roots)), 1)
            away = shapes.transpose(points - self._means, perm=[0, 2, 1])
            scaled = unary.square(matrix_triangular_solve(roots, away, lower=True))
            distances = shapes.transpose(reductions.reduce_sum(scaled, 1))
        else:
            variances = self._covs + _LEAST_VARIANCE
            log_det = shapes.transpose(reductions.reduce_sum(unary.log(variances), 1, keepdims=True))
            away = binary.squared_difference(points, self._means)
            scaled = matmul(away, shapes.expand_dims(1.0 / variances, 2))
            distances = shapes.transpose(shapes.squeeze(scaled, [2]))
        return -0.5 * (distances + log_pi + log_det) + unary.log(self._alpha)

    def _maximization(self, data: list[Any]) -> list[Any]:
        """The updates of what is fitted, from the share of each distribution in each point."""
        pairs = list(zip(self._shares, data, strict=True))
        with control_dependencies(self._shares):
            counts = adding.add_n([reductions.reduce_sum(share, 0) for share in self._shares])
            train = []
            if "w" in self._params:
                each = counts / len(data)
                train.append(self._alpha.assign(each / (reductions.reduce_sum(each) + _EPSILON)))
            divisor = shapes.reshape(counts, [self._num_classes, 1, 1]) + _EPSILON
            moved = constants.no_operation()
            if "m" in self._params:
                sums = [shapes.expand_dims(matmul(s, p, transpose_a=True), 1) for s, p in pairs]
                moved = self._means.assign(adding.add_n(sums) / divisor)
            if "c" in self._params:
                squares = adding.add_n([self._second_moments(s, p) for s, p in pairs]) / divisor
                with control_dependencies([moved]):
                    means = self._means.value()
                    covs = squares - matmul(means, means, transpose_a=True) + self._least
                    covs = covs if self._is_full else diagonals.matrix_diag_part(covs)
                    train.append(assign(self._covs, covs, validate_shape=False))
        return train

    def _second_moments(self, shares: Tensor, points: Tensor) -> Tensor:
        """For each distribution the sum of the points' outer products, by their shares."""
        weighted = shapes.expand_dims(shapes.transpose(shares), 2) * shapes.expand_dims(points, 0)
        copies = tiling.tile(shapes.expand_dims(points, 0), [self._num_classes, 1, 1])
        return matmul(weighted, copies, transpose_a=True)

    def init_ops(self) -> Operation:
        """The operation that initializes means and covariances, once.

        Returns:
          The operation.
        """
        return grouping.group(*self._init_ops)

    def training_ops(self) -> Operation:
        """The operation that makes a step of fitting.

        Returns:
          The operation.
        """
        return grouping.group(*self._train_ops)

    def is_initialized(self) -> Any:
        """Tells whether means and covariances are initialized.

        Returns:
          A boolean variable.
        """
        return self._initialized

    def alphas(self) -> Any:
        """Gives the weights of the distributions.

        Returns:
          A variable [classes].
        """
        return self._alpha

    def clusters(self) -> Any:
        """Gives the means.

        Returns:
          A variable [classes, 1, size].
        """
        return self._means

    def covariances(self) -> Any:
        """Gives the covariances.

        Returns:
          A variable [classes, size, size], or [classes, size] of variances.
        """
        return self._covs

    def assignments(self) -> list[Tensor]:
        """Finds the likeliest distribution of each point.

        Returns:
          A list with a tensor for each of the data.
        """
        return [positions.argmax(share, 1) for share in self._shares]

    def scores(self) -> Tensor:
        """Computes the logarithm of the density of each point.

        Returns:
          A tensor [points, 1].
        """
        each = [e + unary.log(s) for e, s in zip(self._evidence, self._shares, strict=True)]
        return shapes.squeeze(reductions.reduce_logsumexp(each, axis=2, keepdims=True), axis=[0])

    def log_likelihood_op(self) -> Tensor:
        """Adds the densities of all points, as logarithms.

        Returns:
          A scalar.
        """
        return reductions.reduce_logsumexp([reductions.reduce_logsumexp(e) for e in self._evidence])


@export("contrib.factorization.gmm")
def gmm(
    inp: TensorLike | Sequence[TensorLike],
    initial_clusters: str | TensorLike,
    num_clusters: int,
    random_seed: int,
    covariance_type: str = _FULL,
    params: str = "wmc",
) -> tuple[Any, ...]:
    """Builds a mixture of normal distributions that is fitted to points.

    Args:
      inp: The points, a tensor [points, size] or a list of such.
      initial_clusters: The first means, or `"random"` for random points.
      num_clusters: The number of distributions.
      random_seed: The seed of the first means.
      covariance_type: `"full"` or `"diag"`.
      params: What is fitted: `w` for weights, `m` for means, `c` for covariances, in one string.

    Returns:
      The logarithm of the sum of all densities; the density of each point, as a logarithm; a list with the
      likeliest distribution of each point; the operation that makes a step of fitting; that which
      initializes; and a variable that tells whether it has run.
    """
    means = None
    if not isinstance(initial_clusters, (str, Tensor)):
        means = constants.constant(initial_clusters, dtype=dtypes.float32)
    tool = GmmAlgorithm(
        inp if isinstance(inp, list) else [inp], num_clusters, means, params, covariance_type, random_seed
    )
    return (
        tool.log_likelihood_op(),
        tool.scores(),
        [tool.assignments()],
        tool.training_ops(),
        tool.init_ops(),
        tool.is_initialized(),
    )
