"""The public namespace: a definition says where users find it, `publish` hangs it there.

`@export("matmul", "linalg.matmul")` beside a function makes `tf.matmul` and `tf.linalg.matmul`. Names are
those of TensorFlow 1.15, so the whole public surface can be compared with its list of symbols.

A namespace (`tf`, `tf.nn`, `tf.contrib.slim`) is a module: that of a folder, where there is one. The first
public name that is asked for loads the rooms that every program needs (`rooms.py`). Rooms that few need are
loaded by the first use of one of their own names. A name that was found is an attribute from then on.
"""

from __future__ import annotations

import gc
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from tideflow.dispatch import dispatching

T = TypeVar("T")

ROOT = "tideflow"

symbols: dict[str, Any] = {}
_waiting: set[str] = set()  # exported, and not hung on a namespace yet
_rooms: dict[str, str] = {}  # a name, or a namespace -> the room that its first use loads
_loaded = False  # whether all rooms are loaded that every program needs
_published: tuple[int, int, int] | None = None  # the state in which everything was published last


def export(*paths: str, ragged: str | None = None, operator: str | None = None) -> Callable[[T], T]:
    """Decorator: the decorated object is public under each dotted path, relative to `tf`.

    `ragged` and `operator` name its forms for ragged tensors and for linear operators (`dispatch.py`).
    """
    forms = {kind: form for kind, form in (("ragged", ragged), ("operator", operator)) if form is not None}

    def register(obj: T) -> T:
        if forms:
            obj = dispatching(obj, forms)
        expose(obj, *paths)
        return obj

    return register


def expose(obj: Any, *paths: str) -> None:
    """Makes an object that is not a function or class (a dtype, a constant) public under each path."""
    for path in paths:
        if symbols.setdefault(path, obj) is not obj:
            raise ValueError(f"two different objects are exported as tf.{path}")
        _waiting.add(path)
        for space in _prefixes(path):
            module = sys.modules.get(f"{ROOT}.{space}")
            if module is not None and not isinstance(module, Namespace):  # a folder that is a namespace
                module.__class__ = Namespace


def load_when_asked_for(room: str, *paths: str) -> None:
    """The first use of one of these names, or of anything in these namespaces, loads `room`."""
    _rooms.update(dict.fromkeys(paths, room))


def holds_rooms(path: str) -> bool:
    """Whether names below a path belong to rooms that are loaded when asked for."""
    return any(name.startswith(f"{path}.") for name in _rooms)


def load(path: str) -> None:
    """Loads what provides a public name, and publishes it."""
    _import(f"{ROOT}.rooms")
    for space in _prefixes(path):
        if space in _rooms:
            _import(_rooms[space])
    if _loaded and _published != _state():
        publish()


def load_all() -> None:
    """Loads every room: then `symbols` has every public name."""
    _import(f"{ROOT}.rooms")
    while rooms := [room for room in dict.fromkeys(_rooms.values()) if room not in sys.modules]:
        for room in rooms:  # one may promise names of others
            _import(room)
    publish()


def _import(module: str) -> None:
    """Imports a module without garbage collection, which would find none: all that an import makes stays."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        importlib.import_module(module)
    finally:
        if collecting:
            gc.enable()


def publish() -> None:
    """Hangs what was exported on its namespaces, which are made where missing.

    What belongs to the namespace of a room that is not loaded waits for it.
    """
    global _loaded, _published
    _loaded = True
    for path in (*_rooms, *_waiting):
        space, _, name = path.rpartition(".")
        if all(_is_loaded(_rooms[outer]) for outer in _prefixes(space) if outer in _rooms):
            namespace = _namespace(space)
            if path in _waiting:
                setattr(namespace, name, symbols[path])
                _waiting.remove(path)
    _published = _state()


def _state() -> tuple[int, int, int]:
    """What decides whether there is anything to publish: how many rooms, waiting names and loaded rooms."""
    return len(_rooms), len(_waiting), sum(map(_is_loaded, set(_rooms.values())))


def _is_loaded(room: str) -> bool:
    """Whether the import of a room has ended: until then, modules in its folders may still be loaded."""
    module = sys.modules.get(room)
    return module is not None and not getattr(module.__spec__, "_initializing", False)


class Namespace(types.ModuleType):
    """A module that looks for a public name when it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [name for name in dir(self) if not name.startswith("_")]
        if not name.startswith("__"):
            module = f"{self.__name__}.{name}"
            # A module of the folder, as the statement `from tideflow.nn import rnn` asks for one.
            if importlib.machinery.PathFinder.find_spec(module, self.__dict__.get("__path__", ())):
                return importlib.import_module(module)
            load(_path(module))
            if name in self.__dict__:
                return self.__dict__[name]
        raise MissingName(self.__name__, name)

    def __dir__(self) -> list[str]:
        load(_path(self.__name__))
        parts = (path.rpartition(".") for path in _rooms)
        return sorted({*self.__dict__, *(name for space, _, name in parts if space == _path(self.__name__))})


class _Missing(Exception):
    """A public name that is not there, and what is known about it.

    That is looked up when somebody reads the message: `hasattr`, or a `try` around an import, does not wait
    for it.
    """

    _words = ""

    def __init__(self, module: str, name: str):
        super().__init__(module, name)
        self.name = None  # named, Python would add a suggestion of its own, or words that replace these

    def __str__(self) -> str:
        module, name = self.args
        explain = importlib.import_module(f"{ROOT}.programs.modules").why_not
        return f"{self._words.format(module=module, name=name)}. {explain(_path(module), name)}"


class MissingName(_Missing, AttributeError):
    """An attribute that a namespace does not have."""

    _words = "module '{module}' has no attribute '{name}'"


class MissingModule(_Missing, ModuleNotFoundError):
    """A module, or a name of `from … import`, that a namespace does not have."""

    _words = "No module or symbol named '{module}.{name}'"


class NamespaceFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a namespace that has no folder, for `import tideflow.math`."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        found = _find_namespace(name) if name.startswith(f"{ROOT}.") else None
        if found is not None:
            return importlib.machinery.ModuleSpec(name, self)
        parent, _, inner = name.rpartition(".")
        if isinstance(sys.modules.get(parent), Namespace) and not inner.startswith("__"):
            raise MissingModule(parent, inner)
        return None

    def create_module(self, spec: Any) -> Any:
        return _find_namespace(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing: a namespace is complete when it is found."""


def _find_namespace(name: str) -> Namespace | None:
    found: Any = sys.modules[ROOT]
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found if isinstance(found, Namespace) else None


def _namespace(path: str) -> types.ModuleType:
    """The module of a namespace, made where there is none."""
    module = sys.modules[ROOT]
    for space in _prefixes(path):
        child = sys.modules.get(f"{ROOT}.{space}")
        if child is None:
            child = Namespace(f"{ROOT}.{space}", f"The public namespace tf.{space}.")
            child.__path__ = []  # it may have namespaces of its own
            sys.modules[child.__name__] = child
        setattr(module, space.rpartition(".")[2], child)
        module = child
    return module


def _path(module: str) -> str:
    return module[len(ROOT) + 1 :]


def _prefixes(path: str) -> Iterator[str]:
    """The namespaces around a name, the outermost first, and the name itself; nothing for "", which is tf."""
    names = path.split(".") if path else []
    return (".".join(names[: i + 1]) for i in range(len(names)))
