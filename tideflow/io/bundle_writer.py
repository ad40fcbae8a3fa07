"""Writing checkpoints in TensorFlow's second format. A reader finds the whole old checkpoint or the new one.

Everything is written under temporary names. Renaming the new table replaces an old checkpoint of the same
name. Until then the old data files remain: the new data files have another number of shards in their names.
After the old data files are deleted, the new ones get their usual names, in the same way: first each file has
both names, then the table is replaced, then the other names are deleted.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import uuid
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

import numpy as np
from google.protobuf.message import DecodeError

from tideflow.graph import errors
from tideflow.graph.arrays import dtype_of_array
from tideflow.graph.dtypes import DType, string
from tideflow.graph.varints import encode_varint
from tideflow.interrupts import deferred
from tideflow.io.bundle import lengths_crc
from tideflow.io.bundle_format import (
    CHUNK,
    HEADER_KEY,
    VERSION,
    BundleEntryProto,
    BundleHeaderProto,
    index_path,
    shard_path,
    slice_message,
)
from tideflow.io.checksums import crc32c, mask
from tideflow.io.local_files import as_tensorflow_errors, local_path, rename, sync, sync_folder
from tideflow.io.slices import TensorSlice, region_shape
from tideflow.io.tables import read_table, write_table


class BundleWriter:
    """Writes a bundle of one shard, within a `with` block. An error in the block leaves no files behind."""

    def __init__(self, prefix: str | bytes | os.PathLike[str]) -> None:
        self.prefix = local_path(prefix)
        self._temporary = temporary_name(self.prefix)
        self._entries: dict[bytes, Any] = {}
        self._offset = 0

    def __enter__(self) -> BundleWriter:
        _make_folder_of(self.prefix)
        with as_tensorflow_errors(self.prefix):
            self._file: BinaryIO = open(self._temporary, "wb", buffering=0)
        return self

    def __exit__(self, kind: Any, *exc: Any) -> None:
        try:
            with self._file, as_tensorflow_errors(self.prefix):
                if kind is None:
                    sync(self._file)
            if kind is None:
                commit(self.prefix, [self._temporary], self._entries)
        finally:
            _remove([self._temporary])

    def add(self, name: str, value: np.ndarray, dtype: DType | None = None) -> None:
        """Adds a tensor. `dtype` is needed for quantized integers, whose arrays hold plain ones."""
        self._add(_checked(name), value, dtype)

    def add_slice(
        self,
        name: str,
        shape: tuple[int, ...],
        part: TensorSlice,
        value: np.ndarray,
        dtype: DType | None = None,
    ) -> None:
        """Adds a slice of a tensor of this shape."""
        if region_shape(part.region(shape)) != value.shape:
            raise errors.invalid_argument(
                f"Slice {part} of {list(shape)} of {name!r} is not of the shape {list(value.shape)}",
            )
        if part.covers(shape):
            self.add(name, value, dtype)
            return
        dtype = dtype or dtype_of_array(value)
        key = _checked(name)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = BundleEntryProto(dtype=dtype.as_datatype_enum)
            entry.shape.SetInParent()
            for size in shape:
                entry.shape.dim.add(size=size)
        elif not entry.slices or entry.dtype != dtype.as_datatype_enum:
            raise errors.invalid_argument(f"{name!r} is there already, whole or of another type")
        self._add(part.key(name), value, dtype)
        entry.slices.append(slice_message(part))

    def _add(self, key: bytes, value: np.ndarray, dtype: DType | None) -> None:
        if key in self._entries:
            raise errors.invalid_argument(f"Adding duplicate key: {key.decode(errors='replace')}")
        dtype = dtype or dtype_of_array(value)
        if dtype.numpy is None:
            raise errors.unimplemented(f"Tensors of type {dtype.name} cannot be saved")
        entry = BundleEntryProto(dtype=dtype.as_datatype_enum, offset=self._offset)
        entry.shape.SetInParent()
        for size in value.shape:
            entry.shape.dim.add(size=size)
        with as_tensorflow_errors(self.prefix):
            crc = self._write_strings(value) if dtype is string else self._write_numbers(value)
        entry.size, entry.crc32c = self._offset - entry.offset, mask(crc)
        self._entries[key] = entry

    def _write_numbers(self, value: np.ndarray) -> int:
        return self._write(np.ascontiguousarray(value).reshape(-1).view(np.uint8))

    def _write_strings(self, value: np.ndarray) -> int:
        strings = [item.encode() if isinstance(item, str) else item for item in value.reshape(-1).tolist()]
        lengths = [len(item) for item in strings]
        crc = lengths_crc(lengths)
        self._write(b"".join(map(encode_varint, lengths)))
        crc = self._write(mask(crc).to_bytes(4, "little"), crc)
        return self._write(b"".join(strings), crc)

    def _write(self, data: Any, crc: int = 0) -> int:
        """Writes bytes; returns the checksum of the bytes with checksum `crc` followed by these."""
        at = 0
        while at < len(data):
            chunk = data[at : at + CHUNK]
            crc = crc32c(chunk, crc)
            rest = memoryview(chunk)
            while rest:
                rest = rest[self._file.write(rest) :]
            at += CHUNK
        self._offset += len(data)
        return crc


def _make_folder_of(prefix: str) -> None:
    """Makes the directory of a bundle, but not its parents: if those are missing, the path is wrong."""
    folder = os.path.dirname(prefix)
    if folder and not os.path.isdir(folder):
        with as_tensorflow_errors(folder), contextlib.suppress(FileExistsError):
            os.mkdir(folder)


def _checked(name: str) -> bytes:
    key = name.encode(errors="surrogateescape")
    if not key or key.startswith(b"\0"):
        raise errors.invalid_argument(f"{name!r} cannot be the name of a tensor in a checkpoint")
    return key


# -------------------------------------------------------------------------------------------------- replacing


def temporary_name(path: str) -> str:
    """A name in the same directory that no other writer uses."""
    return f"{path}.tempstate{uuid.uuid4().int >> 64}"


@deferred  # an interrupt after the new table is in place must not undo what comes before it
def commit(prefix: str, data_files: Sequence[str], entries: dict[bytes, Any]) -> None:
    """Makes a bundle of these data files, one for each shard, and a table of these entries. The contents of
    the data files are on the disk already.
    """
    old = set(glob.glob(f"{glob.escape(prefix)}.data-?????-of-*"))
    shards = next(
        count
        for count in itertools.count(len(data_files))
        if not any(shard_path(prefix, i, count) in old for i in range(len(data_files)))
    )
    data = [shard_path(prefix, i, shards) for i in range(len(data_files))]
    try:
        with as_tensorflow_errors(prefix):
            for path, new in zip(data_files, data):
                os.replace(path, new)
        _replace_table(prefix, entries, shards)
    except BaseException:
        _remove(data)
        raise
    _remove(old)
    if shards != len(data):
        _settle(prefix, data, entries)


def _replace_table(prefix: str, entries: dict[bytes, Any], shards: int) -> None:
    header = BundleHeaderProto(num_shards=shards)
    header.version.producer = VERSION
    messages = sorted({HEADER_KEY: header, **entries}.items())
    table = temporary_name(index_path(prefix))
    try:
        with as_tensorflow_errors(prefix):
            with open(table, "wb") as file:
                write_table(file, ((key, message.SerializeToString()) for key, message in messages))
                sync(file)
            if os.path.exists(index_path(prefix)):  # the new data files, before the table that names them
                sync_folder(os.path.dirname(prefix))
            rename(table, index_path(prefix))
    finally:
        _remove([table])


def _settle(prefix: str, data: Sequence[str], entries: dict[bytes, Any]) -> None:
    """Gives the data files of a bundle their usual names, if the file system has hard links."""
    usual = [shard_path(prefix, i, len(data)) for i in range(len(data))]
    try:
        for path, new in zip(data, usual):
            os.link(path, new)
    except OSError:
        _remove(usual)
        return
    _replace_table(prefix, entries, len(data))
    _remove(data)


def _remove(paths: Iterable[str]) -> None:
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)


@deferred
def merge_bundles(
    prefixes: Iterable[str | bytes | os.PathLike[str]],
    target: str | bytes | os.PathLike[str],
    allow_missing: bool = False,
) -> None:
    """Merges several bundles into one: their data files are renamed, their tables joined."""
    target = local_path(target)
    data_files: dict[str, int] = {}
    entries: dict[bytes, Any] = {}
    sources = []
    for prefix in map(local_path, prefixes):
        if os.path.exists(index_path(prefix)):
            sources.append(prefix)
            _take_over(prefix, entries, data_files)
        elif not allow_missing:
            raise errors.not_found(f"{index_path(prefix)}; No such file or directory")
    _make_folder_of(target)
    commit(target, list(data_files), entries)
    for prefix in sources:
        if prefix != target:
            os.remove(index_path(prefix))


def _take_over(prefix: str, entries: dict[bytes, Any], data_files: dict[str, int]) -> None:
    """Adds a bundle's entries to `entries`; its shards get the next numbers."""
    table = dict(read_table(index_path(prefix)))
    try:
        header = BundleHeaderProto.FromString(table.pop(HEADER_KEY))
        found = {key: BundleEntryProto.FromString(data) for key, data in table.items()}
    except DecodeError:
        raise errors.data_loss(f"{index_path(prefix)}: an entry is not a message") from None
    except KeyError:
        raise errors.data_loss(f"{index_path(prefix)}: no header in the table") from None
    for key, entry in found.items():
        there = entries.get(key)
        if there is not None and not (there.slices and entry.slices):
            shown = key.decode(errors="backslashreplace")
            raise errors.invalid_argument(f"Two checkpoints to merge have the key {shown!r}")
        if there is not None:
            there.slices.extend(entry.slices)
            continue
        if not entry.slices:
            path = shard_path(prefix, entry.shard_id, header.num_shards)
            entry.shard_id = data_files.setdefault(path, len(data_files))
        entries[key] = entry
