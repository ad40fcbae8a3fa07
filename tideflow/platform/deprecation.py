"""Decorators that mark functions and arguments as deprecated: the log says so, and their documentation."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from tideflow.export import export
from tideflow.graph.scopes import executing_eagerly
from tideflow.graph.traceback import user_frames, user_line
from tideflow.platform import logging
from tideflow.platform.decorators import (
    add_notice_to_docstring,
    get_qualified_name,
    make_decorator,
    validate_callable,
)

# Programs that want silence set this to False.
_PRINT_DEPRECATION_WARNINGS = True
# What has been said, and is not said again: functions, and functions with their arguments.
_PRINTED_WARNING: dict[Any, bool] = {}


class DeprecatedNamesAlreadySet(Exception):
    """Something was given its deprecated names twice."""


def _check(date: str | None, instructions: str) -> None:
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _when(date: str | None) -> str:
    return f"after {date}" if date else "in a future version"


def _say(key: Any, once: bool, message: str, *args: Any) -> None:
    """Logs a warning with the line that led to it, unless it was logged before."""
    if not _PRINT_DEPRECATION_WARNINGS or key in _PRINTED_WARNING:
        return
    if once:
        _PRINTED_WARNING[key] = True
    logging.warning(f"From %s: {message}", user_line(user_frames()), *args)


_REMOVED = "is deprecated and will be removed %s.\nInstructions for updating:\n%s"


@export("contrib.framework.deprecated")
def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable:
    """Decorator that marks a function or a class as deprecated: it logs a warning when it is called.

    Args:
      date: The date of the removal, as `"YYYY-MM-DD"`, or None.
      instructions: What to use instead.
      warn_once: Whether there is one warning only.

    Returns:
      The decorator.

    Raises:
      ValueError: If the date is written in another way, or there are no instructions.
    """
    _check(date, instructions)

    def decorate(target: Any) -> Any:
        validate_callable(target, "deprecated")
        if inspect.isclass(target):
            target.__init__ = decorate(target.__init__)
            return target

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            name = get_qualified_name(target)
            _say(target, warn_once, f"%s (from %s) {_REMOVED}",
                 name, target.__module__, _when(date), instructions)  # fmt: skip
            return target(*args, **kwargs)

        notice = [f"THIS FUNCTION IS DEPRECATED. It will be removed {_when(date)}.", _UPDATING]
        doc = add_notice_to_docstring(
            target.__doc__, instructions, "DEPRECATED FUNCTION", "(deprecated)", notice
        )
        return make_decorator(target, wrapper, "deprecated", doc)

    return decorate


_UPDATING = "Instructions for updating:"


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """A function or a class under an old name: it logs a warning when it is called.

    Args:
      deprecated_name: The old name, in full.
      name: The new name, in full.
      func_or_class: The function or the class.
      warn_once: Whether there is one warning only.

    Returns:
      A function around it, or a class below it.
    """
    instead = f"Please use {name} instead."
    message = "The name %s is deprecated. Please use %s instead.\n"
    if inspect.isclass(func_or_class):
        notice = ["THIS CLASS IS DEPRECATED. It will be removed in a future version. "]
        doc = add_notice_to_docstring(
            func_or_class.__doc__, instead, "DEPRECATED CLASS", "(deprecated)", notice
        )

        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            _say(init, warn_once, message, deprecated_name, name)
            func_or_class.__init__(self, *args, **kwargs)

        make_decorator(func_or_class.__init__, init, "init")
        return type(func_or_class.__name__, (func_or_class,), {"__doc__": doc, "__init__": init})
    validate_callable(func_or_class, "deprecated")

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        _say(wrapper, warn_once, message, deprecated_name, name)
        return func_or_class(*args, **kwargs)

    notice = [f"THIS FUNCTION IS DEPRECATED. It will be removed {_when(None)}.", _UPDATING]
    doc = add_notice_to_docstring(
        func_or_class.__doc__, instead, "DEPRECATED FUNCTION", "(deprecated)", notice
    )
    return make_decorator(func_or_class, wrapper, "deprecated", doc)


def deprecated_endpoints(*args: str) -> Callable:
    """Decorator that notes the deprecated names of a function or a class.

    Args:
      *args: The names.

    Returns:
      The decorator.
    """

    def decorate(target: Any) -> Any:
        if "_tf_deprecated_api_names" in target.__dict__:
            raise DeprecatedNamesAlreadySet(
                f"Cannot set deprecated names for {target.__name__} to {args}. Deprecated names are already "
                f"set to {target._tf_deprecated_api_names}."
            )
        target._tf_deprecated_api_names = args
        return target

    return decorate


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """A block without warnings of what is deprecated."""
    global _PRINT_DEPRECATION_WARNINGS
    before, _PRINT_DEPRECATION_WARNINGS = _PRINT_DEPRECATION_WARNINGS, False
    try:
        yield
    finally:
        _PRINT_DEPRECATION_WARNINGS = before


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
      warn_once: Whether there is one warning only for each argument.

    Returns:
      The decorator.

    Raises:
      ValueError: If the date is written in another way, or there are no instructions or no arguments.
    """
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    accepted = {a if isinstance(a, str) else a[0]: () if isinstance(a, str) else a[1:]
                for a in deprecated_arg_names_or_tuples}  # fmt: skip

    def decorate(function: Callable) -> Callable:
        validate_callable(function, "deprecated_args")
        signature = inspect.signature(function)
        missing = [name for name in accepted if name not in signature.parameters]
        if missing:
            raise ValueError(
                f"The following deprecated arguments are not present in the function signature: {missing}. "
                f"Found next arguments: {list(signature.parameters)}."
            )

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            given = {} if executing_eagerly() else signature.bind_partial(*args, **kwargs).arguments
            for name, harmless in accepted.items():
                if name in given and not any(_same(given[name], value) for value in harmless):
                    _say((function, name), warn_once, f"calling %s (from %s) with %s {_REMOVED}",
                         get_qualified_name(function), function.__module__, name, _when(date),
                         instructions)  # fmt: skip
            return function(*args, **kwargs)

        notice = [
            f"SOME ARGUMENTS ARE DEPRECATED: `({', '.join(sorted(accepted))})`. "
            f"They will be removed {_when(date)}.",
            _UPDATING,
        ]
        title = "DEPRECATED FUNCTION ARGUMENTS"
        doc = add_notice_to_docstring(function.__doc__, instructions, title, "(deprecated arguments)", notice)
        return make_decorator(function, wrapper, "deprecated", doc)

    return decorate


@export("contrib.framework.deprecated_arg_values")
def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Callable:
    """Decorator that marks values of arguments as deprecated: it logs a warning when they are given, or are
    the default.

    Args:
      date: The date of the removal, as `"YYYY-MM-DD"`, or None.
      instructions: What to use instead.
      warn_once: Whether there is one warning only for each argument.
      **deprecated_kwargs: The values by argument.

    Returns:
      The decorator.

    Raises:
      ValueError: If the date is written in another way, or there are no instructions or no values.
    """
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(function: Callable) -> Callable:
        validate_callable(function, "deprecated_arg_values")
        signature = inspect.signature(function)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for name, value in deprecated_kwargs.items():
                if name in bound.arguments and _same(bound.arguments[name], value):
                    _say((function, name), warn_once, f"calling %s (from %s) with %s=%s {_REMOVED}",
                         get_qualified_name(function), function.__module__, name, value, _when(date),
                         instructions)  # fmt: skip
            return function(*args, **kwargs)

        values = ", ".join(f"{name}={value!r}" for name, value in sorted(deprecated_kwargs.items()))
        notice = [
            f"SOME ARGUMENT VALUES ARE DEPRECATED: `({values})`. They will be removed {_when(date)}.",
            _UPDATING,
        ]
        title = "DEPRECATED FUNCTION ARGUMENT VALUES"
        doc = add_notice_to_docstring(
            function.__doc__, instructions, title, "(deprecated argument values)", notice
        )
        return make_decorator(function, wrapper, "deprecated", doc)

    return decorate


def _same(value: Any, other: Any) -> bool:
    """Whether two arguments are the same. Arrays and tensors, which compare element by element, are not."""
    if value is other:
        return True
    try:
        equal = value == other
    except TypeError:
        return False
    return equal is True


def rewrite_argument_docstring(old_doc: str, old_argument: str, new_argument: str) -> str:
    """Documentation in which an argument goes by another name."""
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(
        f"{old_argument}:", f"{new_argument}:"
    )


class HiddenTfApiAttribute(property):
    """An attribute of a class that its subclasses no longer have.

    Args:
      deprecation_message: What to say to whoever asks for it.
    """

    def __init__(self, deprecation_message: str):
        def refuse(unused_self: Any) -> None:
            raise AttributeError(deprecation_message)

        super().__init__(refuse)


hide_attribute_from_api = HiddenTfApiAttribute


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that goes by two names; ValueError where both are given."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value
