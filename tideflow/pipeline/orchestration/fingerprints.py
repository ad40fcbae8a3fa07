"""Digests of what a result depends on: files, parameters, and the code of functions.

A function's digest changes when it, or a function, class or constant of the program that it uses, changes.
Comments, and other functions of the same file, do not change it. Installed packages count by their version.
"""

from __future__ import annotations

import builtins
import dataclasses
import hashlib
import inspect
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from google.protobuf.message import Message

from tideflow._version import __version__

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_INSTALLED = tuple(sysconfig.get_paths()[name] for name in ("purelib", "platlib", "stdlib"))
_PACKAGE = str(Path(__file__).parents[2])


def of_file(path: str | os.PathLike[str]) -> str:
    """The digest of a file's bytes.

    Args:
        path: the file.
    """
    with open(path, "rb") as file:
        if sys.version_info >= (3, 11):
            return hashlib.file_digest(file, _digest).hexdigest()
        return _read(file)


def of_folder(folder: Path, of_one: Callable[[Path], str] = of_file) -> str:
    """The digest of all files of a folder with their names, whatever their times and modes.

    Args:
        folder: the folder.
        of_one: a function that gives the digest of a file, for callers that keep digests.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return _joined(f"{path.relative_to(folder).as_posix()}\0{of_one(path)}" for path in files)


def of_value(value: Any) -> str:
    """The digest of a parameter: numbers, strings, collections, messages, arrays, functions, data classes.

    Args:
        value: the parameter.

    Raises:
        TypeError: If equal values of this type cannot be recognised.
    """
    return _joined(_parts(value, set()))


def _digest() -> Any:
    return hashlib.blake2b(digest_size=16)


def _read(file: Any) -> str:
    digest = _digest()
    while data := file.read(1 << 20):
        digest.update(data)
    return str(digest.hexdigest())


def _joined(parts: Iterable[str]) -> str:
    digest = _digest()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape")
        digest.update(len(data).to_bytes(8, "little") + data)
    return str(digest.hexdigest())


def _parts(value: Any, seen: set[int]) -> Iterable[str]:
    """What tells a value from others, in words."""
    if isinstance(value, _PLAIN):
        yield f"{type(value).__name__}:{value!r}"
    elif isinstance(value, Mapping):
        yield f"mapping:{len(value)}"
        for key, each in sorted(value.items(), key=lambda item: repr(item[0])):
            yield from _parts(key, seen)
            yield from _parts(each, seen)
    elif isinstance(value, (set, frozenset)):
        yield f"set:{len(value)}"
        yield from sorted(_joined(_parts(each, seen)) for each in value)
    elif isinstance(value, (list, tuple)):
        yield f"sequence:{len(value)}"
        for each in value:
            yield from _parts(each, seen)
    elif isinstance(value, os.PathLike):
        yield f"path:{os.fspath(value)!r}"
    elif isinstance(value, np.ndarray):
        yield f"array:{value.dtype}:{value.shape}:{_joined([value.tobytes().hex()])}"
    elif isinstance(value, np.generic):
        yield f"array:{value.dtype}:{value!r}"
    elif isinstance(value, Message):
        text = value.SerializeToString(deterministic=True).hex()
        yield f"message:{value.DESCRIPTOR.full_name}:{text}"
    elif isinstance(value, partial):
        yield "partial"
        yield from _parts([value.func, value.args, value.keywords], seen)
    elif isinstance(value, MethodType):
        yield "method"
        yield from _parts([value.__func__, vars(value.__self__)], seen)
    elif isinstance(value, FunctionType):
        yield from _of_function(value, seen)
    elif isinstance(value, type):
        yield from _of_class(value, seen)
    elif isinstance(value, ModuleType):
        yield f"module:{value.__name__}:{_version(value)}"
    elif dataclasses.is_dataclass(value):
        yield from _parts(
            [type(value), {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}], seen
        )
    elif callable(value) and hasattr(value, "__module__") and hasattr(value, "__qualname__"):
        yield f"callable:{value.__module__}.{value.__qualname__}"
    else:
        raise TypeError(
            f"{value!r} cannot be a parameter of a component: nothing tells whether two values of "
            f"{type(value).__name__} are equal. Give numbers, strings, collections, messages, functions or "
            "data classes"
        )


def _of_function(function: FunctionType, seen: set[int]) -> Iterable[str]:
    name = f"{function.__module__}.{function.__qualname__}"
    if _is_installed(inspect.getsourcefile(function) or function.__code__.co_filename):
        yield f"function:{name}:{_version(sys.modules.get(function.__module__))}"
        return
    yield f"function:{function.__qualname__}"
    if id(function) in seen:
        return
    seen.add(id(function))
    yield from _of_code(function.__code__)
    yield from _parts([function.__defaults__, function.__kwdefaults__], seen)
    for cell in function.__closure__ or ():
        yield from _of_used(_contents(cell), seen)
    for used in sorted(_names(function.__code__)):
        if used in function.__globals__:
            yield f"global:{used}"
            yield from _of_used(function.__globals__[used], seen)
        elif not hasattr(builtins, used):
            yield f"unknown:{used}"


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _of_used(value: Any, seen: set[int]) -> Iterable[str]:
    """Of what a function refers to, objects that cannot be compared count by their type alone."""
    try:
        yield from list(_parts(value, seen))
    except TypeError:
        yield f"object:{type(value).__module__}.{type(value).__qualname__}"


def _of_code(code: CodeType) -> Iterable[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _of_code(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))
        else:
            yield repr(constant)


def _names(code: CodeType) -> set[str]:
    inner = [_names(each) for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*inner)


def _of_class(kind: type, seen: set[int]) -> Iterable[str]:
    yield f"class:{kind.__module__ if _class_is_installed(kind) else ''}.{kind.__qualname__}"
    if id(kind) in seen:
        return
    seen.add(id(kind))
    if _class_is_installed(kind):
        yield _version(sys.modules.get(kind.__module__))
        return
    yield from _parts(list(kind.__bases__), seen)
    for name, value in sorted(vars(kind).items()):
        if not name.startswith("__") or callable(value):
            yield name
            yield from _of_used(getattr(value, "__func__", value), seen)


def _class_is_installed(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    return module is not None and _is_installed(getattr(module, "__file__", None))


def _is_installed(file: str | None) -> bool:
    return file is None or file.startswith((*_INSTALLED, _PACKAGE))


def _version(module: ModuleType | None) -> str:
    """The version of the package that a module is of; of a program's own module, the digest of its file."""
    if module is None:
        return ""
    file = getattr(module, "__file__", None)
    if file is not None and not _is_installed(file):
        return of_file(file)
    root = module.__name__.partition(".")[0]
    return __version__ if root == "tideflow" else str(getattr(sys.modules.get(root), "__version__", ""))
