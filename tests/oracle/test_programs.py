"""Every program of the corpus gives under Tideflow what it gives under TensorFlow."""

from pathlib import Path

import phrases
import pytest
from comparison import differences
from engine import load_programs
from known_words import OTHER_WORDS, PHRASED

FOLDER = Path(__file__).parent / "programs"
FILES = {path: list(load_programs(str(path))) for path in sorted(FOLDER.glob("*.py"))}
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
    if path.stem in PHRASED and f"{path.stem}/{name}" not in OTHER_WORDS:
        found = found or phrases.differences(expected, actual, "result")
    if found:
        pytest.fail("\n".join(found[:25]), pytrace=False)


def _failed(result):
    return isinstance(result, dict) and result.get("kind") == "failed"
