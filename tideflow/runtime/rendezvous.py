"""Where the parts of a step meet: one part puts a value under a key, another takes it when it is there.

Keys name an edge of the graph (and the iteration, in loops). A value is put once and taken once. Which steps
are under way, and what comes early or late, is the concern of `RendezvousTable`.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable
from typing import Any

from tideflow.graph import errors
from tideflow.graph.errors import CancelledError, OpError
from tideflow.runtime import waiting
from tideflow.runtime.waiting import ABSENT, PendingValue
from tideflow.runtime.wake_events import WakeEvent


class _DeadValue:
    def __repr__(self) -> str:
        return "DEAD"


DEAD = _DeadValue()  # what an edge carries behind the side of a Switch that was not taken

_PARCEL_BYTES = 64 << 10  # what is smaller waits for company

Parcel = list[tuple[str, Any]]  # keys and values
Send = Callable[[str, Parcel], None]  # to a task
Wait = Callable[[WakeEvent, float], Any]  # until a wake event rings, for so many seconds at the most


class Rendezvous:
    """The values of one step that are on their way to one task, and from it to others. Small values for
    another task leave together: when one that is large does, or when this part of the step waits or ends.
    """

    def __init__(self):
        self._send: Send | None = None
        self.wait: Wait = WakeEvent.wait
        self._parcels: dict[str, Parcel] = {}
        self._lock = threading.Lock()
        self._values: dict[str, Any] = {}
        self._wanted: dict[str, Callable[[], Any]] = {}
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
            self._values[key] = value
            call = self._wanted.pop(key, None)
        if call is not None:
            call()

    def flush(self, but: str = "") -> None:
        """Sends what is to leave, `but` for what is for that task."""
        if self._parcels:
            with self._lock:
                parcels, self._parcels = self._parcels, {}
                if but in parcels:
                    self._parcels[but] = parcels.pop(but)
            for task, parcel in parcels.items():
                self._send(task, parcel)

    def parcel_for(self, task: str) -> Parcel:
        """What is to leave for a task, for who sends it himself."""
        with self._lock:
            return self._parcels.pop(task, [])

    def get(self, key: str, call: Callable[[], Any]) -> Any:
        """The value of a key if it is there, once. ABSENT if not: `call` is called when it is, or the step is
        over.
        """
        with self._lock:
            value = self._values.pop(key, ABSENT)
            if value is ABSENT:
                self.check()
                self._wanted[key] = call
            return value

    def when(self, key: str, call: Callable[[Any, OpError | None], None]) -> None:
        """Calls `call(value, None)` once the key is there, or `call(None, error)` if it never will be."""
        try:
            value = self.get(key, lambda: self.when(key, call))
        except OpError as error:
            call(None, error)
        else:
            if value is not ABSENT:
                call(value, None)

    def take(self, key: str, suspendable: bool = False) -> Any:
        """The value of a key, as soon as it is there; a pending value for it, where the step can be left."""
        value = self._values.pop(key, ABSENT)  # the quick way: it came before we did
        if value is not ABSENT:
            return value
        pending = _Edge(self, key)
        return pending if suspendable else waiting.wait_for(pending)

    def check(self) -> None:
        """Raises why the step is over, if it is."""
        if self._error is not None:
            raise self._error

    def reason(self, error: Exception) -> Exception:
        """Why a part failed: one that was cancelled, because of what ended the step."""
        return self._error if self._error is not None and isinstance(error, CancelledError) else error

    def end(self, error: OpError) -> None:
        """Whoever waits here, or will, waits in vain."""
        with self._lock:
            self._error = self._error or error
            calls, self._wanted = list(self._wanted.values()), {}
        for call in calls:
            call()


class _Edge(PendingValue):
    """A value that another task sends."""

    def __init__(self, rendezvous: Rendezvous, key: str):
        self._rendezvous, self._key = rendezvous, key
        self.what = f"Waiting for '{key}' from another task"

    def get(self, call: Callable[[], Any]) -> Any:
        value = self._rendezvous.get(self._key, call)
        if value is ABSENT:
            self._rendezvous.flush()  # what we wait for may wait for it
        return value

    def cancel(self) -> Any:
        return ABSENT


class RendezvousTable:
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

    def begin(self, step: str, send: Send, wait: Wait = WakeEvent.wait) -> Rendezvous:
        """The rendezvous of a step that starts here, with what has come for it already."""
        with self._lock:
            if step in self._open or step in self._over:
                known = errors.aborted(f"Step {step} has been started on this task before.")
                raise self._over.get(step) or known
            rendezvous = self._early.pop(step, None) or Rendezvous()
            rendezvous._send, rendezvous.wait = send, wait
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
