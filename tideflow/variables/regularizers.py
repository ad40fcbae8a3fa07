"""Regularizers under Keras's names: functions of a variable that give what is added to the loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import constants
from tideflow.ops.math import reductions, unary


@export("keras.regularizers.Regularizer")
class Regularizer:
    """A regularizer that can be made again from its configuration."""

    def __call__(self, x: Any) -> Any:
        """What the variable's value costs."""
        return 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Regularizer:
        """The regularizer that `get_config` described."""
        return cls(**config)


@export("keras.regularizers.L1L2")
class L1L2(Regularizer):
    """The sum of absolute values times `l1`, and the sum of squares times `l2`."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0):
        self.l1, self.l2 = np.float32(l1), np.float32(l2)

    def __call__(self, x: Any) -> Tensor:
        if not self.l1 and not self.l2:
            return constants.constant(0.0)
        cost: Any = 0.0
        if self.l1:
            cost += self.l1 * reductions.reduce_sum(unary.abs(x))
        if self.l2:
            cost += self.l2 * reductions.reduce_sum(unary.square(x))
        return cost

    def get_config(self) -> dict[str, float]:
        """The two factors."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


@export("keras.regularizers.l1")
def l1(l: float = 0.01) -> L1L2:
    """`l` times the sum of absolute values."""
    return L1L2(l1=l)


@export("keras.regularizers.l2")
def l2(l: float = 0.01) -> L1L2:
    """`l` times the sum of squares."""
    return L1L2(l2=l)


@export("keras.regularizers.l1_l2")
def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """Both."""
    return L1L2(l1=l1, l2=l2)


_BY_NAME = {"L1L2": L1L2, "l1": l1, "l2": l2, "l1_l2": l1_l2}


@export("keras.regularizers.serialize")
def serialize(regularizer: L1L2) -> dict[str, Any]:
    """The regularizer as a class name and a configuration."""
    return {"class_name": type(regularizer).__name__, "config": regularizer.get_config()}


@export("keras.regularizers.deserialize")
def deserialize(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """The regularizer that `serialize` described."""
    known, name = {**_BY_NAME, **(custom_objects or {})}, config["class_name"]
    if name not in known:
        raise ValueError(f"Unknown regularizer:{name}")
    return known[name](**config.get("config", {}))


@export("keras.regularizers.get")
def get(identifier: Any) -> Any:
    """A regularizer from its name, its configuration, or itself."""
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier})
    raise ValueError(f"Could not interpret regularizer identifier: {identifier}")
