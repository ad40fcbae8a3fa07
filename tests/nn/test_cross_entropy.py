"""Logistic and Poisson losses against NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import tideflow as tf
from tests.ops.nn.test_convolution import normal, run


def test_sigmoid_cross_entropy_is_stable():
    logits, labels = np.array([-1e3, -2.0, 0.0, 3.0, 1e3]), np.array([0.0, 1.0, 0.5, 0.0, 1.0])
    x = tf.constant(logits)
    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=x)
    value, slope = run([loss, tf.gradients(loss, x)[0]])
    np.testing.assert_allclose(value, np.logaddexp(0, logits) - logits * labels, atol=1e-12)
    np.testing.assert_allclose(slope, special.expit(logits) - labels, atol=1e-12)


def test_weighted_cross_entropy():
    logits, labels = normal(6), np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.5])
    found = run(tf.nn.weighted_cross_entropy_with_logits(labels=labels, logits=logits, pos_weight=3.0))
    expected = 3 * labels * np.logaddexp(0, -logits) + (1 - labels) * np.logaddexp(0, logits)
    np.testing.assert_allclose(found, expected)


def test_log_poisson_loss():
    counts, logs = np.array([0.0, 1.0, 2.0, 7.0]), np.array([0.1, -0.2, 0.5, 2.0])
    plain = np.exp(logs) - logs * counts
    np.testing.assert_allclose(run(tf.nn.log_poisson_loss(counts, logs)), plain)
    factorial = np.where(counts > 1, special.gammaln(counts + 1), 0)
    np.testing.assert_allclose(run(tf.nn.log_poisson_loss(counts, logs, True)), plain + factorial, atol=0.05)


def test_shapes_of_losses_must_agree():
    with pytest.raises(ValueError, match=r"logits and labels must have the same shape \(\(2,\) vs \(3,\)\)"):
        tf.nn.sigmoid_cross_entropy_with_logits(labels=np.ones(3), logits=np.ones(2))
