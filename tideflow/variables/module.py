"""tf.Module: an object that finds the variables and the modules among its attributes, whatever they are
nested in.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.scopes import name_scope
from tideflow.variables.base import Variable
from tideflow.variables.trackable import AutoTrackable


def snake_case(name: str) -> str:
    """`BigLayer` as `big_layer`."""
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)(?<!_)[A-Z](?=[a-z]))", r"_\1", name).lower()


@export("Module")
class Module(AutoTrackable):
    """A base class for objects with variables.

    A module finds its variables and submodules in its attributes, and in lists and dictionaries among them,
    in the order of the attributes' names.

    Args:
      name: The name of the module; made from the class name if None.

    Raises:
      ValueError: If the name is not a Python identifier.
    """

    # Attributes in which nothing is looked for; a subclass may add to them.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset(
        ("_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names")
    )

    def __init__(self, name: str | None = None):
        name = snake_case(type(self).__name__) if name is None else name
        if not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a "
                "valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The module's name."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The name scope of the module, as a context manager."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of this module and its submodules."""
        return tuple(_found(self, lambda value: isinstance(value, Variable)))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The trainable variables of this module and its submodules."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules within this one, at any depth."""
        return tuple(_found(self, lambda value: isinstance(value, Module)))

    @classmethod
    def with_name_scope(cls, method: Callable) -> Callable:
        """Decorator that runs a method in the module's name scope.

        Args:
          method: The method.

        Returns:
          The method, which enters the name scope first.
        """

        @functools.wraps(method)
        def in_scope(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return in_scope


def _found(root: Module, wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """What is wanted among the attributes: a module's own before those of the modules within it,
    each once.
    """
    seen: set[int] = {id(root)}

    def among(module: Module) -> Iterator[Any]:
        inner = []
        for name in sorted(vars(module).keys() - module._untracked - module._TF_MODULE_IGNORED_PROPERTIES):
            for value in _leaves(vars(module)[name]):
                if id(value) in seen:
                    continue
                if wanted(value):
                    seen.add(id(value))
                    yield value
                if isinstance(value, Module):
                    seen.add(id(value))
                    inner.append(value)
        for module in inner:
            yield from among(module)

    yield from among(root)


def _leaves(value: Any) -> list[Any]:
    try:
        return nest.flatten(value)
    except TypeError:  # a dict whose keys have no order
        return list(value.values())
