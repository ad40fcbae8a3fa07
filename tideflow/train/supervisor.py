"""Supervisor: prepares a session, saves and summarizes it in threads of their own, and ends them all."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, RunOptions
from tensorboard.compat.proto.event_pb2 import SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.errors import AbortedError
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import (
    GraphKeys,
    add_to_collection,
    get_collection,
    get_default_graph,
    refuse_eagerly,
)
from tideflow.interrupts import deferred
from tideflow.lookup.collections import tables_initializer
from tideflow.ops.control_flow import grouping
from tideflow.platform import logging
from tideflow.summary import functions as summaries
from tideflow.summary import writer
from tideflow.train.coordinator import Coordinator, LooperThread
from tideflow.train.saver import Saver
from tideflow.train.session_manager import SessionManager
from tideflow.variables import collections as variables
from tideflow.variables.global_step import global_step as global_step_of
from tideflow.variables.meta_graph import export_meta_graph, write_graph

if TYPE_CHECKING:
    from tideflow.graph.operation import Operation, Tensor
    from tideflow.graph.typing import SessionLike, TensorLike
    from tideflow.summary.writer import FileWriter

_USE_DEFAULT = 0


@export("train.Supervisor")
class Supervisor:
    """Prepares a session, or waits for the chief to do so, and runs the services of a training program.

    The chief saves checkpoints and summaries in threads. An operation that is not given is taken from a
    collection of the graph, or made; None means that there is none. `tf.train.MonitoredTrainingSession` is
    the newer way.

    Args:
      graph: The graph; the default graph if None.
      ready_op: A tensor with the names of uninitialized variables.
      ready_for_local_init_op: A tensor that is empty when `local_init_op` can run.
      is_chief: Whether this task is the chief.
      init_op: The operation that initializes the model.
      init_feed_dict: Values to feed to it.
      local_init_op: The operation that initializes local variables and tables.
      logdir: The directory of checkpoints and summaries.
      summary_op: The summary of the model.
      saver: The Saver.
      global_step: The variable that counts steps.
      save_summaries_secs: The interval of summaries in seconds; 0 for none.
      save_model_secs: The interval of checkpoints in seconds; 0 for none.
      recovery_wait_secs: How many seconds to wait from one check to the next, until the model is ready.
      stop_grace_secs: How many seconds threads have to end.
      checkpoint_basename: The name of the checkpoints' files.
      session_manager: The SessionManager; a new one if None.
      summary_writer: The writer of summaries; one for `logdir` by default.
      init_fn: A function of the session that is called after `init_op`.
      local_init_run_options: Options of the step that runs `local_init_op`.
    """

    USE_DEFAULT = _USE_DEFAULT

    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Tensor | int | None = _USE_DEFAULT,
        ready_for_local_init_op: Tensor | int | None = _USE_DEFAULT,
        is_chief: bool = True,
        init_op: Tensor | Operation | int | None = _USE_DEFAULT,
        init_feed_dict: dict | None = None,
        local_init_op: Tensor | Operation | int | None = _USE_DEFAULT,
        logdir: str | None = None,
        summary_op: Tensor | int | None = _USE_DEFAULT,
        saver: Saver | int | None = _USE_DEFAULT,
        global_step: TensorLike = _USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: FileWriter | int | None = _USE_DEFAULT,
        init_fn: Callable[[Any], None] | None = None,
        local_init_run_options: RunOptions | None = None,
    ):
        refuse_eagerly("Supervisors are compatible with eager execution.")  # TensorFlow's words
        self._graph = get_default_graph() if graph is None else graph
        keys = GraphKeys
        with self._graph.as_default():
            self._ready_op = _given_or(ready_op, keys.READY_OP, variables.report_uninitialized_variables)
            self._ready_for_local_init_op = _given_or(
                ready_for_local_init_op, keys.READY_FOR_LOCAL_INIT_OP, lambda: None
            )
            self._init_op = _given_or(init_op, keys.INIT_OP, variables.global_variables_initializer)
            self._local_init_op = _given_or(local_init_op, keys.LOCAL_INIT_OP, _default_local_init_op)
            self._saver = _given_or(saver, keys.SAVERS, _default_saver)
            self._summary_op = _given_or(summary_op, keys.SUMMARY_OP, summaries.merge_all)
            self._global_step = _given_or(global_step, keys.GLOBAL_STEP, _global_step_of_graph)
            self._meta_graph_def = export_meta_graph(
                graph=self._graph, saver_def=self._saver.saver_def if self._saver else None
            )
        self._init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        # Only the chief writes files.
        self._logdir = logdir if is_chief else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path = os.path.join(self._logdir, checkpoint_basename) if self._logdir else None
        self._summary_writer = self._writer(summary_writer) if is_chief else None
        self._graph_added_to_summary = False
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op,
            ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        if not is_chief:
            _check_variables_are_placed(self._graph)
        self._graph.finalize()

    def _writer(self, given: Any) -> Any:
        if given is not _USE_DEFAULT:
            return given
        return writer.FileWriter(self._logdir) if self._logdir else None

    # ------------------------------------------------------------------------------------------ what it has

    @property
    def is_chief(self) -> bool:
        """Whether this task is the chief."""
        return self._is_chief

    @property
    def session_manager(self) -> SessionManager:
        """The SessionManager."""
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        """The coordinator of the threads."""
        return self._coord

    @property
    def init_op(self) -> Any:
        """The operation that initializes the model."""
        return self._init_op

    @property
    def init_feed_dict(self) -> dict | None:
        """The values that are fed to `init_op`."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """A tensor with the names of uninitialized variables."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """A tensor that is empty when `local_init_op` can run."""
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> Any:
        """The writer of summaries."""
        return self._summary_writer

    @property
    def summary_op(self) -> Any:
        """The summary of the model."""
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float | None:
        """The interval of summaries in seconds."""
        return self._save_summaries_secs

    @property
    def global_step(self) -> Any:
        """The variable that counts steps."""
        return self._global_step

    @property
    def saver(self) -> Any:
        """The Saver."""
        return self._saver

    @property
    def save_model_secs(self) -> float | None:
        """The interval of checkpoints in seconds."""
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """The prefix of checkpoints."""
        return self._save_path

    # -------------------------------------------------------------------------------------------- beginning

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: ConfigProto | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Any:
        """Creates a session with a model that is ready, and starts the services and the queue runners.

        Args:
          master: The address of the server to run on.
          config: The configuration of the session.
          wait_for_checkpoint: Whether the chief waits until there is a checkpoint.
          max_wait_secs: How many seconds to wait.
          start_standard_services: Whether the services are started.

        Returns:
          The session.
        """
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            sess = self._session_manager.prepare_session(
                master,
                init_op=self.init_op,
                saver=self.saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                logging.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            logging.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    def _write_graph(self) -> None:
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(self._meta_graph_def)
            self._graph_added_to_summary = True

    def start_standard_services(self, sess: SessionLike) -> list[LooperThread] | None:
        """Starts the threads that save checkpoints, write summaries and count steps.

        Args:
          sess: The session.

        Returns:
          The threads, or None if this task is not the chief.
        """
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief supervisors can write "
                "events."
            )
        if not self._logdir:
            logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer:
            step = global_step_of(sess, self._global_step)
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)
        threads: list[LooperThread] = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self.saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        with deferred:
            for thread in threads:
                thread.start()
        return threads

    def start_queue_runners(self, sess: SessionLike, queue_runners: Sequence[Any] | None = None) -> list[Any]:
        """Starts the threads of queue runners.

        Args:
          sess: The session.
          queue_runners: The queue runners; all of the graph if None.

        Returns:
          The threads.
        """
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        threads = []
        for runner in queue_runners:
            threads += runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
        return threads

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable,
        args: Sequence[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> LooperThread:
        """Starts a thread that calls a function repeatedly until the stop.

        Args:
          timer_interval_secs: The seconds from one call to the next; without a pause if None.
          target: The function.
          args: Positional arguments for it.
          kwargs: Keyword arguments for it.

        Returns:
          The thread.
        """
        return LooperThread.loop(self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config: ConfigProto | None = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Any]:
        """Creates a session for a `with` block, at whose end all threads are stopped.

        Errors of threads are raised at the end of the block.

        Args:
          master: The address of the server to run on.
          config: The configuration of the session.
          start_standard_services: Whether the services are started.
          close_summary_writer: Whether the writer of summaries is closed at the end.

        Yields:
          The session.
        """
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(
                master=master, config=config, start_standard_services=start_standard_services
            )
            yield sess
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if sess is not None:
                    with contextlib.suppress(Exception):
                        sess.close()

    # ------------------------------------------------------------------------------------- going on, ending

    def summary_computed(
        self, sess: SessionLike, summary: Summary | bytes, global_step: int | None = None
    ) -> None:
        """Writes a summary.

        Args:
          sess: The session.
          summary: The summary, as a serialized message or a Summary.
          global_step: The step; read from the session if None.

        Raises:
          RuntimeError: If there is no writer.
        """
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = global_step_of(sess, self.global_step)
        self._summary_writer.add_summary(summary, global_step)

    def request_stop(self, ex: Any = None) -> None:
        """Requests the threads to stop.

        Args:
          ex: An exception, or the result of `sys.exc_info()`, that is the reason.
        """
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> Any:
        """A context manager that requests a stop if its block raises an exception."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Waits until a stop is requested."""
        self._coord.wait_for_stop()

    def stop(
        self,
        threads: Sequence[Any] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Stops the threads, waits for them, and closes the writer of summaries.

        Args:
          threads: Threads to wait for, besides those of the supervisor.
          close_summary_writer: Whether the writer is closed.
          ignore_live_threads: Whether threads that are alive after the grace period are ignored.
        """
        self._coord.request_stop()
        try:
            self._coord.join(
                threads,
                stop_grace_period_secs=self._stop_grace_secs,
                ignore_live_threads=ignore_live_threads,
            )
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(SessionLog(status=SessionLog.STOP))
                self._summary_writer.close()
                self._graph_added_to_summary = False

    # The older names.
    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _given_or(given: Any, key: str, default: Callable[[], Any]) -> Any:
    """What is given; or the first of a collection of the graph; or the default, which becomes the first."""
    if given is not _USE_DEFAULT:
        return given
    found = get_collection(key)
    if len(found) > 1:
        logging.info("Found %d %s operations. Returning the first one.", len(found), key)
    if found:
        return found[0]
    made = default()
    if made is not None:
        add_to_collection(key, made)
    return made


def _default_local_init_op() -> Any:
    return grouping.group(variables.local_variables_initializer(), tables_initializer())


def _default_saver() -> Saver | None:
    return Saver() if variables.global_variables() else None


def _global_step_of_graph() -> Any:
    try:
        step = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if step.dtype.base_dtype in (dtypes.int32, dtypes.int64):
        return step
    logging.warning("Found 'global_step' is not an int type: %s", step.dtype)
    return None


def _check_variables_are_placed(graph: Graph) -> None:
    """A worker's variables are on other tasks: where, must be said."""
    for op in graph.get_operations():
        if op.definition.role == "variable" and not op.device:
            raise ValueError(f"When using replicas, all Variables must have their device set: {op}")


# ------------------------------------------------------------------------------------------------- services


class SVSummaryThread(LooperThread):
    """Writes summaries every so many seconds."""

    def __init__(self, sv: Supervisor, sess: SessionLike):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        step = None
        if self._sv.global_step is None:
            summary = self._sess.run(self._sv.summary_op)
        else:
            summary, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        if self._sv.summary_writer:
            logging.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summary, step)


class SVStepCounterThread(LooperThread):
    """Writes every so many seconds how many steps were made in one."""

    def __init__(self, sv: Supervisor, sess: SessionLike, step_counter: Any = None):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"
        self._last_time, self._last_step = 0.0, 0

    def start_loop(self) -> None:
        self._last_time = time.time()
        self._last_step = global_step_of(self._sess, self._step_counter)

    def run_loop(self) -> None:
        step, now = global_step_of(self._sess, self._step_counter), time.time()
        elapsed = now - self._last_time
        rate = (step - self._last_step) / elapsed if elapsed > 0 else float("inf")
        self._last_step, self._last_time = step, now
        if self._sv.summary_writer:
            summary = Summary(value=[Summary.Value(tag=self._summary_tag, simple_value=rate)])
            self._sv.summary_writer.add_summary(summary, step)
        logging.log_first_n(logging.INFO, "%s: %g", 10, self._summary_tag, rate)


class SVTimerCheckpointThread(LooperThread):
    """Saves a checkpoint every so many seconds."""

    def __init__(self, sv: Supervisor, sess: SessionLike):
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        logging.info("Saving checkpoint to path %s", self._sv.save_path)
        self._sv.saver.save(self._sess, self._sv.save_path, global_step=self._sv.global_step)
        if self._sv.summary_writer and self._sv.global_step is not None:
            saved = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._sv.save_path)
            step = global_step_of(self._sess, self._sv.global_step)
            self._sv.summary_writer.add_session_log(saved, step)


@export("train.basic_train_loop")
def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable,
    args: Sequence[Any] | None = None,
    kwargs: dict[str, Any] | None = None,
    master: str = "",
) -> None:
    """Calls a training function until the supervisor stops, with a new session after a failure of a task.

    Args:
      supervisor: The Supervisor.
      train_step_fn: Called as `train_step_fn(session, *args, **kwargs)`.
      args: Positional arguments for it.
      kwargs: Keyword arguments for it.
      master: The address of the server to run on.
    """
    while True:
        try:
            with supervisor.managed_session(master) as sess:
                while not supervisor.should_stop():
                    train_step_fn(sess, *(args or ()), **(kwargs or {}))
            return
        except AbortedError:
            continue
