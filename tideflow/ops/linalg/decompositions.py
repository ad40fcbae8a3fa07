"""Matrices as products: L·Lᴴ (Cholesky), Q·R, and P·L·U."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import brackets
from tideflow.ops.arrays import creation, diagonals, shapes
from tideflow.ops.helpers.aliases import inherit
from tideflow.ops.helpers.samples import f32, f64
from tideflow.ops.helpers.types import INDEX, types
from tideflow.ops.linalg import matmul, solvers
from tideflow.ops.linalg.matrices import (
    BATCH_TYPES,
    MATRICES,
    MATRIX_TYPES,
    check_invertible,
    check_matrices,
    on_matrices,
    on_square,
    sides,
    square,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike
    from tideflow.linalg.operator import LinearOperator

_POSITIVE = np.array([[4.0, 2.0, 0.6], [2.0, 3.0, 0.4], [0.6, 0.4, 2.0]])

# ---------------------------------------------------------------------------------- Cholesky

cholesky_op = Op("Cholesky", "input: T -> output: T", T=MATRIX_TYPES, has_numeric_gradient=False)

cholesky_op.shape(square)


@cholesky_op.kernel
@on_square
def _cholesky_kernel(input):
    factor, failed_at = torch.linalg.cholesky_ex(input)
    failed = failed_at > 0
    if failed.any():
        # What is not a number passes, as in TensorFlow; what is not positive definite does not.
        unknown = torch.tril(input).isnan().flatten(-2).any(-1)
        if (failed & ~unknown).any():
            raise ShapeError("Cholesky decomposition was not successful. The input might not be valid.")
        nothing = torch.tril(torch.full_like(input, torch.nan))
        factor = torch.where(failed[..., None, None], nothing, factor)
    return factor


def _half(matrix: Tensor) -> Tensor:
    """The lower triangle, its diagonal halved: added to its transpose, a symmetric matrix again."""
    halved = diagonals.matrix_set_diag(matrix, 0.5 * diagonals.matrix_diag_part(matrix))
    return diagonals.matrix_band_part(halved, -1, 0)


@cholesky_op.gradient
def _cholesky_gradient(op, grad):
    """L⁻ᴴ · half(Lᴴ·grad) · L⁻¹, made self-adjoint."""
    factor = op.outputs[0]
    size = shapes.shape(factor)
    identity = creation.eye(size[-1], batch_shape=size[:-2], dtype=factor.dtype)
    inverse = solvers.matrix_triangular_solve(factor, identity)
    middle = _half(matmul.matmul(factor, grad, adjoint_a=True))
    result = matmul.matmul(matmul.matmul(inverse, middle, adjoint_a=True), inverse)
    return (result + shapes.adjoint(result)) * 0.5


cholesky_op.samples(
    np.stack([_POSITIVE, 2 * _POSITIVE]).astype(np.float32),
    np.zeros((0, 0)),
    _POSITIVE.astype(np.complex64),
    _POSITIVE.astype(np.float16),
    against=lambda x: np.linalg.cholesky(x.astype(np.promote_types(x.dtype, np.float32))).astype(x.dtype),
)
cholesky_op.refuses((f32(2, 3),), "Dimensions must be equal, but are 2 and 3")
cholesky_op.refuses((f32(3),), "Shape must be at least rank 2 but is rank 1")
cholesky_op.refuses((-_POSITIVE,), "Cholesky decomposition was not successful", InvalidArgumentError)


@export("cholesky", "linalg.cholesky", operator="cholesky")
def cholesky(input: TensorLike | LinearOperator, name: str | None = None) -> Tensor:
    """The Cholesky factor of each positive definite matrix: the lower triangular L with L·Lᴴ = input.

    Args:
      input: A tensor of floating-point or complex numbers, of rank 2 or more; only the lower triangles of its
        square matrices count.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`. A step with a matrix that is not positive definite fails with
      InvalidArgumentError.
    """
    return cholesky_op(input, name=name)


batch_cholesky_op = Op("BatchCholesky", "input: T -> output: T", T=BATCH_TYPES, has_numeric_gradient=False)
inherit(batch_cholesky_op, cholesky_op)
batch_cholesky_op.samples(MATRICES)

cholesky_grad_op = Op("CholeskyGrad", "l: T, grad: T -> output: T", T=types("half float double"))


@cholesky_grad_op.shape
def _cholesky_grad_shape(l, grad):
    return square(l)


@cholesky_grad_op.kernel
@on_matrices
def _cholesky_grad_kernel(l, grad):
    check_matrices(l, grad)
    if l.shape != grad.shape or l.shape[-1] != l.shape[-2]:
        raise ShapeError(
            "Inputs (L and grad) must have the same shape, that of square matrices, but are "
            f"{brackets(l.shape)} and {brackets(grad.shape)}"
        )
    middle = torch.tril(l.mT @ grad)
    middle.diagonal(dim1=-2, dim2=-1).mul_(0.5)
    left = torch.linalg.solve_triangular(l.mT, middle, upper=True)
    result = torch.linalg.solve_triangular(l, left, upper=False, left=False)
    return (result + result.mT) * 0.5


cholesky_grad_op.gradient(undefined_gradient)


def _direction_by_direction(l: np.ndarray, grad: np.ndarray) -> np.ndarray:
    """Each element from how L changes along one symmetric direction: dL = L·half(L⁻¹·dA·L⁻ᵀ)."""
    side, inverse = l.shape[-1], np.linalg.inv(l)
    half = np.tril(np.ones((side, side))) - np.eye(side) / 2
    result = np.zeros_like(l)
    for i, j in np.ndindex(side, side):
        direction = np.zeros((side, side))
        direction[i, j] += 0.5
        direction[j, i] += 0.5
        change = l @ (half * (inverse @ direction @ np.swapaxes(inverse, -1, -2)))
        result[..., i, j] = (grad * change).sum((-2, -1))
    return result


cholesky_grad_op.samples(
    (np.linalg.cholesky(_POSITIVE), f64(3, 3)),
    (np.zeros((0, 2, 2)), f64(0, 2, 2)),
    against=_direction_by_direction,
)

batch_cholesky_grad_op = Op("BatchCholeskyGrad", "l: T, grad: T -> output: T", T=types("float double"))
inherit(batch_cholesky_grad_op, cholesky_grad_op)
batch_cholesky_grad_op.samples((np.linalg.cholesky(MATRICES), f64(2, 2, 2)))

# ---------------------------------------------------------------------------------- QR

qr_op = Op("Qr", "input: T -> q: T, r: T", full_matrices=False, T=MATRIX_TYPES)


@qr_op.shape
def _qr_shape(input, *, full_matrices):
    rows, columns = sides(input)
    inner = rows if full_matrices else None if None in (rows, columns) else min(rows, columns)
    return [input[:-2].concatenate([rows, inner]), input[:-2].concatenate([inner, columns])]


@qr_op.kernel
@on_matrices
def _qr_kernel(input, *, full_matrices):
    check_matrices(input)
    return tuple(torch.linalg.qr(input, mode="complete" if full_matrices else "reduced"))


def _antisymmetric(matrix: Tensor) -> Tensor:
    return matrix - shapes.adjoint(matrix)


def _divided(matrix: Tensor, upper: Tensor) -> Tensor:
    """matrix · upper⁻ᴴ"""
    turned = shapes.adjoint(matrix)
    return shapes.adjoint(solvers.matrix_triangular_solve(upper, turned, lower=False, adjoint=False))


@qr_op.gradient
def _qr_gradient(op, grad_q, grad_r):
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


qr_op.samples(
    f32(3, 3),
    f64(2, 4, 3),
    f32(3, 0),
    (f32(4, 2), {"full_matrices": True}),
    against=lambda input, full_matrices: tuple(
        np.linalg.qr(input, "complete" if full_matrices else "reduced")
    ),
)
qr_op.refuses((f32(3),), "Shape must be at least rank 2 but is rank 1")


@export("qr", "linalg.qr")
def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The QR decomposition of each matrix: orthonormal columns Q and upper triangular R with Q·R = input.

    Args:
      input: A tensor of floating-point or complex numbers, of rank 2 or more, the matrices along its last two
        axes.
      full_matrices: Whether Q is square; else it has as many columns as the shorter side of the matrix.
      name: A name for the operation.

    Returns:
      `q` and `r`, of the type of `input`.
    """
    return qr_op(input, full_matrices=full_matrices, name=name)


# ---------------------------------------------------------------------------------- LU

lu_op = Op(
    "Lu",
    "input: T -> lu: T, p: output_idx_type",
    T=MATRIX_TYPES,
    output_idx_type=INDEX,
)


@lu_op.shape
def _lu_shape(input):
    whole = square(input)
    return [whole, whole[:-1]]


@lu_op.kernel
@on_square
def _lu_kernel(input, *, output_idx_type):
    packed, swaps, _ = torch.linalg.lu_factor_ex(input)
    check_invertible(packed.diagonal(dim1=-2, dim2=-1), "Input is not invertible.")
    permutation, _, _ = torch.lu_unpack(packed, swaps, unpack_data=False)
    # Row i of L·U is the row of the input where column i of the permutation has its one.
    places = torch.arange(input.shape[-1], device=input.device, dtype=output_idx_type.torch)
    rows = (permutation.real.to(places.dtype) * places[:, None]).sum(-2, dtype=places.dtype)
    return packed, rows


lu_op.gradient(undefined_gradient)


def _numpy_lu(input: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian elimination, each time with the largest element that is left in the column."""
    packed, order = input.copy(), np.arange(len(input), dtype=np.int32)
    for i in range(len(packed)):
        largest = i + int(np.abs(packed[i:, i]).argmax())
        packed[[i, largest]], order[[i, largest]] = packed[[largest, i]], order[[largest, i]]
        packed[i + 1 :, i] /= packed[i, i]
        packed[i + 1 :, i + 1 :] -= np.outer(packed[i + 1 :, i], packed[i, i + 1 :])
    return packed, order


lu_op.samples(f32(3, 3), f64(4, 4), f32(0, 0), against=_numpy_lu)
lu_op.refuses((f32(2, 3),), "Dimensions must be equal, but are 2 and 3")
lu_op.refuses((np.zeros((2, 2)),), "Input is not invertible.", InvalidArgumentError)


@export("linalg.lu")
def lu(
    input: TensorLike, output_idx_type: DTypeLike = "int32", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The LU decomposition of each square matrix, with rows exchanged: L·U are the rows `p` of the input.

    Args:
      input: A tensor of floating-point or complex numbers, of rank 2 or more, the matrices along its last two
        axes.
      output_idx_type: The type of the row numbers, int32 or int64.
      name: A name for the operation.

    Returns:
      `lu`, L (without its diagonal of ones) and U packed in one matrix, and `p`, the row of the input that
      each row is. A step with a singular matrix fails with InvalidArgumentError.
    """
    return lu_op(input, output_idx_type=output_idx_type, name=name)
