"""Barriers: the components of an element are inserted one by one, by key; steps take complete elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.shapes import TensorShape
from tideflow.interrupts import Lock
from tideflow.runtime.queues import PriorityQueue
from tideflow.runtime.values import unshared
from tideflow.runtime.waiting import PendingValue

_FIRST_INDEX = -(1 << 63)


class Barrier:
    """Complete elements wait in a queue, ordered by the insert that first brought their key: keys of the same
    insert have one index, and come in the order in which they became complete.
    """

    def __init__(
        self,
        name: str,
        types: Sequence[dtypes.DType],
        shapes: Sequence[TensorShape],
        session_closed: Callable[[], bool],
    ):
        self.name = name
        self.dtypes = tuple(types)
        self.shapes = tuple(shapes) or (TensorShape(None),) * len(types)
        self.closed = False
        self._cancelled = False
        self._lock = Lock()
        self._index = _FIRST_INDEX
        self._incomplete: dict[bytes, tuple[int, list[Any]]] = {}
        scalar = TensorShape([])
        self.ready = PriorityQueue(
            name,
            [dtypes.int64, dtypes.string, *self.dtypes],
            [scalar, scalar, *self.shapes],
            -1,
            session_closed,
        )

    def incomplete_size(self) -> int:
        return len(self._incomplete)

    def insert(self, component: int, keys: Any, values: Any) -> None:
        """One component of the elements of these keys: all of them, or none where something is wrong."""
        self._check(component, keys, values)
        with self._lock:
            self._refuse(component, keys)
            brings_new_keys = any(key not in self._incomplete for key in keys)
            values = unshared(values)
            for i, key in enumerate(keys):
                self._insert(component, key, keys[i, ...], values[i, ...])
            self._index += brings_new_keys
            self._close_when_done()

    def _insert(self, component: int, key: bytes, key_value: Any, value: Any) -> None:
        if key not in self._incomplete:
            self._incomplete[key] = self._index, [None] * len(self.dtypes)
        index, there = self._incomplete[key]
        there[component] = value
        if all(part is not None for part in there):
            del self._incomplete[key]
            self.ready.enqueue([torch.tensor(index), key_value, *there])

    def _check(self, component: int, keys: Any, values: Any) -> None:
        if not 0 <= component < len(self.dtypes):
            raise errors.invalid_argument(
                f"The component ID is out of range {component} > num_components (= {len(self.dtypes)})",
            )
        if keys.ndim != 1 or not values.ndim or len(values) != len(keys):
            raise errors.invalid_argument(
                "keys must be a vector, and values have a row for each, but their shapes are "
                f"{list(keys.shape)} and {list(values.shape)}",
            )
        if 0 in values.shape[1:]:
            raise errors.invalid_argument(
                f"Tensors with no elements are not supported, but values have shape {list(values.shape)}",
            )
        row = TensorShape(tuple(values.shape[1:]))
        if not self.shapes[component].is_compatible_with(row):
            raise errors.invalid_argument(
                f"Shape mismatch in tuple component {component}. "
                f"Expected {self.shapes[component]}, got {row}",
            )

    def _refuse(self, component: int, keys: Any) -> None:
        new: set[bytes] = set()
        for key in keys:
            if key in new or (key in self._incomplete and self._incomplete[key][1][component] is not None):
                raise errors.invalid_argument(
                    f"Key {key.decode(errors='replace')} already has a value for component {component} in "
                    f"barrier {self.name}",
                )
            if self._cancelled or (self.closed and key not in self._incomplete):
                raise errors.cancelled(
                    f"Barrier {self.name} is closed.  Pending enqueues cancelled: 1.  Number of new "
                    f"insertions: {len(keys)}.  Number of incomplete keys: {len(self._incomplete)}."
                    if self._cancelled
                    else f"Barrier {self.name} is closed, but attempted to insert a brand new key: "
                    f"{key.decode(errors='replace')}.  Pending enqueues cancelled: 0.  Insertion index: "
                    f"{component}.  Number of incomplete keys: {len(self._incomplete)}."
                )
            new.add(key)

    def take(self, count: int, allow_small_batch: bool) -> list[Any] | PendingValue:
        """Indices, keys and components of `count` elements; fewer, where allowed, once the barrier is closed.
        A pending value where the step has to wait.
        """
        with self._lock:
            if self.closed:
                there = self.ready.size()
                wanted = min(count, there) if allow_small_batch else count
                possible = there if allow_small_batch else there + len(self._incomplete)
                if possible < max(wanted, 1):
                    raise errors.out_of_range(
                        f"Barrier '{self.name}' is closed and has insufficient elements "
                        f"(requested {count}, total size {possible})",
                    )
                count = wanted
        return self.ready.dequeue_many(count, up_to=allow_small_batch)

    def close(self, cancel_pending_enqueues: bool) -> None:
        """No new keys; incomplete elements may still be completed, unless that is cancelled too."""
        with self._lock:
            if self.closed and (self._cancelled or not cancel_pending_enqueues):
                raise errors.cancelled(f"Barrier '{self.name}' is already closed.")
            self.closed = True
            self._cancelled = cancel_pending_enqueues
            if cancel_pending_enqueues:
                self._incomplete.clear()
            self._close_when_done()

    def _close_when_done(self) -> None:
        if self.closed and not self._incomplete and not self.ready.closed:
            self.ready.close()

    def wake(self) -> None:
        """Has every step in line re-check whether it may wait longer."""
        self.ready.wake()

    def report(self) -> dict[str, Any]:
        """How many elements are complete, and how many steps wait for them."""
        return {**self.ready.report(), "kind": "Barrier", "closed": self.closed}
