"""Rows of tables, whole and in parts, by dense and sparse ids."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tests.ops.nn.test_convolution import run

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
