"""What TensorFlow 1.15 has: its public symbols with their arguments, and its op types.

Of the files in `graph/data/`, `api.txt` has a line a symbol and, under a class, a line of its members;
`api_more.txt` has those of Keras, estimators and the like, `api_contrib.txt` those of contrib, its classes
without members; `op_defs.json` has the op types.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple


class Argument(NamedTuple):
    """An argument as the list writes it: the default is text, None where there is none."""

    name: str  # with its star or stars, if it has any
    default: str | None

    def __str__(self) -> str:
        return self.name if self.default is None else f"{self.name}={self.default}"


@dataclass(frozen=True)
class Symbol:
    """A public name. `arguments` is None for what is not called: values, namespaces, messages."""

    path: str  # "nn.relu", without the leading "tf."
    is_class: bool
    arguments: tuple[Argument, ...] | None
    members: tuple[str, ...] = ()

    @property
    def area(self) -> str:
        """The namespace it stands in: "tf.nn"."""
        return ".".join(["tf", *self.path.split(".")[:-1]])


@functools.cache
def symbols() -> dict[str, Symbol]:
    """TensorFlow 1.15's public symbols by path, but for those of `more_symbols` and `contrib_symbols`."""
    return _read("api.txt")


@functools.cache
def more_symbols() -> dict[str, Symbol]:
    """The symbols of Keras, estimators, AutoGraph, TPUs and XLA, by path."""
    return {path: symbol for path, symbol in _read("api_more.txt").items() if path not in symbols()}


@functools.cache
def contrib_symbols() -> dict[str, Symbol]:
    """The symbols of contrib's modules: what a module lists as its own or, where it has no list, defines."""
    return _read("api_contrib.txt")


def is_in_tensorflow(path: str) -> bool:
    """Whether TensorFlow 1.15 has a public symbol, or a namespace, at a path."""
    return path in _paths()


@functools.cache
def _paths() -> frozenset[str]:
    found: set[str] = set()
    for path in (*symbols(), *more_symbols(), *contrib_symbols()):
        names = path.split(".")
        found.update(".".join(names[:i]) for i in range(1, len(names) + 1))
    return frozenset(found)


def _read(name: str) -> dict[str, Symbol]:
    found: list[Symbol] = []
    for line in _data(name).splitlines():
        if line.startswith("      "):
            last = found.pop()
            found.append(Symbol(last.path, True, last.arguments, tuple(line.strip().split(", "))))
        elif line.startswith(("tf.", "class tf.")):
            found.append(_symbol(line.strip()))
    return {symbol.path: symbol for symbol in found}


@functools.cache
def op_types() -> dict[str, Any]:
    """TensorFlow 1.15's op types by name: inputs, outputs, attributes."""
    return json.loads(_data("op_defs.json"))


def op_attributes(op_type: str) -> list[str]:
    """The attributes of an op type in TensorFlow's order, without those that came after 1.15."""
    later = _later_attributes().get(op_type, ())
    return [name for name in op_types()[op_type]["attrs"] if name not in later]


@functools.cache
def _later_attributes() -> dict[str, list[str]]:
    return json.loads(_data("attrs_after_1_15.json"))


def _data(name: str) -> str:
    return resources.files("tideflow.graph").joinpath(f"data/{name}").read_text(encoding="utf-8")


def _symbol(line: str) -> Symbol:
    is_class = line.startswith("class ")
    path, parenthesis, rest = line.removeprefix("class ").removeprefix("tf.").partition("(")
    arguments = None
    if parenthesis:
        arguments = tuple(map(_argument, _split(rest.removesuffix(")"))))
        if is_class:  # without `self`, it is made by `__new__`, whose arguments the list does not have
            arguments = arguments[1:] if arguments else None
    return Symbol(path, is_class, arguments)


def _split(text: str) -> list[str]:
    """The arguments of a list of them: those commas divide that stand outside all brackets."""
    parts, depth = [""], 0
    for piece in text.split(", "):
        parts[-1] += f", {piece}" if depth else piece
        depth += sum(piece.count(c) for c in "([{") - sum(piece.count(c) for c in ")]}")
        if not depth:
            parts.append("")
    return [part for part in parts if part]


def _argument(text: str) -> Argument:
    name, equals, default = text.partition("=")
    return Argument(name, default if equals else None)
