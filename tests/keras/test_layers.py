"""Layers of tf.keras that TensorFlow computes on GPUs alone, or whose parts a program may call."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.keras.saving.cudnn_weights import fitting

layers = tf.keras.layers


@pytest.mark.parametrize(
    "fused, plain",
    [
        (layers.CuDNNLSTM, layers.LSTM),
        (layers.CuDNNGRU, lambda *args, **kwargs: layers.GRU(*args, reset_after=True, **kwargs)),
    ],
)
def test_cudnn_layers_compute_what_the_others_do(fused, plain):
    inputs = tf.keras.Input((5, 3))
    ours = fused(4, return_sequences=True, return_state=True, go_backwards=True)
    theirs = plain(
        4, recurrent_activation="sigmoid", return_sequences=True, return_state=True, go_backwards=True
    )
    model = tf.keras.Model(inputs, [*ours(inputs), *theirs(inputs)])
    random = np.random.RandomState(1)
    kernel, recurrent, bias = (random.randn(*value.shape) for value in ours.get_weights())
    ours.set_weights([kernel, recurrent, bias])
    theirs.set_weights(fitting(theirs, [kernel, recurrent, bias]))
    for one, other in zip(fitting(ours, theirs.get_weights()), [kernel, recurrent], strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    found = model.predict(random.randn(2, 5, 3))
    half = len(found) // 2
    for one, other in zip(found[:half], found[half:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_cudnn_layers_learn_and_keep_states():
    small = tf.keras.initializers.Constant(0.1)
    weights = {"kernel_initializer": small, "recurrent_initializer": small}
    lstm = layers.CuDNNLSTM(3, stateful=True, batch_input_shape=(2, 4, 3), **weights)
    model = tf.keras.Sequential([lstm])
    x = np.ones((2, 4, 3), np.float32)
    first = model.predict(x, batch_size=2)
    assert not np.allclose(first, model.predict(x, batch_size=2))
    model.reset_states()
    np.testing.assert_allclose(first, model.predict(x, batch_size=2))
    model.compile("sgd", "mse")
    losses = model.fit(x, np.ones((2, 3)), batch_size=2, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_a_cell_drops_the_same_until_it_is_reset():
    cell = layers.GRUCell(3, dropout=0.5)
    with tf.Graph().as_default():
        x = tf.ones([2, 3])
        first = cell.get_dropout_mask_for_cell(x, True, 2)
        assert len(first) == 2 and cell.get_dropout_mask_for_cell(x, True, 2) is first
        cell.reset_dropout_mask()
        assert cell.get_dropout_mask_for_cell(x, True, 2) is not first
        assert cell.get_recurrent_dropout_mask_for_cell(x, True) is None


def test_layers_have_the_arguments_of_their_cells():
    layer = layers.LSTM(3, dropout=0.25, kernel_regularizer="l2")
    assert layer.units == 3 and layer.dropout == 0.25 and layer.kernel_regularizer.l2 == pytest.approx(0.01)
    assert layers.ConvLSTM2D(2, 3).filters == 2 and hasattr(layers.GRU, "reset_after")
