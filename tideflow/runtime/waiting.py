"""Waiting that always has a way out: the session may close, the step may run out of time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tideflow.graph.errors import CancelledError, DeadlineExceededError

_LONGEST_SLEEP = 1.0  # seconds: who waits looks around this often, whatever he missed


@dataclass
class Limits:
    """What a step may not outlive: its time, and its cancellation."""

    deadline: float | None = None
    seconds: float = 0.0
    cancelled: bool = False


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


def wait(
    condition: threading.Condition, ready: Callable[[], bool], closed: Callable[[], bool], what: str
) -> None:
    """Waits, holding the condition's lock, until `ready`; `what` says for whom the error speaks."""
    step = _current.limits
    while not ready():
        if closed() or step.cancelled:
            raise CancelledError(
                None, None, f"{what}: the session was closed, or the step cancelled, meanwhile."
            )
        left = _LONGEST_SLEEP
        if step.deadline is not None:
            left = min(left, step.deadline - time.monotonic())
            if left <= 0:
                raise DeadlineExceededError(
                    None,
                    None,
                    f"{what}: it did not happen in the {step.seconds:g} s that the step was given.",
                )
        condition.wait(left)
