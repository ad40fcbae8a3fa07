"""Canned estimators and heads: variables, losses, metrics, predictions, summaries, signatures."""

import os

from kit import Close, cases, raises
from supervised import folder_of_its_own

_SIZE = 24


def _data(np):
    random = np.random.RandomState(0)
    features = {
        "age": random.uniform(18, 80, _SIZE).astype(np.float32),
        "school": random.choice(["a", "b", "c"], _SIZE),
        "work": random.choice(["x", "y", "z"], _SIZE),
        "weight": random.uniform(0.5, 2, _SIZE).astype(np.float32),
    }
    labels = {
        "two": random.randint(0, 2, _SIZE),
        "three": random.randint(0, 3, _SIZE),
        "number": random.randn(_SIZE).astype(np.float32),
        "numbers": random.randn(_SIZE, 2).astype(np.float32),
    }
    labels["word"] = np.array(["p", "q", "r"])[labels["three"]]
    return features, labels


def _columns(tf):
    make = tf.feature_column
    age = make.numeric_column("age", normalizer_fn=lambda x: (x - 40) / 20)
    school = make.categorical_column_with_vocabulary_list("school", ["a", "b", "c"])
    work = make.categorical_column_with_hash_bucket("work", 5)
    wide = [
        school,
        work,
        make.bucketized_column(age, [-0.5, 0.5]),
        make.crossed_column(["school", "work"], 9),
    ]
    return wide, [age, make.indicator_column(school), make.embedding_column(work, 3)]


def _models(tf):
    wide, deep = _columns(tf)
    make = tf.estimator
    seeded = make.RunConfig(tf_random_seed=3)
    return {
        "linear two": ("two", lambda d: make.LinearClassifier(wide, d)),
        "linear three": ("three", lambda d: make.LinearClassifier(wide, d, 3, weight_column="weight")),
        "linear words": (
            "word",
            lambda d: make.LinearClassifier(wide, d, 3, label_vocabulary=["p", "q", "r"]),
        ),
        "linear mean": (
            "two",
            lambda d: make.LinearClassifier(
                wide,
                d,
                optimizer=lambda: tf.train.AdamOptimizer(0.1),
                loss_reduction=tf.losses.Reduction.MEAN,
            ),
        ),
        "linear numbers": ("numbers", lambda d: make.LinearRegressor(wide + deep[:1], d, 2, "weight")),
        "deep two": ("two", lambda d: make.DNNClassifier([4, 3], deep, d, config=seeded)),
        "deep three": (
            "three",
            lambda d: make.DNNClassifier([4], deep, d, 3, optimizer="Adam", dropout=0.5, config=seeded),
        ),
        "deep number": (
            "number",
            lambda d: make.DNNRegressor(
                [4, 3], deep, d, activation_fn=tf.nn.tanh, batch_norm=True, config=seeded
            ),
        ),
        "wide and deep": (
            "two",
            lambda d: make.DNNLinearCombinedClassifier(d, wide, "Ftrl", deep, "Adagrad", [4], config=seeded),
        ),
        "wide and deep number": (
            "number",
            lambda d: make.DNNLinearCombinedRegressor(
                d, wide, "SGD", deep, "RMSProp", [4], weight_column="weight", config=seeded
            ),
        ),
        "baseline two": ("two", lambda d: make.BaselineClassifier(d)),
        "baseline three": ("three", lambda d: make.BaselineClassifier(d, 3, "weight")),
        "baseline number": ("number", lambda d: make.BaselineRegressor(d, optimizer="SGD")),
    }


def _tags(tf, folder):
    (name,) = [name for name in os.listdir(folder) if "tfevents" in name]
    events = tf.train.summary_iterator(os.path.join(folder, name))
    return sorted({value.tag for event in events for value in event.summary.value})


_NAMES = (
    "linear two,linear three,linear words,linear mean,linear numbers,deep two,deep three,deep number,"
    "wide and deep,wide and deep number,baseline two,baseline three,baseline number"
)


@cases(*_NAMES.split(","))
def trained(tf, np, name):
    label, make = _models(tf)[name]
    features, labels = _data(np)

    def input_fn():
        return tf.data.Dataset.from_tensor_slices((features, labels[label])).batch(8)

    wide, deep = _columns(tf)
    with folder_of_its_own() as folder:
        estimator = make(folder)
        estimator.train(input_fn, steps=3)  # TensorFlow runs half a step at the end of the data
        spec = tf.feature_column.make_parse_example_spec(wide + deep)
        spec["weight"] = tf.FixedLenFeature([1], tf.float32)
        path = estimator.export_saved_model(
            os.path.join(folder, "out"), tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
        )
        with tf.Session(graph=tf.Graph()) as session:
            message = tf.saved_model.loader.load(session, ["serve"], os.fsdecode(path))
        tf.summary.FileWriterCache.clear()
        return {
            "variables": {
                n: Close(estimator.get_variable_value(n), 1e-4, 1e-5) for n in estimator.get_variable_names()
            },
            "results": Close(estimator.evaluate(input_fn), 1e-4, 1e-5),
            "predictions": Close(list(estimator.predict(input_fn))[:3], 1e-4, 1e-5),
            "signatures": {
                key: (value.method_name, sorted(value.inputs), sorted(value.outputs))
                for key, value in message.signature_def.items()
            },
            "tags": _tags(tf, folder),
        }


def refused_models(tf, np):
    wide, deep = _columns(tf)
    features, labels = _data(np)
    make = tf.estimator

    def train(estimator, labels, features=features):
        estimator.train(lambda: tf.data.Dataset.from_tensors((features, labels)))

    calls = {
        "vocabulary": lambda: make.LinearClassifier(wide, n_classes=3, label_vocabulary="abc"),
        "reduction": lambda: make.LinearClassifier(wide, loss_reduction=tf.losses.Reduction.NONE),
        "dimension": lambda: make.LinearRegressor(wide, label_dimension=0),
        "columns": lambda: make.DNNLinearCombinedClassifier(),
        "classes": lambda: make.DNNClassifier([3], deep, n_classes=1),
        "optimizer": lambda: train(make.LinearClassifier(wide, optimizer="Magic"), labels["two"]),
        "object": lambda: train(make.LinearClassifier(wide, optimizer=3), labels["two"]),
        "categories": lambda: train(make.DNNClassifier([3], wide), labels["two"]),
        "units": lambda: train(make.DNNLinearCombinedClassifier(dnn_feature_columns=deep), labels["two"]),
        "array": lambda: train(make.LinearClassifier(wide), labels["two"], features["age"]),
        "no labels": lambda: make.LinearClassifier(wide).train(lambda: dict(features)),
        "labels": lambda: train(make.LinearClassifier(wide), labels["numbers"]),
        "range": lambda: train(make.LinearClassifier(wide), labels["three"]),
        "float labels": lambda: train(make.LinearClassifier(wide, n_classes=3), labels["number"]),
        "weight": lambda: train(make.LinearClassifier(wide, weight_column=deep[1]), labels["two"]),
        "logit units": lambda: make.experimental.dnn_logit_fn_builder(
            "3", [2], deep, None, None, None, False
        ),
        "logits": lambda: make.experimental.call_logit_fn(lambda features: 3, {}, "train", None, None),
    }
    return {name: raises(call) for name, call in sorted(calls.items())}


def parse_specs(tf, np):
    wide, deep = _columns(tf)
    make = tf.estimator
    return [
        make.classifier_parse_example_spec(wide, "label", weight_column="weight"),
        make.regressor_parse_example_spec(deep, "label", label_dimension=3, label_default=[0.0] * 3),
        raises(make.classifier_parse_example_spec, wide, "school"),
        raises(make.classifier_parse_example_spec, deep, "label", weight_column="age"),
        raises(make.classifier_parse_example_spec, wide, "label", weight_column=3),
    ]


# --------------------------------------------------------------------------------------------------- heads


def _heads(tf):
    make = tf.estimator
    return {
        "binary": lambda: make.BinaryClassHead("weight", thresholds=[0.25, 0.6]),
        "binary sum": lambda: make.BinaryClassHead(loss_reduction="sum", name="h"),
        "words": lambda: make.BinaryClassHead(label_vocabulary=["no", "yes"]),
        "classes": lambda: make.MultiClassHead(3, "weight"),
        "labels": lambda: make.MultiLabelHead(3, "weight", [0.4], classes_for_class_based_metrics=[0, 2]),
        "named labels": lambda: make.MultiLabelHead(
            3, label_vocabulary=["p", "q", "r"], classes_for_class_based_metrics=["q"], name="h"
        ),
        "regression": lambda: make.RegressionHead(2, "weight"),
        "poisson": lambda: make.PoissonRegressionHead(name="h"),
        "logistic": lambda: make.LogisticRegressionHead("weight"),
        "several": lambda: make.MultiHead(
            [make.BinaryClassHead(name="a"), make.RegressionHead(2, name="b")], head_weights=[1.0, 0.5]
        ),
        "own loss": lambda: make.BinaryClassHead(loss_fn=lambda labels, logits: tf.abs(labels - logits)),
    }


_LABELS = {
    "binary": [[1], [0], [1], [0]],
    "binary sum": [1, 0, 1, 0],
    "words": [["yes"], ["no"], ["no"], ["yes"]],
    "classes": [[2], [0], [1], [1]],
    "labels": [[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]],
    "named labels": [[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]],
    "regression": [[1.0, 2.0], [0.5, -1.0], [0.0, 0.0], [3.0, 1.0]],
    "poisson": [[1.0], [0.0], [4.0], [2.0]],
    "logistic": [[0.2], [0.9], [0.5], [1.0]],
    "several": {"a": [[1], [0], [1], [1]], "b": [[1.0, 2.0], [0.5, -1.0], [0.0, 0.0], [3.0, 1.0]]},
    "own loss": [[1], [0], [1], [0]],
}


@cases(*sorted(_LABELS))
def heads(tf, np, name):
    head = _heads(tf)[name]()
    size = head.logits_dimension
    logits = tf.constant(np.random.RandomState(1).randn(4, size).astype(np.float32))
    features = {"weight": tf.constant([[1.0], [2.0], [0.5], [1.5]])}
    given = _LABELS[name]
    labels = {k: tf.constant(v) for k, v in given.items()} if isinstance(given, dict) else tf.constant(given)
    regularization = [tf.constant(0.25), tf.constant(0.5)]
    loss = head.loss(labels, logits, features, "eval", regularization)
    evaluated = head.create_estimator_spec(
        features, "eval", logits, labels, regularization_losses=regularization
    )
    predicted = head.create_estimator_spec(features, "infer", logits)
    trained = head.create_estimator_spec(
        features, "train", logits, labels, train_op_fn=lambda loss: tf.no_op()
    )
    with tf.Session() as session:
        session.run(
            [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()]
        )
        session.run([update for _, update in evaluated.eval_metric_ops.values()])
        metrics = session.run({key: value for key, (value, _) in evaluated.eval_metric_ops.items()})
        values = session.run([loss, evaluated.loss, trained.loss])
        predictions = session.run(predicted.predictions)
    return [
        (size, head.name, head.loss_reduction),
        values,
        Close({str(key): value for key, value in metrics.items()}, 1e-4, 1e-5),
        {str(key): value for key, value in predictions.items()},
        {key: type(value).__name__ for key, value in predicted.export_outputs.items()},
    ]


@cases("binary", "classes", "labels", "regression")
def regularization_is_the_fifth_argument_of_metrics(tf, np, name):
    head = _heads(tf)[name]()
    size = head.logits_dimension
    features = {"weight": tf.constant([[1.0], [2.0], [0.5], [1.0]])}
    logits = tf.constant(np.linspace(-1, 2, 4 * size).reshape(4, size).astype(np.float32))
    losses = [tf.constant(0.5), tf.constant(0.25)]
    metrics = head.metrics(regularization_losses=losses)
    updated = head.update_metrics(metrics, features, logits, tf.constant(_LABELS[name]), losses)
    return sorted(updated)


def refused_heads(tf, np):
    make = tf.estimator
    head = make.BinaryClassHead()
    logits, labels = tf.constant([[1.0], [2.0]]), tf.constant([[1], [0]])
    calls = {
        "thresholds": lambda: make.BinaryClassHead(thresholds=[0.0]),
        "vocabulary": lambda: make.BinaryClassHead(label_vocabulary="ab"),
        "reduction": lambda: make.BinaryClassHead(loss_reduction="none"),
        "loss_fn": lambda: make.BinaryClassHead(loss_fn=lambda labels: 1),
        "loss_fn's": lambda: make.BinaryClassHead(loss_fn=lambda labels, logits, more: 1),
        "n_classes": lambda: make.MultiClassHead(2),
        "no n_classes": lambda: make.MultiClassHead(None),
        "words": lambda: make.MultiClassHead(3, label_vocabulary=["a"]),
        "labels": lambda: make.MultiLabelHead(1),
        "class": lambda: make.MultiLabelHead(3, classes_for_class_based_metrics=[3]),
        "named class": lambda: make.MultiLabelHead(3, classes_for_class_based_metrics=["a"]),
        "dimension": lambda: make.RegressionHead(0),
        "no heads": lambda: make.MultiHead([]),
        "nameless": lambda: make.MultiHead([head]),
        "weights": lambda: make.MultiHead([make.BinaryClassHead(name="a")], [1.0, 2.0]),
        "keys": lambda: head.predictions(logits, ["nothing"]),
        "no labels": lambda: head.loss(None, logits),
        "shape": lambda: head.loss(tf.constant([[1, 0], [1, 1]]), logits),
        "logits": lambda: head.loss(labels, tf.constant([[1.0, 2.0], [3.0, 4.0]])),
        "no train": lambda: head.create_estimator_spec({}, "train", logits, labels),
        "both": lambda: head.create_estimator_spec(
            {}, "train", logits, labels, 3, train_op_fn=lambda loss: None
        ),
        "updates": lambda: head.create_estimator_spec(
            {}, "train", logits, labels, train_op_fn=lambda loss: tf.no_op(), update_ops=3
        ),
    }
    return {name: raises(call) for name, call in sorted(calls.items())}
