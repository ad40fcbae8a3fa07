"""Keras's models as estimators, and as SavedModels that estimators and TensorFlow Serving understand."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import tideflow as tf
from tideflow.estimator.estimator import Estimator
from tideflow.estimator.export.outputs import EvalOutput, PredictOutput, TrainOutput
from tideflow.estimator.export.signatures import EXPORT_TAGS, signatures_of
from tideflow.estimator.keras_copies import copied, function_of, is_stack_or_graph, weigh_samples
from tideflow.estimator.preparation import config_with_directory
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec, ModeKeys
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import GraphKeys, add_to_collection, get_collection
from tideflow.io import saved_models
from tideflow.io.checkpoint_state import latest_checkpoint, write_state
from tideflow.keras.optimizers import TFOptimizer
from tideflow.keras.optimizers.optimizer import Optimizer
from tideflow.keras.saving.models import load_model, model_from_json
from tideflow.layers import keras_state
from tideflow.layers.keras_session import any_initialized, track_variable
from tideflow.platform import gfile, logging
from tideflow.platform.deprecation import deprecated
from tideflow.saved_model import constants
from tideflow.saved_model.builder import SavedModelBuilder
from tideflow.saved_model.signatures import build_signature_def
from tideflow.saved_model.tensor_info import op_info
from tideflow.session.session import Session
from tideflow.train.object_saver import frozen_saveables
from tideflow.train.saver import Saver
from tideflow.train.scaffold import Scaffold
from tideflow.variables.global_step import create_global_step, get_global_step, get_or_create_global_step
from tideflow.variables.trackable import Trackable

_JSON = "saved_model.json"


# -------------------------------------------------------------------------------------------- as an estimator


def _tensors(given: Any, names: list[str] | None, what: str, kind: str) -> Any:
    """Features or labels as a list of tensors, in the order of the model's inputs or outputs."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        different = set(given) ^ set(names or ())
        if different:
            raise KeyError(
                f"The dictionary passed into {what} does not have the expected {kind} keys defined in "
                f"the keras model.\n\tExpected keys: {set(names or ())}\n\t{what} keys: {set(given)}\n\t"
                f"Difference: {different}"
            )
        given = [given[name] for name in names or ()]
    elif not isinstance(given, (list, tuple)):
        given = [given]
    return [x if tf.contrib.framework.is_tensor(x) else tf.convert_to_tensor(x) for x in given]


def _model_in_mode(
    mode: str, model: Any, custom_objects: Any, features: Any = None, labels: Any = None
) -> Any:
    """A copy of the model on an estimator's tensors, in the default graph."""
    keras_state.set_learning_phase(int(mode == ModeKeys.TRAIN))
    weights = None
    if isinstance(features, Mapping) and set(features) == {"features", "sample_weights"}:
        features, weights = features["features"], features["sample_weights"]
    graph_network = model._is_graph_network
    in_names = model.input_names if graph_network else _numbered("input", features)
    out_names = model.output_names if graph_network else _numbered("output", labels)
    inputs = _tensors(features, in_names, "features", "inputs")
    targets = _tensors(labels, out_names, "labels", "outputs")
    compiles = mode != ModeKeys.PREDICT
    step = None
    if compiles:
        step = get_or_create_global_step()
        track_variable(step)
    made = copied(model, inputs, targets, custom_objects, compiles, step)
    if weights is not None and compiles:
        given = weights if isinstance(weights, (list, tuple)) else [weights]
        weigh_samples(made, [tf.convert_to_tensor(weight) for weight in given])
    return made


def _numbered(kind: str, given: Any) -> list[str] | None:
    return [f"{kind}_{i}" for i in range(1, len(given) + 1)] if isinstance(given, Mapping) else None


class _ModelAndStep(Trackable):
    """A model, and beside its layers the global step of the estimator."""

    def __init__(self, model: Any):
        self._model = model

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [*self._model._checkpoint_dependencies, ("estimator_global_step", get_global_step())]


def _saver_by_objects(model: Any) -> Saver:
    return Saver(frozen_saveables(_ModelAndStep(model)), sharded=True)


def _model_fn(model: Any, custom_objects: Any, by_objects: bool) -> Callable:
    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        made = _model_in_mode(mode, model, custom_objects, features, labels)
        predictions = dict(zip(made.output_names, made.outputs, strict=True))
        loss = train_op = metrics = None
        if mode != ModeKeys.PREDICT:
            loss = made.total_loss
            function = function_of(made, "train" if mode == ModeKeys.TRAIN else "test")
            if made._compile_metrics:
                metrics = {name: metric for end in made._endpoints for name, metric, _ in end.metrics}
            if mode == ModeKeys.TRAIN:
                train_op = function.updates_op
        scaffold = None
        if by_objects:
            scaffold = Scaffold(saver=_saver_by_objects(made))
        outputs = {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)}
        return EstimatorSpec(
            mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            export_outputs=outputs,
            scaffold=scaffold,
        )

    return model_fn


def _first_checkpoint(model: Any, custom_objects: Any, config: RunConfig, by_objects: bool) -> str:
    """Writes the weights that the model has, for the estimator to begin with."""
    folder = os.path.join(config.model_dir, "keras")
    found = latest_checkpoint(folder)
    if found:
        return found
    weights = model.get_weights() if any_initialized(model.weights) else None
    gfile.makedirs(folder)
    path = os.path.join(folder, "keras_model.ckpt")
    with Graph().as_default():
        tf.set_random_seed(config.tf_random_seed)
        create_global_step()
        made = _model_in_mode(ModeKeys.TRAIN, model, custom_objects)
        function_of(made, "train")
        with Session(config=config.session_config) as session:
            session.run(tf.global_variables_initializer())
            if weights is not None:
                made.set_weights(weights)
            saver = _saver_by_objects(made) if by_objects else Saver()
            saver.save(session, path)
    return path


@export("keras.estimator.model_to_estimator")
def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: str | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: str | None = None,
    config: RunConfig | None = None,
    checkpoint_format: str | None = "saver",
) -> Estimator:
    """Makes an estimator of a compiled model, which begins with the weights that the model has.

    Args:
      keras_model: The model.
      keras_model_path: The path of a file of `Model.save`, if no model is given.
      custom_objects: The program's own classes and functions, by name.
      model_dir: The directory of the estimator; that of `config`, or else a temporary one, if None.
      config: A RunConfig.
      checkpoint_format: `"saver"` for checkpoints by the names of variables, `"checkpoint"` for those by
        objects.

    Returns:
      The estimator.

    Raises:
      ValueError: If no model is given or two are, if it is not compiled, or if the format is not known.
    """
    if not (keras_model or keras_model_path):
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model and keras_model_path:
        raise ValueError("Please specity either `keras_model` or `keras_model_path`, but not both.")
    config = config_with_directory(config, model_dir)
    if not keras_model:
        logging.info("Loading models from %s", keras_model_path)
        keras_model = load_model(keras_model_path, custom_objects)
    else:
        logging.info("Using the Keras model provided.")
    if checkpoint_format not in (None, "checkpoint", "saver"):
        raise ValueError(f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format}')
    by_objects = checkpoint_format != "saver"
    if by_objects and not is_stack_or_graph(keras_model):
        raise ValueError("Object-based checkpoints are currently not supported with subclassed models.")
    if not getattr(keras_model, "optimizer", None):
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with "
            "`model.compile()` before calling `model_to_estimator()`."
        )
    warm_start = None
    if keras_model._is_graph_network:
        warm_start = _first_checkpoint(keras_model, custom_objects, config, by_objects)
    elif keras_model.built:
        logging.warning(
            "You are creating an Estimator from a Keras model manually subclassed from `Model`, that was "
            "already called on some inputs (and thus already had weights). The estimator has been created "
            "using a freshly initialized version of your model."
        )
    function = _model_fn(keras_model, custom_objects, by_objects)
    return Estimator(function, config=config, warm_start_from=warm_start)


# -------------------------------------------------------------------------------------------- as a SavedModel


@export("keras.experimental.export_saved_model")
@deprecated(
    None,
    'Please use `model.save(..., save_format="tf")` or `tf.keras.models.save_model(..., save_format="tf")`.',
)
def export_saved_model(
    model: Any,
    saved_model_path: str,
    custom_objects: Mapping[str, Any] | None = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> None:
    """Writes a model as a SavedModel: graphs to train, evaluate and predict, the weights, and the config.

    Args:
      model: The model, whose weights must be there.
      saved_model_path: The directory, which must not exist or be empty.
      custom_objects: The program's own classes and functions, by name.
      as_text: Whether the graphs are written as text.
      input_signature: The specs of the inputs; those of the model if None.
      serving_only: Whether only the graph that predicts is written.

    Raises:
      NotImplementedError: If a subclassed model is to be trained from the file.
      ValueError: If the model has no weights yet.
    """
    if not model._is_graph_network and not serving_only:
        if is_stack_or_graph(model) and not model.built:
            raise ValueError(
                "Weights for sequential model have not yet been created. Weights are created when the Model "
                "is first called on inputs or `build()` is called with an `input_shape`, or the first layer "
                "in the model has `input_shape` during construction."
            )
        if not is_stack_or_graph(model):
            raise NotImplementedError(
                "Subclassed models can only be exported for serving. Please set argument serving_only=True."
            )
    builder = SavedModelBuilder(saved_model_path)
    modes = [ModeKeys.PREDICT]
    if model.optimizer and not serving_only:
        if isinstance(model.optimizer, (Optimizer, TFOptimizer)):
            modes = [ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT]
        else:
            logging.warning(
                "The optimizer is none of `tf.keras.optimizers` or `tf.train`: only the graph that predicts "
                "is written."
            )
    optimizer_values = _optimizer_values(model) if modes[0] == ModeKeys.TRAIN else None
    for mode in modes:
        _add_mode(builder, model, mode, mode == modes[0], custom_objects, input_signature, optimizer_values)
    builder.save(as_text)
    prefix = saved_models.variables_prefix(saved_model_path)
    write_state(os.path.dirname(prefix), prefix, [prefix], save_relative_paths=True)
    try:
        text = model.to_json()
    except NotImplementedError:
        logging.warning("Skipped saving model JSON, subclassed model does not have get_config() defined.")
        return
    path = os.path.join(saved_model_path, saved_models.ASSETS_DIRECTORY, _JSON)
    gfile.makedirs(os.path.dirname(path))
    with gfile.GFile(path, "w") as file:
        file.write(text)


def _optimizer_values(model: Any) -> list[Any] | None:
    """The state of the optimizer, where training has made one."""
    if not isinstance(model.optimizer, Optimizer) or not model.optimizer.weights:
        return None
    return model.optimizer.get_weights()


def _add_mode(
    builder: SavedModelBuilder,
    model: Any,
    mode: str,
    writes_variables: bool,
    custom_objects: Any,
    input_signature: Any,
    optimizer_values: list[Any] | None,
) -> None:
    weights = model.get_weights()
    compiles = mode != ModeKeys.PREDICT
    with Graph().as_default(), keras_state.learning_phase_scope(int(mode == ModeKeys.TRAIN)):
        inputs = None
        if input_signature is not None:
            inputs = tf.nest.map_structure(
                lambda spec: tf.placeholder(spec.dtype, spec.shape, spec.name), input_signature
            )
        made = copied(model, inputs, None, custom_objects, compiles)
        function = function_of(made, {"train": "train", "eval": "test"}.get(mode, "predict"))
        if compiles:
            add_to_collection(GraphKeys.GLOBAL_STEP, made.optimizer.iterations)
        signatures = _signatures(made, mode)
        with Session() as session:
            session.run(tf.global_variables_initializer())
            made.set_weights(weights)
            if optimizer_values is not None and mode == ModeKeys.TRAIN:
                made.optimizer.set_weights(optimizer_values)
            arguments = dict(
                tags=EXPORT_TAGS[mode],
                signature_def_map=signatures,
                saver=Saver(frozen_saveables(made), sharded=True),
            )
            operations = {constants.INIT_OP_SIGNATURE_KEY: tf.local_variables_initializer()}
            if mode == ModeKeys.TRAIN:
                operations[constants.TRAIN_OP_SIGNATURE_KEY] = function.updates_op
            if writes_variables:
                builder.add_meta_graph_and_variables(session, **arguments)
            else:
                builder.add_meta_graph(**arguments)
            written = builder._saved_model.meta_graphs[-1].signature_def
            for key, operation in operations.items():
                written[key].CopyFrom(build_signature_def(outputs={key: op_info(operation)}))


def _signatures(model: Any, mode: str) -> dict[str, Any]:
    """The signature of a mode: inputs and true values in; predictions, loss and metrics out."""
    tensors = dict(zip(model.input_names, model.inputs, strict=True))
    predictions = dict(zip(model.output_names, model.outputs, strict=True))
    outputs: dict[str, Any]
    if mode == ModeKeys.PREDICT:
        outputs = {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)}
    else:
        for end in model._endpoints:
            if end.target is not None:
                tensors[end.target.op.name] = end.target
        found = [metric for end in model._endpoints for _, metric, _ in end.metrics]
        local = get_collection(GraphKeys.LOCAL_VARIABLES)
        for variable in (v for metric in found for v in metric.variables):
            if all(variable is not other for other in local):
                add_to_collection(GraphKeys.LOCAL_VARIABLES, variable)
        metrics = {metric.name: (metric.result(), metric.updates[0]) for metric in found} or None
        kind = TrainOutput if mode == ModeKeys.TRAIN else EvalOutput
        outputs = {mode: kind(model.total_loss, predictions, metrics)}
    receiver = type("Receiver", (), {"receiver_tensors": tensors})
    return signatures_of(receiver, outputs, mode == ModeKeys.PREDICT)


@export("keras.experimental.load_from_saved_model")
@deprecated(
    None,
    "The experimental save and load functions have been deprecated. Please switch to "
    "`tf.keras.models.load_model`.",
)
def load_from_saved_model(saved_model_path: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """Reads a model that `export_saved_model` has written.

    Args:
      saved_model_path: The directory.
      custom_objects: The program's own classes and functions, by name.

    Returns:
      The model, not compiled.
    """
    path = os.path.join(os.fsdecode(saved_model_path), saved_models.ASSETS_DIRECTORY, _JSON)
    with gfile.GFile(path) as file:
        model = model_from_json(file.read(), custom_objects=custom_objects)
    model.load_weights(saved_models.variables_prefix(os.fsdecode(saved_model_path)))
    return model
