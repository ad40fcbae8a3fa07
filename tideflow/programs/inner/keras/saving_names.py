"""Names that libraries take from `keras.saving` and from small modules of Keras beside it."""

from __future__ import annotations

from typing import Any

from tideflow.keras.datasets import images
from tideflow.keras.saving import cudnn_weights, folders, hdf5, models

load_optimizer_weights_from_hdf5_group = hdf5.read_optimizer_weights


def load_weights_from_hdf5_group(f: Any, layers: list[Any]) -> None:
    """Reads the weights of a file's group into layers, in their order.

    Args:
      f: The group.
      layers: The layers.
    """
    hdf5.load_group(f, layers)


def load_weights_from_hdf5_group_by_name(f: Any, layers: list[Any]) -> None:
    """Reads the weights of a file's group into the layers that have their names.

    Args:
      f: The group.
      layers: The layers.
    """
    hdf5.load_group(f, layers, by_name=True)


def save_weights_to_hdf5_group(f: Any, layers: list[Any]) -> None:
    """Writes the weights of layers into a file's group.

    Args:
      f: The group.
      layers: The layers.
    """
    hdf5.write_group(f, layers)


def preprocess_weights_for_loading(
    layer: Any,
    weights: list[Any],
    original_keras_version: str | None = None,
    original_backend: str | None = None,
) -> list[Any]:
    """The weights of a file in the layout of a layer: those of cuDNN's layers have another one.

    Args:
      layer: The layer.
      weights: The weights.
      original_keras_version: The version of Keras that wrote the file; nothing depends on it.
      original_backend: The backend that it ran on; nothing depends on it.

    Returns:
      The weights.
    """
    return cudnn_weights.fitting(layer, weights)


def save_model_to_hdf5(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True
) -> None:
    """Writes a model to a file of HDF5.

    Args:
      model: The model.
      filepath: The file.
      overwrite: Whether it may be overwritten unasked.
      include_optimizer: Whether it says how the model is trained.
    """
    models.save_model(model, filepath, overwrite, include_optimizer, save_format="h5")


def load_model_from_hdf5(
    filepath: Any, custom_objects: dict[str, Any] | None = None, compile: bool = True
) -> Any:
    """Reads a model from a file of HDF5.

    Args:
      filepath: The file.
      custom_objects: The program's own classes and functions, by name.
      compile: Whether it is compiled as it was.

    Returns:
      The model.
    """
    return models._load_hdf5(filepath, custom_objects or {}, compile)


def load(path: str, compile: bool = True) -> Any:
    """Reads a model from a SavedModel.

    Args:
      path: The folder.
      compile: Whether it is compiled as it was.

    Returns:
      The model.
    """
    return folders.load(path, {}, compile)


def save(
    model: Any, filepath: str, overwrite: bool = True, include_optimizer: bool = True, signatures: Any = None
) -> None:
    """Writes a model as a SavedModel.

    Args:
      model: The model.
      filepath: The folder.
      overwrite: Whether it may be overwritten unasked.
      include_optimizer: Whether it says how the model is trained.
      signatures: The functions that can be called by name.
    """
    if models._may_write(filepath, overwrite):
        folders.save(model, filepath, include_optimizer, signatures)


def load_batch(fpath: str, label_key: str = "labels") -> Any:
    """Reads a file of CIFAR.

    Args:
      fpath: The file.
      label_key: What it calls the labels.

    Returns:
      The images, channels first, and the labels.
    """
    return images._cifar_batch(fpath, label_key.encode())


class ModeKeys:
    """What a model is run for."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"
