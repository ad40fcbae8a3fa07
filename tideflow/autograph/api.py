"""`tf.autograph`: functions converted by request, and functions that are not to be converted."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from tideflow.autograph import calls
from tideflow.autograph.conversion import converted_code
from tideflow.autograph.operators import mark_converted
from tideflow.autograph.options import ConversionOptions, FeaturesLike
from tideflow.export import export
from tideflow.graph import traceback


@export("contrib.autograph.AutoGraphError")
class AutoGraphError(Exception):
    """The base of AutoGraph's own errors."""


class ConversionError(AutoGraphError):
    """A function that cannot be converted."""


@export("autograph.to_graph")
def to_graph(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    experimental_optional_features: FeaturesLike = None,
) -> Any:
    """Converts a function to one that makes graph of the `if`, `for` and `while` that depend on tensors.

    Args:
      entity: A function, a method or a class. A method becomes a function whose first argument is the object;
        a class becomes one that inherits from it, and whose own methods are converted.
      recursive: Whether functions that it calls are converted too.
      arg_values: Has no effect.
      arg_types: Has no effect.
      experimental_optional_features: A `tf.autograph.experimental.Feature`, or several, to use.

    Returns:
      The converted function or class.

    Raises:
      AutoGraphError: If the function cannot be converted; its source cannot be had, for example.
      NotImplementedError: If this is something that is never converted, such as a generator function.
    """
    return _converted(entity, recursive, experimental_optional_features)


@export("autograph.to_code")
def to_code(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    indentation: str = "  ",
    experimental_optional_features: FeaturesLike = None,
) -> str:
    """The code that a function is converted to.

    Args:
      entity: A function or a method.
      recursive: Whether functions that it calls are converted too.
      arg_values: Has no effect.
      arg_types: Has no effect.
      indentation: Has no effect.
      experimental_optional_features: A `tf.autograph.experimental.Feature`, or several, to use.

    Returns:
      Python code.

    Raises:
      AutoGraphError: If the function cannot be converted.
    """
    return _code(entity, recursive, experimental_optional_features)


@export("contrib.autograph.to_graph")
def contrib_to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: FeaturesLike = None
) -> Any:
    """Converts a function as `tf.autograph.to_graph` does.

    Args:
      entity: A function or a method.
      recursive: Whether functions that it calls are converted too.
      experimental_optional_features: A `tf.autograph.experimental.Feature`, or several, to use.

    Returns:
      The converted function.
    """
    return _converted(entity, recursive, experimental_optional_features)


@export("contrib.autograph.to_code")
def contrib_to_code(
    entity: Any, recursive: bool = True, experimental_optional_features: FeaturesLike = None
) -> str:
    """The code that a function is converted to.

    Args:
      entity: A function or a method.
      recursive: Whether functions that it calls are converted too.
      experimental_optional_features: A `tf.autograph.experimental.Feature`, or several, to use.

    Returns:
      Python code.
    """
    return _code(entity, recursive, experimental_optional_features)


def _converted(entity: Any, recursive: bool, features: FeaturesLike) -> Any:
    options = ConversionOptions(recursive, user_requested=True, optional_features=features)
    with _explained(entity):
        if not inspect.isclass(entity):
            return calls.convert_function(_function_of(entity), options)
        members = {name: calls.convert_function(f, options) for name, f in _methods(entity).items()}
        about = {"__module__": entity.__module__, "__doc__": entity.__doc__}
        return type(entity)(f"Tf{entity.__name__}", (entity,), {**about, **members})


def _code(entity: Any, recursive: bool, features: FeaturesLike) -> str:
    options = ConversionOptions(recursive, user_requested=True, optional_features=features)
    with _explained(entity):
        functions = _methods(entity).values() if inspect.isclass(entity) else [_function_of(entity)]
        return "\n".join(converted_code(function, options).text for function in functions)


def _methods(entity: type) -> dict[str, types.FunctionType]:
    found = {name: f for name, f in vars(entity).items() if isinstance(f, types.FunctionType)}
    if not found:
        raise ValueError(f"cannot convert {entity}: no member methods")
    return found


def _function_of(entity: Any) -> types.FunctionType:
    if isinstance(entity, types.MethodType):
        entity = entity.__func__
    if not isinstance(entity, types.FunctionType):
        raise NotImplementedError(
            f'cannot convert entity "{entity}": object conversion is not yet supported.'
        )
    return entity


@contextlib.contextmanager
def _explained(entity: Any) -> Iterator[None]:
    try:
        yield
    except (ValueError, AttributeError, KeyError, NameError, AssertionError, SyntaxError) as error:
        raise ConversionError(f"converting {entity}: {type(error).__name__}: {error}") from error


# ------------------------------------------------------------------------------------------------ decorators


@export("autograph.experimental.do_not_convert", "contrib.autograph.do_not_convert")
def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Decorator: AutoGraph calls the function as it is, and converts nothing that it passes on.

    Args:
      func: The function; without it, this returns a decorator.

    Returns:
      A function that does the same.
    """
    if func is None:
        return do_not_convert

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    traceback.converted[wrapper.__code__] = False
    return mark_converted(_like(func, wrapper))


@export("contrib.autograph.convert")
def convert(
    recursive: bool = False, optional_features: FeaturesLike = None, user_requested: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: each call converts the function first.

    Args:
      recursive: Whether functions that it calls are converted too.
      optional_features: A `tf.autograph.experimental.Feature`, or several, to use.
      user_requested: Whether it is converted even if it belongs to a module whose functions are not.

    Returns:
      A decorator.
    """
    options = ConversionOptions(recursive, user_requested, optional_features=optional_features)

    def decorator(f: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return calls.converted_call(f, options, args, kwargs)

        return mark_converted(_like(f, wrapper))

    return decorator


def tf_convert(
    function: Callable[..., Any], user_requested: bool = False, optional_features: FeaturesLike = None
) -> Callable[..., Any]:
    """For functions that call a user's function: that function, which each call converts first, unless the
    user has said that nothing is to be converted here.
    """
    if hasattr(function, "autograph_info__"):
        return function
    if traceback.runs_converted() is False:
        return do_not_convert(function)
    return convert(True, optional_features, user_requested)(function)


def _like(function: Callable[..., Any], wrapper: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.isfunction(function) or inspect.ismethod(function):
        return functools.update_wrapper(wrapper, function)
    return wrapper


@export("contrib.autograph.StackTraceMapper")
class StackTraceMapper(contextlib.AbstractContextManager):
    """Kept for code that TensorFlow converted: a `with` block without effect.

    Converted code has the lines of the program, so that there is nothing to map.

    Args:
      converted_fn: A converted function.
    """

    def __init__(self, converted_fn: Callable[..., Any]):
        self.converted_fn = converted_fn

    def __exit__(self, *error: object) -> None:
        """Ends the block."""
