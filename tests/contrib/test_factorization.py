"""Clusters, mixtures and factors against NumPy, and what they are for: they find what is there."""

import numpy as np
import pytest

import tideflow as tf

factorization = tf.contrib.factorization
CENTERS = np.array([[0.0, 0.0], [6.0, 6.0], [-6.0, 5.0]])


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        tf.set_random_seed(2)
        yield


def _points(count=60, seed=0):
    chance = np.random.RandomState(seed)
    return (CENTERS[np.arange(count) % 3] + chance.normal(size=(count, 2)) * 0.5).astype("float32")


def _sorted(centers):
    return centers[np.argsort(centers[:, 0])]


@pytest.mark.parametrize("start", ["random", "kmeans_plus_plus", "kmc2"])
def test_k_means_finds_three_clouds(start):
    points = _points()
    kmeans = factorization.KMeans(tf.constant(points), 3, start, random_seed=1, kmc2_chain_length=10)
    _, nearest, distances, done, init, train = kmeans.training_graph()
    centers = tf.global_variables()[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        while not session.run(done):
            session.run(init)
        for _ in range(10):
            session.run(train)
        found, assigned, apart = session.run([centers, nearest[0], distances[0]])
    if start == "kmeans_plus_plus":  # the others may begin with two centers in one cloud
        np.testing.assert_allclose(_sorted(found), _sorted(CENTERS), atol=0.3)
    np.testing.assert_allclose(apart, ((points - found[assigned]) ** 2).sum(1), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("metric", ["squared_euclidean", "cosine"])
def test_mini_batches_move_centers_by_what_they_have_seen(metric, steps):
    start = (_points(3, seed=1) + 8).astype("float32")
    points = tf.placeholder(tf.float32, [None, 2])
    kmeans = factorization.KMeans(
        points, 3, start, metric, use_mini_batch=True, mini_batch_steps_per_iteration=steps
    )
    *_, init, train = kmeans.training_graph()
    centers = tf.global_variables()[0]

    def unit(rows):
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    cosine = metric == "cosine"
    current = updated = unit(start) if cosine else start
    counts = np.ones(3) if steps == 1 else np.zeros(3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(init, {points: _points(3) + 8})
        left = steps
        for i in range(5):
            batch = _points(12, seed=i) + 8
            seen = unit(batch) if cosine else batch
            # The nearest centers are those before a step takes updates over.
            judged = unit(current) if cosine else current
            nearest = ((seen[:, None] - judged[None]) ** 2).sum(2).argmin(1)
            if steps > 1:
                if left <= 0:
                    left, counts = steps - 1, np.zeros(3)
                    current = unit(updated) if cosine else updated
                else:
                    left -= 1
            updated = updated.copy()
            for cluster in np.unique(nearest):
                mine = seen[nearest == cluster]
                counts[cluster] += len(mine)
                updated[cluster] += (mine - updated[cluster]).sum(0) / counts[cluster]
            if steps == 1:
                current = updated
            session.run(train, {points: batch})
            np.testing.assert_allclose(session.run(centers), current, rtol=1e-3, err_msg=f"step {i}")


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_a_mixture_finds_three_clouds(kind):
    tool = factorization.GmmAlgorithm(
        [tf.constant(_points(300))], 3, (CENTERS + 1).astype("float32"), covariance_type=kind
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tool.init_ops())
        assert session.run(tool.is_initialized())
        before = session.run(tool.log_likelihood_op())
        train = tool.training_ops()
        for _ in range(10):
            session.run(train)
        means, covariances, weights, assigned, after = session.run(
            [
                tool.clusters(),
                tool.covariances(),
                tool.alphas(),
                tool.assignments(),
                tool.log_likelihood_op(),
            ]
        )
    np.testing.assert_allclose(means[:, 0], CENTERS, atol=0.15)
    np.testing.assert_allclose(weights, [1 / 3] * 3, atol=0.02)
    np.testing.assert_array_equal(assigned[0], np.arange(300) % 3)
    variances = covariances if kind == "diag" else np.diagonal(covariances, axis1=1, axis2=2)
    np.testing.assert_allclose(variances, np.full((3, 2), 0.25), atol=0.1)
    assert after > before


def test_factors_give_a_matrix_of_low_rank_back():
    chance = np.random.RandomState(0)
    matrix = (chance.normal(size=(7, 2)) @ chance.normal(size=(2, 6))).astype("float32")
    model = factorization.WALSModel(
        7, 6, 2, unobserved_weight=0.0, regularization=1e-4, num_row_shards=3, num_col_shards=2
    )
    places = np.argwhere(chance.uniform(size=matrix.shape) < 0.8)
    elements = tf.SparseTensor(places, matrix[tuple(places.T)], matrix.shape)
    row_loss, col_loss = model.update_row_factors(elements), model.update_col_factors(elements)
    with tf.Session() as session:
        session.run([model.initialize_op, tf.local_variables_initializer()])
        session.run(model.worker_init)
        losses = []
        for _ in range(40):
            session.run(model.row_update_prep_gramian_op)
            session.run(model.initialize_row_update_op)
            session.run(row_loss[1])
            session.run(model.col_update_prep_gramian_op)
            session.run(model.initialize_col_update_op)
            losses.append(session.run(col_loss[1:3])[1])
        rows, cols = (np.concatenate(session.run(f)) for f in (model.row_factors, model.col_factors))
    assert losses[-1] < losses[0] / 10
    np.testing.assert_allclose((rows @ cols.T)[tuple(places.T)], matrix[tuple(places.T)], atol=0.05)


def test_weights_must_make_sense():
    with pytest.raises(ValueError, match="Invalid weight initialization argument"):
        factorization.WALSModel(3, 3, 2, row_weights=-1.0)
    with pytest.raises(AssertionError, match="both, or neither"):
        factorization.WALSModel(3, 3, 2, row_weights=None)
