"""Jobs on this machine, of real processes: what tasks are told, who is started again, what is left."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import tideflow as tf
from tests.launch.launched import ROOT, is_gone, launched

HERE = Path(__file__).parent
EXAMPLE = ROOT / "examples" / "between_graph.py"
REPORT, TRAIN, MOMENT = HERE / "report.py", HERE / "train_until.py", HERE / "moment.py"


def told(text: str) -> dict[str, dict]:
    """What each task of the report says it was told."""
    return {task: json.loads(found) for task, found in re.findall(r"\[(\w+ \d+)\] told (.*)", text)}


def test_every_task_is_told_its_place():
    with launched("--ps", 1, "--workers", 2, "--key", "new", "--worker-cpus", 3, REPORT) as job:
        assert job.ends() == 0, job.text
    found = told(job.text)
    assert set(found) == {"ps 0", "worker 0", "worker 1"}
    cluster = found["ps 0"]["place"]["cluster"]
    assert {job: len(hosts) for job, hosts in cluster.items()} == {"ps": 1, "worker": 2}
    for task, one in found.items():
        job_name, index = task.split()
        assert one["place"] == {"cluster": cluster, "task": {"type": job_name, "index": int(index)}}
        assert (one["job_name"], one["task_index"]) == (job_name, index)
        assert (one["ps_hosts"], one["worker_hosts"]) == (
            cluster["ps"][0],
            ",".join(cluster["worker"]),
        )
    assert found["worker 1"]["threads"] == "3"
    (key,) = {one["key"] for one in found.values()}
    assert not Path(key).exists()  # it went with the job


def test_a_new_key_goes_with_a_launcher_that_is_killed():
    with launched("--ps", 0, "--key", "new", REPORT, "--does", "worker=stay") as job:
        told_once = json.loads(job.sees(r"\[worker 0\] told (.*)").group(1))
        assert Path(told_once["key"]).exists()
        job.process.kill()
        job.process.wait()
        assert not Path(told_once["key"]).exists()


def test_a_chief_of_its_own_and_no_flags():
    with launched("--ps", 0, "--chief", "--flags", "never", REPORT) as job:
        assert job.ends() == 0, job.text
    found = told(job.text)
    assert set(found) == {"chief 0", "worker 0"}
    assert found["chief 0"]["job_name"] is None and found["chief 0"]["ps_hosts"] is None


def test_the_exit_code_is_the_chiefs():
    with launched("--ps", 1, "--workers", 2, REPORT, "--does", "worker0=exit7 all=stay") as job:
        assert job.ends() == 7
    assert "worker 0 has failed (code 7): the job ends" in job.text
    assert "ps 0 has left (SIGTERM)" in job.text


def test_what_fails_is_started_again_and_then_given_up():
    with launched("--ps", 0, "--restarts", 1, REPORT, "--does", "worker0=raise") as job:
        assert job.ends() == 1
    assert "worker 0 has failed (code 1); restart 1 of 1 in 1 s" in job.text
    assert job.text.count("[worker 0] RuntimeError: on purpose") == 2


def test_who_does_not_leave_after_the_chief_is_made_to():
    with launched("--ps", 1, "--grace", 0.1, REPORT, "--does", "ps=stay") as job:
        assert job.ends() == 0
    assert "still there after 0.1 s, and asked to end: ps 0" in job.text


def test_ctrl_c_stops_the_job_and_a_second_one_kills_it():
    with launched("--ps", 1, REPORT, "--does", "ps=deaf worker=stay") as job:
        pids = [job.pid_of("ps 0"), job.pid_of("worker 0")]
        job.sees(r"\[ps 0\] deaf")  # not what it was told to be, which everybody prints
        job.process.send_signal(signal.SIGINT)
        job.sees("SIGINT: stopping the job")
        job.sees("worker 0 has left")
        job.process.send_signal(signal.SIGINT)
        assert job.ends() == 130, job.text
        assert "ps 0 has left (SIGKILL)" in job.text
        assert all(map(is_gone, pids))


def test_a_task_leaves_also_where_python_ignores_what_its_handler_raises(tmp_path):
    """As in the callbacks of weak references, of which imports have many."""
    program = tmp_path / "program.py"
    program.write_text(
        "import signal, threading, weakref\n"
        "class A: pass\n"
        "a = A()\n"
        "r = weakref.ref(a, lambda _: signal.raise_signal(signal.SIGTERM))\n"
        "del a\n"
        "threading.Event().wait(100)\n"
    )
    command = [sys.executable, "-m", "tideflow.launch.task_entry", str(program)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 128 + signal.SIGTERM and not done.stderr


def test_nothing_outlives_a_launcher_that_is_killed():
    with launched("--ps", 1, REPORT, "--does", "all=deaf") as job:
        pids = [job.pid_of("ps 0"), job.pid_of("worker 0")]
        job.sees(r"\] deaf"), job.sees(r"\] deaf")
        job.process.kill()
        assert all(map(is_gone, pids))


def test_training_goes_on_from_its_checkpoint_when_a_server_is_killed(tmp_path):
    with launched("--workers", 2, "--restarts", 3, "--grace", 5, TRAIN, tmp_path) as job:
        pid = job.pid_of("ps 0")
        job.sees(r"\[worker 0\] step ([4-9]\d|\d{3}) ")
        os.kill(pid, signal.SIGKILL)
        job.sees(r"ps 0 has failed \(SIGKILL\); restart 1 of 3")
        job.pid_of("ps 0")
        assert int(job.sees(r"\[worker 0\] step (\d+)").group(1)) >= 20
        (tmp_path / "enough").touch()
        assert job.ends() == 0, job.text
    assert tf.train.latest_checkpoint(str(tmp_path))


@pytest.mark.parametrize("end, clean", [("pass", True), ("raise OSError", False), ("sys.exit(3)", False)])
def test_peers_learn_whether_the_work_is_done(tmp_path, end, clean):
    script = tmp_path / "ends.py"
    script.write_text(
        "import atexit, sys\n"
        "from tideflow.cluster.heartbeats import exit_was_clean\n"
        "atexit.register(lambda: print('clean', exit_was_clean()))\n"
        f"{end}\n"
    )
    with launched("--ps", 0, script) as job:
        job.sees(f"clean {clean}")
        assert (job.ends() == 0) == clean


def test_servers_leave_by_themselves_even_after_a_job_of_a_moment():
    with launched("--ps", 2, "--grace", 120, MOMENT) as job:
        assert job.ends() == 0, job.text
    assert len(re.findall(r"ps \d has (?:finished|left \(code 0\))", job.text)) == 2


def test_the_example_learns():
    with launched("--ps", 2, "--workers", 2, "--grace", 5, EXAMPLE, "--steps", 600) as job:
        assert job.ends() == 0, job.text
    shares = re.findall(r"\[worker \d\] step \d+: .* accuracy ([\d.]+)%", job.text)
    assert float(shares[-1]) > 90
    assert re.search(r"\[worker 0\] done at step 60\d", job.text)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["/nowhere/train.py"], "there is no file /nowhere/train.py"),
        (["--workers", "0", REPORT], "--workers: must be 1 or more, not 0"),
        (["--ps", "many", REPORT], "--ps: 'many' is not a number"),
        (["--unknown", REPORT], "unrecognized arguments: --unknown"),
        (["--min-workers", "1", REPORT], "--min-workers is for --ray"),
        (["--key", "/nowhere/key", REPORT], "cluster key /nowhere/key cannot be read"),
        (["--ray", "auto", "--slurm", REPORT], "not allowed with argument --ray"),
        (["--insecure", "--key", "new", REPORT], "not allowed with argument --insecure"),
        (["--insecure", "--slurm", REPORT], "--insecure is for tasks on this machine"),
        ([], "the following arguments are required: SCRIPT"),
    ],
)
def test_mistakes(arguments, said, capsys):
    from tideflow.cli import main

    try:
        code = main(["launch", *map(str, arguments)])
    except SystemExit as error:
        code = error.code
    assert code == 2
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken(capsys):
    from tideflow.cli import main

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["launch", "--port", str(port), str(REPORT)]) == 2
    assert f"port {port} is taken" in capsys.readouterr().err
