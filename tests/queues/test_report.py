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


def test_the_same_as_scalars_for_tensorboard(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(4, [tf.int32], name="numbers")
        session.run([queue.enqueue(1), tf.FIFOQueue(-1, [tf.int32], name="open").size()])
        with tf.summary.FileWriter(str(tmp_path)) as writer:
            writer.add_summary(tf.train.queue_summary(session), global_step=7)
    (path,) = tmp_path.iterdir()
    *_, event = tf.train.summary_iterator(str(path))
    assert event.step == 7
    assert {value.tag: value.simple_value for value in event.summary.value} == {
        "queues/numbers/size": 1,
        "queues/numbers/waiting_to_enqueue": 0,
        "queues/numbers/waiting_to_dequeue": 0,
        "queues/numbers/fraction_full": 0.25,
        "queues/open/size": 0,
        "queues/open/waiting_to_enqueue": 0,
        "queues/open/waiting_to_dequeue": 0,
    }
