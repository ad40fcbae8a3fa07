"""Every program's answers are those of the originals."""

from pathlib import Path

import pytest
from kit import HERE, PYTHON, ask_original, differences
from original import load_program

PROGRAMS = sorted((HERE / "programs").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.stem for program in PROGRAMS])
def test_answers_are_those_of_the_original(program: Path, tmp_path):
    if not PYTHON.exists():
        pytest.fail(f"no environment of the originals, {PYTHON}: run tests/oracle/make-oracles .oracles tfx")
    module = load_program(program)
    expected = ask_original(program, module.given() if hasattr(module, "given") else None)
    found = module.ours(tmp_path, expected)
    assert expected.keys() == found.keys()
    assert expected, "a program without a case"
    tolerance = getattr(module, "RTOL", 0.0), getattr(module, "ATOL", 0.0)
    known = getattr(module, "KNOWN", {})
    by_case = {case: differences(expected[case], found[case], *tolerance) for case in expected}
    assert {case: places for case, places in by_case.items() if places and case not in known} == {}
    assert [case for case in known if not by_case[case]] == [], "these are no longer different"
