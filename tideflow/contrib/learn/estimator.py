"""The estimators of tf.contrib.learn: training, evaluation and prediction run on those of tf.estimator."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import tideflow as tf
from tideflow.contrib.learn.exports import write_export
from tideflow.contrib.learn.interfaces import Evaluable, NotFittedError, Parameters, Trainable
from tideflow.contrib.learn.metric_spec import MetricSpec
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.modes import MetricKey, ModeKeys
from tideflow.contrib.learn.monitors import replace_monitors_with_hooks
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.contrib.learn.saved_models import export_saved_model
from tideflow.contrib.learn.scikit import SKCompat, check_input_arguments, input_of_arrays
from tideflow.contrib.learn.signatures import (
    create_example_parser_from_signatures,
    create_placeholders_from_signatures,
    create_signatures,
    tensors_compatible,
)
from tideflow.estimator.estimator import Estimator as CoreEstimator
from tideflow.estimator.input_results import features_and_labels
from tideflow.estimator.predictions import chosen
from tideflow.estimator.preparation import global_step_of_checkpoint
from tideflow.export import export
from tideflow.graph.composite import SparseTensorValue
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import GraphKeys, add_to_collection
from tideflow.io.checkpoint_state import latest_checkpoint
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated, deprecated_args
from tideflow.platform.function_arguments import fn_args, those_taken
from tideflow.train import checkpoint_utils, monitored_session
from tideflow.train.evaluation import StopAfterNEvalsHook
from tideflow.train.scaffold import Scaffold
from tideflow.train.step_hooks import FeedFnHook, StopAtStepHook
from tideflow.variables.global_step import create_global_step, get_or_create_global_step_read

_DECOUPLED = (
    "2016-12-01",
    "Estimator is decoupled from Scikit Learn interface by moving into\n"
    "separate class SKCompat. Arguments x, y and batch_size are only\n"
    "available in the SKCompat class, Estimator will only accept input_fn.\n"
    "Example conversion:\n  est = Estimator(...) -> est = SKCompat(Estimator(...))",
)
AS_ITERABLE = (
    "2016-09-15",
    "The default behavior of predict() is changing. The default value for\n"
    "as_iterable will change to True, and then the flag will be removed\n"
    "altogether. The behavior of this flag is described below.",
)


class GraphRewriteSpec(NamedTuple):
    """The tags of a graph in a SavedModel, and the transforms that make it of the first one."""

    tags: Sequence[str]
    transforms: Sequence[str]


@export("contrib.learn.BaseEstimator")
class BaseEstimator(Parameters, Evaluable, Trainable):
    """Trains, evaluates and asks a model that subclasses describe.

    Args:
      model_dir: The directory of the model; that of `config`, or else a temporary one, if None.
      config: A RunConfig.

    Raises:
      ValueError: If `model_dir` contradicts `config`.
    """

    @deprecated(
        None,
        "Please replace uses of any Estimator from tf.contrib.learn with an Estimator from tf.estimator.*",
    )
    def __init__(self, model_dir: str | None = None, config: RunConfig | None = None):
        if config is None:
            config = RunConfig()
            logging.info("Using default config.")

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return self._call_model_fn(features, labels, mode, config=config).estimator_spec()

        self._engine = CoreEstimator(model_fn, model_dir, config)
        self._features_info: Any = None
        self._labels_info: Any = None

    @property
    def config(self) -> Any:
        """A copy of the configuration."""
        return self._engine.config

    @property
    def model_dir(self) -> str:
        """The directory of the model."""
        return self._engine.model_dir

    @property
    def model_fn(self) -> Callable[..., ModelFnOps]:
        """The model function, as a function of `features`, `labels`, `mode` and `config`."""

        def public_model_fn(features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
            return self._call_model_fn(features, labels, mode, config=config)

        return public_model_fn

    @abc.abstractmethod
    def _get_train_ops(self, features: Any, labels: Any) -> ModelFnOps:
        """The operations that train."""

    @abc.abstractmethod
    def _get_predict_ops(self, features: Any) -> ModelFnOps:
        """The operations that predict."""

    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> ModelFnOps:
        raise NotImplementedError("_get_eval_ops not implemented in BaseEstimator")

    def get_variable_value(self, name: str) -> Any:
        """Reads a variable from the newest checkpoint.

        Args:
          name: The name of the variable.

        Returns:
          The value as an array.
        """
        return checkpoint_utils.load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """Lists the variables of the newest checkpoint.

        Returns:
          Their names.
        """
        return [name for name, _ in checkpoint_utils.list_variables(self.model_dir)]

    # -------------------------------------------------------------------------------------------- training

    @deprecated_args(*_DECOUPLED, ("x", None), ("y", None), ("batch_size", None))
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
        max_steps: int | None = None,
    ) -> Any:
        """Trains the model, until the data end or the steps are made.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          y: The labels, likewise.
          input_fn: A function that returns the tensors of features and labels.
          steps: The number of steps to make.
          batch_size: The number of examples in a step; with `x` only, and then all if None.
          monitors: Monitors, or hooks of the session.
          max_steps: The global step to stop at; if it was reached already, nothing is done.

        Returns:
          This object.

        Raises:
          ValueError: If both `x` and `input_fn` are given, or neither; or both numbers of steps.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        check_input_arguments(x, y, input_fn, None, batch_size)
        if x is not None:
            SKCompat(self).fit(x, y, batch_size, steps, max_steps, monitors)
            return self
        saved = latest_checkpoint(self.model_dir) and global_step_of_checkpoint(self.model_dir)
        if max_steps is not None and saved is not None and max_steps <= saved:
            logging.info("Skipping training since max_steps has already saved.")
            return self
        hooks = replace_monitors_with_hooks(monitors, self)
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        loss = self._train_model(input_fn, hooks)
        logging.info("Loss for final step: %s.", loss)
        return self

    @deprecated_args(*_DECOUPLED, ("x", None), ("y", None), ("batch_size", None))
    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable | None = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> Any:
        """Trains the model some more, by default one step.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          y: The labels, likewise.
          input_fn: A function that returns the tensors of features and labels.
          steps: The number of steps to make.
          batch_size: The number of examples in a step; with `x` only, and then all if None.
          monitors: Monitors, or hooks of the session.

        Returns:
          This object.
        """
        logging.warning(
            "The current implementation of partial_fit is not optimized for use in a loop. Consider using "
            "fit() instead."
        )
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def _train_model(self, input_fn: Callable, hooks: list[Any]) -> Any:
        engine = self._engine
        self._graph = Graph()
        with self._graph.as_default() as graph, graph.device(engine._device_fn):
            tf.set_random_seed(engine._config.tf_random_seed)
            create_global_step(graph)
            features, labels, input_hooks = features_and_labels(input_fn())
            self._check_inputs(features, labels)
            get_or_create_global_step_read(graph)
            model = self._get_train_ops(features, labels)
            add_to_collection(GraphKeys.LOSSES, model.loss)
            model = model._replace(scaffold=model.scaffold or Scaffold())
            return engine._run_steps(model, [*input_hooks, *hooks, *engine._watching_hooks(model)], [])

    def _check_inputs(self, features: Any, labels: Any) -> None:
        """Inputs of all trainings and evaluations are of the types and shapes of the first one."""
        if self._features_info is None:
            self._features_info = create_signatures(features)
        elif not tensors_compatible(features, self._features_info):
            raise ValueError(
                f"Features are incompatible with given information. Given features: {features}, required "
                f"signatures: {self._features_info}."
            )
        if labels is None:
            return
        if self._labels_info is None:
            self._labels_info = create_signatures(labels)
        elif not tensors_compatible(labels, self._labels_info):
            raise ValueError(
                f"Labels are incompatible with given information. Given labels: {labels}, required "
                f"signatures: {self._labels_info}."
            )

    def _get_feature_ops_from_example(self, examples_batch: Any) -> Any:
        if self._features_info is None:
            raise ValueError("Features information missing, was fit() ever called?")
        return create_example_parser_from_signatures(self._features_info, examples_batch)

    # ------------------------------------------------------------------------------------------ evaluation

    @deprecated_args(*_DECOUPLED, ("x", None), ("y", None), ("batch_size", None))
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable | None = None,
        feed_fn: Callable | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """Evaluates the model.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          y: The labels, likewise.
          input_fn: A function that returns the tensors of features and labels.
          feed_fn: A function that returns what is fed in a step; with `input_fn` only.
          batch_size: The number of examples in a step; with `x` only, and then all if None.
          steps: The number of steps; until the data end if None.
          metrics: What is measured besides, by name: MetricSpecs.
          name: The name of the evaluation, if there are several.
          checkpoint_path: The checkpoint to evaluate; the newest one if None.
          hooks: Hooks of the session.
          log_progress: Whether the log says how many steps are made.

        Returns:
          The results by name, `global_step` among them.

        Raises:
          ValueError: If the arguments contradict each other.
          NotFittedError: If the model was not trained. It is a ValueError.
        """
        check_input_arguments(x, y, input_fn, feed_fn, batch_size)
        if x is not None:
            return SKCompat(self).score(x, y, batch_size, steps, metrics, name)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        return self._evaluate_model(
            input_fn, feed_fn, steps, metrics, name, checkpoint_path, hooks, log_progress
        )

    def _trained_checkpoint(self) -> str:
        path = latest_checkpoint(self.model_dir)
        if not path:
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")
        return path

    def _evaluate_model(
        self,
        input_fn: Callable,
        feed_fn: Callable | None = None,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        engine = self._engine
        checkpoint_path = checkpoint_path or self._trained_checkpoint()
        with Graph().as_default() as graph:
            tf.set_random_seed(engine._config.tf_random_seed)
            global_step = create_global_step(graph)
            features, labels, input_hooks = features_and_labels(input_fn())
            self._check_inputs(features, labels)
            model = self._get_eval_ops(features, labels, metrics)
            update_op, values = _updates_and_values(model.eval_metric_ops)
            hooks = [*input_hooks, *(hooks or ())]
            if feed_fn:
                hooks.append(FeedFnHook(feed_fn))
            if steps:
                hooks.append(StopAfterNEvalsHook(steps, log_progress=log_progress))
            elif steps == 0:
                logging.warning(
                    "evaluation steps are 0. If `input_fn` does not raise `OutOfRangeError`, the evaluation "
                    "will never stop. Use steps=None if intended."
                )
            values[GraphKeys.GLOBAL_STEP] = global_step
            directory = engine.eval_dir(name)
            return engine._run_evaluation(
                checkpoint_path, model.scaffold, update_op, values, hooks, directory
            )

    # ------------------------------------------------------------------------------------------ prediction

    @deprecated_args(*_DECOUPLED, ("x", None), ("batch_size", None), ("as_iterable", True))
    def predict(
        self,
        x: Any = None,
        input_fn: Callable | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """Predicts for each example.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          input_fn: A function that returns the tensors of features.
          batch_size: The number of examples in a step; with `x` only, and then all if None.
          outputs: The names of the predictions to return; all if None.
          as_iterable: Whether an iterator is returned. If not, and the features come from `input_fn`, one
            step is made.
          iterate_batches: Whether the iterator gives the predictions of a step together.

        Returns:
          The predictions, arrays or arrays by name: an iterator over them, or all together.

        Raises:
          ValueError: If the arguments contradict each other, or no prediction has one of the names.
          NotFittedError: If the model was not trained. It is a ValueError.
        """
        check_input_arguments(x, None, input_fn, None, batch_size)
        if x is None:
            return self._infer_model(input_fn, None, outputs, as_iterable, iterate_batches)
        if not as_iterable:
            return SKCompat(self).predict(x, batch_size, outputs)
        input_fn, feed_fn = input_of_arrays(x, None, batch_size)
        return self._infer_model(input_fn, feed_fn, outputs, as_iterable, iterate_batches)

    def _infer_model(
        self,
        input_fn: Callable,
        feed_fn: Callable | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        checkpoint_path = self._trained_checkpoint()
        with Graph().as_default() as graph:
            tf.set_random_seed(self._engine._config.tf_random_seed)
            create_global_step(graph)
            result = input_fn()
            features = result[0] if isinstance(result, (list, tuple)) else result
            model = self._get_predict_ops(features)
            predictions = chosen(model.predictions, outputs)
            session = monitored_session.MonitoredSession(
                monitored_session.ChiefSessionCreator(
                    checkpoint_filename_with_path=checkpoint_path,
                    scaffold=model.scaffold,
                    config=self._engine._session_config,
                )
            )
            if as_iterable:
                return _iterated(session, predictions, feed_fn, iterate_batches)
            with session:
                return session.run(predictions, feed_fn() if feed_fn else None)

    # ---------------------------------------------------------------------------------------------- export

    @deprecated("2017-03-25", "Please use Estimator.export_savedmodel() instead.")
    def export(
        self,
        export_dir: str,
        input_fn: Callable | None = None,
        input_feature_key: str | None = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: Callable | None = None,
        prediction_key: str | None = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
        checkpoint_path: str | None = None,
    ) -> str | None:
        """Writes the model in the older format of `tf.contrib.session_bundle`.

        Args:
          export_dir: Where to make the directory.
          input_fn: A function that returns features and labels; by default Examples are parsed for the
            features of the last training.
          input_feature_key: The key of the serialized Examples among the features; with a function that
            takes no arguments only.
          use_deprecated_input_fn: Whether `input_fn` takes the estimator and the serialized Examples.
          signature_fn: A function of Examples, features and predictions that returns the default signature
            and those by name.
          prediction_key: The name of the predictions that are exported; all if None.
          default_batch_size: The number of Examples in a batch; any if None.
          exports_to_keep: How many of the newest exports are kept; all if None.
          checkpoint_path: The checkpoint to export; the newest one if None.

        Returns:
          The path of the directory.

        Raises:
          NotFittedError: If the model was not trained. It is a ValueError.
        """
        return write_export(
            self,
            export_dir,
            checkpoint_path or self._trained_checkpoint(),
            input_fn=input_fn,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            signature_fn=signature_fn,
            prediction_key=prediction_key,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )


def _updates_and_values(metrics: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    updates, values = [], {}
    for name, metric in metrics.items():
        values[name] = metric
        if isinstance(metric, (list, tuple)):
            if len(metric) == 2:
                values[name], update = metric
                updates.append(update)
            else:
                logging.warning(
                    "Ignoring metric %s. It returned a list|tuple with len %s, expected 2", name, len(metric)
                )
    return (tf.group(*updates) if updates else None), values


def _iterated(session: Any, predictions: Any, feed_fn: Callable | None, by_batch: bool) -> Iterator[Any]:
    """The predictions of one step after the other; of a single step where every step would give the same."""
    is_constant = feed_fn is None and not session.graph.get_collection(GraphKeys.QUEUE_RUNNERS)
    with session:
        while not session.should_stop():
            batch = session.run(predictions, feed_fn() if feed_fn else None)
            if by_batch:
                yield batch
            elif isinstance(batch, dict):
                first = next(iter(batch.values()))
                sparse = isinstance(first, SparseTensorValue)
                for number in range(first.dense_shape[0] if sparse else first.shape[0]):
                    yield {key: value[number] for key, value in batch.items()}
            else:
                yield from batch
            if is_constant:
                return


@export("contrib.learn.Estimator")
class Estimator(BaseEstimator):
    """Trains, evaluates and asks a model that a function describes.

    Args:
      model_fn: A function of features and labels, and of `mode`, `params`, `config` and `model_dir` if it
        names them, that returns ModelFnOps, or a tuple of predictions, loss and training operation.
      model_dir: The directory of the model; that of `config`, or else a temporary one, if None.
      config: A RunConfig.
      params: Hyperparameters that the model function gets.
      feature_engineering_fn: A function of features and labels that returns those which the model function
        gets.

    Raises:
      ValueError: If there are parameters that the model function does not take.
    """

    def __init__(
        self,
        model_fn: Callable | None = None,
        model_dir: str | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        feature_engineering_fn: Callable | None = None,
    ):
        super().__init__(model_dir=model_dir, config=config)
        if model_fn is not None:
            names = fn_args(model_fn)
            if params is not None and "params" not in names:
                raise ValueError(
                    f"Estimator's model_fn ({model_fn}) does not have a params argument, but params "
                    f"({params}) were passed to the Estimator's constructor."
                )
            if params is None and "params" in names:
                logging.warning(
                    "Estimator's model_fn (%s) includes params argument, but params are not passed to "
                    "Estimator.",
                    model_fn,
                )
        self._model_fn = model_fn
        self.params = params
        self._feature_engineering_fn = feature_engineering_fn or (lambda features, labels: (features, labels))

    def _call_model_fn(
        self, features: Any, labels: Any, mode: str, metrics: Any = None, config: Any = None
    ) -> ModelFnOps:
        features, labels = self._feature_engineering_fn(features, labels)
        taken = those_taken(
            self._model_fn,
            mode=mode,
            params=self.params,
            config=config or self.config,
            model_dir=self.model_dir,
        )
        model = self._model_fn(features, labels, **taken)
        if not isinstance(model, ModelFnOps):
            if len(model) != 3:
                raise ValueError("Unrecognized value returned by model_fn, please return ModelFnOps.")
            model = ModelFnOps(mode, *model)
        if metrics:
            model.eval_metric_ops.update(_make_metrics_ops(metrics, features, labels, model.predictions))
        return model

    def _get_train_ops(self, features: Any, labels: Any) -> ModelFnOps:
        return self._call_model_fn(features, labels, ModeKeys.TRAIN)

    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> ModelFnOps:
        model = self._call_model_fn(features, labels, ModeKeys.EVAL, metrics)
        if MetricKey.LOSS not in model.eval_metric_ops:
            model.eval_metric_ops[MetricKey.LOSS] = tf.metrics.mean(model.loss)
        return model

    def _get_predict_ops(self, features: Any) -> ModelFnOps:
        return self._call_model_fn(
            features, create_placeholders_from_signatures(self._labels_info), ModeKeys.INFER
        )

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_fn: Callable,
        default_output_alternative_key: str | None = None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        graph_rewrite_specs: Sequence[GraphRewriteSpec] = (GraphRewriteSpec(("serve",), ()),),
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Writes the model as a SavedModel, into a new directory named after the time.

        Args:
          export_dir_base: Where to make the directory.
          serving_input_fn: A function that returns InputFnOps.
          default_output_alternative_key: Which of several outputs is the default.
          assets_extra: Files to copy into the SavedModel, by their names there.
          as_text: Whether the file has the text form of the message.
          checkpoint_path: The checkpoint to export; the newest one if None.
          graph_rewrite_specs: The tags of the graphs. The graph of all is the same: transforms are refused.
          strip_default_attrs: Whether attributes with their default values are removed.

        Returns:
          The path of the directory, as bytes.

        Raises:
          ValueError: If there is no input function, or a graph is to be transformed.
          NotFittedError: If the model was not trained. It is a ValueError.
        """
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        return export_saved_model(
            self,
            export_dir_base,
            serving_input_fn,
            default_output_alternative_key,
            assets_extra,
            as_text,
            checkpoint_path or self._trained_checkpoint(),
            graph_rewrite_specs,
            strip_default_attrs,
        )


def _make_metrics_ops(
    metrics: Mapping[Any, Any], features: Any, labels: Any, predictions: Any
) -> dict[str, Any]:
    """The metrics that a user asks for: MetricSpecs by name, or functions of predictions and labels."""
    made = {}
    label = next(iter(labels.values())) if isinstance(labels, dict) and len(labels) == 1 else labels
    for name, metric in sorted(metrics.items(), key=lambda item: str(item[0])):
        if isinstance(metric, MetricSpec):
            made[name] = metric.create_metric_ops(features, labels, predictions)
            continue
        logging.warning(
            "Please specify metrics using MetricSpec. Using bare functions or (key, fn) tuples is deprecated "
            "and support for it will be removed on Oct 1, 2016."
        )
        if not isinstance(name, tuple):
            if isinstance(predictions, dict):
                raise ValueError(
                    "Metrics passed provide only name, no prediction, but predictions are dict. Metrics: "
                    f"{metrics}, Labels: {label}."
                )
            made[name] = metric(predictions, label)
            continue
        if len(name) != 2:
            raise ValueError(
                f"Invalid metric for {name}. It returned a tuple with len {len(name)}, expected 2."
            )
        if not isinstance(predictions, dict):
            raise ValueError(
                "Metrics passed provide (name, prediction), but predictions are not dict. Metrics: "
                f"{metrics}, Predictions: {predictions}."
            )
        title, key = name
        own = labels[key] if isinstance(labels, dict) and key in labels else label
        made[title] = metric(predictions[key], own)
    return made


@export("contrib.learn.infer_real_valued_columns_from_input_fn")
@deprecated(None, "Please specify feature columns explicitly.")
def infer_real_valued_columns_from_input_fn(input_fn: Callable) -> list[Any]:
    """Makes a column of numbers of each feature.

    Args:
      input_fn: A function that returns the tensors of features and labels.

    Returns:
      The columns, of `tf.contrib.layers`.
    """
    with Graph().as_default():
        features, _ = input_fn()
        return tf.contrib.layers.infer_real_valued_columns(features)


@export("contrib.learn.infer_real_valued_columns_from_input")
@deprecated(None, "Please specify feature columns explicitly.")
def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """Makes a column of numbers of each feature.

    Args:
      x: The features: an array, arrays by name, or an iterator.

    Returns:
      The columns, of `tf.contrib.layers`.
    """
    input_fn, _ = input_of_arrays(x, None, None)
    return infer_real_valued_columns_from_input_fn(input_fn)
