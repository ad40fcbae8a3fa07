"""The automatic placer on a cluster: a traced step is shared out among its tasks, and gives what it gave."""

import numpy as np

import tideflow as tf
from tests.cluster.clusters import servers
from tideflow.compile.automatic_placement import propose


def model():
    """Four matrices trained side by side."""
    x = tf.placeholder(tf.float32, [32, 32], name="x")
    parts = []
    for i in range(4):
        w = tf.get_variable(f"w{i}", initializer=tf.constant(np.eye(32, dtype=np.float32)))
        parts.append(tf.reduce_mean(tf.square(tf.matmul(x, w, name=f"mm{i}") - float(i))))
    loss = tf.add_n(parts, name="loss")
    return x, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def trained(session, x, loss, step, **options):
    feeds = {x: np.random.RandomState(0).normal(size=(32, 32))}
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(step, feeds)
    session.run(step, feeds, **options)
    return session.run(loss, feeds)


def test_a_step_is_shared_out_among_tasks():
    with servers(worker=2) as made, tf.Graph().as_default() as graph:
        target = made["worker", 0].target
        x, loss, step = model()
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        with tf.Session(graph=graph, config=tf.ConfigProto(device_count={"GPU": 0})) as session:
            expected = trained(session, x, loss, step, options=options, run_metadata=metadata)
        with tf.Session(target) as session:
            devices = [device for device in session.list_devices() if device.device_type == "CPU"]
        proposal = propose(graph, metadata, devices, bandwidth=1e12, latency=1e-9)
        assert set(proposal.devices.values()) == {device.name for device in devices}
        assert proposal.then.seconds < proposal.now.seconds
        proposal.apply(graph)
        with tf.Session(target) as session:
            np.testing.assert_allclose(trained(session, x, loss, step), expected, rtol=1e-5)
