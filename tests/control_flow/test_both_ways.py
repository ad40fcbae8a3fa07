"""Programs about control flow give the same compiled into `if` and `while` and on the token executor."""

from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tests.oracle import comparison, engine
from tideflow.session import config

ORACLE = Path(__file__).parent.parent / "oracle"
AREAS = ("control_flow", "tensor_arrays", "tensor_lists")


def _programs():
    for area in AREAS:
        for name, program in engine.load_programs(ORACLE / "programs" / f"{area}.py").items():
            if "graph" not in name:
                yield pytest.param(program, id=f"{area}/{name}")


@pytest.mark.parametrize("program", list(_programs()))
def test_plans_and_tokens_agree(program, monkeypatch):
    compiled = engine.outcome(tf, np, program)
    assert compiled.get("kind") != "failed" if isinstance(compiled, dict) else True, compiled
    monkeypatch.setattr(config, "_disabled_rules", lambda: frozenset({"structure"}))
    assert not comparison.differences(compiled, engine.outcome(tf, np, program))
