"""Distinct elements of vectors (Unique), and distinct slices of tensors along an axis (UniqueV2)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import of_rank, vector
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import INDEX, INDICES

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_AXIS = attr("type", dtypes.int64, allowed=INDICES)
_SIGNED = (torch.int8, torch.int16, torch.int32, torch.int64)
_NUMBERS = (*_SIGNED, torch.uint8, torch.float32, torch.float64)
_DENSE = 4  # integers are told apart by a table where it has at most this many places for each

# ---------------------------------------------------------------------------------- of vectors


def by_first_occurrence(x: Any) -> tuple[Any, torch.Tensor, torch.Tensor]:
    """Where each value occurs first, in order; each element's number among them; how often each occurs."""
    if type(x) is torch.Tensor and x.is_cpu and x.dtype in _NUMBERS:
        return _by_numpy(x.numpy())
    if isinstance(x, np.ndarray):
        numbers_of: dict[bytes, int] = {}
        numbers = torch.tensor(
            [numbers_of.setdefault(item, len(numbers_of)) for item in x.tolist()], dtype=torch.int64
        )
    else:
        values = torch.view_as_real(x) if x.is_complex() else x
        _, numbers = torch.unique(values, return_inverse=True, dim=0 if x.is_complex() else None)
    size = int(numbers.max()) + 1 if len(numbers) else 0
    places = torch.arange(len(numbers), device=numbers.device)
    first = torch.full((size,), len(numbers), device=numbers.device).scatter_reduce(
        0, numbers, places, "amin"
    )
    first, order = first.sort()
    renumbered = torch.empty_like(order).scatter_(0, order, torch.arange(size, device=numbers.device))[
        numbers
    ]
    counts = torch.bincount(renumbered, minlength=size)
    return (first.numpy() if isinstance(x, np.ndarray) else first), renumbered, counts


def _at(x: Any, places: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x[places]
    return unsigned.bits(x).index_select(0, places).view(x.dtype)


def _by_numpy(x: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The same of numbers on the host."""
    first_of_each = _first_by_table(x) if x.dtype.kind in "iu" else None
    if first_of_each is None:
        first_of_each = _first_by_order(x)
    first = np.flatnonzero(first_of_each == np.arange(len(x)))
    number_at = np.empty(len(x), np.int64)
    number_at[first] = np.arange(len(first))
    numbers = number_at[first_of_each]
    counts = np.bincount(numbers, minlength=len(first))
    return torch.from_numpy(first), torch.from_numpy(numbers), torch.from_numpy(counts)


def _first_by_table(x: np.ndarray) -> np.ndarray | None:
    """For each element, where its value occurs first; None where the integers lie too far apart."""
    if not len(x):
        return None
    low = int(x.min())
    span = int(x.max()) - low + 1
    if span > _DENSE * len(x):
        return None
    keys = x.astype(np.int64) - low
    table = np.empty(span, np.int64)
    table[keys[::-1]] = np.arange(len(x) - 1, -1, -1)  # of equal ones, the first is written last
    return table[keys]


def _first_by_order(x: np.ndarray) -> np.ndarray:
    """For each element, where its value occurs first. A NaN equals nothing, itself included."""
    order = np.argsort(x)
    in_order = x[order]
    is_new = np.ones(len(x), bool)
    np.not_equal(in_order[1:], in_order[:-1], out=is_new[1:])
    starts = np.flatnonzero(is_new)
    first = np.minimum.reduceat(order, starts) if len(x) else order
    first_of_each = np.empty_like(order)
    first_of_each[order] = first[np.cumsum(is_new) - 1]
    return first_of_each


def _in_order_of_occurrence(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct elements, the place of each element among them, how often each occurs: by a dict."""
    counts = Counter(x.tolist())
    places = {value: place for place, value in enumerate(counts)}
    numbers = [places[value] for value in x.tolist()]
    return np.array([*counts], x.dtype), np.array(numbers, int), np.array([*counts.values()], int)


_VECTOR = "unique expects a 1D vector."

unique_op = Op("Unique", "x: T -> y: T, idx: out_idx", out_idx=INDEX, differentiable=None)


@unique_op.shape
def _unique_shape(x):
    return [[None], of_rank(x, 1, _VECTOR)]


@unique_op.kernel
@unique_op.kernel("string")
def _unique_kernel(x, *, out_idx):
    first, numbers, _ = by_first_occurrence(x)
    return _at(x, first), numbers.to(out_idx.torch)


unique_op.samples(
    (np.array([1, 1, 2, 4, 4, 7, 1], np.int32),),
    (f32(0), {"out_idx": dtypes.int64}),
    (np.array([2.5, 1, 2.5]),),
    against=lambda x: _in_order_of_occurrence(x)[:2],
)
unique_op.refuses((f32(2, 2),), "Shape must be rank 1 but is rank 2")


@export("unique")
def unique(
    x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Finds the distinct elements of a vector, in order of their first occurrence.

    Args:
      x: A vector.
      out_idx: The type of the places, int32 or int64.
      name: A name for the operation.

    Returns:
      `y`, the distinct elements, and `idx`, the place of each element of `x` among them.
    """
    return unique_op(x, out_idx=out_idx, name=name)


unique_with_counts_op = Op(
    "UniqueWithCounts", "x: T -> y: T, idx: out_idx, count: out_idx", out_idx=INDEX, differentiable=None
)


@unique_with_counts_op.shape
def _unique_with_counts_shape(x):
    return [[None], of_rank(x, 1, _VECTOR), [None]]


@unique_with_counts_op.kernel
@unique_with_counts_op.kernel("string")
def _unique_with_counts_kernel(x, *, out_idx):
    first, numbers, counts = by_first_occurrence(x)
    return _at(x, first), numbers.to(out_idx.torch), counts.to(out_idx.torch)


unique_with_counts_op.samples(
    (np.array([3, 1, 3], np.int64),), (np.array([], np.float32),), against=_in_order_of_occurrence
)


@export("unique_with_counts")
def unique_with_counts(
    x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Finds the distinct elements of a vector, in order of their first occurrence, and counts them.

    Args:
      x: A vector.
      out_idx: The type of the places and counts, int32 or int64.
      name: A name for the operation.

    Returns:
      `y`, the distinct elements, `idx`, the place of each element of `x` among them, and `count`, how often
      each occurs.
    """
    return unique_with_counts_op(x, out_idx=out_idx, name=name)


# ---------------------------------------------------------------------------------- of slices


def _axis(axis: list[int], rank: int) -> int:
    """The axis along which slices are compared; a vector needs none named."""
    if len(vector(axis, "axis expects a 1D vector. ")) > 1:
        raise ShapeError("axis does not support input tensors larger than 1 elements")
    if not axis and rank != 1:
        raise ShapeError("unique expects a 1D vector.")
    chosen = axis[0] if axis else 0
    if not -rank <= chosen < rank:
        raise ShapeError(f"axis has to be between [0, {rank})")
    return chosen % rank


def _shapes(x: TensorShape, axis: Any) -> list:
    if x.tuple is None or not fully_known(axis):
        return [None if x.tuple is None else [None] * x.ndims, [None]]
    along = _axis(axis, x.ndims)
    return [[None if i == along else size for i, size in enumerate(x.tuple)], [x.tuple[along]]]


def _kinds(x: Any, along: int) -> torch.Tensor:
    """A number for each slice, the same for equal ones."""
    if isinstance(x, np.ndarray):
        kinds: dict[tuple, int] = {}
        rows = [tuple(np.take(x, place, along).ravel()) for place in range(x.shape[along])]
        return torch.tensor([kinds.setdefault(row, len(kinds)) for row in rows], dtype=torch.int64)
    parts = torch.view_as_real(x) if x.is_complex() else unsigned.bits(x)
    rows = parts.movedim(along, 0).flatten(1) if parts.dim() > 1 else parts.unsqueeze(1)
    if not rows.numel():
        return torch.zeros(len(rows), dtype=torch.int64, device=x.device)
    return torch.unique(rows, return_inverse=True, dim=0)[1]


def _unique(x: Any, axis: list[int]) -> tuple[Any, torch.Tensor, torch.Tensor]:
    along = _axis(axis, x.ndim)
    first, numbers, counts = by_first_occurrence(_kinds(x, along))
    if isinstance(x, np.ndarray):
        return np.take(x, first.numpy(), along), numbers, counts
    return unsigned.bits(x).index_select(along, first).view(x.dtype), numbers, counts


_ROWS = np.array([[3, 0, 0], [1, 0, 0], [3, 0, 0]], np.int32)


def _add_refusals(op: Op) -> None:
    op.refuses((f32(2, 2), np.array([2])), "axis has to be between [0, 2)")
    op.refuses((f32(2, 2), np.array([], np.int64)), "unique expects a 1D vector.")


def _slices_in_order(x: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct slices, the place of each slice among them, how often each occurs: by NumPy's sorting."""
    along = int(axis[0]) if axis.size else 0
    _, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=along
    )
    order = np.argsort(first)
    return np.take(x, first[order], along), np.argsort(order)[inverse.ravel()], counts[order]


unique_v2_op = Op(
    "UniqueV2",
    "x: T, axis: Taxis -> y: T, idx: out_idx",
    Taxis=_AXIS,
    out_idx=INDEX,
    host="axis",
    differentiable=None,
)


@unique_v2_op.shape
def _unique_v2_shape(x, axis):
    return _shapes(x, axis)


@unique_v2_op.kernel
@unique_v2_op.kernel("string")
def _unique_v2_kernel(x, axis, *, out_idx):
    values, numbers, _ = _unique(x, axis)
    return values, numbers.to(out_idx.torch)


unique_v2_op.samples(
    (_ROWS, np.array([0])),
    (_ROWS, np.array([-1])),
    (np.array([2.5, 1, 2.5]), np.array([], np.int32)),
    (_ROWS.astype(np.uint16), np.array([1])),
    against=lambda x, axis: _slices_in_order(x, axis)[:2],
)
_add_refusals(unique_v2_op)

unique_with_counts_v2_op = Op(
    "UniqueWithCountsV2",
    "x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx",
    Taxis=_AXIS,
    out_idx=INDEX,
    host="axis",
    differentiable=None,
)


@unique_with_counts_v2_op.shape
def _unique_with_counts_v2_shape(x, axis):
    return [*_shapes(x, axis), [None]]


@unique_with_counts_v2_op.kernel
@unique_with_counts_v2_op.kernel("string")
def _unique_with_counts_v2_kernel(x, axis, *, out_idx):
    values, numbers, counts = _unique(x, axis)
    return values, numbers.to(out_idx.torch), counts.to(out_idx.torch)


unique_with_counts_v2_op.samples(
    (_ROWS, np.array([0]), {"out_idx": dtypes.int64}),
    (f32(0, 3), np.array([0])),
    (f32(3, 0), np.array([0])),
    against=_slices_in_order,
)
_add_refusals(unique_with_counts_v2_op)
