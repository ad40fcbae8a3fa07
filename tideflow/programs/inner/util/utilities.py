"""What `tensorflow.python.util` offers to programs and libraries: decorators that mark, wrap and unwrap
functions.
"""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.contrib.framework import nests
from tideflow.graph.graph_def import op_def_proto
from tideflow.graph.op import definitions
from tideflow.platform import decorators
from tideflow.platform.function_arguments import fn_args  # noqa: F401 - looked up by programs


def should_use_result(function: Callable) -> Callable:
    """The function. In TensorFlow its result complains when nobody uses it."""
    return function


must_use_result_or_fatal = should_use_result


def has_kwargs(fn: Any) -> bool:
    """Whether a function takes any keyword."""
    if not callable(fn):
        raise TypeError(f"fn should be a function-like object, but is of type {type(fn)}.")
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())


def get_func_name(func: Any) -> str:
    """A name for a function, in messages: an object that can be called has that of its class."""
    _, target = decorators.unwrap(func)
    if not callable(target):
        raise ValueError("Argument must be callable")
    if inspect.ismethod(target):
        return f"{type(target.__self__).__name__}.{target.__func__.__name__}"
    return target.__name__ if inspect.isfunction(target) else str(type(target))


def get_func_code(func: Any) -> Any:
    """The code of a function, or of what is called in an object; None where it has none."""
    _, target = decorators.unwrap(func)
    if not callable(target):
        raise ValueError("Argument must be callable")
    is_function = inspect.isfunction(target) or inspect.ismethod(target)
    return getattr(target if is_function else target.__call__, "__code__", None)


def get_disabled_rewriter_config() -> bytes:
    """A ConfigProto, serialized, that switches rewrites of graphs off."""
    config = ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config.SerializeToString()


class LazyLoader(types.ModuleType):
    """A module that is imported when something of it is first asked for."""

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str):
        super().__init__(name)
        self._local_name = local_name
        self._parent_module_globals = parent_module_globals

    def __getattr__(self, item: str) -> Any:
        module = importlib.import_module(self.__name__)
        self._parent_module_globals[self._local_name] = module
        return getattr(module, item)


def get_registered_ops() -> dict[str, Any]:
    """The OpDef of every op type, by name."""
    return {name: op_def_proto(op) for name, op in definitions().items()}


def _is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Whether a value is a named tuple; with `strict`, one of a class that `namedtuple` itself has made."""
    named = isinstance(instance, tuple) and hasattr(instance, "_fields")
    return named and (not strict or type(instance).__base__ is tuple)


# What nests of different kinds are refused with.
_SHALLOW_TREE_HAS_INVALID_KEYS = nests.SHALLOW_TREE_HAS_INVALID_KEYS
_STRUCTURES_HAVE_MISMATCHING_TYPES = (
    "The two structures don't have the same sequence type. Input structure has type {input_type}, while "
    "shallow structure has type {shallow_type}."
)
_STRUCTURES_HAVE_MISMATCHING_LENGTHS = (
    "The two structures don't have the same sequence length. Input structure has length {input_length}, "
    "while shallow structure has length {shallow_length}."
)
_INPUT_TREE_SMALLER_THAN_SHALLOW_TREE = (
    "The input_tree has fewer elements than the shallow_tree. Input structure has length {input_size}, while "
    "shallow structure has length {shallow_size}."
)
_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ = (
    "If shallow structure is a sequence, input must also be a sequence. Input has type: {}."
)
