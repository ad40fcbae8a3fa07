"""What NumPy's arrays themselves could do when TensorFlow 1.15 was new: `tostring` and other methods, and
`int` and `float` of an array of one element, whatever its rank.

Arrays are a type in C, which Python's assignments do not reach. Methods are put into the type's own
dictionary; `int` and `float` take the way that CPython makes for classes that define `__int__` and
`__float__` in Python: a slot of the type that calls what the dictionary has.
"""

from __future__ import annotations

import ctypes
import gc
import sysconfig
from collections.abc import Callable
from typing import Any

import numpy as np

_WORD = ctypes.sizeof(ctypes.c_void_p)
_NUMBERS = 12 * _WORD  # where CPython's types keep `tp_as_number`
_CONVERSIONS = {"__int__": 16 * _WORD, "__float__": 18 * _WORD}  # that table's `nb_int` and `nb_float`


def _itemset(array: np.ndarray, *args: Any) -> None:
    *place, value = args
    if len(place) == 1 and isinstance(place[0], int):
        array.flat[place[0]] = value
    else:
        array[place[0] if len(place) == 1 else tuple(place)] = value


_METHODS: dict[str, Callable] = {
    "tostring": lambda array, order="C": array.tobytes(order),
    "ptp": lambda array, axis=None, out=None, keepdims=False: np.ptp(array, axis, out, keepdims),
    "newbyteorder": lambda array, new_order="S": array.view(array.dtype.newbyteorder(new_order)),
}


def restore() -> None:
    """Gives arrays back what this NumPy has dropped. Does nothing where it has all of it."""
    for kind in (np.ndarray, np.generic):
        for name, method in _METHODS.items():
            if not hasattr(kind, name):
                _put(kind, name, method)
    if not hasattr(np.ndarray, "itemset"):
        _put(np.ndarray, "itemset", _itemset)
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):  # the types of those builds look different
        for name, offset in _CONVERSIONS.items():
            _convert_single_elements(name, offset)


def _put(kind: type, name: str, value: Any) -> None:
    (members,) = gc.get_referents(vars(kind))
    members[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _convert_single_elements(name: str, offset: int) -> None:
    """Lets the conversion take an array of any rank that has one element. Others are NumPy's own matter."""
    convert = vars(np.ndarray)[name]
    if getattr(convert, "takes_single_elements", False) or _takes_single_elements():
        return

    def converted(array: np.ndarray) -> Any:
        return convert(np.asarray(array).reshape(()) if array.size == 1 else array)

    converted.takes_single_elements = True  # type: ignore[attr-defined]
    in_python = type("_InPython", (np.ndarray,), {name: converted})
    in_c = _slot(np.ndarray, offset).value
    if _slot(type("_Inherited", (np.ndarray,), {}), offset).value != in_c:
        return  # this is not the slot: a Python with other types
    for kind in (np.ndarray, *_below(np.ndarray)):
        if _slot(kind, offset).value == in_c:
            _slot(kind, offset).value = _slot(in_python, offset).value
    _put(np.ndarray, name, converted)


def _takes_single_elements() -> bool:
    return np.lib.NumpyVersion(np.__version__) < "2.4.0"


def _below(kind: type) -> list[type]:
    return [below for child in kind.__subclasses__() for below in (child, *_below(child))]


def _slot(kind: type, offset: int) -> ctypes.c_void_p:
    numbers = ctypes.c_void_p.from_address(id(kind) + _NUMBERS).value
    return ctypes.c_void_p.from_address((numbers or 0) + offset)
