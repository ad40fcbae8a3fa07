"""Models as directories of SavedModels: written as graphs, read from the configs that stand in them."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

from tideflow.export import load as load_room
from tideflow.export import symbols
from tideflow.io import saved_models
from tideflow.keras.layers import serialization
from tideflow.keras.saving.training_config import arguments_of, config_of
from tideflow.keras.saving.versions import explained_by_version
from tideflow.platform import logging
from tideflow.variables.custom_objects import CustomObjectScope

_EXPORT = "keras.experimental.export_saved_model"
_MODEL, _TRAINING = "saved_model.json", "training_config.json"


def save(model: Any, path: str, include_optimizer: bool) -> None:
    """Writes a SavedModel that stands for the model, in the place of what was there."""
    if os.path.exists(os.path.join(path, saved_models.SAVED_MODEL_FILENAME_PB)):
        shutil.rmtree(path)
    stack = type(model).__name__ == "Sequential"
    load_room(_EXPORT)  # a room below writes the graphs, as estimators do
    export = symbols[_EXPORT].__wrapped__
    export(model, path, serving_only=not (model._is_graph_network or stack) or not include_optimizer)
    config = config_of(model) if include_optimizer and model.optimizer is not None else None
    if config is not None:
        with open(os.path.join(path, saved_models.ASSETS_DIRECTORY, _TRAINING), "w", encoding="utf8") as file:
            json.dump(config, file)


def _read(path: str) -> Any:
    with open(path, encoding="utf8") as file:
        return json.load(file)


def _configs(path: str) -> tuple[Any, Any]:
    """The config of the model, and how it was trained."""
    assets = os.path.join(path, saved_models.ASSETS_DIRECTORY)
    if os.path.exists(os.path.join(assets, _MODEL)):
        training = os.path.join(assets, _TRAINING)
        return _read(os.path.join(assets, _MODEL)), _read(training) if os.path.exists(training) else None
    objects = saved_models.read_saved_model(path).meta_graphs[0].object_graph_def
    root = objects.nodes[0].user_object if objects.nodes else None
    if root is None or not root.identifier.startswith("_tf_keras"):
        raise ValueError(f"{path} is a SavedModel, but not one of a Keras model: use `tf.saved_model.load`.")
    metadata = json.loads(root.metadata)
    if "model_config" not in metadata and not metadata.get("config"):
        raise ValueError(
            f"The model of {path} is a subclass without a config: make it by its class and read its "
            "weights by `load_weights`."
        )
    config = metadata.get("model_config") or {
        "class_name": metadata["class_name"],
        "config": metadata["config"],
    }
    return {**config, "keras_version": metadata.get("keras_version", "2.2.4-tf")}, metadata.get(
        "training_config"
    )


def load(path: str, custom: dict[str, Any], compile: bool) -> Any:
    """Reads a model from the directory of a SavedModel."""
    if not saved_models.contains_saved_model(path):
        raise OSError(f"SavedModel file does not exist at: {path}/{{saved_model.pbtxt|saved_model.pb}}")
    config, training = _configs(path)
    with CustomObjectScope(custom):
        with explained_by_version(config.get("keras_version", "2.2.4-tf")):
            model = serialization.deserialize(config, custom)
        if compile and training is not None:
            model.compile(**arguments_of(training, custom))
        elif compile:
            logging.warning(
                "No training configuration found in save file: the model was *not* compiled. Compile it "
                "manually."
            )
    model.load_weights(saved_models.variables_prefix(path)).expect_partial()
    return model
