"""Which arguments a function of the user's takes: it is given those that it names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def fn_args(fn: Callable) -> tuple[str, ...]:
    """The names of a function's arguments; `self` of a bound method is none, nor what a partial binds."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    bound = fn.keywords if isinstance(fn, functools.partial) else {}
    parameters = inspect.signature(fn).parameters.values()
    return tuple(p.name for p in parameters if p.kind not in kinds and p.name not in bound)


def those_taken(fn: Callable, **offered: Any) -> dict[str, Any]:
    """Of the arguments that are offered, those that a function names."""
    names = fn_args(fn)
    return {name: value for name, value in offered.items() if name in names}
