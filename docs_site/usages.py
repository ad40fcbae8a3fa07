"""Uses of a symbol in the repository's own programs and tests: the example of what has no other."""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs_site.locations import ROOT, Location

_LINES = 24  # a use longer than this shows too much beside the symbol
_FOLDERS = ("examples", "tests")


@dataclass(frozen=True)
class Usage:
    """A function of a program or a test in which a symbol is used."""

    text: str
    location: Location


def usage(paths: tuple[str, ...]) -> Usage | None:
    """The shortest function that uses the symbol under one of its paths; an example before a test."""
    found = [use for path in paths for use in _uses().get(path, ())]
    return min(found, key=lambda use: (use.location.file.startswith("tests"), len(use.text)), default=None)


@functools.cache
def _uses() -> dict[str, list[Usage]]:
    found: dict[str, list[Usage]] = {}
    for file in (file for folder in _FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))):
        if "scripts" in file.parts:
            continue
        for use, paths in _functions(file):
            for path in paths:
                found.setdefault(path, []).append(use)
    return found


def _functions(file: Path) -> Iterator[tuple[Usage, set[str]]]:
    source = file.read_text()
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        if node.end_lineno - first >= _LINES:
            continue
        text = textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno]))
        paths = {path for inner in ast.walk(node) if (path := _path(inner))}
        yield Usage(text, Location(file.relative_to(ROOT).as_posix(), node.lineno)), paths


def _path(node: ast.AST) -> str | None:
    """`a.b` of an expression `tf.a.b`."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed(parts)) if parts and isinstance(node, ast.Name) and node.id == "tf" else None
