"""tf.nondifferentiable_batch_function: calls alone, filled up, together, and refused ones."""

import threading

import numpy as np
import pytest

import tideflow as tf
from tideflow.functions.defun import Defun


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


def _at_once(session, fetch, x, values):
    found = {}
    threads = [
        threading.Thread(target=lambda v=v: found.update({v: session.run(fetch, {x: [v]})})) for v in values
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[v] for v in values]


def _rows(x, name, most=2):
    attributes = {"num_batch_threads": 1, "max_batch_size": most, "grad_timeout_micros": 5_000_000}
    return tf.raw_ops.Batch(
        in_tensors=[x], batch_timeout_micros=60_000_000, shared_name=name, batching_queue="", **attributes
    )


def test_rows_of_two_steps_are_given_to_one_of_them_and_back():
    x = tf.placeholder(tf.float32, [1])
    batched_rows, index, number = _rows(x, "rows")
    squares = tf.raw_ops.Unbatch(
        batched_tensor=batched_rows[0] ** 2, batch_index=index, id=number, timeout_micros=5_000_000
    )
    (gradient,) = tf.gradients(squares, x)
    with tf.Session() as session:
        rows = _at_once(session, [batched_rows[0], index], x, [1.0, 2.0])
        assert sorted(len(values) for values, _ in rows) == [0, 2]
        assert sorted(len(places) for _, places in rows) == [0, 2]
        assert [v.tolist() for v in _at_once(session, squares, x, [3.0, 4.0])] == [[9.0], [16.0]]
        assert [v.tolist() for v in _at_once(session, gradient, x, [3.0, 4.0])] == [[6.0], [8.0]]


def test_rows_that_nobody_leaves_are_not_waited_for():
    nothing = tf.zeros([0, 3], tf.int64)
    row = tf.raw_ops.Unbatch(
        batched_tensor=[1.0], batch_index=nothing, id=tf.constant(7, tf.int64), timeout_micros=10
    )
    with tf.Session() as session, pytest.raises(tf.errors.DeadlineExceededError, match="did not arrive"):
        session.run(row)


def test_a_function_is_called_on_a_named_device():
    product = Defun(tf.int32, tf.int32)(lambda a, b: a * b)
    device = tf.placeholder(tf.string, [])
    call = tf.raw_ops.RemoteCall(target=device, args=[3, 4], Tout=[tf.int32], f=product)
    with tf.Session() as session:
        assert session.run(call, {device: "/job:localhost/replica:0/task:0/device:CPU:0"}) == [12]
        with pytest.raises(tf.errors.InvalidArgumentError, match="neverland"):
            session.run(call, {device: "neverland"})
