"""When a job is over: who has come, who has left, and how. Events in, answers out; no sockets and no clock.

The chief is the task that leads: the first of a job named chief or master, else of the workers. Parameter
servers work for the others: the job is over for them when the chief has finished and nobody else is at work
any more.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tideflow.graph.device import DeviceSpec

_LEADERS = ("chief", "master", "worker")
_SERVERS = ("ps",)
_UNSEEN, _HERE, _LOST, _LEFT, _FINISHED = "unseen", "here", "lost", "left", "finished"


class Job:
    """The tasks of a cluster, as one of them has heard of them."""

    def __init__(self, me: str, tasks: Sequence[str]):
        self.started = False
        self._me = me
        self._state = {task: _UNSEEN for task in tasks if task != me}
        self._missed_by: dict[str, frozenset[str]] = {}  # what others say who is gone
        self.chief = _chief(tasks)

    def is_known(self, task: str) -> bool:
        """Whether the task has been here and has not said goodbye."""
        return self._state.get(task) in (_HERE, _LOST)

    def has_left(self, task: str) -> bool:
        """Whether the task has said goodbye."""
        return self._state.get(task) in (_LEFT, _FINISHED)

    def is_awaited_by(self, task: str) -> bool:
        """Whether the task is a server, used or not, and this one the chief, whose end all servers await."""
        return self._me == self.chief and _serves(task)

    def heard(self, task: str) -> None:
        """The task lives."""
        if task in self._state:
            self._state[task] = _HERE

    def lost(self, task: str) -> None:
        """The task does not answer; it may be back."""
        if self._state.get(task) == _HERE:
            self._state[task] = _LOST

    def left(self, task: str, finished: bool) -> None:
        """The task has ended, its work done or not."""
        if task in self._state:
            self._state[task] = _FINISHED if finished else _LEFT

    def gone(self) -> list[str]:
        """Who was here and is no more, its work not done, as far as this task has heard itself."""
        return [task for task, state in self._state.items() if state in (_LOST, _LEFT)]

    def told(self, by: str, gone: Sequence[str]) -> None:
        """Another task says who is gone. Workers meet their servers, and not each other."""
        self._missed_by[by] = frozenset(gone)

    def gone_for_anybody(self) -> set[str]:
        """Who is gone, by all that is known here."""
        return set(self.gone()).union(*self._missed_by.values())

    def is_over(self) -> bool:
        """Whether nobody needs this task any more."""
        if self.chief is None or self._state.get(self.chief) != _FINISHED:
            return False
        workers = [state for task, state in self._state.items() if not _serves(task)]
        return _HERE not in workers


def _serves(task: str) -> bool:
    return DeviceSpec.from_string(task).job in _SERVERS


def _chief(tasks: Sequence[str]) -> str | None:
    specs = {task: DeviceSpec.from_string(task) for task in tasks}
    for job in _LEADERS:
        found = [task for task, spec in specs.items() if spec.job == job]
        if found:
            return min(found, key=lambda task: specs[task].task)
    return None


def exit_was_clean() -> bool:
    """Whether the process that is about to end has done its work: no exception has ended it."""
    return getattr(sys, "last_value", None) is None
