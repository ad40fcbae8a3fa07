"""Steps with several waits: straight plans where no order can keep them, tokens where one could."""

import pytest

import tideflow as tf

IN_TIME = tf.RunOptions(timeout_in_ms=30_000)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def is_straight(session, fetches):
    return "def step(" in session.explain(fetches)


def numbers(function=lambda x: x):
    iterator = tf.data.Dataset.range(5).map(function).make_initializable_iterator()
    return iterator.initializer, iterator.get_next()


def test_a_training_step_with_its_data_is_straight():
    start, x = numbers(lambda x: tf.cast(x, tf.float32))
    weight = tf.Variable(1.0, use_resource=True)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(weight * x - 2.0))
    with tf.Session() as session:
        session.run([start, tf.global_variables_initializer()])
        assert is_straight(session, [train, x])
        assert [session.run([train, x])[1] for _ in range(5)] == [0, 1, 2, 3, 4]


def test_several_iterators_are_straight():
    (start, x), (start_other, y) = numbers(), numbers(lambda x: x * 10)
    with tf.Session() as session:
        session.run([start, start_other])
        assert is_straight(session, [x, y])
        assert [session.run([x, y]) for _ in range(2)] == [[0, 0], [1, 10]]


def test_an_iterator_beside_a_queue_is_straight():
    start, x = numbers()
    queue = tf.FIFOQueue(3, [tf.int32])
    put, out = queue.enqueue(7), queue.dequeue()
    with tf.Session() as session:
        session.run([start, put])
        assert is_straight(session, [x, out])
        assert session.run([x, out]) == [0, 7]


def test_iterators_that_wait_for_each_other_do_not_deadlock():
    queue = tf.FIFOQueue(3, [tf.int64], [[]])

    def passed_on(x):
        with tf.control_dependencies([queue.enqueue([x + 100])]):
            return tf.identity(x)

    (start, x), (start_other, y) = numbers(lambda x: queue.dequeue()), numbers(passed_on)
    with tf.Session() as session:
        session.run([start, start_other])
        assert not is_straight(session, [x, y])
        assert session.run([x, y], options=IN_TIME) == [100, 0]


def test_a_step_that_fills_and_empties_a_queue_does_not_deadlock():
    queue = tf.FIFOQueue(1, [tf.int32])
    out, put = queue.dequeue(), queue.enqueue(3)
    with tf.Session() as session:
        assert not is_straight(session, [out, put])
        assert session.run([out, put], options=IN_TIME)[0] == 3
