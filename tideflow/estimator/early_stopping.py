"""Hooks that end a training early, by what evaluations have found."""

from __future__ import annotations

import collections
import operator
import os
from collections.abc import Callable, Iterator
from typing import Any

import tideflow as tf
from tideflow.estimator.estimator import Estimator
from tideflow.export import export
from tideflow.graph.scopes import GraphKeys
from tideflow.platform import gfile, logging
from tideflow.train.hook_timers import SecondOrStepTimer
from tideflow.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tideflow.variables.global_step import get_global_step


@export("estimator.experimental.make_early_stopping_hook")
def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Makes a hook that stops the training when a function says so.

    The chief asks the function. It tells the other workers by a variable.

    Args:
      estimator: The estimator.
      should_stop_fn: The function, without arguments.
      run_every_secs: The interval of asking, in seconds.
      run_every_steps: The interval of asking, in steps.

    Returns:
      The hook.

    Raises:
      TypeError: If `estimator` is none.
      ValueError: If both intervals are given.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return _CheckForStoppingHook()


@export("estimator.experimental.stop_if_higher_hook")
def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Makes a hook that stops the training when a metric is above a threshold.

    Args:
      estimator: The estimator.
      metric_name: The name of the metric.
      threshold: The threshold.
      eval_dir: The directory of the evaluation's summaries; that of the estimator if None.
      min_steps: Evaluations before this step do not count.
      run_every_secs: The interval at which the evaluations are read, in seconds.
      run_every_steps: The interval at which the evaluations are read, in steps.

    Returns:
      The hook.
    """
    stop = _crossed(estimator, metric_name, threshold, True, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


@export("estimator.experimental.stop_if_lower_hook")
def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Makes a hook that stops the training when a metric is below a threshold.

    Args:
      estimator: The estimator.
      metric_name: The name of the metric.
      threshold: The threshold.
      eval_dir: The directory of the evaluation's summaries; that of the estimator if None.
      min_steps: Evaluations before this step do not count.
      run_every_secs: The interval at which the evaluations are read, in seconds.
      run_every_steps: The interval at which the evaluations are read, in steps.

    Returns:
      The hook.
    """
    stop = _crossed(estimator, metric_name, threshold, False, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


@export("estimator.experimental.stop_if_no_increase_hook")
def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Makes a hook that stops the training when a metric has not increased for a number of steps.

    Args:
      estimator: The estimator.
      metric_name: The name of the metric.
      max_steps_without_increase: The number of steps.
      eval_dir: The directory of the evaluation's summaries; that of the estimator if None.
      min_steps: Evaluations before this step do not count.
      run_every_secs: The interval at which the evaluations are read, in seconds.
      run_every_steps: The interval at which the evaluations are read, in steps.

    Returns:
      The hook.
    """
    stop = _stalled(estimator, metric_name, max_steps_without_increase, True, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


@export("estimator.experimental.stop_if_no_decrease_hook")
def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Makes a hook that stops the training when a metric has not decreased for a number of steps.

    Args:
      estimator: The estimator.
      metric_name: The name of the metric.
      max_steps_without_decrease: The number of steps.
      eval_dir: The directory of the evaluation's summaries; that of the estimator if None.
      min_steps: Evaluations before this step do not count.
      run_every_secs: The interval at which the evaluations are read, in seconds.
      run_every_steps: The interval at which the evaluations are read, in steps.

    Returns:
      The hook.
    """
    stop = _stalled(estimator, metric_name, max_steps_without_decrease, False, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def _crossed(
    estimator: Estimator, metric: str, threshold: float, higher: bool, eval_dir: str | None, min_steps: int
) -> Callable[[], bool]:
    """Whether a metric has been on the other side of a threshold."""
    directory = estimator.eval_dir() if eval_dir is None else eval_dir
    is_better = operator.gt if higher else operator.lt

    def has_crossed() -> bool:
        for step, value in _values(directory, metric, min_steps):
            if is_better(value, threshold):
                logging.info(
                    'At step %s, metric "%s" has value %s which is %s the configured threshold (%s) for '
                    "early stopping.",
                    step,
                    metric,
                    value,
                    "greater than" if higher else "less than",
                    threshold,
                )
                return True
        return False

    return has_crossed


def _stalled(
    estimator: Estimator, metric: str, most_steps: int, higher: bool, eval_dir: str | None, min_steps: int
) -> Callable[[], bool]:
    """Whether a metric has not got better for a number of steps."""
    directory = estimator.eval_dir() if eval_dir is None else eval_dir
    is_better = operator.gt if higher else operator.lt

    def has_stalled() -> bool:
        best: tuple[int, float] | None = None
        for step, value in _values(directory, metric, min_steps):
            if best is None or is_better(value, best[1]):
                best = step, value
            if step - best[0] >= most_steps:
                logging.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max steps (%s) '
                    "configured for early stopping.",
                    "increase" if higher else "decrease",
                    metric,
                    step - best[0],
                    most_steps,
                )
                return True
        return False

    return has_stalled


def _values(directory: str, metric: str, min_steps: int) -> Iterator[tuple[int, float]]:
    """The values of a metric in all evaluations, by steps."""
    for step, metrics in read_eval_metrics(directory).items():
        if step >= min_steps:
            yield step, metrics[metric]


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """The metrics of all evaluations whose summaries are in a directory, by their steps."""
    found: dict[int, dict[str, float]] = collections.defaultdict(dict)
    paths = gfile.glob(os.path.join(eval_dir, "events.out.tfevents.*")) if gfile.exists(eval_dir) else []
    for path in paths:
        for event in tf.train.summary_iterator(path):
            metrics = simple_values(event)
            if metrics:
                found[event.step].update(metrics)
    return dict(sorted(found.items()))


def simple_values(event: Any) -> dict[str, float]:
    """The numbers of an event's summary, by their tags."""
    return {value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")}


def _stop_variable() -> Any:
    with tf.variable_scope("signal_early_stopping", reuse=tf.AUTO_REUSE):
        return tf.get_variable(
            "STOP",
            shape=[],
            dtype=tf.bool,
            initializer=tf.constant_initializer(False),
            collections=[GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
        )


class _StopOnPredicateHook(SessionRunHook):
    """The chief's: asks a function, stops, and tells the others."""

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ):
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self) -> None:
        self._global_step = get_global_step()
        self._stop_op = tf.assign(_stop_variable(), True)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = run_values.results
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._should_stop_fn():
                logging.info("Requesting early stopping at global step %d", step)
                run_context.session.run(self._stop_op)
                run_context.request_stop()


class _CheckForStoppingHook(SessionRunHook):
    """Another worker's: stops when the chief has told so."""

    def begin(self) -> None:
        self._stop_variable = _stop_variable()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._stop_variable)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results:
            logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()
