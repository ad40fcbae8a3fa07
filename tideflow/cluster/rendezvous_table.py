"""The rendezvous of the steps on a task, for its threads: `StepTable` decides, and this performs."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence

from tideflow.cluster.machine import Record, story
from tideflow.cluster.packing import bytes_of
from tideflow.cluster.steps import REMEMBERED_STEPS, Cancel, Discard, Instruction, StepTable
from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.runtime.rendezvous import Parcel, Rendezvous, Send, Wait
from tideflow.runtime.wake_events import WakeEvent

_log = logging.getLogger("tideflow.cluster")

_PARCEL_BYTES = 4096  # that a parcel counts for beside its values: keys, and what is recorded of the step
EARLY_SECONDS = 600.0  # values whose step has not begun after so long are discarded


def default_early_bytes() -> int:
    """What values whose step has not begun may hold: an eighth of the machine's memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8


class RendezvousTable:
    """The rendezvous of each step that is under way, or for which values have come already. `record` notes
    what happens to the steps.
    """

    def __init__(
        self,
        record: Record | None = None,
        remembered: int = REMEMBERED_STEPS,
        early_seconds: float = EARLY_SECONDS,
        early_bytes: int | None = None,
    ):
        self._steps = StepTable(record, remembered)
        self._lock = threading.Lock()
        self._early: dict[str, Rendezvous] = {}  # of steps whose part has not begun
        self._early_sizes: dict[str, int] = {}
        self._open: dict[str, Rendezvous] = {}
        self._returned: dict[str, threading.Event] = {}  # of steps for whose end a thread waits
        self._early_seconds = early_seconds
        self._early_bytes = default_early_bytes() if early_bytes is None else early_bytes

    def begin(
        self, step: str, session: str, tasks: Sequence[str], send: Send, wait: Wait = WakeEvent.wait
    ) -> Rendezvous:
        """The rendezvous of a step whose part begins, with the values that have come for it already.

        The step belongs to a master's `session`, and runs on `tasks`. `send` sends values to another task,
        `wait` waits for those that other tasks send.
        """
        with self._lock:
            self._steps.begin(step, session, tasks)
            rendezvous = self._take_early(step) or Rendezvous()
            self._open[step] = rendezvous
            rendezvous.start(send, wait)
            return rendezvous

    def finish(self, step: str) -> None:
        """The step's part has returned: values that still come for it are dropped."""
        with self._lock:
            self._steps.finish(step)
            del self._open[step]
            returned = self._returned.pop(step, None) if self._returned else None
        if returned is not None:
            returned.set()

    def deliver(self, step: str, parcel: Parcel) -> None:
        """Puts the values that another task has sent, unless the step is over.

        Raises:
          ResourceExhaustedError: Where the step has not begun, and the values of such steps hold too much.
        """
        with self._lock:
            if self._steps.is_early(step):
                self._discard_stale()
                self._make_room(step, bytes_of(parcel) + _PARCEL_BYTES)
            if not self._steps.deliver(step, [key for key, _ in parcel]):
                return
            rendezvous = self._open.get(step) or self._early.get(step)
            if rendezvous is None:
                rendezvous = self._early[step] = Rendezvous()
        for key, value in parcel:
            rendezvous.put(key, value)

    def _make_room(self, step: str, size: int) -> None:
        """Counts values of a step that has not begun."""
        held = sum(self._early_sizes.values()) + size
        if held > self._early_bytes:
            raise errors.resource_exhausted(
                f"Values for step {step} are refused: it has not begun, and the values of such steps would "
                f"hold {held} bytes, at most {self._early_bytes} are kept."
            )
        self._early_sizes[step] = self._early_sizes.get(step, 0) + size

    def _take_early(self, step: str) -> Rendezvous | None:
        self._early_sizes.pop(step, None)
        return self._early.pop(step, None)

    def abort(self, step: str, reason: OpError) -> list[str]:
        """The step has failed on another task. Returns the steps whose part here is to be cancelled."""
        return self._perform(lambda: self._steps.abort(step, reason), reason)

    def close_session(self, session: str, reason: OpError) -> list[str]:
        """A session was closed. Returns the steps whose part here is to be cancelled."""
        return self._perform(lambda: self._steps.close_session(session, reason), reason)

    def lose_task(self, task: str, reason: OpError) -> list[str]:
        """A task is lost. Returns the steps whose part here is to be cancelled."""
        return self._perform(lambda: self._steps.lose_task(task, reason), reason)

    def wait_until_returned(self, step: str, seconds: float) -> None:
        """Waits until no part of a step runs here, for so many seconds at most."""
        with self._lock:
            if not self._steps.has_part(step):
                return
            returned = self._returned.setdefault(step, threading.Event())
        returned.wait(seconds)

    def _perform(self, decide: Callable[[], list[Instruction]], reason: OpError) -> list[str]:
        cancelled = {}
        with self._lock:
            for instruction in decide():
                match instruction:
                    case Cancel(step):
                        cancelled[step] = self._open[step]
                    case Discard(step):
                        self._take_early(step)
        for step, rendezvous in cancelled.items():
            rendezvous.end(reason)  # without the lock: kernels that wait there are called back
            if _log.isEnabledFor(logging.DEBUG):
                moves = self._steps.machine.record.moves(step)
                _log.debug("Step %s is cancelled. Its story:\n%s", step, story(moves))
        return list(cancelled)

    def _discard_stale(self) -> None:
        oldest = time.monotonic() - self._early_seconds
        for step in [step for step, rendezvous in self._early.items() if rendezvous.began < oldest]:
            self._steps.expire(step)
            self._take_early(step)
