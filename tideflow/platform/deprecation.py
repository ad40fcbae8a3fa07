"""Decorators that mark functions and arguments as deprecated: the log says so, once a caller's line."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from tideflow.export import export
from tideflow.graph.traceback import user_frames, user_line
from tideflow.platform import logging

# Programs that want silence set this to False.
_PRINT_DEPRECATION_WARNINGS = True
_said: set[tuple[str, str]] = set()


def _warn(what: str, date: str | None, instructions: str, once: bool) -> None:
    if not _PRINT_DEPRECATION_WARNINGS:
        return
    line = user_line(user_frames())
    if once and (what, line) in _said:
        return
    _said.add((what, line))
    when = f"after {date}" if date else "in a future version"
    logging.warning("From %s: %s is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                    line, what, when, instructions)  # fmt: skip


@export("contrib.framework.deprecated")
def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable:
    """Decorator that marks a function or a class as deprecated: it logs a warning when it is called.

    Args:
      date: The date of the removal, as `"YYYY-MM-DD"`, or None.
      instructions: What to use instead.
      warn_once: Whether there is one warning only.

    Returns:
      The decorator.
    """

    def decorate(target: Any) -> Any:
        if inspect.isclass(target):
            target.__init__ = decorate(target.__init__)
            return target

        @functools.wraps(target)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            _warn(f"{target.__qualname__} (from {target.__module__})", date, instructions, warn_once)
            return target(*args, **kwargs)

        return wrapper

    return decorate


@export("contrib.framework.deprecated_args")
def deprecated_args(
    date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, warn_once: bool = True
) -> Callable:
    """Decorator that marks arguments of a function as deprecated: it logs a warning when they are given.

    Args:
      date: The date of the removal, as `"YYYY-MM-DD"`, or None.
      instructions: What to use instead.
      *deprecated_arg_names_or_tuples: The names of the arguments. A tuple of name and value is an argument
        that may have this value without a warning.
      warn_once: Whether there is one warning only.

    Returns:
      The decorator.
    """
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    accepted = {a if isinstance(a, str) else a[0]: () if isinstance(a, str) else a[1:]
                for a in deprecated_arg_names_or_tuples}  # fmt: skip
    return _on_arguments(
        date,
        instructions,
        accepted,
        lambda name, value: not any(_same(value, ok) for ok in accepted[name]),
        warn_once,
    )


@export("contrib.framework.deprecated_arg_values")
def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Callable:
    """Decorator that marks values of arguments as deprecated: it logs a warning when they are given.

    Args:
      date: The date of the removal, as `"YYYY-MM-DD"`, or None.
      instructions: What to use instead.
      warn_once: Whether there is one warning only.
      **deprecated_kwargs: The values by argument.

    Returns:
      The decorator.
    """
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")
    return _on_arguments(
        date,
        instructions,
        deprecated_kwargs,
        lambda name, value: _same(value, deprecated_kwargs[name]),
        warn_once,
    )


def _same(value: Any, other: Any) -> bool:
    """Whether two arguments are the same. Arrays and tensors, which compare element by element, are not."""
    return value is other or (isinstance(value, (bool, int, float, str)) and value == other)


def _on_arguments(
    date: str | None, instructions: str, names: Iterable[str], is_old: Callable[[str, Any], bool], once: bool
) -> Callable:
    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            given = {**signature.bind_partial(*args, **kwargs).arguments, **kwargs}
            for name in names:
                if name in given and is_old(name, given[name]):
                    what = f"calling {function.__qualname__} (from {function.__module__}) with {name}"
                    _warn(what, date, instructions, once)
            return function(*args, **kwargs)

        return wrapper

    return decorate


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that goes by two names; ValueError where both are given."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value
