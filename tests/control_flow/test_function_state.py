"""What an op in a function keeps from step to step belongs to the call, however deep inside the op is."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.functions.defun import Defun


@Defun(tf.float32)
def noise(x):
    return x + tf.random_uniform([3], seed=7)


@Defun(tf.float32)
def nested(x):
    return noise(x)


@Defun(tf.float32)
def looped(x):
    return tf.while_loop(
        lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.random_uniform([3], seed=7)), [0, x]
    )[1]


@pytest.mark.parametrize("function", [noise, nested, looped])
def test_two_calls_draw_the_same_stream_each(function, session):
    zeros = tf.zeros([3])
    first, second = function(zeros), function(zeros)
    for _ in range(2):
        one, other = session.run([first, second])
        np.testing.assert_array_equal(one, other)
