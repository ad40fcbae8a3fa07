"""The steps of a task, as a state machine: which may begin, which are to be cancelled, whose values are
dropped.

A step has at most one part on a task. Values that other tasks send to the part may arrive before it begins,
and are kept; those that arrive after its end are dropped. The step may fail on another task before, while or
after its part runs here. Events in, instructions out: `rendezvous_table.py` holds the values and performs.
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tideflow.cluster.machine import Machine, Record
from tideflow.graph import errors
from tideflow.graph.errors import AbortedError, CancelledError, OpError

REMEMBERED_STEPS = 4096  # that are over, so that what still comes for them is known to be late


class StepState(str, enum.Enum):
    """How far a step is on this task."""

    UNKNOWN = "unknown"
    EARLY = "early"  # values for its part have come, and the part has not begun
    RUNNING = "running"
    ENDING = "ending"  # it has failed elsewhere or its session was closed; its part here has not returned yet
    OVER = "over"  # its part has returned, or must not begin any more

    __str__ = str.__str__


UNKNOWN, EARLY, RUNNING, ENDING, OVER = StepState

BEGIN, DELIVER, ABORT, FINISH, EXPIRE = "begin", "deliver", "abort", "finish", "expire"

MOVES: Mapping[StepState, Mapping[str, StepState]] = {
    UNKNOWN: {DELIVER: EARLY, BEGIN: RUNNING, ABORT: OVER},
    EARLY: {DELIVER: EARLY, BEGIN: RUNNING, ABORT: OVER, EXPIRE: UNKNOWN},
    RUNNING: {DELIVER: RUNNING, ABORT: ENDING, FINISH: OVER},
    ENDING: {DELIVER: ENDING, ABORT: ENDING, FINISH: OVER},
    OVER: {DELIVER: OVER, ABORT: OVER},
}


def session_closed() -> CancelledError:
    """Why the steps of a closed session end, in TensorFlow's words."""
    return errors.cancelled("Step was cancelled by an explicit call to `Session::Close()`.")


def session_not_found(handle: str) -> AbortedError:
    """Why a session runs no more that its server does not know any more, in TensorFlow's words."""
    return errors.aborted(f"Session {handle} is not found. It was reset, or its server was restarted.")


# ---------------------------------------------------------------------------------------------- instructions


@dataclass(frozen=True)
class Cancel:
    """Cancel the step's part, which runs."""

    step: str


@dataclass(frozen=True)
class Discard:
    """Discard the values that have come for a step: its part will not begin."""

    step: str


Instruction = Cancel | Discard


# ----------------------------------------------------------------------------------------------- the machine


class StepTable:
    """The steps that a task knows. Of those that are over it remembers the last `remembered`."""

    def __init__(self, record: Record | None = None, remembered: int = REMEMBERED_STEPS):
        self.machine: Machine[StepState] = Machine("Step", UNKNOWN, MOVES, record or Record())
        self._running: dict[str, tuple[str, Sequence[str]]] = {}  # and ending: their session and tasks
        self._over: OrderedDict[str, OpError | None] = OrderedDict()  # with why a step must not begin
        self._remembered = remembered

    def has_part(self, step: str) -> bool:
        """Whether the step's part has begun here and has not returned."""
        return step in self._running

    def is_early(self, step: str) -> bool:
        """Whether the step's part has not begun here, and may yet do so."""
        return step not in self._running and step not in self._over

    def begin(self, step: str, session: str, tasks: Sequence[str]) -> None:
        """The step's part begins. The step belongs to a master's `session`, and runs on `tasks`. Raises if it
        must not begin, because it has failed elsewhere or has begun here before.
        """
        if step in self._running or step in self._over:
            reason = self._over.get(step)
            raise reason or errors.aborted(f"Step {step} has been started on this task before.")
        self.machine.move(step, BEGIN)
        self._running[step] = session, tasks

    def finish(self, step: str) -> None:
        """The step's part has returned."""
        self.machine.move(step, FINISH)
        del self._running[step]
        self._remember(step, None)

    def deliver(self, step: str, keys: Sequence[str]) -> bool:
        """Values have come for a step; whether they are to be kept."""
        state = self.machine.move(step, DELIVER, keys)
        return state is RUNNING or state is EARLY

    def abort(self, step: str, reason: OpError) -> list[Instruction]:
        """The step has failed on another task."""
        before = self.machine.state(step)
        self.machine.move(step, ABORT, f"{type(reason).__name__}: {reason.message}")
        if before is RUNNING:
            return [Cancel(step)]
        if before is ENDING or before is OVER:
            return []
        self._remember(step, reason)
        return [Discard(step)]

    def close_session(self, session: str, reason: OpError) -> list[Instruction]:
        """A session was closed, and its steps end."""
        return self._abort_all([step for step, (own, _) in self._running.items() if own == session], reason)

    def lose_task(self, task: str, reason: OpError) -> list[Instruction]:
        """A task is lost: the steps that need it end."""
        return self._abort_all([step for step, (_, tasks) in self._running.items() if task in tasks], reason)

    def expire(self, step: str) -> None:
        """Values that came long ago for a step are discarded: its part has not begun, and may yet do so."""
        self.machine.move(step, EXPIRE)
        self.machine.forget(step)

    def _abort_all(self, steps: list[str], reason: OpError) -> list[Instruction]:
        return [instruction for step in steps for instruction in self.abort(step, reason)]

    def _remember(self, step: str, reason: OpError | None) -> None:
        self._over[step] = reason
        if len(self._over) > self._remembered:
            self.machine.forget(self._over.popitem(last=False)[0])
