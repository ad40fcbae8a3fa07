"""Orthogonal matrices from any (QR), and equations with triangular ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.ops import diagonals, matmul, shapes
from tideflow.ops.samples import f32, f64
from tideflow.ops.types import types


def _computable(tensor: torch.Tensor) -> torch.Tensor:
    """LAPACK has no half precision."""
    return tensor.float() if tensor.dtype in (torch.half, torch.bfloat16) else tensor


# ------------------------------------------------------------------------------------------------- QR

qr_op = Op(
    "Qr",
    "input: T -> q: T, r: T",
    full_matrices=False,
    T=types("double float half complex64 complex128"),
)


@qr_op.shape
def _(input, *, full_matrices):
    if input.with_rank_at_least(2).ndims is None:
        return [None, None]
    batch, (rows, columns) = input[:-2], input.tuple[-2:]
    inner = rows if full_matrices else None if None in (rows, columns) else min(rows, columns)
    return [batch.concatenate([rows, inner]), batch.concatenate([inner, columns])]


@qr_op.kernel
def _(input, *, full_matrices):
    q, r = torch.linalg.qr(_computable(input), mode="complete" if full_matrices else "reduced")
    return q.to(input.dtype), r.to(input.dtype)


@qr_op.gradient
def _(op, grad_q, grad_r):
    q, r = op.outputs
    if q.dtype.is_complex or r.shape.ndims is None or r.shape.tuple[-2] != r.shape.tuple[-1]:
        raise LookupError(
            f"No gradient defined for '{op.name}' (Qr): it is known for real matrices with at least as many "
            "rows as columns, and full_matrices=False."
        )
    from_q = matmul.matmul(q, grad_q, adjoint_a=True)
    from_r = matmul.matmul(r, grad_r, adjoint_b=True)
    below = diagonals.matrix_band_part(_antisymmetric(from_q) + _antisymmetric(from_r), -1, 0)
    return matmul.matmul(q, grad_r + _divided(below, r)) + _divided(grad_q - matmul.matmul(q, from_q), r)


def _antisymmetric(matrix: Tensor) -> Tensor:
    return matrix - shapes.matrix_transpose(matrix)


def _divided(matrix: Tensor, upper: Tensor) -> Tensor:
    """matrix · upper⁻ᵀ"""
    return shapes.matrix_transpose(
        matrix_triangular_solve(upper, shapes.matrix_transpose(matrix), lower=False, adjoint=False)
    )


qr_op.samples(f32(3, 3), f64(2, 4, 3), against=lambda input: tuple(np.linalg.qr(input)))
qr_op.refuses((f32(3),), "must have rank at least 2")


@export("qr", "linalg.qr")
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Q and R of each matrix: orthonormal columns, and an upper triangular matrix, with Q·R = input."""
    return qr_op(input, full_matrices=full_matrices, name=name)


# ------------------------------------------------------------------------------------------------- triangular

triangular_solve_op = Op(
    "MatrixTriangularSolve",
    "matrix: T, rhs: T -> output: T",
    lower=True,
    adjoint=False,
    T=types("bfloat16 double float half complex64 complex128"),
)


@triangular_solve_op.shape
def _(matrix, rhs):
    matrix, rhs = matrix.with_rank_at_least(2), rhs.with_rank_at_least(2)
    if matrix.ndims is None or rhs.ndims is None:
        return rhs
    rows, columns = matrix.tuple[-2:]
    if None not in (rows, columns) and rows != columns:
        raise ShapeError(f"Dimensions must be equal, but are {rows} and {columns}")
    size = rows if columns is None else columns
    if None not in (size, rhs.tuple[-2]) and size != rhs.tuple[-2]:
        raise ShapeError(f"Dimensions must be equal, but are {size} and {rhs.tuple[-2]}")
    return rhs[:-2].merge_with(matrix[:-2]).concatenate([size or rhs.tuple[-2], rhs.tuple[-1]])


@triangular_solve_op.kernel
def _(matrix, rhs, *, lower, adjoint):
    wide, right = _computable(matrix), _computable(rhs)
    if adjoint:
        wide, lower = wide.mH, not lower
    return torch.linalg.solve_triangular(wide, right, upper=not lower).to(matrix.dtype)


@triangular_solve_op.gradient
def _(op, grad):
    matrix, lower, adjoint = op.inputs[0], op.attrs["lower"], op.attrs["adjoint"]
    grad_rhs = matrix_triangular_solve(matrix, grad, lower=lower, adjoint=not adjoint)
    left, right = (op.outputs[0], grad_rhs) if adjoint else (grad_rhs, op.outputs[0])
    grad_matrix = -matmul.matmul(left, right, adjoint_b=True)
    return diagonals.matrix_band_part(grad_matrix, *((-1, 0) if lower else (0, -1))), grad_rhs


_LOWER = np.array([[2.0, 0.0], [1.0, 3.0]])
triangular_solve_op.samples(
    (_LOWER, f64(2, 3)),
    (_LOWER, f64(2, 1), {"adjoint": True}),
    (_LOWER.T.copy(), f64(2, 2), {"lower": False}),
)
triangular_solve_op.refuses((f32(2, 3), f32(2, 2)), "Dimensions must be equal, but are 2 and 3")
triangular_solve_op.refuses((f32(2, 2), f32(3, 2)), "Dimensions must be equal, but are 2 and 3")


@export("matrix_triangular_solve", "linalg.triangular_solve")
def matrix_triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """X with `matrix`·X = `rhs`, where only the lower (or upper) triangle of each matrix counts."""
    return triangular_solve_op(matrix, rhs, lower=lower, adjoint=adjoint, name=name)
