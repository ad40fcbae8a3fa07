"""`make check` runs the tests of what changed: which those are."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def changed_tests():
    spec = importlib.util.spec_from_file_location("changed_tests", ROOT / ".ci" / "changed_tests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("tideflow/train/saver.py", "tests/train/test_saver.py"),
        ("tideflow/train/hook_timers.py", "tests/train"),
        ("tideflow/contrib/slim/gathered.py", "tests/contrib"),
        ("tideflow/ops/strings/regex.py", None),
        ("tests/graph/test_shapes.py", "tests/graph/test_shapes.py"),
        ("tests/compile/models.py", "tests/compile"),
        ("tests/oracle/programs/unary.py", None),
        ("docs/input.md", None),
        ("README.md", None),
    ],
)
def test_a_file_is_tested_where_its_path_is_mirrored(changed_tests, file, tests):
    assert changed_tests.mirror_of(file) == tests


def test_a_folder_stands_for_what_is_in_it(changed_tests):
    files = ["tideflow/train/saver.py", "tideflow/train/hook_timers.py"]
    assert changed_tests.tests_of(files) == ["tests/train"]


def test_a_module_of_ops_brings_the_samples_of_its_ops(changed_tests):
    chosen = changed_tests.selection(["tideflow/ops/math/unary.py", "tideflow/train/saver.py"])
    assert chosen[-2:] == ["tests/ops/test_samples.py", "--ops-of=tideflow/ops/math/unary.py"]
    assert "tests/train/test_saver.py" in chosen


def test_without_a_change_the_core_is_tried(changed_tests):
    assert changed_tests.selection([])[1:] == changed_tests.CORE
    assert all((ROOT / path).exists() for path in [*changed_tests.ALWAYS, *changed_tests.CORE])
