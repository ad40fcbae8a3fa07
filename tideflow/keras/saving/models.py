"""Saving and loading models and weights, in the format that the path says."""

from __future__ import annotations

import json
import os
from typing import Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph.errors import NotFoundError
from tideflow.io.checkpoint_state import write_state
from tideflow.io.object_graph import read_object_graph
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.keras.layers import serialization
from tideflow.keras.layers.core import runs_stored_code
from tideflow.keras.saving import folders, hdf5
from tideflow.keras.saving.training_config import arguments_of
from tideflow.keras.saving.versions import explained_by_version
from tideflow.keras.utils.optional import require_yaml
from tideflow.layers.keras_session import get_session
from tideflow.platform import logging
from tideflow.train.checkpoint import CheckpointLoadStatus
from tideflow.train.object_saver import ObjectRestorer, ObjectSaver
from tideflow.variables.behavior import v2_behavior_enabled
from tideflow.variables.custom_objects import CustomObjectScope


def _is_hdf5(path: str, save_format: str | None) -> bool:
    named = str(path).endswith((".h5", ".keras", ".hdf5"))
    if save_format is None:
        return named
    kind = save_format.lower().strip()
    if kind in ("tensorflow", "tf"):
        if named:
            raise ValueError(
                f'save_weights got save_format="tf"/"tensorflow", but the filepath ("{path}") looks like '
                "an HDF5 "
                'file. Omit the ".h5"/".keras" when saving in TensorFlow format.'
            )
        return False
    if kind in ("hdf5", "h5", "keras"):
        return True
    raise ValueError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')


def _may_write(path: str, overwrite: bool) -> bool:
    if overwrite or not os.path.isfile(path):
        return True
    return input(f"[WARNING] {path} already exists - overwrite? [y/n]").strip().lower() == "y"


def save_weights(model: Any, filepath: str, overwrite: bool, save_format: str | None) -> None:
    """Writes the weights of a model: an HDF5 file, or a checkpoint of objects."""
    path = os.fspath(filepath)
    model._require_weights()
    as_hdf5 = _is_hdf5(path, save_format)
    if not _may_write(path if as_hdf5 else f"{path}.index", overwrite):
        return
    if as_hdf5:
        hdf5.write_weights(path, model)
        return
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    if tf.executing_eagerly():
        ObjectSaver(model).save(path)
    else:
        session = get_session()
        with session.graph.as_default():
            ObjectSaver(model).save(path, session)
    write_state(folder or ".", path, [path], save_relative_paths=True)


def load_weights(model: Any, filepath: str, by_name: bool) -> Any:
    """Reads the weights of a model."""
    path = os.fspath(filepath)
    if os.path.exists(path) or not tf.train.checkpoint_exists(path):
        if not os.path.exists(path):
            if not path.endswith((".h5", ".keras", ".hdf5")):
                raise NotFoundError(
                    None,
                    None,
                    "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                    f"{path}",
                )
            raise OSError(
                f"Unable to open file (unable to open file: name = '{path}', no such file or directory)"
            )
        hdf5.read_weights(path, model, by_name)
        return None
    if by_name:
        raise NotImplementedError(
            "Weights may only be loaded based on topology into Models when loading TensorFlow-formatted "
            "weights (got by_name=True to load_weights)."
        )
    model._require_weights()
    with open_checkpoint(path) as reader:
        graph = read_object_graph(reader)
    if model._is_compiled and model.inputs:
        model._make_optimizer_weights()  # the checkpoint has values for them
    status = CheckpointLoadStatus(model, path, graph, ObjectRestorer())
    status.initialize_or_restore(None if tf.executing_eagerly() else get_session())
    return status


@export("keras.models.save_model")
def save_model(
    model: Any,
    filepath: str,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: Any = None,
) -> None:
    """Saves a model: its config, its weights, and the state of its optimizer.

    Args:
      model: The model.
      filepath: The path.
      overwrite: Whether what is there is replaced without asking.
      include_optimizer: Whether the optimizer's state is saved too.
      save_format: `"h5"` for an HDF5 file, `"tf"` for a SavedModel. By default the path tells, after
        `tf.enable_v2_behavior`; without, it is HDF5.
      signatures: Signatures of the SavedModel, as for `tf.saved_model.save`; if None, there is one with the
        inputs and outputs of the model.

    Raises:
      NotImplementedError: If the model is a subclass, and an HDF5 file is asked for.
    """
    path = os.fspath(filepath)
    named_hdf5 = path.endswith((".h5", ".keras", ".hdf5"))
    if save_format is None and v2_behavior_enabled() and not named_hdf5:
        save_format = "tf"
    if save_format in ("tf", "tensorflow"):
        if named_hdf5:
            raise ValueError(
                f'save_model got save_format="tf", but the filepath ("{path}") looks like an HDF5 file.'
            )
        if _may_write(os.path.join(path, "saved_model.pb"), overwrite):
            folders.save(model, path, include_optimizer, signatures)
        return
    if not model._is_graph_network and type(model).__name__ != "Sequential":
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a Sequential "
            "model. It "
            "does not work for subclassed models, because such models are defined via the body of a "
            "Python method, "
            "which isn't safely serializable. Consider saving to the Tensorflow SavedModel format (by "
            "setting "
            'save_format="tf") or using `save_weights`.'
        )
    if _may_write(path, overwrite):
        hdf5.write_model(path, model, include_optimizer)


@export("keras.models.load_model")
def load_model(
    filepath: Any, custom_objects: dict[str, Any] | None = None, compile: bool = True, trusted: bool = True
) -> Any:
    """Loads a model that `save_model` has saved.

    Args:
      filepath: The path of an HDF5 file or of a SavedModel's directory, or an open `h5py.File`.
      custom_objects: The program's own classes and functions, by name.
      compile: Whether the model is compiled as it was.
      trusted: Whether code that the file holds, of `Lambda` layers, may run.

    Returns:
      The model.

    Raises:
      ValueError: If the file has no model, or has code and is not trusted.
      OSError: If the file is not there, or is broken.
    """
    token = runs_stored_code.set(trusted)
    try:
        if isinstance(filepath, (str, os.PathLike)) and os.path.isdir(filepath):
            return folders.load(os.fspath(filepath), custom_objects or {}, compile)
        if isinstance(filepath, (str, os.PathLike)):
            _require_a_file(os.fspath(filepath))
        return _load_hdf5(filepath, custom_objects or {}, compile)
    finally:
        runs_stored_code.reset(token)


def _require_a_file(path: str) -> None:
    """Refuses a path at which there is neither a directory nor what may be an HDF5 file."""
    is_there = os.path.exists(path)
    if is_there and hdf5.is_begun(path):
        return
    hdf5.refuse_archive(path)
    what = "the file of this name is no HDF5 file" if is_there else "there is no HDF5 file of this name"
    raise OSError(
        f"SavedModel file does not exist at: {path}/{{saved_model.pbtxt|saved_model.pb}}, and {what}."
    )


def _load_hdf5(filepath: Any, custom: dict[str, Any], compile: bool) -> Any:
    given = hasattr(filepath, "attrs")
    file = filepath if given else hdf5.open_file(os.fspath(filepath))
    try:
        config, training = hdf5.read_configs(file)
        with CustomObjectScope(custom):
            with explained_by_version(hdf5.version_of(file)):
                model = model_from_config(config, custom)
            hdf5.load_group(file["model_weights"], model.layers)
            if not compile:
                return model
            if training is None:
                logging.warning(
                    "No training configuration found in save file: the model was *not* compiled. Compile it "
                    "manually."
                )
                return model
            model.compile(**arguments_of(training, custom))
            values = hdf5.read_optimizer_weights(file)
            if values is not None:
                model._make_optimizer_weights()
                try:
                    model.optimizer.set_weights(values)
                except ValueError:
                    logging.warning(
                        "Error in loading the saved optimizer state. As a result, your model is starting "
                        "with a freshly initialized optimizer."
                    )
            return model
    finally:
        if not given:
            file.close()


@export("keras.models.model_from_config")
def model_from_config(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Makes a model from a config.

    Args:
      config: A dictionary of the class name and the config.
      custom_objects: The program's own layers, by class name.

    Returns:
      The model.

    Raises:
      TypeError: If the config is a list.
    """
    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Maybe you meant to use "
            "`Sequential.from_config(config)`?"
        )
    return serialization.deserialize(config, custom_objects)


@export("keras.models.model_from_json")
def model_from_json(json_string: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """Makes a model from the result of `model.to_json`.

    Args:
      json_string: The config.
      custom_objects: The program's own layers, by class name.

    Returns:
      The model.
    """
    return model_from_config(json.loads(json_string), custom_objects)


@export("keras.models.model_from_yaml")
def model_from_yaml(yaml_string: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """Makes a model from the result of `model.to_yaml`.

    Args:
      yaml_string: The config.
      custom_objects: The program's own layers, by class name.

    Returns:
      The model.

    Raises:
      ImportError: If PyYAML is not installed.
    """
    yaml = require_yaml()

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        """Reads plain values, and the tuples that Keras writes; no other objects of Python."""

    Loader.add_constructor("tag:yaml.org,2002:python/tuple", Loader.construct_yaml_seq)
    return model_from_config(yaml.load(yaml_string, Loader), custom_objects)
