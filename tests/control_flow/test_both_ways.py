"""Every program about control flow, compiled into `if` and `while`, and on the token executor: the
same results.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tideflow.session import config

ORACLE = Path(__file__).parent.parent / "oracle"
AREAS = ("control_flow", "tensor_arrays", "tensor_lists")
sys.path.insert(0, str(ORACLE))

import comparison  # noqa: E402
import engine  # noqa: E402


def _programs():
    for area in AREAS:
        path = ORACLE / "programs" / f"{area}.py"
        spec = importlib.util.spec_from_file_location(f"programs_{area}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, program in engine.kit.programs(module).items():
            if "graph" not in name:
                yield pytest.param(program, id=f"{area}/{name}")


@pytest.mark.parametrize("program", list(_programs()))
def test_plans_and_tokens_agree(program, monkeypatch):
    compiled = engine.outcome(tf, np, program)
    assert compiled.get("kind") != "failed" if isinstance(compiled, dict) else True, compiled
    monkeypatch.setattr(config, "_rules_off", lambda: frozenset({"structure"}))
    assert not comparison.differences(compiled, engine.outcome(tf, np, program))
