"""Where the parts of a step, one on each task, exchange values: one part puts a value under a key, another
takes it once it has arrived.

A key names an edge of the graph (and the iteration, in loops). A value is put once and taken once. Which
steps run on a task, and which values come early or late, is known to `cluster/rendezvous_table.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tideflow.graph.errors import CancelledError, OpError
from tideflow.interrupts import Lock
from tideflow.runtime.waiting import ABSENT, PendingValue
from tideflow.runtime.wake_events import WakeEvent


class _DeadValue:
    def __repr__(self) -> str:
        return "DEAD"


DEAD = _DeadValue()  # what an edge carries behind the side of a Switch that was not taken

_PARCEL_BYTES = 64 << 10  # smaller values are kept back, to be sent together

Parcel = list[tuple[str, Any]]  # keys and values
Send = Callable[[str, Parcel], None]  # sends a parcel to the task of that name
Wait = Callable[[WakeEvent, float], Any]  # blocks until the wake event is set, so many seconds at most


class Rendezvous:
    """The values of one step that are on their way to this task, and from it to others. Small values for
    another task are sent together: along with a large one, or when this part of the step waits or ends.
    """

    def __init__(self) -> None:
        self._send: Send | None = None
        self.wait: Wait = WakeEvent.wait
        self._parcels: dict[str, Parcel] = {}  # by task, not sent yet
        self._lock = Lock()
        self._values: dict[str, Any] = {}
        # By key, the callback of the part that has asked for a value before it came.
        self._wakes: dict[str, Callable[[], Any]] = {}
        self._error: OpError | None = None
        self.began = time.monotonic()

    def start(self, send: Send, wait: Wait) -> None:
        """The step starts on this task: `send` sends its parcels, `wait` blocks its thread."""
        self._send, self.wait = send, wait

    def put(self, key: str, value: Any, task: str = "") -> None:
        """Hands a value to the part that takes the key: on this task, or on another."""
        if task:
            with self._lock:
                self._parcels.setdefault(task, []).append((key, value))
            if value is not DEAD and value.nbytes >= _PARCEL_BYTES:
                self.flush()
            return
        with self._lock:
            self._values[key] = value
            wake = self._wakes.pop(key, None)
        if wake is not None:
            wake()

    def flush(self, but: str = "") -> None:
        """Sends all parcels, except the one for the task `but`."""
        if self._parcels:
            with self._lock:
                parcels, self._parcels = self._parcels, {}
                if but in parcels:
                    self._parcels[but] = parcels.pop(but)
            assert self._send is not None, "a part puts values only after its step has started"
            for task, parcel in parcels.items():
                self._send(task, parcel)

    def parcel_for(self, task: str) -> Parcel:
        """Takes the parcel for a task out, for a caller that sends it by another way."""
        with self._lock:
            return self._parcels.pop(task, [])

    def get(self, key: str, wake: Callable[[], Any]) -> Any:
        """Takes the value of a key, or ABSENT: then `wake` is called when the value arrives or the step ends.
        Raises where the step has ended.
        """
        with self._lock:
            value = self._values.pop(key, ABSENT)
            if value is ABSENT:
                self.check()
                self._wakes[key] = wake
            return value

    def when(self, key: str, call: Callable[[Any, OpError | None], None]) -> None:
        """Calls `call(value, None)` once the value has arrived, or `call(None, error)` if it never will."""
        try:
            value = self.get(key, lambda: self.when(key, call))
        except OpError as error:
            call(None, error)
        else:
            if value is not ABSENT:
                call(value, None)

    def take(self, key: str) -> Any:
        """The value of a key, or a pending value where it has not arrived."""
        value = self._values.pop(key, ABSENT)  # without the lock: most values arrive before they are needed
        return value if value is not ABSENT else _EdgeValue(self, key)

    def check(self) -> None:
        """Raises why the step has ended, if it has."""
        if self._error is not None:
            raise self._error

    def reason(self, error: Exception) -> Exception:
        """Why a part failed: where it was cancelled because its step ended, what ended the step."""
        return self._error if self._error is not None and isinstance(error, CancelledError) else error

    def end(self, error: OpError) -> None:
        """Ends the step: every thread that waits here, or asks later, gets the error."""
        with self._lock:
            self._error = self._error or error
            wakes, self._wakes = list(self._wakes.values()), {}
        for wake in wakes:
            wake()


class _EdgeValue(PendingValue):
    """A value that another task sends."""

    def __init__(self, rendezvous: Rendezvous, key: str):
        self._rendezvous, self._key = rendezvous, key
        self.what = f"Waiting for '{key}' from another task"

    def get(self, wake: Callable[[], Any]) -> Any:
        value = self._rendezvous.get(self._key, wake)
        if value is ABSENT:
            self._rendezvous.flush()  # the other task may need these values to produce this one
        return value

    def cancel(self) -> Any:
        return ABSENT
