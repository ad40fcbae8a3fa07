"""tf.contrib.tensor_forest: forests with seeds grow alike; estimators, metrics, parts, what is refused."""

from kit import Close, cases, raises, run
from supervised import folder_of_its_own


def _initialized(tf, session):
    """Makes all variables and resources."""
    try:
        from tensorflow.python.ops.resources import initialize_resources, shared_resources
    except ImportError:
        from tideflow.train.resource_registry import initialize_resources, shared_resources
    session.run([tf.global_variables_initializer(), initialize_resources(shared_resources())])


def _one_thread(tf):
    """Kernels in which examples come one after the other, so that chance is drawn from in order."""
    return tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)


def _points(np, count=90, features=4):
    points = np.random.RandomState(3).normal(size=(count, features)).astype("f")
    labels = (points[:, 0] > 0).astype("f") + (points[:, 1] * points[:, 2] > 0)
    return points, labels.astype("f")


_FORESTS = {
    "dense": (dict(),),
    "sparse": (dict(model_name="all_sparse"),),
    "less": (dict(split_name="less", use_running_stats_method=True),),
    "average splits": (dict(initialize_average_splits=True),),
    "few nodes": (dict(max_nodes=7),),
    "by depth": (dict(split_after_samples="linear {slope: 5 y_intercept: 8 min_val: 1 max_val: 100}"),),
    "half": (dict(split_pruning_name="half", prune_every_samples=6),),
    "tenth": (dict(split_pruning_name="10_percent", prune_every_samples=4, num_splits_to_consider=20),),
    "hoeffding pruned": (dict(split_pruning_name="hoeffding", prune_every_samples=5, dominate_fraction=0.5),),
}


@cases(_FORESTS)
def classified(tf, np, options):
    points, labels = _points(np)
    params = tf.contrib.tensor_forest.tensor_forest.ForestHParams(
        num_classes=3,
        num_features=4,
        **dict(
            dict(
                num_trees=2,
                base_random_seed=5,
                split_after_samples=12,
                num_splits_to_consider=5,
                max_nodes=60,
            ),
            **options,
        ),
    ).fill()
    return _grown(tf, np, params, points, labels)


def _grown(tf, np, params, points, labels):
    forest = tf.contrib.tensor_forest.tensor_forest.RandomForestGraphs(params)
    data = tf.placeholder(tf.float32, [None, points.shape[1]])
    targets = tf.placeholder(tf.float32, labels.shape[:0] + (None,) + labels.shape[1:])
    step = forest.training_graph(data, targets)
    predicted, paths, variance = forest.inference_graph(data)
    facts = [forest.average_size(), forest.feature_importances()]
    found = [(predicted.shape.as_list(), paths.dtype.name, variance.name)]
    with tf.Session(config=_one_thread(tf)) as session:
        _initialized(tf, session)
        for start in range(0, 6 * len(points), 15):
            start %= len(points)
            session.run(step, {data: points[start : start + 15], targets: labels[start : start + 15]})
            if start % 30 == 0:
                found.append(session.run(facts[0]))
        found.append(session.run(facts))
        found.append(session.run([predicted, variance], {data: points[:20]}))
    return Close(found, 1e-5, 1e-6)


@cases(1, 2)
def regressed(tf, np, outputs):
    points, labels = _points(np)
    targets = points[:, 0] * 3 + labels
    targets = targets if outputs == 1 else np.stack([targets, -points[:, 3]], axis=1)
    params = tf.contrib.tensor_forest.tensor_forest.ForestHParams(
        num_classes=outputs,
        num_features=4,
        regression=True,
        num_trees=2,
        base_random_seed=9,
        split_after_samples=10,
        num_splits_to_consider=4,
        max_nodes=30,
    ).fill()
    return _grown(tf, np, params, points, targets.astype("f"))


@cases("both", "sparse")
def kinds_of_features(tf, np, kind):
    params = tf.contrib.tensor_forest.tensor_forest.ForestHParams(
        num_trees=1,
        num_classes=2,
        num_features=9,
        base_random_seed=3,
        split_after_samples=4,
        num_splits_to_consider=6,
        max_nodes=30,
    ).fill()
    places = [[0, 0], [0, 5], [1, 2], [2, 1], [2, 5], [3, 0]]
    data = {
        "number": tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]),
        "kind": tf.constant([[1], [2], [1], [2]]),
        "sparse": tf.SparseTensor(places, tf.constant([7, 8, 9, 7, 8, 8], tf.int64), [4, 6]),
    }
    if kind == "sparse":
        data = tf.SparseTensor(places, [0.5, 0.25, 1.0, 2.0, 3.0, 4.0], [4, 6])
    forest = tf.contrib.tensor_forest.tensor_forest.RandomForestGraphs(params)
    step = forest.training_graph(data, tf.constant([0, 1, 1, 0]))
    predicted = forest.inference_graph(data)
    found = []
    with tf.Session(config=_one_thread(tf)) as session:
        _initialized(tf, session)
        for _ in range(8):
            session.run(step)
            found.append([session.run(forest.average_size()), session.run(predicted[0])])
    return Close(found, 1e-6)


def finished_early(tf, np):
    points, labels = _points(np)
    with folder_of_its_own() as folder:
        with open(folder + "/params", "w") as file:
            file.write("min_split_samples { constant_value: 4 }")
        params = tf.contrib.tensor_forest.tensor_forest.ForestHParams(
            num_trees=1,
            num_classes=3,
            num_features=4,
            base_random_seed=5,
            split_after_samples=30,
            num_splits_to_consider=5,
            split_finish_name="hoeffding",
            early_finish_check_every_samples=5,
            dominate_fraction=0.1,
            param_file=folder + "/params",
        ).fill()
        return _grown(tf, np, params, points, labels)


def built(tf, np):
    params = tf.contrib.tensor_forest.tensor_forest.ForestHParams(
        num_trees=2, num_classes=2, num_features=3, bagging_fraction=0.5
    ).fill()
    forest = tf.contrib.tensor_forest.tensor_forest.RandomForestGraphs(params)
    return [
        [(v.op.name, v.shape.as_list()) for v in tf.global_variables()],
        [handle.name for handle in forest.get_all_resource_handles()],
        [s.name for s in tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)],
        sorted(params.values()),
        params.serialized_params_proto,
        (params.num_splits_to_consider, params.num_output_columns, params.bagged_num_features),
        tf.contrib.tensor_forest.tensor_forest.get_epoch_variable(),
    ]


def kept_in_checkpoints(tf, np):
    points, labels = _points(np)
    params = tf.contrib.tensor_forest.tensor_forest.ForestHParams(
        num_trees=2,
        num_classes=3,
        num_features=4,
        base_random_seed=5,
        split_after_samples=12,
        num_splits_to_consider=5,
        checkpoint_stats=True,
        inference_tree_paths=True,
    ).fill()
    forest = tf.contrib.tensor_forest.tensor_forest.RandomForestGraphs(params)
    step = forest.training_graph(points, labels)
    predicted = forest.inference_graph(points[:8])
    saver = tf.train.Saver()
    with folder_of_its_own() as folder:
        with tf.Session(config=_one_thread(tf)) as session:
            _initialized(tf, session)
            session.run(step)
            saver.save(session, folder + "/forest")
            for _ in range(3):
                session.run(step)
            expected = session.run(predicted)
        with tf.Session(config=_one_thread(tf)) as session:
            _initialized(tf, session)
            saver.restore(session, folder + "/forest")
            for _ in range(3):
                session.run(step)
            again = session.run(predicted)
        reader = tf.train.load_checkpoint(folder + "/forest")
        names = sorted(reader.get_variable_to_shape_map())
    return [
        names,
        Close([expected[0], again[0]], 1e-6),
        expected[1].shape,
        bool((expected[1] == again[1]).all()),
    ]


@cases("learn", "core")
def estimated(tf, np, kind):
    points, labels = _points(np)
    forests = tf.contrib.tensor_forest
    params = forests.tensor_forest.ForestHParams(
        num_trees=2,
        num_classes=3,
        num_features=4,
        base_random_seed=5,
        split_after_samples=12,
        num_splits_to_consider=5,
        max_nodes=40,
    )
    classes = {
        "learn": forests.random_forest.TensorForestEstimator,
        "core": forests.random_forest.CoreTensorForestEstimator,
    }

    def input_fn():
        return {"x": tf.constant(points), "key": tf.range(90)}, tf.constant(labels.astype("i")[:, None])

    with folder_of_its_own() as folder:
        config = None
        if kind == "core":
            config = tf.estimator.RunConfig(session_config=_one_thread(tf))
        else:
            config = tf.contrib.learn.RunConfig(session_config=_one_thread(tf))
        estimator = classes[kind](
            params, model_dir=folder, keys_column="key", report_feature_importances=True, config=config
        )
        if kind == "core":
            estimator.train(input_fn, steps=12)
        else:
            estimator.fit(input_fn=input_fn, steps=12)
        result = estimator.evaluate(input_fn=input_fn, steps=1)
        predicted = []
        for each in estimator.predict(input_fn=input_fn):
            predicted.append({name: value for name, value in each.items() if name != "classes"})
            if len(predicted) == 5:
                break
        return [
            sorted(result),
            Close({name: float(result[name]) for name in ("accuracy", "loss", "global_step")}, 1e-5, 1e-6),
            Close(predicted, 1e-5, 1e-6),
            sorted(estimator.get_variable_names()),
        ]


@cases(
    "auc",
    "sigmoid_entropy",
    "softmax_entropy",
    "accuracy",
    "r2",
    "predictions",
    "classification_log_loss",
    "precision",
    "precision_at_thresholds",
    "recall",
    "recall_at_thresholds",
    "top_5",
)
def metrics(tf, np, name):
    module = tf.contrib.tensor_forest.eval_metrics
    chance = np.random.RandomState(1)
    probabilities = chance.dirichlet([1] * 6, size=8).astype("f")
    classes = chance.randint(0, 2, size=(8, 1))
    key = module.get_prediction_key(name)
    given = {"probabilities": probabilities, "classes": classes[::-1].copy(), "scores": probabilities[:, :1]}[
        key
    ]
    metric = module.get_metric(name)(tf.constant(given), tf.constant(classes))
    return [key, Close(run(tf, metric[1] if isinstance(metric, tuple) else metric), 1e-5)]


def parts(tf, np):
    data_ops, ops = tf.contrib.tensor_forest.data_ops, tf.contrib.tensor_forest.tensor_forest_ops
    strings = tf.constant(["abc", "", "a longer string of bytes", "12345678", "x" * 20])
    variable = tf.Variable(np.zeros((3, 2, 2), "f"))
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(ops.scatter_add_ndim(variable, [[0, 1], [2, 0], [0, 1]], [[1.0, 2], [3, 4], [5, 6]]))
        session.run(ops.ScatterAddNdim(input=variable, indices=[[0, 1, 1]], deltas=[10.0]))
        dense, sparse, spec = data_ops.ParseDataTensorOrDict(
            {
                "a": tf.constant([[1.0], [2.0]]),
                "b": tf.constant([[1, 2], [3, 4]]),
                "s": tf.SparseTensor([[0, 1]], tf.constant([3], tf.int64), [2, 2]),
                "left out": tf.SparseTensor([[0, 1]], [3.0], [2, 2]),
            }
        )
        labels = data_ops.ParseLabelTensorOrDict({"x": tf.constant([[1], [2]]), "y": tf.constant([[3], [4]])})
        return [
            session.run(ops.reinterpret_string_to_float(strings)),
            session.run(data_ops.CastToFloat(strings)),
            data_ops.CastToFloat(tf.constant([1, 2])).dtype.name,
            session.run(variable),
            spec.SerializeToString(),
            session.run(dense),
            session.run(sparse.values),
            session.run(labels),
            data_ops.GetColumnName("name", 3),
            data_ops.GetColumnName(4, 3),
            data_ops.ParseDataTensorOrDict(np.zeros((2, 3), "f"))[2].SerializeToString(),
            raises(session.run, ops.scatter_add_ndim(variable, [0, 1], [[1.0, 2], [1, 2]])),
            raises(session.run, ops.scatter_add_ndim(variable, [[0, 1]], [[1.0, 2], [1, 2]])),
            raises(session.run, ops.scatter_add_ndim(variable, [[0]], [[1.0, 2, 3, 4]])),
        ]


def refused(tf, np):
    forests = tf.contrib.tensor_forest
    params = forests.tensor_forest.ForestHParams
    filled = params(num_trees=1, num_classes=2, num_features=3).fill()
    forest = forests.tensor_forest.RandomForestGraphs(filled)
    tree = forest.variables[0].tree
    with tf.Session() as session:
        return [
            raises(params(num_features=3).fill),
            raises(params(num_classes=3).fill),
            raises(params(num_classes=3, num_features=3, model_name="x").fill),
            raises(params(num_classes=3, num_features=3, split_name="x").fill),
            raises(forests.eval_metrics.get_metric, "x"),
            raises(session.run, forests.model_ops.tree_size(tree)),
            raises(forests.stats_ops.fertile_stats_variable, filled, "", None),
            raises(forests.tensor_forest_ops.scatter_add_ndim_eager_fallback, 1, 2, 3),
        ]
