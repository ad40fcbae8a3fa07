"""Equations with matrices: square ones, triangular ones, and least squares for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, diagonals, shapes
from tideflow.ops.control_flow import conditionals
from tideflow.ops.helpers.aliases import inherit
from tideflow.ops.helpers.axes import scalar
from tideflow.ops.helpers.samples import c64, f32, f64
from tideflow.ops.helpers.types import types
from tideflow.ops.linalg import matmul
from tideflow.ops.linalg.matrices import (
    BATCH_TYPES,
    MATRICES,
    MATRIX_TYPES,
    check_equations,
    check_invertible,
    on_matrices,
    solution,
    square_solution,
)
from tideflow.ops.math import binary, casting

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.linalg.operator import LinearOperator

# ---------------------------------------------------------------------------------- square and triangular


def _matrix_gradient(op: Operation, grad_rhs: Tensor) -> Tensor:
    """Of A·X = B: with dB that of B, that of A is -dB·Xᴴ."""
    result = op.outputs[0]
    left, right = (result, grad_rhs) if op.attrs["adjoint"] else (grad_rhs, result)
    return -matmul.matmul(left, right, adjoint_b=True)


def _add_refusals(op: Op) -> None:
    op.refuses((f32(2, 3), f32(2, 2)), "Dimensions must be equal, but are 2 and 3")
    op.refuses((f32(2, 2), f32(3, 2)), "Dimensions must be equal, but are 2 and 3")
    op.refuses((f32(2, 2), f32(2)), "Shape must be at least rank 2 but is rank 1")
    op.refuses((f32(2, 2, 2), f32(3, 2, 1)), "must be equal, but are 2 and 3")
    op.refuses((np.zeros((2, 2)), f64(2, 1)), "Input matrix is not invertible.", InvalidArgumentError)


matrix_solve_op = Op("MatrixSolve", "matrix: T, rhs: T -> output: T", adjoint=False, T=MATRIX_TYPES)
matrix_solve_op.shape(square_solution)


@matrix_solve_op.kernel
@on_matrices
def _matrix_solve_kernel(matrix, rhs, *, adjoint):
    check_equations(matrix, rhs)
    factors, swaps, _ = torch.linalg.lu_factor_ex(matrix)
    check_invertible(factors.diagonal(dim1=-2, dim2=-1))
    return torch.linalg.lu_solve(factors, swaps, rhs, adjoint=adjoint)


@matrix_solve_op.gradient
def _matrix_solve_gradient(op, grad):
    grad_rhs = matrix_solve(op.inputs[0], grad, adjoint=not op.attrs["adjoint"])
    return _matrix_gradient(op, grad_rhs), grad_rhs


_REGULAR = np.array([[1.0, 2.0, 0.5], [-1.0, 0.3, 2.0], [0.7, 1.5, -1.0]])


def _numpy_solve(matrix: np.ndarray, rhs: np.ndarray, adjoint: bool) -> np.ndarray:
    return np.linalg.solve(np.swapaxes(matrix, -1, -2).conj() if adjoint else matrix, rhs)


matrix_solve_op.samples(
    (_REGULAR, f64(3, 2)),
    (_REGULAR.astype(np.float32), f32(3, 1), {"adjoint": True}),
    (np.stack([_REGULAR, _REGULAR.T]), f64(2, 3, 4)),
    (c64(2, 2), c64(2, 3), {"adjoint": True}),
    (f32(0, 0), f32(0, 3)),
    (f32(2, 2), f32(2, 0)),
    against=_numpy_solve,
)
_add_refusals(matrix_solve_op)


@export("matrix_solve", "linalg.solve", operator="solve")
def matrix_solve(
    matrix: TensorLike | LinearOperator, rhs: TensorLike, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves equations with square matrices: X with matrix·X = rhs.

    Args:
      matrix: A tensor of floating-point or complex numbers, of rank 2 or more, the matrices along its last
        two axes.
      rhs: A tensor of the same type, with as many rows and the same axes in front.
      adjoint: Whether to take the adjoints of the matrices.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `rhs`. A step with a singular matrix fails with InvalidArgumentError.
    """
    return matrix_solve_op(matrix, rhs, adjoint=adjoint, name=name)


batch_solve_op = Op("BatchMatrixSolve", "matrix: T, rhs: T -> output: T", adjoint=False, T=BATCH_TYPES)
inherit(batch_solve_op, matrix_solve_op)
batch_solve_op.samples((MATRICES, f64(2, 2, 1)))

triangular_solve_op = Op(
    "MatrixTriangularSolve",
    "matrix: T, rhs: T -> output: T",
    lower=True,
    adjoint=False,
    T=types("bfloat16 double float half complex64 complex128"),
)
triangular_solve_op.shape(square_solution)


def _triangular(matrix: torch.Tensor, rhs: torch.Tensor, lower: bool, adjoint: bool) -> torch.Tensor:
    if adjoint:
        matrix, lower = matrix.mH, not lower
    return torch.linalg.solve_triangular(matrix, rhs, upper=not lower)


@triangular_solve_op.kernel
@on_matrices
def _triangular_solve_kernel(matrix, rhs, *, lower, adjoint):
    check_equations(matrix, rhs)
    check_invertible(matrix.diagonal(dim1=-2, dim2=-1))
    if matrix.dtype is torch.bfloat16:
        return _triangular(matrix.float(), rhs.float(), lower, adjoint).bfloat16()
    return _triangular(matrix, rhs, lower, adjoint)


@triangular_solve_op.gradient
def _triangular_solve_gradient(op, grad):
    lower, adjoint = op.attrs["lower"], op.attrs["adjoint"]
    grad_rhs = matrix_triangular_solve(op.inputs[0], grad, lower=lower, adjoint=not adjoint)
    triangle = (-1, 0) if lower else (0, -1)
    return diagonals.matrix_band_part(_matrix_gradient(op, grad_rhs), *triangle), grad_rhs


def _numpy_triangular_solve(matrix: np.ndarray, rhs: np.ndarray, lower: bool, adjoint: bool) -> np.ndarray:
    """The other triangle filled with zeros, as equations like any."""
    wide = np.promote_types(rhs.dtype, np.float32)
    triangle = (np.tril if lower else np.triu)(matrix)
    return _numpy_solve(triangle.astype(wide), rhs.astype(wide), adjoint)


_LOWER = np.array([[2.0, 0.0], [1.0, 3.0]])
triangular_solve_op.samples(
    (_LOWER, f64(2, 3)),
    (_LOWER, f64(2, 1), {"adjoint": True}),
    (_LOWER.T.copy(), f64(2, 2), {"lower": False}),
    (_LOWER.astype(np.float16), np.ones((2, 1), np.float16)),
    against=_numpy_triangular_solve,
)
_add_refusals(triangular_solve_op)


@export("matrix_triangular_solve", "linalg.triangular_solve")
def matrix_triangular_solve(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves equations with triangular matrices: X with matrix·X = rhs.

    Args:
      matrix: A tensor of floating-point or complex numbers, of rank 2 or more; only one triangle of its
        square matrices counts.
      rhs: A tensor of the same type, with as many rows and the same axes in front.
      lower: Whether it is the lower triangle, else the upper one.
      adjoint: Whether to take the adjoints of the matrices.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `rhs`. A step with a zero on a diagonal fails with
      InvalidArgumentError.
    """
    return triangular_solve_op(matrix, rhs, lower=lower, adjoint=adjoint, name=name)


batch_triangular_solve_op = Op(
    "BatchMatrixTriangularSolve",
    "matrix: T, rhs: T -> output: T",
    lower=True,
    adjoint=False,
    T=BATCH_TYPES,
)
inherit(batch_triangular_solve_op, triangular_solve_op)
batch_triangular_solve_op.samples((MATRICES, f64(2, 2, 1)))


@export("cholesky_solve", "linalg.cholesky_solve")
def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Solves equations by a Cholesky factor: X with A·X = rhs, where A = chol·cholᴴ.

    Args:
      chol: A tensor of floating-point or complex numbers, of rank 2 or more: the results of
        `tf.linalg.cholesky`.
      rhs: A tensor of the same type, with as many rows and the same axes in front.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the shape and type of `rhs`.
    """
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        halfway = matrix_triangular_solve(chol, rhs, lower=True, adjoint=False)
        return matrix_triangular_solve(chol, halfway, lower=True, adjoint=True)


# ---------------------------------------------------------------------------------- least squares

solve_ls_op = Op(
    "MatrixSolveLs",
    "matrix: T, rhs: T, l2_regularizer: double -> output: T",
    T=MATRIX_TYPES,
    fast=True,
    host="l2_regularizer",
)


@solve_ls_op.shape
def _solve_ls_shape(matrix, rhs, l2_regularizer):
    scalar(l2_regularizer, "l2_regularizer must be scalar, got shape ")
    return solution(matrix, rhs)


@solve_ls_op.kernel
@on_matrices
def _solve_ls_kernel(matrix, rhs, l2_regularizer, *, fast):
    check_equations(matrix, rhs, is_square=False)
    if not fast:
        finite = matrix.isfinite().all(-1).all(-1)[..., None, None]
        return torch.linalg.pinv(matrix.where(finite, 0)).where(finite, torch.nan) @ rhs
    rows, columns = matrix.shape[-2:]
    tall = rows >= columns
    gramian = matrix.mH @ matrix if tall else matrix @ matrix.mH
    gramian.diagonal(dim1=-2, dim2=-1).add_(scalar(l2_regularizer))
    factor, failed_at = torch.linalg.cholesky_ex(gramian)
    if failed_at.any():
        raise ShapeError(
            "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger "
            "l2_regularizer > 0."
        )
    if tall:
        return torch.cholesky_solve(matrix.mH @ rhs, factor)
    return matrix.mH @ torch.cholesky_solve(rhs, factor)


def _by_height(matrix: Tensor, tall: Any, wide: Any) -> Any:
    """What to do with at least as many equations as unknowns, or with fewer; decided when that is known."""
    inner = matrix.shape[-2:]
    if inner.is_fully_defined():
        return tall() if inner.tuple[0] >= inner.tuple[1] else wide()
    sizes = shapes.shape(matrix)[-2:]
    return conditionals.cond(binary.greater_equal(sizes[-2], sizes[-1]), tall, wide)


def _gramian_factor(matrix: Tensor, l2_regularizer: Any, tall: bool) -> Tensor:
    """The Cholesky factor of AᴴA + λ (or AAᴴ + λ)."""
    gramian = matmul.matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if isinstance(l2_regularizer, Tensor) or l2_regularizer != 0:
        sizes, axis = shapes.shape(matrix), -1 if tall else -2
        identity = creation.eye(sizes[axis], batch_shape=sizes[:-2], dtype=matrix.dtype)
        side = matrix.shape[axis]
        identity.set_shape(matrix.shape[:-2].concatenate([side, side]))
        gramian += l2_regularizer * identity
    return tf.cholesky(gramian)


def _tall_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    """Of X = (AᴴA + λ)⁻¹AᴴB."""
    matrix, rhs, regularizer = op.inputs
    factor = _gramian_factor(matrix, casting.cast(regularizer, matrix.dtype), tall=True)
    back = cholesky_solve(factor, grad)
    mixed = matmul.matmul(op.outputs[0], back, adjoint_b=True)
    symmetric = mixed + shapes.matrix_transpose(mixed)
    grad_matrix = matmul.matmul(rhs, back, adjoint_b=True) - matmul.matmul(matrix, symmetric)
    return grad_matrix, matmul.matmul(matrix, back)


def _wide_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    """Of X = Aᴴ(AAᴴ + λ)⁻¹B."""
    matrix, rhs, regularizer = op.inputs
    factor = _gramian_factor(matrix, casting.cast(regularizer, matrix.dtype), tall=False)
    grad_rhs = cholesky_solve(factor, matmul.matmul(matrix, grad))
    weights = cholesky_solve(factor, rhs)
    through_gramian = matmul.matmul(grad_rhs, matmul.matmul(weights, matrix, adjoint_a=True))
    rest = grad - matmul.matmul(matrix, grad_rhs, adjoint_a=True)
    return matmul.matmul(weights, rest, adjoint_b=True) - through_gramian, grad_rhs


@solve_ls_op.gradient
def _solve_ls_gradient(op, grad):
    if not op.attrs["fast"]:
        raise ValueError("Gradient not defined for fast=False")
    return [
        *_by_height(op.inputs[0], lambda: _tall_gradient(op, grad), lambda: _wide_gradient(op, grad)),
        None,
    ]


_TALL = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]])


def _numpy_least_squares(matrix: np.ndarray, rhs: np.ndarray, l2: float, fast: bool) -> np.ndarray:
    if not fast:
        return np.linalg.pinv(matrix) @ rhs
    turned = np.swapaxes(matrix, -1, -2).conj()
    if matrix.shape[-2] >= matrix.shape[-1]:
        return np.linalg.solve(turned @ matrix + l2 * np.eye(matrix.shape[-1]), turned @ rhs)
    return turned @ np.linalg.solve(matrix @ turned + l2 * np.eye(matrix.shape[-2]), rhs)


solve_ls_op.samples(
    (_TALL, f64(3, 2), 0.0),
    (_TALL.T.copy(), f64(2, 2), 0.5),
    (np.stack([_TALL, -_TALL]), f64(2, 3, 1), 0.1),
    (f32(0, 3), f32(0, 2), 0.0),
    against=_numpy_least_squares,
)
solve_ls_op.refuses((f32(2, 3), f32(3, 2), 0.0), "Dimensions must be equal, but are 2 and 3")
solve_ls_op.refuses((np.zeros((2, 2)), f64(2, 1), 0.0), "rank deficient", InvalidArgumentError)


@export("matrix_solve_ls", "linalg.lstsq")
def matrix_solve_ls(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: TensorLike = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """Solves equations as well as possible: the X for which matrix·X is nearest to rhs, by least squares.

    Args:
      matrix: A tensor of floating-point or complex numbers, of rank 2 or more, the matrices along its last
        two axes.
      rhs: A tensor of the same type, with as many rows and the same axes in front.
      l2_regularizer: How much the squares of X count too, a scalar; not used where `fast` is False.
      fast: Whether to use the normal equations, which need matrices of full rank; else a slower way for any.
      name: A name for the operation.

    Returns:
      A tensor of the type of `rhs`, with as many rows as the matrices have columns.
    """
    matrix = convert_to_tensor(matrix, name="matrix")
    if not fast or _many_small(matrix.shape, matrix.dtype):
        return solve_ls_op(matrix, rhs, l2_regularizer, fast=fast, name=name)
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        return _by_height(
            matrix,
            lambda: _tall_solution(matrix, rhs, l2_regularizer),
            lambda: _wide_solution(matrix, rhs, l2_regularizer),
        )


_CACHE = 256_000  # bytes


def _many_small(shape: TensorShape, dtype: dtypes.DType) -> bool:
    """Whether there are many matrices, which one op should better do one by one."""
    if not shape.is_fully_defined() or shape.num_elements() * dtype.size <= _CACHE:
        return False
    return shape[:-2].num_elements() > min(shape.tuple[-2:])


def _tall_solution(matrix: Tensor, rhs: Any, l2_regularizer: Any) -> Tensor:
    factor = _gramian_factor(matrix, l2_regularizer, tall=True)
    return cholesky_solve(factor, matmul.matmul(matrix, rhs, adjoint_a=True))


def _wide_solution(matrix: Tensor, rhs: Any, l2_regularizer: Any) -> Tensor:
    factor = _gramian_factor(matrix, l2_regularizer, tall=False)
    return matmul.matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


batch_solve_ls_op = Op(
    "BatchMatrixSolveLs",
    "matrix: T, rhs: T, l2_regularizer: double -> output: T",
    T=BATCH_TYPES,
    fast=True,
    host="l2_regularizer",
)
inherit(batch_solve_ls_op, solve_ls_op)
batch_solve_ls_op.samples((MATRICES, f64(2, 2, 1), 0.5))
