"""What stands around the estimators of contrib.learn: heads, feeders, readers, monitors, sets of data."""

import importlib
import os

from kit import Close, cases, raises
from supervised import folder_of_its_own


def _run(tf, fetches):
    with tf.Session() as session:
        session.run(
            [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()]
        )
        return session.run(fetches)


# ------------------------------------------------------------------------------------------------------ heads


def _head(tf, name):
    learn = tf.contrib.learn
    return {
        "regression": (
            lambda: learn.regression_head(weight_column_name="w", label_dimension=2),
            [[1.0, 2.0]] * 4,
        ),
        "link": (lambda: learn.regression_head(link_fn=tf.square, head_name="h"), [1.0, 2.0, 3.0, 4.0]),
        "poisson": (lambda: learn.poisson_regression_head(enable_centered_bias=True), [1.0, 2.0, 0.0, 4.0]),
        "binary": (
            lambda: learn.multi_class_head(2, weight_column_name="w", thresholds=[0.3, 0.6]),
            [[1], [0], [1], [1]],
        ),
        "classes": (
            lambda: learn.multi_class_head(3, weight_column_name="w", metric_class_ids=[1], head_name="k"),
            [[1], [0], [2], [1]],
        ),
        "strings": (lambda: learn.multi_class_head(3, label_keys=["a", "b", "c"]), ["a", "c", "b", "a"]),
        "svm": (lambda: learn.binary_svm_head(weight_column_name="w"), [[1], [0], [1], [1]]),
        "labels": (
            lambda: learn.multi_label_head(3, metric_class_ids=[0, 2]),
            [[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]],
        ),
        "own_loss": (
            lambda: learn.multi_class_head(
                3, loss_fn=lambda labels, logits, weights=None: tf.reduce_mean(tf.square(logits))
            ),
            [0, 1, 2, 0],
        ),
    }[name]


@cases("regression", "link", "poisson", "binary", "classes", "strings", "svm", "labels", "own_loss")
def heads(tf, np, name):
    make, labels = _head(tf, name)
    head = make()
    logits = tf.constant(np.random.RandomState(1).randn(4, head.logits_dimension).astype(np.float32))
    features = {"w": tf.constant([1.0, 2.0, 0.5, 1.5])}
    made = {
        mode: head.create_model_fn_ops(
            features, mode, tf.constant(labels), lambda loss: tf.no_op(), logits=logits
        )
        for mode in ("train", "eval", "infer")
    }
    with tf.Session() as session:
        session.run(
            [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()]
        )
        session.run(made["train"].train_op)
        metrics = made["eval"].eval_metric_ops
        session.run([update for _, update in metrics.values()])
        return [
            Close(session.run({key: value for key, (value, _) in metrics.items()}), 1e-4, 1e-5),
            Close(session.run([made["train"].loss, made["eval"].loss]), 1e-5),
            Close(session.run(made["infer"].predictions), 1e-5, 1e-6),
            {
                str(key): [kind, sorted(tensors)]
                for key, (kind, tensors) in made["infer"].output_alternatives.items()
            },
            head.logits_dimension,
        ]


def logits_of_inputs(tf, np):
    learn = tf.contrib.learn
    heads = [learn.regression_head("a", head_name="one"), learn.multi_class_head(3, "b", head_name="two")]
    heads.append(learn.head.loss_only_head(lambda: [tf.constant(2.0), tf.constant(3.0)], "three"))
    head = learn.head.multi_head(heads, [1.0, 0.5, 2.0])
    tf.set_random_seed(1)
    labels = {"a": tf.constant([1.0, 2.0]), "b": tf.constant([0, 2])}
    inputs = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    trained = head.create_model_fn_ops({}, "train", labels, lambda loss: tf.no_op(), logits_input=inputs)
    asked = head.create_model_fn_ops({}, "infer", logits=tf.constant([[1.0, 2.0, 3.0, 4.0]]))
    by_name = {"one": tf.ones([2, 1]), "two": tf.ones([2, 3])}
    evaluated = head.create_model_fn_ops({}, "eval", labels, logits=by_name)
    return [
        head.logits_dimension,
        [variable.name for variable in tf.global_variables()],
        Close(_run(tf, [trained.loss, evaluated.loss]), 1e-5),
        sorted(asked.predictions),
        sorted(evaluated.eval_metric_ops),
        sorted(asked.output_alternatives),
    ]


def head_refusals(tf, np):
    learn = tf.contrib.learn
    head = learn.multi_class_head(3)
    return [
        raises(learn.multi_class_head, 1),
        raises(learn.multi_class_head, 2, metric_class_ids=[0]),
        raises(learn.multi_class_head, 2, label_keys=["a"]),
        raises(learn.multi_class_head, 3, label_keys=["a"]),
        raises(learn.multi_class_head, 3, metric_class_ids=[3]),
        raises(learn.multi_class_head, 3, loss_fn=lambda labels, logits: 0),
        raises(learn.multi_label_head, 1),
        raises(learn.multi_head, [head]),
        raises(learn.multi_head, [head], [1, 2]),
        raises(head.create_model_fn_ops, {}, "train", tf.constant([1])),
        raises(head.create_model_fn_ops, {}, "train", tf.constant([1]), logits=tf.zeros([1, 3])),
        raises(head.create_model_fn_ops, {}, "other", logits=tf.zeros([1, 3])),
        raises(head.create_model_fn_ops, {}, "train", tf.constant([0.5]), logits=tf.zeros([1, 3])),
        raises(
            learn.multi_class_head(3, weight_column_name="w").create_model_fn_ops,
            {},
            "eval",
            tf.constant([1]),
            logits=tf.zeros([1, 3]),
        ),
    ]


# ---------------------------------------------------------------------------------------------------- metrics


def metric_specs(tf, np):
    learn = tf.contrib.learn

    def plain(predictions):
        return tf.reduce_mean(predictions)

    def odd(target, logit, weight=None):
        return tf.reduce_sum(target * logit * (1.0 if weight is None else weight))

    def positional(labels, found):
        return tf.reduce_sum(labels - found)

    def unnamed(found):
        return tf.reduce_sum(found)

    labels, predictions = (
        {"l": tf.constant([1.0, 2.0])},
        {"p": tf.constant([0.5, 3.0]), "q": tf.constant([1.0])},
    )
    features = {"w": tf.constant([2.0, 1.0])}
    made = [
        learn.MetricSpec(plain, "p"),
        learn.MetricSpec(odd, "p", "l", "w"),
        learn.MetricSpec(positional, "p"),
        learn.MetricSpec(unnamed, "q"),
    ]
    found = [spec.create_metric_ops(features, labels, predictions) for spec in made]
    spec = made[0]
    return [
        _run(tf, found),
        [str(each) for each in made],
        [made[1].prediction_key, made[1].label_key, made[1].weight_key],
        raises(learn.MetricSpec(plain).create_metric_ops, features, labels, predictions),
        raises(learn.MetricSpec(plain, "z").create_metric_ops, features, labels, predictions),
        raises(spec.create_metric_ops, features, labels, tf.constant([1.0])),
        raises(learn.MetricSpec, plain, label_key="l"),
        raises(learn.MetricSpec, plain, weight_key="w"),
        raises(learn.MetricSpec, lambda labels, label: 0),
        raises(spec.metric_fn, 3),
    ]


# ----------------------------------------------------------------------------------------------------- inputs


def _records(tf, folder):
    for number in range(2):
        with tf.python_io.TFRecordWriter(os.path.join(folder, "part%d" % number)) as writer:
            for value in range(3):
                example = tf.train.Example()
                example.features.feature["v"].int64_list.value.append(10 * number + value)
                example.features.feature["s"].float_list.value.extend([0.5] * value)
                writer.write(example.SerializeToString())
    return os.path.join(folder, "part*")


def _until_the_end(tf, fetches):
    found = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            found.append(session.run(fetches))
    return found


@cases("examples", "keyed", "shared", "features", "records", "parsed")
def readers(tf, np, kind):
    learn = tf.contrib.learn
    spec = {"v": tf.FixedLenFeature([], tf.int64), "s": tf.VarLenFeature(tf.float32)}
    with folder_of_its_own() as folder:
        pattern = _records(tf, folder)
        shared = dict(randomize_input=False, num_epochs=2)
        tf.train.get_or_create_global_step()
        if kind == "examples":
            batch = learn.read_batch_examples(pattern, 4, tf.TFRecordReader, **shared)
            fetches = tf.parse_example(batch, {"v": spec["v"]})["v"]
        elif kind == "keyed":
            keys, batch = learn.read_keyed_batch_examples(
                pattern, 4, tf.TFRecordReader, read_batch_size=2, **shared
            )
            fetches = [tf.shape(keys), tf.parse_example(batch, {"v": spec["v"]})["v"]]
        elif kind == "shared":
            _, batch = learn.read_keyed_batch_examples_shared_queue(pattern, 4, tf.TFRecordReader, **shared)
            fetches = tf.parse_example(batch, {"v": spec["v"]})["v"]
        elif kind == "features":
            found = learn.read_batch_features(
                pattern, 3, spec, tf.TFRecordReader, num_enqueue_threads=1, **shared
            )
            fetches = [found["v"], found["s"].values]
        elif kind == "records":
            found = learn.read_batch_record_features(pattern, 3, spec, **shared)
            fetches = tf.shape(found["v"])
        else:
            found = learn.io.read_batch_examples(
                [pattern],
                5,
                tf.TFRecordReader,
                parse_fn=lambda text: tf.parse_single_example(text, {"v": spec["v"]}),
                **shared,
            )
            fetches = found["v"]
        return _until_the_end(tf, fetches)


def reader_refusals(tf, np):
    read = tf.contrib.learn.read_batch_examples
    with folder_of_its_own() as folder:
        pattern = _records(tf, folder)
        return [
            raises(read, os.path.join(folder, "none*"), 2, tf.TFRecordReader),
            raises(read, [], 2, tf.TFRecordReader),
            raises(read, pattern, 0, tf.TFRecordReader),
            raises(read, pattern, None, tf.TFRecordReader),
            raises(read, pattern, 4, tf.TFRecordReader, queue_capacity=3),
            raises(read, pattern, 4, tf.TFRecordReader, queue_capacity=0),
            raises(read, pattern, 4, tf.TFRecordReader, num_threads=0),
            raises(read, pattern, 4, tf.TFRecordReader, num_epochs=0),
            raises(read, pattern, 4, tf.TFRecordReader, read_batch_size=0),
        ]


def generators(tf, np):
    learn = tf.contrib.learn

    def rows():
        for number in range(4):
            yield {"a": np.arange(2) + number, "b": np.float32(number), "label": np.array([number])}

    def uneven():
        for number in range(1, 4):
            yield {"a": np.ones(number, np.int64), "n": np.array(number)}

    def other():
        yield 3

    make = learn.io.generator_input_fn
    first = make(rows, "label", batch_size=2, shuffle=False)()
    padded = make(uneven, batch_size=3, shuffle=False, pad_value=-1)()
    tf.train.get_or_create_global_step()
    return [
        _until_the_end(tf, first)[:2],
        _until_the_end(tf, padded["n"])[:1],
        raises(make, 3),
        raises(make, lambda: 3),
        raises(make, other),
        raises(make, rows, 3),
        raises(make, rows, ["none"]),
        raises(make, rows, [3]),
    ]


def columns_of_inputs(tf, np):
    learn = tf.contrib.learn
    x = np.zeros([4, 2], np.float32)
    return [
        repr(learn.infer_real_valued_columns_from_input(x)),
        repr(learn.infer_real_valued_columns_from_input({"b": x, "a": x[:, 0]})),
        repr(learn.infer_real_valued_columns_from_input_fn(lambda: (tf.zeros([3, 2, 2]), None))),
    ]


# ---------------------------------------------------------------------------------------------- graph actions


def graph_actions(tf, np):
    learn = tf.contrib.learn

    def build():
        x = tf.placeholder(tf.float32, [], name="x")
        v = tf.get_variable("v", initializer=1.0)
        loss = tf.square(v * x, name="loss")
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.create_global_step())
        return x, v, loss, train_op

    with folder_of_its_own() as folder:
        losses = []
        for arguments in ({"steps": 3, "monitors": [learn.monitors.PrintTensor(["v"])]}, {"max_steps": 5}):
            with tf.Graph().as_default() as graph:
                x, _, loss, train_op = build()
                losses.append(
                    learn.train(graph, folder, train_op, loss, feed_fn=lambda: {x: 2.0}, **arguments)
                )
        with tf.Graph().as_default() as graph:
            x, v, loss, _ = build()
            results = learn.evaluate(
                graph, folder, folder, {"v": v, "loss": loss}, feed_fn=lambda: {x: 1.0}, max_steps=2
            )
        with tf.Graph().as_default() as graph:
            x, v, loss, train_op = build()
            path = tf.train.latest_checkpoint(folder)
            found = [
                learn.infer(path, {"v": v.value()}),
                learn.graph_actions.run_feeds({"loss": loss}, [{x: 1.0}, {x: 2.0}], path),
                learn.run_n({"v": v.value()}, n=2),
            ]
            learn.graph_actions.clear_summary_writers()
            return [
                Close([losses, results, found], 1e-5),
                raises(learn.train, graph, "", train_op, loss),
                raises(learn.train, graph, folder, None, loss),
                raises(learn.train, graph, folder, train_op, None),
                raises(learn.train, graph, folder, train_op, loss, steps=1, max_steps=1),
                raises(learn.run_n, {}),
            ]


def monitors(tf, np):
    learn = tf.contrib.learn
    parts = learn.monitors
    told = []

    class Mine(parts.EveryN):
        def every_n_step_begin(self, step):
            told.append(("begin", step))
            return ["loss"]

        def every_n_step_end(self, step, outputs):
            told.append(("end", step, float(outputs["loss"])))
            return step >= 7

        def every_n_post_step(self, step, session):
            told.append(("post", step))

    x = np.ones([4, 1], np.float32)

    def model_fn(features, labels):
        v = tf.get_variable("v", initializer=1.0)
        loss = tf.reduce_mean(tf.square(v * features - labels), name="loss")
        return (
            features,
            loss,
            tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step()),
        )

    with folder_of_its_own() as folder:
        estimator = learn.Estimator(model_fn, folder)
        capture = parts.CaptureVariable("v", every_n=3, first_n=2)
        given = [Mine(every_n_steps=3, first_n_steps=1), capture, parts.StopAtStep(num_steps=9)]
        estimator.fit(input_fn=lambda: (tf.constant(x), tf.constant(3 * x)), monitors=given, steps=12)
        step = int(estimator.get_variable_value("global_step"))
    base = parts.BaseMonitor()
    base.begin()
    return [
        Close(told, 1e-4),
        Close(capture.values, 1e-4),
        step,
        raises(base.begin),
        raises(base.step_end, 3, {}),
        raises(base.set_estimator, None),
        raises(parts.BaseMonitor().end),
        raises(parts.StopAtStep),
        raises(parts.StopAtStep, 1, 2),
        raises(parts.ValidationMonitor),
    ]


def nan_loss(tf, np):
    learn = tf.contrib.learn

    def model_fn(features, labels):
        loss = tf.reduce_mean(features, name="loss")
        return features, loss, tf.assign_add(tf.train.get_global_step(), 1).op

    def input_fn():
        return tf.constant([np.nan]), tf.constant([1.0])

    with folder_of_its_own() as folder:
        estimator = learn.Estimator(model_fn, folder)
        return issubclass(learn.NanLossDuringTrainingError, RuntimeError), raises(
            estimator.fit, input_fn=input_fn, steps=2
        ).types[:2]


# --------------------------------------------------------------------------------------- ops, models and sets


def small_ops(tf, np):
    ops = tf.contrib.learn.ops
    tf.set_random_seed(1)
    x = tf.constant(np.random.RandomState(0).randn(2, 3, 4).astype(np.float32))
    y = tf.constant(np.random.RandomState(1).randn(2, 2, 4).astype(np.float32))
    table = tf.constant(np.arange(12.0).reshape(4, 3), tf.float32)
    inputs = ops.seq2seq_inputs(x, y, 3, 2)
    cell = tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.ones_initializer())
    decoded = ops.rnn_seq2seq(inputs[0], inputs[1], cell)
    labels = [tf.one_hot([1, 2], 4)] * 3
    return Close(
        _run(
            tf,
            [
                ops.embedding_lookup(table, [[1, 2], [3, 0]]),
                tf.shape(ops.categorical_variable([[1], [2]], 4, 3, "word")),
                ops.mean_squared_error_regressor(table, tf.ones([4]), tf.ones([3, 1]), tf.zeros([1])),
                ops.softmax_classifier(
                    table, tf.one_hot([0, 1, 1, 0], 2), tf.ones([3, 2]), tf.zeros([2]), [1.0, 2.0]
                ),
                inputs,
                decoded,
                ops.sequence_classifier(decoded[0], labels),
                ops.sequence_classifier(decoded[0], labels, decoded[2]),
            ],
        ),
        1e-5,
        1e-6,
    )


def small_models(tf, np):
    models = tf.contrib.learn.models
    tf.set_random_seed(3)
    x = tf.constant(np.random.RandomState(0).randn(4, 6).astype(np.float32))
    labels = tf.one_hot([0, 1, 2, 0], 3)

    def predictor(state, y):
        return models.logistic_regression(state, y)

    found = [
        models.linear_regression(x, tf.ones([4])),
        models.logistic_regression_zero_init(x[:, :2], labels),
    ]
    for number, (kind, both, attention) in enumerate(
        [("gru", False, None), ("lstm", True, None), ("rnn", False, 2)]
    ):
        with tf.variable_scope("m%d" % number):
            model = models.get_rnn_model(
                3,
                kind,
                2,
                lambda each: tf.unstack(tf.reshape(each, [4, 3, 2]), axis=1),
                both,
                predictor,
                None,
                None,
                attention,
                attention,
                attention,
            )
            found.append(model(x, labels))
    cell = tf.nn.rnn_cell.GRUCell
    return [
        Close(_run(tf, found), 1e-4, 1e-5),
        [variable.name for variable in tf.global_variables()],
        raises(models.bidirectional_rnn, cell(2), cell(2), []),
        raises(models.bidirectional_rnn, cell(2), cell(2), x),
        raises(models.bidirectional_rnn, 3, cell(2), [x]),
    ]


@cases(
    {
        "circles": ("circles", 11, {"n_classes": 3}),
        "noisy": ("circles", 8, {"noise": 0.1, "factor": 0.5}),
        "spirals": ("spirals", 10, {}),
        "bernoulli": ("spirals", 9, {"mode": "bernoulli", "noise": 0.2}),
        "fermat": ("spirals", 8, {"mode": "fermat", "n_loops": 3}),
    }
)
def made_sets(tf, np, name, count, arguments):
    return tuple(tf.contrib.learn.datasets.make_dataset(name, count, seed=4, **arguments))


def sets(tf, np):
    datasets = tf.contrib.learn.datasets
    with folder_of_its_own() as folder:
        path = os.path.join(folder, "iris.csv")
        with open(path, "w") as file:
            file.write("2,4,setosa,versicolor,virginica\n5.1,3.5,1.4,0.2,0\n7.0,3.2,4.7,1.4,1\n")
        return [
            tuple(datasets.load_iris(path)),
            tuple(datasets.load_boston(path)),
            tuple(datasets.load_iris()),
            tuple(datasets.load_boston()),
            raises(datasets.load_dataset, "none"),
            raises(datasets.make_dataset, "none"),
        ]


# -------------------------------------------------------------------------------------------- session bundles


def _bundle(tf):
    """The package, which TensorFlow loads only when it is imported by its name."""
    for name in ("exporter", "gc", "manifest_pb2"):
        importlib.import_module("%s.contrib.session_bundle.%s" % (tf.__name__.split(".")[0], name))
    return importlib.import_module("%s.contrib.session_bundle" % tf.__name__.split(".")[0])


def old_exports(tf, np):
    bundle = _bundle(tf)
    with folder_of_its_own() as folder, tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None], name="x")
        v = tf.Variable(2.0, name="v")
        y = tf.multiply(x, v, name="y")
        step = tf.Variable(7, name="global_step", trainable=False)
        asset = os.path.join(folder, "words.txt")
        with open(asset, "w") as file:
            file.write("a")
        path = tf.constant(asset)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            exporter = bundle.exporter.Exporter(tf.train.Saver())
            early = raises(exporter.export, folder, step, session)
            exporter.init(
                tf.get_default_graph().as_graph_def(),
                default_graph_signature=bundle.exporter.classification_signature(x, y, y),
                named_graph_signatures={
                    "g": bundle.exporter.generic_signature({"a": x, "b": y}),
                    "r": bundle.exporter.regression_signature(x, y),
                },
                assets_collection=[path],
                init_op=tf.no_op(name="start"),
            )
            made = exporter.export(folder, step, session)
            twice = raises(exporter.export, folder, step, session)
            again = raises(exporter.init)
            kept = []
            for number in (8, 9):
                session.run(step.assign(number))
                exporter.export(folder, step, session, exports_to_keep=bundle.gc.largest_export_versions(2))
                kept.append(sorted(name for name in os.listdir(folder) if name.isdigit()))
        names = sorted(os.listdir(os.path.join(folder, "00000009")))
        meta = tf.MetaGraphDef()
        with open(os.path.join(folder, "00000009", "export.meta"), "rb") as file:
            meta.ParseFromString(file.read())
        signatures = bundle.manifest_pb2.Signatures()
        packed = meta.collection_def["serving_signatures"].any_list.value[0]
        signatures.ParseFromString(packed.value)
        return [
            os.path.basename(made),
            early,
            twice,
            again,
            kept,
            names,
            packed.type_url,
            signatures.default_signature.classification_signature.scores.tensor_name,
            sorted(signatures.named_signatures),
            signatures.named_signatures["g"].generic_signature.map["a"].tensor_name,
            sorted(meta.collection_def),
        ]


def kept_exports(tf, np):
    gc = _bundle(tf).gc
    paths = [gc.Path("/%d" % number, number) for number in (1, 2, 3, 5, 8, 13)]
    keeps = [
        gc.largest_export_versions(2),
        gc.one_of_every_n_export_versions(3),
        gc.mod_export_version(2),
        gc.union(gc.largest_export_versions(1), gc.mod_export_version(5)),
        gc.negation(gc.largest_export_versions(3)),
    ]
    return [[tuple(path) for path in keep(paths)] for keep in keeps]
