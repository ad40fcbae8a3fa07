"""Names that Python and NumPy had when TensorFlow 1.15 was new and have dropped since. Programs of that time,
and packages beside TensorFlow such as keras 2.3, take them for granted.
"""

from __future__ import annotations

import collections
import collections.abc
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_OF_NUMPY = {
    "bool": bool,
    "complex": complex,
    "float": float,
    "int": int,
    "object": object,
    "str": str,
    "Inf": np.inf,
    "NaN": np.nan,
    "NINF": -np.inf,
    "PINF": np.inf,
    "alltrue": np.all,
    "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype=dtype),
    "asscalar": lambda array: array.item(),
    "cfloat": np.complex128,
    "complex_": np.complex128,
    "cumproduct": np.cumprod,
    "float_": np.float64,
    "in1d": lambda ar1, ar2, *args, **kwargs: np.isin(ar1, ar2, *args, **kwargs).ravel(),
    "infty": np.inf,
    "mat": np.asmatrix,
    "product": np.prod,
    "round_": np.round,
    "row_stack": np.vstack,
    "sometrue": np.any,
    "string_": np.bytes_,
    "trapz": getattr(np, "trapezoid", None),
    "unicode_": np.str_,
}


class ArgSpec(NamedTuple):
    """What `inspect.getargspec` gave."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def _getargspec(function: Callable) -> ArgSpec:
    found = inspect.getfullargspec(function)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def restore() -> None:
    """Puts the old names back where this Python and this NumPy lack them."""
    for name in collections.abc.__all__:
        _put(collections, name, getattr(collections.abc, name))
    _put(inspect, "getargspec", _getargspec)
    for name, value in _OF_NUMPY.items():
        _put(np, name, value)


def _put(module: Any, name: str, value: Any) -> None:
    if name not in vars(module):
        setattr(module, name, value)
