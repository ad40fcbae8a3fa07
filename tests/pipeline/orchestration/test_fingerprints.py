"""orchestration/fingerprints.py: equal programs have equal digests, others do not."""

import dataclasses
import functools

import numpy as np
import pytest

from tideflow.pipeline.messages.schema import Schema
from tideflow.pipeline.orchestration.fingerprints import of_file, of_folder, of_value

TABLE = ["a", "b"]
PROGRAM = """
import math
LIMIT = {limit}
def helper(x):
    return x + {added}{comment}
class Scale:
    def __call__(self, x):
        return x * {factor}
def function(x):
    return [Scale()(helper(each)) for each in x if each < LIMIT]
def other(x):
    return {other}
"""


def digest_of(tmp_path, **changes):
    values = {"limit": 3, "added": 1, "factor": 2, "comment": "", "other": 0, **changes}
    source = PROGRAM.format(**values)
    path = tmp_path / "program.py"
    path.write_text(source)
    names = {"__name__": "program", "__file__": str(path)}
    exec(compile(source, str(path), "exec"), names)
    return of_value(names["function"])


def test_a_function_is_what_it_does(tmp_path):
    same = digest_of(tmp_path)
    assert digest_of(tmp_path, comment="  # why") == digest_of(tmp_path, other=1) == same
    changes = [digest_of(tmp_path, limit=4), digest_of(tmp_path, added=2), digest_of(tmp_path, factor=3)]
    assert len({same, *changes}) == 4


def test_values_are_told_apart():
    @dataclasses.dataclass
    class Options:
        rate: float

    named = Schema()
    named.feature.add(name="x")
    values = [
        0,
        False,
        0.0,
        "0",
        b"0",
        None,
        [],
        {},
        [0],
        [[0]],
        {"a": 1},
        {"a": 2},
        {"a"},
        Options(1.0),
        Options(2.0),
    ]
    values += [Schema(), named, np.zeros(2), np.zeros(2, np.float32), np.zeros((2, 1)), lambda: 0, lambda: 1]
    values += [
        functools.partial(max, 1),
        functools.partial(max, 2),
        max,
        min,
        lambda: TABLE,
        ["ab"],
        ["a", "b"],
    ]
    digests = [of_value(value) for value in values]
    assert len(set(digests)) == len(values)
    assert digests == [of_value(value) for value in values]
    assert of_value({"a": 1, "b": 2}) == of_value({"b": 2, "a": 1})
    with pytest.raises(TypeError, match="nothing tells whether two values of object are equal"):
        of_value([object()])


def test_constants_and_closures_count():
    def make(number):
        return lambda: number

    assert of_value(make(1)) != of_value(make(2)) and of_value(make(1)) == of_value(make(1))
    uses_table = lambda: TABLE
    before = of_value(uses_table)
    TABLE.append("c")
    try:
        assert of_value(uses_table) != before
    finally:
        TABLE.pop()


def test_a_folder_is_names_and_bytes(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"1" * 3_000_000)
    before = of_folder(tmp_path)
    (tmp_path / "in" / "a").touch()
    assert of_folder(tmp_path) == before
    (tmp_path / "in" / "a").rename(tmp_path / "a")
    moved = of_folder(tmp_path)
    (tmp_path / "a").write_bytes(b"1" * 2_999_999 + b"2")
    assert len({before, moved, of_folder(tmp_path)}) == 3
    (tmp_path / "b").write_bytes(b"")
    assert of_file(tmp_path / "b") != of_file(tmp_path / "a")
