"""Where a public object is defined: the file and line that its page links to."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from pathlib import Path
from typing import Any, NamedTuple

import tideflow

PACKAGE = Path(tideflow.__file__).parent
ROOT = PACKAGE.parent


class Location(NamedTuple):
    """A line of a file, whose path is relative to the repository."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def location(path: str, obj: Any) -> Location | None:
    """Where the symbol `tf.<path>` is defined, or, for what comes from another package, made public."""
    return _of_definition(obj) or _of_assignment(obj) or _of_words(path)


def _of_definition(obj: Any) -> Location | None:
    """Of functions and classes that stand in a module by their own name."""
    obj = inspect.unwrap(obj) if callable(obj) else obj
    module, name = getattr(obj, "__module__", None), getattr(obj, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or not Path(file).is_relative_to(PACKAGE):
        return None
    line = _definitions(file).get(name)
    return None if line is None else Location(_relative(file), line)


def _of_assignment(obj: Any) -> Location | None:
    """Of what a module gets by a call: `exp = unary("Exp", …)`."""
    if isinstance(obj, (str, int, float, type(None))):
        return None
    obj = inspect.unwrap(obj) if callable(obj) else obj
    for file, name in _bindings().get(id(obj), ()):
        line = _definitions(file).get(name)
        if line is not None:
            return Location(_relative(file), line)
    return None


def _of_words(path: str) -> Location | None:
    """Of the rest: the line that says the path, or as much of its end as any line says."""
    parts = path.split(".")
    for start in range(len(parts)):
        found = _words().get(".".join(parts[start:]), ())
        if found:  # several files may say one word: the one that is called like the namespace is meant
            return max(found, key=lambda place: any(part in place.file for part in parts[:-1]))
    return None


def _relative(file: str | Path) -> str:
    return Path(file).relative_to(ROOT).as_posix()


@functools.cache
def _tree(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text())


@functools.cache
def _definitions(file: str) -> dict[str, int]:
    """The lines of a file's functions, classes, methods ("Class.method") and assigned names."""
    lines: dict[str, int] = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                lines.setdefault(prefix + node.name, node.lineno)
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            lines.setdefault(prefix + name.id, node.lineno)
            elif isinstance(node, (ast.If, ast.For, ast.With, ast.Try)):
                visit(node.body, prefix)

    visit(_tree(file).body, "")
    return lines


@functools.cache
def _bindings() -> dict[int, list[tuple[str, str]]]:
    """Which names of which files an object is bound to, by its id."""
    found: dict[int, list[tuple[str, str]]] = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file is None or not Path(file).is_relative_to(PACKAGE):
            continue
        for name, value in vars(module).items():
            found.setdefault(id(value), []).append((file, name))
    return found


@functools.cache
def _words() -> dict[str, list[Location]]:
    """Where modules that make symbols public say a word: as a string, an import, a name, a string's part."""
    strings, imports, names, parts = [], [], [], []
    for file in sorted(PACKAGE.rglob("*.py")):
        if "tideflow.export" not in file.read_text():
            continue
        place = functools.partial(Location, _relative(file))
        names += [(word, place(line)) for word, line in _definitions(str(file)).items()]
        for node in ast.walk(_tree(str(file))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings.append((node.value.strip("."), place(node.lineno)))
                parts += [(word, place(node.lineno)) for word in set(node.value.split())]
            elif isinstance(node, ast.ImportFrom):
                imports += [(alias.asname or alias.name, place(node.lineno)) for alias in node.names]
    found: dict[str, list[Location]] = {}
    for word, line in strings + imports + names + parts:
        found.setdefault(word, []).append(line)
    return found
