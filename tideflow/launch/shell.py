"""The loop around a supervision: it passes events to it and performs its instructions."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias

from tideflow.launch.supervision import Alarm, Instruction, Report, Send, Start, Supervision, Task
from tideflow.launch.view import PlainView

LONGEST_WAIT = 0.5  # seconds; the loop sees a signal after at most this time
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


# ---------------------------------------------------------------------------------------------------- events


@dataclass(frozen=True)
class Started:
    """A task has a process, with this pid and on this machine."""

    task: Task
    place: str


@dataclass(frozen=True)
class Output:
    """A task has written a line."""

    task: Task
    line: str


@dataclass(frozen=True)
class Ended:
    """A task's process has ended with this exit code."""

    task: Task
    code: int


@dataclass(frozen=True)
class Regroup:
    """The machines have changed, so that the job should begin again with another cluster."""

    reason: str


Event: TypeAlias = Started | Output | Ended | Regroup


class Machines(Protocol):
    """The machines that run the tasks."""

    def start(self, task: Task) -> None:
        """Starts a task, now or when there is room for it."""

    def send(self, task: Task, number: int) -> None:
        """Sends a signal to a task that was started."""

    def wait(self, seconds: float) -> Sequence[Event]:
        """The events since the last call, in their order. Waits up to `seconds` for the first."""


# ------------------------------------------------------------------------------------------------- the loop


class Shell:
    """Runs a job to its end."""

    def __init__(
        self, supervision: Supervision, machines: Machines, view: PlainView, signals: list[int]
    ) -> None:
        self.supervision, self.machines, self.view = supervision, machines, view
        self._timers: list[tuple[float, int, Callable[[], Sequence[Instruction]]]] = []
        self._order = itertools.count()  # timers of the same time run in the order in which they were set
        self._signals = signals

    def run(self) -> int:
        """Runs the job; returns its exit code."""
        self.perform(self.supervision.begin())
        while not self.supervision.is_over():
            self.turn()
        return self.supervision.code

    def turn(self) -> None:
        """Handles the events, timers and signals that are due, after a short wait for the first event."""
        for event in self.machines.wait(self._until_the_next_timer()):
            self._handle(event)
        while self._timers and self._timers[0][0] <= time.monotonic():
            self.perform(heapq.heappop(self._timers)[2]())
        while self._signals:
            self.perform(self.supervision.interrupted(self._signals.pop(0)))

    def perform(self, instructions: Sequence[Instruction]) -> None:
        """Performs the supervision's instructions."""
        for instruction in instructions:
            match instruction:
                case Start(task, after):
                    self._later(after, partial(self._start, task))
                case Send(task, number):
                    self.machines.send(task, number)
                case Alarm(phase, after):
                    self._later(after, partial(self.supervision.alarm, phase))
                case Report(text):
                    self.view.report(text)

    def _handle(self, event: Event) -> None:
        match event:
            case Output(task, line):
                self.view.output(task, line)
            case Started(task, place):
                self.perform(self.supervision.started(task, place))
            case Ended(task, code):
                self.perform(self.supervision.ended(task, code))
            case Regroup(reason):
                self.perform(self.supervision.regroup(reason))

    def _start(self, task: Task) -> Sequence[Instruction]:
        if self.supervision.is_due(task):
            self.machines.start(task)
        return ()

    def _later(self, seconds: float, act: Callable[[], Sequence[Instruction]]) -> None:
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), act))

    def _until_the_next_timer(self) -> float:
        if not self._timers:
            return LONGEST_WAIT
        return min(LONGEST_WAIT, max(0.0, self._timers[0][0] - time.monotonic()))


@contextlib.contextmanager
def signals_noted() -> Iterator[list[int]]:
    """The signals that ask the job to end, from the beginning of the block to its end: none interrupts the
    launcher while it starts or stops something.
    """
    noted: list[int] = []
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        for number in _ENDING:
            signal.signal(number, lambda number, frame: noted.append(number))
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
