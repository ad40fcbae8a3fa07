"""Ops on hostile numbers compute something or refuse in our words: a few variants of each sample."""

from __future__ import annotations

import pytest

from tests.ops.cases import cases
from tests.ops.hostile_inputs import failures

NAMES = sorted({case.op.name for case in cases()})
PARTS = 2  # tests, so that two workers share them


@pytest.mark.parametrize("part", range(PARTS))
def test_no_op_crashes_hangs_or_refuses_in_foreign_words(part):
    assert list(failures(NAMES[part::PARTS], seed=0)) == []
