"""tf.contrib.cudnn_rnn: layers against cells, by way of checkpoints, as programs go from GPUs to CPUs."""

import numpy as np
import pytest

import tideflow as tf

rnn = tf.contrib.cudnn_rnn
SHAPE = STEPS, BATCH, INPUTS = 5, 3, 4
UNITS, LAYERS = 6, 2
X = np.cos(np.arange(np.prod(SHAPE))).reshape(SHAPE).astype(np.float32)
LENGTHS = [3, 5, 1]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        tf.set_random_seed(3)
        yield made


def some_biases(shape, dtype=None):
    return tf.random_uniform(shape, -0.5, 0.5, dtype=dtype)


CELLS = {
    "CudnnLSTM": lambda: rnn.CudnnCompatibleLSTMCell(UNITS),
    "CudnnGRU": lambda: rnn.CudnnCompatibleGRUCell(UNITS),
    "CudnnRNNTanh": lambda: tf.nn.rnn_cell.BasicRNNCell(UNITS),
    "CudnnRNNRelu": lambda: tf.nn.rnn_cell.BasicRNNCell(UNITS, activation=tf.nn.relu),
}


def by_cells(kind, direction, lengths):
    cells = [CELLS[kind]() for _ in range(2 * LAYERS)]
    if direction == "unidirectional":
        cell = tf.nn.rnn_cell.MultiRNNCell(cells[:LAYERS])
        outputs, states = tf.nn.dynamic_rnn(cell, tf.constant(X), lengths, dtype=tf.float32, time_major=True)
        return outputs, [states]
    outputs, *states = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
        cells[:LAYERS],
        cells[LAYERS:],
        tf.constant(X),
        dtype=tf.float32,
        sequence_length=lengths,
        time_major=True,
    )
    return outputs, states


@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
@pytest.mark.parametrize("kind", CELLS)
def test_cells_compute_what_a_layer_saved(kind, direction, tmp_path):
    layer = getattr(rnn, kind)(LAYERS, UNITS, direction=direction, bias_initializer=some_biases, name="rnns")
    with tf.variable_scope("model"):
        plain, states = layer(tf.constant(X))
        ragged, _ = layer(tf.constant(X), sequence_lengths=LENGTHS)
    (opaque,) = tf.trainable_variables()
    saver = tf.train.Saver([layer.saveable])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "model"))
        wanted, states, short = session.run([plain, states, ragged])
        kept = session.run(opaque)
        session.run(opaque.assign(tf.zeros_like(opaque)))
        saver.restore(session, path)
        assert session.run(opaque).sum() == pytest.approx(kept.sum(), rel=1e-4)
        np.testing.assert_allclose(session.run(plain), wanted, rtol=1e-4, atol=1e-5)
    with tf.Graph().as_default():
        with tf.variable_scope("model/rnns"):
            outputs, last = by_cells(kind, direction, None)
        with tf.variable_scope("model/rnns", reuse=True):
            shorter, _ = by_cells(kind, direction, LENGTHS)
        with tf.Session() as session:
            tf.train.Saver().restore(session, path)
            found, last, cut = session.run([outputs, last, shorter])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(cut, short, rtol=1e-4, atol=1e-5)
    by_layer = [state for layer in zip(*last) for state in layer]
    hidden = [state.h for state in by_layer] if kind == "CudnnLSTM" else by_layer
    np.testing.assert_allclose(np.stack(hidden), states[0], rtol=1e-4, atol=1e-5)
    if kind == "CudnnLSTM":
        np.testing.assert_allclose(np.stack([s.c for s in by_layer]), states[1], rtol=1e-4, atol=1e-5)


def test_batch_first_is_steps_first_turned():
    layer = rnn.CudnnLSTM(LAYERS, UNITS)
    plain, (h, _) = layer(tf.constant(X))
    turned, (h_turned, _) = layer(tf.constant(X.swapaxes(0, 1)), time_major=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        plain, h, turned, h_turned = session.run([plain, h, turned, h_turned])
    np.testing.assert_allclose(turned, plain.swapaxes(0, 1), rtol=1e-5)
    np.testing.assert_allclose(h_turned, h.swapaxes(0, 1), rtol=1e-5)


def test_dropout_is_the_same_in_both_passes():
    layer = rnn.CudnnGRU(2, UNITS, dropout=0.5, seed=7)
    x = tf.constant(X)
    loss = tf.reduce_sum(layer(x)[0])
    (slope,) = tf.gradients(loss, [x])
    quiet = layer(x, training=False)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first, by_x = session.run([loss, slope])
        second = session.run(loss)
        still = [session.run(quiet) for _ in range(2)]
    assert first != second
    np.testing.assert_array_equal(*still)
    assert np.isfinite(by_x).all()
    with tf.Graph().as_default():  # a seeded layer draws the same numbers in each session
        tf.set_random_seed(3)
        small = tf.placeholder(tf.float64, SHAPE)
        layer = rnn.CudnnGRU(2, UNITS, dropout=0.5, seed=7, dtype=tf.float64)
        total = tf.reduce_sum(layer(small)[0])
        (slope,) = tf.gradients(total, [small])

        def value(x, fetch):
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return session.run(fetch, {small: x})

        step = np.zeros(SHAPE)
        step[1, 2, 3] = 1e-5
        expected = (value(X + step, total) - value(X - step, total)) / 2e-5
        assert value(X, slope)[1, 2, 3] == pytest.approx(expected, rel=1e-4)


def test_a_layer_learns_to_remember():
    x = np.random.RandomState(0).normal(size=[6, 16, 1]).astype(np.float32)
    layer = rnn.CudnnLSTM(1, 8)
    outputs, _ = layer(tf.constant(x))
    guess = tf.layers.dense(outputs[-1], 1)
    loss = tf.reduce_mean(tf.square(guess - x[0]))
    step = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step])[0] for _ in range(60)]
    assert losses[-1] < 0.2 * losses[0]


def test_inputs_that_skip_their_weights():
    layer = rnn.CudnnRNNTanh(1, INPUTS, input_mode="skip_input", bias_initializer=tf.zeros_initializer())
    outputs, _ = layer(tf.constant(X))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(outputs)[0], np.tanh(X[0]), rtol=1e-5)
    assert layer.kernel.shape == [INPUTS * INPUTS + 2 * INPUTS]
    with pytest.raises(tf.errors.InvalidArgumentError, match="needs inputs of the size of the state"):
        rnn.CudnnGRU(1, UNITS, input_mode="skip_input")(tf.constant(X))


@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
def test_projected_lstms_are_converted_there_and_back(direction):
    convert = rnn.CudnnParamsFormatConverterLSTM(2, 5, 4, num_proj=3, direction=direction)
    size = convert._layout.size
    params = tf.constant(np.sin(np.arange(size)), tf.float32)
    weights, biases, projections = convert.opaque_to_tf_canonical(params)
    again = convert.opaque_to_tf_canonical(convert.tf_canonical_to_opaque(weights + biases, projections))
    with tf.Session() as session:
        for one, other in zip(*session.run([[weights, biases, projections], again])):
            for a, b in zip(one, other):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert [p.shape for p in projections] == [[5, 3]] * len(projections)


def test_what_is_known_of_a_layer_and_when():
    layer = rnn.CudnnGRU(2, 3, direction="bidirectional", name="g")
    with pytest.raises(ValueError, match="'input_size' is unknown"):
        _ = layer.input_size
    with pytest.raises(RuntimeError, match="invoked before input shape is known"):
        _ = layer.canonical_weight_shapes
    outputs, (h,) = layer(tf.zeros([4, 2, 5]))
    assert outputs.shape == [4, 2, 6] and h.shape == [4, 2, 3]
    assert (layer.input_size, layer.rnn_mode, layer.num_dirs, layer.num_layers) == (5, "gru", 2, 2)
    with pytest.raises(ValueError, match="must set is_training to True"):
        tf.gradients(layer(tf.zeros([4, 2, 5]), training=False)[0], layer.trainable_variables)
    with pytest.raises(TypeError, match="expecting tuple"):
        layer(tf.zeros([4, 2, 5]), initial_state=[h])
