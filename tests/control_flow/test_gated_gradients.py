"""Gated gradients, as optimizers ask for them, put identities between a loop's Switches and its Exits: it is
a `while` of the plan all the same.
"""

import pytest

import tideflow as tf


def gradients_of_a_loop(x, gated):
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, 2.0 * x])
    return tf.gradients(y, x, gate_gradients=gated)[0]


@pytest.mark.parametrize("gated", [False, True])
def test_the_gradient_by_what_a_loop_began_with(gated):
    x = tf.constant([1.0, 2.0])
    slope = gradients_of_a_loop(x, gated)
    with tf.Session() as session:
        assert session.run(slope).tolist() == [8.0, 64.0]
        assert "token executor" not in session.explain(slope)


def test_training_through_the_state_of_a_decoder():
    """An encoder's last state is what the decoder begins with."""
    seq2seq = tf.contrib.seq2seq
    encoded, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), tf.ones([2, 4, 3]), dtype=tf.float32)
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(3), seq2seq.LuongAttention(3, encoded), initial_cell_state=state
    )
    helper = seq2seq.TrainingHelper(tf.ones([2, 4, 3]), [4, 2])
    outputs, _, _ = seq2seq.dynamic_decode(
        seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32)), impute_finished=True
    )
    loss = tf.reduce_mean(tf.square(outputs.rnn_output - 0.5))
    step = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert "token executor" not in session.explain(step)
        losses = [session.run([loss, step])[0] for _ in range(30)]
    assert losses[-1] < losses[0]
