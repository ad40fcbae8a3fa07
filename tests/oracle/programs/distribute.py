"""Strategies: variables, replicas, reductions, updates, input, on one and on two CPUs."""

from kit import Close, cases, product, raises

_DEVICES = ["/cpu:0", "/cpu:1"]
_STRATEGIES = {
    "mirrored": lambda tf: tf.distribute.MirroredStrategy(_DEVICES),
    "mirrored alone": lambda tf: tf.distribute.MirroredStrategy(["/cpu:0"]),
    "one device": lambda tf: tf.distribute.OneDeviceStrategy("/cpu:0"),
    "central storage": lambda tf: tf.distribute.experimental.CentralStorageStrategy(_DEVICES, "/cpu:0"),
}
_SEVERAL = ("mirrored", "central storage")
_OPTIMIZERS = {
    "sgd": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda tf: tf.train.AdamOptimizer(0.1),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.5),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.05),
}


def _session(tf):
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))


def _run(tf, *fetches):
    """The values of each fetch, one after the other, once variables are initialized."""
    with _session(tf) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return [session.run(fetch) for fetch in fetches]


def _numbers(tf, np, size=8):
    return tf.data.Dataset.from_tensor_slices(np.arange(size, dtype=np.float32))


@cases(*_STRATEGIES)
def what_a_strategy_is(tf, np, kind):
    strategy = _STRATEGIES[kind](tf)
    outside = [tf.distribute.has_strategy(), tf.distribute.in_cross_replica_context()]
    with strategy.scope():
        inside = [
            tf.distribute.has_strategy(),
            tf.distribute.in_cross_replica_context(),
            tf.distribute.get_replica_context() is None,
            tf.distribute.get_strategy() is strategy,
        ]
    extended = strategy.extended
    return [
        strategy.num_replicas_in_sync,
        list(extended.worker_devices),
        list(extended.parameter_devices),
        outside,
        inside,
        [extended.should_checkpoint, extended.should_save_summary, extended.experimental_should_init],
        [extended.experimental_between_graph, extended.experimental_require_static_shapes],
    ]


@cases("mirrored", "mirrored alone", "one device")
def variables(tf, np, kind):
    strategy = _STRATEGIES[kind](tf)
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], name="v")
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        with tf.variable_scope("inner"):
            u = tf.get_variable("u", initializer=3.0, trainable=False)
        made = [v, w, u]
        facts = [(m.name, m.shape.as_list(), m.dtype.name, m.trainable, m.op.type) for m in made]
        owned = [strategy.extended.variable_created_in_scope(m) for m in made]
    names = sorted(x.name for x in tf.global_variables())
    total = v + w * u
    return [facts, owned, names, _run(tf, total, v, [x for m in made for x in strategy.unwrap(m)][:3])]


@cases(*_STRATEGIES)
def assigning_for_all(tf, np, kind):
    strategy = _STRATEGIES[kind](tf)
    with strategy.scope():
        v = tf.Variable(1.0)
        one, two, three = v.assign(5.0), v.assign_add(2.0), v.assign_sub(0.5)
        copies = list(strategy.unwrap(v))
    return [_run(tf, *[x for op in (one, two, three) for x in (strategy.group(op), copies)])[1::2]]


@cases(*product(_SEVERAL, ["SUM", "MEAN", "ONLY_FIRST_REPLICA"]))
def assigning_in_replicas(tf, np, kind, how):
    strategy = _STRATEGIES[kind](tf)
    with strategy.scope():
        v = tf.Variable(1.0, aggregation=getattr(tf.VariableAggregation, how))

        def step():
            replica = tf.distribute.get_replica_context().replica_id_in_sync_group
            return v.assign_add(tf.cast(replica + 1, tf.float32))

        op = strategy.experimental_run_v2(step)
        return _run(tf, strategy.group(op), list(strategy.unwrap(v)))[1]


def assigning_without_an_aggregation(tf, np):
    strategy = _STRATEGIES["mirrored"](tf)
    with strategy.scope():
        v = tf.Variable(1.0)
        return raises(strategy.experimental_run_v2, lambda: v.assign(2.0))


@cases("SUM", "MEAN", "ONLY_FIRST_REPLICA", "NONE")
def variables_that_are_joined_when_read(tf, np, how):
    strategy = _STRATEGIES["mirrored"](tf)
    with strategy.scope():
        v = tf.get_variable(
            "v",
            initializer=1.0,
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=getattr(tf.VariableAggregation, how),
        )

        def step():
            replica = tf.distribute.get_replica_context().replica_id_in_sync_group
            return v.assign_add(tf.cast(replica + 1, tf.float32))

        op = strategy.experimental_run_v2(step)
        read = strategy.extended.read_var(v) if how != "NONE" else tf.constant(0.0)
        return [v.trainable, _run(tf, read, strategy.group(op), read, list(strategy.unwrap(v)))[2:]]


@cases(*product(_STRATEGIES, _OPTIMIZERS))
def training(tf, np, kind, optimizer):
    strategy = _STRATEGIES[kind](tf)
    with strategy.scope():
        step = tf.train.get_or_create_global_step()
        v = tf.Variable([1.0, -1.0], name="v")
        iterator = strategy.make_dataset_iterator(_numbers(tf, np).batch(4))

        def train(x):
            loss = tf.reduce_mean((v[0] * x - 1.0 + v[1]) ** 2) * 0.01
            with tf.control_dependencies([_OPTIMIZERS[optimizer](tf).minimize(loss, global_step=step)]):
                return tf.identity(loss)

        losses = strategy.experimental_run(train, iterator)
        mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, losses)
        begin = iterator.initialize()
    with _session(tf) as session:
        session.run([tf.global_variables_initializer(), begin])
        found = [[session.run(mean), session.run(v), session.run(step)] for _ in range(2)]
        ended = raises(session.run, mean)
        names = sorted(x.name for x in tf.global_variables())
        return [Close(found, 1e-5, 1e-6), ended, names]


@cases(*product(_STRATEGIES, ["variables", "layers", "losses"]))
def models_inside_replicas(tf, np, kind, way):
    strategy = _STRATEGIES[kind](tf)
    x = np.linspace(-1, 1, 6).reshape(3, 2).astype(np.float32)

    def model():
        if way == "variables":
            w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
            y = tf.matmul(x, w)
        else:
            y = tf.layers.dense(x, 1, kernel_initializer=tf.ones_initializer(), name="dense")
        if way == "losses":
            return tf.losses.mean_squared_error(np.ones([3, 1]), y)
        return tf.reduce_sum(y)

    with strategy.scope():
        first = strategy.experimental_run_v2(model)
        total = [strategy.unwrap(first)]
        names = sorted(v.name for v in tf.trainable_variables())
    return [names, _run(tf, total)]


@cases(*_STRATEGIES)
def reducing(tf, np, kind):
    strategy = _STRATEGIES[kind](tf)

    def values():
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        x = tf.cast(replica + 1, tf.float32)
        return x, tf.stack([x, 2 * x, 3 * x])

    with strategy.scope():
        one, many = strategy.experimental_run_v2(values)
        op = tf.distribute.ReduceOp
        reduced = [
            strategy.reduce(op.SUM, one),
            strategy.reduce(op.MEAN, one),
            strategy.reduce("sum", many),
            strategy.reduce(op.SUM, many, axis=0),
        ]
        if strategy.num_replicas_in_sync == 1:
            reduced.append(strategy.reduce(op.MEAN, many, axis=0))
    return [_run(tf, reduced), len(strategy.experimental_local_results(one))]


@cases(*_STRATEGIES)
def merging(tf, np, kind):
    strategy = _STRATEGIES[kind](tf)
    seen = []

    def merged(given, a, b):
        seen.append([given is strategy, tf.distribute.in_cross_replica_context()])
        total = given.reduce(tf.distribute.ReduceOp.SUM, a)
        return total + b

    def step():
        context = tf.distribute.get_replica_context()
        x = tf.cast(context.replica_id_in_sync_group + 1, tf.float32)
        y = context.merge_call(merged, args=(x,), kwargs={"b": 10.0})
        z = context.all_reduce(tf.distribute.ReduceOp.SUM, {"y": x * y, "x": x})
        return [y, z["x"], z["y"], context.num_replicas_in_sync, tf.distribute.in_cross_replica_context()]

    with strategy.scope():
        found = strategy.experimental_run_v2(step)
        tensors = [strategy.unwrap(value) for value in found[:3]]
    return [seen, found[3:], _run(tf, tensors)]


@cases(*_SEVERAL)
def what_replicas_are_given(tf, np, kind):
    strategy = _STRATEGIES[kind](tf)
    with strategy.scope():
        one = strategy.experimental_run_v2(
            lambda: tf.distribute.get_replica_context().replica_id_in_sync_group
        )
        both = strategy.experimental_run_v2(lambda a, b, c: a * 10 + b + c["c"], (one, 2), {"c": {"c": one}})
    return _run(tf, list(strategy.unwrap(both)))


@cases(*_SEVERAL)
def names_in_replicas(tf, np, kind):
    strategy = _STRATEGIES[kind](tf)

    def step():
        with tf.name_scope("inner"):
            return tf.add(tf.constant(1.0, name="a"), 2.0, name="sum")

    with tf.name_scope("outer"), strategy.scope():
        found = strategy.experimental_run_v2(step)
    return [(value.name, value.device) for value in strategy.unwrap(found)]


@cases(*_STRATEGIES)
def updating(tf, np, kind):
    strategy = _STRATEGIES[kind](tf)
    with strategy.scope():
        v = tf.Variable(1.0)
        extended = strategy.extended
        op = extended.update(v, lambda copy, x: copy.assign_add(x), args=(2.0,))
        several = extended.update(v, lambda copy: copy.assign_add(1.0), group=False)
        other = extended.update_non_slot(extended.non_slot_devices([v]), lambda: tf.no_op())
        copies = list(strategy.unwrap(v))
        count = len(several) if isinstance(several, tuple) else 1
    with _session(tf) as session:
        session.run(tf.global_variables_initializer())
        session.run([op, other])
        return [count, session.run(copies)]


@cases(*_STRATEGIES)
def saving(tf, np, kind):
    import os
    import tempfile

    strategy = _STRATEGIES[kind](tf)
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], name="v")
        m = tf.get_variable(
            "m",
            initializer=3.0,
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        changed = strategy.group([v.assign([5.0, 6.0])])
        saver = tf.train.Saver([v, m] if kind.startswith("mirrored") else [v])
        copies = [list(strategy.unwrap(v)), list(strategy.unwrap(m))]
    prefix = os.path.join(tempfile.mkdtemp(), "model")
    with _session(tf) as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, prefix)
        session.run(changed)
        saver.restore(session, prefix)
        read = tf.train.load_checkpoint(prefix)
        return [tf.train.list_variables(prefix), read.get_tensor("v"), session.run(copies)]


@cases(*_STRATEGIES)
def inputs_of_functions(tf, np, kind):
    strategy = _STRATEGIES[kind](tf)
    contexts = []

    def dataset(context):
        contexts.append(
            [context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync]
        )
        contexts.append(context.get_per_replica_batch_size(8))
        return _numbers(tf, np).batch(2)

    with strategy.scope():
        iterator = strategy.make_input_fn_iterator(dataset)
        x = strategy.experimental_run(lambda x: tf.reduce_sum(x), iterator)
        total = list(strategy.unwrap(x))
        begin = iterator.initialize()
    with _session(tf) as session:
        session.run(begin)
        return [contexts, [session.run(total) for _ in range(2)]]


@cases(*_STRATEGIES)
def batches_are_divided(tf, np, kind):
    strategy = _STRATEGIES[kind](tf)
    with strategy.scope():
        data = tf.data.Dataset.from_tensor_slices((np.arange(8.0), np.arange(8)))
        iterator = strategy.make_dataset_iterator(data.batch(4))
        found = strategy.experimental_run(lambda given: [tf.identity(x) for x in given], iterator)
        parts = [list(strategy.unwrap(x)) for x in found]
        begin = iterator.initialize()
    with _session(tf) as session:
        session.run(begin)
        return [session.run(parts), session.run(parts), raises(session.run, parts)]


def mistakes(tf, np):
    strategy = _STRATEGIES["mirrored"](tf)
    other = _STRATEGIES["one device"](tf)

    def nested():
        with strategy.scope(), other.scope():
            pass

    def in_a_replica():
        with strategy.scope():
            strategy.experimental_run_v2(lambda: strategy.extended.call_for_each_replica(lambda: 1))

    def gradients_for_all():
        with strategy.scope():
            v = tf.Variable(1.0)
            tf.train.GradientDescentOptimizer(0.1).apply_gradients([(tf.constant(1.0), v)])

    return [
        raises(nested),
        raises(in_a_replica),
        raises(gradients_for_all),
        strategy.extended.call_for_each_replica(lambda: 1),
        raises(tf.distribute.InputContext(num_replicas_in_sync=3).get_per_replica_batch_size, 8),
        raises(tf.distribute.HierarchicalCopyAllReduce, -1),
    ]


@cases("SUM", "MEAN")
def cross_device_operations(tf, np, how):
    strategy = tf.distribute.MirroredStrategy(_DEVICES, cross_device_ops=tf.distribute.ReductionToOneDevice())
    reduce_op = getattr(tf.distribute.ReduceOp, how)
    with strategy.scope():
        v = tf.Variable(1.0)
        x = strategy.experimental_run_v2(
            lambda: tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group + 1, tf.float32)
        )
        extended = strategy.extended
        found = [
            extended.reduce_to(reduce_op, x, v),
            extended.reduce_to(reduce_op, x, "/cpu:1"),
            extended.broadcast_to(tf.constant(3.0), v),
            *extended.batch_reduce_to(reduce_op, [(x, v), (x, "/cpu:0")]),
        ]
        return _run(tf, [list(strategy.unwrap(value)) for value in found])


def sparse_gradients(tf, np):
    strategy = _STRATEGIES["mirrored"](tf)
    with strategy.scope():
        table = tf.Variable(np.ones([4, 2], np.float32))

        def train():
            replica = tf.distribute.get_replica_context().replica_id_in_sync_group
            rows = tf.gather(table, tf.stack([replica, 3]))
            return tf.train.AdagradOptimizer(0.5).minimize(tf.reduce_sum(rows**2))

        op = strategy.group(strategy.experimental_run_v2(train))
        return _run(tf, op, list(strategy.unwrap(table)))[1]


@cases(*_STRATEGIES)
def the_default_strategy(tf, np, kind):
    strategy = tf.distribute.get_strategy()
    context = tf.distribute.get_replica_context()
    v = tf.Variable(2.0)
    found = strategy.experimental_run_v2(lambda x: x * v, (3.0,))
    merged = context.merge_call(lambda s, x: s.reduce(tf.distribute.ReduceOp.SUM, x), args=(v + 1.0,))
    return [
        strategy.num_replicas_in_sync,
        context.num_replicas_in_sync,
        _run(tf, found, merged),
        tf.distribute.get_loss_reduction().name,
    ]


def _line_model(tf, features, labels, mode, params):
    y = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer(), name="line")
    loss = {
        "mean": lambda: tf.losses.mean_squared_error(labels, y),
        "sum": lambda: tf.losses.mean_squared_error(labels, y, reduction=tf.losses.Reduction.SUM),
        "plain": lambda: tf.reduce_mean((labels - y) ** 2),
    }[params["loss"]]()
    optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
    train = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    metrics = {"error": tf.metrics.mean_absolute_error(labels, y)}
    return tf.estimator.EstimatorSpec(mode, {"y": y}, loss, train, eval_metric_ops=metrics)


@cases(*product(["mirrored", "one device"], ["mean", "sum", "plain"]))
def estimators(tf, np, kind, loss):
    import tempfile

    x = np.linspace(0, 1, 16).reshape(16, 1).astype(np.float32)

    def batches(input_context=None):
        seen.append(None if input_context is None else input_context.num_replicas_in_sync)
        return tf.data.Dataset.from_tensor_slices((x, 3 * x + 1)).repeat().batch(4)

    seen = []
    config = tf.estimator.RunConfig(
        train_distribute=_STRATEGIES[kind](tf),
        session_config=tf.ConfigProto(device_count={"CPU": 2}),
        tf_random_seed=1,
    )
    estimator = tf.estimator.Estimator(
        lambda features, labels, mode, params: _line_model(tf, features, labels, mode, params),
        tempfile.mkdtemp(),
        config,
        {"loss": loss},
    )
    estimator.train(batches, steps=5)
    weights = {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}
    found = estimator.evaluate(batches, steps=2)
    return [seen, Close(weights, 1e-4, 1e-6), Close(found["error"], 1e-4), int(found["global_step"])]


def _columns(tf):
    category = tf.feature_column.categorical_column_with_identity("c", 5)
    return tf.feature_column.numeric_column("x"), category, tf.feature_column.embedding_column(category, 3)


_CANNED = {
    "linear": lambda tf, x, c, e, config: tf.estimator.LinearClassifier([x, c], config=config),
    "dnn": lambda tf, x, c, e, config: tf.estimator.DNNClassifier([4], [x, e], config=config),
    "dnn with adam": lambda tf, x, c, e, config: tf.estimator.DNNRegressor(
        [4], [x, e], config=config, optimizer="Adam", batch_norm=True
    ),
    "combined": lambda tf, x, c, e, config: tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=[c], dnn_feature_columns=[x], dnn_hidden_units=[3], config=config
    ),
    "baseline": lambda tf, x, c, e, config: tf.estimator.BaselineClassifier(config=config),
}
_TRAINED = [
    ("mirrored", "dnn"),
    ("mirrored", "dnn with adam"),
    ("one device", "linear"),
    ("one device", "dnn with adam"),
    ("central storage", "linear"),
    ("central storage", "dnn"),
    ("central storage", "combined"),
    ("central storage", "baseline"),
]


@cases(*_TRAINED)
def variables_of_canned_estimators(tf, np, kind, canned):
    import tempfile

    def batches():
        x = {"x": np.arange(16, dtype=np.float32) / 16, "c": np.arange(16) % 5}
        return tf.data.Dataset.from_tensor_slices((x, np.arange(16) % 2)).repeat().batch(4)

    config = tf.estimator.RunConfig(
        tempfile.mkdtemp(),
        tf_random_seed=1,
        train_distribute=_STRATEGIES[kind](tf),
        session_config=tf.ConfigProto(device_count={"CPU": 2}),
    )
    estimator = _CANNED[canned](tf, *_columns(tf), config)
    estimator.train(batches, steps=2)
    return sorted(estimator.get_variable_names())
