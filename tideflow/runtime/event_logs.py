"""Logs that steps write to by themselves: the state behind a summary writer's handle."""

from __future__ import annotations

import os
import threading
import time
import weakref

from tensorboard.compat.proto.event_pb2 import Event

from tideflow.graph import errors
from tideflow.io.events import EventFile
from tideflow.io.local_files import local_path, make_folder


class EventLog:
    """A file of events, opened by a step, closed by one or with the session."""

    def __init__(self, name: str):
        self._name = name
        self._lock = threading.Lock()
        self._file: EventFile | None = None

    def open(self, folder: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        """Makes the file, unless the log is open: then it stays as it is."""
        with self._lock:
            if self._file is not None:
                return
            path = local_path(folder) or os.curdir
            make_folder(path)
            file = EventFile(path, suffix)
            file.open()
            self._file, self._end = file, weakref.finalize(self, file.close)
            self._most, self._seconds = max_queue, flush_millis / 1000
            self._pending, self._flushed = 0, time.monotonic()

    def write(self, event: Event) -> None:
        """Adds an event; it is on the disk when enough have come, or enough time has passed."""
        with self._lock:
            self._opened().write(event)
            self._pending += 1
            if self._pending > self._most or time.monotonic() - self._flushed > self._seconds:
                self._flush()

    def flush(self) -> None:
        """What was written is on the disk afterwards."""
        with self._lock:
            self._opened()
            self._flush()

    def close(self) -> None:
        """Ends the file; `open` makes another."""
        with self._lock:
            self._opened()
            self._file = None
            self._end()

    def _flush(self) -> None:
        self._file.flush()
        self._pending, self._flushed = 0, time.monotonic()

    def _opened(self) -> EventFile:
        if self._file is None:
            raise errors.not_found(
                f"The summary writer {self._name!r} is not open: run "
                "tf.contrib.summary.summary_writer_initializer_op() or tf.summary.initialize() first",
            )
        return self._file
