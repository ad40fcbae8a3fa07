"""Argument scopes: defaults for the arguments of many calls, said once.

with arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(0.01)):
    net = conv2d(net, 32, [3, 3])  # is regularized
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph.stacks import Stack

Scope = dict[Any, dict[str, Any]]  # a function's key -> defaults of its arguments


_stack: Stack[Scope] = Stack()


@export("contrib.framework.current_arg_scope")
def current_arg_scope() -> Scope:
    """The defaults in force here."""
    return _stack.top() or {}


def arg_scope_func_key(op: Callable) -> Any:
    """What stands for a function in a scope.

    Args:
      op: The function.

    Returns:
      Its key.
    """
    return getattr(op, "_key_op", str(op))


@export("contrib.framework.add_arg_scope")
def add_arg_scope(func: Callable) -> Callable:
    """Decorator: the function's arguments can be given by `arg_scope`.

    Args:
      func: The function.

    Returns:
      The decorated function.
    """

    @functools.wraps(func)
    def with_defaults(*args: Any, **kwargs: Any) -> Any:
        defaults = current_arg_scope().get(with_defaults._key_op)
        return func(*args, **({**defaults, **kwargs} if defaults else kwargs))

    with_defaults._key_op = (getattr(func, "__module__", ""), func.__name__)
    return with_defaults


@export("contrib.framework.has_arg_scope")
def has_arg_scope(func: Callable) -> bool:
    """Whether a function is decorated with `add_arg_scope`.

    Args:
      func: The function.

    Returns:
      Whether it is.
    """
    return hasattr(func, "_key_op")


@export("contrib.framework.arg_scoped_arguments")
def arg_scoped_arguments(func: Callable) -> tuple[str, ...]:
    """The arguments that a scope may set: those with defaults.

    Args:
      func: The function.

    Returns:
      The names of the arguments.
    """
    if not has_arg_scope(func):
        raise AssertionError(f"{func.__name__} is not decorated with @add_arg_scope")
    parameters = inspect.signature(func).parameters.values()
    return tuple(p.name for p in parameters if p.default is not p.empty)


@export("contrib.framework.arg_scope")
@contextlib.contextmanager
def arg_scope(list_ops_or_scope: Sequence[Callable] | Mapping, **kwargs: Any) -> Iterator[Scope]:
    """Sets defaults of arguments for the functions of a list; or, again, all those of a scope made before.

    Args:
      list_ops_or_scope: The functions, each decorated with `add_arg_scope`; or a scope that an earlier
        `arg_scope` gave.
      kwargs: The defaults; none with a scope.

    Returns:
      A context manager that gives the scope.

    Raises:
      TypeError: If the first argument is neither a list nor a scope.
      ValueError: If a function is not decorated, or a scope comes with defaults.
    """
    if isinstance(list_ops_or_scope, Mapping):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by suppling a dictionary, kwargs must be empty."
            )
        scope = dict(list_ops_or_scope)
    elif isinstance(list_ops_or_scope, (list, tuple)):
        scope = _with_defaults(list_ops_or_scope, kwargs)
    else:
        raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
    with _stack.pushed(scope):
        yield scope


def _with_defaults(functions: Sequence[Callable], defaults: dict[str, Any]) -> Scope:
    scope = dict(current_arg_scope())
    for function in functions:
        if not has_arg_scope(function):
            name = (function.__module__, function.__name__)
            raise ValueError(f"{name} is not decorated with @add_arg_scope")
        key = arg_scope_func_key(function)
        scope[key] = {**scope.get(key, {}), **defaults}
    return scope
