"""Softmax along any axis; labels that are no classes; half precision."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import tideflow as tf

RNG = np.random.default_rng(0)


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_any_axis(axis):
    logits = RNG.standard_normal((2, 3, 4)) * 5
    soft, log = run([tf.nn.softmax(logits, axis), tf.nn.log_softmax(logits, dim=axis)])
    np.testing.assert_allclose(soft, special.softmax(logits, axis), atol=1e-12)
    np.testing.assert_allclose(log, special.log_softmax(logits, axis), atol=1e-12)


def test_axis_out_of_range():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Dimension \(3\) must be in the range \[-2, 2\)"
    ):
        tf.nn.softmax(np.ones((2, 3), np.float32), axis=3)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cross_entropy(axis):
    logits = RNG.standard_normal((3, 4))
    labels = special.softmax(RNG.standard_normal((3, 4)), axis)
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits, axis=axis)
    expected = -(labels * special.log_softmax(logits, axis)).sum(axis)
    assert loss.shape.as_list() == list(expected.shape)
    np.testing.assert_allclose(run(loss), expected, atol=1e-12)


def test_large_logits_do_not_overflow():
    logits = np.array([[1e4, 0, -1e4]], np.float32)
    dense = tf.nn.softmax_cross_entropy_with_logits_v2(np.float32([[0, 0, 1]]), logits)
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2], logits=logits)
    assert run([dense, sparse])[0] == run(sparse) == 2e4


def test_no_gradient_to_labels_in_the_old_form():
    labels, logits = tf.constant([[0.2, 0.8]]), tf.constant([[1.0, 2.0]])
    old = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    new = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    assert tf.gradients(old, labels) == [None]
    assert tf.gradients(new, labels)[0] is not None


@pytest.mark.parametrize("label", [4, -1])
def test_labels_out_of_range(label):
    labels = tf.placeholder(tf.int32, [2])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=np.ones((2, 4), np.float32))
    message = (
        rf"label value of {label} which is outside the valid range of \[0, 4\).  Label values: 1 {label}"
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(loss, {labels: [1, label]})


def test_sparse_labels_of_more_axes():
    logits, labels = RNG.standard_normal((2, 3, 4)), RNG.integers(0, 4, (2, 3))
    x, y = tf.placeholder(tf.float64, [None, None, 4]), tf.placeholder(tf.int64, [None, None])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)
    expected = -np.take_along_axis(special.log_softmax(logits, -1), labels[..., None], -1)[..., 0]
    np.testing.assert_allclose(run(loss, {x: logits, y: labels}), expected, atol=1e-12)
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold element-wise"):
        run(loss, {x: logits, y: labels.T})


def test_half_is_computed_in_single():
    logits, labels = np.float16([[5, 1, 2]]), np.float16([[0, 1, 0]])
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits)
    assert loss.dtype == tf.float16
    assert any(op.type == "Cast" for op in loss.graph.get_operations())
    np.testing.assert_allclose(run(loss), [4.0659], rtol=1e-3)


def test_arguments():
    logits = np.ones((2, 3), np.float32)
    with pytest.raises(
        ValueError, match="Only call `softmax_cross_entropy_with_logits` with named arguments"
    ):
        tf.nn.softmax_cross_entropy_with_logits(logits, logits)
    with pytest.raises(ValueError, match="Both labels and logits must be provided"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2])
    with pytest.raises(ValueError, match="Rank mismatch"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1], [2]], logits=logits)
    with pytest.raises(ValueError, match="Shape mismatch"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2, 0], logits=logits)


def test_second_derivatives():
    """Of the dense loss they are right; the sparse one says that it has none."""
    logits = tf.constant(RNG.standard_normal((2, 3)))
    labels = special.softmax(RNG.standard_normal((2, 3)), -1)
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits)
    direction = RNG.standard_normal((2, 3))
    along = tf.gradients(tf.gradients(loss, logits)[0] * direction, logits)[0]
    p = special.softmax(run(logits), -1)
    expected = p * direction - p * (p * direction).sum(-1, keepdims=True)
    np.testing.assert_allclose(run(along), expected, atol=1e-12)
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits)
    with pytest.raises(LookupError, match="no way to take the second derivative"):
        tf.gradients(tf.gradients(sparse, logits)[0], logits)
