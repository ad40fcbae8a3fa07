"""Model functions on several devices (contrib.estimator), and computations written for TPUs (contrib.tpu)."""

from kit import cases, normal, product, raises, run


def _model(tf, wrapped=True):
    def model_fn(features, labels, mode, params):
        w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))
        s = tf.get_variable("s", initializer=0.5)
        found = tf.reduce_sum(features["x"] * w, 1) + s
        spec = tf.estimator.EstimatorSpec
        if mode == "infer":
            output = tf.estimator.export.PredictOutput({"p": found})
            return spec(mode, predictions={"p": found}, export_outputs={"o": output})
        loss = tf.losses.mean_squared_error(labels, found)
        optimizer = tf.train.MomentumOptimizer(params["rate"], 0.9)
        if wrapped:
            optimizer = tf.contrib.estimator.TowerOptimizer(optimizer)
        train = optimizer.minimize(loss, global_step=tf.train.get_global_step()) if mode == "train" else None
        metrics = {
            "mean": tf.metrics.mean(found),
            "right": tf.metrics.accuracy(tf.cast(labels, tf.int32), tf.cast(found, tf.int32)),
        }
        return spec(mode, loss=loss, train_op=train, predictions={"p": found}, eval_metric_ops=metrics)

    return model_fn


def _spec(tf, np, mode, devices, wrapped=True, **arguments):
    tf.train.create_global_step()
    features = {"x": tf.constant(normal(np, 4, 2).astype("float32"))}
    labels = None if mode == "infer" else tf.constant([1.0, 2.0, 3.0, 4.0])
    replicate = tf.contrib.estimator.replicate_model_fn
    model_fn = replicate(_model(tf, wrapped), devices=["/cpu:0"] * devices, **arguments)
    return model_fn(features, labels, mode, {"rate": 0.1})


def _initialized(tf):
    session = tf.Session()
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    return session


@cases(*product([1, 2, 4], ["weighted_sum_by_nonzero_weights", "weighted_sum"]))
def trained(tf, np, devices, reduction):
    spec = _spec(tf, np, "train", devices, loss_reduction=reduction)
    with _initialized(tf) as session:
        losses = [session.run([spec.loss, spec.train_op])[0] for _ in range(3)]
        values = [(v.name, session.run(v)) for v in tf.global_variables()]
    return losses, values, spec.loss.name, spec.train_op.name


@cases(1, 2, 4)
def evaluated(tf, np, devices):
    spec = _spec(tf, np, "eval", devices)
    with _initialized(tf) as session:
        for _ in range(2):
            session.run({name: update for name, (_, update) in spec.eval_metric_ops.items()})
        metrics = session.run({name: value for name, (value, _) in spec.eval_metric_ops.items()})
        return session.run(spec.loss), metrics, [v.name for v in tf.local_variables()]


@cases(1, 2)
def predicted(tf, np, devices):
    spec = _spec(tf, np, "infer", devices)
    return run(tf, [spec.predictions, spec.export_outputs["o"].outputs]), spec.predictions["p"]


def refused_towers(tf, np):
    def refused(*arguments, **options):
        with tf.Graph().as_default():
            return raises(_spec, tf, np, *arguments, **options)

    return [
        refused("train", 2, loss_reduction="none"),
        refused("train", 2, wrapped=False),
        refused("train", 3),
    ]


def lone_optimizer(tf, np):
    v = tf.get_variable("v", initializer=1.0)
    optimizer = tf.contrib.estimator.TowerOptimizer(lambda: tf.train.MomentumOptimizer(0.1, 0.9))
    optimizer.minimize(v * v)
    slots = optimizer.get_slot_names(), optimizer.get_slot(v, "momentum")
    return optimizer.has_been_used(), slots, optimizer.get_name(), [x.name for x in optimizer.variables()]


def loops(tf, np):
    tpu = tf.contrib.tpu
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    doubled = tpu.repeat(5, lambda x: x * 2, [tf.constant(1.0)])
    both = tpu.repeat(3, lambda x, y: (x + 1, y * 2.0), [tf.constant(1), tf.constant(1.0)])
    counted = tpu.repeat(4, lambda: tf.group(v.assign_add(2.0)))
    single = tpu.while_loop(lambda i: i < 7, lambda i: i + 2, [tf.constant(0)])
    pair = tpu.while_loop(
        lambda i, x: i < 7, lambda i, x: [i + 2, x * 2.0], [tf.constant(0), tf.constant(1.0)]
    )
    with _initialized(tf) as session:
        values = session.run([doubled, both, single, pair])
        session.run(counted)
        return values, session.run(v), counted.type, type(doubled).__name__, type(single).__name__


def refused_loops(tf, np):
    loop = tf.contrib.tpu.while_loop
    return [
        raises(loop, lambda i: i < 2, lambda: 1, [0]),
        raises(loop, lambda: True, lambda i: i, [0]),
        raises(loop, lambda i: i < 2, lambda i: tf.cast(i, tf.float32), [0]),
        raises(loop, lambda i: i < 2, lambda i: [tf.no_op(), i], [0]),
    ]


def kept_in_float32(tf, np):
    with tf.contrib.tpu.bfloat16_scope():
        a, b = tf.get_variable("a", [2], dtype=tf.bfloat16), tf.get_variable("b", [2])
    with tf.variable_scope("q"), tf.contrib.tpu.bfloat16_scope():
        c = tf.get_variable("c", [2], dtype=tf.bfloat16)
    return [x.dtype for x in (a, b, c)], [(v.name, v.dtype) for v in tf.global_variables()]


def replicas(tf, np):
    tpu = tf.contrib.tpu

    def computed(x):
        return x + 1.0, tf.reduce_sum(x)

    ones = tf.ones([4, 2])
    shapes = [
        [x.shape for x in found]
        for found in (
            tpu.shard(computed, [ones], 2),
            tpu.batch_parallel(computed, [ones], 4),
            tpu.rewrite(computed, [ones]),
        )
    ]
    nested = tpu.rewrite(lambda x: {"a": x, "b": [x]}, [tf.constant(1.0)])
    several = tpu.replicate(lambda x: x, [[tf.constant(1)], [tf.constant(2)]])
    kinds = [type(x).__name__ for x in (tpu.rewrite(lambda: None), several[0])]
    return shapes, sorted(nested), len(several), kinds, tpu.core(1)


def refused_replicas(tf, np):
    tpu, ones = tf.contrib.tpu, [tf.ones([2])]
    adam = tf.train.AdamOptimizer()

    def same(x):
        return x

    def grouped(groups):
        return tpu.CrossShardOptimizer(adam, group_assignment=groups).compute_gradients

    return [
        raises(tpu.shard, same, ones, 0),
        raises(tpu.shard, same, tf.ones([2]), 1),
        raises(tpu.shard, same, ones, 1, input_shard_axes=[0, 1]),
        raises(tpu.shard, same, ones, 1, output_shard_axes=[0, 1]),
        raises(tpu.shard, same, ones, 1, outputs_from_all_shards=[True, True]),
        raises(tpu.replicate, same, ones),
        raises(tpu.replicate, same, [[1], [1, 2]]),
        raises(tpu.replicate, same, [[1], [1.0]]),
        raises(tpu.rewrite, same, [tf.constant(1), tf.constant(2)]),
        raises(tpu.rewrite, lambda x, y: x, [tf.constant(1)]),
        raises(tpu.rewrite, lambda x: (tf.no_op(), x), [1]),
        raises(tpu.CrossShardOptimizer, adam, reduction="x"),
        raises(tpu.CrossShardOptimizer, tf.keras.optimizers.SGD(0.1)),
        raises(grouped([1]), tf.constant(1.0)),
        raises(grouped([[1]]), tf.constant(1.0)),
    ]
