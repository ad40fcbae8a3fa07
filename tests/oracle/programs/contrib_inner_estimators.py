"""Pieces that estimators of contrib are made of, by inner names: sequences, columns, experiments."""

import importlib
import os
import shutil
import tempfile

from kit import cases, raises, run


def _inner(tf, name):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow.contrib." + name)


def _saving(tf):
    return _inner(tf, "learn.python.learn.estimators.state_saving_rnn_estimator")


def _words(tf):
    return tf.SparseTensor(
        [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]],
        ["lea", "sam", "ida", "sam", "lea"],
        [2, 2, 2],
    )


def _word_column(tf):
    layers = tf.contrib.layers
    words = layers.sparse_column_with_keys("words", ["lea", "ida", "sam"])
    return layers.embedding_column(words, 3, combiner="sum", initializer=tf.ones_initializer())


@cases("numbers", "numbers with context", "words")
def inputs_of_pieces(tf, np, which):
    number = tf.contrib.layers.real_valued_column
    steps = {"a": tf.constant([[1.0, 2.0], [3.0, 4.0]]), "b": tf.constant([[5.0, 6.0], [7.0, 8.0]])}
    columns = [number("a"), number("b")]
    context = {"x": tf.constant([[9.0], [10.0]])} if which.endswith("context") else None
    if which == "words":
        steps, columns = {"words": _words(tf)}, [_word_column(tf)]
    inputs = _saving(tf)._prepare_inputs_for_rnn(steps, context, columns, 2)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(inputs)


def features_of_pieces(tf, np):
    prepare, number = _saving(tf)._prepare_features_for_sqss, tf.contrib.layers.real_valued_column
    features = {"words": _words(tf), "a": tf.ones([4]), "x": tf.constant(2.0)}
    columns = [number("a"), _word_column(tf)]
    steps, whole = prepare(features, tf.zeros([4]), "train", columns, [number("x")])
    bad = [number("missing")], [tf.contrib.layers.bucketized_column(number("a"), [1.0])]
    return (
        sorted(steps),
        sorted(whole),
        [raises(prepare, features, None, "infer", each, None) for each in bad],
    )


@cases("basic", "lstm", "two lstm", "two gru")
def states_by_name(tf, np, which):
    cells = tf.nn.rnn_cell
    cell = {
        "basic": lambda: cells.BasicRNNCell(3),
        "lstm": lambda: cells.LSTMCell(3),
        "two lstm": lambda: cells.MultiRNNCell([cells.LSTMCell(3), cells.LSTMCell(2)]),
        "two gru": lambda: cells.MultiRNNCell([cells.GRUCell(3), cells.GRUCell(2)]),
    }[which]()
    saving = _saving(tf)
    return saving._get_state_names(cell), sorted(saving._get_initial_states(cell).items())


@cases("train", "eval", "infer")
def a_model_of_pieces(tf, np, mode):
    model_fn = _saving(tf)._get_rnn_model_fn(
        cell_type="lstm",
        target_column=tf.contrib.layers.multi_class_target(n_classes=2),
        problem_type=1,
        optimizer="SGD",
        num_unroll=2,
        num_units=4,
        num_threads=1,
        queue_capacity=10,
        batch_size=1,
        sequence_feature_columns=[tf.contrib.layers.real_valued_column("a")],
        learning_rate=0.1,
    )
    made = model_fn({"a": tf.constant([1.0, 2.0, 3.0])}, tf.constant([1.0, 0.0, 1.0]), mode)
    parts = made.loss is None, made.train_op is None, sorted(made.eval_metric_ops or {})
    return sorted(made.predictions), parts, [(v.name, v.shape) for v in tf.global_variables()]


@cases("sparse", "padded", "normal", "no default", "two defaults", "text")
def columns_of_any_length(tf, np, which):
    column_of = _inner(tf, "layers.python.layers.feature_column")._real_valued_var_len_column
    options = {
        "sparse": {"is_sparse": True},
        "padded": {"default_value": 3},
        "normal": {"default_value": 2, "normalizer": lambda x: x * 2},
        "no default": {},
        "two defaults": {"default_value": [1.0, 2.0]},
        "text": {"dtype": tf.string},
    }[which]
    error = raises(column_of, "c", **options)
    if not isinstance(error, str):
        return error
    column = column_of("c", **options)
    config = [(name, type(spec).__name__, list(spec)) for name, spec in sorted(column.config.items())]
    if column.is_sparse:
        return config
    steps = tf.constant([[[1.0], [2.0]], [[3.0], [4.0]]])
    return config, run(tf, tf.contrib.layers.sequence_input_from_feature_columns({"c": steps}, [column]))


def linear_products(tf, np):
    cells = _inner(tf, "rnn.python.ops.core_rnn_cell")
    ones, x = tf.ones_initializer(), tf.constant([[1.0, 2.0]])
    with tf.variable_scope("one"):
        product = cells._linear([x, x], 3, True, kernel_initializer=ones, bias_initializer=ones)
    return run(tf, product), [v.name for v in tf.global_variables()]


def masked_layers(tf, np):
    layers = _inner(tf, "model_pruning.python.layers.core_layers")
    dense = layers.MaskedFullyConnected(units=3, kernel_initializer=tf.ones_initializer())
    convolution = layers.MaskedConv2D(filters=2, kernel_size=2, kernel_initializer=tf.ones_initializer())
    made = dense.apply(tf.ones([2, 4])), convolution.apply(tf.ones([1, 3, 3, 1]))
    return run(tf, made), [v.name for v in tf.global_variables()]


def an_experiment_calls_by_keyword(tf, np):
    learn = tf.contrib.learn
    folder, calls = tempfile.mkdtemp(), []

    class Estimator(learn.Evaluable, learn.Trainable):
        config = learn.RunConfig()
        model_dir = folder

        def fit(self, **arguments):
            calls.append(sorted(arguments))

        def evaluate(self, **arguments):
            calls.append(sorted(arguments))

    try:
        experiment = learn.Experiment(Estimator(), "train", "eval", train_steps=3, eval_delay_secs=0)
        experiment.train(delay_secs=0)
        experiment.evaluate()
        return calls, os.listdir(folder)
    finally:
        shutil.rmtree(folder)
