"""What the hooks of a monitored session are: they see each call of `run`, add to it, and may end it all."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from tideflow.export import export


@export("train.SessionRunArgs")
class SessionRunArgs(NamedTuple):
    """What a call of `run` is given: by its caller, or besides by a hook."""

    fetches: Any
    feed_dict: dict | None = None
    options: RunOptions | None = None


@export("train.SessionRunValues")
class SessionRunValues(NamedTuple):
    """What a call of `run` gave: the values of the hook's own fetches, and what is known of the call."""

    results: Any
    options: RunOptions
    run_metadata: RunMetadata


@export("train.SessionRunContext")
class SessionRunContext:
    """One call of `run`, as its hooks see it."""

    def __init__(self, original_args: SessionRunArgs, session: Any):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What the caller of `run` gave."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The session below: its `run` calls no hooks."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        return self._stop_requested

    def request_stop(self) -> None:
        """This call of `run` is the last one."""
        self._stop_requested = True


@export("train.SessionRunHook")
class SessionRunHook:
    """Does nothing at each of the moments that a hook is called at; hooks say what they do at theirs."""

    def begin(self) -> None:
        """Once, before there is a session: the graph can still be added to."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Whenever there is a new session, also after a failure; `coord` coordinates its threads."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Before each call of `run`; returns what it shall compute and be fed besides."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """After each call of `run` that did not fail."""

    def end(self, session: Any) -> None:
        """Once, at the end, with the session still open; not after an error."""
