"""Parquet and Arrow files as sources of blocks. Columns may be lists, or plain: then of one value each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tideflow.graph import errors
from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Source

_ROWS = 1 << 16  # of a block
_LARGEST = pa.scalar(2**63 - 1, pa.uint64())
_TEXTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
    pa.types.is_binary_view,
)


@dataclass(frozen=True)
class ArrowSource(Source):
    """Row groups of a Parquet file, or record batches of an Arrow file."""

    is_threaded = True
    path: str
    kind: str  # "parquet" or "arrow"
    groups: tuple[int, ...] | None = None  # None: all of a file that cannot be opened, which is a fault
    size: int = 0

    def blocks(self, faults: Faults) -> Iterator[pa.RecordBatch]:
        read = 0
        try:
            for batch in self._batches():
                first, read = read + 1, read + batch.num_rows
                names = batch.schema.names
                if len(set(names)) < len(names):
                    twice = next(name for name in names if names.count(name) > 1)
                    faults.add(self.path, 0, f"the column {twice} is there twice")
                    return
                yield as_block(self._without_large(batch, first, faults))
        except (pa.ArrowInvalid, OSError) as error:
            faults.add(
                self.path,
                read + 1 if read else 0,
                f"is no {self.kind} file, or is damaged: {str(error).strip()}",
            )

    def _without_large(self, batch: pa.RecordBatch, first: int, faults: Faults) -> pa.RecordBatch:
        """The rows whose integers have a sign and 64 bits; unsigned ones may be larger."""
        kept = np.ones(batch.num_rows, bool)
        for name, column in zip(batch.schema.names, batch.columns):
            if pa.types.is_uint64(column.type):
                large = pc.fill_null(pc.greater(column, _LARGEST), False).to_numpy(zero_copy_only=False)
                for row in np.flatnonzero(large & kept).tolist():
                    faults.add(self.path, first + row, f"column {name} is no int64", str(column[row]))
                kept &= ~large
        return batch if kept.all() else batch.filter(pa.array(kept))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        if self.kind == "parquet":
            with pq.ParquetFile(self.path) as file:
                yield from file.iter_batches(_ROWS, row_groups=self.groups, use_threads=False)
            return
        with pa.OSFile(self.path) as source:
            if self.groups is None:
                yield from pa.ipc.open_stream(source)
                return
            reader = pa.ipc.open_file(source)
            for number in self.groups:
                yield reader.get_batch(number)


def arrow_sources(files: Sequence[str], kind: str, part_bytes: int) -> list[ArrowSource]:
    """The parts of files."""
    return [part for path in files for part in _parts(path, kind, part_bytes)]


def _parts(path: str, kind: str, part_bytes: int) -> Iterator[ArrowSource]:
    size = os.path.getsize(path)
    try:
        if kind == "parquet":
            metadata = pq.read_metadata(path)
            sizes = [metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups)]
        else:
            with pa.OSFile(path) as source:
                count = pa.ipc.open_file(source).num_record_batches
            sizes = [size // max(1, count)] * count
    except (pa.ArrowInvalid, OSError):  # an Arrow stream, or nothing that can be read
        yield ArrowSource(path, kind, None, size)
        return
    groups: list[int] = []
    gathered = 0
    for number, its in enumerate(sizes):
        groups.append(number)
        gathered += its
        if gathered >= part_bytes:
            yield ArrowSource(path, kind, tuple(groups), gathered)
            groups, gathered = [], 0
    if groups:
        yield ArrowSource(path, kind, tuple(groups), gathered)


def as_block(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch of any columns in the form of blocks: numbers, texts and times become lists of one value."""
    columns = [_as_lists(name, column) for name, column in zip(batch.schema.names, batch.columns)]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names) if columns else batch


def _as_lists(name: str, column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _as_lists(name, column.dictionary_decode())
    if pa.types.is_map(kind):
        pair = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        return _as_lists(name, column.cast(pa.list_(pair)))
    if pa.types.is_struct(kind):
        children = [_as_lists(field.name, child) for field, child in zip(kind, column.flatten())]
        return pa.StructArray.from_arrays(children, [field.name for field in kind], mask=column.is_null())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _lists(column, name)
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.list_(pa.binary()))
    return _single(_plain(name, column))


def _lists(column: pa.Array, name: str) -> pa.Array:
    """Lists with plain values and 32-bit offsets. Nulls among the values are no values, and left out."""
    inner = column.flatten()
    present = column.is_valid().to_numpy(zero_copy_only=False)
    lengths = np.zeros(len(column), np.int64)
    filled = column.filter(column.is_valid())
    if pa.types.is_fixed_size_list(column.type):
        lengths[present] = column.type.list_size
    else:
        lengths[present] = np.diff(filled.offsets.to_numpy())
    is_nested = pa.types.is_nested(inner.type)
    if inner.null_count and not is_nested:
        rows = np.repeat(np.arange(len(column)), lengths)[inner.is_valid().to_numpy(zero_copy_only=False)]
        lengths = np.bincount(rows, minlength=len(column))
        inner = inner.drop_null()
    values = _nested(name, inner) if is_nested else _plain(name, inner)
    offsets = np.zeros(len(column) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.ListArray.from_arrays(
        pa.array(offsets), values, mask=None if present.all() else pa.array(~present)
    )


def _nested(name: str, column: pa.Array) -> pa.Array:
    return _as_lists(name, column) if pa.types.is_struct(column.type) else _lists(column, name)


def _single(values: pa.Array) -> pa.Array:
    present = values.is_valid().to_numpy(zero_copy_only=False)
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(present, out=offsets[1:])
    mask = None if present.all() else pa.array(~present)
    return pa.ListArray.from_arrays(pa.array(offsets), values.drop_null(), mask=mask)


def _plain(name: str, values: pa.Array) -> pa.Array:
    """Values as int64, float32, float64 or binary."""
    kind = values.type
    if kind in (pa.int64(), pa.float32(), pa.float64(), pa.binary()):
        return values
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return values.cast(pa.int64())
    if pa.types.is_floating(kind):
        return values.cast(pa.float32())
    if pa.types.is_decimal(kind):
        return values.cast(pa.float64())
    if pa.types.is_string_view(kind):
        return values.cast(pa.string()).cast(pa.binary())
    if any(is_kind(kind) for is_kind in _TEXTS):
        return values.cast(pa.binary())
    if pa.types.is_temporal(kind):
        return values.cast(pa.string()).cast(pa.binary())
    raise errors.invalid_argument(f"Column {name} is of type {kind}, which is no number and no text")
