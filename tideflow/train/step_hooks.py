"""Hooks that watch training: they stop it, count and log it, wait for it, feed it and look at its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.errors import OutOfRangeError
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.platform import logging
from tideflow.summary import writer
from tideflow.train.hook_timers import NeverTriggerTimer, SecondOrStepTimer
from tideflow.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tideflow.variables.base import Variable
from tideflow.variables.global_step import get_global_step, get_or_create_global_step_read
from tideflow.variables.initializers import Ones
from tideflow.variables.variable_scope import AUTO_REUSE, get_variable, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike, TensorLike
    from tideflow.summary.writer import FileWriter
    from tideflow.train.coordinator import Coordinator


def global_step_read(hook: str) -> Tensor:
    """The tensor by which a hook reads the global step, which must be there."""
    read = get_or_create_global_step_read()
    if read is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return read


# -------------------------------------------------------------------------------------------------- stopping


class _StopHook(SessionRunHook):
    """Stops at a step, or so many steps after the one that it begins at."""

    def __init__(self, num_steps: int | None, last_step: int | None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step


@export("train.StopAtStepHook")
class StopAtStepHook(_StopHook):
    """A hook that stops the training at a global step.

    Args:
      num_steps: The number of steps to run.
      last_step: The global step to stop at. Exactly one of the two must be given.

    Raises:
      ValueError: If both or none of the arguments are given.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        super().__init__(num_steps, last_step)

    def begin(self) -> None:
        self._global_step_tensor = global_step_read("StopAtStepHook")

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        if self._last_step is None:
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results + 1 < self._last_step:
            return
        # The step may have been read before it was counted up, or not have been counted up at all.
        if run_context.session.run(self._global_step_tensor) >= self._last_step:
            run_context.request_stop()


def get_or_create_steps_per_run_variable() -> Variable:
    """The variable that says how many iterations a training loop inside the graph makes in one run."""
    collection = "hooks_steps_per_run"
    found = get_default_graph().get_collection(collection)
    if len(found) > 1:
        raise RuntimeError("Multiple steps_per_run_var in collection.")
    if found:
        return found[0]
    with variable_scope("hooks", reuse=AUTO_REUSE):
        return get_variable(
            "steps_per_run",
            initializer=Ones(),
            shape=[],
            dtype=dtypes.int32,
            trainable=False,
            collections=[collection, GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )


class MultiStepStopAtStepHook(_StopHook):
    """As StopAtStepHook, where one run makes several steps: the last run makes as many as are left."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None, steps_per_run: int = 1):
        super().__init__(num_steps, last_step)
        if steps_per_run is None or steps_per_run < 1:
            raise ValueError("steps_per_run should be greater than 0")
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        self._global_step_tensor = get_global_step()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use StopAtStepHook.")
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def after_create_session(self, session: SessionLike, coord: Any) -> None:
        step = session.run(self._global_step_tensor)
        if self._last_step is None:
            self._last_step = step + self._num_steps
        self._plan_next_run(step, session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = run_context.session.run(self._global_step_tensor)
        if step >= self._last_step:
            run_context.request_stop()
        else:
            self._plan_next_run(step, run_context.session)

    def _plan_next_run(self, step: int, session: Any) -> None:
        steps = min(self._last_step - step, self._steps_per_run)
        self._steps_per_run_variable.load(steps, session=session)


@export("train.NanLossDuringTrainingError")
class NanLossDuringTrainingError(RuntimeError):
    """The error of NanTensorHook."""

    def __str__(self) -> str:
        return "NaN loss during training."


@export("train.NanTensorHook")
class NanTensorHook(SessionRunHook):
    """A hook that stops the training when the loss is NaN.

    Args:
      loss_tensor: The loss.
      fail_on_nan_loss: Whether it raises NanLossDuringTrainingError; if not, it logs a warning and stops.
    """

    def __init__(self, loss_tensor: TensorLike, fail_on_nan_loss: bool = True):
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not np.isnan(run_values.results):
            return
        complaint = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(complaint)
            raise NanLossDuringTrainingError
        logging.warning(complaint)
        run_context.request_stop()


# ----------------------------------------------------------------------------------------------- looking on


@export("train.LoggingTensorHook")
class LoggingTensorHook(SessionRunHook):
    """A hook that logs the values of tensors.

    Args:
      tensors: The tensors or their names: a list, or a dictionary from the names in the log.
      every_n_iter: The interval in calls of `run`.
      every_n_secs: The interval in seconds.
      at_end: Whether values are logged at the end. Without an interval, only then.
      formatter: A function from the values, by name, to the text that is logged.

    Raises:
      ValueError: If both intervals are given, or nothing says when to log.
    """

    def __init__(
        self,
        tensors: Mapping[str, Any] | Iterable[Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict], str] | None = None,
    ):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, dict):
            self._tensors, self._tag_order = tensors, sorted(tensors)
        else:
            self._tag_order = list(tensors)
            self._tensors = {item: item for item in self._tag_order}
        self._formatter = formatter
        self._log_at_end = at_end
        self._timer = (
            NeverTriggerTimer()
            if only_at_end
            else SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        )

    def begin(self) -> None:
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {tag: graph_element(tensor) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._should_trigger:
            self._log(run_values.results)
        self._iter_count += 1

    def end(self, session: SessionLike) -> None:
        if self._log_at_end:
            self._log(session.run(self._current_tensors))

    def _log(self, values: dict) -> None:
        elapsed, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                logging.info(self._formatter(values))
                return
            line = ", ".join(f"{tag} = {values[tag]!s}" for tag in self._tag_order)
        if elapsed is None:
            logging.info("%s", line)
        else:
            logging.info("%s (%.3f sec)", line, elapsed)


def graph_element(item: Any) -> Any:
    """A tensor or operation of the default graph, or the one of a name; "x" is the only output of x."""
    graph = get_default_graph()
    if not isinstance(item, str):
        if getattr(item, "graph", None) is not graph:
            raise ValueError(
                f"Passed {item} should have graph attribute that is equal to current graph {graph}."
            )
        return item
    if ":" in item:
        return graph.as_graph_element(item)
    element = graph.as_graph_element(f"{item}:0")
    if len(element.op.outputs) > 1:
        raise ValueError(f"Name {item} is ambiguous, as this `Operation` has multiple outputs (at least 2).")
    return element


@export("train.StepCounterHook")
class StepCounterHook(SessionRunHook):
    """A hook that logs the number of steps in a second, and writes it for TensorBoard.

    Args:
      every_n_steps: The interval in steps.
      every_n_secs: The interval in seconds.
      output_dir: The directory of the event file.
      summary_writer: The writer; one for `output_dir` if None.

    Raises:
      ValueError: If both or none of the intervals are given.
    """

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
    ):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step: int | None = None
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = writer.FileWriterCache.get(self._output_dir)
        self._global_step_tensor = global_step_read("StepCounterHook")
        self._summary_tag = get_global_step().op.name + "/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        stale_step = run_values.results
        if self._timer.should_trigger_for_step(stale_step + self._steps_per_run):
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                elapsed_secs, elapsed_steps = self._timer.update_last_triggered_step(step)
                if elapsed_secs is not None:
                    self._log_and_record(elapsed_steps, elapsed_secs, step)
        if stale_step == self._last_global_step == run_context.session.run(self._global_step_tensor):
            logging.log_first_n(
                logging.WARN,
                "It seems that global step (tf.train.get_global_step) has not been increased. Current value "
                "(could be stable): %s vs previous value: %s. You could increase the global step by passing "
                "tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize.",
                5,
                stale_step,
                self._last_global_step,
            )
        self._last_global_step = stale_step

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        rate = elapsed_steps / elapsed_time if elapsed_time > 0 else float("inf")
        if self._summary_writer is not None:
            summary = Summary(value=[Summary.Value(tag=self._summary_tag, simple_value=rate)])
            self._summary_writer.add_summary(summary, global_step)
        logging.info("%s: %g", self._summary_tag, rate)


# --------------------------------------------------------------------------------- before, during and after


@export("train.GlobalStepWaiterHook")
class GlobalStepWaiterHook(SessionRunHook):
    """A hook that delays a worker until the global step has reached a value.

    With it, workers start one after the other.

    Args:
      wait_until_step: The step to wait for.
    """

    def __init__(self, wait_until_step: int):
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        self._worker_is_started = False
        self._global_step_tensor = global_step_read("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        if self._worker_is_started:
            return
        if self._wait_until_step > 0:
            self._wait(run_context.session)
        self._worker_is_started = True

    def _wait(self, session: Any) -> None:
        logging.info("Waiting for global step %d before starting training.", self._wait_until_step)
        last_logged = 0
        while (step := session.run(self._global_step_tensor)) < self._wait_until_step:
            if step - last_logged > 1000:
                logging.info(
                    "Waiting for global step %d before starting training. Current step is %d.",
                    self._wait_until_step,
                    step,
                )
                last_logged = step
            time.sleep(0.5)


@export("train.FeedFnHook")
class FeedFnHook(SessionRunHook):
    """A hook that feeds each step the result of a function.

    Args:
      feed_fn: A function without arguments that returns a feed dictionary.
    """

    def __init__(self, feed_fn: Callable[[], dict]):
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


@export("train.FinalOpsHook")
class FinalOpsHook(SessionRunHook):
    """A hook that computes tensors at the end.

    Args:
      final_ops: A tensor or an operation, or a structure of them.
      final_ops_feed_dict: Values to feed.
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: dict | None = None):
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The values of `final_ops`, after the end."""
        return self._final_ops_values

    def end(self, session: SessionLike) -> None:
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)
        except (OutOfRangeError, StopIteration):
            logging.warning(
                "An OutOfRangeError or StopIteration exception is raised by the code in FinalOpsHook. This "
                "typically means the Ops running by the FinalOpsHook have a dependency back to some input "
                "source, which should not happen: they should only read variables, such as the `value_op` of "
                "a metric, whose `update_op` read the input before."
            )
            raise
