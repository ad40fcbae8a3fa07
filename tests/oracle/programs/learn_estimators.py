"""The estimators of contrib.learn: trained from fixed seeds, evaluated, asked and exported."""

import os

from kit import Close, cases, raises
from supervised import folder_of_its_own


def _data(np, rows=24):
    random = np.random.RandomState(3)
    x = random.randn(rows, 3).astype(np.float32)
    return x, (x[:, 0] > 0).astype(np.int64) + (x[:, 1] > 0), (x @ [1.0, -2.0, 0.5]).astype(np.float32)


def _columns(tf):
    layers = tf.contrib.layers
    word = layers.sparse_column_with_keys("word", ["a", "b", "c"])
    return [layers.real_valued_column("x", dimension=3)], [word], [layers.embedding_column(word, 2)]


def _input_fn(tf, np, labels):
    def input_fn():
        x, _, _ = _data(np)
        places = [[i, 0] for i in range(24)]
        sparse = tf.SparseTensor(places, tf.constant(["abcz"[i % 4] for i in range(24)]), [24, 1])
        features = {"x": tf.constant(x), "word": sparse, "weight": tf.constant([[1.0], [2.0]] * 12)}
        return features, tf.constant(labels)

    return input_fn


def _config(tf):
    return tf.contrib.learn.RunConfig(tf_random_seed=5, keep_checkpoint_max=3)


def _checked(estimator, input_fn, steps=8, **evaluation):
    estimator.fit(input_fn=input_fn, steps=steps)
    results = estimator.evaluate(input_fn=input_fn, steps=1, **evaluation)
    names = estimator.get_variable_names()
    predictions = list(estimator.predict(input_fn=input_fn))[:5]
    return Close([results, predictions], 1e-3, 1e-4), sorted(names)


@cases(2, 3)
def linear_classifier(tf, np, n_classes):
    _, y, _ = _data(np)
    wide, words, _ = _columns(tf)
    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.LinearClassifier(
            wide + words, folder, n_classes=n_classes, weight_column_name="weight", config=_config(tf)
        )
        return _checked(estimator, _input_fn(tf, np, np.minimum(y, n_classes - 1)[:, None]))


@cases({"ftrl": (None, False, None), "sgd": ("SGD", False, 1.0), "joint": ("Adagrad", False, 2.0)})
def linear_regressor(tf, np, optimizer, centered, clip):
    wide, words, _ = _columns(tf)
    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.LinearRegressor(
            words if clip == 2.0 else wide + words,
            folder,
            optimizer=optimizer,
            enable_centered_bias=centered,
            gradient_clip_norm=clip,
            _joint_weights=clip == 2.0,
            config=_config(tf),
        )
        return _checked(estimator, _input_fn(tf, np, _data(np)[2]))


def core_columns(tf, np):
    columns = [tf.feature_column.numeric_column("x", shape=(3,))]
    with folder_of_its_own() as folder:
        linear = tf.contrib.learn.LinearRegressor(columns, folder + "/a", config=_config(tf))
        deep = tf.contrib.learn.DNNRegressor([3], columns, folder + "/b", config=_config(tf))
        input_fn = _input_fn(tf, np, _data(np)[2])
        return [_checked(estimator, input_fn) for estimator in (linear, deep)]


@cases(
    {
        "plain": ({},),
        "named": ({"activation_fn": "tanh", "gradient_clip_norm": 0.5},),
        "centered": ({"enable_centered_bias": True},),
        "optimizer": ({"optimizer": "Adam"},),
    }
)
def dnn_classifier(tf, np, arguments):
    wide, _, deep = _columns(tf)
    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.DNNClassifier(
            [4, 3], wide + deep, folder, n_classes=3, config=_config(tf), **arguments
        )
        return _checked(estimator, _input_fn(tf, np, _data(np)[1]))


def embedding_multipliers(tf, np):
    wide, _, deep = _columns(tf)
    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.DNNRegressor(
            [4], wide + deep, folder, config=_config(tf), embedding_lr_multipliers={deep[0]: 3.0}
        )
        metrics = {"mse": tf.metrics.mean_squared_error}
        return _checked(estimator, _input_fn(tf, np, _data(np)[2]), metrics=metrics)


@cases({"both": (True, True, False), "fixed": (True, True, True), "deep": (False, True, False)})
def combined(tf, np, has_wide, has_deep, fixed):
    wide, words, deep = _columns(tf)
    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.DNNLinearCombinedClassifier(
            folder,
            n_classes=3,
            linear_feature_columns=words if has_wide else None,
            dnn_feature_columns=wide + deep if has_deep else None,
            dnn_hidden_units=[4],
            fix_global_step_increment_bug=fixed,
            config=_config(tf),
        )
        return _checked(estimator, _input_fn(tf, np, _data(np)[1]))


def combined_regressor(tf, np):
    wide, words, deep = _columns(tf)
    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.DNNLinearCombinedRegressor(
            folder,
            linear_feature_columns=words,
            linear_optimizer=tf.train.GradientDescentOptimizer(0.1),
            dnn_feature_columns=wide + deep,
            dnn_hidden_units=[4],
            fix_global_step_increment_bug=True,
            config=_config(tf),
        )
        return _checked(estimator, _input_fn(tf, np, _data(np)[2]))


def any_head(tf, np):
    learn = tf.contrib.learn
    wide, _, _ = _columns(tf)
    y = _data(np)[1]
    heads = [
        learn.regression_head(label_name="number", head_name="first"),
        learn.multi_class_head(3, label_name="kind", head_name="second", metric_class_ids=[0, 2]),
    ]

    def input_fn():
        features, _ = _input_fn(tf, np, y)()
        return features, {"number": tf.constant(_data(np)[2]), "kind": tf.constant(y)}

    with folder_of_its_own() as folder:
        estimator = learn.DNNEstimator(
            learn.multi_head(heads, [1.0, 2.0]), [3], wide, folder, config=_config(tf)
        )
        estimator.fit(input_fn=input_fn, steps=5)
        linear = learn.LinearEstimator(wide, heads[1], folder + "x", config=_config(tf))
        linear.fit(input_fn=input_fn, steps=5)
        return Close([each.evaluate(input_fn=input_fn, steps=1) for each in (estimator, linear)], 1e-3, 1e-4)


def string_labels(tf, np):
    wide, _, _ = _columns(tf)
    labels = np.array(["red", "green", "blue"])[_data(np)[1]]
    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.LinearClassifier(
            wide, folder, n_classes=3, label_keys=["red", "green", "blue"], config=_config(tf)
        )
        return _checked(estimator, _input_fn(tf, np, labels))


# ---------------------------------------------------------------------------------------------- any model


def _model_fn(tf):
    def model_fn(features, labels, mode, params):
        learn = tf.contrib.learn
        predictions = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer())[:, 0]
        loss = train_op = None
        if mode != learn.ModeKeys.INFER:
            loss = tf.losses.mean_squared_error(labels, predictions)
        if mode == learn.ModeKeys.TRAIN:
            train_op = tf.contrib.layers.optimize_loss(
                loss, tf.train.get_global_step(), params["rate"], "SGD"
            )
        return learn.ModelFnOps(mode, {"y": predictions}, loss, train_op)

    return model_fn


def own_model(tf, np):
    learn = tf.contrib.learn
    x, _, y = _data(np)
    seen = []

    def model_fn(features, labels, mode, params, config, model_dir):
        seen.append((mode, config.tf_random_seed, model_dir is not None))
        return _model_fn(tf)(features, labels, mode, params)

    def input_fn():
        return tf.constant(x), tf.constant(y)

    with folder_of_its_own() as folder:
        estimator = learn.Estimator(model_fn, folder, _config(tf), {"rate": 0.1})
        estimator.fit(input_fn=input_fn, max_steps=6)
        estimator.fit(input_fn=input_fn, max_steps=6)
        estimator.partial_fit(input_fn=input_fn)
        metrics = {
            "mae": learn.MetricSpec(tf.metrics.mean_absolute_error, prediction_key="y"),
        }
        results = estimator.evaluate(input_fn=input_fn, steps=2, metrics=metrics, name="other")
        asked = [each["y"] for each in estimator.predict(input_fn=input_fn, outputs=["y"])]
        return [
            Close([results, asked], 1e-4, 1e-5),
            seen,
            sorted(name for name in os.listdir(folder) if name.startswith("eval")),
            estimator.get_params(),
        ]


def feature_engineering(tf, np):
    x, _, y = _data(np)

    def input_fn():
        return tf.constant(x), tf.constant(y)

    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.Estimator(
            _model_fn(tf),
            folder,
            params={"rate": 0.1},
            feature_engineering_fn=lambda f, l: (f * 2.0, l + 1.0),
        )
        estimator.fit(input_fn=input_fn, steps=3)
        return Close(estimator.evaluate(input_fn=input_fn, steps=1), 1e-4, 1e-5)


def arrays(tf, np):
    learn = tf.contrib.learn
    x, _, y = _data(np)
    with folder_of_its_own() as folder:
        plain = learn.Estimator(_model_fn(tf), folder, params={"rate": 0.1})
        estimator = learn.SKCompat(plain)
        estimator.fit(x, y, batch_size=5, steps=7)
        scored = estimator.score(
            x, y, batch_size=7, metrics={"m": learn.MetricSpec(tf.metrics.mean_absolute_error)}
        )
        found = estimator.predict(x, batch_size=10)
        again = plain.evaluate(x, y)
        rows = [each["y"] for each in plain.predict(x[:3])]
        whole = plain.predict(x[:4], as_iterable=False)
        return Close([scored, found, again, rows, whole], 1e-4, 1e-5)


def named_arrays(tf, np):
    learn = tf.contrib.learn
    x, _, y = _data(np)
    features = {"x": x, "z": x[:, 0]}
    columns = learn.infer_real_valued_columns_from_input(features)
    with folder_of_its_own() as folder:
        estimator = learn.DNNRegressor([2], columns, folder, config=_config(tf))
        estimator.fit(features, y, steps=4, batch_size=6)
        return [
            repr(columns),
            Close([estimator.evaluate(features, y), list(estimator.predict(features))], 1e-3, 1e-4),
        ]


def streams(tf, np):
    x, _, y = _data(np)
    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.Estimator(_model_fn(tf), folder, params={"rate": 0.1})
        estimator.fit(iter(x), iter(y), batch_size=7)
        results = estimator.evaluate(iter(x), iter(y), batch_size=7)
        found = [each["y"] for each in estimator.predict(iter(x[:9]), batch_size=4)]
        return Close([results, found], 1e-4, 1e-5)


def tuple_models(tf, np):
    x, _, y = _data(np)

    def model_fn(features, labels):
        predictions, loss = tf.contrib.learn.models.linear_regression_zero_init(features, labels)
        step = tf.train.get_global_step()
        return predictions, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)

    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.Estimator(model_fn, folder)
        estimator.fit(x, y, steps=5)
        metrics = {"old": tf.contrib.metrics.streaming_mean_absolute_error}
        return Close([estimator.evaluate(x, y, metrics=metrics), list(estimator.predict(x[:4]))], 1e-4, 1e-5)


def logistic_regressor(tf, np):
    x, y, _ = _data(np)

    def model_fn(features, labels, mode):
        logits = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer())
        loss = tf.losses.sigmoid_cross_entropy(labels, logits)
        step = tf.train.get_global_step()
        return tf.sigmoid(logits), loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)

    def input_fn():
        return tf.constant(x), tf.constant(np.minimum(y, 1)[:, None], tf.float32)

    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.LogisticRegressor(model_fn, [0.4, 0.6], folder)
        estimator.fit(input_fn=input_fn, steps=5)
        return Close(estimator.evaluate(input_fn=input_fn, steps=1), 1e-3, 1e-4)


def kmeans(tf, np):
    points = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.2, 5.0], [9.0, 0.0], [9.1, 0.2]], np.float32)

    def input_fn():
        return tf.constant(points), None

    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.KMeansClustering(
            3, folder, initial_clusters=points[::2], use_mini_batch=False, relative_tolerance=1e-4
        )
        estimator.fit(input_fn=input_fn, steps=10)
        return [
            Close(estimator.clusters(), 1e-4, 1e-5),
            list(estimator.predict_cluster_idx(input_fn=input_fn)),
            Close([estimator.score(input_fn=input_fn, steps=1), estimator.transform(input_fn)], 1e-3, 1e-4),
        ]


@cases(
    {
        "single": (1, 1, "basic_rnn"),
        "steps": (1, 2, "gru"),
        "numbers": (2, 1, "lstm"),
        "each": (2, 2, "basic_rnn"),
    }
)
def recurrent(tf, np, problem, prediction, cell):
    learn = tf.contrib.learn
    random = np.random.RandomState(0)
    sequences = random.randn(4, 5, 2).astype(np.float32)
    labels = (sequences.sum(2) > 0).astype(np.int64)
    labels = labels if problem == 1 else labels.astype(np.float32)
    labels = labels if prediction == 2 else labels[:, -1:] if problem == 2 else labels[:, -1]

    def input_fn():
        features = {
            "s": tf.constant(sequences),
            "c": tf.constant(sequences[:, 0]),
            "sequence_length": tf.constant([5, 3, 4, 5]),
        }
        return features, tf.constant(labels)

    columns = [tf.contrib.layers.real_valued_column("s", dimension=2)]
    context = [tf.contrib.layers.real_valued_column("c", dimension=2)]
    with folder_of_its_own() as folder:
        estimator = learn.DynamicRnnEstimator(
            problem,
            prediction,
            columns,
            context,
            num_classes=2 if problem == 1 else None,
            num_units=3,
            cell_type=cell,
            predict_probabilities=problem == 1,
            model_dir=folder,
            config=_config(tf),
        )
        estimator.fit(input_fn=input_fn, steps=3)
        results = estimator.evaluate(input_fn=input_fn, steps=1)
        found = list(estimator.predict(input_fn=input_fn))
        return Close([results, found], 1e-3, 1e-4), sorted(estimator.get_variable_names())


# ---------------------------------------------------------------------------------- exports and experiments


def _signatures(tf, path):
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], os.fsdecode(path))
        return {
            key: [each.method_name, sorted(each.inputs), sorted(each.outputs)]
            for key, each in sorted(loaded.signature_def.items())
        }


def saved_model(tf, np):
    learn = tf.contrib.learn
    wide, words, _ = _columns(tf)
    spec = tf.contrib.layers.create_feature_spec_for_parsing(wide + words)
    with folder_of_its_own() as folder:
        estimator = learn.LinearClassifier(wide + words, folder + "/m", n_classes=3, config=_config(tf))
        estimator.fit(input_fn=_input_fn(tf, np, _data(np)[1]), steps=2)
        path = estimator.export_savedmodel(folder + "/e", learn.build_parsing_serving_input_fn(spec))

        def raw():
            return learn.utils.build_default_serving_input_fn({"x": tf.zeros([2, 3])})()

        other = learn.DNNRegressor([2], wide, folder + "/n", config=_config(tf))
        other.fit(input_fn=_input_fn(tf, np, _data(np)[2]), steps=2)
        second = raises(other.export_savedmodel, folder + "/f", raw)
        old = other.export(folder + "/g")
        return [
            _signatures(tf, path),
            second,
            os.path.basename(os.fsdecode(old)),
            sorted(name.split(".data")[0] for name in os.listdir(os.fsdecode(old))),
        ]


def experiment(tf, np):
    learn = tf.contrib.learn
    x, _, y = _data(np)

    def input_fn():
        return {"x": tf.constant(x)}, tf.constant(y)

    columns = [tf.contrib.layers.real_valued_column("x", dimension=3)]

    def experiment_fn(run_config, hparams):
        estimator = learn.LinearRegressor(columns, config=run_config, optimizer="SGD")
        spec = tf.contrib.layers.create_feature_spec_for_parsing(columns)
        strategy = learn.make_export_strategy(learn.build_parsing_serving_input_fn(spec), exports_to_keep=1)
        return learn.Experiment(
            estimator,
            input_fn,
            input_fn,
            train_steps=hparams.steps,
            eval_steps=1,
            export_strategies=strategy,
            min_eval_frequency=0,
        )

    with folder_of_its_own() as folder:
        config = learn.RunConfig(model_dir=folder, tf_random_seed=2)
        hparams = tf.contrib.training.HParams(steps=4)
        results, exports = learn.learn_runner.run(experiment_fn, run_config=config, hparams=hparams)
        made = experiment_fn(config, hparams)
        tested = made.test()
        wrong = [
            raises(learn.learn_runner.run, experiment_fn),
            raises(learn.learn_runner.run, experiment_fn, "a", "nothing", config),
            raises(
                learn.learn_runner.run, experiment_fn, schedule="nothing", run_config=config, hparams=hparams
            ),
            raises(learn.learn_runner.run, lambda output_dir: 3, output_dir="x"),
            raises(learn.Experiment, object(), input_fn, input_fn),
            raises(learn.Experiment, made.estimator, input_fn, input_fn, export_strategies=[3]),
        ]
        return (
            Close([results, tested], 1e-4, 1e-5),
            len(exports),
            sorted(os.listdir(folder + "/export")),
            wrong,
        )


def continuous(tf, np):
    learn = tf.contrib.learn
    x, _, y = _data(np)

    def input_fn():
        return tf.constant(x), tf.constant(y)

    with folder_of_its_own() as folder:
        estimator = learn.Estimator(_model_fn(tf), folder, params={"rate": 0.1})
        made = learn.Experiment(
            estimator,
            input_fn,
            input_fn,
            train_steps=4,
            eval_steps=1,
            train_steps_per_iteration=2,
            eval_delay_secs=0,
            continuous_eval_throttle_secs=0,
        )
        first = made.continuous_train_and_eval()
        calls = []

        def goes_on(result):
            calls.append(None if result is None else sorted(result))
            return len(calls) < 2

        made.continuous_eval(continuous_eval_predicate_fn=goes_on)
        return Close(first, 1e-4, 1e-5), calls


def validation(tf, np):
    learn = tf.contrib.learn
    x, _, y = _data(np)

    def input_fn():
        return tf.constant(x), tf.constant(y)

    with folder_of_its_own() as folder:
        config = learn.RunConfig(save_checkpoints_steps=1)
        estimator = learn.Estimator(_model_fn(tf), folder, config, {"rate": 1.5})
        monitor = learn.monitors.ValidationMonitor(
            input_fn=input_fn,
            eval_steps=1,
            every_n_steps=1,
            early_stopping_rounds=3,
            check_interval_secs=None,
        )
        capture = learn.monitors.CaptureVariable("dense/bias:0", every_n=2)
        estimator.fit(input_fn=input_fn, steps=30, monitors=[monitor, capture])
        return [
            monitor.early_stopped,
            monitor.best_step,
            Close([monitor.best_value, capture.values], 1e-3, 1e-4),
            sorted(monitor.best_metrics),
            int(estimator.get_variable_value("global_step")),
        ]


# -------------------------------------------------------------------------------------------------- refusals


def refusals(tf, np):
    learn = tf.contrib.learn
    x, _, y = _data(np)

    def input_fn():
        return tf.constant(x), tf.constant(y)

    with folder_of_its_own() as folder:
        estimator = learn.Estimator(_model_fn(tf), folder, params={"rate": 0.1})
        found = [
            raises(estimator.evaluate, input_fn=input_fn),
            raises(estimator.predict, input_fn=input_fn),
            raises(estimator.fit),
            raises(estimator.fit, x, y, input_fn),
            raises(estimator.fit, input_fn=input_fn, batch_size=3),
            raises(estimator.fit, input_fn=input_fn, steps=1, max_steps=2),
            raises(estimator.evaluate, x, y, metrics=[3]),
            raises(estimator.export_savedmodel, folder, None),
            raises(learn.Estimator, _model_fn(tf), folder, learn.RunConfig(model_dir="other")),
            raises(learn.Estimator, lambda features, labels: None, folder, params={"a": 1}),
        ]
        estimator.fit(input_fn=input_fn, steps=1)
        found.append(
            raises(estimator.evaluate, input_fn=lambda: (tf.constant(x[:, :2]), tf.constant(y)), steps=1)
        )
        found.append(raises(estimator.predict, input_fn=input_fn, outputs=["none"]))
    return found


def model_fn_ops(tf, np):
    learn = tf.contrib.learn
    ok = learn.ModelFnOps("train", None, tf.constant([3.0]), tf.no_op())
    pair = learn.ModelFnOps(
        "infer",
        {"scores": tf.constant([1.0])},
        output_alternatives={"a": (2, {"scores": tf.constant([1.0])})},
    )
    spec = pair.estimator_spec()
    return [
        ok.loss,
        ok.eval_metric_ops,
        ok.training_hooks,
        spec.mode,
        sorted(spec.export_outputs),
        raises(learn.ModelFnOps, "other"),
        raises(learn.ModelFnOps, "train", None, 1.0),
        raises(learn.ModelFnOps, "eval", None, 1.0),
        raises(learn.ModelFnOps, "infer"),
        raises(learn.ModelFnOps, "train", None, tf.constant([1.0, 2.0]), tf.no_op()),
        raises(learn.ModelFnOps, "train", None, 1.0, tf.no_op(), training_hooks=[3]),
        raises(learn.ModelFnOps, "train", None, 1.0, tf.no_op(), eval_metric_ops=[3]),
    ]


def run_config(tf, np):
    learn = tf.contrib.learn
    config = learn.RunConfig(save_checkpoints_steps=3, num_cores=2, tf_random_seed=4)
    cluster = {"ps": ["a:1", "b:2"], "worker": ["c:3", "d:4"], "master": ["e:5"]}
    shown = []
    for task, environment in (
        ({}, "local"),
        ({"type": "worker", "index": 1}, "local"),
        ({"type": "master", "index": 0}, "cloud"),
    ):
        import json

        given = {"task": task, "environment": environment, "model_dir": "/m"}
        if task:
            given["cluster"] = cluster
        os.environ["TF_CONFIG"] = json.dumps(given)
        try:
            made = learn.RunConfig()
            shown.append(
                [made.task_type, made.task_id, made.is_chief, made.master, made.num_ps_replicas]
                + [made.num_worker_replicas, made.environment, made.model_dir, made.evaluation_master]
            )
            shown.append(raises(learn.RunConfig, model_dir="/other"))
        finally:
            del os.environ["TF_CONFIG"]
    return [
        config.save_checkpoints_steps,
        config.save_checkpoints_secs,
        config.tf_random_seed,
        config.tf_config.intra_op_parallelism_threads,
        learn.RunConfig().save_checkpoints_secs,
        config.uid() == learn.RunConfig(num_cores=2).uid(),
        config.uid() == learn.RunConfig().uid(),
        shown,
    ]
