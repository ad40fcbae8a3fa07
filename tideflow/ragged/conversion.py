"""Ragged tensors from dense and sparse ones, and back."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes
from tideflow.ops.control_flow import debugging
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.ops.sparse.ragged_tensors import (
    ragged_tensor_to_sparse_op,
    ragged_tensor_to_tensor_op,
)
from tideflow.ragged.partitions import splits_type


def positive_axis(axis: int, rank: int | None) -> int:
    """The axis counted from the front."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if rank is None:
        if axis < 0:
            raise ValueError(f"axis={axis} may only be negative if ndims is statically known.")
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis % rank


# ------------------------------------------------------------------------------------------------ from dense


def from_tensor(
    tensor: Any, lengths: Any, padding: Any, ragged_rank: int, name: str | None, row_splits_dtype: Any
) -> Any:
    """The rows of a dense tensor: whole, cut to `lengths`, or without the `padding` at their ends."""
    dtype = splits_type(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
    if ragged_rank <= 0:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
    with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
        tensor = convert_to_tensor(tensor, name="tensor")
        tensor.shape.with_rank_at_least(ragged_rank + 1)
        if isinstance(lengths, (list, tuple)) and lengths and _is_vector(lengths[0]):
            return _cut_by_all(tensor, list(lengths), dtype)
        if ragged_rank > 1:
            inner = from_tensor(_rows_joined(tensor), lengths, padding, ragged_rank - 1, None, dtype)
            return _uniform_rows(inner, tensor, dtype)
        if padding is not None:
            lengths = _lengths_without(padding, tensor, dtype)
        if lengths is None:
            return _uniform_rows(_rows_joined(tensor), tensor, dtype)
        return _cut(tensor, lengths, dtype)


def _is_vector(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or TensorShape(getattr(value, "shape", ())).ndims == 1


def _rows_joined(tensor: Tensor) -> Tensor:
    """The first two dimensions as one."""
    sizes = shapes.shape(tensor)
    joined = shapes.reshape(tensor, joining.concat([[sizes[0] * sizes[1]], sizes[2:]], 0))
    if tensor.shape.ndims is not None:
        rows = tensor.shape[:2].num_elements()
        joined.set_shape([rows, *tensor.shape.as_list()[2:]])
    return joined


def _uniform_rows(values: Any, tensor: Tensor, dtype: Any) -> Any:
    """The values in rows as the first dimension of the tensor has them, all of one length."""
    sizes = shapes.shape(tensor, out_type=dtype)
    splits = creation.range(sizes[0] + 1) * sizes[1]
    rows = None if tensor.shape.ndims is None else tensor.shape.tuple[0]
    splits.set_shape([None if rows is None else rows + 1])
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def _cut(tensor: Tensor, lengths: Any, dtype: Any) -> Any:
    """Every row cut to its length."""
    lengths = convert_to_tensor(lengths, preferred_dtype=dtype, name="lengths")
    lengths = casting.cast(lengths, dtype)
    lengths.shape.assert_has_rank(1)
    columns = shapes.shape(tensor, out_type=dtype)[1]
    lengths = binary.minimum(binary.maximum(lengths, casting.cast(0, dtype)), columns)
    kept = indexing.boolean_mask(tensor, creation.sequence_mask(lengths, columns))
    return tf.RaggedTensor.from_row_lengths(kept, lengths, validate=False)


def _cut_by_all(tensor: Tensor, lengths: list, dtype: Any) -> Any:
    """Rows cut to the first lengths, what is in them to the next …"""
    outer, *rest = lengths
    cut = _cut(tensor, outer, dtype)
    return cut.with_values(_cut_by_all(cut.values, rest, dtype)) if rest else cut


def _lengths_without(padding: Any, tensor: Tensor, dtype: Any) -> Tensor:
    """The length of each row without the padding at its end."""
    padding = convert_to_tensor(padding, tensor.dtype, "padding")
    if not padding.shape.is_compatible_with(tensor.shape[2:]):
        raise ValueError(f"Shapes {padding.shape} and {tensor.shape[2:]} are incompatible")
    is_padding = binary.equal(tensor, padding)
    if tensor.shape.ndims is None or tensor.shape.ndims > 2:
        is_padding = reductions.reduce_all(is_padding, creation.range(2, shapes.rank(tensor)))
    columns = creation.range(1, shapes.shape(tensor, out_type=dtype)[1] + 1)
    ends = casting.cast(unary.logical_not(is_padding), dtype) * columns
    longest = reductions.reduce_max(ends, 1)
    return binary.maximum(longest, casting.cast(0, dtype))  # of no columns, the maximum is the least number


# ------------------------------------------------------------------------------------------------ others


def from_sparse(st_input: Any, name: str | None, row_splits_dtype: Any) -> Any:
    """The rows of a sparse matrix whose values stand at the beginning of each row, without gaps."""
    dtype = splits_type(row_splits_dtype)
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
    with name_scope(name, "RaggedFromSparse", [st_input.values]):
        if st_input.dense_shape.shape.ndims is None or st_input.indices.shape.ndims is None:
            raise ValueError("rank(st_input) must be 2")
        if 2 not in (st_input.dense_shape.shape.tuple[0], st_input.indices.shape.tuple[1]):
            raise ValueError("rank(st_input) must be 2")
        rows, columns = st_input.indices[:, 0], st_input.indices[:, 1]
        goes_on = binary.equal(rows[1:], rows[:-1])
        begins = binary.logical_and(binary.equal(columns[1:], 0), binary.greater(rows[1:], rows[:-1]))
        follows = binary.equal(columns[1:], columns[:-1] + 1)
        right = binary.logical_or(
            binary.logical_and(goes_on, follows), binary.logical_and(unary.logical_not(goes_on), begins)
        )
        ragged = binary.logical_and(
            reductions.reduce_all(binary.equal(columns[:1], 0)), reductions.reduce_all(right)
        )
        message = "SparseTensor is not right-ragged"
        check = debugging.Assert(ragged, [message, "SparseTensor.indices =", st_input.indices])
        with control_dependencies([check]):
            rows = constants.identity(rows)
        return tf.RaggedTensor.from_value_rowids(
            st_input.values,
            casting.cast(rows, dtype),
            casting.cast(st_input.dense_shape[0], dtype),
            validate=False,
        )


def to_tensor(ragged: Any, default_value: Any, name: str | None) -> Tensor:
    """A dense tensor, short rows filled up with `default_value`."""
    values = ragged.flat_values
    with name_scope(name, "RaggedToTensor", [values, default_value, *ragged.nested_row_splits]):
        if default_value is None:
            default_value = creation.zeros([], values.dtype)
        default_value = convert_to_tensor(default_value, values.dtype, "default_value")
        inner = values.shape[1:]
        if inner.ndims is not None:
            default_value.shape.with_rank_at_most(inner.ndims)
        if default_value.shape.ndims:
            default_value.shape.assert_is_compatible_with(inner)
        sizes = _bounding_sizes(ragged)
        asked = -1 if sizes is None else [-1 if size is None else size for size in sizes]
        return ragged_tensor_to_tensor_op(
            constants.constant(asked, dtypes.int64),
            values,
            default_value,
            list(ragged.nested_row_splits),
            row_partition_types=["ROW_SPLITS"] * ragged.ragged_rank,
        )


def _bounding_sizes(ragged: Any) -> list[int | None] | None:
    """The sizes of the dense tensor as far as they follow from the graph alone."""
    if ragged.shape.ndims is None:
        return None
    sizes = ragged.shape.as_list()
    for axis, splits in enumerate(ragged.nested_row_splits, start=1):
        known = constant_value(splits)
        if known is not None:
            sizes[axis] = int((known[1:] - known[:-1]).max(initial=0))
    return sizes


def to_sparse(ragged: Any, name: str | None) -> SparseTensor:
    """A sparse tensor of the same values."""
    with name_scope(name, "RaggedToSparse", [ragged.flat_values, *ragged.nested_row_splits]):
        return SparseTensor(*ragged_tensor_to_sparse_op(list(ragged.nested_row_splits), ragged.flat_values))
