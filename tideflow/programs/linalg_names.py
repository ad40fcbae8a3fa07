"""`tensorflow.python.ops.linalg.linear_operator_util`: solving for batches that are broadcast."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.graph.operation import Tensor
from tideflow.graph.typing import TensorLike


def broadcast_matrix_batch_dims(
    batch_matrices: Sequence[TensorLike], name: str | None = None
) -> list[Tensor]:
    """Broadcasts all axes of matrices but the last two.

    Args:
      batch_matrices: A list of tensors of two axes or more.
      name: A name for the scope.

    Returns:
      The tensors; those that are as large as the others are returned as they are.

    Raises:
      TypeError: If `batch_matrices` is no list.
    """
    if not isinstance(batch_matrices, (list, tuple)):
        raise TypeError(f"batch_matrices should be a list or tuple. Found: {batch_matrices}")
    with tf.name_scope(name, "broadcast_matrix_batch_dims", list(batch_matrices)):
        matrices = [tf.convert_to_tensor(matrix) for matrix in batch_matrices]
        if len(matrices) < 2:
            return matrices
        batches = [matrix.shape[:-2] for matrix in matrices]
        batch = functools.reduce(tf.broadcast_static_shape, batches)
        if batch.is_fully_defined():
            return [
                matrix
                if matrix.shape[:-2].as_list() == batch.as_list()
                else tf.broadcast_to(matrix, batch.concatenate(matrix.shape[-2:]))
                for matrix in matrices
            ]
        sizes = functools.reduce(tf.broadcast_dynamic_shape, [tf.shape(matrix)[:-2] for matrix in matrices])
        return [
            tf.broadcast_to(matrix, tf.concat([sizes, tf.shape(matrix)[-2:]], axis=0)) for matrix in matrices
        ]


def _solved(solve: Callable[..., Tensor], matrix: Any, rhs: Any, name: str | None, scope: str) -> Tensor:
    with tf.name_scope(name, scope, [matrix, rhs]):
        return solve(*broadcast_matrix_batch_dims([matrix, rhs]))


def cholesky_solve_with_broadcast(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Solves for a matrix whose Cholesky factor is given, in batches that are broadcast.

    Args:
      chol: The lower triangular factors.
      rhs: The right sides.
      name: A name for the scope.

    Returns:
      The solutions.
    """
    return _solved(tf.cholesky_solve, chol, rhs, name, "CholeskySolveWithBroadcast")


def matrix_solve_with_broadcast(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves systems of linear equations, in batches that are broadcast.

    Args:
      matrix: The matrices.
      rhs: The right sides.
      adjoint: Whether the adjoints of the matrices are meant.
      name: A name for the scope.

    Returns:
      The solutions.
    """
    solve = functools.partial(tf.matrix_solve, adjoint=adjoint)
    return _solved(solve, matrix, rhs, name, "MatrixSolveWithBroadcast")


def matrix_triangular_solve_with_broadcast(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves triangular systems of linear equations, in batches that are broadcast.

    Args:
      matrix: The matrices.
      rhs: The right sides.
      lower: Whether the lower triangles are meant.
      adjoint: Whether the adjoints of the matrices are meant.
      name: A name for the scope.

    Returns:
      The solutions.
    """
    solve = functools.partial(tf.matrix_triangular_solve, lower=lower, adjoint=adjoint)
    return _solved(solve, matrix, rhs, name, "MatrixTriangularSolve")
