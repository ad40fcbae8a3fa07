"""What dropout keeps, drops and refuses."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tests.ops.nn.test_convolution import run


def test_dropout_keeps_the_mean():
    x = tf.constant(np.ones((100, 100), np.float32))
    found = run(tf.nn.dropout(x, keep_prob=0.25, seed=1))
    assert set(np.unique(found)) == {0.0, 4.0}
    assert abs(found.mean() - 1) < 0.1
    np.testing.assert_array_equal(run(tf.nn.dropout(x, rate=0.75, seed=1)), found)


def test_dropout_of_whole_rows():
    x = tf.constant(np.ones((50, 4), np.float32))
    found = run(tf.nn.dropout(x, rate=0.5, noise_shape=[None, 1], seed=1))
    assert all(len(set(row)) == 1 for row in found.tolist())


def test_dropout_of_nothing_is_the_tensor_itself():
    x = tf.constant([1.0])
    assert tf.nn.dropout(x, rate=0) is x
    assert tf.nn.dropout(x, keep_prob=tf.constant(1.0)) is not None


def test_dropout_gradient_goes_where_elements_stayed():
    x = tf.constant(np.ones(100, np.float32))
    y = tf.nn.dropout(x, rate=0.5, seed=1)
    value, grad = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_array_equal(grad, value)


def test_dropout_arguments():
    x = tf.constant([1.0])
    with pytest.raises(ValueError, match="You must provide a rate"):
        tf.nn.dropout(x)
    with pytest.raises(ValueError, match=r"in the range \[0, 1\), got 1"):
        tf.nn.dropout(x, rate=1.0)
    with pytest.raises(ValueError, match="floating point tensor"):
        tf.nn.dropout([1, 2], rate=0.5)
    with pytest.raises(ValueError, match="Cannot specify both"):
        tf.nn.dropout(x, keep_prob=0.5, rate=0.5)
