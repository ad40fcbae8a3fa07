"""tf.contrib.layers, framework, losses, metrics and opt: values, names, collections, errors."""

from kit import Close, cases, graph, normal, raises, run


def _fill(np):
    """An initializer whose values are the same in every engine."""

    def initial(shape, dtype=None, partition_info=None):
        size = int(np.prod([int(n) for n in shape]))
        values = np.sin(np.arange(size, dtype=np.float64)).reshape([int(n) for n in shape])
        return values.astype(dtype.as_numpy_dtype)

    return initial


def _input(np, *shape):
    return normal(np, *shape).astype(np.float32)


def _collections(tf):
    kinds = ["variables", "trainable_variables", "model_variables", "regularization_losses", "outs", "vars"]
    return {kind: [getattr(v, "name", v) for v in tf.get_collection(kind)] for kind in kinds}


def _with_gradients(tf, np, build, x):
    inputs = tf.constant(x)
    outputs = build(inputs)
    shape = outputs.shape.as_list()
    weights = tf.constant(np.cos(np.arange(int(np.prod(shape)))).reshape(shape), outputs.dtype)
    slopes = tf.gradients(tf.reduce_sum(outputs * weights), [inputs] + tf.trainable_variables())
    present = [s for s in slopes if s is not None]
    value, made = run(tf, [outputs, present])
    return [Close([value, made], 3e-4, 3e-5), outputs, [s is None for s in slopes], _collections(tf)]


_LAYERS = {
    "fully_connected": ([3, 4], lambda l, i: lambda x: l.fully_connected(x, 5, weights_initializer=i)),
    "fully_connected linear": ([3, 4], lambda l, i: lambda x: l.linear(x, 5, weights_initializer=i)),
    "fully_connected rank 3": (
        [2, 3, 4],
        lambda l, i: lambda x: l.fully_connected(x, 5, weights_initializer=i),
    ),
    "fully_connected elu": ([3, 4], lambda l, i: lambda x: l.elu(x, 5, weights_initializer=i)),
    "fully_connected relu6": ([3, 4], lambda l, i: lambda x: l.relu6(x, 5, weights_initializer=i)),
    "fully_connected no bias": (
        [3, 4],
        lambda l, i: lambda x: l.fully_connected(x, 5, weights_initializer=i, biases_initializer=None),
    ),
    "fully_connected regularized": (
        [3, 4],
        lambda l, i: lambda x: l.fully_connected(
            x,
            5,
            weights_initializer=i,
            weights_regularizer=l.l2_regularizer(0.1),
            biases_regularizer=l.l1_regularizer(0.2),
            variables_collections={"weights": ["vars"]},
            outputs_collections="outs",
            scope="mine",
        ),
    ),
    "fully_connected normalized": (
        [3, 4],
        lambda l, i: lambda x: l.fully_connected(
            x, 5, weights_initializer=i, normalizer_fn=l.batch_norm, normalizer_params={"scale": True}
        ),
    ),
    "conv1d": ([2, 7, 3], lambda l, i: lambda x: l.conv1d(x, 4, 3, weights_initializer=i)),
    "conv2d": ([2, 6, 5, 3], lambda l, i: lambda x: l.conv2d(x, 4, [3, 3], weights_initializer=i)),
    "conv2d valid": (
        [2, 6, 5, 3],
        lambda l, i: lambda x: l.conv2d(x, 4, 3, 2, "VALID", weights_initializer=i, activation_fn=None),
    ),
    "conv2d rate": ([2, 8, 8, 3], lambda l, i: lambda x: l.conv2d(x, 4, 3, rate=2, weights_initializer=i)),
    "conv2d normalized": (
        [2, 6, 5, 3],
        lambda l, i: lambda x: l.conv2d(x, 4, 3, weights_initializer=i, normalizer_fn=l.batch_norm),
    ),
    "conv3d": ([1, 4, 5, 4, 2], lambda l, i: lambda x: l.conv3d(x, 3, 2, weights_initializer=i)),
    "conv2d_transpose": (
        [1, 4, 3, 2],
        lambda l, i: lambda x: l.conv2d_transpose(x, 3, 3, 2, weights_initializer=i),
    ),
    "conv3d_transpose": (
        [1, 2, 3, 2, 2],
        lambda l, i: lambda x: l.conv3d_transpose(x, 3, 2, 2, weights_initializer=i),
    ),
    "separable_conv2d": (
        [1, 6, 6, 3],
        lambda l, i: lambda x: l.separable_conv2d(x, 4, 3, 2, weights_initializer=i),
    ),
    "separable_conv2d depthwise": (
        [1, 6, 6, 3],
        lambda l, i: lambda x: l.separable_conv2d(x, None, [3, 3], 2, stride=2, weights_initializer=i),
    ),
    "conv2d_in_plane": (
        [1, 6, 6, 3],
        lambda l, i: lambda x: l.conv2d_in_plane(x, [3, 2], weights_initializer=i),
    ),
    "max_pool2d": ([2, 6, 5, 3], lambda l, i: lambda x: l.max_pool2d(x, [2, 2])),
    "max_pool2d same": ([2, 6, 5, 3], lambda l, i: lambda x: l.max_pool2d(x, [3, 3], 1, "SAME", scope="p")),
    "avg_pool2d": ([2, 6, 5, 3], lambda l, i: lambda x: l.avg_pool2d(x, 2, outputs_collections="outs")),
    "max_pool3d": ([1, 4, 4, 4, 2], lambda l, i: lambda x: l.max_pool3d(x, [2, 2, 2])),
    "avg_pool3d": ([1, 4, 4, 4, 2], lambda l, i: lambda x: l.avg_pool3d(x, 2)),
    "bias_add": ([2, 3], lambda l, i: lambda x: l.bias_add(x, initializer=i)),
    "flatten": ([2, 3, 4], lambda l, i: lambda x: l.flatten(x)),
    "dropout off": ([2, 3], lambda l, i: lambda x: l.dropout(x, 0.5, is_training=False)),
    "layer_norm": ([3, 5], lambda l, i: lambda x: l.layer_norm(x)),
    "layer_norm images": ([2, 3, 4, 5], lambda l, i: lambda x: l.layer_norm(x, begin_norm_axis=-1)),
    "layer_norm bare": ([3, 5], lambda l, i: lambda x: l.layer_norm(x, center=False, scale=False)),
    "instance_norm": ([2, 3, 4, 5], lambda l, i: lambda x: l.instance_norm(x)),
    "instance_norm nchw": ([2, 3, 4, 5], lambda l, i: lambda x: l.instance_norm(x, data_format="NCHW")),
    "group_norm": ([2, 3, 4, 6], lambda l, i: lambda x: l.group_norm(x, groups=3)),
    "group_norm nchw": (
        [2, 6, 3, 4],
        lambda l, i: lambda x: l.group_norm(x, groups=2, channels_axis=-3, reduction_axes=(-2, -1)),
    ),
    "group_norm near zero": (
        [2, 3, 4, 6],
        lambda l, i: lambda x: l.group_norm(x, groups=2, mean_close_to_zero=True),
    ),
    "unit_norm": ([3, 5], lambda l, i: lambda x: l.unit_norm(x, 1)),
    "unit_norm first": ([3, 5], lambda l, i: lambda x: l.unit_norm(x, 0)),
    "maxout": ([3, 6], lambda l, i: lambda x: l.maxout(x, 2)),
    "softmax": ([2, 3, 4], lambda l, i: lambda x: l.softmax(x)),
    "spatial_softmax": ([2, 4, 5, 3], lambda l, i: lambda x: l.spatial_softmax(x)),
    "images_to_sequence": ([2, 4, 5, 3], lambda l, i: lambda x: l.images_to_sequence(x)),
    "sequence_to_images": ([5, 8, 3], lambda l, i: lambda x: l.sequence_to_images(x, 4)),
    "repeat": (
        [3, 4],
        lambda l, i: lambda x: l.repeat(x, 2, l.fully_connected, 4, weights_initializer=i),
    ),
    "stack": (
        [3, 4],
        lambda l, i: lambda x: l.stack(x, l.fully_connected, [5, 6], weights_initializer=i, scope="s"),
    ),
    "legacy_fully_connected": ([3, 4], lambda l, i: lambda x: l.legacy_fully_connected(x, 5, weight_init=i)),
    "legacy_relu rank 3": ([2, 3, 4], lambda l, i: lambda x: l.legacy_relu(x, 5, weight_init=i)),
    "batch_norm inference": (
        [3, 4, 4, 2],
        lambda l, i: lambda x: l.batch_norm(x, is_training=False, scale=True),
    ),
    "batch_norm now": (
        [3, 4, 4, 2],
        lambda l, i: lambda x: l.batch_norm(x, updates_collections=None, scale=True),
    ),
    "batch_norm plain": (
        [3, 4, 4, 2],
        lambda l, i: lambda x: l.batch_norm(x, fused=False, updates_collections=None),
    ),
    "batch_norm matrix": ([5, 4], lambda l, i: lambda x: l.batch_norm(x, updates_collections=None)),
    "batch_norm rank 3": ([5, 4, 3], lambda l, i: lambda x: l.batch_norm(x)),
    "batch_norm bare": ([5, 4, 3, 2], lambda l, i: lambda x: l.batch_norm(x, center=False)),
}  # fmt: skip


@cases({key: (key,) for key in _LAYERS})
def layer(tf, np, key):
    shape, make = _LAYERS[key]
    return _with_gradients(tf, np, make(tf.contrib.layers, _fill(np)), _input(np, *shape))


@cases({key: (key,) for key in _LAYERS if key not in ("legacy_relu rank 3", "group_norm near zero")})
def layer_graph(tf, np, key):
    shape, make = _LAYERS[key]
    make(tf.contrib.layers, tf.zeros_initializer())(tf.placeholder(tf.float32, shape, name="x"))
    return graph(tf, attrs=[])


_BATCH_NORMS = {
    "later": {},
    "later scaled": {"scale": True, "decay": 0.5},
    "now": {"updates_collections": None, "decay": 0.9},
    "own collection": {"updates_collections": "mine", "decay": 0.9},
    "not fused": {"fused": False, "decay": 0.9},
    "not fused now": {"fused": False, "updates_collections": None, "decay": 0.9},
    "unbiased": {"zero_debias_moving_mean": True, "updates_collections": None, "decay": 0.9},
    "renorm": {"renorm": True, "fused": False},
    "initializers": {"param_initializers": "given", "updates_collections": None},
    "weights": {"batch_weights": [1.0, 0.5, 0.0, 2.0], "updates_collections": None},
}


@cases(*[(kind, shape) for kind in _BATCH_NORMS for shape in ([4, 3], [4, 2, 2, 3])])
def batch_norm_training(tf, np, kind, shape):
    options = dict(_BATCH_NORMS[kind])
    if options.get("param_initializers"):
        fill = _fill(np)
        options["param_initializers"] = {"beta": fill, "moving_variance": tf.constant_initializer(4.0)}
    training = tf.placeholder(tf.bool, [])
    x = tf.placeholder(tf.float32, shape)
    y = tf.contrib.layers.batch_norm(x, is_training=training, **options)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS) + tf.get_collection("mine")
    moving = sorted((v for v in tf.global_variables() if "moving" in v.name), key=lambda v: v.name)
    out = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(3):
            feed = {x: _input(np, *shape) + step, training: step < 2}
            out.append(session.run(y, feed))
            session.run(updates, feed)
            out.append(session.run(moving))
    return [Close(out, 3e-4, 3e-5), [v.name for v in moving], y.shape, _collections(tf)]


@cases(
    ("scale integer", lambda tf, l: l.l2_regularizer(1)),
    ("scale negative", lambda tf, l: l.l1_regularizer(-0.1)),
    ("num_outputs", lambda tf, l: l.fully_connected(tf.zeros([2, 3]), 2.5)),
    ("conv rank", lambda tf, l: l.conv2d(tf.zeros([2, 3]), 2, 3)),
    ("conv rank 1d", lambda tf, l: l.conv1d(tf.zeros([2, 3, 3, 1]), 2, 3)),
    ("conv format", lambda tf, l: l.conv2d(tf.zeros([2, 3, 3, 1]), 2, 3, data_format="HWC")),
    ("pool format", lambda tf, l: l.max_pool2d(tf.zeros([2, 3, 3, 1]), 2, data_format="HWC")),
    ("unit_norm dim", lambda tf, l: l.unit_norm(tf.zeros([2, 3]), 2)),
    ("maxout", lambda tf, l: l.maxout(tf.zeros([2, 3]), 2)),
    ("group_norm groups", lambda tf, l: l.group_norm(tf.zeros([2, 3, 3, 4]), 3)),
    ("layer_norm axis", lambda tf, l: l.layer_norm(tf.zeros([2, 3]), begin_norm_axis=2)),
    ("embed sizes", lambda tf, l: l.embed_sequence(tf.zeros([2, 3], tf.int32))),
    ("xavier integers", lambda tf, l: l.xavier_initializer(dtype=tf.int32)),
    ("scaling mode", lambda tf, l: l.variance_scaling_initializer(mode="FAN")),
    ("stack args", lambda tf, l: l.stack(tf.zeros([2, 3]), l.fully_connected, 3)),
    ("no weights", lambda tf, l: l.apply_regularization(l.l2_regularizer(0.1))),
    ("optimizer name", lambda tf, l: l.optimize_loss(tf.zeros([]), None, 0.1, "Sgd")),
    ("learning rate", lambda tf, l: l.optimize_loss(tf.zeros([]), None, "x", "SGD")),
    ("bias nchw", lambda tf, l: l.bias_add(tf.zeros([2, 3]), data_format="NCHW")),
)
def refusal(tf, np, label, call):
    return raises(call, tf, tf.contrib.layers)


def initializers(tf, np):
    tf.set_random_seed(3)
    made = [
        tf.contrib.layers.xavier_initializer()([3, 4]),
        tf.contrib.layers.xavier_initializer(uniform=False, seed=2)([3, 3, 2, 4]),
        tf.contrib.layers.variance_scaling_initializer()([5]),
        tf.contrib.layers.variance_scaling_initializer(1.0, "FAN_OUT", True, seed=4, dtype=tf.float64)(
            [3, 4]
        ),
        tf.contrib.layers.variance_scaling_initializer(mode="FAN_AVG")([]),
        tf.contrib.layers.xavier_initializer_conv2d(seed=1)([2, 2, 3, 4]),
    ]
    return run(tf, made)


def regularizers(tf, np):
    l, x = tf.contrib.layers, tf.constant(_input(np, 3, 4))
    made = [
        l.l1_regularizer(0.1)(x),
        l.l2_regularizer(0.1)(x),
        l.l1_l2_regularizer(0.1, 0.2)(x),
        l.l1_l2_regularizer(0.0, 0.2)(x),
        l.l1_l2_regularizer(0.3, 0.0)(x),
        l.sum_regularizer([l.l1_regularizer(0.1), None, l.l2_regularizer(0.5)])(x),
        l.apply_regularization(l.l2_regularizer(0.25), [x, 2 * x]),
        l.l2_regularizer(0.5, scope="named")(x),
    ]
    nothing = [l.l2_regularizer(0.0)(x), l.sum_regularizer([None]), l.l1_l2_regularizer(0.0, 0.0)(x)]
    return [run(tf, made), made, nothing, _collections(tf)]


def embeddings(tf, np):
    l, fill = tf.contrib.layers, _fill(np)
    ids = tf.constant([[1, 2, 1], [0, 4, 4]])
    table = tf.constant(_input(np, 5, 3))
    made = [
        l.embed_sequence(ids, 5, 3, initializer=fill),
        l.embed_sequence(ids, 5, 3, unique=True, initializer=fill, scope="unique"),
        l.embed_sequence(ids, scope="unique", reuse=True),
        l.bow_encoder(ids, 5, 3, sparse_lookup=False, initializer=fill),
        l.bow_encoder(ids, 5, 3, initializer=fill, scope="bag"),
        l.embedding_lookup_unique(table, ids),
        l.safe_embedding_lookup_sparse(table, l.dense_to_sparse(ids)),
        l.safe_embedding_lookup_sparse(
            [table], l.dense_to_sparse(tf.constant([[0, 0], [3, 1]])), combiner="sum"
        ),
        l.one_hot_encoding([2, 0], 3, 5.0, -1.0),
        l.dense_to_sparse(ids).values,
        l.dense_to_sparse(ids, eos_token=4).indices,
    ]
    return [run(tf, made), made, _collections(tf)]


@cases(
    ("SGD", {}),
    ("Momentum", {}),
    ("Adagrad", {}),
    ("Adam", {}),
    ("RMSProp", {}),
    ("Ftrl", {}),
    ("clipped", {"clip_gradients": 0.5}),
    ("multiplied", {"gradient_multipliers": {"v:0": 3.0}}),
    ("decayed", {"learning_rate_decay_fn": "halved"}),
    ("not counted", {"increment_global_step": False}),
    ("some variables", {"variables": "w"}),
)
def optimize_loss(tf, np, kind, options):
    optimizer = kind if kind in tf.contrib.layers.OPTIMIZER_CLS_NAMES else "SGD"
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0])
    w = tf.get_variable("w", initializer=[1.0, -1.0, 0.5])
    step = tf.train.get_or_create_global_step()
    if options.get("learning_rate_decay_fn"):
        options = {"learning_rate_decay_fn": lambda rate, step: rate / (1.0 + tf.cast(step, tf.float32))}
    if options.get("variables"):
        options = {"variables": [w]}
    with tf.control_dependencies([tf.assign(tf.get_variable("u", initializer=0.0, trainable=False), 5.0)]):
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.no_op())
    loss = tf.reduce_sum(tf.square(v) * w)
    train = tf.contrib.layers.optimize_loss(loss, step, 0.1, optimizer, summaries=[], **options)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run(train) for _ in range(3)]
        return [Close([losses, session.run([v, w, step, "u:0"])], 2e-4, 1e-5), train]


# ------------------------------------------------------------------------------------------------- framework


def arg_scopes(tf, np):
    f = tf.contrib.framework

    @f.add_arg_scope
    def combine(a, b=1, c=2):
        return (a, b, c)

    @f.add_arg_scope
    def other(a=0, b=0):
        return (a, b)

    out = [combine(0)]
    with f.arg_scope([combine, other], b=5) as outer:
        out += [combine(0), combine(0, c=7), combine(0, b=9), other()]
        with f.arg_scope([combine], c=6):
            out += [combine(0), other(3)]
        out.append(combine(0))
    with f.arg_scope(outer):
        out += [combine(1), other(1)]
    with f.arg_scope([combine], c=8):
        with f.arg_scope(outer):
            out.append(combine(1))
    out += [combine(0), f.has_arg_scope(combine), f.has_arg_scope(len), f.arg_scoped_arguments(combine)]
    out += [
        raises(lambda: f.arg_scope([len], x=1).__enter__()),
        raises(lambda: f.arg_scope(outer, b=1).__enter__()),
        raises(lambda: f.arg_scope(combine, b=1).__enter__()),
        raises(lambda: combine(0, 1, b=2)),
    ]
    return out


def _found(variables):
    return [v.name for v in variables]


def model_variables(tf, np):
    f = tf.contrib.framework
    with tf.variable_scope("A"):
        f.model_variable("a", [2], initializer=tf.ones_initializer())
        f.variable("b", [3], trainable=False, collections=["mine", tf.GraphKeys.GLOBAL_VARIABLES])
        with tf.variable_scope("B"):
            a = f.model_variable("a", [1], regularizer=tf.contrib.layers.l2_regularizer(0.5))
    f.local_variable([1.0], name="loc")
    f.global_variable(3.0, name="glob")
    f.add_model_variable(a)
    out = {
        "all": _found(f.get_variables()),
        "scope": _found(f.get_variables("A/B")),
        "suffix": _found(f.get_variables(suffix="a")),
        "by name": _found(f.get_variables_by_name("a")),
        "by name in scope": _found(f.get_variables_by_name("a", "A/B")),
        "by suffix": _found(f.get_variables_by_suffix("b")),
        "model": _found(f.get_model_variables()),
        "model in scope": _found(f.get_model_variables("A/B")),
        "trainable": _found(f.get_trainable_variables()),
        "local": _found(f.get_local_variables()),
        "restored": _found(f.get_variables_to_restore(include=["A"], exclude=["A/B"])),
        "restored all": _found(f.get_variables_to_restore(exclude=["A/a"])),
        "filtered": _found(f.filter_variables(tf.global_variables(), ["A/"], ["b"])),
        "matched": _found(f.filter_variables(tf.global_variables(), ["a"], reg_search=False)),
        "unique": f.get_unique_variable("A/B/a").name,
        "full name": f.get_variable_full_name(a),
        "none": raises(f.get_unique_variable, "C"),
        "ambiguous": raises(f.get_unique_variable, "A"),
        "not a list": raises(f.get_variables_to_restore, include="A"),
        "collections": _collections(tf),
    }
    assign, feeds = f.assign_from_values({"A/a": np.array([5.0, 6.0]), "glob": np.array(7.0)})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(assign, feeds)
        out["assigned"] = session.run(["A/a:0", "glob:0"])
        f.assign_from_values_fn({"A/a": np.array([[8.0, 9.0]])})(session)
        out["assigned again"] = session.run("A/a:0")
    return out


def shape_checks(tf, np):
    f = tf.contrib.framework
    x = tf.placeholder(tf.float32, [None, 3])
    known = f.with_shape([2, 3], x)
    same = f.with_same_shape(tf.ones([2, 3]), x)
    dynamic = f.with_shape(tf.placeholder_with_default([2, 3], [2]), x)
    wrong = raises(f.with_shape, [2, 4], x)
    out = [known, same, dynamic.shape, wrong]
    with tf.Session() as session:
        feed = {x: np.ones([2, 3], np.float32)}
        out.append(session.run([known, same, dynamic], feed))
        for checked in (known, same, dynamic):
            out.append(raises(session.run, checked, {x: np.ones([3, 3], np.float32)}))
    out += [
        f.assert_scalar_int(tf.constant(3)).shape,
        raises(f.assert_scalar_int, tf.constant(3.0)),
        raises(f.assert_scalar_int, tf.constant([3])),
        run(tf, f.reduce_sum_n([tf.ones([2]), tf.constant(3.0)])),
        f.is_tensor(x),
        f.is_tensor(3),
        [t.shape for t in f.remove_squeezable_dimensions(tf.ones([2, 1]), tf.ones([2]))],
        f.get_name_scope(),
        f.strip_name_scope("a/b/c", "a/b"),
        f.prepend_name_scope("b/c", "a"),
        [t.name for t in f.get_placeholders(tf.get_default_graph())],
    ]
    return out


def device_chooser(tf, np):
    choose = tf.contrib.framework.VariableDeviceChooser(num_tasks=2)
    with tf.contrib.framework.arg_scope([tf.contrib.framework.model_variable], device=choose):
        made = [tf.contrib.framework.model_variable("v%d" % i, [1]) for i in range(3)]
    return [v.device for v in made]


# ----------------------------------------------------------------------------------------- losses and metrics

_LOSSES = {
    "absolute_difference": lambda l, p, t, w: l.absolute_difference(p, t, w),
    "mean_squared_error": lambda l, p, t, w: l.mean_squared_error(p, t, w),
    "log_loss": lambda l, p, t, w: l.log_loss(p * 0.2 + 0.5, t, w),
    "sigmoid_cross_entropy": lambda l, p, t, w: l.sigmoid_cross_entropy(p, t, w),
    "softmax_cross_entropy": lambda l, p, t, w: l.softmax_cross_entropy(p, t, w),
    "smoothed": lambda l, p, t, w: l.softmax_cross_entropy(p, t, w, label_smoothing=0.1),
    "sparse_softmax_cross_entropy": lambda l, p, t, w: l.sparse_softmax_cross_entropy(p, [1, 0], w),
    "mean_pairwise_squared_error": lambda l, p, t, w: l.mean_pairwise_squared_error(p, t, w),
    "cosine_distance": lambda l, p, t, w: l.cosine_distance(p, t, 1, w),
    "compute_weighted_loss": lambda l, p, t, w: l.compute_weighted_loss(p, w),
}


@cases(*[(loss, weights) for loss in _LOSSES for weights in ("one", "scalar", "examples", "zeros", "column")
         if (loss, weights) != ("mean_pairwise_squared_error", "column")])  # fmt: skip
def contrib_loss(tf, np, loss, weights):
    given = {
        "one": 1.0,
        "scalar": 2.5,
        "examples": [1.0, 3.0],
        "zeros": [0.0, 2.0],
        "column": [[1.0], [3.0]],
    }[weights]
    predictions = tf.constant(_input(np, 2, 3))
    targets = tf.constant([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    made = _LOSSES[loss](tf.contrib.losses, predictions, targets, given)
    return [run(tf, made), len(tf.contrib.losses.get_losses()), run(tf, tf.contrib.losses.get_total_loss())]


def hinge(tf, np):
    made = tf.contrib.losses.hinge_loss(tf.constant([[0.5, -2.0]]), tf.constant([[1.0, 0.0]]))
    return [run(tf, made), tf.contrib.losses.get_losses()]


_METRICS = {
    "accuracy": lambda m, p, t: m.streaming_accuracy(p > 0, t > 0),
    "mean": lambda m, p, t: m.streaming_mean(p),
    "mean_tensor": lambda m, p, t: m.streaming_mean_tensor(p),
    "mean_absolute_error": lambda m, p, t: m.streaming_mean_absolute_error(p, t),
    "mean_squared_error": lambda m, p, t: m.streaming_mean_squared_error(p, t),
    "root_mean_squared_error": lambda m, p, t: m.streaming_root_mean_squared_error(p, t),
    "mean_relative_error": lambda m, p, t: m.streaming_mean_relative_error(p, t, t + 1),
    "mean_cosine_distance": lambda m, p, t: m.streaming_mean_cosine_distance(p, t, 1),
    "precision": lambda m, p, t: m.streaming_precision(p > 0, t > 0),
    "recall": lambda m, p, t: m.streaming_recall(p > 0, t > 0),
    "auc": lambda m, p, t: m.streaming_auc(p * 0.2 + 0.5, t > 0),
    "true_positives": lambda m, p, t: m.streaming_true_positives(p > 0, t > 0),
    "false_negatives": lambda m, p, t: m.streaming_false_negatives(p > 0, t > 0),
    "precision_at_thresholds": lambda m, p, t: m.streaming_precision_at_thresholds(
        p * 0.2 + 0.5, t > 0, [0.3, 0.6]
    ),
    "sensitivity": lambda m, p, t: m.streaming_sensitivity_at_specificity(p * 0.2 + 0.5, t > 0, 0.5),
    "percentage_less": lambda m, p, t: m.streaming_percentage_less(p, 0.1),
    "recall_at_k": lambda m, p, t: m.streaming_recall_at_k(p, [0, 2], 1),
}


@cases(*sorted(_METRICS))
def streaming_metric(tf, np, kind):
    predictions = tf.constant(_input(np, 2, 3))
    targets = tf.constant([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    value, update = _METRICS[kind](tf.contrib.metrics, predictions, targets)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        return [
            session.run(update),
            session.run(update),
            session.run(value),
            [v.name for v in tf.local_variables()],
        ]


def batch_metrics(tf, np):
    m = tf.contrib.metrics
    labels, predictions = tf.constant([1, 2, 4]), tf.constant([2, 2, 4])
    values, updates = m.aggregate_metric_map({"a": m.streaming_mean([1.0]), "b": m.streaming_mean([2.0])})
    return [
        run(tf, m.accuracy(predictions, labels)),
        run(tf, m.accuracy(predictions, labels, weights=[1.0, 2.0, 0.0])),
        run(tf, m.confusion_matrix(labels, predictions, num_classes=5)),
        sorted(values),
        sorted(updates),
        raises(m.accuracy, tf.constant([1.0]), tf.constant([1.0])),
    ]


# ------------------------------------------------------------------------------------------------ optimizers

_OPTIMIZERS = {
    "nadam": lambda o: o.NadamOptimizer(0.1),
    "adamax": lambda o: o.AdaMaxOptimizer(0.1),
    "lazy_adam": lambda o: o.LazyAdamOptimizer(0.1),
    "adamw": lambda o: o.AdamWOptimizer(0.01, 0.1),
    "momentumw": lambda o: o.MomentumWOptimizer(0.01, 0.1, 0.9),
    "lars": lambda o: o.LARSOptimizer(0.1),
    "lars skipping": lambda o: o.LARSOptimizer(0.1, skip_list=["v"]),
    "addsign": lambda o: o.AddSignOptimizer(0.1),
    "powersign": lambda o: o.PowerSignOptimizer(0.1),
}


# A reference variable's gradient may be computed before or after the decay, as it happens.
_ANY_ORDER = ("adamw", "momentumw")


@cases(
    *[
        (k, resource)
        for k in sorted(_OPTIMIZERS)
        for resource in (False, True)
        if resource or k not in _ANY_ORDER
    ]
)
def dense_steps(tf, np, kind, resource):
    v = tf.get_variable("v", initializer=[1.0, -2.0, 3.0], use_resource=resource)
    w = tf.get_variable("w", initializer=[[0.5, 0.25]], use_resource=resource)
    loss = tf.reduce_sum(tf.square(v)) + tf.reduce_sum(w * w * w)
    optimizer = _OPTIMIZERS[kind](tf.contrib.opt)
    step = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = []
        for _ in range(4):
            session.run(step)
            values.append(session.run([v, w]))
    return [
        Close(values, 2e-4, 1e-5),
        sorted(v.name for v in tf.global_variables()),
        optimizer.get_slot_names(),
    ]


@cases(*[(kind, resource) for kind in ("adamax", "lazy_adam") for resource in (False, True)])
def sparse_steps(tf, np, kind, resource):
    table = tf.get_variable("t", initializer=_input(np, 5, 2), use_resource=resource)
    rows = tf.nn.embedding_lookup(table, [1, 3, 1])
    step = _OPTIMIZERS[kind](tf.contrib.opt).minimize(tf.reduce_sum(rows * rows))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = []
        for _ in range(3):
            session.run(step)
            values.append(session.run(table))
    return Close(values, 2e-4, 1e-5)


def moving_average(tf, np):
    v = tf.get_variable("v", initializer=[1.0, -2.0], use_resource=True)
    optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 0.5)
    step = optimizer.minimize(tf.reduce_sum(v * v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        found = {u.name: session.run(u) for u in tf.global_variables()}
    return [found, step]


def extended_with_decay(tf, np):
    kind = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)
    v = tf.get_variable("v", initializer=[1.0, -2.0], use_resource=True)
    u = tf.get_variable("u", initializer=[1.0, -2.0], use_resource=True)
    optimizer = kind(weight_decay=0.1, learning_rate=0.5)
    loss = tf.reduce_sum(3.0 * v - 2.0 * u)
    step = optimizer.apply_gradients(optimizer.compute_gradients(loss), decay_var_list=[v])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        return session.run([u, v])


def clipped_together(tf, np):
    v = tf.get_variable("v", [2])
    pairs = [(tf.constant([3.0, 4.0]), v), (None, v), (tf.constant([12.0]), v)]
    clipped, norm = tf.contrib.opt.clip_gradients_by_global_norm(pairs, 6.5)
    made = run(tf, [grad for grad, _ in clipped if grad is not None])
    return [made, run(tf, norm), [v.name for _, v in clipped]]
