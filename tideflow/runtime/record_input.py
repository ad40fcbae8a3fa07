"""The records of many files in random order, epoch after epoch: the state of the op RecordInput."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tideflow.graph import errors
from tideflow.interrupts import Lock
from tideflow.io.local_files import matching_paths
from tideflow.io.records import RecordFile


class ShuffledRecords:
    """Every record once in each epoch.

    Files are read in random order, and records are drawn from a buffer.
    """

    def __init__(
        self, pattern: str, seed: int, shift_ratio: float, buffer_size: int, compression: str
    ) -> None:
        self._paths = matching_paths(pattern)
        if not self._paths:
            raise errors.not_found(f"No files match '{pattern}'")
        self._pattern = pattern
        self._rng = np.random.default_rng(seed)
        self._shift_ratio = shift_ratio
        self._buffer_size = max(1, buffer_size)
        self._compression = compression
        self._lock = Lock()
        self._epoch: Iterator[bytes] = iter(())

    def take(self, count: int) -> list[bytes]:
        """The next `count` records, which may be of several epochs."""
        with self._lock:
            taken: list[bytes] = []
            while len(taken) < count:
                record = next(self._epoch, None)
                if record is None:
                    self._epoch = self._shuffled()
                    record = next(self._epoch, None)
                if record is None:
                    raise errors.invalid_argument(f"No file of '{self._pattern}' has a record")
                taken.append(record)
            return taken

    def _shuffled(self) -> Iterator[bytes]:
        buffer: list[bytes] = []
        for record in self._in_file_order():
            buffer.append(record)
            if len(buffer) >= self._buffer_size:
                yield self._drawn(buffer)
        while buffer:
            yield self._drawn(buffer)

    def _in_file_order(self) -> Iterator[bytes]:
        order = self._rng.permutation(len(self._paths)).tolist()
        shift = int(self._shift_ratio * len(order))
        for i in order[shift:] + order[:shift]:
            with RecordFile(self._paths[i], self._compression) as file:
                for _, record in file:
                    yield record

    def _drawn(self, buffer: list[bytes]) -> bytes:
        i = int(self._rng.integers(len(buffer)))
        buffer[i], buffer[-1] = buffer[-1], buffer[i]
        return buffer.pop()
