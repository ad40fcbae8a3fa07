"""Objects of Keras as configs, and back: names, dictionaries, and the program's own classes by name."""

from __future__ import annotations

import inspect
from typing import Any

from tideflow.export import export, expose

_custom: dict[str, Any] = {}


@export("keras.utils.get_custom_objects")
def get_custom_objects() -> dict[str, Any]:
    """The program's own classes and functions by name, which configs may name. It may be added to."""
    return _custom


class CustomObjectScope:
    """Makes the program's own classes and functions known by name within a `with` block.

    Args:
      *args: Dictionaries from names to classes or functions.
    """

    def __init__(self, *args: dict[str, Any]):
        self.custom_objects = args
        self._before: dict[str, Any] = {}

    def __enter__(self) -> CustomObjectScope:
        self._before = dict(_custom)
        for objects in self.custom_objects:
            _custom.update(objects)
        return self

    def __exit__(self, *error: Any) -> None:
        _custom.clear()
        _custom.update(self._before)


expose(CustomObjectScope, "keras.utils.CustomObjectScope")


@export("keras.utils.custom_object_scope")
def custom_object_scope(*args: dict[str, Any]) -> CustomObjectScope:
    """Makes the program's own classes and functions known by name within a `with` block.

    Args:
      *args: Dictionaries from names to classes or functions.

    Returns:
      A context manager.
    """
    return CustomObjectScope(*args)


@export("keras.utils.serialize_keras_object")
def serialize_keras_object(instance: Any) -> Any:
    """Converts an object to a config.

    Args:
      instance: An object with `get_config`, a function, or None.

    Returns:
      A dictionary of the class name and the arguments; the name of a function; None for None.

    Raises:
      ValueError: If the object has neither a config nor a name.
    """
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        return {"class_name": type(instance).__name__, "config": instance.get_config()}
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError("Cannot serialize", instance)


@export("keras.utils.deserialize_keras_object")
def deserialize_keras_object(
    identifier: Any,
    module_objects: dict[str, Any] | None = None,
    custom_objects: dict[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """Makes an object from a config.

    Args:
      identifier: What `serialize_keras_object` has returned, a function, or None.
      module_objects: The known classes and functions by name.
      custom_objects: The program's own, which come first.
      printable_module_name: What such objects are called, for the errors.

    Returns:
      The object.

    Raises:
      ValueError: If the identifier stands for nothing that is known.
    """
    if identifier is None:
        return None
    known = {**(module_objects or {}), **_custom, **(custom_objects or {})}
    if isinstance(identifier, dict):
        if "class_name" not in identifier or "config" not in identifier:
            raise ValueError(f"Improper config format: {identifier}")
        name, config = identifier["class_name"], identifier["config"]
        if name not in known:
            raise ValueError(f"Unknown {printable_module_name}: {name}")
        return _made(known[name], config, custom_objects or {})
    if isinstance(identifier, str):
        if known.get(identifier) is None:
            raise ValueError(f"Unknown {printable_module_name}:{identifier}")
        found = known[identifier]
        return found() if inspect.isclass(found) else found
    if inspect.isfunction(identifier):
        return identifier
    raise ValueError(f"Could not interpret serialized {printable_module_name}: {identifier}")


def _made(maker: Any, config: dict[str, Any], custom_objects: dict[str, Any]) -> Any:
    with CustomObjectScope(custom_objects):
        if not hasattr(maker, "from_config"):
            return maker(**config)
        if "custom_objects" in inspect.signature(maker.from_config).parameters:
            return maker.from_config(config, custom_objects={**_custom, **custom_objects})
        return maker.from_config(config)
