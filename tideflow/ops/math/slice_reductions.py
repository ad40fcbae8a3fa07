"""Reductions of slices along an axis, from starts to ends: the ops of contrib's `reduce_slice_ops`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import of_rank_at_least
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import NUMERIC_OF_CONTRIB
from tideflow.ops.math.segments import TINDICES, folded

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _bounds(indices: torch.Tensor, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The starts of the slices, and their lengths within an axis of this length."""
    if indices.dim() == 2 and indices.shape[1] == 1:
        indices = indices.reshape(-1)
    if indices.dim() == 1:
        starts, ends = indices[:-1], indices[1:]
    elif indices.dim() == 2 and indices.shape[1] == 2:
        starts, ends = indices.unbind(1)
    else:
        raise ShapeError(
            f"indices must be a vector, or a matrix of starts and ends, not of shape {list(indices.shape)}"
        )
    starts = starts.long()
    sizes = (ends.long().clamp_max(length) - starts).clamp_min(0)
    if bool((starts[sizes > 0] < 0).any()):
        raise ShapeError("indices must not be negative")
    return starts, sizes


def _checked_axis(axis: int, rank: int) -> int:
    if not 0 <= axis < rank:
        raise ShapeError(f"axis must be in [0, {rank}), not {axis}")
    return axis


def _reduced(data: torch.Tensor, indices: torch.Tensor, axis: int, how: str, start: Any) -> torch.Tensor:
    """Slice i of the axis, reduced, is element i of the result's; `start` where it has no elements."""
    rows = data.movedim(_checked_axis(axis, data.dim()), 0)
    starts, sizes = _bounds(indices, len(rows))
    ids = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)
    firsts = sizes.cumsum(0) - sizes
    places = torch.arange(len(ids), device=ids.device) + (starts - firsts)[ids]
    return folded(rows[places], ids, len(sizes), how, start).movedim(0, axis).contiguous()


def _extreme(data: torch.Tensor, indices: torch.Tensor, axis: int, how: str) -> torch.Tensor:
    """Slices' extremes; one without elements is the finite number that loses against any other."""
    if data.is_complex():
        raise ShapeError("complex numbers have no order: give real ones, such as their absolute values")
    limits = torch.finfo(data.dtype) if data.is_floating_point() else torch.iinfo(data.dtype)
    return _reduced(data, indices, axis, how, limits.min if how == "amax" else limits.max)


def _slices_op(name: str) -> Op:
    return Op(
        name,
        "data: T, indices: Tindices, axis: int64 -> output: T",
        T=NUMERIC_OF_CONTRIB,
        Tindices=TINDICES,
        host="axis",
        differentiable=False,
    )


def _slices_shape(data, indices, axis):
    """The shape rule of reductions of slices."""
    of_rank_at_least(data, 1)
    sizes = data.tuple
    if sizes is None or axis is None or indices.tuple is None:
        return None if sizes is None else [None] * len(sizes)
    axis = _checked_axis(axis, len(sizes))
    count = indices.tuple[0]
    if count is not None and (len(indices.tuple) == 1 or indices.tuple[1] == 1):
        count = max(count - 1, 0)
    elif len(indices.tuple) == 2 and indices.tuple[1] is None:
        count = None
    return [*sizes[:axis], count, *sizes[axis + 1 :]]


_PAIRS = np.array([[0, 1], [0, 9], [1, 2], [3, 2]], np.int32)
_STEPS = np.array([0, 0, 2, 3], np.int64)


def _slice_by_slice(reduce: Any, of_nothing: Any) -> Any:
    """Slices one by one, in NumPy."""

    def reference(data, indices, axis):
        nothing = of_nothing(data.dtype) if callable(of_nothing) else of_nothing
        pairs = indices if indices.ndim == 2 else np.stack([indices[:-1], indices[1:]], 1)
        rows = np.moveaxis(data, int(axis), 0)
        parts = [rows[start:end] for start, end in pairs]
        full = [reduce(part, axis=0) if len(part) else np.full(rows.shape[1:], nothing) for part in parts]
        return np.moveaxis(np.array(full, data.dtype).reshape(len(pairs), *rows.shape[1:]), 0, int(axis))

    return reference


def _add_samples(op: Op, reduce: Any, of_nothing: Any) -> None:
    op.samples(
        (f32(3), _PAIRS, 0),
        (f32(2, 3, 2), _STEPS, 1),
        (i32(3, 4, low=1), _PAIRS, 0),
        against=_slice_by_slice(reduce, of_nothing),
    )
    op.refuses((f32(3), _PAIRS, 1), "axis must be in [0, 1), not 1", ValueError)
    op.refuses((f32(3), np.zeros([2, 3], np.int32), 0), "indices must be a vector", InvalidArgumentError)


def _function(name: str, op: Op, doc: str) -> Any:
    def function(data: TensorLike, indices: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
        return op(data, indices, axis, name=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


reduce_slice_sum_op = _slices_op("ReduceSliceSum")
reduce_slice_sum_op.shape(_slices_shape)


@reduce_slice_sum_op.kernel
@unsigned.modular
def _reduce_slice_sum_kernel(data, indices, axis):
    return _reduced(data, indices, axis, "sum", 0)


_add_samples(reduce_slice_sum_op, np.sum, 0)
reduce_slice_sum = _function(
    "reduce_slice_sum", reduce_slice_sum_op, "The sums of slices along an axis, 0 of empty ones."
)

reduce_slice_prod_op = _slices_op("ReduceSliceProd")
reduce_slice_prod_op.shape(_slices_shape)


@reduce_slice_prod_op.kernel
@unsigned.modular
def _reduce_slice_prod_kernel(data, indices, axis):
    return _reduced(data, indices, axis, "prod", 1)


_add_samples(reduce_slice_prod_op, np.prod, 1)
reduce_slice_prod = _function(
    "reduce_slice_prod", reduce_slice_prod_op, "The products of slices along an axis, 1 of empty ones."
)


def _limits(dtype: np.dtype) -> Any:
    return np.finfo(dtype) if np.issubdtype(dtype, np.floating) else np.iinfo(dtype)


reduce_slice_max_op = _slices_op("ReduceSliceMax")
reduce_slice_max_op.shape(_slices_shape)


@reduce_slice_max_op.kernel
@unsigned.ordered
def _reduce_slice_max_kernel(data, indices, axis):
    return _extreme(data, indices, axis, "amax")


_add_samples(reduce_slice_max_op, np.max, lambda dtype: _limits(dtype).min)
reduce_slice_max = _function(
    "reduce_slice_max",
    reduce_slice_max_op,
    "The greatest elements of slices along an axis, the least number of the type for empty ones.",
)

reduce_slice_min_op = _slices_op("ReduceSliceMin")
reduce_slice_min_op.shape(_slices_shape)


@reduce_slice_min_op.kernel
@unsigned.ordered
def _reduce_slice_min_kernel(data, indices, axis):
    return _extreme(data, indices, axis, "amin")


_add_samples(reduce_slice_min_op, np.min, lambda dtype: _limits(dtype).max)
for _extreme_op in (reduce_slice_max_op, reduce_slice_min_op):
    _extreme_op.refuses(
        (np.ones(3, np.complex64), _PAIRS, 0), "complex numbers have no order", InvalidArgumentError
    )
reduce_slice_min = _function(
    "reduce_slice_min",
    reduce_slice_min_op,
    "The least elements of slices along an axis, the greatest number of the type for empty ones.",
)
