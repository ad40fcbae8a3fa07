"""Tridiagonal matrices, held as their three diagonals: products and equations in linear time.

The diagonals are the upper, the main and the lower one, each as long as the main: element i belongs to row i,
so the upper one's last and the lower one's first element are never looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape, dimension_value
from tideflow.ops.arrays import creation, diagonals, indexing, joining, shapes, tiling
from tideflow.ops.helpers.axes import merged, of_rank_at_least
from tideflow.ops.helpers.samples import c64, f32, f64
from tideflow.ops.helpers.types import types
from tideflow.ops.linalg.matrices import check_matrices, same_size, sides
from tideflow.ops.math import reductions, unary
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_TYPES = types("double float complex64 complex128")


def _paddings(tensor: Tensor, last: list[list[int]]) -> Any:
    """Paddings of the last axes, none of those before."""
    count = tensor.shape.ndims
    if count is not None:
        return [[0, 0]] * (count - len(last)) + last
    return joining.concat([creation.zeros([shapes.rank(tensor) - len(last), 2], "int32"), last], 0)


def _moved_up(matrix: Tensor) -> Tensor:
    """Each row in the place of the one above it, zeros in the last."""
    return tiling.pad(matrix[..., 1:, :], _paddings(matrix, [[0, 1], [0, 0]]))


def _moved_down(matrix: Tensor) -> Tensor:
    return tiling.pad(matrix[..., :-1, :], _paddings(matrix, [[1, 0], [0, 0]]))


def _dense(upper: np.ndarray, main: np.ndarray, lower: np.ndarray) -> np.ndarray:
    matrix = np.zeros((*main.shape, main.shape[-1]), main.dtype)
    for i in range(main.shape[-1]):
        matrix[..., i, i] = main[..., i]
    for i in range(main.shape[-1] - 1):
        matrix[..., i, i + 1], matrix[..., i + 1, i] = upper[..., i], lower[..., i + 1]
    return matrix


# ---------------------------------------------------------------------------------- product

tridiagonal_matmul_op = Op(
    "TridiagonalMatMul", "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T", T=_TYPES
)


@tridiagonal_matmul_op.shape
def _tridiagonal_matmul_shape(superdiag, maindiag, subdiag, rhs):
    for diagonal in (superdiag, maindiag, subdiag):
        of_rank_at_least(diagonal, 2)
    if superdiag.tuple != maindiag.tuple == subdiag.tuple:
        merged(superdiag, maindiag, "Invalid superdiagonal shape.")
    one = merged(superdiag, maindiag, "Invalid main diagonal shape.")
    one = merged(one, subdiag, "Invalid subdiagonal shape.")
    rows, length = sides(one)
    if rows not in (None, 1):
        raise ShapeError(f"Dimension must be 1 but is {rows}", "Invalid superdiagonal shape.")
    same_size(length, sides(rhs)[0], "Invalid superdiagonal shape.")
    merged(one[:-2], rhs[:-2])
    return rhs


@tridiagonal_matmul_op.kernel
def _tridiagonal_matmul_kernel(superdiag, maindiag, subdiag, rhs):
    check_matrices(superdiag, maindiag, subdiag, rhs)
    upper, main, lower = superdiag.mT, maindiag.mT, subdiag.mT
    product = main * rhs
    product[..., :-1, :] += upper[..., :-1, :] * rhs[..., 1:, :]
    product[..., 1:, :] += lower[..., 1:, :] * rhs[..., :-1, :]
    return product


def _row_sums(matrix: Tensor) -> Tensor:
    return shapes.expand_dims(reductions.reduce_sum(matrix, axis=-1), -2)


@tridiagonal_matmul_op.gradient
def _tridiagonal_matmul_gradient(op, grad):
    upper, main, lower = (shapes.matrix_transpose(diagonal, conjugate=True) for diagonal in op.inputs[:3])
    rhs = unary.conj(op.inputs[3])
    slopes = [_row_sums(_moved_up(rhs) * grad), _row_sums(rhs * grad), _row_sums(_moved_down(rhs) * grad)]
    grad_rhs = _moved_down(upper * grad) + main * grad + _moved_up(lower * grad)
    return [*slopes, grad_rhs]


tridiagonal_matmul_op.samples(
    (f64(1, 3), f64(1, 3), f64(1, 3), f64(3, 2)),
    (f32(2, 1, 4), f32(2, 1, 4), f32(2, 1, 4), f32(2, 4, 1)),
    (c64(1, 2), c64(1, 2), c64(1, 2), c64(2, 2)),
    (f32(1, 1), f32(1, 1), f32(1, 1), f32(1, 2)),
    against=lambda upper, main, lower, rhs: _dense(upper[..., 0, :], main[..., 0, :], lower[..., 0, :]) @ rhs,
)
tridiagonal_matmul_op.refuses((f32(1, 3), f32(1, 2), f32(1, 3), f32(3, 2)), "must be equal, but are 3 and 2")
tridiagonal_matmul_op.refuses((f32(2, 3), f32(2, 3), f32(2, 3), f32(3, 2)), "Dimension must be 1 but is 2")


@export("linalg.tridiagonal_matmul")
def tridiagonal_matmul(
    diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """The product of tridiagonal matrices and `rhs`.

    Args:
      diagonals: The upper, the main and the lower diagonal: as rows of a tensor [..., 3, length] ("compact"),
        as a sequence of three tensors ("sequence"), or in whole matrices ("matrix").
      rhs: A tensor of the same type, [..., length, columns].
      diagonals_format: "compact", "sequence" or "matrix".
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `rhs`.

    Raises:
      ValueError: If the format is not known.
    """
    if diagonals_format == "compact":
        diagonals = convert_to_tensor(diagonals, name="diagonals")
        parts = [diagonals[..., i, :] for i in range(3)]
    elif diagonals_format == "sequence":
        parts = list(diagonals)
    elif diagonals_format == "matrix":
        parts = _diagonals_of(convert_to_tensor(diagonals, name="diagonals"), needs_both=True)
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    return tridiagonal_matmul_op(*(shapes.expand_dims(part, -2) for part in parts), rhs, name=name)


def _diagonals_of(matrix: Tensor, needs_both: bool) -> list[Tensor]:
    """The three diagonals of dense matrices; any element will do for the two that are not looked at."""
    rows, columns = sides(matrix.shape)
    if rows and columns and rows != columns:
        raise ValueError(f"Expected last two dimensions of diagonals to be same, got {columns} and {rows}")
    length = (rows and columns) if needs_both else (rows or columns)
    if not length:
        raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
    turned = shapes.transpose(matrix)  # places count from the first axis
    upper = [[i + 1, i] for i in range(length - 1)] + [[0, 0]]
    lower = [[0, 0]] + [[i - 1, i] for i in range(1, length)]
    outer = [shapes.transpose(indexing.gather_nd(turned, places)) for places in (upper, lower)]
    return [outer[0], diagonals.matrix_diag_part(matrix), outer[1]]


# ---------------------------------------------------------------------------------- equations

tridiagonal_solve_op = Op(
    "TridiagonalSolve",
    "diagonals: T, rhs: T -> output: T",
    partial_pivoting=True,
    perturb_singular=False,
    T=_TYPES,
)


@tridiagonal_solve_op.shape
def _tridiagonal_solve_shape(diagonals, rhs):
    rows, length = sides(diagonals)
    if rows not in (None, 3):
        raise ShapeError(f"Dimension must be 3 but is {rows}")
    same_size(length, sides(rhs)[0])
    merged(diagonals[:-2], rhs[:-2])
    return rhs


_FEW = 32  # right-hand sides, and two for each system, up to which Python's numbers are quicker than arrays


class _Singular(Exception):
    """A pivot is zero."""


def _solution_of_one(upper: list, main: list, lower: list, rhs: list, pivoting: bool, least: float) -> list:
    """Gaussian elimination on one system, in Python's numbers; pivots smaller than `least` become that.

    What is left of a row has at most three elements: the pivot and, because rows may have changed places, two
    after it.
    """
    rows = []
    pivot, first, right = main[0], upper[0], rhs[0]
    for below, diagonal, beyond, right_below in zip(lower[1:], main[1:], upper[1:], rhs[1:], strict=True):
        second = 0.0
        if pivoting and abs(below) > abs(pivot):
            pivot, below, first, diagonal, second, beyond = below, pivot, diagonal, first, beyond, second
            right, right_below = right_below, right
        pivot = _pivot(pivot, least)
        rows.append((pivot, first, second, right))
        factor = below / pivot
        pivot, first = diagonal - factor * first, beyond - factor * second
        right = [b - factor * a for a, b in zip(right, right_below, strict=True)]
    rows.append((_pivot(pivot, least), 0.0, 0.0, right))
    found = []
    next_one = next_two = [0.0] * len(right)
    for pivot, first, second, right in reversed(rows):
        known = zip(right, next_one, next_two, strict=True)
        next_one, next_two = [(r - first * x - second * y) / pivot for r, x, y in known], next_one
        found.append(next_one)
    return found[::-1]


def _pivot(element: Any, least: float) -> Any:
    if abs(element) < least:
        return least
    if not element:
        raise _Singular
    return element


def _solutions(diagonals: np.ndarray, rhs: np.ndarray, pivoting: bool, least: np.ndarray) -> np.ndarray:
    """The same on a batch of systems at once: [batch, 3, length] and [batch, length, columns].

    Element j of a row stands in slot j % 3, so that rows that are combined have the same columns of the
    matrix in the same slots. The right-hand sides follow.
    """
    length = rhs.shape[1]
    rows = np.empty((length, len(rhs), 3 + rhs.shape[2]), rhs.dtype)
    for i, row in enumerate(rows):
        for diagonal, column in enumerate((i + 1, i, i - 1)):
            row[:, column % 3] = diagonals[:, diagonal, i]
        row[:, 3:] = rhs[:, i]
    for i, (row, below) in enumerate(itertools.pairwise(rows)):
        at = slice(i % 3, i % 3 + 1)
        if pivoting:
            swap = np.abs(below[:, at]) > np.abs(row[:, at])
            row[:], below[:] = np.where(swap, below, row), np.where(swap, row, below)
        _check_pivots(row[:, at], least)
        below -= below[:, at] / row[:, at] * row
        below[:, at] = 0
    _check_pivots(rows[-1][:, (length - 1) % 3, None], least)
    found = np.zeros((length + 2, *rhs[:, 0].shape), rhs.dtype)
    for i in reversed(range(length)):
        pivot, first, second = (rows[i, :, (i + k) % 3, None] for k in range(3))
        found[i] = (rows[i, :, 3:] - first * found[i + 1] - second * found[i + 2]) / pivot
    return found[:length].swapaxes(0, 1)


def _check_pivots(pivots: np.ndarray, least: np.ndarray) -> None:
    np.copyto(pivots, least, where=np.abs(pivots) < least)
    if not pivots.all():
        raise _Singular


def _least_pivots(diagonals: np.ndarray) -> np.ndarray:
    """How small pivots may be where smaller ones are to be perturbed: one for each system."""
    largest = np.abs(diagonals).max((1, 2), initial=0)[:, None]
    return np.finfo(largest.dtype).eps * np.maximum(largest, np.finfo(largest.dtype).tiny)


def _eliminated(diagonals: np.ndarray, rhs: np.ndarray, pivoting: bool, perturbing: bool) -> np.ndarray:
    diagonals = diagonals.reshape(-1, *diagonals.shape[-2:]).copy()
    diagonals[:, 0, -1] = diagonals[:, 2, 0] = 0  # any number may stand outside of the matrix
    systems = rhs.reshape(-1, *rhs.shape[-2:])
    least = _least_pivots(diagonals) if perturbing else np.zeros((len(systems), 1), diagonals.real.dtype)
    with np.errstate(all="ignore"):
        if len(systems) * (2 + rhs.shape[-1]) > _FEW:
            return _solutions(diagonals, systems, pivoting, least).reshape(rhs.shape)
        found = [
            _solution_of_one(*three, right, pivoting, smallest)
            for three, right, (smallest,) in zip(
                diagonals.tolist(), systems.tolist(), least.tolist(), strict=True
            )
        ]
        return np.array(found, rhs.dtype).reshape(rhs.shape)


def _not_invertible(length: int, pivoting: bool) -> str:
    if length == 1:
        return "The matrix is not invertible: it is a scalar with value zero."
    if pivoting:
        return "The matrix is not invertible."
    return "The matrix is either not invertible, or requires pivoting. Try setting partial_pivoting = True."


@tridiagonal_solve_op.kernel
def _tridiagonal_solve_kernel(diagonals, rhs, *, partial_pivoting, perturb_singular):
    check_matrices(diagonals, rhs)
    count, length = diagonals.shape[-2:]
    if count != 3:
        raise ShapeError(f"Expected diagonals to be provided as a matrix with 3 rows, got {count} rows.")
    if length != rhs.shape[-2]:
        raise ShapeError(
            "Expected the same number of left-hand sides and right-hand sides, got "
            f"{length} and {rhs.shape[-2]}."
        )
    if not length or not rhs.numel():
        return rhs
    try:
        found = _eliminated(to_numpy(diagonals), to_numpy(rhs), partial_pivoting, perturb_singular)
    except _Singular:
        raise ShapeError(_not_invertible(length, partial_pivoting)) from None
    return to_torch(found).to(rhs.device)


def _transposed(three: Tensor) -> Tensor:
    """The diagonals of the transposed matrix."""
    main = three[..., 1, :]
    upper = tiling.pad(three[..., 2, 1:], _paddings(main, [[0, 1]]))
    lower = tiling.pad(three[..., 0, :-1], _paddings(main, [[1, 0]]))
    return joining.stack([upper, main, lower], axis=-2)


def _three_diagonals(x: Tensor, y: Tensor) -> Tensor:
    """The diagonals of x·yᵀ, without the rest of it."""
    factors = [_moved_up(y), y, _moved_down(y)]
    return joining.stack([reductions.reduce_sum(x * factor, axis=-1) for factor in factors], axis=-2)


@tridiagonal_solve_op.gradient
def _tridiagonal_solve_gradient(op, grad):
    turned = _transposed(op.inputs[0])
    grad_rhs = tridiagonal_solve_op(turned, grad, partial_pivoting=op.attrs["partial_pivoting"])
    return -_three_diagonals(grad_rhs, op.outputs[0]), grad_rhs


_DOMINANT = np.array([[1.0, -0.5, 0.3, 0.0], [3.0, 2.5, 4.0, 3.5], [0.0, 0.7, -1.0, 0.4]])
_NEEDS_PIVOTS = np.array([[1.0, 2.0, 0.5, 0.0], [0.0, 1.0, 0.0, 2.0], [0.0, 3.0, 1.0, 4.0]])
tridiagonal_solve_op.samples(
    (_DOMINANT, f64(4, 2)),
    (_NEEDS_PIVOTS, f64(4, 1)),
    (np.stack([_DOMINANT, 2 * _DOMINANT]).astype(np.float32), f32(2, 4, 3), {"partial_pivoting": False}),
    (np.stack([_DOMINANT, _NEEDS_PIVOTS]).astype(np.complex64), c64(2, 4, 1)),
    (np.full((3, 1), 2.0), f64(1, 2)),
    (_DOMINANT, f64(4, 2), {"perturb_singular": True}),
    against=lambda three, rhs: np.linalg.solve(_dense(*np.moveaxis(three, -2, 0)), rhs),
)
tridiagonal_solve_op.refuses((f32(4, 3), f32(3, 1)), "Dimension must be 3 but is 4")
tridiagonal_solve_op.refuses((f32(3, 4), f32(5, 1)), "Dimensions must be equal, but are 4 and 5")
tridiagonal_solve_op.refuses(
    (np.zeros((3, 2)), f64(2, 1)), "The matrix is not invertible.", InvalidArgumentError
)
tridiagonal_solve_op.refuses(
    (np.zeros((3, 1)), f64(1, 1)), "it is a scalar with value zero", InvalidArgumentError
)


@export("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
) -> Tensor:
    """Solves equations with tridiagonal matrices: X with A·X = rhs.

    Args:
      diagonals: The upper, the main and the lower diagonal: as rows of a tensor [..., 3, length] ("compact"),
        as a sequence of three tensors ("sequence"), or in whole matrices ("matrix").
      rhs: A tensor of the same type, [..., length, columns] or [..., length].
      diagonals_format: "compact", "sequence" or "matrix".
      transpose_rhs: Whether `rhs`, and the result, are transposed.
      conjugate_rhs: Whether `rhs` is conjugated first.
      name: A name for the operation.
      partial_pivoting: Whether rows may be exchanged, which is slower but safe.

    Returns:
      A tensor of the shape and type of `rhs`. A step with a singular matrix fails with InvalidArgumentError.

    Raises:
      ValueError: If the format is not known, or shapes are known not to fit.
    """
    if diagonals_format == "sequence":
        diagonals = joining.stack(_equally_long(diagonals), axis=-2)
    elif diagonals_format == "matrix":
        parts = _diagonals_of(convert_to_tensor(diagonals, name="diagonals"), needs_both=False)
        diagonals = joining.stack(parts, axis=-2)
    elif diagonals_format != "compact":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    three, rhs = convert_to_tensor(diagonals, name="diagonals"), convert_to_tensor(rhs, name="rhs")
    _check(three.shape, rhs.shape)
    is_vector = rhs.shape.ndims == three.shape.ndims - 1
    if transpose_rhs and not is_vector:
        rhs = shapes.matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = unary.conj(rhs)
    rhs = shapes.expand_dims(rhs, -1) if is_vector else rhs
    _check_lengths(three.shape, rhs.shape)
    solution = tridiagonal_solve_op(three, rhs, partial_pivoting=partial_pivoting, name=name)
    if is_vector:
        return shapes.squeeze(solution, -1)
    return shapes.matrix_transpose(solution) if transpose_rhs else solution


def _check(three: TensorShape, rhs: TensorShape) -> None:
    rank = len(three)
    if rank < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {rank}")
    if len(rhs) not in (rank - 1, rank):
        raise ValueError(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {len(rhs)}")
    if three.tuple[-2] not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {three.tuple[-2]}")
    if not three[:-2].is_compatible_with(rhs[: rank - 2]):
        raise ValueError(f"Batch shapes {three[:-2]} and {rhs[: rank - 2]} are incompatible")


def _check_lengths(three: TensorShape, rhs: TensorShape) -> None:
    length, rows = three.tuple[-1], rhs.tuple[-2]
    if length and rows and length != rows:
        raise ValueError(
            f"Expected number of left-hand sided and right-hand sides to be equal, got {length} and {rows}"
        )


def _filled(part: Tensor, name: str, length: int | None, padding: list[int]) -> Tensor:
    found = dimension_value(part.shape[-1])
    if not found or found == length:
        return part
    if length is None or found != length - 1:
        raise ValueError(f"Expected {name} to be have length {length} or {(length or 0) - 1}, got {found}.")
    return tiling.pad(part, _paddings(part, [padding]))


def _equally_long(parts: Any) -> list[Tensor]:
    """The three diagonals, the outer ones filled up where they are given without the unused element."""
    if not isinstance(parts, Sequence) or len(parts) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    upper, main, lower = (convert_to_tensor(part) for part in parts)
    if not all(part.shape[:-1].is_compatible_with(main.shape[:-1]) for part in (upper, lower)):
        raise ValueError(
            "Tensors representing the three diagonals must have the same shape, except for the last "
            f"dimension, got {lower.shape}, {main.shape}, {upper.shape}"
        )
    length = dimension_value(main.shape[-1])
    return [
        _filled(upper, "superdiagonal", length, [0, 1]),
        main,
        _filled(lower, "subdiagonal", length, [1, 0]),
    ]
