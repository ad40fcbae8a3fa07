"""Event files: records that are Event messages. TensorBoard finds them by name, and reads on as they grow."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError
from tensorboard.compat.proto.event_pb2 import Event

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.errors import AlreadyExistsError
from tideflow.io.local_files import as_tensorflow_errors, local_path
from tideflow.io.records import RecordFile, TFRecordWriter

VERSION = "brain.Event:2"


class EventFile:
    """A file of events in a directory, made when the first is written; behind `close`, a new one is."""

    def __init__(self, directory: str, suffix: str = ""):
        self._directory, self._suffix = directory, suffix
        self._records: TFRecordWriter | None = None

    def open(self) -> None:
        """Makes the file if it is not there yet, with the event in it that says what it is."""
        if self._records is None:
            self._records = TFRecordWriter(_new_file(self._directory, self._suffix))
            self.write(Event(wall_time=time.time(), file_version=VERSION))

    def write(self, event: Event) -> None:
        self.open()
        self._records.write(event.SerializeToString())

    def flush(self) -> None:
        if self._records is not None:
            self._records.flush()

    def close(self) -> None:
        records, self._records = self._records, None
        if records is not None:
            records.close()


def _new_file(directory: str, suffix: str) -> str:
    """The path of a file that was not there: of two in the same second the later one has a number."""
    stem = os.path.join(directory, f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}")
    path, number = stem + suffix, 0
    while not _made(path):
        number += 1
        path = f"{stem}.{number}{suffix}"
    return path


def _made(path: str) -> bool:
    """Whether an empty file could be made, which nobody else has."""
    try:
        with as_tensorflow_errors(path):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except AlreadyExistsError:
        return False
    return True


@export("train.summary_iterator")
def summary_iterator(path: Any) -> Iterator[Event]:
    """The events of a file, one after the other."""
    with RecordFile(path) as file:
        for offset, record in file:
            try:
                yield Event.FromString(record)
            except DecodeError:
                raise errors.data_loss(
                    f"{local_path(path)}: the record at byte {offset} is not an Event"
                ) from None
