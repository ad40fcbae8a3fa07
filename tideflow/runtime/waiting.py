"""Waiting that always has a way out: the session may close, the step may run out of time."""

from __future__ import annotations

import abc
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.runtime.wake_events import WakeEvent, thread_wake_event

if TYPE_CHECKING:
    from tideflow.runtime.rendezvous import Rendezvous

_LONGEST_SLEEP = 1.0  # seconds: who waits looks around this often, whatever he missed


@dataclass
class Limits:
    """What a step may not outlive: its time, and its cancellation. A part of a step has limits of its own
    inside of the step's.
    """

    deadline: float | None = None
    seconds: float = 0.0
    cancelled: bool = False
    outer: Limits | None = None
    rendezvous: Rendezvous | None = None  # where the step's parts, on other devices and tasks, meet
    trace: Any = None  # a RunMetadata that wants to know what the step's parts do

    @property
    def over(self) -> bool:
        return self.cancelled or (self.outer is not None and self.outer.over)

    def inner(self) -> Limits:
        """Limits for a part of what these are for."""
        return Limits(self.deadline, self.seconds, False, self, self.rendezvous, self.trace)


class _Current(threading.local):
    limits = Limits()


_current = _Current()


def limits() -> Limits:
    """The limits of the step that runs in this thread."""
    return _current.limits


@contextlib.contextmanager
def under(limits: Limits) -> Iterator[Limits]:
    """What this thread waits for in the block, it waits for within these limits."""
    outer, _current.limits = _current.limits, limits
    try:
        yield limits
    finally:
        _current.limits = outer


def within(seconds: float) -> contextlib.AbstractContextManager[Limits]:
    """What this thread waits for in the block must be there in time, or DeadlineExceededError."""
    return under(Limits(time.monotonic() + seconds, seconds))


def traced(seconds: float, trace: Any) -> contextlib.AbstractContextManager[Limits]:
    """What the tasks of a cluster do in the block is told in `trace`; `seconds` is their limit, 0
    for none.
    """
    deadline = time.monotonic() + seconds if seconds else None
    return under(Limits(deadline, seconds, trace=trace))


def wait(
    condition: threading.Condition, ready: Callable[[], bool], closed: Callable[[], bool], what: str
) -> None:
    """Waits, holding the condition's lock, until `ready`; `what` says for whom the error speaks."""
    step = _current.limits
    while not ready():
        condition.wait(time_left(step, closed, what))


ABSENT = object()  # no value yet


class PendingValue(abc.ABC):
    """Something a step wants that is not there yet. Who wants it waits (`wait_for`), or leaves and comes back:
    a kernel that asks for `suspendable` gives its plan the pending value instead of the value, where it is true.
    """

    what = ""  # for errors: what is waited for

    @abc.abstractmethod
    def get(self, call: Callable[[], Any]) -> Any:
        """The value, or ABSENT: then `call` is called, quick and under whatever lock, when it is worth to ask
        again. An error where it will never be there.
        """

    @abc.abstractmethod
    def cancel(self) -> Any:
        """Takes the pending value back: ABSENT, or the value where it was granted meanwhile."""

    def closed(self) -> bool:
        """Whether the session to which it belongs was closed."""
        return False


def poll(pending: PendingValue, step: Limits, call: Callable[[], Any]) -> Any:
    """The value of a pending value, or ABSENT; an error where the step may wait no longer for it."""
    value = pending.get(call)
    if value is ABSENT:
        try:
            time_left(step, pending.closed, pending.what)
        except OpError:
            value = pending.cancel()
            if value is ABSENT:
                raise
    return value


def wait_for(pending: PendingValue) -> Any:
    """The value of a pending value, for which this thread waits."""
    step, wake_event, waiter = _current.limits, thread_wake_event(), threading.get_ident()
    wait = WakeEvent.wait if step.rendezvous is None else step.rendezvous.wait

    def call() -> None:
        if threading.get_ident() != waiter:
            wake_event.set()

    while (value := poll(pending, step, call)) is ABSENT:
        try:
            wait(wake_event, _nap(step))  # a wake event may ring for an earlier pending value
        except BaseException:
            pending.cancel()
            raise
    return value


def time_left(step: Limits, closed: Callable[[], bool], what: str) -> float:
    """For how long a step may sleep until it looks around again; an error where it may not wait any longer.
    What the step was about to send leaves now: somebody may wait for it.
    """
    if step.rendezvous is not None:
        step.rendezvous.flush()
    if closed() or step.over:
        if step.rendezvous is not None:
            step.rendezvous.check()  # it may have failed elsewhere: then this is why
        raise errors.cancelled(f"{what}: the session was closed, or the step cancelled, meanwhile.")
    left = _nap(step)
    if left <= 0:
        raise errors.deadline_exceeded(
            f"{what}: it did not happen in the {step.seconds:g} s that the step was given."
        )
    return left


def _nap(step: Limits) -> float:
    if step.deadline is None:
        return _LONGEST_SLEEP
    return min(max(0.0, step.deadline - time.monotonic()), _LONGEST_SLEEP)
