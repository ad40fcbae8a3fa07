"""Sparse tensors made, ordered and shaped: the same elements under other indices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor, SparseTensorValue
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.known_sizes import known_sizes
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value, fully_known, partial_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape, dimension_at_index, dimension_value
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes, slicing
from tideflow.ops.control_flow import grouping
from tideflow.ops.helpers.axes import brackets, of_rank, vector
from tideflow.ops.helpers.samples import f32
from tideflow.ops.math import binary, casting, checks, reductions
from tideflow.ops.sparse.index_rows import (
    as_sparse,
    check_parts,
    elements_of,
    order,
    parts_of,
    places,
    rows_at,
    taken,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike

_INDICES = np.array([[0, 1], [0, 2], [1, 0]])
_NO_INDICES = np.zeros((0, 2), np.int64)

sparse_reorder_op = Op(
    "SparseReorder",
    "input_indices: int64, input_values: T, input_shape: int64 -> output_indices: int64, output_values: T",
    host="input_shape",
)


@sparse_reorder_op.shape
def _sparse_reorder_shape(input_indices, input_values, input_shape):
    vector(input_shape)
    return [of_rank(input_indices, 2), of_rank(input_values, 1)]


@sparse_reorder_op.kernel
def _sparse_reorder_kernel(input_indices, input_values, input_shape):
    check_parts(input_indices, input_values, input_shape)
    sequence = order(input_indices)
    return input_indices[sequence], taken(input_values, sequence)


@sparse_reorder_op.gradient
def _sparse_reorder_gradient(op, _, grad):
    """The gradients go back to where the values came from: the same reordering, of their places."""
    indices, _, sizes = op.inputs
    where_from = sparse_reorder(SparseTensor(indices, creation.range(shapes.shape(indices)[0]), sizes)).values
    return [None, indexing.gather(grad, shapes.invert_permutation(where_from)), None]


_MIXED = np.array([[1, 0], [0, 2], [0, 1], [3, 3]])
sparse_reorder_op.samples(
    (_MIXED, f32(4), np.array([4, 4])),
    (_MIXED, np.array([b"a", b"b", b"c", b"d"], dtype=object), np.array([4, 4])),
    (_INDICES, f32(3), np.array([2, 3])),
    (_NO_INDICES, f32(0), np.array([2, 3])),
    against=lambda indices, values, sizes: parts_of(elements_of(indices, values), len(sizes), values.dtype),
)


@export("sparse.reorder", "sparse_reorder")
def sparse_reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Puts the elements of a sparse tensor in order: row by row.

    Args:
      sp_input: A SparseTensor.
      name: A name for the operation.

    Returns:
      A SparseTensor with the same elements.

    Raises:
      TypeError: Where `sp_input` is not a SparseTensor.
    """
    sp_input = as_sparse(sp_input)
    indices, values = sparse_reorder_op(sp_input.indices, sp_input.values, sp_input.dense_shape, name=name)
    known = sp_input.shape
    sizes = known.as_list() if known.is_fully_defined() else constants.identity(sp_input.dense_shape)
    return SparseTensor(indices, values, sizes)


def _resolved(old: Sequence[int], new: Sequence[int]) -> list[int]:
    """The new shape with the size that was left open."""
    open_places = [place for place, size in enumerate(vector(new)) if size == -1]
    if len(open_places) > 1:
        raise ShapeError(
            f"At most one dimension can be inferred (-1). Found: {new}",
            f"only one output dimension may be -1, not both {open_places[0]} and {open_places[1]}: "
            f"{brackets(new)}",
        )
    for place, size in enumerate(new):
        if size < -1:
            raise ShapeError(f"size {place} must be non-negative, not {size}: {brackets(new)}")
    elements, given = math.prod(vector(old)), math.prod(size for size in new if size != -1)
    found = f"Cannot reshape a tensor with {elements} elements to shape {new} ({given} elements)."
    if open_places and not given:
        unknown = (
            "reshape cannot infer the missing input size for an empty tensor unless all specified input "
            f"sizes are non-zero: {brackets(new)}"
        )
        raise ShapeError(found if elements else unknown, unknown)
    sizes = [elements // given if size == -1 else size for size in new]
    if math.prod(sizes) != elements:
        what, needs = ("SparseTensor", "requires a multiple of") if open_places else ("tensor", "has")
        raise ShapeError(
            found,
            f"Input to reshape is a {what} with {elements} dense values, but the requested shape {needs} "
            f"{given}. input_shape={brackets(old)} output_shape={brackets(sizes)}",
        )
    return sizes


sparse_reshape_op = Op(
    "SparseReshape",
    "input_indices: int64, input_shape: int64, new_shape: int64 "
    "-> output_indices: int64, output_shape: int64",
    host="input_shape, new_shape",
    differentiable=False,
)


@sparse_reshape_op.shape
def _sparse_reshape_shape(input_indices, input_shape, new_shape):
    count = of_rank(input_indices, 2).tuple[0]
    vector(input_shape)
    rank = None if vector(new_shape) is None else len(new_shape)
    if fully_known(input_shape) and fully_known(new_shape) and min(new_shape, default=0) >= -1:
        _resolved(input_shape, new_shape)
    return [[count, rank], [rank]]


@sparse_reshape_op.value
def _sparse_reshape_value(op):
    old, new = (partial_value(tensor) for tensor in op.inputs[1:])
    if not fully_known(old) or not fully_known(new):
        return [None, None]
    try:
        return [None, _resolved(old, new)]
    except ShapeError:  # which the step will say
        return [None, None]


@sparse_reshape_op.kernel
def _sparse_reshape_kernel(input_indices, input_shape, new_shape, *, device):
    if input_indices.ndim != 2:
        raise ShapeError(
            f"Input indices should be a matrix but received shape {brackets(input_indices.shape)}"
        )
    vector(input_shape, "Input shape should be a vector but received shape ")
    vector(new_shape, "Target shape should be a vector but received shape ")
    sizes = _resolved(input_shape, new_shape)
    if input_indices.shape[1] != len(input_shape):
        raise ShapeError(
            "Input tensor rank must match input shape length, but the indices are of shape "
            f"{brackets(input_indices.shape)} and the shape is {brackets(input_shape)}"
        )
    return (
        rows_at(places(input_indices, input_shape), sizes),
        torch.tensor(sizes, dtype=torch.int64, device=device),
    )


def _sparse_reshape_reference(input_indices, input_shape, new_shape):
    sizes = np.zeros(input_shape).reshape(new_shape).shape
    if not len(input_indices):
        return np.zeros([0, len(sizes)]), np.array(sizes)
    flat = np.ravel_multi_index(tuple(input_indices.T), input_shape)
    return np.stack(np.unravel_index(flat, sizes), 1), np.array(sizes)


sparse_reshape_op.samples(
    (_INDICES, np.array([2, 3]), np.array([3, 2])),
    (_INDICES, np.array([2, 3]), np.array([-1])),
    (_INDICES, np.array([2, 3]), np.array([1, 3, -1, 1])),
    (_NO_INDICES, np.array([0, 3]), np.array([3, -1])),
    against=_sparse_reshape_reference,
)
sparse_reshape_op.refuses(
    (_INDICES, np.array([2, 3]), np.array([4, 2])), "Cannot reshape a tensor with 6 elements to shape [4, 2]"
)
sparse_reshape_op.refuses(
    (_INDICES, np.array([2, 3]), np.array([-1, -1])), "At most one dimension can be inferred (-1)"
)


def _known_sizes(old: TensorShape, shape: Tensor) -> list[int] | None:
    """The new shape where it is known before the step: at most one of its sizes may be -1 or unknown."""
    new = known_sizes(shape)
    if new is None or not old.is_fully_defined():
        return None
    is_open = [size is None or size == -1 for size in new]
    if (sum(is_open) > 1 and None in new) or any(size is not None and size < -1 for size in new):
        return None
    return _resolved(list(old.tuple), [-1 if size is None else size for size in new])


@export("sparse.reshape", "sparse_reshape")
def sparse_reshape(sp_input: SparseTensor, shape: TensorLike, name: str | None = None) -> SparseTensor:
    """Gives a sparse tensor another shape; its elements, read row by row, keep their order.

    Args:
      sp_input: A SparseTensor.
      shape: The new shape, an int32 or int64 vector; one size may be -1, which the others decide.
      name: A name for the operation.

    Returns:
      A SparseTensor of that shape.

    Raises:
      TypeError: Where `sp_input` is not a SparseTensor.
      ValueError: Where the new shape has not as many elements, or more than one -1.
    """
    sp_input = as_sparse(sp_input)
    shape = casting.cast(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input.values]) as scope:
        indices, sizes = sparse_reshape_op(sp_input.indices, sp_input.dense_shape, shape, name=scope)
        known = _known_sizes(sp_input.shape, shape)
        if known is not None:
            sizes = constants.constant(known, dtypes.int64)
        return SparseTensor(indices, constants.identity(sp_input.values), sizes)


# ---------------------------------------------------------------------------------------------------- making


@export("sparse_placeholder", "sparse.placeholder")
def sparse_placeholder(
    dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None
) -> SparseTensor:
    """Makes a SparseTensor that each step must be fed.

    Args:
      dtype: The type of its values.
      shape: Its shape, sizes that are not known as None; by default any shape, which is fed too.
      name: A name for the operation.

    Returns:
      A SparseTensor to be fed with a `tf.SparseTensorValue`, or a tuple (indices, values, shape);
      without the shape where all of its sizes are given here.
    """
    part = lambda word: None if name is None else f"{name}/{word}"
    sizes, rank = _placeholder_sizes(shape, part("shape"))
    values = constants.placeholder(dtype, [None], name=part("values"))
    indices = constants.placeholder(dtypes.int64, [None, rank], name=part("indices"))
    return SparseTensor(indices, values, sizes)


def _placeholder_sizes(shape: Any, name: str | None) -> tuple[Tensor, Any]:
    """The shape as a tensor, which is fed where it is not known, and the rank."""
    if isinstance(shape, Tensor):
        return casting.cast(shape, dtypes.int64), dimension_value(shape.shape[0])
    sizes = None if shape is None else as_shape(shape).tuple
    rank = None if sizes is None else len(sizes)
    if fully_known(None if sizes is None else list(sizes)):
        return convert_to_tensor(list(sizes), dtypes.int64, name=name), rank
    return constants.placeholder(dtypes.int64, [rank], name=name), rank


@export("sparse.eye")
def sparse_eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> SparseTensor:
    """Makes a sparse matrix with ones on its diagonal.

    Args:
      num_rows: How many rows it has.
      num_columns: How many columns it has; as many as rows by default.
      dtype: The type of its values.
      name: A name for the operation.

    Returns:
      A SparseTensor [num_rows, num_columns].

    Raises:
      TypeError: Where a number is not an integer.
    """
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _as_int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _as_int64(num_columns, "num_columns")
        count = binary.minimum(rows, columns)
        diagonal = creation.range(count, dtype=dtypes.int64)
        return SparseTensor(
            joining.stack([diagonal, diagonal], axis=1), creation.ones(count, dtype), [rows, columns]
        )


def _as_int64(value: Any, name: str) -> Tensor:
    if isinstance(value, (int, np.integer)):
        return convert_to_tensor(value, dtypes.int64, name=name)
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be an integer value")
    return value if value.dtype is dtypes.int64 else casting.cast(value, dtypes.int64)


@export("sparse.expand_dims")
def sparse_expand_dims(
    sp_input: SparseTensor, axis: int | None = None, name: str | None = None
) -> SparseTensor:
    """Inserts an axis of size 1 into the shape of a sparse tensor.

    Args:
      sp_input: A SparseTensor.
      axis: Where the axis stands in the result, from -rank - 1 to rank; at the end by default.
      name: A name for the operation.

    Returns:
      A SparseTensor with the same values.

    Raises:
      TypeError: Where `axis` is not an integer.
    """
    rank = sp_input.dense_shape.shape[0]
    with name_scope(name, "expand_dims", [sp_input.values]):
        axis = -1 if axis is None else axis
        if isinstance(axis, (int, np.integer)):
            axis = convert_to_tensor(axis, dtypes.int32, name="axis")
        elif not isinstance(axis, Tensor):
            raise TypeError("axis must be an integer value in range [-rank(sp_input) - 1, rank(sp_input)]")
        known = constant_value(axis)
        axis = indexing.where_v2(axis >= 0, axis, axis + rank + 1)
        column = creation.zeros([shapes.shape(sp_input.indices)[0], 1], dtypes.int64)
        before = slicing.slice(sp_input.indices, [0, 0], [-1, axis])
        after = slicing.slice(sp_input.indices, [0, axis], [-1, -1])
        indices = joining.concat([before, column, after], axis=1)
        indices.set_shape([None, rank + 1])
        sizes_before = slicing.slice(sp_input.dense_shape, [0], [axis])
        sizes_after = slicing.slice(sp_input.dense_shape, [axis], [-1])
        if known is not None:
            position = int(known) % (int(rank) + 1)
            sizes_before.set_shape([position])
            sizes_after.set_shape([rank - position])
        one = convert_to_tensor([1], dtypes.int64, name="new_shape")
        sizes = joining.concat([sizes_before, one, sizes_after], axis=0)
        return SparseTensor(indices, sp_input.values, sizes)


@export("sparse.transpose", "sparse_transpose")
def sparse_transpose(
    sp_input: SparseTensor, perm: TensorLike | None = None, name: str | None = None
) -> SparseTensor:
    """Puts the axes of a sparse tensor in another order.

    Args:
      sp_input: A SparseTensor.
      perm: For each axis of the result, which one of `sp_input` it is; by default their order is reversed.
      name: A name for the operation.

    Returns:
      A SparseTensor, its elements in order.
    """
    with name_scope(name, "SparseTranspose", [sp_input.values]):
        known = None if perm is None else constant_value(convert_to_tensor(perm))
        if perm is None:
            rank = shapes.rank(sp_input)
            perm = (rank - 1) - creation.range(0, rank, 1)
        columns = indexing.gather(shapes.transpose(sp_input.indices), perm)
        indices, sizes = shapes.transpose(columns), sp_input.shape
        if known is not None and sizes.is_fully_defined():
            permuted = [sizes.tuple[axis] for axis in known]
        else:
            permuted = indexing.gather(sp_input.dense_shape, perm)
        return sparse_reorder(SparseTensor(indices, sp_input.values, permuted))


@export("sparse.reset_shape", "sparse_reset_shape")
def sparse_reset_shape(sp_input: SparseTensor, new_shape: TensorLike | None = None) -> SparseTensor:
    """Gives a sparse tensor a larger shape, or the smallest that holds its elements.

    Args:
      sp_input: A SparseTensor.
      new_shape: A shape of the same rank that is nowhere smaller; by default the smallest that fits.

    Returns:
      A SparseTensor with the same elements.

    Raises:
      TypeError: Where `sp_input` is not a SparseTensor.
      ValueError: Where `new_shape` is of another rank, or known to be smaller.
      InvalidArgumentError: In a step in which it turns out to be smaller.
    """
    sp_input = as_sparse(sp_input)
    indices, values = constants.identity(sp_input.indices), constants.identity(sp_input.values)
    sizes = constants.identity(sp_input.dense_shape)
    if new_shape is None:
        largest = reductions.reduce_max(indices, axis=0)
        zero = constants.constant(0, dtypes.int64)
        return SparseTensor(
            indices, values, binary.maximum(zero, binary.add(largest, creation.ones_like(sizes)))
        )
    wanted = convert_to_tensor(new_shape)
    wanted.shape.assert_has_rank(1)
    wanted = casting.cast(wanted, dtypes.int64)
    dimension_at_index(wanted.shape, 0).merge_with(sizes.shape[0])
    return SparseTensor(indices, values, _at_least(wanted, sizes, sp_input.shape))


def _at_least(wanted: Tensor, sizes: Tensor, known_sizes: TensorShape) -> Any:
    """The wanted shape, which must be as large as the present one in every dimension."""
    known = constant_value(wanted)
    if known is None or not known_sizes.is_fully_defined():
        same_rank = checks.assert_equal(shapes.shape(sizes), shapes.shape(wanted))
        wanted = grouping.with_dependencies([same_rank], wanted)
        return grouping.with_dependencies([checks.assert_less_equal(sizes, wanted)], wanted)
    if not np.all(np.array(known_sizes.as_list()) <= known):
        raise ValueError(
            "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
            f"({known}), sp_input.shape ({known_sizes})."
        )
    return known


# ------------------------------------------------------------------------------------------ fewer, or merged


@export("sparse.retain", "sparse_retain")
def sparse_retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """Keeps some of the elements of a sparse tensor.

    Args:
      sp_input: A SparseTensor.
      to_retain: A bool vector with a flag for each element: whether it is kept.

    Returns:
      A SparseTensor of the same shape.

    Raises:
      TypeError: Where `sp_input` is not a SparseTensor.
      ValueError: Where elements and flags are known to differ in number.
    """
    sp_input = as_sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    to_retain.shape.assert_has_rank(1)
    rows = dimension_at_index(sp_input.values.shape.with_rank(1), 0)
    rows.merge_with(to_retain.shape.with_rank(1)[0])
    kept = shapes.reshape(indexing.where(to_retain), [-1])
    return SparseTensor(
        indexing.gather(sp_input.indices, kept),
        indexing.gather(sp_input.values, kept),
        constants.identity(sp_input.dense_shape),
    )


@export("sparse.merge", "sparse_merge")
def sparse_merge(
    sp_ids: SparseTensor | Sequence[SparseTensor],
    sp_values: SparseTensor,
    vocab_size: int | Sequence[int],
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """Replaces the last axis of sparse values by the ids that stand beside them.

    Args:
      sp_ids: A SparseTensor of int32 or int64 ids, or a list of them.
      sp_values: A SparseTensor with the same indices.
      vocab_size: The number that all ids are below, the size of the new axis; as many as `sp_ids`.
      name: A name for the operation.
      already_sorted: Whether the ids of each row are in rising order, so that the result need not be sorted.

    Returns:
      A SparseTensor in which `sp_values` stand at their ids, with one axis for each of `sp_ids` in place of
      the last.

    Raises:
      TypeError: Where an argument is not of that kind.
      ValueError: Where `sp_ids` and `vocab_size` differ in number.
    """
    sp_ids, vocab_size = _ids_and_sizes(sp_ids, vocab_size)
    with name_scope(name, "SparseMerge", [*(ids.values for ids in sp_ids), sp_values.values]):
        sp_ids, sp_values = [as_sparse(ids) for ids in sp_ids], as_sparse(sp_values)
        columns = [_column(ids.values) for ids in sp_ids]
        sizes = [casting.cast(size, dtypes.int64) for size in vocab_size]
        indices = joining.concat([sp_ids[0].indices[:, :-1], *columns], 1)
        shape = joining.concat([sp_ids[0].dense_shape[:-1], sizes], 0)
        result = SparseTensor(indices, sp_values.values, shape)
        if already_sorted:
            return result
        result = sparse_reorder(result)
        return SparseTensor(result.indices, result.values, shape)


def _column(ids: Tensor) -> Tensor:
    wide = ids if ids.dtype is dtypes.int64 else casting.cast(ids, dtypes.int64)
    return shapes.expand_dims(wide, axis=1)


def _ids_and_sizes(sp_ids: Any, vocab_size: Any) -> tuple[list[Any], list[Any]]:
    """A list of sparse ids and a list of vocabulary sizes, of equal length."""
    is_size = lambda value: isinstance(value, (Tensor, int, np.integer))
    if isinstance(sp_ids, (SparseTensor, SparseTensorValue)):
        if not is_size(vocab_size):
            raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}")
        return [sp_ids], [vocab_size]
    if not isinstance(sp_ids, Iterable):
        raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}")
    if isinstance(vocab_size, Tensor) or not isinstance(vocab_size, Iterable):
        raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(vocab_size)}")
    sp_ids, vocab_size = list(sp_ids), list(vocab_size)
    for size in vocab_size:
        if not is_size(size):
            raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(size)}")
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    return sp_ids, vocab_size
