"""contrib.metrics: streams that grow, and metrics against their definitions."""

import numpy as np
import pytest

import tideflow as tf

metrics = tf.contrib.metrics


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def streamed(make, batches):
    """The value after all batches."""
    fed = [tf.placeholder(np.asarray(part).dtype, np.shape(part)) for part in batches[0]]
    value, update = make(*fed)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for batch in batches:
            session.run(update, dict(zip(fed, batch)))
        return session.run(value, dict(zip(fed, batches[-1])))


def test_a_joined_stream_keeps_everything():
    parts = [np.arange(6.0).reshape(2, 3) + 10 * i for i in range(5)]
    found = streamed(lambda x: metrics.streaming_concat(x), [(part,) for part in parts])
    np.testing.assert_array_equal(found, np.concatenate(parts))


def test_covariance_and_correlation_are_numpys():
    random = np.random.RandomState(0)
    batches = [(random.normal(size=5).astype("f"), random.normal(size=5).astype("f")) for _ in range(4)]
    x, y = (np.concatenate(parts) for parts in zip(*batches))
    np.testing.assert_allclose(streamed(metrics.streaming_covariance, batches), np.cov(x, y)[0, 1], rtol=1e-4)
    found = streamed(metrics.streaming_pearson_correlation, batches)
    np.testing.assert_allclose(found, np.corrcoef(x, y)[0, 1], rtol=1e-4)


def test_the_exact_area_counts_pairs_in_order():
    labels, scores = np.array([0, 1, 1, 0, 1]), np.array([0.1, 0.4, 0.35, 0.8, 0.9])
    pairs = [(p > n) + 0.5 * (p == n) for p in scores[labels == 1] for n in scores[labels == 0]]
    found = streamed(metrics.streaming_dynamic_auc, [(labels, scores)])
    np.testing.assert_allclose(found, np.mean(pairs))


def test_kappa_is_one_for_agreement_and_zero_for_chance():
    same = [(np.array([0, 1, 2, 1]), np.array([0, 1, 2, 1]))]
    chance = [(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))]
    assert streamed(lambda a, b: metrics.cohen_kappa(a, b, 3), same) == pytest.approx(1.0)
    assert streamed(lambda a, b: metrics.cohen_kappa(a, b, 3), chance) == pytest.approx(0.0)


def test_counts_at_thresholds_are_variables_without_a_scope():
    metrics.streaming_true_positives_at_thresholds(tf.constant([0.5]), tf.constant([True]), [0.1])
    assert [v.op.name for v in tf.local_variables()] == ["true_positives"]
