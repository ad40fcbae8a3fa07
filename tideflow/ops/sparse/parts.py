"""Sparse tensors put together and taken apart: concatenated, split, sliced, rows without elements filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, joining, shapes
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import (
    as_sizes,
    brackets,
    host_rank,
    host_shape,
    merged,
    normal_axis,
    of_rank,
    same_size,
    size_sum,
    vector,
)
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import NUMERIC
from tideflow.ops.math import reductions
from tideflow.ops.sparse import index_rows
from tideflow.ops.sparse.index_rows import (
    PartWords,
    as_sparse,
    check_columns,
    check_fit,
    check_parts,
    check_sizes,
    elements_of,
    joined,
    of_parts,
    parts_of,
    taken,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_INDICES = np.array([[0, 1], [0, 2], [1, 0]])
_SIZES = np.array([2, 3])
_NO_INDICES = np.zeros((0, 2), np.int64)
_WORDS = np.array([b"a", b"b", b"c"], dtype=object)


def _rank(sizes: list | None) -> int | None:
    return None if vector(sizes) is None else len(sizes)


sparse_concat_op = Op(
    "SparseConcat",
    "indices: N * int64, values: N * T, shapes: N * int64 "
    "-> output_indices: int64, output_values: T, output_shape: int64",
    concat_dim=attr("int"),
    N=attr("int", minimum=2),
    host="shapes",
    differentiable=False,
)


@sparse_concat_op.shape
def _sparse_concat_shape(indices, values, shapes):
    count, rank, length = 0, None, TensorShape([None])
    for matrix, elements, sizes in zip(indices, values, shapes, strict=True):
        rows, columns = of_parts(matrix, elements)
        count, rank = size_sum(count, rows), same_size(rank, columns)
        length = merged(length, TensorShape([_rank(sizes)]))
    return [[count, rank], [count], length]


def _check_ranks(indices: list, values: list, shapes: list) -> None:
    shown = (
        [brackets(x.shape) for x in indices],
        [brackets(x.shape) for x in values],
        [host_shape(x) for x in shapes],
    )
    ranks = [x.ndim for x in indices], [x.ndim for x in values], [host_rank(x) for x in shapes]
    kinds = ("indices", "a matrix", 2), ("values", "a vector", 1), ("shapes", "a vector", 1)
    for (name, kind, rank), found, each in zip(kinds, ranks, shown, strict=True):
        for i, other in enumerate(found):
            if other != rank:
                raise ShapeError(
                    f"Input {name} should be {kind} but received shape {each[i]} at position {i}"
                )


def _check_other_sizes(shapes: list[list[int]], axis: int) -> None:
    for i, sizes in enumerate(shapes):
        if len(sizes) != len(shapes[0]):
            raise ShapeError(
                f"Ranks of all input tensors must match: expected {len(shapes[0])} but got {len(sizes)} at "
                f"position {i}"
            )
        for d, (expected, found) in enumerate(zip(shapes[0], sizes, strict=True)):
            if d != axis and expected != found:
                raise ShapeError(
                    f"Input shapes must match: expected {expected} for dimension {d} but got {found} at "
                    f"position {i}"
                )


@sparse_concat_op.kernel
def _sparse_concat_kernel(indices, values, shapes, *, concat_dim, device):
    _check_ranks(indices, values, shapes)
    axis = normal_axis(concat_dim, len(shapes[0]))
    _check_other_sizes(shapes, axis)
    for part in zip(indices, values, shapes, strict=True):
        check_parts(*part)
    starts = np.cumsum([0, *(sizes[axis] for sizes in shapes)]).tolist()
    moved = torch.zeros(len(shapes), len(shapes[0]), dtype=torch.int64, device=device)
    moved[:, axis] = torch.tensor(starts[:-1])
    rows = torch.cat([part + offset for part, offset in zip(indices, moved, strict=True)])
    sequence = index_rows.order(rows)
    sizes = [*shapes[0][:axis], starts[-1], *shapes[0][axis + 1 :]]
    return (
        rows[sequence],
        taken(joined(values), sequence),
        torch.tensor(sizes, dtype=torch.int64, device=device),
    )


_TWO = [_INDICES, _INDICES], [f32(3), f32(3)], [_SIZES, _SIZES]


def _sparse_concat_reference(indices, values, shapes, concat_dim):
    sizes, found = np.array(shapes[0]), {}
    sizes[concat_dim] = 0
    for rows, part, shape in zip(indices, values, shapes):
        moved = rows.copy()
        moved[:, concat_dim] += sizes[concat_dim]
        found |= elements_of(moved, part)
        sizes[concat_dim] += shape[concat_dim]
    return *parts_of(found, len(sizes), values[0].dtype), sizes


sparse_concat_op.samples(
    (*_TWO, {"concat_dim": 0}),
    (*_TWO, {"concat_dim": -1}),
    ([_INDICES, _INDICES], [_WORDS, _WORDS], [_SIZES, _SIZES], {"concat_dim": 1}),
    ([_INDICES, _NO_INDICES], [f32(3), f32(0)], [_SIZES, np.array([2, 5])], {"concat_dim": 1}),
    against=_sparse_concat_reference,
)
sparse_concat_op.refuses(
    (_TWO[0], _TWO[1], [_SIZES, np.array([2, 4])], {"concat_dim": 0}),
    "expected 3 for dimension 1 but got 4 at position 1",
    InvalidArgumentError,
)


def _widened(sizes: list[Tensor], axis: int) -> list[Tensor]:
    """The shapes with the largest size of all in every dimension but `axis`."""
    rows = joining.concat([shapes.reshape(size, [1, -1]) for size in sizes], 0)
    largest = reductions.reduce_max(rows, 0)
    end = axis + 1 or None
    return [
        joining.concat([largest[:axis], size[axis:end], largest[end:] if end else []], 0) for size in sizes
    ]


@export("sparse.concat", "sparse_concat")
def sparse_concat(
    axis: int,
    sp_inputs: Sequence[Any],
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: int | None = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Joins sparse tensors along an axis.

    Args:
      axis: The axis along which they are joined.
      sp_inputs: A list of SparseTensors of one type and rank.
      name: A name for the operation.
      expand_nonconcat_dim: Whether sizes along the other axes may differ; the result has the largest.
      concat_dim: A deprecated name of `axis`.
      expand_nonconcat_dims: Another name of `expand_nonconcat_dim`.

    Returns:
      A SparseTensor, its elements in order.

    Raises:
      TypeError: Where `sp_inputs` is not a list of SparseTensors.
      InvalidArgumentError: In a step in which sizes along other axes differ.
    """
    if expand_nonconcat_dims is not None and expand_nonconcat_dim:
        raise ValueError("Cannot specify both 'expand_nonconcat_dim' and 'expand_nonconcat_dims'")
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    axis = renamed("axis", axis, "concat_dim", concat_dim)
    sp_inputs = [as_sparse(value) for value in sp_inputs]
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


sparse_split_op = Op(
    "SparseSplit",
    "split_dim: int64, indices: int64, values: T, shape: int64 "
    "-> output_indices: num_split * int64, output_values: num_split * T, output_shape: num_split * int64",
    num_split=attr("int", minimum=1),
    host="split_dim, shape",
)


@sparse_split_op.shape
def _sparse_split_shape(split_dim, indices, values, shape, *, num_split):
    of_rank(indices, 2)
    of_rank(values, 1)
    rank = _rank(shape)
    return [[None, rank]] * num_split + [[None]] * num_split + [[rank]] * num_split


@sparse_split_op.kernel
def _sparse_split_kernel(split_dim, indices, values, shape, *, num_split, device):
    check_fit(indices, values, shape)
    check_columns(indices, shape)
    if split_dim < 0:
        raise ShapeError(f"num_dim must be in the interval [0, {len(shape)}), but split_dim is {split_dim}")
    if split_dim >= len(shape):
        raise ShapeError(f"Input split_dim should be between 0 and rank ({len(shape)}), got {split_dim}")
    total = shape[split_dim]
    if num_split > total:
        raise ShapeError(
            f"Input num_split should be between 1 and the splitting dimension size ({total}), got {num_split}"
        )
    check_sizes(shape)
    index_rows.check_inside(indices, shape)
    each, longer = divmod(total, num_split)  # the first `longer` parts have one more
    ends = np.cumsum([each + (i < longer) for i in range(num_split)]).tolist()
    bounds = torch.tensor(ends, device=device)
    owners = torch.bucketize(indices[:, split_dim].contiguous(), bounds, right=True)
    outputs = [], [], []
    for part, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        mine = owners == part
        rows = indices[mine]
        rows[:, split_dim] -= start
        sizes = [*shape[:split_dim], end - start, *shape[split_dim + 1 :]]
        outputs[0].append(rows)
        outputs[1].append(taken(values, mine))
        outputs[2].append(torch.tensor(sizes, dtype=torch.int64, device=device))
    return [*outputs[0], *outputs[1], *outputs[2]]


sparse_split_op.gradient(undefined_gradient)


def _sparse_split_reference(split_dim, indices, values, shape, num_split):
    parts = []
    for columns in np.array_split(np.arange(shape[split_dim]), num_split):
        mine = np.isin(indices[:, split_dim], columns)
        moved, sizes = indices[mine], np.array(shape)
        moved[:, split_dim] -= columns[0]
        sizes[split_dim] = len(columns)
        parts.append((moved, values[mine], sizes))
    return [part for kind in zip(*parts) for part in kind]


sparse_split_op.samples(
    (1, _INDICES, f32(3), _SIZES, {"num_split": 2}),
    (0, _INDICES, f32(3), _SIZES, {"num_split": 1}),
    (0, _INDICES, _WORDS, _SIZES, {"num_split": 2}),
    (1, _NO_INDICES, f32(0), _SIZES, {"num_split": 3}),
    against=_sparse_split_reference,
)
sparse_split_op.refuses(
    (1, _INDICES, f32(3), _SIZES, {"num_split": 4}),
    "splitting dimension size (3), got 4",
    InvalidArgumentError,
)
sparse_split_op.refuses(
    (2, _INDICES, f32(3), _SIZES, {"num_split": 2}), "between 0 and rank (2), got 2", InvalidArgumentError
)


class KeywordRequired:
    """Stands where no argument may be given by position."""

    def __repr__(self) -> str:
        return "KeywordRequired()"


@export("sparse.split", "sparse_split")
def sparse_split(
    keyword_required: KeywordRequired = KeywordRequired(),
    sp_input: SparseTensor | None = None,
    num_split: int | None = None,
    axis: TensorLike | None = None,
    name: str | None = None,
    split_dim: TensorLike | None = None,
) -> list[SparseTensor]:
    """Cuts a sparse tensor into parts along an axis.

    Args:
      keyword_required: Not to be used: it makes sure that the others are given by name.
      sp_input: A SparseTensor.
      num_split: How many parts there are. Where the size is no multiple of it, the first parts are longer by
        one.
      axis: The axis that is cut, an integer or a scalar.
      name: A name for the operation.
      split_dim: A deprecated name of `axis`.

    Returns:
      A list of `num_split` SparseTensors.

    Raises:
      ValueError: Where an argument is not given by name, or is missing.
      TypeError: Where `sp_input` is not a SparseTensor.
      InvalidArgumentError: In a step in which there is no such axis, or it is shorter than `num_split`.
    """
    if not isinstance(keyword_required, KeywordRequired):
        raise ValueError("Keyword arguments are required for this function.")
    for word, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{word} is required")
    axis = renamed("axis", axis, "split_dim", split_dim)
    sp_input = as_sparse(sp_input)
    parts = sparse_split_op(
        axis, sp_input.indices, sp_input.values, sp_input.dense_shape, num_split=num_split, name=name
    )
    return [SparseTensor(*part) for part in zip(*parts, strict=True)]


sparse_slice_op = Op(
    "SparseSlice",
    "indices: int64, values: T, shape: int64, start: int64, size: int64 "
    "-> output_indices: int64, output_values: T, output_shape: int64",
    host="shape, start, size",
)


@sparse_slice_op.shape
def _sparse_slice_shape(indices, values, shape, start, size):
    of_rank(indices, 2)
    of_rank(values, 1)
    return [[None, _rank(shape)], [None], [_rank(shape)]]


@sparse_slice_op.kernel
def _sparse_slice_kernel(indices, values, shape, start, size, *, device):
    rank = len(vector(shape, "Input shape should be a vector but received shape "))
    for word, given in (("start", start), ("size", size)):
        if len(vector(given, f"Input {word} should be a vector but received shape ")) != rank:
            raise ShapeError(f"Expected {word} to be a vector of length {rank} but got length {len(given)}")
    check_parts(indices, values, shape)
    first = torch.tensor(start, dtype=torch.int64, device=device)
    kept = ~index_rows.outside(indices - first, size)
    sizes = [max(0, min(wanted, whole - at)) for wanted, whole, at in zip(size, shape, start, strict=True)]
    return (
        indices[kept] - first,
        taken(values, kept),
        torch.tensor(sizes, dtype=torch.int64, device=device),
    )


@sparse_slice_op.gradient
def _sparse_slice_gradient(op, _, grad, __):
    indices, values, _, start, _ = op.inputs
    back = sparse_slice_grad_op(grad, indices, start, op.outputs[0])
    back.set_shape(values.shape)
    return [None, back, None, None, None]


def _sparse_slice_reference(indices, values, shape, start, size):
    sizes = np.minimum(size, shape - start).clip(min=0)
    found = {
        tuple(np.subtract(at, start)): value
        for at, value in elements_of(indices, values).items()
        if all(0 <= place < length for place, length in zip(np.subtract(at, start), sizes))
    }
    return *parts_of(found, len(shape), values.dtype), sizes


sparse_slice_op.samples(
    (_INDICES, f32(3), _SIZES, np.array([0, 1]), np.array([2, 1])),
    (_INDICES, f32(3), _SIZES, np.array([0, 0]), np.array([9, 9])),
    (_INDICES, _WORDS, _SIZES, np.array([1, 0]), np.array([1, 3])),
    (_NO_INDICES, f32(0), _SIZES, np.array([0, 1]), np.array([2, 1])),
    against=_sparse_slice_reference,
)
sparse_slice_op.refuses(
    (_INDICES, f32(3), _SIZES, np.array([0]), np.array([2, 1])),
    "Expected start to be a vector of length 2 but got length 1",
    InvalidArgumentError,
)


@export("sparse.slice", "sparse_slice")
def sparse_slice(
    sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None
) -> SparseTensor:
    """Takes a block out of a sparse tensor.

    Args:
      sp_input: A SparseTensor.
      start: The first index of the block, an int64 vector.
      size: The size of the block, an int64 vector. It ends with the tensor.
      name: A name for the operation.

    Returns:
      A SparseTensor whose indices are counted from `start`.

    Raises:
      TypeError: Where `sp_input` is not a SparseTensor.
      InvalidArgumentError: In a step in which a vector has another length than the rank.
    """
    sp_input = as_sparse(sp_input)
    start, size = convert_to_tensor(start, dtypes.int64), convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp_input.values]) as scope:
        return SparseTensor(
            *sparse_slice_op(sp_input.indices, sp_input.values, sp_input.dense_shape, start, size, name=scope)
        )


def check_gradient(values: torch.Tensor, indices: torch.Tensor, name: str) -> None:
    """There must be a gradient for each index."""
    if values.ndim != 1:
        raise ShapeError(
            f"Input backprop_val_grad should be a vector but received shape: {brackets(values.shape)}"
        )
    if len(values) != len(indices):
        raise ShapeError(
            f"# elements of backprop_val_grad and # rows of {name} should match (#nnz of sum): got "
            f"{len(values)} and {len(indices)}"
        )


def values_at(values: torch.Tensor, at: torch.Tensor, wanted: list[torch.Tensor]) -> list[torch.Tensor]:
    """From the elements of one sparse tensor, those at other indices; 0 where it has none."""
    groups = index_rows.grouped(torch.cat([at, *wanted]))
    table = values.new_zeros(groups.count)
    table[groups.members[: len(at)]] = values
    return list(table[groups.members[len(at) :]].split([len(rows) for rows in wanted]))


sparse_slice_grad_op = Op(
    "SparseSliceGrad",
    "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> val_grad: T",
    T=NUMERIC,
)


@sparse_slice_grad_op.shape
def _sparse_slice_grad_shape(backprop_val_grad, input_indices, input_start, output_indices):
    of_rank(backprop_val_grad, 1)
    of_rank(output_indices, 2)
    return [of_rank(input_indices, 2).tuple[0]]


@sparse_slice_grad_op.kernel
@unsigned.modular
def _sparse_slice_grad_kernel(backprop_val_grad, input_indices, input_start, output_indices):
    if input_indices.ndim != 2 or output_indices.ndim != 2:
        raise ShapeError(
            "Input and output indices should be matrices but received shapes: "
            f"{brackets(input_indices.shape)} and {brackets(output_indices.shape)}"
        )
    if input_start.ndim != 1:
        raise ShapeError(
            f"The input_start should be a vector but received shape {brackets(input_start.shape)}"
        )
    check_gradient(backprop_val_grad, output_indices, "output_indices")
    ranks = input_indices.shape[1], output_indices.shape[1]
    if ranks[0] != ranks[1]:
        raise ShapeError(f"The input and output should have the same ndims: got: {ranks[0]} and {ranks[1]}")
    if len(input_start) != ranks[0]:
        raise ShapeError(
            f"Expected input_start to be a vector of length {ranks[0]} but got length {len(input_start)}"
        )
    sources = output_indices + input_start
    there = values_at(input_indices.new_ones(len(input_indices)), input_indices, [sources])[0]
    if not bool(there.all()):
        raise errors.internal(
            f"Elements of backprop_val_grad aren't all propagated. Num elements:{len(there)}, used: "
            f"{int(there.sum())}"
        )
    return values_at(backprop_val_grad, sources, [input_indices])[0]


@sparse_slice_grad_op.gradient
def _sparse_slice_grad_gradient(op, grad):
    """What a slice takes, its gradient puts back; the gradient of that is what stands where it was taken."""
    indices, start, taken_indices = op.inputs[1:]
    taken, _ = tf.raw_ops.SparseAddGrad(
        backprop_val_grad=grad,
        a_indices=taken_indices + start,
        b_indices=taken_indices[:0],
        sum_indices=indices,
    )
    return [taken, None, None, None]


def _sparse_slice_grad_reference(grad, input_indices, input_start, output_indices):
    found = elements_of(output_indices + input_start, grad)
    return np.array([found.get(tuple(at), 0) for at in input_indices.tolist()])


sparse_slice_grad_op.samples(
    (f32(1), _INDICES, np.array([0, 1]), np.array([[0, 0]])),
    (f32(0), _INDICES, np.array([0, 1]), _NO_INDICES),
    against=_sparse_slice_grad_reference,
)
sparse_slice_grad_op.refuses(
    (f32(2), _INDICES, np.array([0, 1]), np.array([[0, 0]])),
    "# elements of backprop_val_grad and # rows of output_indices should match",
    InvalidArgumentError,
)

sparse_fill_empty_rows_op = Op(
    "SparseFillEmptyRows",
    "indices: int64, values: T, dense_shape: int64, default_value: T "
    "-> output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    host="dense_shape",
)


@sparse_fill_empty_rows_op.shape
def _sparse_fill_empty_rows_shape(indices, values, dense_shape, default_value):
    count, columns = of_parts(indices, values)
    of_rank(default_value, 0)
    rank = same_size(columns, _rank(dense_shape))
    sizes = as_sizes(dense_shape)
    return [[None, rank], [None], [sizes[0] if sizes else None], [count]]


def _check_rows(rows: torch.Tensor, total: int) -> None:
    if not total and len(rows):
        raise ShapeError(f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {len(rows)}")
    if len(rows) and (int(rows.min()) < 0 or int(rows.max()) >= total):
        at = int(((rows < 0) | (rows >= total)).nonzero()[0])
        raise ShapeError(f"indices({at}, 0) is invalid: {int(rows[at])} >= {total}")


def _filled_values(values: Any, default: Any, where_to: torch.Tensor, count: int) -> Any:
    if isinstance(values, np.ndarray):
        filled = np.full(count, default.item(), dtype=object)
        filled[where_to.numpy()] = values
        return filled
    filled = unsigned.bits(default).expand(count).clone()
    filled[where_to] = unsigned.bits(values)
    return filled.view(values.dtype)


_FILLED = PartWords(
    indices="indices must be a matrix, saw: {indices}",
    values="values must be a vector, saw: {values}",
    sizes="dense_shape must be a vector, saw: {sizes}",
)


@sparse_fill_empty_rows_op.kernel
def _sparse_fill_empty_rows_kernel(indices, values, dense_shape, default_value):
    check_parts(indices, values, dense_shape, _FILLED)
    if default_value.ndim:
        raise ShapeError(f"default_value must be a scalar, saw: {brackets(default_value.shape)}")
    if not dense_shape:
        raise ShapeError("Dense shape cannot be empty.")
    total = dense_shape[0]
    rows = indices[:, 0].contiguous()
    _check_rows(rows, total)
    counts = torch.bincount(rows, minlength=total)
    empty = counts == 0
    if not bool(empty.any()) and not bool((rows[1:] < rows[:-1]).any()):
        return indices, values, empty, torch.arange(len(rows), device=rows.device)
    fillings = empty.cumsum(0)  # up to each row
    by_row = index_rows.ascending(rows)
    where_to = torch.empty_like(rows)
    where_to[by_row] = torch.arange(len(rows), device=rows.device) + fillings[rows[by_row]]
    filled = indices.new_zeros(len(rows) + int(empty.sum()), indices.shape[1])
    filled[where_to] = indices
    filled[(counts.cumsum(0) + fillings - 1)[empty], 0] = empty.nonzero()[:, 0]
    return filled, _filled_values(values, default_value, where_to, len(filled)), empty, where_to


@sparse_fill_empty_rows_op.gradient
def _sparse_fill_empty_rows_gradient(op, _, grad, *__):
    d_values, d_default = sparse_fill_empty_rows_grad_op(op.outputs[3], grad)
    return [None, d_values, None, d_default]


def _sparse_fill_empty_rows_reference(indices, values, dense_shape, default_value):
    """Row after row: its elements as they come, or the default value."""
    rows, filled, where_to = [], [], np.zeros(len(indices), np.int64)
    for row in range(dense_shape[0]):
        mine = np.flatnonzero(indices[:, 0] == row)
        where_to[mine] = len(rows) + np.arange(len(mine))
        rows += indices[mine].tolist() or [[row, *[0] * (len(dense_shape) - 1)]]
        filled += values[mine].tolist() or [default_value.item()]
    empty = np.bincount(indices[:, 0], minlength=dense_shape[0]) == 0
    return np.reshape(rows, [-1, len(dense_shape)]), np.array(filled, values.dtype), empty, where_to


_ROWS = np.array([[3, 1], [1, 0], [3, 0]])
sparse_fill_empty_rows_op.samples(
    (_INDICES, f32(3), np.array([4, 3]), f32()),
    (_ROWS, f32(3), np.array([5, 2]), f32()),
    (_ROWS, _WORDS, np.array([5, 2]), np.array(b"z", dtype=object)),
    (_NO_INDICES, f32(0), _SIZES, f32()),
    (_NO_INDICES, f32(0), np.array([0, 2]), f32()),
    against=_sparse_fill_empty_rows_reference,
)
sparse_fill_empty_rows_op.refuses(
    (_INDICES, f32(3), np.array([1, 3]), f32()), "indices(2, 0) is invalid: 1 >= 1", InvalidArgumentError
)
sparse_fill_empty_rows_op.refuses(
    (_INDICES, f32(3), np.array([0, 3]), f32()), "dense_shape[0] = 0 but", InvalidArgumentError
)


@export("sparse.fill_empty_rows", "sparse_fill_empty_rows")
def sparse_fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Puts a value into every row of a sparse tensor that has no element.

    Args:
      sp_input: A SparseTensor.
      default_value: The value, a scalar of its type; it stands at the start of the row.
      name: A name for the operation.

    Returns:
      A SparseTensor of the same shape, and a bool vector that tells which rows had no element.

    Raises:
      TypeError: Where `sp_input` is not a SparseTensor.
    """
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input.values]):
        default_value = convert_to_tensor(default_value, dtype=sp_input.values.dtype)
        filled = sparse_fill_empty_rows_op(
            sp_input.indices, sp_input.values, sp_input.dense_shape, default_value
        )
        result = SparseTensor(filled.output_indices, filled.output_values, sp_input.dense_shape)
        return result, filled.empty_row_indicator


sparse_fill_empty_rows_grad_op = Op(
    "SparseFillEmptyRowsGrad",
    "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
)


@sparse_fill_empty_rows_grad_op.shape
def _sparse_fill_empty_rows_grad_shape(reverse_index_map, grad_values):
    of_rank(grad_values, 1)
    return [of_rank(reverse_index_map, 1), []]


@sparse_fill_empty_rows_grad_op.kernel
def _sparse_fill_empty_rows_grad_kernel(reverse_index_map, grad_values):
    for name, given in (("reverse_index_map", reverse_index_map), ("grad_values", grad_values)):
        if given.ndim != 1:
            raise ShapeError(f"{name} must be a vector, saw: {brackets(given.shape)}")
    wrong = (reverse_index_map < 0) | (reverse_index_map >= len(grad_values))
    if bool(wrong.any()):
        first = int(reverse_index_map[wrong][0])
        raise ShapeError(f"Elements in reverse index must be in [0, {len(grad_values)}) but got {first}")
    grads = unsigned.bits(grad_values)
    others = torch.ones_like(grads, dtype=torch.bool)
    others[reverse_index_map] = False
    total = grads[others].sum(dtype=grads.dtype)
    return grads[reverse_index_map].view(grad_values.dtype), total.view(grad_values.dtype)


sparse_fill_empty_rows_grad_op.gradient(undefined_gradient)
sparse_fill_empty_rows_grad_op.samples(
    (np.array([2, 0, 3]), f32(5)),
    (np.zeros(0, np.int64), f32(2)),
    (np.zeros(0, np.int64), f32(0)),
    against=lambda where, grads: (grads[where], np.delete(grads, where).sum()),
)
sparse_fill_empty_rows_grad_op.refuses(
    (np.array([2, 7]), f32(5)), "Elements in reverse index must be in [0, 5)", InvalidArgumentError
)
