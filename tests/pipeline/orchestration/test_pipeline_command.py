"""`tideflow pipeline`, with a pipeline of small components, and `watch`."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.orchestration.fakes import calls, make
from tests.pipeline.orchestration.test_components import PROGRAM
from tideflow.cli import main
from tideflow.pipeline.orchestration import runner
from tideflow.pipeline.orchestration.watch import Watching, watch

TREE = Path(__file__).resolve().parents[3]


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "words_pipeline.py"
    path.write_text(PROGRAM.format(root=tmp_path / "root"))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "1.txt").write_text("a b c")
    return path


def test_run_list_and_show(program, tmp_path, capsys):
    settings = ["--set", f"folder={tmp_path / 'data'}"]
    assert main(["pipeline", "run", str(program), *settings]) == 0
    printed = capsys.readouterr().out
    assert (
        "Report  done" in printed and "Run 1 is complete: 4 components ran, 0 had nothing to do." in printed
    )
    assert main(["pipeline", "run", str(program), *settings, "--force", "Judge"]) == 0
    assert "1 component ran, 3 had nothing to do" in capsys.readouterr().out
    assert main(["pipeline", "run", str(program), *settings, "--set", "scale=100"]) == 3
    printed = capsys.readouterr().out
    assert "Judge   REFUSED" in printed and "300 words are more than 100" in printed
    assert "Report  skipped, for Judge" in printed and "Run 3 stopped at Judge." in printed

    assert main(["pipeline", "list", str(tmp_path / "root")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [
        ["3", "fake", "refused"],
        ["2", "fake", "complete"],
        ["1", "fake", "complete"],
    ]
    assert main(["pipeline", "show", str(tmp_path / "root"), "1"]) == 0
    printed = capsys.readouterr().out
    assert "output blessing: ModelBlessing 4" in printed and "input model: Model 3" in printed
    assert main(["pipeline", "show", str(tmp_path / "root")]) == 3
    assert "skipped" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["run", "none.py"], "there is no file none.py"),
        (["run", "/etc/hostname"], "/etc/hostname is no program: its name does not end with .py"),
        (["list", "nowhere"], "there is no metadata.db in nowhere"),
        (["run", "{program}"], "missing a required argument: 'folder'"),
        (["run", "{program}", "--set", "folder=x", "--force", "Nobody"], "fake has no component Nobody"),
        (["show", "sqlite://"], "there is no run yet"),
        (["list", "nonsense://x"], "the metadata's place is a URL of SQLAlchemy"),
        (["list", "oracle+cx_none://x"], "Can't load plugin"),
        (["list", "sqlite:////nowhere/x.db"], "x.db cannot be opened: unable to open database file"),
        (["list", "sqlite:///{program}"], "words_pipeline.py cannot be opened: file is not a database"),
    ],
)
def test_what_is_wrong_is_said(program, arguments, message, capsys):
    arguments = [each.format(program=program) for each in arguments]
    assert main(["pipeline", *arguments]) == 2
    assert message in capsys.readouterr().err


WAITING = """
import sys, time
sys.path.insert(0, {tree!r})
from tests.pipeline.orchestration.fakes import make

def wait(words):
    print("waiting", flush=True)
    while True:  # a signal that comes before a single pause would not end it
        time.sleep(0.1)

def create_pipeline():
    return make({data!r}, {root!r}, function=wait)
"""


def test_ctrl_c_ends_a_run_that_goes_on_later(program, tmp_path):
    program.write_text(
        WAITING.format(tree=str(TREE), data=str(tmp_path / "data"), root=str(tmp_path / "root"))
    )
    command = [sys.executable, "-m", "tideflow", "pipeline", "run", str(program)]
    environment = {**os.environ, "PYTHONPATH": str(TREE)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert any(line.strip() == "waiting" for line in process.stdout)
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert process.returncode == 130 and "The same command goes on from here." in rest
    calls.clear()
    result = runner.run(make(tmp_path / "data", tmp_path / "root"))
    assert result.run == 1 and list(calls) == ["Count", "Judge", "Report"]


def test_watching_waits_until_files_are_whole():
    watching = Watching()
    looks = [{}, {"a": (1, 1)}, {"a": (2, 2)}, {"a": (2, 2)}, {"a": (2, 2)}, {"b": (1, 1)}, {"b": (1, 1)}]
    assert [watching.look(found) for found in looks] == [False, False, False, True, False, False, True]


def test_watch_runs_on_new_spans(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    texts = iter(["a b c", "a b c d", "a"])

    def wait(seconds):
        """At every other look there is a new span."""
        assert seconds == 10.0
        if next(looks) % 2 == 0:
            number = len(list(data.iterdir())) + 1
            (data / f"{number}.txt").write_text(next(texts, "a b"))

    looks = iter(range(100))
    (data / "0.txt").write_text("a b")
    counts = [
        (result.outputs["Count"]["counts"].uri / "counts.txt").read_text()
        for result in watch(make(data, tmp_path / "root"), runs=3, wait=wait)
    ]
    assert counts == ["3 after nothing", "4 after 3 after nothing", "1 after 4 after 3 after nothing"]
