"""How many threads share the work of a plan's kernels: as many as pay at the moment.

A kernel that is split between threads waits for the slowest of them. On an idle machine that gains; where
another process has a core, the thread on that core comes late, and the others spend their time waiting. So
each plan measures its own steps, and uses more threads only while that is clearly quicker.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import torch

_WINDOW = 0.02  # seconds of steps that are judged together
_FEWEST = 2  # steps of a window
_SHORTEST = 1e-6  # seconds of a step, as far as the length of windows goes
_PAYS = 0.9  # more threads must take less than this part of the time of fewer
_IRREGULAR = 1.25  # times the best of the count's windows: something else wants the cores
_TRIAL_INTERVAL = 1.0  # seconds before more threads are tried again
_WINDOWS_BETWEEN = 20  # at least, so that trials of slow steps take a small part of the time


class ThreadChoice:
    """How many threads one plan uses. It learns from the duration of each step, and starts no clock itself.

    It compares the current number with half or twice of it: a trial is one window of steps with the other
    number, which stays if it is better, and then the next number in the same direction is tried.
    """

    def __init__(self, most: int):
        self.count = most  # for the next step
        self.most = most
        self._warm: set[int] = set()  # numbers that were used: a first window prepares kernels for them
        self._steps, self._seconds = 0, 0.0  # steps so far in this window, and the seconds they took
        self._slowest = 0.0  # seconds of its slowest step
        self._wanted = _FEWEST
        self._best = 0.0  # seconds a step of the best window since the number was chosen; 0: none yet
        self._last = 0.0  # seconds a step of the last window with the chosen number
        self._before: int | None = None  # during a trial, the number that was chosen
        self._next_trial = 0.0

    def note(self, seconds: float, now: float) -> None:
        """Takes the duration of a step with `count` threads, which ended at `now`."""
        self._steps += 1
        self._seconds += seconds
        if seconds > self._slowest:
            self._slowest = seconds
        if self._steps >= self._wanted or self._seconds >= 2 * _WINDOW:
            self._end_window(now)

    def _end_window(self, now: float) -> None:
        steps, spent, slowest = self._steps, self._seconds, self._slowest
        self._steps, self._seconds, self._slowest = 0, 0.0, 0.0
        if not steps:  # another thread, in a step of the same plan, has just ended the window
            return
        # One slow step is chance, for instance a moment of another process; two are not.
        mean = spent / steps if steps <= _FEWEST else (spent - slowest) / (steps - 1)
        self._wanted = max(_FEWEST, round(_WINDOW / max(mean, _SHORTEST)))
        if self.count not in self._warm:
            self._warm.add(self.count)
            return
        if self._before is not None:
            self._end_trial(mean, spent, now)
        else:
            self._judge(mean, now)

    def _judge(self, mean: float, now: float) -> None:
        """Decides after a window whether to try another number of threads."""
        is_first = not self._best
        self._last, self._best = mean, min(mean, self._best or mean)
        if self.count > 1 and (is_first or mean > _IRREGULAR * self._best):
            self._try(self.count // 2)
        elif self.count < self.most and now >= self._next_trial:
            self._try(min(2 * self.count, self.most))

    def _try(self, count: int) -> None:
        self._before, self.count = self.count, count
        if count not in self._warm:
            self._wanted = _FEWEST

    def _end_trial(self, mean: float, spent: float, now: float) -> None:
        before = self._before
        assert before is not None, "a trial is on"
        more, fewer = (mean, self._last) if self.count > before else (self._last, mean)
        if (more < _PAYS * fewer) == (self.count > before):  # the trial's number is the better one
            self._last = self._best = mean
            self._before = None
            further = self.count // 2 if self.count < before else min(2 * self.count, self.most)
            if further and further != self.count:
                self._try(further)
        else:
            self.count, self._before, self._best = before, None, self._last
        self._next_trial = now + max(_TRIAL_INTERVAL, _WINDOWS_BETWEEN * spent)


class _Started(threading.local):
    """Whether the threads that share the work of the calling thread's kernels have been started."""

    anywhere = False  # in this process
    here = False


_started = _Started()


def start_kernel_threads() -> None:
    """Starts the threads that share the work of the calling thread's kernels, in the mode that steps run in,
    since a thread inherits the mode of the thread that starts it. The first step of a thread does this, and
    not the import: a process that only goes on to fork must have no such threads yet.
    """
    if _started.here:
        return
    _started.here = _Started.anywhere = True
    torch.set_flush_denormal(True)
    torch.ones(1 << 20).add_(1)
    torch.set_flush_denormal(False)


_most: int | None = None  # threads of a kernel in this process; None before the first plan


def most_threads() -> int:
    """How many threads a kernel may use. torch's own number is that of the calling thread at the moment."""
    global _most
    if _most is None:
        _most = torch.get_num_threads()
    return _most


def limit_threads(count: int) -> None:
    """Sets how many threads a kernel may use."""
    global _most
    _most = count
    torch.set_num_threads(count)


def compute_alone() -> None:
    """Keeps the kernels of the calling thread to it: the thread works beside steps, which share the cores."""
    most_threads()  # known before torch has another number
    torch.set_num_threads(1)


class OneThread(ThreadChoice):
    """The choice of a plan for which more threads never pay."""

    def __init__(self, most: int):
        super().__init__(most)
        self.count = 1

    def note(self, seconds: float, now: float) -> None:
        """Learns nothing."""


def thread_choice(is_small: bool = False) -> ThreadChoice | None:
    """The choice of a new plan, one thread where the plan is small; None where there is no choice. Sums are
    rounded differently when other threads share them, so a deterministic session always uses all.
    """
    most = most_threads()
    if most == 1 or torch.are_deterministic_algorithms_enabled():
        return None
    return OneThread(most) if is_small else ThreadChoice(most)


def sharing_cores(function: Callable[..., Any], choice: ThreadChoice) -> Callable[..., Any]:
    """The function, with as many threads for its kernels as the choice says; the choice learns from it."""
    set_threads, clock, most = torch.set_num_threads, time.perf_counter, choice.most

    def run(*args: Any) -> Any:
        began = clock()
        set_threads(choice.count)
        try:
            return function(*args)
        finally:
            set_threads(most)
            ended = clock()
            choice.note(ended - began, ended)

    return run


def _compute_in_one_thread() -> None:
    """OpenMP's threads do not survive a fork: a kernel of the child would wait for them without end."""
    if _Started.anywhere:
        limit_threads(1)


os.register_at_fork(after_in_child=_compute_in_one_thread)
