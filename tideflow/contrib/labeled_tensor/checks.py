"""What the functions of labeled tensors take, in words and as tests of their arguments."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class Error(TypeError):
    """An argument of another type than a function of labeled tensors takes."""


class Kind(NamedTuple):
    """What is allowed for an argument."""

    words: str
    allows: Callable[[Any], bool]


def instance(words: str, *types: Any) -> Kind:
    """Values of these types."""
    return Kind(words, lambda value: isinstance(value, types))


def either(*kinds: Kind) -> Kind:
    """What one of several kinds allows."""
    words = f"Union({', '.join(kind.words for kind in kinds)})"
    return Kind(words, lambda value: any(kind.allows(value) for kind in kinds))


def optional(kind: Kind) -> Kind:
    """What a kind allows, or None."""
    return Kind(f"Optional({kind.words})", lambda value: value is None or kind.allows(value))


def collection(kind: Kind, of: type = Collection) -> Kind:
    """A collection, or a list, of what a kind allows."""
    return Kind(
        f"{of.__name__.title()}({kind.words})",
        lambda value: isinstance(value, of) and all(map(kind.allows, value)),
    )


def mapping(keys: Kind, values: Kind) -> Kind:
    """A mapping with keys and values of these kinds."""
    return Kind(
        f"Mapping({keys.words}, {values.words})",
        lambda value: (
            isinstance(value, Mapping)
            and all(map(keys.allows, value.keys()))
            and all(map(values.allows, value.values()))
        ),
    )


def pair(first: Kind, second: Kind) -> Kind:
    """A tuple of two."""
    return Kind(
        f"Tuple({first.words}, {second.words})",
        lambda value: (
            isinstance(value, tuple)
            and len(value) == 2
            and first.allows(value[0])
            and second.allows(value[1])
        ),
    )


def accepts(*kinds: Kind) -> Callable[[F], F]:
    """Decorator: arguments that are given by position have to be of these kinds.

    Args:
      *kinds: One for each argument, in order.

    Returns:
      The decorator. What it makes raises `Error` for anything else.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for value, kind in zip(args, kinds, strict=False):
                if not kind.allows(value):
                    raise Error(
                        f"{value!r} of type {type(value)!r} is not an instance of the allowed type "
                        f"{kind.words} for {function!r}"
                    )
            return function(*args, **kwargs)

        return checked  # type: ignore[return-value]

    return decorate


ANYTHING = instance("object", object)
STRING = instance("str", str)
INTEGER = instance("int", int)
BOOLEAN = instance("bool", bool)
FUNCTION = Kind("Callable", callable)
NAME = optional(STRING)
SCALAR = instance("Union(Number, bool, bytes, str)", numbers.Number, bool, bytes, str)
