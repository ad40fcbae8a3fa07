"""The report of a session's queues."""

import threading

import tideflow as tf
from tideflow.queues.staging import StagingArea


def test_report_says_who_waits():
    with tf.Graph().as_default(), tf.Session() as session:
        full = tf.FIFOQueue(2, [tf.int32], name="full")
        empty = tf.FIFOQueue(-1, [tf.int32], name="empty")
        put = full.enqueue(1)
        area = StagingArea([tf.int32], shared_name="area")
        accumulator = tf.ConditionalAccumulator(tf.float32, [], name="sum")
        session.run([area.put(tf.constant(1)), accumulator.apply_grad(1.0), empty.close()])
        session.run(put)
        session.run(put)
        thread = threading.Thread(target=lambda: session.run(put))
        thread.start()
        while "1 to put in" not in tf.train.queue_report(session):
            thread.join(0.001)
        rows = {line.split()[0]: line for line in tf.train.queue_report(session).splitlines()}
        session.run(full.dequeue())
        thread.join(60)
    assert rows["full"].split(None, 5)[1:] == ["FIFOQueue", "2", "2", "full", "1 to put in"]
    assert "unbounded" in rows["empty"] and "empty, closed" in rows["empty"]
    assert rows["area"].split()[1:3] == ["StagingArea", "1"]
    assert "accumulator" in rows["sum"]
    assert rows["name"].split() == ["name", "kind", "size", "capacity", "state", "waiting"]


def test_report_of_nothing():
    with tf.Graph().as_default(), tf.Session() as session:
        assert tf.train.queue_report(session) == "The session has no queues."
