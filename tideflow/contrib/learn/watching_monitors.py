"""The monitors of tf.contrib.learn that log, evaluate and stop."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tideflow.contrib.learn.monitors import BaseMonitor, EveryN, fetched
from tideflow.contrib.learn.saving_monitors import SummarySaver
from tideflow.estimator.estimator import Estimator as CoreEstimator
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.io.checkpoint_state import latest_checkpoint
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated
from tideflow.summary.writer import FileWriter
from tideflow.train.step_hooks import NanLossDuringTrainingError


@export("contrib.learn.monitors.StopAtStep")
class StopAtStep(BaseMonitor):
    """Stops the training.

    Args:
      num_steps: The number of steps to make.
      last_step: The global step to stop at.

    Raises:
      ValueError: If none or both are given.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    @property
    def run_on_all_workers(self) -> bool:
        """Whether all workers run it, and not the chief alone."""
        return True

    def step_begin(self, step: int) -> list[Any]:
        """Is told that a step begins.

        Args:
          step: The global step.

        Returns:
          An empty list.
        """
        super().step_begin(step)
        if self._last_step is None:
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step: int, output: dict[Any, Any]) -> bool:
        """Is told that a step ended.

        Args:
          step: The global step.
          output: The values of what was fetched.

        Returns:
          Whether the training is to stop.
        """
        super().step_end(step, output)
        return step >= self._last_step


def _words(outputs: dict[Any, Any], names: Mapping[str, Any]) -> str:
    return ", ".join(f"{tag} = {fetched(outputs, name)!s}" for tag, name in names.items() if name in outputs)


@export("contrib.learn.monitors.PrintTensor")
class PrintTensor(EveryN):
    """Logs the values of tensors.

    Args:
      tensor_names: The names of the tensors, or names by what the log calls them.
      every_n: The number of steps from one time to the next.
      first_n: In so many steps at the start it is done each time.
    """

    def __init__(self, tensor_names: Iterable[str] | Mapping[str, str], every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        named = tensor_names if isinstance(tensor_names, dict) else {name: name for name in tensor_names}
        self._tensor_names = named

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Is told that such a step begins.

        Args:
          step: The global step.

        Returns:
          The names of the tensors.
        """
        return list(self._tensor_names.values())

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> None:
        """Is told that such a step ended.

        Args:
          step: The global step.
          outputs: The values of what was fetched.
        """
        logging.info("Step %d: %s", step, _words(outputs, self._tensor_names))


@export("contrib.learn.monitors.LoggingTrainable")
class LoggingTrainable(EveryN):
    """Logs the values of the variables that are trained.

    Args:
      scope: Only variables whose name begins with this; all if None.
      every_n: The number of steps from one time to the next.
      first_n: In so many steps at the start it is done each time.
    """

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Is told that such a step begins.

        Args:
          step: The global step.

        Returns:
          The names of the variables' values.
        """
        trained = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)
        self._names = {variable.name: variable.value().name for variable in trained}
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> None:
        """Is told that such a step ended.

        Args:
          step: The global step.
          outputs: The values of what was fetched.
        """
        logging.info("Logging Trainable: Step %d: %s", step, _words(outputs, self._names))


@export("contrib.learn.monitors.ValidationMonitor")
class ValidationMonitor(EveryN):
    """Evaluates new checkpoints while a model is trained, and stops when it gets no better.

    Args:
      x: The features, as an array or an iterator; instead of `input_fn`.
      y: The labels, likewise.
      input_fn: A function that returns the tensors of features and labels.
      batch_size: The number of examples in a step; with `x` only.
      eval_steps: The number of steps of an evaluation; until the data end if None.
      every_n_steps: The number of steps from one look for a checkpoint to the next.
      metrics: What is measured besides, by name.
      hooks: Hooks of the evaluation's session.
      early_stopping_rounds: The training stops if a metric was no better for so many steps.
      early_stopping_metric: The name of this metric.
      early_stopping_metric_minimize: Whether less is better.
      name: The name of the evaluation, if there are several.
      check_interval_secs: The least number of seconds from one look to the next.

    Raises:
      ValueError: If neither `x` nor `input_fn` is given.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Mapping[Any, Any] | None = None,
        hooks: Sequence[Any] | None = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ):
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self.x, self.y, self.input_fn, self.batch_size = x, y, input_fn, batch_size
        self.eval_steps, self.metrics, self.hooks, self.name = eval_steps, metrics, hooks, name
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_metric = early_stopping_metric
        self.early_stopping_metric_minimize = early_stopping_metric_minimize
        self._check_interval_secs = check_interval_secs
        self._last_check: float | None = None
        self._latest_path: str | None = None
        self._best_step: int | None = None
        self._best_value: Any = None
        self._best_metrics: dict[str, Any] | None = None
        self._early_stopped = False

    @property
    def early_stopped(self) -> bool:
        """Whether it stopped the training."""
        return self._early_stopped

    @property
    def best_step(self) -> int | None:
        """The step of the best value."""
        return self._best_step

    @property
    def best_value(self) -> Any:
        """The best value of the metric."""
        return self._best_value

    @property
    def best_metrics(self) -> dict[str, Any] | None:
        """All results of the best step."""
        return self._best_metrics

    def _evaluate(self) -> dict[str, Any]:
        shared = dict(input_fn=self.input_fn, steps=self.eval_steps, hooks=self.hooks, name=self.name)
        own = dict(x=self.x, y=self.y, batch_size=self.batch_size, metrics=self.metrics)
        if not isinstance(self._estimator, CoreEstimator):
            return self._estimator.evaluate(**shared, **own)
        if any(each is not None for each in own.values()):
            raise ValueError(
                "tf.estimator.Estimator does not support following arguments: x, y, batch_size, metrics. "
                "Should set as `None` in ValidationMonitor"
            )
        return self._estimator.evaluate(**shared)

    def _has_new_checkpoint(self) -> bool:
        now = time.time()
        interval = self._check_interval_secs
        if None not in (interval, self._last_check) and now - self._last_check <= interval:
            return False
        self._last_check = now
        path = latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._latest_path:
            return False
        self._latest_path = path
        return True

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        """Is told that such a step ended.

        Args:
          step: The global step.
          outputs: The values of what was fetched.

        Returns:
          Whether the training is to stop.

        Raises:
          ValueError: If there is no estimator, or no such metric.
        """
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        if not self._has_new_checkpoint():
            return False
        results = self._evaluate()
        logging.info(
            "Validation (step %d): %s",
            step,
            ", ".join(f"{name} = {value!s}" for name, value in results.items()),
        )
        return self.early_stopping_rounds is not None and self._is_no_better(step, results)

    def _is_no_better(self, step: int, results: dict[str, Any]) -> bool:
        key = self.early_stopping_metric
        if key not in results:
            raise ValueError(f"Metric {key} missing from outputs {set(results)}.")
        value, best = results[key], self._best_value
        if best is None or (value < best if self.early_stopping_metric_minimize else value > best):
            self._best_value, self._best_step = value, step
            self._best_metrics = copy.deepcopy(results)
        if step - self._best_step < self.early_stopping_rounds:
            return False
        logging.info("Stopping. Best step: %s with %s = %s.", self._best_step, key, self._best_value)
        self._early_stopped = True
        return True


@export("contrib.learn.monitors.CaptureVariable")
class CaptureVariable(EveryN):
    """Keeps the values of a variable.

    Args:
      var_name: The name of the variable.
      every_n: The number of steps from one time to the next.
      first_n: In so many steps at the start it is done each time.
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """The values by step."""
        return self._values

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Is told that such a step begins.

        Args:
          step: The global step.

        Returns:
          The name of the variable.
        """
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> None:
        """Is told that such a step ended.

        Args:
          step: The global step.
          outputs: The values of what was fetched.
        """
        self._values[step] = fetched(outputs, self._var_name)


@export("contrib.learn.monitors.get_default_monitors")
@deprecated(None, "Use tf.train.MonitoredTrainingSession.")
def get_default_monitors(
    loss_op: Tensor | None = None,
    summary_op: Tensor | None = None,
    save_summary_steps: int = 100,
    output_dir: str | None = None,
    summary_writer: FileWriter | None = None,
) -> list[BaseMonitor]:
    """Makes the monitors that most trainings want: one logs the loss, one writes summaries.

    Args:
      loss_op: The loss.
      summary_op: The tensor of the serialized summaries.
      save_summary_steps: The number of steps from one summary to the next.
      output_dir: The directory of the events.
      summary_writer: The writer, instead of a directory.

    Returns:
      The monitors.
    """
    monitors: list[BaseMonitor] = []
    if loss_op is not None:
        monitors.append(PrintTensor(tensor_names={"loss": loss_op.name}))
    if summary_op is not None:
        monitors.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return monitors


@export("contrib.learn.monitors.NanLoss")
class NanLoss(EveryN):
    """Stops the training when the loss is not a number.

    Args:
      loss_tensor: The loss.
      every_n_steps: The number of steps from one look to the next.
      fail_on_nan_loss: Whether an error is raised.
    """

    def __init__(self, loss_tensor: Tensor, every_n_steps: int = 100, fail_on_nan_loss: bool = True):
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Is told that such a step begins.

        Args:
          step: The global step.

        Returns:
          The loss.
        """
        return [self._loss_tensor]

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        """Is told that such a step ended.

        Args:
          step: The global step.
          outputs: The values of what was fetched.

        Returns:
          Whether the training is to stop.

        Raises:
          NanLossDuringTrainingError: If the loss is not a number, and that is a failure.
        """
        if not np.isnan(fetched(outputs, self._loss_tensor)):
            return False
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(message)
            raise NanLossDuringTrainingError
        logging.warning(message)
        return True
