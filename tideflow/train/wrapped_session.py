"""A session around another one: what the layers of a monitored session share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.graph.errors import AbortedError, UnavailableError
from tideflow.graph.graph import Graph
from tideflow.platform import logging
from tideflow.session.session import Session

PREEMPTION_ERRORS = (AbortedError, UnavailableError)  # another task is gone: a new session may do better


class StepContext:
    """The argument of the function that `run_step_fn` calls.

    It has a session, a `run` with hooks, and a way to stop.
    """

    def __init__(self, session: Session, run_with_hooks_fn: Callable):
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self) -> Session:
        """The session. Its `run` calls no hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Runs a step with hooks, as `MonitoredSession.run` does.

        Args:
          *args: The arguments of `Session.run`.
          **kwargs: The keyword arguments of `Session.run`.

        Returns:
          The fetched values.
        """
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the training: raises StopIteration, which leaves the session's `with` block."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class WrappedSession:
    """Runs the steps of the session inside, until that one or `_check_stop` says to stop, or it is closed."""

    def __init__(self, sess: Any):
        self._sess: Any = sess

    @property
    def graph(self) -> Graph:
        """The graph of the session inside."""
        return self._sess.graph

    @property
    def sess_str(self) -> str:
        """The target of the session inside."""
        return self._sess.sess_str

    def should_stop(self) -> bool:
        """Whether there is no further step to run."""
        if self._check_stop() or self._sess is None:
            return True
        return isinstance(self._sess, WrappedSession) and self._sess.should_stop()

    def _check_stop(self) -> bool:
        """Whether this layer has a reason to stop."""
        return False

    def close(self) -> None:
        """Closes the session inside, once. That a task it needs is gone is no news then."""
        if self._sess is None:
            return
        sess, self._sess = self._sess, None
        try:
            sess.close()
        except PREEMPTION_ERRORS as error:
            logging.warning(
                "An error occurred when attempting to close the session. This may be due to a preemption in "
                "a connected worker or parameter server. Error: %s",
                error,
            )

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """One step of the session inside."""
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn: Callable, raw_session: Any, run_with_hooks: Callable | None = None) -> Any:
        """What a function of a step's context returns; its steps go through all layers from this one."""
        run_with_hooks = run_with_hooks or self.run
        return step_fn(StepContext(raw_session, run_with_hooks))
