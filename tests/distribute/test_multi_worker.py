"""Workers that train in step, each with a graph and a session of its own."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tideflow as tf
from tests.cluster.clusters import cluster_of, processes


def train(cluster, index, steps, found):
    """The losses and the variables of one worker."""
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    strategy.configure(cluster_spec=cluster, task_type="worker", task_id=index)
    with tf.Graph().as_default(), strategy.scope():
        v = tf.get_variable("v", [2], initializer=tf.random_normal_initializer(seed=index))
        table = tf.get_variable("table", [3, 1], initializer=tf.ones_initializer())

        def step():
            rows = tf.gather(table, [index, 2])
            loss = tf.reduce_sum(v * (index + 1.0)) + tf.reduce_sum(rows)
            with tf.control_dependencies([tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)]):
                return tf.identity(loss)

        mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.experimental_run_v2(step))
        config = strategy.update_config_proto(tf.ConfigProto(isolate_session_state=True))
        with tf.Session(f"grpc://{cluster['worker'][index]}", config=config) as session:
            session.run(tf.global_variables_initializer())
            start = session.run(v)
            losses = [float(session.run(mean)) for _ in range(steps)]
            found[index] = [strategy.num_replicas_in_sync, start, losses, *session.run([v, table])]


def test_two_workers_stay_in_step():
    cluster, found = cluster_of(worker=2), {}
    with processes(cluster, ("worker", 0), ("worker", 1)):
        workers = [
            threading.Thread(target=train, args=(cluster, index, 3, found), daemon=True) for index in range(2)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(120)
    first, second = found[0], found[1]
    assert first[0] == second[0] == 2
    for mine, yours in zip(first[1:], second[1:], strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-6)
    # The gradient of v is 1 + 2; momentum 0.9 makes 1 + 1.9 + 2.71 steps of it.
    np.testing.assert_allclose(first[3], first[1] - 0.1 * 3 * 5.61, rtol=1e-5)
    np.testing.assert_allclose(first[4].ravel(), 1 - 0.1 * 5.61 * np.array([1, 1, 2]), rtol=1e-5)


def test_a_place_in_a_cluster_must_be_named():
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    with pytest.raises(ValueError, match="must also specify `task_type` and `task_id`"):
        strategy.configure(cluster_spec={"worker": ["a:1", "b:1"]})
    with tf.Graph().as_default(), strategy.scope():
        assert strategy.num_replicas_in_sync == len(strategy.extended.worker_devices)
