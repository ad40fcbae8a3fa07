"""Event files: records of Event messages. TensorBoard finds them by name and follows them as they grow."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator

from google.protobuf.message import DecodeError
from tensorboard.compat.proto.event_pb2 import Event

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.errors import AlreadyExistsError
from tideflow.io.local_files import as_tensorflow_errors, local_path, sync_folder
from tideflow.io.records import RecordFile, TFRecordWriter

VERSION = "brain.Event:2"


class EventFile:
    """An event file in a directory. The first event makes the file; the first after `close` makes another.

    `path` is that of the file made last.
    """

    def __init__(self, directory: str, suffix: str = "", stem: str = "events") -> None:
        self._directory, self._suffix, self._stem = directory, suffix, stem
        self._records: TFRecordWriter | None = None
        self.path = ""

    def open(self) -> TFRecordWriter:
        """Makes the file if there is none, with a first event that has its version."""
        if self._records is None:
            self.path = _new_file(self._directory, self._stem, self._suffix)
            self._records = TFRecordWriter(self.path)
            self.write(Event(wall_time=time.time(), file_version=VERSION))
        return self._records

    def write(self, event: Event) -> None:
        self.open().write(event.SerializeToString())

    def flush(self) -> None:
        """The events so far are on the disk afterwards."""
        if self._records is not None:
            self._records._sync()

    def forget(self) -> None:
        """In a forked child: what is not written yet is the parent's to write."""
        records, self._records = self._records, None
        if records is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, records._file.fileno(), inheritable=False)
            os.close(nowhere)

    def close(self) -> None:
        records, self._records = self._records, None
        if records is not None:
            try:
                records._sync()
            finally:
                records.close()


def _new_file(directory: str, stem: str, suffix: str) -> str:
    """Makes an empty file with a new name; returns its path. Of two in the same second, one has a number."""
    stem = os.path.join(directory, f"{stem}.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}")
    path, number = stem + suffix, 0
    while not _made(path):
        number += 1
        path = f"{stem}.{number}{suffix}"
    return path


def _made(path: str) -> bool:
    """Makes an empty file; returns False if the file exists."""
    try:
        with as_tensorflow_errors(path):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            sync_folder(os.path.dirname(path) or os.curdir)
    except AlreadyExistsError:
        return False
    return True


@export("train.summary_iterator")
def summary_iterator(path: str | bytes | os.PathLike[str]) -> Iterator[Event]:
    """Reads the events of an event file.

    Args:
      path: The file.

    Yields:
      The Event messages, in their order.

    Raises:
      NotFoundError: If there is no such file.
      DataLossError: If the file is damaged.
    """
    with RecordFile(path) as file:
        for offset, record in file:
            try:
                yield Event.FromString(record)
            except DecodeError:
                raise errors.data_loss(
                    f"{local_path(path)}: the record at byte {offset} is not an Event"
                ) from None
