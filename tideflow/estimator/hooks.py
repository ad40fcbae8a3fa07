"""Hooks of estimators: those of `tf.train`, and those that need an estimator."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.preparation import checked_hooks, global_step_of_checkpoint
from tideflow.export import export, expose
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.train import saving_hooks, session_run_hook, step_hooks
from tideflow.train.hook_timers import SecondOrStepTimer
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tideflow.variables.global_step import get_or_create_global_step_read

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike

for _shown in (
    saving_hooks.CheckpointSaverHook,
    saving_hooks.CheckpointSaverListener,
    saving_hooks.ProfilerHook,
    saving_hooks.SummarySaverHook,
    session_run_hook.SessionRunArgs,
    session_run_hook.SessionRunContext,
    session_run_hook.SessionRunHook,
    session_run_hook.SessionRunValues,
    step_hooks.FeedFnHook,
    step_hooks.FinalOpsHook,
    step_hooks.GlobalStepWaiterHook,
    step_hooks.LoggingTensorHook,
    step_hooks.NanLossDuringTrainingError,
    step_hooks.NanTensorHook,
    step_hooks.StepCounterHook,
    step_hooks.StopAtStepHook,
    SecondOrStepTimer,
):
    expose(_shown, f"estimator.{_shown.__name__}")


@export("estimator.experimental.InMemoryEvaluatorHook")
class InMemoryEvaluatorHook(SessionRunHook):
    """A hook that evaluates the model while it is trained, with the variables as they are, without files.

    Args:
      estimator: The estimator.
      input_fn: The input function of the evaluation.
      steps: The number of batches; until the data end if None.
      hooks: Hooks of the evaluation.
      name: The name of the evaluation.
      every_n_iter: The interval, in steps of the training.

    Raises:
      ValueError: If the interval is not positive, or the estimator is one of a cluster.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: Callable,
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if estimator.config.num_ps_replicas > 0 or estimator.config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator, self._input_fn = estimator, input_fn
        self._directory = estimator.eval_dir(name)
        self._hooks = [*checked_hooks(hooks), *estimator._stop_after(steps)]
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        self._timer.reset()
        self._steps = 0
        self._graph = Graph()
        with self._graph.as_default():
            self._scaffold, *self._evaluation = self._estimator._build_evaluation(
                self._input_fn, self._hooks, checkpoint_path=None
            )
            if self._scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if self._scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            self._evaluated = {v.name: v for v in get_collection(GraphKeys.GLOBAL_VARIABLES)}

    def after_create_session(self, session: SessionLike, coord: Any) -> None:
        if get_collection(GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError("InMemoryEvaluator does not support saveables other than global variables.")
        trained = {v.name: v for v in get_collection(GraphKeys.GLOBAL_VARIABLES)}
        self._trained = {name: trained[name] for name in self._evaluated if name in trained}
        with self._graph.as_default():
            self._fed = {name: tf.placeholder(self._evaluated[name].dtype) for name in self._trained}
            self._take_over = tf.group(
                [tf.assign(self._evaluated[name], fed) for name, fed in self._fed.items()]
            )
        self._evaluate(session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        self._steps += 1
        if self._timer.should_trigger_for_step(self._steps):
            self._evaluate(run_context.session)

    def end(self, session: SessionLike) -> None:
        self._evaluate(session)

    def _evaluate(self, session: Any) -> None:
        values = session.run(self._trained)
        feeds = {self._fed[name]: value for name, value in values.items()}

        def take_over(scaffold: Scaffold, evaluating: Any) -> None:
            evaluating.run(self._take_over, feeds)

        scaffold = Scaffold(init_fn=take_over, copy_from_scaffold=self._scaffold)
        with self._graph.as_default():
            self._estimator._run_evaluation(None, scaffold, *self._evaluation, self._directory)
        self._timer.update_last_triggered_step(self._steps)


class _StopAtCheckpointStepHook(SessionRunHook):
    """Stops a worker when the chief has saved the last step: earlier, the chief would miss its steps."""

    def __init__(self, model_dir: str, last_step: int, wait_after_file_check_secs: float):
        if last_step is None:
            raise ValueError("last_step must be specified.")
        self._model_dir, self._last_step = model_dir, last_step
        self._pause = wait_after_file_check_secs

    def begin(self) -> None:
        self._global_step = get_or_create_global_step_read()
        if self._global_step is None:
            raise RuntimeError("Global step should be created to use StopAtCheckpointStepHook.")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results + 1 < self._last_step:
            return
        if global_step_of_checkpoint(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._pause)


@export("estimator.experimental.make_stop_at_checkpoint_step_hook")
def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """Makes a hook that stops at a step: the chief at once, others when a checkpoint has reached it.

    Args:
      estimator: The estimator.
      last_step: The step.
      wait_after_file_check_secs: How long others wait between looking for the checkpoint, in seconds.

    Returns:
      The hook.
    """
    if estimator.config.is_chief:
        return step_hooks.StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStepHook(estimator.model_dir, last_step, wait_after_file_check_secs)
