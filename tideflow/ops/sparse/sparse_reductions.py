"""Reductions of sparse tensors over axes, with dense results and with sparse ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
from tideflow.ops.helpers.axes import host_rank, host_shape, of_rank, vector
from tideflow.ops.helpers.samples import c64, f32, i32
from tideflow.ops.helpers.types import NUMERIC, REAL
from tideflow.ops.math import casting, reductions, segments
from tideflow.ops.sparse import index_rows
from tideflow.ops.sparse.index_rows import CREATED, check_parts

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_INPUTS = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"
_SPARSE = "output_indices: int64, output_values: T, output_shape: int64"


def _as_list(axes: Any) -> list[int]:
    return axes if isinstance(axes, list) else [axes]


def _left(sizes: list, reduced: Any, keep_dims: bool) -> list:
    """The sizes after a reduction."""
    if keep_dims:
        return [1 if axis in reduced else size for axis, size in enumerate(sizes)]
    return [size for axis, size in enumerate(sizes) if axis not in reduced]


def _axes(axes: Any, rank: int) -> list[int]:
    if host_rank(axes) > 1:
        raise ShapeError(f"Expected reduction_axes to be a scalar or a vector; got shape: {host_shape(axes)}")
    for axis in _as_list(axes):
        if not -rank <= axis < rank:
            raise ShapeError(f"Invalid reduction dimension {axis}, for input with {rank} dimensions.")
    return sorted({axis % rank for axis in _as_list(axes)})


def _folded(fold: Callable, indices, values, sizes, axes) -> tuple[list[int], torch.Tensor, torch.Tensor]:
    """The reduced axes; along the others, the indices that have elements; and the folded value of each."""
    check_parts(indices, values, sizes, CREATED)
    reduced = _axes(axes, len(sizes))
    kept = [axis for axis in range(len(sizes)) if axis not in reduced]
    groups = index_rows.grouped(indices[:, kept])
    return reduced, groups.rows, fold(values, groups)


@unsigned.modular
def _total(values: torch.Tensor, groups: index_rows.Groups) -> torch.Tensor:
    return segments.folded(values, groups.members, groups.count, "sum", 0)


@unsigned.ordered
def _largest(values: torch.Tensor, groups: index_rows.Groups) -> torch.Tensor:
    if not values.is_floating_point():
        return segments.folded(values, groups.members, groups.count, "amax", torch.iinfo(values.dtype).min)
    numbers = values.nan_to_num(-torch.inf, torch.inf, -torch.inf)
    return segments.folded(numbers, groups.members, groups.count, "amax", -torch.inf)


def _elements_reference(indices, values, sizes, axes, keep_dims) -> dict[tuple[int, ...], list]:
    """In NumPy: what falls together, by the index it gets."""
    reduced = {axis % len(sizes) for axis in np.ravel(axes)}
    found: dict[tuple[int, ...], list] = {}
    for at, value in zip(indices.tolist(), values):
        kept = [0 if axis in reduced else place for axis, place in enumerate(at)]
        kept = kept if keep_dims else [place for axis, place in enumerate(at) if axis not in reduced]
        found.setdefault(tuple(kept), []).append(value)
    return found


def _sizes_reference(sizes, axes, keep_dims) -> tuple[int, ...]:
    reduced = tuple({axis % len(sizes) for axis in np.ravel(axes)})
    return np.zeros(sizes).sum(reduced, keepdims=keep_dims).shape


_INDICES = np.array([[0, 0, 1], [0, 0, 2], [0, 1, 2], [1, 1, 0]])
_SIZES = np.array([2, 2, 3])


def _add_samples(op: Op, reference: Callable) -> None:
    op.samples(
        (_INDICES, f32(4), _SIZES, [0]),
        (_INDICES, f32(4), _SIZES, -1, {"keep_dims": True}),
        (_INDICES, f32(4), _SIZES, [0, 2], {"keep_dims": True}),
        (_INDICES, f32(4), _SIZES, [0, 1, 2]),
        (_INDICES, i32(4), _SIZES, [1, -2]),
        (_INDICES[:0], f32(0), _SIZES, [1]),
        against=reference,
    )
    op.refuses(
        (_INDICES, f32(4), _SIZES, [3]),
        "Invalid reduction dimension 3, for input with 3 dimensions",
        InvalidArgumentError,
    )


def _dense_op(name: str, allowed: tuple, fold: Callable, gradient: Callable, numpy_fold: Callable) -> Op:
    """The op that spreads the folded elements over a dense tensor of zeros."""
    op = Op(name, f"{_INPUTS} -> output: T", T=allowed, keep_dims=False, host="input_shape, reduction_axes")

    @op.shape
    def _shape(input_indices, input_values, input_shape, reduction_axes, *, keep_dims):
        of_rank(input_indices, 2)
        of_rank(input_values, 1)
        if vector(input_shape) is None or not fully_known(reduction_axes):
            return None
        reduced = {axis % len(input_shape) for axis in _as_list(reduction_axes)} if input_shape else set()
        return _left(input_shape, reduced, keep_dims)

    @op.kernel
    def _kernel(input_indices, input_values, input_shape, reduction_axes, *, keep_dims):
        reduced, rows, values = _folded(fold, input_indices, input_values, input_shape, reduction_axes)
        sizes = _left(input_shape, reduced, False)
        inside = ~index_rows.outside(rows, sizes)
        output = unsigned.bits(input_values).new_zeros(np.prod(sizes, dtype=int).item())
        output[index_rows.places(rows[inside], sizes)] = unsigned.bits(values)[inside]
        return output.view(input_values.dtype).reshape(_left(input_shape, reduced, keep_dims))

    op.gradient(gradient)

    def reference(indices, values, sizes, axes, keep_dims):
        result = np.zeros(_sizes_reference(sizes, axes, keep_dims), values.dtype)
        for at, together in _elements_reference(indices, values, sizes, axes, keep_dims).items():
            result[at] = numpy_fold(together)
        return result

    _add_samples(op, reference)
    return op


def _sparse_op(name: str, allowed: tuple, fold: Callable, numpy_fold: Callable) -> Op:
    """The op that leaves the folded elements sparse; kept axes that were reduced have index 0."""
    op = Op(name, f"{_INPUTS} -> {_SPARSE}", T=allowed, keep_dims=False, host="input_shape, reduction_axes")

    @op.shape
    def _shape(input_indices, input_values, input_shape, reduction_axes):
        of_rank(input_indices, 2)
        of_rank(input_values, 1)
        return [None, None, None]

    @op.kernel
    def _kernel(input_indices, input_values, input_shape, reduction_axes, *, keep_dims, device):
        reduced, rows, values = _folded(fold, input_indices, input_values, input_shape, reduction_axes)
        if keep_dims:
            kept = [axis for axis in range(len(input_shape)) if axis not in reduced]
            wide = rows.new_zeros(len(rows), len(input_shape))
            wide[:, kept] = rows
            rows = wide
        sizes = _left(input_shape, reduced, keep_dims)
        return rows, values, torch.tensor(sizes, dtype=torch.int64, device=device)

    op.gradient(undefined_gradient)

    def reference(indices, values, sizes, axes, keep_dims):
        found = _elements_reference(indices, values, sizes, axes, keep_dims)
        left = _sizes_reference(sizes, axes, keep_dims)
        folded = {at: numpy_fold(together) for at, together in found.items()}
        return *index_rows.parts_of(folded, len(left), values.dtype), np.array(left, int)

    _add_samples(op, reference)
    return op


def _reduced(op: Op, sp_input: SparseTensor, axis: Any, keepdims: Any, old_axis: Any, old_keep: Any) -> Any:
    keepdims = renamed("keepdims", keepdims, "keep_dims", old_keep)
    if axis is not None and old_axis is not None:
        raise ValueError("Can't specify both axis' and 'reduction_indices'.")
    axis = old_axis if axis is None else axis
    axes = reductions.all_axes(sp_input) if axis is None else axis
    return op(sp_input.indices, sp_input.values, sp_input.dense_shape, axes, keep_dims=bool(keepdims))


def _sum_gradient(op, grad):
    indices, _, sizes, axes = op.inputs
    kept = reductions.reduced_shape(sizes, axes)
    grad = shapes.reshape(grad, kept)
    scale = sizes // casting.cast(kept, int64)
    return [None, indexing.gather_nd(grad, indices // scale), None, None]


sum_op = _dense_op("SparseReduceSum", NUMERIC, _total, _sum_gradient, sum)
sum_op.samples((_INDICES, c64(4), _SIZES, [2]))


@export("sparse.reduce_sum", "sparse_reduce_sum")
def sparse_reduce_sum(
    sp_input: SparseTensor,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Adds up the elements of a sparse tensor over axes.

    Args:
      sp_input: A SparseTensor of a numeric type.
      axis: The axis, or a list of them; all by default.
      keepdims: Whether the axes stay, with size 1.
      reduction_axes: A deprecated name of `axis`.
      keep_dims: A deprecated name of `keepdims`.

    Returns:
      A tensor of its type without these axes; 0 where there is no element.

    Raises:
      ValueError: Where an argument is given under both of its names.
      InvalidArgumentError: In a step in which there is no such axis.
    """
    return _reduced(sum_op, sp_input, axis, keepdims, reduction_axes, keep_dims)


sparse_sum_op = _sparse_op("SparseReduceSumSparse", NUMERIC, _total, sum)


@export("sparse.reduce_sum_sparse", "sparse_reduce_sum_sparse")
def sparse_reduce_sum_sparse(
    sp_input: SparseTensor,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """Adds up the elements of a sparse tensor over axes, to a sparse tensor.

    Args:
      sp_input: A SparseTensor of a numeric type.
      axis: The axis, or a list of them; all by default.
      keepdims: Whether the axes stay, with size 1.
      reduction_axes: A deprecated name of `axis`.
      keep_dims: A deprecated name of `keepdims`.

    Returns:
      A SparseTensor of its type without these axes.

    Raises:
      ValueError: Where an argument is given under both of its names.
      InvalidArgumentError: In a step in which there is no such axis.
    """
    return SparseTensor(*_reduced(sparse_sum_op, sp_input, axis, keepdims, reduction_axes, keep_dims))


max_op = _dense_op("SparseReduceMax", REAL, _largest, undefined_gradient, max)


@export("sparse.reduce_max", "sparse_reduce_max")
def sparse_reduce_max(
    sp_input: SparseTensor,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Finds the largest element of a sparse tensor over axes; what is not there does not count.

    Args:
      sp_input: A SparseTensor of a real type.
      axis: The axis, or a list of them; all by default.
      keepdims: Whether the axes stay, with size 1.
      reduction_axes: A deprecated name of `axis`.
      keep_dims: A deprecated name of `keepdims`.

    Returns:
      A tensor of its type without these axes; 0 where there is no element.

    Raises:
      ValueError: Where an argument is given under both of its names.
      InvalidArgumentError: In a step in which there is no such axis.
    """
    return _reduced(max_op, sp_input, axis, keepdims, reduction_axes, keep_dims)


sparse_max_op = _sparse_op("SparseReduceMaxSparse", REAL, _largest, max)


@export("sparse.reduce_max_sparse", "sparse_reduce_max_sparse")
def sparse_reduce_max_sparse(
    sp_input: SparseTensor,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """Finds the largest element of a sparse tensor over axes, to a sparse tensor.

    Args:
      sp_input: A SparseTensor of a real type.
      axis: The axis, or a list of them; all by default.
      keepdims: Whether the axes stay, with size 1.
      reduction_axes: A deprecated name of `axis`.
      keep_dims: A deprecated name of `keepdims`.

    Returns:
      A SparseTensor of its type without these axes.

    Raises:
      ValueError: Where an argument is given under both of its names.
      InvalidArgumentError: In a step in which there is no such axis.
    """
    return SparseTensor(*_reduced(sparse_max_op, sp_input, axis, keepdims, reduction_axes, keep_dims))
