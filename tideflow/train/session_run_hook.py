"""What the hooks of a monitored session are: they see each call of `run`, add to it, and may end it all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike
    from tideflow.train.coordinator import Coordinator


@export("train.SessionRunArgs")
class SessionRunArgs(NamedTuple):
    """The arguments of a `run` call that a hook adds: fetches, values to feed, and options.

    Args:
      fetches: What to compute: an operation, a tensor, or a structure of them.
      feed_dict: Values to feed.
      options: A RunOptions message.
    """

    fetches: Any
    feed_dict: dict | None = None
    options: RunOptions | None = None


@export("train.SessionRunValues")
class SessionRunValues(NamedTuple):
    """The results of a `run` call for a hook.

    Args:
      results: The values of the hook's own fetches.
      options: The RunOptions of the call.
      run_metadata: The RunMetadata of the call.
    """

    results: Any
    options: RunOptions
    run_metadata: RunMetadata


@export("train.SessionRunContext")
class SessionRunContext:
    """One call of `run`, for its hooks.

    Args:
      original_args: The arguments of the caller.
      session: The session.
    """

    def __init__(self, original_args: SessionRunArgs, session: SessionLike):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """The arguments of the caller of `run`, as SessionRunArgs."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The session. Its `run` calls no hooks."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook has requested to stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Makes this call of `run` the last one: `should_stop` of the session is True afterwards."""
        self._stop_requested = True


@export("train.SessionRunHook")
class SessionRunHook:
    """The base of hooks: objects that a MonitoredSession calls at certain points.

    The methods here do nothing.
    """

    def begin(self) -> None:
        """Called once, before the session is created. The hook may add operations to the graph."""

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Called after each creation of a session, also of a new one after a failure.

        Args:
          session: The session.
          coord: The coordinator of its threads.
        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each `run`.

        Args:
          run_context: The call.

        Returns:
          SessionRunArgs with further fetches and feeds, or None.
        """
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each `run` that has not failed.

        Args:
          run_context: The call.
          run_values: The values of the hook's own fetches.
        """

    def end(self, session: SessionLike) -> None:
        """Called once at the end, while the session is open; not after an error.

        Args:
          session: The session.
        """
