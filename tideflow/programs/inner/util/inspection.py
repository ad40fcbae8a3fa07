"""`tensorflow.python.util.tf_inspect`: Python's `inspect`, which sees through decorators.

Programs compare what it says of TensorFlow's functions with what it says of their own, so annotations,
which TensorFlow's functions have not, are left out of what it says of ours.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from inspect import (  # noqa: F401 - looked up by programs
    FullArgSpec,
    currentframe,
    getdoc,
    getfile,
    getframeinfo,
    getmembers,
    getmodule,
    getmro,
    getsource,
    getsourcefile,
    getsourcelines,
    isbuiltin,
    isclass,
    isframe,
    isgenerator,
    isgeneratorfunction,
    isroutine,
    stack,
)
from typing import Any

from tideflow.programs.old_names import ArgSpec


def getfullargspec(obj: Callable) -> FullArgSpec:
    """The parameters of a callable, or of what its decorators stand around.

    Args:
      obj: A function, a method, a class or a callable object.

    Returns:
      What `inspect.getfullargspec` says.
    """
    target = _undecorated(obj)
    if isinstance(target, type):
        target = target.__init__
    found = inspect.getfullargspec(target)
    return found._replace(annotations={}) if _is_ours(target) else found


def getargspec(obj: Callable) -> ArgSpec:
    """The positional parameters of a callable, as Python 2 told them.

    Args:
      obj: A function, a method, a class, a callable object or a `functools.partial`.

    Returns:
      Their names, the names of `*args` and `**kwargs`, and the defaults.
    """
    if isinstance(obj, functools.partial):
        return _of_partial(obj)
    found = getfullargspec(obj)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """The values that a call gives to a function's parameters.

    Args:
      *func_and_positional: The function, then positional arguments.
      **named: Arguments by name.

    Returns:
      A dictionary from parameters to values, defaults among them.
    """
    function = _undecorated(func_and_positional[0])
    return inspect.getcallargs(function, *func_and_positional[1:], **named)


def isfunction(object: Any) -> bool:
    """Whether what decorators stand around is a function of Python's."""
    return inspect.isfunction(_undecorated(object))


def ismethod(object: Any) -> bool:
    """Whether what decorators stand around is a method."""
    return inspect.ismethod(_undecorated(object))


def ismodule(object: Any) -> bool:
    """Whether it is a module."""
    return inspect.ismodule(object)


def _undecorated(function: Any) -> Any:
    return inspect.unwrap(function) if callable(function) else function


def _is_ours(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "tideflow"


def _of_partial(partial: functools.partial) -> ArgSpec:
    """What is left of the parameters: those given by name have their values as defaults, and so must all
    have that follow one of them.
    """
    found = getfullargspec(partial.func)
    names = found.args[len(partial.args) :]
    defaults = dict(zip(found.args[::-1], (found.defaults or ())[::-1], strict=False))
    defaults.update({name: value for name, value in partial.keywords.items() if name in names})
    first = next((place for place, name in enumerate(names) if name in defaults), len(names))
    lacking = [name for name in names[first:] if name not in defaults]
    if lacking:
        raise ValueError(f"Some arguments {lacking} do not have default value, but they are positioned after "
                         "those with default values. This can not be expressed with ArgSpec.")  # fmt: skip
    return ArgSpec(names, found.varargs, found.varkw, tuple(defaults[name] for name in names[first:]) or None)
