"""Decoders: greedy and beam search against search by hand, training against an unrolled cell, the loss."""

import itertools

import numpy as np
import pytest

import tideflow as tf

seq2seq = tf.contrib.seq2seq
WORDS, END = 5, 4


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()


def values(*fetches):
    with tf.Session() as session:
        return session.run(fetches)


class Table(tf.nn.rnn_cell.RNNCell):
    """A cell that says of each word, given as one-hot, how likely the next ones are."""

    def __init__(self, log_probs):
        super().__init__()
        self.log_probs = tf.constant(log_probs, tf.float32)

    state_size = output_size = property(lambda self: WORDS)

    def call(self, inputs, state):
        return tf.matmul(inputs, self.log_probs), state + inputs


def chances(seed):
    logits = np.random.RandomState(seed).normal(size=[WORDS, WORDS]) * 2
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


def embedding():
    return tf.eye(WORDS)


def decoder_of(cell, starts, beam_width, **options):
    state = cell.zero_state(len(starts) * beam_width, tf.float32)
    return seq2seq.BeamSearchDecoder(cell, embedding(), starts, END, state, beam_width, **options)


def every_sequence(log_probs, start, steps):
    """All sequences of a number of words (END once is END for ever) with their log probabilities."""
    for words in itertools.product(range(WORDS), repeat=steps):
        ended = [END in words[:i] for i in range(steps)]
        if any(e and w != END for e, w in zip(ended, words)):
            continue
        pairs = zip([start, *words], words)
        yield sum(log_probs[a, b] for (a, b), e in zip(pairs, ended) if not e), words


@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_what_trying_everything_finds(seed):
    log_probs, width, steps = chances(seed), 64, 3
    outputs, _, _ = seq2seq.dynamic_decode(
        decoder_of(Table(log_probs), [0, 2], width), maximum_iterations=steps
    )
    ids, scores = values(outputs.predicted_ids, outputs.beam_search_decoder_output.scores)
    for row, start in enumerate([0, 2]):
        best = sorted(every_sequence(log_probs, start, steps), reverse=True)[:5]
        np.testing.assert_allclose(scores[row, -1, :5], [score for score, _ in best], rtol=1e-4)
        assert [tuple(found) for found in ids[row].T[:5]] == [words for _, words in best]


def test_a_beam_of_one_is_greedy():
    cell = Table(chances(7))
    helper = seq2seq.GreedyEmbeddingHelper(embedding(), [0, 1, 2, 3], END)
    greedy = seq2seq.BasicDecoder(cell, helper, cell.zero_state(4, tf.float32))
    limit = dict(maximum_iterations=6)
    expected, _, lengths = seq2seq.dynamic_decode(greedy, impute_finished=True, **limit)
    found, state, _ = seq2seq.dynamic_decode(decoder_of(cell, [0, 1, 2, 3], 1), **limit)
    expected, found, lengths, kept = values(expected.sample_id, found.predicted_ids, lengths, state.lengths)
    for one, other, length in zip(expected, found[..., 0], lengths):
        np.testing.assert_array_equal(one[:length], other[:length])
    assert (kept[:, 0] <= lengths).all()


def test_a_length_penalty_prefers_long_sequences():
    log_probs = chances(1)
    log_probs[:, END] = np.log(0.3)
    lengths = []
    for weight in (0.0, 3.0):
        decoder = decoder_of(Table(log_probs), [0], 8, length_penalty_weight=weight)
        _, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=6)
        lengths.append(values(state.lengths)[0][0, 0])
    assert lengths[0] < lengths[1]


def test_sequences_are_read_back_through_their_parents():
    ids = np.array([[[1, 2]], [[3, 0]], [[2, END]]], np.int32)
    parents = np.array([[[0, 1]], [[1, 0]], [[1, 1]]], np.int32)
    (found,) = values(seq2seq.gather_tree(ids, parents, [3], END))
    np.testing.assert_array_equal(found[:, 0].T, [[1, 0, 2], [1, 0, END]])


def test_a_parent_that_is_no_beam_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="parent"):
        values(seq2seq.gather_tree(np.zeros([2, 1, 2], np.int32), np.full([2, 1, 2], 5, np.int32), [2], END))


def test_tiled_rows_stand_together():
    (found,) = values(seq2seq.tile_batch(tf.constant([[1, 2], [3, 4]]), 2))
    np.testing.assert_array_equal(found, [[1, 2], [1, 2], [3, 4], [3, 4]])


@pytest.mark.parametrize("impute", [True, False])
def test_training_is_the_cell_unrolled_and_stops_at_each_length(impute):
    inputs = np.random.RandomState(0).normal(size=[3, 4, 2]).astype(np.float32)
    lengths = [4, 1, 3]
    cell = tf.nn.rnn_cell.GRUCell(3)
    state = cell.zero_state(3, tf.float32)
    decoder = seq2seq.BasicDecoder(cell, seq2seq.TrainingHelper(inputs, lengths), state)
    outputs, last, found = seq2seq.dynamic_decode(decoder, impute_finished=impute)
    with tf.variable_scope("decoder", reuse=True):
        unrolled, _ = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.GRUCell(3),
            inputs,
            lengths if impute else None,
            state,
            scope=tf.get_variable_scope(),
        )
    slopes = [
        tf.gradients(tf.reduce_sum(tf.square(y)), tf.trainable_variables())
        for y in (outputs.rnn_output, unrolled)
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        decoded, expected, last, found, slopes = session.run(
            [outputs.rnn_output, unrolled, last, found, slopes]
        )
    np.testing.assert_allclose(decoded, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found, lengths)
    for one, other in zip(*slopes):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    if impute:
        np.testing.assert_allclose(last[1], decoded[1, 0], rtol=1e-5)


def test_decoding_ends_with_the_longest_row():
    cell = tf.nn.rnn_cell.GRUCell(3)
    helper = seq2seq.TrainingHelper(np.zeros([2, 9, 2], np.float32), [3, 2])
    outputs, _, _ = seq2seq.dynamic_decode(
        seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32)), output_time_major=True
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs.rnn_output).shape == (3, 2, 3)


def test_drawn_words_follow_their_chances():
    log_probs = chances(3)
    log_probs[:, END] = -50  # nothing ends
    cell = Table(log_probs)
    helper = seq2seq.SampleEmbeddingHelper(embedding(), [1] * 4000, END, seed=1)
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(4000, tf.float32))
    outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=1)
    (words,) = values(outputs.sample_id)
    expected = np.exp(log_probs[1]) / np.exp(log_probs[1]).sum()
    np.testing.assert_allclose(np.bincount(words[:, 0], minlength=WORDS) / 4000, expected, atol=0.04)


@pytest.mark.filterwarnings("ignore:TensorArrayScatterV3")  # one step alone has one use of the inputs
def test_scheduled_sampling_feeds_back_as_often_as_it_says():
    helper = seq2seq.ScheduledEmbeddingTrainingHelper(
        np.zeros([2000, 2, WORDS], np.float32), [2] * 2000, embedding(), 0.25, scheduling_seed=2
    )
    ids = helper.sample(0, tf.zeros([2000, WORDS]), None)
    _, inputs, _ = helper.next_inputs(tf.constant(0), tf.zeros([2000, WORDS]), None, ids)
    ids, inputs = values(ids, inputs)
    assert 0.2 < np.mean(ids >= 0) < 0.3
    np.testing.assert_array_equal(inputs.sum(1), ids >= 0)  # zeros are the inputs that were given


@pytest.mark.parametrize(
    "weights", [[[1, 1, 1], [1, 1, 1]], [[1, 0.5, 0], [1, 0, 0]], [[0, 0, 0], [0, 0, 0]]]
)
def test_the_loss_is_the_mean_cross_entropy_by_weight(weights):
    logits = np.random.RandomState(4).normal(size=[2, 3, 4]).astype(np.float32)
    targets = np.array([[0, 1, 2], [3, 2, 1]])
    weights = np.array(weights, np.float32)
    (found,) = values(seq2seq.sequence_loss(tf.constant(logits), tf.constant(targets), tf.constant(weights)))
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    each = -np.take_along_axis(log_probs, targets[..., None], -1)[..., 0]
    np.testing.assert_allclose(found, (each * weights).sum() / max(weights.sum(), 1e-9), rtol=1e-5)
