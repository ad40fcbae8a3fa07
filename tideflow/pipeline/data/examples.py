"""Blocks of Examples and SequenceExamples, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from google.protobuf.message import DecodeError

from tideflow.graph import dtypes
from tideflow.graph.example_proto import Example, SequenceExample
from tideflow.graph.varints import encode_varint
from tideflow.io.example_batches import every_column
from tideflow.pipeline.data.lists import lengths_of

SEQUENCE = "##SEQUENCE##"  # the column of the feature lists of SequenceExamples: a struct of lists of lists

_WORTH_NUMPY = 48
_ARROW = {dtypes.string: pa.binary(), dtypes.float32: pa.float32(), dtypes.int64: pa.int64()}
_OF_KIND = {"bytes_list": pa.binary(), "float_list": pa.float32(), "int64_list": pa.int64()}
Refuse = Callable[[int, str], None]


def parse_examples(records: Sequence[bytes], refuse: Refuse) -> pa.RecordBatch:
    """The rows of serialized Examples.

    Args:
      records: The serialized messages.
      refuse: Called with the number of a record that is no Example, and the reason; the record is left out.
    """
    if len(records) >= _WORTH_NUMPY:
        columns = every_column(records)
        if columns is not None:
            names = sorted(columns)
            arrays = [_array(columns[name], len(records)) for name in names]
            return _block(names, arrays, len(records))
    rows = []
    for number, record in enumerate(records):
        try:
            rows.append((number, Example.FromString(record).features.feature))
        except DecodeError:
            refuse(number, "is not an Example")
    return _rows_block(rows, refuse)


def _array(column: tuple[Any, np.ndarray, np.ndarray] | None, rows: int) -> pa.Array:
    if column is None:
        return _never(rows)
    dtype, counts, values = column
    return _lists(counts, pa.array(values, _ARROW[dtype]))


def _never(rows: int) -> pa.Array:
    """The column of a feature that is named, but has no list in any row."""
    return pa.nulls(rows, pa.list_(pa.binary()))


def parse_sequence_examples(records: Sequence[bytes], refuse: Refuse) -> pa.RecordBatch:
    """The rows of serialized SequenceExamples: the context, and in the column `SEQUENCE` the lists."""
    rows = []
    for number, record in enumerate(records):
        try:
            rows.append((number, SequenceExample.FromString(record)))
        except DecodeError:
            refuse(number, "is not a SequenceExample")
    context = _rows_block([(number, message.context.feature) for number, message in rows], refuse)
    names = sorted({name for _, message in rows for name in message.feature_lists.feature_list})
    lists = []
    for name in names:
        found = [
            message.feature_lists.feature_list.get(name)
            if name in message.feature_lists.feature_list
            else None
            for _, message in rows
        ]
        lists.append(_nested(found))
    if not names:
        return context
    struct = pa.StructArray.from_arrays(lists, names)
    return pa.RecordBatch.from_arrays([*context.columns, struct], [*context.schema.names, SEQUENCE])


def _nested(found: Sequence[Any]) -> pa.Array:
    """The lists of one feature list in every message, None for a message without it."""
    steps = [feature for lists in found if lists is not None for feature in lists.feature]
    kinds = [feature.WhichOneof("kind") for feature in steps]
    kind = next((each for each in kinds if each is not None), "bytes_list")
    counts = np.array(
        [-1 if each is None else len(getattr(feature, kind).value) for each, feature in zip(kinds, steps)],
        np.int64,
    )
    values = [value for feature in steps for value in getattr(feature, kind).value]
    inner = _lists(counts, pa.array(values, _OF_KIND[kind]))
    return _lists(np.array([-1 if lists is None else len(lists.feature) for lists in found], np.int64), inner)


def _rows_block(rows: Sequence[tuple[int, Any]], refuse: Refuse) -> pa.RecordBatch:
    """The block of messages that were parsed one by one. A row that has another type than most is refused."""
    kinds: dict[str, dict[str, int]] = {}
    for _, features in rows:
        for name, feature in features.items():
            kind = feature.WhichOneof("kind")
            counts = kinds.setdefault(name, {})
            if kind is not None:
                counts[kind] = counts.get(kind, 0) + 1
    chosen = {name: max(sorted(counts), key=counts.__getitem__, default="") for name, counts in kinds.items()}
    odd = {name for name, counts in kinds.items() if len(counts) > 1}
    kept = []
    for number, features in rows:
        wrong = next(
            (
                name
                for name in sorted(odd)
                if name in features and features[name].WhichOneof("kind") not in (None, chosen[name])
            ),
            None,
        )
        if wrong is None:
            kept.append(features)
        else:
            refuse(
                number, f"feature {wrong} is a {features[wrong].WhichOneof('kind')}, not a {chosen[wrong]}"
            )
    arrays = []
    for name in sorted(chosen):
        kind = chosen[name]
        if not kind:
            arrays.append(_never(len(kept)))
            continue
        lists = [
            getattr(features[name], kind).value
            if name in features and features[name].HasField(kind)
            else None
            for features in kept
        ]
        counts_of = np.array([-1 if each is None else len(each) for each in lists], np.int64)
        values = [value for each in lists if each is not None for value in each]
        arrays.append(_lists(counts_of, pa.array(values, _OF_KIND[kind])))
    return _block(sorted(chosen), arrays, len(kept))


def _block(names: Sequence[str], arrays: Sequence[pa.Array], rows: int) -> pa.RecordBatch:
    if not names:  # a block without columns would have no rows
        return (
            pa.RecordBatch.from_struct_array(pa.StructArray.from_arrays([], [])) if not rows else _empty(rows)
        )
    return pa.RecordBatch.from_arrays(list(arrays), list(names))


def _empty(rows: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))


def _lists(counts: np.ndarray, values: pa.Array) -> pa.Array:
    """Lists of so many values each; -1 is a missing list."""
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(np.maximum(counts, 0), out=offsets[1:])
    missing = counts < 0
    mask = pa.array(missing) if missing.any() else None
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=mask)


# ------------------------------------------------------------------------------------------------- writing


def serialize_examples(block: pa.RecordBatch) -> list[bytes]:
    """The rows of a block as serialized Examples (SequenceExamples, if it has feature lists)."""
    plain = [name for name in block.schema.names if name != SEQUENCE]
    context = _serialized_features(block.select(plain))
    if SEQUENCE not in block.schema.names:
        return [b"\x0a" + encode_varint(len(row)) + row if row else b"" for row in context]
    lists = block.column(SEQUENCE)
    messages = []
    for row, values in zip(context, lists.to_pylist()):
        message = SequenceExample.FromString(b"\x0a" + encode_varint(len(row)) + row)
        for name, steps in (values or {}).items():
            if steps is None:
                continue
            of_name = message.feature_lists.feature_list[name]
            kind = _kind_of(lists.type.field(name).type.value_type.value_type)
            for step in steps:
                feature = of_name.feature.add()
                if step is not None:
                    getattr(feature, kind).value.extend(step)
                    getattr(feature, kind).SetInParent()
        messages.append(message.SerializeToString(deterministic=True))
    return messages


def _serialized_features(block: pa.RecordBatch) -> list[bytes]:
    """The Features message of each row: its entries, one for each feature that the row has."""
    columns = [_entries(name, column) for name, column in zip(block.schema.names, block.columns)]
    if not columns:
        return [b""] * block.num_rows
    return [b"".join(entries) for entries in zip(*columns)]


def _entries(name: str, column: pa.Array) -> list[bytes]:
    """The entry of a feature in each row, empty where it is missing."""
    key = name.encode()
    head = b"\x0a" + encode_varint(len(key)) + key
    values = column.flatten()
    if pa.types.is_floating(values.type):
        tag, packed = b"\x12", _packed_floats(column, values)
    elif pa.types.is_integer(values.type):
        tag, packed = b"\x1a", _packed_integers(column, values)
    else:
        tag, packed = b"\x0a", _byte_strings(column, values)
    known: dict[bytes, bytes] = {}
    entries = []
    for row in packed:
        if row is None:
            entries.append(b"")
            continue
        entry = known.get(row)
        if entry is None:
            feature = tag + encode_varint(len(row)) + row
            body = head + b"\x12" + encode_varint(len(feature)) + feature
            entry = b"\x0a" + encode_varint(len(body)) + body
            if len(known) < 1 << 16:
                known[row] = entry
        entries.append(entry)
    return entries


def _spans(column: pa.Array) -> list[tuple[int, int] | None]:
    """Where the values of each row begin and end among all; None for a missing feature."""
    lengths, present = lengths_of(column)
    ends = np.cumsum(lengths)
    spans: list[tuple[int, int] | None] = list(zip((ends - lengths).tolist(), ends.tolist()))
    for row in [] if present is None else np.flatnonzero(~present).tolist():
        spans[row] = None
    return spans


def _packed_floats(column: pa.Array, values: pa.Array) -> list[bytes | None]:
    data = values.to_numpy(zero_copy_only=False).astype("<f4").tobytes()
    return [span and _packed(data[4 * span[0] : 4 * span[1]]) for span in _spans(column)]


def _packed_integers(column: pa.Array, values: pa.Array) -> list[bytes | None]:
    numbers = [encode_varint(value & 0xFFFFFFFFFFFFFFFF) for value in values.to_pylist()]
    return [span and _packed(b"".join(numbers[span[0] : span[1]])) for span in _spans(column)]


def _byte_strings(column: pa.Array, values: pa.Array) -> list[bytes | None]:
    texts = [b"\x0a" + encode_varint(len(value)) + value for value in values.cast(pa.binary()).to_pylist()]
    return [span and b"".join(texts[span[0] : span[1]]) for span in _spans(column)]


def _packed(numbers: bytes) -> bytes:
    return b"\x0a" + encode_varint(len(numbers)) + numbers if numbers else b""


def _kind_of(kind: pa.DataType) -> str:
    if pa.types.is_floating(kind):
        return "float_list"
    return "int64_list" if pa.types.is_integer(kind) else "bytes_list"
