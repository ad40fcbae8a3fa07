"""Roots of symmetric matrices by iteration, for devices on which decompositions are slow."""

from __future__ import annotations

from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import creation
from tideflow.ops.control_flow import while_loops
from tideflow.ops.linalg import matmul, norms
from tideflow.ops.math import binary, casting, powers, reductions, unary


def _identity(size: Any) -> Tensor:
    return creation.eye(casting.cast(size, dtypes.int32))


def matrix_square_root(
    mat_a: Tensor, mat_a_size: Any, iter_count: int = 100, ridge_epsilon: float = 1e-4
) -> Tensor:
    """The root of `mat_a` + `ridge_epsilon` * I, by an iteration that ends when it gets no better."""
    identity = _identity(mat_a_size)
    mat_a = mat_a + ridge_epsilon * identity
    norm = unary.sqrt(reductions.reduce_sum(mat_a * mat_a))

    def goes_on(i: Any, y: Any, old_y: Any, z: Any, error: Any, old_error: Any) -> Tensor:
        return binary.logical_and(i < iter_count, error < old_error)

    def body(i: Any, y: Any, old_y: Any, z: Any, error: Any, old_error: Any) -> tuple:
        factor = 0.5 * (3.0 * identity - matmul.matmul(z, y))
        new_y, new_z = matmul.matmul(y, factor), matmul.matmul(factor, z)
        root = new_y * unary.sqrt(norm)
        residual = mat_a - matmul.matmul(root, root)
        new_error = unary.sqrt(reductions.reduce_sum(residual * residual)) / norm
        return i + 1, new_y, y, new_z, new_error, error

    start = mat_a / norm
    _, _, best, *_ = while_loops.while_loop(goes_on, body, [0, start, start, identity, norm, norm + 1.0])
    return best * unary.sqrt(norm)


def matrix_inverse_pth_root(
    mat_g: Tensor,
    mat_g_size: Any,
    alpha: float,
    iter_count: int = 100,
    epsilon: float = 1e-6,
    ridge_epsilon: float = 1e-6,
) -> Tensor:
    """(`mat_g` + `ridge_epsilon` * I) ** `alpha`, where alpha is -1 / p (Guo, Higham 2006)."""
    identity = _identity(mat_g_size)
    if mat_g_size == 1:
        return powers.pow(mat_g + ridge_epsilon, alpha)

    def goes_on(i: Any, m: Any, x: Any) -> Tensor:
        return binary.logical_and(i < iter_count, reductions.reduce_max(unary.abs(m - identity)) > epsilon)

    def body(i: Any, m: Any, x: Any) -> tuple:
        factor = (1 - alpha) * identity + alpha * m
        return i + 1, matmul.matmul(_power(factor, -1.0 / alpha), m), matmul.matmul(x, factor)

    damped = mat_g + ridge_epsilon * identity
    z = (1 - 1 / alpha) / (2 * norms.norm(damped))
    start = identity * powers.pow(z, -alpha)
    _, _, root = while_loops.while_loop(goes_on, body, [0, damped * z, start])
    return root


def _power(matrix: Tensor, exponent: float) -> Tensor:
    """A positive integer power, by squaring."""
    if exponent != int(exponent) or exponent <= 0:
        raise ValueError(f"the exponent must be a positive integer, but is {exponent}")
    left, power = int(exponent), None
    while True:
        if left % 2:
            power = matrix if power is None else matmul.matmul(matrix, power)
        left //= 2
        if not left:
            return power
        matrix = matmul.matmul(matrix, matrix)
