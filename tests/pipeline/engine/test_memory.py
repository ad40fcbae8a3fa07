"""Arrow's memory while passes run."""

import pyarrow as pa
import pytest

from tideflow.pipeline.engine.memory import reused_memory
from tideflow.pipeline.statistics import generate_statistics


@pytest.fixture
def usual(monkeypatch):
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    before = pa.default_memory_pool()
    own = pa.logging_memory_pool(before)  # one that is no other's
    pa.set_memory_pool(own)
    yield pa.default_memory_pool().backend_name
    pa.set_memory_pool(before)


def backend():
    return pa.default_memory_pool().backend_name


def test_passes_use_the_memory_of_the_c_library(usual):
    with reused_memory():
        with reused_memory():
            assert backend() == "system"
        assert backend() == "system"  # the other pass goes on
    assert backend() == usual


def test_an_error_ends_it(usual):
    with pytest.raises(KeyError), reused_memory():
        raise KeyError
    assert backend() == usual


def test_what_users_choose_stays(usual, monkeypatch):
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "mimalloc")
    with reused_memory():
        assert backend() == usual


def test_statistics_are_such_a_pass(usual, tmp_path, monkeypatch):
    seen = []
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n2\n")
    generate_statistics(str(path), workers=1, progress=lambda done, total: seen.append(backend()))
    assert seen == ["system"]
    assert backend() == usual
