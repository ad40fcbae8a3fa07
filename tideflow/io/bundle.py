"""Reading checkpoints in TensorFlow's second format: tensors by name, whole or in slices, always checked.

The lengths in a file are compared with the files' sizes before they are used: a wrong length cannot make the
process allocate more memory than there are bytes to read. Damage raises a DataLossError that names file, key
and byte.
"""

from __future__ import annotations

import contextlib
import difflib
import math
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from tideflow.graph import errors
from tideflow.graph.dtypes import DType, string
from tideflow.graph.errors import DataLossError
from tideflow.graph.varints import decode_varint
from tideflow.io.bundle_format import (
    CHUNK,
    HEADER_KEY,
    LITTLE_ENDIAN,
    VERSION,
    BundleEntryProto,
    BundleHeaderProto,
    index_path,
    shard_path,
    slice_from_message,
)
from tideflow.io.checksums import crc32c, mask
from tideflow.io.local_files import as_tensorflow_errors, local_path
from tideflow.io.slices import TensorSlice, common, region_shape, within
from tideflow.io.tables import read_table
from tideflow.process import give_way

_MOST_AXES = 64  # NumPy's limit
_OPEN_AT_ONCE = 16  # shards; a process has a limited number of open files
_SLICE_KEY = b"\0"  # the prefix of the keys of slices


@dataclass(frozen=True)
class Entry:
    """The entry of a tensor, or of a slice of one, in a bundle's table."""

    key: bytes
    dtype: DType
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    crc32c: int
    slices: tuple[TensorSlice, ...]

    @property
    def name(self) -> str:
        """The key as text."""
        return self.key.decode(errors="backslashreplace")

    @property
    def count(self) -> int:
        return math.prod(self.shape)


def _identity(path: str) -> tuple[int, int]:
    """A value that differs for each file of this name, and for each version of the file."""
    with as_tensorflow_errors(path):
        found = os.stat(path)
    return found.st_ino, found.st_mtime_ns


class BundleReader:
    """An open bundle. Threads may share it."""

    def __init__(self, prefix: str | bytes | os.PathLike[str]) -> None:
        self._files: dict[int, int] = {}
        self._lock = threading.Lock()
        self._sound: set[bytes] = set()  # keys whose checksum was found right
        self.prefix = local_path(prefix)
        self._index = index_path(self.prefix)
        if not os.path.exists(self._index):
            raise errors.not_found(
                "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                f"{self.prefix}",
            )
        while not self._opened():
            self.close()

    def _opened(self) -> bool:
        """Reads the table and opens the data files. Returns False if the table was replaced meanwhile.

        An open file keeps its contents when a writer replaces the bundle. A data file that cannot be opened
        raises an error when it is read.
        """
        before = _identity(self._index)
        self._entries = dict(read_table(self._index))
        self._shards = self._read_header()
        for shard in range(min(self._shards, _OPEN_AT_ONCE)):
            with contextlib.suppress(OSError):
                self._files[shard] = os.open(shard_path(self.prefix, shard, self._shards), os.O_RDONLY)
        return before == _identity(self._index)

    def __enter__(self) -> BundleReader:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the data files. A later read opens them again."""
        self._sound.clear()
        while self._files:
            os.close(self._files.popitem()[1])

    __del__ = close

    def _read_header(self) -> int:
        data = self._entries.pop(HEADER_KEY, None)
        if data is None:
            raise self._damaged("no header in the table", HEADER_KEY)
        header = self._parsed(BundleHeaderProto, data, HEADER_KEY)
        if header.endianness != LITTLE_ENDIAN:
            raise errors.unimplemented(f"{self._index}: written by a big-endian machine")
        if header.version.min_consumer > VERSION:
            raise errors.invalid_argument(
                f"{self._index}: Checkpoint min consumer version {header.version.min_consumer} above current "
                f"version {VERSION}",
            )
        if header.num_shards < 0:  # a merge of no checkpoints has none
            raise self._damaged(f"{header.num_shards} shards", HEADER_KEY)
        return int(header.num_shards)

    def _parsed(self, message: Any, data: bytes, key: bytes) -> Any:
        try:
            return message.FromString(data)
        except DecodeError:
            raise self._damaged(f"not a {message.DESCRIPTOR.name}", key) from None

    def _damaged(self, what: str, key: bytes) -> DataLossError:
        shown = key.decode(errors="backslashreplace")
        return errors.data_loss(f"{self._index}: {what}, key {shown!r}")

    # ------------------------------------------------------------------------------------------------
    # contents

    def __contains__(self, name: str) -> bool:
        return bool(name) and not name.startswith("\0") and _key(name) in self._entries

    def __iter__(self) -> Iterator[str]:
        """The names of tensors, sorted."""
        return (_name(key) for key in self._entries if not key.startswith(_SLICE_KEY))

    def entry(self, name: str) -> Entry:
        """The entry of a tensor. Raises NotFoundError with the nearest names if there is none."""
        if name not in self:
            raise errors.not_found(f"Key {name} not found in checkpoint {self.prefix}{self._nearest(name)}")
        return self._entry(_key(name))

    def place(self, name: str) -> str:
        """The file and byte of a tensor; for a tensor in slices, the table that lists them."""
        entry = self.entry(name)
        if entry.slices:
            return self._index
        return f"{shard_path(self.prefix, entry.shard, self._shards)}, byte {entry.offset}"

    def _nearest(self, name: str) -> str:
        found = difflib.get_close_matches(name, self, n=3)
        shown = (f"{near} {list(self._entry(_key(near)).shape)}" for near in found)
        return f". The nearest keys are: {', '.join(shown)}" if found else ""

    def _entry(self, key: bytes) -> Entry:
        message = self._parsed(BundleEntryProto, self._entries[key], key)
        try:
            dtype = DType(message.dtype)
        except TypeError:
            raise self._damaged(f"unknown type {message.dtype}", key) from None
        shape = tuple(dim.size for dim in message.shape.dim)
        if message.shape.unknown_rank or not is_array_shape(shape):
            raise self._damaged(f"shape {list(shape)[: _MOST_AXES + 1]}", key)
        slices = tuple(map(slice_from_message, message.slices))
        place = message.shard_id, message.offset, message.size
        if min(place) < 0 or message.shard_id >= self._shards:
            raise self._damaged("shard {}, offset {}, size {}".format(*place), key)
        return Entry(key, dtype, shape, *place, message.crc32c, slices)

    # ------------------------------------------------------------------------------------------------ reading

    def read(self, name: str, part: TensorSlice | None = None, into: np.ndarray | None = None) -> np.ndarray:
        """The value of a tensor, or of a slice of it. Quantized integers become plain integers.

        If `into` is given, an array of bytes, a whole tensor of numbers is read into its memory.
        """
        entry = self.entry(name)
        whole = TensorSlice.whole(len(entry.shape))
        try:
            region = (part or whole).region(entry.shape)
        except ValueError as error:
            raise errors.invalid_argument(f"{self._index}: key {name!r}: {error}") from None
        if entry.slices:
            return self._read_sliced(entry, region)
        value = self._read_stored(entry, into)
        if region_shape(region) == entry.shape:
            return value
        return np.array(value[within(region, whole.region(entry.shape))])

    def verify(self, name: str) -> None:
        """Checks a tensor's checksum, with little memory.

        A later read of the tensor through the same open file does not check it again: writers replace files,
        they do not change them.
        """
        entry = self.entry(name)
        if entry.slices or entry.dtype is string or entry.dtype.is_bool:
            self.read(name)
        else:
            self._check_sum(entry, self._summed(entry, self._file(entry), None))
            self._sound.add(entry.key)

    def _read_sliced(self, entry: Entry, region: tuple[tuple[int, int], ...]) -> np.ndarray:
        candidates = [self._overlapping(entry, part, region) for part in entry.slices]
        parts = [part for part in candidates if part is not None]
        shape = region_shape(region)
        if sum(math.prod(region_shape(shared)) for _, _, shared in parts) != math.prod(shape):
            raise self._damaged(f"slices do not make up the part {list(region)} that is asked for", entry.key)
        self._check_backed([stored for stored, _, _ in parts], entry)
        value = np.empty(shape, entry.dtype.numpy)
        filled = np.zeros(shape, bool)
        for stored, place, shared in parts:
            target = within(shared, region)
            if filled[target].any():
                raise self._damaged("slices overlap", entry.key)
            filled[target] = True
            value[target] = self._read_stored(stored)[within(shared, place)]
        return value

    def _check_backed(self, parts: list[Entry], entry: Entry) -> None:
        """Raises DataLossError if slices of a tensor have more bytes than the files they are in."""
        wanted: dict[int, int] = {}
        for part in parts:
            wanted[part.shard] = wanted.get(part.shard, 0) + part.size
        for part in parts:
            if wanted[part.shard] > os.fstat(self._file(part)).st_size:
                raise self._damaged("slices overlap in their file", entry.key)

    def _overlapping(self, entry: Entry, part: TensorSlice, region: Any) -> tuple[Entry, Any, Any] | None:
        """The entry of a slice, its region, and the part of that in `region`; None if there is none."""
        try:
            place = part.region(entry.shape)
        except ValueError as error:
            raise self._damaged(str(error), entry.key) from None
        shared = common(place, region)
        if shared is None:
            return None
        key = part.key(_name(entry.key))
        if key not in self._entries:
            raise self._damaged(f"no data for the slice {part}", entry.key)
        stored = self._entry(key)
        if stored.dtype is not entry.dtype or stored.shape != region_shape(place) or stored.slices:
            raise self._damaged(f"the data for the slice {part} is of another type or shape", entry.key)
        self._file(stored)
        return stored, place, shared

    def _file(self, entry: Entry) -> int:
        """The open file with an entry's bytes. Raises DataLossError if the file does not have them."""
        path = shard_path(self.prefix, entry.shard, self._shards)
        with self._lock:
            if entry.shard not in self._files:
                with as_tensorflow_errors(path):
                    self._files[entry.shard] = os.open(path, os.O_RDONLY)
        file = self._files[entry.shard]
        length = os.fstat(file).st_size
        if entry.offset + entry.size > length:
            raise self._lost(entry, f"{entry.size} bytes reach beyond the end of the file, {length}")
        if entry.dtype is string:
            least = entry.count + 4
            if entry.size < least:
                raise self._lost(entry, f"{entry.count} strings need more than {entry.size} bytes")
        elif entry.dtype.numpy is None:
            raise errors.unimplemented(
                f"{path}: key {entry.name!r}: tensors of type {entry.dtype.name} are not read"
            )
        elif entry.count * entry.dtype.size != entry.size:
            raise self._lost(entry, f"{entry.size} bytes for {entry.dtype.name}{list(entry.shape)}")
        return file

    def _lost(self, entry: Entry, what: str, at: int = 0) -> DataLossError:
        path = shard_path(self.prefix, entry.shard, self._shards)
        return errors.data_loss(f"{path}: key {entry.name!r}: {what}, at byte {entry.offset + at}")

    def _read_stored(self, entry: Entry, into: np.ndarray | None = None) -> np.ndarray:
        file = self._file(entry)
        if entry.dtype is string:
            return self._read_strings(entry, file)
        value: np.ndarray
        if into is None or into.size < entry.size:
            value = np.empty(entry.shape, entry.dtype.numpy)
        else:
            value = into[: entry.size].view(np.dtype(entry.dtype.numpy)).reshape(entry.shape)
        data = value.reshape(-1).view(np.uint8)
        if entry.key in self._sound:
            for _ in self._chunks(entry, file, data):
                pass
        else:
            self._check_sum(entry, self._summed(entry, file, data))
        if entry.dtype.is_bool and data.size and data.max() > 1:
            raise self._lost(entry, "a byte that is neither true nor false")
        return value

    def _check_sum(self, entry: Entry, crc: int) -> None:
        if mask(crc) != entry.crc32c:
            raise self._lost(entry, f"checksum of {entry.size} bytes does not match")

    def _summed(self, entry: Entry, file: int, data: np.ndarray | None) -> int:
        """Reads an entry's bytes into `data`, unless it is None; returns their checksum."""
        crc = 0
        for chunk in self._chunks(entry, file, data):
            crc = crc32c(chunk, crc)
        return crc

    def _chunks(self, entry: Entry, file: int, data: np.ndarray | None) -> Iterator[np.ndarray]:
        """Reads an entry's bytes into `data`, or into a small buffer if it is None, a chunk at a time.
        Between chunks a thread of the lowest priority lets others run.
        """
        at = 0
        spare: np.ndarray = np.empty(CHUNK if data is None else 0, np.uint8)
        while at < entry.size:
            chunk = spare[: entry.size - at] if data is None else data[at : at + CHUNK]
            count = os.preadv(file, [chunk.data], entry.offset + at)
            if not count:
                raise self._lost(entry, "the file ends", at)
            yield chunk[:count]
            at += count
            give_way()

    def _read_strings(self, entry: Entry, file: int) -> np.ndarray:
        """Reads the lengths, their checksum, then the strings.

        In the final checksum, lengths have a fixed size.
        """
        buffer = np.empty(entry.size, np.uint8)
        for _ in self._chunks(entry, file, buffer):
            pass
        data = buffer.tobytes()
        lengths, at = [], 0
        try:
            for _ in range(entry.count):
                length, at = decode_varint(data, at)
                lengths.append(length)
        except ValueError:
            raise self._lost(entry, "bad length of a string", at) from None
        crc = lengths_crc(lengths)
        if mask(crc) != int.from_bytes(data[at : at + 4], "little"):
            raise self._lost(entry, "checksum of the strings' lengths does not match", at)
        crc = crc32c(data[at : at + 4], crc)
        at += 4
        if at + sum(lengths) != entry.size:
            raise self._lost(entry, f"strings of {sum(lengths)} bytes in {entry.size - at}", at)
        if mask(crc32c(data[at:], crc)) != entry.crc32c:
            raise self._lost(entry, "checksum of the strings does not match", at)
        value = np.empty(entry.count, object)
        for i, length in enumerate(lengths):
            value[i] = data[at : at + length]
            at += length
        return value.reshape(entry.shape)


def lengths_crc(lengths: list[int]) -> int:
    """The checksum of the lengths of strings, each as 4 bytes, or 8 if 4 are too few."""
    return crc32c(b"".join(n.to_bytes(4 if n < 1 << 32 else 8, "little") for n in lengths))


def is_array_shape(shape: tuple[int, ...]) -> bool:
    """Whether an array of numbers, of 16 bytes at most, can have this shape."""
    if len(shape) > _MOST_AXES or any(size < 0 for size in shape):
        return False
    return math.prod(size for size in shape if size) * 16 < 1 << 63


def _key(name: str) -> bytes:
    return name.encode(errors="surrogateescape")


def _name(key: bytes) -> str:
    return key.decode(errors="surrogateescape")
