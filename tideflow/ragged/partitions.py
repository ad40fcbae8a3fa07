"""The same cut of values into rows told in two ways: by row splits, and by the row of each value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, joining, rolling, shapes
from tideflow.ops.math import casting, counting, cumulative

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_SPLITS_TYPES = (dtypes.int32, dtypes.int64)


def partition_tensor(value: Any, name: str, dtype: Any = None) -> Tensor:
    """Row splits, lengths and the like as a tensor: int64 where nothing says otherwise."""
    tensor = convert_to_tensor(value, dtype=dtype, preferred_dtype=dtypes.int64, name=name)
    if tensor.dtype not in _SPLITS_TYPES:
        raise ValueError(f"{name} must have dtype int32 or int64")
    return tensor


def splits_type(dtype: Any) -> dtypes.DType:
    """A dtype that row splits may have."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _SPLITS_TYPES:
        raise ValueError("Invalid row_splits dtype")
    return dtype


def lengths_of(splits: Tensor) -> Tensor:
    """The length of each row."""
    return splits[1:] - splits[:-1]


def splits_of(lengths: Tensor) -> Tensor:
    """Where rows of these lengths begin, and where the last one ends."""
    return joining.concat([creation.zeros([1], lengths.dtype), cumulative.cumsum(lengths)], 0)


@export("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(
    splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None
) -> Tensor:
    """Converts row splits to the row number of each value.

    Args:
      splits: The row splits.
      name: The name of the operation.
      out_type: The type of the result; that of `splits` if None.

    Returns:
      A vector.
    """
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = partition_tensor(splits, "splits")
        splits.shape.assert_has_rank(1)
        if splits.shape.tuple == (0,):
            raise ValueError("Invalid row_splits: []")
        dtype = splits.dtype if out_type is None else splits_type(out_type)
        lengths = lengths_of(splits)
        rows = creation.range(shapes.shape(lengths)[-1])
        return rolling.repeat(casting.cast(rows, dtype), lengths, axis=0)


@export("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Converts the row number of each value to row splits.

    Args:
      segment_ids: The row numbers, ascending.
      num_segments: The number of rows; one more than the last row number if None.
      out_type: The type of the result; that of `segment_ids` if None.
      name: The name of the operation.

    Returns:
      A vector.
    """
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        segment_ids = partition_tensor(segment_ids, "segment_ids")
        segment_ids.shape.assert_has_rank(1)
        dtype = segment_ids.dtype if out_type is None else splits_type(out_type)
        if num_segments is not None:
            num_segments = casting.cast(num_segments, dtypes.int32)
        counts = counting.bincount(
            casting.cast(segment_ids, dtypes.int32),
            minlength=num_segments,
            maxlength=num_segments,
            dtype=dtype,
        )
        splits = splits_of(counts)
        splits.set_shape([_known_count(segment_ids, num_segments)])
        return splits


def _known_count(segment_ids: Tensor, num_segments: Tensor | None) -> int | None:
    """One more than the number of rows, where that follows from the graph alone."""
    if num_segments is not None:
        count = constant_value(num_segments)
        return None if count is None else int(count) + 1
    known = constant_value(segment_ids)
    return None if known is None else int(known.max(initial=-1)) + 2


def rows_in_use(value_rowids: Tensor) -> Tensor:
    """One more than the number of the last row that has values."""
    known = constant_value(value_rowids)
    if known is not None:
        return constants.constant(int(known[-1]) + 1 if known.size else 0, value_rowids.dtype, name="nrows")
    return joining.concat([[-1], value_rowids[-1:]], 0)[-1] + 1


def check_row_count(nrows: Tensor, value_rowids: Tensor) -> None:
    """Refuses a number of rows that is known to be too small for the rows of the values."""
    nrows.shape.assert_has_rank(0)
    count, rowids = constant_value(nrows), constant_value(value_rowids)
    if count is not None and count < 0:
        raise ValueError(f"Expected nrows >= 0; got {count}")
    if count is not None and rowids is not None and rowids.size and count <= rowids[-1]:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={rowids[-1]}"
        )
