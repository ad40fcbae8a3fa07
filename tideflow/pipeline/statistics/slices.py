"""Slices of a data set: the rows in which features have certain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from tideflow.graph import errors
from tideflow.pipeline.data.lists import is_list, lengths_of
from tideflow.pipeline.data.slice_queries import slice_query
from tideflow.pipeline.statistics.options import StatsOptions

ALL = "All Examples"


def slices_of(block: pa.RecordBatch, options: StatsOptions) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The names of all slices that rows of a block are in, and those rows. The first is that of all."""
    yield ALL, block
    for features in options.slice_features:
        yield from slices_by_features(block, features)
    for function in options.slice_functions:
        yield from function(block)
    if options.slice_sqls:
        yield from _slices_by_queries(block, options.slice_sqls)


def _slices_by_queries(block: pa.RecordBatch, queries: Sequence[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The slices of all queries. A row is once in a slice, however many of them say so."""
    columns = dict(zip(block.schema.names, block.columns))
    found: dict[str, np.ndarray] = {}
    for query in queries:
        for key, rows in slice_query(query).rows_by_key(columns, block.num_rows).items():
            name = "_".join("_".join(pair) for pair in key)
            found[name] = np.union1d(found[name], rows) if name in found else rows
    for name, rows in found.items():
        yield name, block.take(pa.array(rows))


def slices_by_features(
    block: pa.RecordBatch, features: Mapping[str, Sequence[str | bytes | int] | None]
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The slices by the values of features, named `feature_value`; names of several are joined by `_`.

    A row is in the slice of each of its values. Features that the block does not have are left out.
    """
    keyed = [
        _rows_by_value(block, name, values)
        for name, values in sorted(features.items())
        if block.schema.get_field_index(name) >= 0
    ]
    if not keyed:
        return
    for name, rows in reduce(_crossed, keyed).items():
        if len(rows):
            yield name, block.take(pa.array(rows))


def _crossed(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    crossed = {
        f"{one}_{other}": np.intersect1d(rows, others, assume_unique=True)
        for one, rows in first.items()
        for other, others in second.items()
    }
    return {name: rows for name, rows in crossed.items() if len(rows)}


def _rows_by_value(
    block: pa.RecordBatch, name: str, wanted: Sequence[str | bytes | int] | None
) -> dict[str, np.ndarray]:
    array = block.column(name)
    rows = np.arange(len(array))
    while is_list(array.type):
        rows = np.repeat(rows, lengths_of(array)[0])
        array = array.flatten()
    encoded = array.dictionary_encode()
    order = np.argsort(encoded.indices.to_numpy(zero_copy_only=False), kind="stable")
    counts = np.bincount(encoded.indices.to_numpy(zero_copy_only=False), minlength=len(encoded.dictionary))
    groups = np.split(rows[order], np.cumsum(counts)[:-1]) if len(counts) else []
    chosen = None if wanted is None else {_comparable(value, array.type) for value in wanted}
    return {
        f"{name}_{_text(value)}": np.unique(group)
        for value, group in zip(encoded.dictionary.to_pylist(), groups)
        if chosen is None or value in chosen
    }


def _comparable(value: str | bytes | int, kind: pa.DataType) -> Any:
    if pa.types.is_integer(kind):
        try:
            return int(value)
        except ValueError:
            raise errors.invalid_argument(
                "The feature to slice on has integer values but the provided slice values are not valid "
                "integers."
            ) from None
    return value.encode() if isinstance(value, str) else value


def _text(value: Any) -> str:
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise errors.invalid_argument(
            f"Feature names and slicing feature values must be valid UTF-8. Found value {value!r}."
        ) from None
