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
    getframeinfo,
    getmembers,
    getmodule,
    getmro,
    stack,
)
from typing import Any

from tideflow.platform.decorators import unwrap
from tideflow.programs.old_names import ArgSpec


def getfullargspec(obj: Callable) -> FullArgSpec:
    """The parameters of a callable, as its outermost decorator that has its own says, or the function inside.

    Args:
      obj: A function, a method, a class or a callable object.

    Returns:
      What `inspect.getfullargspec` says.
    """
    own = _signature_of_decorators(obj)
    if own is not None:
        return own if isinstance(own, FullArgSpec) else FullArgSpec(*own, [], None, {})
    target = _inside(obj)
    if not _is_ours(target):
        return inspect.getfullargspec(target)
    if isinstance(target, type):
        target = target.__init__
    return inspect.getfullargspec(target)._replace(annotations={})


def getargspec(obj: Callable) -> ArgSpec:
    """The positional parameters of a callable, as Python 2 told them.

    Args:
      obj: A function, a method, a class, a callable object or a `functools.partial`.

    Returns:
      Their names, the names of `*args` and `**kwargs`, and the defaults.
    """
    if isinstance(obj, functools.partial):
        return _of_partial(obj)
    own = _signature_of_decorators(obj)
    if own is not None:
        return own
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
    function, *positional = func_and_positional
    parameters = getfullargspec(function)
    this = getattr(function, "__self__", None)
    if ismethod(function) and this is not None:
        positional.insert(0, this)
    names, defaults = parameters.args, parameters.defaults or ()
    by_place = dict(zip([name for name in names if name not in named], positional, strict=False))
    by_default = dict(zip(names[::-1], defaults[::-1], strict=False))
    return {**by_default, **(parameters.kwonlydefaults or {}), **named, **by_place}


def _signature_of_decorators(function: Any) -> Any:
    """The signature that the outermost of the decorators which have one says; None without such."""
    found = (decorator.decorator_argspec for decorator in unwrap(function)[0])
    return next((signature for signature in found if signature is not None), None)


def _inside(function: Any) -> Any:
    """What decorators stand around; those of this library are seen through, whatever they are."""
    inner = unwrap(function)[1]
    return inspect.unwrap(inner) if callable(inner) and _is_ours(inner) else inner


def _through_decorators(question: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A question of `inspect`, asked of what decorators stand around."""

    @functools.wraps(question)
    def asked(object: Any) -> Any:
        return question(_inside(object))

    return asked


getfile = _through_decorators(inspect.getfile)
getsource = _through_decorators(inspect.getsource)
getsourcefile = _through_decorators(inspect.getsourcefile)
getsourcelines = _through_decorators(inspect.getsourcelines)
isbuiltin = _through_decorators(inspect.isbuiltin)
isclass = _through_decorators(inspect.isclass)
isframe = _through_decorators(inspect.isframe)
isfunction = _through_decorators(inspect.isfunction)
isgenerator = _through_decorators(inspect.isgenerator)
isgeneratorfunction = _through_decorators(inspect.isgeneratorfunction)
ismethod = _through_decorators(inspect.ismethod)
ismodule = _through_decorators(inspect.ismodule)
isroutine = _through_decorators(inspect.isroutine)


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
