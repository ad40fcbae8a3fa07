"""The loop around a supervision: it performs what it is told, wherever the tasks are."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from tideflow.launch.supervision import Alarm, Instruction, Send, Start, Supervision, Task, Tell
from tideflow.launch.view import PlainView

LONGEST_WAIT = 0.5  # seconds, after which a signal that has come is seen at the latest
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Machines(Protocol):
    """Where tasks run."""

    def start(self, task: Task) -> None:
        """Starts a task, now or when there is room for it."""

    def send(self, task: Task, number: int) -> None:
        """Sends a signal to a task that was started."""

    def wait(self, seconds: float) -> Sequence[tuple]:
        """What has happened, waiting so long for the first of it: ("started", task, place), ("said", task,
        line), ("ended", task, code) or ("regroup", None, reason).
        """


class Shell:
    """Runs a job to its end."""

    def __init__(self, supervision: Supervision, machines: Machines, view: PlainView):
        self.supervision, self.machines, self.view = supervision, machines, view
        self._timers: list[tuple[float, int, Callable[[], Sequence[Instruction]]]] = []
        self._order = itertools.count()  # timers of one instant go in the order in which they were set
        self._signals: list[int] = []

    def run(self) -> int:
        """The exit code of the job."""
        with self._signals_noted():
            self.perform(self.supervision.begin())
            while not self.supervision.is_over():
                self.turn()
        return self.supervision.code

    def turn(self) -> None:
        """Sees to what has happened, waiting a little for the first of it."""
        for event in self.machines.wait(self._until_the_next_timer()):
            self._handle(*event)
        while self._timers and self._timers[0][0] <= time.monotonic():
            self.perform(heapq.heappop(self._timers)[2]())
        while self._signals:
            self.perform(self.supervision.interrupted(self._signals.pop(0)))

    def perform(self, instructions: Sequence[Instruction]) -> None:
        """Does what the supervision says."""
        for instruction in instructions:
            match instruction:
                case Start(task, after):
                    self._later(after, lambda task=task: self._start(task))
                case Send(task, number):
                    self.machines.send(task, number)
                case Alarm(phase, after):
                    self._later(after, lambda phase=phase: self.supervision.alarm(phase))
                case Tell(text):
                    self.view.tell(text)

    def _handle(self, kind: str, task: Task | None, what: object) -> None:
        match kind:
            case "said":
                self.view.said(task, what)
            case "started":
                self.perform(self.supervision.started(task, what))
            case "ended":
                self.perform(self.supervision.ended(task, what))
            case "regroup":
                self.perform(self.supervision.regroup(what))

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
    def _signals_noted(self) -> Iterator[None]:
        before = {number: signal.getsignal(number) for number in _ENDING}
        for number in _ENDING:
            signal.signal(number, lambda number, frame: self._signals.append(number))
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
