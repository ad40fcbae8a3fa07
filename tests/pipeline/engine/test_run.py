"""Passes over sources: by this process, by others, after kills, and with rows that are lost or faulty."""

import os
import signal
import socket
import subprocess
import sys
import threading
import types
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from tideflow.graph.errors import DataLossError, InternalError, InvalidArgumentError, UnavailableError
from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Blocks, Source, find_sources
from tideflow.pipeline.engine import run, workers
from tideflow.pipeline.engine.accumulators import Accumulator, Mapped, Rows, Together
from tideflow.pipeline.engine.run import accumulate, transform_blocks
from tideflow.pipeline.engine.splitting import write_splits


def numbers(*values):
    return pa.RecordBatch.from_arrays([pa.array([[value] for value in values], pa.list_(pa.int64()))], ["n"])


@dataclass(frozen=True)
class Sum(Accumulator):
    """The sum of a column, and the processes that added to it."""

    def create(self):
        return 0, set()

    def add(self, state, block):
        return state[0] + sum(block.column("n").flatten().to_pylist()), state[1] | {os.getpid()}

    def merge(self, states):
        return sum(total for total, _ in states), set().union(*(pids for _, pids in states))

    def extract(self, state):
        return state


@dataclass(frozen=True)
class Deadly(Source):
    """Rows whose first reader kills itself, or whose every reader does."""

    marker: str
    always: bool = False
    path: str = "deadly"
    size = 1

    def blocks(self, faults):
        is_worker = Path(f"{self.marker}.pid").read_text() != str(os.getpid())
        if is_worker and (self.always or not os.path.exists(self.marker)):
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield numbers(1000)


@dataclass(frozen=True)
class Faulty(Source):
    path: str = "faulty.csv"
    size = 1

    def blocks(self, faults):
        faults.add(self.path, 7, "is wrong", b"x\xff")
        yield numbers(1)


def doubled(block):
    return numbers(*[2 * number for number in block.column("n").flatten().to_pylist()])


def refused(block):
    raise InvalidArgumentError(None, None, "not this one")


def test_results_of_one_pass_by_name():
    seen = []
    accumulators = {"rows": Rows(), "both": Together({"sum": Sum(), "doubled": Mapped(doubled, Sum())})}
    found = accumulate(
        [Blocks([numbers(1, 2), numbers(3)]), Blocks([]), Blocks([numbers(4)])],
        accumulators,
        progress=lambda done, of: seen.append((done, of)),
    )
    assert found["rows"] == 4
    assert (found["both"]["sum"][0], found["both"]["doubled"][0]) == (10, 20)
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.fixture
def by_processes(monkeypatch):
    """Data of any size are worth processes."""
    monkeypatch.setattr(run, "_SMALL", 0)


def test_the_part_of_a_killed_worker_is_computed_again(tmp_path, monkeypatch, by_processes):
    monkeypatch.setattr(workers, "_MOST_LOST", 1)
    marker = str(tmp_path / "killed")
    (tmp_path / "killed.pid").write_text(str(os.getpid()))
    sources = [Blocks([numbers(number)]) for number in range(5)]
    found = accumulate([*sources, Deadly(marker)], {"sum": Sum(), "rows": Rows()}, workers=2)
    assert os.path.exists(marker)
    assert found["sum"][0] == 1010
    assert found["rows"] == 6
    assert os.getpid() not in found["sum"][1]
    with pytest.raises(InternalError, match=r"killed 2 times in a row at part 1 of 2: Deadly"):
        accumulate([Deadly(marker, always=True), sources[0]], {"sum": Sum()}, workers=2)
    with pytest.raises(InvalidArgumentError, match="not this one"):
        accumulate(sources, {"sum": Mapped(refused, Sum())}, workers=2)


@dataclass(frozen=True)
class Threaded(Source):
    """Rows whose reader waits until another thread reads too."""

    both: threading.Barrier
    number: int
    path: str = "threaded"
    size = 1
    is_threaded = True

    def blocks(self, faults):
        if self.number < 0:
            raise InvalidArgumentError(None, None, "not this one")
        self.both.wait(60)
        yield numbers(self.number)


@dataclass(frozen=True)
class ThreadedSum(Sum):
    is_threaded = True


def test_threads_read_where_both_sides_say_that_they_can():
    both = threading.Barrier(2)
    accumulators = {"sum": ThreadedSum(), "rows": Rows()}
    found = accumulate([Threaded(both, number) for number in range(8)], accumulators, workers=2)
    assert found == {"sum": (28, {os.getpid()}), "rows": 8}
    with pytest.raises(InvalidArgumentError, match="not this one"):
        accumulate([Threaded(both, -1)] * 3, accumulators, workers=2)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("pipeline")]


def test_small_data_are_not_worth_processes():
    found = accumulate(
        [Blocks([numbers(number)]) for number in range(4)], {"sum": Sum(), "rows": Rows()}, workers=2
    )
    assert found == {"sum": (6, {os.getpid()}), "rows": 4}


def test_the_program_itself_is_not_run_again_by_workers(tmp_path, monkeypatch, by_processes):
    marker = tmp_path / "run"
    main = types.ModuleType("__main__")
    main.__file__ = str(tmp_path / "program.py")
    (tmp_path / "program.py").write_text(f"open({str(marker)!r}, 'w')")
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert accumulate([Blocks([numbers(1)])] * 3, {"rows": Rows()}, workers=2) == {"rows": 3}
    assert not marker.exists()
    assert main.__file__ == str(tmp_path / "program.py")


def test_faulty_rows_are_handed_over_or_raise():
    faults = Faults()
    assert accumulate([Faulty(), Faulty()], {"rows": Rows()}, faults=faults)["rows"] == 2
    assert faults.counts == Counter({"is wrong": 2})
    assert str(faults.first[0]) == "faulty.csv:7: is wrong: x\\xff"
    with pytest.raises(DataLossError, match=r"2 rows are faulty, the first: faulty\.csv:7: is wrong"):
        accumulate([Faulty(), Faulty()], {"rows": Rows()})


def test_workers_that_cannot_be_are_refused():
    for count in (0, -3):
        with pytest.raises(InvalidArgumentError, match=f"is to be 1 or more, and is {count}"):
            accumulate([Blocks([numbers(1)])], {"rows": Rows()}, workers=count)
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
    with pytest.raises(UnavailableError, match=f"There is no Ray cluster at {address}: .*refused"):
        accumulate([Blocks([numbers(1)])], {"rows": Rows()}, ray=address)


def test_rows_that_are_lost_are_noticed(monkeypatch):
    monkeypatch.setattr(Rows, "merge", lambda self, states: states[-1])
    with pytest.raises(InternalError, match="Of 3 rows that were read, not all were added"):
        accumulate([Blocks([numbers(1, 2)]), Blocks([numbers(3)])], {"sum": Sum()})


def test_blocks_are_transformed_and_written_the_same_by_any_number_of_workers(tmp_path, monkeypatch):
    lines = [f"{number},{'ab'[number % 2]}\n" for number in range(400)]
    (tmp_path / "in.csv").write_text(
        "n,s\n" + "".join(lines) + "x,late\n"
    )  # only the last row says it is text
    sources = find_sources(tmp_path / "in.csv", part_bytes=500)
    assert len(sources) > 3
    written = {}
    for way, count in {"1": 1, "threads": 2, "processes": 2}.items():
        folder = tmp_path / way
        monkeypatch.setattr(run, "_SMALL", 0 if way == "processes" else run._SMALL)
        rows = write_splits(sources, folder, {"train": 3, "eval": 1}, workers=count)
        assert sum(rows.values()) == 401
        assert 240 < rows["train"] < 360
        written[way] = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.gz")}
    assert written["1"] == written["threads"] == written["processes"]
    assert {path.parent.name for path in written["1"]} == {"Split-train", "Split-eval"}
    again = accumulate(
        find_sources([tmp_path / "1" / "Split-train", tmp_path / "1" / "Split-eval"]), {"rows": Rows()}
    )
    assert again["rows"] == 401
    with pytest.raises(InvalidArgumentError, match="not this one"):
        transform_blocks(sources, refused, tmp_path / "none")
    assert not list((tmp_path / "none").rglob("*"))


PROGRAM = """
import os, signal, sys
from dataclasses import dataclass
from tideflow.pipeline.data.sources import Source
from tideflow.pipeline.engine.accumulators import Rows
from tideflow.pipeline.engine.run import accumulate

@dataclass(frozen=True)
class Endless(Source):
    path: str
    size = 1 << 30

    def blocks(self, faults):
        os.write(os.open(self.path, os.O_WRONLY), b"x")
        signal.pause()
        yield

if __name__ == "__main__":
    accumulate([Endless(sys.argv[1])] * 2, {"rows": Rows()}, workers=2)
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_process_they_work_for(tmp_path, sent):
    (tmp_path / "program.py").write_text(PROGRAM)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    command = [sys.executable, str(tmp_path / "program.py"), str(fifo)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        with open(fifo, "rb", buffering=0) as started:
            assert started.read(1) + started.read(1) == b"xx"
            process.send_signal(sent)
            assert started.read(1) == b""  # the end: both have closed it
        assert process.wait() == -sent
