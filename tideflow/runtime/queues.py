"""Queues: elements that wait between steps. A step that finds a queue full or empty waits in line, and steps
in line are served in order.

An element is a tuple of values, one for each component. Elements come and go in rows: a tuple of values with
one more axis in front, along which the elements lie. Rows that were enqueued together stay together as long
as possible, so that a batch costs hardly more than an element. No element is lost: a dequeue that ends early,
because its step was cancelled or late, puts back what it had taken.
"""

from __future__ import annotations

import abc
import collections
import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import OpError
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.interrupts import Lock
from tideflow.runtime.philox import Philox
from tideflow.runtime.values import unshared
from tideflow.runtime.waiting import ABSENT, PendingValue

Element = tuple[Any, ...]
Rows = tuple[Any, ...]


class _InLine(PendingValue):
    """An enqueue or a dequeue that waits in line; its value is what the kernel returns."""

    def __init__(self, queue: Queue):
        self.queue = queue
        self.error: OpError | None = None
        self.wake: Callable[[], Any] = lambda: None  # when it is done, or its thread should re-check

    @property
    @abc.abstractmethod
    def is_done(self) -> bool:
        """Whether the queue has served it in full."""

    @abc.abstractmethod
    def result(self) -> Any:
        """What the kernel returns, when it is done."""

    @abc.abstractmethod
    def leave(self) -> bool:
        """Gives up the place in line, with the queue's lock held; False where it has been served already."""

    def get(self, wake: Callable[[], Any]) -> Any:
        with self.queue._lock:
            if self.error is not None:
                raise self.error
            if not self.is_done:
                self.wake = wake
                return ABSENT
        return self.result()

    def cancel(self) -> Any:
        with self.queue._lock:
            if self.leave():
                self.queue._serve()
                return ABSENT
        return self.get(lambda: None)

    def closed(self) -> bool:
        return self.queue._session_closed()


class _Enqueue(_InLine):
    """Rows that wait for room."""

    operation = "Enqueue operation"

    def __init__(self, queue: Queue, rows: Rows, what: str):
        super().__init__(queue)
        self.rows = rows
        self.left = len(rows[0])  # rows that are not in the queue yet
        self.what = what

    @property
    def is_done(self) -> bool:
        return not self.left

    def result(self) -> None:
        return None

    def leave(self) -> bool:
        line = self.queue._enqueues
        if self not in line:
            return False
        line.remove(self)
        return True

    def give(self, count: int) -> Rows:
        """The next `count` rows."""
        start = len(self.rows[0]) - self.left
        self.left -= count
        return _cut(self.rows, start, start + count)


class _Dequeue(_InLine):
    """A wait for rows, with those that it has got so far."""

    operation = "Dequeue operation"

    def __init__(
        self, queue: Queue, wanted: int, join: Callable[[list[Rows]], list[Any]], partial: bool = False
    ):
        super().__init__(queue)
        self.wanted = wanted
        self.join = join
        self.partial = partial  # fewer than wanted will do, once the queue is closed
        self.parts: list[Rows] = []
        self.taken = 0

    @property
    def is_done(self) -> bool:
        return not self.wanted

    def result(self) -> list[Any]:
        return self.join(self.parts)

    def leave(self) -> bool:
        line = self.queue._dequeues
        if self not in line:
            return False
        line.remove(self)
        self.queue._put_back(self.parts)
        return True


class Queue:
    """First in, first out."""

    kind = "FIFOQueue"
    takes_whole_batches = False  # or elements as they come

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
        self._lock = Lock()
        self._enqueues: collections.deque[_Enqueue] = collections.deque()
        self._dequeues: collections.deque[_Dequeue] = collections.deque()
        self._clear()

    # ------------------------------------------------------------------ the store, which kinds differ in

    def own_facts(self) -> dict[str, Any]:
        """What queues of one name and of this kind have in common, beside what all kinds have."""
        return {}

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

    # ------------------------------------------------------------------ what kernels call

    # Each returns a pending value where the step has to wait.

    def enqueue(self, values: Sequence[Any]) -> PendingValue | None:
        """Puts one element in, when there is room."""
        return self._enqueue_rows(self._as_rows(values), "enqueue")

    def enqueue_many(self, values: Sequence[Any]) -> PendingValue | None:
        """Puts the rows of `values` in, an element each, when there is room."""
        rows = self._checked_rows(values)
        return self._enqueue_rows(rows, "enqueue_many") if len(rows[0]) else None

    def _enqueue_rows(self, rows: Rows, what: str) -> PendingValue | None:
        with self._lock:
            self._refuse_if_closed()
            if not self._enqueues and len(rows[0]) <= self.capacity - self.size():
                self._put(rows)
                if self._dequeues:
                    self._serve()
                return None
            waiting = _Enqueue(self, rows, f"{what} into '{self.name}', which is full")
            self._enqueues.append(waiting)
            self._serve()
            return waiting

    def dequeue(self) -> list[Any] | PendingValue:
        """Takes one element out, when there is one."""
        with self._lock:
            if not self._dequeues and self._available():
                parts = self._take(1)
                if self._enqueues:
                    self._serve()
                return _only(parts)
            return self._wait_in_line(_Dequeue(self, 1, _only), f"dequeue from '{self.name}', which is empty")

    def dequeue_many(self, count: int, up_to: bool = False) -> list[Any] | PendingValue:
        """Takes `count` elements out, stacked by component; `up_to`: fewer, once the queue is closed."""
        if count < 0:
            raise errors.invalid_argument(f"{self.kind} '{self.name}' requested {count} < 0 elements")
        self._check_shapes_known()
        if count == 0:
            return [self._empty(i) for i in range(len(self.dtypes))]
        dequeue = _Dequeue(self, count, self._joined, partial=up_to)
        with self._lock:
            if not self._dequeues and not self._enqueues and count <= self._available():
                self._fill(dequeue)
                return dequeue.result()
            return self._wait_in_line(dequeue, f"dequeue of {count} from '{self.name}', which has too few")

    def close(self, cancel_pending_enqueues: bool = False) -> None:
        """No more elements come in; those inside can still be taken out."""
        with self._lock:
            if self.closed and not cancel_pending_enqueues:
                raise errors.cancelled(f"Queue '{self.name}' is already closed.")
            self.closed = True
            if cancel_pending_enqueues:
                for enqueue in self._enqueues:
                    enqueue.error = errors.cancelled(
                        f"Enqueue operation was cancelled: '{self.name}' was closed"
                    )
                    enqueue.wake()
                self._enqueues.clear()
            self._serve()

    def wake(self) -> None:
        """Has every step in line re-check whether it may wait longer: its session closes, or it was
        cancelled.
        """
        with self._lock:
            for waiting in (*self._enqueues, *self._dequeues):
                waiting.wake()

    def report(self) -> dict[str, Any]:
        """How full the queue is, and how many steps wait for it."""
        with self._lock:
            return {
                "name": self.name,
                "kind": self.kind,
                "size": self.size(),
                "capacity": self.capacity,
                "closed": self.closed,
                "waiting to enqueue": len(self._enqueues),
                "waiting to dequeue": len(self._dequeues),
            }

    # ------------------------------------------------------------------ the lines

    def _wait_in_line(self, dequeue: _Dequeue, what: str) -> PendingValue:
        dequeue.what = what
        self._dequeues.append(dequeue)
        self._serve()
        return dequeue

    def _serve(self) -> None:
        """Serves both lines from the front as far as possible, and wakes the steps that are done."""
        while self._serve_enqueue() or self._serve_dequeue():
            pass

    def _serve_enqueue(self) -> bool:
        if not self._enqueues:
            return False
        enqueue = self._enqueues[0]
        room = min(enqueue.left, self.capacity - self.size())
        if room <= 0:
            return False
        self._put(enqueue.give(room))
        if enqueue.is_done:
            self._enqueues.popleft().wake()
        return True

    def _serve_dequeue(self) -> bool:
        if not self._dequeues:
            return False
        dequeue = self._dequeues[0]
        if self.closed and not self._enqueues and self._available() < dequeue.wanted:
            self._end_of_queue(dequeue)
        moved = self._fill(dequeue)
        if dequeue.is_done or dequeue.error is not None:
            self._dequeues.popleft().wake()
            return True
        return moved

    def _fill(self, dequeue: _Dequeue) -> bool:
        count = min(dequeue.wanted, self._available())
        if count <= 0 or count < dequeue.wanted and self.takes_whole_batches:
            return False
        dequeue.parts += self._take(count)
        dequeue.taken += count
        dequeue.wanted -= count
        return True

    def _end_of_queue(self, dequeue: _Dequeue) -> None:
        """The queue is closed and has too few elements: a partial dequeue gets those, another one fails."""
        there, requested = self._available(), dequeue.wanted + dequeue.taken
        dequeue.wanted = 0
        if dequeue.partial and there + dequeue.taken:
            dequeue.wanted = there
            return
        self._put_back(dequeue.parts)
        dequeue.parts = []
        dequeue.error = errors.out_of_range(
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
                    f"Shape mismatch in tuple component {i}. Expected {brackets(shape.tuple or ())}, got "
                    f"{brackets(found)}",
                )
        return tuple([unshared(value)[None] for value in values])

    def _checked_rows(self, values: Sequence[Any]) -> Rows:
        for i, value in enumerate(values):
            if not value.ndim:
                expected = self.shapes[i].tuple if self.shapes else ()
                raise errors.invalid_argument(
                    f"Shape mismatch in tuple component {i}. Expected {brackets([None, *(expected or ())])}, "
                    "got []: a component of enqueue_many has rows",
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
                    f"{brackets([values[0].shape[0], *(shape.tuple or ())])}, got {brackets(value.shape)}",
                )
        return tuple(map(unshared, values))

    def _check_shapes_known(self) -> None:
        if len(self.shapes) != len(self.dtypes) or any(not shape.is_fully_defined() for shape in self.shapes):
            raise errors.invalid_argument(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes."
            )

    def _empty(self, component: int) -> Any:
        shape = (0, *(size or 0 for size in self.shapes[component].tuple or ()))
        dtype = self.dtypes[component]
        return np.zeros(shape, object) if dtype.torch is None else torch.zeros(shape, dtype=dtype.torch)

    def _joined(self, parts: list[Rows]) -> list[Any]:
        return list(parts[0]) if len(parts) == 1 else [_concatenated(v) for v in zip(*parts, strict=True)]


class RandomShuffleQueue(Queue):
    """Elements come out in random order; at least `min_after_dequeue` stay inside to be mixed with, until the
    queue is closed.
    """

    kind = "RandomShuffleQueue"

    def __init__(self, *args: Any, min_after_dequeue: int, seed: int, seed2: int):
        self._min_after_dequeue = min_after_dequeue
        self._seeds = seed, seed2
        if not seed and not seed2:
            seed, seed2 = (int(n) for n in np.random.default_rng().integers(1, 1 << 62, 2))
        self._words = _words(Philox.from_seeds(seed, seed2))
        super().__init__(*args)
        if self.capacity <= min_after_dequeue:
            raise errors.invalid_argument(
                f"min_after_dequeue {min_after_dequeue} must be < capacity {self.capacity}"
            )

    def own_facts(self) -> dict[str, Any]:
        given = {"random seeds": self._seeds} if any(self._seeds) else {}
        return {"min_after_dequeue": self._min_after_dequeue, **given}

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
        kept = 0 if self.closed else self._min_after_dequeue
        return max(0, len(self._store) - kept)


class PriorityQueue(Queue):
    """The element with the least first component, an int64, comes out first."""

    kind = "PriorityQueue"
    takes_whole_batches = True  # an element that is yet to come may precede those that are there

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

    def _check_shapes_known(self) -> None:
        if len(self.shapes) != len(self.dtypes) or any(shape.ndims is None for shape in self.shapes):
            raise errors.invalid_argument(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components' ranks to be known."
            )

    def _joined(self, parts: list[Rows]) -> list[Any]:
        return [_padded(values) for values in zip(*parts, strict=True)]


def _cut(rows: Rows, start: int, stop: int) -> Rows:
    return rows if stop - start == len(rows[0]) else tuple([value[start:stop] for value in rows])


def _only(parts: list[Rows]) -> list[Any]:
    """The element that these rows hold."""
    (rows,) = parts
    return [_first(value) for value in rows]


def _first(value: Any) -> Any:
    return value.select(0, 0) if isinstance(value, torch.Tensor) else value[0, ...]


def _elements(rows: Rows) -> Iterator[Element]:
    """The rows as elements; a string of an element is plain bytes."""
    return zip(*[v.unbind(0) if isinstance(v, torch.Tensor) else list(v) for v in rows], strict=True)


def _stacked(elements: list[Element]) -> Rows:
    """Elements as rows: the inverse of `_elements`."""
    return tuple([_column(values) for values in zip(*elements, strict=True)])


def _column(values: tuple[Any, ...]) -> Any:
    if isinstance(values[0], torch.Tensor):
        return torch.stack(values)
    if isinstance(values[0], np.ndarray):
        return np.stack(values)
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _concatenated(values: tuple[Any, ...]) -> Any:
    return torch.cat(values) if isinstance(values[0], torch.Tensor) else np.concatenate(values)


def _padded(values: tuple[Any, ...]) -> Any:
    """Rows one after the other, padded with zeros to the largest."""
    first, shapes = values[0], {tuple(value.shape[1:]) for value in values}
    if len(shapes) == 1:
        return _concatenated(values)
    largest = [max(sizes) for sizes in zip(*shapes, strict=True)]
    count = sum(map(len, values))
    is_tensor = isinstance(first, torch.Tensor)
    size = (count, *largest)
    made: Any = first.new_zeros(size) if is_tensor else np.full(size, b"", object)
    end = 0
    for value in values:
        start, end = end, end + len(value)
        made[(slice(start, end), *(slice(size) for size in value.shape[1:]))] = value
    return made


def _words(generator: Philox) -> Iterator[int]:
    """The stream's 32-bit words, one at a time."""
    for start in itertools.count(0, 256):
        yield from generator.words(start, 256).reshape(-1).tolist()
