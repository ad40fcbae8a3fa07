"""Every program of the corpus gives under Tideflow what it gives under TensorFlow."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from comparison import differences  # noqa: E402
from engine import load_programs  # noqa: E402

FILES = {path: list(load_programs(str(path))) for path in sorted((HERE / "programs").glob("*.py"))}
PROGRAMS = [
    pytest.param(path, name, id=f"{path.stem}/{name}") for path, names in FILES.items() for name in names
]


@pytest.mark.parametrize(("path", "name"), PROGRAMS)
def test_program(path, name, results):
    expected, actual = (side[name] for side in results.of(path, FILES[path]))
    assert not _failed(expected), f"the program fails in TensorFlow itself:\n{expected['message']}"
    assert not _failed(actual), f"{actual['type']}\n{actual['message']}"
    found = differences(expected, actual)
    assert not found, "\n".join(found[:25])


def _failed(result):
    return isinstance(result, dict) and result.get("kind") == "failed"
