"""`train_and_evaluate`: a model trained and evaluated in turns, on one machine or by a cluster's tasks."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.cluster.server import Server
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.exporter import Exporter
from tideflow.estimator.run_config import RunConfig, TaskType, trains_in_step
from tideflow.estimator.spec import checked_hooks
from tideflow.export import export
from tideflow.graph.scopes import GraphKeys
from tideflow.platform import logging
from tideflow.train.hook_timers import SecondOrStepTimer
from tideflow.train.saving_hooks import CheckpointSaverListener
from tideflow.train.session_run_hook import SessionRunHook

_LONGEST_DELAY_SECS = 60  # of a worker, before it starts to train
_DELAY_SECS_PER_WORKER = 5
_WARNING_SECS = 600  # between warnings that there is nothing to evaluate


def _check_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_exporters(exporters: Any) -> tuple[Exporter, ...]:
    if not exporters:
        return ()
    try:
        given = (exporters,) if isinstance(exporters, Exporter) else tuple(exporters)
    except TypeError:
        given = (None,)
    if not all(isinstance(exporter, Exporter) for exporter in given):
        raise TypeError(
            f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}."
        )
    names = [exporter.name for exporter in given]
    for number, name in enumerate(names):
        if not name:
            raise ValueError(
                f"An Exporter cannot have a name that is `None` or empty. All exporter names: {names}"
            )
        if not isinstance(name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(name)}")
        if name in names[:number]:
            raise ValueError(
                "`exporters` must have unique names. Such a name cannot be `None`. All exporter names: "
                f"{names}"
            )
    return given


class _TrainFields(NamedTuple):
    input_fn: Callable
    max_steps: int | None = None
    hooks: tuple[SessionRunHook, ...] = ()


@export("estimator.TrainSpec")
class TrainSpec(_TrainFields):
    """How `tf.estimator.train_and_evaluate` trains.

    Args:
      input_fn: The input function.
      max_steps: The global step to stop at; until the data end if None.
      hooks: Hooks of the training.

    Raises:
      ValueError: If `max_steps` is not positive.
      TypeError: If an argument has the wrong type.
    """

    def __new__(
        cls,
        input_fn: Callable,
        max_steps: int | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
    ):
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, checked_hooks(hooks))


class _EvalFields(NamedTuple):
    input_fn: Callable
    steps: int | None = 100
    name: str | None = None
    hooks: tuple[SessionRunHook, ...] = ()
    exporters: tuple[Exporter, ...] = ()
    start_delay_secs: float = 120
    throttle_secs: float = 600


@export("estimator.EvalSpec")
class EvalSpec(_EvalFields):
    """How `tf.estimator.train_and_evaluate` evaluates.

    Args:
      input_fn: The input function.
      steps: The number of batches; until the data end if None.
      name: The name of the evaluation, if there are several.
      hooks: Hooks of the evaluation.
      exporters: An Exporter, or several, to call after each evaluation.
      start_delay_secs: How long an evaluator waits before the first evaluation.
      throttle_secs: The shortest time between the starts of two evaluations, in seconds.

    Raises:
      ValueError: If a number is out of its range, or exporters share a name.
      TypeError: If an argument has the wrong type.
    """

    def __new__(
        cls,
        input_fn: Callable,
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        exporters: Exporter | Iterable[Exporter] | None = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ):
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        hooks, exporters = checked_hooks(hooks), _checked_exporters(exporters)
        for label, secs in (("start_delay_secs", start_delay_secs), ("throttle_secs", throttle_secs)):
            if secs < 0:
                raise ValueError(f"Must specify {label} >= 0, given: {secs}")
        return super().__new__(cls, input_fn, steps, name, hooks, exporters, start_delay_secs, throttle_secs)


@export("estimator.train_and_evaluate")
def train_and_evaluate(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> Any:
    """Trains a model, and evaluates each of its checkpoints.

    On one machine both happen in turns, in this process. In a cluster that TF_CONFIG describes, the chief and
    the workers train, the parameter servers keep the variables, and an evaluator evaluates.

    Args:
      estimator: The estimator.
      train_spec: How to train.
      eval_spec: How to evaluate.

    Returns:
      On one machine, the metrics of the last evaluation and what the exporters returned; else None.

    Raises:
      TypeError: If an argument has the wrong type.
      ValueError: If TF_CONFIG has no such task.
    """
    for label, given, kind in (
        ("eval_spec", eval_spec, EvalSpec),
        ("estimator", estimator, Estimator),
        ("train_spec", train_spec, TrainSpec),
    ):
        if not isinstance(given, kind):
            raise TypeError(f"`{label}` must have type `tf.estimator.{kind.__name__}`. Got: {type(given)}")
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0).  Given task "
            f"id {config.task_id}"
        )
    if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
        logging.info("Running training and evaluation locally (non-distributed).")
        return _run_local(estimator, train_spec, eval_spec)
    if config.task_type not in _TASKS:
        raise ValueError(
            f"Task type {config.task_type} is not supported. Supported task types are {sorted(_TASKS)}"
        )
    _TASKS[config.task_type](estimator, train_spec, eval_spec)
    return None


# ----------------------------------------------------------------------------------------- on one machine


def _run_local(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> tuple[Any, Any]:
    config = estimator.config
    logging.info(
        "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint "
        "frequency is determined based on RunConfig arguments: save_checkpoints_steps %s or "
        "save_checkpoints_secs %s.",
        config.save_checkpoints_steps,
        config.save_checkpoints_secs,
    )
    listener = _EvaluatingListener(_Evaluator(estimator, train_spec, eval_spec), eval_spec.throttle_secs)
    estimator.train(
        train_spec.input_fn,
        hooks=train_spec.hooks,
        max_steps=train_spec.max_steps,
        saving_listeners=[listener],
    )
    return listener.metrics, listener.exports


class _Evaluator:
    """Evaluates and exports checkpoints, each once."""

    def __init__(self, estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec):
        self._estimator, self._eval_spec = estimator, eval_spec
        self._last_step = train_spec.max_steps
        self._evaluated: str | None = None
        self._warned_at = 0.0

    def evaluate_and_export(self) -> tuple[dict[str, Any] | None, list[Any]]:
        """The metrics of the newest checkpoint and what its exporters returned; None where it is not new."""
        path = self._estimator.latest_checkpoint()
        if not path:
            self._warn("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
            return None, []
        if path == self._evaluated:
            self._warn(
                "No new checkpoint ready for evaluation. Skip the current evaluation pass as evaluation "
                "results are expected to be same for the same checkpoint."
            )
            return None, []
        spec = self._eval_spec
        metrics = self._estimator.evaluate(
            spec.input_fn, steps=spec.steps, hooks=spec.hooks, checkpoint_path=path, name=spec.name
        )
        is_final = bool(self._last_step) and metrics[GraphKeys.GLOBAL_STEP] >= self._last_step
        exports = [
            exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(self._estimator.model_dir, "export", exporter.name),
                checkpoint_path=path,
                eval_result=metrics,
                is_the_final_export=is_final,
            )
            for exporter in spec.exporters
        ]
        self._warned_at, self._evaluated = 0.0, path
        return metrics, exports

    def _warn(self, message: str) -> None:
        if time.time() - self._warned_at > _WARNING_SECS:
            logging.warning(message)
            self._warned_at = time.time()


class _EvaluatingListener(CheckpointSaverListener):
    """Evaluates after a checkpoint is written: not the first one, and not more often than it should."""

    def __init__(self, evaluator: _Evaluator, throttle_secs: float):
        self._evaluator, self._throttle_secs = evaluator, throttle_secs
        self.metrics: dict[str, Any] | None = None
        self.exports: list[Any] | None = None

    def begin(self) -> None:
        self._timer = SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first = True

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        if self._is_first:
            self._is_first = False
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            logging.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle_secs
            )
        return None

    def end(self, session: Any, global_step_value: int) -> None:
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        self.metrics, self.exports = self._evaluator.evaluate_and_export()
        if self.metrics is None:
            raise RuntimeError(
                "There was no new checkpoint after the training. Eval status: no new checkpoint"
            )


# ------------------------------------------------------------------------------------------ in a cluster


def _run_ps(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    server = _started_server(estimator.config)
    assert server is not None  # a cluster has a chief beside its parameter servers
    server.join()


def _run_worker(
    estimator: Estimator,
    train_spec: TrainSpec,
    eval_spec: EvalSpec,
    listeners: Iterable[CheckpointSaverListener] = (),
) -> None:
    config = estimator.config
    if json.loads(os.environ.get("TF_CONFIG") or "{}").get("environment") != "google":
        _started_server(config)
    if config.task_type == TaskType.WORKER and not trains_in_step(config):
        longest = config.experimental_max_worker_delay_secs
        longest = _LONGEST_DELAY_SECS if longest is None else longest
        delay = min(longest, (config.task_id + 1) * _DELAY_SECS_PER_WORKER)
        if delay > 0:
            logging.info("Waiting %d secs before starting training.", delay)
            time.sleep(delay)
    estimator.train(
        train_spec.input_fn,
        hooks=train_spec.hooks,
        max_steps=train_spec.max_steps,
        saving_listeners=list(listeners),
    )


def _run_master(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    """Trains as a chief, and evaluates too."""
    evaluator = _Evaluator(estimator, train_spec, eval_spec)
    _run_worker(estimator, train_spec, eval_spec, [_EvaluatingListener(evaluator, eval_spec.throttle_secs)])


def _run_evaluator(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    """Evaluates checkpoints as they come, until that of the last step."""
    if eval_spec.start_delay_secs:
        logging.info("Waiting %f secs before starting eval.", eval_spec.start_delay_secs)
        time.sleep(eval_spec.start_delay_secs)
    evaluator = _Evaluator(estimator, train_spec, eval_spec)
    while True:
        start = time.time()
        metrics, _ = evaluator.evaluate_and_export()
        pause = eval_spec.throttle_secs - (time.time() - start)
        if pause > 0:
            logging.info("Waiting %f secs before starting next eval run.", pause)
            time.sleep(pause)
        elif eval_spec.throttle_secs == 0 and metrics is None:
            logging.warning(
                "EvalSpec.throttle_secs is set as 0. This might overload the job before finding (next) new "
                "checkpoint. Please consider to increase it."
            )
        step = metrics and metrics[GraphKeys.GLOBAL_STEP]
        if step and train_spec.max_steps and step >= train_spec.max_steps:
            logging.info(
                "Exiting evaluation, global_step=%s >= train max_steps=%s", step, train_spec.max_steps
            )
            return


_TASKS = {
    TaskType.CHIEF: _run_worker,
    TaskType.WORKER: _run_worker,
    TaskType.MASTER: _run_master,
    TaskType.PS: _run_ps,
    TaskType.EVALUATOR: _run_evaluator,
}


def _started_server(config: RunConfig) -> Server | None:
    """The server of this task; none where the task is alone in its cluster."""
    if not config.master:
        logging.info("Skip starting Tensorflow server as there is only one node in the cluster.")
        return None
    logging.info("Start Tensorflow server.")
    session_config = ConfigProto(gpu_options=config.session_config.gpu_options)
    return Server(
        config.cluster_spec,
        job_name=config.task_type,
        task_index=config.task_id,
        config=session_config,
        protocol=config.protocol,
    )
