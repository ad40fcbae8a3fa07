"""Clipping by value and by norm."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


def slices(values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices), tf.constant([4, 2]))


def test_by_value():
    x = tf.constant([-3.0, 0.5, 3.0])
    y = tf.clip_by_value(x, -1.0, 2.0)
    np.testing.assert_allclose(run([y, tf.gradients(y, x)[0]]), [[-1.0, 0.5, 2.0], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(run(tf.clip_by_value(x, [-2.0, 1.0, 0.0], 9.0)), [-2.0, 1.0, 3.0])
    np.testing.assert_array_equal(run(tf.clip_by_value([-5, 5], -1, 1)), [-1, 1])
    clipped = tf.clip_by_value(slices([[3.0, -4.0]], [1]), -1.0, 1.0)
    assert isinstance(clipped, tf.IndexedSlices)
    np.testing.assert_allclose(run(clipped.values), [[1.0, -1.0]])
    with pytest.raises(ValueError):
        tf.clip_by_value(x, tf.zeros([2, 3]), 1.0)


def test_by_norm():
    x = tf.constant([[3.0, 4.0], [0.3, 0.4]])
    np.testing.assert_allclose(run(tf.clip_by_norm(x, 1.0, axes=[1])), [[0.6, 0.8], [0.3, 0.4]], 1e-6)
    np.testing.assert_allclose(np.linalg.norm(run(tf.clip_by_norm(x, 2.0))), 2.0, 1e-6)
    np.testing.assert_allclose(run(tf.clip_by_norm(x, 100.0)), run(x))
    clipped = tf.clip_by_norm(slices([[3.0, 4.0]], [1]), 1.0)
    np.testing.assert_allclose(run(clipped.values), [[0.6, 0.8]], 1e-6)


def test_by_norm_has_a_derivative_at_zero():
    x = tf.zeros([3])
    y = tf.clip_by_norm(x, 1.0)
    np.testing.assert_allclose(run([y, tf.gradients(y, x)[0]]), [np.zeros(3), np.ones(3)])


def test_by_average_norm():
    x = np.array([3.0, 4.0], np.float32)
    np.testing.assert_allclose(run(tf.clip_by_average_norm(x, 1.0)), x / 2.5, 1e-6)
    np.testing.assert_allclose(run(tf.clip_by_average_norm(x, 5.0)), x, 1e-6)


def test_by_global_norm():
    parts = [tf.constant([3.0]), None, slices([[0.0, 4.0]], [1])]
    np.testing.assert_allclose(run(tf.global_norm(parts)), 5.0)
    clipped, norm = tf.clip_by_global_norm(parts, 1.0)
    assert clipped[1] is None
    np.testing.assert_allclose(run([norm, clipped[0][0], clipped[2].values[0, 1]]), [5.0, 0.6, 0.8], 1e-6)
    kept, _ = tf.clip_by_global_norm(parts, 9.0)
    np.testing.assert_allclose(run(kept[0]), [3.0], 1e-6)
    given, _ = tf.clip_by_global_norm([tf.constant([2.0])], 1.0, use_norm=tf.constant(4.0))
    np.testing.assert_allclose(run(given[0]), [0.5])


def test_a_norm_that_is_not_finite_makes_everything_nan():
    clipped, norm = tf.clip_by_global_norm([tf.constant([float("inf")]), tf.constant([1.0])], 1.0)
    assert np.isnan(run(clipped)).all()
    assert np.isinf(run(norm))


def test_a_list_is_needed():
    for call in (tf.global_norm, lambda t: tf.clip_by_global_norm(t, 1.0)):
        with pytest.raises(TypeError, match="t_list should be a sequence"):
            call(tf.constant(1.0))
