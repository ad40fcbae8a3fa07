"""Diagonals and bands of matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import fully_known
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, joining, shapes, slicing
from tideflow.ops.helpers.aliases import inherit
from tideflow.ops.helpers.axes import (
    brackets,
    host_rank,
    merged,
    of_rank,
    of_rank_at_least,
    same_size,
    scalar,
)
from tideflow.ops.helpers.samples import f32, i32, int32s
from tideflow.ops.helpers.types import INDICES, types
from tideflow.ops.helpers.variables import as_signed
from tideflow.ops.math import reductions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.linalg.operator import LinearOperator

_DIAG_TYPES = types("bfloat16 half float double int32 int64 complex64 complex128")

# ---------------------------------------------------------------------------------- of any rank

diag_op = Op("Diag", "diagonal: T -> output: T", T=_DIAG_TYPES)


@diag_op.shape
def _diag_shape(diagonal):
    of_rank_at_least(diagonal, 1, "Input must be at least rank 1, got 0")
    return diagonal.concatenate(diagonal)


@diag_op.kernel
def _diag_kernel(diagonal):
    return torch.diag_embed(diagonal.reshape(-1)).reshape(*diagonal.shape, *diagonal.shape)


@diag_op.gradient
def _diag_gradient(op, grad):
    return diag_part(grad)


diag_op.samples(f32(3), f32(2, 3), i32(0), against=lambda x: np.diag(x.ravel()).reshape(x.shape * 2))


@export("diag", "linalg.tensor_diag")
def diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Puts a tensor on the diagonal of one of twice its rank.

    Args:
      diagonal: A tensor of numbers, of rank 1 or more.
      name: A name for the operation.

    Returns:
      A tensor of shape `diagonal.shape + diagonal.shape`, 0 where the two halves of the index differ.
    """
    return diag_op(diagonal, name=name)


diag_part_op = Op("DiagPart", "input: T -> diagonal: T", T=_DIAG_TYPES)


def _equal_halves(left: TensorShape, right: TensorShape) -> TensorShape:
    for a, b in zip(left.tuple, right.tuple, strict=True):
        if None not in (a, b) and a != b:
            raise ShapeError(f"Dimensions must be equal, but are {a} and {b}")
    return left.merge_with(right)


@diag_part_op.shape
def _diag_part_shape(input):
    if input.tuple is None:
        return None
    if input.ndims == 0 or input.ndims % 2:
        raise ShapeError(f"Input must have even and non-zero rank, input rank is {input.ndims}")
    half = input.ndims // 2
    return _equal_halves(input[:half], input[half:])


@diag_part_op.kernel
def _diag_part_kernel(input):
    half = input.ndim // 2
    if input.ndim % 2 or not half:
        raise ShapeError(
            f"The rank of the tensor should be even and positive, got shape {brackets(input.shape)}"
        )
    for axis in range(half):
        if input.shape[axis] != input.shape[half + axis]:
            raise ShapeError(
                f"Invalid shape {brackets(input.shape)}: dimensions {axis} and {half + axis} do not match."
            )
    count = math.prod(input.shape[:half])
    return input.reshape(count, count).diagonal().reshape(input.shape[:half])


@diag_part_op.gradient
def _diag_part_gradient(op, grad):
    return diag(grad)


def _where_halves_are_equal(x: np.ndarray) -> np.ndarray:
    half = x.shape[: x.ndim // 2]
    return np.array([x[place + place] for place in np.ndindex(half)], x.dtype).reshape(half)


diag_part_op.samples(f32(3, 3), f32(2, 3, 2, 3), i32(0, 0), against=_where_halves_are_equal)
diag_part_op.refuses((f32(2, 3),), "Dimensions must be equal, but are 2 and 3")
diag_part_op.refuses((f32(2),), "Input must have even and non-zero rank, input rank is 1")


@export("diag_part", "linalg.tensor_diag_part")
def diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """Takes the diagonal of a tensor whose shape has two equal halves.

    Args:
      input: A tensor of numbers, of even rank.
      name: A name for the operation.

    Returns:
      A tensor of half the rank: the elements whose index has two equal halves.

    Raises:
      ValueError: If the rank is odd or 0, or the halves of the shape differ.
    """
    return diag_part_op(input, name=name)


# ---------------------------------------------------------------------------------- of batches of matrices

matrix_diag_op = Op("MatrixDiag", "diagonal: T -> output: T")


def _of_few(name: str, rank: int, shape: TensorShape) -> str:
    """What TensorFlow's kernels say of too few dimensions."""
    return f"{name} must be at least {rank}-dim, received shape: {brackets(shape.tuple or ())}"


@matrix_diag_op.shape
def _matrix_diag_shape(diagonal):
    of_rank_at_least(diagonal, 1, _of_few("diagonal", 1, diagonal))
    return None if diagonal.tuple is None else [*diagonal.tuple, diagonal.tuple[-1]]


matrix_diag_op.kernel(lambda diagonal: torch.diag_embed(diagonal))
matrix_diag_op.gradient(lambda op, grad: matrix_diag_part(grad))

matrix_diag_op.samples(
    f32(2, 3), f32(3), f32(0), against=lambda x: x[..., None] * np.eye(x.shape[-1], dtype=x.dtype)
)
matrix_diag_op.refuses((f32(),), "Shape must be at least rank 1 but is rank 0")

batch_matrix_diag_op = Op("BatchMatrixDiag", "diagonal: T -> output: T")
inherit(batch_matrix_diag_op, matrix_diag_op)
batch_matrix_diag_op.samples(f32(2, 3))


def _shorter(rows: int | None, columns: int | None) -> int | None:
    return None if None in (rows, columns) else min(rows, columns)


matrix_diag_part_op = Op("MatrixDiagPart", "input: T -> diagonal: T")


@matrix_diag_part_op.shape
def _matrix_diag_part_shape(input):
    of_rank_at_least(input, 2, _of_few("input", 2, input))
    return None if input.tuple is None else [*input.tuple[:-2], _shorter(*input.tuple[-2:])]


@matrix_diag_part_op.kernel
def _matrix_diag_part_kernel(input):
    return input.diagonal(dim1=-2, dim2=-1)


@matrix_diag_part_op.gradient
def _matrix_diag_part_gradient(op, grad):
    rows, columns = (
        op.inputs[0].shape.with_rank_at_least(2).tuple[-2:] if op.inputs[0].shape else (None, None)
    )
    if rows is not None and rows == columns:
        return matrix_diag(grad)
    return matrix_set_diag(creation.zeros_like(op.inputs[0]), grad)


matrix_diag_part_op.samples(
    f32(2, 3), f32(2, 3, 3), f32(0, 2), against=lambda x: np.diagonal(x, axis1=-2, axis2=-1)
)
matrix_diag_part_op.refuses((f32(2),), "Shape must be at least rank 2 but is rank 1")

batch_matrix_diag_part_op = Op("BatchMatrixDiagPart", "input: T -> diagonal: T")
inherit(batch_matrix_diag_part_op, matrix_diag_part_op)
batch_matrix_diag_part_op.samples(f32(2, 3, 3))

matrix_set_diag_op = Op("MatrixSetDiag", "input: T, diagonal: T -> output: T")


def _check_replaced(input: TensorShape, diagonal: TensorShape, axes: int) -> None:
    """Matrices, and diagonals along so many axes behind those of the batch."""
    of_rank_at_least(input, 2, _of_few("input", 2, input))
    of_rank_at_least(diagonal, axes, _of_few("diagonal", axes, diagonal))
    if None not in (input.ndims, diagonal.ndims) and input.ndims - 2 != diagonal.ndims - axes:
        raise ShapeError(f"Shape must be rank {input.ndims - 2 + axes} but is rank {diagonal.ndims}")


def _check_fit(input: torch.Tensor, diagonal: torch.Tensor, wanted: Any) -> None:
    if tuple(diagonal.shape) != tuple(wanted):
        raise ShapeError(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not "
            "equal to the longests diagonal in range [lower_diag_index:upper_diag_index]. Input shape: "
            f"{brackets(input.shape)}, Diagonal shape: {brackets(diagonal.shape)}, Expected diagonal shape: "
            f"{brackets(wanted)}"
        )


@matrix_set_diag_op.shape
def _matrix_set_diag_shape(input, diagonal):
    _check_replaced(input, diagonal, 1)
    if input.tuple is not None:
        merged(input[:-2], diagonal[:-1])
        same_size(_shorter(*input.tuple[-2:]), None if diagonal.tuple is None else diagonal.tuple[-1])
    return input


@matrix_set_diag_op.kernel
def _matrix_set_diag_kernel(input, diagonal):
    output = input.clone(memory_format=torch.contiguous_format)
    place = output.diagonal(dim1=-2, dim2=-1)
    _check_fit(input, diagonal, place.shape)
    place.copy_(diagonal)
    return output


def _diagonal_shape(whole: TensorShape, grad: Tensor) -> Any:
    """The shape of the diagonals, from what is known or in the graph."""
    if whole.is_fully_defined():
        return [*whole.tuple[:-2], min(whole.tuple[-2:])]
    with_grad = shapes.shape(grad)
    rank = shapes.rank(grad)
    batch = slicing.slice(with_grad, [0], [rank - 2])
    sides = slicing.slice(with_grad, [rank - 2], [2])
    return joining.concat([batch, [reductions.reduce_min(sides)]], 0)


@matrix_set_diag_op.gradient
def _matrix_set_diag_gradient(op, grad):
    whole = op.inputs[0].shape.merge_with(grad.shape)
    diagonal_shape = _diagonal_shape(whole, grad)
    kept = matrix_set_diag(grad, creation.zeros(diagonal_shape, grad.dtype))
    return [kept, matrix_diag_part(grad)]


def _diagonal_replaced(input: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    places = np.arange(diagonal.shape[-1])
    result = input.copy()
    result[..., places, places] = diagonal
    return result


matrix_set_diag_op.samples(
    (f32(2, 3), f32(2)), (f32(2, 3, 3), f32(2, 3)), (i32(3, 2), i32(2)), against=_diagonal_replaced
)
matrix_set_diag_op.refuses((f32(2, 3), f32(3)), "must be equal, but are 2 and 3")

batch_matrix_set_diag_op = Op("BatchMatrixSetDiag", "input: T, diagonal: T -> output: T")
inherit(batch_matrix_set_diag_op, matrix_set_diag_op)
batch_matrix_set_diag_op.samples((f32(2, 3, 3), f32(2, 3)))

# ---------------------------------------------------------------------------------- several diagonals at once


def _band(k: Any) -> tuple[int, int] | None:
    """The lowest and the highest diagonal, None where they are not known."""
    ends = k if isinstance(k, list) else [k, k]
    if host_rank(ends) > 1 or len(ends) not in (1, 2):
        raise ShapeError("k must be a scalar or a vector of one or two numbers")
    if not fully_known(ends):
        return None
    lowest, highest = ends[0], ends[-1]
    if lowest > highest:
        raise ShapeError(f"lower_diag_index must not be larger than upper_diag_index: {lowest} > {highest}")
    return lowest, highest


def _matrix_sides(length: int, band: tuple[int, int], num_rows: int, num_cols: int) -> tuple[int, int]:
    """Rows and columns of the smallest matrix that holds the diagonals, or the sides that were asked for."""
    lowest, highest = band
    least_rows, least_cols = length - min(highest, 0), length + max(lowest, 0)
    if num_rows == -1 and num_cols == -1:
        num_rows = num_cols = max(least_rows, least_cols)
    num_rows = least_rows if num_rows == -1 else num_rows
    num_cols = least_cols if num_cols == -1 else num_cols
    if num_rows < least_rows:
        raise ShapeError("num_rows is too small", f"The number of rows is too small: {num_rows}")
    if num_cols < least_cols:
        raise ShapeError("num_cols is too small.", f"The number of columns is too small: {num_cols}")
    if least_rows != num_rows and least_cols != num_cols:
        raise ShapeError(
            f"A matrix of {num_rows} rows and {num_cols} columns does not fit diagonals {lowest} to "
            f"{highest} of length {length}"
        )
    return num_rows, num_cols


def _longest(rows: int, columns: int, lowest: int, highest: int) -> int:
    """The length of the longest diagonal of the band."""
    for name, k in (("lower", lowest), ("upper", highest)):
        if k and not -rows < k < columns:
            raise ShapeError(
                f"{name}_diag_index is out of bound.",
                f"{name}_diag_index is out of bound: {k} It must be between {-rows} and {columns}",
            )
    return min(rows + min(highest, 0), columns - max(lowest, 0))


def _packed_shape(whole: TensorShape, k: Any) -> list | None:
    """The shape of the packed diagonals of a batch of matrices."""
    band = _band(k)
    of_rank_at_least(whole, 2, _of_few("input", 2, whole))
    if whole.tuple is None or band is None:
        return None
    rows, columns = whole.tuple[-2:]
    length = None if None in (rows, columns) else _longest(rows, columns, *band)
    count = [] if band[0] == band[1] else [band[1] - band[0] + 1]
    return [*whole.tuple[:-2], *count, length]


def _check_count(band: tuple[int, int], count: int) -> None:
    if count != band[1] - band[0] + 1:
        raise ShapeError(
            "The number of rows of `diagonal` doesn't match the number of diagonals implied from `d_lower` "
            f"and `d_upper`. num_diags = {band[1] - band[0] + 1}, d_lower = {band[0]}, d_upper = {band[1]}, "
            f"and {count} rows",
            "The number of diagonals provided in the input does not match the lower_diag_index and "
            "upper_diag_index range",
        )


def _diagonals(
    matrix: torch.Tensor, packed: torch.Tensor, band: tuple[int, int], align: str
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Views of each diagonal: in the matrix, and in the packed form, which has the highest first. `align`
    says on which side of a row of it diagonals above the main one stand, and those below.
    """
    lowest, highest = band
    above, below = align.split("_")
    for offset in range(highest, lowest - 1, -1):
        view = matrix.diagonal(offset, dim1=-2, dim2=-1)
        left = offset >= 0 and above == "LEFT" or offset <= 0 and below == "LEFT"
        start = 0 if left else packed.shape[-1] - view.shape[-1]
        yield view, packed[..., highest - offset, start : start + view.shape[-1]]


def with_diagonals(
    diagonal: torch.Tensor, k: Any, num_rows: int, num_cols: int, padding_value: torch.Tensor, align: str
) -> torch.Tensor:
    """Matrices with these diagonals, and one value elsewhere."""
    lowest, highest = band = _band(k)
    packed = diagonal if lowest != highest else diagonal.unsqueeze(-2)
    of_rank_at_least(TensorShape(packed.shape), 2)
    _check_count(band, packed.shape[-2])
    sides = _matrix_sides(packed.shape[-1], band, num_rows, num_cols)
    output = padding_value.expand(*packed.shape[:-2], *sides).clone(memory_format=torch.contiguous_format)
    for inside, given in _diagonals(output, packed, band, align):
        inside.copy_(given)
    return output


def diagonals_of(input: torch.Tensor, k: Any, padding_value: torch.Tensor, align: str) -> torch.Tensor:
    """The diagonals of matrices, and one value where they are shorter than others."""
    lowest, highest = band = _band(k)
    length = _longest(*input.shape[-2:], *band)
    packed = padding_value.expand(*input.shape[:-2], highest - lowest + 1, length).clone(
        memory_format=torch.contiguous_format
    )
    for inside, place in _diagonals(input, packed, band, align):
        place.copy_(inside)
    return packed if lowest != highest else packed.squeeze(-2)


def diagonals_replaced(input: torch.Tensor, diagonal: torch.Tensor, k: Any, align: str) -> torch.Tensor:
    """Matrices with other diagonals."""
    band = _band(k)
    axes = 1 if band[0] == band[1] else 2
    shape = TensorShape(diagonal.shape)
    of_rank_at_least(shape, axes, _of_few("diagonal", axes, shape))
    _check_fit(input, diagonal, _packed_shape(TensorShape(input.shape), k))
    output = input.clone(memory_format=torch.contiguous_format)
    packed = diagonal if band[0] != band[1] else diagonal.unsqueeze(-2)
    for inside, given in _diagonals(output, packed, band, align):
        inside.copy_(given)
    return output


def _side(op: Operation) -> dict[str, Any]:
    """On which side of a packed row shorter diagonals stand, where the op says so."""
    return {key: op.attrs[key] for key in ("align",) if key in op.attrs}


def with_diagonals_gradient(op: Operation, grad: Tensor, part_op: Op, set_op: Op) -> list[Tensor | None]:
    """The gradient of matrices by their diagonals and by what is elsewhere."""
    k = op.inputs[1]
    on_band = part_op(grad, k, 0, **_side(op))
    off_band = set_op(grad, creation.zeros_like(on_band), k, **_side(op))
    return [on_band, None, None, None, reductions.reduce_sum(off_band)]


def diagonals_of_gradient(op: Operation, grad: Tensor, set_op: Op) -> list[Tensor | None]:
    """The gradient of diagonals by their matrices and by what fills shorter ones."""
    on_band = set_op(creation.zeros_like(op.inputs[0]), grad, op.inputs[1], **_side(op))
    padding = reductions.reduce_sum(grad) - reductions.reduce_sum(on_band)
    return [on_band, None, padding]


def diagonals_replaced_gradient(op: Operation, grad: Tensor, part_op: Op, set_op: Op) -> list[Tensor | None]:
    """The gradient of matrices with other diagonals by the matrices and by these."""
    _, diagonal, k = op.inputs
    kept = set_op(grad, creation.zeros_like(diagonal), k, **_side(op))
    return [kept, part_op(grad, k, 0, **_side(op)), None]


def _packed_places(
    rows: int, columns: int, k: Any, align: str
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Element by element: the place in a matrix, and in the packed form of its diagonals."""
    lowest, highest = np.ravel(k)[0], np.ravel(k)[-1]
    above, below = align.split("_")
    length = min(rows + min(highest, 0), columns - max(lowest, 0))
    for row, column in np.ndindex(rows, columns):
        offset = column - row
        if lowest <= offset <= highest:
            gap = length - min(rows + min(offset, 0), columns - max(offset, 0))
            start = gap if (above if offset > 0 else below) == "RIGHT" else 0
            yield (row, column), (highest - offset, start + min(row, column))


def _rows_of(diagonal: np.ndarray, k: Any) -> np.ndarray:
    """Packed diagonals with an axis for their number, which a single one does not have."""
    return diagonal if np.ravel(k)[0] != np.ravel(k)[-1] else diagonal[..., None, :]


def numpy_with_diagonals(diagonal, k, num_rows, num_cols, padding_value, align="LEFT_LEFT"):
    """A reference for `with_diagonals`, element by element."""
    packed, lowest, highest = _rows_of(diagonal, k), np.ravel(k)[0], np.ravel(k)[-1]
    rows, columns = packed.shape[-1] - min(highest, 0), packed.shape[-1] + max(lowest, 0)
    if num_rows == num_cols == -1:
        rows = columns = max(rows, columns)
    sides = max(rows, num_rows), max(columns, num_cols)
    made = np.full((*packed.shape[:-2], *sides), padding_value)
    for inside, place in _packed_places(*sides, k, align):
        made[(..., *inside)] = packed[(..., *place)]
    return made


def numpy_diagonals_of(input, k, padding_value, align="LEFT_LEFT"):
    """A reference for `diagonals_of`, element by element."""
    (rows, columns), lowest, highest = input.shape[-2:], np.ravel(k)[0], np.ravel(k)[-1]
    length = min(rows + min(highest, 0), columns - max(lowest, 0))
    made = np.full((*input.shape[:-2], highest - lowest + 1, length), padding_value)
    for inside, place in _packed_places(rows, columns, k, align):
        made[(..., *place)] = input[(..., *inside)]
    return made if lowest != highest else made[..., 0, :]


def numpy_diagonals_replaced(input, diagonal, k, align="LEFT_LEFT"):
    """A reference for `diagonals_replaced`, element by element."""
    made, packed = input.copy(), _rows_of(diagonal, k)
    for inside, place in _packed_places(*input.shape[-2:], k, align):
        made[(..., *inside)] = packed[(..., *place)]
    return made


def _is_main(k: Any) -> bool:
    return not isinstance(k, Tensor) and np.ndim(k) == 0 and k == 0


matrix_diag_v2_op = Op(
    "MatrixDiagV2",
    "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    host="k, num_rows, num_cols",
)


@matrix_diag_v2_op.shape
def _matrix_diag_v2_shape(diagonal, k, num_rows, num_cols, padding_value):
    band = _band(k)
    of_rank_at_least(diagonal, 1), of_rank(padding_value, 0)
    if diagonal.tuple is None or band is None:
        return None
    several = band[0] != band[1]
    of_rank_at_least(diagonal, 2 if several else 1)
    if several and diagonal.tuple[-2] is not None:
        _check_count(band, diagonal.tuple[-2])
    batch = diagonal.tuple[: -2 if several else -1]
    if None in (diagonal.tuple[-1], scalar(num_rows), scalar(num_cols)):
        return [*batch, None, None]
    return [*batch, *_matrix_sides(diagonal.tuple[-1], band, num_rows, num_cols)]


@matrix_diag_v2_op.kernel
def _matrix_diag_v2_kernel(diagonal, k, num_rows, num_cols, padding_value):
    return with_diagonals(diagonal, k, num_rows, num_cols, padding_value, "LEFT_LEFT")


@matrix_diag_v2_op.gradient
def _matrix_diag_v2_gradient(op, grad):
    return with_diagonals_gradient(op, grad, matrix_diag_part_v2_op, matrix_set_diag_v2_op)


matrix_diag_v2_op.samples(
    (f32(2, 3), *int32s(1, -1, -1), f32()),
    (f32(2, 2, 3), *int32s([-1, 0], -1, -1), f32()),
    (f32(2), *int32s(0, 2, 4), f32()),
    against=numpy_with_diagonals,
)
matrix_diag_v2_op.refuses(
    (f32(2, 2, 3), *int32s([-1, 1], -1, -1), f32()),
    "doesn't match the number of diagonals implied",
)


@export("matrix_diag", "linalg.diag")
def matrix_diag(
    diagonal: TensorLike,
    name: str = "diag",
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
) -> Tensor:
    """Makes matrices with the given diagonal, or diagonals.

    Args:
      diagonal: The diagonals along the last axis, in a tensor of rank 1 or more; several (where `k` is a
        pair) along the last two, the highest first.
      name: A name for the operation.
      k: The diagonal, or the lowest and the highest one: 0 is the main diagonal, positive ones lie above it.
      num_rows: How many rows the matrices have; by default as few as possible.
      num_cols: How many columns they have; by default as few as possible.
      padding_value: What stands elsewhere.

    Returns:
      A tensor of the type of `diagonal`, the matrices along its last two axes.
    """
    rest = (num_rows, num_cols, padding_value)
    if _is_main(k) and not any(isinstance(value, Tensor) for value in rest) and rest == (-1, -1, 0):
        return matrix_diag_op(diagonal, name=name)
    return matrix_diag_v2_op(diagonal, k, *rest, name=name)


matrix_diag_part_v2_op = Op(
    "MatrixDiagPartV2", "input: T, k: int32, padding_value: T -> diagonal: T", host="k"
)


@matrix_diag_part_v2_op.shape
def _matrix_diag_part_v2_shape(input, k, padding_value):
    of_rank(padding_value, 0)
    return _packed_shape(input, k)


@matrix_diag_part_v2_op.kernel
def _matrix_diag_part_v2_kernel(input, k, padding_value):
    return diagonals_of(input, k, padding_value, "LEFT_LEFT")


@matrix_diag_part_v2_op.gradient
def _matrix_diag_part_v2_gradient(op, grad):
    return diagonals_of_gradient(op, grad, matrix_set_diag_v2_op)


matrix_diag_part_v2_op.samples(
    (f32(2, 3, 4), *int32s(1), f32()), (f32(3, 4), *int32s([-1, 2]), f32()), against=numpy_diagonals_of
)


@export("matrix_diag_part", "linalg.diag_part", operator="diag_part")
def matrix_diag_part(
    input: TensorLike | LinearOperator,
    name: str = "diag_part",
    k: TensorLike = 0,
    padding_value: TensorLike = 0,
) -> Tensor:
    """Takes the diagonal, or diagonals, of matrices.

    Args:
      input: A tensor of rank 2 or more, the matrices along its last two axes.
      name: A name for the operation.
      k: The diagonal, or the lowest and the highest one: 0 is the main diagonal, positive ones lie above it.
      padding_value: What fills diagonals that are shorter than others.

    Returns:
      A tensor of the type of `input`: the diagonals along the last axis, several along the last two.
    """
    if _is_main(k):
        return matrix_diag_part_op(input, name=name)
    return matrix_diag_part_v2_op(input, k, padding_value, name=name)


matrix_set_diag_v2_op = Op("MatrixSetDiagV2", "input: T, diagonal: T, k: int32 -> output: T", host="k")


@matrix_set_diag_v2_op.shape
def _matrix_set_diag_v2_shape(input, diagonal, k):
    packed, band = _packed_shape(input, k), _band(k)
    if packed is not None and band is not None:
        _check_replaced(input, diagonal, 1 if band[0] == band[1] else 2)
        merged(TensorShape(packed), diagonal)
    return input


@matrix_set_diag_v2_op.kernel
def _matrix_set_diag_v2_kernel(input, diagonal, k):
    return diagonals_replaced(input, diagonal, k, "LEFT_LEFT")


@matrix_set_diag_v2_op.gradient
def _matrix_set_diag_v2_gradient(op, grad):
    return diagonals_replaced_gradient(op, grad, matrix_diag_part_v2_op, matrix_set_diag_v2_op)


matrix_set_diag_v2_op.samples(
    (f32(3, 4), f32(3), *int32s(1)),
    (f32(3, 3), f32(2, 3), *int32s([-1, 0])),
    against=numpy_diagonals_replaced,
)


@export("matrix_set_diag", "linalg.set_diag")
def matrix_set_diag(
    input: TensorLike, diagonal: TensorLike, name: str = "set_diag", k: TensorLike = 0
) -> Tensor:
    """Replaces the diagonal, or diagonals, of matrices.

    Args:
      input: A tensor of rank 2 or more, the matrices along its last two axes.
      diagonal: The diagonals along the last axis; several along the last two, the highest first.
      name: A name for the operation.
      k: The diagonal, or the lowest and the highest one: 0 is the main diagonal, positive ones lie above it.

    Returns:
      A tensor of the shape and type of `input`.
    """
    if _is_main(k):
        return matrix_set_diag_op(input, diagonal, name=name)
    return matrix_set_diag_v2_op(input, diagonal, k, name=name)


# ------------------------------------------------------------------------ aligned, of later versions

_ALIGN = attr("string", "RIGHT_LEFT", allowed=["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"])

matrix_diag_v3_op = Op(
    "MatrixDiagV3",
    "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    align=_ALIGN,
    host="k, num_rows, num_cols",
)
matrix_diag_v3_op.shape(matrix_diag_v2_op.shape_rule)
matrix_diag_v3_op.kernel(
    lambda diagonal, k, num_rows, num_cols, padding_value, *, align: with_diagonals(
        diagonal, k, num_rows, num_cols, padding_value, align
    )
)
matrix_diag_v3_op.gradient(
    lambda op, grad: with_diagonals_gradient(op, grad, matrix_diag_part_v3_op, matrix_set_diag_v3_op)
)
matrix_diag_v3_op.samples(
    *[(f32(2, 3, 3), *int32s([-1, 1], -1, -1), f32(), {"align": align}) for align in _ALIGN.allowed],
    against=numpy_with_diagonals,
)

matrix_diag_part_v3_op = Op(
    "MatrixDiagPartV3", "input: T, k: int32, padding_value: T -> diagonal: T", align=_ALIGN, host="k"
)
matrix_diag_part_v3_op.shape(matrix_diag_part_v2_op.shape_rule)
matrix_diag_part_v3_op.kernel(
    lambda input, k, padding_value, *, align: diagonals_of(input, k, padding_value, align)
)
matrix_diag_part_v3_op.gradient(lambda op, grad: diagonals_of_gradient(op, grad, matrix_set_diag_v3_op))
matrix_diag_part_v3_op.samples(
    *[(f32(3, 4), *int32s([-2, 2]), f32(), {"align": align}) for align in _ALIGN.allowed],
    against=numpy_diagonals_of,
)

matrix_set_diag_v3_op = Op(
    "MatrixSetDiagV3", "input: T, diagonal: T, k: int32 -> output: T", align=_ALIGN, host="k"
)
matrix_set_diag_v3_op.shape(matrix_set_diag_v2_op.shape_rule)
matrix_set_diag_v3_op.kernel(
    lambda input, diagonal, k, *, align: diagonals_replaced(input, diagonal, k, align)
)
matrix_set_diag_v3_op.gradient(
    lambda op, grad: diagonals_replaced_gradient(op, grad, matrix_diag_part_v3_op, matrix_set_diag_v3_op)
)
matrix_set_diag_v3_op.samples(
    *[(f32(3, 3), f32(3, 3), *int32s([-1, 1]), {"align": align}) for align in _ALIGN.allowed],
    against=numpy_diagonals_replaced,
)

# ---------------------------------------------------------------------------------- bands

matrix_band_part_op = Op(
    "MatrixBandPart",
    "input: T, num_lower: Tindex, num_upper: Tindex -> band: T",
    Tindex=attr("type", dtypes.int64, allowed=INDICES),
    host="num_lower, num_upper",
)


@matrix_band_part_op.shape
def _matrix_band_part_shape(input, num_lower, num_upper):
    scalar(num_lower, "num_lower must be scalar, got shape ")
    scalar(num_upper, "num_upper must be scalar, got shape ")
    return of_rank_at_least(input, 2, _of_few("input", 2, input))


@matrix_band_part_op.kernel
def _matrix_band_part_kernel(input, num_lower, num_upper):
    rows, columns = input.shape[-2:]
    for name, number, axis, size in (
        ("num_lower", num_lower, "rows", rows),
        ("num_upper", num_upper, "columns", columns),
    ):
        if scalar(number, f"{name} must be scalar, got shape ") > size:
            raise ShapeError(
                f"{name} must be negative or less or equal to number of {axis} ({size}) got: {number}"
            )
    band = as_signed(input)
    band = band if num_lower < 0 else band.triu(-num_lower)
    return (band if num_upper < 0 else band.tril(num_upper)).view(input.dtype)


@matrix_band_part_op.gradient
def _matrix_band_part_gradient(op, grad):
    return [matrix_band_part(grad, op.inputs[1], op.inputs[2]), None, None]


def _numpy_band(x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    x = x if lower < 0 else np.triu(x, -int(lower))
    return x if upper < 0 else np.tril(x, int(upper))


matrix_band_part_op.samples(
    (f32(3, 4), np.array(1), np.array(0)),
    (f32(2, 3, 3), np.array(-1, np.int32), np.array(1, np.int32)),
    (i32(3, 0), np.array(0), np.array(-1)),
    against=_numpy_band,
)
matrix_band_part_op.refuses((f32(2), np.array(0), np.array(0)), "Shape must be at least rank 2 but is rank 1")


@export("matrix_band_part", "linalg.band_part")
def matrix_band_part(
    input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: str | None = None
) -> Tensor:
    """Keeps a band around the diagonal of matrices; elsewhere they are 0.

    Args:
      input: A tensor of rank 2 or more, the matrices along its last two axes.
      num_lower: How many diagonals below the main one are kept; all where it is negative.
      num_upper: How many diagonals above the main one are kept; all where it is negative.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.
    """
    return matrix_band_part_op(input, num_lower, num_upper, name=name)


batch_matrix_band_part_op = Op(
    "BatchMatrixBandPart",
    "input: T, num_lower: int64, num_upper: int64 -> band: T",
    host="num_lower, num_upper",
)
inherit(batch_matrix_band_part_op, matrix_band_part_op)
batch_matrix_band_part_op.samples((f32(2, 3, 3), np.array(1), np.array(0)))
