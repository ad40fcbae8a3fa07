"""Losses against their formulas; weights, reductions, gradients; the collection."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tideflow as tf

SHAPE = (4, 3)
SCORES = arrays(np.float32, SHAPE, elements=st.floats(-3, 3, width=32))
UNIT = arrays(np.float32, SHAPE, elements=st.floats(0, 1, width=32))
WEIGHTS = arrays(np.float32, SHAPE, elements=st.sampled_from([0.0, 0.5, 1.0, 2.0]))
R = tf.losses.Reduction


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def value(build, *arrays):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build(*map(tf.constant, arrays)))


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


FORMULAS = {
    "absolute_difference": lambda y, x: np.abs(x - y),
    "mean_squared_error": lambda y, x: (x - y) ** 2,
    "huber_loss": lambda y, x: np.where(abs(x - y) <= 1, (x - y) ** 2 / 2, abs(x - y) - 0.5),
    "hinge_loss": lambda y, x: np.maximum(0, 1 - (2 * y - 1) * x),
    "sigmoid_cross_entropy": lambda y, x: softplus(x) - x * y,
}
MEANS = {
    R.NONE: lambda losses, w: losses * w,
    R.SUM: lambda losses, w: np.sum(losses * w),
    R.MEAN: lambda losses, w: np.sum(losses * w) / (np.sum(w) or 1),
    R.SUM_OVER_BATCH_SIZE: lambda losses, w: np.mean(losses * w),
    R.SUM_BY_NONZERO_WEIGHTS: lambda losses, w: np.sum(losses * w) / (np.count_nonzero(w) or 1),
}


@pytest.mark.parametrize("reduction", MEANS)
@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=2, deadline=None)
@given(labels=UNIT, scores=SCORES, weights=WEIGHTS)
def test_a_loss_is_its_formula_weighted_and_reduced(name, reduction, labels, scores, weights):
    loss = getattr(tf.losses, name)
    found = value(lambda y, x, w: loss(y, x, w, reduction=reduction), labels, scores, weights)
    wanted = MEANS[reduction](FORMULAS[name](labels, scores), weights)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@settings(max_examples=5, deadline=None)
@given(labels=UNIT, predictions=UNIT)
def test_log_loss(labels, predictions):
    p = predictions.astype(np.float64)
    wanted = -labels * np.log(p + 1e-3) - (1 - labels) * np.log(1 - p + 1e-3)
    found = value(lambda y, x: tf.losses.log_loss(y, x, epsilon=1e-3), labels, predictions)
    np.testing.assert_allclose(found, wanted.mean(), rtol=1e-4)


@settings(max_examples=5, deadline=None)
@given(scores=SCORES, weights=arrays(np.float32, 4, elements=st.sampled_from([0.0, 1.0, 2.0])))
def test_cross_entropies_of_numbers_and_of_one_hot_vectors_are_one(scores, weights):
    labels = np.array([0, 2, 1, 2])
    losses = -log_softmax(scores)[np.arange(4), labels]
    wanted = np.sum(losses * weights) / (np.count_nonzero(weights) or 1)
    sparse = value(tf.losses.sparse_softmax_cross_entropy, labels, scores, weights)
    dense = value(tf.losses.softmax_cross_entropy, np.eye(3)[labels], scores, weights)
    np.testing.assert_allclose([sparse, dense], [wanted] * 2, rtol=1e-4, atol=1e-6)


def test_smoothing_spreads_a_label_over_the_classes():
    scores = np.array([[1.0, 2.0, -1.0]], np.float32)
    smooth = np.eye(3)[[1]] * 0.7 + 0.1
    found = value(
        lambda y, x: tf.losses.softmax_cross_entropy(y, x, label_smoothing=0.3), np.eye(3)[[1]], scores
    )
    np.testing.assert_allclose(found, -(smooth * log_softmax(scores)).sum(), rtol=1e-5)


@settings(max_examples=5, deadline=None)
@given(labels=UNIT, scores=SCORES)
def test_the_pairwise_error_is_the_mean_over_pairs(labels, scores):
    errors = (scores - labels).astype(np.float64)
    pairs = [(row[i] - row[j]) ** 2 for row in errors for i in range(3) for j in range(3) if i != j]
    found = value(tf.losses.mean_pairwise_squared_error, labels, scores)
    np.testing.assert_allclose(found, np.sum(pairs) / 6, rtol=1e-3, atol=1e-4)


def test_cosine_distance_keeps_the_axis():
    y, x = np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([[0.0, 1.0], [0.6, 0.8]])
    found = value(lambda y, x: tf.losses.cosine_distance(y, x, axis=1, reduction=R.NONE), y, x)
    np.testing.assert_allclose(found, [[1.0], [0.0]], atol=1e-6)


def test_no_weight_at_all_is_a_loss_of_zero_with_a_gradient_of_zero():
    x = tf.constant([[1.0, 2.0]])
    loss = tf.losses.mean_squared_error([[0.0, 0.0]], x, weights=0.0)
    with tf.Session() as session:
        found, slope = session.run([loss, tf.gradients(loss, x)[0]])
    assert found == 0
    np.testing.assert_array_equal(slope, [[0.0, 0.0]])


def test_losses_are_of_the_type_of_their_input():
    for dtype in (tf.float16, tf.float64):
        assert tf.losses.softmax_cross_entropy([[0, 1]], tf.zeros([1, 2], dtype)).dtype is dtype
    assert tf.losses.mean_squared_error([1], tf.zeros([1], tf.float64)).dtype is tf.float32


def test_weights_that_a_step_cannot_broadcast_are_refused_by_it():
    w = tf.placeholder(tf.float32, None)
    loss = tf.losses.mean_squared_error(tf.zeros([2, 3]), tf.ones([2, 3]), w)
    with tf.Session() as session:
        assert session.run(loss, {w: [[1.0], [0.0]]}) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
            session.run(loss, {w: [1.0, 1.0, 1.0]})


def test_weights_that_cannot_be_broadcast_are_refused_at_once():
    with pytest.raises(ValueError, match=r"weights.rank=1. values.shape=\(2, 3\)"):
        tf.losses.mean_squared_error(tf.zeros([2, 3]), tf.ones([2, 3]), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="Mismatch at dim 1"):
        tf.losses.mean_squared_error(tf.zeros([2, 3]), tf.ones([2, 3]), tf.zeros([2, 2]))


def test_the_total_is_the_sum_of_the_collections():
    tf.losses.mean_squared_error([1.0], [3.0])
    with tf.variable_scope("s", regularizer=lambda v: 10.0 * tf.reduce_sum(v)):
        v = tf.get_variable("v", initializer=[1.0, 2.0])
    tf.losses.absolute_difference([1.0], [3.0], loss_collection=None)
    totals = [tf.losses.get_total_loss(), tf.losses.get_total_loss(add_regularization_losses=False)]
    totals.append(tf.losses.get_regularization_loss())
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(totals) == [34.0, 4.0, 30.0]


def test_no_regularizers_are_a_loss_of_zero():
    with tf.Session() as session:
        assert session.run(tf.losses.get_regularization_loss()) == 0.0
