"""Experiment: an estimator with its data, trained and evaluated together, alone or in a cluster."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tideflow.cluster.server import Server
from tideflow.contrib.learn.export_strategy import ExportStrategy
from tideflow.contrib.learn.interfaces import Evaluable, Trainable
from tideflow.contrib.learn.monitors import replace_monitors_with_hooks
from tideflow.contrib.learn.run_config import Environment, RunConfig
from tideflow.contrib.learn.watching_monitors import ValidationMonitor
from tideflow.estimator.estimator import Estimator as CoreEstimator
from tideflow.export import export
from tideflow.graph.scopes import GraphKeys
from tideflow.io.checkpoint_state import latest_checkpoint
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated
from tideflow.platform.function_arguments import fn_args
from tideflow.train.saving_hooks import CheckpointSaverHook, CheckpointSaverListener
from tideflow.train.step_hooks import GlobalStepWaiterHook

_SECONDS_BETWEEN_WARNINGS = 600


class _EvaluatingListener(CheckpointSaverListener):
    """Evaluates and exports each new checkpoint."""

    def __init__(self, experiment: Experiment):
        self._experiment = experiment
        self._path: str | None = None
        self.eval_result: dict[str, Any] | None = None
        self.export_results: list[Any] | None = None

    def after_save(self, session: Any, global_step_value: int) -> None:
        path = latest_checkpoint(self._experiment.estimator.model_dir)
        if not path or path == self._path:
            logging.warning("Skipping evaluation and export: there is no new checkpoint.")
            return
        self._path = path
        self.eval_result = self._experiment._evaluated("intermediate_export", path)
        self.export_results = self._experiment._exported(self.eval_result, path)


@export("contrib.learn.Experiment")
class Experiment:
    """An estimator, the data that it is trained and evaluated with, and how often.

    Args:
      estimator: An estimator of `tf.contrib.learn` or of `tf.estimator`.
      train_input_fn: The input function of the training.
      eval_input_fn: The input function of the evaluation.
      eval_metrics: What is measured besides, by name: MetricSpecs.
      train_steps: The global step to stop at; until the data end if None.
      eval_steps: The number of steps of an evaluation; until the data end if None.
      train_monitors: Monitors and hooks of the training.
      eval_hooks: Hooks of the evaluation.
      local_eval_frequency: The number of steps from one evaluation to the next in `local_run`.
      eval_delay_secs: How long an evaluation waits before it starts.
      continuous_eval_throttle_secs: The least number of seconds from one evaluation to the next.
      min_eval_frequency: The least number of steps from one evaluation to the next; none is made during
        the training if 0.
      delay_workers_by_global_step: Whether workers start at global steps, and not after some seconds.
      export_strategies: An ExportStrategy, or several.
      train_steps_per_iteration: The number of steps between evaluations in `continuous_train_and_eval`.
      checkpoint_and_export: Whether each checkpoint is evaluated and exported.
      saving_listeners: Objects to call before and after each checkpoint; for `tf.estimator` only.
      check_interval_secs: The least number of seconds from one look for a checkpoint to the next.

    Raises:
      ValueError: If the estimator is none, or an argument does not suit it.
    """

    @deprecated(
        None,
        "Please switch to tf.estimator.train_and_evaluate. You will also have to convert to a "
        "tf.estimator.Estimator.",
    )
    def __init__(
        self,
        estimator: Any,
        train_input_fn: Callable,
        eval_input_fn: Callable,
        eval_metrics: Mapping[Any, Any] | None = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Sequence[Any] | None = None,
        eval_hooks: Sequence[Any] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: ExportStrategy | Iterable[ExportStrategy] | None = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[CheckpointSaverListener] | None = None,
        check_interval_secs: float | None = 5,
    ):
        self._is_core = isinstance(estimator, CoreEstimator)
        if self._is_core and eval_metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use `eval_metric_ops` in "
                "`tf.estimator.EstimatorSpec` instead."
            )
        if not self._is_core:
            for kind in (Evaluable, Trainable):
                if not isinstance(estimator, kind):
                    raise ValueError(
                        f"`estimator` must implement `tf.contrib.learn.{kind.__name__}` or "
                        "`tf.estimator.Estimator`."
                    )
            if saving_listeners is not None:
                raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")
        if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self._estimator = estimator
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._eval_metrics = eval_metrics
        self._train_steps, self._eval_steps = train_steps, eval_steps
        self._train_monitors, self._eval_hooks = list(train_monitors or ()), list(eval_hooks or ())
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._continuous_eval_throttle_secs = continuous_eval_throttle_secs
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._export_strategies = _strategies(export_strategies)
        self._train_steps_per_iteration = train_steps_per_iteration
        self._checkpoint_and_export = checkpoint_and_export
        self._saving_listeners = saving_listeners
        self._check_interval_secs = check_interval_secs

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self._estimator

    @property
    def eval_metrics(self) -> Mapping[Any, Any] | None:
        """What is measured besides."""
        return self._eval_metrics

    @property
    def train_steps(self) -> int | None:
        """The global step to stop at."""
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        """The number of steps of an evaluation."""
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks: Iterable[Any]) -> None:
        """Adds hooks of the training.

        Args:
          additional_hooks: Monitors and hooks.
        """
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(
        self, new_export_strategies: ExportStrategy | Iterable[ExportStrategy] | None = None
    ) -> tuple[ExportStrategy, ...]:
        """Replaces the strategies of the export.

        Args:
          new_export_strategies: An ExportStrategy, or several.

        Returns:
          Those that were there.
        """
        old, self._export_strategies = self._export_strategies, _strategies(new_export_strategies)
        return old

    # ------------------------------------------------------------------------------------ single parts of it

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains the model.

        Args:
          delay_secs: How long to wait first; by default five seconds for each task before this one, and a
            minute at most.

        Returns:
          The estimator.

        Raises:
          ValueError: If a cluster is described by a configuration of `tf.estimator`.
        """
        started, config = time.time(), self._estimator.config
        self._join_cluster(config)
        hooks = list(self._train_monitors)
        if delay_secs is None:
            task = config.task_id or 0
            delay_secs = min(60, task * 5)
            if self._delay_workers_by_global_step:
                hooks.append(GlobalStepWaiterHook(int(8000.0 * math.log(task + 1))))
                delay_secs = 0
        if delay_secs > 0:
            _wait(delay_secs - (time.time() - started), "training")
        return self._trained(hooks, max_steps=self._train_steps)

    def _join_cluster(self, config: Any) -> None:
        """Starts the server of this task, unless it is there already."""
        if not (config.cluster_spec and config.master):
            return
        if not isinstance(config, RunConfig):
            raise ValueError(
                "For distributed runtime, Experiment class only works with tf.contrib.learn.RunConfig for "
                f"now, but provided {type(config)}"
            )
        if config.environment == Environment.LOCAL:
            logging.warn(
                "ClusterSpec and master are provided, but environment is set to 'local'. Set environment to "
                "'cloud' if you intend to use the distributed runtime."
            )
        elif config.environment != Environment.GOOGLE:
            self._start_server()

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> dict[str, Any]:
        """Evaluates the newest checkpoint.

        Args:
          delay_secs: How long to wait first; `eval_delay_secs` if None.
          name: The name of the evaluation.

        Returns:
          The results by name.
        """
        _wait(self._eval_delay_secs if delay_secs is None else delay_secs, "eval")
        return self._evaluated(name or "one_pass")

    def test(self) -> dict[str, Any]:
        """Makes one step of training, one of evaluation, and an export.

        Returns:
          The results of the evaluation.
        """
        self._trained(self._train_monitors, steps=1)
        result = self._evaluated("one_pass", steps=1, hooks=())
        self._exported(result)
        return result

    def run_std_server(self) -> None:
        """Runs the server of this task until the training has ended."""
        self._start_server().join()

    # ------------------------------------------------------------------------------- training and evaluation

    @deprecated(
        "2016-10-23",
        "local_run will be renamed to train_and_evaluate and the new default behavior will be to run "
        "evaluation every time there is a new checkpoint.",
    )
    def local_run(self) -> tuple[Any, Any]:
        """Trains the model, and evaluates it every `local_eval_frequency` steps.

        Returns:
          The results of the last evaluation, and of the exports.
        """
        return self._train_and_evaluate(self._local_eval_frequency)

    def train_and_evaluate(self) -> tuple[Any, Any]:
        """Trains the model, evaluates checkpoints meanwhile, and the last one at the end.

        Returns:
          The results of the last evaluation, and of the exports.
        """
        return self._train_and_evaluate(self._min_eval_frequency)

    def _train_and_evaluate(self, frequency: int | None) -> tuple[Any, Any]:
        config = self._estimator.config
        given, listener = self._train_monitors, None
        secs, steps = config.save_checkpoints_secs, config.save_checkpoints_steps
        if self._checkpoint_and_export and (secs or steps):
            listener = _EvaluatingListener(self)
            extra: list[Any] = [
                CheckpointSaverHook(
                    self._estimator.model_dir, save_secs=secs, save_steps=steps, listeners=[listener]
                )
            ]
        elif frequency:
            extra = [
                ValidationMonitor(
                    input_fn=self._eval_input_fn,
                    eval_steps=self._eval_steps,
                    metrics=self._eval_metrics,
                    every_n_steps=frequency,
                    check_interval_secs=self._check_interval_secs,
                    hooks=self._eval_hooks,
                )
            ]
        else:
            extra = []
        self._train_monitors = [*given, *extra]
        try:
            self.train(delay_secs=0)
        finally:
            self._train_monitors = given
        if listener is not None:
            return listener.eval_result, listener.export_results
        result = self._evaluated(None)
        return result, self._exported(result)

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Callable | None = None
    ) -> tuple[Any, Any]:
        """Trains some steps, evaluates, and so on.

        Args:
          continuous_eval_predicate_fn: A function of the results of the last evaluation, and of
            `checkpoint_path` if it names it, that says whether to go on.

        Returns:
          The results of the last evaluation, and of the exports.

        Raises:
          ValueError: If the function is none.
        """
        goes_on = _predicate(continuous_eval_predicate_fn)
        steps = self._train_steps_per_iteration
        if steps is None:
            steps = 1000 if self._train_steps is None else int(self._train_steps / 10)
        result: Any = None
        exports = path = None
        while goes_on(result, path if result else None) and not self._has_ended(result):
            self._trained(self._train_monitors, steps=steps)
            path = latest_checkpoint(self._estimator.model_dir)
            result = self._evaluated("one_pass", path)
            exports = self._exported(result)
        return result, exports

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Callable | None = None,
        name: str = "continuous",
    ) -> None:
        """Evaluates checkpoints as another task writes them.

        Args:
          delay_secs: How long to wait first; `eval_delay_secs` if None.
          throttle_delay_secs: The least number of seconds from one evaluation to the next;
            `continuous_eval_throttle_secs` if None.
          evaluate_checkpoint_only_once: Whether a checkpoint is evaluated once only.
          continuous_eval_predicate_fn: A function of the results of the last evaluation, and of
            `checkpoint_path` if it names it, that says whether to go on.
          name: The name of the evaluation.
        """
        self._evaluate_continuously(
            self._eval_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            _predicate(continuous_eval_predicate_fn),
            once=evaluate_checkpoint_only_once,
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Callable | None = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        """Evaluates checkpoints as another task writes them, on the data of the training.

        Args:
          delay_secs: How long to wait first; `eval_delay_secs` if None.
          throttle_delay_secs: The least number of seconds from one evaluation to the next;
            `continuous_eval_throttle_secs` if None.
          continuous_eval_predicate_fn: A function of the results of the last evaluation, and of
            `checkpoint_path` if it names it, that says whether to go on.
          name: The name of the evaluation.
        """
        self._evaluate_continuously(
            self._train_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            _predicate(continuous_eval_predicate_fn),
            exports=False,
        )

    def _evaluate_continuously(
        self,
        input_fn: Callable,
        name: str,
        delay: float | None,
        throttle: float | None,
        goes_on: Callable,
        once: bool = True,
        exports: bool = True,
    ) -> None:
        throttle = self._continuous_eval_throttle_secs if throttle is None else throttle
        _wait(self._eval_delay_secs if delay is None else delay, "eval")
        evaluated, warned = None, 0.0
        result: Any = None
        while goes_on(result, evaluated) and not self._has_ended(result):
            start = time.time()
            path = latest_checkpoint(self._estimator.model_dir)
            if not path or (once and path == evaluated):
                result = {}
                if start - warned > _SECONDS_BETWEEN_WARNINGS:
                    logging.warning("No new checkpoint ready for evaluation.")
                    warned = start
            else:
                result = self._evaluated(name, path, input_fn=input_fn) or {}
                if exports:
                    self._exported(result, path)
                evaluated, warned = path, 0.0
            time.sleep(max(0.0, throttle - (time.time() - start)))

    def _has_ended(self, result: dict[str, Any] | None) -> bool:
        step = (result or {}).get(GraphKeys.GLOBAL_STEP)
        return bool(step and self._train_steps and step >= self._train_steps)

    # ----------------------------------------------------------------------------------------- the estimator

    def _trained(self, monitors: Sequence[Any], **steps: int | None) -> Any:
        hooks = replace_monitors_with_hooks(monitors, self._estimator)
        wanted: dict[str, Any] = {"input_fn": self._train_input_fn, "steps": None, "max_steps": None, **steps}
        if self._is_core:
            return self._estimator.train(hooks=hooks, saving_listeners=self._saving_listeners, **wanted)
        return self._estimator.fit(monitors=hooks, **wanted)

    def _evaluated(
        self,
        name: str | None,
        checkpoint_path: str | None = None,
        input_fn: Callable | None = None,
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
    ) -> dict[str, Any]:
        arguments: dict[str, Any] = dict(
            input_fn=input_fn or self._eval_input_fn,
            steps=steps or self._eval_steps,
            name=name,
            checkpoint_path=checkpoint_path,
            hooks=self._eval_hooks if hooks is None else hooks,
        )
        if not self._is_core:
            arguments["metrics"] = self._eval_metrics
        return self._estimator.evaluate(**arguments)

    def _exported(self, result: Any, checkpoint_path: str | None = None) -> list[Any]:
        base = os.path.join(os.fsencode(self._estimator.model_dir), b"export")
        return [
            strategy.export(
                self._estimator, os.path.join(base, os.fsencode(strategy.name)), checkpoint_path, result
            )
            for strategy in self._export_strategies
        ]

    def _start_server(self) -> Server:
        config = self._estimator.config
        if not (config.cluster_spec and config.task_type and config.master) or config.task_id is None:
            raise ValueError(
                "Could not start server; be sure to specify cluster_spec, task_type, master, and task in "
                "RunConfig or set the TF_CONFIG environment variable."
            )
        server = Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=config.tf_config,
            start=False,
        )
        server.start()
        return server


def _wait(seconds: float, what: str) -> None:
    if seconds > 0:
        logging.info("Waiting %d secs before starting %s.", seconds, what)
        time.sleep(seconds)


def _predicate(given: Callable | None) -> Callable[[Any, str | None], bool]:
    if given is None:
        return lambda result, path: True
    if not callable(given):
        raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
    if "checkpoint_path" in fn_args(given):
        return lambda result, path: given(result, checkpoint_path=path)
    return lambda result, path: given(result)


def _strategies(given: Any) -> tuple[ExportStrategy, ...]:
    if not given:
        return ()
    strategies = (given,) if isinstance(given, ExportStrategy) else tuple(given)
    for strategy in strategies:
        if not isinstance(strategy, ExportStrategy):
            raise ValueError(
                "`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or `None`, "
                f"found {strategy}."
            )
    return strategies
