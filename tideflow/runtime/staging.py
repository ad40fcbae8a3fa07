"""Staging areas: they hold tensors from one step to the next, in order or by key.

`capacity` limits the number of elements, `memory_limit` their bytes; 0 means no limit. A step that puts into
a full area, or takes from an empty one, waits.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tideflow.graph import errors
from tideflow.runtime.conditions import Condition
from tideflow.runtime.values import unshared
from tideflow.runtime.waiting import StepContext


class _Area:
    """The limits of a staging area, and waiting."""

    kind = "staging area"

    def __init__(
        self, name: str, components: int, capacity: int, memory_limit: int, session_closed: Callable[[], bool]
    ) -> None:
        self.name = name
        self.components = components
        self.capacity = capacity
        self.memory_limit = memory_limit
        self._bytes = 0
        self._waiting = [0, 0]  # the numbers of steps that wait to put, and to take
        self._session_closed = session_closed
        self._changed = Condition()

    def size(self) -> int:
        raise AssertionError("each subclass counts its elements")

    def wake(self) -> None:
        """Wakes the waiting steps, which check whether the session has been closed."""
        with self._changed:
            self._changed.notify_all()

    def report(self) -> dict[str, Any]:
        """The number of elements in the area, and of steps that wait for it."""
        with self._changed:
            return {
                "name": self.name,
                "kind": self.kind,
                "size": self.size(),
                "capacity": self.capacity or None,
                "closed": False,
                "waiting to enqueue": self._waiting[0],
                "waiting to dequeue": self._waiting[1],
            }

    def _wait(self, context: StepContext, ready: Callable[[], bool], side: int, what: str) -> None:
        self._waiting[side] += 1
        try:
            context.wait(self._changed, ready, self._session_closed, what)
        finally:
            self._waiting[side] -= 1

    def _wait_for_room(self, context: StepContext, size: int, elements: Callable[[], int]) -> None:
        """Waits until there is room for `size` bytes and `elements()` elements."""
        if self.memory_limit and size > self.memory_limit:
            raise errors.resource_exhausted(
                f"Attempted to insert tensors with combined size of '{size}' bytes into Staging Area with a "
                f"memory limit of '{self.memory_limit}'.",
            )

        def has_room() -> bool:
            fits = not self.memory_limit or self._bytes + size <= self.memory_limit
            return fits and (not self.capacity or self.size() + elements() <= self.capacity)

        self._wait(context, has_room, 0, f"put into '{self.name}', which is full")


class StagingArea(_Area):
    """Elements in the order in which steps put them."""

    kind = "StagingArea"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._line: collections.deque[list[Any]] = collections.deque()

    def size(self) -> int:
        return len(self._line)

    def put(self, context: StepContext, values: Sequence[Any]) -> None:
        """Appends an element; waits for room."""
        size = _bytes_of(values)
        with self._changed:
            self._wait_for_room(context, size, lambda: 1)
            self._line.append(list(map(unshared, values)))
            self._bytes += size
            self._changed.notify_all()

    def get(self, context: StepContext) -> list[Any]:
        """Removes the first element and returns it; waits for one."""
        with self._changed:
            self._wait(context, lambda: bool(self._line), 1, f"get from '{self.name}', which is empty")
            values = self._line.popleft()
            self._bytes -= _bytes_of(values)
            self._changed.notify_all()
            return values

    def peek(self, context: StepContext, index: int) -> list[Any]:
        """The element at `index`, which stays in the area; waits for it."""
        with self._changed:
            what = f"peek at {index} of '{self.name}', which has too few"
            self._wait(context, lambda: index < len(self._line), 1, what)
            return list(self._line[index])

    def clear(self) -> None:
        with self._changed:
            self._line.clear()
            self._bytes = 0
            self._changed.notify_all()


class MapStagingArea(_Area):
    """Elements by key. Steps may put and take the components of an element at different times."""

    kind = "MapStagingArea"

    def __init__(self, *args: Any, ordered: bool) -> None:
        super().__init__(*args)
        self._ordered = ordered
        self._complete: dict[int, list[Any]] = {}
        self._incomplete: dict[int, list[Any]] = {}

    def size(self) -> int:
        return len(self._complete)

    def incomplete_size(self) -> int:
        return len(self._incomplete)

    def put(self, context: StepContext, key: int, indices: Sequence[int], values: Sequence[Any]) -> None:
        """Puts components of the element of a key; waits for room."""
        self._check_indices(indices)
        if len(indices) != len(values):
            raise errors.invalid_argument(
                f"{len(values)} values are put, but {len(indices)} indices are given"
            )
        size = _bytes_of(values)

        def completes() -> bool:
            there = self._incomplete.get(key, ())
            return len(indices) + sum(value is not None for value in there) >= self.components

        with self._changed:
            self._wait_for_room(context, size, lambda: int(completes()))
            there = list(self._incomplete.get(key) or [None] * self.components)
            for index, value in zip(indices, values):
                if there[index] is not None:
                    raise errors.invalid_argument(
                        f"The tensor for index '{index}' for key '{key}' was already initialized "
                        f"'{self.components}'.",
                    )
                there[index] = unshared(value)
            self._bytes += size
            if all(value is not None for value in there):
                self._incomplete.pop(key, None)
                self._complete.setdefault(key, there)
            else:
                self._incomplete[key] = there
            self._changed.notify_all()

    def get(self, context: StepContext, key: int, indices: Sequence[int]) -> list[Any]:
        """Removes components of the element of a key and returns them; waits for the element."""
        with self._changed:
            self._wait_for_key(context, key)
            return self._taken(key, indices)

    def get_any(self, context: StepContext, indices: Sequence[int]) -> tuple[int, list[Any]]:
        """Removes components of some element, of the least key if they are ordered; returns its key too."""
        with self._changed:
            self._wait(context, lambda: bool(self._complete), 1, f"get from '{self.name}', which is empty")
            key = min(self._complete) if self._ordered else next(iter(self._complete))
            return key, self._taken(key, indices)

    def peek(self, context: StepContext, key: int, indices: Sequence[int]) -> list[Any]:
        """Components of the element of a key, which stay in the area; waits for the element."""
        with self._changed:
            self._wait_for_key(context, key)
            return self._found(key, indices)

    def clear(self) -> None:
        with self._changed:
            self._complete.clear()
            self._incomplete.clear()
            self._bytes = 0
            self._changed.notify_all()

    def _wait_for_key(self, context: StepContext, key: int) -> None:
        self._wait(context, lambda: key in self._complete, 1, f"get of key {key} from '{self.name}'")

    def _taken(self, key: int, indices: Sequence[int]) -> list[Any]:
        values = self._found(key, indices)
        there = self._complete[key]
        for index in indices:
            there[index] = None
        if all(value is None for value in there):
            del self._complete[key]
        self._bytes -= _bytes_of(values)
        self._changed.notify_all()
        return values

    def _found(self, key: int, indices: Sequence[int]) -> list[Any]:
        self._check_indices(indices)
        there = self._complete[key]
        for index in indices:
            if there[index] is None:
                raise errors.invalid_argument(
                    f"Tensor at index '{index}' for key '{key}' has already been removed."
                )
        return [there[index] for index in indices]

    def _check_indices(self, indices: Sequence[int]) -> None:
        for index in indices:
            if not 0 <= index < self.components:
                raise errors.invalid_argument(
                    f"Index '{index}' for the area's {self.components} components is out of bounds.",
                )
        if any(after <= before for before, after in itertools.pairwise(indices)):
            raise errors.invalid_argument(f"Indices are not strictly ordered: {list(indices)}")


def _bytes_of(values: Sequence[Any]) -> int:
    return sum(
        value.numel() * value.element_size() if isinstance(value, torch.Tensor) else sum(map(len, value.flat))
        for value in values
    )
