"""Attention mechanisms and beam search as layers: weights, configurations, the same answers as the others."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.contrib.seq2seq import beam_search, layer_mechanisms
from tideflow.contrib.seq2seq.decoder import dynamic_decode

MECHANISMS = [
    layer_mechanisms.LuongAttentionV2,
    layer_mechanisms.BahdanauAttentionV2,
    layer_mechanisms.LuongMonotonicAttentionV2,
    layer_mechanisms.BahdanauMonotonicAttentionV2,
]
BATCH, TIME, DEPTH, UNITS = 3, 5, 6, 8


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def _inputs():
    random = np.random.RandomState(1)
    return [random.randn(BATCH, *s).astype(np.float32) for s in ((TIME, DEPTH), (UNITS,), (TIME,))]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_copy_with_the_same_weights_answers_alike(mechanism):
    memory, query, state = _inputs()
    made = mechanism(UNITS, memory)
    copy = mechanism.from_config(made.get_config())
    assert copy.get_config() == made.get_config()
    copy(memory, setup_memory=True)
    first, second = made([query, state]), copy([query, state])
    with tf.Session() as session, session.as_default():
        session.run(tf.global_variables_initializer())
        copy.set_weights(made.get_weights())
        np.testing.assert_allclose(*session.run([first[0], second[0]]), rtol=1e-6)


def test_what_is_past_the_end_of_a_row_is_zero():
    memory, query, state = _inputs()
    made = layer_mechanisms.LuongAttentionV2(UNITS, memory, memory_sequence_length=[1, 2, 3])
    alignments, _ = made([query, state])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values, keys, found = session.run([made.values, made.keys, alignments])
    assert (values[0, 1:] == 0).all() and (keys[1, 2:] == 0).all() and (values[1, :2] != 0).all()
    assert found.sum(1) == pytest.approx(1.0)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_model_with_a_mask_is_made_again(mechanism):
    layers = tf.keras.layers
    _, query, state = _inputs()
    words = layers.Input([TIME])
    vectors = layers.Embedding(10, 6, mask_zero=True)(words)
    memory = layers.LSTM(DEPTH, return_sequences=True)(vectors)
    given = [layers.Input([UNITS]), layers.Input([TIME])]
    model = tf.keras.Model([words, *given], mechanism(UNITS, memory)(given))
    again = tf.keras.Model.from_config(model.get_config(), {mechanism.__name__: mechanism})
    again.set_weights(model.get_weights())
    data = [np.array([[1, 2, 0, 0, 0]] * BATCH), query, state]
    np.testing.assert_allclose(model.predict(data)[0], again.predict(data)[0], rtol=1e-5)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="Invalid probability function: x"):
        layer_mechanisms.LuongAttentionV2(UNITS, None, probability_fn="x")
    with pytest.raises(ValueError, match="before the setup of memory"):
        layer_mechanisms.LuongAttentionV2(UNITS, None)(_inputs()[1:])
    with pytest.raises(ValueError, match="embedding_fn is expected to be a callable"):
        beam_search.BeamSearchDecoderV2(tf.nn.rnn_cell.LSTMCell(3), 2, embedding_fn=3)


def test_beam_search_as_a_layer_finds_the_same_sequences():
    cell = tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.random_normal_initializer(seed=1))
    table = np.random.RandomState(2).randn(7, 3).astype(np.float32)
    output = tf.layers.Dense(7, kernel_initializer=tf.random_normal_initializer(seed=2))
    state = tf.contrib.seq2seq.tile_batch(cell.zero_state(2, tf.float32), 3)
    start = {"start_tokens": [0, 0], "end_token": 6, "initial_state": state}
    plain = tf.contrib.seq2seq.BeamSearchDecoder(cell, table, beam_width=3, output_layer=output, **start)
    layer = beam_search.BeamSearchDecoderV2(cell, 3, output_layer=output, maximum_iterations=4)
    expected = dynamic_decode(plain, maximum_iterations=4)[0].predicted_ids
    found = layer(table, **start)[0].predicted_ids
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert np.array_equal(*session.run([expected, found]))
