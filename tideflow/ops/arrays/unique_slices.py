"""Slices of a tensor along an axis, each once: UniqueV2. `indexing` has Unique, of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.partial import fully_known
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import indexing
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import vector
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import INDICES

_OUT_IDX = attr("type", dtypes.int32, allowed=INDICES)
_AXIS = attr("type", dtypes.int64, allowed=INDICES)


def _axis(axis: list[int], rank: int) -> int:
    """The axis along which slices are compared; a vector needs none named."""
    if len(vector(axis)) > 1:
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
    first, numbers, counts = indexing.by_first_occurrence(_kinds(x, along))
    if isinstance(x, np.ndarray):
        return np.take(x, first.numpy(), along), numbers, counts
    return unsigned.bits(x).index_select(along, first).view(x.dtype), numbers, counts


_ROWS = np.array([[3, 0, 0], [1, 0, 0], [3, 0, 0]], np.int32)


def _add_refuses_of_unique_v2_family(op: Op) -> None:
    op.refuses((f32(2, 2), np.array([2])), "axis has to be between [0, 2)")
    op.refuses((f32(2, 2), np.array([], np.int64)), "unique expects a 1D vector.")


unique_v2_op = Op(
    "UniqueV2",
    "x: T, axis: Taxis -> y: T, idx: out_idx",
    Taxis=_AXIS,
    out_idx=_OUT_IDX,
    host="axis",
    differentiable=False,
)


@unique_v2_op.shape
def _unique_v2_shape(x, axis):
    return _shapes(x, axis)


@unique_v2_op.kernel
@unique_v2_op.kernel("string")
def _unique_v2_kernel(x, axis, *, out_idx):
    values, numbers, _ = _unique(x, axis)
    return values, numbers.to(out_idx.torch)


def _against(x: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, ...]:
    along = int(axis[0]) if axis.size else 0
    _, first, inverse = np.unique(x, return_index=True, return_inverse=True, axis=along)
    order = np.argsort(first)
    place_of = np.argsort(order)
    return np.take(x, first[order], along), place_of[inverse.ravel()].astype(np.int32)


unique_v2_op.samples(
    (_ROWS, np.array([0])),
    (_ROWS, np.array([-1])),
    (np.array([2.5, 1, 2.5]), np.array([], np.int32)),
    (_ROWS.astype(np.uint16), np.array([1])),
    against=_against,
)
_add_refuses_of_unique_v2_family(unique_v2_op)

unique_with_counts_v2_op = Op(
    "UniqueWithCountsV2",
    "x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx",
    Taxis=_AXIS,
    out_idx=_OUT_IDX,
    host="axis",
    differentiable=False,
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
    (_ROWS, np.array([0]), {"out_idx": dtypes.int64}), (f32(0, 3), np.array([0])), (f32(3, 0), np.array([0]))
)
_add_refuses_of_unique_v2_family(unique_with_counts_v2_op)
