"""`tf.gradients` called in a loop's body: it differentiates that iteration, by what is inside or outside."""

import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def evaluated(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


@pytest.mark.parametrize("resource", [False, True])
def test_the_gradient_by_a_variable_outside_and_its_own_gradient(resource):
    x, w = tf.constant([1.0, 2.0, 3.0]), tf.get_variable("w", initializer=2.0, use_resource=resource)
    slopes = tf.map_fn(lambda e: tf.gradients(e * w * w, w)[0], x)
    found, second = evaluated([slopes, tf.gradients(slopes, w)[0]])
    assert found.tolist() == [4.0, 8.0, 12.0]
    assert second == 12.0


def test_each_iteration_descends():
    w = tf.Variable(3.0)
    _, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, y - tf.gradients(y * y * w, y)[0]), [0, 1.0]
    )
    assert evaluated(y) == -125.0


def test_a_sum_of_unknown_rank_whose_shape_is_stated():
    x = tf.placeholder(tf.float32)

    def add(total, row):
        summed = tf.reduce_sum(row, axis=[0])
        summed.set_shape([])
        return total + summed

    assert evaluated(tf.scan(add, x, initializer=0.0), {x: [[1, 2], [3, 4]]}).tolist() == [3.0, 10.0]


def test_what_a_loop_began_with_is_out_of_reach_in_its_body():
    x = tf.placeholder(tf.float32, [], "x")

    def body(i, value):
        return i + 1, tf.gradients(value * 2.0, x)[0]

    with pytest.raises(ValueError, match="Cannot compute gradient inside while loop with respect to op 'x'"):
        tf.while_loop(lambda i, _: i < 3, body, [0, x + 1.0])
