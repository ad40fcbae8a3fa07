"""Activations where the samples do not go: corners, extremes, integers; biases in both formats."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf

CORNERS = [-np.inf, -100.0, -1.0, 0.0, 1.0, 6.0, 100.0, np.inf]


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


@pytest.mark.parametrize(
    ("function", "values", "slopes"),
    [
        (tf.nn.relu, [0, 0, 0, 0, 1, 6, 100, np.inf], [0, 0, 0, 0, 1, 1, 1, 1]),
        (tf.nn.relu6, [0, 0, 0, 0, 1, 6, 6, 6], [0, 0, 0, 0, 1, 0, 0, 0]),
        (tf.nn.elu, [-1, -1, np.expm1(-1), 0, 1, 6, 100, np.inf], [0, 0, np.exp(-1), 1, 1, 1, 1, 1]),
        (tf.nn.leaky_relu, [-np.inf, -20, -0.2, 0, 1, 6, 100, np.inf], [0.2, 0.2, 0.2, 0.2, 1, 1, 1, 1]),
        (
            tf.nn.softplus,
            [0, 0, np.log1p(np.exp(-1)), np.log(2), 1.3132617, 6.0024757, 100, np.inf],
            [0, 0, 0.26894142, 0.5, 0.73105858, 0.99752738, 1, 1],
        ),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_corners(function, values, slopes, dtype):
    x = tf.constant(CORNERS, dtype)
    y = function(x)
    found, slope = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_allclose(found, values, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(slope, slopes, rtol=1e-6, atol=1e-12)


def test_selu_at_zero_has_the_upper_slope():
    x = tf.constant([0.0, -1e-9])
    y = tf.nn.selu(x)
    np.testing.assert_allclose(run(tf.gradients(y, x)[0]), [1.050701, 1.7580993], rtol=1e-5)


def test_softplus_is_exact_in_double():
    x = np.array([19.0, 21.0, 30.0])
    np.testing.assert_allclose(run(tf.nn.softplus(x)) - x, np.log1p(np.exp(-x)), atol=1e-14)


def test_nan_stays():
    for function in (tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.softplus, tf.nn.leaky_relu):
        assert np.isnan(run(function(np.float32([np.nan])))).all()


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers(dtype):
    large = np.iinfo(dtype).max
    x = tf.constant(np.array([0, 3, 6, 9, large], dtype))
    ones = tf.ones_like(x)
    relu, relu6 = tf.nn.relu(x), tf.nn.relu6(x)
    by_relu = tf.raw_ops.ReluGrad(gradients=ones, features=x)
    by_relu6 = tf.raw_ops.Relu6Grad(gradients=ones, features=x)
    found = run([relu, relu6, by_relu, by_relu6])
    assert [value.dtype for value in found] == [dtype] * 4
    assert [value.tolist() for value in found] == [
        [0, 3, 6, 9, large],
        [0, 3, 6, 6, 6],
        [0, 1, 1, 1, 1],
        [0, 1, 0, 0, 0],
    ]


def test_leaky_relu_of_integers_is_single():
    y = tf.nn.leaky_relu([-10, 5])
    assert y.dtype == tf.float32
    np.testing.assert_allclose(run(y), [-2, 5])


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint16", "complex64"])
def test_bias_in_both_formats(dtype):
    value, bias = np.arange(24).reshape(2, 3, 4).astype(dtype), np.arange(4).astype(dtype)
    last = tf.nn.bias_add(tf.constant(value), bias)
    first = tf.nn.bias_add(tf.constant(value), bias[:3], data_format="NC")
    found = run([last, first])
    np.testing.assert_array_equal(found[0], value + bias)
    np.testing.assert_array_equal(found[1], value + bias[:3, None])
    back = [tf.raw_ops.BiasAddGrad(out_backprop=value, data_format=f) for f in ("NHWC", "NCHW")]
    sums = run(back)
    np.testing.assert_array_equal(sums[0], value.sum((0, 1)))
    np.testing.assert_array_equal(sums[1], value.sum((0, 2)))
    assert sums[0].dtype == dtype


def test_bias_formats():
    with pytest.raises(ValueError, match="data_format must be of the form"):
        tf.nn.bias_add(np.ones((2, 3)), np.ones(3), data_format="HWC")


def test_crelu():
    x = np.array([[1.0, -2.0]])
    assert run(tf.nn.crelu(x)).tolist() == [[1, 0, 0, 2]]
    assert run(tf.nn.crelu(x, axis=0)).tolist() == [[1, 0], [0, 2]]


def test_the_slope_of_leaky_relu_is_a_half():
    with tf.Session() as session:
        found = session.run(tf.nn.leaky_relu(tf.constant([-5.0], tf.half), alpha=0.01))
    assert found[0] == np.float16(-5) * np.float16(0.01)
