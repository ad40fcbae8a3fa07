"""Decorators that can be seen from outside: what stands around a function, and what is inside."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any


class TFDecorator:
    """What a decorator did to a function: its name, its words and the function inside.

    Args:
      decorator_name: The name of the decorator.
      target: What it decorates.
      decorator_doc: The documentation of the whole; by default that of the target.
      decorator_argspec: The signature of the whole; by default that of the target.
    """

    def __init__(
        self, decorator_name: str, target: Any, decorator_doc: str = "", decorator_argspec: Any = None
    ):
        self.decorated_target = target
        self.decorator_name = decorator_name
        self.decorator_doc = decorator_doc
        self.decorator_argspec = decorator_argspec
        for name in ("__name__", "__qualname__"):
            if hasattr(target, name):
                setattr(self, name, getattr(target, name))
        self.__doc__ = decorator_doc or getattr(target, "__doc__", None) or ""

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self.decorated_target.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.decorated_target(*args, **kwargs)


def make_decorator(
    target: Any,
    decorator_func: Any,
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:
    """Puts a function in the place of another, under its name, so that `unwrap` finds the other.

    Args:
      target: The other function.
      decorator_func: The function, which calls it.
      decorator_name: The name of the decorator; by default that of the function that calls this one.
      decorator_doc: The documentation of the whole; by default that of the target.
      decorator_argspec: The signature of the whole; by default that of the target.

    Returns:
      `decorator_func`.
    """
    name = sys._getframe(1).f_code.co_name if decorator_name is None else decorator_name
    decorator = TFDecorator(name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = decorator
    for kept in ("__name__", "__qualname__", "__module__"):
        if hasattr(target, kept):
            setattr(decorator_func, kept, getattr(target, kept))
    for key, value in getattr(target, "__dict__", {}).items():
        decorator_func.__dict__.setdefault(key, value)
    if hasattr(target, "__doc__"):
        decorator_func.__doc__ = decorator.__doc__
    decorator_func.__wrapped__ = target
    decorator_func.__original_wrapped__ = target  # `rewrap` changes the other one
    return decorator_func


def _decorator_of(function: Any) -> TFDecorator | None:
    found = function if isinstance(function, TFDecorator) else getattr(function, "_tf_decorator", None)
    return found if isinstance(found, TFDecorator) else None


def unwrap(maybe_tf_decorator: Any) -> tuple[list[TFDecorator], Any]:
    """Takes the decorators off a function.

    Args:
      maybe_tf_decorator: The function.

    Returns:
      The decorators, from the outside in, and the function inside.
    """
    decorators: list[TFDecorator] = []
    inner = maybe_tf_decorator
    while (decorator := _decorator_of(inner)) is not None:
        decorators.append(decorator)
        inner = decorator.decorated_target
    return decorators, inner


def rewrap(decorator_func: Callable, previous_target: Callable, new_target: Callable) -> Callable:
    """Puts another function inside of decorators.

    Args:
      decorator_func: What stands outside; it is changed.
      previous_target: The function inside.
      new_target: The other function.

    Returns:
      `decorator_func`; `new_target` where nothing stands around the function.
    """
    outer, inner = None, decorator_func
    while inner is not previous_target and (decorator := _decorator_of(inner)) is not None:
        outer, inner = inner, decorator.decorated_target
    if outer is None:
        assert decorator_func is previous_target, "previous_target is what `unwrap` has found"
        return new_target
    changed = _decorator_of(outer)
    assert changed is not None
    changed.decorated_target = new_target
    holder: Any = outer.__func__ if inspect.ismethod(outer) else outer
    holder.__wrapped__ = new_target
    return decorator_func


def get_qualified_name(function: Callable) -> str:
    """The name of a function with that of its class."""
    return getattr(function, "__qualname__", None) or function.__name__


def add_notice_to_docstring(
    doc: str | None, instructions: str | None, no_doc_str: str, suffix_str: str, notice: list[str]
) -> str:
    """Documentation with a warning after its first line.

    Args:
      doc: The documentation.
      instructions: The last line of the warning.
      no_doc_str: The first line where there is no documentation.
      suffix_str: What is added to the first line where there is.
      notice: The lines of the warning.

    Returns:
      The documentation, without indentation.

    Raises:
      ValueError: If the warning is empty.
    """
    if not notice:
        raise ValueError("The `notice` arg must not be empty.")
    lines = inspect.cleandoc(doc).splitlines() if doc else []
    first, rest = (f"{lines[0]} {suffix_str}", lines[1:]) if lines else (no_doc_str, [])
    warning = ["", f"Warning: {notice[0]}", *notice[1:], *([instructions] if instructions else [])]
    gap = [""] if rest and rest[0].strip() else []
    return "\n".join([first, *warning, *gap, *rest])


def validate_callable(func: Any, decorator_name: str) -> None:
    """Raises ValueError where something that is decorated cannot be called, as a property cannot."""
    if not callable(func):
        raise ValueError(
            f"{func} is not a function. If this is a property, make sure @property appears before "
            f"@{decorator_name} in your source code:\n\n@property\n@{decorator_name}\ndef method(...)"
        )


class classproperty:
    """Decorator: a property of a class, which has no instance to ask."""

    def __init__(self, func: Callable[[Any], Any]):
        self._func = func

    def __get__(self, owner_self: Any, owner_cls: Any) -> Any:
        return self._func(owner_cls)
