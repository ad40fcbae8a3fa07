"""Slices put into a tensor at index vectors: a new tensor each time, no state. The inverse of gather_nd."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, indexing
from tideflow.ops.helpers.axes import as_sizes, brackets, checked_sizes, merged, of_rank_at_least
from tideflow.ops.helpers.rows import (
    Change,
    add_rows,
    change_rows,
    check_not_empty,
    linear_rows,
    subtract_rows,
)
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import INDICES, types
from tideflow.ops.helpers.variables import as_signed
from tideflow.ops.math import unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _scattered(output: Any, indices: torch.Tensor, updates: Any, change: Change) -> Any:
    """`output`, a fresh buffer, after `change(rows, at, updates)` on its slices at `indices`."""
    sizes = tuple(output.shape)
    depth = indices.shape[-1]
    if not sizes and (indices.numel() or math.prod(updates.shape)):
        raise ShapeError("Indices and updates specified for empty output shape")
    if depth > len(sizes) or tuple(updates.shape) != (*indices.shape[:-1], *sizes[depth:]):
        outer = indices.ndim - 1
        first = (
            f"Outer dimensions of indices and update must match. Indices shape: {brackets(indices.shape)}, "
            f"updates shape:{brackets(updates.shape)}. "
            if tuple(updates.shape[:outer]) != tuple(indices.shape[:outer])
            else "Inner dimensions of output shape must match inner dimensions of updates shape. Output: "
            f"{brackets(sizes)} updates: {brackets(updates.shape)}. "
        )
        raise errors.invalid_argument(
            f"{first}Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got "
            f"updates.shape: {brackets(updates.shape)}, indices.shape: {brackets(indices.shape)}, "
            f"params_shape: {brackets(sizes)}",
        )
    check_not_empty(indices.numel(), math.prod(updates.shape), math.prod(sizes))
    at, is_missing = linear_rows(indices, sizes)
    rows = output.reshape(math.prod(sizes[:depth]), *sizes[depth:])
    change_rows(change, rows, at, updates.reshape(at.numel(), *sizes[depth:]), is_missing)
    return rows.reshape(sizes)


def _match(
    side: str, name: str, whole: TensorShape, part: TensorShape, updates: TensorShape, theirs: TensorShape
) -> None:
    try:
        merged(part, theirs)
    except ShapeError as error:
        raise ShapeError(
            f"The {side} {part.ndims} dimensions of {name}.shape={brackets(whole.tuple)} must match the "
            f"{side} {theirs.ndims} dimensions of updates.shape={brackets(updates.tuple)}: {error}"
        ) from None


def _check_shapes(indices: TensorShape, updates: TensorShape, whole: TensorShape) -> None:
    of_rank_at_least(indices, 1)
    check_not_empty(indices.num_elements(), updates.num_elements(), whole.num_elements())
    if indices.tuple is None or updates.tuple is None:
        return
    outer, depth = indices.ndims - 1, indices.tuple[-1]
    _match("outer", "indices", indices, indices[:outer], updates, updates[:outer])
    if depth is not None and whole.tuple is not None:
        if depth > whole.ndims > 0:
            raise ShapeError(
                f"The inner {whole.ndims - depth} dimensions of output.shape={brackets(whole.tuple)} must "
                f"match the inner {updates.ndims - outer} dimensions of updates.shape="
                f"{brackets(updates.tuple)}: Shapes must be equal rank, but are 0 and "
                f"{updates.ndims - outer}: index vectors have {depth} elements"
            )
        _match("inner", "output", whole, whole[depth:], updates, updates[outer:])


def _one_by_one(change: Callable) -> Callable:
    """A reference: each slice of `updates` in turn changes the slice at its index vector."""

    def reference(tensor, indices, updates):
        result = tensor.copy()
        for place in np.ndindex(indices.shape[:-1]):
            at = tuple(indices[place])
            result[at] = change(result[at], updates[place])
        return result

    return reference


scatter_nd_op = Op(
    "ScatterNd",
    "indices: Tindices, updates: T, shape: Tindices -> output: T",
    Tindices=types("int16 int32 int64"),
    bad_indices_policy="",
    host="shape",
)

_NO_VECTOR = "Shape must be a vector, but has shape "


@scatter_nd_op.shape
def _scatter_nd_shape(indices, updates, shape):
    sizes = as_sizes(shape, _NO_VECTOR)
    if indices.ndims != 1:  # one index vector puts a scalar, for which TensorFlow has no words
        found = brackets(updates.tuple or ())
        of_rank_at_least(updates, 1, f"Updates shape must have rank at least one. Found:{found}")
    _check_shapes(indices, updates, TensorShape(sizes))
    return sizes


@scatter_nd_op.kernel
def _scatter_nd_kernel(indices, updates, shape):
    return _scattered(updates.new_zeros(checked_sizes(shape, _NO_VECTOR)), indices, updates, add_rows)


def _append_strings(rows: np.ndarray, at: torch.Tensor, updates: np.ndarray) -> None:
    np.add.at(rows, at.numpy(), updates)


@scatter_nd_op.kernel("string")
def _scatter_nd_string_kernel(indices, updates, shape):
    output = np.full(checked_sizes(shape, _NO_VECTOR), b"", dtype=object)
    return _scattered(output, indices, updates, _append_strings)


@scatter_nd_op.gradient
def _scatter_nd_gradient(op, grad):
    return [None, indexing.gather_nd(grad, op.inputs[0]), None]


scatter_nd_op.samples(
    (np.array([[1], [3], [1]], np.int32), f32(3), np.array([5], np.int32)),
    (np.array([[0], [2]]), f32(2, 2), np.array([3, 2])),
    (np.array([[0, 1], [1, 0]], np.int32), i32(2), np.array([2, 2], np.int32)),
    (np.zeros([0, 1], np.int32), f32(0), np.array([3], np.int32)),
    against=lambda indices, updates, shape: _one_by_one(np.add)(
        np.zeros(shape, updates.dtype), indices, updates
    ),
)
scatter_nd_op.refuses(
    (np.array([[1], [2]], np.int32), f32(1), np.array([3], np.int32)),
    "must match the outer 1 dimensions of updates.shape=[1]",
)
scatter_nd_op.refuses(
    (np.array([[5]], np.int32), f32(1), np.array([3], np.int32)),
    "indices[0] = [5] does not index into shape [3]",
    InvalidArgumentError,
)


@export("scatter_nd", "manip.scatter_nd")
def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: TensorLike, name: str | None = None
) -> Tensor:
    """Puts slices into a tensor of zeros at index vectors; slices for one place are added.

    Args:
      indices: Index vectors along the last axis of a tensor of integers.
      updates: The slices, of shape `indices.shape[:-1]` followed by the axes that a vector does not index.
      shape: The shape of the result, a vector of the type of `indices`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `updates`.
    """
    return scatter_nd_op(indices, updates, shape, name=name)


def _tensor_scatter(name: str, indices: tuple, change: Change, one_slice: Callable) -> Op:
    """Defines an op that gives a copy of `tensor` with some of its slices changed, by indices of these types.

    `change` does so to all of them, `one_slice(old, update)` says what becomes of one.
    """
    op = Op(
        name,
        "tensor: T, indices: Tindices, updates: T -> output: T",
        Tindices=indices,
        bad_indices_policy="",
    )

    @op.shape
    def _shape(tensor, indices, updates):
        of_rank_at_least(tensor, 1)
        _check_shapes(indices, updates, tensor)
        return tensor

    @op.kernel
    def _kernel(tensor, indices, updates):
        return _scattered(
            tensor.clone(memory_format=torch.contiguous_format), indices.long(), updates, change
        )

    op.samples(
        (f32(4, 3), np.array([[2], [0]], np.int32), f32(2, 3)),
        (f32(4, 3), np.array([[2, 1], [0, 2]]), f32(2)),
        (i32(4), np.array([[1], [1]], np.int32), i32(2)),
        (f32(4), np.zeros([0, 1], np.int32), f32(0)),
        against=_one_by_one(one_slice),
    )
    op.refuses(
        (f32(3), np.array([[1], [1]]), f32(1)), "must match the outer 1 dimensions of updates.shape=[1]"
    )
    op.refuses(
        (f32(3), np.array([[3]]), f32(1)),
        "indices[0] = [3] does not index into shape [3]",
        InvalidArgumentError,
    )
    return op


def _update(rows: torch.Tensor, at: torch.Tensor, updates: torch.Tensor) -> None:
    """rows[at] = updates; the last of several for one row, on any number of threads."""
    order = torch.arange(at.numel(), device=at.device)
    last = torch.full((len(rows),), -1, device=at.device).scatter_reduce_(0, at, order, "amax")
    changed = (last >= 0).nonzero().reshape(-1)
    as_signed(rows).index_copy_(0, changed, as_signed(updates).index_select(0, last[changed]))


tensor_scatter_update_op = _tensor_scatter(
    "TensorScatterUpdate", types("int16 int32 int64 uint16"), _update, lambda old, update: update
)


def _update_strings(rows: np.ndarray, at: torch.Tensor, updates: np.ndarray) -> None:
    rows[at.numpy()] = updates


@tensor_scatter_update_op.kernel("string")
def _tensor_scatter_update_string_kernel(tensor, indices, updates):
    return _scattered(tensor.copy(), indices.long(), updates, _update_strings)


@tensor_scatter_update_op.gradient
def _tensor_scatter_update_gradient(op, grad):
    _, indices, updates = op.inputs
    taken = indexing.gather_nd(grad, indices)
    kept = constants.identity(grad)
    zeros = creation.zeros_like(updates, dtype=grad.dtype)
    return [tensor_scatter_update(kept, indices, zeros), None, taken]


@export("tensor_scatter_update", "tensor_scatter_nd_update")
def tensor_scatter_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """Makes a copy of a tensor with the slices at index vectors replaced.

    Args:
      tensor: A tensor.
      indices: Index vectors along the last axis of a tensor of integers; of equal ones, the last counts.
      updates: The new slices, of shape `indices.shape[:-1]` followed by the axes that a vector does not
        index.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `tensor`.
    """
    return tensor_scatter_update_op(tensor, indices, updates, name=name)


tensor_scatter_add_op = _tensor_scatter("TensorScatterAdd", INDICES, add_rows, np.add)


@tensor_scatter_add_op.gradient
def _tensor_scatter_add_gradient(op, grad):
    taken = indexing.gather_nd(grad, op.inputs[1])
    return [constants.identity(grad), None, taken]


@export("tensor_scatter_add", "tensor_scatter_nd_add")
def tensor_scatter_add(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """Makes a copy of a tensor with `updates` added to the slices at index vectors.

    Args:
      tensor: A tensor.
      indices: Index vectors along the last axis of a tensor of integers.
      updates: What to add, of shape `indices.shape[:-1]` followed by the axes that a vector does not index.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `tensor`.
    """
    return tensor_scatter_add_op(tensor, indices, updates, name=name)


tensor_scatter_sub_op = _tensor_scatter("TensorScatterSub", INDICES, subtract_rows, np.subtract)


@tensor_scatter_sub_op.gradient
def _tensor_scatter_sub_gradient(op, grad):
    taken = indexing.gather_nd(grad, op.inputs[1])
    return [constants.identity(grad), None, unary.negative(taken)]


@export("tensor_scatter_sub", "tensor_scatter_nd_sub")
def tensor_scatter_sub(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """Makes a copy of a tensor with `updates` subtracted from the slices at index vectors.

    Args:
      tensor: A tensor.
      indices: Index vectors along the last axis of a tensor of integers.
      updates: What to subtract, of shape `indices.shape[:-1]` followed by the axes that a vector does not
        index.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `tensor`.
    """
    return tensor_scatter_sub_op(tensor, indices, updates, name=name)
