"""learn_runner: runs an Experiment as this task of a cluster should."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.contrib.learn.experiment import Experiment
from tideflow.contrib.learn.modes import TaskType
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.contrib.training.hyperparameters import HParams
from tideflow.export import export
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated

_TRAIN_AND_EVALUATE = (None, "Use tf.estimator.train_and_evaluate.")
_SCHEDULES = {TaskType.MASTER: "train_and_evaluate", TaskType.PS: "run_std_server", TaskType.WORKER: "train"}


def _checked(experiment: Any) -> Experiment:
    if not isinstance(experiment, Experiment):
        raise TypeError(
            f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead."
        )
    return experiment


def _with_checks(experiment_fn: Callable, needs_hparams: bool = False) -> Callable:
    """The function that makes an experiment, held to the configuration that it is given."""

    def checked_fn(run_config: RunConfig, hparams: HParams | None) -> Experiment:
        if not isinstance(run_config, RunConfig):
            raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
        if hparams is not None and not isinstance(hparams, HParams):
            raise ValueError("`hparams` must be `HParams` instance")
        if needs_hparams and hparams is None:
            raise ValueError("`hparams` cannot be `None`.")
        expected = run_config.uid()
        experiment = _checked(experiment_fn(run_config, hparams))
        used = experiment.estimator.config
        if not hasattr(used, "uid"):
            raise RuntimeError(
                "Pass `run_config` argument of the `experiment_fn` to the Estimator in Experiment. It is "
                "likely a different `RunConfig` is passed to `Estimator` or the `config` constructor "
                "argument in `Estimator` is not set."
            )
        if used.uid() != expected:
            raise RuntimeError(
                "`RunConfig` instance is expected to be used by the `Estimator` inside the `Experiment`. "
                f"expected {expected}, but got {used.uid()}"
            )
        return experiment

    return checked_fn


@export("contrib.learn.learn_runner.run")
@deprecated(*_TRAIN_AND_EVALUATE)
def run(
    experiment_fn: Callable,
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: RunConfig | None = None,
    hparams: HParams | None = None,
) -> Any:
    """Makes an Experiment, and runs one of its methods.

    Args:
      experiment_fn: A function that returns the Experiment: of `output_dir`, or of a configuration and
        hyperparameters if `run_config` is given.
      output_dir: The directory of the model.
      schedule: The name of the method; by default that which suits this task of the cluster.
      run_config: The configuration, with the directory of the model; instead of `output_dir`.
      hparams: The hyperparameters.

    Returns:
      What the method returns.

    Raises:
      ValueError: If not exactly one of `output_dir` and `run_config` is given, or there is no such method.
      TypeError: If the function returns no Experiment.
      RuntimeError: If the Experiment has another configuration.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        experiment = _with_checks(experiment_fn)(run_config=run_config, hparams=hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        if hparams is not None:
            raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
        experiment = _checked(experiment_fn(output_dir=output_dir))
    return _scheduled(experiment, schedule or _schedule_of(run_config or experiment.estimator.config))()


@export("contrib.learn.learn_runner.tune")
@deprecated(*_TRAIN_AND_EVALUATE)
def tune(experiment_fn: Callable, tuner: Any) -> None:
    """Runs an Experiment for each trial of a tuner.

    Args:
      experiment_fn: A function of a configuration and of hyperparameters that returns the Experiment.
      tuner: An object with `next_trial()`, and with `run_experiment(experiment_fn)`.
    """
    while tuner.next_trial():
        tuner.run_experiment(_with_checks(experiment_fn, needs_hparams=True))


def _scheduled(experiment: Experiment, schedule: str) -> Callable:
    method = getattr(experiment, schedule, None)
    if callable(method):
        return method
    known = [
        name for name in dir(experiment) if not name.startswith("_") and callable(getattr(experiment, name))
    ]
    logging.error("Allowed values for this experiment are: %s", known)
    if hasattr(experiment, schedule):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    raise ValueError(f"Schedule references non-existent task {schedule}")


def _schedule_of(config: Any) -> str:
    """What a task does: alone it trains and evaluates."""
    tasks = sum(config.cluster_spec.num_tasks(job) for job in config.cluster_spec.jobs) if config else 0
    if tasks < 2:
        return "train_and_evaluate"
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    if config.task_type not in _SCHEDULES:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return _SCHEDULES[config.task_type]
