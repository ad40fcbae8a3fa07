"""graph_actions: trainings and evaluations of graphs, from before there were monitored sessions."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

import tideflow as tf
from tideflow.contrib.learn.watching_monitors import get_default_monitors
from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated
from tideflow.session.session import Session
from tideflow.summary.writer import FileWriter, FileWriterCache
from tideflow.train import checkpoint_utils
from tideflow.train.coordinator import Coordinator
from tideflow.train.queue_runner import start_queue_runners
from tideflow.train.resource_registry import initialize_resources, local_resources, shared_resources
from tideflow.train.saver import Saver
from tideflow.train.session_manager import SessionManager
from tideflow.train.step_hooks import NanLossDuringTrainingError
from tideflow.train.supervisor import Supervisor

_old = deprecated(
    "2017-02-15",
    "graph_actions.py will be deleted. Use tf.train.* utilities instead. You can use "
    "learn/estimators/estimator.py as an example.",
)


@export("contrib.learn.graph_actions.clear_summary_writers")
@_old
def clear_summary_writers() -> None:
    """Forgets the writers of all directories."""
    FileWriterCache.clear()


@export("contrib.learn.graph_actions.get_summary_writer")
@deprecated(None, "Use `SummaryWriterCache.get` directly.")
def get_summary_writer(logdir: str) -> FileWriter:
    """Finds or makes the writer of a directory.

    Args:
      logdir: The directory.

    Returns:
      The writer.
    """
    return FileWriterCache.get(logdir)


def _saver_of(graph: Graph, keep: int | None = 5) -> Saver | None:
    saved = [
        *graph.get_collection(GraphKeys.GLOBAL_VARIABLES),
        *graph.get_collection(GraphKeys.SAVEABLE_OBJECTS),
    ]
    return Saver(saved, sharded=True, max_to_keep=keep) if saved else None


def _step_with_monitors(
    session: Session, step: int, fetches: list[Any], feeds: Any, monitors: Sequence[Any]
) -> tuple[dict[Any, Any], bool]:
    """Makes a step; returns the values by name, and whether a monitor wants to stop."""
    asked = [*fetches, *(request for monitor in monitors for request in monitor.step_begin(step) or ())]
    asked = list(dict.fromkeys(asked))
    values = session.run(asked, feed_dict=feeds)
    names = [each.name if isinstance(each, Tensor) else each for each in asked]
    outputs = dict(zip(names, values, strict=True))
    return outputs, any([monitor.step_end(step, outputs) for monitor in monitors])


@export("contrib.learn.train", "contrib.learn.graph_actions.train")
@_old
def train(
    graph: Graph,
    output_dir: str,
    train_op: Operation | Tensor,
    loss_op: Tensor,
    global_step_tensor: Any = None,
    init_op: Operation | None = None,
    init_feed_dict: Mapping[Any, Any] | None = None,
    init_fn: Callable | None = None,
    log_every_steps: int = 10,
    supervisor_is_chief: bool = True,
    supervisor_master: str = "",
    supervisor_save_model_secs: int = 600,
    keep_checkpoint_max: int | None = 5,
    supervisor_save_summaries_steps: int = 100,
    feed_fn: Callable | None = None,
    steps: int | None = None,
    fail_on_nan_loss: bool = True,
    monitors: Sequence[Any] | None = None,
    max_steps: int | None = None,
) -> Any:
    """Trains a graph.

    Args:
      graph: The graph.
      output_dir: The directory of checkpoints and summaries.
      train_op: The operation of a training step.
      loss_op: The loss.
      global_step_tensor: The global step; that of the graph if None.
      init_op: The operation that initializes; the usual one if None.
      init_feed_dict: What is fed to it.
      init_fn: A function of the session that is called after it.
      log_every_steps: The number of steps from one log line to the next.
      supervisor_is_chief: Whether this task initializes and saves the model.
      supervisor_master: The target of the session.
      supervisor_save_model_secs: The interval of checkpoints, in seconds.
      keep_checkpoint_max: How many of the newest checkpoints are kept.
      supervisor_save_summaries_steps: The interval of summaries, in steps.
      feed_fn: A function that returns what is fed in a step.
      steps: The number of steps to make.
      fail_on_nan_loss: Whether a loss that is not a number is an error.
      monitors: Monitors; by default those that log the loss and write summaries.
      max_steps: The global step to stop at.

    Returns:
      The loss of the last step.

    Raises:
      ValueError: If both numbers of steps are given, or something that is needed is None.
      NanLossDuringTrainingError: If the loss is not a number, and that is a failure.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    if train_op is None:
        raise ValueError("Missing train_op.")
    if loss_op is None:
        raise ValueError("Missing loss_op.")
    with graph.as_default():
        global_step_tensor = tf.contrib.framework.assert_or_get_global_step(graph, global_step_tensor)
        if global_step_tensor is None:
            raise ValueError('No "global_step" was provided or found in the graph.')
        try:
            start = int(checkpoint_utils.load_variable(output_dir, global_step_tensor.op.name))
        except (errors.NotFoundError, ValueError):
            start = 0
        writer = FileWriterCache.get(output_dir) if supervisor_is_chief else None
        if not monitors and supervisor_is_chief:
            merged = tf.summary.merge_all()
            monitors = get_default_monitors(
                loss_op, merged, supervisor_save_summaries_steps, summary_writer=writer
            )
        monitors = [each for each in monitors or () if supervisor_is_chief or each.run_on_all_workers]
        if max_steps is None and steps:
            max_steps = start + steps
        for monitor in monitors:
            monitor.begin(max_steps=max_steps)
        supervisor = Supervisor(
            graph,
            init_op=init_op or Supervisor.USE_DEFAULT,
            init_feed_dict=init_feed_dict,
            is_chief=supervisor_is_chief,
            logdir=output_dir,
            saver=_saver_of(graph, keep_checkpoint_max),
            global_step=global_step_tensor,
            summary_op=None,
            summary_writer=writer,
            save_model_secs=supervisor_save_model_secs,
            init_fn=init_fn,
        )
        session = supervisor.PrepareSession(master=supervisor_master, start_standard_services=True)
        supervisor.StartQueueRunners(session)
        with session:
            loop = _Loop(session, supervisor, train_op, loss_op, global_step_tensor, feed_fn, monitors)
            loop.run(max_steps, log_every_steps, fail_on_nan_loss)
        return loop.loss


class _Loop:
    """The steps of a training, and the checkpoint at its end."""

    def __init__(
        self,
        session: Session,
        supervisor: Supervisor,
        train_op: Any,
        loss_op: Tensor,
        global_step: Any,
        feed_fn: Callable | None,
        monitors: Sequence[Any],
    ):
        self._session, self._supervisor = session, supervisor
        self._train_op, self._loss_op, self._global_step = train_op, loss_op, global_step
        self._feed_fn, self._monitors = feed_fn, monitors
        self.loss: Any = None

    def run(self, max_steps: int | None, log_every: int, fails_on_nan: bool) -> None:
        try:
            self._steps(max_steps, log_every, fails_on_nan)
        except errors.OutOfRangeError as error:
            logging.warn("The input of the training has ended: %s.", error)
        except StopIteration:
            logging.info("The input of the training has ended.")
        finally:
            self._supervisor.Stop(close_summary_writer=False)
            if self._supervisor.is_chief:
                path, step = self._supervisor.save_path, self._session.run(self._global_step)
                logging.info("Saving checkpoint for step %d to checkpoint: %s.", step, path)
                self._supervisor.saver.save(self._session, path, global_step=step)
                for monitor in self._monitors:
                    monitor.end()

    def _steps(self, max_steps: int | None, log_every: int, fails_on_nan: bool) -> None:
        step = logged = self._session.run(self._global_step)
        while not self._supervisor.ShouldStop() and (max_steps is None or step < max_steps):
            start = time.time()
            feeds = self._feed_fn() if self._feed_fn is not None else None
            fetches = [self._train_op, self._loss_op]
            outputs, stops = _step_with_monitors(self._session, step + 1, fetches, feeds, self._monitors)
            self.loss = outputs[self._loss_op.name]
            if np.isnan(self.loss):
                logging.error("Model diverged with loss = NaN.")
                if fails_on_nan:
                    raise NanLossDuringTrainingError
            if stops:
                return
            before, step = step, self._session.run(self._global_step)
            if step <= before:
                logging.error(
                    "Global step was not incremented by train op at step %s: new step %d", before, step
                )
            if step - logged >= log_every or (max_steps is not None and step >= max_steps):
                seconds = time.time() - start
                logging.info("training step %d, loss = %.5f (%.3f sec/batch).", step, self.loss, seconds)
                logged = step


def _first_of(collection: str, make: Callable[[], Any]) -> Any:
    """The first of a collection; where there is none, it is made."""
    found = tf.get_collection(collection)
    if found:
        return found[0]
    made = make()
    if made is not None:
        add_to_collection(collection, made)
    return made


def _words(results: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in sorted(results.items()))


def _write_results(directory: str, results: Mapping[str, Any], step: int) -> None:
    logging.info("Saving evaluation summary for step %d: %s", step, _words(results))
    summary = Summary()
    for key, value in results.items():
        if isinstance(value, (float, np.float32)):
            summary.value.add(tag=key, simple_value=float(value))
        else:
            logging.warn("Skipping summary for %s, must be a float or np.float32.", key)
    writer = FileWriterCache.get(directory)
    writer.add_summary(summary, step)
    writer.flush()


@export("contrib.learn.evaluate", "contrib.learn.graph_actions.evaluate")
@_old
def evaluate(
    graph: Graph,
    output_dir: str,
    checkpoint_path: str | None,
    eval_dict: Mapping[str, Tensor],
    update_op: Any = None,
    global_step_tensor: Any = None,
    supervisor_master: str = "",
    log_every_steps: int = 10,
    feed_fn: Callable | None = None,
    max_steps: int | None = None,
) -> tuple[Any, int]:
    """Evaluates a graph.

    Args:
      graph: The graph.
      output_dir: The directory of the summaries.
      checkpoint_path: The checkpoint, or a directory of checkpoints, to begin with.
      eval_dict: The tensors of the results by name.
      update_op: The operation of a step; `eval_dict` is fetched in each step if None.
      global_step_tensor: The global step; that of the graph if None.
      supervisor_master: The target of the session.
      log_every_steps: The number of steps from one log line to the next.
      feed_fn: A function that returns what is fed in a step.
      max_steps: The number of steps; until the input ends if None.

    Returns:
      The results by name, and the global step.

    Raises:
      ValueError: If there is no directory.
    """
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    with graph.as_default():
        global_step_tensor = tf.contrib.framework.assert_or_get_global_step(graph, global_step_tensor)
        saver = _first_of(GraphKeys.SAVERS, lambda: Saver() if tf.global_variables() else None)
        manager = SessionManager(
            local_init_op=_first_of(
                GraphKeys.LOCAL_INIT_OP,
                lambda: tf.group(tf.local_variables_initializer(), tf.tables_initializer()),
            ),
            ready_op=_first_of(GraphKeys.READY_OP, tf.report_uninitialized_variables),
            ready_for_local_init_op=_first_of(GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None),
        )
        session, initialized = manager.recover_session(
            master=supervisor_master, saver=saver, checkpoint_dir=checkpoint_path
        )
        coordinator = Coordinator()
        threads = start_queue_runners(session, coordinator)
        with session:
            if not initialized:
                logging.warning("Failed to initialize from %s.", checkpoint_path)
                session.run(tf.global_variables_initializer())
                if checkpoint_path and saver:
                    saver.restore(session, checkpoint_path)
            global_step = session.run(global_step_tensor)
            results, step, feeds = None, 0, None
            try:
                while max_steps is None or step < max_steps:
                    feeds = feed_fn() if feed_fn is not None else None
                    fetched = session.run(eval_dict if update_op is None else update_op, feed_dict=feeds)
                    results = fetched if update_op is None else None
                    step += 1
                    if step % log_every_steps == 0:
                        results = session.run(eval_dict, feed_dict=feeds) if results is None else results
                        logging.info("Results after %d steps: %s.", step, _words(results))
            except (errors.OutOfRangeError, StopIteration):
                logging.info("The input of the evaluation has ended.")
            if results is None:
                results = session.run(eval_dict, feed_dict=feeds)
            coordinator.request_stop()
            session.close()
            coordinator.join(threads, ignore_live_threads=True)
    _write_results(output_dir, results, global_step)
    return results, global_step


@export("contrib.learn.graph_actions.run_feeds_iter")
@_old
def run_feeds_iter(
    output_dict: Mapping[str, Tensor],
    feed_dicts: Iterable[Mapping[Any, Any] | None],
    restore_checkpoint_path: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Runs a graph with one feed after the other, in a session of its own.

    Args:
      output_dict: The tensors to fetch by name.
      feed_dicts: What is fed, step by step.
      restore_checkpoint_path: The checkpoint to begin with; variables are initialized if None.

    Yields:
      The values by name.

    Raises:
      ValueError: If there is nothing to fetch or to feed.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    graph = tf.contrib.framework.get_graph_from_inputs(list(output_dict.values()))
    with graph.as_default(), Session("") as session:
        session.run(initialize_resources([*shared_resources(), *local_resources()]))
        saver = _saver_of(graph) if restore_checkpoint_path else None
        if saver:
            saver.restore(session, restore_checkpoint_path)
        else:
            session.run(tf.global_variables_initializer())
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        coordinator = Coordinator()
        threads = start_queue_runners(session, coordinator)
        try:
            for feeds in feed_dicts:
                yield session.run(output_dict, feeds)
        finally:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=120)


@export("contrib.learn.run_feeds", "contrib.learn.graph_actions.run_feeds")
@_old
def run_feeds(*args: Any, **kwargs: Any) -> list[dict[str, Any]]:
    """Runs a graph with one feed after the other, as `run_feeds_iter` does.

    Args:
      *args: The arguments of `run_feeds_iter`.
      **kwargs: The arguments of `run_feeds_iter`, by name.

    Returns:
      The values of each step.
    """
    return list(run_feeds_iter(*args, **kwargs))


@export("contrib.learn.run_n", "contrib.learn.graph_actions.run_n")
@_old
def run_n(
    output_dict: Mapping[str, Tensor],
    feed_dict: Mapping[Any, Any] | None = None,
    restore_checkpoint_path: str | None = None,
    n: int = 1,
) -> list[dict[str, Any]]:
    """Runs a graph some times with the same feed.

    Args:
      output_dict: The tensors to fetch by name.
      feed_dict: What is fed.
      restore_checkpoint_path: The checkpoint to begin with; variables are initialized if None.
      n: The number of steps.

    Returns:
      The values of each step.
    """
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


@export("contrib.learn.infer", "contrib.learn.graph_actions.infer")
@_old
def infer(
    restore_checkpoint_path: str | None,
    output_dict: Mapping[str, Tensor],
    feed_dict: Mapping[Any, Any] | None = None,
) -> dict[str, Any]:
    """Runs a graph once with the variables of a checkpoint.

    Args:
      restore_checkpoint_path: The checkpoint; variables are initialized if None.
      output_dict: The tensors to fetch by name.
      feed_dict: What is fed.

    Returns:
      The values by name.
    """
    return run_feeds(output_dict, [feed_dict], restore_checkpoint_path)[0]
