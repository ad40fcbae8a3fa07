"""Heads of contrib as functions, and estimators made from estimators."""

from kit import Close, cases, raises
from supervised import folder_of_its_own


def _heads(tf):
    make = tf.contrib.estimator
    return {
        "binary": (lambda: make.binary_classification_head("weight", [0.3], name="h"), [[1], [0], [1], [0]]),
        "classes": (lambda: make.multi_class_head(3, "weight"), [[2], [0], [1], [1]]),
        "labels": (
            lambda: make.multi_label_head(3, thresholds=[0.4]),
            [[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]],
        ),
        "regression": (
            lambda: make.regression_head("weight", 2),
            [[1.0, 2.0], [0.5, -1.0], [0.0, 0.0], [3.0, 1.0]],
        ),
        "poisson": (lambda: make.poisson_regression_head(), [[1.0], [0.0], [4.0], [2.0]]),
        "logistic": (lambda: make.logistic_regression_head(name="h"), [[0.2], [0.9], [0.5], [1.0]]),
    }


@cases("binary", "classes", "labels", "regression", "poisson", "logistic")
def heads(tf, np, name):
    make, labels = _heads(tf)[name]
    head = make()
    logits = tf.constant(np.random.RandomState(1).randn(4, head.logits_dimension).astype(np.float32))
    features = {"weight": tf.constant([[1.0], [2.0], [0.5], [1.5]])}
    specs = [
        head.create_estimator_spec(
            features, mode, logits, tf.constant(labels), train_op_fn=lambda loss: tf.no_op()
        )
        for mode in ("eval", "train")
    ]
    predicted = head.create_estimator_spec(features, "infer", logits)
    with tf.Session() as session:
        session.run(
            [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()]
        )
        session.run([update for _, update in specs[0].eval_metric_ops.values()])
        metrics = session.run({key: value for key, (value, _) in specs[0].eval_metric_ops.items()})
        return [
            session.run([spec.loss for spec in specs]),
            Close(metrics, 1e-4, 1e-5),
            session.run(predicted.predictions),
            {key: type(value).__name__ for key, value in predicted.export_outputs.items()},
        ]


def extended(tf, np):
    x = np.random.RandomState(0).randn(8, 2).astype(np.float32)
    y = (x @ np.array([[1.0], [-2.0]])).astype(np.float32)

    def input_fn():
        return tf.data.Dataset.from_tensors(({"x": x, "id": np.arange(8)}, y))

    make = tf.contrib.estimator
    with folder_of_its_own() as folder:
        estimator = tf.estimator.LinearRegressor(
            [tf.feature_column.numeric_column("x", [2])],
            folder,
            optimizer=lambda: make.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(0.1), 0.5),
        )
        estimator.train(input_fn)
        forwarding = make.forward_features(estimator, "id")
        return [
            estimator.get_variable_value("linear/linear_model/x/weights"),
            list(forwarding.predict(input_fn)),
            raises(make.forward_features, estimator, 3),
            raises(make.forward_features, estimator, [3]),
            raises(lambda: next(make.forward_features(estimator, "missing").predict(input_fn))),
            raises(make.multi_head, []),
        ]


def from_estimator(tf, np):
    x = np.arange(6, dtype="f").reshape(3, 2)

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer([[1.0], [2.0]]))
        out = tf.matmul(features["x"], w)
        outputs = {
            "serving_default": tf.estimator.export.PredictOutput({"out": out}),
            "twice": tf.estimator.export.PredictOutput({"out": 2 * out, "in": features["x"]}),
        }
        loss = tf.reduce_sum(out)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, {"out": out}, loss, train_op, export_outputs=outputs)

    def receiver():
        given = tf.placeholder(tf.float32, [None, 2])
        return tf.estimator.export.ServingInputReceiver({"x": given}, {"given": given})

    with folder_of_its_own() as folder:
        estimator = tf.estimator.Estimator(model_fn, folder)
        estimator.train(lambda: ({"x": tf.constant(x)}, None), steps=2)
        make = tf.contrib.predictor.from_estimator
        twice = make(estimator, receiver, "twice")
        return [
            make(estimator, receiver)({"given": x}),
            twice({"given": x[:1]}),
            raises(twice, {"other": x}),
            raises(make, estimator, receiver, "thrice"),
        ]


def annotated(tf, np):
    """Deep models whose collections tell of features; TensorFlow's do so for its older columns alone."""
    try:
        from tensorflow.python.feature_column.feature_column import _numeric_column as column
    except ImportError:
        column = tf.feature_column.numeric_column
    names = "layer_annotations/unprocessed_features", "layer_annotatons/processed_features"
    seen = []

    class Look(tf.train.SessionRunHook):
        def begin(self):
            of = tf.get_default_graph().get_collection
            values = [value for name in names for value in of(f"{name}/values")]
            seen.append([[of(f"{name}/keys") for name in names], [(v.type_url, v.value) for v in values]])
            seen.append(len(of("layer_annotations/feature_columns")))

    columns = [column("x"), column("y", [2])]
    features = {"x": np.ones([2, 1], "f"), "y": np.ones([2, 2], "f")}
    labels = {"Classifier": np.array([[0], [1]]), "Regressor": np.array([[0.5], [1.0]], "f")}
    for kind, label in labels.items():
        with folder_of_its_own() as folder:
            make = getattr(tf.contrib.estimator, f"DNN{kind}WithLayerAnnotations")
            estimator = make([2], columns, folder)
            estimator.train(
                lambda label=label: tf.data.Dataset.from_tensors((features, label)), hooks=[Look()]
            )
            seen.append([type(estimator).__name__, sorted(estimator.get_variable_names())])
    return seen
