"""Short, seeded runs of the fuzzers."""

import random
import warnings

import pytest

from tests.fuzz import files, graphs


@pytest.mark.parametrize("fuzzer", [graphs, files], ids=lambda fuzzer: fuzzer.NAME)
def test_a_short_run(fuzzer, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(200):
            fuzzer.one(random.Random(seed), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_violation_leaves_its_bytes(tmp_path, monkeypatch):
    def fail(found):
        raise StopIteration

    monkeypatch.setattr(files, "check", fail)
    with pytest.raises(AssertionError, match="StopIteration"):
        files.one(random.Random(0), tmp_path)
    (kept,) = tmp_path.iterdir()
    assert kept.read_bytes() == files.case(random.Random(0)).data
