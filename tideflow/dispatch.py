"""Public functions that take more than tensors: ragged tensors, linear operators.

A function says so where it is exported: `@export("exp", ragged="values")` names the form of `tf.exp` for
ragged arguments. The room of such arguments says which classes they are (`register_class`) and what the forms
do (`form`, `replacement`); the vocabulary knows nothing of either.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Function = TypeVar("Function")
FormMaker = Callable[[Callable[..., Any]], Callable[..., Any]]

_kinds: dict[type, str] = {}  # a class of arguments -> its kind: "ragged", "operator"
_suspects: set[type] = {list}  # these classes, and lists, which may hold one
_makers: dict[tuple[str, str], FormMaker] = {}


def register_class(cls: type, kind: str) -> None:
    """Arguments of exactly this class call for the forms of `kind`."""
    _kinds[cls] = kind
    _suspects.add(cls)


def form(kind: str, name: str) -> Callable[[FormMaker], FormMaker]:
    """Decorator: the form called `name` is what the decorated function makes of an exported function."""

    def register(maker: FormMaker) -> FormMaker:
        _makers[kind, name] = maker
        return maker

    return register


def replacement(kind: str, name: str) -> Callable[[Function], Function]:
    """Decorator: the form called `name` is the decorated function itself."""

    def register(function: Function) -> Function:
        _makers[kind, name] = lambda exported: function
        return function

    return register


def dispatching(function: Any, forms: dict[str, str]) -> Any:
    """The function; where an argument, or an item of a list, is of a kind in `forms`, the form of that name
    takes its place.
    """
    made: dict[str, Callable[..., Any]] = {}

    @functools.wraps(function)
    def dispatched(*args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) > 2:
            for value in (*args, *kwargs.values()):
                if type(value) in _suspects:
                    break
            else:  # nearly always: this loop is all that it costs
                return function(*args, **kwargs)
        elif len(args) == 1:
            if type(args[0]) not in _suspects:
                return function(args[0])
        elif args and type(args[1]) not in _suspects:
            first = args[0]
            if type(first) not in _suspects:
                return function(first, args[1])
            if type(first) is list:
                for item in first:
                    if type(item) in _kinds:
                        break
                else:
                    return function(first, args[1])
        kind = _kind_among((*args, *kwargs.values()))
        if kind not in forms:
            return function(*args, **kwargs)
        if kind not in made:
            made[kind] = _makers[kind, forms[kind]](function)
        return made[kind](*args, **kwargs)

    return dispatched


def _kind_among(values: Iterable[Any]) -> str | None:
    for value in values:
        kind = type(value)
        if kind is list:
            for item in value:
                if type(item) in _kinds:
                    return _kinds[type(item)]
        elif kind in _kinds:
            return _kinds[kind]
    return None
