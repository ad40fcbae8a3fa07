"""Which rows of a block belong to which slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.pipeline.data.slice_queries import slice_query
from tideflow.pipeline.evaluation.keys import OVERALL, SliceKey, SliceValue

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class SliceSpec:
    """Slices by the values of features, or the one slice of given values.

    Args:
      columns: Features; each combination of their values is a slice.
      values: Features with the values that they have in the slice.
      query: A query of SQL that says in which slices a row is (`data/slice_queries.py`), instead.
    """

    columns: frozenset[str] = frozenset()
    values: frozenset[tuple[str, SliceValue]] = frozenset()
    query: str = ""

    def matches(self, slice_key: SliceKey) -> bool:
        """Whether a slice is one of these."""
        if self.query:
            return tuple(name for name, _ in slice_key) == slice_query(self.query).names
        columns, values = set(self.columns), set(self.values)
        for column, value in slice_key:
            single = (column, _typed(value))
            if single in values:
                values.remove(single)
            elif column in columns:
                columns.remove(column)
            else:
                return False
        return not values and not columns


def slice_spec_of(message: Any) -> SliceSpec:
    """The specification in a SlicingSpec."""
    if message.slice_keys_sql:
        if message.feature_keys or message.feature_values:
            raise ValueError(
                "slice_keys_sql is given beside feature_keys or feature_values: give one of them"
            )
        slice_query(message.slice_keys_sql)  # what is wrong with it is said now
        return SliceSpec(query=message.slice_keys_sql)
    columns = frozenset(message.feature_keys)
    values = frozenset((key, _typed(value)) for key, value in message.feature_values.items())
    for key, _ in values:
        if key in columns:
            raise ValueError(
                "Columns specified in columns and in features should not overlap, but "
                f"{key} was specified in both."
            )
    return SliceSpec(columns, values)


def slice_specs_of(eval_config: Any) -> list[SliceSpec]:
    """All slices that an EvalConfig asks for: its own, and those that it compares; all rows, if none."""
    specs = [slice_spec_of(spec) for spec in eval_config.slicing_specs]
    for cross in eval_config.cross_slicing_specs:
        specs += [slice_spec_of(spec) for spec in (cross.baseline_spec, *cross.slicing_specs)]
    return list(dict.fromkeys(specs)) or [SliceSpec()]


def slices(
    columns: Mapping[str, pa.Array], rows: int, specs: Sequence[SliceSpec]
) -> dict[SliceKey, np.ndarray]:
    """The indices of the rows of each slice that a block has rows of."""
    found: dict[SliceKey, np.ndarray] = {}
    for spec in specs:
        found.update(_slices_of(columns, rows, spec))
    return found


def _slices_of(columns: Mapping[str, pa.Array], rows: int, spec: SliceSpec) -> dict[SliceKey, np.ndarray]:
    if spec.query:
        return {key: own for key, own in slice_query(spec.query).rows_by_key(columns, rows).items()}
    inside = np.ones(rows, bool)
    for column, value in spec.values:
        if column not in columns:
            return {}
        indices, codes, values = _values_by_row(columns[column])
        wanted = [code for code, each in enumerate(values) if each == value or str(each) == str(value)]
        has = np.zeros(rows, bool)
        has[indices[np.isin(codes, wanted)]] = True
        inside &= has
    members = np.flatnonzero(inside)
    combined = np.zeros(len(members), np.int64)
    keys: list[SliceKey] = [tuple(spec.values)]
    for column in sorted(spec.columns):
        if column not in columns:
            return {}
        indices, codes, values = _values_by_row(columns[column])
        members, picked = _join(members, indices, rows)
        pairs = combined[picked[0]] * len(values) + codes[picked[1]]
        distinct, combined = np.unique(pairs, return_inverse=True)
        before = keys
        keys = [
            (*before[pair // len(values)], (column, values[pair % len(values)])) for pair in distinct.tolist()
        ]
    if not len(members):
        return {}
    if keys == [OVERALL]:
        return {OVERALL: members}
    order = np.argsort(combined, kind="stable")
    bounds = np.searchsorted(combined[order], np.arange(len(keys) + 1))
    return {
        tuple(sorted(key)): members[order[begin:end]]
        for key, begin, end in zip(keys, bounds, bounds[1:], strict=False)
    }


def _values_by_row(column: pa.Array) -> tuple[np.ndarray, np.ndarray, list[SliceValue]]:
    """The rows that have values, the code of each value, and the values by code; once a row and value."""
    indices = np.asarray(column.value_parent_indices())
    encoded = column.flatten().dictionary_encode("encode")
    values = [_text(value) for value in encoded.dictionary.to_pylist()]
    codes = np.asarray(encoded.indices)
    if len(indices) and (np.diff(indices) == 0).any():  # a row may have a value twice
        pairs = np.unique(indices * len(values) + codes)
        indices, codes = np.divmod(pairs, len(values))
    return indices, codes, values


def _join(
    members: np.ndarray, indices: np.ndarray, rows: int
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """The rows of both, and for each the positions in both: rows may occur several times in each."""
    counts = np.bincount(indices, minlength=rows)
    starts = np.cumsum(counts) - counts
    times = counts[members]
    left = np.repeat(np.arange(len(members)), times)
    within = np.arange(len(left)) - np.repeat(np.cumsum(times) - times, times)
    return members[left], (left, starts[members[left]] + within)


def _text(value: Any) -> SliceValue:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"Found non-UTF8 feature value {value!r} in a feature that slices are of"
            ) from error
    return value


def _typed(value: SliceValue) -> SliceValue:
    """A value that was written as text, as the number that it is."""
    if isinstance(value, (int, float)):
        return value
    try:
        return float(value) if "." in value else int(value)
    except ValueError:
        return value
