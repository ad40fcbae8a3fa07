"""Workers that Ray places: a Ray cluster, a server as a program, our own transport between."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("ray")
# Read when Ray is loaded: it then asks for no other address than the loopback's.
ONLY_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}


@pytest.fixture
def cluster(monkeypatch):
    for name, value in ONLY_LOOPBACK.items():
        monkeypatch.setenv(name, value)
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 2, "include_dashboard": False, "node_ip_address": "127.0.0.1"}
    made = Cluster(initialize_head=True, head_node_args=head)
    yield made
    made.shutdown()


def ask(address, path, body=None):
    connection = http.client.HTTPConnection(address, timeout=120)
    connection.request("GET" if body is None else "POST", path, body)
    answer = connection.getresponse()
    return answer.status, answer.read()


def worker_pids():
    """The workers of this machine that Ray's actors have started."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:  # it has ended
            continue
        if b"tideflow.serving.remote_worker" in words:
            found.append(int(name))
    return found


@pytest.mark.slow(reason="it starts a Ray cluster, and programs that import everything")
def test_models_answer_from_actors_of_ray_and_come_back(cluster, tmp_path, save_linear):
    save_linear(tmp_path / "m" / "1", 3)
    flags = ["--port=0", "--rest_api_port=-1", "--tiny_models_in_process=false", f"--ray={cluster.address}"]
    command = [sys.executable, "-m", "tideflow", "serve", str(tmp_path), *flags]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().split("//")[1].strip().rstrip("/")
        while ask(address, "/readyz")[0] != 200:
            time.sleep(0.1)
        body = json.dumps({"instances": [[1, 2, 3]]})
        expected = 200, {"predictions": [[4, 7, 10]]}
        status, answer = ask(address, "/v1/models/m:predict", body)
        assert (status, json.loads(answer)) == expected
        (before,) = worker_pids()
        os.kill(before, signal.SIGKILL)
        status, answer = ask(address, "/v1/models/m:predict", body)
        assert (status, json.loads(answer)) == expected
        assert before not in worker_pids()
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.communicate()
