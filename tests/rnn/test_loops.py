"""Networks along time: lengths, directions, gradients, and no work past the longest length."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode
from tideflow.graph.graph import Graph

rnn_cell = tf.nn.rnn_cell
BATCH, TIME, DEPTH = 3, 5, 2


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as graph:
        yield graph


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


class Sum(rnn_cell.RNNCell):
    """The running sum of its inputs, in state and output."""

    state_size = output_size = DEPTH

    def call(self, inputs, state):
        return inputs + state, inputs + state


def fetch(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def running_sums(x, lengths):
    """Outputs and last states of `Sum` in NumPy."""
    outputs = np.cumsum(x, axis=1)
    states = np.stack([outputs[row, n - 1] if n else 0 * x[row, 0] for row, n in enumerate(lengths)])
    for row, n in enumerate(lengths):
        outputs[row, n:] = 0
    return outputs, states


LENGTHS = [(5, 5, 5), (2, 4, 1), (0, 3, 5), (0, 0, 0)]


def test_lengths_in_eager_mode():
    x = draw(BATCH, TIME, DEPTH)
    with eager_mode():
        outputs, state = tf.nn.dynamic_rnn(Sum(), tf.constant(x), [2, 4, 1], dtype=tf.float64)
        expected, last = running_sums(x, [2, 4, 1])
        np.testing.assert_allclose(outputs.numpy(), expected)
        np.testing.assert_allclose(state.numpy(), last)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("known", [True, False])
def test_dynamic_lengths(lengths, known):
    x = draw(BATCH, TIME, DEPTH)
    inputs = tf.placeholder(tf.float64, [BATCH, TIME, DEPTH] if known else [None, None, DEPTH])
    outputs, state = tf.nn.dynamic_rnn(Sum(), inputs, lengths, dtype=tf.float64)
    expected, last = running_sums(x, lengths)
    found, found_last = fetch([outputs, state], {inputs: x})
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(found_last, last)


@pytest.mark.parametrize("lengths", LENGTHS)
def test_static_lengths(lengths):
    x = draw(BATCH, TIME, DEPTH)
    outputs, state = tf.nn.static_rnn(
        Sum(), tf.unstack(tf.constant(x), axis=1), dtype=tf.float64, sequence_length=lengths
    )
    expected, last = running_sums(x, lengths)
    found, found_last = fetch([outputs, state])
    np.testing.assert_allclose(np.stack(found, 1), expected)
    np.testing.assert_allclose(found_last, last)


def test_time_first():
    x = draw(TIME, BATCH, DEPTH)
    outputs, state = tf.nn.dynamic_rnn(Sum(), tf.constant(x), dtype=tf.float64, time_major=True)
    assert outputs.shape.as_list() == [TIME, BATCH, DEPTH]
    found, last = fetch([outputs, state])
    np.testing.assert_allclose(found, np.cumsum(x, axis=0))
    np.testing.assert_allclose(last, x.sum(0))


@pytest.mark.parametrize("longest", [1, 3, 5])
def test_the_loop_ends_with_the_longest_sequence(longest):
    """A cell that counts its calls, in a variable."""
    calls = tf.get_variable("calls", [], tf.int32, tf.zeros_initializer(), trainable=False)

    class Counted(Sum):
        def call(self, inputs, state):
            with tf.control_dependencies([tf.assign_add(calls, 1)]):
                return tf.identity(inputs), state

    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(Counted(), tf.zeros([2, 5, DEPTH]), lengths, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(outputs, {lengths: [1, longest]})
        assert session.run(calls) == longest


@pytest.mark.parametrize("lengths", [None, (2, 4, 1), (0, 3, 5)])
def test_both_directions(lengths):
    x = draw(BATCH, TIME, DEPTH)
    full = (TIME,) * BATCH if lengths is None else lengths
    (forward, backward), states = tf.nn.bidirectional_dynamic_rnn(
        Sum(), Sum(), tf.constant(x), lengths, dtype=tf.float64
    )
    turned = x.copy()
    for row, n in enumerate(full):
        turned[row, :n] = x[row, :n][::-1]
    expected, last = running_sums(x, full)
    expected_back, last_back = running_sums(turned, full)
    for row, n in enumerate(full):
        expected_back[row, :n] = expected_back[row, :n][::-1]
    found, found_back, found_states = fetch([forward, backward, states])
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(found_back, expected_back, atol=1e-12)
    np.testing.assert_allclose(found_states[0], last)
    np.testing.assert_allclose(found_states[1], last_back)


def test_static_in_both_directions_stands_side_by_side():
    x = draw(BATCH, TIME, DEPTH)
    steps = tf.unstack(tf.constant(x), axis=1)
    outputs, forward, backward = tf.nn.static_bidirectional_rnn(Sum(), Sum(), steps, dtype=tf.float64)
    found, last, first = fetch([tf.stack(outputs, 1), forward, backward])
    back = np.cumsum(x[:, ::-1], axis=1)[:, ::-1]
    np.testing.assert_allclose(found, np.concatenate([np.cumsum(x, axis=1), back], 2))
    np.testing.assert_allclose(last, x.sum(1))
    np.testing.assert_allclose(first, x.sum(1))


CELLS = {
    "basic": lambda: rnn_cell.BasicRNNCell(3),
    "gru": lambda: rnn_cell.GRUCell(3),
    "lstm": lambda: rnn_cell.LSTMCell(3, use_peepholes=True, num_proj=2),
    "many": lambda: rnn_cell.MultiRNNCell([rnn_cell.BasicLSTMCell(3), rnn_cell.GRUCell(2)]),
}


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("lengths", [None, (2, 4, 1)])
def test_gradients_are_the_slopes(name, lengths):
    tf.set_random_seed(1)
    x = tf.constant(draw(BATCH, TIME, DEPTH))
    outputs, state = tf.nn.dynamic_rnn(CELLS[name](), x, lengths, dtype=tf.float64)
    loss = sum(tf.reduce_sum(t * t) for t in tf.nest.flatten([outputs, state]))
    sources = [x, *tf.trainable_variables()]
    slopes = tf.gradients(loss, sources)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, values = session.run([slopes, [tf.convert_to_tensor(s) for s in sources]])
        for source, slope, value in zip(sources, found, values, strict=True):
            towards = draw(*value.shape, seed=2)
            key = source if isinstance(source, tf.Tensor) else tf.convert_to_tensor(source)
            up, down = (session.run(loss, {key: value + d * towards}) for d in (1e-5, -1e-5))
            np.testing.assert_allclose((up - down) / 2e-5, np.sum(slope * towards), rtol=1e-5)


def test_dynamic_and_static_agree():
    tf.set_random_seed(1)
    x = tf.constant(draw(BATCH, TIME, DEPTH))
    cell = rnn_cell.LSTMCell(4)
    dynamic, last = tf.nn.dynamic_rnn(cell, x, [2, 5, 0], dtype=tf.float64)
    static, static_last = tf.nn.static_rnn(
        cell, tf.unstack(x, axis=1), dtype=tf.float64, sequence_length=[2, 5, 0]
    )
    one, other = fetch([[dynamic, *last], [tf.stack(static, 1), *static_last]])
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_raw_goes_on_until_all_are_finished():
    x = draw(BATCH, DEPTH)
    lengths = tf.constant([1, 4, 2])

    def loop(time, output, state, steps):
        if output is None:
            state, steps = tf.zeros([BATCH, DEPTH], tf.float64), tf.constant(0)
        else:
            steps += 1
        return time >= lengths, tf.constant(x), state, output, steps

    arrays, state, steps = tf.nn.raw_rnn(Sum(), loop)
    outputs, last, count = fetch([arrays.stack(), state, steps])
    assert count == 4
    assert outputs.shape == (4, BATCH, DEPTH)
    np.testing.assert_allclose(last, x * [[1], [4], [2]])
    for row, n in enumerate([1, 4, 2]):
        np.testing.assert_allclose(outputs[:n, row], x[row] * np.arange(1, n + 1)[:, None])
        np.testing.assert_array_equal(outputs[n:, row], 0.0)


def test_states_are_saved_between_runs():
    class Saver:
        def __init__(self):
            self.variable = tf.Variable(tf.zeros([BATCH, DEPTH], tf.float64))

        def state(self, name):
            return self.variable.read_value()

        def save_state(self, name, value):
            return self.variable.assign(value)

    x = draw(BATCH, DEPTH)
    outputs, state = tf.nn.static_state_saving_rnn(Sum(), [tf.constant(x)] * 2, Saver(), "state")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for run in range(1, 4):
            found, last = session.run([outputs[-1], state])
            np.testing.assert_allclose(found, 2 * run * x)
            np.testing.assert_allclose(last, 2 * run * x)


def test_lengths_that_do_not_fit_the_batch_are_refused_as_it_runs():
    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(Sum(), tf.zeros([2, 5, DEPTH]), lengths, dtype=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor"):
        fetch(outputs, {lengths: [1, 2, 3]})


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: tf.nn.dynamic_rnn(Sum(), x), ValueError, "you must give a dtype"),
        (lambda x: tf.nn.dynamic_rnn(tf.zeros, x), TypeError, "is not an RNNCell"),
        (lambda x: tf.nn.dynamic_rnn(Sum(), x[0], dtype=tf.float32), ValueError, "rank at least 3"),
        (lambda x: tf.nn.dynamic_rnn(Sum(), x, [[1]], dtype=tf.float32), ValueError, "must be a vector"),
        (lambda x: tf.nn.static_rnn(Sum(), x, dtype=tf.float32), TypeError, "must be a sequence"),
        (lambda x: tf.nn.static_rnn(Sum(), [], dtype=tf.float32), ValueError, "must not be empty"),
        (lambda x: tf.nn.raw_rnn(Sum(), None), TypeError, "must be a callable"),
        (
            lambda x: tf.nn.dynamic_rnn(rnn_cell.LSTMCell(2), x, initial_state=(x[:, 0], x[:, 0])),
            (TypeError, ValueError),
            "structure",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(tf.zeros([2, 5, DEPTH]))
