"""A short run of the ops' fuzzer, in a child process that has little memory."""

from __future__ import annotations

import subprocess
import sys
from random import Random

import pytest

from tests.fuzz import ops
from tests.ops.hostile_inputs import checked_heap


def test_damaged_samples_are_computed_or_refused_in_our_words():
    command = [sys.executable, "-m", "tests.fuzz.ops", "1", "--count", "200"]
    child = subprocess.run(command, env=checked_heap(), capture_output=True, text=True, check=False)
    assert child.stdout == ""
    assert child.returncode == 0, child.stderr[-2000:]


def test_a_failure_is_described_in_the_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(ops, "run", lambda seed: "the op failed")
    with pytest.raises(AssertionError, match="the op failed"):
        ops.one(Random(0), tmp_path)
    (file,) = tmp_path.iterdir()
    assert "the op failed" in file.read_text() and "python -m tests.fuzz.ops" in file.read_text()
