"""Boosted trees as estimators: trained, kept, explained, exported, trained further; and their relatives."""

import numpy as np
import pytest

import tideflow as tf

SIZES = np.linspace(-2, 2, 48).astype("f")
KINDS = np.array(["red", "green", "blue"])[np.arange(48) % 3]
VALUES = (2 * SIZES + (KINDS == "red")).astype("f")


def columns(numeric=False):
    size = tf.feature_column.numeric_column("size")
    kinds = tf.feature_column.categorical_column_with_vocabulary_list("kind", ["red", "green", "blue"])
    first = size if numeric else tf.feature_column.bucketized_column(size, [-1.0, 0.0, 1.0])
    return [first, tf.feature_column.indicator_column(kinds)]


def data(batch=48, repeat=None, labels=VALUES):
    features = {"size": SIZES, "kind": KINDS}
    return lambda: tf.data.Dataset.from_tensor_slices((features, labels)).repeat(repeat).batch(batch)


def at_once():
    return {"size": tf.constant(SIZES), "kind": tf.constant(KINDS)}, tf.constant(VALUES)


@pytest.mark.parametrize("numeric, memory", [(False, True), (True, False)])
def test_a_regressor_learns_and_goes_on(tmp_path, numeric, memory):
    losses = []
    for trees in (1, 3):
        regressor = tf.estimator.BoostedTreesRegressor(
            columns(numeric),
            1 if memory else 2,
            str(tmp_path),
            n_trees=trees,
            max_depth=2,
            learning_rate=0.5,
            center_bias=True,
            train_in_memory=memory,
        )
        regressor.train(at_once if memory else data(24), steps=100)
        losses.append(regressor.evaluate(data(48, 1))["loss"])
    assert losses[1] < losses[0] < np.var(VALUES) / 2
    importances = regressor.experimental_feature_importances(normalize=True)
    assert next(iter(importances)).startswith("size") and abs(sum(importances.values()) - 1) < 1e-6
    explained = next(regressor.experimental_predict_with_explanations(data(48, 1)))
    total = explained["bias"] + sum(explained["dfc"].values())
    assert abs(total - explained["predictions"][0]) < 1e-4


def test_an_exported_classifier_answers_the_same(tmp_path):
    labels = (VALUES > 0.5).astype("i")
    classifier = tf.estimator.BoostedTreesClassifier(
        columns(True), 1, str(tmp_path), n_trees=3, max_depth=2, pruning_mode="post", tree_complexity=0.001
    )
    classifier.train(data(labels=labels), steps=30)
    expected = [p["probabilities"] for p in classifier.predict(data(48, 1, labels))]
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"size": tf.placeholder(tf.float32, [None]), "kind": tf.placeholder(tf.string, [None])}
    )
    path = classifier.export_saved_model(str(tmp_path / "export"), receiver)
    answer = tf.contrib.predictor.from_saved_model(path.decode(), signature_def_key="predict")
    np.testing.assert_allclose(answer({"size": SIZES, "kind": KINDS})["probabilities"], expected, rtol=1e-6)


def test_dual_ascent_and_clusters(tmp_path):
    features = {"size": SIZES, "kind": KINDS, "id": np.array([str(i) for i in range(48)])}
    kinds = tf.feature_column.categorical_column_with_vocabulary_list("kind", ["red", "green", "blue"])
    regressor = tf.estimator.LinearRegressor(
        [tf.feature_column.numeric_column("size"), kinds],
        str(tmp_path / "linear"),
        optimizer=tf.estimator.experimental.LinearSDCA("id", num_table_shards=2),
    )
    regressor.train(lambda: tf.data.Dataset.from_tensors((features, VALUES)).repeat(25))
    assert abs(regressor.get_variable_value("linear/linear_model/size/weights")[0, 0] - 2) < 0.1
    points = np.stack([SIZES, VALUES], 1)
    kmeans = tf.estimator.experimental.KMeans(2, str(tmp_path / "kmeans"), points[[0, -1]])
    kmeans.train(lambda: tf.data.Dataset.from_tensors(points).repeat(5))
    found = list(kmeans.predict_cluster_index(lambda: tf.data.Dataset.from_tensors(points)))
    assert found[0] == 0 and found[-1] == 1 and len(kmeans.cluster_centers()) == 2


def test_settings_that_do_not_go_together(tmp_path):
    for arguments, message in [
        ({"n_classes": 3}, "only binary classification"),
        ({"pruning_mode": "some"}, "must be one of: none, post, pre"),
        ({"pruning_mode": "pre"}, "tree_complexity must be positive"),
        ({"tree_complexity": 1.0}, "have no effect unless"),
    ]:
        with pytest.raises(ValueError, match=message):
            tf.estimator.BoostedTreesClassifier(columns(), 1, str(tmp_path), **arguments).train(
                data(), steps=1
            )
