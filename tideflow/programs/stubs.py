"""What editors and type checkers read: `tideflow-stubs/`, a stub for each public namespace.

Public names hang on their namespaces when the package is loaded, so no source file lists them. A stub does: a
name is imported from where its `def` or `class` stands; what has none (a family of ops is made by calls, a
constant is assigned) is written down with its signature. `python -m tideflow.programs.stubs` writes them all.
"""

from __future__ import annotations

import ast
import functools
import inspect
import keyword
import re
import sys
import textwrap
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import tideflow
from tideflow import export, raw_ops

FOLDER = Path(tideflow.__file__).parent.parent / "tideflow-stubs"
_HEADER = "# Written by `python -m tideflow.programs.stubs`.\n"
_KNOWN = {  # what annotations of functions without a `def` may name, and how a stub names it
    "Any": "from typing import Any as _Any",
    "Operation": "from tideflow.graph.operation import Operation as _Operation",
    "Tensor": "from tideflow.graph.operation import Tensor as _Tensor",
    **{
        name: f"from tideflow.graph.typing import {name} as _{name}"
        for name in ("DTypeLike", "ShapeLike", "TensorLike")
    },
    **{
        name: f"from builtins import {name} as _{name}"
        for name in ("bool", "bytes", "dict", "float", "int", "list", "str", "tuple")
    },
    "None": "",
}


def write(folder: Path = FOLDER) -> None:
    """Writes the stubs; those of namespaces that are gone are removed."""
    wanted = stubs()
    for path in folder.rglob("*.pyi"):
        if str(path.relative_to(folder)) not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def stubs() -> dict[str, str]:
    """The text of every file by its path in the folder."""
    export.load_all()
    spaces: dict[str, dict[str, Any]] = defaultdict(dict)
    for path, value in export.symbols.items():
        space, _, name = path.rpartition(".")
        spaces[space][name] = value
    spaces["raw_ops"] = {name: value for name, value in vars(raw_ops).items() if inspect.isfunction(value)}
    spaces["compat.v1"] = {}
    for space in list(spaces):
        while space:  # namespaces that hold nothing but namespaces
            space = space.rpartition(".")[0]
            spaces[space]
    files = {_file_of(space): _stub(space, names, _inner(space, spaces)) for space, names in spaces.items()}
    # Modules that no stub speaks of are read from the package itself.
    return {**files, "py.typed": "partial\n", _file_of("compat.v1"): f"{_HEADER}\nfrom tideflow import *\n"}


def _file_of(space: str) -> str:
    return "/".join([*filter(None, space.split(".")), "__init__.pyi"])


def _inner(space: str, spaces: Iterable[str]) -> list[str]:
    """The namespaces that stand right in a namespace."""
    return sorted(other.rpartition(".")[2] for other in spaces if other and other.rpartition(".")[0] == space)


def _stub(space: str, names: dict[str, Any], inner: list[str]) -> str:
    package = f"tideflow.{space}".rstrip(".")
    lines = [f"from {package} import {name} as {name}" for name in inner]
    if not space:
        lines.append("from tideflow._version import __version__ as __version__")
    written, needed = [], set()
    for name in sorted(names.keys() - set(inner)):
        source = _source(names[name])
        if source is not None and not keyword.iskeyword(name):
            lines.append(f"from {source[0]} import {source[1]} as {name}")
        else:
            text, known = _written(name, names[name])
            written.append(text)
            needed |= known
    imports = sorted(_KNOWN[name] for name in needed if _KNOWN[name])
    return "\n".join([_HEADER, *imports, *sorted(lines), "", *written]).rstrip() + "\n"


# ------------------------------------------------------------------------------- where a name has its source


def _source(value: Any) -> tuple[str, str] | None:
    """The module and the name in it under which a tool finds the source of a value; None where there is none."""
    if isinstance(value, types.ModuleType):
        package, _, name = value.__name__.rpartition(".")
        return package, name
    if isinstance(value, (int, str, tuple, type(None))):
        return None  # a constant, which says nothing of where it comes from
    module = getattr(value, "__module__", None) or ""
    name = getattr(value, "__name__", None)
    if name is not None:
        return (module, name) if _defines(module, name) and _attribute(module, name) is value else None
    for module in [*filter(None, [module]), *_assignments()]:
        for name in _assignments().get(module, ()):
            if _attribute(module, name) is value:
                return module, name
    return None


def _attribute(module: str, name: str) -> Any:
    return getattr(sys.modules.get(module), name, None)


def _defines(module: str, name: str) -> bool:
    if not module.startswith("tideflow."):
        return module in sys.modules  # another package, which has its own stubs
    return name in _definitions(module)


@functools.cache
def _definitions(module: str) -> set[str]:
    """The functions and classes of a module, and what else has a class of its own: a message, a named tuple."""
    return {
        name
        for node in _body(module)
        for name in (
            [node.name]
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            else [n for n in _assigned(node) if isinstance(_attribute(module, n), type)]
        )
    }


@functools.cache
def _assignments() -> dict[str, list[str]]:
    """The names that the package's modules assign, by module."""
    return {
        module: names
        for module in sorted(sys.modules)
        if module.startswith("tideflow.")
        and (names := [n for node in _body(module) for n in _assigned(node)])
    }


def _assigned(node: ast.stmt) -> Iterator[str]:
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    for target in targets:
        yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


@functools.cache
def _body(module: str) -> list[ast.stmt]:
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return ast.parse(Path(file).read_text(encoding="utf-8")).body if file.endswith(".py") else []


# ---------------------------------------------------------------------------------------- what is written down


def _written(name: str, value: Any) -> tuple[str, set[str]]:
    """The lines for a name, and what they need to have imported."""
    if not callable(value):
        kind = type(value).__name__
        return (
            (f"{name}: None", set())
            if value is None
            else (f"{name}: _{kind}", {kind})
            if kind in _KNOWN
            else (
                f"{name}: _Any",
                {"Any"},
            )
        )
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return f"{name}: _Any", {"Any"}
    needed: set[str] = set()
    parameters = [
        p.replace(annotation=_annotation(p.annotation, needed), default=p.default and _DEFAULT)
        if p.default is not p.empty
        else p.replace(annotation=_annotation(p.annotation, needed))
        for p in signature.parameters.values()
    ]
    shown = signature.replace(
        parameters=parameters, return_annotation=_annotation(signature.return_annotation, needed)
    )
    doc = textwrap.indent(f'"""{inspect.getdoc(value)}"""', "    ") if inspect.getdoc(value) else "    ..."
    return f"def {name}{shown}:\n{doc}\n", needed


class _Written:
    """A piece of source that stands for itself."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


_DEFAULT = _Written("...")


def _annotation(given: Any, needed: set[str]) -> Any:
    """An annotation as the stub has it; none where it names something that the stub does not know."""
    text = (
        given if isinstance(given, str) else getattr(given, "__name__", "") if given is not None else "None"
    )
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    if not words or not words <= _KNOWN.keys() or given is inspect.Parameter.empty:
        return inspect.Parameter.empty
    needed |= words
    return _Written(re.sub(r"[A-Za-z_]\w*", lambda m: m[0] if m[0] == "None" else f"_{m[0]}", text))


if __name__ == "__main__":
    write()
