"""The public namespace: a definition says where users find it, `publish` hangs it there.

`@export("matmul", "linalg.matmul")` beside a function makes `tf.matmul` and `tf.linalg.matmul`. Names are
those of TensorFlow 1.15, so the whole public surface can be compared with its list of symbols.
"""

import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

symbols: dict[str, Any] = {}


def export(*paths: str) -> Callable[[T], T]:
    """Decorator: the decorated object is public under each dotted path, relative to `tf`."""

    def register(obj: T) -> T:
        expose(obj, *paths)
        return obj

    return register


def expose(obj: Any, *paths: str) -> None:
    """Makes an object that is not a function or class (a dtype, a constant) public under each path."""
    for path in paths:
        if symbols.setdefault(path, obj) is not obj:
            raise ValueError(f"two different objects are exported as tf.{path}")


def publish(root: types.ModuleType) -> None:
    """Sets every exported symbol on `root` (the package) and its namespaces, which are made where missing."""
    for path, obj in symbols.items():
        *spaces, name = path.split(".")
        setattr(_namespace(root, spaces), name, obj)


def _namespace(root: types.ModuleType, spaces: list[str]) -> types.ModuleType:
    module = root
    for space in spaces:
        child = module.__dict__.get(space)
        if child is None:
            path = f"{module.__name__}.{space}"
            child = sys.modules.setdefault(
                path, types.ModuleType(path, f"The public namespace tf.{path[len(root.__name__) + 1 :]}.")
            )
            setattr(module, space, child)
        module = child
    return module
