"""Attention against NumPy, and what it must never do: look past the end of a sequence."""

import numpy as np
import pytest

import tideflow as tf

seq2seq = tf.contrib.seq2seq
MEMORY = np.random.RandomState(1).normal(size=[2, 4, 3]).astype(np.float32)
QUERY = np.random.RandomState(2).normal(size=[2, 3]).astype(np.float32)
LENGTHS = [4, 2]


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()


def values(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def masked(scores):
    inside = np.arange(scores.shape[1]) < np.array(LENGTHS)[:, None]
    return np.where(inside, scores, -np.inf)


def test_luong_attention_is_a_softmax_of_products():
    mechanism = seq2seq.LuongAttention(3, MEMORY, LENGTHS)
    alignments, state = mechanism(tf.constant(QUERY), mechanism.initial_state(2, tf.float32))
    found, same, keys = values(alignments, state, mechanism.keys)
    np.testing.assert_allclose(found, softmax(masked(np.einsum("bd,btd->bt", QUERY, keys))), rtol=1e-5)
    np.testing.assert_array_equal(found, same)


def test_bahdanau_attention_is_a_softmax_of_a_network():
    mechanism = seq2seq.BahdanauAttention(3, MEMORY, LENGTHS)
    alignments, _ = mechanism(tf.constant(QUERY), mechanism.initial_state(2, tf.float32))
    found, keys, weights = values(alignments, mechanism.keys, tf.trainable_variables())
    _, kernel, v = weights
    scores = (v * np.tanh(keys + (QUERY @ kernel)[:, None])).sum(-1)
    np.testing.assert_allclose(found, softmax(masked(scores)), rtol=1e-5)


@pytest.mark.parametrize(
    "kind", ["LuongAttention", "BahdanauAttention", "LuongMonotonicAttention", "BahdanauMonotonicAttention"]
)
def test_nothing_past_the_end_matters(kind):
    other = MEMORY.copy()
    other[1, 2:] = 1e3
    memory = tf.placeholder(tf.float32, MEMORY.shape)
    mechanism = getattr(seq2seq, kind)(3, memory, LENGTHS)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), mechanism, 3)
    output, state = cell(tf.constant(QUERY), cell.zero_state(2, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (one, alignments), (two, _) = (
            session.run([output, state.alignments], {memory: values}) for values in (MEMORY, other)
        )
    np.testing.assert_array_equal(one, two)
    assert not alignments[1, 2:].any()


def test_monotonic_attention_in_parallel_is_the_recursive_one():
    rng = np.random.RandomState(3)
    p = tf.constant(rng.uniform(0.05, 0.95, [5, 7]).astype(np.float32))
    previous = tf.constant(softmax(rng.normal(size=[5, 7])).astype(np.float32))
    recursive, parallel = (
        seq2seq.monotonic_attention(p, previous, mode) for mode in ("recursive", "parallel")
    )
    np.testing.assert_allclose(*values(recursive, parallel), rtol=1e-4, atol=1e-6)


def test_hard_monotonic_attention_moves_to_the_next_place_that_is_chosen():
    p = [[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]
    previous = [[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    (found,) = values(seq2seq.monotonic_attention(p, previous, "hard"))
    np.testing.assert_array_equal(found, [[0, 0, 0, 1], [0, 0, 0, 0]])  # the second finds no place any more


def test_safe_cumprod_has_a_gradient_at_zero():
    x = tf.constant([0.5, 0.0, 0.25])
    product = seq2seq.safe_cumprod(x)
    found, slope = values(product, tf.gradients(product, x)[0])
    np.testing.assert_allclose(found, [0.5, 0.0, 0.0], atol=1e-30)
    assert np.isfinite(slope).all()


def test_history_has_the_alignments_of_every_step():
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(3), seq2seq.LuongAttention(3, MEMORY), alignment_history=True
    )
    state = cell.zero_state(2, tf.float32)
    seen = []
    for _ in range(3):
        _, state = cell(tf.constant(QUERY), state)
        seen.append(state.alignments)
    history, *each = values(state.alignment_history.stack(), *seen)
    np.testing.assert_array_equal(history, each)


def test_a_memory_of_another_batch_is_refused_with_advice():
    mechanism = seq2seq.LuongAttention(3, tf.placeholder_with_default(MEMORY, [None, 4, 3]))
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), mechanism)
    with pytest.raises(tf.errors.InvalidArgumentError, match="tile_batch"):
        values(cell.zero_state(6, tf.float32).cell_state)


def test_a_state_is_cloned_with_parts_of_the_same_shape_only():
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), seq2seq.LuongAttention(3, MEMORY))
    state = cell.zero_state(2, tf.float32)
    given = tf.ones([2, 3])
    assert state.clone(cell_state=given).cell_state is given
    with pytest.raises(ValueError, match="expected"):
        state.clone(cell_state=tf.ones([2, 4]))
