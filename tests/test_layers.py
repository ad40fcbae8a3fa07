"""The rooms of docs/design.md: who may import whom, and where."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tideflow.export import load_all, symbols

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tideflow"
LAZY = "# loaded when asked for"
ONLY_TESTS = "scipy"  # is loaded by the references of ops, which only tests run


class Import(NamedTuple):
    importer: str  # a module
    line: int
    imported: str  # a module
    where: str  # "module", "function" or "typing"
    lazy: bool  # whether the line says that it is in a function on purpose


# ------------------------------------------------------------------------------------------------ the source


@cache
def modules() -> dict[str, Path]:
    """The package's modules by name."""
    return {_module_name(path): path for path in PACKAGE.rglob("*.py")}


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def imports() -> list[Import]:
    """Every import statement of the package, a line for each module that it names."""
    return [found for name, path in modules().items() for found in _imports_of(name, path.read_text())]


def _imports_of(importer: str, source: str) -> Iterator[Import]:
    lines = source.splitlines()

    def visit(parent: ast.AST, where: str) -> Iterator[Import]:
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                lazy = any(LAZY in line for line in lines[node.lineno - 1 : node.end_lineno])
                for imported in _imported(node):
                    yield Import(importer, node.lineno, imported, where, lazy)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                yield from visit(node, "typing" if where == "typing" else "function")
            elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                yield from visit(node, "typing")
            else:
                yield from visit(node, where)

    yield from visit(ast.parse(source), "module")


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    assert not node.level, f"line {node.lineno}: imports within the package say where from: from tideflow.…"
    for alias in node.names:
        inner = f"{node.module}.{alias.name}"
        yield inner if inner in modules() else node.module


def own_imports() -> Iterator[Import]:
    """Imports of one module of the package by another, but for those that only a type checker sees."""
    for found in imports():
        if found.imported in modules() and found.imported != found.importer and found.where != "typing":
            yield found


# ------------------------------------------------------------------------------------------------- the table


@cache
def rows() -> dict[str, int]:
    """The rooms of the table in docs/design.md, each with the number of its row."""
    page = (ROOT / "docs" / "design.md").read_text()
    table = page.split("A room may call the rooms above it in this table")[1].split("| room |")[1]
    cells = re.findall(r"^\| (`.*?`) \|", table.split("\n\n")[0], flags=re.MULTILINE)
    return {
        room.removesuffix("/").removesuffix(".py"): row
        for row, cell in enumerate(cells)
        for room in re.findall(r"`([\w.]+/?)`", cell)
    }


def room_of(module: str) -> str:
    """The folder, or the module beside the folders, that a module belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def may_call(importer: str, imported: str) -> bool:
    return is_program(importer) or rows()[room_of(imported)] <= rows()[room_of(importer)]


@cache
def is_program(module: str) -> bool:
    """Whether a module is run (`python -m …`) and never imported: it stands outside of its room."""
    return '\nif __name__ == "__main__":' in modules()[module].read_text() and not any(
        found.imported == module for found in imports()
    )


def test_the_table_has_every_room():
    assert {room_of(module) for module in modules()} == rows().keys()


def test_rooms_import_only_upwards():
    down = [found for found in own_imports() if not may_call(found.importer, found.imported)]
    assert not down, "\n".join(f"{i.importer}:{i.line} imports {i.imported}, which is below" for i in down)


def test_rooms_form_no_cycle():
    graph = defaultdict(set)
    for found in own_imports():
        if room_of(found.importer) != room_of(found.imported) and not is_program(found.importer):
            graph[room_of(found.importer)].add(room_of(found.imported))
    assert cycles(graph) == []


def test_modules_form_no_cycle():
    graph = defaultdict(set)
    for found in own_imports():
        if found.where == "module":
            graph[found.importer].add(found.imported)
    assert cycles(graph) == []


def test_imports_inside_of_functions_are_lazy_on_purpose():
    inside = [found for found in imports() if found.where == "function"]
    hidden = [found for found in inside if not found.lazy and found.imported.split(".")[0] != ONLY_TESTS]
    assert not hidden, "\n".join(
        f"{i.importer}:{i.line} imports {i.imported} inside a function" for i in hidden
    )


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of nodes that reach each other (Tarjan's strongly connected components)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in number:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], number[other])
        if lowest[node] == number[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in list(graph):
        if node not in number:
            visit(node)
    return found


# ------------------------------------------------------------------------- what is called by its public name


def public_uses(path: Path) -> Iterator[tuple[int, str]]:
    """The public names that a module asks for when it runs, `tf.reduce_sum` after `import tideflow as tf`."""
    tree = ast.parse(path.read_text())
    if not any(isinstance(n, ast.Import) and n.names[0].asname == "tf" for n in tree.body):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (name := _chain(node)) and name in symbols:
            yield node.lineno, name


def _chain(node: ast.AST) -> str:
    """`tf.nn.relu` as "nn.relu"; "" for any other expression."""
    if isinstance(node, ast.Attribute):
        outer = _chain(node.value) if not isinstance(node.value, ast.Name) else node.value.id == "tf" and "tf"
        return f"{outer}.{node.attr}".removeprefix("tf.") if outer else ""
    return ""


def test_public_names_are_of_rooms_above():
    load_all()
    for module, path in modules().items():
        for line, name in public_uses(path):
            definer = getattr(symbols[name], "__module__", None) or ""
            if definer.startswith("tideflow."):
                assert may_call(module, definer), (
                    f"{module}:{line} calls tf.{name}, of {definer}, which is below"
                )


# ------------------------------------------------------------------------------------------------ the checks


@pytest.mark.parametrize(
    "source, expected",
    [
        ("import torch", ("torch", "module", False)),
        ("from tideflow.graph import dtypes", ("tideflow.graph.dtypes", "module", False)),
        ("from tideflow.graph.dtypes import DType", ("tideflow.graph.dtypes", "module", False)),
        ("if TYPE_CHECKING:\n    import torch", ("torch", "typing", False)),
        ("def f():\n    import torch", ("torch", "function", False)),
        ("def f():\n    import torch  # loaded when asked for", ("torch", "function", True)),
        ("class C:\n    def f(self):\n        import torch", ("torch", "function", False)),
        ("try:\n    import torch\nexcept ImportError:\n    pass", ("torch", "module", False)),
    ],
)
def test_imports_are_told_apart(source, expected):
    assert [found[2:] for found in _imports_of("tideflow.a", source)] == [expected]


def test_cycles_are_found():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == [["b", "c"]]
    assert not may_call("tideflow.graph.op", "tideflow.ops.math.unary")
    assert may_call("tideflow.ops.math.unary", "tideflow.graph.op")
