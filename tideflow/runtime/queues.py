"""Queues: elements wait here between steps. Who cannot go on waits in line, and is woken in order.

An element is a tuple of values, one for each component. Nothing is lost: a dequeue that gives up, because its
step is cancelled or late, puts back what it had taken.
"""

from __future__ import annotations

import collections
import heapq
import itertools
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph.dtypes import DType
from tideflow.graph.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tideflow.graph.shapes import TensorShape
from tideflow.runtime.philox import Philox
from tideflow.runtime.waiting import wait

Element = tuple


class _Attempt:
    """Someone in line: elements still to put in, or taken out so far."""

    __slots__ = ("elements", "error", "partial", "wanted")

    def __init__(self, elements: Iterable[Element] = (), wanted: int = 0, partial: bool = False):
        self.elements = collections.deque(elements)
        self.wanted = wanted
        self.partial = partial  # fewer than wanted will do, once the queue is closed
        self.error: Exception | None = None


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
        self._changed = threading.Condition(self._lock)
        self._enqueuers: collections.deque[_Attempt] = collections.deque()
        self._dequeuers: collections.deque[_Attempt] = collections.deque()
        self._clear()

    # ------------------------------------------------------------------ the store, which kinds differ in

    def _clear(self) -> None:
        self._store: collections.deque[Element] = collections.deque()

    def _put(self, element: Element) -> None:
        self._store.append(element)

    def _take(self) -> Element:
        return self._store.popleft()

    def _put_back(self, elements: Iterable[Element]) -> None:
        self._store.extendleft(reversed(list(elements)))

    def _may_take(self) -> bool:
        return bool(self._store)

    # ------------------------------------------------------------------ what steps do

    def enqueue(self, values: Sequence[Any]) -> None:
        """One element; waits for room."""
        element = self._checked(values)
        with self._lock:
            self._refuse_if_closed()
            if not self._enqueuers and len(self._store) < self.capacity:
                self._put(element)
                if self._dequeuers:
                    self._serve()
                return
            self._stand_in_line(
                self._enqueuers, _Attempt([element]), f"enqueue into '{self.name}', which is full"
            )

    def enqueue_many(self, values: Sequence[Any]) -> None:
        """The rows of `values`, an element each; waits for room."""
        elements = self._rows(values)
        with self._lock:
            self._refuse_if_closed()
            if not elements:
                return
            attempt = _Attempt(elements)
            self._stand_in_line(self._enqueuers, attempt, f"enqueue_many into '{self.name}', which is full")

    def dequeue(self) -> list[Any]:
        """One element; waits for one."""
        with self._lock:
            if not self._dequeuers and self._may_take():
                element = self._take()
                if self._enqueuers:
                    self._serve()
                return list(element)
            attempt = _Attempt(wanted=1)
            self._stand_in_line(self._dequeuers, attempt, f"dequeue from '{self.name}', which is empty")
            return list(attempt.elements[0])

    def dequeue_many(self, count: int, up_to: bool = False) -> list[Any]:
        """`count` elements, each component along a new first axis; `up_to`: fewer, once the queue
        is closed.
        """
        if count < 0:
            raise InvalidArgumentError(
                None, None, f"{self.kind} '{self.name}' requested {count} < 0 elements"
            )
        self._check_shapes_known("DequeueMany" if not up_to else "DequeueUpTo")
        if count == 0:
            return [self._empty(i) for i in range(len(self.dtypes))]
        with self._lock:
            attempt = _Attempt(wanted=count, partial=up_to)
            if not self._dequeuers and not self._enqueuers:
                self._fill(attempt)
            if attempt.wanted:
                self._stand_in_line(
                    self._dequeuers, attempt, f"dequeue of {count} from '{self.name}', which has too few"
                )
        return self._joined(list(attempt.elements))

    def close(self, cancel_pending_enqueues: bool = False) -> None:
        """No more elements come in; those inside can still be taken out."""
        with self._lock:
            self.closed = True
            if cancel_pending_enqueues:
                for attempt in self._enqueuers:
                    attempt.error = CancelledError(
                        None, None, f"Enqueue operation was cancelled: '{self.name}' was closed"
                    )
                self._enqueuers.clear()
            self._serve()
            self._changed.notify_all()

    def size(self) -> int:
        return len(self._store)

    def wake(self) -> None:
        """Has everyone in line look around: the session closes."""
        with self._lock:
            self._changed.notify_all()

    def report(self) -> dict[str, Any]:
        """How full the queue is, and who waits for it."""
        with self._lock:
            return {
                "name": self.name,
                "kind": self.kind,
                "size": len(self._store),
                "capacity": self.capacity,
                "closed": self.closed,
                "waiting to enqueue": len(self._enqueuers),
                "waiting to dequeue": len(self._dequeuers),
            }

    # ------------------------------------------------------------------ standing in line

    def _stand_in_line(self, line: collections.deque[_Attempt], attempt: _Attempt, what: str) -> None:
        line.append(attempt)
        self._serve()
        is_done = (lambda: not attempt.elements) if line is self._enqueuers else (lambda: not attempt.wanted)
        try:
            wait(self._changed, lambda: attempt.error is not None or is_done(), self._session_closed, what)
        except BaseException:
            self._give_up(line, attempt)
            raise
        if attempt.error is not None:
            raise attempt.error

    def _give_up(self, line: collections.deque[_Attempt], attempt: _Attempt) -> None:
        if attempt in line:
            line.remove(attempt)
        if line is self._dequeuers and attempt.elements:
            self._put_back(attempt.elements)
        self._serve()

    def _serve(self) -> None:
        """Lets those in front go on as far as they can, and wakes whoever is done."""
        served = False
        while True:
            moved = self._serve_enqueuer() or self._serve_dequeuer()
            if not moved:
                break
            served = True
        if served:
            self._changed.notify_all()

    def _serve_enqueuer(self) -> bool:
        if not self._enqueuers:
            return False
        attempt, moved = self._enqueuers[0], False
        while attempt.elements and len(self._store) < self.capacity:
            self._put(attempt.elements.popleft())
            moved = True
        if not attempt.elements:
            self._enqueuers.popleft()
            return True
        return moved

    def _serve_dequeuer(self) -> bool:
        if not self._dequeuers:
            return False
        attempt = self._dequeuers[0]
        moved = self._fill(attempt)
        if attempt.wanted and self.closed and not self._enqueuers and not self._may_take():
            self._end_of_queue(attempt)
            moved = True
        if not attempt.wanted or attempt.error is not None:
            self._dequeuers.popleft()
            return True
        return moved

    def _fill(self, attempt: _Attempt) -> bool:
        moved = False
        while attempt.wanted and self._may_take():
            attempt.elements.append(self._take())
            attempt.wanted -= 1
            moved = True
        return moved

    def _end_of_queue(self, attempt: _Attempt) -> None:
        """Closed, and too few left: what is there for who takes that, an error for who wants all."""
        if attempt.partial and attempt.elements:
            attempt.wanted = 0
            return
        requested = attempt.wanted + len(attempt.elements)
        if attempt.elements:
            self._put_back(attempt.elements)
            attempt.elements.clear()
        attempt.error = OutOfRangeError(
            None,
            None,
            f"{self.kind} '_{self.name}' is closed and has insufficient elements (requested {requested}, "
            "current "
            f"size {len(self._store)})",
        )

    def _refuse_if_closed(self) -> None:
        if self.closed:
            raise CancelledError(None, None, f"{self.kind} '{self.name}' is closed.")

    # ------------------------------------------------------------------ elements and batches

    def _checked(self, values: Sequence[Any]) -> Element:
        for i, (value, shape) in enumerate(zip(values, self.shapes)):
            if shape.tuple != tuple(value.shape) and not shape.is_compatible_with(
                TensorShape(tuple(value.shape))
            ):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Shape mismatch in tuple component {i}. Expected {_brackets(shape)}, got "
                    f"{list(value.shape)}",
                )
        return tuple(values)

    def _rows(self, values: Sequence[Any]) -> list[Element]:
        for i, value in enumerate(values):
            if not value.ndim:
                raise InvalidArgumentError(
                    None, None, f"component {i} of enqueue_many must have at least one dimension"
                )
            if value.shape[0] != values[0].shape[0]:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"All input tensors must have the same size in the 0th dimension. Component {i} has "
                    f"{value.shape[0]}, and should have {values[0].shape[0]}",
                )
        for i, (value, shape) in enumerate(zip(values, self.shapes)):
            if not shape.is_compatible_with(TensorShape(tuple(value.shape[1:]))):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Shape mismatch in tuple component {i}. Expected [{values[0].shape[0]},"
                    f"{_brackets(shape)[1:]}, got {list(value.shape)}",
                )
        return list(zip(*[_unstacked(value) for value in values], strict=True))

    def _check_shapes_known(self, what: str) -> None:
        if len(self.shapes) != len(self.dtypes) or any(not shape.is_fully_defined() for shape in self.shapes):
            raise InvalidArgumentError(
                None, None, f"{self.kind}'s {what} requires the components to have specified shapes."
            )

    def _empty(self, component: int) -> Any:
        shape = (0, *(size or 0 for size in self.shapes[component].tuple or ()))
        dtype = self.dtypes[component]
        return np.zeros(shape, object) if dtype.torch is None else torch.zeros(shape, dtype=dtype.torch)

    def _joined(self, elements: list[Element]) -> list[Any]:
        return [_stacked(column) for column in zip(*elements, strict=True)]


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
            raise InvalidArgumentError(
                None,
                None,
                f"capacity must be larger than min_after_dequeue, but are {self.capacity} and "
                f"{min_after_dequeue}",
            )

    def _clear(self) -> None:
        self._store: list[Element] = []

    def _take(self) -> Element:
        store = self._store
        index = next(self._words) % len(store)
        store[index], store[-1] = store[-1], store[index]
        return store.pop()

    def _put_back(self, elements: Iterable[Element]) -> None:
        self._store.extend(elements)

    def _may_take(self) -> bool:
        return len(self._store) > (0 if self.closed else self._min_after_dequeue)


class PriorityQueue(Queue):
    """The element with the least first component, an int64, comes out first."""

    kind = "PriorityQueue"

    def _clear(self) -> None:
        self._store: list[tuple[int, int, Element]] = []
        self._order = itertools.count()

    def _put(self, element: Element) -> None:
        priority = element[0]
        if priority.ndim:
            raise InvalidArgumentError(
                None,
                None,
                f"Expected the priority element to be a scalar, but received shape: {list(priority.shape)}",
            )
        heapq.heappush(self._store, (int(priority), next(self._order), element))

    def _take(self) -> Element:
        return heapq.heappop(self._store)[2]

    def _put_back(self, elements: Iterable[Element]) -> None:
        for element in elements:
            self._put(element)


class PaddingQueue(Queue):
    """Elements of different sizes: a batch of them is padded with zeros to the largest."""

    kind = "PaddingFIFOQueue"

    def _check_shapes_known(self, what: str) -> None:
        if len(self.shapes) != len(self.dtypes) or any(shape.ndims is None for shape in self.shapes):
            raise InvalidArgumentError(
                None, None, f"{self.kind}'s {what} requires the components' ranks to be known."
            )

    def _joined(self, elements: list[Element]) -> list[Any]:
        return [_padded(column) for column in zip(*elements, strict=True)]


def _unstacked(value: Any) -> Sequence[Any]:
    if isinstance(value, torch.Tensor):
        return value.unbind(0)
    return [value[i, ...] for i in range(len(value))]


def _stacked(values: Sequence[Any]) -> Any:
    return torch.stack(values) if isinstance(values[0], torch.Tensor) else np.stack(values)


def _padded(values: Sequence[Any]) -> Any:
    shapes = {tuple(value.shape) for value in values}
    if len(shapes) == 1:
        return _stacked(values)
    largest = [max(sizes) for sizes in zip(*shapes, strict=True)]
    first = values[0]
    if isinstance(first, torch.Tensor):
        made = first.new_zeros((len(values), *largest))
    else:
        made = np.full((len(values), *largest), b"", object)
    for i, value in enumerate(values):
        made[(i, *(slice(size) for size in value.shape))] = value
    return made


def _words(generator: Philox) -> Iterable[int]:
    """The stream's 32-bit words, one at a time."""
    for start in itertools.count(0, 256):
        yield from generator.words(start, 256).reshape(-1).tolist()


def _brackets(shape: TensorShape) -> str:
    return "[" + ",".join("?" if size is None else str(size) for size in shape.tuple or ()) + "]"
