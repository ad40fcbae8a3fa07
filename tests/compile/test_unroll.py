"""Loops written out: which are, and that nothing of them is left."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tests.compile.steps import Compiled, types
from tideflow.compile import unroll
from tideflow.compile.emit import emit
from tideflow.compile.kernels import KernelArguments
from tideflow.compile.unroll import unrolled
from tideflow.runtime.waiting import StepContext
from tideflow.session.fetches import fetched

OF_LOOPS = ("_Loop", "TensorArray", "Stack")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def recurrent_network(lengths=None) -> list[tf.Tensor]:
    """A loss and its gradients."""
    tf.set_random_seed(1)
    cells = [tf.nn.rnn_cell.LSTMCell(4), tf.nn.rnn_cell.GRUCell(3)]
    inputs = tf.constant(np.random.RandomState(0).rand(2, 5, 3), tf.float32)
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    outputs, _ = tf.nn.dynamic_rnn(cell, inputs, lengths, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs))
    return [loss, *tf.gradients(loss, tf.trainable_variables())]


@pytest.mark.parametrize("lengths", [None, [3, 5]])
def test_nothing_of_a_recurrent_network_s_loops_is_left(lengths):
    fetches = recurrent_network(lengths)
    first = Compiled([tf.global_variables_initializer()])
    first.run()
    step = Compiled(fetches, state=first.state)
    program = unrolled(step.plan.program)
    program.check()
    assert not [name for name in types(program) if name.startswith(OF_LOOPS)]
    plan = emit(program, KernelArguments(first.state, None))
    for found, expected in zip(fetched(plan.run(StepContext(), [])), step.run(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_gradient_that_nobody_writes_is_zero():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=True)
    rows = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
    total = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + rows.read(i)), (0, tf.zeros([2])))[1]
    first = Compiled([x.initializer])
    first.run()
    step = Compiled([tf.gradients(total, x)[0]], state=first.state)
    program = unrolled(step.plan.program)
    (found,) = fetched(emit(program, KernelArguments(first.state, None)).run(StepContext(), []))
    np.testing.assert_array_equal(found, [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(step.run()[0], found)


def test_a_loop_stays_whose_end_depends_on_what_is_fed():
    end = tf.placeholder(tf.int32, [])
    count = tf.while_loop(lambda i: i < end, lambda i: i + 1, [0])
    assert unrolled(Compiled([count], {end: 3}).plan.program) is None


def test_a_long_loop_stays(monkeypatch):
    monkeypatch.setattr(unroll, "_MOST_NODES", 100)
    x = tf.placeholder(tf.float32, [2])
    results = [
        tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y)), [0, x])[1] for n in (10, 1000)
    ]
    short, long = (unrolled(Compiled([y], {x: [1.0, 2.0]}).plan.program) for y in results)
    assert types(short).count("Sin") == 10 and long is None


def test_what_a_loop_would_refuse_is_left_to_it():
    def body(i, array):
        return i + 1, array.write(0, 1.0)

    array = tf.while_loop(lambda i, _: i < 2, body, [0, tf.TensorArray(tf.float32, 2)])[1]
    assert unrolled(Compiled([array.stack()]).plan.program) is None
