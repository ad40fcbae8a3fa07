"""contrib.legacy_seq2seq: what is fed, what is shared, what is refused."""

import numpy as np
import pytest

import tideflow as tf

seq2seq = tf.contrib.legacy_seq2seq


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def symbols(steps):
    return [tf.constant([step % 3, 1], tf.int32) for step in range(steps)]


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def test_a_decoder_may_be_told_in_each_step_whether_to_feed_back():
    back = tf.placeholder(tf.bool, [])
    model = seq2seq.embedding_attention_seq2seq
    outputs, _ = model(symbols(2), symbols(3), tf.nn.rnn_cell.GRUCell(4), 3, 3, 5, feed_previous=back)
    grads = tf.gradients(tf.add_n([tf.reduce_sum(o * o) for o in outputs]), tf.trainable_variables())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        fed = session.run(outputs, {back: False})
        own = session.run(outputs, {back: True})
        session.run([tf.convert_to_tensor(g) for g in grads], {back: True})
    np.testing.assert_allclose(fed[0], own[0], rtol=1e-5)
    assert not np.allclose(fed[2], own[2])


def test_buckets_share_their_variables():
    def model(sources, inputs):
        return seq2seq.embedding_rnn_seq2seq(sources, inputs, tf.nn.rnn_cell.GRUCell(4), 3, 3, 5)

    weights = [tf.ones([2])] * 4
    outputs, losses = seq2seq.model_with_buckets(
        symbols(4), symbols(4), symbols(4), weights, [(1, 2), (4, 4)], model
    )
    names = [v.op.name for v in tf.global_variables()]
    assert len(names) == len(set(names)) == 12
    assert [len(each) for each in outputs] == [2, 4]
    assert all(np.isfinite(run(losses)))


def test_a_loss_is_the_mean_over_weights_and_examples():
    logits = [tf.constant([[0.0, 0.0], [0.0, 0.0]])] * 2
    targets = [tf.constant([0, 1])] * 2
    weights = [tf.constant([1.0, 0.0]), tf.constant([1.0, 0.0])]
    loss = seq2seq.sequence_loss(logits, targets, weights)
    np.testing.assert_allclose(run(loss), np.log(2) / 2, rtol=1e-5)


def test_rows_of_both_index_types_meet_in_a_conditional():
    table = tf.get_variable("table", [4, 2])
    flag = tf.placeholder_with_default(True, [])
    looked_up = tf.cond(
        flag,
        lambda: tf.nn.embedding_lookup(table, tf.constant([1], tf.int64)),
        lambda: tf.nn.embedding_lookup(table, tf.constant([2], tf.int32)),
    )
    (grad,) = tf.gradients(looked_up, table)
    dense = run(tf.convert_to_tensor(grad))
    np.testing.assert_array_equal(dense[1], [1, 1])


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="Lengths of logits, weights, and targets must be the same 1, 2, 1"):
        seq2seq.sequence_loss([tf.zeros([2, 2])], [tf.constant([0, 1])], [tf.ones([2])] * 2)
