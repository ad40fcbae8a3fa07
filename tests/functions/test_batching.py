"""tf.nondifferentiable_batch_function: calls alone, filled up, together, and refused ones."""

import threading

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def batched(microseconds, allowed=None):
    @tf.nondifferentiable_batch_function(1, 6, microseconds, allowed_batch_sizes=allowed)
    def counted(x):
        return x * 2.0, tf.fill([tf.shape(x)[0]], tf.shape(x)[0])

    return counted


def test_a_call_alone_is_filled_up_to_an_allowed_size():
    x = tf.placeholder(tf.float32, [None])
    doubled, rows = batched(10, allowed=[4, 6])(x)
    assert doubled.op.type == "BatchFunction"
    with tf.Session() as session:
        found = session.run([doubled, rows], {x: [1.0, 2.0]})
    assert [part.tolist() for part in found] == [[2.0, 4.0], [4, 4]]


def test_calls_of_several_threads_are_one():
    x = tf.placeholder(tf.float32, [None])
    outputs = batched(60_000_000)(x)  # long enough that only six rows end the waiting
    with tf.Session() as session:
        found = {}
        threads = [
            threading.Thread(target=lambda n=n: found.update({n: session.run(outputs, {x: [float(n)] * n})}))
            for n in (1, 2, 3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for n in (1, 2, 3):
        assert found[n][0].tolist() == [2.0 * n] * n
        assert found[n][1].tolist() == [6] * n


def test_what_is_captured_is_given_along():
    w = tf.get_variable("w", initializer=np.float32([3.0]), use_resource=True)
    scaled = tf.nondifferentiable_batch_function(1, 6, 10)(lambda x: x * w)
    (y,) = scaled(tf.constant([[1.0], [2.0]]))
    with tf.Session() as session:
        session.run(w.initializer)
        assert session.run(y).tolist() == [[3.0], [6.0]]


@pytest.mark.parametrize(
    ("value", "words"), [([1.0] * 7, "larger than maximum batch size 6"), (1.0, "at least one dimension")]
)
def test_calls_that_are_refused(value, words):
    x = tf.placeholder(tf.float32)
    y = batched(10)(x)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(y, {x: value})
    with pytest.raises(LookupError, match="No gradient defined"):
        tf.gradients(y[0], x)
    with pytest.raises(ValueError, match="supposed to be Tensors"):
        batched(10)(1.0)
