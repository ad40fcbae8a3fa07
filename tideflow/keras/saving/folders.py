"""Models as directories of SavedModels: written as objects, read from the configs or functions in them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from typing import Any

from google.protobuf.message import DecodeError

from tideflow.graph.own_protos import make_messages
from tideflow.graph.scopes import executing_eagerly
from tideflow.io import saved_models
from tideflow.io.local_files import read_bytes
from tideflow.keras.layers import serialization
from tideflow.keras.saving.training_config import arguments_of
from tideflow.keras.saving.versions import explained_by_version
from tideflow.layers.keras_session import get_session
from tideflow.platform import logging
from tideflow.saved_model import saving as saved_objects
from tideflow.variables.custom_objects import CustomObjectScope

_MODEL, _TRAINING = "saved_model.json", "training_config.json"

# The file in which later versions of Keras describe the objects of a model.
SavedMetadata = make_messages(
    "saved_metadata",
    {
        "SavedMetadata": {"nodes": "repeated SavedKerasObject"},
        "SavedKerasObject": {
            "node_id": "2 int32",
            "node_path": "3 string",
            "identifier": "4 string",
            "metadata": "5 string",
            "version": "6 tensorboard.VersionDef",
        },
    },
)["SavedMetadata"]


def save(model: Any, path: str, include_optimizer: bool, signatures: Any = None) -> None:
    """Writes a SavedModel of the model and its layers, in the place of what was there."""
    if not model.inputs:
        raise ValueError(
            f"Model {model} cannot be saved because the input shapes have not been set. Usually, input "
            "shapes are automatically determined from calling .fit() or .predict(). To manually set the "
            "shapes, call model._set_inputs(inputs)."
        )
    if os.path.exists(os.path.join(path, saved_models.SAVED_MODEL_FILENAME_PB)):
        shutil.rmtree(path)
    optimizer = model.optimizer
    try:
        if not include_optimizer:
            model.optimizer = None
        with contextlib.ExitStack() as stack:
            if not executing_eagerly():
                session = stack.enter_context(get_session().as_default())
                stack.enter_context(session.graph.as_default())
            saved_objects.save(model, path, signatures)
    finally:
        model.optimizer = optimizer


def _read(path: str) -> Any:
    with open(path, encoding="utf8") as file:
        return json.load(file)


def _metadata(path: str) -> dict[str, Any]:
    """What the directory says of the model: in a file of its own, or with the objects."""
    separate = os.path.join(path, "keras_metadata.pb")
    try:
        if os.path.exists(separate):
            nodes = SavedMetadata.FromString(read_bytes(separate)).nodes
            text = next((node.metadata for node in nodes if node.node_id == 0), "")
        else:
            objects = saved_models.read_saved_model(path).meta_graphs[0].object_graph_def
            root = objects.nodes[0].user_object if objects.nodes else None
            text = root.metadata if root is not None and root.identifier.startswith("_tf_keras") else ""
        found = json.loads(text) if text else None
    except (DecodeError, json.JSONDecodeError, IndexError) as error:
        raise ValueError(f"{path} holds a Keras model whose description is damaged: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path} is a SavedModel, but not one of a Keras model: use `tf.saved_model.load`.")
    return found


def _model_and_training(path: str, custom: dict[str, Any]) -> tuple[Any, Any, bool]:
    """The model, how it was trained, and whether its weights have their values already."""
    assets = os.path.join(path, saved_models.ASSETS_DIRECTORY)
    if os.path.exists(os.path.join(assets, _MODEL)):
        training = os.path.join(assets, _TRAINING)
        config = _read(os.path.join(assets, _MODEL))
        return _made(config, custom), _read(training) if os.path.exists(training) else None, False
    metadata = _metadata(path)
    class_name, config = metadata.get("class_name"), metadata.get("config")
    described = metadata.get("model_config") or {"class_name": class_name, "config": config}
    if described.get("class_name") == "Functional":  # what later versions call it
        described = {**described, "class_name": "Model"}
    if described.get("config"):
        try:
            made = _made({"keras_version": metadata.get("keras_version", "2.2.4-tf"), **described}, custom)
            return made, metadata.get("training_config"), False
        except (ValueError, TypeError, KeyError) as error:
            logging.warning("The model of %s is made of its functions, not of its config: %s", path, error)
    from tideflow.keras.saving.revived import revived  # loaded when asked for: it is made of models

    return revived(path, metadata), metadata.get("training_config"), True


def _made(config: dict[str, Any], custom: dict[str, Any]) -> Any:
    with CustomObjectScope(custom), explained_by_version(config.get("keras_version", "2.2.4-tf")):
        return serialization.deserialize(config, custom)


def _compile(model: Any, training: dict[str, Any], custom: dict[str, Any], path: str) -> None:
    """Compiles a model as it was; not one whose optimizer or losses only a later Keras has."""
    try:
        arguments = arguments_of(training, custom)
    except (ValueError, TypeError, KeyError) as error:
        logging.warning("The model of %s was *not* compiled. Compile it manually: %s", path, error)
        return
    model.compile(**arguments)


def load(path: str, custom: dict[str, Any], compile: bool) -> Any:
    """Reads a model from the directory of a SavedModel."""
    if not saved_models.contains_saved_model(path):
        raise OSError(f"SavedModel file does not exist at: {path}/{{saved_model.pbtxt|saved_model.pb}}")
    model, training, is_whole = _model_and_training(path, custom)
    with CustomObjectScope(custom):
        if compile and training is not None:
            _compile(model, training, custom, path)
        elif compile:
            logging.warning(
                "No training configuration found in save file: the model was *not* compiled. Compile it "
                "manually."
            )
    if not is_whole:
        model.load_weights(saved_models.variables_prefix(path)).expect_partial()
    elif not executing_eagerly():
        get_session().run([variable.initializer for variable in model.weights])
    return model
