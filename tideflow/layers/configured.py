"""Arguments of layers that may be names or configs, and back: `kernel_initializer="zeros"`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.layers import activations
from tideflow.layers.base import Layer
from tideflow.variables import constraints, keras_initializers, regularizers

_KINDS: dict[str, tuple[Callable, Callable]] = {
    "activation": (activations.get, activations.serialize),
    "constraint": (constraints.get, constraints.serialize),
    "initializer": (keras_initializers.get, keras_initializers.serialize),
    "regularizer": (regularizers.get, regularizers.serialize),
}


def _kind(argument: str) -> tuple[Callable, Callable] | None:
    return _KINDS.get(argument.rpartition("_")[2])


class Configured(Layer):
    """A layer that keeps its arguments as attributes.

    `_config` names them in the order of the layer's config. What an argument is follows from its name: one
    that ends in `initializer` may be an initializer's name.
    """

    _config: tuple[str, ...] = ()

    def _keep(self, **arguments: Any) -> None:
        """Sets attributes, of objects where the arguments are names or configs."""
        for name, value in arguments.items():
            kind = _kind(name)
            setattr(self, name, kind[0](value) if kind else value)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        config = super().get_config()
        for name in self._config:
            value, kind = getattr(self, name), _kind(name)
            config[name] = kind[1](value) if kind else value
        return config
