"""What is seen of a job, and what is read from its logs."""

import io

import pytest

from tideflow.launch.logs import global_step
from tideflow.launch.supervision import Supervision, Task
from tideflow.launch.view import LiveView, PlainView

PS, WORKER = Task("ps", 0), Task("worker", 0)


@pytest.mark.parametrize(
    "line, step",
    [
        ("INFO:tensorflow:loss = 0.25, step = 300 (0.5 sec)", 300),
        ("INFO:tensorflow:Saving checkpoints for 120 into /tmp/model.ckpt.", 120),
        ("global step 40: loss 0.5", 40),
        ("Global_step: 7, then step 9", 9),
        ("step 12.5 of a wheel", None),
        ("INFO:tensorflow:global_step/sec: 117.2", None),
        ("nothing of the kind 12", None),
    ],
)
def test_steps_are_found_in_logs(line, step):
    assert global_step(line) == step


@pytest.fixture
def job():
    made = Supervision([PS, WORKER], WORKER, restarts=2)
    made.started(PS, "pid 11")
    made.started(WORKER, "pid 12")
    return made


def test_lines_say_who_wrote_them(job):
    out, errors = io.StringIO(), io.StringIO()
    with PlainView(job, out, errors) as view:
        view.output(WORKER, "step 5")
        view.report("ps 0 runs")
    assert (out.getvalue(), errors.getvalue()) == ("[worker 0] step 5\n", "[launch] ps 0 runs\n")


def test_the_table_tells_where_every_task_is(job):
    console = pytest.importorskip("rich.console").Console(file=io.StringIO(), width=100, force_terminal=True)
    job.ended(PS, 137)
    view = LiveView(job, console)
    view.output(WORKER, "\x1b[31mstep 41\x1b[0m of [many]")
    with console.capture() as captured:
        console.print(view.table())
    text = "".join(part.partition("m")[2] for part in f"m{captured.get()}".split("\x1b["))
    lines = [line.split() for line in text.splitlines()]
    assert "ps 0 waiting (137) pid 11 1".split() in lines
    assert "worker 0 running pid 12 41 step 41 of [many]".split() in lines
