"""Lanczos bidiagonalization."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import tideflow as tf
from tideflow.contrib.solvers.util import LinearOperator, l2norm, l2normalize
from tideflow.export import export
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_LOST_DIGITS = 0.7071  # a vector that got shorter than this part of itself is made orthogonal once more


class LanczosBidiagState(NamedTuple):
    """Orthogonal columns u and v, and the diagonals alpha and beta, with `A v = u B`."""

    u: Tensor
    v: Tensor
    alpha: Tensor
    beta: Tensor


def _column(array: tf.TensorArray, place: Tensor) -> Tensor:
    return tf.expand_dims(array.read(place), -1)


def _made_orthogonal(count: Tensor, basis: tf.TensorArray, vector: Tensor) -> tuple[Tensor, Tensor]:
    """A vector less its parts along the first columns of a basis, of length 1, and the length it had."""

    def less_one(place: Tensor, basis: tf.TensorArray, vector: Tensor) -> tuple:
        column = _column(basis, place)
        rest = vector - tf.matmul(column, vector, adjoint_a=True) * column
        rest.set_shape(vector.get_shape())
        return place + 1, basis, rest

    def once() -> tuple[Tensor, Tensor]:
        start = tf.constant(0, dtype=tf.int32)
        _, _, rest = tf.while_loop(
            lambda place, basis, vector: place < count, less_one, [start, basis, vector]
        )
        return l2normalize(rest)

    before = l2norm(vector)
    made, after = once()
    return tf.cond(after < _LOST_DIGITS * before, once, lambda: (made, after))


@export("contrib.solvers.lanczos.lanczos_bidiag")
def lanczos_bidiag(
    operator: LinearOperator,
    k: int,
    orthogonalize: bool = True,
    starting_vector: TensorLike | None = None,
    name: str = "lanczos_bidiag",
) -> LanczosBidiagState:
    """Brings a matrix into bidiagonal form, step by step.

    Args:
      operator: The matrix, as an operator with `shape`, `dtype`, `apply` and `apply_adjoint`.
      k: The number of steps.
      orthogonalize: Whether new columns are made orthogonal to all before.
      starting_vector: The first column, [rows, 1]; a random one if None.
      name: A name for the operations.

    Returns:
      The columns `u` [rows, k + 1] and `v` [columns, k], and the diagonals `alpha` and `beta` [k].
    """

    def following(place: Tensor, basis: tf.TensorArray, vector: Tensor) -> tuple[Tensor, Tensor]:
        return _made_orthogonal(place, basis, vector) if orthogonalize else l2normalize(vector)

    def step(i: Tensor, state: LanczosBidiagState) -> tuple[Tensor, LanczosBidiagState]:
        u = _column(state.u, i)
        image = operator.apply_adjoint(u)
        rest = tf.cond(i > 0, lambda: image - state.beta.read(i - 1) * _column(state.v, i - 1), lambda: image)
        rest.set_shape(image.get_shape())
        v, alpha = following(i - 1, state.v, rest)
        u, beta = following(i, state.u, operator.apply(v) - alpha * u)
        return i + 1, LanczosBidiagState(
            state.u.write(i + 1, tf.squeeze(u)),
            state.v.write(i, tf.squeeze(v)),
            state.alpha.write(i, alpha),
            state.beta.write(i, beta),
        )

    def array(size: int, title: str) -> tf.TensorArray:
        return tf.TensorArray(operator.dtype, size, tensor_array_name=title, clear_after_read=False)

    with tf.name_scope(name):
        if starting_vector is None:
            starting_vector = tf.random_uniform(operator.shape[:1], -1, 1, dtype=operator.dtype)
        first, _ = l2normalize(starting_vector)
        state = LanczosBidiagState(
            array(k + 1, "u").write(0, tf.squeeze(first)), array(k, "v"), array(k, "alpha"), array(k, "beta")
        )
        i = tf.constant(0, dtype=tf.int32)
        _, state = tf.while_loop(lambda i, state: i < k, step, [i, state])
        return LanczosBidiagState(
            tf.matrix_transpose(state.u.stack()),
            tf.matrix_transpose(state.v.stack()),
            state.alpha.stack(),
            state.beta.stack(),
        )


@export("contrib.solvers.lanczos.bidiag_matmul")
def bidiag_matmul(
    matrix: TensorLike,
    alpha: TensorLike,
    beta: TensorLike,
    adjoint_b: bool = False,
    name: str = "bidiag_matmul",
) -> Tensor:
    """Multiplies a matrix by a lower bidiagonal one.

    Args:
      matrix: The matrix, [rows, k + 1], or [rows, k] if `adjoint_b`.
      alpha: The diagonal, [k].
      beta: The diagonal below, [k].
      adjoint_b: Whether the bidiagonal matrix is transposed.
      name: A name for the operations.

    Returns:
      The product.
    """
    with tf.name_scope(name):
        alpha = tf.expand_dims(alpha, 0)
        if not adjoint_b:
            return matrix[:, :-1] * alpha + matrix[:, 1:] * tf.expand_dims(beta, 0)
        zeros = tf.zeros_like(matrix[:, :1])
        return matrix * alpha + tf.concat([zeros, matrix[:, :-1] * tf.expand_dims(beta[:-1], 0)], 1)
