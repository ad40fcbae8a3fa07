"""Tables of sorted keys in LevelDB's format: blocks of entries that share prefixes, an index, a footer.

A file consists of data blocks, a metadata block (empty here), an index block with a key that separates each
data block from the next, and a footer of 48 bytes with the positions of the last two. A block ends with its
restart points: the positions of entries with a whole key. The compression and the masked checksum follow each
block.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from tideflow.graph import errors
from tideflow.graph.errors import DataLossError
from tideflow.graph.varints import decode_varint, encode_varint
from tideflow.io.checksums import masked_crc32c
from tideflow.io.local_files import as_tensorflow_errors
from tideflow.io.snappy import uncompressed

_MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOOTER_SIZE = 48
_TRAILER_SIZE = 5
_BLOCK_SIZE = 256 * 1024
_RESTART_INTERVAL = 16
# Of keys, for each byte of a file. A key shares the beginning of the one before, so short entries can name
# long keys; tables that TensorFlow writes repeat a key every 16 entries.
_KEY_BYTES_FOR_EACH_BYTE = 64
_PLAIN, _SNAPPY = 0, 1


# ---------------------------------------------------------------------------------------------------- writing


def write_table(file: BinaryIO, entries: Iterable[tuple[bytes, bytes]]) -> None:
    """Writes a table of entries, which must be in the order of their keys."""
    index = _Block(restart_interval=1)
    block = _Block(_RESTART_INTERVAL)
    offset = 0
    last_key: bytes | None = None
    for key, value in entries:
        if last_key is not None:
            if key <= last_key:
                raise ValueError(f"keys of a table must ascend: {key!r} comes after {last_key!r}")
            if block.size >= _BLOCK_SIZE:
                offset = _end_block(file, block, offset, index, _between(last_key, key))
                block = _Block(_RESTART_INTERVAL)
        block.add(key, value)
        last_key = key
    if last_key is not None:
        offset = _end_block(file, block, offset, index, _after(last_key))
    metadata = _Block(_RESTART_INTERVAL).contents()
    footer = _write_block(file, metadata, offset)
    offset += len(metadata) + _TRAILER_SIZE
    footer += _write_block(file, index.contents(), offset)
    file.write(footer.ljust(_FOOTER_SIZE - len(_MAGIC), b"\0") + _MAGIC)


class _Block:
    """A block being written. Each key is stored without the prefix that it shares with the key before."""

    def __init__(self, restart_interval: int) -> None:
        self._interval = restart_interval
        self._data = bytearray()
        self._restarts = [0]
        self._count = 0
        self._last_key = b""

    @property
    def size(self) -> int:
        return len(self._data)

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._count == self._interval:
            self._restarts.append(len(self._data))
            self._count = 0
        elif self._count:
            shared = _shared_length(key, self._last_key)
        for number in (shared, len(key) - shared, len(value)):
            self._data += encode_varint(number)
        self._data += key[shared:] + value
        self._last_key = key
        self._count += 1

    def contents(self) -> bytes:
        points = [*self._restarts, len(self._restarts)]
        return bytes(self._data) + struct.pack(f"<{len(points)}I", *points)


def _shared_length(a: bytes, b: bytes) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def _between(low: bytes, high: bytes) -> bytes:
    """A short key from `low` up to, but not including, `high`."""
    at = _shared_length(low, high)
    if at < min(len(low), len(high)) and low[at] + 1 < high[at]:
        return low[:at] + bytes([low[at] + 1])
    return low


def _after(key: bytes) -> bytes:
    """A short key that is not below `key`."""
    kept = len(key) - len(key.lstrip(b"\xff"))
    return key if kept == len(key) else key[:kept] + bytes([key[kept] + 1])


def _end_block(file: BinaryIO, block: _Block, offset: int, index: _Block, end_key: bytes) -> int:
    contents = block.contents()
    index.add(end_key, _write_block(file, contents, offset))
    return offset + len(contents) + _TRAILER_SIZE


def _write_block(file: BinaryIO, contents: bytes, offset: int) -> bytes:
    """Writes a block; returns its handle, which is its position and size."""
    typed = contents + bytes([_PLAIN])
    file.write(typed + struct.pack("<I", masked_crc32c(typed)))
    return encode_varint(offset) + encode_varint(len(contents))


# ---------------------------------------------------------------------------------------------------- reading


def is_table(path: str) -> bool:
    """Whether a file ends with the magic number of tables."""
    with as_tensorflow_errors(path), open(path, "rb") as file:
        file.seek(max(os.fstat(file.fileno()).st_size - len(_MAGIC), 0))
        return file.read() == _MAGIC


def read_table(path: str) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a table, in their order. Raises DataLossError with file and byte if it is damaged."""
    with as_tensorflow_errors(path), open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < _FOOTER_SIZE:
            raise _damaged(path, 0, f"file is too short to be an sstable: {size} bytes")
        limit = size - _FOOTER_SIZE
        footer = _read(file, path, limit, _FOOTER_SIZE)
        if not footer.endswith(_MAGIC):
            raise _damaged(path, size - len(_MAGIC), "not an sstable (bad magic number)")
        _, _, at = _handle(footer, 0, path, limit)
        index_offset, index_size, _ = _handle(footer, at, path, limit)
        index = _read_block(file, path, index_offset, index_size, limit)
        last_key = None
        key_bytes = _KEY_BYTES_FOR_EACH_BYTE * size
        for _, pointer in _entries(index, path, index_offset):
            offset, length, _ = _handle(pointer, 0, path, index_offset)
            block = _read_block(file, path, offset, length, limit)
            for key, value in _entries(block, path, offset):
                if last_key is not None and key <= last_key:
                    raise _damaged(path, offset, f"key {key!r} comes after {last_key!r}")
                key_bytes -= len(key)
                if key_bytes < 0:
                    raise _damaged(path, offset, "keys are far longer than the table")
                yield key, value
                last_key = key


def _damaged(path: str, at: int, what: str) -> DataLossError:
    return errors.data_loss(f"{path}: {what}, at byte {at}")


def _read(file: BinaryIO, path: str, offset: int, size: int) -> bytes:
    file.seek(offset)
    data = file.read(size)
    if len(data) != size:
        raise _damaged(path, offset + len(data), "truncated table")
    return data


def _handle(data: bytes, at: int, path: str, place: int) -> tuple[int, int, int]:
    """The position and size of a block from its handle, and the position after the handle."""
    try:
        offset, at = decode_varint(data, at)
        size, at = decode_varint(data, at)
    except ValueError:
        raise _damaged(path, place, "bad pointer to a block") from None
    return offset, size, at


def _read_block(file: BinaryIO, path: str, offset: int, size: int, limit: int) -> bytes:
    if offset + size + _TRAILER_SIZE > limit:
        raise _damaged(path, offset, f"a block of {size} bytes reaches beyond the end of the file")
    data = _read(file, path, offset, size + _TRAILER_SIZE)
    typed = data[:-4]
    if masked_crc32c(typed) != int.from_bytes(data[-4:], "little"):
        raise _damaged(path, offset, f"checksum of the block of {size} bytes does not match")
    if typed[-1] == _SNAPPY:
        try:
            return uncompressed(typed[:-1])
        except ValueError as error:
            raise _damaged(path, offset, f"a block that snappy compressed: {error}") from None
    if typed[-1] != _PLAIN:
        raise _damaged(path, offset + size, f"unknown compression {typed[-1]} of a block")
    return typed[:-1]


def _entries(block: bytes, path: str, offset: int) -> Iterator[tuple[bytes, bytes]]:
    count = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 * (count + 1)
    if len(block) < 4 or end < 0:
        raise _damaged(path, offset, f"a block of {len(block)} bytes cannot have {count} restart points")
    at, key = 0, b""
    while at < end:
        try:
            shared, start = decode_varint(block, at, end)
            fresh, start = decode_varint(block, start, end)
            length, start = decode_varint(block, start, end)
        except ValueError:
            raise _damaged(path, offset + at, "bad lengths of an entry") from None
        if shared > len(key) or start + fresh + length > end:
            raise _damaged(path, offset + at, "an entry reaches beyond its block")
        key = key[:shared] + block[start : start + fresh]
        at = start + fresh + length
        yield key, block[start + fresh : at]
