"""Running sums and products beyond their samples."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture
def run():
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        yield session.run


def test_unsigned_sums_wrap(run):
    x = np.array([60000, 6000, 5], np.uint16)
    assert run(tf.cumsum(tf.constant(x))).tolist() == [60000, 464, 469]
    assert run(tf.cumprod(tf.constant(x), reverse=True))[1:].tolist() == [30000, 5]


def test_the_logarithm_of_no_sum_is_the_lowest_number(run):
    lowest = np.finfo(np.float32).min
    x = tf.constant([-np.inf, 0.0, 0.0])
    np.testing.assert_allclose(run(tf.math.cumulative_logsumexp(x)), [lowest, 0, np.log(2)], atol=1e-6)
    found = run(tf.math.cumulative_logsumexp(x, exclusive=True, reverse=True))
    np.testing.assert_allclose(found, [np.log(2), 0, lowest], atol=1e-6)


def test_a_scalar_has_no_axis(run):
    x = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"scan axis in the range \[0, 0\), but got 0"):
        run(tf.cumsum(x), {x: 1.0})


def test_sums_of_halves_are_rounded_at_each_step():
    """A half has no room for 2 + 1/1024: the sum of a million of these ends there."""
    with tf.Session() as session:
        sums = session.run(tf.cumsum(np.full(1000000, 1 / 1024, np.float16)))
    assert sums[2047] == sums[-1] == 2
