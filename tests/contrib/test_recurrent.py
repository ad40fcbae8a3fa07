"""tf.contrib.recurrent: gradients where only the last steps run."""

import numpy as np

import tideflow as tf


def test_the_gradient_of_the_last_steps_is_that_of_the_loop_written_out() -> None:
    x = tf.constant(np.random.RandomState(0).randn(4, 2, 3), tf.float32)
    state = tf.constant(np.random.RandomState(1).randn(2, 3), tf.float32)
    weight = tf.constant(0.5)

    def cell(theta, state, inputs):
        return tf.tanh(inputs * theta + state), []

    states, last = tf.contrib.recurrent.Recurrent(
        weight, state, x, cell, max_input_length=tf.constant(2), aligned_end=True
    )
    first, _ = cell(weight, state, x[2])
    second, _ = cell(weight, first, x[3])
    with tf.Session() as session:
        found, expected = session.run(
            [tf.gradients(y, [weight, state, x]) for y in (tf.reduce_sum(last**2), tf.reduce_sum(second**2))]
        )
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
        assert not session.run(states)[:2].any()
