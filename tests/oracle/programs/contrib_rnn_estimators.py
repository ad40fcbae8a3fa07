"""contrib.estimator.RNNClassifier and RNNEstimator: trained from known weights, evaluated, and refused."""

import itertools
import tempfile

from kit import cases, raises


def _columns(tf):
    columns = tf.contrib.feature_column
    words = columns.sequence_categorical_column_with_identity("words", 6)
    first = tf.constant_initializer(0.3)
    return [
        tf.feature_column.embedding_column(words, 2, initializer=first),
        columns.sequence_numeric_column("sizes"),
    ]


def _inputs(tf, labels):
    def input_fn():
        places = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]]
        words = tf.SparseTensor(places, tf.constant([1, 2, 3, 0, 5, 4], tf.int64), [3, 3])
        sizes = tf.SparseTensor(places, [0.1, -0.2, 0.3, 0.4, -0.5, 0.6], [3, 3])
        features = {"words": words, "sizes": sizes, "age": tf.constant([[1.0], [2.0], [-1.0]])}
        return features, tf.constant(labels)

    return input_fn


def _known_cells(tf):
    """A cell whose weights are known, so that both engines begin alike."""

    def rnn_cell_fn(mode):
        return tf.nn.rnn_cell.LSTMCell(3, initializer=tf.constant_initializer(0.2))

    return rnn_cell_fn


def _outcome(tf, estimator, labels):
    estimator.train(_inputs(tf, labels), steps=2)
    names = sorted(estimator.get_variable_names())
    kernel = "rnn/rnn/lstm_cell/kernel"
    shapes = [(name, estimator.get_variable_value(name).shape) for name in names]
    trained = estimator.get_variable_value(kernel).shape if kernel in names else None
    measured = estimator.evaluate(_inputs(tf, labels), steps=1)
    predicted = list(itertools.islice(estimator.predict(_inputs(tf, labels)), 3))
    return shapes, trained, sorted(measured), sorted(predicted[0]), len(predicted)


@cases(
    {
        "two classes": dict(num_units=[4, 3], cell_type="lstm"),
        "plain": dict(num_units=[4]),
        "gated": dict(num_units=[4], cell_type="gru"),
        "three classes": dict(num_units=[4], n_classes=3, optimizer="Adam"),
        "own cells": dict(rnn_cell_fn=_known_cells),
    }
)
def classifier(tf, np, arguments):
    options = dict(arguments)
    if "rnn_cell_fn" in options:
        options["rnn_cell_fn"] = options["rnn_cell_fn"](tf)
    context = [tf.feature_column.numeric_column("age")]
    with tempfile.TemporaryDirectory() as folder:
        made = tf.contrib.estimator.RNNClassifier(_columns(tf), context, model_dir=folder, **options)
        return _outcome(tf, made, [0, 1, 0])


def regression(tf, np):
    head = tf.contrib.estimator.regression_head()
    with tempfile.TemporaryDirectory() as folder:
        made = tf.contrib.estimator.RNNEstimator(
            head,
            _columns(tf)[1:],
            rnn_cell_fn=_known_cells(tf),
            model_dir=folder,
            optimizer=tf.train.GradientDescentOptimizer(0.0),
        )
        return _outcome(tf, made, [[0.5], [1.5], [-1.0]])


def refused(tf, np):
    rnn, cells = tf.contrib.estimator, _known_cells(tf)
    head = rnn.regression_head()

    def trained(**arguments):
        with tempfile.TemporaryDirectory() as folder:
            rnn.RNNClassifier(_columns(tf), model_dir=folder, **arguments).train(
                _inputs(tf, [0, 1, 0]), steps=1
            )

    return [
        raises(rnn.RNNClassifier, _columns(tf), num_units=[3], rnn_cell_fn=cells),
        raises(rnn.RNNClassifier, _columns(tf), cell_type="lstm", rnn_cell_fn=cells),
        raises(rnn.RNNEstimator, head, _columns(tf), num_units=[3], return_sequences=True),
        raises(trained, num_units=[3], cell_type=tf.Tensor),
    ]
