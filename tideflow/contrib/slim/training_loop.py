"""`slim.learning.train`: training under a Supervisor, with logs, traces, summaries and checkpoints."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, RunMetadata, RunOptions

from tideflow.export import export
from tideflow.graph.errors import AbortedError, OutOfRangeError
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import control_dependencies, get_default_graph, name_scope
from tideflow.io.local_files import replace_bytes
from tideflow.lookup.collections import tables_initializer
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary
from tideflow.platform import logging
from tideflow.session.timeline import Timeline
from tideflow.summary import functions as summaries
from tideflow.train.saver import Saver
from tideflow.train.supervisor import Supervisor
from tideflow.train.sync_replicas_optimizer import SyncReplicasOptimizer
from tideflow.variables import collections as variables
from tideflow.variables.global_step import get_or_create_global_step
from tideflow.variables.global_step import global_step as global_step_of

if TYPE_CHECKING:
    from tideflow.graph.operation import Operation, Tensor
    from tideflow.graph.typing import SessionLike, VariableLike
    from tideflow.summary.writer import FileWriter

_USE_DEFAULT = 0


@export("contrib.slim.learning.train_step")
def train_step(
    sess: SessionLike, train_op: Tensor, global_step: Tensor | VariableLike, train_step_kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Makes one step, logged and traced where `train_step_kwargs` say so.

    Args:
      sess: The session.
      train_op: The tensor that makes a step and gives the loss.
      global_step: The global step.
      train_step_kwargs: `should_stop`, `should_log`, `should_trace`, `logdir` and `summary_writer`, as far as
        given.

    Returns:
      The loss, and whether to stop.
    """
    start = time.time()
    options = metadata = None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
        if sess.run(train_step_kwargs["should_trace"]):
            options, metadata = RunOptions(trace_level=RunOptions.FULL_TRACE), RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    elapsed = time.time() - start
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed)
    should_stop = "should_stop" in train_step_kwargs and sess.run(train_step_kwargs["should_stop"])
    return loss, should_stop


def _write_trace(metadata: RunMetadata, step: int, train_step_kwargs: dict[str, Any]) -> None:
    path = os.path.join(train_step_kwargs["logdir"], f"tf_trace-{step}.json")
    logging.info("Writing trace to %s", path)
    replace_bytes(path, Timeline(metadata.step_stats).generate_chrome_trace_format().encode())
    if "summary_writer" in train_step_kwargs:
        train_step_kwargs["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


@export("contrib.slim.learning.train")
def train(
    train_op: Tensor,
    logdir: str | None,
    train_step_fn: Callable = train_step,
    train_step_kwargs: dict[str, Any] | int = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Graph | None = None,
    master: str = "",
    is_chief: bool = True,
    global_step: VariableLike | None = None,
    number_of_steps: int | None = None,
    init_op: Tensor | Operation | int | None = _USE_DEFAULT,
    init_feed_dict: dict | None = None,
    local_init_op: Tensor | Operation | int | None = _USE_DEFAULT,
    init_fn: Callable[[Any], None] | None = None,
    ready_op: Tensor | int | None = _USE_DEFAULT,
    summary_op: Tensor | int | None = _USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: FileWriter | int | None = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Saver | None = None,
    save_interval_secs: float = 600,
    sync_optimizer: SyncReplicasOptimizer | Sequence[SyncReplicasOptimizer] | None = None,
    session_config: ConfigProto | None = None,
    session_wrapper: Callable[[Any], Any] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Makes steps of training until `number_of_steps`, or the data's end.

    Args:
      train_op: The tensor that makes a step and gives the loss.
      logdir: The directory of checkpoints and summaries; None for neither.
      train_step_fn: The function that makes a step, as `train_step` does.
      train_step_kwargs: What it gets as its last argument; the usual conditions to stop, log and trace by
        default.
      log_every_n_steps: The steps between two lines of log.
      graph: The graph; the default graph if None.
      master: The target of the session.
      is_chief: Whether this task initializes the model and writes.
      global_step: The global step; that of the graph, or a new one, if None.
      number_of_steps: The global step at which training ends; the end of the data if None.
      init_op: The operation that initializes the model; all variables by default.
      init_feed_dict: What it is fed.
      local_init_op: The operation that initializes local variables and tables.
      init_fn: A function of the session that is called after `init_op`.
      ready_op: A tensor with the names of uninitialized variables.
      summary_op: The summary of the model; all of the graph's by default, none if None.
      save_summaries_secs: The seconds between summaries.
      summary_writer: The writer; one for `logdir` by default.
      startup_delay_steps: The global step that a task which is not the chief waits for.
      saver: The Saver; one of all variables if None.
      save_interval_secs: The seconds between checkpoints.
      sync_optimizer: The SyncReplicasOptimizer, or a list of them, whose queues and tokens are to be set up.
      session_config: The configuration of the session.
      session_wrapper: A function from the session to the one that is used.
      trace_every_n_steps: The steps between two traces; none if None.
      ignore_live_threads: Whether threads that do not end are left alone.

    Returns:
      The last loss.

    Raises:
      ValueError: If arguments contradict each other.
    """
    _check(train_op, logdir, summary_op, saver, trace_every_n_steps, number_of_steps)
    optimizers = _as_list(sync_optimizer)
    if optimizers and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    graph = graph or get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = get_or_create_global_step()
        saver = saver or Saver()
        starting = _starting_ops(init_op, local_init_op, ready_op, optimizers, is_chief)
        if summary_op is _USE_DEFAULT:
            summary_op = summaries.merge_all()
        leaders = optimizers if is_chief else []
        init_tokens = [optimizer.get_init_tokens_op() for optimizer in leaders]
        chief_runners = [optimizer.get_chief_queue_runner() for optimizer in leaders]
        if train_step_kwargs is _USE_DEFAULT:
            trace_every = trace_every_n_steps if is_chief else None
            train_step_kwargs = _step_kwargs(
                global_step, number_of_steps, log_every_n_steps, trace_every, logdir
            )
    supervisor = Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        **starting,
        init_feed_dict=init_feed_dict,
        summary_op=summary_op,
        summary_writer=Supervisor.USE_DEFAULT if summary_writer is _USE_DEFAULT else summary_writer,
        global_step=global_step,
        saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
    )
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer

    def begin(sess: Any) -> list[Any]:
        """Starts the services; returns the threads of the queue runners."""
        if is_chief and logdir:
            supervisor.start_standard_services(sess)
        elif not is_chief and startup_delay_steps > 0:
            _wait_for_step(sess, global_step, min(startup_delay_steps, number_of_steps or sys.maxsize))
        threads = supervisor.start_queue_runners(sess)
        logging.info("Starting Queues.")
        if chief_runners:
            supervisor.start_queue_runners(sess, chief_runners)
            sess.run(init_tokens)
        return threads

    loss = None
    while True:
        try:
            with supervisor.managed_session(
                master, start_standard_services=False, config=session_config
            ) as sess:
                logging.info("Starting Session.")
                if session_wrapper is not None:
                    logging.info("Wrapping session with wrapper function: %s", session_wrapper)
                    sess = session_wrapper(sess)
                threads = begin(sess)
                step = functools.partial(train_step_fn, sess, train_op, global_step, train_step_kwargs)
                for found in _losses(supervisor, step):
                    loss = found
                if logdir and supervisor.is_chief:
                    logging.info("Finished training! Saving model to disk.")
                    supervisor.saver.save(sess, supervisor.save_path, global_step=supervisor.global_step)
                    supervisor.stop(
                        threads, close_summary_writer=True, ignore_live_threads=ignore_live_threads
                    )
            return loss
        except AbortedError:  # a task was restarted
            logging.info("Retrying training!")


def _check(
    train_op: Tensor, logdir: str | None, summary_op: Any, saver: Any, trace: int | None, steps: int | None
) -> None:
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        if summary_op is not _USE_DEFAULT:
            raise ValueError("Cannot provide summary_op because logdir=None")
        if saver is not None:
            raise ValueError("Cannot provide saver because logdir=None")
        if trace is not None:
            raise ValueError("Cannot provide trace_every_n_steps because logdir=None")
    if steps is not None and steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")


def _as_list(sync_optimizer: Any) -> list[SyncReplicasOptimizer]:
    if sync_optimizer is None:
        return []
    given = [sync_optimizer] if isinstance(sync_optimizer, SyncReplicasOptimizer) else list(sync_optimizer)
    if not all(isinstance(optimizer, SyncReplicasOptimizer) for optimizer in given):
        raise ValueError("`sync_optimizer` must be a tf.train.SyncReplicasOptimizer.")
    return given


def _starting_ops(
    init_op: Any,
    local_init_op: Any,
    ready_op: Any,
    optimizers: Sequence[SyncReplicasOptimizer],
    is_chief: bool,
) -> dict[str, Any]:
    """What makes a model ready, and tells whether it is; by the names that Supervisor has for them."""
    with name_scope("init_ops"):
        if init_op is _USE_DEFAULT:
            init_op = variables.global_variables_initializer()
        if ready_op is _USE_DEFAULT:
            ready_op = variables.report_uninitialized_variables()
        if local_init_op is _USE_DEFAULT:
            local_init_op = grouping.group(variables.local_variables_initializer(), tables_initializer())
        local_init_op, ready_for_local_init_op = _synchronized(local_init_op, optimizers, is_chief)
    return {
        "init_op": init_op,
        "local_init_op": local_init_op,
        "ready_op": ready_op,
        "ready_for_local_init_op": ready_for_local_init_op,
    }


def _losses(supervisor: Supervisor, step: Callable[[], tuple[Any, Any]]) -> Iterator[Any]:
    """The loss of each step, until one says to stop, or the data ends."""
    try:
        while not supervisor.should_stop():
            loss, should_stop = step()
            yield loss
            if should_stop:
                logging.info("Stopping Training.")
                supervisor.request_stop()
                return
    except OutOfRangeError as error:
        logging.info("Caught OutOfRangeError. Stopping Training. %s", error)


def _synchronized(
    local_init_op: Any, optimizers: Sequence[SyncReplicasOptimizer], is_chief: bool
) -> tuple[Any, Any]:
    """What initializes a task besides, and when it may, where replicas work in step."""
    if not optimizers:
        return local_init_op, None
    with control_dependencies([] if local_init_op is None else [local_init_op]):
        starts = [
            optimizer.chief_init_op if is_chief else optimizer.local_step_init_op for optimizer in optimizers
        ]
        local_init_op = grouping.group(*starts)
    return local_init_op, grouping.group(*[optimizer.ready_for_local_init_op for optimizer in optimizers])


def _step_kwargs(
    global_step: Any, number_of_steps: int | None, log_every: int, trace_every: int | None, logdir: str | None
) -> dict[str, Any]:
    """The tensors that tell `train_step` when to stop, to log and to trace."""
    with name_scope("train_step"):
        kwargs: dict[str, Any] = {
            "should_stop": binary.greater_equal(global_step, number_of_steps)
            if number_of_steps
            else constants.constant(False)
        }
        if log_every > 0:
            kwargs["should_log"] = binary.equal(binary.floormod(global_step, log_every), 0)
        if trace_every is not None:
            kwargs["should_trace"] = binary.equal(binary.floormod(global_step, trace_every), 0)
            kwargs["logdir"] = logdir
    return kwargs


def _wait_for_step(sess: Any, global_step: Any, step: int) -> None:
    while global_step_of(sess, global_step) < step:
        time.sleep(1.0)
