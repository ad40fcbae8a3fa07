"""The API reference: every public symbol has an entry, and every entry what a reader needs."""

import enum
import inspect
import re
from pathlib import Path

import pytest

pytest.importorskip("griffe", reason="needs the packages of `pip install -e .[docs]`")
from docs_site import (
    catalog,
    docstrings,
    example,
    handwritten,
    locations,
    pages,
    programs,
    sample_programs,
    signatures,
)
from tideflow.export import symbols

ROOT = Path(__file__).parents[2]
ENTRIES = catalog.entries()
BY_PATH = {path: entry for entry in ENTRIES for path in entry.paths}


def text_of(path: str) -> str:
    reference = pages.Reference(ENTRIES, lambda place: f"{place.file}#{place.line}")
    return reference.symbol(BY_PATH[path])


def test_every_exported_symbol_has_one_entry():
    assert BY_PATH.keys() == symbols.keys()
    assert sum(len(entry.paths) for entry in ENTRIES) == len(symbols)


def test_every_entry_can_be_called_as_it_says():
    for entry in ENTRIES:
        if entry.kind == "function":
            inspect.signature(entry.obj)
        assert signatures.text(entry.name, entry.obj).startswith(entry.name)


def test_every_entry_leads_to_its_source():
    for entry in ENTRIES:
        place = locations.location(entry.path, entry.obj)
        assert place is not None, f"nobody knows where {entry.name} is defined"
        lines = (ROOT / place.file).read_text().splitlines()
        words = {path.rpartition(".")[2] for path in entry.paths}
        words.add(getattr(inspect.unwrap(entry.obj) if callable(entry.obj) else entry.obj, "__name__", ""))
        near = "\n".join(lines[max(0, place.line - 1) : place.line + 12])
        assert any(word in near for word in words if word), f"{entry.name} is not at {place}"


def test_every_function_and_class_says_what_it_does():
    silent = [e.name for e in ENTRIES if e.kind in ("function", "class") and not docstrings.of(e.obj).text]
    assert not silent


def test_every_argument_is_described():
    silent = {}
    for entry in ENTRIES:
        if entry.kind in ("function", "class") and not is_enumeration(entry.obj):
            taken = {parameter.name for parameter in signatures.parameters(entry.obj)} - {"name"}
            if missing := taken - docstrings.of(entry.obj).arguments.keys():
                silent[entry.name] = sorted(missing)
    assert not silent


def test_arguments_that_are_tensors_are_typed_so():
    untyped = [
        f"{entry.name}: {parameter.name}"
        for entry in ENTRIES
        for parameter in signatures.parameters(entry.obj)
        if parameter.annotation == "Any" and is_tensor(docstrings.of(entry.obj).arguments[parameter.name])
    ]
    assert not untyped


def is_tensor(description: str) -> bool:
    return (
        bool(re.search(r"\b(tensor|scalar|vector|matrix)\b", description)) and "structure" not in description
    )


def is_enumeration(obj: object) -> bool:
    return isinstance(obj, type) and issubclass(obj, enum.Enum)


def test_described_arguments_are_arguments():
    wrong = {}
    for entry in ENTRIES:
        described = docstrings.of(entry.obj).arguments.keys() if entry.kind == "function" else set()
        taken = {parameter.name for parameter in signatures.parameters(entry.obj)}
        if described - taken and "kwargs" not in taken and "args" not in taken:
            wrong[entry.name] = sorted(described - taken)
    assert not wrong


def test_every_entry_has_an_example():
    """Those that are made of samples are run for that; the handwritten ones are run below."""
    without = [
        entry.name
        for entry in ENTRIES
        if example.written_for(entry) is None and not sample_programs.ops_of(entry.obj)
    ]
    assert not without, "write examples for these in docs_site/snippets"
    assert sample_programs.example("tf.matmul", symbols["matmul"]).printed


def test_every_handwritten_example_is_of_a_symbol():
    assert not handwritten.cells().keys() - symbols.keys()


@pytest.mark.parametrize("file", sorted(path.stem for path in handwritten.FOLDER.glob("*.py")))
def test_handwritten_examples_run_and_show_something(file):
    for program in dict.fromkeys(handwritten.cells(file).values()):
        assert programs.run_shown(program).printed, f"this prints nothing:\n{program}"


# ------------------------------------------------------------------------------------------------ pages


def test_a_page_of_a_function():
    text = text_of("linalg.matmul")
    for part in (
        "# tf.matmul",
        "tf.matmul(\n    a,\n    b,\n    transpose_a=False,",
        "Also `tf.linalg.matmul`.",
        "[`tideflow/ops/linalg/matmul.py:",
        "**Arguments**",
        "**Returns**",
        "## Example",
        "import tideflow as tf",
        "y = tf.matmul(a, b)",
        "{ .text .printed }",
    ):
        assert part in text


def test_a_page_of_a_class_has_its_methods():
    text = text_of("train.Saver")
    for part in (
        "# tf.train.Saver",
        "## Methods",
        "### `restore`",
        "restore(sess, save_path",
        "saver.restore(sess",
    ):
        assert part in text


def test_a_page_of_a_message_has_its_fields():
    assert "| `allow_soft_placement` | bool |" in text_of("ConfigProto")


def test_a_namespace_lists_its_symbols_and_aliases():
    reference = pages.Reference(ENTRIES, str)
    text = reference.namespace("math")
    assert "[`exp`](tf.math.exp.md)" in text
    assert "[`exp`](tf.math.exp.md) (`tf.math.exp`)" in reference.namespace("")


def test_words_in_docstrings_mean_themselves():
    def link(path):
        return f"tf.{path}.md" if path == "nn.relu" else None

    text = "See `tf.nn.relu`, not `tf.nn.rely`: a_b * c < d.\n\n* one"
    assert docstrings.markdown(text, link) == (
        "See [`tf.nn.relu`](tf.nn.relu.md), not `tf.nn.rely`: a\\_b \\* c &lt; d.\n\n* one"
    )


def test_the_parts_of_a_docstring():
    found = docstrings.parsed(
        "Adds. More of it.\n\nArgs:\n  x: The first,\n    of two.\n  y: The second.\n\n"
        "Returns:\n  The sum.\n\nRaises:\n  ValueError: If not.\n\nExamples:\n  >>> add(1, 2)\n"
    )
    assert found.summary == "Adds."
    assert found.arguments == {"x": "The first,\nof two.", "y": "The second."}
    assert found.returns == "The sum." and found.raises == [("ValueError", "If not.")]
    assert found.examples == ">>> add(1, 2)"
