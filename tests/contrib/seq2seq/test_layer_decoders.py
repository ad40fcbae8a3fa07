"""Decoders that are layers, with samplers."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.contrib.seq2seq import samplers
from tideflow.contrib.seq2seq.decoder import BaseDecoder
from tideflow.contrib.seq2seq.layer_decoders import BasicDecoderV2
from tideflow.contrib.seq2seq.losses import SequenceLoss

INPUTS = np.linspace(-1, 1, 24).reshape(2, 4, 3).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def value(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def cell():
    return tf.nn.rnn_cell.GRUCell(3, kernel_initializer=tf.constant_initializer(0.3))


def test_a_layer_decodes_as_the_decoder_with_a_helper_does():
    layer = BasicDecoderV2(cell(), samplers.TrainingSampler())
    found, _, lengths = layer(INPUTS, initial_state=tf.zeros([2, 3]), sequence_length=tf.constant([4, 2]))
    helper = tf.contrib.seq2seq.TrainingHelper(INPUTS, [4, 2])
    decoder = tf.contrib.seq2seq.BasicDecoder(cell(), helper, tf.zeros([2, 3]))
    wanted, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)
    found, wanted, lengths = value([found.rnn_output, wanted.rnn_output, lengths])
    np.testing.assert_allclose(found, wanted)
    assert lengths.tolist() == [4, 2]


def test_greedy_ids_are_embedded():
    table = tf.eye(3)
    layer = BasicDecoderV2(cell(), samplers.GreedyEmbeddingSampler(), maximum_iterations=3)
    found, _, _ = layer(table, initial_state=tf.zeros([2, 3]), start_tokens=[0, 1], end_token=2)
    assert value(found.sample_id).shape == (2, 3)


def test_before_it_begins_a_sampler_has_no_batch():
    with pytest.raises(ValueError, match="batch_size accessed before initialize was called"):
        samplers.TrainingSampler().batch_size  # noqa: B018
    with pytest.raises(ValueError, match="sequence_length is required for TrainingSampler"):
        samplers.TrainingSampler().initialize(INPUTS)
    with pytest.raises(ValueError, match="embedding is required"):
        samplers.ScheduledEmbeddingTrainingSampler(0.5).initialize(INPUTS, [4, 4])


def test_wrong_parts_are_refused():
    with pytest.raises(TypeError, match="sampler must be a Sampler"):
        BasicDecoderV2(cell(), 3)
    with pytest.raises(NotImplementedError):
        BaseDecoder().step(0, None, None)
    with pytest.raises(TypeError, match="Expected decoder to be type Decoder"):
        tf.contrib.seq2seq.dynamic_decode(tf.layers.Dense(3))


def test_the_loss_of_keras_is_the_function():
    logits, targets, weights = tf.ones([2, 3, 4]), tf.constant([[0, 1, 2], [1, 2, 3]]), tf.ones([2, 3])
    found = value(SequenceLoss()(targets, logits, weights))
    np.testing.assert_allclose(found, np.log(4), rtol=1e-6)
