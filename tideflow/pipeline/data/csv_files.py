"""CSV files as sources of blocks.

A column's type is the narrowest that all its cells fit: int, float or bytes. Types are guessed from the first
rows. A source that meets a cell that does not fit raises `WiderTypes`; the pass then begins again with them.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from tideflow.graph import errors
from tideflow.io.records import damage_of, open_for_reading
from tideflow.pipeline.data.csv_rows import CHUNK_BYTES, Chunk, chunks, whole_rows
from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Source, WiderTypes

TYPES = ("none", "int", "float", "bytes")  # the wider the later; "none" is a column of empty cells
_READ_AS = {"none": pa.binary(), "int": pa.int64(), "float": pa.float64(), "bytes": pa.binary()}
_HELD_AS = {"none": pa.binary(), "int": pa.int64(), "float": pa.float32(), "bytes": pa.binary()}
_EVENLY = 8  # parts, or a multiple of it: so that two, four or eight workers get equally much
_SAMPLE_BYTES = 1 << 18
_MARK = b"\xef\xbb\xbf"  # with which some programs begin a UTF-8 file
_LONG_INTEGER = 2.0**63  # from here on an integer is no int64, and a float may be one that was written out


@dataclass(frozen=True)
class CsvSource(Source):
    """The rows of a CSV file from one byte to another."""

    is_threaded = True
    path: str
    names: tuple[str, ...]
    begin: int = 0
    end: float = float("inf")
    types: Mapping[str, str] = field(default_factory=dict)
    # Columns whose type was given: a cell that does not fit makes its row faulty.
    fixed: frozenset[str] = frozenset()
    delimiter: str = ","
    problem: str = ""  # what is wrong with the file as a whole

    @property
    def size(self) -> int:
        return int(min(self.end, os.path.getsize(self.path)) - self.begin)

    def widened(self, types: Mapping[str, str]) -> CsvSource:
        """The same rows with wider types."""
        wider = {
            name: max(types.get(name, "none"), known, key=TYPES.index) for name, known in self.types.items()
        }
        return replace(self, types={**types, **wider})

    def blocks(self, faults: Faults) -> Iterator[pa.RecordBatch]:
        if self.problem:
            faults.add(self.path, 0, self.problem)
            return
        with _opened(self.path) as file:
            _skip(file, self.begin)
            at, last = self.begin, b""
            for chunk in chunks(file, self.begin, self.end, self.delimiter):
                at, last = chunk.begin + len(chunk.data), b""
                if damage_of(file) is not None and not chunk.data.endswith(b"\n"):
                    # The damage is within this row: what is there of it may look like a whole one.
                    whole, last = _without_last_line(chunk.data)
                    at, chunk = chunk.begin + len(whole), chunk._replace(data=whole)
                if chunk.unclosed:
                    faults.add(self.path, self._line(chunk.begin), "a quote is not closed", chunk.data)
                    continue
                block = self._block(chunk, faults)
                if block.num_rows:
                    yield block
            damage = damage_of(file)
        if damage is not None:
            reason = damage.message.removeprefix(f"{self.path}: ")
            faults.add(self.path, self._line(at), f"damaged from here on: {reason}", last)

    def _block(self, chunk: Chunk, faults: Faults) -> pa.RecordBatch:
        try:
            if not _may_be_hexadecimal(chunk.data):
                table = self._read(chunk.data, {name: _READ_AS[self._type(name)] for name in self.names})
                if not any(self._is_doubtful(name, table[name]) for name in self.names):
                    return self._as_lists(table)
        except pa.ArrowInvalid:
            pass
        return self._careful_block(chunk, faults)

    def _is_doubtful(self, name: str, column: pa.ChunkedArray) -> bool:
        kind = self._type(name)
        if kind == "none":
            return bool(column.null_count < len(column))
        if kind != "float":
            return False
        return _has_long_integers(column)

    def _careful_block(self, chunk: Chunk, faults: Faults) -> pa.RecordBatch:
        """The same, row by row and cell by cell where that is needed."""
        data, begins, faulty = whole_rows(chunk.data, len(self.names), self.delimiter)
        first = self._line(chunk.begin) if faulty else 0
        for line, count, text in faulty:
            fields = "1 field" if count == 1 else f"{count} fields"
            reason = f"{fields} instead of {len(self.names)}" if count else "is not CSV"
            faults.add(self.path, first + line, reason, text)
        table = self._read(data, {name: pa.binary() for name in self.names})
        wider: dict[str, str] = {}
        wrong = np.zeros(len(table), bool)
        for at, name in enumerate(self.names):
            kind = self._type(name)
            if kind == "bytes":
                continue
            cells = table[name].combine_chunks().dictionary_encode()
            found = [_type_of(cell) for cell in cells.dictionary.to_pylist()]
            widest = max(found, key=TYPES.index, default="none")
            if TYPES.index(widest) > TYPES.index(kind) and name not in self.fixed:
                wider[name] = widest
            elif name in self.fixed:
                misfits = np.array([TYPES.index(each) > TYPES.index(kind) for each in found], bool)
                bad = pc.fill_null(pa.array(misfits).take(cells.indices), False).to_numpy(
                    zero_copy_only=False
                )
                self._refuse(name, kind, np.flatnonzero(bad & ~wrong), table, chunk, begins, faults)
                wrong |= bad
            if name not in wider:
                table = table.set_column(at, name, _numbers(cells, kind, found))
        if wider:
            raise WiderTypes(wider)
        return self._as_lists(table.filter(pa.array(~wrong)))

    def _refuse(
        self,
        name: str,
        kind: str,
        rows: np.ndarray,
        table: pa.Table,
        chunk: Chunk,
        begins: Sequence[int],
        faults: Faults,
    ) -> None:
        first = self._line(chunk.begin) if len(rows) else 0
        for row in rows.tolist():
            cell = table[name][row].as_py()
            faults.add(self.path, first + begins[row], f"column {name} is no {kind}", cell)

    def _read(self, data: bytes, types: Mapping[str, pa.DataType]) -> pa.Table:
        if not data or data.isspace():
            return pa.table({name: pa.array([], kind) for name, kind in types.items()})
        return pa.csv.read_csv(
            pa.BufferReader(data),
            pa.csv.ReadOptions(column_names=self.names, use_threads=False, block_size=len(data) + 1),
            pa.csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            pa.csv.ConvertOptions(
                column_types=types, null_values=[""], strings_can_be_null=True, check_utf8=False
            ),
        )

    def _as_lists(self, table: pa.Table) -> pa.RecordBatch:
        every = pa.array(np.arange(len(table) + 1, dtype=np.int32))
        columns = []
        for name in self.names:
            column = table[name].combine_chunks().cast(_HELD_AS[self._type(name)])
            if not column.null_count:
                columns.append(pa.ListArray.from_arrays(every, column))
                continue
            missing = column.is_null()
            present = ~missing.to_numpy(zero_copy_only=False)
            offsets = np.concatenate([[0], np.cumsum(present)]).astype(np.int32)
            columns.append(pa.ListArray.from_arrays(pa.array(offsets), column.drop_null(), mask=missing))
        return pa.RecordBatch.from_arrays(columns, list(self.names))

    def _type(self, name: str) -> str:
        return self.types.get(name, "none")

    def _line(self, at: int) -> int:
        """The line, from 1, that begins at a byte of the file."""
        line = 1
        with _opened(self.path) as file:
            while at > 0 and (data := file.read(min(at, CHUNK_BYTES))):
                at -= len(data)
                line += data.count(b"\n")
        return line


def _without_last_line(data: bytes) -> tuple[bytes, bytes]:
    """Bytes up to the last line break, and those behind it."""
    end = data.rfind(b"\n") + 1
    return data[:end], data[end:]


def _may_be_hexadecimal(data: bytes) -> bool:
    """Whether there may be hexadecimal integers, which Arrow would read. Single bytes are found fast."""
    return (b"x" in data and b"0x" in data) or (b"X" in data and b"0X" in data)


def _type_of(cell: bytes | None) -> str:
    """The narrowest type of a cell, by Python's rules for numbers. An integer beyond 64 bits is bytes."""
    if not cell:
        return "none"
    try:
        return "int" if -(2**63) <= int(cell) < 2**63 else "bytes"
    except ValueError:
        pass
    try:
        float(cell)
    except ValueError:
        return "bytes"
    return "float"


def _numbers(cells: pa.DictionaryArray, kind: str, found: Sequence[str]) -> pa.Array:
    convert: Any = {"int": int, "float": float, "none": lambda cell: None}[kind]
    fit = TYPES.index(kind)
    values = [
        convert(cell) if TYPES.index(each) <= fit else None
        for cell, each in zip(cells.dictionary.to_pylist(), found)
    ]
    return pa.array(values, _READ_AS[kind]).take(cells.indices)


def csv_sources(
    files: Sequence[str],
    part_bytes: int,
    *,
    delimiter: str | None = None,
    column_names: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
) -> list[CsvSource]:
    """The parts of CSV files. Arguments are those of `find_sources`."""
    known = dict(types or {})
    for name, kind in known.items():
        if kind not in TYPES[1:]:
            raise errors.invalid_argument(
                f"types[{name!r}] is {kind!r}: it must be one of {', '.join(TYPES[1:])}"
            )
    sources: list[CsvSource] = []
    for path in files:
        chosen = delimiter or ("\t" if ".tsv" in os.path.basename(path) else ",")
        sources += _parts_of(path, part_bytes, chosen, column_names)
    guesses = dict(known)
    for source in {source.path: source for source in reversed(sources)}.values():
        for name, kind in _guessed(source).items():
            if name not in known:
                guesses[name] = max(guesses.get(name, "none"), kind, key=TYPES.index)
    fixed = frozenset(known)
    return [
        replace(source, types={name: guesses.get(name, "none") for name in source.names}, fixed=fixed)
        for source in sources
    ]


def _parts_of(
    path: str, part_bytes: int, delimiter: str, column_names: Sequence[str] | None
) -> Iterator[CsvSource]:
    names, begin, problem = _header(path, delimiter)
    with _opened(path) as file:
        if column_names is not None and not problem:
            names, begin = tuple(column_names), len(_MARK) if file.read(len(_MARK)) == _MARK else 0
        if not names or problem:
            yield CsvSource(path, names, problem=problem or "the file is empty: it has no line of names")
            return
        if not column_names and len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            yield CsvSource(path, names, problem=f"the column {twice} is there twice")
            return
        size = os.path.getsize(path)
        if size <= part_bytes or path.endswith(".gz"):
            yield CsvSource(path, names, begin, delimiter=delimiter)
            return
        part_bytes = math.ceil(size / _EVENLY / math.ceil(size / part_bytes / _EVENLY))
        at = begin
        for end in _ends_of_rows(file, begin, part_bytes, delimiter):
            if end - at >= part_bytes:
                yield CsvSource(path, names, at, end, delimiter=delimiter)
                at = end
        if at < size:
            yield CsvSource(path, names, at, delimiter=delimiter)


def _ends_of_rows(file: BinaryIO, begin: int, part_bytes: int, delimiter: str) -> Iterator[int]:
    """Places where rows end. Where the file has no quotes, they are found without looking at all rows."""
    file.seek(0)
    has_quotes = any(b'"' in data for data in iter(lambda: file.read(CHUNK_BYTES), b""))
    if has_quotes:
        file.seek(begin)
        yield from (chunk.begin + len(chunk.data) for chunk in chunks(file, begin, float("inf"), delimiter))
        return
    size = os.fstat(file.fileno()).st_size
    at = begin + part_bytes
    while at < size:
        file.seek(at - 1)
        file.readline()
        at = file.tell()
        yield at
        at += part_bytes


def _header(path: str, delimiter: str) -> tuple[tuple[str, ...], int, str]:
    """The names in the first row, where the second begins, and what is wrong with the file."""
    with _opened(path) as file:
        first = next(chunks(file, 0, float("inf"), delimiter, 1 << 16), None)
        damage = damage_of(file)
    if damage is not None and (first is None or b"\n" not in first.data):
        return (), 0, damage.message.removeprefix(f"{path}: ")
    if first is None:
        return (), 0, ""
    if first.data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return (), 0, "the file is UTF-16: convert it to UTF-8"
    stop = 0
    for stop in (at + 1 for at, byte in enumerate(first.data) if byte == 10):
        if first.data[:stop].count(b'"') % 2 == 0:
            break
    else:
        stop = len(first.data)
    if b"\0" in first.data[:stop]:
        return (), 0, "the file is not text: it has zero bytes"
    if re.search(rb"\r(?!\n|$)", first.data[:stop]):
        return (), 0, "lines end with a carriage return alone: convert it to line feeds"
    try:
        text = first.data[:stop].decode("utf-8-sig")
    except UnicodeDecodeError:
        return (), 0, "the names of the columns are not UTF-8"
    row = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    return tuple(row), stop, ""


def _guessed(source: CsvSource) -> dict[str, str]:
    """The types that the first rows of a file need."""
    if source.problem:
        return {}
    with _opened(source.path) as file:
        _skip(file, source.begin)
        first = next(chunks(file, source.begin, float("inf"), source.delimiter, _SAMPLE_BYTES), None)
        damage = damage_of(file)
    if first is None or first.unclosed:
        return {}
    data = first.data if damage is None else _without_last_line(first.data)[0]
    types = {name: pa.binary() for name in source.names}
    try:
        table = source._read(data, types)
    except pa.ArrowInvalid:
        table = source._read(whole_rows(data, len(source.names), source.delimiter)[0], types)
    return {name: _widest(table[name].combine_chunks(), _may_be_hexadecimal(data)) for name in source.names}


def _widest(cells: pa.Array, may_be_hexadecimal: bool) -> str:
    """The type that all cells fit. Numbers that Arrow reads, Python would read too, but slower."""
    cells = cells.drop_null()
    if not len(cells):
        return "none"
    if _type_of(cells[0].as_py()) == "bytes":
        return "bytes"
    for kind in () if may_be_hexadecimal else ("int", "float"):
        try:
            numbers = cells.cast(pa.string()).cast(_READ_AS[kind])
        except pa.ArrowInvalid:
            continue
        if kind == "int" or not _has_long_integers(numbers):
            return kind
    return max(map(_type_of, pc.unique(cells).to_pylist()), key=TYPES.index)


def _has_long_integers(numbers: pa.Array | pa.ChunkedArray) -> bool:
    """Whether floats may be integers beyond 64 bits, which are no numbers but bytes."""
    bounds = pc.min_max(numbers).as_py()
    return bounds["max"] is not None and max(-bounds["min"], bounds["max"]) >= _LONG_INTEGER


def _opened(path: str) -> BinaryIO:
    return open_for_reading(path, "GZIP" if path.endswith(".gz") else "", ends_at_damage=True)


def _skip(file: BinaryIO, count: int) -> None:
    if file.seekable():
        file.seek(count)
        return
    while count > 0 and (data := file.read(min(count, CHUNK_BYTES))):
        count -= len(data)
