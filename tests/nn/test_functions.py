"""The small functions of tf.nn against NumPy: losses, moments, dropout, embeddings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import tideflow as tf
from tests.ops.test_convolution import normal, run

# ---------------------------------------------------------------------------- activations and layers


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


# ---------------------------------------------------------------------------- losses


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


# ---------------------------------------------------------------------------- moments


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


# ---------------------------------------------------------------------------- dropout


def test_dropout_keeps_the_mean():
    x = tf.constant(np.ones((100, 100), np.float32))
    found = run(tf.nn.dropout(x, keep_prob=0.25, seed=1))
    assert set(np.unique(found)) == {0.0, 4.0}
    assert abs(found.mean() - 1) < 0.1
    np.testing.assert_array_equal(run(tf.nn.dropout(x, rate=0.75, seed=1)), found)


def test_dropout_of_whole_rows():
    x = tf.constant(np.ones((50, 4), np.float32))
    found = run(tf.nn.dropout(x, rate=0.5, noise_shape=[None, 1], seed=1))
    assert all(len(set(row)) == 1 for row in found.tolist())


def test_dropout_of_nothing_is_the_tensor_itself():
    x = tf.constant([1.0])
    assert tf.nn.dropout(x, rate=0) is x
    assert tf.nn.dropout(x, keep_prob=tf.constant(1.0)) is not None


def test_dropout_gradient_goes_where_elements_stayed():
    x = tf.constant(np.ones(100, np.float32))
    y = tf.nn.dropout(x, rate=0.5, seed=1)
    value, grad = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_array_equal(grad, value)


def test_dropout_arguments():
    x = tf.constant([1.0])
    with pytest.raises(ValueError, match="You must provide a rate"):
        tf.nn.dropout(x)
    with pytest.raises(ValueError, match=r"in the range \[0, 1\), got 1"):
        tf.nn.dropout(x, rate=1.0)
    with pytest.raises(ValueError, match="floating point tensor"):
        tf.nn.dropout([1, 2], rate=0.5)
    with pytest.raises(ValueError, match="Cannot specify both"):
        tf.nn.dropout(x, keep_prob=0.5, rate=0.5)


# ---------------------------------------------------------------------------- embeddings

TABLE = np.random.default_rng(1).standard_normal((10, 2))
IDS = np.array([[0, 9], [5, 3]])


def parts(strategy):
    """The table in three parts."""
    if strategy == "div":
        return [tf.constant(part) for part in np.array_split(TABLE, 3)]
    return [tf.constant(TABLE[i::3]) for i in range(3)]


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_tables_in_parts(strategy):
    found = tf.nn.embedding_lookup(parts(strategy), IDS, strategy)
    assert found.shape.as_list() == [2, 2, 2]
    np.testing.assert_array_equal(run(found), TABLE[IDS])


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_get_sparse_gradients(use_resource):
    table = tf.Variable(TABLE, use_resource=use_resource)
    rows = tf.nn.embedding_lookup(table, IDS)
    grad = tf.gradients(rows, table)[0]
    assert isinstance(grad, tf.IndexedSlices)
    with tf.Session() as session:
        session.run(table.initializer)
        np.testing.assert_array_equal(session.run(rows), TABLE[IDS])
        assert session.run(grad).indices.tolist() == IDS.ravel().tolist()


@pytest.mark.parametrize("strategy", ["mod", None])
def test_rows_are_clipped(strategy):
    table = tf.constant(TABLE) if strategy is None else parts(strategy)
    found = run(tf.nn.embedding_lookup(table, IDS, max_norm=0.5))
    norms = np.linalg.norm(TABLE[IDS], axis=-1, keepdims=True)
    np.testing.assert_allclose(found, TABLE[IDS] * np.minimum(1, 0.5 / norms))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_sparse_ids(combiner, weighted):
    indices, ids, weights = (
        [[0, 0], [0, 1], [1, 0]],
        [1, 3, 1],
        [1.0, 2.0, 0.5] if weighted else [1.0, 1.0, 1.0],
    )
    sparse = tf.SparseTensor(indices, tf.constant(ids, tf.int64), [2, 2])
    given = tf.SparseTensor(indices, tf.constant(weights, tf.float64), [2, 2]) if weighted else None
    found = run(tf.nn.embedding_lookup_sparse(tf.constant(TABLE), sparse, given, combiner=combiner))
    for row, members in enumerate([[0, 1], [2]]):
        w = np.array(weights)[members]
        total = (TABLE[np.array(ids)[members]] * w[:, None]).sum(0)
        divisor = {"sum": 1, "mean": w.sum(), "sqrtn": np.sqrt((w**2).sum())}[combiner]
        np.testing.assert_allclose(found[row], total / divisor)


def test_embedding_arguments():
    with pytest.raises(ValueError, match="Need at least one param"):
        tf.nn.embedding_lookup([], IDS)
    with pytest.raises(ValueError, match="Unrecognized partition strategy: odd"):
        tf.nn.embedding_lookup(parts("mod"), IDS, "odd")
    with pytest.raises(TypeError, match="sp_ids must be SparseTensor"):
        tf.nn.embedding_lookup_sparse(TABLE, IDS, None)
