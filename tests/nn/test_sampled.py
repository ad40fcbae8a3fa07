"""Sampled losses: what they are when all classes are sampled, and that words learn from them."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture
def session():
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        yield session


def problem(dtype=np.float32):
    rng = np.random.default_rng(0)
    weights, biases = rng.normal(size=(6, 3)).astype(dtype), rng.normal(size=6).astype(dtype)
    return weights, biases, np.array([[1], [4]]), rng.normal(size=(2, 3)).astype(dtype)


def test_softmax_over_all_classes_is_the_full_softmax(session):
    weights, biases, labels, inputs = problem()
    everything = tf.nn.all_candidate_sampler(labels, 1, 6, True)
    sampled = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 6, 6, sampled_values=everything)
    logits = inputs @ weights.T + biases
    full = np.log(np.exp(logits).sum(1)) - logits[np.arange(2), labels[:, 0]]
    np.testing.assert_allclose(session.run(sampled), full, rtol=1e-5)


def test_noise_contrastive_loss(session):
    weights, biases, labels, inputs = problem()
    expected = np.full([2, 1], 0.3, np.float32), np.array([0.2, 0.1], np.float32)
    sample = np.array([0, 5]), *expected
    found = session.run(tf.nn.nce_loss(weights, biases, labels, inputs, 2, 6, sampled_values=sample))
    logits = inputs @ weights.T + biases
    right = logits[np.arange(2), labels[:, 0]] - np.log(0.3)
    wrong = logits[:, [0, 5]] - np.log(expected[1])
    wanted = np.log1p(np.exp(-right)) + np.log1p(np.exp(wrong)).sum(1)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_tables_in_parts(session, strategy):
    weights, biases, labels, inputs = problem()
    sample = np.array([0, 5, 2]), np.ones([2, 1], np.float32), np.ones(3, np.float32)
    cut = (lambda t: [t[:3], t[3:]]) if strategy == "div" else (lambda t: [t[::2], t[1::2]])
    losses = [
        tf.nn.sampled_softmax_loss(w, b, labels, inputs, 3, 6, 1, sample, partition_strategy=strategy)
        for w, b in ((weights, biases), (cut(weights), cut(biases)))
    ]
    np.testing.assert_allclose(*session.run(losses), rtol=1e-6)


def test_double_precision(session):
    weights, biases, labels, inputs = problem(np.float64)
    sample = np.array([0, 1]), np.ones([2, 1]), np.ones(2)
    loss = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 2, 6, sampled_values=sample)
    assert loss.dtype == tf.float64 and np.isfinite(session.run(loss)).all()


def test_words_that_occur_together_become_alike(session):
    """Skip-grams of a language of two kinds of words, which never mix."""
    tf.set_random_seed(1)
    rng = np.random.default_rng(0)
    embeddings = tf.Variable(tf.random_uniform([20, 8], -1.0, 1.0))
    weights = tf.Variable(tf.truncated_normal([20, 8], stddev=0.3))
    biases = tf.Variable(tf.zeros([20]))
    words, contexts = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None, 1])
    embedded = tf.nn.embedding_lookup(embeddings, words)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, contexts, embedded, 5, 20))
    train = tf.train.AdagradOptimizer(0.5).minimize(loss)
    session.run(tf.global_variables_initializer())
    losses = []
    for _ in range(300):
        kind = rng.integers(0, 2, 32)
        pair = rng.integers(0, 10, (2, 32)) + 10 * kind
        losses.append(session.run([loss, train], {words: pair[0], contexts: pair[1][:, None]})[0])
    assert np.mean(losses[-20:]) < 0.6 * np.mean(losses[:20])
    table = session.run(embeddings)
    table = table / np.linalg.norm(table, axis=1, keepdims=True)
    alike = table @ table.T
    within = np.mean([alike[:10, :10].mean(), alike[10:, 10:].mean()])
    assert within > alike[:10, 10:].mean() + 0.3
