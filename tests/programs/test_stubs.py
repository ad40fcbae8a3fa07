"""The stubs that editors read have every public name, and are up to date."""

import ast

import pytest

import tideflow as tf
from tideflow import export
from tideflow.programs import stubs


def names_of(text: str) -> set[str]:
    """The names that a stub defines or imports, but for its own helpers."""
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets)
    return {name for name in found if name.startswith("__") or not name.startswith("_")}


@pytest.fixture(scope="module")
def texts():
    return stubs.stubs()


def test_the_stubs_are_those_of_this_package(texts):
    stale = [
        name
        for name, text in texts.items()
        if not (stubs.FOLDER / name).is_file() or (stubs.FOLDER / name).read_text() != text
    ]
    assert not stale, f"{', '.join(stale)}: `python -m tideflow.programs.stubs` writes them anew"
    there = {path.relative_to(stubs.FOLDER).as_posix() for path in stubs.FOLDER.rglob("*.pyi")}
    assert there == texts.keys() - {"py.typed"}


def test_every_public_name_is_in_the_stub_of_its_namespace(texts):
    names = {file: names_of(text) for file, text in texts.items() if file.endswith(".pyi")}
    for path in export.symbols:
        space, _, name = path.rpartition(".")
        if space != "compat.v1":  # which is tf itself
            assert name in names["/".join([*filter(None, space.split(".")), "__init__.pyi"])]
    assert names["raw_ops/__init__.pyi"] <= set(dir(tf.raw_ops))


def test_a_function_without_a_def_is_written_down_once_with_its_signature(texts):
    (line,) = [line for line in texts["__init__.pyi"].splitlines() if line.startswith("def tanh(")]
    assert line.startswith("def tanh(x") and "name: _str | None = None" in line
    assert "from tideflow import tanh as tanh" in texts["math/__init__.pyi"]
    assert "from tideflow.ops.nn.convolution import conv2d as conv2d" in texts["nn/__init__.pyi"]


def test_what_is_imported_under_another_name_is_assigned_to_it(texts):
    text = texts["__init__.pyi"]
    assert "from tideflow.variables.initializers import Zeros as _zeros_initializer\n" in text
    assert "\nzeros_initializer = _zeros_initializer\n" in text
