"""Reversible layers and recomputation: what is kept, and what is computed again."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_a_session_really_computes_again():
    x = tf.placeholder(tf.float32, [6])
    recompute, counts = tf.contrib.layers.recompute_grad, []

    def curve(value):
        return tf.exp(tf.atan(value * value))

    functions = [curve, recompute(curve), recompute(curve, use_data_dep=False)]
    slopes = [tf.gradients(function(x), x)[0] for function in functions]
    feeds = {x: np.linspace(-1, 1, 6)}
    with tf.Session() as session:
        for slope in slopes:
            loss_and_slope = [slope, slope.graph.get_tensor_by_name("Exp:0")]
            counts.append(str(session.explain(loss_and_slope, feeds)).count("atan"))
        plain, *others = session.run(slopes, feeds)
    np.testing.assert_allclose(others, [plain] * 2, rtol=1e-5)
    assert counts == [1, 2, 1]


def test_gradients_of_a_deep_block_are_those_of_plain_layers():
    x1, x2 = tf.constant([[1.0, 2.0]]), tf.constant([[0.5, -1.0]])

    def slopes(efficient):
        def f(x):
            return tf.layers.dense(x, 2, tf.nn.tanh, kernel_initializer=tf.ones_initializer())

        with tf.variable_scope(f"block_{efficient}"):
            y1, y2 = tf.contrib.layers.rev_block(x1, x2, f, [f] * 5, num_layers=5, is_training=efficient)
        variables = tf.trainable_variables(f"block_{efficient}")
        assert len(variables) == 20
        return tf.gradients(tf.reduce_sum(y1 * y2), [x1, x2, *variables])

    with tf.Session() as session:
        fetches = [slopes(True), slopes(False)]
        session.run(tf.global_variables_initializer())
        for ours, plain in zip(*session.run(fetches)):
            np.testing.assert_allclose(ours, plain, rtol=1e-4, atol=1e-5)
