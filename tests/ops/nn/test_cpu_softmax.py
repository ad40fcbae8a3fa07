"""Softmax of short rows, which a CPU computes side by side: the same numbers as of long ones."""

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.ops.helpers import cpu_softmax

SHAPES = [(600, 2), (100, 10), (8, 12, 20, 5), (600, 1), (60, 40), (3, 10), (0, 10)]


@pytest.fixture(autouse=True)
def wide_vectors(monkeypatch):
    monkeypatch.setattr(cpu_softmax, "_width", lambda: 16)


def logits(shape):
    return np.random.RandomState(3).normal(0, 5, shape).astype(np.float32)


def numpy_softmax(x):
    powers = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True, initial=-np.inf))
    return powers / powers.sum(-1, keepdims=True)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax_and_its_logarithm_are_those_of_numpy(shape, known):
    x = logits(shape)
    fed = tf.placeholder(tf.float32, shape if known else None)
    with tf.Session() as session:
        found, logs = session.run([tf.nn.softmax(fed), tf.nn.log_softmax(fed)], {fed: x})
    np.testing.assert_allclose(found, numpy_softmax(x), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(logs, np.log(numpy_softmax(x)), rtol=1e-5, atol=1e-5)
    assert found.shape == logs.shape == shape
    assert found.flags.c_contiguous


@pytest.mark.parametrize("shape", [(100, 10), (20, 40), (2, 3)])
def test_cross_entropies_are_those_of_numpy(shape):
    x, labels = logits(shape), np.arange(shape[0]) % shape[1]
    wanted = -np.log(numpy_softmax(x)[np.arange(shape[0]), labels])
    taken = numpy_softmax(x) - np.eye(shape[1])[labels]
    fed = tf.placeholder(tf.float32, shape)
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=fed)
    dense = tf.nn.softmax_cross_entropy_with_logits_v2(labels=np.eye(shape[1])[labels], logits=fed)
    with tf.Session() as session:
        for loss in (sparse, dense):
            found, gradient = session.run([loss, tf.gradients(loss, fed)[0]], {fed: x})
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(gradient, taken, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("label", [-1, 10])
def test_a_label_that_is_no_class_is_refused(label):
    labels = np.full(100, 3)
    labels[7] = label
    fed = tf.placeholder(tf.float32, [100, 10])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=fed)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=f"label value of {label} which is outside"),
    ):
        session.run(loss, {fed: logits((100, 10))})


def test_which_rows_are_short():
    assert cpu_softmax.has_short_rows(torch.zeros(100, 10))
    for other in (torch.zeros(100, 16), torch.zeros(5, 10), torch.zeros(100, 10, dtype=torch.float64)):
        assert not cpu_softmax.has_short_rows(other)
