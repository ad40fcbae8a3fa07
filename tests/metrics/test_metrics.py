"""Metrics over several batches: the same as of all the batches at once, computed plainly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tideflow as tf

BATCHES = st.lists(
    arrays(np.float32, (5, 3), elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), min_size=1, max_size=3
)


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def streamed(build, batches):
    """The value after all batches, fed column by column: labels, predictions, weights."""
    with tf.Graph().as_default(), tf.Session() as session:
        columns = [tf.placeholder(tf.float32, [None]) for _ in range(3)]
        result, update = build(*columns)
        session.run(tf.local_variables_initializer())
        for batch in batches:
            last = session.run(update, dict(zip(columns, batch.T, strict=True)))
        found = session.run(result)
        if np.shape(last) == np.shape(found):
            np.testing.assert_allclose(last, found, rtol=1e-6)  # the last update is the value
        return found


def ratio(a, b):
    return a / b if b else 0.0


def counts(y, p, w):
    y, p = y > 0.5, p > 0.5
    return {
        "tp": np.sum(w[y & p]),
        "fp": np.sum(w[~y & p]),
        "fn": np.sum(w[y & ~p]),
        "tn": np.sum(w[~y & ~p]),
    }


METRICS = {
    "mean": (lambda m, y, p, w: m.mean(p, w), lambda y, p, w: ratio(np.sum(p * w), np.sum(w))),
    "mean_absolute_error": (
        lambda m, y, p, w: m.mean_absolute_error(y, p, w),
        lambda y, p, w: ratio(np.sum(abs(y - p) * w), np.sum(w)),
    ),
    "root_mean_squared_error": (
        lambda m, y, p, w: m.root_mean_squared_error(y, p, w),
        lambda y, p, w: ratio(np.sum((y - p) ** 2 * w), np.sum(w)) ** 0.5,
    ),
    "percentage_below": (
        lambda m, y, p, w: m.percentage_below(p, 0.5, w),
        lambda y, p, w: ratio(np.sum(w[p < 0.5]), np.sum(w)),
    ),
    "accuracy": (
        lambda m, y, p, w: m.accuracy(y > 0.5, p > 0.5, w),
        lambda y, p, w: ratio(np.sum(w[(y > 0.5) == (p > 0.5)]), np.sum(w)),
    ),
    "false_positives": (
        lambda m, y, p, w: m.false_positives(y > 0.5, p > 0.5, w),
        lambda y, p, w: counts(y, p, w)["fp"],
    ),
    "precision": (
        lambda m, y, p, w: m.precision(y > 0.5, p > 0.5, w),
        lambda y, p, w: (lambda c: ratio(c["tp"], c["tp"] + c["fp"]))(counts(y, p, w)),
    ),
    "recall": (
        lambda m, y, p, w: m.recall(y > 0.5, p > 0.5, w),
        lambda y, p, w: (lambda c: ratio(c["tp"], c["tp"] + c["fn"]))(counts(y, p, w)),
    ),
    "true_negatives_at_thresholds": (
        lambda m, y, p, w: m.true_negatives_at_thresholds(y > 0.5, p, [0.3, 0.6], w),
        lambda y, p, w: [np.sum(w[(y <= 0.5) & (p <= t)]) for t in (0.3, 0.6)],
    ),
}


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=5, deadline=None)
@given(batches=BATCHES)
def test_a_metric_of_batches_is_that_of_all_elements(name, batches):
    build, plain = METRICS[name]
    found = streamed(lambda y, p, w: build(tf.metrics, y, p, w), batches)
    np.testing.assert_allclose(found, plain(*np.concatenate(batches).T), rtol=1e-5, atol=1e-6)


@settings(max_examples=5, deadline=None)
@given(batches=BATCHES)
def test_the_area_under_roc_is_the_chance_that_a_positive_ranks_above_a_negative(batches):
    y, p, _ = np.concatenate(batches).T
    positive, negative = p[y > 0.5], p[y <= 0.5]
    if not len(positive) or not len(negative):
        return
    chance = np.mean([(a > b) + 0.5 * (a == b) for a in positive for b in negative])
    found = streamed(lambda y, p, w: tf.metrics.auc(y > 0.5, p, num_thresholds=100), batches)
    np.testing.assert_allclose(found, chance, atol=1e-3)


@settings(max_examples=5, deadline=None)
@given(
    labels=arrays(np.int64, (6,), elements=st.integers(0, 3)),
    predictions=arrays(np.int64, (6,), elements=st.integers(0, 3)),
)
def test_intersection_over_union(labels, predictions):
    with tf.Graph().as_default(), tf.Session() as session:
        y, p = tf.constant(labels), tf.constant(predictions)
        (iou, update_iou), (accuracy, update) = (
            tf.metrics.mean_iou(y, p, 4),
            tf.metrics.mean_per_class_accuracy(y, p, 4),
        )
        session.run(tf.local_variables_initializer())
        matrix, _ = session.run([update_iou, update])
        found = session.run([iou, accuracy])
    ratios = [
        np.sum((labels == c) & (predictions == c)) / n
        for c in range(4)
        if (n := np.sum((labels == c) | (predictions == c)))
    ]
    hits = [np.mean(predictions[labels == c] == c) if (labels == c).any() else 0.0 for c in range(4)]
    assert matrix.sum() == 6
    np.testing.assert_allclose(found, [np.mean(ratios), np.mean(hits)], rtol=1e-5)


@settings(max_examples=5, deadline=None)
@given(
    scores=arrays(np.float32, (3, 4), elements=st.floats(0, 1, width=32), unique=True),
    labels=st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=3, max_size=3),
    k=st.integers(1, 4),
)
def test_sets_of_labels_at_k(scores, labels, k):
    top = [list(np.argsort(-row)[:k]) for row in scores]
    rows = [[i, j] for i, row in enumerate(labels) for j in range(len(row))]
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.SparseTensor(rows, np.array([v for row in labels for v in sorted(row)], np.int64), [3, 4])
        built = [
            f(y, tf.constant(scores), k)
            for f in (tf.metrics.recall_at_k, tf.metrics.precision_at_k, tf.metrics.average_precision_at_k)
        ]
        session.run(tf.local_variables_initializer())
        found = session.run([update for _, update in built])
    hits = sum(len(set(t) & row) for t, row in zip(top, labels, strict=True))
    averages = [
        sum(len(set(t[: i + 1]) & row) / (i + 1) for i in range(k) if t[i] in row) / min(k, len(row))
        for t, row in zip(top, labels, strict=True)
    ]
    np.testing.assert_allclose(
        found, [hits / sum(map(len, labels)), hits / (3 * k), np.mean(averages)], rtol=1e-6
    )


def test_predictions_outside_of_the_unit_interval_end_the_step():
    p = tf.placeholder(tf.float32, [1])
    _, update = tf.metrics.auc([True], p)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"):
            session.run(update, {p: [1.5]})


def test_metrics_are_local_and_are_set_back_by_initializing_them():
    value, update = tf.metrics.mean([1.0, 3.0], metrics_collections="m", updates_collections=["u", "v"])
    assert tf.global_variables() == []
    assert tf.local_variables() == tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
    assert (tf.get_collection("m"), tf.get_collection("u"), tf.get_collection("v")) == (
        [value],
        [update],
        [update],
    )
    with tf.Session() as session:
        for _ in range(2):
            session.run(tf.local_variables_initializer())
            assert session.run(value) == 0
            assert session.run(update) == 2
