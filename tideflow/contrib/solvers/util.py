"""Operators of matrices, and products and norms of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.export import export
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class LinearOperator(NamedTuple):
    """A matrix, as its products with columns."""

    shape: Any
    dtype: DType
    apply: Callable[[Tensor], Tensor]
    apply_adjoint: Callable[[Tensor], Tensor]


def _shape_of(matrix: Tensor) -> Any:
    shape = matrix.get_shape()
    return shape.as_list() if shape.is_fully_defined() else tf.shape(matrix)


@export("contrib.solvers.util.create_operator")
def create_operator(matrix: Tensor) -> LinearOperator:
    """Makes an operator of a matrix.

    Args:
      matrix: The matrix.

    Returns:
      The operator.
    """
    return LinearOperator(
        _shape_of(matrix),
        matrix.dtype,
        lambda columns: tf.matmul(matrix, columns),
        lambda columns: tf.matmul(matrix, columns, adjoint_a=True),
    )


@export("contrib.solvers.util.identity_operator")
def identity_operator(matrix: Tensor) -> LinearOperator:
    """Makes the operator that changes nothing, of the shape and type of a matrix.

    Args:
      matrix: The matrix.

    Returns:
      The operator.
    """
    return LinearOperator(_shape_of(matrix), matrix.dtype, lambda columns: columns, lambda columns: columns)


@export("contrib.solvers.util.dot")
def dot(x: TensorLike, y: TensorLike) -> Tensor:
    """Computes the inner product of two vectors.

    Args:
      x: The first vector, which is conjugated.
      y: The second vector.

    Returns:
      The product.
    """
    return tf.reduce_sum(tf.conj(x) * y)


@export("contrib.solvers.util.l2norm_squared")
def l2norm_squared(v: Tensor) -> Tensor:
    """Computes the sum of squares.

    Args:
      v: The vector.

    Returns:
      The sum.
    """
    return tf.constant(2, dtype=v.dtype.base_dtype) * tf.nn.l2_loss(v)


@export("contrib.solvers.util.l2norm")
def l2norm(v: Tensor) -> Tensor:
    """Computes the length of a vector.

    Args:
      v: The vector.

    Returns:
      The length.
    """
    return tf.sqrt(l2norm_squared(v))


@export("contrib.solvers.util.l2normalize")
def l2normalize(v: Tensor) -> tuple[Tensor, Tensor]:
    """Divides a vector by its length.

    Args:
      v: The vector.

    Returns:
      The vector of length 1, and the length that it had.
    """
    norm = l2norm(v)
    return v / norm, norm
