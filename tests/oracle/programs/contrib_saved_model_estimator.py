"""tf.contrib.estimator.SavedModelEstimator: an estimator of the graphs that another one has exported."""

import os

from kit import Close, raises
from supervised import folder_of_its_own


def _input(tf, np):
    random = np.random.RandomState(0)
    x = random.randn(16, 2).astype(np.float32)
    features, labels = {"x": x}, (x[:, :1] > 0).astype(np.float32)
    return lambda: tf.data.Dataset.from_tensors((features, labels)).repeat(4)


def _model(tf):
    def model(features, labels, mode):
        weights = tf.get_variable("w", initializer=[[0.5], [-0.25]])
        bias = tf.get_variable("b", initializer=[0.1])
        scores = tf.matmul(features["x"], weights) + bias
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"scores": scores})
        loss = tf.reduce_mean(tf.square(scores - labels))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        metrics = {"mean": tf.metrics.mean(scores)}
        return tf.estimator.EstimatorSpec(mode, {"scores": scores}, loss, train, metrics)

    return model


def _export(tf, np, folder, modes):
    first = tf.estimator.Estimator(_model(tf), os.path.join(folder, "first"))
    first.train(_input(tf, np), steps=2)
    features = {"x": tf.placeholder(tf.float32, [None, 2])}
    supervised = tf.contrib.estimator.build_raw_supervised_input_receiver_fn(
        features, tf.placeholder(tf.float32, [None, 1])
    )
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn(features)
    kinds = tf.estimator.ModeKeys
    receivers = {kinds.TRAIN: supervised, kinds.EVAL: supervised, kinds.PREDICT: serving}
    wanted = {mode: receivers[mode] for mode in modes}
    return first, first.experimental_export_all_saved_models(os.path.join(folder, "models"), wanted)


def whole(tf, np):
    with folder_of_its_own() as folder:
        first, path = _export(tf, np, folder, ["train", "eval", "infer"])
        later = tf.contrib.estimator.SavedModelEstimator(path, os.path.join(folder, "later"))
        before = later.evaluate(_input(tf, np), steps=1)
        later.train(_input(tf, np), steps=3)
        after = later.evaluate(_input(tf, np), steps=1)

        found = list(later.predict(lambda: tf.data.Dataset.from_tensors({"x": np.ones((2, 2), np.float32)})))
        values = {name: later.get_variable_value(name) for name in later.get_variable_names()}
        return Close([before, after, found, values], 1e-5), first.evaluate(_input(tf, np), steps=1)[
            "global_step"
        ]


def refused(tf, np):
    with folder_of_its_own() as folder:
        _, path = _export(tf, np, folder, ["train"])
        later = tf.contrib.estimator.SavedModelEstimator(path, os.path.join(folder, "later"))
        other = lambda: tf.data.Dataset.from_tensors(({"y": [[1.0, 2.0]]}, [[1.0]]))
        wrong = lambda: tf.data.Dataset.from_tensors(({"x": [[1, 2]]}, [[1.0]]))
        return [
            raises(later.evaluate, _input(tf, np), steps=1),
            raises(later.train, other),
            raises(later.train, wrong),
        ]
