"""tf.layers: values with fixed weights, names, graphs, sharing, regularization, moving averages."""

from kit import Close, cases, graph, names, normal, product, raises, run


def _fill(np):
    """An initializer whose values are the same in every engine."""

    def initial(shape, dtype=None, partition_info=None):
        size = int(np.prod(shape))
        values = np.sin(np.arange(size, dtype=np.float64)).reshape([int(n) for n in shape])
        return values.astype(dtype.as_numpy_dtype)

    return initial


def _input(np, *shape):
    return normal(np, *shape).astype(np.float32)


def _with_gradients(tf, np, build, x):
    """The layer's value, its variables' names, and gradients by input and variables."""
    inputs = tf.constant(x)
    outputs = build(inputs)
    trainable = tf.trainable_variables()
    weights = tf.constant(
        np.cos(np.arange(int(np.prod(outputs.shape.as_list())))).reshape(outputs.shape.as_list()),
        outputs.dtype,
    )
    slopes = tf.gradients(tf.reduce_sum(outputs * weights), [inputs] + trainable)
    value, made = run(tf, [outputs, slopes])
    return [Close([value, made], 2e-4, 2e-5), outputs, [v.name for v in tf.global_variables()]]


_LAYERS = {
    "dense": ([3, 4], lambda l, i: l.Dense(5, kernel_initializer=i, bias_initializer=i)),
    "dense no bias": ([3, 4], lambda l, i: l.Dense(5, use_bias=False, kernel_initializer=i)),
    "dense rank 3": ([2, 3, 4], lambda l, i: l.Dense(5, kernel_initializer=i)),
    "conv1d": ([2, 7, 3], lambda l, i: l.Conv1D(4, 3, kernel_initializer=i)),
    "conv1d same": ([2, 7, 3], lambda l, i: l.Conv1D(4, 3, 2, "same", kernel_initializer=i)),
    "conv1d dilated": ([2, 9, 3], lambda l, i: l.Conv1D(4, 3, dilation_rate=2, kernel_initializer=i)),
    "conv2d": ([2, 6, 5, 3], lambda l, i: l.Conv2D(4, 3, kernel_initializer=i, bias_initializer=i)),
    "conv2d same": ([2, 6, 5, 3], lambda l, i: l.Conv2D(4, (3, 2), (2, 1), "same", kernel_initializer=i)),
    "conv2d dilated": (
        [2, 8, 8, 3],
        lambda l, i: l.Conv2D(4, 3, padding="same", dilation_rate=2, kernel_initializer=i),
    ),
    "conv2d no bias": ([2, 6, 5, 3], lambda l, i: l.Conv2D(4, 3, use_bias=False, kernel_initializer=i)),
    "conv3d": ([1, 4, 5, 4, 2], lambda l, i: l.Conv3D(3, 2, kernel_initializer=i)),
    "conv3d same": ([1, 4, 5, 4, 2], lambda l, i: l.Conv3D(3, 2, 2, "same", kernel_initializer=i)),
    "conv2d_transpose": ([1, 4, 3, 2], lambda l, i: l.Conv2DTranspose(3, 3, kernel_initializer=i)),
    "conv2d_transpose same": (
        [1, 4, 3, 2],
        lambda l, i: l.Conv2DTranspose(3, 3, 2, "same", kernel_initializer=i),
    ),
    "conv3d_transpose": ([1, 2, 3, 2, 2], lambda l, i: l.Conv3DTranspose(3, 2, 2, kernel_initializer=i)),
    "separable_conv1d": (
        [2, 7, 3],
        lambda l, i: l.SeparableConv1D(4, 3, depthwise_initializer=i, pointwise_initializer=i),
    ),
    "separable_conv2d": (
        [1, 6, 6, 3],
        lambda l, i: l.SeparableConv2D(
            4, 3, depth_multiplier=2, depthwise_initializer=i, pointwise_initializer=i
        ),
    ),
    "separable_conv2d same": (
        [1, 6, 6, 3],
        lambda l, i: l.SeparableConv2D(
            4, 3, padding="same", depthwise_initializer=i, pointwise_initializer=i
        ),
    ),
    "max_pooling1d": ([2, 7, 3], lambda l, i: l.MaxPooling1D(2, 2)),
    "max_pooling2d": ([2, 6, 5, 3], lambda l, i: l.MaxPooling2D(2, 2)),
    "max_pooling2d same": ([2, 6, 5, 3], lambda l, i: l.MaxPooling2D((3, 2), 2, "same")),
    "max_pooling3d": ([1, 4, 4, 4, 2], lambda l, i: l.MaxPooling3D(2, 2)),
    "average_pooling1d": ([2, 7, 3], lambda l, i: l.AveragePooling1D(2, 2)),
    "average_pooling2d": ([2, 6, 5, 3], lambda l, i: l.AveragePooling2D(2, 1, "same")),
    "average_pooling3d": ([1, 4, 4, 4, 2], lambda l, i: l.AveragePooling3D(2, 2)),
    "flatten": ([2, 3, 4], lambda l, i: l.Flatten()),
    "batch_normalization": ([6, 4], lambda l, i: l.BatchNormalization()),
    "batch_normalization images": ([2, 3, 3, 4], lambda l, i: l.BatchNormalization()),
    "dropout": ([3, 4], lambda l, i: l.Dropout(0.5)),
}


@cases(*_LAYERS)
def objects(tf, np, key):
    shape, make = _LAYERS[key]
    return _with_gradients(tf, np, make(tf.layers, _fill(np)), _input(np, *shape))


@cases(*_LAYERS)
def graphs(tf, np, key):
    shape, make = _LAYERS[key]
    make(tf.layers, tf.zeros_initializer())(tf.placeholder(tf.float32, shape, "x"))
    return graph(tf)


@cases(*_LAYERS)
def shapes(tf, np, key):
    shape, make = _LAYERS[key]
    layer = make(tf.layers, tf.zeros_initializer())
    known = layer.compute_output_shape(tf.TensorShape([None] + shape[1:]))
    return [layer(tf.placeholder(tf.float32, [None] + shape[1:])).shape, known]


_FUNCTIONS = {
    "dense": lambda tf: tf.layers.dense(tf.placeholder(tf.float32, [None, 3], "x"), 4, tf.nn.relu),
    "dense named": lambda tf: tf.layers.dense(tf.placeholder(tf.float32, [None, 3], "x"), 4, name="mine"),
    "conv1d": lambda tf: tf.layers.conv1d(tf.placeholder(tf.float32, [None, 8, 3], "x"), 4, 3),
    "conv2d": lambda tf: tf.layers.conv2d(
        tf.placeholder(tf.float32, [None, 8, 8, 3], "x"), 4, 3, activation=tf.nn.relu
    ),
    "conv2d first": lambda tf: tf.layers.conv2d(
        tf.placeholder(tf.float32, [None, 3, 8, 8], "x"), 4, 3, data_format="channels_first"
    ),
    "conv3d": lambda tf: tf.layers.conv3d(tf.placeholder(tf.float32, [None, 4, 4, 4, 3], "x"), 4, 3),
    "conv2d_transpose": lambda tf: tf.layers.conv2d_transpose(
        tf.placeholder(tf.float32, [None, 4, 4, 3], "x"), 4, 3
    ),
    "separable": lambda tf: tf.layers.separable_conv2d(
        tf.placeholder(tf.float32, [None, 8, 8, 3], "x"), 4, 3
    ),
    "max_pooling2d": lambda tf: tf.layers.max_pooling2d(
        tf.placeholder(tf.float32, [None, 8, 8, 3], "x"), 2, 2
    ),
    "average_pooling2d": lambda tf: tf.layers.average_pooling2d(
        tf.placeholder(tf.float32, [None, 8, 8, 3], "x"), 2, 2
    ),
    "max_pooling1d": lambda tf: tf.layers.max_pooling1d(tf.placeholder(tf.float32, [None, 8, 3], "x"), 2, 2),
    "flatten": lambda tf: tf.layers.flatten(tf.placeholder(tf.float32, [None, 8, 3], "x")),
    "flatten known": lambda tf: tf.layers.flatten(tf.placeholder(tf.float32, [2, 8, 3], "x")),
    "flatten unknown": lambda tf: tf.layers.flatten(tf.placeholder(tf.float32, [None, None, 3], "x")),
    "dropout training": lambda tf: tf.layers.dropout(
        tf.placeholder(tf.float32, [2, 3], "x"), 0.4, seed=3, training=True
    ),
    "dropout off": lambda tf: tf.layers.dropout(tf.placeholder(tf.float32, [2, 3], "x"), 0.4),
    "batch_norm": lambda tf: tf.layers.batch_normalization(tf.placeholder(tf.float32, [2, 3], "x")),
    "batch_norm training": lambda tf: tf.layers.batch_normalization(
        tf.placeholder(tf.float32, [2, 3], "x"), training=True
    ),
    "batch_norm fused": lambda tf: tf.layers.batch_normalization(
        tf.placeholder(tf.float32, [2, 3, 3, 4], "x"), training=True
    ),
}


@cases(*_FUNCTIONS)
def functions(tf, np, key):
    made = _FUNCTIONS[key](tf)
    return [made, [v.name for v in tf.global_variables()], graph(tf)]


def names_count_by_type(tf, np):
    x = tf.placeholder(tf.float32, [None, 3], "x")
    for _ in range(3):
        x = tf.layers.dense(x, 3)
    with tf.variable_scope("s"):
        x = tf.layers.dense(x, 3)
        x = tf.layers.dense(x, 3)
    with tf.name_scope("n"):
        x = tf.layers.dense(x, 3)
    tf.layers.dense(x, 3, name="dense_9")
    tf.layers.Dense(3)(x)
    return [[v.name for v in tf.global_variables()], names(tf)]


def sharing_by_name(tf, np):
    x = tf.placeholder(tf.float32, [None, 3], "x")
    tf.layers.dense(x, 4, name="d")
    tf.layers.dense(x, 4, name="d", reuse=True)
    again = raises(tf.layers.dense, x, 4, name="d")
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        tf.layers.dense(x, 4, name="e")
        tf.layers.dense(x, 4, name="e")
    return [[v.name for v in tf.global_variables()], again, names(tf)]


def sharing_by_object(tf, np):
    layer = tf.layers.Dense(4, kernel_initializer=tf.ones_initializer())
    a, b = layer(tf.ones([1, 3])), layer(tf.ones([2, 3]) * 2.0)
    facts = [
        layer.name,
        layer.built,
        [v.name for v in layer.variables],
        layer.kernel.name,
        layer.bias.name,
        layer.units,
    ]
    return [a.name, b.name, facts, run(tf, [a, b]), len(tf.global_variables())]


def layer_object_facts(tf, np):
    layer = tf.layers.Dense(4, name="d", trainable=False, activation=tf.nn.relu)
    before = [layer.name, layer.built, layer.trainable, layer.weights]
    layer.build([None, 3])
    x = tf.placeholder(tf.float32, [None, 3])
    y = layer.apply(x)
    after = [[v.name for v in layer.non_trainable_weights], layer.count_params(), layer.dtype]
    return [before, after, y, [v.name for v in tf.trainable_variables()]]


@cases("relu", "tanh", "softmax", "sigmoid", "elu")
def activations(tf, np, name):
    layer = tf.layers.Dense(5, activation=getattr(tf.nn, name), kernel_initializer=_fill(np))
    return _with_gradients(tf, np, layer, _input(np, 3, 4))


def regularizers_and_constraints(tf, np):
    x = tf.ones([2, 3])
    y = tf.layers.dense(
        x,
        2,
        kernel_initializer=tf.ones_initializer(),
        bias_initializer=tf.ones_initializer(),
        kernel_regularizer=tf.keras.regularizers.l2(0.5),
        bias_regularizer=lambda v: 3.0 * tf.reduce_sum(v),
        activity_regularizer=lambda v: 0.1 * tf.reduce_sum(v),
        kernel_constraint=lambda k: k / 2.0,
    )
    losses = tf.losses.get_regularization_losses()
    return [
        [t.name for t in losses],
        run(tf, losses + [y]),
        [v.constraint is None for v in tf.global_variables()],
    ]


def dtypes_follow_the_input(tf, np):
    x = tf.placeholder(tf.float64, [None, 3])
    y = tf.layers.dense(x, 2)
    return [y.dtype, [v.dtype for v in tf.global_variables()]]


def channels_first_values(tf, np):
    """Flattening alone: pooling and convolution of this format have no CPU kernel in TensorFlow."""
    x = tf.constant(_input(np, 2, 3, 4, 5))
    return run(tf, [tf.layers.flatten(x), tf.layers.Flatten(data_format="channels_first")(x)])


@cases(*product([True, False], ["plain", "fused"], ["center and scale", "neither"]))
def batch_normalization(tf, np, training, kind, parts):
    x = _input(np, 8, 3) * 3 + 1 if kind == "plain" else _input(np, 4, 3, 3, 3) * 3 + 1
    both = parts == "center and scale"
    layer = tf.layers.BatchNormalization(momentum=0.9, epsilon=0.01, center=both, scale=both)
    inputs = tf.constant(x)
    y = layer.apply(inputs, training=training)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(2):
            seen.append(
                session.run([y] + tf.gradients(tf.reduce_sum(y**2), [inputs] + tf.trainable_variables()))
            )
            session.run(updates)
            seen.append(session.run(tf.global_variables()))
    described = [(v.name, v.trainable) for v in tf.global_variables()]
    return [
        Close(seen, 2e-4, 2e-5),
        described,
        [u.name for u in updates],
        [v.name for v in tf.trainable_variables()],
    ]


def batch_normalization_with_a_fed_flag(tf, np):
    training = tf.placeholder(tf.bool, [], "training")
    x = tf.constant(_input(np, 8, 3) * 3 + 1)
    y = tf.layers.batch_normalization(x, training=training, momentum=0.5)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for flag in (True, False, True, False):
            seen.append(session.run([y, updates], {training: flag})[0])
        return Close([seen, session.run(tf.global_variables())], 2e-4, 2e-5)


def batch_normalization_renorm_free_options(tf, np):
    x = tf.constant(_input(np, 6, 4))
    made = [
        tf.layers.batch_normalization(
            x, axis=1, beta_initializer=tf.ones_initializer(), gamma_initializer=tf.zeros_initializer()
        ),
        tf.layers.batch_normalization(
            x,
            axis=-1,
            moving_mean_initializer=tf.ones_initializer(),
            moving_variance_initializer=tf.constant_initializer(4.0),
        ),
        tf.layers.batch_normalization(tf.reshape(x, [2, 3, 4]), axis=1, training=True),
    ]
    return Close(run(tf, made), 2e-4, 2e-5)


def batch_normalization_not_fused(tf, np):
    x = tf.constant(_input(np, 4, 3, 3, 3))
    y = tf.layers.batch_normalization(x, training=True, fused=False)
    z = tf.layers.batch_normalization(x, training=True, fused=True)
    return Close(run(tf, [y, z]), 2e-4, 2e-5)


def training_with_batch_normalization(tf, np):
    rng = np.random.RandomState(2)
    x, t = (
        tf.constant(rng.normal(size=(16, 4)).astype(np.float32)),
        tf.constant(rng.normal(size=(16, 1)).astype(np.float32)),
    )
    h = tf.layers.batch_normalization(tf.layers.dense(x, 6, kernel_initializer=_fill(np)), training=True)
    loss = tf.losses.mean_squared_error(t, tf.layers.dense(tf.nn.relu(h), 1, kernel_initializer=_fill(np)))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([train, loss])[1] for _ in range(10)]
        return Close([losses, session.run(tf.global_variables())], 2e-3, 2e-4)


def dropout_layer_values(tf, np):
    x = tf.ones([4, 5])
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.dropout(x, 0.5, seed=7, training=training)
    rows = tf.layers.dropout(x, 0.5, noise_shape=[4, 1], seed=7, training=True)
    with tf.Session() as session:
        return [session.run(y, {training: True}), session.run(y, {training: False}), session.run(rows)]


def layer_mistakes(tf, np):
    l = tf.layers
    return {
        "unknown last": raises(l.dense, tf.placeholder(tf.float32, [None, None]), 3),
        "rank": raises(l.conv2d, tf.zeros([2, 3, 4]), 3, 3),
        "dense of ints": raises(l.dense, tf.zeros([2, 3], tf.int32), 3),
        "other size": raises(lambda: [d(tf.zeros([1, n])) for d in [l.Dense(3)] for n in (2, 5)]),
        "padding": raises(l.conv2d, tf.zeros([1, 4, 4, 1]), 3, 3, padding="what"),
        "kernel size": raises(l.conv2d, tf.zeros([1, 4, 4, 1]), 3, (3, 3, 3)),
        "data format": raises(l.conv2d, tf.zeros([1, 4, 4, 1]), 3, 3, data_format="what"),
        "too large": raises(l.conv2d, tf.zeros([1, 4, 4, 1]), 3, 5),
        "strides and dilation": raises(l.conv2d, tf.zeros([1, 8, 8, 1]), 3, 3, strides=2, dilation_rate=2),
        "batch norm axis": raises(l.batch_normalization, tf.zeros([2, 3]), axis=4),
        "unknown keyword": raises(l.dense, tf.zeros([2, 3]), 3, what=1),
    }
