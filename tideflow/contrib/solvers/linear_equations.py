"""The conjugate gradient method for symmetric positive definite matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import tideflow as tf
from tideflow.contrib.solvers.util import LinearOperator, dot
from tideflow.export import export
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class CGState(NamedTuple):
    """The number of steps, the solution, its residual, the direction, and the norm that it is judged by."""

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


@export("contrib.solvers.linear_equations.conjugate_gradient")
def conjugate_gradient(
    operator: LinearOperator,
    rhs: TensorLike,
    preconditioner: LinearOperator | None = None,
    x: TensorLike | None = None,
    tol: float = 1e-4,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """Solves `A x = b` for a symmetric positive definite matrix.

    Args:
      operator: The matrix, as an operator with `shape`, `dtype` and `apply`.
      rhs: The vector b.
      preconditioner: An operator that is near the inverse of the matrix.
      x: A first guess; zeros if None.
      tol: How small the residual must be, as a part of the first one.
      max_iter: The greatest number of steps.
      name: A name for the operations.

    Returns:
      The state after the last step, with the solution as `x`.
    """

    def precondition(residual: Tensor) -> Tensor:
        return residual if preconditioner is None else preconditioner.apply(residual)

    def step(i: Tensor, state: CGState) -> tuple[Tensor, CGState]:
        image = operator.apply(state.p)
        alpha = state.gamma / dot(state.p, image)
        residual = state.r - alpha * image
        direction = precondition(residual)
        gamma = dot(residual, direction)
        following = direction + gamma / state.gamma * state.p
        return i + 1, CGState(i + 1, state.x + alpha * state.p, residual, following, gamma)

    with tf.name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        if x is None:
            guess = tf.expand_dims(tf.zeros(operator.shape[1:], dtype=rhs.dtype.base_dtype), -1)
            residual = rhs
        else:
            guess = tf.expand_dims(x, -1)
            residual = rhs - operator.apply(guess)
        direction = precondition(residual)
        limit = tol * tf.norm(residual)
        i = tf.constant(0, dtype=tf.int32)
        start = CGState(i, guess, residual, direction, dot(residual, direction))
        _, state = tf.while_loop(
            lambda i, state: tf.logical_and(i < max_iter, tf.norm(state.r) > limit), step, [i, start]
        )
        return CGState(state.i, tf.squeeze(state.x), tf.squeeze(state.r), tf.squeeze(state.p), state.gamma)
