"""Jobs on a real Ray cluster of several nodes, each at an address of the loopback of its own."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.launch.launched import is_gone, launched

pytest.importorskip("ray")
QUICKLY = ("--grace", 5)
ONLY_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
QUICK_TO_NOTICE = {
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 10_000,  # of a machine that is busy; who is gone refuses at once
    "health_check_failure_threshold": 3,
}
TRAIN = Path(__file__).with_name("train_until.py")


@pytest.fixture(scope="module")
def cluster():
    before = dict(os.environ)
    os.environ.update(ONLY_LOOPBACK)  # read when Ray is loaded
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "include_dashboard": False, "_system_config": QUICK_TO_NOTICE}
    made = Cluster(initialize_head=True, head_node_args={**head, "node_ip_address": "127.0.0.1"})
    try:
        yield made
    finally:
        made.shutdown()
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture
def node(cluster):
    """A function that adds a node, at its address; those that are left go with the test."""
    made = []

    def add(host: str, cpus: int):
        made.append(cluster.add_node(num_cpus=cpus, node_ip_address=host))
        return made[-1]

    yield add
    for one in made:
        if one in cluster.list_all_nodes():
            cluster.remove_node(one, allow_graceful=True)


def test_a_lost_task_is_started_again_and_a_lost_machine_replaced(cluster, node, tmp_path):
    first = node("127.0.0.2", 2)
    with launched(
        "--ray", cluster.address, *QUICKLY, "--ps", 1, "--workers", 1, TRAIN, tmp_path, **ONLY_LOOPBACK
    ) as job:
        pid = job.pid_of("worker 0")
        job.sees(r"step ([4-9]\d|\d{3}) ")
        os.kill(pid, signal.SIGKILL)
        job.sees(r"worker 0 has failed \(SIGKILL\); restart 1 of 3")
        job.pid_of("worker 0")
        job.sees("step [1-9]")
        cluster.remove_node(first, allow_graceful=False)
        job.sees(r"\] lost: ")
        node("127.0.0.3", 2)
        job.sees("is at 127.0.0.3:.* now: the job begins again from its last checkpoint")
        reached = int(job.sees(r"step (\d+)").group(1))
        assert reached >= 20
        (tmp_path / "enough").touch()
        assert job.ends() == 0, job.text


def test_workers_join_when_machines_come(cluster, node, tmp_path):
    node("127.0.0.4", 2)
    workers = ("--ps", 1, "--workers", 3, "--min-workers", 1, "--ship", TRAIN.parent)
    with launched("--ray", cluster.address, *QUICKLY, *workers, TRAIN.name, tmp_path, **ONLY_LOOPBACK) as job:
        job.sees("step [1-9].* of 1 workers")
        node("127.0.0.5", 2)
        job.sees("a further worker is there")
        job.sees(r"\[worker \d\] step .* of 3 workers")
        (tmp_path / "enough").touch()
        assert job.ends() == 0, job.text


@pytest.mark.xfail(
    raises=subprocess.TimeoutExpired,
    reason="Ray's command takes minutes to end on a busy machine",
    strict=False,
)
def test_a_job_that_waits_for_room_says_so_and_can_be_stopped(cluster, node, tmp_path):
    with launched(
        "--ray", cluster.address, *QUICKLY, "--worker-cpus", 64, TRAIN, tmp_path, **ONLY_LOOPBACK
    ) as job:
        job.sees("waiting for room on Ray for 2 of 2 tasks: ps .*, worker .*64")
        job.process.send_signal(signal.SIGINT)
        assert job.ends() == 130


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_the_launcher(cluster, node, tmp_path, number):
    node("127.0.0.7", 2)
    with launched("--ray", cluster.address, *QUICKLY, TRAIN, tmp_path, **ONLY_LOOPBACK) as job:
        pids = {int(job.sees(r"\d runs \(pid (\d+)").group(1)) for _ in range(2)}
        job.sees("step 1 ")
        job.process.send_signal(number)
        assert all(map(is_gone, pids))
        assert job.ends() == (130 if number == signal.SIGINT else -signal.SIGKILL)


def test_an_address_where_no_ray_is():
    with launched("--ray", "127.0.0.1:1", TRAIN) as job:
        assert job.ends() == 2
        assert "tideflow: there is no Ray cluster at 127.0.0.1:1" in job.text
