"""Which public symbols there are: `tideflow.export.symbols` by object, so that aliases share one entry."""

from __future__ import annotations

import inspect
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

import tideflow
from tideflow.export import load_all, symbols

_SECOND_HAND = ("contrib.", "compat.", "keras.")  # namespaces that mostly repeat what is found elsewhere


@dataclass(frozen=True, eq=False)
class Entry:
    """One public object: the path it is documented under, its other paths, and what kind of thing it is."""

    path: str
    aliases: tuple[str, ...]
    obj: Any
    kind: str  # "function", "class", "message", "dtype", "module" or "value"

    @property
    def name(self) -> str:
        return f"tf.{self.path}"

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path, *self.aliases)


def entries() -> list[Entry]:
    """Every public object, sorted by path."""
    load_all()
    groups: dict[Any, list[str]] = defaultdict(list)
    for path, obj in symbols.items():
        groups[_identity(path, obj)].append(path)
    found = []
    for paths in groups.values():
        first = min(paths, key=lambda path: path.startswith(_SECOND_HAND))
        others = tuple(sorted(path for path in paths if path != first))
        found.append(Entry(first, others, symbols[first], _kind(symbols[first])))
    return sorted(found, key=lambda entry: (entry.path.lower(), entry.path))


def namespaces(found: list[Entry]) -> dict[str, dict[str, Entry]]:
    """The entries by namespace ("" is `tf` itself) and path, under every path that they have."""
    spaces: dict[str, dict[str, Entry]] = defaultdict(dict)
    for entry in found:
        for path in entry.paths:
            spaces[path.rpartition(".")[0]][path] = entry
    return {
        space: dict(sorted(spaces[space].items(), key=lambda item: item[0].lower()))
        for space in sorted(spaces, key=str.lower)
    }


def about(space: str) -> str:
    """The first sentence about a namespace: its module's docstring, if somebody wrote one."""
    module: Any = tideflow
    for part in space.split(".") if space else ():
        module = getattr(module, part)
    doc = inspect.getdoc(module) or ""
    return "" if doc.startswith("The public namespace") else doc.partition("\n\n")[0]


def _identity(path: str, obj: Any) -> Any:
    """Paths with the same identity are aliases. Equal numbers and strings are so only under one name."""
    if isinstance(obj, (str, int, float, bytes, type(None))):
        return path.rpartition(".")[2], obj
    return id(obj)


def _kind(obj: Any) -> str:
    if inspect.ismodule(obj):
        return "module"
    if inspect.isclass(obj):
        return "message" if issubclass(obj, Message) else "class"
    if isinstance(obj, tideflow.DType):
        return "dtype"
    return "function" if callable(obj) else "value"
