"""Loops written out: what is left of them."""

import numpy as np
import pytest
import torch

import tideflow as tf
from tests.compile.steps import program
from tideflow.compile.emit import emit
from tideflow.compile.kernels import KernelArguments
from tideflow.compile.place import place
from tideflow.compile.rewrite import optimize
from tideflow.compile.unroll import unrolled
from tideflow.runtime.devices import ONE_CPU, Placement, local_devices
from tideflow.runtime.resources import ResourceManager

STEPS, BATCH = 5, 4


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g, tf.device("/cpu:0"):
        yield g


def gradients_of_recurrence(weights, inputs):
    """Of weights that every iteration multiplies, and of the state that the first one begins with."""

    def body(i, state):
        return i + 1, tf.tanh(tf.matmul(tf.concat([inputs[i], state], 1), weights))

    first = tf.zeros([BATCH, 2])
    _, last = tf.while_loop(lambda i, state: i < STEPS, body, [0, first])
    return tf.gradients(tf.reduce_sum(last * last), [weights, first])


def test_the_gradient_of_weights_is_one_product():
    weights, inputs = tf.placeholder(tf.float32, [5, 2]), tf.placeholder(tf.float32, [STEPS, BATCH, 3])
    found = gradients_of_recurrence(weights, inputs)
    chance = np.random.RandomState(0)
    feeds = {each: chance.randn(*each.shape.as_list()).astype(np.float32) for each in (weights, inputs)}
    made = program(found, feeds)
    optimize(made)
    place(made, Placement(local_devices(ONE_CPU)))
    written_out = unrolled(made)
    written_out.check()
    sums = [node for node in written_out.nodes if node.type == "_AddMatMul" and node.attrs["transpose_a"]]
    assert [node.inputs[1].shape.as_list() for node in sums] == [[STEPS * BATCH, 5]]
    plan = emit(written_out, KernelArguments(ResourceManager(), None))
    values = plan.function(*(torch.from_numpy(feeds[each]) for each in (weights, inputs)))
    with tf.Session() as session:
        expected = session.run(found, feeds)
    for value, wanted in zip(values, expected, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)
