"""Training over a cluster in one process: what it shares, where it is, and steps that all take together."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import tideflow as tf

_SECONDS = 60  # on a busy machine; nothing here waits so long


@pytest.fixture
def cluster():
    workers, servers = tf.test.create_local_cluster(2, 2)
    yield workers, servers
    for server in (*workers, *servers):
        server.stop()


def test_workers_share_what_is_on_the_servers(cluster):
    workers, _ = cluster
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:1"):
            total = tf.get_variable("total", initializer=np.float32(1))
        add = total.assign_add(2.0)
        with tf.Session(workers[0].target) as first, tf.Session(workers[1].target) as second:
            first.run(total.initializer)
            second.run(add)
            assert first.run(total) == 3.0


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_rows_are_looked_up_and_changed_where_they_are(cluster, strategy):
    workers, _ = cluster
    start = np.arange(20, dtype=np.float32).reshape(10, 2)
    with tf.Graph().as_default():
        setter = tf.train.replica_device_setter(cluster=tf.train.ClusterSpec(workers[0].server_def.cluster))
        with tf.device(setter):
            table = tf.get_variable(
                "table", start.shape, initializer=start, partitioner=tf.fixed_size_partitioner(2)
            )
            rows = tf.placeholder(tf.int32, [None])
            found = tf.nn.embedding_lookup(table, rows, partition_strategy=strategy)
            train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(found))
        shards = [part.device for part in table]
        gathers = [op for op in tf.get_default_graph().get_operations() if op.type == "GatherV2"]
        lookups = [op for op in gathers if op.name.startswith("embedding_lookup")]
        updates = [op for op in tf.get_default_graph().get_operations() if op.type == "ScatterSub"]
        assert shards == ["/job:ps/task:0", "/job:ps/task:1"]
        assert [op.device for op in lookups] == shards == [op.device for op in updates]
        with tf.Session(workers[0].target) as session:
            session.run(tf.global_variables_initializer())
            wanted = [9, 0, 4, 5]
            # By div shards hold runs of rows, as they are stored; by mod every other row.
            stored = start if strategy == "div" else start.reshape(2, 5, 2).swapaxes(0, 1).reshape(10, 2)
            np.testing.assert_array_equal(session.run(found, {rows: wanted}), stored[wanted])
            session.run(train, {rows: wanted})
            stored = stored.copy()
            stored[wanted] -= 1.0
            np.testing.assert_array_equal(session.run(found, {rows: range(10)}), stored)


class SyncWorker(threading.Thread):
    """A worker of synchronous training: a graph and a session of its own, in a thread."""

    def __init__(self, servers, index, coordinator):
        super().__init__(daemon=True)
        self.graph, self.coordinator = tf.Graph(), coordinator
        cluster = tf.train.ClusterSpec(servers[0].server_def.cluster)
        device = tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)
        with self.graph.as_default(), tf.device(device):
            self.step = tf.train.get_or_create_global_step()
            self.weight = tf.get_variable("weight", initializer=np.float32(0))
            optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2)
            self.train = optimizer.minimize(self.weight * 1.0, global_step=self.step)
            self.hook = optimizer.make_session_run_hook(is_chief=index == 0)
            self.hook.begin()
            self.initializer = tf.global_variables_initializer()
        self.session = tf.Session(servers[index].target, graph=self.graph)

    def run(self):
        try:
            self.hook.after_create_session(self.session, self.coordinator)
            while not self.coordinator.should_stop():
                self.session.run(self.train)
        except (tf.errors.OpError, RuntimeError):
            assert self.coordinator.should_stop(), "training ended by itself"


def test_workers_take_steps_together(cluster):
    coordinator = tf.train.Coordinator()
    workers = [SyncWorker(cluster[0], index, coordinator) for index in range(2)]
    chief = workers[0]
    chief.session.run(chief.initializer)
    for worker in workers:
        worker.start()
    with tf.Session(cluster[0][1].target, graph=chief.graph) as observer:
        deadline = time.monotonic() + _SECONDS
        while (seen := observer.run([chief.step, chief.weight]))[0] < 8:
            assert time.monotonic() < deadline, f"training stands still at step {seen[0]}"
    assert -float(seen[0]) - 1 <= seen[1] <= -float(seen[0]) + 1  # read between two steps
    coordinator.request_stop()
    for worker in workers:
        worker.session.close()
        worker.join(_SECONDS)
        assert not worker.is_alive()


def test_a_worker_that_leaves_first_does_not_hold_up_the_other(cluster):
    """The quicker of two workers may take the last tokens: the other one ends all the same."""
    workers, ended = cluster[0], []

    def work(index):
        with tf.Graph().as_default():
            spec = tf.train.ClusterSpec(workers[0].server_def.cluster)
            mine = f"/job:worker/task:{index}"
            with tf.device(tf.train.replica_device_setter(worker_device=mine, cluster=spec)):
                step = tf.train.get_or_create_global_step()
                weight = tf.get_variable("weight", initializer=np.float32(0))
                optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2)
                train = optimizer.minimize(weight * 1.0, global_step=step)
            hooks = [optimizer.make_session_run_hook(index == 0), tf.train.StopAtStepHook(last_step=8)]
            with tf.train.MonitoredTrainingSession(
                workers[index].target, is_chief=index == 0, hooks=hooks
            ) as session:
                while not session.should_stop():
                    session.run(train, options=tf.RunOptions(timeout_in_ms=_SECONDS * 1000))
            ended.append(index)

    threads = [threading.Thread(target=work, args=(index,), daemon=True) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_SECONDS)
    assert sorted(ended) == [0, 1]
