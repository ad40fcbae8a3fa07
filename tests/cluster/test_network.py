"""A job over a network that is cut and heals: two hosts as network namespaces, where there can be any."""

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

import tideflow as tf

_SCRIPT = Path(__file__).with_name("train_counting.py")
_HOSTS = ("10.213.7.1", "10.213.7.2")
_CUT_SECONDS = 8.0  # longer than a connection may be silent


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def namespaces():
    """Two network namespaces with a cable between them."""
    names = [f"tide{uuid.uuid4().hex[:6]}" for _ in _HOSTS]
    ends = [f"v{name[4:]}" for name in names]
    made = []
    try:
        for name in names:
            _ip("netns", "add", name)
            made.append(name)
        _ip(
            "link",
            "add",
            ends[0],
            "netns",
            names[0],
            "type",
            "veth",
            "peer",
            "name",
            ends[1],
            "netns",
            names[1],
        )
        for name, end, host in zip(names, ends, _HOSTS):
            _ip("-n", name, "addr", "add", f"{host}/24", "dev", end)
            _ip("-n", name, "link", "set", end, "up")
            _ip("-n", name, "link", "set", "lo", "up")
    except (OSError, subprocess.CalledProcessError) as error:
        for name in made:
            _ip("netns", "delete", name)
        pytest.skip(f"no network namespaces here: {error}")
    yield list(zip(names, ends))
    for name in made:
        _ip("netns", "delete", name)


def _start(
    namespace: str, cluster: dict, job: str, key: Path, directory: Path, steps: int
) -> subprocess.Popen:
    place = {"cluster": cluster, "task": {"type": job, "index": 0}}
    environment = {
        **os.environ,
        "TF_CONFIG": json.dumps(place),
        "TIDEFLOW_CLUSTER_KEY": str(key),
        "OMP_NUM_THREADS": "1",
    }
    command = ["ip", "netns", "exec", namespace, sys.executable, str(_SCRIPT), str(directory), str(steps)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _reached(directory: Path) -> int:
    path = tf.train.latest_checkpoint(str(directory))
    return int(path.rpartition("-")[2]) if path else 0


def test_a_network_that_is_cut_and_heals(namespaces, tmp_path):
    key, directory, steps = tmp_path / "key", tmp_path / "job", 1_000_000
    subprocess.run([sys.executable, "-m", "tideflow", "keygen", str(key)], check=True, capture_output=True)
    cluster = {"ps": [f"{_HOSTS[0]}:4711"], "worker": [f"{_HOSTS[1]}:4712"]}
    (ps_host, cable), (worker_host, _) = namespaces
    deadline = time.monotonic() + 300  # on a busy machine
    tasks = [_start(ps_host, cluster, "ps", key, directory, steps)]
    tasks.append(_start(worker_host, cluster, "worker", key, directory, steps))
    try:
        while _reached(directory) < 40:
            assert time.monotonic() < deadline and tasks[1].poll() is None, "the job does not begin"
            time.sleep(0.05)
        _ip("-n", ps_host, "link", "set", cable, "down")
        time.sleep(_CUT_SECONDS)
        stood = _reached(directory)
        _ip("-n", ps_host, "link", "set", cable, "up")
        while _reached(directory) < stood + 100:
            assert time.monotonic() < deadline and tasks[1].poll() is None, "the job does not go on"
            time.sleep(0.05)
        assert tasks[0].poll() is None  # the parameter server has lived through it
    finally:
        for task in tasks:
            task.kill()
            task.wait()
