"""Sparse tensors taken apart and put together: other shapes, fewer elements, several in one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor, SparseTensorValue
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value, fully_known
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.ops import casting, constants, indexing, joining, reductions, shapes
from tideflow.ops.arguments import renamed
from tideflow.ops.axes import brackets, normal_axis, of_rank
from tideflow.ops.samples import f32
from tideflow.ops.types import INDICES, NUMERIC
from tideflow.runtime.values import to_numpy, to_torch

sparse_reshape_op = Op(
    "SparseReshape",
    "input_indices: int64, input_shape: int64, new_shape: int64 "
    "-> output_indices: int64, output_shape: int64",
    host="input_shape, new_shape",
    differentiable=False,
)
sparse_concat_op = Op(
    "SparseConcat",
    "indices: N * int64, values: N * T, shapes: N * int64 "
    "-> output_indices: int64, output_values: T, output_shape: int64",
    concat_dim=attr("int"),
    N=attr("int", minimum=2),
    on_host=True,
    differentiable=False,
)

# -------------------------------------------------------------------------------------------------- reshape


@sparse_reshape_op.shape
def _(input_indices, input_shape, new_shape):
    count = of_rank(input_indices, 2).tuple[0]
    if fully_known(input_shape) and fully_known(new_shape):
        _resolved(input_shape, new_shape)
    rank = None if new_shape is None else len(new_shape)
    return [[count, rank], [rank]]


def _resolved(old: list[int], new: list[int]) -> list[int]:
    """The new shape with the size that was left open."""
    if new.count(-1) > 1:
        raise ShapeError(f"At most one dimension can be inferred (-1). Found: {brackets(new)}")
    elements, given = math.prod(old), math.prod(size for size in new if size != -1)
    sizes = [(elements // given if given else 0) if size == -1 else size for size in new]
    if math.prod(sizes) != elements:
        raise ShapeError(
            f"Cannot reshape a tensor with {elements} elements to shape {brackets(new)} ({given} elements)"
        )
    return sizes


def _strides(sizes: Sequence[int]) -> list[int]:
    return [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]


@sparse_reshape_op.kernel
def _(input_indices, input_shape, new_shape, *, device):
    sizes = _resolved(input_shape, new_shape)
    places = (input_indices * torch.tensor(_strides(input_shape), device=device)).sum(1, keepdim=True)
    strides, limits = torch.tensor(_strides(sizes), device=device), torch.tensor(sizes, device=device)
    return places // strides.clamp(min=1) % limits.clamp(min=1), limits.to(torch.int64)


_INDICES = np.array([[0, 1], [0, 2], [1, 0]])
sparse_reshape_op.samples(
    (_INDICES, np.array([2, 3]), np.array([3, 2])),
    (_INDICES, np.array([2, 3]), np.array([-1])),
    (_INDICES, np.array([2, 3]), np.array([1, 3, -1, 1])),
    (np.zeros((0, 2), np.int64), np.array([0, 3]), np.array([3, -1])),
)
sparse_reshape_op.refuses((_INDICES, np.array([2, 3]), np.array([4, 2])), "Cannot reshape a tensor with 6")
sparse_reshape_op.refuses((_INDICES, np.array([2, 3]), np.array([-1, -1])), "At most one dimension")


def _checked_sparse(value: Any) -> SparseTensor:
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


@export("sparse.reshape", "sparse_reshape")
def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same elements in another shape, read in the same order; one size may be -1."""
    sp_input = _checked_sparse(sp_input)
    shape = casting.cast(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input.values]) as scope:
        indices, sizes = sparse_reshape_op(sp_input.indices, sp_input.dense_shape, shape, name=scope)
        wanted = constant_value(shape)
        if wanted is not None and sp_input.shape.is_fully_defined():
            sizes = constants.constant(_resolved(sp_input.shape.as_list(), wanted.tolist()), dtypes.int64)
        return SparseTensor(indices, constants.identity(sp_input.values), sizes)


# --------------------------------------------------------------------------------------------------- retain


@export("sparse.retain", "sparse_retain")
def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Only those elements whose flag in `to_retain` is true."""
    sp_input = _checked_sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    to_retain.shape.with_rank(1)[0].merge_with(sp_input.values.shape.with_rank(1)[0])
    kept = shapes.reshape(indexing.where(to_retain), [-1])
    return SparseTensor(
        indexing.gather(sp_input.indices, kept),
        indexing.gather(sp_input.values, kept),
        constants.identity(sp_input.dense_shape),
    )


# --------------------------------------------------------------------------------------------------- concat


@sparse_concat_op.shape
def _(indices, values, shapes):
    count, rank = 0, None
    for matrix, sizes in zip(indices, shapes, strict=True):
        rows, columns = of_rank(matrix, 2).tuple
        count = None if None in (count, rows) else count + rows
        for found in (columns, of_rank(sizes, 1).tuple[0]):
            if None not in (rank, found) and rank != found:
                raise ShapeError(f"Dimensions must be equal, but are {rank} and {found}")
            rank = found if rank is None else rank
    return [[count, rank], [count], [rank]]


@sparse_concat_op.kernel
@sparse_concat_op.kernel("string")
def _(indices, values, shapes, *, concat_dim):
    sizes = [shape.tolist() for shape in shapes]
    axis = normal_axis(concat_dim, len(sizes[0]))
    for i, other in enumerate(sizes):
        for d, (expected, found) in enumerate(zip(sizes[0], other, strict=True)):
            if d != axis and expected != found:
                raise ShapeError(
                    f"Input shapes must match: expected {expected} for dimension {d} but got {found} at "
                    f"position {i}"
                )
    starts = np.cumsum([0, *(size[axis] for size in sizes)])
    rows = np.concatenate([to_numpy(part) for part in indices])
    rows[:, axis] += np.repeat(starts[:-1], [len(part) for part in indices])
    order = np.lexsort(rows.T[::-1])
    elements = np.concatenate([to_numpy(part) for part in values])
    shape = [*sizes[0][:axis], int(starts[-1]), *sizes[0][axis + 1 :]]
    return to_torch(rows[order]), to_torch(elements[order]), torch.tensor(shape, dtype=torch.int64)


_TWO = [_INDICES, _INDICES], [f32(3), f32(3)], [np.array([2, 3]), np.array([2, 3])]
sparse_concat_op.samples(
    (*_TWO, {"concat_dim": 0}),
    (*_TWO, {"concat_dim": -1}),
    (
        [_INDICES, np.zeros((0, 2), np.int64)],
        [f32(3), f32(0)],
        [np.array([2, 3]), np.array([2, 5])],
        {"concat_dim": 1},
    ),
)
sparse_concat_op.refuses(
    (_TWO[0], _TWO[1], [np.array([2, 3]), np.array([2, 4])], {"concat_dim": 0}),
    "expected 3 for dimension 1 but got 4 at position 1",
    InvalidArgumentError,
)


@export("sparse.concat", "sparse_concat")
def sparse_concat(
    axis: int,
    sp_inputs: Sequence[Any],
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: int | None = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Sparse tensors one after the other along an axis; with `expand_nonconcat_dim`, each as wide as the
    widest in the other axes.
    """
    if expand_nonconcat_dims is not None and expand_nonconcat_dim:
        raise ValueError("Cannot specify both 'expand_nonconcat_dim' and 'expand_nonconcat_dims'")
    axis = renamed("axis", axis, "concat_dim", concat_dim)
    sp_inputs = [_checked_sparse(value) for value in sp_inputs]
    if len(sp_inputs) == 1:
        return sp_inputs[0]
    sizes = [value.dense_shape for value in sp_inputs]
    widens = expand_nonconcat_dim or expand_nonconcat_dims
    indices, values, shape = sparse_concat_op(
        [value.indices for value in sp_inputs],
        [value.values for value in sp_inputs],
        _widened(sizes, axis) if widens else sizes,
        concat_dim=axis,
        name=name,
    )
    if not widens and all(value.shape.is_fully_defined() for value in sp_inputs):
        known = sp_inputs[0].shape.as_list()
        known[axis] = sum(value.shape.tuple[axis] for value in sp_inputs)
        shape = constants.constant(known, dtypes.int64)
    return SparseTensor(indices, values, shape)


def _widened(sizes: list[Tensor], axis: int) -> list[Tensor]:
    """The shapes with the largest size of all in every dimension but `axis`."""
    rows = joining.concat([shapes.reshape(size, [1, -1]) for size in sizes], 0)
    largest = reductions.reduce_max(rows, 0)
    end = axis + 1 or None
    return [
        joining.concat([largest[:axis], size[axis:end], largest[end:] if end else []], 0) for size in sizes
    ]


# ---------------------------------------------------------------------------------------- sparse plus dense

sparse_tensor_dense_add_op = Op(
    "SparseTensorDenseAdd",
    "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
    T=NUMERIC,
    Tindices=attr("type", allowed=INDICES),
    host="a_shape",
)


@sparse_tensor_dense_add_op.shape
def _(a_indices, a_values, a_shape, b):
    of_rank(a_indices, 2)
    of_rank(a_values, 1)
    return b


@sparse_tensor_dense_add_op.kernel
def _(a_indices, a_values, a_shape, b):
    if list(b.shape) != a_shape:
        raise ShapeError(
            f"The sparse tensor has shape {brackets(a_shape)}, the dense one {brackets(b.shape)}"
        )
    sizes = torch.tensor(a_shape, device=a_indices.device)
    if a_indices.numel() and bool(((a_indices < 0) | (a_indices >= sizes)).any()):
        raise ShapeError(f"a_indices must be within the shape {brackets(a_shape)}")
    return b.index_put(tuple(a_indices.long().unbind(1)), a_values, accumulate=True)


@sparse_tensor_dense_add_op.gradient
def _(op, grad):
    return [None, indexing.gather_nd(grad, op.inputs[0]), None, grad]


sparse_tensor_dense_add_op.samples(
    (np.array([[0, 1], [2, 0], [0, 1]], np.int64), f32(3), np.array([3, 2], np.int64), f32(3, 2)),
    (np.zeros((0, 1), np.int32), f32(0), np.array([2], np.int32), f32(2)),
)
sparse_tensor_dense_add_op.refuses(
    (np.array([[0, 5]], np.int64), f32(1), np.array([3, 2], np.int64), f32(3, 2)),
    "within the shape [3,2]",
    InvalidArgumentError,
)
