"""`_gradient_registry` of `tensorflow.python.framework.ops`: programs look in it for gradients of their own,
and libraries that explain models put others in the place of those of op types.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping, MutableMapping
from typing import Any

from tideflow.autodiff import registry
from tideflow.autodiff.registry import GradientFunction


class _Entry(dict[str, Any]):
    """What the registry has under a name, {"type": function}: another function put there takes effect."""

    def __init__(self, name: str, function: GradientFunction | None):
        super().__init__(type=function)
        self._name = name

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        if key == "type":
            registry.replace_gradient(self._name, value)


class _Entries(MutableMapping[str, Mapping[str, Any]]):
    """The entries of the registry by their names."""

    def __getitem__(self, name: str) -> _Entry:
        return _Entry(name, registry.registered_gradients()[name])

    def __setitem__(self, name: str, entry: Mapping[str, Any]) -> None:
        registry.replace_gradient(name, entry["type"])

    def __delitem__(self, name: str) -> None:
        registry.forget_gradient(name)

    def __iter__(self) -> Iterator[str]:
        return iter(registry.registered_gradients())

    def __len__(self) -> int:
        return len(registry.registered_gradients())

    def __copy__(self) -> dict[str, Mapping[str, Any]]:
        """The entries as they are now, which later changes leave alone."""
        return {name: {"type": function} for name, function in registry.registered_gradients().items()}

    copy = __copy__


class GradientRegistry:
    """The gradient functions of op types, and those that programs register by name."""

    @property
    def _registry(self) -> _Entries:
        return _Entries()

    @_registry.setter
    def _registry(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        for name in set(registry.registered_gradients()).difference(entries):
            registry.forget_gradient(name)
        for name, entry in dict(entries).items():
            registry.replace_gradient(name, entry["type"])

    def register(self, candidate: GradientFunction | None, name: str) -> None:
        """Registers a gradient function.

        Args:
          candidate: The function; None for operations that have no gradient.
          name: The op type, or a name that `Graph.gradient_override_map` uses.

        Raises:
          KeyError: If there is a gradient function for the name.
        """
        registry.register_gradient(name, candidate)

    def list(self) -> KeysView[str]:
        """The names."""
        return registry.registered_gradients().keys()

    def lookup(self, name: str) -> GradientFunction | None:
        """The gradient function of a name.

        Args:
          name: The name.

        Raises:
          LookupError: If nothing is registered under that name.
        """
        found = registry.registered_gradients()
        if name not in found:
            raise LookupError(f"gradient registry has no entry for: {name}")
        return found[name]


_gradient_registry = GradientRegistry()
