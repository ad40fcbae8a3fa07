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
    if _failed(expected):
        pytest.fail(f"the program fails in TensorFlow itself:\n{expected['message']}", pytrace=False)
    if _failed(actual):
        pytest.fail(f"{actual['type']}\n{actual['message']}", pytrace=False)
    found = differences(expected, actual)
    if found:
        pytest.fail("\n".join(found[:25]), pytrace=False)


def _failed(result):
    return isinstance(result, dict) and result.get("kind") == "failed"
