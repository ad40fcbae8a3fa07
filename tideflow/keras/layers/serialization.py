"""Layers as configs, and back."""

from __future__ import annotations

from typing import Any

from tideflow.export import export, symbols
from tideflow.layers.base import Layer
from tideflow.variables.custom_objects import deserialize_keras_object, serialize_keras_object


def _known() -> dict[str, Any]:
    """The layers and models of Keras by class name."""
    found = {}
    for path, value in symbols.items():
        space, _, name = path.rpartition(".")
        if space in ("keras.layers", "keras", "keras.models") and isinstance(value, type):
            found[name] = value
    from tideflow.keras.engine.added import AddLoss, AddMetric  # loaded when asked for
    from tideflow.layers.op_layers import TensorFlowOpLayer  # loaded when asked for

    return {**found, "TensorFlowOpLayer": TensorFlowOpLayer, "AddLoss": AddLoss, "AddMetric": AddMetric}


@export("keras.layers.serialize")
def serialize(layer: Layer) -> dict[str, Any]:
    """Converts a layer to a dictionary.

    Args:
      layer: The layer.

    Returns:
      A dictionary of the class name and the arguments.
    """
    return serialize_keras_object(layer)


@export("keras.layers.deserialize")
def deserialize(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Makes a layer from a dictionary that `serialize` has returned.

    Args:
      config: The dictionary.
      custom_objects: The program's own layers, by class name.

    Returns:
      The layer.

    Raises:
      TypeError: If the config is no dictionary.
      KeyError: If it does not say the class.
      ValueError: If the class is not known, or if there is no config of it.
    """
    if not isinstance(config, dict):
        raise TypeError(
            "A layer is made of a dictionary with `class_name` and `config`, not of "
            f"{type(config).__name__}: {config!r}"
        )
    if "class_name" not in config:
        raise KeyError("class_name")
    return deserialize_keras_object(config, _known(), custom_objects, "layer")
