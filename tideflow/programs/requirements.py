"""Which modules a program imports beside TensorFlow that are not installed, read from its imports alone."""

from __future__ import annotations

import ast
import functools
import importlib.util
from collections.abc import Iterator
from pathlib import Path

# Modules of Python's own library that are gone, and what took their place.
_GONE = {
    "__builtin__": "builtins",
    "ConfigParser": "configparser",
    "Queue": "queue",
    "SocketServer": "socketserver",
    "StringIO": "io",
    "Tkinter": "tkinter",
    "asyncore": "asyncio",
    "cPickle": "pickle",
    "cStringIO": "io",
    "commands": "subprocess",
    "copy_reg": "copyreg",
    "distutils": "setuptools",
    "httplib": "http.client",
    "imp": "importlib",
    "thread": "_thread",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "xmlrpclib": "xmlrpc.client",
}


def folders(program: Path, checked: Path) -> list[Path]:
    """Where a program's own modules may lie: beside it, further up to the folder that is checked or to the
    root of its package, and where the command is run.
    """
    program, checked = program.absolute(), checked.absolute()
    found = [program.parent]
    while (found[-1] != checked and checked in found[-1].parents) or (found[-1] / "__init__.py").is_file():
        found.append(found[-1].parent)
    return [*found, Path.cwd()]


def why_missing(module: str, level: int, places: list[Path]) -> str:
    """What to say of an imported module that is not there; nothing where it is, or cannot be known.

    `level` is the number of dots before it.
    """
    name = module.partition(".")[0]
    if level:
        package = places[0]
        for _ in range(level - 1):
            package = package.parent
        return "" if not name or _has(package, name) else f"{package} has no such module"
    if any(_has(place, name) for place in places) or _is_installed(name):
        return ""
    if name in _GONE:
        return f"no longer in Python: {_GONE[name]} took its place"
    return "not installed"


def is_conditional(node: ast.Try | ast.If) -> bool:
    """Whether a program that lacks what is imported here goes on without it, or takes something else."""
    if isinstance(node, ast.Try):
        caught = [handler.type for handler in node.handlers]
        return any(kind is None or not _IMPORT_ERRORS.isdisjoint(_words(kind)) for kind in caught)
    return not _VERSIONS.isdisjoint(_words(node.test))


_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
# Of Python, or of TensorFlow: what a test of these leads to may be meant for another version.
_VERSIONS = {
    "version_info",
    "version",
    "python_version",
    "PY2",
    "PY3",
    "VERSION",
    "__version__",
    "TYPE_CHECKING",
}


def _words(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _has(folder: Path, name: str) -> bool:
    return (folder / f"{name}.py").is_file() or (folder / name).is_dir() or any(folder.glob(f"{name}.*.so"))


@functools.cache
def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ValueError:  # a module that is loaded and has no spec, such as __main__
        return True
