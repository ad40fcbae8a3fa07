"""The rows that show an anomaly: found in the data, for a person to look at."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Source, WiderTypes
from tideflow.pipeline.messages.anomalies import AnomalyInfo
from tideflow.pipeline.validation.fixes import Fix

_LARGEST_DIFFERENCE = re.compile(r"The feature value with maximum difference is: (.*)", re.DOTALL)
_INTEGER = r"^\s*[+-]?[0-9]+\s*$"
_FLOAT = r"([0-9]+\.?[0-9]*|\.[0-9]+)([Ee][+-]?[0-9]+)?"
_NUMBER = rf"^\s*[+-]?((?i:inf|infinity|nan)|{_FLOAT})\s*$"
_SHOWN = 200


@dataclass(frozen=True)
class Row:
    """A row that shows an anomaly.

    Attributes:
      file: The file.
      number: The number of the row in the file, from 1, of those that could be read.
      value: The feature's values in the row, as text; empty where it is missing.
    """

    file: str
    number: int
    value: str


@dataclass
class _Search:
    """What is looked for in the column of a feature."""

    column: str
    masks: Sequence[Callable[[Any], Any]]
    rows: list[Row] = field(default_factory=list)


def find_rows(
    sources: Sequence[Source], anomalies: Any, fixes: Sequence[Fix], limit: int = 3
) -> dict[int, list[Row]]:
    """Finds the first rows that show each anomaly.

    Args:
      sources: The data.
      anomalies: The `Anomalies` of the data.
      fixes: The fixes of the anomalies.
      limit: How many rows are found for each.

    Returns:
      Rows by the number of the fix. Anomalies that are not of single rows, or of features within others, have
      none.
    """
    features = {feature.name: feature for feature in anomalies.baseline.feature}
    domains = {domain.name: list(domain.value) for domain in anomalies.baseline.string_domain}
    searches: dict[int, _Search] = {}
    for fix in fixes:
        info = anomalies.anomaly_info[fix.path] if fix.path else None
        if info is None or len(info.path.step) != 1:
            continue
        name = info.path.step[0]
        masks = [_mask(reason, features.get(name), domains) for reason in info.reason]
        searches[fix.number] = _Search(name, [mask for mask in masks if mask is not None])
    wanted = [search for search in searches.values() if search.masks]
    while True:
        try:
            _search(sources, wanted, limit)
            break
        except WiderTypes as wider:
            sources = [source.widened(wider.types) for source in sources]
            for search in wanted:
                search.rows.clear()
    return {number: search.rows for number, search in searches.items() if search.rows}


def _search(sources: Sequence[Source], searches: Sequence[_Search], limit: int) -> None:
    seen: dict[str, int] = {}  # by file: its rows so far, over its parts
    for source in sources:
        for block in source.blocks(Faults()):
            before = seen.get(source.path, 0)
            seen[source.path] = before + block.num_rows
            unfinished = [search for search in searches if len(search.rows) < limit]
            if not unfinished:
                return
            for search in unfinished:
                _search_block(block, search, source.path, before, limit)


def _search_block(block: Any, search: _Search, file: str, before: int, limit: int) -> None:
    there = search.column in block.schema.names
    column = block.column(search.column) if there else pa.nulls(block.num_rows, pa.list_(pa.int64()))
    found = np.zeros(block.num_rows, bool)
    for mask in search.masks:
        found |= mask(column)
    for row in np.flatnonzero(found)[: limit - len(search.rows)].tolist():
        search.rows.append(Row(file, before + row + 1, _shown(column[row].as_py())))


def _shown(values: list[Any] | None) -> str:
    if values is None:
        return ""
    texts = [v.decode(errors="backslashreplace") if isinstance(v, bytes) else str(v) for v in values]
    text = ", ".join(texts)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"


def _mask(reason: Any, feature: Any | None, domains: dict[str, list[str]]) -> Callable[[Any], Any] | None:
    """A function from a column of lists to the rows in which the reason of an anomaly shows."""
    kind = AnomalyInfo.Type.Name(reason.type)
    if kind in ("SCHEMA_NEW_COLUMN", "UNEXPECTED_DATA_TYPE"):
        return _present
    if feature is None:
        return None
    if kind in ("FEATURE_TYPE_LOW_FRACTION_PRESENT", "FEATURE_TYPE_LOW_NUMBER_PRESENT"):
        return _missing
    if kind == "FEATURE_TYPE_LOW_NUMBER_VALUES":
        return lambda column: _lengths(column) < feature.value_count.min
    if kind == "FEATURE_TYPE_HIGH_NUMBER_VALUES":
        return lambda column: _lengths(column) > feature.value_count.max
    if kind == "INVALID_FEATURE_SHAPE":
        size = math.prod(dim.size for dim in feature.shape.dim)
        return lambda column: _missing(column) | (_lengths(column) != size)
    test = _test(kind, reason, feature, domains)
    return None if test is None else lambda column: _rows_with(column, test)


def _test(kind: str, reason: Any, feature: Any, domains: dict[str, list[str]]) -> Callable[[Any], Any] | None:
    """A function from an array of values to those that are wrong."""
    if kind == "ENUM_TYPE_UNEXPECTED_STRING_VALUES":
        known = domains.get(feature.domain, []) if feature.HasField("domain") else feature.string_domain.value
        allowed = pa.array([value.encode() for value in known], pa.binary())
        return lambda values: pc.invert(pc.is_in(values.cast(pa.binary()), allowed))
    if kind == "BOOL_TYPE_UNEXPECTED_STRING":
        named = [feature.bool_domain.true_value, feature.bool_domain.false_value]
        allowed = pa.array([value.encode() for value in named], pa.binary())
        return lambda values: pc.invert(pc.is_in(values.cast(pa.binary()), allowed))
    if kind == "ENUM_TYPE_INVALID_UTF8":
        return lambda values: pa.array([not _is_utf8(value) for value in values.to_pylist()], pa.bool_())
    if kind in ("INT_TYPE_NOT_INT_STRING", "FLOAT_TYPE_STRING_NOT_FLOAT"):
        pattern = _INTEGER if kind == "INT_TYPE_NOT_INT_STRING" else _NUMBER
        return lambda values: pc.invert(pc.match_substring_regex(values.cast(pa.binary()), pattern))
    if kind in ("COMPARATOR_L_INFTY_HIGH", "COMPARATOR_NORMALIZED_ABSOLUTE_DIFFERENCE_HIGH"):
        found = _LARGEST_DIFFERENCE.search(reason.description)
        value = found.group(1).encode() if found else b""
        return lambda values: pc.equal(values.cast(pa.binary()), value) if _holds_bytes(values) else None
    wrong = _NUMBERS.get(kind)
    return None if wrong is None else lambda values: wrong(_numbers(values), feature)


_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "BOOL_TYPE_BIG_INT": lambda x, feature: pc.greater(x, 1),
    "BOOL_TYPE_SMALL_INT": lambda x, feature: pc.less(x, 0),
    "BOOL_TYPE_UNEXPECTED_FLOAT": lambda x, feature: pc.and_(pc.not_equal(x, 0.0), pc.not_equal(x, 1.0)),
    "INT_TYPE_BIG_INT": lambda x, feature: pc.greater(x, feature.int_domain.max),
    "INT_TYPE_SMALL_INT": lambda x, feature: pc.less(x, feature.int_domain.min),
    "FLOAT_TYPE_BIG_FLOAT": lambda x, feature: pc.greater(x, feature.float_domain.max),
    "FLOAT_TYPE_SMALL_FLOAT": lambda x, feature: pc.less(x, feature.float_domain.min),
    "FLOAT_TYPE_HAS_NAN": lambda x, feature: pc.is_nan(x),
    "FLOAT_TYPE_HAS_INF": lambda x, feature: pc.is_inf(x),
}


def _numbers(values: Any) -> Any:
    if not _holds_bytes(values):
        return values
    texts = pc.utf8_trim_whitespace(values.cast(pa.string()))  # numbers that are spelled
    return texts.cast(pa.float64())


def _holds_bytes(values: Any) -> bool:
    return bool(pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type))


def _is_utf8(value: bytes | None) -> bool:
    try:
        (value or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def _present(column: Any) -> Any:
    return column.is_valid().to_numpy(zero_copy_only=False)


def _missing(column: Any) -> Any:
    return column.is_null().to_numpy(zero_copy_only=False)


def _lengths(column: Any) -> Any:
    """The number of values in each row; NaN, which is outside no bound, where the feature is missing."""
    return pc.list_value_length(column).cast(pa.float64()).to_numpy(zero_copy_only=False)


def _rows_with(column: Any, test: Callable[[Any], Any]) -> Any:
    found = np.zeros(len(column), bool)
    try:
        wrong = test(column.flatten())
    except pa.ArrowException:  # the values are of another kind than the test is for, or lists themselves
        wrong = None
    if wrong is not None:
        parents = pc.list_parent_indices(column).to_numpy(zero_copy_only=False)
        found[parents[pc.fill_null(wrong, False).to_numpy(zero_copy_only=False)]] = True
    return found
