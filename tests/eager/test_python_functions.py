"""`tf.py_function`: eager Python inside of graphs, with gradients, and in eager mode."""

import gc

import numpy as np
import pytest

import tideflow as tf
from tideflow.ops.control_flow import python_functions


def test_a_graph_calls_eager_python_and_differentiates_it():
    seen = []

    def function(x, words, factor):
        seen.append(tf.executing_eagerly())
        return (x * x if words.numpy() == b"square" else x) * tf.cast(factor, tf.float32), factor + 1

    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        y, n = tf.py_function(function, [x, "square", 3], [tf.float32, tf.int32])
        (slope,) = tf.gradients(y * 2.0, x)
        with tf.Session() as session:
            found = session.run([y, n, slope], {x: [1.0, 2.0]})
    assert [value.tolist() for value in found] == [[3, 12], 4, [12, 24]]
    assert seen == [True]


def test_results_are_checked_and_errors_kept():
    with tf.Graph().as_default(), tf.Session() as session:
        none = tf.py_function(lambda x: None, [1.0], tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="returns 0 values, but expects to see 1"):
            session.run(none)
        variable = tf.py_function(lambda: tf.Variable(1.0, use_resource=True), [], tf.float32)
        with pytest.raises(tf.errors.UnknownError, match="Attempting to return a variable"):
            session.run(variable)
        with pytest.raises(tf.errors.UnimplementedError):
            session.run(tf.py_function(_unimplemented, [1.0], tf.float32))


def _unimplemented(x):
    raise NotImplementedError("later")


def test_eagerly_it_is_the_function_itself(eagerly):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda v: v * v, [x], tf.float32)
    assert float(tape.gradient(y, x)) == 6.0
    assert tf.py_function(lambda: None, [], []) == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 1 values, but expects to see 2 values"):
        tf.py_function(lambda v: v, [x], [tf.float32, tf.float32])
    gc.collect()  # functions of graphs that are gone are not counted below
    known = python_functions.registered_count()
    doubled = tf.py_func(lambda v: v * 2, [x], tf.float32)
    assert (float(doubled), python_functions.registered_count()) == (6.0, known)
    assert tf.py_func(lambda v: np.float32(1), [x], [tf.float32]).numpy() == 1.0
