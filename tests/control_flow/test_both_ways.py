"""Programs about control flow give the same compiled into `if` and `while`, on the token executor, and with
their loops written out.
"""

from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tests.oracle import comparison, engine
from tideflow.compile import compiler
from tideflow.compile.emit import emit
from tideflow.compile.unroll import unrolled
from tideflow.session import config

ORACLE = Path(__file__).parent.parent / "oracle"
AREAS = ("control_flow", "tensor_arrays", "tensor_lists")


def _programs():
    for area in AREAS:
        for name, program in engine.load_programs(ORACLE / "programs" / f"{area}.py").items():
            if "graph" not in name:
                yield pytest.param(program, id=f"{area}/{name}")


def _emit_unrolled(program, *args, **options):
    made = unrolled(program)
    if made is not None:
        made.check()
    return emit(made or program, *args, **options)


@pytest.mark.parametrize("program", list(_programs()))
def test_plans_tokens_and_unrolled_plans_agree(program, monkeypatch):
    compiled = engine.outcome(tf, np, program)
    assert compiled.get("kind") != "failed" if isinstance(compiled, dict) else True, compiled
    with monkeypatch.context() as patched:
        patched.setattr(config, "_disabled_rules", lambda: frozenset({"structure"}))
        assert not comparison.differences(compiled, engine.outcome(tf, np, program))
    monkeypatch.setattr(compiler, "emit", _emit_unrolled)
    assert not comparison.differences(compiled, engine.outcome(tf, np, program))
