"""Estimator: a model function, and everything that is done with a model: train, evaluate, predict, export."""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import tideflow as tf
from tideflow.distribute.input_context import InputContext
from tideflow.distribute.strategy import Strategy
from tideflow.estimator.distributed import input_of_replicas, spec_of_replicas
from tideflow.estimator.export.writing import write_saved_model
from tideflow.estimator.input_results import ends, features_and_labels
from tideflow.estimator.predictions import chosen, examples_of
from tideflow.estimator.preparation import (
    checked_hooks,
    checked_listeners,
    config_with_directory,
    device_setter_of,
    global_step_of_checkpoint,
    summary_hooks,
)
from tideflow.estimator.results import write_results
from tideflow.estimator.run_config import RunConfig, TaskType, trains_in_step
from tideflow.estimator.spec import (
    LOSS_METRIC_KEY,
    EstimatorSpec,
    ModeKeys,
    check_model_fn_arguments,
)
from tideflow.estimator.warm_start import apply_settings, settings_from
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import GraphKeys, add_to_collection, get_collection, get_default_graph
from tideflow.io.checkpoint_state import latest_checkpoint
from tideflow.platform import gfile, logging
from tideflow.platform.deprecation import deprecated
from tideflow.platform.function_arguments import fn_args, those_taken
from tideflow.train import checkpoint_utils, monitored_session, step_hooks
from tideflow.train.evaluation import StopAfterNEvalsHook, evaluate_once, get_or_create_eval_step
from tideflow.train.saver import Saver
from tideflow.train.saving_hooks import CheckpointSaverHook, CheckpointSaverListener
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_run_hook import SessionRunHook
from tideflow.variables.global_step import (
    create_global_step,
    get_global_step,
    get_or_create_global_step_read,
)

_OVERRIDABLE = {"model_fn", "_create_and_assert_global_step", "_export_all_saved_models"}


@export("estimator.Estimator")
class Estimator:
    """Trains and evaluates a model that a function describes, and keeps it in a directory.

    Each call makes a new graph, calls the input function and the model function in it, and begins with the
    newest checkpoint of the directory.

    Args:
      model_fn: A function of `features`, and of `labels`, `mode`, `params` and `config` if it names them,
        that returns an EstimatorSpec.
      model_dir: The directory of the model; that of `config`, or else a temporary one, if None.
      config: A RunConfig.
      params: Hyperparameters that the model function gets.
      warm_start_from: A checkpoint or SavedModel to begin with, or WarmStartSettings.

    Raises:
      ValueError: If the model function takes unknown arguments, or `model_dir` contradicts `config`.
    """

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        model_dir: str | os.PathLike | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ):
        self._check_nothing_is_overridden()
        self._config = config_with_directory(config, model_dir)
        self._model_dir = self._config.model_dir
        self._session_config = self._config.session_config
        logging.info("Using config: %s", vars(self._config))
        self._device_fn = self._config.device_fn or device_setter_of(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        check_model_fn_arguments(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = settings_from(warm_start_from)

    def _check_nothing_is_overridden(self) -> None:
        """Subclasses describe models. What is done with one is the same for all."""
        ours = {name for name in vars(Estimator) if not name.startswith("__")} - _OVERRIDABLE
        overridden = [name for name in vars(type(self)) if name in ours]
        if overridden and type(self) is not Estimator and not _is_tpu_estimator(type(self)):
            raise ValueError(
                "Subclasses of Estimator cannot override members of Estimator. "
                f"{type(self)} does override {overridden}"
            )

    @property
    def model_dir(self) -> str:
        """The directory of the model."""
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the configuration."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the hyperparameters."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model function, as a function of `features`, `labels`, `mode` and `config`."""

        def public_model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    def get_variable_value(self, name: str) -> Any:
        """Reads a variable from the newest checkpoint.

        Args:
          name: The name of the variable.

        Returns:
          The value as an array.

        Raises:
          ValueError: If there is no checkpoint.
        """
        self._check_checkpoint()
        return checkpoint_utils.load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """Lists the variables of the newest checkpoint.

        Returns:
          Their names.

        Raises:
          ValueError: If there is no checkpoint.
        """
        self._check_checkpoint()
        return [name for name, _ in checkpoint_utils.list_variables(self.model_dir)]

    def _check_checkpoint(self) -> None:
        if not self.latest_checkpoint():
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")

    def latest_checkpoint(self) -> str | None:
        """Finds the newest checkpoint.

        Returns:
          Its prefix, or None.
        """
        return latest_checkpoint(self.model_dir)

    def eval_dir(self, name: str | None = None) -> str:
        """The directory of the summaries of an evaluation.

        Args:
          name: The name of the evaluation.

        Returns:
          The path.
        """
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    # -------------------------------------------------------------------------------------------- training

    def train(
        self,
        input_fn: Callable,
        hooks: Sequence[SessionRunHook] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> Estimator:
        """Trains the model, until the data end or the steps are made.

        Args:
          input_fn: A function that returns a `tf.data.Dataset` of features and labels, or a tuple of both.
          hooks: Hooks of the session.
          steps: The number of steps to make.
          max_steps: The global step to stop at; if it was reached already, nothing is done.
          saving_listeners: Objects to call before and after each checkpoint.

        Returns:
          This object.

        Raises:
          ValueError: If both numbers are given, or one is not positive.
        """
        if self._config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError(
                "Train has been called wrong configuration. Please use tf.estimator.train_and_evaluate which "
                f"calls proper API according to given configuration. Current configuration: {self._config}."
            )
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        for label, number in (("steps", steps), ("max_steps", max_steps)):
            if number is not None and number <= 0:
                raise ValueError(f"Must specify {label} > 0, given: {number}")
        if max_steps is not None and max_steps <= global_step_of_checkpoint(self._model_dir):
            logging.info("Skipping training since max_steps has already saved.")
            return self
        hooks = checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            hooks.append(step_hooks.StopAtStepHook(steps, max_steps))
        loss = self._train_model(input_fn, hooks, checked_listeners(saving_listeners))
        logging.info("Loss for final step: %s.", loss)
        return self

    def _train_model(
        self, input_fn: Callable, hooks: list[SessionRunHook], listeners: list[CheckpointSaverListener]
    ) -> Any:
        with Graph().as_default() as graph, graph.device(self._device_fn):
            tf.set_random_seed(self._config.tf_random_seed)
            strategy = self._config.train_distribute
            if strategy is not None:
                self._session_config = strategy.update_config_proto(self._session_config)
            with contextlib.nullcontext() if strategy is None else strategy.scope():
                self._create_and_assert_global_step(graph)
                get_or_create_global_step_read(graph, before_initialized=strategy is None)
                spec, input_hooks = self._training_spec(input_fn, strategy)
            if self._warm_start_settings:
                apply_settings(self._warm_start_settings)
            if not any(summary.op.name == "loss" for summary in get_collection(GraphKeys.SUMMARIES)):
                tf.summary.scalar("loss", spec.loss)
            add_to_collection(GraphKeys.LOSSES, spec.loss)
            return self._run_steps(spec, [*input_hooks, *hooks, *self._watching_hooks(spec)], listeners)

    def _training_spec(
        self, input_fn: Callable, strategy: Strategy | None
    ) -> tuple[EstimatorSpec, list[SessionRunHook]]:
        """What the model function returns, and the hooks of the input; with a strategy, for all replicas."""
        mode = ModeKeys.TRAIN
        if strategy is None:
            features, labels, hooks = features_and_labels(self._call_input_fn(input_fn, mode))
            return self._call_model_fn(features, labels, mode, self.config), hooks
        features, labels, hooks = input_of_replicas(
            strategy, lambda context: self._call_input_fn(input_fn, mode, context)
        )
        spec = spec_of_replicas(
            strategy, lambda x, y: self._call_model_fn(x, y, mode, self.config), features, labels
        )
        return spec, hooks

    def _watching_hooks(self, spec: EstimatorSpec) -> list[SessionRunHook]:
        watching: list[SessionRunHook] = [step_hooks.NanTensorHook(spec.loss)]
        if self._config.log_step_count_steps is not None:
            logged = {"loss": spec.loss, "step": get_global_step()}
            watching.append(
                step_hooks.LoggingTensorHook(logged, every_n_iter=self._config.log_step_count_steps)
            )
        return [*watching, *spec.training_hooks]

    def _run_steps(
        self, spec: EstimatorSpec, hooks: list[SessionRunHook], listeners: list[CheckpointSaverListener]
    ) -> Any:
        config = self._config
        if not spec.scaffold.saver and not get_collection(GraphKeys.SAVERS):
            saver = Saver(
                sharded=True,
                max_to_keep=config.keep_checkpoint_max,
                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
                defer_build=True,
                save_relative_paths=True,
            )
            add_to_collection(GraphKeys.SAVERS, saver)
        chief_hooks = [*self._saver_hooks(spec, hooks, listeners), *spec.training_chief_hooks]
        summary_steps, log_steps = config.save_summary_steps, config.log_step_count_steps
        if {TaskType.WORKER, TaskType.MASTER} <= set(config.cluster_spec.jobs):
            # The master evaluates now and then, so the first worker's summaries are the steady ones.
            if config.task_type == TaskType.WORKER and config.task_id == 0:
                hooks = [*hooks, *summary_hooks(config, spec.scaffold)]
            summary_steps, log_steps = 0, None
        if trains_in_step(config) and not config.is_chief:
            chief_hooks, summary_steps = [], 0
        loss, has_trained = None, False
        with monitored_session.MonitoredTrainingSession(
            master=config.master,
            is_chief=config.is_chief or trains_in_step(config),
            checkpoint_dir=self._model_dir,
            scaffold=spec.scaffold,
            hooks=hooks,
            chief_only_hooks=chief_hooks,
            save_checkpoint_secs=0,  # a hook of ours saves
            save_summaries_steps=summary_steps,
            config=self._session_config,
            max_wait_secs=config.session_creation_timeout_secs,
            log_step_count_steps=log_steps,
        ) as session:
            while not session.should_stop():
                _, loss = session.run([spec.train_op, spec.loss])
                has_trained = True
        if not has_trained:
            logging.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
        return loss

    def _saver_hooks(
        self, spec: EstimatorSpec, hooks: list[SessionRunHook], listeners: list[CheckpointSaverListener]
    ) -> list[SessionRunHook]:
        """The hook that saves, unless the user brought one; the first of them calls the listeners."""
        config = self._config
        found = [
            hook for hook in (*hooks, *spec.training_chief_hooks) if isinstance(hook, CheckpointSaverHook)
        ]
        made = []
        if not found and (config.save_checkpoints_secs or config.save_checkpoints_steps):
            made.append(
                CheckpointSaverHook(
                    self._model_dir,
                    save_secs=config.save_checkpoints_secs,
                    save_steps=config.save_checkpoints_steps,
                    scaffold=spec.scaffold,
                )
            )
        if listeners:
            if not found + made:
                raise ValueError(
                    "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                    "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
                )
            first = (found + made)[0]
            first._listeners = [*first._listeners, *(new for new in listeners if new not in first._listeners)]
        return made

    # ------------------------------------------------------------------------------------------ evaluation

    def evaluate(
        self,
        input_fn: Callable,
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates the model.

        Args:
          input_fn: A function that returns a `tf.data.Dataset` of features and labels, or a tuple of both.
          steps: The number of batches; until the data end if None.
          hooks: Hooks of the session.
          checkpoint_path: The checkpoint to evaluate; the newest one if None.
          name: The name of the evaluation, if there are several: their summaries are in directories of
            their own.

        Returns:
          The metrics by name, `loss` and `global_step` among them.

        Raises:
          ValueError: If `steps` is not positive.
        """
        hooks = [*checked_hooks(hooks), *self._stop_after(steps)]
        checkpoint_path = checkpoint_path or self._newest("evaluate")
        with Graph().as_default():
            scaffold, update_op, metrics, hooks = self._build_evaluation(input_fn, hooks, checkpoint_path)
            return self._run_evaluation(
                checkpoint_path, scaffold, update_op, metrics, hooks, self.eval_dir(name)
            )

    def _stop_after(self, steps: int | None) -> list[SessionRunHook]:
        if steps is None:
            return []
        if steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        # One device evaluates, on all the batches that the replicas of a strategy would have.
        strategy = self._config.eval_distribute
        return [StopAfterNEvalsHook(steps * (1 if strategy is None else strategy.num_replicas_in_sync))]

    def _newest(self, purpose: str) -> str | None:
        path = self.latest_checkpoint()
        if not path:
            logging.info(
                "Could not find trained model in model_dir: %s, running initialization to %s.",
                self._model_dir,
                purpose,
            )
        return path

    def _build_evaluation(
        self, input_fn: Callable, hooks: Sequence[SessionRunHook], checkpoint_path: str | None
    ) -> tuple[Scaffold, Any, dict[str, Any], list[SessionRunHook]]:
        """Makes the graph of an evaluation: how to update the metrics, and their values at the end."""
        tf.set_random_seed(self._config.tf_random_seed)
        self._create_and_assert_global_step(get_default_graph())
        features, labels, input_hooks = features_and_labels(self._call_input_fn(input_fn, ModeKeys.EVAL))
        spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
        metrics = dict(spec.eval_metric_ops)
        for key in (LOSS_METRIC_KEY, GraphKeys.GLOBAL_STEP):
            if key in metrics:
                raise ValueError(
                    f'Metric with name "{key}" is not allowed, because Estimator already defines a default '
                    "metric with the same name."
                )
        metrics[LOSS_METRIC_KEY] = tf.metrics.mean(spec.loss)
        update_op = tf.group(*(update for _, (_, update) in sorted(metrics.items())))
        values = {key: value for key, (value, _) in sorted(metrics.items())}
        values[GraphKeys.GLOBAL_STEP] = get_global_step()
        self._warm_start_without(checkpoint_path)
        scaffold = spec.scaffold
        if scaffold.local_init_op is not None:
            get_or_create_eval_step()  # a local variable too, so it is made first
            local_init_op = tf.group(scaffold.local_init_op, Scaffold.default_local_init_op())
            scaffold = Scaffold(local_init_op=local_init_op, copy_from_scaffold=scaffold)
        return scaffold, update_op, values, [*input_hooks, *hooks, *spec.evaluation_hooks]

    def _run_evaluation(
        self,
        checkpoint_path: str | None,
        scaffold: Scaffold,
        update_op: Any,
        metrics: dict[str, Any],
        hooks: Sequence[SessionRunHook],
        directory: str,
    ) -> dict[str, Any]:
        results = evaluate_once(
            checkpoint_path,
            master=self._config.evaluation_master,
            scaffold=scaffold,
            eval_ops=update_op,
            final_ops=metrics,
            hooks=hooks,
            config=self._session_config,
        )
        write_results(directory, results, checkpoint_path)
        return results

    def _warm_start_without(self, checkpoint_path: str | None) -> None:
        if not checkpoint_path and self._warm_start_settings:
            apply_settings(self._warm_start_settings)

    # ------------------------------------------------------------------------------------------ prediction

    def predict(
        self,
        input_fn: Callable,
        predict_keys: Iterable[str] | str | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields predictions, until the data end.

        Args:
          input_fn: A function that returns a `tf.data.Dataset` of features, or the features.
          predict_keys: The predictions to yield, if they have names; all if None.
          hooks: Hooks of the session.
          checkpoint_path: The checkpoint to predict with; the newest one if None.
          yield_single_examples: Whether a prediction of each example is yielded; those of a batch otherwise.

        Yields:
          Predictions: arrays, or arrays by name.

        Raises:
          ValueError: If no prediction has one of the keys, or those of a batch are not equally many.
        """
        hooks = checked_hooks(hooks)
        checkpoint_path = checkpoint_path or self._newest("predict")
        with Graph().as_default() as graph:
            tf.set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            features, _, input_hooks = features_and_labels(self._call_input_fn(input_fn, ModeKeys.PREDICT))
            if not ends(features):
                logging.warning(
                    "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict "
                    "yields forever. This is probably a mistake."
                )
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._warm_start_without(checkpoint_path)
            predictions = chosen(spec.predictions, predict_keys)
            creator = monitored_session.ChiefSessionCreator(
                scaffold=spec.scaffold,
                master=self._config.master,
                config=self._session_config,
                checkpoint_filename_with_path=checkpoint_path,
            )
            all_hooks = [*input_hooks, *hooks, *spec.prediction_hooks]
            with monitored_session.MonitoredSession(creator, all_hooks) as session:
                while not session.should_stop():
                    batch = session.run(predictions)
                    yield from examples_of(batch) if yield_single_examples else [batch]

    # ---------------------------------------------------------------------------------------------- export

    def export_saved_model(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes the model as a SavedModel, into a new directory named after the time.

        Args:
          export_dir_base: Where to make the directory.
          serving_input_receiver_fn: A function that returns a ServingInputReceiver.
          assets_extra: Files to copy into the SavedModel, by their names there.
          as_text: Whether the file has the text form of the message.
          checkpoint_path: The checkpoint to export; the newest one if None.
          experimental_mode: The mode in which the model function is called.

        Returns:
          The path of the directory, as bytes.

        Raises:
          ValueError: If there is no function or no checkpoint.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        receivers = {experimental_mode: serving_input_receiver_fn}
        return self._export_all_saved_models(
            export_dir_base, receivers, assets_extra, as_text, checkpoint_path
        )

    @deprecated(None, "This function has been renamed, use `export_saved_model` instead.")
    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The older name of `export_saved_model`.

        Args:
          export_dir_base: Where to make the directory.
          serving_input_receiver_fn: A function that returns a ServingInputReceiver.
          assets_extra: Files to copy into the SavedModel, by their names there.
          as_text: Whether the file has the text form of the message.
          checkpoint_path: The checkpoint to export; the newest one if None.
          strip_default_attrs: Whether attributes with their default values are removed.

        Returns:
          The path of the directory, as bytes.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        receivers = {ModeKeys.PREDICT: serving_input_receiver_fn}
        return self._export_all_saved_models(
            export_dir_base, receivers, assets_extra, as_text, checkpoint_path, strip_default_attrs
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: str,
        input_receiver_fn_map: Mapping[str, Callable],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Writes the model as a SavedModel with a graph for each of several modes.

        Args:
          export_dir_base: Where to make the directory.
          input_receiver_fn_map: A function that returns a receiver, by the modes.
          assets_extra: Files to copy into the SavedModel, by their names there.
          as_text: Whether the file has the text form of the message.
          checkpoint_path: The checkpoint to export; the newest one if None.

        Returns:
          The path of the directory, as bytes.
        """
        return self._export_all_saved_models(
            export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
        )

    def _export_all_saved_models(
        self,
        export_dir_base: str,
        receivers: Mapping[str, Callable],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = True,
    ) -> bytes:
        return write_saved_model(
            self,
            export_dir_base,
            receivers,
            checkpoint_path or self._checkpoint_to_export(),
            assets_extra,
            as_text,
            strip_default_attrs,
        )

    def _checkpoint_to_export(self) -> str:
        path = self.latest_checkpoint()
        if not path and self._warm_start_settings:
            path = self._warm_start_settings.ckpt_to_initialize_from
            path = latest_checkpoint(path) if gfile.isdir(path) else path
        if not path:
            raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
        return path

    # ------------------------------------------------------------------------------- the user's functions

    def _create_and_assert_global_step(self, graph: Graph) -> Any:
        step = create_global_step(graph)
        assert step is get_global_step(graph) and step.dtype.is_integer
        return step

    def _call_input_fn(self, input_fn: Callable, mode: str, context: InputContext | None = None) -> Any:
        given = {"mode": mode, "params": self.params, "config": self.config}
        if context is not None:
            given["input_context"] = context
        with tf.device("/cpu:0"):
            return input_fn(**those_taken(input_fn, **given))

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        if labels is not None and "labels" not in fn_args(self._model_fn):
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        taken = those_taken(self._model_fn, labels=labels, mode=mode, params=self.params, config=config)
        logging.info("Calling model_fn.")
        spec = self._model_fn(features=features, **taken)
        logging.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec


def _is_tpu_estimator(kind: type) -> bool:
    return any(each.__name__ == "TPUEstimator" for each in kind.__mro__)
