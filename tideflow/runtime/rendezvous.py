"""Where the parts of a step meet: one part puts a value under a key, another takes it when it is there.

Keys name an edge of the graph (and the iteration, in loops). A value is put once and taken once. Which steps
are under way, and what comes early or late, is the concern of `Meetings`.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable
from typing import Any

from tideflow.graph.errors import AbortedError, OpError
from tideflow.runtime import waiting
from tideflow.runtime.bells import own_bell


class _DeadValue:
    def __repr__(self) -> str:
        return "DEAD"


DEAD = _DeadValue()  # what an edge carries behind the side of a Switch that was not taken


_PARCEL_BYTES = 64 << 10  # what is smaller waits for company

Send = Callable[[str, list[tuple[str, Any]]], None]  # (task, pairs of key and value)


class Rendezvous:
    """The values of one step that are on their way to one task, and from it to others. Small values for
    another task leave together: when one that is large does, or when this part of the step waits or ends.
    """

    def __init__(self):
        self._send: Send | None = None
        self._parcels: dict[str, list[tuple[str, Any]]] = {}
        self._lock = threading.Lock()
        self._values: dict[str, Any] = {}
        self._wanted: dict[str, Callable[[Any, OpError | None], None]] = {}
        self._error: OpError | None = None
        self.began = time.monotonic()

    def put(self, key: str, value: Any, task: str = "") -> None:
        """Hands a value to whoever takes the key: here, or on another task."""
        if task:
            with self._lock:
                self._parcels.setdefault(task, []).append((key, value))
            if value is not DEAD and value.nbytes >= _PARCEL_BYTES:
                self.flush()
            return
        with self._lock:
            call = self._wanted.pop(key, None)
            if call is None:
                self._values[key] = value
                return
        call(value, None)

    def flush(self) -> None:
        """Sends what is to leave."""
        if self._parcels:
            with self._lock:
                parcels, self._parcels = self._parcels, {}
            for task, parcel in parcels.items():
                self._send(task, parcel)

    def when(self, key: str, call: Callable[[Any, OpError | None], None]) -> None:
        """Calls `call(value, None)` once the key is there, or `call(None, error)` if it never will be."""
        with self._lock:
            if key not in self._values and self._error is None:
                self._wanted[key] = call
                return
            value = self._values.pop(key, self)
        call(*((None, self._error) if value is self else (value, None)))

    def take(self, key: str) -> Any:
        """The value of a key, as soon as it is there."""
        value = self._values.pop(key, self)  # the quick way: it came before we did
        if value is not self:
            return value
        self.flush()  # what we wait for may wait for it
        bell, arrived = own_bell(), []

        def deliver(value: Any, error: OpError | None) -> None:
            arrived.append((value, error))
            bell.ring()

        self.when(key, deliver)
        step = waiting.limits()
        while not arrived:  # a bell may ring late, for a wait that was given up
            bell.wait(waiting.time_left(step, lambda: False, f"Waiting for '{key}' from another task"))
        ((value, error),) = arrived
        if error is not None:
            raise error
        return value

    def check(self) -> None:
        """Raises why the step is over, if it is."""
        if self._error is not None:
            raise self._error

    def end(self, error: OpError) -> None:
        """Whoever waits here, or will, waits in vain."""
        with self._lock:
            self._error = self._error or error
            calls, self._wanted = list(self._wanted.values()), {}
        for call in calls:
            call(None, error)


class Meetings:
    """The rendezvous of the steps that are under way on a task. A value may come before its step does; one
    that comes after it is dropped, and one whose step never comes is forgotten in time.
    """

    def __init__(self, remembered: int = 4096, patience: float = 600.0):
        self._lock = threading.Lock()
        self._open: dict[str, Rendezvous] = {}
        self._early: dict[str, Rendezvous] = {}
        self._over: collections.OrderedDict[str, OpError | None] = collections.OrderedDict()
        self._remembered = remembered
        self._patience = patience

    def begin(self, step: str, send: Send) -> Rendezvous:
        """The rendezvous of a step that starts here, with what has come for it already."""
        with self._lock:
            if step in self._open or step in self._over:
                known = AbortedError(None, None, f"Step {step} has been started on this task before.")
                raise self._over.get(step) or known
            rendezvous = self._early.pop(step, None) or Rendezvous()
            rendezvous._send = send
            self._open[step] = rendezvous
            return rendezvous

    def deliver(self, step: str, key: str, value: Any) -> None:
        """Puts what has come for a step."""
        with self._lock:
            if step in self._over:
                return
            rendezvous = self._open.get(step) or self._early.get(step)
            if rendezvous is None:
                self._forget_the_stale()
                rendezvous = self._early[step] = Rendezvous()
        rendezvous.put(key, value)

    def finish(self, step: str) -> None:
        """The step's part on this task is done: what still comes for it is dropped."""
        with self._lock:
            self._open.pop(step, None)
            self._close(step, None)

    def end(self, step: str, error: OpError) -> None:
        """The step has failed elsewhere: its part here ends, or does not begin."""
        with self._lock:
            rendezvous = self._open.get(step)
            if rendezvous is None and step not in self._over:
                self._early.pop(step, None)
                self._close(step, error)
        if rendezvous is not None:
            rendezvous.end(error)

    def _close(self, step: str, error: OpError | None) -> None:
        self._over[step] = error
        while len(self._over) > self._remembered:
            self._over.popitem(last=False)

    def _forget_the_stale(self) -> None:
        oldest = time.monotonic() - self._patience
        for step in [step for step, meeting in self._early.items() if meeting.began < oldest]:
            del self._early[step]
