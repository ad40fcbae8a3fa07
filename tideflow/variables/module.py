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
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Variable)))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The trainable variables of this module and its submodules."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules within this one, at any depth."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], Any] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
    ) -> Iterator[Any]:
        """What is nested in the attributes: a module's own values before those of the modules within it.

        Subclasses find values of further kinds by it.

        Args:
          recursive: Whether modules within this one are looked into.
          predicate: Which values are wanted; None for all.
          attribute_traversal_key: The key by which attributes are sorted, as for `sorted`.
          with_path: Whether values come with their paths, and as often as there are paths to them.

        Returns:
          An iterator of values, or of pairs of path and value.
        """
        return _Search(recursive, predicate, attribute_traversal_key, with_path).within(self, ())

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


class _Search:
    """One search among the attributes of modules."""

    def __init__(
        self,
        recursive: bool,
        predicate: Callable[[Any], Any] | None,
        key: Callable[[str], Any] | None,
        with_path: bool,
    ) -> None:
        self._recursive = recursive
        self._predicate = predicate
        self._key = key
        self._with_path = with_path
        self._seen: set[int] = set()

    def within(self, module: Module, path: tuple[Any, ...]) -> Iterator[Any]:
        self._seen.add(id(module))
        inner = []
        names = vars(module).keys() - module._untracked - module._TF_MODULE_IGNORED_PROPERTIES
        for name in sorted(names, key=self._key):
            for place, value in _leaves(vars(module)[name]):
                if not self._with_path and id(value) in self._seen:
                    continue
                self._seen.add(id(value))
                there = (*path, name, *place)
                if self._predicate is None or self._predicate(value):
                    yield (there, value) if self._with_path else value
                if self._recursive and isinstance(value, Module):
                    inner.append((there, value))
        for there, module in inner:
            yield from self.within(module, there)


def _leaves(value: Any) -> list[tuple[tuple[Any, ...], Any]]:
    try:
        return list(nest.leaves_with_paths(value))
    except TypeError:  # a dict whose keys have no order
        return [((key,), each) for key, each in value.items()]
