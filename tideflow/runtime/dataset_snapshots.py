"""Snapshots of datasets: the first pass writes the elements to files, from which later passes read them.

In the folder that a program names, datasets that are made in the same way have a folder of their own. It has
a folder of files for each pass that has written, and `snapshot.metadata`, which says which pass that was and
whether it has come to its end.
"""

from __future__ import annotations

import gzip
import os
import random
import secrets
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from google.protobuf.message import DecodeError

from tideflow.graph import errors
from tideflow.graph.arrays import dtype_of_array
from tideflow.graph.own_protos import make_messages
from tideflow.graph.tensor_proto import make_ndarray, tensor_proto
from tideflow.io.local_files import local_path
from tideflow.io.records import open_for_reading, read_up_to
from tideflow.runtime.datasets import Dataset, Element, End, Iteration, OfOne, Pull, iter_pull
from tideflow.runtime.values import to_numpy, to_torch
from tideflow.runtime.waiting import StepContext

_METADATA = "snapshot.metadata"
_LENGTH = struct.Struct("<Q")  # before each message of a file, of elements or metadata
_LARGEST_MESSAGE = 1 << 31  # bytes: protobuf takes no longer ones
_MESSAGES = make_messages(
    "snapshot.proto",
    {
        "SnapshotRecord": {"tensor": "repeated tensorboard.TensorProto"},
        "SnapshotMetadataRecord": {
            "graph_hash": "string",
            "run_id": "string",
            "creation_timestamp": "int64",
            "finalized": "1000 bool",
        },
    },
)
_Record, _Metadata = _MESSAGES["SnapshotRecord"], _MESSAGES["SnapshotMetadataRecord"]


@dataclass(frozen=True)
class Places:
    """Where a snapshot is, and how large its files are."""

    path: str
    compression: str
    reader_prefix: str
    writer_prefix: str
    shard_bytes: int
    expiry_seconds: int


class Snapshot(OfOne):
    """The source, written to files by the first pass and read from them when that has come to its end. A pass
    beside one that writes takes the elements of the source.

    A mode other than "auto" has every pass do the one or the other. `folder` is that of datasets which are
    made in this way. A run is named by chance, or as `run_id` says. `order` is the pair of seeds by which the
    files are shuffled when they are read, if they are; two zeros stand for chance.
    """

    def __init__(
        self,
        source: Dataset,
        places: Places,
        folder: str,
        run_id: str | None,
        mode: str,
        order: tuple[int, int] | None,
    ) -> None:
        super().__init__(source)
        self._places, self._mode, self._order, self._run_id = places, mode, order, run_id
        self._folder = os.path.join(local_path(places.path), folder)

    def cardinality(self) -> int:
        return self.source.cardinality()

    def iterate(self, iteration: Iteration) -> Pull:
        following: Pull | None = None

        def pull(context: StepContext) -> Element:
            nonlocal following
            following = following or self._begun(iteration)
            return following(context)

        return pull

    def _begun(self, iteration: Iteration) -> Pull:
        """The elements as they are to be had now."""
        if self._mode == "passthrough":
            return self.source.iterate(iteration)
        found = None if self._mode == "write" else self._metadata()
        if self._mode == "read" and (found is None or not found.finalized):
            raise errors.not_found(f"There is no finished snapshot in {self._folder}.")
        if found is not None and found.finalized:
            return iter_pull(self._read(self._run_id or found.run_id))
        if found is not None and not self._is_stale(found):
            return self.source.iterate(iteration)
        return self._written(iteration)

    def _is_stale(self, found: Any) -> bool:
        """Whether a pass that was to write has taken so long that it has presumably ended early."""
        age: float = time.time() - found.creation_timestamp / 1e6
        return age >= self._places.expiry_seconds

    # ------------------------------------------------------------------------------------------ metadata

    def _metadata(self) -> Any:
        """What the folder says of the pass that writes or has written; None before there was one."""
        path = os.path.join(self._folder, _METADATA)
        try:
            with open(path, "rb") as file:
                return _Metadata.FromString(next(_messages(file, path), b""))
        except FileNotFoundError:
            return None
        except DecodeError as error:
            raise errors.data_loss(f"{path} is not the metadata of a snapshot: {error}") from None

    def _write_metadata(self, run_id: str, finalized: bool) -> None:
        message = _Metadata(
            graph_hash=os.path.basename(self._folder),
            run_id=run_id,
            creation_timestamp=int(1e6 * time.time()),
            finalized=finalized,
        )
        path = os.path.join(self._folder, f"{_METADATA}.{run_id}")
        with open(path, "wb") as file:
            file.write(_with_length(message.SerializeToString()))
        os.replace(path, os.path.join(self._folder, _METADATA))

    # ------------------------------------------------------------------------------------------ elements

    def _read(self, run_id: str) -> Iterator[Element]:
        folder = _prefixed(self._places.reader_prefix, os.path.join(self._folder, run_id))
        if not os.path.isdir(folder):
            raise errors.not_found(f"{folder}; No such file or directory")
        for name in self._ordered(sorted(os.listdir(folder))):
            path = os.path.join(folder, name)
            with open_for_reading(path, self._places.compression) as file:
                for message in map(_Record.FromString, _messages(file, path)):
                    yield tuple([to_torch(make_ndarray(each)) for each in message.tensor])

    def _ordered(self, names: list[str]) -> list[str]:
        if self._order is not None:
            random.Random(str(self._order) if any(self._order) else None).shuffle(names)
        return names

    def _written(self, iteration: Iteration) -> Pull:
        run_id = self._run_id or secrets.token_hex(8)
        folder = _prefixed(self._places.writer_prefix, os.path.join(self._folder, run_id))
        os.makedirs(self._folder, exist_ok=True)
        os.makedirs(folder, exist_ok=True)
        self._write_metadata(run_id, finalized=False)
        following = self.source.iterate(iteration)
        files = _Shards(folder, self._places)
        iteration.at_end(files.close)

        def pull(context: StepContext) -> Element:
            try:
                element = following(context)
            except End:
                if not files.closed:
                    files.close()
                    self._write_metadata(run_id, finalized=True)
                raise
            files.write(element)
            return element

        return pull


class _Shards:
    """The files of one pass. A file that has reached its size is followed by another."""

    def __init__(self, folder: str, places: Places) -> None:
        self._folder, self._places = folder, places
        self._count = 0
        self._file: BinaryIO | None = None
        self.closed = False

    def write(self, element: Element) -> None:
        if self._file is None:
            path = os.path.join(self._folder, f"{self._count:08d}.snapshot")
            open_file: Any = gzip.open if self._places.compression else open
            self._file = open_file(path, "wb")
            self._count, self._bytes = self._count + 1, 0
        arrays = [to_numpy(value) for value in element]
        record = _Record(tensor=[tensor_proto(array, dtype_of_array(array)) for array in arrays])
        self._bytes += self._file.write(_with_length(record.SerializeToString()))
        if self._bytes >= self._places.shard_bytes:
            self._close_file()

    def close(self) -> None:
        self.closed = True
        self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _with_length(message: bytes) -> bytes:
    return _LENGTH.pack(len(message)) + message


def _messages(file: BinaryIO, path: str) -> Iterator[bytes]:
    """The messages of a file, each behind its length."""
    while header := read_up_to(file, _LENGTH.size):
        length = _LENGTH.unpack(header)[0] if len(header) == _LENGTH.size else -1
        message = read_up_to(file, length) if 0 <= length <= _LARGEST_MESSAGE else b""
        if len(message) != length:
            raise errors.data_loss(f"The file {path} of a snapshot is cut off or damaged.")
        yield message


def _prefixed(prefix: str, path: str) -> str:
    return f"{prefix.rstrip('/')}/{path.lstrip('/')}" if prefix else path
