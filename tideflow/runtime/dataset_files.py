"""Datasets of the contents of files: lines, records, rows; and a dataset that is cached in a file."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.graph import errors
from tideflow.graph.arrays import dtype_of_array
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import OpError
from tideflow.graph.tensor_proto import make_ndarray, tensor_proto
from tideflow.io.local_files import matching_paths
from tideflow.io.records import (
    LARGEST_INFLATED,
    RecordFile,
    TFRecordWriter,
    lines_of,
    open_for_reading,
    read_up_to,
    too_large,
)
from tideflow.runtime.datasets import (
    Dataset,
    Element,
    End,
    Iteration,
    OfOne,
    Pull,
    PullMany,
    as_cells,
    iter_pull,
    refuse,
)
from tideflow.runtime.values import to_numpy, to_torch
from tideflow.runtime.waiting import StepContext

_RECORDS_AT_A_TIME = 256
_BYTES_AT_A_TIME = 1 << 18


def string(value: bytes) -> np.ndarray:
    """A value that is a string."""
    return np.array(value, dtype=object)


def one_string(value: bytes) -> Element:
    """An element that is a string."""
    return (string(value),)


class Matches(Dataset):
    """The names of the files that match any of some patterns, sorted. Where none does, an error is first."""

    def __init__(self, patterns: Sequence[bytes]) -> None:
        self._patterns = patterns

    def iterate(self, iteration: Iteration) -> Pull:
        return iter_pull(self._found())

    def _found(self) -> Iterator[Element]:
        found = {path for pattern in self._patterns for path in matching_paths(pattern)}
        if not found:
            raise errors.not_found("Don't find any matched files")
        for path in sorted(found):
            yield (string(os.fsencode(path)),)


class Files(Dataset):
    """The contents of files, one file after the other: `read` lists a file's items, `parse` makes elements.

    A file that cannot be read raises an error once; the next pull continues with the next file.
    """

    def __init__(
        self,
        paths: Sequence[bytes],
        read: Callable[[bytes], Iterator[Any]],
        parse: Callable[[Any], Element] = one_string,
    ) -> None:
        self._paths, self._read, self._parse = list(paths), read, parse

    def iterate(self, iteration: Iteration) -> Pull:
        found, parse = self._contents(), self._parse
        return lambda context: parse(found())

    def iterate_many(self, iteration: Iteration) -> PullMany:
        if self._parse is not one_string:
            return super().iterate_many(iteration)
        paths = iter(self._paths)
        contents: Iterator[bytes] = iter(())

        def pull(context: StepContext, count: int) -> Element:
            nonlocal contents
            found: list[bytes] = []
            while len(found) < count:
                found.extend(itertools.islice(contents, count - len(found)))
                if len(found) < count:
                    path = next(paths, None)
                    if path is None:
                        break
                    contents = self._read(path)
            if not found:
                raise End
            return (as_cells(found),)

        return pull

    def _contents(self) -> Callable[[], Any]:
        paths = iter(self._paths)
        contents: Iterator[Any] | None = None

        def pull() -> Any:
            nonlocal contents
            while True:
                if contents is None:
                    path = next(paths, None)
                    if path is None:
                        raise End
                    contents = self._read(path)
                try:
                    return next(contents)
                except StopIteration:
                    contents = None
                except Exception:
                    contents = None
                    raise

        return pull


def lines(path: bytes, compression: str) -> Iterator[bytes]:
    """The lines of a file, without their line ends and, as in TensorFlow, without any carriage return."""
    with open_for_reading(path, compression) as file:
        for line in lines_of(file, path, compression):
            text = line.removesuffix(b"\n").replace(b"\r", b"")
            if text or line.endswith(b"\n"):
                yield text


def records(path: bytes, compression: str) -> Iterator[bytes]:
    """The records of a TFRecord file."""
    with RecordFile(path, compression) as file:
        while batch := file.take(_RECORDS_AT_A_TIME)[1]:
            yield from batch


def fixed_records(path: bytes, compression: str, header: int, size: int, footer: int) -> Iterator[bytes]:
    """Records of so many bytes each, between a header and a footer."""
    name = os.fsdecode(path)
    if compression and max(header, size + footer) > LARGEST_INFLATED:
        raise too_large(f"The header or a record of {name}")
    with open_for_reading(path, compression) as file:
        if not compression:  # an error before the first record, as in TensorFlow
            body = os.fstat(file.fileno()).st_size - header - footer
            _check_body(body, header, size, footer, name, errors.invalid_argument)
        total = len(read_up_to(file, header)) - header - footer
        ahead = b""
        while piece := read_up_to(file, max(size + footer - len(ahead), _BYTES_AT_A_TIME)):
            total += len(piece)
            ahead += piece
            whole = max(len(ahead) - footer, 0) // size * size
            for start in range(0, whole, size):
                yield ahead[start : start + size]
            ahead = ahead[whole:]
    _check_body(total, header, size, footer, name, errors.data_loss)


def _check_body(
    body: int, header: int, size: int, footer: int, name: str, refusal: Callable[[str], OpError]
) -> None:
    if body < 0 or body % size:
        raise refusal(
            f'Excluding the header ({header} bytes) and footer ({footer} bytes), input file "{name}" has '
            f"body length {body} bytes, which is not an exact multiple of the record length ({size} bytes)."
        )


class CsvQuotes:
    """Which quotes end a field of a CSV record: those before a delimiter or a line end. One elsewhere in a
    quoted field is a mistake, and the field goes on behind it.
    """

    def __init__(self, delimiter: bytes) -> None:
        ends = rb"[%s\r\n]|\Z" % re.escape(delimiter)
        self._delimiter = delimiter
        self._rest = re.compile(rb'[^"]*(?:(?:""|"(?!"|%s))[^"]*)*"(?=%s)' % (ends, ends))

    def are_open(self, line: bytes, open_before: bool = False) -> bool:
        """Whether a line, which may begin in an open field, ends in one."""
        at, quoted = 0, open_before
        while True:
            if not quoted and line[at : at + 1] == b'"':
                quoted, at = True, at + 1
            elif quoted:
                rest = self._rest.match(line, at)
                if rest is None:
                    return True
                quoted, at = False, rest.end()
                if line[at : at + 1] != self._delimiter:
                    return False
                at += 1
            else:
                at = line.find(self._delimiter, at) + 1
                if not at:
                    return False


def csv_records(
    path: bytes, compression: str, header: bool, use_quotes: bool, delimiter: bytes
) -> Iterator[bytes]:
    """The records of a CSV file. A quoted field may contain line ends."""
    with open_for_reading(path, compression) as file:
        pending: list[bytes] = []  # lines of a record whose quotes are still open
        size = 0
        skip, quotes = header, CsvQuotes(delimiter)
        for line in _at_any_line_end(lines_of(file, path, compression)):
            is_open = use_quotes and (bool(pending) or b'"' in line) and quotes.are_open(line, bool(pending))
            pending.append(line)
            size += len(line)
            if is_open:
                if compression and size > LARGEST_INFLATED:
                    raise too_large(f"A record of {os.fsdecode(path)}")
                continue
            record = b"".join(pending)
            pending, size = [], 0
            if skip:
                skip = False
                continue
            yield record.removesuffix(b"\n").removesuffix(b"\r")
        if pending:
            yield b"".join(pending).rstrip(b"\r\n")


def _at_any_line_end(given: Iterable[bytes]) -> Iterator[bytes]:
    """The lines that others are made of where carriage returns end lines as well."""
    for line in given:
        yield from line.splitlines(keepends=True) if b"\r" in line else (line,)


def queried(path: str, query: str, types: Sequence[DType]) -> Iterator[Element]:
    """The rows that a query of an SQLite database returns."""
    import sqlite3  # loaded when asked for

    connection = None
    try:
        connection = sqlite3.connect(
            f"file:{path}?mode=rw", uri=True, check_same_thread=False, isolation_level=None
        )
        for row in connection.execute(query):
            if len(row) != len(types):
                raise refuse(
                    f"The number of columns in query ({len(row)}) must match the number of elements in "
                    f"output_types ({len(types)})."
                )
            yield tuple(_cell(value, dtype) for value, dtype in zip(row, types, strict=True))
    except sqlite3.Error as error:
        raise errors.unknown(f"SQLite database '{path}': {error}") from error
    finally:
        if connection is not None:
            connection.close()


def _cell(value: Any, dtype: DType) -> Any:
    if dtype.torch is None:
        return string(value if isinstance(value, bytes) else b"" if value is None else str(value).encode())
    return to_torch(np.array(0 if value is None else value, dtype.as_numpy_dtype))


class FileCache(OfOne):
    """The source, cached in a TFRecord file by the first complete pass: a record for each component."""

    def __init__(self, source: Dataset, filename: str, components: int) -> None:
        super().__init__(source)
        self._path, self._components = f"{filename}.cached", components

    def iterate(self, iteration: Iteration) -> Pull:
        if os.path.exists(self._path):
            return iter_pull(self._cached())
        following = self.source.iterate(iteration)
        path = f"{self._path}.lock"
        writer: TFRecordWriter | None = None
        ended = False

        def close() -> None:
            nonlocal writer
            if writer is not None:
                writer.close()
                writer = None
                if os.path.exists(path):
                    os.remove(path)

        def pull(context: StepContext) -> Element:
            nonlocal writer, ended
            if ended:
                raise End
            if writer is None:
                if os.path.exists(path):
                    raise errors.already_exists(
                        f"There appears to be a concurrent caching iterator running: {path} exists. "
                        "Remove it if it is left over from an iterator that did not end.",
                    )
                writer = TFRecordWriter(path)
                iteration.at_end(close)
            try:
                element = following(context)
            except End:
                ended = True
                writer.flush()
                os.replace(path, self._path)
                close()
                raise
            for value in element:
                array = to_numpy(value)
                writer.write(tensor_proto(array, dtype_of_array(array)).SerializeToString())
            return element

        return pull

    def _cached(self) -> Iterator[Element]:
        with RecordFile(self._path) as file:
            element: list[Any] = []
            for _, record in file:
                element.append(to_torch(make_ndarray(TensorProto.FromString(record))))
                if len(element) == self._components:
                    yield tuple(element)
                    element = []

    def cardinality(self) -> int:
        return self.source.cardinality()


def checked_compression(name: str | bytes) -> str:
    """The name of a compression. Raises InvalidArgumentError if it is unknown."""
    word = name.decode() if isinstance(name, bytes) else name
    if word not in ("", "GZIP", "ZLIB"):
        raise refuse(f"Unsupported compression_type: {word}.")
    return word


def written_to_records(given: Iterator[Element], path: bytes, compression: str) -> None:
    """Writes elements, which are strings, into a TFRecord file."""
    with TFRecordWriter(path, compression or None) as writer:
        for (record,) in given:
            writer.write(record[()])
