"""What `tensorflow.python.util` offers to programs and libraries: decorators that mark, wrap and unwrap
functions.
"""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable
from typing import Any

from tideflow.graph.graph_def import op_def_proto
from tideflow.graph.op import definitions
from tideflow.platform.function_arguments import fn_args  # noqa: F401 - looked up by programs


def tf_export(*names: str, **options: Any) -> Callable:
    """Decorator: nothing. In TensorFlow it says where a symbol is public."""
    return lambda symbol: symbol


keras_export = estimator_export = tf_export


def should_use_result(function: Callable) -> Callable:
    """The function. In TensorFlow its result complains when nobody uses it."""
    return function


must_use_result_or_fatal = should_use_result


def has_kwargs(fn: Callable) -> bool:
    """Whether a function takes any keyword."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())


def get_func_name(func: Callable) -> str:
    """A name for a function, in messages."""
    return getattr(inspect.unwrap(func), "__name__", type(func).__name__)


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
