"""What a backward pass needs is let go as the pass goes: stacks are popped, arrays are cleared when read."""

import gc
import itertools
import weakref

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.op import Op

pytestmark = pytest.mark.usefixtures("graph")

_seen = []  # weak references to what passed, and how many of those were alive at each backward iteration
_alive = []

forward_op = Op("WatchedForward", "x: T -> y: T", stateful=True, registered=False)
backward_op = Op(
    "WatchedBackward", "x: T, grad: T -> y: T", stateful=True, differentiable=False, registered=False
)
forward_op.shape(lambda x: x)
backward_op.shape(lambda x, grad: grad)


@forward_op.kernel
def _(x):
    made = x.clone()
    _seen.append(weakref.ref(made))
    return made


@backward_op.kernel
def _(x, grad):
    gc.collect(0)
    _alive.append(sum(ref() is not None for ref in _seen))
    return grad.clone()


@forward_op.gradient
def _(op, grad):
    return backward_op(op.outputs[0], grad)  # wants what the forward pass made


@pytest.fixture(autouse=True)
def _forget():
    _seen.clear()
    _alive.clear()


def _run_backward(session, build):
    x = tf.placeholder(tf.float32, [2])
    slope = tf.gradients(build(x), x)[0]
    session.run(slope, {x: np.ones(2, np.float32)})
    assert len(_seen) == len(_alive) == 10
    return _alive


def test_stacks_are_freed_as_they_are_popped(session):
    alive = _run_backward(
        session,
        lambda x: tf.while_loop(lambda i, t: i < 10, lambda i, t: (i + 1, forward_op(t * 0.5)), [0, x])[1],
    )
    assert alive[0] >= 9  # at first everything is still needed
    assert alive[-1] <= 3  # at last only the last
    assert all(later <= earlier for earlier, later in itertools.pairwise(alive))


def test_arrays_are_freed_as_they_are_read(session):
    """The elements were read once, by the loop that takes them; the array does not keep them longer."""
    kept = []

    def note(i, value):
        kept.append(sum(ref() is not None for ref in _seen))
        return value

    made = tf.TensorArray(tf.float32, 10, element_shape=[2])
    x = tf.placeholder(tf.float32, [2])
    fill = lambda i, a: (i + 1, a.write(i, forward_op(x * tf.cast(i, tf.float32))))
    _, made = tf.while_loop(lambda i, _: i < 10, fill, [0, made], back_prop=False)

    def take(i, total):
        value = tf.py_func(note, [i, made.read(i)], tf.float32)
        value.set_shape([2])
        return i + 1, total + value

    total = tf.while_loop(
        lambda i, _: i < 10, take, [0, tf.zeros([2])], back_prop=False, parallel_iterations=1
    )[1]
    assert session.run(total, {x: [1.0, 1.0]}).tolist() == [45.0, 45.0]
    assert kept[0] == 10
    assert kept[-1] <= 2


def test_nothing_is_left_after_a_step(session):
    x = tf.placeholder(tf.float32, [2])
    y = tf.while_loop(lambda i, t: i < 10, lambda i, t: (i + 1, forward_op(t)), [0, x])[1]
    slope = tf.gradients(y, x)[0]
    session.run(slope, {x: np.ones(2, np.float32)})
    gc.collect()
    assert not any(ref() is not None for ref in _seen)


def test_nothing_is_left_after_a_step_that_failed(session):
    """Who keeps the error does not keep the step's values."""
    x = tf.placeholder(tf.float32, [2])

    def body(i, t):
        with tf.control_dependencies([tf.Assert(i < 9, ["the end"])]):
            return i + 1, forward_op(t)

    y = tf.while_loop(lambda i, t: i < 10, body, [0, x])[1]
    with pytest.raises(tf.errors.InvalidArgumentError) as kept:
        session.run(tf.gradients(y, x)[0], {x: np.ones(2, np.float32)})
    gc.collect()
    assert kept.value is not None and _seen
    assert not any(ref() is not None for ref in _seen)
