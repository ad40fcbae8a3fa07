"""Queues: elements wait here between steps. Who cannot go on waits in line, and is woken in order.

An element is a tuple of values, one for each component. Elements come and go in rows: a tuple of values with
one more axis in front, along which the elements lie. What came in together stays together as long as it can,
so that a batch costs hardly more than an element. Nothing is lost: a dequeue that gives up, because its step
is cancelled or late, puts back what it had taken.
"""

from __future__ import annotations

import collections
import heapq
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.runtime.philox import Philox
from tideflow.runtime.values import unshared
from tideflow.runtime.waiting import ABSENT, PendingValue, wait_for

Element = tuple
Rows = tuple


class _Enqueuer:
    """Someone in line with rows to put in."""

    __slots__ = ("call", "error", "left", "rows")

    def __init__(self, rows: Rows):
        self.rows = rows
        self.left = len(rows[0])
        self.error: Exception | None = None
        self.call: Callable[[], Any] | None = None  # when it is done, or should look around

    @property
    def is_done(self) -> bool:
        return not self.left

    def result(self) -> None:
        """What its step gets: nothing but that it goes on."""

    def give(self, count: int) -> Rows:
        """The next `count` rows."""
        start = len(self.rows[0]) - self.left
        self.left -= count
        return _cut(self.rows, start, start + count)


class _Dequeuer:
    """Someone in line for rows, with what he has so far."""

    __slots__ = ("call", "error", "join", "partial", "parts", "taken", "wanted")

    def __init__(self, wanted: int, join: Callable[[list[Rows]], list[Any]], partial: bool = False):
        self.wanted = wanted
        self.join = join
        self.partial = partial  # fewer than wanted will do, once the queue is closed
        self.parts: list[Rows] = []
        self.taken = 0
        self.error: Exception | None = None
        self.call: Callable[[], Any] | None = None

    @property
    def is_done(self) -> bool:
        return not self.wanted

    def result(self) -> list[Any]:
        return self.join(self.parts)


class Queue:
    """First in, first out."""

    kind = "FIFOQueue"

    def __init__(
        self,
        name: str,
        dtypes: Sequence[DType],
        shapes: Sequence[TensorShape],
        capacity: int,
        session_closed: Callable[[], bool],
    ):
        self.name = name
        self.dtypes = tuple(dtypes)
        self.shapes = tuple(shapes)
        self.capacity = capacity if capacity >= 0 else 1 << 62
        self.closed = False
        self._session_closed = session_closed
        self._lock = threading.Lock()
        self._enqueuers: collections.deque[_Enqueuer] = collections.deque()
        self._dequeuers: collections.deque[_Dequeuer] = collections.deque()
        self._clear()

    # ------------------------------------------------------------------ the store, which kinds differ in

    def _clear(self) -> None:
        self._blocks: collections.deque[Rows] = collections.deque()
        self._count = 0

    def size(self) -> int:
        return self._count

    def _put(self, rows: Rows) -> None:
        self._blocks.append(rows)
        self._count += len(rows[0])

    def _take(self, count: int) -> list[Rows]:
        """`count` rows, of those that may be taken."""
        self._count -= count
        parts = []
        while count:
            block = self._blocks.popleft()
            there = len(block[0])
            if there > count:
                self._blocks.appendleft(_cut(block, count, there))
                block, there = _cut(block, 0, count), count
            parts.append(block)
            count -= there
        return parts

    def _put_back(self, parts: list[Rows]) -> None:
        self._blocks.extendleft(reversed(parts))
        self._count += sum(len(rows[0]) for rows in parts)

    def _available(self) -> int:
        """How many may be taken out now."""
        return self._count

    # ------------------------------------------------------------------ what steps do

    # Each waits, or gives a pending value where it `suspendable`.

    def enqueue(self, values: Sequence[Any], suspendable: bool = False) -> PendingValue | None:
        """One element; waits for room."""
        return self._enqueue_rows(self._as_rows(values), "enqueue", suspendable)

    def enqueue_many(self, values: Sequence[Any], suspendable: bool = False) -> PendingValue | None:
        """The rows of `values`, an element each; waits for room."""
        rows = self._checked_rows(values)
        return self._enqueue_rows(rows, "enqueue_many", suspendable) if len(rows[0]) else None

    def _enqueue_rows(self, rows: Rows, what: str, suspendable: bool) -> PendingValue | None:
        with self._lock:
            self._refuse_if_closed()
            if not self._enqueuers and len(rows[0]) <= self.capacity - self.size():
                self._put(rows)
                if self._dequeuers:
                    self._serve()
                return None
            what = f"{what} into '{self.name}', which is full"
            pending = self._stand_in_line(self._enqueuers, _Enqueuer(rows), what)
        return pending if suspendable else wait_for(pending)

    def dequeue(self, suspendable: bool = False) -> list[Any] | PendingValue:
        """One element; waits for one."""
        with self._lock:
            if not self._dequeuers and self._available():
                parts = self._take(1)
                if self._enqueuers:
                    self._serve()
                return _only(parts)
            what = f"dequeue from '{self.name}', which is empty"
            pending = self._stand_in_line(self._dequeuers, _Dequeuer(1, _only), what)
        return pending if suspendable else wait_for(pending)

    def dequeue_many(
        self, count: int, up_to: bool = False, suspendable: bool = False
    ) -> list[Any] | PendingValue:
        """`count` elements, stacked by component; `up_to`: fewer, once the queue is closed."""
        if count < 0:
            raise errors.invalid_argument(f"{self.kind} '{self.name}' requested {count} < 0 elements")
        self._check_shapes_known("DequeueMany" if not up_to else "DequeueUpTo")
        if count == 0:
            return [self._empty(i) for i in range(len(self.dtypes))]
        attempt = _Dequeuer(count, self._joined, partial=up_to)
        with self._lock:
            if not self._dequeuers and not self._enqueuers and count <= self._available():
                self._fill(attempt)
                return attempt.result()
            what = f"dequeue of {count} from '{self.name}', which has too few"
            pending = self._stand_in_line(self._dequeuers, attempt, what)
        return pending if suspendable else wait_for(pending)

    def close(self, cancel_pending_enqueues: bool = False) -> None:
        """No more elements come in; those inside can still be taken out."""
        with self._lock:
            if self.closed and not cancel_pending_enqueues:
                raise errors.cancelled(f"Queue '{self.name}' is already closed.")
            self.closed = True
            if cancel_pending_enqueues:
                for attempt in self._enqueuers:
                    attempt.error = errors.cancelled(
                        f"Enqueue operation was cancelled: '{self.name}' was closed"
                    )
                    _call(attempt)
                self._enqueuers.clear()
            self._serve()

    def wake(self) -> None:
        """Has everyone in line look around: the session closes."""
        with self._lock:
            for attempt in (*self._enqueuers, *self._dequeuers):
                _call(attempt)

    def report(self) -> dict[str, Any]:
        """How full the queue is, and who waits for it."""
        with self._lock:
            return {
                "name": self.name,
                "kind": self.kind,
                "size": self.size(),
                "capacity": self.capacity,
                "closed": self.closed,
                "waiting to enqueue": len(self._enqueuers),
                "waiting to dequeue": len(self._dequeuers),
            }

    # ------------------------------------------------------------------ standing in line

    def _stand_in_line(
        self, line: collections.deque, attempt: _Enqueuer | _Dequeuer, what: str
    ) -> PendingValue:
        """The pending value of who goes to the end of a line."""
        line.append(attempt)
        self._serve()
        return _InLine(self, line, attempt, what)

    def _give_up(self, line: collections.deque, attempt: _Enqueuer | _Dequeuer) -> None:
        line.remove(attempt)
        if line is self._dequeuers:
            self._put_back(attempt.parts)
        self._serve()

    def _serve(self) -> None:
        """Lets those in front go on as far as they can, and calls whoever is done."""
        while self._serve_enqueuer() or self._serve_dequeuer():
            pass

    def _serve_enqueuer(self) -> bool:
        if not self._enqueuers:
            return False
        attempt = self._enqueuers[0]
        room = min(attempt.left, self.capacity - self.size())
        if room <= 0:
            return False
        self._put(attempt.give(room))
        if attempt.is_done:
            _call(self._enqueuers.popleft())
        return True

    def _serve_dequeuer(self) -> bool:
        if not self._dequeuers:
            return False
        attempt = self._dequeuers[0]
        if self.closed and not self._enqueuers and self._available() < attempt.wanted:
            self._end_of_queue(attempt)
        moved = self._fill(attempt)
        if attempt.is_done or attempt.error is not None:
            _call(self._dequeuers.popleft())
            return True
        return moved

    def _fill(self, attempt: _Dequeuer) -> bool:
        count = min(attempt.wanted, self._available())
        if count <= 0:
            return False
        attempt.parts += self._take(count)
        attempt.taken += count
        attempt.wanted -= count
        return True

    def _end_of_queue(self, attempt: _Dequeuer) -> None:
        """Closed, and too few left: what is there for who takes that, an error for who wants all."""
        there, requested = self._available(), attempt.wanted + attempt.taken
        attempt.wanted = 0
        if attempt.partial and there + attempt.taken:
            attempt.wanted = there
            return
        self._put_back(attempt.parts)
        attempt.parts = []
        attempt.error = errors.out_of_range(
            f"{self.kind} '_{self.name}' is closed and has insufficient elements (requested {requested}, "
            f"current size {self.size()})",
        )

    def _refuse_if_closed(self) -> None:
        if self.closed:
            raise errors.cancelled(f"{self.kind} '{self.name}' is closed.")

    # ------------------------------------------------------------------ elements and batches

    def _as_rows(self, values: Sequence[Any]) -> Rows:
        """One element as rows."""
        for i, (value, shape) in enumerate(zip(values, self.shapes)):
            found = tuple(value.shape)
            if shape.tuple != found and not shape.is_compatible_with(TensorShape(found)):
                raise errors.invalid_argument(
                    f"Shape mismatch in tuple component {i}. Expected {brackets(shape.tuple)}, got "
                    f"{brackets(found)}",
                )
        return tuple([unshared(value)[None] for value in values])

    def _checked_rows(self, values: Sequence[Any]) -> Rows:
        for i, value in enumerate(values):
            if not value.ndim:
                raise errors.invalid_argument(
                    f"component {i} of enqueue_many must have at least one dimension"
                )
            if value.shape[0] != values[0].shape[0]:
                raise errors.invalid_argument(
                    f"All input tensors must have the same size in the 0th dimension. Component {i} has "
                    f"{value.shape[0]}, and should have {values[0].shape[0]}",
                )
        for i, (value, shape) in enumerate(zip(values, self.shapes)):
            if not shape.is_compatible_with(TensorShape(tuple(value.shape[1:]))):
                raise errors.invalid_argument(
                    f"Shape mismatch in tuple component {i}. Expected "
                    f"{brackets([values[0].shape[0], *shape.tuple])}, got "
                    f"{brackets(value.shape)}",
                )
        return tuple(map(unshared, values))

    def _check_shapes_known(self, what: str) -> None:
        if len(self.shapes) != len(self.dtypes) or any(not shape.is_fully_defined() for shape in self.shapes):
            raise errors.invalid_argument(
                f"{self.kind}'s {what} requires the components to have specified shapes."
            )

    def _empty(self, component: int) -> Any:
        shape = (0, *(size or 0 for size in self.shapes[component].tuple or ()))
        dtype = self.dtypes[component]
        return np.zeros(shape, object) if dtype.torch is None else torch.zeros(shape, dtype=dtype.torch)

    def _joined(self, parts: list[Rows]) -> list[Any]:
        return (
            list(parts[0]) if len(parts) == 1 else [_behind_each_other(v) for v in zip(*parts, strict=True)]
        )


class _InLine(PendingValue):
    """The pending value of someone in line."""

    def __init__(self, queue: Queue, line: collections.deque, attempt: _Enqueuer | _Dequeuer, what: str):
        self._queue, self._line, self._attempt, self.what = queue, line, attempt, what

    def get(self, call: Callable[[], Any]) -> Any:
        attempt = self._attempt
        with self._queue._lock:
            if attempt.error is not None:
                raise attempt.error
            if not attempt.is_done:
                attempt.call = call
                return ABSENT
        return attempt.result()

    def cancel(self) -> Any:
        attempt = self._attempt
        with self._queue._lock:
            if attempt in self._line:
                self._queue._give_up(self._line, attempt)
                return ABSENT
        return self.get(lambda: None)

    def closed(self) -> bool:
        return self._queue._session_closed()


def _call(attempt: _Enqueuer | _Dequeuer) -> None:
    if attempt.call is not None:
        attempt.call()


class RandomShuffleQueue(Queue):
    """Elements come out in random order; at least `min_after_dequeue` stay inside to be mixed with, until the
    queue is closed.
    """

    kind = "RandomShuffleQueue"

    def __init__(self, *args: Any, min_after_dequeue: int, seed: int, seed2: int):
        self._min_after_dequeue = min_after_dequeue
        if not seed and not seed2:
            seed, seed2 = (int(n) for n in np.random.default_rng().integers(1, 1 << 62, 2))
        self._words = _words(Philox.from_seeds(seed, seed2))
        super().__init__(*args)
        if self.capacity <= min_after_dequeue:
            raise errors.invalid_argument(
                f"capacity must be larger than min_after_dequeue, but are {self.capacity} and "
                f"{min_after_dequeue}",
            )

    def _clear(self) -> None:
        self._store: list[Element] = []

    def size(self) -> int:
        return len(self._store)

    def _put(self, rows: Rows) -> None:
        self._store.extend(_elements(rows))

    def _take(self, count: int) -> list[Rows]:
        store, chosen = self._store, []
        for left, word in zip(range(len(store), len(store) - count, -1), self._words):
            index = word % left
            chosen.append(store[index])
            store[index] = store[left - 1]
            store.pop()
        return [_stacked(chosen)]

    def _put_back(self, parts: list[Rows]) -> None:
        for rows in parts:
            self._put(rows)

    def _available(self) -> int:
        return len(self._store) - (0 if self.closed else self._min_after_dequeue)


class PriorityQueue(Queue):
    """The element with the least first component, an int64, comes out first."""

    kind = "PriorityQueue"

    def _clear(self) -> None:
        self._store: list[tuple[int, int, Element]] = []
        self._order = itertools.count()

    def size(self) -> int:
        return len(self._store)

    def _as_rows(self, values: Sequence[Any]) -> Rows:
        rows = super()._as_rows(values)
        self._check_priorities(rows[0])
        return rows

    def _checked_rows(self, values: Sequence[Any]) -> Rows:
        rows = super()._checked_rows(values)
        self._check_priorities(rows[0])
        return rows

    def _check_priorities(self, priorities: Any) -> None:
        if priorities.ndim != 1:
            raise errors.invalid_argument(
                "Expected the priority element to be a scalar, but received shape: "
                f"{list(priorities.shape[1:])}",
            )

    def _put(self, rows: Rows) -> None:
        for priority, element in zip(rows[0].tolist(), _elements(rows), strict=True):
            heapq.heappush(self._store, (priority, next(self._order), element))

    def _take(self, count: int) -> list[Rows]:
        return [_stacked([heapq.heappop(self._store)[2]]) for _ in range(count)]

    def _put_back(self, parts: list[Rows]) -> None:
        for rows in parts:
            self._put(rows)

    def _available(self) -> int:
        return len(self._store)


class PaddingQueue(Queue):
    """Elements of different sizes: a batch of them is padded with zeros to the largest."""

    kind = "PaddingFIFOQueue"

    def _check_shapes_known(self, what: str) -> None:
        if len(self.shapes) != len(self.dtypes) or any(shape.ndims is None for shape in self.shapes):
            raise errors.invalid_argument(f"{self.kind}'s {what} requires the components' ranks to be known.")

    def _joined(self, parts: list[Rows]) -> list[Any]:
        return [_padded(values) for values in zip(*parts, strict=True)]


def _cut(rows: Rows, start: int, stop: int) -> Rows:
    return rows if stop - start == len(rows[0]) else tuple([value[start:stop] for value in rows])


def _only(parts: list[Rows]) -> list[Any]:
    """The one element that these rows are."""
    (rows,) = parts
    return [_first(value) for value in rows]


def _first(value: Any) -> Any:
    return value.select(0, 0) if isinstance(value, torch.Tensor) else value[0, ...]


def _elements(rows: Rows) -> Iterator[Element]:
    """Rows one by one; strings alone are bytes."""
    return zip(*[v.unbind(0) if isinstance(v, torch.Tensor) else list(v) for v in rows], strict=True)


def _stacked(elements: list[Element]) -> Rows:
    """What `_elements` took apart."""
    return tuple([_column(values) for values in zip(*elements, strict=True)])


def _column(values: Sequence[Any]) -> Any:
    if isinstance(values[0], torch.Tensor):
        return torch.stack(values)
    if isinstance(values[0], np.ndarray):
        return np.stack(values)
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _behind_each_other(values: Sequence[Any]) -> Any:
    return torch.cat(values) if isinstance(values[0], torch.Tensor) else np.concatenate(values)


def _padded(values: Sequence[Any]) -> Any:
    """Rows behind each other, filled up to the largest."""
    first, shapes = values[0], {tuple(value.shape[1:]) for value in values}
    if len(shapes) == 1:
        return _behind_each_other(values)
    largest = [max(sizes) for sizes in zip(*shapes, strict=True)]
    count = sum(map(len, values))
    if isinstance(first, torch.Tensor):
        made = first.new_zeros((count, *largest))
    else:
        made = np.full((count, *largest), b"", object)
    end = 0
    for value in values:
        start, end = end, end + len(value)
        made[(slice(start, end), *(slice(size) for size in value.shape[1:]))] = value
    return made


def _words(generator: Philox) -> Iterator[int]:
    """The stream's 32-bit words, one at a time."""
    for start in itertools.count(0, 256):
        yield from generator.words(start, 256).reshape(-1).tolist()
