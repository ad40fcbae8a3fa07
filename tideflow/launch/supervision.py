"""Which tasks run, which are started again, and when a job is over. Events in, instructions out.

No processes and no clock are in here. The chief leads. When it has finished, the others have a grace period
to leave by themselves; when it fails for good, or a parameter server does, the job cannot go on and is
stopped. A worker that fails for good does not stop the others.
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
        """Whether it is a parameter server, which works for the other tasks for as long as they do."""
        return self.job == "ps"


class State(enum.Enum):
    """The state of a task."""

    WAITING = "waiting"  # to be started
    STARTING = "starting"
    RUNNING = "running"
    FINISHED = "finished"  # by itself, with code 0
    FAILED = "failed"
    STOPPED = "stopped"  # because the job is over


ALIVE = (State.STARTING, State.RUNNING)


class Phase(enum.Enum):
    """The phase of a job."""

    WORKING = "working"
    LEAVING = "leaving"  # the chief has finished, the others are about to
    STOPPING = "stopping"  # the tasks that are left have received SIGTERM
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
class Report:
    """Show a line of text to the user."""

    text: str


Instruction = Start | Send | Alarm | Report


@dataclass
class Record:
    """The state of a task and its history."""

    state: State = State.WAITING
    restarts: int = 0
    code: int | None = None
    place: str = ""  # its pid, and its machine


# ----------------------------------------------------------------------------------------------- the machine


@dataclass
class Supervision:
    """The tasks of a job, the chief among them, from the first start to the last exit.

    `restarts` is how often each task may be started again. `grace` is how many seconds the others have to
    leave after the chief has finished, `patience` how many a task has to end after SIGTERM.
    """

    tasks: Sequence[Task]
    chief: Task
    restarts: int = 0
    grace: float = 30.0
    patience: float = 10.0
    restarted: Mapping[Task, int] = field(default_factory=dict)  # how often, before the job regrouped
    phase: Phase = Phase.WORKING
    code: int = 0  # the job's exit code
    is_regrouping: bool = False  # whether the job stops in order to begin again, with another cluster
    records: dict[Task, Record] = field(init=False)

    def __post_init__(self) -> None:
        self.records = {task: Record(restarts=self.restarted.get(task, 0)) for task in self.tasks}

    def begin(self) -> list[Instruction]:
        """Starts every task, parameter servers first."""
        return [Start(task) for task in sorted(self.tasks, key=lambda task: not task.serves)]

    def is_due(self, task: Task) -> bool:
        """Whether a delayed start is still due. If it is, the task counts as being started."""
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
        return [Report(f"{task} runs ({place}{again})")] + self._catch_up(task)

    def _catch_up(self, task: Task) -> list[Instruction]:
        """The signal that the task has missed, if the job was stopped while the task was being started."""
        missed = {Phase.STOPPING: signal.SIGTERM, Phase.KILLING: signal.SIGKILL}.get(self.phase)
        return [Send(task, missed)] if missed else []

    def ended(self, task: Task, code: int) -> list[Instruction]:
        """The process of the task has ended, by itself or by a signal."""
        record = self.records[task]
        record.code = code
        if self.phase is not Phase.WORKING:
            record.state = State.FINISHED if code == 0 else State.STOPPED
            return [Report(f"{task} has left ({_reason(code)})")]
        if code != 0:
            return self._failed(task, record, code)
        record.state = State.FINISHED
        report: list[Instruction] = [Report(f"{task} has finished")]
        return report + (self._leave() if task == self.chief else [])

    def _failed(self, task: Task, record: Record, code: int) -> list[Instruction]:
        failure = f"{task} has failed ({_reason(code)})"
        if record.restarts < self.restarts:
            return self._restart(task, record, failure)
        record.state = State.FAILED
        if task != self.chief and not task.serves:
            return [Report(f"{failure}; the others go on")]
        self.code = code
        return [Report(f"{failure}: the job ends")] + self.stop()

    def _restart(self, task: Task, record: Record, failure: str) -> list[Instruction]:
        wait = min(2.0**record.restarts, LONGEST_BACKOFF)
        again = [task]
        if task == self.chief:  # parameter servers leave when the chief ends: those have to come back
            again += [one for one in self.tasks if one.serves and self.records[one].state is State.FINISHED]
        for one in again:
            self.records[one].state = State.WAITING
        record.restarts += 1
        report = Report(f"{failure}; restart {record.restarts} of {self.restarts} in {wait:g} s")
        return [report, *(Start(one, wait) for one in again)]

    def _leave(self) -> list[Instruction]:
        self._give_up_waiting(Phase.LEAVING)
        return [Alarm(Phase.LEAVING, self.grace)]

    def stop(self) -> list[Instruction]:
        """Sends SIGTERM to every task that is left."""
        self._give_up_waiting(Phase.STOPPING)
        signals = [Send(task, signal.SIGTERM) for task in self.alive()]
        return [*signals, Alarm(Phase.STOPPING, self.patience)]

    def _kill(self) -> list[Instruction]:
        self._give_up_waiting(Phase.KILLING)
        return [Send(task, signal.SIGKILL) for task in self.alive()]

    def _give_up_waiting(self, phase: Phase) -> None:
        self.phase = phase
        for record in self.records.values():
            if record.state is State.WAITING:
                record.state = State.STOPPED

    def alive(self) -> list[Task]:
        """The tasks that have a process, or are being started."""
        return [task for task, record in self.records.items() if record.state in ALIVE]

    def is_over(self) -> bool:
        """Whether the job has ended and no task is left."""
        return self.phase is not Phase.WORKING and not self.alive()

    def alarm(self, phase: Phase) -> list[Instruction]:
        """The time limit of a phase has passed."""
        if phase is not self.phase or self.is_over():
            return []
        names = ", ".join(map(str, self.alive()))
        if phase is Phase.LEAVING:
            return [Report(f"still there after {self.grace:g} s, and asked to end: {names}")] + self.stop()
        return [Report(f"still there after {self.patience:g} s, and killed: {names}")] + self._kill()

    def interrupted(self, number: int) -> list[Instruction]:
        """The launcher has received a signal: the first one stops the job, the second one kills it."""
        if self.phase in (Phase.STOPPING, Phase.KILLING) and not self.is_regrouping:
            return [Report("killing the job")] + self._kill()
        self.code, self.is_regrouping = 128 + number, False
        name = signal.Signals(number).name
        return [Report(f"{name}: stopping the job; once more kills it")] + self.stop()

    def regroup(self, reason: str) -> list[Instruction]:
        """The cluster has changed: every task stops, and the job begins again from its last checkpoint."""
        if self.phase is not Phase.WORKING:
            return []
        self.is_regrouping = True
        return [Report(f"{reason}: the job begins again from its last checkpoint")] + self.stop()


def _reason(code: int) -> str:
    """An exit code in words: 128 and more are signals, as in a shell."""
    if code > 128:
        try:
            return signal.Signals(code - 128).name
        except ValueError:
            pass
    return f"code {code}"
