"""Sessions that look after themselves: hooks see each step, threads end together, a lost one is replaced."""

from __future__ import annotations

import abc
import contextlib
import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, RunMetadata, RunOptions

from tideflow.export import export
from tideflow.graph.errors import OutOfRangeError
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import GraphKeys, get_collection, get_default_graph
from tideflow.interrupts import deferred
from tideflow.platform import logging
from tideflow.session.session import Session
from tideflow.train.coordinator import Coordinator
from tideflow.train.queue_runner import start_queue_runners
from tideflow.train.saving_hooks import CheckpointSaverHook, SummarySaverHook
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_manager import SessionManager
from tideflow.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tideflow.train.step_hooks import StepCounterHook
from tideflow.train.worker_context import get_current_worker_context
from tideflow.train.wrapped_session import PREEMPTION_ERRORS, StepContext, WrappedSession

_LONGEST_PAUSE = 5.0  # seconds between attempts to make a session
USE_DEFAULT = object()
_WrappedSession = WrappedSession
_CAUSES = (
    "This error may also occur due to a failure of the connection, caused by high memory or network "
    "bandwidth usage in the parameter servers. If this error occurs repeatedly, try increasing the number of "
    "parameter servers assigned to the job. Error: %s"
)


# ------------------------------------------------------------------------------------------ making a session


@export("train.SessionCreator")
class SessionCreator(abc.ABC):
    """The base of objects that create the sessions of a MonitoredSession.

    They create one at the start, and one after each failure.
    """

    @abc.abstractmethod
    def create_session(self) -> Session:
        """Creates a session that is ready for use."""


class _ScaffoldedCreator(SessionCreator):
    def __init__(self, scaffold: Scaffold | None, master: str, config: ConfigProto | None):
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._session_manager: SessionManager | None = None

    def _manager(self) -> SessionManager:
        """The manager of this graph's sessions; the graph is read-only from here on."""
        self._scaffold.finalize()
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._session_manager


@export("train.ChiefSessionCreator")
class ChiefSessionCreator(_ScaffoldedCreator):
    """Creates sessions of the chief: it restores the model from the newest checkpoint, or initializes it.

    Args:
      scaffold: A Scaffold with the operations around the model; a new one if None.
      master: The address of the server to run on; "" for this process.
      config: The configuration of the session.
      checkpoint_dir: The directory of the checkpoints.
      checkpoint_filename_with_path: The prefix of the checkpoint to restore, instead of the newest in a
        directory.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: ConfigProto | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ):
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> Session:
        """Creates a session, and initializes or restores the model."""
        manager, scaffold = self._manager(), self._scaffold
        return manager.prepare_session(
            self._master,
            saver=scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=scaffold.init_op,
            init_feed_dict=scaffold.init_feed_dict,
            init_fn=scaffold.init_fn,
        )


@export("train.WorkerSessionCreator")
class WorkerSessionCreator(_ScaffoldedCreator):
    """Creates sessions of workers: they wait until the chief has initialized the model.

    Args:
      scaffold: A Scaffold with the operations around the model; a new one if None.
      master: The address of the server to run on; "" for this process.
      config: The configuration of the session.
      max_wait_secs: How many seconds to wait for the chief.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: ConfigProto | None = None,
        max_wait_secs: float = 30 * 60,
    ):
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Session:
        """Creates a session, and waits until the model is ready."""
        return self._manager().wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )


class _CoordinatedSessionCreator(SessionCreator):
    """Makes sessions with the queue runners' threads started, a coordinator for them, and the hooks told."""

    def __init__(
        self, creator: SessionCreator, hooks: Sequence[SessionRunHook], stop_grace_period_secs: float
    ):
        self._creator = creator
        self._hooks = hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.tf_sess: Session | None = None
        self.coord: Coordinator | None = None

    def stop(self) -> None:
        """Has the threads of the last session stop, and closes it."""
        if self.coord is not None:
            self.coord.request_stop()
        if self.tf_sess is not None:
            self.tf_sess.close()

    def create_session(self) -> _CoordinatedSession:
        self.tf_sess = self._creator.create_session()
        self.coord = Coordinator(clean_stop_exception_types=[])  # every error is for the caller of `run`
        session = _CoordinatedSession(
            _HookedSession(self.tf_sess, self._hooks), self.coord, self._stop_grace_period_secs
        )
        try:
            if get_collection(GraphKeys.QUEUE_RUNNERS):
                start_queue_runners(sess=self.tf_sess, coord=self.coord)
            for hook in self._hooks:
                hook.after_create_session(self.tf_sess, self.coord)
        except BaseException:
            with deferred, contextlib.suppress(Exception):  # the hook's error is the one to tell
                session.close()
            raise
        return session


# ----------------------------------------------------------------------- a session in layers, innermost first


class _HookedSession(WrappedSession):
    """A session whose steps the hooks see and add to."""

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]):
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(
        self,
        fetches: Any,
        feed_dict: dict | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """One step of the caller's fetches and the hooks'."""
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        wanted: dict[Any, Any] = {"caller": fetches}
        asked = RunOptions()
        feed_dict = self._call_before_run(context, wanted, feed_dict, asked)
        if asked.ByteSize() and options:
            options = RunOptions.FromString(options.SerializeToString())  # the caller's stays as it is
            _merge_options(options, asked)
        options = options or asked
        # A step without options is the quick one, and nothing is noted of it.
        given: dict[str, Any] = {} if options is asked and not asked.ByteSize() else {"options": options}
        if given or run_metadata is not None:
            given["run_metadata"] = run_metadata = run_metadata or RunMetadata()
        outputs = self._sess.run(wanted, feed_dict=feed_dict, **given)
        seen = RunMetadata() if run_metadata is None else run_metadata
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(outputs.get(hook), options, seen))
        self._should_stop = self._should_stop or context.stop_requested
        return outputs["caller"]

    def _call_before_run(
        self, context: SessionRunContext, wanted: dict[Any, Any], user_feeds: dict | None, options: RunOptions
    ) -> dict | None:
        """Adds what the hooks want to `wanted` and `options`; returns what is fed in all."""
        feeds: dict = {}
        for hook in self._hooks:
            request = hook.before_run(context)
            if request is None:
                continue
            if request.fetches is not None:
                wanted[hook] = request.fetches
            if request.feed_dict:
                _check_disjoint(feeds, request.feed_dict, "Same tensor is fed by two hooks.")
                feeds.update(request.feed_dict)
            if request.options:
                _merge_options(options, request.options)
        if not feeds:
            return user_feeds
        if user_feeds:
            _check_disjoint(user_feeds, feeds, "Same tensor is fed by a SessionRunHook and user.")
            feeds.update(user_feeds)
        return feeds


def _check_disjoint(some: dict, others: dict, complaint: str) -> None:
    both = [key for key in some if key in others]
    if both:
        raise RuntimeError(f"{complaint} Conflict(s): {both}")


def _merge_options(options: RunOptions, more: RunOptions) -> None:
    """Adds to `options` what `more` asks for: the larger number, either's flag, both lists."""
    for field in ("trace_level", "timeout_in_ms", "inter_op_thread_pool"):
        setattr(options, field, max(getattr(options, field), getattr(more, field)))
    options.output_partition_graphs |= more.output_partition_graphs
    options.report_tensor_allocations_upon_oom |= more.report_tensor_allocations_upon_oom
    options.debug_options.debug_tensor_watch_opts.extend(more.debug_options.debug_tensor_watch_opts)
    if more.debug_options.reset_disk_byte_usage:
        options.debug_options.reset_disk_byte_usage = True


class _CoordinatedSession(WrappedSession):
    """A hooked session with its coordinator: an error in one of the threads is an error of the session."""

    def __init__(self, sess: Any, coord: Coordinator, stop_grace_period_secs: float = 120):
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        """Ends the threads, then the session; raises what a thread ended with."""
        try:
            self._coord.request_stop()
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            with contextlib.suppress(Exception):  # what a thread ended with is the news
                super().close()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._sess.run(*args, **kwargs)
        except PREEMPTION_ERRORS:
            raise
        except Exception as error:
            self._raise_preemption(error)
            raise

    def _raise_preemption(self, error: Exception) -> None:
        """A step may fail because a thread lost its task: then that is the cause."""
        try:
            self._coord.raise_requested_exception()
        except PREEMPTION_ERRORS as cause:
            raise cause from error
        except Exception:
            pass  # raised again when the session is closed


class _RecoverableSession(WrappedSession):
    """A coordinated session that is replaced by a new one when a task that it needs is lost."""

    def __init__(self, sess_creator: Any):
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> _CoordinatedSession:
        pause = 0.05
        while True:
            try:
                return self._sess_creator.create_session()
            except PREEMPTION_ERRORS as error:
                logging.info(
                    "An error was raised while a session was being created. This may be due to a preemption "
                    "of a connected worker or parameter server. A new session will be created. " + _CAUSES,
                    error,
                )
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _check_stop(self) -> bool:
        try:
            return isinstance(self._sess, WrappedSession) and self._sess._check_stop()
        except PREEMPTION_ERRORS as error:
            logging.info(
                "An error was raised while considering whether the session is complete. This may be due to a "
                "preemption in a connected worker or parameter server. The current session will be closed "
                "and a new session will be created. " + _CAUSES,
                error,
            )
            self.close()
            self._sess = self._create_session()
            return False
        except Exception:
            return True  # `close` raises it

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._recovering(lambda sess: sess.run(*args, **kwargs))

    def run_step_fn(self, step_fn: Callable, raw_session: Any, run_with_hooks: Callable | None = None) -> Any:
        first = self._sess

        def step(sess: Any) -> Any:
            raw = raw_session if sess is first else self._sess_creator.tf_sess
            return sess.run_step_fn(step_fn, raw, run_with_hooks)

        return self._recovering(step)

    def _recovering(self, step: Callable[[Any], Any]) -> Any:
        """What a step gives, if need be with another session."""
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return step(self._sess)
            except PREEMPTION_ERRORS as error:
                logging.info(
                    "An error was raised. This may be due to a preemption in a connected worker or parameter "
                    "server. The current session will be closed and a new session will be created. "
                    + _CAUSES,
                    error,
                )
                self.close()


# ------------------------------------------------------------------------------------------- what users make


class _MonitoredSession:
    """What MonitoredSession and SingularMonitoredSession share."""

    StepContext = StepContext

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Sequence[SessionRunHook] | None,
        should_recover: bool,
        stop_grace_period_secs: float,
    ):
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        context = get_current_worker_context()
        if session_creator is None:
            session_creator = ChiefSessionCreator() if context is None else context.session_creator()
        self._coordinated_creator = _CoordinatedSessionCreator(
            session_creator, self._hooks, stop_grace_period_secs
        )
        self._sess: Any = (
            _RecoverableSession(self._coordinated_creator)
            if should_recover
            else self._coordinated_creator.create_session()
        )

    @property
    def graph(self) -> Graph | None:
        """The graph of the session, while there is one."""
        sess = self._tf_sess()
        return None if sess is None else sess.graph

    def run(
        self,
        fetches: Any,
        feed_dict: dict | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Runs a step as `Session.run` does, with the hooks.

        Args:
          fetches: As of `Session.run`.
          feed_dict: As of `Session.run`.
          options: As of `Session.run`.
          run_metadata: As of `Session.run`.

        Returns:
          The values of the fetches.
        """
        self._check_open()
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn: Callable[[StepContext], Any]) -> Any:
        """Calls a function that may run several steps, with hooks or without, and stop the training.

        Args:
          step_fn: A function of one argument, `step_context`, which may run steps and ask to stop.

        Returns:
          What the function returns.

        Raises:
          ValueError: If the function has other arguments.
        """
        names = tuple(inspect.signature(inspect.unwrap(step_fn)).parameters)
        if names not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and `step_context` "
                f"arguments if it's an instance method. Got {names} instead."
            )
        self._check_open()
        return self._sess.run_step_fn(step_fn, self._tf_sess())

    def should_stop(self) -> bool:
        """Whether there is no further step to run."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Ends the hooks, the threads and the session."""
        self._close_internal()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: Any) -> bool:
        """Closes the session; the end of the data, or a requested stop, is no error."""
        if kind in (OutOfRangeError, StopIteration):
            kind = None
        self._close_internal(kind)
        return kind is None

    @deferred
    def _close_internal(self, exception_type: type | None = None) -> None:
        self._check_open()
        try:
            if exception_type is None:
                for hook in self._hooks:
                    hook.end(self._coordinated_creator.tf_sess)
        finally:
            sess, self._sess = self._sess, None
            try:
                sess.close()
            finally:
                self._coordinated_creator.tf_sess = self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    get_default_graph()._unsafe_unfinalize()

    def __del__(self) -> None:
        """Nobody has closed it: an interrupt may have come before its `with` block. Its threads end."""
        creator = getattr(self, "_coordinated_creator", None)
        if creator is not None and creator.tf_sess is not None and not creator.tf_sess._is_of_parent:
            with contextlib.suppress(Exception):
                creator.stop()

    def _check_open(self) -> None:
        if self._sess is None:
            raise RuntimeError("Session is already closed.")

    def _is_closed(self) -> bool:
        return self._tf_sess() is None

    def _tf_sess(self) -> Session | None:
        """The session below."""
        return self._coordinated_creator.tf_sess


@export("train.MonitoredSession")
class MonitoredSession(_MonitoredSession):
    """A session with hooks that recovers from failures of other tasks.

    It runs the queue runners of the graph, raises the errors of their threads, and after an AbortedError or
    UnavailableError creates a new session from the newest checkpoint. Use it in a `with` block:

        with tf.train.MonitoredSession(hooks=hooks) as session:
            while not session.should_stop():
                session.run(train_op)

    Args:
      session_creator: The creator of sessions; a ChiefSessionCreator if None.
      hooks: The hooks.
      stop_grace_period_secs: How many seconds threads have to end after the session was closed.
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ):
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


@export("train.SingularMonitoredSession")
class SingularMonitoredSession(_MonitoredSession):
    """A session with hooks that raises all errors, instead of recovering from failures of other tasks.

    Args:
      hooks: The hooks.
      scaffold: A Scaffold with the operations around the model; a new one if None.
      master: The address of the server to run on; "" for this process.
      config: The configuration of the session.
      checkpoint_dir: The directory of the checkpoints.
      stop_grace_period_secs: How many seconds threads have to end after the session was closed.
      checkpoint_filename_with_path: The prefix of the checkpoint to restore, instead of the newest in a
        directory.
    """

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: ConfigProto | None = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ):
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Session | None:
        """The session itself, without hooks."""
        return self._tf_sess()


@export("train.MonitoredTrainingSession")
def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = USE_DEFAULT,
    save_summaries_steps: int | None = USE_DEFAULT,
    save_summaries_secs: float | None = USE_DEFAULT,
    config: ConfigProto | None = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: int | None = USE_DEFAULT,
    summary_dir: str | None = None,
) -> MonitoredSession:
    """Creates a MonitoredSession for training, with the usual hooks.

    The chief initializes or restores the model, and saves checkpoints and summaries; workers wait for the
    chief.

    Args:
      master: The address of the server to run on; "" for this process.
      is_chief: Whether this task is the chief.
      checkpoint_dir: The directory of checkpoints and summaries; none are written if None.
      scaffold: A Scaffold with the operations around the model; a new one if None.
      hooks: Hooks of every task.
      chief_only_hooks: Hooks of the chief.
      save_checkpoint_secs: The interval of checkpoints in seconds; 600 by default, none if None.
      save_summaries_steps: The interval of summaries in steps; 100 by default, none if None.
      save_summaries_secs: The interval of summaries in seconds.
      config: The configuration of the session.
      stop_grace_period_secs: How many seconds threads have to end after the session was closed.
      log_step_count_steps: The interval, in steps, at which the speed is logged.
      max_wait_secs: How many seconds a worker waits for the chief.
      save_checkpoint_steps: The interval of checkpoints in steps, instead of `save_checkpoint_secs`.
      summary_dir: The directory of summaries; `checkpoint_dir` if None.

    Returns:
      The MonitoredSession.
    """
    scaffold = scaffold or Scaffold()
    context = get_current_worker_context()
    if context is None and not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks, stop_grace_period_secs)
    summary_steps, summary_secs = _frequency(save_summaries_steps, save_summaries_secs, (100, None))
    checkpoint_steps, checkpoint_secs = _frequency(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
    summary_dir = summary_dir or checkpoint_dir
    creator: SessionCreator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    all_hooks = list(chief_only_hooks or ())
    if context is not None:
        creator = context.session_creator(
            scaffold, config=config, checkpoint_dir=checkpoint_dir, max_wait_secs=max_wait_secs
        )
        all_hooks = all_hooks if context.is_chief else []
        summary_dir = summary_dir if context.should_save_summary else None
        checkpoint_dir = checkpoint_dir if context.should_checkpoint else None
    if summary_dir and _positive(log_step_count_steps):
        all_hooks.append(StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
    if summary_dir and (_positive(summary_steps) or _positive(summary_secs)):
        all_hooks.append(
            SummarySaverHook(
                scaffold=scaffold, save_steps=summary_steps, save_secs=summary_secs, output_dir=summary_dir
            )
        )
    if checkpoint_dir and (_positive(checkpoint_secs) or _positive(checkpoint_steps)):
        all_hooks.append(
            CheckpointSaverHook(
                checkpoint_dir, save_steps=checkpoint_steps, save_secs=checkpoint_secs, scaffold=scaffold
            )
        )
    return MonitoredSession(creator, all_hooks + list(hooks or ()), stop_grace_period_secs)


def _frequency(steps: Any, secs: Any, default: tuple[int | None, float | None]) -> tuple[Any, Any]:
    """Every so many steps or seconds; the default only where neither is said."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default
    return None if steps is USE_DEFAULT else steps, None if secs is USE_DEFAULT else secs


def _positive(number: float | None) -> bool:
    return bool(number) and number > 0
