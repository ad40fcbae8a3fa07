"""`tf.contrib.predictor`: a SavedModel as a function from arrays to arrays."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef, SignatureDef

from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.io.checkpoint_state import latest_checkpoint
from tideflow.saved_model import constants
from tideflow.saved_model.loader import SavedModelLoader
from tideflow.session.session import Session
from tideflow.train.monitored_session import ChiefSessionCreator, MonitoredSession

if TYPE_CHECKING:
    from tensorboard.compat.proto.config_pb2 import ConfigProto

_log = logging.getLogger("tensorflow")


class Predictor:
    """Answers with what a session computes of what it is fed, both by name."""

    graph: Graph
    session: Any
    feed_tensors: dict[str, Any]
    fetch_tensors: dict[str, Any]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self.feed_tensors} and fetch_tensors "
            f"{self.fetch_tensors}"
        )

    def __call__(self, input_dict: dict[str, Any]) -> dict[str, Any]:
        """The outputs, by name, for inputs by name."""
        unexpected = input_dict.keys() - self.feed_tensors.keys()
        if unexpected:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unexpected}\nexpected: {set(self.feed_tensors)}"
            )
        feeds = {self.feed_tensors[key]: value for key, value in input_dict.items() if value is not None}
        return self.session.run(self.fetch_tensors, feeds)


class SavedModelPredictor(Predictor):
    """Answers by a signature of a SavedModel, in a session of its own."""

    def __init__(
        self,
        export_dir: str,
        signature_def_key: str | None = None,
        signature_def: SignatureDef | None = None,
        input_names: dict[str, str] | None = None,
        output_names: dict[str, str] | None = None,
        tags: str | None = None,
        graph: Graph | None = None,
        config: Any = None,
        trusted: bool = True,
    ):
        _check_arguments(signature_def_key, signature_def, input_names, output_names)
        tag_set = [tag.strip() for tag in (tags or constants.SERVING).split(",")]
        model = SavedModelLoader(export_dir)
        self.graph = graph or Graph()
        with self.graph.as_default():
            self.session = Session(config=config)
            message = model.load(self.session, tag_set, trusted=trusted)
        if input_names is None:
            signature = signature_def or _signature(message, signature_def_key)
            input_names = {key: info.name for key, info in signature.inputs.items()}
            output_names = {key: info.name for key, info in signature.outputs.items()}
        self.feed_tensors, self.fetch_tensors = (
            {key: self.graph.get_tensor_by_name(name) for key, name in names.items()}
            for names in (input_names, output_names)
        )


class CoreEstimatorPredictor(Predictor):
    """Answers by the newest checkpoint of an estimator of `tf.estimator`."""

    def __init__(
        self,
        estimator: Any,
        serving_input_receiver_fn: Callable,
        output_key: str | None = None,
        graph: Graph | None = None,
        config: Any = None,
    ):
        self.graph = graph or Graph()
        with self.graph.as_default():
            receiver = serving_input_receiver_fn()
            spec = estimator.model_fn(receiver.features, None, "infer", estimator.config)
            key = output_key or constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
            if key not in spec.export_outputs:
                raise KeyError(f"output_key must be one of {spec.export_outputs.keys()}; got {key}")
            signature = spec.export_outputs[key].as_signature_def(receiver.receiver_tensors)
            creator = ChiefSessionCreator(config=config, checkpoint_dir=estimator.model_dir)
            self.session = MonitoredSession(creator)
        self.feed_tensors, self.fetch_tensors = (
            {name: self.graph.get_tensor_by_name(info.name) for name, info in infos.items()}
            for infos in (signature.inputs, signature.outputs)
        )


class ContribEstimatorPredictor(Predictor):
    """Answers by the newest checkpoint of an estimator of `tf.contrib.learn`."""

    def __init__(
        self,
        estimator: Any,
        prediction_input_fn: Callable,
        input_key: str | None = None,
        output_key: str | None = None,
        graph: Graph | None = None,
        config: Any = None,
    ):
        from tideflow.contrib.learn import saved_models  # loaded when asked for: few need it

        self.graph = graph or Graph()
        with self.graph.as_default():
            given = prediction_input_fn()
            model = estimator._get_predict_ops(given.features)
            creator = ChiefSessionCreator(
                config=config, checkpoint_filename_with_path=latest_checkpoint(estimator.model_dir)
            )
            self.session = MonitoredSession(creator)
        self.feed_tensors = saved_models.inputs_of(given)[input_key or saved_models.DEFAULT_INPUT]
        outputs, key = saved_models.get_output_alternatives(model, output_key)
        self.fetch_tensors = outputs[key][1]


def _check_arguments(key: Any, signature: Any, input_names: Any, output_names: Any) -> None:
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must both be specified or both be unspecified.")
    if sum(given is not None for given in (key, signature, input_names)) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR(input_names AND "
            "output_names)."
        )


def _signature(message: MetaGraphDef, key: str | None) -> SignatureDef:
    key = key or constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    other = f"default_input_alternative:{key}"
    if key not in message.signature_def and other in message.signature_def:
        _log.warning('Could not find signature def "%s". Using "%s" instead', key, other)
        key = other
    if key not in message.signature_def:
        raise ValueError(
            f'Got signature_def_key "{key}". Available signatures are {list(message.signature_def)}.'
        )
    return message.signature_def[key]


@export("contrib.predictor.from_saved_model")
def from_saved_model(
    export_dir: str,
    signature_def_key: str | None = None,
    signature_def: SignatureDef | None = None,
    input_names: dict[str, str] | None = None,
    output_names: dict[str, str] | None = None,
    tags: str | None = None,
    graph: Graph | None = None,
    config: ConfigProto | None = None,
    *,
    trusted: bool = True,
) -> SavedModelPredictor:
    """Makes a function of the graph of a SavedModel.

    Args:
      export_dir: The directory of the SavedModel.
      signature_def_key: The key of the signature; the serving default if None.
      signature_def: The signature itself, instead of its key.
      input_names: The names of input tensors by key, instead of a signature.
      output_names: The names of output tensors by key, instead of a signature.
      tags: The tags of the graph, with commas between; `"serve"` if None.
      graph: The graph to load into; a new one if None.
      config: The configuration of the session.
      trusted: False for a model that somebody else made: as for `tf.saved_model.load`, its session refuses
        operations that reach files or Python functions of the process.

    Returns:
      A function from a dictionary of arrays to one.

    Raises:
      ValueError: If more than one of key, signature and names is given.
      tf.errors.PermissionDeniedError: If the model is not trusted, and what it runs at the start reaches
        other files, or Python.
    """
    return SavedModelPredictor(
        export_dir, signature_def_key, signature_def, input_names, output_names, tags, graph, config, trusted
    )


@export("contrib.predictor.from_estimator")
def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Callable,
    output_key: str | None = None,
    graph: Graph | None = None,
    config: ConfigProto | None = None,
) -> CoreEstimatorPredictor:
    """Makes a function of the newest checkpoint of an estimator.

    Args:
      estimator: An estimator of `tf.estimator`.
      serving_input_receiver_fn: A function that returns a ServingInputReceiver.
      output_key: The key of one of the export outputs; the serving default if None.
      graph: The graph to build; a new one if None.
      config: The configuration of the session.

    Returns:
      A function from a dictionary of arrays to one.

    Raises:
      TypeError: If the estimator is one of `tf.contrib.learn`.
      KeyError: If there is no such output.
    """
    if isinstance(estimator, _contrib_estimator()):
        raise TypeError(
            "Expected estimator to be of type tf.estimator.Estimator, but got type "
            "tf.contrib.learn.Estimator. You likely want to call from_contrib_estimator."
        )
    return CoreEstimatorPredictor(estimator, serving_input_receiver_fn, output_key, graph, config)


@export("contrib.predictor.from_contrib_estimator")
def from_contrib_estimator(
    estimator: Any,
    prediction_input_fn: Callable,
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: Graph | None = None,
    config: ConfigProto | None = None,
) -> ContribEstimatorPredictor:
    """Makes a function of the newest checkpoint of an estimator of `tf.contrib.learn`.

    Args:
      estimator: The estimator.
      prediction_input_fn: A function that returns InputFnOps.
      input_alternative_key: The key of the inputs; the default ones if None.
      output_alternative_key: The key of the outputs; the only ones if None.
      graph: The graph to build; a new one if None.
      config: The configuration of the session.

    Returns:
      A function from a dictionary of arrays to one.

    Raises:
      TypeError: If the estimator is one of `tf.estimator`.
    """
    if not isinstance(estimator, _contrib_estimator()):
        raise TypeError(
            "Expected estimator to be of type tf.contrib.learn.Estimator, but got type "
            f"{type(estimator)}. You likely want to call from_estimator."
        )
    return ContribEstimatorPredictor(
        estimator, prediction_input_fn, input_alternative_key, output_alternative_key, graph, config
    )


def _contrib_estimator() -> type:
    from tideflow.contrib.learn.estimator import Estimator  # loaded when asked for: few need it

    return Estimator
