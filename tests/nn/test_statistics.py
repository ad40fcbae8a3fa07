"""Moments and the normalization by them, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tests.ops.nn.test_convolution import normal, run


@pytest.mark.parametrize("keep_dims", [False, True])
def test_moments(keep_dims):
    x = normal(3, 4, 5)
    mean, variance = run(tf.nn.moments(tf.constant(x), [0, 2], keep_dims=keep_dims))
    np.testing.assert_allclose(mean, x.mean((0, 2), keepdims=keep_dims))
    np.testing.assert_allclose(variance, x.var((0, 2), keepdims=keep_dims))
    half = run(tf.nn.moments(tf.constant(x, tf.float16), [1]))
    assert half[0].dtype == np.float16


def test_weighted_moments():
    x, weights = normal(4, 3), np.array([[1], [2], [0], [3]])
    mean, variance = run(tf.nn.weighted_moments(x, [0], weights))
    repeated = np.repeat(x, weights[:, 0], 0)
    np.testing.assert_allclose(mean, repeated.mean(0))
    np.testing.assert_allclose(variance, repeated.var(0))


@pytest.mark.parametrize("shift", [None, 0.5])
def test_statistics_and_moments(shift):
    x = normal(4, 3)
    given = tf.placeholder(tf.float64, [None, 3])
    counts, total, squares, kept = tf.nn.sufficient_statistics(given, [0], shift=shift)
    mean, variance = run(tf.nn.normalize_moments(counts, total, squares, kept), {given: x})
    np.testing.assert_allclose(mean, x.mean(0))
    np.testing.assert_allclose(variance, x.var(0))


def test_batch_normalization():
    x, mean, variance, offset, scale = normal(4, 3), normal(3), normal(3) ** 2, normal(3), normal(3)
    arguments = [tf.constant(value) for value in (x, mean, variance)]
    full = run(tf.nn.batch_normalization(*arguments, offset, scale, 1e-3))
    bare = run(tf.nn.batch_normalization(*arguments, None, None, 1e-3))
    np.testing.assert_allclose(bare, (x - mean) / np.sqrt(variance + 1e-3))
    np.testing.assert_allclose(full, bare * scale + offset)
