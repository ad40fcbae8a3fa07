"""Which tasks of a cluster are there, and when the job is over, as a state machine.

The chief leads the job: the first task of a job named chief or master, or else the first worker. Parameter
servers work for the others: the job is over for them when the chief has finished and no other task is at work
any more. Events in, instructions out: `heartbeats.py` sends the messages, and hears from the other tasks.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tideflow.cluster.machine import Machine, Record
from tideflow.graph.device import DeviceSpec

_LEADERS = ("chief", "master", "worker")
_SERVERS = ("ps",)
LEASE_ROUNDS = 20  # a session whose owner was silent for so many rounds of heartbeats is closed


class TaskState(str, enum.Enum):
    """What is known of another task."""

    UNSEEN = "unseen"
    HERE = "here"
    LOST = "lost"  # it was here and does not answer; it may come back
    LEFT = "left"  # it has ended, its work not done
    FINISHED = "finished"  # it has ended, its work done

    __str__ = str.__str__


UNSEEN, HERE, LOST, LEFT, FINISHED = TaskState

ANSWER, SILENCE, LEAVE, FINISH = "answer", "silence", "leave", "finish"

_ENDS = {LEAVE: LEFT, FINISH: FINISHED}
MOVES: Mapping[TaskState, Mapping[str, TaskState]] = {
    UNSEEN: {ANSWER: HERE, SILENCE: UNSEEN, **_ENDS},
    HERE: {ANSWER: HERE, SILENCE: LOST, **_ENDS},
    LOST: {ANSWER: HERE, SILENCE: LOST, **_ENDS},
    LEFT: {ANSWER: HERE, SILENCE: LEFT, **_ENDS},  # a task that has ended may be started again
    FINISHED: {ANSWER: HERE, SILENCE: FINISHED, **_ENDS},
}


# ---------------------------------------------------------------------------------------------- instructions


@dataclass(frozen=True)
class SendHeartbeat:
    """Send a heartbeat to a task; report its answer, or that it gave none."""

    task: str


@dataclass(frozen=True)
class EndSteps:
    """End the steps that need a task."""

    task: str
    reason: str


@dataclass(frozen=True)
class SayGoodbye:
    """Tell a task that this one ends."""

    task: str


# ----------------------------------------------------------------------------------------------- the machine


class Membership:
    """The tasks of a cluster, as one of them, `me`, knows them."""

    def __init__(self, me: str, tasks: Sequence[str], record: Record | None = None):
        self._me = me
        self._others = [task for task in tasks if task != me]
        self.machine: Machine[TaskState] = Machine("Task", UNSEEN, MOVES, record or Record())
        self._missing_for: dict[str, frozenset[str]] = {}  # which tasks other tasks miss
        self.chief = _chief(tasks)

    # ---- events

    def answered(self, task: str, missing: Sequence[str] | None = None) -> list[EndSteps]:
        """The task has sent a heartbeat, or answered one and says which tasks it misses. Workers exchange
        heartbeats with servers, and learn from them about each other.
        """
        if missing is not None:
            self._missing_for[task] = frozenset(missing)
        self._move(task, ANSWER)
        return []

    def silent(self, task: str, reason: str) -> list[EndSteps]:
        """The task did not answer a heartbeat."""
        self._move(task, SILENCE, reason)
        return [EndSteps(task, f"{task} is lost: {reason}")]

    def left(self, task: str, finished: bool) -> list[EndSteps]:
        """The task has said goodbye: its process ends, its work done or not."""
        self._move(task, FINISH if finished else LEAVE)
        return []

    def next_round(self, connected: Collection[str]) -> list[SendHeartbeat]:
        """It is time for heartbeats: to tasks that were here, and those to which there was a connection."""
        return [SendHeartbeat(task) for task in self._others if task in connected or self._was_here(task)]

    def ending(self, connected: Collection[str]) -> list[SayGoodbye]:
        """This task ends: it says so to the tasks that know it, and the chief to all servers, which wait for
        its end.
        """
        return [SayGoodbye(task) for task in self._others if self._waits_for_me(task, connected)]

    def _move(self, task: str, event: str, detail: str = "") -> None:
        if task not in self._others:  # a name in a message may be anything
            return
        state = self.machine.state(task)
        if MOVES[state][event] is not state:  # the heartbeats of every second are not worth recording
            self.machine.move(task, event, detail)

    # ---- questions

    def missing(self) -> list[str]:
        """The tasks that were here and are missing, their work not done, as far as this task knows itself."""
        return [task for task in self._others if self.machine.state(task) in (LOST, LEFT)]

    def missing_anywhere(self) -> set[str]:
        """The tasks that are missing, as far as any task has reported."""
        return set(self.missing()).union(*self._missing_for.values())

    def is_over(self) -> bool:
        """Whether no other task needs this one any more."""
        if self.chief is None or self.machine.state(self.chief) is not FINISHED:
            return False
        return not any(self.machine.state(task) is HERE for task in self._others if not _is_server(task))

    def _was_here(self, task: str) -> bool:
        return self.machine.state(task) in (HERE, LOST)

    def _waits_for_me(self, task: str, connected: Collection[str]) -> bool:
        if self.machine.state(task) in (LEFT, FINISHED):
            return False
        return task in connected or self._was_here(task) or (self._me == self.chief and _is_server(task))


def _is_server(task: str) -> bool:
    return DeviceSpec.from_string(task).job in _SERVERS


def _chief(tasks: Sequence[str]) -> str | None:
    specs = {task: DeviceSpec.from_string(task) for task in tasks}
    for job in _LEADERS:
        found = [task for task, spec in specs.items() if spec.job == job]
        if found:
            return min(found, key=lambda task: specs[task].task or 0)
    return None


# ---------------------------------------------------------------------------------------------------- leases


class Lease:
    """The time for which a session lives without a message from its owner: a master, or a client.

    It is counted in rounds of this task's own heartbeats, not in seconds: while the process is stopped, no
    session grows old.
    """

    __slots__ = ("_rounds", "_silent_rounds")

    def __init__(self, rounds: int | None = None) -> None:
        self._rounds = rounds
        self._silent_rounds = 0

    def renew(self) -> None:
        """A message has come from the owner."""
        self._silent_rounds = 0

    def ran_out(self) -> bool:
        """One more round has passed; whether the owner was silent for too many."""
        self._silent_rounds += 1
        return self._silent_rounds > (self._rounds or LEASE_ROUNDS)
