"""Canned estimators of TensorFlow 2, which optimizers of Keras train: metrics, predictions and variables."""

import itertools

from kit import Close, cases, raises
from supervised import folder_of_its_own


def _columns(tf):
    column = tf.feature_column
    kinds = column.categorical_column_with_vocabulary_list("kind", ["red", "green", "blue"])
    linear = [column.numeric_column("size"), kinds]
    zeros = tf.zeros_initializer()
    deep = [column.numeric_column("size"), column.embedding_column(kinds, 2, initializer=zeros)]
    return linear, deep


def _input(tf, labels):
    features = {
        "size": [[0.5], [-1.0], [2.0], [1.0]],
        "kind": [["red"], ["green"], ["blue"], ["red"]],
        "weight": [[1.0], [2.0], [1.0], [0.5]],
    }

    def input_fn():
        return {key: tf.constant(value) for key, value in features.items()}, tf.constant(labels)

    return input_fn


_CLASSES, _THREE, _VALUES = [[1], [0], [1], [0]], [[1], [0], [2], [0]], [[1.0], [-0.5], [2.0], [0.0]]


def _kinds(tf, folder):
    made = tf.compat.v2.estimator
    linear, deep = _columns(tf)
    both = {"linear_feature_columns": linear, "dnn_feature_columns": deep, "dnn_hidden_units": [3]}
    config = tf.estimator.RunConfig(tf_random_seed=1)
    given = {"model_dir": folder, "config": config}
    return {
        "linear": (made.LinearClassifier(linear, weight_column="weight", **given), _CLASSES),
        "linear of three": (
            made.LinearClassifier(linear, n_classes=3, optimizer=tf.keras.optimizers.SGD(0.1), **given),
            _THREE,
        ),
        "linear values": (
            made.LinearRegressor(linear, optimizer="Adam", loss_reduction="sum", **given),
            _VALUES,
        ),
        "linear head": (
            made.LinearEstimator(tf.estimator.BinaryClassHead(), linear, optimizer="RMSProp", **given),
            _CLASSES,
        ),
        "deep": (made.DNNClassifier([3, 2], deep, optimizer="Adagrad", **given), _CLASSES),
        "deep normalized": (made.DNNClassifier([3], deep, batch_norm=True, **given), _CLASSES),
        "deep values": (
            made.DNNRegressor([3], deep, optimizer=lambda: tf.keras.optimizers.Adam(), **given),
            _VALUES,
        ),
        "deep head": (made.DNNEstimator(tf.estimator.RegressionHead(), [3], deep, **given), _VALUES),
        "both": (made.DNNLinearCombinedClassifier(**both, **given), _CLASSES),
        "both values": (made.DNNLinearCombinedRegressor(weight_column="weight", **both, **given), _VALUES),
        "both head": (
            made.DNNLinearCombinedEstimator(tf.estimator.RegressionHead(), **both, **given),
            _VALUES,
        ),
        "wide alone": (made.DNNLinearCombinedRegressor(linear_feature_columns=linear, **given), _VALUES),
        "baseline": (made.BaselineClassifier(n_classes=3, **given), _THREE),
        "baseline values": (made.BaselineRegressor(weight_column="weight", **given), _VALUES),
        "baseline head": (made.BaselineEstimator(tf.estimator.RegressionHead(), **given), _VALUES),
    }


_NAMES = (
    "linear",
    "linear of three",
    "linear values",
    "linear head",
    "deep",
    "deep values",
    "deep head",
    "both",
    "both values",
    "both head",
    "wide alone",
    "baseline",
    "baseline values",
    "baseline head",
)


@cases({name: name for name in _NAMES})
def trained(tf, np, name):
    with folder_of_its_own() as folder:
        estimator, labels = _kinds(tf, folder)[name]
        estimator.train(_input(tf, labels), steps=3)
        metrics = estimator.evaluate(_input(tf, labels), steps=1)
        predictions = itertools.islice(estimator.predict(_input(tf, labels)), 4)
        found = [sorted(each.items()) for each in predictions]
        variables = [(key, list(shape)) for key, shape in tf.train.list_variables(folder)]
        return (
            [(key, Close(value, 1e-3, 1e-4)) for key, value in sorted(metrics.items())],
            [
                [(key, Close(value, 1e-3, 1e-4)) for key, value in each if value.dtype.kind == "f"]
                for each in found
            ],
            variables,
        )


def normalized(tf, np):
    """The variables alone: how many operations a normalization has decides the seeds of weights behind it."""
    with folder_of_its_own() as folder:
        estimator, labels = _kinds(tf, folder)["deep normalized"]
        estimator.train(_input(tf, labels), steps=3)
        return [(key, list(shape)) for key, shape in tf.train.list_variables(folder)]


_BAD = {
    "optimizer": lambda tf, c: tf.compat.v2.estimator.LinearClassifier(c, optimizer="Best").train(
        _input(tf, _CLASSES), steps=1
    ),
    "old optimizer": lambda tf, c: tf.compat.v2.estimator.DNNClassifier(
        [2], c[:1], optimizer=tf.train.AdamOptimizer()
    ).train(_input(tf, _CLASSES), steps=1),
    "no columns": lambda tf, c: tf.compat.v2.estimator.DNNLinearCombinedClassifier(),
    "no layers": lambda tf, c: tf.compat.v2.estimator.DNNLinearCombinedClassifier(
        dnn_feature_columns=c[:1]
    ).train(_input(tf, _CLASSES), steps=1),
    "dual ascent": lambda tf, c: tf.compat.v2.estimator.LinearClassifier(
        c, n_classes=3, optimizer=tf.estimator.experimental.LinearSDCA("weight")
    ),
}


@cases({name: name for name in _BAD})
def refused(tf, np, name):
    return raises(_BAD[name], tf, _columns(tf)[0])
