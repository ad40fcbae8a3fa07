"""A docstring in Google's style (Args, Returns, Raises, Examples) as its parts, each in Markdown."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import griffe

Link = Callable[[str], str | None]  # from "nn.relu" to the address of its page


@dataclass
class Docstring:
    """What a docstring says, by part. Texts are Markdown."""

    text: str = ""
    arguments: dict[str, str] = field(default_factory=dict)
    returns: str = ""
    raises: list[tuple[str, str]] = field(default_factory=list)
    examples: str = ""  # a program, as it stands

    @property
    def summary(self) -> str:
        """The first sentence, or the first paragraph where it is hard to tell."""
        first = self.text.partition("\n\n")[0].replace("\n", " ")
        return re.split(r"(?<=[.!?])\s+(?=[A-Z`])", first, maxsplit=1)[0]


def of(obj: Any) -> Docstring:
    """The parts of an object's own docstring; what it got from a class of another package is not its own."""
    if isinstance(obj, functools.partial):
        obj = obj.func
    if not (
        inspect.isroutine(obj) or inspect.isclass(obj) or inspect.ismodule(obj) or isinstance(obj, property)
    ):
        obj = inspect.unwrap(obj) if hasattr(obj, "__wrapped__") else None
    doc = inspect.getdoc(obj) if obj is not None else None
    if not doc or inspect.isclass(obj) and doc in {inspect.getdoc(base) for base in _foreign(obj)}:
        return Docstring()
    return parsed(doc)


def parsed(doc: str) -> Docstring:
    """The parts of a docstring."""
    found = Docstring()
    texts = []
    for section in griffe.Docstring(doc, lineno=1).parse("google", warnings=False):
        kind, value = section.kind.value, section.value
        if kind == "text":
            texts.append(value)
        elif kind in ("parameters", "other parameters", "attributes"):
            found.arguments |= {item.name.lstrip("*"): item.description for item in value}
        elif kind in ("returns", "yields"):
            found.returns = "\n".join(_returned(item) for item in value)
        elif kind == "raises":
            found.raises += [(str(item.annotation), item.description) for item in value]
        elif kind == "examples":
            found.examples = "\n".join(text for _, text in value)
        elif kind == "admonition" and value.kind in ("example", "examples"):
            found.examples = value.contents
        elif kind == "admonition":
            texts.append(f"**{section.title}.** {value.contents}")
    found.text = "\n\n".join(texts)
    return found


def markdown(text: str, link: Link) -> str:
    """Text as Markdown: what is code is left alone, symbols in it are linked, the rest means itself."""
    pieces = re.split(r"(```.*?```|``[^`]+``|`[^`\n]+`)", text, flags=re.DOTALL)
    return "".join(_linked(piece, link) if i % 2 else _escaped(piece) for i, piece in enumerate(pieces))


def _returned(item: Any) -> str:
    kind = f"`{item.annotation}`: " if item.annotation else ""
    return kind + item.description


def _escaped(text: str) -> str:
    """Signs that Markdown or HTML would take for their own; a `*` or `-` that begins a list stays."""
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"(?<!^)(?<!\n)[*_]", r"\\\g<0>", text)


def _linked(code: str, link: Link) -> str:
    symbol = re.fullmatch(r"`tf\.([\w.]+?)(\(\))?`", code)
    address = link(symbol[1]) if symbol else None
    return f"[{code}]({address})" if address else code


def _foreign(obj: type) -> list[type]:
    return [base for base in obj.__mro__ if not str(base.__module__).startswith("tideflow")]
