"""Keras's optimizers, and how a program names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras.optimizers import schedules  # noqa: F401 - the namespace tf.keras.optimizers.schedules
from tideflow.keras.optimizers.laws import SGD, Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop
from tideflow.keras.optimizers.loss_scale_optimizer import LossScaleOptimizer  # noqa: F401 - it is exported
from tideflow.keras.optimizers.optimizer import Optimizer
from tideflow.layers.keras_session import track_variable
from tideflow.variables.custom_objects import deserialize_keras_object, serialize_keras_object

_CLASSES = (Adadelta, Adagrad, Adam, Adamax, Nadam, RMSprop, SGD, Ftrl)
_BY_NAME = {cls.__name__.lower(): cls for cls in _CLASSES}


class TFOptimizer:
    """An optimizer of `tf.train` as models use one."""

    def __init__(self, optimizer: Any, iterations: Any = None):
        self.optimizer = optimizer
        self.iterations = self._counter() if iterations is None else iterations

    def _counter(self) -> Any:
        with tf.name_scope(type(self).__name__):
            return tf.keras.backend.variable(0, dtype="int64", name="iterations")

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The operations of one update of the variables."""
        return [self.apply_gradients(self.optimizer.compute_gradients(loss, params))]

    def apply_gradients(self, grads_and_vars: Any) -> Any:
        """The operation that applies gradients to variables, and counts the update."""
        applied = self.optimizer.apply_gradients(grads_and_vars, global_step=self.iterations)
        for variable in (self.iterations, *self.optimizer.variables()):
            track_variable(variable)
        return applied

    @property
    def weights(self) -> list[Any]:
        """It has no weights that Keras knows how to save."""
        raise NotImplementedError("The weights of an optimizer of tf.train are saved by tf.train.Saver.")

    def get_config(self) -> dict[str, Any]:
        """It has no config."""
        raise NotImplementedError("An optimizer of tf.train has no config: use one of tf.keras.optimizers.")

    def from_config(self, config: dict[str, Any]) -> Any:
        """It is not made from a config."""
        raise NotImplementedError("An optimizer of tf.train has no config: use one of tf.keras.optimizers.")


@export("keras.optimizers.serialize")
def serialize(optimizer: Optimizer) -> dict[str, Any]:
    """Converts an optimizer to a dictionary.

    Args:
      optimizer: The optimizer.

    Returns:
      A dictionary of the class name and the arguments.
    """
    return serialize_keras_object(optimizer)


@export("keras.optimizers.deserialize")
def deserialize(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Makes an optimizer from a dictionary that `serialize` has returned.

    Args:
      config: The dictionary.
      custom_objects: The program's own optimizers, by class name.

    Returns:
      The optimizer.
    """
    if config["class_name"].lower() in _BY_NAME:  # files of older versions spell the names otherwise
        config = {**config, "class_name": config["class_name"].lower()}
    return deserialize_keras_object(config, _BY_NAME, custom_objects, "optimizer")


@export("keras.optimizers.get")
def get(identifier: Any) -> Any:
    """Gets an optimizer.

    Args:
      identifier: A name, a dictionary that `serialize` has returned, or an optimizer of Keras or `tf.train`.

    Returns:
      The optimizer.

    Raises:
      ValueError: If the argument stands for no optimizer.
    """
    if isinstance(identifier, (Optimizer, TFOptimizer)):
        return identifier
    if isinstance(identifier, tf.train.Optimizer):
        return TFOptimizer(identifier)
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    raise ValueError("Could not interpret optimizer identifier:", identifier)
