"""The rendezvous of the steps on a task, for its threads: `StepTable` decides, and this performs."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from tideflow.cluster.machine import Record, story
from tideflow.cluster.membership import Lease
from tideflow.cluster.packing import bytes_of
from tideflow.cluster.protocol import Sender
from tideflow.cluster.steps import REMEMBERED_STEPS, Cancel, Discard, Instruction, StepTable
from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.graph.memory import physical_memory
from tideflow.runtime.rendezvous import Parcel, Rendezvous, Send, Wait
from tideflow.runtime.wake_events import WakeEvent

_log = logging.getLogger("tideflow.cluster")

_PARCEL_BYTES = 4096  # that a parcel counts for beside its values: keys, and what is recorded of the step
EARLY_SECONDS = 600.0  # values whose step has not begun after so long are discarded


def default_early_bytes() -> int:
    """What values whose step has not begun may hold: an eighth of the machine's memory."""
    return physical_memory() // 8


def default_early_bytes_of_sender() -> int:
    """What those of one sender may hold: half of that, so that it leaves room for the others."""
    return default_early_bytes() // 2


@dataclass
class _Early:
    """Values that have come for a step whose part has not begun, and how many bytes each sender sent."""

    rendezvous: Rendezvous = field(default_factory=Rendezvous)
    sizes: Counter[Sender] = field(default_factory=Counter)


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
        early_bytes_of_sender: int | None = None,
    ):
        self._steps = StepTable(record, remembered)
        self._lock = threading.Lock()
        self._early: dict[str, _Early] = {}  # by step
        self._held: Counter[Sender] = Counter()  # the bytes of early values, by who has sent them
        self._held_in_all = 0
        self._left: dict[Sender, Lease] = {}  # senders that have left and whose values are held
        self._open: dict[str, Rendezvous] = {}
        self._returned: dict[str, threading.Event] = {}  # by step, where a thread waits for its end
        self._early_seconds = early_seconds
        self._early_bytes = default_early_bytes() if early_bytes is None else early_bytes
        of_sender = early_bytes_of_sender
        self._early_bytes_of_sender = default_early_bytes_of_sender() if of_sender is None else of_sender

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

    def deliver(self, step: str, parcel: Parcel, sender: Sender) -> None:
        """Puts the values that another task has sent, unless the step is over.

        Raises:
          ResourceExhaustedError: Where the step has not begun, and the values of such steps hold too much.
        """
        with self._lock:
            is_early = self._steps.is_early(step)
            if is_early:
                self._discard_stale()
                self._make_room(step, bytes_of(parcel) + _PARCEL_BYTES, sender)
            if not self._steps.deliver(step, [key for key, _ in parcel]):
                return
            rendezvous = self._early[step].rendezvous if is_early else self._open[step]
        for key, value in parcel:
            rendezvous.put(key, value)

    def _make_room(self, step: str, size: int, sender: Sender) -> None:
        """Counts values of a step that has not begun."""
        for held, limit, whose in (
            (self._held_in_all + size, self._early_bytes, ""),
            (self._held[sender] + size, self._early_bytes_of_sender, f" from {sender.task or 'this client'}"),
        ):
            if held > limit:
                raise errors.resource_exhausted(
                    f"Values for step {step} are refused: it has not begun, and the values of such steps"
                    f"{whose} would hold {held} bytes, at most {limit} are kept."
                )
        self._early.setdefault(step, _Early()).sizes[sender] += size
        self._held[sender] += size
        self._held_in_all += size

    def _take_early(self, step: str) -> Rendezvous | None:
        early = self._early.pop(step, None)
        if early is None:
            return None
        for sender, size in early.sizes.items():
            self._held_in_all -= size
            self._held[sender] -= size
            if not self._held[sender]:
                del self._held[sender]
                self._left.pop(sender, None)
        return early.rendezvous

    # ------------------------------------------------------------------ ends

    def abort(self, step: str, reason: OpError) -> list[str]:
        """The step has failed on another task. Returns the steps whose part here is to be cancelled."""
        return self._perform(lambda: self._steps.abort(step, reason), reason)

    def close_session(self, session: str, reason: OpError) -> list[str]:
        """A session was closed. Returns the steps whose part here is to be cancelled."""
        return self._perform(lambda: self._steps.close_session(session, reason), reason)

    def lose_task(self, task: str, reason: OpError) -> list[str]:
        """A task is lost. Returns the steps whose part here is to be cancelled; those for which it has sent
        values, and that have not begun, will not begin.
        """
        return self._perform(
            lambda: [
                *self._steps.lose_task(task, reason),
                *self._abort_early([sender for sender in self._held if sender.task == task], reason),
            ],
            reason,
        )

    def sender_left(self, sender: Sender) -> None:
        """A connection is closed. Who was there may come back on another one, and steps may need its values:
        those that nobody has asked for are held for as long as a session lives without its master.
        """
        with self._lock:
            if sender in self._held:
                self._left[sender] = Lease()

    def next_round(self) -> None:
        """A round of heartbeats has passed: drops the values of senders that left too long ago, and whose
        steps have not begun. The steps fail if they begin after all.
        """
        with self._lock:
            self._discard_stale()
            over = [sender for sender, lease in self._left.items() if lease.ran_out()]
        if over:
            reason = errors.unavailable(
                "The connection on which values for this step came was closed before it began."
            )
            self._perform(lambda: self._abort_early(over, reason), reason)

    def _abort_early(self, senders: Collection[Sender], reason: OpError) -> list[Instruction]:
        """Aborts the steps that have not begun and have values from one of these senders."""
        gone = set(senders)
        steps = [step for step, early in self._early.items() if not gone.isdisjoint(early.sizes)]
        return [instruction for step in steps for instruction in self._steps.abort(step, reason)]

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
        for step in [step for step, early in self._early.items() if early.rendezvous.began < oldest]:
            self._steps.expire(step)
            self._take_early(step)
