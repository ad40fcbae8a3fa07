"""A mutex of a session: at most one step is between its lock and its release."""

from __future__ import annotations

from typing import Any

from tideflow.runtime.conditions import Condition
from tideflow.runtime.waiting import StepContext


class Mutex:
    """A mutex, held by one `Lock` at a time.

    A waiting step stops when the session closes or at its deadline.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._changed = Condition()
        self._held = False

    def lock(self, resources: Any, context: StepContext) -> Lock:
        """Waits until the mutex is free, and acquires it."""
        with self._changed:
            context.wait(
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
            self._changed.notify_all()

    def wake(self) -> None:
        """Wakes the waiting steps, which check whether the session has been closed."""
        with self._changed:
            self._changed.notify_all()


class Lock:
    """An acquired mutex. The step releases it, or it is released when the step ends."""

    _mutex: Mutex | None = None  # of an object whose making an interrupt has ended

    def __init__(self, mutex: Mutex) -> None:
        self._mutex = mutex

    def release(self) -> None:
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.release()

    def __del__(self) -> None:
        self.release()
