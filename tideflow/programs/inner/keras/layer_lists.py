"""`tensorflow.python.training.tracking.layer_utils`: the layers and the weights of an object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def is_layer(obj: Any) -> bool:
    """Whether an object is a layer."""
    return hasattr(obj, "_is_layer") and not isinstance(obj, type)


def has_weights(obj: Any) -> bool:
    """Whether an object is of a class that has weights."""
    names = ("trainable_weights", "non_trainable_weights")
    return all(hasattr(type(obj), name) for name in names) and not isinstance(obj, type)


def filter_empty_layer_containers(layer_list: Sequence[Any]) -> list[Any]:
    """The layers of a list and of the containers in it, each once, in their order."""
    found: list[Any] = []
    seen: set[int] = set()
    waiting = list(layer_list[::-1])
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if is_layer(item):
            found.append(item)
        else:
            waiting.extend(getattr(item, "layers", ())[::-1])
    return found


def gather_trainable_weights(
    trainable: bool, sub_layers: Iterable[Any], extra_variables: Iterable[Any]
) -> list[Any]:
    """The weights that are trained.

    Args:
      trainable: Whether the object is.
      sub_layers: Its layers.
      extra_variables: Its own variables.

    Returns:
      The weights: those of the layers first.
    """
    if not trainable:
        return []
    inner = [weight for layer in sub_layers for weight in layer.trainable_weights]
    return inner + [variable for variable in extra_variables if variable.trainable]


def gather_non_trainable_weights(
    trainable: bool, sub_layers: Sequence[Any], extra_variables: Sequence[Any]
) -> list[Any]:
    """The weights that are not trained: all of them, where the object is not.

    Args:
      trainable: Whether the object is.
      sub_layers: Its layers.
      extra_variables: Its own variables.

    Returns:
      The weights.
    """
    fixed = [weight for layer in sub_layers for weight in layer.non_trainable_weights]
    fixed += [variable for variable in extra_variables if not variable.trainable]
    return fixed if trainable else gather_trainable_weights(True, sub_layers, extra_variables) + fixed
