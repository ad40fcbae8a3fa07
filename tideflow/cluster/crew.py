"""Threads that do what they are handed, at once. A step may wait for another, but not for a thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from tideflow.graph.errors import ResourceExhaustedError
from tideflow.runtime.bells import Bell

_log = logging.getLogger("tideflow.cluster")


class _Member:
    """A thread of the crew, and what it is handed next; None lets it go."""

    def __init__(self):
        self.bell = Bell()
        self.handed: tuple[Callable, tuple] | None = None


class Crew:
    """Keeps the threads that it has; hires another where none is idle, up to `most`."""

    def __init__(self, most: int, name: str):
        self._most, self._name = most, name
        self._lock = threading.Lock()
        self._idle: list[_Member] = []
        self._hired = 0
        self._dismissed = False

    def do(self, work: Callable, *arguments: Any) -> None:
        """Has a thread do the work now. What it raises is only logged: who has something to say replies."""
        with self._lock:
            if self._idle:
                member = self._idle.pop()
                hire = False
            elif self._hired < self._most:
                self._hired += 1
                member, hire = _Member(), True
            else:
                raise ResourceExhaustedError(
                    None,
                    None,
                    f"{self._most} steps and requests are under way on this task, which is all it takes.",
                )
        member.handed = work, arguments
        if hire:
            threading.Thread(target=self._serve, args=(member,), name=self._name, daemon=True).start()
        else:
            member.bell.ring()

    def dismiss(self) -> None:
        """Lets the threads go, each when it has nothing to do."""
        with self._lock:
            self._dismissed = True
            idle, self._idle = self._idle, []
        for member in idle:
            member.bell.ring()

    def _serve(self, member: _Member) -> None:
        while member.handed is not None:
            (work, arguments), member.handed = member.handed, None
            try:
                work(*arguments)
            except Exception:
                _log.exception("What a thread was handed failed with nobody to tell")
            del work, arguments  # a thread that idles keeps nothing alive
            with self._lock:
                if self._dismissed:
                    return
                self._idle.append(member)
            member.bell.wait()
