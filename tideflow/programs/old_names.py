"""Names that Python, NumPy and others had when TensorFlow 1.15 was new and have dropped since. Programs then,
and packages beside TensorFlow such as keras 2.3, take them for granted.
"""

from __future__ import annotations

import base64
import collections
import collections.abc
import fractions
import functools
import importlib.abc
import importlib.machinery
import inspect
import math
import sys
import threading
import time
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tideflow.programs import old_arrays


def _find_common_type(array_types: Sequence[Any], scalar_types: Sequence[Any]) -> np.dtype:
    """The type of arrays and scalars together: scalars count only where they are of a higher kind."""
    kinds = "buifcO"
    arrays, scalars = (np.result_type(*types) if types else None for types in (array_types, scalar_types))
    if arrays is None or scalars is not None and kinds.find(scalars.kind) > kinds.find(arrays.kind):
        return scalars if scalars is not None else arrays  # type: ignore[return-value]
    return arrays


_OF_NUMPY = {
    "bool": bool,
    "complex": complex,
    "float": float,
    "int": int,
    "object": object,
    "str": str,
    "unicode": str,
    **dict.fromkeys(("Inf", "Infinity", "PINF", "infty"), np.inf),
    **dict.fromkeys(("NAN", "NaN"), np.nan),
    "NINF": -np.inf,
    "AxisError": np.exceptions.AxisError,
    "ComplexWarning": np.exceptions.ComplexWarning,
    "RankWarning": getattr(np.exceptions, "RankWarning", None),  # NumPy 1 has the name itself
    "VisibleDeprecationWarning": np.exceptions.VisibleDeprecationWarning,
    "alltrue": np.all,
    "asfarray": lambda a, dtype=np.float64: np.asarray(
        a, dtype if np.issubdtype(dtype, np.inexact) else np.float64
    ),
    "asscalar": lambda a: a.item(),
    "bool8": np.bool_,
    "cfloat": np.complex128,
    "complex_": np.complex128,
    "cumproduct": np.cumprod,
    "find_common_type": _find_common_type,
    "float_": np.float64,
    "in1d": lambda ar1, ar2, assume_unique=False, invert=False: np.isin(
        np.ravel(ar1), ar2, assume_unique, invert
    ),
    "issubsctype": lambda arg1, arg2: np.issubdtype(np.dtype(arg1), np.dtype(arg2).type),
    "longfloat": np.longdouble,
    "mat": np.asmatrix,
    "msort": lambda a: np.sort(a, axis=0),
    "obj2sctype": lambda rep: np.dtype(rep).type,
    "product": np.prod,
    "round_": np.round,
    "row_stack": np.vstack,
    "sctypes": {
        "int": [np.int8, np.int16, np.int32, np.int64],
        "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
        "float": [np.float16, np.float32, np.float64, np.longdouble],
        "complex": [np.complex64, np.complex128, np.clongdouble],
        "others": [bool, object, bytes, str, np.void],
    },
    "singlecomplex": np.complex64,
    "sometrue": np.any,
    "string_": np.bytes_,
    "trapz": getattr(np, "trapezoid", None),  # NumPy 1 has the name itself
    "typeDict": np.sctypeDict,
    "unicode_": np.str_,
}


# `numpy.lib` showed the functions of its parts; programs called these there.
_OF_NUMPY_LIB = "pad tile unique interp meshgrid median percentile rot90 flip nanmean iscomplexobj".split()


# Modules beside NumPy, and the names that took the place of those they had. They are looked at when imported.
_RENAMED = {
    "PIL.Image": {"ANTIALIAS": "LANCZOS", "CUBIC": "BICUBIC", "LINEAR": "BILINEAR"},
}


class _Text(str):
    """A text that is decoded like the bytes it was."""

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The text."""
        return str(self)


def _texts_decode(attrs: types.ModuleType) -> None:
    """Attributes of HDF5 files that are texts were bytes before h5py 3, and programs decode them."""
    manager = attrs.AttributeManager
    read = manager.__getitem__
    if getattr(read, "gives_texts_that_decode", False):
        return

    @functools.wraps(read)
    def getitem(self: Any, name: Any) -> Any:
        value = read(self, name)
        if isinstance(value, np.ndarray) and value.dtype == object:
            return np.array([_Text(x) if type(x) is str else x for x in value.flat], object).reshape(
                value.shape
            )
        return _Text(value) if type(value) is str else value

    getitem.gives_texts_that_decode = True  # type: ignore[attr-defined]

    manager.__getitem__ = getitem


def _files_are_made(files: types.ModuleType) -> None:
    """A file of HDF5 that is opened without a mode was made, or could be written to, before h5py 3; its
    identifier was called `fid`, too.
    """
    _put(files.File, "fid", property(lambda self: self.id))
    opened = files.File.__init__
    if getattr(opened, "makes_files", False):
        return

    @functools.wraps(opened)
    def init(self: Any, name: Any, mode: str | None = None, *args: Any, **options: Any) -> None:
        try:
            opened(self, name, mode or "a", *args, **options)
        except OSError:
            if mode is not None:
                raise
            opened(self, name, "r", *args, **options)

    init.makes_files = True  # type: ignore[attr-defined]
    files.File.__init__ = init


def _values_are_read(datasets: types.ModuleType) -> None:
    """A dataset of HDF5 had all it holds as `value`, before h5py 3."""
    _put(datasets.Dataset, "value", property(lambda self: self[()]))


# Modules that did something else, and what makes them do it again.
_MENDED: dict[str, Callable[[types.ModuleType], None]] = {
    "h5py._hl.attrs": _texts_decode,
    "h5py._hl.dataset": _values_are_read,
    "h5py._hl.files": _files_are_made,
}


class _Finder(importlib.abc.MetaPathFinder):
    """Lets modules that a program imports have their old names too."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _RENAMED and name not in _MENDED:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module: types.ModuleType) -> None:
        super().exec_module(module)
        _make_old(module)


def _make_old(module: types.ModuleType) -> None:
    for old, new in _RENAMED.get(module.__name__, {}).items():
        if hasattr(module, new):
            _put(module, old, getattr(module, new))
    if module.__name__ in _MENDED:
        _MENDED[module.__name__](module)


class ArgSpec(NamedTuple):
    """What `inspect.getargspec` gave."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def _getargspec(function: Callable) -> ArgSpec:
    found = inspect.getfullargspec(function)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def _allow_needless_copies() -> None:
    """Gives `np.array(a, copy=False)` its old meaning: it copies where it must, and is not refused."""
    made = np.array
    if hasattr(made, "__wrapped__") or np.lib.NumpyVersion(np.__version__) < "2.0.0":
        return

    @functools.wraps(made)
    def array(*args: Any, **options: Any) -> Any:
        if options.get("copy", True) is False:
            options["copy"] = None
        return made(*args, **options)

    np.array = array  # type: ignore[assignment]


def _take_kinds_of_numbers() -> None:
    """Gives `np.issubdtype(dtype, float)` its old meaning: any float is one, not those of 64 bits alone."""
    known = np.issubdtype
    if hasattr(known, "__wrapped__"):
        return
    kinds = {int: np.signedinteger, float: np.floating, complex: np.complexfloating}

    @functools.wraps(known)
    def issubdtype(arg1: Any, arg2: Any) -> bool:
        return known(arg1, kinds.get(arg2, arg2) if isinstance(arg2, type) else arg2)

    np.issubdtype = issubdtype


def _reshape_to_new_shapes() -> None:
    """Gives `np.reshape(a, newshape=(2, 2))` its old name of the argument, which is `shape` now."""
    known = np.reshape
    if "newshape" in inspect.signature(known).parameters or hasattr(known, "_old"):
        return

    @functools.wraps(known)
    def reshape(a: Any, *args: Any, **options: Any) -> Any:
        if "newshape" in options:
            options["shape"] = options.pop("newshape")
        return known(a, *args, **options)

    reshape._old = known  # type: ignore[attr-defined]
    np.reshape = reshape


def restore() -> None:
    """Puts the old names back where this Python and this NumPy lack them."""
    old_arrays.restore()
    _allow_needless_copies()
    _take_kinds_of_numbers()
    _reshape_to_new_shapes()
    for name in (*_RENAMED, *_MENDED):
        if name in sys.modules:
            _make_old(sys.modules[name])
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for name in collections.abc.__all__:
        _put(collections, name, getattr(collections.abc, name))
    _put(base64, "decodestring", base64.decodebytes)
    _put(base64, "encodestring", base64.encodebytes)
    _put(fractions, "gcd", math.gcd)
    _put(inspect, "getargspec", _getargspec)
    _put(threading.Thread, "isAlive", threading.Thread.is_alive)
    _put(time, "clock", time.perf_counter)
    for name, value in _OF_NUMPY.items():
        _put(np, name, value)
    for name in _OF_NUMPY_LIB:
        _put(np.lib, name, getattr(np, name))


def _put(module: Any, name: str, value: Any) -> None:
    if name not in vars(module):
        setattr(module, name, value)
