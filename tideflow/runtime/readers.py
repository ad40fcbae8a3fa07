"""Readers: they take names from a queue and return the records of the file with each name.

Each element of the queue is a unit of work. A batch never contains records of two units. A unit is completed
when a read finds its end; for most kinds of readers that is the read after its last record.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from google.protobuf.message import DecodeError

from tideflow.graph import dtypes, errors
from tideflow.graph.errors import OpError
from tideflow.graph.own_protos import make_messages
from tideflow.interrupts import deferred
from tideflow.io.databases import lmdb_items
from tideflow.io.local_files import read_bytes
from tideflow.io.records import LARGEST_INFLATED, RecordFile, open_for_reading, read_up_to, too_large
from tideflow.runtime.conditions import Condition
from tideflow.runtime.queues import Queue
from tideflow.runtime.waiting import StepContext

Pair: TypeAlias = tuple[bytes, bytes]
Batch: TypeAlias = tuple[list[bytes], list[bytes]]  # keys and values


class Reader:
    """The base of all readers: units of work, counts, and one step at a time."""

    kind = ""
    ends_with_its_record = False  # whether a unit has one record, which completes it
    serializable = False

    def __init__(self, name: str, session_closed: Callable[[], bool]) -> None:
        self.name = name
        self._session_closed = session_closed
        self._changed = Condition()
        self._busy = False
        self._clear()

    def _clear(self) -> None:
        self.records_produced = 0
        self.units_started = 0
        self.units_completed = 0
        self._work = b""
        self._unit: Iterator[Pair] = iter(())
        self._damage: OpError | None = None

    def _records(self, work: bytes) -> Iterator[Pair]:
        """The keys and values of a unit of work."""
        raise AssertionError("each subclass lists its records")

    # ------------------------------------------------------------------ reading

    @deferred
    def read(self, queue: Queue, context: StepContext) -> Pair:
        """The next record; waits for work."""
        with self._alone(context):
            keys, values = self._next_records(queue, 1, context)
            return keys[0], values[0]

    @deferred
    def read_up_to(self, queue: Queue, count: int, context: StepContext) -> Batch:
        """The next records of the unit, at most `count`; waits for work."""
        with self._alone(context):
            return self._next_records(queue, count, context) if count > 0 else ([], [])

    @deferred
    def reset(self, context: StepContext) -> None:
        """Resets the reader to its initial state. The unit in progress is dropped."""
        with self._alone(context):
            self._clear()

    def wake(self) -> None:
        """Wakes the waiting steps, which check whether the session has been closed."""
        with self._changed:
            self._changed.notify_all()

    @contextlib.contextmanager
    def _alone(self, context: StepContext) -> Iterator[None]:
        """Waits until no other step uses the reader, and keeps others out during the `with` block.

        A waiting step can be cancelled.
        """
        entered = False
        try:
            with self._changed:
                context.wait(
                    self._changed,
                    lambda: not self._busy,
                    self._session_closed,
                    f"read from '{self.name}', which another step reads from",
                )
                entered = self._busy = True  # `entered` first: an interrupt may come between the two
            yield
        finally:
            if entered:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()

    def _next_records(self, queue: Queue, count: int, context: StepContext) -> Batch:
        while True:
            if self.units_started == self.units_completed:
                self._start(_next_work(queue, context))
            if self._damage is not None:
                raise self._damage
            keys, values = self._take(count)
            self.records_produced += len(keys)
            if self._damage is None and (len(keys) < count or self.ends_with_its_record):
                self.units_completed = self.units_started
            if keys:
                return keys, values

    def _start(self, work: bytes) -> None:
        self._unit = self._records(work)
        self._work = work
        self._damage = None
        self.units_started += 1

    def _take(self, count: int) -> Batch:
        """Records of the unit.

        The error of a damaged record is raised after the records before it are returned.
        """
        keys: list[bytes] = []
        values: list[bytes] = []
        try:
            for key, value in itertools.islice(self._unit, count):
                keys.append(key)
                values.append(value)
        except OpError as damage:
            self._damage = damage
            if not keys:
                raise
        return keys, values

    # ------------------------------------------------------------------ serialization

    @deferred
    def serialized(self, context: StepContext) -> bytes:
        """The reader's state, between two units of work."""
        if not self.serializable:
            raise errors.unimplemented(f"Reader SerializeState: {self.kind} '{self.name}' has none")
        with self._alone(context):
            state = _state_message()(
                work_started=self.units_started,
                work_finished=self.units_completed,
                num_records_produced=self.records_produced,
                current_work=self._work,
            )
            return bytes(state.SerializeToString())

    @deferred
    def restore(self, data: bytes, context: StepContext) -> None:
        """Restores a state that `serialized` has returned."""
        if not self.serializable:
            raise errors.unimplemented(f"Reader RestoreState: {self.kind} '{self.name}' has none")
        state = self._parsed(data)
        with self._alone(context):
            self._clear()
            self.units_started, self.units_completed = state.work_started, state.work_finished
            self.records_produced, self._work = state.num_records_produced, state.current_work
            if self.units_started > self.units_completed:
                self._unit = self._records(self._work)

    def _parsed(self, data: bytes) -> Any:
        whose = f"{self.kind} '{self.name}'"
        try:
            state = _state_message().FromString(data)
        except DecodeError:
            raise errors.invalid_argument(f"Could not parse state for {whose}: {data!r}") from None
        if min(state.work_started, state.work_finished, state.num_records_produced) < 0:
            raise errors.invalid_argument(f"Unexpected negative value when restoring in {whose}: {state}")
        if state.work_started > state.work_finished:
            raise errors.invalid_argument(
                f"Inconsistent work started vs. finished when restoring in {whose}: {state}"
            )
        return state


@functools.cache
def _state_message() -> Any:
    schema = {
        "ReaderBaseState": {
            "work_started": "int64",
            "work_finished": "int64",
            "num_records_produced": "int64",
            "current_work": "bytes",
        }
    }
    return make_messages("reader_base", schema)["ReaderBaseState"]


def _next_work(queue: Queue, context: StepContext) -> bytes:
    if queue.dtypes != (dtypes.string,):
        raise errors.invalid_argument(
            "Expected queue with single string component, but the components of "
            f"'{queue.name}' are {[dtype.name for dtype in queue.dtypes]}",
        )
    (name,) = context.resolve(queue.dequeue)
    work = np.asarray(name)
    if work.size != 1:
        raise errors.invalid_argument(
            f"Expected to dequeue a one-element string tensor from '{queue.name}', "
            f"but got {work.size} elements",
        )
    return bytes(work.item())


# ---------------------------------------------------------------------------------------------------- kinds


class IdentityReader(Reader):
    """The unit of work itself, as key and value."""

    kind = "IdentityReader"
    ends_with_its_record = True
    serializable = True

    def _records(self, work: bytes) -> Iterator[Pair]:
        return iter([(work, work)])


class WholeFileReader(Reader):
    """The name of a file as key, and its contents as value."""

    kind = "WholeFileReader"
    ends_with_its_record = True
    serializable = True

    def _records(self, work: bytes) -> Iterator[Pair]:
        return ((name, read_bytes(name)) for name in (work,))


class TextLineReader(Reader):
    """The lines of a file, without their line ends."""

    kind = "TextLineReader"

    def __init__(self, name: str, session_closed: Callable[[], bool], skip_header_lines: int) -> None:
        super().__init__(name, session_closed)
        self._skip = skip_header_lines

    def _records(self, work: bytes) -> Iterator[Pair]:
        return self._lines(work, open_for_reading(work))

    def _lines(self, work: bytes, file: Any) -> Iterator[Pair]:
        with file:
            for number, line in enumerate(itertools.islice(file, self._skip, None), self._skip + 1):
                yield b"%s:%d" % (work, number), line_without_end(line)


def line_without_end(line: bytes) -> bytes:
    r"""A line without the "\n" or "\r\n" that ends it, or the "\r" that ends the file."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


class FixedLengthRecordReader(Reader):
    """Records of one size between a header and a footer. Each begins `hop_bytes` after the one before."""

    kind = "FixedLengthRecordReader"

    def __init__(
        self,
        name: str,
        session_closed: Callable[[], bool],
        header_bytes: int,
        record_bytes: int,
        footer_bytes: int,
        hop_bytes: int,
        encoding: str = "",
    ) -> None:
        super().__init__(name, session_closed)
        sizes = {
            "header_bytes": header_bytes,
            "record_bytes": record_bytes,
            "footer_bytes": footer_bytes,
            "hop_bytes": hop_bytes,
        }
        for what, size in sizes.items():
            if size < 0:
                raise errors.invalid_argument(f"{what} must be >= 0 not {size}")
        self._header, self._record, self._footer = header_bytes, record_bytes, footer_bytes
        self._hop = hop_bytes or record_bytes
        self._encoding = encoding if encoding in ("GZIP", "ZLIB") else ""

    def _records(self, work: bytes) -> Iterator[Pair]:
        if self._encoding and max(self._header, self._hop, self._record + self._footer) > LARGEST_INFLATED:
            raise too_large(f"The header or a record of {work!r}")
        file = open_for_reading(work, self._encoding)
        if len(read_up_to(file, self._header)) < self._header:
            file.close()
            raise errors.out_of_range(
                f"reached end of file: {work!r} is shorter than its header of {self._header} bytes",
            )
        return self._pieces(work, file)

    def _pieces(self, work: bytes, file: Any) -> Iterator[Pair]:
        needed = self._record + self._footer
        with file:
            ahead = b""
            for number in itertools.count():
                ahead += read_up_to(file, needed - len(ahead))
                if len(ahead) < needed:
                    return
                yield b"%s:%d" % (work, number), ahead[: self._record]
                gap = self._hop - len(ahead)
                ahead = ahead[self._hop :]
                if gap > 0 and len(read_up_to(file, gap)) < gap:
                    return


class TFRecordReader(Reader):
    """The records of a TFRecord file."""

    kind = "TFRecordReader"

    def __init__(self, name: str, session_closed: Callable[[], bool], compression_type: str) -> None:
        super().__init__(name, session_closed)
        self._compression = compression_type

    def _start(self, work: bytes) -> None:
        self._file = RecordFile(work, self._compression)
        super()._start(work)

    def _records(self, work: bytes) -> Iterator[Pair]:
        return iter(())  # `_take` reads batches from the file

    def _take(self, count: int) -> Batch:
        offsets, records = self._file.take(count)
        self._damage = self._file.damage
        if len(records) < count:
            self._file.close()
        return [b"%s:%d" % (self._work, offset) for offset in offsets], records


class LMDBReader(Reader):
    """The keys and values of an LMDB database, in the order of the keys."""

    kind = "LMDBReader"

    def _records(self, work: bytes) -> Iterator[Pair]:
        return lmdb_items(work, f"LMDBReader '{self.name}'")
