"""Batch normalization in one op: against its formula, in every format and mode, with both derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf

RNG = np.random.default_rng(0)
SCALE, OFFSET = np.float32([1.5, 0.5]), np.float32([0.1, 0.2])


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def image(*sizes):
    return (RNG.standard_normal(sizes) * 2 + 1).astype(np.float32)


@pytest.mark.parametrize(
    ("data_format", "sizes"),
    [("NHWC", (3, 4, 2, 2)), ("NCHW", (3, 2, 4, 2)), ("NDHWC", (2, 2, 3, 2, 2)), ("NCDHW", (2, 2, 2, 3, 2))],
)
def test_statistics_of_the_batch(data_format, sizes):
    x = image(*sizes)
    y, mean, variance = run(tf.nn.fused_batch_norm(x, SCALE, OFFSET, data_format=data_format))
    axis = 1 if data_format[1] == "C" else -1
    rows = np.moveaxis(x, axis, -1).reshape(-1, 2)
    expected = (rows - rows.mean(0)) / np.sqrt(rows.var(0) + 1e-3) * SCALE + OFFSET
    np.testing.assert_allclose(np.moveaxis(y, axis, -1).reshape(-1, 2), expected, atol=1e-5)
    np.testing.assert_allclose(mean, rows.mean(0), rtol=1e-5)
    np.testing.assert_allclose(variance, rows.var(0, ddof=1), rtol=1e-4)


def test_given_statistics():
    x, mean, variance = image(2, 3, 3, 2), np.float32([0.3, 0.4]), np.float32([1.0, 2.0])
    y, same_mean, same_variance = run(
        tf.nn.fused_batch_norm(x, SCALE, OFFSET, mean, variance, is_training=False)
    )
    np.testing.assert_allclose(y, (x - mean) / np.sqrt(variance + 1e-3) * SCALE + OFFSET, atol=1e-5)
    np.testing.assert_array_equal([same_mean, same_variance], [mean, variance])


def test_half_with_single_parameters():
    x = image(4, 3, 3, 2)
    y, mean, _ = run(tf.nn.fused_batch_norm(x.astype(np.float16), SCALE, OFFSET))
    exact, _, _ = run(tf.nn.fused_batch_norm(x, SCALE, OFFSET))
    assert y.dtype == np.float16 and mean.dtype == np.float32
    np.testing.assert_allclose(y, exact, atol=1e-2)


def test_one_element_and_none():
    y, mean, variance = run(tf.nn.fused_batch_norm(np.ones((1, 1, 1, 2), np.float32), SCALE, OFFSET))
    np.testing.assert_allclose(y.ravel(), OFFSET, atol=1e-5)
    np.testing.assert_array_equal([mean, variance], [[1, 1], [0, 0]])
    y, mean, _ = run(tf.nn.fused_batch_norm(np.ones((0, 1, 1, 2), np.float32), SCALE, OFFSET))
    assert y.shape == (0, 1, 1, 2) and np.isnan(mean).all()


def test_moving_averages():
    x, mean, variance = image(2, 3, 3, 2), np.float32([0.3, 0.4]), np.float32([1.0, 2.0])
    results = run(
        tf.raw_ops.FusedBatchNormV3(
            x=x, scale=SCALE, offset=OFFSET, mean=mean, variance=variance, exponential_avg_factor=0.25
        )
    )
    rows = x.reshape(-1, 2)
    np.testing.assert_allclose(results.batch_mean, 0.75 * mean + 0.25 * rows.mean(0), rtol=1e-5)
    np.testing.assert_allclose(
        results.batch_variance, 0.75 * variance + 0.25 * rows.var(0, ddof=1), rtol=1e-4
    )
    np.testing.assert_allclose(results.reserve_space_1, rows.mean(0), rtol=1e-5)


def by_hand(x, scale, offset, axes, shape):
    mean = tf.reduce_mean(x, axes, keepdims=True)
    variance = tf.reduce_mean(tf.square(x - mean), axes, keepdims=True)
    scale, offset = tf.reshape(scale, shape), tf.reshape(offset, shape)
    return (x - mean) * tf.rsqrt(variance + 1e-3) * scale + offset


@pytest.mark.parametrize(
    ("data_format", "axes", "shape"), [("NHWC", [0, 1, 2], [1, 1, 1, 2]), ("NCHW", [0, 2, 3], [1, 2, 1, 1])]
)
@pytest.mark.parametrize("training", [True, False])
def test_both_derivatives_are_those_of_the_formula(data_format, axes, shape, training):
    sizes = (2, 3, 3, 2) if data_format == "NHWC" else (2, 2, 3, 3)
    x, scale, offset = tf.constant(image(*sizes)), tf.constant(SCALE), tf.constant(OFFSET)
    if training:
        fused = tf.nn.fused_batch_norm(x, scale, offset, data_format=data_format)[0]
        formula = by_hand(x, scale, offset, axes, shape)
    else:
        mean, variance = tf.constant([0.3, 0.4]), tf.constant([1.0, 2.0])
        fused = tf.nn.fused_batch_norm(x, scale, offset, mean, variance, 1e-3, data_format, False)[0]
        normal = (x - tf.reshape(mean, shape)) * tf.rsqrt(tf.reshape(variance, shape) + 1e-3)
        formula = normal * tf.reshape(scale, shape) + tf.reshape(offset, shape)
    weights = [tf.constant(image(*sizes)), tf.constant([1.0, -2.0]), tf.constant([0.5, 3.0])]

    def derivatives(y):
        first = tf.gradients(tf.reduce_sum(y**3), [x, scale, offset])
        mixed = tf.add_n([tf.reduce_sum(a * b) for a, b in zip(first, weights, strict=True)])
        return [*first, *tf.gradients(mixed, [x, scale])]

    for found, expected in zip(*run([derivatives(fused), derivatives(formula)]), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3 * np.abs(expected).max())


def test_gradients_through_the_statistics():
    x = tf.constant(image(2, 3, 3, 2))
    _, mean, variance = tf.nn.fused_batch_norm(x, SCALE, OFFSET)
    rows = tf.reshape(x, [-1, 2])
    plain_mean = tf.reduce_mean(rows, 0)
    plain_variance = tf.reduce_sum(tf.square(rows - plain_mean), 0) / 17
    a, b = run([tf.gradients([mean, variance], x), tf.gradients([plain_mean, plain_variance], x)])
    np.testing.assert_allclose(a[0], b[0], atol=1e-5)


def test_arguments():
    x = image(2, 3, 3, 2)
    with pytest.raises(ValueError, match="must be None if is_training is True"):
        tf.nn.fused_batch_norm(x, SCALE, OFFSET, SCALE, OFFSET)
    with pytest.raises(ValueError, match="channels of x and mean"):
        tf.nn.fused_batch_norm(x, SCALE, OFFSET, [1.0], [1.0], is_training=False)


def computed(value):
    """A tensor of which nothing is known before the step has computed it."""
    array = np.array(value, np.float32)
    return tf.py_func(lambda: array, [], tf.float32)


@pytest.mark.parametrize("sizes", [(1, 4), (4, 1), (4, 64)])
def test_vectors_without_an_entry_for_each_channel_are_refused_in_the_step(sizes):
    """ATen takes their word for it, and would read and write past their ends."""
    scale, offset = map(computed, map(np.ones, sizes))
    y = tf.nn.fused_batch_norm(computed(np.ones((2, 3, 3, 4))), scale, offset)[0]
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="each channel"):
        session.run(y)


def test_a_gradient_of_another_shape_is_refused_in_the_step():
    x, grad, vector = (computed(np.ones(shape)) for shape in ((2, 3, 3, 4), (1, 3, 3, 4), 4))
    back = tf.raw_ops.FusedBatchNormGradV2(
        y_backprop=grad, x=x, scale=vector, reserve_space_1=vector, reserve_space_2=vector
    )
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="must have one shape"):
        session.run(back)
