"""What messages cost here: measured on a real parameter server in another process of this machine.

A synchronous step that computes nothing, with one worker and one server, is nothing but messages and the
waiting of threads for them. The simulator knows how many ends of messages follow one after the other in it;
so one end costs that part of the step. The machine may be busy with other things, so a time is that of the
quickest tenth of the steps. Tensors go through sockets, as between machines, not through the memory that
processes of one machine share.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tideflow as tf
from tideflow.cluster import shared_memory
from tideflow.cluster.ports import reserved
from tideflow.simulator.network import Machine
from tideflow.simulator.training import Job, Training

_SERVE = """
import json, sys
import tideflow as tf
from tideflow.cluster import shared_memory
shared_memory.WORTH_BYTES = 1 << 62  # tensors go through sockets, as between machines
server = tf.train.Server(json.loads(sys.argv[1]), job_name="ps", task_index=0)
print("ready", flush=True)
sys.stdin.read()
server.stop()
"""
LARGE = 25_000_000  # floats, 100 MB
QUICK = 0.1  # the part of the steps that counts


def calibrate(steps: int) -> dict[str, Any]:
    """Measures; a dictionary that JSON can hold."""
    with _cluster() as target, tf.Graph().as_default():
        scalar, large = _variables()
        step, release = _synchronous_step()
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            fetch_scalar = _measure(lambda: session.run(scalar), steps)
            fetch_large = _measure(lambda: session.run(large), 10)
            leader = threading.Thread(target=_lead, args=(session, release), daemon=True)
            leader.start()
            synchronous = _measure(lambda: session.run(step), steps)
        leader.join(10)
    return {
        "date": date.today().isoformat(),
        "machine": _machine(),
        "load_average": round(os.getloadavg()[0], 1),
        "fetch_seconds": fetch_scalar,
        "synchronous_step_seconds": synchronous,
        "message_seconds": synchronous / ends_in_a_row(),
        "socket_bytes_per_second": 4 * LARGE / (fetch_large - fetch_scalar),
        "sum_bytes_per_second": _summing(),
    }


def ends_in_a_row() -> int:
    """The ends of messages, one after the other, in a synchronous step of one worker and one server."""
    machine = Machine(message_seconds=1.0, latency=1e-3, bytes_per_second=1e12)  # so that nothing coincides
    return round(Training(Job(1, 1, machine, machine)).run(3).step_seconds[-1])


def write(path: Path, steps: int = 2000) -> dict[str, Any]:
    """Measures, and keeps what was found."""
    found = calibrate(steps)
    path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return found


def _variables() -> tuple[tf.Tensor, tf.Tensor]:
    with tf.device("/job:ps/task:0"):
        return tf.Variable(1.0), tf.Variable(tf.zeros([LARGE]))


def _synchronous_step() -> tuple[tf.Tensor, tf.Operation]:
    """A worker's step, and the chief's."""
    with tf.device("/job:ps/task:0"):
        parameter = tf.Variable(0.0)
        gathered = tf.ConditionalAccumulator(tf.float32, shape=[])
        tokens = tf.FIFOQueue(-1, tf.int64, shapes=[])
        update = tf.assign_add(parameter, gathered.take_grad(1))
    with tf.device("/job:worker/task:0"):
        gradient = 0.0 * parameter
    with tf.device("/job:ps/task:0"):
        with tf.control_dependencies([gathered.apply_grad(gradient, local_step=1 << 40)]):
            step = tokens.dequeue()
        with tf.control_dependencies([update]):
            release = tokens.enqueue(tf.constant(0, tf.int64))
    return step, release


def _lead(session: tf.Session, release: tf.Operation) -> None:
    """The chief's steps, until the session is closed."""
    try:
        while True:
            session.run(release)
    except (tf.errors.OpError, RuntimeError):
        return


@contextmanager
def _cluster() -> Iterator[str]:
    """A server here and one in another process: the target of a session."""
    with reserved(2) as ports:
        cluster = {job: [f"127.0.0.1:{port}"] for job, port in zip(("ps", "worker"), ports)}
        with _served(cluster) as target:
            yield target


@contextmanager
def _served(cluster: dict[str, list[str]]) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, json.dumps(cluster)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    worth = shared_memory.WORTH_BYTES
    try:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"The parameter server did not start: its exit code is {process.wait(10)}.")
        shared_memory.WORTH_BYTES = 1 << 62
        server = tf.train.Server(cluster, job_name="worker", task_index=0)
        try:
            yield server.target
        finally:
            server.stop()
    finally:
        shared_memory.WORTH_BYTES = worth
        process.kill()
        process.wait()


def _measure(step: Callable[[], Any], steps: int) -> float:
    """The seconds of a quick step."""
    step()
    taken = []
    for _ in range(steps):
        began = time.perf_counter()
        step()
        taken.append(time.perf_counter() - began)
    return float(np.quantile(taken, QUICK))


def _summing() -> float:
    """Bytes of gradients added to a sum in a second, by one thread."""
    total, gradient, threads = torch.zeros(LARGE), torch.ones(LARGE), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        taken = []
        for _ in range(5):
            began = time.perf_counter()
            total += gradient
            taken.append(time.perf_counter() - began)
    finally:
        torch.set_num_threads(threads)
    return 4 * LARGE / min(taken)


def _machine() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"
