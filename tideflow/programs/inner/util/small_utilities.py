"""Small modules of `tensorflow.python.util` that tests and libraries import."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tideflow.graph.dtypes import DType
from tideflow.graph.scopes import executing_eagerly
from tideflow.graph.shapes import Dimension, TensorShape

# ------------------------------------------------------------------------------------------------ dispatch

NOT_SUPPORTED = object()
DISPATCH_ATTR = "_tf_dispatchers"


class OpDispatcher:
    """What a type of its own has to say about functions: `handle` returns NOT_SUPPORTED or a result."""

    NOT_SUPPORTED = NOT_SUPPORTED

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function's result for these arguments, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self, op: Callable) -> None:
        """Is asked whenever `op` fails on its arguments with a TypeError or a ValueError."""
        if not hasattr(op, DISPATCH_ATTR):
            raise AssertionError(f"Dispatching not enabled for {op}")
        op._tf_dispatchers.append(self)  # type: ignore[attr-defined]


def add_dispatch_list(target: Callable) -> Callable:
    """A function to which dispatchers can be registered, and that does not ask them itself."""
    if hasattr(target, DISPATCH_ATTR):
        raise AssertionError(f"{target} already has a dispatch list")
    setattr(target, DISPATCH_ATTR, [])
    return target


def add_dispatch_support(target: Callable) -> Callable:
    """A function that asks dispatchers for what it does not take itself.

    Args:
      target: The function.

    Returns:
      The function, to which dispatchers can be registered.
    """

    @functools.wraps(target)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            found = dispatch(wrapper, *args, **kwargs)
            if found is OpDispatcher.NOT_SUPPORTED:
                raise
            return found

    wrapper._tf_dispatchers = []  # type: ignore[attr-defined]
    return wrapper


def dispatch(op: Callable, *args: Any, **kwargs: Any) -> Any:
    """What the first dispatcher that knows these arguments returns for a function.

    Args:
      op: The function.
      *args: Its arguments.
      **kwargs: Its arguments by name.

    Returns:
      The result, or NOT_SUPPORTED.
    """
    for dispatcher in getattr(op, "_tf_dispatchers", ()):
        found = dispatcher.handle(args, kwargs)
        if found is not OpDispatcher.NOT_SUPPORTED:
            return found
    return OpDispatcher.NOT_SUPPORTED


class _TypeBasedDispatcher(OpDispatcher):
    """Calls another function where an argument, or an item of one, has one of its types."""

    def __init__(self, override: Callable, types: tuple[type, ...]):
        self._override, self._types = override, types

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for value in (*args, *kwargs.values()):
            items = value if isinstance(value, (list, tuple)) else [value]
            if any(isinstance(item, self._types) for item in items):
                return self._override(*args, **kwargs)
        return self.NOT_SUPPORTED


def dispatch_for_types(op: Callable, *types: type) -> Callable[[Callable], Callable]:
    """A decorator: the function is called in place of another one for arguments of these types.

    Args:
      op: The other function, which `add_dispatch_support` made.
      *types: The types.

    Returns:
      The decorator.

    Raises:
      AssertionError: If the functions have different arguments.
    """

    def decorated(override: Callable) -> Callable:
        if inspect.signature(inspect.unwrap(op)) != inspect.signature(override):
            raise AssertionError(
                "The decorated function's signature must exactly match the signature of the overridden op."
            )
        _TypeBasedDispatcher(override, types).register(op)
        return override

    return decorated


# ------------------------------------------------------------------------------------------------ locks


class GroupLock:
    """A lock that many threads of one group hold at once, and no two groups."""

    def __init__(self, num_groups: int = 2):
        if num_groups < 1:
            raise ValueError(f"num_groups must be a positive integer, got {num_groups}")
        self._ready = threading.Condition()
        self._group_member_counts = [0] * num_groups

    @contextlib.contextmanager
    def group(self, group_id: int) -> Iterator[None]:
        """Holds the lock for a group.

        Args:
          group_id: The number of the group.
        """
        self.acquire(group_id)
        try:
            yield
        finally:
            self.release(group_id)

    def acquire(self, group_id: int) -> None:
        """Waits until no other group holds the lock, and holds it.

        Args:
          group_id: The number of the group.
        """
        self._check(group_id)
        with self._ready:
            self._ready.wait_for(
                lambda: not any(n for i, n in enumerate(self._group_member_counts) if i != group_id)
            )
            self._group_member_counts[group_id] += 1

    def release(self, group_id: int) -> None:
        """Gives the lock back, once for each time it was acquired.

        Args:
          group_id: The number of the group.
        """
        self._check(group_id)
        with self._ready:
            self._group_member_counts[group_id] -= 1
            if not self._group_member_counts[group_id]:
                self._ready.notify_all()

    def _check(self, group_id: int) -> None:
        if not 0 <= group_id < len(self._group_member_counts):
            raise ValueError(
                f"group_id={group_id} should be between 0 and num_groups={len(self._group_member_counts)}"
            )


# ------------------------------------------------------------------------------------------------ others


def keyword_args_only(func: Callable) -> Callable:
    """A decorator: the function takes its arguments by name alone.

    Args:
      func: The function.

    Returns:
      The function, which raises ValueError for others.
    """

    @functools.wraps(func)
    def by_name(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise ValueError(
                f"The function {func.__name__} only accepts keyword arguments. Do not pass positional "
                f"arguments. Received the following positional arguments: {args}"
            )
        return func(**kwargs)

    return by_name


def dismantle_ordered_dict(ordered_dict: OrderedDict) -> None:
    """Empties a dictionary.

    Args:
      ordered_dict: The dictionary.
    """
    ordered_dict.clear()


def path_to_str(path: Any) -> Any:
    """A path as text, where it is the object of a path.

    Args:
      path: The path.

    Returns:
      The text, or what was given.
    """
    return os.fspath(path) if hasattr(path, "__fspath__") else path


def get_json_type(obj: Any) -> Any:
    """What stands for an object in a JSON text.

    Args:
      obj: A NumPy value, a shape, a type, an object with `get_config`, a class or a function.

    Returns:
      Something that `json.dumps` takes.

    Raises:
      TypeError: If nothing stands for the object.
    """
    if hasattr(obj, "get_config"):
        return {"class_name": type(obj).__name__, "config": obj.get_config()}
    if isinstance(obj, (np.ndarray, np.generic)):
        return obj.tolist() if isinstance(obj, np.ndarray) else obj.item()
    if isinstance(obj, (type, type(get_json_type))):
        return obj.__name__
    if isinstance(obj, TensorShape):
        return obj.as_list()
    if isinstance(obj, Dimension):
        return obj.value
    if isinstance(obj, DType):
        return obj.name
    if isinstance(obj, Mapping):
        return dict(obj)
    raise TypeError("Not JSON Serializable:", obj)


def extract_stack(limit: int = -1) -> list[traceback.FrameSummary]:
    """The calls that led here.

    Args:
      limit: How many of them, the last ones; -1 for all.

    Returns:
      A list of frames, the first call first.
    """
    frames = list(traceback.extract_stack())[:-1]
    return frames if limit < 0 else frames[-limit:]


def IS_IN_GRAPH_MODE() -> bool:
    """Whether operations are added to graphs."""
    return not executing_eagerly()
