"""Tasks that are killed: the steps that need them end soon and with a reason, the others go on."""

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tests.cluster.clusters import cluster_of, processes
from tests.patience import eventually

_SCRIPT = Path(__file__).with_name("train_counting.py")
_SECONDS = 60.0  # on a busy machine


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def _server(cluster):
    return tf.train.Server(cluster, job_name="worker", task_index=0)


def test_a_killed_task_ends_the_steps_that_need_it_and_only_those(graph):
    cluster = cluster_of(ps=2, worker=1)
    with processes(cluster, ("ps", 0), ("ps", 1)) as (first, _):
        server = _server(cluster)
        try:
            with tf.device("/job:ps/task:0"):
                queue = tf.FIFOQueue(1, tf.float32)
                waiting = queue.dequeue()
            with tf.device("/job:ps/task:1"):
                other = tf.Variable(3.0)
            with tf.device("/job:worker"):
                result = waiting + 1
            with tf.Session(server.target) as session:
                session.run(other.initializer)
                errors = []

                def wait():
                    try:
                        session.run(result)
                    except tf.errors.OpError as error:
                        errors.append(error)

                thread = threading.Thread(target=wait)
                thread.start()
                eventually(lambda: server._worker._running, _SECONDS)
                first.kill()
                thread.join(_SECONDS)
                assert isinstance(errors[0], (tf.errors.UnavailableError, tf.errors.AbortedError))
                assert "/job:ps/replica:0/task:0" in errors[0].message
                assert session.run(other + 1) == 4.0
        finally:
            server.stop()


def test_a_restarted_task_has_lost_its_state_and_says_so(graph):
    cluster = cluster_of(ps=1, worker=1)
    with processes(cluster, ("ps", 0)) as (ps,):
        server = _server(cluster)
        try:
            with tf.device("/job:ps"):
                variable = tf.Variable(1.0)
            session = tf.Session(server.target)
            session.run(variable.initializer)
            ps.kill()
            ps.start()
            with pytest.raises((tf.errors.UnavailableError, tf.errors.AbortedError)):
                session.run(variable)
            session.close()
            with tf.Session(server.target) as session:
                with pytest.raises(tf.errors.FailedPreconditionError):
                    session.run(variable)
                session.run(variable.initializer)
                assert session.run(variable) == 1.0
        finally:
            server.stop()


def test_a_client_that_is_no_task(graph):
    cluster = cluster_of(ps=1, worker=1)
    with processes(cluster, ("ps", 0), ("worker", 0)):
        with tf.device("/job:ps"):
            variable = tf.Variable(2.0)
        with tf.device("/job:worker"):
            doubled = variable * 2
        with tf.Session(f"grpc://{cluster['worker'][0]}") as session:
            session.run(variable.initializer)
            assert session.run([variable, doubled]) == [2.0, 4.0]
            fed = tf.placeholder(tf.float32, [2])  # the graph grows
            np.testing.assert_allclose(session.run(fed + doubled, {fed: [1, 2]}), [5, 6])
            names = {device.name for device in session.list_devices()}
            assert "/job:ps/replica:0/task:0/device:CPU:0" in names
            with pytest.raises(tf.errors.InvalidArgumentError, match="must feed") as caught:
                session.run(fed)
            assert caught.value.op is fed.op
        with tf.Session(f"grpc://{cluster['worker'][0]}") as session:
            assert session.run(variable) == 2.0


class _Task:
    """A task of the training job, which can be killed and started again."""

    def __init__(self, cluster: dict, job: str, index: int, directory: Path, steps: int):
        config = {"cluster": cluster, "task": {"type": job, "index": index}}
        self._environment = {
            **os.environ,
            "TF_CONFIG": repr(config).replace("'", '"'),
            "OMP_NUM_THREADS": "1",
        }
        self._arguments = [sys.executable, str(_SCRIPT), str(directory), str(steps)]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._arguments, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def ended(self) -> bool:
        return self.process.poll() is not None


def test_a_job_whose_tasks_are_killed_reaches_its_end(tmp_path):
    """Parameter server, chief and worker are killed at random moments, and started again."""
    cluster, steps = cluster_of(ps=1, worker=2), 400
    names = [("ps", 0), ("worker", 0), ("worker", 1)]
    tasks = [_Task(cluster, job, index, tmp_path, steps) for job, index in names]
    chance, kills = random.Random(7), 0
    deadline = time.monotonic() + 300  # on a busy machine
    try:
        while not tasks[1].ended():
            assert time.monotonic() < deadline, "the job does not end"
            done = tf.train.latest_checkpoint(str(tmp_path))
            reached = int(done.rpartition("-")[2]) if done else 0
            if kills < 3 and reached >= 40 * (kills + 1):
                victim = tasks[chance.randrange(len(tasks))]
                victim.kill()
                victim.start()
                kills += 1
            time.sleep(0.05)
        codes = [task.process.wait(max(1.0, deadline - time.monotonic())) for task in tasks]
        assert codes == [0, 0, 0]
    finally:
        for task in tasks:
            if not task.ended():
                task.process.kill()
            task.process.wait()
    last = tf.train.latest_checkpoint(str(tmp_path))
    assert tf.train.load_variable(last, "global_step") >= steps
    for path in tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths:
        # Each step adds one to both: every checkpoint has a whole number of steps.
        reader = tf.train.load_checkpoint(path)
        assert reader.get_tensor("total").min() == reader.get_tensor("total").max()
