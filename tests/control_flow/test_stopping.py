"""A loop that never ends is ended: by closing the session from another thread, or by its time."""

import threading

import pytest

import tideflow as tf
from tests.cluster.clusters import servers

pytestmark = pytest.mark.usefixtures("graph")


def endless(kind, running):
    """A loop that says when it has begun, and goes on for ever."""

    def note(i):
        running.set()
        return i

    if kind == "numbers":  # a loop of Python numbers, which calls no kernel
        with tf.control_dependencies([tf.py_func(note, [1], tf.int32)]):
            return tf.while_loop(lambda i: i > -1, lambda i: tf.maximum(i - 1, 0), [tf.identity(9)])
    if kind == "kernels":
        begin, any_shape = tf.constant([1.0, 2.0]), [tf.TensorShape(None)]
        step = lambda x: tf.abs(tf.sin(tf.py_func(note, [x], tf.float32)))
        return tf.while_loop(lambda x: tf.reduce_sum(x) > -1.0, step, [begin], any_shape)
    if kind == "nested":
        return tf.while_loop(lambda i: i < 3, lambda i: i + endless("numbers", running) * 0, [0])
    if kind == "empty":  # nothing is left of the body
        return tf.while_loop(lambda i: True, lambda i: i, [0])
    if kind == "dataset":
        elements = tf.data.Dataset.range(3).map(lambda x: endless("empty", running))
        return tf.data.make_one_shot_iterator(elements).get_next()

    yes = tf.placeholder_with_default(True, [])
    return tf.cond(yes, lambda: endless("kernels", running), lambda: tf.constant([1.0]))


KINDS = ["numbers", "kernels", "nested", "branch"]


@pytest.mark.parametrize("kind", KINDS)
def test_closing_the_session_ends_it(config, kind):
    running = threading.Event()
    y = endless(kind, running)
    session = tf.Session(config=config)
    errors = []

    def run():
        try:
            session.run(y)
        except tf.errors.OpError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert running.wait(30)
    session.close()
    thread.join(30)
    assert not thread.is_alive()
    assert isinstance(errors[0], tf.errors.CancelledError)


@pytest.mark.parametrize("kind", [*KINDS, "empty", "dataset"])
def test_the_runs_time_ends_it(session, kind):
    y = endless(kind, threading.Event())
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(y, options=tf.RunOptions(timeout_in_ms=100))
    assert session.run(tf.constant(3)) == 3  # the session goes on


def test_the_sessions_time_ends_it(config):
    y = endless("numbers", threading.Event())
    config.operation_timeout_in_ms = 100
    with tf.Session(config=config) as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(y)
    with tf.Session(config=config) as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.partial_run(session.partial_run_setup([y], []), y)


def test_the_runs_time_ends_it_on_another_task():
    with servers(ps=1, worker=1) as made:
        with tf.device("/job:ps/task:0"):
            y = endless("empty", threading.Event())
        with tf.Session(made["worker", 0].target) as session:
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(y, options=tf.RunOptions(timeout_in_ms=100))
            table = made["ps", 0]._worker._rendezvous_table
            for step in list(table._open):
                table.wait_until_returned(step, 30)
            assert not table._open


def test_another_step_runs_beside_an_endless_one(config):
    running = threading.Event()
    y, z = endless("numbers", running), tf.constant(2) + 3
    session = tf.Session(config=config)

    def run():
        with pytest.raises(tf.errors.CancelledError):
            session.run(y)

    thread = threading.Thread(target=run)
    thread.start()
    assert running.wait(30)
    assert session.run(z) == 5
    session.close()
    thread.join(30)
    assert not thread.is_alive()
