"""Event files that steps write: the state behind a summary writer's handle."""

from __future__ import annotations

import os
import time
import weakref

from tensorboard.compat.proto.event_pb2 import Event

from tideflow.graph import errors
from tideflow.interrupts import Lock
from tideflow.io.events import EventFile
from tideflow.io.local_files import local_path, make_folder


class EventLog:
    """An event file that a step opens. A step closes it, or it is closed with the session."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._file: EventFile | None = None

    def open(self, folder: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        """Makes the file, unless the log is open already."""
        with self._lock:
            if self._file is not None:
                return
            path = local_path(folder) or os.curdir
            make_folder(path)
            file = EventFile(path, suffix)
            file.open()
            file.flush()  # readers find the file's version at once
            self._file, self._end = file, weakref.finalize(self, file.close)
            self._most, self._seconds = max_queue, flush_millis / 1000
            self._pending, self._flushed = 0, time.monotonic()

    def write(self, event: Event) -> None:
        """Adds an event. The file is flushed after `max_queue` events or `flush_millis` milliseconds."""
        with self._lock:
            file = self._opened()
            file.write(event)
            self._pending += 1
            if self._pending > self._most or time.monotonic() - self._flushed > self._seconds:
                self._flush(file)

    def flush(self) -> None:
        """Writes all events to the disk."""
        with self._lock:
            self._flush(self._opened())

    def close(self) -> None:
        """Closes the file. `open` makes another."""
        with self._lock:
            self._opened()
            self._file = None
            self._end()

    def _flush(self, file: EventFile) -> None:
        file.flush()
        self._pending, self._flushed = 0, time.monotonic()

    def _opened(self) -> EventFile:
        if self._file is None:
            raise errors.not_found(
                f"The summary writer {self._name!r} is not open: run "
                "tf.contrib.summary.summary_writer_initializer_op() or tf.summary.initialize() first",
            )
        return self._file
