"""Wake events: how one thread wakes another that waits for it alone.

A wake event is a pipe and not a lock. With a pipe the operating system lets the thread that sets the event
and the thread that wakes up take turns on one core; with a lock it wakes the waiting thread on another core.
On a virtual machine whose other cores sleep, that takes ten times as long (50 µs instead of 5 were measured).
"""

from __future__ import annotations

import os
import select
import threading

from tideflow.interrupts import deferred


class WakeEvent:
    """One thread waits, another sets the event. A set before the wait counts; each wait consumes one set."""

    def __init__(self) -> None:
        self.fd, self._write_fd = os.pipe()  # a thread that waits for sockets too polls `fd` beside them
        self._poll = select.poll()
        self._poll.register(self.fd, select.POLLIN)

    def set(self) -> None:
        """Wakes the thread that waits, or lets its next wait return at once."""
        os.write(self._write_fd, b"\0")

    def wait(self, seconds: float | None = None) -> bool:
        """Blocks until the event is set; False where `seconds` pass first."""
        if not self._poll.poll(None if seconds is None else max(0, int(seconds * 1000))):
            return False
        os.read(self.fd, 1)
        return True

    def __del__(self) -> None:
        os.close(self.fd)
        os.close(self._write_fd)


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.wake_event = WakeEvent()
        if threading.get_ident() == deferred.main_thread:
            deferred.wake = self.wake_event.set  # the main thread wakes up to handle a signal


_per_thread = _PerThread()


def _after_fork() -> None:
    """A child has a pipe of its own: from the parent's it would take the parent's wake-ups."""
    _per_thread.__init__()  # type: ignore[misc]


os.register_at_fork(after_in_child=_after_fork)


def thread_wake_event() -> WakeEvent:
    """The wake event of this thread, for waits that end before the next begins."""
    return _per_thread.wake_event
