"""The conjugate gradient method for least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import tideflow as tf
from tideflow.contrib.solvers.util import LinearOperator, l2norm_squared
from tideflow.export import export
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class CGLSState(NamedTuple):
    """The number of steps, the solution, its residual, the direction, and the norm that it is judged by."""

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


@export("contrib.solvers.least_squares.cgls")
def cgls(
    operator: LinearOperator, rhs: TensorLike, tol: float = 1e-6, max_iter: int = 20, name: str = "cgls"
) -> CGLSState:
    """Finds the x for which `A x` is nearest to b.

    Args:
      operator: The matrix A, as an operator with `shape`, `dtype`, `apply` and `apply_adjoint`.
      rhs: The vector b.
      tol: How small the gradient must be, as a part of the first one.
      max_iter: The greatest number of steps.
      name: A name for the operations.

    Returns:
      The state after the last step, with the solution as `x`.
    """

    def step(i: Tensor, state: CGLSState) -> tuple[Tensor, CGLSState]:
        image = operator.apply(state.p)
        alpha = state.gamma / l2norm_squared(image)
        residual = state.r - alpha * image
        gradient = operator.apply_adjoint(residual)
        gamma = l2norm_squared(gradient)
        following = gradient + gamma / state.gamma * state.p
        return i + 1, CGLSState(i + 1, state.x + alpha * state.p, residual, following, gamma)

    with tf.name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        gradient = operator.apply_adjoint(rhs)
        gamma = l2norm_squared(gradient)
        limit = tol * tol * gamma
        zeros = tf.expand_dims(tf.zeros(operator.shape[1:], dtype=rhs.dtype.base_dtype), -1)
        i = tf.constant(0, dtype=tf.int32)
        start = CGLSState(i, zeros, rhs, gradient, gamma)
        _, state = tf.while_loop(
            lambda i, state: tf.logical_and(i < max_iter, state.gamma > limit), step, [i, start]
        )
        return CGLSState(state.i, tf.squeeze(state.x), tf.squeeze(state.r), tf.squeeze(state.p), state.gamma)
