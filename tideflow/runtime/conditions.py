"""Conditions and events for which the main thread may wait.

Those of `threading` are not for it: they are written in Python, and an interrupt inside one leaves its lock
held, so that every thread that comes later waits for ever. These handle a signal where they sleep, with the
lock held, or after it was released.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from tideflow.interrupts import deferred, deliver
from tideflow.runtime.wake_events import WakeEvent, thread_wake_event


class Condition:
    """A lock, and the threads that sleep until another one that holds it notifies them."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a finalizer may run, and notify, in a thread that holds it
        self._sleeping: list[WakeEvent] = []

    def __enter__(self) -> None:
        deferred.__enter__()
        self._lock.acquire()

    def __exit__(self, *exc: Any) -> None:
        self._lock.release()
        deferred.__exit__()

    def wait(self, seconds: float | None = None) -> None:
        """Releases the lock, sleeps until `notify_all` or for so many seconds, and takes the lock again. It
        may return early.
        """
        wake_event = thread_wake_event()
        self._sleeping.append(wake_event)
        self._lock.release()
        try:
            wake_event.wait(seconds)
        finally:
            self._lock.acquire()
            if wake_event in self._sleeping:
                self._sleeping.remove(wake_event)
        deliver()

    def notify_all(self) -> None:
        """Wakes every thread that sleeps."""
        for wake_event in self._sleeping:
            wake_event.set()
        self._sleeping.clear()


class Event:
    """A flag for which threads wait."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._is_set = False

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        with self._changed:
            self._is_set = True
            self._changed.notify_all()

    def clear(self) -> None:
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the flag is set, or for so many seconds; whether it is set."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not self._is_set:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    break
                self._changed.wait(left)
            return self._is_set
