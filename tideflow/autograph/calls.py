"""Calls in converted code: which functions are converted, and which are called as they are."""

from __future__ import annotations

import functools
import inspect
import os
import types
import unittest
import weakref
from collections.abc import Callable
from typing import Any

from tideflow.autograph import builtins, verbosity
from tideflow.autograph.conversion import converted_code, instantiate
from tideflow.autograph.operators import Operators
from tideflow.autograph.options import ConversionOptions
from tideflow.autograph.status import is_disabled
from tideflow.export import export
from tideflow.graph import traceback

# Modules whose functions make no decisions on tensors, or know how to.
_LEFT_ALONE = ("ipdb", "mock", "numpy", "tensorflow", "tensorflow_probability", "tideflow", "torch", "wrapt")
_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)

_unconverted: weakref.WeakKeyDictionary[Any, set[ConversionOptions]] = weakref.WeakKeyDictionary()


@export("contrib.autograph.converted_call")
def converted_call(
    f: Callable[..., Any],
    options: ConversionOptions,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    caller_fn_scope: Any = None,
) -> Any:
    """Calls a function, converted if it can be and may be.

    Args:
      f: The function, method, class or callable object.
      options: What the conversion is asked for.
      args: The positional arguments.
      kwargs: The keyword arguments, or None.
      caller_fn_scope: Kept for code that TensorFlow converted; it has no effect.

    Returns:
      What the function returns.
    """
    kwargs = kwargs or {}
    while isinstance(f, functools.partial):
        f, args, kwargs = f.func, (*f.args, *args), {**f.keywords, **kwargs}
    if f.__class__ is types.BuiltinFunctionType or (inspect.isclass(f) and f.__module__ == "builtins"):
        return builtins.overload_of(f)(*args, **kwargs)
    if _is_known_unconverted(f, options) or is_disabled():
        return f(*args, **kwargs)
    reason = _reason_against(f, options)
    if reason is None:
        # The function that has code, and the object that it is a method of.
        method = f if isinstance(f, (types.FunctionType, types.MethodType)) else f.__call__
        function = getattr(method, "__func__", method)
        bound = (method.__self__,) if isinstance(method, types.MethodType) else ()
        if not isinstance(function, types.FunctionType):
            reason = "native binding"
        elif function.__code__.co_filename == "<string>":
            reason = "dynamic code"
        else:
            try:
                made = convert_function(function, options)
            except Exception as error:
                _warn_of_failure(f, error)
                reason = "conversion failed"
            else:
                return made(*bound, *args, **kwargs)
    verbosity.log(2, "Not converted: %s: %s", f, reason)
    _remember_unconverted(f, options)
    return f(*args, **kwargs)


def _warn_of_failure(f: Any, error: Exception) -> None:
    verbosity.warn(
        "Entity %s could not be transformed and will be executed as-is. Please report this to the AutoGraph "
        "team. When filing the bug, set the verbosity to 10 (on Linux, `export AUTOGRAPH_VERBOSITY=10`) and "
        "attach the full output. Cause: %s",
        f,
        error,
    )


def convert_function(function: types.FunctionType, options: ConversionOptions) -> types.FunctionType:
    """The converted form of a Python function.

    Raises:
      ValueError: If its source cannot be had.
      NotImplementedError: If it has something that cannot be converted.
    """
    if inspect.isgeneratorfunction(function):
        raise NotImplementedError("Generators are not supported by AutoGraph")
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise NotImplementedError("async functions are not supported by AutoGraph")
    return instantiate(function, converted_code(function, options), _operators_for(options))


@functools.cache
def _operators_for(options: ConversionOptions) -> Operators:
    return _CallingOperators(options)


class _CallingOperators(Operators):
    def __init__(self, options: ConversionOptions):
        super().__init__(options)
        self._call_options = options.call_options()

    def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """`function(*args, **kwargs)`, where the function is converted first if it can be."""
        return converted_call(function, self._call_options, args, kwargs)


def _reason_against(f: Any, options: ConversionOptions) -> str | None:
    """Why something is called as it is; None if it is to be converted."""
    if hasattr(f, "autograph_info__") or hasattr(f, "__ag_compiled"):
        return "already converted"
    if inspect.isclass(f):
        return "constructor"
    if type(f).__name__ == "_lru_cache_wrapper":
        return "lru_cache"
    if type(f).__module__.partition(".")[0] == "wrapt":
        return "wrapt decorated"
    if not options.user_requested:
        reason = _reason_of_origin(f)
        if reason is not None:
            return reason
    if not options.internal_convert_user_code:
        return "the conversion is not recursive"
    return None


def _reason_of_origin(f: Any) -> str | None:
    """Why a function of this module, class or kind is called as it is."""
    if isinstance(f, types.MethodType):
        owner = f.__self__ if inspect.isclass(f.__self__) else type(f.__self__)
        if issubclass(owner, unittest.TestCase):
            return "method of a TestCase"
        return _reason_of_origin(f.__func__)
    if not isinstance(f, types.FunctionType):
        call = inspect.getattr_static(type(f), "__call__", None)
        return _reason_of_origin(call) if isinstance(call, types.FunctionType) else None
    code = f.__code__
    if code in traceback.converted:
        return "already converted"
    root = (f.__module__ or "").partition(".")[0]
    if root in _LEFT_ALONE or traceback.is_of_package(code):
        return f"of module {root}"
    file = code.co_filename
    if file.startswith("<frozen ") or (
        file.startswith(_STANDARD_LIBRARY) and not any(part in file for part in _INSTALLED)
    ):
        return "of the standard library"
    if inspect.isgeneratorfunction(f):
        verbosity.warn(
            "Entity %s appears to be a generator function. It will not be converted by AutoGraph.", f
        )
        return "generator function"
    if inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f):
        return "async function"
    return None


def _is_known_unconverted(f: Any, options: ConversionOptions) -> bool:
    try:
        return options in _unconverted.get(f, ())
    except TypeError:  # cannot be hashed, or weakly referenced
        return False


def _remember_unconverted(f: Any, options: ConversionOptions) -> None:
    try:
        _unconverted.setdefault(f, set()).add(options)
    except TypeError:
        pass
