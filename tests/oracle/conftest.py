"""What both engines said, started once for the whole test session."""

import pickle
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import runner


@pytest.fixture(scope="session")
def oracle():
    """The environment that is the truth."""
    home = runner.ENVIRONMENTS / runner.ORACLE
    if not (home / "bin" / "python").exists():
        pytest.fail(f"no oracle environment {home}: run tests/oracle/make-oracles")


@pytest.fixture(scope="session")
def results(oracle):
    """Results of every file of programs that was asked for."""
    return runner.Results()


@pytest.fixture(scope="session")
def exchanged(oracle, tmp_path_factory):
    """What a writer said of its graphs, and what the other side made of them, by the writer's name."""
    folder = runner.exchange("exchange.py", tmp_path_factory.mktemp("exchange"))
    return {
        side: [pickle.loads((folder / name).read_bytes()) for name in (side, f"{side}.read")]
        for side in (runner.ORACLE, runner.SUBJECT)
    }
