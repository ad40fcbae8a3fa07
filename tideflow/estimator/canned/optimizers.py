"""The optimizers of canned estimators, by name, by object or by function."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.train import optimizers
from tideflow.train.optimizer import Optimizer

_BY_NAME = {
    "Adagrad": optimizers.AdagradOptimizer,
    "Adam": optimizers.AdamOptimizer,
    "Ftrl": optimizers.FtrlOptimizer,
    "RMSProp": optimizers.RMSPropOptimizer,
    "SGD": optimizers.GradientDescentOptimizer,
}


def optimizer_of(given: Any, learning_rate: float) -> Any:
    """The optimizer that is meant; one that is only named has the learning rate."""
    if isinstance(given, str):
        if given not in _BY_NAME:
            raise ValueError(
                f"Unsupported optimizer name: {given}. Supported names are: {tuple(sorted(_BY_NAME))}"
            )
        return _BY_NAME[given](learning_rate)
    made = given() if callable(given) else given
    if not isinstance(made, Optimizer) and not hasattr(made, "get_updates"):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {made}")
    return made


_KERAS_NAMES = ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD")


def keras_optimizer_of(given: Any, learning_rate: float | None = None) -> Any:
    """The optimizer of Keras that is meant; one that is only named has the learning rate, or its own."""
    if isinstance(given, str):
        if given not in _KERAS_NAMES:
            raise ValueError(f"Unsupported optimizer name: {given}. Supported names are: {_KERAS_NAMES}")
        kind = getattr(tf.keras.optimizers, "RMSprop" if given == "RMSProp" else given)
        return kind(learning_rate=learning_rate) if learning_rate else kind()
    made = given() if callable(given) else given
    if not isinstance(made, tf.keras.optimizers.Optimizer):
        raise ValueError(f"The given object is not a tf.keras.optimizers.Optimizer instance. Given: {made}")
    return made
