"""Eigenvalues of self-adjoint matrices, singular values of any, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import dimension_value
from tideflow.ops.arrays import constants, creation, diagonals, indexing, shapes
from tideflow.ops.helpers.aliases import inherit
from tideflow.ops.helpers.samples import f32, f64
from tideflow.ops.helpers.types import types
from tideflow.ops.linalg import matmul
from tideflow.ops.linalg.matrices import (
    BATCH_TYPES,
    MATRICES,
    MATRIX_TYPES,
    check_matrices,
    on_matrices,
    on_square,
    sides,
    square,
)
from tideflow.ops.math import binary, casting, checks, complex_numbers, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

# ---------------------------------------------------------------------------------- eigenvalues


_NOT_SUCCESSFUL = "Self-adjoint eigen decomposition was not successful. The input might not be valid."


def _decomposed(function: Callable[[torch.Tensor], Any], input: torch.Tensor) -> Any:
    try:
        return function(input)
    except torch.linalg.LinAlgError:
        raise ShapeError(_NOT_SUCCESSFUL) from None


def _finite(values: torch.Tensor) -> torch.Tensor:
    if values.isnan().any():
        raise ShapeError(_NOT_SUCCESSFUL)
    return values


def _eigen(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    values, vectors = _decomposed(torch.linalg.eigh, input)
    return _finite(values).to(input.dtype), vectors


def _differences_below(values: Tensor, offset: Tensor | None) -> Tensor:
    """1 / (values[j] - values[i]) in place i, j, and 0 on the diagonal."""
    differences = shapes.expand_dims(values, -2) - shapes.expand_dims(values, -1)
    if offset is not None:
        differences = differences + offset
    return diagonals.matrix_set_diag(unary.reciprocal(differences), creation.zeros_like(values))


_SYMMETRIC = np.array([[2.0, 0.5, 0.3], [0.5, -1.0, 0.8], [0.3, 0.8, 4.0]])

eig_op = Op("SelfAdjointEigV2", "input: T -> e: T, v: T", compute_v=True, T=MATRIX_TYPES)


@eig_op.shape
def _eig_shape(input, *, compute_v):
    whole = square(input)
    return [whole[:-1], whole if compute_v else [0]]


@eig_op.kernel
@on_square
def _eig_kernel(input, *, compute_v):
    if compute_v:
        return _eigen(input)
    values = _finite(_decomposed(torch.linalg.eigvalsh, input))
    return values.to(input.dtype), input.new_zeros(0)


@eig_op.gradient
def _eig_gradient(op, grad_values, grad_vectors):
    """Infinite where eigenvalues are equal: their eigenvectors are then any of a whole space."""
    with control_dependencies([grad_values, grad_vectors]):
        inner = diagonals.matrix_diag(grad_values)
        if op.attrs["compute_v"]:
            values, vectors = op.outputs
            turning = _differences_below(values, None) * matmul.matmul(vectors, grad_vectors, adjoint_a=True)
            inner = inner + turning
        else:
            _, vectors = self_adjoint_eig(op.inputs[0])
        grad = matmul.matmul(vectors, matmul.matmul(inner, vectors, adjoint_b=True))
        # Only the lower triangle was looked at.
        lower = diagonals.matrix_band_part(grad + shapes.adjoint(grad), -1, 0)
        return diagonals.matrix_set_diag(lower, 0.5 * diagonals.matrix_diag_part(lower))


def _numpy_eigenvalues(input: np.ndarray, compute_v: bool) -> tuple:
    return np.linalg.eigvalsh(input).astype(input.dtype), None if compute_v else np.zeros(0)


def _are_eigenpairs(input: np.ndarray, values: np.ndarray, vectors: np.ndarray, compute_v: bool) -> list:
    """The vectors are orthonormal, and the matrix stretches each by its value."""
    if not compute_v:
        return []
    stretched = vectors * values[..., None, :]
    products = np.swapaxes(vectors.conj(), -1, -2) @ vectors
    identity = np.broadcast_to(np.eye(input.shape[-1]), products.shape)
    return [(input @ vectors, stretched), (products, identity.astype(products.dtype))]


eig_op.samples(
    _SYMMETRIC,
    (np.stack([_SYMMETRIC, 2 * _SYMMETRIC]).astype(np.float32), {"compute_v": False}),
    _SYMMETRIC.astype(np.complex64),
    (f32(0, 0),),
    against=_numpy_eigenvalues,
    law=_are_eigenpairs,
)
eig_op.refuses((f32(2, 3),), "Dimensions must be equal, but are 2 and 3")
eig_op.refuses(
    (np.full((2, 2), np.nan),), "Self-adjoint eigen decomposition was not successful", InvalidArgumentError
)


@export("self_adjoint_eig", "linalg.eigh")
def self_adjoint_eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues and eigenvectors of each self-adjoint matrix.

    Args:
      tensor: A tensor of floating-point or complex numbers, of rank 2 or more; only the lower triangles of
        its square matrices count.
      name: A name for the operation.

    Returns:
      The eigenvalues in ascending order, along the last axis, and the eigenvectors as columns of matrices.
    """
    values, vectors = eig_op(tensor, compute_v=True, name=name)
    return values, vectors


@export("self_adjoint_eigvals", "linalg.eigvalsh")
def self_adjoint_eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues of each self-adjoint matrix.

    Args:
      tensor: A tensor of floating-point or complex numbers, of rank 2 or more; only the lower triangles of
        its square matrices count.
      name: A name for the operation.

    Returns:
      The eigenvalues in ascending order, along the last axis.
    """
    values, _ = eig_op(tensor, compute_v=False, name=name)
    return values


batch_eig_op = Op("BatchSelfAdjointEigV2", "input: T -> e: T, v: T", compute_v=True, T=BATCH_TYPES)
inherit(batch_eig_op, eig_op)
batch_eig_op.samples(MATRICES)

packed_eig_op = Op("SelfAdjointEig", "input: T -> output: T", T=types("double float half"))


@packed_eig_op.shape
def _packed_eig_shape(input):
    side = dimension_value(square(input)[-1])
    return input[:-2].concatenate([None if side is None else side + 1, side])


@packed_eig_op.kernel
@on_square
def _packed_eig_kernel(input):
    values, vectors = _eigen(input)
    return torch.cat([values.unsqueeze(-2), vectors], -2)


packed_eig_op.gradient(undefined_gradient)
packed_eig_op.samples(
    (_SYMMETRIC,),
    (f32(0, 2, 2),),
    law=lambda input, packed: _are_eigenpairs(input, packed[..., 0, :], packed[..., 1:, :], compute_v=True),
)
packed_eig_op.refuses((f32(2, 3),), "Dimensions must be equal, but are 2 and 3")

batch_packed_eig_op = Op("BatchSelfAdjointEig", "input: T -> output: T", T=BATCH_TYPES)
inherit(batch_packed_eig_op, packed_eig_op)
batch_packed_eig_op.samples((MATRICES,))

# ---------------------------------------------------------------------------------- singular values

svd_op = Op("Svd", "input: T -> s: T, u: T, v: T", compute_uv=True, full_matrices=False, T=MATRIX_TYPES)


@svd_op.shape
def _svd_shape(input, *, compute_uv, full_matrices):
    rows, columns = sides(input)
    batch, shorter = input[:-2], None if None in (rows, columns) else min(rows, columns)
    values = batch.concatenate([shorter])
    if not compute_uv:
        return [values, [0], [0]]
    left, right = (rows, columns) if full_matrices else (shorter, shorter)
    return [values, batch.concatenate([rows, left]), batch.concatenate([columns, right])]


@svd_op.kernel
@on_matrices
def _svd_kernel(input, *, compute_uv, full_matrices):
    check_matrices(input)
    try:
        values, left, right = _svd(input, compute_uv, full_matrices)
    except torch.linalg.LinAlgError:
        # Of a matrix that is not finite the values are NaN, and the vectors any basis, as in TensorFlow.
        finite = input.isfinite().all(-1).all(-1)[..., None]
        values, left, right = _svd(input.where(finite[..., None], 0), compute_uv, full_matrices)
        values = values.where(finite, torch.nan)
    return values.to(input.dtype), left, right


def _svd(input, compute_uv, full_matrices):
    if not compute_uv:
        return torch.linalg.svdvals(input), input.new_zeros(0), input.new_zeros(0)
    left, values, right = torch.linalg.svd(input, full_matrices=full_matrices)
    return values, left, right.mH


def _of_shape(grad: Tensor, matrix: Tensor) -> Tensor:
    grad.set_shape(matrix.shape)
    return grad


def _wide_svd_gradient(
    s: Tensor, u: Tensor, v: Tensor, grad_s: Tensor, grad_u: Tensor, grad_v: Tensor, full: bool
) -> Tensor:
    """For at most as many rows as columns. Infinite where singular values are equal: their vectors are then
    any of a whole space.
    """
    rows, columns = u.shape.tuple[-2], v.shape.tuple[-2]
    sizes = shapes.shape(s)
    identity = creation.eye(sizes[-1], batch_shape=sizes[:-1], dtype=s.dtype)
    turning = _differences_below(unary.square(s), identity)
    values, near, grad_near = diagonals.matrix_diag(s), v[..., :, :rows], grad_v[..., :, :rows]
    from_u = turning * matmul.matmul(u, grad_u, adjoint_a=True)
    from_v = turning * matmul.matmul(near, grad_near, adjoint_a=True)
    inner = (
        diagonals.matrix_diag(grad_s)
        + matmul.matmul(from_u + shapes.adjoint(from_u), values)
        + matmul.matmul(values, from_v + shapes.adjoint(from_v))
    )
    result = matmul.matmul(u, matmul.matmul(inner, near, adjoint_b=True))
    if rows == columns:
        return result
    turned = shapes.matrix_transpose(grad_near)
    outside = turned - matmul.matmul(matmul.matmul(turned, near), near, adjoint_b=True)
    if full:
        far, grad_far = v[..., :, rows:columns], grad_v[..., :, rows:columns]
        between = matmul.matmul(near, grad_far, adjoint_a=True)
        outside -= matmul.matmul(between, far, adjoint_b=True)
    scaled = matmul.matmul(u, diagonals.matrix_diag(unary.reciprocal(s)))
    return result + matmul.matmul(scaled, outside)


@svd_op.gradient
def _svd_gradient(op, grad_s, grad_u, grad_v):
    matrix = op.inputs[0]
    if not op.attrs["compute_uv"]:
        _, left, right = svd(matrix, compute_uv=True)
        inner = matmul.matmul(diagonals.matrix_diag(grad_s), right, adjoint_b=True)
        return _of_shape(matmul.matmul(left, inner), matrix)
    rows, columns = sides(matrix.shape)
    full = op.attrs["full_matrices"]
    if matrix.dtype.is_complex or None in (rows, columns) or full and abs(rows - columns) > 1:
        raise LookupError(
            f"No gradient defined for '{op.name}' (Svd): with compute_uv=True it is known for real matrices "
            "of known rows and columns, which with full_matrices=True differ by at most one."
        )
    s, u, v = op.outputs
    with control_dependencies([grad_s, grad_u, grad_v]):
        if rows > columns:  # the gradient of the transposed matrix, transposed
            turned = _wide_svd_gradient(s, v, u, grad_s, grad_v, grad_u, full)
            return _of_shape(shapes.matrix_transpose(turned), matrix)
        return _of_shape(_wide_svd_gradient(s, u, v, grad_s, grad_u, grad_v, full), matrix)


def _numpy_singular_values(input: np.ndarray, compute_uv: bool) -> tuple:
    values = np.linalg.svd(input, compute_uv=False).astype(input.dtype)
    return (values, None, None) if compute_uv else (values, np.zeros(0), np.zeros(0))


def _make_the_matrix(
    input: np.ndarray, s: np.ndarray, u: np.ndarray, v: np.ndarray, compute_uv: bool
) -> list:
    """The matrix is u·diag(s)·vᴴ, of as many columns of u and v as there are singular values."""
    if not compute_uv:
        return []
    count = s.shape[-1]
    right = np.swapaxes(v[..., :count].conj(), -1, -2)
    return [(input, (u[..., :count] * s[..., None, :]) @ right)]


svd_op.samples(
    f64(3, 3),
    f32(2, 2, 4),
    (f64(4, 3), {"full_matrices": True}),
    (f64(2, 3, 2), {"compute_uv": False}),
    (f32(0, 3), {"full_matrices": True}),
    against=_numpy_singular_values,
    law=_make_the_matrix,
)
svd_op.refuses((f32(3),), "Shape must be at least rank 2 but is rank 1")


@export("svd", "linalg.svd")
def svd(
    tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """The singular value decomposition of each matrix: u·diag(s)·vᴴ.

    Args:
      tensor: A tensor of floating-point or complex numbers, of rank 2 or more, the matrices along its last
        two axes.
      full_matrices: Whether u and v are square; else they have as many columns as there are singular values.
      compute_uv: Whether u and v are wanted.
      name: A name for the operation.

    Returns:
      The singular values `s`, real and descending, `u` and `v`; without `compute_uv`, `s` alone.
    """
    s, u, v = svd_op(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (complex_numbers.real(s), u, v) if compute_uv else complex_numbers.real(s)


batch_svd_op = Op(
    "BatchSvd",
    "input: T -> s: T, u: T, v: T",
    compute_uv=True,
    full_matrices=False,
    T=types("double float complex64 complex128"),
)
inherit(batch_svd_op, svd_op)
batch_svd_op.samples(f64(2, 2, 3))

# ---------------------------------------------------------------------------------- rank and inverse


@export("linalg.matrix_rank")
def matrix_rank(
    a: TensorLike, tol: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The rank of each matrix: how many of its singular values are not about zero.

    Args:
      a: A tensor of floating-point numbers, of rank 2 or more, the matrices along its last two axes.
      tol: The largest singular value that counts as zero; by default what rounding leaves.
      validate_args: Whether the step checks the rank of `a` where it is not known.
      name: A name for the scope of the operations.

    Returns:
      A tensor of type int32, without the last two axes.

    Raises:
      TypeError: If `a` does not hold floating-point numbers.
      ValueError: If the rank of `a` is known to be less than 2.
    """
    with name_scope(name or "matrix_rank"):
        a = _checked(convert_to_tensor(a, dtype_hint=dtypes.float32, name="a"), validate_args)
        values = svd(a, compute_uv=False)
        if tol is None:
            inner = a.shape[-2:]
            longer = (
                max(inner.tuple) if inner.is_fully_defined() else reductions.reduce_max(shapes.shape(a)[-2:])
            )
            tol = np.finfo(a.dtype.as_numpy_dtype).eps * casting.cast(longer, a.dtype)
            tol = tol * reductions.reduce_max(values, axis=-1, keepdims=True)
        return reductions.reduce_sum(casting.cast(values > tol, dtypes.int32), axis=-1)


def _checked(a: Tensor, validate_args: bool) -> Tensor:
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.shape.ndims is not None and a.shape.ndims < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {a.shape.ndims}).")
    if a.shape.ndims is not None or not validate_args:
        return a
    message = "Input `a` must have at least 2 dimensions."
    with control_dependencies([checks.assert_rank_at_least(a, 2, message=message)]):
        return constants.identity(a)


@export("linalg.pinv")
def pinv(
    a: TensorLike, rcond: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The pseudo-inverse of each matrix.

    Args:
      a: A tensor of floating-point numbers, of rank 2 or more, the matrices along its last two axes.
      rcond: Singular values below this share of the largest count as zero; by default what rounding leaves.
      validate_args: Whether the step checks the rank of `a` where it is not known.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `a` with the last two sizes exchanged.

    Raises:
      TypeError: If `a` does not hold floating-point numbers.
      ValueError: If the rank of `a` is known to be less than 2.
    """
    with name_scope(name or "pinv"):
        a = _checked(convert_to_tensor(a, name="a"), validate_args)
        dtype = a.dtype.as_numpy_dtype
        if rcond is None:
            rcond = 10.0 * _longer_side(a) * np.finfo(dtype).eps
        rcond = convert_to_tensor(rcond, dtype=a.dtype, name="rcond")
        values, left, right = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * reductions.reduce_max(values, axis=-1)
        # Infinity, because its reciprocal and the gradient of that are zero.
        kept = binary.greater(values, shapes.expand_dims(cutoff, -1))
        values = indexing.where_v2(kept, values, np.array(np.inf, dtype))
        inverse = matmul.matmul(right / shapes.expand_dims(values, -2), left, adjoint_b=True)
        if a.shape.ndims is not None:
            inverse.set_shape(a.shape[:-2].concatenate([a.shape[-1], a.shape[-2]]))
        return inverse


def _longer_side(a: Tensor) -> Any:
    rows, columns = sides(a.shape)
    if None not in (rows, columns):
        return float(max(rows, columns))
    sizes = shapes.shape(a)
    return casting.cast(binary.maximum(sizes[-2], sizes[-1]), a.dtype)
