"""Monitors: what watches a training, from before there were hooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.export import export, expose
from tideflow.platform.deprecation import deprecated
from tideflow.platform.function_arguments import fn_args
from tideflow.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tideflow.train.step_hooks import NanLossDuringTrainingError, graph_element
from tideflow.variables.global_step import get_global_step

expose(NanLossDuringTrainingError, "contrib.learn.NanLossDuringTrainingError")


@export("contrib.learn.monitors.BaseMonitor")
class BaseMonitor:
    """Watches a training: it is told of its begin and end, and of each step."""

    @deprecated("2016-12-05", "Monitors are deprecated. Please use tf.train.SessionRunHook.")
    def __init__(self):
        self._begun = False
        self._current_epoch: int | None = None
        self._current_step: int | None = None
        self._max_steps: int | None = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether all workers run it, and not the chief alone."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Is told what is trained.

        Args:
          estimator: The estimator.

        Raises:
          ValueError: If it is None.
        """
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Is told that the training begins.

        Args:
          max_steps: The global step to stop at.

        Raises:
          ValueError: If it has begun already.
        """
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps = max_steps
        self._begun = True

    def end(self, session: Any = None) -> None:
        """Is told that the training ends.

        Args:
          session: The session of the training.

        Raises:
          ValueError: If it has not begun.
        """
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps = None
        self._begun = False

    def epoch_begin(self, epoch: int) -> None:
        """Is told that an epoch begins.

        Args:
          epoch: Its number.

        Raises:
          ValueError: If another epoch has not ended.
        """
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError(f"Invalid epoch {epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """Is told that an epoch ends.

        Args:
          epoch: Its number.

        Raises:
          ValueError: If this epoch has not begun.
        """
        if self._current_epoch != epoch:
            raise ValueError(f"epoch_end expected {self._current_epoch} but got {epoch}.")
        self._current_epoch = None

    def step_begin(self, step: int) -> list[Any]:
        """Is told that a step begins.

        Args:
          step: The global step.

        Returns:
          The tensors, or their names, that are to be fetched in this step.

        Raises:
          ValueError: If the step is out of range.
        """
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: dict[Any, Any]) -> bool:
        """Is told that a step ended.

        Args:
          step: The global step.
          output: The values of what was fetched.

        Returns:
          Whether the training is to stop.

        Raises:
          ValueError: If this step has not begun.
        """
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: Any) -> None:
        """Is called after a step, when all monitors have been told of its end.

        Args:
          step: The global step.
          session: The session of the training.
        """


def fetched(outputs: dict[Any, Any], request: Any) -> Any:
    """The value of what a monitor asked for, by itself or by its name."""
    return outputs[request] if request in outputs else outputs[request.name]


@export("contrib.learn.monitors.EveryN")
class EveryN(BaseMonitor):
    """A monitor that does something every so many steps.

    Args:
      every_n_steps: The number of steps from one time to the next.
      first_n_steps: In so many steps at the start it is done each time.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1):
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._last_successful_step: int | None = None
        self._last_active_step = 0
        self._is_active = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Is told that such a step begins.

        Args:
          step: The global step.

        Returns:
          The tensors, or their names, that are to be fetched in this step.
        """
        return []

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool | None:
        """Is told that such a step ended.

        Args:
          step: The global step.
          outputs: The values of what was fetched.

        Returns:
          Whether the training is to stop.
        """
        return False

    def every_n_post_step(self, step: int | None, session: Any) -> None:
        """Is called after such a step, and at the end of the training.

        Args:
          step: The global step.
          session: The session of the training.
        """

    def step_begin(self, step: int) -> list[Any]:
        """Is told that a step begins.

        Args:
          step: The global step.

        Returns:
          The tensors, or their names, that are to be fetched in this step.
        """
        super().step_begin(step)
        self._is_active = (
            step <= self._first_n_steps
            or step >= self._every_n_steps + self._last_active_step
            or step == self._max_steps
        )
        return self.every_n_step_begin(step) if self._is_active else []

    def step_end(self, step: int, output: dict[Any, Any]) -> bool:
        """Is told that a step ended.

        Args:
          step: The global step.
          output: The values of what was fetched.

        Returns:
          Whether the training is to stop.
        """
        super().step_end(step, output)
        return bool(self.every_n_step_end(step, output)) if self._is_active else False

    def post_step(self, step: int, session: Any) -> None:
        """Is called after a step, when all monitors have been told of its end.

        Args:
          step: The global step.
          session: The session of the training.
        """
        super().post_step(step, session)
        if self._is_active:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: Any = None) -> None:
        """Is told that the training ends.

        Args:
          session: The session of the training.
        """
        super().end(session=session)
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


@export("contrib.learn.monitors.RunHookAdapterForMonitors")
class RunHookAdapterForMonitors(SessionRunHook):
    """A hook that tells monitors of the steps.

    Args:
      monitors: The monitors.
    """

    def __init__(self, monitors: Sequence[BaseMonitor]):
        self._monitors = monitors

    def begin(self) -> None:
        self._step: int | None = None
        self._global_step = get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        if self._step is None:
            self._step = run_context.session.run(self._global_step) + 1
        asked: dict[Any, Any] = {}
        for monitor in self._monitors:
            requests = monitor.step_begin(self._step)
            if requests:
                if not isinstance(requests, list):
                    raise ValueError("Monitor.step_begin should return a list.")
                asked.update({request: graph_element(request) for request in requests})
        return SessionRunArgs({"step": self._global_step, "monitors": asked})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        outputs = run_values.results["monitors"]
        # Every monitor is told, also where one of them stops the training.
        if any([monitor.step_end(self._step, outputs) for monitor in self._monitors]):
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._step, run_context.session)
        self._step = run_values.results["step"] + 1

    def end(self, session: Any) -> None:
        self._step = None
        for monitor in self._monitors:
            monitor.end(**({"session": session} if "session" in fn_args(monitor.end) else {}))


@export("contrib.learn.monitors.replace_monitors_with_hooks")
def replace_monitors_with_hooks(
    monitors_or_hooks: Sequence[Any] | None, estimator: Any
) -> list[SessionRunHook]:
    """Hooks in place of monitors; workers other than the chief run few of these.

    Args:
      monitors_or_hooks: Monitors and hooks of a session.
      estimator: The estimator that is watched.

    Returns:
      The hooks, and one more that tells the monitors, if there are any.
    """
    given = list(monitors_or_hooks or ())
    hooks = [each for each in given if isinstance(each, SessionRunHook)]
    monitors = [each for each in given if not isinstance(each, SessionRunHook)]
    if not estimator.config.is_chief:
        monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks
