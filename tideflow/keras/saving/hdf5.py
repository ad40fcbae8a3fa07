"""Keras's HDF5 files: the config of a model, its weights by layer, and the state of its optimizer."""

from __future__ import annotations

import json
import zipfile
from typing import Any

import numpy as np

from tideflow.keras.saving.cudnn_weights import fitting
from tideflow.keras.saving.training_config import config_of
from tideflow.layers.keras_session import batch_get_value, batch_set_value

_HEADER_LIMIT = 64512  # an attribute of an HDF5 file holds no more


def require_h5py() -> Any:
    """The package of HDF5."""
    try:
        import h5py  # loaded when asked for
    except ImportError:
        raise ImportError("Saving and loading HDF5 files requires `h5py` (`pip install h5py`).") from None
    return h5py


def _text(value: Any) -> str:
    return value.decode("utf8") if isinstance(value, bytes) else str(value)


def _write_names(group: Any, name: str, values: list[str]) -> None:
    """A list of names as an attribute, in parts where it is too large for one."""
    data = np.asarray([value.encode("utf8") for value in values])
    if not values:
        group.attrs[name] = np.asarray([], dtype="S1")
        return
    parts, number = [data], 1
    while any(part.nbytes > _HEADER_LIMIT for part in parts):
        number += 1
        parts = np.array_split(data, number)
    if number == 1:
        group.attrs[name] = data
        return
    for index, part in enumerate(parts):
        group.attrs[f"{name}{index}"] = part


def _read_names(group: Any, name: str) -> list[str]:
    if name in group.attrs:
        return [_text(value) for value in group.attrs[name]]
    found: list[str] = []
    index = 0
    while f"{name}{index}" in group.attrs:
        found += [_text(value) for value in group.attrs[f"{name}{index}"]]
        index += 1
    return found


def _ordered_weights(layer: Any) -> list[Any]:
    """The weights of a layer in the order of the files: the trainable ones first."""
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def write_group(group: Any, layers: list[Any]) -> None:
    """Writes the weights of layers."""
    _write_names(group, "layer_names", [layer.name for layer in layers])
    group.attrs["backend"] = b"tensorflow"
    group.attrs["keras_version"] = b"2.2.4-tf"
    for layer in layers:
        inner = group.create_group(layer.name)
        weights = _ordered_weights(layer)
        values = batch_get_value(weights)
        _write_names(inner, "weight_names", [weight.name for weight in weights])
        for weight, value in zip(weights, values, strict=True):
            inner.create_dataset(weight.name, data=value)


def write_weights(path: str, model: Any) -> None:
    """Writes the weights of a model."""
    with require_h5py().File(path, "w") as file:
        write_group(file, model.layers)


def write_model(path: str, model: Any, include_optimizer: bool) -> None:
    """Writes a model: config, weights, and how it is trained."""
    h5py = require_h5py()
    plain = json.loads(model.to_json())
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"] = b"2.2.4-tf"
        file.attrs["backend"] = b"tensorflow"
        config = {"class_name": plain["class_name"], "config": plain["config"]}
        file.attrs["model_config"] = json.dumps(config).encode("utf8")
        write_group(file.create_group("model_weights"), model.layers)
        if include_optimizer and model.optimizer is not None:
            _write_training(file, model)


def _write_training(file: Any, model: Any) -> None:
    config = config_of(model)
    if config is None:
        return
    file.attrs["training_config"] = json.dumps(config).encode("utf8")
    weights = list(model.optimizer.weights)
    if weights:
        group = file.create_group("optimizer_weights")
        _write_names(group, "weight_names", [weight.name for weight in weights])
        for weight, value in zip(weights, batch_get_value(weights), strict=True):
            group.create_dataset(weight.name, data=value)


# ------------------------------------------------------------------------------------------------- reading


def open_file(path: str) -> Any:
    """An HDF5 file, open for reading."""
    h5py = require_h5py()
    try:
        return h5py.File(path, "r")
    except FileNotFoundError:
        raise
    except OSError as error:
        refuse_archive(path)
        raise OSError(f"Unable to open file: {path} is no whole HDF5 file: {error}") from error


def is_begun(path: str) -> bool:
    """Whether a file is there that begins as HDF5 files do."""
    return bool(require_h5py().is_hdf5(path))


def refuse_archive(path: str) -> None:
    """Says of a model of Keras 3 how it can be brought here."""
    if zipfile.is_zipfile(path):
        raise OSError(
            f"{path} is an archive of Keras 3, not an HDF5 file: save the model there with "
            "`model.save('model.h5')`, or its weights with `model.save_weights('model.weights.h5')`."
        )


def version_of(file: Any) -> str:
    """The version of Keras that wrote a file."""
    return _text(file.attrs.get("keras_version", "1"))


def read_configs(file: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The config of a model, and how it was trained."""
    config = file.attrs.get("model_config")
    if config is None:
        raise ValueError("No model found in config file.")
    training = file.attrs.get("training_config")
    return json.loads(_text(config)), None if training is None else json.loads(_text(training))


def read_optimizer_weights(file: Any) -> list[Any] | None:
    """The state of the optimizer."""
    if "optimizer_weights" not in file:
        return None
    group = file["optimizer_weights"]
    return [np.asarray(group[name]) for name in _read_names(group, "weight_names")]


def _weights_group(file: Any) -> Any:
    if "layer_names" not in file.attrs and "layer_names0" not in file.attrs and "model_weights" in file:
        return file["model_weights"]
    return file


def read_weights(path: str, model: Any, by_name: bool) -> None:
    """Reads the weights of a model."""
    model._require_weights()
    with open_file(path) as file:
        load_group(_weights_group(file), model.layers, by_name)


def load_group(group: Any, layers: list[Any], by_name: bool = False) -> None:
    """Reads weights into layers, in their order or by their names."""
    names = _read_names(group, "layer_names")
    stored = {name: _read_names(group[name], "weight_names") for name in names}
    pairs: list[tuple[Any, Any]] = []
    if by_name:
        for number, layer in enumerate(layers):
            if layer.name in stored:
                values = [np.asarray(group[layer.name][w]) for w in stored[layer.name]]
                pairs += _matched(number, layer, values)
        batch_set_value(pairs)
        return
    wanted = [layer for layer in layers if _ordered_weights(layer)]
    filled = [name for name in names if stored[name]]
    if len(filled) != len(wanted):
        raise ValueError(
            f"You are trying to load a weight file containing {len(filled)} layers into a model with "
            f"{len(wanted)} layers."
        )
    for number, (name, layer) in enumerate(zip(filled, wanted, strict=True)):
        values = [np.asarray(group[name][weight]) for weight in stored[name]]
        if len(values) != len(_ordered_weights(layer)):
            raise ValueError(
                f'Layer #{number} (named "{layer.name}" in the current model) was found to correspond to '
                "layer "
                f"{name} in the save file. However the new layer {layer.name} expects "
                f"{len(_ordered_weights(layer))} weights, but the saved weights have {len(values)} elements."
            )
        pairs += _matched(number, layer, values)
    batch_set_value(pairs)


def _matched(number: int, layer: Any, values: list[Any]) -> list[tuple[Any, Any]]:
    said = f'Layer #{number} (named "{layer.name}")'
    weights = _ordered_weights(layer)
    values = fitting(layer, values)
    if len(weights) != len(values):
        raise ValueError(
            f"{said} expects {len(weights)} weight(s), but the saved weights have {len(values)} element(s)."
        )
    for weight, value in zip(weights, values, strict=True):
        if tuple(weight.shape.as_list()) != value.shape:
            raise ValueError(
                f"{said}, weight {weight} has shape {weight.shape}, but the saved weight has shape "
                f"{value.shape}."
            )
    return list(zip(weights, values, strict=True))
