"""Threads that do what they are handed, at once. A step may wait for another, but not for a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from tideflow.graph.errors import ResourceExhaustedError


class Crew:
    """Keeps the threads that it has; hires another where none is idle, up to `most`."""

    def __init__(self, most: int, name: str):
        self._most, self._name = most, name
        self._work: queue.SimpleQueue = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._hired = self._idle = 0

    def do(self, work: Callable, *arguments: Any) -> None:
        """Has a thread do the work now. What it raises is lost: who has something to say replies."""
        with self._lock:
            if self._idle:
                self._idle -= 1
                hire = False
            elif self._hired < self._most:
                self._hired += 1
                hire = True
            else:
                raise ResourceExhaustedError(
                    None,
                    None,
                    f"{self._most} steps and requests are under way on this task, which is all it takes.",
                )
        self._work.put((work, arguments))
        if hire:
            threading.Thread(target=self._serve, name=self._name, daemon=True).start()

    def dismiss(self) -> None:
        """Lets the threads go, each when it has nothing to do."""
        with self._lock:
            for _ in range(self._hired):
                self._work.put(None)

    def _serve(self) -> None:
        while (handed := self._work.get()) is not None:
            work, arguments = handed
            try:
                work(*arguments)
            finally:
                del handed, work, arguments  # a thread that idles keeps nothing alive
                with self._lock:
                    self._idle += 1
