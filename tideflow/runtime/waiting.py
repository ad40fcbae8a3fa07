"""Waiting that always has a way out: the session may close, the step may be cancelled or run out of time."""

from __future__ import annotations

import abc
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.interrupts import deferred, deliver
from tideflow.runtime.conditions import Condition
from tideflow.runtime.wake_events import WakeEvent, thread_wake_event

if TYPE_CHECKING:
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    from tideflow.runtime.rendezvous import Rendezvous

# Seconds. Waiting threads re-check at least this often, in case a wake-up was lost.
_LONGEST_SLEEP = 1.0

ABSENT = object()  # what a pending value gives that has not arrived


class PendingValue(abc.ABC):
    """A value that a kernel needs and that has not arrived. The step either blocks on it
    (`StepContext.wait_for`), or suspends its plan and resumes it when the value arrives.
    """

    what = ""  # for errors: what the step waits for
    operation = "Step"  # for errors: what was cancelled, in TensorFlow's words

    @abc.abstractmethod
    def get(self, wake: Callable[[], Any]) -> Any:
        """The value, or ABSENT. In that case `wake` is called once it is worth asking again, from any thread
        and maybe under a lock, so it must be quick. Raises where the value will never arrive.
        """

    @abc.abstractmethod
    def cancel(self) -> Any:
        """Stops asking: ABSENT, or the value where it arrived in the meantime."""

    def closed(self) -> bool:
        """Whether the session that the value belongs to was closed."""
        return False


class StepContext:
    """What a running step carries with it, handed to every kernel that may wait: its deadline, whether it was
    cancelled, where its parts on several tasks exchange values, and the trace it fills in. A part of a step
    has an inner context, which ends with the outer one or before it.
    """

    __slots__ = ("_cancelled", "deadline", "may_end", "outer", "rendezvous", "timeout", "trace")

    def __init__(
        self,
        timeout: float | None = None,
        trace: RunMetadata | None = None,
        outer: StepContext | None = None,
    ):
        self.timeout = timeout  # seconds that the step was given; None for no limit
        self.deadline = None if timeout is None else time.monotonic() + timeout
        self.trace = trace  # what the tasks of a cluster report of the step
        self.outer = outer
        # Whether the step can end before it is done. Loops read this in every iteration, and then `check`.
        self.may_end = timeout is not None or outer is not None
        self.rendezvous: Rendezvous | None = None
        self._cancelled = False

    def inner(self, timeout: float | None = None) -> StepContext:
        """A context for a part of this step, which may take `timeout` seconds at most, and no longer than the
        step itself.
        """
        inner = StepContext(timeout, self.trace, self)
        if self.deadline is not None and (inner.deadline is None or self.deadline < inner.deadline):
            inner.deadline, inner.timeout = self.deadline, self.timeout
        inner.rendezvous = self.rendezvous
        return inner

    def cancel(self) -> None:
        """Ends the step: a thread that waits on its behalf raises as soon as it wakes."""
        self._cancelled = self.may_end = True

    @property
    def cancelled(self) -> bool:
        """Whether this step, or the one that it is a part of, was cancelled."""
        return self._cancelled or (self.outer is not None and self.outer.cancelled)

    @property
    def whole(self) -> StepContext:
        """The context of the whole step, of which this may be a part."""
        return self if self.outer is None else self.outer.whole

    # ------------------------------------------------------------------ waiting on behalf of the step

    def wait(
        self, condition: Condition, ready: Callable[[], bool], closed: Callable[[], bool], what: str
    ) -> None:
        """Blocks, holding the condition's lock, until `ready`. `closed` says whether the session has ended;
        errors begin with `what`.
        """
        while not ready():
            condition.wait(self.time_left(closed, what))

    def resolve(self, kernel: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
        """What a kernel returns, once it has arrived. A signal is handled where the thread sleeps, or at the
        end: otherwise a value could stay pending for which nobody waits.
        """
        with deferred:
            value = kernel(*args, **keywords)
            return self.wait_for(value) if isinstance(value, PendingValue) else value

    def wait_for(self, pending: PendingValue) -> Any:
        """Blocks this thread until the value has arrived, and returns it."""
        wake_event, waiter = thread_wake_event(), threading.get_ident()
        wait = WakeEvent.wait if self.rendezvous is None else self.rendezvous.wait

        def wake() -> None:
            if threading.get_ident() != waiter:
                wake_event.set()

        with deferred:
            while (value := self.poll(pending, wake)) is ABSENT:
                try:
                    wait(wake_event, self._sleep_seconds())  # may return early: a set of an earlier wait
                except BaseException:
                    pending.cancel()
                    raise
            return value

    def poll(self, pending: PendingValue, wake: Callable[[], Any]) -> Any:
        """The value, or ABSENT if it has not arrived; raises where the step may wait no longer."""
        value = pending.get(wake)
        if value is ABSENT:
            try:
                self.time_left(pending.closed, pending.what, pending.operation)
            except BaseException as error:
                value = pending.cancel()
                if value is ABSENT or not isinstance(error, OpError):
                    raise
        return value

    def time_left(self, closed: Callable[[], bool], what: str, operation: str = "Step") -> float:
        """How many seconds the step may sleep before it checks again; raises where it may wait no longer, or
        where a signal has come. Errors name the `operation` that was cancelled, and say `what` it waited for.

        A step that is about to sleep first sends the values it has kept back: another task may need them to
        produce what this step waits for.
        """
        deliver()
        if self.rendezvous is not None:
            self.rendezvous.flush()
        self.check(closed, what, operation)
        return self._sleep_seconds()

    def check(self, closed: Callable[[], bool], what: str, operation: str = "Step") -> None:
        """Raises where the step may not go on: it was cancelled, its session closed, or its time is over."""
        if closed() or self.cancelled:
            if self.rendezvous is not None:
                self.rendezvous.check()  # where another task failed, its error is the reason
            raise errors.cancelled(
                f"{operation} was cancelled. {what}: the session was closed, or the step was cancelled."
            )
        if self._sleep_seconds() <= 0:
            raise errors.deadline_exceeded(
                f"Timed out waiting for notification. {what}: it did not happen in the {self.timeout:g} s "
                "that the step was given."
            )

    def _sleep_seconds(self) -> float:
        if self.deadline is None:
            return _LONGEST_SLEEP
        return min(max(0.0, self.deadline - time.monotonic()), _LONGEST_SLEEP)
