"""Where the rows of a CSV file begin and end (quoted fields may hold line breaks), and which are faulty."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

CHUNK_BYTES = 1 << 22
LARGEST_ROW = 1 << 28  # bytes; a quote that is not closed would take the rest of the file
_QUOTE, _NEWLINES = 34, (10, 13)


class Chunk(NamedTuple):
    """Whole rows: their bytes, and where in the file they begin. `unclosed`: the line of an open quote."""

    begin: int
    data: bytes
    unclosed: bool = False


def chunks(
    file: BinaryIO, begin: int, end: float, delimiter: str = ",", size: int = CHUNK_BYTES
) -> Iterator[Chunk]:
    """The rows of a file from one byte to another, about `size` bytes at a time."""
    rest, at, wanted = b"", begin, size
    while True:
        read = file.read(int(min(wanted, end - at - len(rest))))
        data = rest + read
        if not data:
            return
        is_last = not read or at + len(data) >= end
        stop = end_of_rows(data, delimiter, is_last)
        if not stop:
            if not is_last and len(data) < LARGEST_ROW:
                rest, wanted = data, len(data)
                continue
            stop = data.find(b"\n") + 1 or len(data)
            yield Chunk(at, data[:stop], unclosed=True)
        else:
            yield Chunk(at, data[:stop])
        rest, at, wanted = data[stop:], at + stop, size


def end_of_rows(data: bytes, delimiter: str, is_last: bool) -> int:
    """Where the last whole row in some bytes ends, which begin with a row; 0 if none does.

    The last row of a file needs no line break.
    """
    if b'"' not in data:
        return len(data) if is_last else data.rfind(b"\n") + 1
    opening, closing = _quoted(data, delimiter)
    if len(opening) > len(closing):  # the last quote is not closed in here
        whole, end = False, int(opening[-1])
        opening = opening[:-1]
    else:
        whole, end = is_last, len(data)
    if whole:
        return len(data)
    for start, stop in zip(opening[::-1].tolist(), closing[::-1].tolist()):
        found = data.rfind(b"\n", stop, end)
        if found >= 0:
            return found + 1
        end = start
    return data.rfind(b"\n", 0, end) + 1


def _quoted(data: bytes, delimiter: str) -> tuple[np.ndarray, np.ndarray]:
    """Where quoted fields (or parts of them, between doubled quotes) begin and end."""
    array = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(array == _QUOTE)
    opening, closing = quotes[::2], quotes[1::2]
    before = array[opening - 1]
    begins = (before == ord(delimiter)) | (before == _NEWLINES[0]) | (before == _NEWLINES[1]) | (opening == 0)
    begins[1:] |= opening[1:] == closing[: len(opening) - 1] + 1  # a doubled quote
    if begins.all():
        return opening, closing
    # There are quotes within fields that are not quoted, which are characters like others.
    field = re.compile(rb'(?:^|(?<=[%s\n\r]))"(?:[^"]|"")*("|\Z)' % re.escape(delimiter.encode()), re.DOTALL)
    spans = [(match.start(), match.start(1), match.group(1)) for match in field.finditer(data)]
    return (
        np.array([start for start, _, _ in spans], np.int64),
        np.array([stop for _, stop, last in spans if last], np.int64),
    )


def whole_rows(
    data: bytes, columns: int, delimiter: str
) -> tuple[bytes, list[int], list[tuple[int, int, bytes]]]:
    """Divides rows into those that have the expected number of fields and the others.

    Returns:
      The bytes of the good rows, the line (from 0) that each of them begins in, and of each faulty row its
      line, number of fields and bytes.
    """
    lines = data.split(b"\n")
    if not lines[-1]:
        del lines[-1]
    good: list[bytes] = []
    begins: list[int] = []
    faulty: list[tuple[int, int, bytes]] = []
    largest = csv.field_size_limit(sys.maxsize)
    try:
        reader = csv.reader((line.decode("latin-1") + "\n" for line in lines), delimiter=delimiter)
        begin = 0
        while True:
            try:
                row = next(reader, None)
            except csv.Error:
                row = []
                faulty.append((begin, 0, lines[begin]))
                begin = reader.line_num
                continue
            if row is None:
                break
            text = b"\n".join(lines[begin : reader.line_num])
            if len(row) == columns:
                good.append(text)
                begins.append(begin)
            elif row:
                faulty.append((begin, len(row), text))
            begin = reader.line_num
    finally:
        csv.field_size_limit(largest)
    return b"\n".join([*good, b""]), begins, faulty
