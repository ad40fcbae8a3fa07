"""The optimizers of canned estimators, by name, by object or by function."""

from __future__ import annotations

from typing import Any

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
