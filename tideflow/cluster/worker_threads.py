"""Worker threads of a task: each submitted call starts at once, in a thread of its own.

A step may wait for another step, so a call must never wait for a free thread: where all threads are busy
another one is started, and where the limit is reached the call is refused.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from tideflow.graph import errors
from tideflow.runtime.wake_events import WakeEvent

_log = logging.getLogger("tideflow.cluster")


class _Thread:
    """One thread, and the call that it makes next; None ends it."""

    def __init__(self) -> None:
        self.wake_event = WakeEvent()
        self.next_call: tuple[Callable[..., Any], tuple[Any, ...]] | None = None


class WorkerThreads:
    """Keeps idle threads for reuse and starts another one where none is idle, up to `limit`."""

    def __init__(self, limit: int, name: str):
        self._limit, self._name = limit, name
        self._lock = threading.Lock()
        self._idle: list[_Thread] = []
        self._started = 0
        self._shut_down = False

    def submit(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Calls `function` in a thread now. An exception is only logged: a call that has something to report
        replies to its peer.
        """
        with self._lock:
            if self._idle:
                thread, is_new = self._idle.pop(), False
            elif self._started < self._limit:
                self._started += 1
                thread, is_new = _Thread(), True
            else:
                raise errors.resource_exhausted(
                    f"{self._limit} steps and requests are under way on this task, which is all it takes."
                )
        thread.next_call = function, arguments
        if is_new:
            threading.Thread(target=self._serve, args=(thread,), name=self._name, daemon=True).start()
        else:
            thread.wake_event.set()

    def shutdown(self) -> None:
        """Ends idle threads now and busy ones after their call."""
        with self._lock:
            self._shut_down = True
            idle, self._idle = self._idle, []
        for thread in idle:
            thread.wake_event.set()

    def _serve(self, thread: _Thread) -> None:
        while thread.next_call is not None:
            (function, arguments), thread.next_call = thread.next_call, None
            try:
                function(*arguments)
            except Exception:
                _log.exception("A call on a worker thread failed, and no peer waits for its answer")
            del function, arguments  # an idle thread keeps nothing alive
            with self._lock:
                if self._shut_down:
                    return
                self._idle.append(thread)
            thread.wake_event.wait()
