"""The benchmark's tables, from figures that are made up; the works themselves are measured by hand."""

import importlib

import pytest

from benchmarks import shared
from benchmarks.peers import PEERS
from benchmarks.report import Results, markdown
from benchmarks.works import NAMES


@pytest.fixture(scope="module")
def works():
    return {name: importlib.import_module(f"benchmarks.works.{name}") for name in NAMES}


def test_works_say_what_the_tables_need(works):
    assert len({work.title for work in works.values()}) == len(works)
    for name, work in works.items():
        assert callable(work.tf1) and work.steps >= 1, name
        assert set(work.reach) <= {*PEERS, "seconds", "baseline"}, name
        assert ("baseline" in work.reach) <= hasattr(work, "baseline"), name


class FakeWorker:
    """A peer whose steps always take as long, and which notes what it is asked."""

    def __init__(self, seconds, asked):
        self._seconds, self._asked = seconds, asked

    def begin(self, work, steps):
        self._asked.append((work, steps))

    def answer(self):
        return {"seconds": self._seconds}

    def ask(self, work, steps):
        self.begin(work, steps)
        return self.answer()


def test_a_work_is_measured_alone_beside_a_busy_core_and_twice():
    asked = []
    pair = [FakeWorker(1.0, asked), FakeWorker(3.0, asked)]
    assert shared.sharing(pair, "mlp", 5) == {"alone": 1.0, "busy": 1.0, "twice": 2.0}
    assert asked == [("mlp", 1)] * 2 + [("mlp", 5)] * 4


def row(text, title):
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {title} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("twice, reached", [(2e-3, "yes"), (5e-3, "**no**")])
def test_a_shared_machine_is_compared_with_tensorflow(works, twice, reached):
    results = Results({"mlp": works["mlp"]}, ["tideflow", "tensorflow"], rounds=1)
    results.shared["mlp"] = {
        "tideflow": {"alone": 1e-3, "busy": 2e-3, "twice": twice},
        "tensorflow": {"alone": 2e-3, "busy": 4e-3, "twice": 4e-3},
    }
    cells = row(markdown(results), works["mlp"].title)
    assert cells[1:4] == ["1 ms", "2 ms", f"{1e3 * twice:.3g} ms"]
    assert cells[-3:] == ["0.5", f"{twice / 4e-3:.3g}", reached]


def test_page_faults_and_memory_of_a_step(works):
    results = Results({"mlp": works["mlp"]}, ["tideflow", "numpy"], rounds=3)
    results.pages["mlp"] = {"tideflow": [(7.0, 1 << 20), (1.0, 3 << 20), (2.0, 0)]}
    assert row(markdown(results), works["mlp"].title)[1:] == ["2", "–", "3.0 MB", "–"]


def test_a_work_without_a_limit_has_no_verdict(works):
    work = works["independent_ops"]
    assert work.reach == {}
    results = Results({"independent_ops": work}, ["tideflow", "tensorflow"], rounds=1)
    results.seconds["independent_ops"] = {"tideflow": [1e-3], "tensorflow": [2e-3]}
    assert row(markdown(results), work.title)[-4:] == ["0.5", "0.5", "", ""]
