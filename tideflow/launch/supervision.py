"""Who runs, who is started again, and when a job is over. Events in, instructions out: no processes and no
clock.

The chief leads. When it has finished, the others have a grace period to leave by themselves; when it fails
for good, or a parameter server does, the job cannot go on and is stopped. A worker that fails for good is
missed by nobody.
"""

from __future__ import annotations

import enum
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

LONGEST_BACKOFF = 30.0  # seconds


@dataclass(frozen=True)
class Task:
    """One task of a cluster."""

    job: str
    index: int

    def __str__(self) -> str:
        return f"{self.job} {self.index}"

    @property
    def serves(self) -> bool:
        """Whether it works for the others, for as long as they do."""
        return self.job == "ps"


class State(enum.Enum):
    """What a task does."""

    WAITING = "waiting"  # to be started
    STARTING = "starting"
    RUNNING = "running"
    FINISHED = "finished"  # by itself, with code 0
    FAILED = "failed"
    STOPPED = "stopped"  # because the job is over


ALIVE = (State.STARTING, State.RUNNING)


class Phase(enum.Enum):
    """How far the job is."""

    WORKING = "working"
    LEAVING = "leaving"  # the chief has finished, the others are about to
    STOPPING = "stopping"  # whoever is left was asked to end
    KILLING = "killing"


# ---------------------------------------------------------------------------------------------- instructions


@dataclass(frozen=True)
class Start:
    """Start the task after so many seconds, if `Supervision.is_due` still says so."""

    task: Task
    after: float = 0.0


@dataclass(frozen=True)
class Send:
    """Send a signal to a task."""

    task: Task
    signal: int


@dataclass(frozen=True)
class Alarm:
    """Call `Supervision.alarm` with this phase after so many seconds."""

    phase: Phase
    after: float


@dataclass(frozen=True)
class Tell:
    """Something that whoever watches should know."""

    text: str


Instruction = Start | Send | Alarm | Tell


@dataclass
class Record:
    """What is known of a task."""

    state: State = State.WAITING
    restarts: int = 0
    code: int | None = None
    place: str = ""  # its pid, and where


# ----------------------------------------------------------------------------------------------- the machine


@dataclass
class Supervision:
    """The tasks of a job, the chief among them, from the first start to the last exit.

    `restarts` is how often each task may be started again; `grace` how many seconds the others have to
    leave once the chief has finished, `patience` those that a task has to end once it was asked to.
    """

    tasks: Sequence[Task]
    chief: Task
    restarts: int = 0
    grace: float = 30.0
    patience: float = 10.0
    restarted: Mapping[Task, int] = field(default_factory=dict)  # in earlier lives of the job
    phase: Phase = Phase.WORKING
    code: int = 0  # the job's exit code
    is_regrouping: bool = False  # stopped only to begin again, with another cluster
    records: dict[Task, Record] = field(init=False)

    def __post_init__(self) -> None:
        self.records = {task: Record(restarts=self.restarted.get(task, 0)) for task in self.tasks}

    def begin(self) -> list[Instruction]:
        """Every task is started, those that serve first."""
        return [Start(task) for task in sorted(self.tasks, key=lambda task: not task.serves)]

    def is_due(self, task: Task) -> bool:
        """Whether a start that was put off is still wanted; from now on the task is being started."""
        record = self.records[task]
        if self.phase is not Phase.WORKING or record.state is not State.WAITING:
            return False
        record.state = State.STARTING
        return True

    def started(self, task: Task, place: str) -> list[Instruction]:
        """The task has a process."""
        record = self.records[task]
        record.state, record.place, record.code = State.RUNNING, place, None
        again = f", restart {record.restarts} of {self.restarts}" if record.restarts else ""
        return [Tell(f"{task} runs ({place}{again})")] + self._catch_up(task)

    def _catch_up(self, task: Task) -> list[Instruction]:
        """What the task has missed if it was being started while the job was stopped."""
        missed = {Phase.STOPPING: signal.SIGTERM, Phase.KILLING: signal.SIGKILL}.get(self.phase)
        return [Send(task, missed)] if missed else []

    def ended(self, task: Task, code: int) -> list[Instruction]:
        """The process of the task has ended, by itself or not."""
        record = self.records[task]
        record.code = code
        if self.phase is not Phase.WORKING:
            record.state = State.FINISHED if code == 0 else State.STOPPED
            return [Tell(f"{task} has left ({_reason(code)})")]
        if code != 0:
            return self._failed(task, record)
        record.state = State.FINISHED
        told: list[Instruction] = [Tell(f"{task} has finished")]
        return told + (self._leave() if task == self.chief else [])

    def _failed(self, task: Task, record: Record) -> list[Instruction]:
        if record.restarts < self.restarts:
            return self._restart(task, record)
        record.state = State.FAILED
        told = f"{task} has failed ({_reason(record.code)})"
        if task != self.chief and not task.serves:
            return [Tell(f"{told}; the others go on")]
        self.code = record.code
        return [Tell(f"{told}: the job ends")] + self.stop()

    def _restart(self, task: Task, record: Record) -> list[Instruction]:
        wait = min(2.0**record.restarts, LONGEST_BACKOFF)
        again = [task]
        if task == self.chief:  # servers that took its end for the job's have left
            again += [one for one in self.tasks if one.serves and self.records[one].state is State.FINISHED]
        for one in again:
            self.records[one].state = State.WAITING
        record.restarts += 1
        told = f"{task} has failed ({_reason(record.code)}); restart {record.restarts} of {self.restarts}"
        return [Tell(f"{told} in {wait:g} s"), *(Start(one, wait) for one in again)]

    def _leave(self) -> list[Instruction]:
        self._give_up_waiting(Phase.LEAVING)
        return [Alarm(Phase.LEAVING, self.grace)]

    def stop(self) -> list[Instruction]:
        """Whoever is there is asked to end."""
        self._give_up_waiting(Phase.STOPPING)
        asked = [Send(task, signal.SIGTERM) for task in self.alive()]
        return [*asked, Alarm(Phase.STOPPING, self.patience)]

    def _kill(self) -> list[Instruction]:
        self._give_up_waiting(Phase.KILLING)
        return [Send(task, signal.SIGKILL) for task in self.alive()]

    def _give_up_waiting(self, phase: Phase) -> None:
        self.phase = phase
        for record in self.records.values():
            if record.state is State.WAITING:
                record.state = State.STOPPED

    def alive(self) -> list[Task]:
        """The tasks that have a process, or are about to."""
        return [task for task, record in self.records.items() if record.state in ALIVE]

    def is_over(self) -> bool:
        """Whether the job has ended and everybody has left."""
        return self.phase is not Phase.WORKING and not self.alive()

    def alarm(self, phase: Phase) -> list[Instruction]:
        """The time that was set for a phase is up."""
        if phase is not self.phase or self.is_over():
            return []
        names = ", ".join(map(str, self.alive()))
        if phase is Phase.LEAVING:
            return [Tell(f"still there after {self.grace:g} s, and asked to end: {names}")] + self.stop()
        return [Tell(f"still there after {self.patience:g} s, and killed: {names}")] + self._kill()

    def interrupted(self, number: int) -> list[Instruction]:
        """Somebody wants the job to end: the first time it is asked to, the second time it is killed."""
        if self.phase in (Phase.STOPPING, Phase.KILLING) and not self.is_regrouping:
            return [Tell("killing the job")] + self._kill()
        self.code, self.is_regrouping = 128 + number, False
        name = signal.Signals(number).name
        return [Tell(f"{name}: stopping the job; once more kills it")] + self.stop()

    def regroup(self, reason: str) -> list[Instruction]:
        """The cluster has changed: everybody stops, to begin again from the last checkpoint."""
        if self.phase is not Phase.WORKING:
            return []
        self.is_regrouping = True
        return [Tell(f"{reason}: the job begins again from its last checkpoint")] + self.stop()


def _reason(code: int) -> str:
    """An exit code in words: 128 and more are signals, as in a shell."""
    if code > 128:
        try:
            return signal.Signals(code - 128).name
        except ValueError:
            pass
    return f"code {code}"
