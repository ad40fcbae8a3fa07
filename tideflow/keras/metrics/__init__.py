"""Keras's metrics, and how a program names them."""

from __future__ import annotations

from typing import Any

from tideflow.export import export
from tideflow.keras import losses
from tideflow.keras.metrics import accuracies, confusion, metric
from tideflow.variables.custom_objects import deserialize_keras_object, serialize_keras_object

_MODULES = (losses, metric, accuracies, confusion)
_BY_NAME = {
    name: value
    for module in _MODULES
    for name, value in vars(module).items()
    if callable(value) and not name.startswith("_")
}


@export("keras.metrics.serialize")
def serialize(metric: Any) -> Any:
    """Converts a metric to a config.

    Args:
      metric: A metric object, or a function.

    Returns:
      A dictionary of the class name and the arguments, or the function's name.
    """
    return serialize_keras_object(metric)


@export("keras.metrics.deserialize")
def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Makes a metric from what `serialize` has returned.

    Args:
      config: The name or the dictionary.
      custom_objects: The program's own metrics, by name.

    Returns:
      The metric.
    """
    return deserialize_keras_object(config, _BY_NAME, custom_objects, "metric function")


@export("keras.metrics.get")
def get(identifier: Any) -> Any:
    """Gets a metric.

    Args:
      identifier: A name, a dictionary that `serialize` has returned, a function, or a metric object.

    Returns:
      The metric.

    Raises:
      ValueError: If the argument stands for no metric.
    """
    if isinstance(identifier, (dict, str)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret metric function identifier: {identifier}")
