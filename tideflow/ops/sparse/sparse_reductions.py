"""Reductions of sparse tensors over axes, with dense results and with sparse ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.graph.dtypes import int64
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known
from tideflow.ops.arrays import indexing, shapes
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.samples import c64, f32, i32
from tideflow.ops.helpers.types import NUMERIC, REAL
from tideflow.ops.math import casting, reductions, segments
from tideflow.ops.sparse import index_rows
from tideflow.ops.sparse.index_rows import check_parts

_INPUTS = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"
_SPARSE = "output_indices: int64, output_values: T, output_shape: int64"


def _dense_op(name: str, allowed: tuple) -> Op:
    return Op(name, f"{_INPUTS} -> output: T", T=allowed, keep_dims=False, host="input_shape, reduction_axes")


def _sparse_op(name: str, allowed: tuple) -> Op:
    return Op(name, f"{_INPUTS} -> {_SPARSE}", T=allowed, keep_dims=False, host="input_shape, reduction_axes")


sum_op, sparse_sum_op = _dense_op("SparseReduceSum", NUMERIC), _sparse_op("SparseReduceSumSparse", NUMERIC)
max_op, sparse_max_op = _dense_op("SparseReduceMax", REAL), _sparse_op("SparseReduceMaxSparse", REAL)


def _as_list(axes: Any) -> list[int]:
    return axes if isinstance(axes, list) else [axes]


def _left(sizes: list, reduced: Any, keep_dims: bool) -> list:
    """The sizes after a reduction."""
    if keep_dims:
        return [1 if axis in reduced else size for axis, size in enumerate(sizes)]
    return [size for axis, size in enumerate(sizes) if axis not in reduced]


def _sum_family_shape(input_indices, input_values, input_shape, reduction_axes, *, keep_dims):
    of_rank(input_indices, 2)
    of_rank(input_values, 1)
    if input_shape is None or not fully_known(reduction_axes):
        return None
    reduced = {axis % len(input_shape) for axis in _as_list(reduction_axes)} if input_shape else set()
    return _left(input_shape, reduced, keep_dims)


max_op.shape(_sum_family_shape)
sum_op.shape(_sum_family_shape)


def _sparse_sum_family_shape(input_indices, input_values, input_shape, reduction_axes):
    of_rank(input_indices, 2)
    of_rank(input_values, 1)
    return [None, None, None]


sparse_max_op.shape(_sparse_sum_family_shape)
sparse_sum_op.shape(_sparse_sum_family_shape)


def _axes(axes: Any, rank: int) -> list[int]:
    for axis in _as_list(axes):
        if not -rank <= axis < rank:
            raise ShapeError(f"Invalid reduction dimension {axis}, for input with {rank} dimensions.")
    return sorted({axis % rank for axis in _as_list(axes)})


def _folded(fold: Callable, indices, values, sizes, axes) -> tuple[list[int], torch.Tensor, torch.Tensor]:
    """The axes that go; of what stays, the indices that have elements, and what each comes to."""
    check_parts(indices, values, sizes)
    reduced = _axes(axes, len(sizes))
    kept = [axis for axis in range(len(sizes)) if axis not in reduced]
    groups = index_rows.grouped(indices[:, kept])
    return reduced, groups.rows, fold(values, groups)


@unsigned.modular
def _total(values: torch.Tensor, groups: index_rows.Groups) -> torch.Tensor:
    return segments.folded(values, groups.members, groups.count, "sum", 0)


def _dense(fold: Callable) -> Callable:
    """The kernel that spreads the folded elements over a dense tensor of zeros."""

    def kernel(input_indices, input_values, input_shape, reduction_axes, *, keep_dims):
        reduced, rows, values = _folded(fold, input_indices, input_values, input_shape, reduction_axes)
        sizes = _left(input_shape, reduced, False)
        inside = ~index_rows.outside(rows, sizes)
        output = unsigned.bits(input_values).new_zeros(np.prod(sizes, dtype=int).item())
        output[index_rows.places(rows[inside], sizes)] = unsigned.bits(values)[inside]
        return output.view(input_values.dtype).reshape(_left(input_shape, reduced, keep_dims))

    return kernel


sum_op.kernel(_dense(_total))


@unsigned.ordered
def _largest(values: torch.Tensor, groups: index_rows.Groups) -> torch.Tensor:
    if not values.is_floating_point():
        return segments.folded(values, groups.members, groups.count, "amax", torch.iinfo(values.dtype).min)
    numbers = values.nan_to_num(-torch.inf, torch.inf, -torch.inf)
    return segments.folded(numbers, groups.members, groups.count, "amax", -torch.inf)


max_op.kernel(_dense(_largest))


def _sparse(fold: Callable) -> Callable:
    """The kernel that leaves the folded elements sparse; kept axes that were reduced have index 0."""

    def kernel(input_indices, input_values, input_shape, reduction_axes, *, keep_dims, device):
        reduced, rows, values = _folded(fold, input_indices, input_values, input_shape, reduction_axes)
        if keep_dims:
            kept = [axis for axis in range(len(input_shape)) if axis not in reduced]
            wide = rows.new_zeros(len(rows), len(input_shape))
            wide[:, kept] = rows
            rows = wide
        sizes = _left(input_shape, reduced, keep_dims)
        return rows, values, torch.tensor(sizes, dtype=torch.int64, device=device)

    return kernel


sparse_sum_op.kernel(_sparse(_total))
sparse_max_op.kernel(_sparse(_largest))


@sum_op.gradient
def _sum_gradient(op, grad):
    indices, _, sizes, axes = op.inputs
    kept = reductions.reduced_shape(sizes, axes)
    grad = shapes.reshape(grad, kept)
    scale = sizes // casting.cast(kept, int64)
    return [None, indexing.gather_nd(grad, indices // scale), None, None]


max_op.gradient(undefined_gradient)
sparse_sum_op.gradient(undefined_gradient)
sparse_max_op.gradient(undefined_gradient)
_INDICES = np.array([[0, 0, 1], [0, 0, 2], [0, 1, 2], [1, 1, 0]])
_SIZES = np.array([2, 2, 3])


def _add_samples_and_refuses_of_sum_family(op: Op) -> None:
    op.samples(
        (_INDICES, f32(4), _SIZES, [0]),
        (_INDICES, f32(4), _SIZES, -1, {"keep_dims": True}),
        (_INDICES, f32(4), _SIZES, [0, 2], {"keep_dims": True}),
        (_INDICES, f32(4), _SIZES, [0, 1, 2]),
        (_INDICES, i32(4), _SIZES, [1, -2]),
        (_INDICES[:0], f32(0), _SIZES, [1]),
    )
    op.refuses(
        (_INDICES, f32(4), _SIZES, [3]),
        "Invalid reduction dimension 3, for input with 3 dimensions",
        InvalidArgumentError,
    )


_add_samples_and_refuses_of_sum_family(sum_op)
_add_samples_and_refuses_of_sum_family(sparse_sum_op)
_add_samples_and_refuses_of_sum_family(max_op)
_add_samples_and_refuses_of_sum_family(sparse_max_op)
sum_op.samples((_INDICES, c64(4), _SIZES, [2]))


def _reduced(op: Op, sp_input: SparseTensor, axis: Any, keepdims: Any, old_axis: Any, old_keep: Any) -> Any:
    keepdims = renamed("keepdims", keepdims, "keep_dims", old_keep)
    if axis is not None and old_axis is not None:
        raise ValueError("Can't specify both axis' and 'reduction_indices'.")
    axis = old_axis if axis is None else axis
    axes = reductions.all_axes(sp_input) if axis is None else axis
    return op(sp_input.indices, sp_input.values, sp_input.dense_shape, axes, keep_dims=bool(keepdims))


@export("sparse.reduce_sum", "sparse_reduce_sum")
def sparse_reduce_sum(
    sp_input: SparseTensor,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The sums of a sparse tensor's elements over the given axes, all by default, as a dense tensor."""
    return _reduced(sum_op, sp_input, axis, keepdims, reduction_axes, keep_dims)


@export("sparse.reduce_max", "sparse_reduce_max")
def sparse_reduce_max(
    sp_input: SparseTensor,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The largest of the elements that are there over the given axes; 0 where there are none."""
    return _reduced(max_op, sp_input, axis, keepdims, reduction_axes, keep_dims)


@export("sparse.reduce_sum_sparse", "sparse_reduce_sum_sparse")
def sparse_reduce_sum_sparse(
    sp_input: SparseTensor,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """The sums of a sparse tensor's elements over the given axes, as a sparse tensor."""
    return SparseTensor(*_reduced(sparse_sum_op, sp_input, axis, keepdims, reduction_axes, keep_dims))


@export("sparse.reduce_max_sparse", "sparse_reduce_max_sparse")
def sparse_reduce_max_sparse(
    sp_input: SparseTensor,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """The largest of the elements that are there over the given axes, as a sparse tensor."""
    return SparseTensor(*_reduced(sparse_max_op, sp_input, axis, keepdims, reduction_axes, keep_dims))
