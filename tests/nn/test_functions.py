"""Small functions between ops and layers, against NumPy."""

from __future__ import annotations

import numpy as np
from scipy import special

import tideflow as tf
from tests.ops.nn.test_convolution import normal, run


def test_dense_layers():
    x, w, b = normal(3, 4), normal(4, 2), normal(2)
    np.testing.assert_allclose(run(tf.nn.xw_plus_b(x, w, b)), x @ w + b)
    np.testing.assert_allclose(run(tf.nn.relu_layer(x, w, b)), np.maximum(x @ w + b, 0))


def test_swish_and_its_gradient():
    x = tf.constant(normal(5))
    y = tf.nn.swish(x)
    value, found, given = run([y, tf.gradients(y, x)[0], x])
    gate = special.expit(given)
    np.testing.assert_allclose(value, given * gate)
    np.testing.assert_allclose(found, gate * (1 + given * (1 - gate)))


def test_l2_normalize():
    x = normal(3, 4)
    np.testing.assert_allclose(run(tf.nn.l2_normalize(x, 1)), x / np.linalg.norm(x, axis=1, keepdims=True))
    np.testing.assert_allclose(run(tf.nn.l2_normalize(x, dim=[0, 1])), x / np.linalg.norm(x))
    assert not run(tf.math.l2_normalize(np.zeros(3))).any()


def test_zero_fraction():
    assert run(tf.nn.zero_fraction(np.float32([0, 1, 0, 2, 0]))) == np.float32(0.6)
