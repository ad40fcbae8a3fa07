"""Activations and initializers as layers may be given them: a function, an object, a class, or a name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tideflow.ops.math import clipping, unary
from tideflow.ops.nn import activations, softmax
from tideflow.variables import initializers


def _hard_sigmoid(x: Any) -> Any:
    return clipping.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


_ACTIVATIONS: dict[str, Callable] = {
    "elu": activations.elu,
    "exponential": unary.exp,
    "hard_sigmoid": _hard_sigmoid,
    "linear": lambda x: x,
    "relu": activations.relu,
    "selu": activations.selu,
    "sigmoid": unary.sigmoid,
    "softmax": softmax.softmax,
    "softplus": activations.softplus,
    "softsign": activations.softsign,
    "tanh": unary.tanh,
}

_INITIALIZERS: dict[str, Callable] = {
    "zeros": initializers.Zeros,
    "ones": initializers.Ones,
    "constant": initializers.Constant,
    "identity": initializers.Identity,
    "orthogonal": initializers.Orthogonal,
    "variance_scaling": initializers.VarianceScaling,
    "glorot_uniform": initializers.GlorotUniform,
    "glorot_normal": initializers.GlorotNormal,
    "lecun_uniform": initializers.lecun_uniform,
    "lecun_normal": initializers.lecun_normal,
    "he_uniform": initializers.he_uniform,
    "he_normal": initializers.he_normal,
    "uniform": initializers.RandomUniform,
    "random_uniform": initializers.RandomUniform,
    "normal": initializers.RandomNormal,
    "random_normal": initializers.RandomNormal,
    "truncated_normal": initializers.TruncatedNormal,
}

# By name, these three are narrower than by their classes.
_NARROW: dict[Callable, dict[str, float]] = {
    initializers.RandomUniform: {"minval": -0.05, "maxval": 0.05},
    initializers.RandomNormal: {"stddev": 0.05},
    initializers.TruncatedNormal: {"stddev": 0.05},
}


def activation(given: Any) -> Callable:
    """The function that `given` names or is."""
    if callable(given):
        return given
    if isinstance(given, str):
        if given not in _ACTIVATIONS:
            raise ValueError(f"Unknown activation function:{given}")
        return _ACTIVATIONS[given]
    raise TypeError(
        f"Could not interpret activation function identifier: {given!r} (expected a function, or one of "
        f"{', '.join(sorted(_ACTIVATIONS))})"
    )


def initializer(given: Any) -> Any:
    """The initializer that `given` names, is, or is the class or the config of."""
    if given is None:
        return None
    if isinstance(given, dict):
        return _initializer_kind(given["class_name"])(**given.get("config", {}))
    if isinstance(given, str):
        kind = _initializer_kind(given)
        return kind(**_NARROW.get(kind, {}))
    if inspect.isclass(given):
        return given()
    if callable(given):
        return given
    raise ValueError(f"Could not interpret initializer identifier: {given}")


def _initializer_kind(name: str) -> Callable:
    by_class = {kind.__name__: kind for kind in _INITIALIZERS.values()}
    if name not in _INITIALIZERS and name not in by_class:
        raise ValueError(f"Unknown initializer: {name}")
    return _INITIALIZERS.get(name) or by_class[name]


def named(thing: Any) -> Any:
    """What a layer's config says of an activation or an initializer."""
    if thing is None:
        return None
    if hasattr(thing, "get_config"):
        return {"class_name": type(thing).__name__, "config": thing.get_config()}
    return next((name for name, known in _ACTIVATIONS.items() if known is thing), thing.__name__)
