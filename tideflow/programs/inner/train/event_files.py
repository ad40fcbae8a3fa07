"""`pywrap_tensorflow.EventsWriter`: loggers of libraries write their events into files with it."""

from __future__ import annotations

import os

from tensorboard.compat.proto.event_pb2 import Event

from tideflow.io.events import EventFile


class EventsWriter:
    """Writes events into one file, `<prefix>.out.tfevents.<seconds>.<host>`.

    Args:
      file_prefix: The path that the file's begins with.
    """

    def __init__(self, file_prefix: str | bytes):
        directory, stem = os.path.split(os.fsdecode(file_prefix))
        self._directory, self._stem = directory, stem
        self._file = EventFile(directory, stem=stem)

    def InitWithSuffix(self, suffix: str) -> None:
        """Makes the file, with a suffix to its name.

        Args:
          suffix: The suffix.
        """
        if not self._file.path:  # the file that is there keeps its name
            self._file = EventFile(self._directory, suffix, self._stem)
            self._file.open()

    def FileName(self) -> bytes:
        """The path of the file, which is made if it is not there yet."""
        self._file.open()
        return os.fsencode(self._file.path)

    def WriteEvent(self, event: Event) -> None:
        """Writes an event.

        Args:
          event: The event, a message.

        Raises:
          TypeError: If it is something else.
        """
        if not isinstance(event, Event):
            raise TypeError(f"Expected an event_pb2.Event proto,  but got {type(event)}")
        self._file.write(event)

    def Flush(self) -> bool:
        """Puts what is written so far on the disk."""
        self._file.flush()
        return True

    def Close(self) -> bool:
        """Ends the file."""
        self._file.close()
        return True
