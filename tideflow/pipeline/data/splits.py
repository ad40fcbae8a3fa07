"""Splits of a data set by hash: a row is in the same split whatever file it comes in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from tideflow.graph import errors
from tideflow.pipeline.data.lists import is_list, lengths_of
from tideflow.pipeline.engine.value_counts import hashes_of

_ODD, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x94D049BB133111EB)


def split_block(
    block: pa.RecordBatch, splits: Mapping[str, int], features: Sequence[str] | None = None
) -> dict[str, pa.RecordBatch]:
    """Divides the rows of a block.

    Args:
      block: The rows.
      splits: By the name of a split, its share: `{"train": 2, "eval": 1}`.
      features: The features that decide, so that rows that agree in them stay together. By default all.

    Returns:
      The rows of each split, in their order.
    """
    if not splits or min(splits.values()) <= 0:
        raise errors.invalid_argument(f"splits must be shares above zero by name, got {dict(splits)}")
    total = sum(splits.values())
    bucket = row_hashes(block, features) % np.uint64(total)
    ends = np.cumsum(list(splits.values()))
    chosen = np.searchsorted(ends, bucket, side="right")
    return {name: block.filter(pa.array(chosen == number)) for number, name in enumerate(splits)}


def row_hashes(block: pa.RecordBatch, features: Sequence[str] | None = None) -> np.ndarray:
    """A number of each row, made of the values of its features whatever their order."""
    hashes = np.zeros(block.num_rows, np.uint64)
    for name in sorted(block.schema.names if features is None else features):
        if block.schema.get_field_index(name) < 0:
            raise errors.invalid_argument(f"Rows are split by {name}, which they do not have")
        of_name = hashes_of(pa.array([name.encode()]))[0]
        found = _column_hashes(block.column(name))
        hashes += np.where(found == 0, found, _mixed(found ^ of_name))
    return _mixed(hashes)


def _column_hashes(array: pa.Array) -> np.ndarray:
    """A number of each row of a column; 0 for a missing feature, as if there were no such column."""
    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.uint64)
    if pa.types.is_struct(array.type):
        parts = [_mixed(_column_hashes(child) + np.uint64(at)) for at, child in enumerate(array.flatten())]
        return np.asarray(np.sum(parts, axis=0, dtype=np.uint64))
    if not is_list(array.type):
        return hashes_of(array)
    lengths, present = lengths_of(array)
    ends = np.cumsum(lengths)
    place = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    inner = _mixed(_column_hashes(array.flatten()) + place.astype(np.uint64) * _ODD)
    sums = np.concatenate([[np.uint64(0)], np.cumsum(inner, dtype=np.uint64)])
    hashes = sums[ends] - sums[ends - lengths] + (lengths + 1).astype(np.uint64)
    return hashes if present is None else np.where(present, hashes, np.uint64(0))


def _mixed(hashes: np.ndarray) -> np.ndarray:
    hashes = (hashes ^ (hashes >> np.uint64(30))) * _MIX
    return hashes ^ (hashes >> np.uint64(31))
