"""The end of the process: background threads end before the interpreter does.

A thread that runs a kernel while the interpreter shuts down crashes the process. So the sessions that are
still open are closed first, which wakes the threads that wait on their behalf, and then those are joined.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
import weakref
from typing import Any

_LONGEST_WAIT = 5.0  # seconds for all threads together

_open: weakref.WeakSet[Any] = weakref.WeakSet()
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def close_at_exit(session: Any) -> None:
    """Has the session closed when the process ends, if it lives that long."""
    _open.add(session)


def open_sessions() -> list[Any]:
    """The sessions of this process that are open."""
    return [each for each in _open if not each._closed]


def wait_at_exit(thread: threading.Thread) -> threading.Thread:
    """Has the process wait for a thread that a closed session stops."""
    _threads.add(thread)
    return thread


def _after_fork() -> None:
    """The threads that work for a session, and whoever holds one of its locks, are not in a forked child: its
    sessions refuse to run there, instead of waiting for them without end.
    """
    for session in list(_open):
        session._refuse_after_fork()
    _open.clear()
    _threads.clear()


os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _end() -> None:
    for session in open_sessions():
        with contextlib.suppress(Exception):  # the process ends in any case
            session.close()
    deadline = time.monotonic() + _LONGEST_WAIT
    for thread in list(_threads):
        if thread.is_alive():
            thread.join(max(0.0, deadline - time.monotonic()))
