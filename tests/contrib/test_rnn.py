"""contrib.rnn: cells in one op agree with those of many, fused networks with loops, and wrappers add up."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.graph import Graph

rnn = tf.contrib.rnn
X = np.random.default_rng(0).standard_normal((2, 5, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as graph:
        yield graph


def fetch(*tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


def in_one_scope(*cells, lengths=None):
    """What `dynamic_rnn` makes of each of the cells, with one set of variables for all, and its gradients."""
    results = []
    tf.set_random_seed(1)
    for cell in cells:
        with tf.variable_scope("one", reuse=tf.AUTO_REUSE):
            results.append(tf.nn.dynamic_rnn(cell, tf.constant(X), lengths, dtype=tf.float32, scope="rnn"))
    slopes = [
        tf.gradients(sum(tf.reduce_sum(t * t) for t in tf.nest.flatten(result)), tf.trainable_variables())
        for result in results
    ]
    return fetch([tf.nest.flatten(result) + slope for result, slope in zip(results, slopes, strict=True)])[0]


def assert_close(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("lengths", [None, [2, 5]])
@pytest.mark.parametrize("peephole", [False, True])
def test_lstm_in_one_op(peephole, lengths):
    many = tf.nn.rnn_cell.LSTMCell(4, use_peepholes=peephole, forget_bias=0.5, name="lstm_cell")
    assert_close(*in_one_scope(rnn.LSTMBlockCell(4, 0.5, use_peephole=peephole), many, lengths=lengths))


def test_gru_in_one_op():
    assert_close(*in_one_scope(rnn.GRUBlockCellV2(4), tf.nn.rnn_cell.GRUCell(4), lengths=[2, 5]))


@pytest.mark.parametrize("lengths", [None, [2, 5], [0, 3]])
def test_a_fused_lstm_is_a_loop(lengths):
    tf.set_random_seed(1)
    inputs = tf.constant(X.transpose(1, 0, 2))
    with tf.variable_scope("one"):
        fused, last = rnn.LSTMBlockFusedCell(4, name="lstm_cell")(
            inputs, dtype=tf.float32, sequence_length=lengths
        )
    with tf.variable_scope("one", reuse=True) as scope:
        cell = tf.nn.rnn_cell.LSTMCell(4, name="lstm_cell")
        looped, looped_last = tf.nn.dynamic_rnn(
            cell, inputs, lengths, dtype=tf.float32, time_major=True, scope=scope
        )
    assert_close(*fetch([fused, *last], [looped, *looped_last]))


def test_reversed_in_time():
    tf.set_random_seed(1)
    inputs = tf.constant(X.transpose(1, 0, 2))
    fused = rnn.FusedRNNCellAdaptor(rnn.GRUCell(4, name="gru"), use_dynamic_rnn=True)
    backward, last = rnn.TimeReversedFusedRNN(fused)(inputs, dtype=tf.float32)
    turned, turned_last = fused(inputs[::-1], dtype=tf.float32)
    assert_close(*fetch([backward, last], [turned[::-1], turned_last]))


def test_layer_norm_keeps_each_gate_normal():
    cell = rnn.LayerNormBasicLSTMCell(8)
    _, state = cell(tf.constant(X[:, 0]), cell.zero_state(2, tf.float32))
    memory = fetch(state.c)[0]
    np.testing.assert_allclose(memory.mean(1), 0, atol=1e-5)
    np.testing.assert_allclose(memory.std(1), 1, atol=1e-3)
    assert {v.name for v in tf.global_variables()} == {
        "layer_norm_basic_lstm_cell/kernel:0",
        *(
            f"layer_norm_basic_lstm_cell/{gate}/{name}:0"
            for gate in ("input", "transform", "forget", "output", "state")
            for name in ("gamma", "beta")
        ),
    }


@pytest.mark.parametrize("joined", [False, True])
def test_attention_keeps_the_last_outputs(joined):
    cell = rnn.AttentionCellWrapper(rnn.GRUCell(4), attn_length=3, state_is_tuple=not joined)
    outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    kept = state[:, 8:] if joined else state[2]
    found, last = fetch(outputs, kept)
    np.testing.assert_allclose(last.reshape(2, 3, 4), found[:, -3:], rtol=1e-6)


def test_projections_and_embeddings():
    cell = rnn.OutputProjectionWrapper(
        rnn.EmbeddingWrapper(rnn.InputProjectionWrapper(rnn.GRUCell(4), 6), 7, 3), 2
    )
    outputs, state = tf.nn.dynamic_rnn(cell, tf.constant([[[1], [6]]]), dtype=tf.float32)
    assert outputs.shape.as_list() == [1, 2, 2]
    assert state.shape.as_list() == [1, 4]
    assert all(slope is not None for slope in tf.gradients(outputs, tf.trainable_variables()))
    assert np.isfinite(fetch(outputs)).all()


def test_a_highway_with_an_open_carry_is_its_input():
    cell = rnn.HighwayWrapper(rnn.GRUCell(3), carry_bias_init=30.0)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    np.testing.assert_allclose(fetch(outputs)[0], X, rtol=1e-5)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_images_along_time(rank):
    sizes = [4, 5, 3][:rank]
    make = (rnn.Conv1DLSTMCell, rnn.Conv2DLSTMCell, rnn.Conv3DLSTMCell)[rank - 1]
    cell = make(input_shape=[*sizes, 2], output_channels=3, kernel_shape=[3] * rank)
    outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 4, *sizes, 2]), dtype=tf.float32)
    assert outputs.shape.as_list() == [2, 4, *sizes, 3]
    found, last = fetch(outputs, state.h)
    np.testing.assert_array_equal(found[:, -1], last)


def test_stacks_feed_both_directions_upward():
    cells = [[rnn.GRUCell(4), rnn.GRUCell(2)] for _ in range(2)]
    outputs, forward, backward = rnn.stack_bidirectional_dynamic_rnn(*cells, tf.constant(X), dtype=tf.float32)
    assert outputs.shape.as_list() == [2, 5, 4]
    found, last, first = fetch(outputs, forward[-1], backward[-1])
    np.testing.assert_allclose(found[:, -1, :2], last)
    np.testing.assert_allclose(found[:, 0, 2:], first)


@pytest.mark.parametrize(
    "cell",
    [rnn.NASCell(4, num_proj=3, use_bias=True), rnn.UGRNNCell(4), rnn.IntersectionRNNCell(4, num_in_proj=4)],
    ids=lambda cell: type(cell).__name__,
)
def test_other_cells_learn(cell):
    tf.set_random_seed(1)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs - 0.5))
    step = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step])[0] for _ in range(30)]
    assert losses[-1] < 0.3 * losses[0]
