"""Regularizers under Keras's names: functions of a variable that give what is added to the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import constants
from tideflow.ops.math import reductions, unary
from tideflow.variables.custom_objects import deserialize_keras_object, serialize_keras_object

if TYPE_CHECKING:
    from tideflow.graph.typing import RegularizerLike, TensorLike


@export("keras.regularizers.Regularizer")
class Regularizer:
    """The base of regularizers: functions that compute a penalty for the value of a variable."""

    def __call__(self, x: TensorLike) -> Any:
        """Computes the penalty.

        Args:
          x: The value of the variable.

        Returns:
          The penalty as a scalar tensor.
        """
        return 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Regularizer:
        """Makes a regularizer from the result of `get_config`.

        Args:
          config: The arguments by name.

        Returns:
          The regularizer.
        """
        return cls(**config)


@export("keras.regularizers.L1L2")
class L1L2(Regularizer):
    """A regularizer: `l1 * sum(abs(x)) + l2 * sum(x * x)`.

    Args:
      l1: The factor of the sum of absolute values.
      l2: The factor of the sum of squares.
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0):
        self.l1, self.l2 = np.float32(l1), np.float32(l2)

    def __call__(self, x: TensorLike) -> Tensor:
        if not self.l1 and not self.l2:
            return constants.constant(0.0)
        cost: Any = 0.0
        if self.l1:
            cost += self.l1 * reductions.reduce_sum(unary.abs(x))
        if self.l2:
            cost += self.l2 * reductions.reduce_sum(unary.square(x))
        return cost

    def get_config(self) -> dict[str, float]:
        """The factors by name."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


@export("keras.regularizers.l1")
def l1(l: float = 0.01) -> L1L2:
    """Makes a regularizer of the sum of absolute values.

    Args:
      l: The factor.

    Returns:
      The regularizer.
    """
    return L1L2(l1=l)


@export("keras.regularizers.l2")
def l2(l: float = 0.01) -> L1L2:
    """Makes a regularizer of the sum of squares.

    Args:
      l: The factor.

    Returns:
      The regularizer.
    """
    return L1L2(l2=l)


@export("keras.regularizers.l1_l2")
def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """Makes a regularizer of the sum of absolute values and the sum of squares.

    Args:
      l1: The factor of the sum of absolute values.
      l2: The factor of the sum of squares.

    Returns:
      The regularizer.
    """
    return L1L2(l1=l1, l2=l2)


_BY_NAME = {"L1L2": L1L2, "l1": l1, "l2": l2, "l1_l2": l1_l2}


@export("keras.regularizers.serialize")
def serialize(regularizer: L1L2) -> dict[str, Any]:
    """Converts a regularizer to a dictionary.

    Args:
      regularizer: The regularizer.

    Returns:
      A dictionary of the class name and the configuration.
    """
    return serialize_keras_object(regularizer)


@export("keras.regularizers.deserialize")
def deserialize(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Makes a regularizer from a dictionary that `serialize` has returned.

    Args:
      config: The dictionary.
      custom_objects: The program's own regularizers, by class name.

    Returns:
      The regularizer.
    """
    return deserialize_keras_object(config, _BY_NAME, custom_objects, "regularizer")


@export("keras.regularizers.get")
def get(identifier: str | dict | RegularizerLike | None) -> Any:
    """Gets a regularizer.

    Args:
      identifier: A name, a dictionary that `serialize` has returned, a regularizer, or None.

    Returns:
      The regularizer, or None for None.

    Raises:
      ValueError: If the argument stands for no regularizer.
    """
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        is_known = identifier in _BY_NAME
        return deserialize({"class_name": identifier, "config": {}} if is_known else identifier)
    raise ValueError(f"Could not interpret regularizer identifier: {identifier}")
