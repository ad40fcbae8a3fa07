"""orchestration/runner.py: what runs again, what is used again, what stops, and what a kill leaves."""

import os
import signal
import stat
import sys
import threading
from pathlib import Path

import pytest

from tests.pipeline.orchestration import fakes
from tests.pipeline.orchestration.fakes import calls, make
from tideflow.graph import errors
from tideflow.pipeline.orchestration import runner
from tideflow.pipeline.orchestration.components import Context, Output, component
from tideflow.pipeline.orchestration.metadata import RUNNING, Metadata
from tideflow.pipeline.orchestration.pipelines import Pipeline


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "1.txt").write_text("a b c")
    calls.clear()
    return folder


def ran():
    found = list(calls)
    calls.clear()
    return found


def text(result, node, output, name):
    return (result.outputs[node][output].uri / name).read_text()


def test_a_second_run_does_only_what_changed(data, tmp_path):
    first = runner.run(make(data, tmp_path / "root"))
    assert first.state == "complete" and ran() == ["Read", "Count", "Judge", "Report"]
    assert text(first, "Report", "report", "report.txt") == "3 after nothing"

    second = runner.run(make(data, tmp_path / "root"))
    assert set(second.states.values()) == {"cached"} and ran() == []
    assert second.run == first.run + 1
    assert second.outputs == first.outputs

    runner.run(make(data, tmp_path / "root", most=50))
    assert ran() == ["Judge"], "what comes after has the same inputs"
    runner.run(make(data, tmp_path / "root", scale=2))
    assert ran() == ["Count", "Judge", "Report"]
    runner.run(make(data, tmp_path / "root", scale=2), force=["Judge"])
    assert ran() == ["Judge"]

    (data / "1.txt").write_text("d e f")  # other words, as many
    runner.run(make(data, tmp_path / "root"))
    assert ran() == ["Read", "Count", "Judge"], "equal counts are judged by a new baseline, and reported once"


def test_code_counts_and_comments_do_not(data, tmp_path):
    runner.run(make(data, tmp_path / "root", function=lambda words: len(words)))
    ran()
    runner.run(make(data, tmp_path / "root", function=lambda words: len(words)))  # another line
    assert ran() == []
    runner.run(make(data, tmp_path / "root", function=lambda words: len(words) + 1))
    assert ran() == ["Count", "Judge", "Report"]


def test_spans_find_what_was_there_before(data, tmp_path):
    runner.run(make(data, tmp_path / "root"))
    (data / "2.txt").write_text("a b c d")
    ran()
    second = runner.run(make(data, tmp_path / "root"))
    assert text(second, "Count", "counts", "counts.txt") == "4 after 3 after nothing"
    assert text(second, "Judge", "blessing", "judged") == "4 against 3"
    assert second.outputs["Report"]["report"].properties == {"span": 2}
    ran()
    runner.run(make(data, tmp_path / "root"))
    assert ran() == [], "the baseline of a model is never itself"


def test_a_refusal_stops_what_depends_on_it_and_says_why(data, tmp_path):
    refused = runner.run(make(data, tmp_path / "root", most=2))
    assert refused.state == "refused"
    assert refused.states["Judge"] == "refused" and refused.states["Report"] == "skipped"
    assert refused.reasons["Report"] == ("Judge: 3 words are more than 2",)
    assert "Report" not in refused.outputs
    assert runner.run(make(data, tmp_path / "root", most=2)).reasons == refused.reasons  # from the cache
    (data / "2.txt").write_text("a")
    second = runner.run(make(data, tmp_path / "root", most=2))
    assert text(second, "Judge", "blessing", "judged") == "1 against none", (
        "only blessed models are baselines"
    )
    (data / "3.txt").write_text("a b c d")
    assert (
        text(runner.run(make(data, tmp_path / "root", most=2)), "Judge", "blessing", "judged")
        == "4 against 1"
    )
    (data / "4.txt").write_text("a b")
    fourth = runner.run(make(data, tmp_path / "root", most=2))
    assert text(fourth, "Judge", "blessing", "judged") == "2 against 1", (
        "a baseline stays one when what was compared with it is refused"
    )


def test_a_failure_is_kept_with_its_line_and_tried_again_when_it_may_pass(tmp_path):
    failures = [errors.unavailable("later"), OSError(5, "disk"), ValueError("never")]

    @component
    def Flaky(context: Context, out: Output[fakes.Words]) -> None:
        (out.uri / "half").write_text("")
        raise failures.pop(0)

    waited, events = [], []
    pipeline = Pipeline("flaky", tmp_path / "root", [Flaky()])
    result = runner.run(pipeline, listener=events.append, sleep=waited.append)
    assert result.state == "failed" and result.reasons["Flaky"] == ("ValueError: never",)
    assert waited == [1.0, 2.0] and not failures
    assert any("attempt 2 follows" in word for event in events for word in event.words)
    store = Metadata(pipeline.metadata_url)
    (execution,) = store.executions(result.run)
    store.close()
    assert execution["attempt"] == 3 and "raise failures.pop(0)" in execution["error"]
    assert not list(tmp_path.rglob("half"))


def test_a_run_whose_metadata_fail_is_gone_on_from(data, tmp_path, monkeypatch):
    def fail(*_):
        raise errors.unavailable("the disk is full")

    with monkeypatch.context() as full:
        full.setattr(Metadata, "end_run", fail)
        with pytest.raises(errors.UnavailableError, match="disk is full"):
            runner.run(make(data, tmp_path / "root"))
    ran()
    again = runner.run(make(data, tmp_path / "root"))
    assert again.run == 1 and again.state == "complete" and ran() == []


def test_metadata_that_fail_say_whose_they_are(tmp_path):
    store = Metadata(f"sqlite:///{tmp_path / 'metadata.db'}")
    with store.engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")  # as large as it is, and no larger
    with pytest.raises(errors.UnavailableError, match=r"metadata\.db failed: database or disk is full"):
        store.begin_run("trips", tmp_path, {"plan": "x" * 100_000})
    assert store.runs() == []
    store.close()


def test_outputs_that_changed_or_went_are_made_again(data, tmp_path):
    first = runner.run(make(data, tmp_path / "root"))
    ran()
    (first.outputs["Report"]["report"].uri / "report.txt").write_text("by hand")
    again = runner.run(make(data, tmp_path / "root"))
    assert ran() == ["Report"] and again.outputs["Report"] != first.outputs["Report"]


def test_only_the_user_enters_its_folders(data, tmp_path):
    before = os.umask(0)
    try:
        runner.run(make(data, tmp_path / "root"))
    finally:
        os.umask(before)
    for folder in (tmp_path / "root", *(tmp_path / "root").rglob("*")):
        if folder.is_dir():
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


# ------------------------------------------------------------------------------------------ killed, and twice


def in_child(function) -> int:
    """Runs a function in a forked process; the process' status."""
    child = os.fork()
    if child == 0:
        try:
            function()
            os._exit(0)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
    return os.waitpid(child, 0)[1]


def run_and_kill(data, root, at):
    """Runs the pipeline in a process that kills itself at the nth call of what changes files or metadata."""
    left = [at]

    def counted(function):
        def call(*arguments, **options):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            found = function(*arguments, **options)
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return found

        return call

    def child():
        for owner, names in (
            (Metadata, "begin_run begin_execution publish fingerprint_of end_run resume_run"),
            (os, "rename mkdir"),
            (Path, "write_text"),
        ):
            for name in names.split():
                setattr(owner, name, counted(getattr(owner, name)))
        runner.run(make(data, root))

    return in_child(child)


def test_killed_at_any_moment_a_run_goes_on_and_ends_the_same(data, tmp_path):
    runner.run(make(data, tmp_path / "whole"))
    whole = contents(tmp_path / "whole")
    moments = 0
    for at in range(1, 1000, 11):
        root = tmp_path / f"killed-{at}"
        if run_and_kill(data, root, at) == 0:
            break
        moments += 1
        assert in_child(lambda: runner.run(make(data, root))) == 0
        assert contents(root) == whole, at
        store = Metadata(make(data, root).metadata_url)
        assert {row["state"] for row in store.runs()} == {"complete"}, at
        store.close()
    assert moments > 8


def contents(root):
    """Every file of a pipeline's folder with its text, but for tokens in names; and nothing half done."""
    files = {}
    for path in root.rglob("*"):
        relative = path.relative_to(root)
        if path.is_file() and relative.parts[0] != ".locks" and "metadata.db" not in path.name:
            assert not any(part.startswith(".") for part in relative.parts), path
            node, output, _, name = relative.parts
            assert (node, output, name) not in files, path
            files[node, output, name] = path.read_text()
    return files


def test_a_run_that_ends_while_another_begins_is_not_taken_for_killed(data, tmp_path, monkeypatch):
    first = runner.run(make(data, tmp_path / "root"))
    read, stale = Metadata.runs, iter([RUNNING])

    def runs(store, *pipeline):
        """The rows, the first time as they were before the run ended."""
        rows = read(store, *pipeline)
        rows[0]["state"] = next(stale, rows[0]["state"])
        return rows

    monkeypatch.setattr(Metadata, "runs", runs)
    assert runner.run(make(data, tmp_path / "root")).run == first.run + 1


def test_two_runs_at_once_do_the_work_once(data, tmp_path):
    root = tmp_path / "root"
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            try:
                runner.run(make(data, root))
                os._exit(0)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert len(contents(root)) == 5
    store = Metadata(make(data, root).metadata_url)
    states = [execution["state"] for row in store.runs() for execution in store.executions(row["id"])]
    assert sorted(row["state"] for row in store.runs()) == ["complete"] * 3
    store.close()
    assert sorted(states) == ["cached"] * 8 + ["complete"] * 4


def test_an_interrupt_is_gone_on_from(data, tmp_path):
    def interrupt(words):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run(make(data, tmp_path / "root", function=interrupt))
    ran()
    second = runner.run(make(data, tmp_path / "root"))
    assert second.run == 1 and ran() == ["Count", "Judge", "Report"]


# --------------------------------------------------------------------------------------------- side by side


def side_by_side(root, *functions, **options):
    """A pipeline of nodes that do not depend on each other, each of which calls a function."""

    @component
    def Call(context: Context, out: Output[fakes.Words], number: int) -> None:
        (out.uri / "out.txt").write_text(str(functions[number]()))

    nodes = [Call(number=number).named(f"n{number}") for number in range(len(functions))]
    return Pipeline("side", root, nodes, at_once=len(functions), **options)


def test_nodes_that_do_not_depend_on_each_other_run_at_once(tmp_path):
    both = threading.Barrier(2)
    result = runner.run(side_by_side(tmp_path / "root", lambda: both.wait(60), lambda: both.wait(60)))
    assert result.state == "complete"
    assert sorted(text(result, node, "out", "out.txt") for node in ("n0", "n1")) == ["0", "1"]

    def fail():
        both.wait(60)
        raise ValueError("no")

    failed = runner.run(side_by_side(tmp_path / "other", fail, lambda: both.wait(60)))
    assert failed.states == {"n0": "failed", "n1": "complete"}
    assert failed.reasons == {"n0": ("ValueError: no",)}


def test_what_still_runs_when_a_run_is_interrupted_publishes_nothing(tmp_path):
    begun, go_on = threading.Event(), threading.Event()

    def late():
        begun.set()
        go_on.wait(60)

    def interrupt():
        begun.wait(60)
        raise KeyboardInterrupt

    pipeline = side_by_side(tmp_path / "root", interrupt, late)
    with pytest.raises(KeyboardInterrupt):
        runner.run(pipeline)
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "pipeline-n1"]
    go_on.set()
    thread.join()
    store = Metadata(pipeline.metadata_url)
    assert [row["state"] for row in store.runs()] == ["killed"]
    assert {each["state"] for each in store.executions(1)} == {"killed"}
    assert store.artifacts_at("side", "n1", "out") == []
    store.close()
    again = runner.run(side_by_side(tmp_path / "root", lambda: 1, late))
    assert (again.run, again.state) == (1, "complete")
    assert len(list((tmp_path / "root").rglob("out.txt"))) == 2
