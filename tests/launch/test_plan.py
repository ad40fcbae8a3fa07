"""What tasks are told, from what the program's text shows and what the machine has."""

import pytest

from tideflow.launch.local import share_of
from tideflow.launch.plan import Plan, Resources, arguments_of, flags_of
from tideflow.launch.processes import free_ports, is_free
from tideflow.launch.supervision import Task


@pytest.mark.parametrize(
    "text, flags",
    [
        ('tf.app.flags.DEFINE_string("job_name", "", "")', ("job_name",)),
        (
            'DEFINE_integer("task_index", 0, "")\nDEFINE_string("ps_hosts", "", "")',
            ("task_index", "ps_hosts"),
        ),
        ('parser.add_argument("-w", "--worker_hosts")', ("worker_hosts",)),
        ('@click.option("--job_name")\ndef main(job_name): pass', ("job_name",)),
        ('server = tf.train.Server(cluster, job_name=config["job_name"])', ()),
        ("def broken(:", ()),
    ],
)
def test_flags_are_those_that_the_program_defines(tmp_path, text, flags):
    script = tmp_path / "train.py"
    script.write_text(text)
    assert flags_of(script) == flags


def test_arguments_end_with_the_flags():
    plan = Plan("train.py", ["--rate", "0.1"], flags=("task_index", "ps_hosts"))
    cluster = {"ps": ["a:1", "b:2"], "worker": ["c:3"]}
    assert arguments_of(plan, Task("worker", 0), cluster) == [
        "train.py",
        "--rate",
        "0.1",
        "--task_index=0",
        "--ps_hosts=a:1,b:2",
    ]


def test_an_evaluator_comes_last():
    plan = Plan("train.py", has_chief=True, has_evaluator=True)
    assert [str(task) for task in plan.tasks] == ["ps 0", "chief 0", "worker 0", "evaluator 0"]
    assert plan.chief == Task("chief", 0)


def test_those_who_compute_divide_the_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: range(12))
    shares = share_of(Plan("train.py", ps=2, workers=4))
    assert shares[Task("ps", 0)] == {"OMP_NUM_THREADS": "2"}
    assert shares[Task("worker", 3)] == {"OMP_NUM_THREADS": "3"}
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert share_of(Plan("train.py"))[Task("worker", 0)] == {"OMP_NUM_THREADS": "5"}


def test_nobody_sees_anothers_gpus(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
    plan = Plan("train.py", ps=1, workers=2, resources={"worker": Resources(gpus=2)})
    seen = {task: share["CUDA_VISIBLE_DEVICES"] for task, share in share_of(plan).items()}
    assert seen == {Task("ps", 0): "", Task("worker", 0): "4,5", Task("worker", 1): "6,7"}
    for gpus in (3, 0.5):
        with pytest.raises(ValueError, match=f"want {2 * gpus:g} GPUs; this machine has 4"):
            share_of(Plan("train.py", workers=2, resources={"worker": Resources(gpus=gpus)}))


def test_free_ports_are_free_and_different():
    ports = free_ports(20)
    assert len(set(ports)) == 20 and all(map(is_free, ports))
