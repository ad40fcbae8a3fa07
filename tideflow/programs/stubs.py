"""What editors and type checkers read: `tideflow-stubs/`, a stub for each public namespace.

Public names hang on their namespaces when the package is loaded, so no source file lists them. A stub does: a
name is imported from where its `def` or `class` stands. What has none (a family of ops is made by calls, a
constant is assigned) is written down once, with its signature. `python -m tideflow.programs.stubs` does it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
import textwrap
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import tideflow
from tideflow import export
from tideflow.graph.op import Op, definitions
from tideflow.graph.schema import REQUIRED

FOLDER = Path(tideflow.__file__).parent.parent / "tideflow-stubs"
_HEADER = "# Written by `python -m tideflow.programs.stubs`.\n"
_KNOWN = {  # what the annotations of functions without a `def` may name, and where stubs have it from
    "Any": "typing",
    **dict.fromkeys(("Callable", "Mapping", "Sequence"), "collections.abc"),
    **dict.fromkeys(("Operation", "Tensor"), "tideflow.graph.operation"),
    "SparseTensor": "tideflow.graph.composite",
    **dict.fromkeys(
        (
            "DTypeLike",
            "InitializerLike",
            "PathLike",
            "RegularizerLike",
            "ShapeLike",
            "TensorLike",
            "TensorOrRagged",
            "VariableLike",
        ),
        "tideflow.graph.typing",
    ),
    **dict.fromkeys(("bool", "bytes", "dict", "float", "int", "list", "str", "tuple"), "builtins"),
}

Space = dict[str, Any]  # what stands in a namespace, by name


def write(folder: Path = FOLDER) -> None:
    """Writes the stubs. Those of namespaces that are gone are removed."""
    wanted = stubs()
    for path in folder.rglob("*.pyi"):
        if path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def stubs() -> dict[str, str]:
    """The text of every file by its path in the folder."""
    spaces = _spaces()
    written = _written_once(spaces)
    files = {
        _file_of(space): _stub(space, names, _inner(space, spaces), written)
        for space, names in spaces.items()
    }
    return {
        **files,
        _file_of("raw_ops"): _raw_ops(),
        _file_of("compat.v1"): f"{_HEADER}\nfrom tideflow import *\n",
        "py.typed": "partial\n",  # modules that have no stub are read from the package
    }


def _spaces() -> dict[str, Space]:
    export.load_all()
    spaces: dict[str, Space] = defaultdict(dict, {"raw_ops": {}})
    for path, value in export.symbols.items():
        space, _, name = path.rpartition(".")
        if path != "compat.v1":
            spaces[space][name] = value
    for space in ["compat.v1", *spaces]:
        while space:  # namespaces that hold nothing but namespaces are there too
            spaces[space]
            space = space.rpartition(".")[0]
    return spaces


def _file_of(space: str) -> str:
    return "/".join([*filter(None, space.split(".")), "__init__.pyi"])


def _package(space: str) -> str:
    return f"tideflow.{space}" if space else "tideflow"


def _inner(space: str, spaces: Iterable[str]) -> list[str]:
    """The namespaces that stand right in a namespace."""
    return sorted(other.rpartition(".")[2] for other in spaces if other and other.rpartition(".")[0] == space)


def _written_once(spaces: dict[str, Space]) -> dict[int, tuple[str, str]]:
    """Where functions without a source are written down: of all their names the shortest, by identity."""
    found: dict[int, tuple[str, str]] = {}
    for space in sorted(spaces, key=lambda space: (space.count("."), space)):
        for name, value in sorted(spaces[space].items()):
            if callable(value) and _source(value) is None:
                found.setdefault(id(value), (space, name))
    return found


def _stub(space: str, names: Space, inner: list[str], written: dict[int, tuple[str, str]]) -> str:
    imports = [f"from {_package(space)} import {name} as {name}" for name in inner]
    if not space:
        imports.append("from tideflow._version import __version__ as __version__")
    needed: set[str] = set()
    texts = []
    for name in sorted(names.keys() - set(inner)):
        value = names[name]
        home = written.get(id(value), (space, name))
        source = _source(value) if home == (space, name) else (_package(home[0]), home[1])
        if source is not None and source[1] == name:
            imports.append(f"from {source[0]} import {name} as {name}")
        elif source is not None:  # a stub hands on what it imports only under the same name
            imports.append(f"from {source[0]} import {source[1]} as _{name}")
            texts.append(f"{name} = _{name}")
        elif callable(value):
            texts.append(_function(name, value, needed))
        else:
            texts.append(f"{name}: {_constant_type(value, needed)}")
    known = [f"from {_KNOWN[name]} import {name} as _{name}" for name in needed]
    return "\n".join([_HEADER, *sorted(known), *sorted(imports), "", *texts]).rstrip() + "\n"


# ------------------------------------------------------------------------------- where a name has its source


def _source(value: Any) -> tuple[str, str] | None:
    """The module, and the name in it, where a tool finds what a value is; None where there is nothing."""
    if isinstance(value, types.ModuleType):
        package, _, name = value.__name__.rpartition(".")
        return package, name
    if isinstance(value, (int, str, tuple, types.NoneType)):
        return None  # equal constants are one object, wherever they stand
    module, name = getattr(value, "__module__", None) or "", getattr(value, "__name__", None)
    if name is not None:
        return (module, name) if _defines(module, name) and _attribute(module, name) is value else None
    return _assignments().get(id(value))


def _attribute(module: str, name: str) -> Any:
    return getattr(sys.modules.get(module), name, None)


def _defines(module: str, name: str) -> bool:
    if not module.startswith("tideflow."):
        return module in sys.modules  # of another package
    return name in _definitions(module)


@functools.cache
def _definitions(module: str) -> set[str]:
    """The functions and classes of a module, assigned classes (messages, named tuples) included."""
    nodes = _body(module)
    return {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))} | {
        name for node in nodes for name in _assigned(node) if isinstance(_attribute(module, name), type)
    }


@functools.cache
def _assignments() -> dict[int, tuple[str, str]]:
    """The objects that the modules of the package assign to names, by identity, with module and name."""
    modules = [module for module in sorted(sys.modules) if module.startswith("tideflow.")]
    return {
        id(_attribute(module, name)): (module, name)
        for module in reversed(modules)
        for node in _body(module)
        for name in _assigned(node)
    }


def _assigned(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets if isinstance(node, (ast.Assign, ast.AnnAssign)) else ():
        yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


@functools.cache
def _body(module: str) -> list[ast.stmt]:
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return ast.parse(Path(file).read_text(encoding="utf-8")).body if file.endswith(".py") else []


# -------------------------------------------------------------------------------------- what is written down


class _Text:
    """A piece of source in the place of an object: of an annotation, or of a default."""

    def __init__(self, text: str):
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _function(name: str, value: Any, needed: set[str]) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        needed.add("Any")
        return f"{name}: _Any"
    parameters = [
        p.replace(annotation=_annotation(p.annotation, needed), default=_default(p.default))
        for p in signature.parameters.values()
    ]
    result = _annotation(signature.return_annotation, needed)
    doc = inspect.getdoc(value) if isinstance(value, types.FunctionType) else None
    body = textwrap.indent(f'"""{doc}"""' if doc else "...", "    ")
    return f"def {name}{signature.replace(parameters=parameters, return_annotation=result)}:\n{body}\n"


def _annotation(given: Any, needed: set[str]) -> Any:
    """An annotation as a stub has it; none where it names something that no stub knows."""
    text = given if isinstance(given, str) else "None" if given is None else getattr(given, "__name__", "")
    words = set(re.findall(r"[A-Za-z_]\w*", text)) - {"None"}
    if given is inspect.Parameter.empty or not text or not words <= _KNOWN.keys():
        return inspect.Parameter.empty
    needed |= words
    return _Text(re.sub(r"[A-Za-z_]\w*", lambda word: word[0] if word[0] == "None" else f"_{word[0]}", text))


def _default(value: Any) -> Any:
    plain = value is inspect.Parameter.empty or isinstance(value, (bool, int, float, str, types.NoneType))
    return value if plain else _Text("...")


def _constant_type(value: Any, needed: set[str]) -> str:
    kind = type(value).__name__
    if value is None:
        return "None"
    needed.add(kind if kind in _KNOWN else "Any")
    return f"_{kind}" if kind in _KNOWN else "_Any"


def _raw_ops() -> str:
    package = str(Path(tideflow.__file__).parent)
    ours = [op for _, op in sorted(definitions().items()) if op.place[0].startswith(package)]
    texts = [_raw_op(op) for op in ours if not op.name.startswith("_")]
    return "\n".join([_HEADER, "from typing import Any as _Any", "", *texts]) + "\n"


def _raw_op(op: Op) -> str:
    inferred = {key for arg in op.inputs for key in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    attrs = {key: spec.default for key, spec in op.attrs.items() if key not in inferred}
    arguments = [arg.name for arg in op.inputs]
    arguments += [key for key, default in attrs.items() if default is REQUIRED]
    arguments += [f"{key}={_default(value)!r}" for key, value in attrs.items() if value is not REQUIRED]
    return f"def {op.name}(*, {', '.join([*arguments, 'name=None'])}) -> _Any: ..."


if __name__ == "__main__":
    write()
