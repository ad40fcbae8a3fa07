"""Checkpoints in TensorFlow's first format: one table of messages, each of which has a slice of a tensor.

The empty key has the list of tensors and slices, each slice's key has its values. A sharded checkpoint is
several such files, which a pattern matches.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
from tensorboard.compat.proto import tensor_pb2  # noqa: F401 (the schema names its message)

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import DataLossError, NotFoundError
from tideflow.graph.own_protos import make_messages
from tideflow.graph.shapes import TensorShape
from tideflow.graph.tensor_proto import make_ndarray, value_count, values_proto
from tideflow.io.bundle import BundleReader, Entry, is_array_shape
from tideflow.io.bundle_format import index_path, slice_from_message, slice_message
from tideflow.io.bundle_writer import temporary_name
from tideflow.io.local_files import PathLike, as_tensorflow_errors, local_path, matching_paths, rename, sync
from tideflow.io.slices import TensorSlice, region_shape
from tideflow.io.tables import read_table, write_table

_MESSAGES = make_messages(
    "saved_tensor_slice",
    {
        "SavedSliceMeta": {
            "name": "string",
            "shape": "tensorboard.TensorShapeProto",
            "type": "int32",
            "slice": "repeated tideflow.TensorSliceProto",
        },
        "SavedTensorSliceMeta": {"tensor": "repeated SavedSliceMeta", "versions": "tensorboard.VersionDef"},
        "SavedSlice": {
            "name": "string",
            "slice": "tideflow.TensorSliceProto",
            "data": "tensorboard.TensorProto",
        },
        "SavedTensorSlices": {"meta": "SavedTensorSliceMeta", "data": "SavedSlice"},
    },
)
_SavedTensorSlices = _MESSAGES["SavedTensorSlices"]
_HEADER_KEY = b""
_VERSION = 1

Part = tuple[str, tuple[int, ...], TensorSlice, np.ndarray, DType]


def open_checkpoint(prefix: PathLike) -> BundleReader:
    """A reader for the checkpoint of this prefix, of either format."""
    path = local_path(prefix)
    if os.path.exists(index_path(path)):
        return BundleReader(path)
    if os.path.isfile(path):
        return OldReader(path, [path])
    if os.path.isdir(path):
        raise _no_table(path, f"Failed precondition: {path}; Is a directory")
    with contextlib.suppress(NotFoundError):
        files = [name for name in matching_paths(path) if os.path.isfile(name)]
        if files:
            return OldReader(path, files)
    return BundleReader(path)  # raises the error for a missing checkpoint


def _no_table(path: str, reason: str) -> DataLossError:
    return errors.data_loss(
        f"Unable to open table file {path}: {reason}: perhaps your file is in a different file format and "
        "you need to use a different restore operator?"
    )


class OldReader(BundleReader):
    """A reader for the first format, with the interface of the second's. It reads all files at once."""

    def __init__(self, pattern: str, files: Iterable[str]) -> None:
        self._files: dict[int, int] = {}
        self._lock = threading.Lock()
        self._sound: set[bytes] = set()
        self.prefix = self._index = pattern
        self._entries: dict[bytes, Any] = {}
        for path in files:
            try:
                self._take_table(path)
            except DataLossError as error:
                raise _no_table(path, f"Data loss: {error.message}") from error
        self._entries = dict(sorted(self._entries.items()))

    def _take_table(self, path: str) -> None:
        for key, data in read_table(path):
            if key == _HEADER_KEY:
                self._take_header(data)
            else:
                self._entries[key] = data

    def _take_header(self, data: bytes) -> None:
        meta = self._parsed(_SavedTensorSlices, data, _HEADER_KEY).meta
        if meta.versions.min_consumer > _VERSION:
            raise errors.invalid_argument(
                f"{self._index}: Checkpoint min consumer version {meta.versions.min_consumer}"
            )
        for tensor in meta.tensor:
            known = self._entries.setdefault(tensor.name.encode(), tensor)
            if known is not tensor:
                known.slice.extend(tensor.slice)

    def _entry(self, key: bytes) -> Entry:
        found = self._entries[key]
        if not isinstance(found, bytes):
            return self._described(key, found)
        data = self._parsed(_SavedTensorSlices, found, key).data
        whole = self.entry(data.name)
        try:
            shape = region_shape(slice_from_message(data.slice).region(whole.shape))
        except ValueError as error:
            raise self._damaged(str(error), key) from None
        return Entry(key, whole.dtype, shape, 0, 0, len(found), 0, ())

    def _described(self, key: bytes, tensor: Any) -> Entry:
        shape = tuple(dim.size for dim in tensor.shape.dim)
        try:
            dtype = DType(tensor.type)
        except TypeError:
            raise self._damaged(f"unknown type {tensor.type}", key) from None
        if not is_array_shape(shape):
            raise self._damaged(f"shape {list(shape)[:65]}", key)
        return Entry(key, dtype, shape, 0, 0, 0, 0, tuple(map(slice_from_message, tensor.slice)))

    def place(self, name: str) -> str:
        """The files of the tensor: its values are inside of messages, so there is no byte."""
        self.entry(name)
        return self.prefix

    def _check_backed(self, parts: list[Entry], entry: Entry) -> None:
        """Nothing to check: every slice has its values in its own message."""

    def _file(self, entry: Entry) -> int:
        """Checks that the message has as many values as the shape says. There is no data file."""
        self._values(entry)
        return 0

    def _values(self, entry: Entry) -> Any:
        found = self._entries[entry.key]
        if not isinstance(found, bytes):
            raise self._damaged("no slices", entry.key)
        message = self._parsed(_SavedTensorSlices, found, entry.key).data.data
        message.dtype = entry.dtype.as_datatype_enum
        if value_count(message) != entry.count:
            raise self._damaged(f"{value_count(message)} values for shape {list(entry.shape)}", entry.key)
        return message

    def _read_stored(self, entry: Entry, into: np.ndarray | None = None) -> np.ndarray:
        message = self._values(entry)
        message.ClearField("tensor_content")
        message.tensor_shape.CopyFrom(TensorShape(entry.shape).as_proto())
        try:
            return make_ndarray(message)
        except (TypeError, ValueError, OverflowError) as error:
            raise self._damaged(str(error), entry.key) from None


def write_old_checkpoint(path: PathLike, parts: Iterable[Part]) -> None:
    """Writes a checkpoint of slices of tensors, each with its name, whole shape, slice, values and type."""
    path = local_path(path)
    header = _SavedTensorSlices()
    header.meta.versions.producer = _VERSION
    table: dict[bytes, bytes] = {}
    known: dict[str, Any] = {}
    for name, shape, part, value, dtype in parts:
        tensor = known.get(name)
        if tensor is None:
            tensor = known[name] = header.meta.tensor.add(name=name, type=dtype.as_datatype_enum)
            tensor.shape.CopyFrom(TensorShape(shape).as_proto())
        message = _SavedTensorSlices()
        message.data.name = name
        for target in (message.data.slice, tensor.slice.add()):
            target.CopyFrom(slice_message(part))
        message.data.data.CopyFrom(values_proto(value, dtype))
        key = part.key(name)
        if key in table:
            raise errors.invalid_argument(f"Adding duplicate key: {name}")
        table[key] = message.SerializeToString()
    table[_HEADER_KEY] = header.SerializeToString()
    temporary = temporary_name(path)
    try:
        with as_tensorflow_errors(path):
            with open(temporary, "wb") as file:
                write_table(file, sorted(table.items()))
                sync(file)
            rename(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
