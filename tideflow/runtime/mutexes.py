"""A mutex of a session: at most one step is between its lock and its release."""

from __future__ import annotations

import threading
from typing import Any

from tideflow.runtime.waiting import wait


class Mutex:
    """Held by one `Lock` at a time. Who waits also wakes when the session closes or his time is over."""

    def __init__(self, name: str):
        self.name = name
        self._changed = threading.Condition()
        self._held = False

    def lock(self, resources: Any) -> Lock:
        """Waits until nobody holds the mutex, then does."""
        with self._changed:
            wait(
                self._changed,
                lambda: not self._held,
                resources.store.is_closed,
                f"A step waited to enter the critical section '{self.name}'",
            )
            self._held = True
            return Lock(self)

    def release(self) -> None:
        with self._changed:
            self._held = False
            self._changed.notify()

    def wake(self) -> None:
        """Has those who wait look around."""
        with self._changed:
            self._changed.notify_all()


class Lock:
    """A mutex being held. It is let go when a step says so, or when the step ends without a word."""

    def __init__(self, mutex: Mutex):
        self._mutex: Mutex | None = mutex

    def release(self) -> None:
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.release()

    def __del__(self) -> None:
        self.release()
