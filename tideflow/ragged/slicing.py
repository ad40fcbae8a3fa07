"""`ragged[...]`: rows by number, ranges of rows, and ranges in every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, indexing
from tideflow.ops.helpers.axes import size_sum
from tideflow.ops.math import binary, casting
from tideflow.ops.sparse.ragged_tensors import ragged_gather_op, ragged_range_op

_ALL = slice(None)


def sliced(ragged: Any, key: Any) -> Any:
    """The part of a ragged tensor that a key of `[]` stands for."""
    with name_scope(None, "RaggedGetItem", [ragged.flat_values]):
        keys = list(key) if isinstance(key, (list, tuple)) else [key]
        return _outer(ragged, _without_ellipsis(keys, ragged))


def _without_ellipsis(keys: list, ragged: Any) -> list:
    """The keys with as many whole dimensions for the first `...` as are left, and none for others."""
    if not any(key is Ellipsis for key in keys):
        return keys
    if ragged.shape.ndims is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    place = next(i for i, key in enumerate(keys) if key is Ellipsis)
    others = [[key for key in part if key is not Ellipsis] for part in (keys[:place], keys[place:])]
    used = sum(key is not None for part in others for key in part)
    return others[0] + [_ALL] * max(ragged.shape.ndims - used, 0) + others[1]


def _outer(value: Any, keys: Sequence[Any]) -> Any:
    """The keys applied from the first dimension on."""
    if not keys:
        return value
    if not isinstance(value, tf.RaggedTensor):
        return value[tuple(keys)]
    head, *rest = keys
    if head is None:
        return _one_row(_outer(value, rest))
    if isinstance(head, slice):
        return _inner(_rows(value, head), rest)
    return _outer(_row(value, head), rest)


def _one_row(value: Any) -> Any:
    """A tensor as the only row of a ragged one; what is not ragged only gets another dimension."""
    if not isinstance(value, tf.RaggedTensor):
        return value[None]
    return tf.RaggedTensor.from_row_lengths(value, [value.nrows()], validate=False)


def _row(ragged: Any, number: Any) -> Any:
    """One row."""
    start, end = ragged.row_starts()[number], ragged.row_limits()[number]
    return _outer(ragged.values, [slice(start, end)])


def _rows(ragged: Any, which: slice) -> Any:
    """A range of rows."""
    if which == _ALL:
        return ragged
    numbers = creation.range(ragged.nrows())[which]
    rows = gathered_rows(ragged, numbers)
    rows.row_splits.set_shape([size_sum(numbers.shape.tuple[0], 1)])
    return rows


def gathered_rows(ragged: Any, numbers: Tensor) -> Any:
    """Rows by their numbers; numbers of more than one dimension give rows of rows."""
    rank = numbers.shape.ndims
    if rank is None:
        raise ValueError("the rank of indices must be known statically")
    outputs = ragged_gather_op(
        list(ragged.nested_row_splits),
        ragged.flat_values,
        numbers,
        OUTPUT_RAGGED_RANK=rank + ragged.ragged_rank - 1,
    )
    return tf.RaggedTensor.from_nested_row_splits(
        outputs.output_dense_values, outputs.output_nested_splits, validate=False
    )


def _inner(ragged: Any, keys: Sequence[Any]) -> Any:
    """The keys applied from the second dimension on, the rows staying as they are."""
    if not keys:
        return ragged
    head, *rest = keys
    if head is None:
        inside = _inner(ragged, rest)
        ones = creation.range(ragged.nrows() + 1)
        return tf.RaggedTensor.from_row_splits(inside, ones, validate=False)
    if not isinstance(head, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    ragged = _cut_rows(ragged, head)
    values = ragged.values
    if isinstance(values, tf.RaggedTensor):
        return ragged.with_values(_inner(values, rest))
    return ragged.with_values(values[(_ALL, *rest)]) if rest else ragged


def _cut_rows(ragged: Any, part: slice) -> Any:
    """The same range of every row, by Python's rules."""
    if part == _ALL:
        return ragged
    lengths = ragged.row_lengths()
    dtype = lengths.dtype
    step = 1 if part.step is None else part.step
    if not isinstance(step, int):
        raise TypeError("the step of a slice in a ragged dimension must be an int")
    if step == 0:
        raise ValueError("slice step cannot be zero")
    zero = casting.cast(0, dtype)
    low, high = (zero, lengths) if step > 0 else (zero - 1, lengths - 1)
    ends = (low, high) if step > 0 else (high, low)
    first, last = (
        end if place is None else _place(place, lengths, low, high)
        for place, end in zip((part.start, part.stop), ends, strict=True)
    )
    starts = ragged.row_starts()
    splits, places = ragged_range_op(
        starts + first, starts + last, casting.cast(step, dtype), T=dtype, Tsplits=dtype
    )
    values = ragged.values
    if isinstance(values, tf.RaggedTensor):
        kept = gathered_rows(values, places)
    else:
        kept = indexing.gather(values, places)
    return tf.RaggedTensor.from_row_splits(kept, splits, validate=False)


def _place(place: Any, lengths: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Where a bound of a slice lies in rows of these lengths; negative ones count from the end."""
    dtype = lengths.dtype
    place = casting.cast(convert_to_tensor(place, preferred_dtype=dtype), dtype)
    from_front = place + lengths * casting.cast(binary.less(place, casting.cast(0, dtype)), dtype)
    return binary.minimum(binary.maximum(from_front, low), high)
