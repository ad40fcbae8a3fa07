"""Cells against their formulas in NumPy, and what wrappers make of them."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.graph import Graph

rnn_cell = tf.nn.rnn_cell
UNITS, DEPTH, BATCH = 4, 3, 2


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as graph:
        yield graph


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(cell, x, state, random_weights=True):
    """One step in float64 with random weights: output, new state, and the weights by name within the cell."""
    output, new_state = cell(tf.constant(x), tf.nest.map_structure(tf.constant, state))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i, variable in enumerate(tf.global_variables()):
            variable.load(draw(*variable.shape.as_list(), seed=i + 1), session)
        weights = {v.name.split("/", 1)[1][:-2]: v.eval() for v in tf.global_variables()}
        return *session.run([output, new_state]), weights


def lstm_gates(x, h, weights):
    """Input, new, forget and output sums of an LSTM."""
    sums = np.concatenate([x, h], 1) @ weights["kernel"] + weights["bias"]
    return np.split(sums, 4, axis=1)


def test_basic_rnn():
    x, h = draw(BATCH, DEPTH), draw(BATCH, UNITS)
    output, state, w = step(rnn_cell.BasicRNNCell(UNITS), x, h)
    expected = np.tanh(np.concatenate([x, h], 1) @ w["kernel"] + w["bias"])
    np.testing.assert_allclose(output, expected)
    np.testing.assert_array_equal(state, output)


def test_gru():
    x, h = draw(BATCH, DEPTH), draw(BATCH, UNITS)
    output, state, w = step(rnn_cell.GRUCell(UNITS, activation="softsign"), x, h)
    reset, update = np.split(
        sigmoid(np.concatenate([x, h], 1) @ w["gates/kernel"] + w["gates/bias"]), 2, axis=1
    )
    candidate = np.concatenate([x, reset * h], 1) @ w["candidate/kernel"] + w["candidate/bias"]
    expected = update * h + (1 - update) * candidate / (1 + abs(candidate))
    np.testing.assert_allclose(output, expected)
    np.testing.assert_array_equal(state, output)


@pytest.mark.parametrize("joined", [False, True])
def test_basic_lstm(joined):
    x, c, h = draw(BATCH, DEPTH), draw(BATCH, UNITS), draw(BATCH, UNITS, seed=5)
    cell = rnn_cell.BasicLSTMCell(UNITS, forget_bias=0.3, state_is_tuple=not joined)
    output, state, w = step(cell, x, np.concatenate([c, h], 1) if joined else (c, h))
    i, j, f, o = lstm_gates(x, h, w)
    c = c * sigmoid(f + 0.3) + sigmoid(i) * np.tanh(j)
    expected = np.tanh(c) * sigmoid(o)
    np.testing.assert_allclose(output, expected)
    found = np.split(state, 2, axis=1) if joined else state
    np.testing.assert_allclose(found[0], c)
    np.testing.assert_allclose(found[1], expected)


@pytest.mark.parametrize("joined", [False, True])
def test_lstm_with_everything(joined):
    x, c, h = draw(BATCH, DEPTH), draw(BATCH, UNITS), draw(BATCH, 2, seed=5)
    cell = rnn_cell.LSTMCell(
        UNITS, use_peepholes=True, cell_clip=0.6, num_proj=2, proj_clip=0.4, state_is_tuple=not joined
    )
    output, state, w = step(cell, x, np.concatenate([c, h], 1) if joined else (c, h))
    i, j, f, o = lstm_gates(x, h, w)
    kept = sigmoid(f + 1.0 + w["w_f_diag"] * c) * c
    c = np.clip(kept + sigmoid(i + w["w_i_diag"] * c) * np.tanh(j), -0.6, 0.6)
    h = sigmoid(o + w["w_o_diag"] * c) * np.tanh(c)
    h = np.clip(h @ w["projection/kernel"], -0.4, 0.4)
    np.testing.assert_allclose(output, h)
    found = np.split(state, [UNITS], axis=1) if joined else state
    np.testing.assert_allclose(found[0], c)
    np.testing.assert_allclose(found[1], h)


def test_sizes_of_states():
    cells = [rnn_cell.LSTMCell(5, num_proj=2), rnn_cell.GRUCell(3)]
    many = rnn_cell.MultiRNNCell(cells)
    assert many.state_size == (rnn_cell.LSTMStateTuple(5, 2), 3)
    assert many.output_size == 3
    zeros = many.zero_state(7, tf.float32)
    assert [s.shape.as_list() for s in tf.nest.flatten(zeros)] == [[7, 5], [7, 2], [7, 3]]
    assert isinstance(zeros[0], rnn_cell.LSTMStateTuple)


def test_many_cells_are_one_after_the_other():
    cells = [rnn_cell.GRUCell(UNITS), rnn_cell.BasicRNNCell(DEPTH)]
    many = rnn_cell.MultiRNNCell(cells)
    x, state = tf.constant(draw(BATCH, DEPTH)), many.zero_state(BATCH, tf.float64)
    output, new_state = many(x, state)
    with tf.variable_scope("multi_rnn_cell", reuse=True):
        below, _ = cells[0](x, state[0])
        above, _ = cells[1](below, state[1])
    assert [v.name for v in many.weights] == [
        "multi_rnn_cell/cell_0/gru_cell/gates/kernel:0",
        "multi_rnn_cell/cell_0/gru_cell/gates/bias:0",
        "multi_rnn_cell/cell_0/gru_cell/candidate/kernel:0",
        "multi_rnn_cell/cell_0/gru_cell/candidate/bias:0",
        "multi_rnn_cell/cell_1/basic_rnn_cell/kernel:0",
        "multi_rnn_cell/cell_1/basic_rnn_cell/bias:0",
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        one, other, states = session.run([output, above, new_state])
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(states[1], one)


def fetch(*tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


class Echo(rnn_cell.RNNCell):
    """Its output is its input; its state counts."""

    state_size = DEPTH
    output_size = DEPTH

    def call(self, inputs, state):
        return inputs + 0.0, state + 1.0


def test_residual_adds_inputs_to_outputs():
    x = draw(BATCH, DEPTH)
    output, _ = rnn_cell.ResidualWrapper(Echo())(tf.constant(x), tf.zeros([BATCH, DEPTH]))
    own, _ = rnn_cell.ResidualWrapper(Echo(), lambda i, o: i * o)(tf.constant(x), tf.zeros([BATCH, DEPTH]))
    doubled, squared = fetch(output, own)
    np.testing.assert_allclose(doubled, 2 * x)
    np.testing.assert_allclose(squared, x * x)


@pytest.mark.parametrize("part", ["input", "output", "state"])
def test_dropout_scales_what_it_keeps(part):
    cell = rnn_cell.DropoutWrapper(Echo(), **{f"{part}_keep_prob": 0.25}, seed=3)
    output, state = cell(tf.ones([200, DEPTH]), tf.zeros([200, DEPTH]))
    output, state = fetch(output, state)
    dropped, kept = (state, output) if part == "state" else (output, state)
    assert set(np.unique(dropped)) == {0.0, 4.0}
    assert 0.15 < np.mean(dropped > 0) < 0.35
    np.testing.assert_array_equal(kept, 1.0)


def test_dropout_leaves_the_memory_of_an_lstm():
    cell = rnn_cell.LSTMCell(50)
    wrapped = rnn_cell.DropoutWrapper(cell, state_keep_prob=0.5, seed=3)
    x, zeros = tf.ones([4, DEPTH]), cell.zero_state(4, tf.float32)
    _, plain = cell(x, zeros)
    _, dropped = wrapped(x, zeros)
    plain, dropped = fetch(plain, dropped)
    np.testing.assert_array_equal(plain.c, dropped.c)
    assert 0.3 < np.mean(dropped.h == 0) < 0.7


def test_variational_dropout_is_the_same_at_every_step_and_row():
    cell = rnn_cell.DropoutWrapper(
        Echo(), input_keep_prob=0.5, variational_recurrent=True, input_size=DEPTH, dtype=tf.float32, seed=4
    )
    output, _ = tf.nn.dynamic_rnn(cell, tf.ones([5, 6, DEPTH]), dtype=tf.float32)
    with tf.Session() as session:
        first, second = (session.run(output) for _ in range(2))
    for found in (first, second):
        assert np.unique(found.reshape(-1, DEPTH), axis=0).shape[0] == 1


def test_device_wrapper_places_the_cell(graph):
    cell = rnn_cell.DeviceWrapper(rnn_cell.GRUCell(UNITS), "/cpu:0")
    output, _ = cell(tf.zeros([BATCH, DEPTH]), cell.zero_state(BATCH, tf.float32))
    assert output.device.lower().endswith("cpu:0")
    assert all(v.device.lower().endswith("cpu:0") for v in tf.global_variables())


def test_a_cell_of_ones_own_counts_its_variables():
    class Scaled(rnn_cell.RNNCell):
        state_size = output_size = DEPTH

        def call(self, inputs, state):
            scale = tf.get_variable("scale", [DEPTH])
            tf.get_variable("seen", [], trainable=False)
            return scale * inputs, state

    cell = Scaled()
    for _ in range(2):
        cell(tf.zeros([BATCH, DEPTH]), tf.zeros([BATCH, DEPTH]))
    assert [v.name for v in cell.trainable_weights] == ["scaled/scale:0"]
    assert [v.name for v in cell.non_trainable_weights] == ["scaled/seen:0"]
    assert len(tf.global_variables()) == 2


def test_configs_make_the_same_cell_again():
    cell = rnn_cell.LSTMCell(
        UNITS, use_peepholes=True, num_proj=2, initializer="orthogonal", activation="relu"
    )
    again = rnn_cell.LSTMCell.from_config(cell.get_config())
    assert again.state_size == cell.state_size
    assert again.get_config() == cell.get_config()
    wrapped = rnn_cell.DropoutWrapper(cell, 0.5, seed=3)
    config = {**wrapped.get_config(), "cell": cell}
    assert rnn_cell.DropoutWrapper.from_config(config).get_config() == wrapped.get_config()
    with pytest.raises(ValueError, match="cannot reconstruct the wrapped cell"):
        rnn_cell.DropoutWrapper.from_config(wrapped.get_config())


@pytest.mark.parametrize(
    "make, error, message",
    [
        (
            lambda: rnn_cell.DropoutWrapper(3),
            TypeError,
            "is not an RNNCell: 'output_size' property is missing",
        ),
        (lambda: rnn_cell.DropoutWrapper(Echo(), 1.5), ValueError, "input_keep_prob must be between 0 and 1"),
        (lambda: rnn_cell.MultiRNNCell([]), ValueError, "at least one cell"),
        (lambda: rnn_cell.GRUCell(3, activation="nope"), ValueError, "Unknown activation"),
        (lambda: rnn_cell.GRUCell(3, dtype=tf.int32), ValueError, "only supports floating point"),
        (lambda: Echo().zero_state(None, tf.float32), ValueError, "prefix or suffix of None"),
        (lambda: rnn_cell.GRUCell(3)(tf.zeros([2, 3, 4]), tf.zeros([2, 3])), ValueError, "expected ndim=2"),
    ],
)
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()
