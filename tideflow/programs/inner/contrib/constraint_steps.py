"""`tensorflow.contrib.constrained_optimization`: the projections and the eigenvector of its two players."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.contrib import constrained_optimization as games


def _project_multipliers_wrt_euclidean_norm(multipliers: Any, radius: Any) -> tf.Tensor:
    """The nearest multipliers that are not negative and do not exceed `radius` in sum."""
    multipliers = tf.convert_to_tensor(multipliers)
    if multipliers.shape.ndims is None:
        raise ValueError("multipliers must have known dimension")
    if multipliers.shape.ndims != 1:
        raise ValueError(
            f"multipliers must be one dimensional (instead is {multipliers.shape.ndims}-dimensional)"
        )
    if multipliers.shape.as_list()[0] is None:
        raise ValueError("multipliers must have fully-known shape")
    return games.on_simplex(multipliers, radius, at_most=True)


def _maximal_eigenvector_power_method(
    matrix: Any, epsilon: float = 1e-6, maximum_iterations: int = 100
) -> tf.Tensor:
    """The eigenvector of the greatest eigenvalue."""
    if epsilon <= 0.0:
        raise ValueError("epsilon must be strictly positive")
    if maximum_iterations <= 0:
        raise ValueError("maximum_iterations must be strictly positive")
    return games.first_eigenvector(_square(matrix), epsilon, maximum_iterations)


def _project_stochastic_matrix_wrt_euclidean_norm(matrix: Any) -> tf.Tensor:
    """The nearest matrix whose columns are distributions."""
    return games.on_simplex(_square(matrix), 1.0, at_most=False)


def _project_log_stochastic_matrix_wrt_kl_divergence(log_matrix: Any) -> tf.Tensor:
    """The logarithm of the matrix with each column divided by its sum."""
    largest = tf.reduce_max(log_matrix, axis=0, keepdims=True)
    log_matrix -= largest  # so that no exponential is infinite
    return log_matrix - tf.reduce_logsumexp(log_matrix, axis=0, keepdims=True)


def _square(matrix: Any) -> tf.Tensor:
    matrix = tf.convert_to_tensor(matrix)
    if matrix.shape.ndims is None:
        raise ValueError("matrix must have known dimension")
    if matrix.shape.ndims != 2:
        raise ValueError(f"matrix must be two dimensional (instead is {matrix.shape.ndims}-dimensional)")
    rows, columns = matrix.shape.as_list()
    if rows != columns:
        raise ValueError(f"matrix must be square (instead is {rows}-by-{columns})")
    if rows is None:
        raise ValueError("matrix must have fully-known shape")
    return matrix
