"""Who comes after a write of a reference variable sees it, as with TensorFlow's shared buffers."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(fetches))


def test_a_use_that_waits_for_a_write_sees_it():
    v = tf.Variable([1.0, 2.0], use_resource=False)
    with tf.control_dependencies([v.assign([5.0, 6.0])]):
        after = v + 1.0
    assert run(after)[0].tolist() == [6.0, 7.0]


def test_a_use_that_does_not_wait_sees_what_was_there():
    v = tf.Variable([1.0, 2.0], use_resource=False)
    before = v + 1.0
    with tf.control_dependencies([before]):
        written = v.assign([5.0, 6.0])
    assert [x.tolist() for x in run(before, written)] == [[2.0, 3.0], [5.0, 6.0]]


def test_moving_averages_after_a_training_step_average_the_new_values():
    w = tf.Variable([3.0, 4.0], use_resource=False)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w * w))
    average = tf.train.ExponentialMovingAverage(0.5)
    with tf.control_dependencies([train]):
        step = average.apply([w])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        found = session.run(average.average(w))
    np.testing.assert_allclose(found, [2.7, 3.6], rtol=1e-6)
