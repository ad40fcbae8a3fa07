"""Initializers, regularizers and constraints of every weight of every layer, of tf.keras and of tf.layers,
and other arguments that few programs give: losses, weights after a step of training, configurations.
"""

from kit import Close, cases, names, normal, raises, run


def _one(np, *shape):
    return normal(np, *shape).astype(np.float32)


# For each layer: the shape of its input, what it takes first, and the weights that it has.
_LAYERS = {
    "Dense": ([4, 3], {"units": 2}, "kernel bias"),
    "Conv1D": ([2, 5, 3], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "Conv2D": ([2, 4, 5, 3], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "Conv3D": ([1, 3, 4, 3, 2], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "Conv2DTranspose": ([2, 3, 4, 3], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "Conv3DTranspose": ([1, 2, 3, 2, 2], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "SeparableConv1D": ([2, 5, 3], {"filters": 2, "kernel_size": 2}, "depthwise pointwise bias"),
    "SeparableConv2D": ([2, 4, 5, 3], {"filters": 2, "kernel_size": 2}, "depthwise pointwise bias"),
}
_KERAS_LAYERS = {
    "DepthwiseConv2D": ([2, 4, 5, 3], {"kernel_size": 2}, "depthwise bias"),
    "LocallyConnected1D": ([2, 5, 3], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "LocallyConnected2D": ([2, 3, 4, 2], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "SimpleRNN": ([2, 4, 3], {"units": 3}, "kernel recurrent bias"),
    "GRU": ([2, 4, 3], {"units": 3, "recurrent_activation": "sigmoid"}, "kernel recurrent bias"),
    "LSTM": ([2, 4, 3], {"units": 3, "recurrent_activation": "sigmoid"}, "kernel recurrent bias"),
    "ConvLSTM2D": ([1, 2, 4, 4, 2], {"filters": 2, "kernel_size": 2}, "kernel recurrent bias"),
    "BatchNormalization": ([4, 3], {"momentum": 0.5}, "beta gamma"),
    "LayerNormalization": ([4, 3], {"epsilon": 0.1}, "beta gamma"),
    "PReLU": ([4, 3], {}, "alpha"),
}
_KERAS_LAYERS.update(_LAYERS)
_WITHOUT_ACTIVITY = ("BatchNormalization", "LayerNormalization", "PReLU")


def _arguments(tf, weights, library):
    """An initializer, a regularizer and a constraint for each weight."""
    k = tf.keras
    made = {}
    for number, weight in enumerate(weights.split(), 1):
        made[weight + "_initializer"] = library.constant(0.25 * number)
        made[weight + "_regularizer"] = k.regularizers.l1_l2(0.01 * number, 0.02)
        made[weight + "_constraint"] = k.constraints.MaxNorm(0.3 * number, axis=0)
    return made


@cases({name: name for name in sorted(_KERAS_LAYERS)})
def keras_layers(tf, np, name):
    shape, first, weights = _KERAS_LAYERS[name]
    options = _arguments(tf, weights, tf.keras.initializers)
    if name not in _WITHOUT_ACTIVITY:
        options["activity_regularizer"] = tf.keras.regularizers.l2(0.1)
    layer = getattr(tf.keras.layers, name)(name="it", **dict(first, **options))
    x = tf.keras.Input(shape[1:])
    model = tf.keras.Model(x, layer(x))
    model.compile(tf.keras.optimizers.SGD(0.5), "mse")
    given = _one(np, *shape)
    targets = model.predict(given) * 0.5 + 0.1
    k = tf.keras.backend
    penalties = k.function([x], model.losses)([given])
    loss = model.train_on_batch(given, targets)
    again = type(layer).from_config(layer.get_config())
    kept = [
        getattr(again, w + what) is not None
        for w in weights.split()
        for what in ("_regularizer", "_constraint")
    ]
    return {
        "penalties": Close(penalties, 1e-4, 1e-6),
        "losses": [x.name.split("/")[0] for x in layer.losses],
        "loss": Close(float(loss), 1e-4, 1e-6),
        "weights": [Close(w, 1e-4, 1e-5) for w in model.get_weights()],
        "constraints": [w.constraint is not None for w in layer.weights],
        "kept": kept,
        "updates": len(layer.updates),
    }


_CUDNN_SIZES = {"CuDNNGRU": 3, "CuDNNLSTM": 3}


@cases(*sorted(_CUDNN_SIZES))
def weights_of_cudnn_layers(tf, np, name):
    options = _arguments(tf, "kernel recurrent bias", tf.keras.initializers)
    layer = getattr(tf.keras.layers, name)(
        3, return_sequences=True, stateful=True, activity_regularizer=tf.keras.regularizers.l2(0.1), **options
    )
    layer.build((2, 4, 3))
    config = {key: v for key, v in layer.get_config().items() if not isinstance(v, dict)}
    return [(w.name, w.shape, w.constraint is not None) for w in layer.weights], config, len(layer.losses)


_CELLS = {
    "SimpleRNNCell": {"activation": "relu", "dropout": 0.1, "recurrent_dropout": 0.2},
    "GRUCell": {
        "activation": "relu",
        "recurrent_activation": "sigmoid",
        "reset_after": True,
        "implementation": 2,
    },
    "LSTMCell": {"activation": "relu", "recurrent_activation": "sigmoid", "unit_forget_bias": False},
}


@cases(*sorted(_CELLS))
def cells(tf, np, name):
    options = _arguments(tf, "kernel recurrent bias", tf.keras.initializers)
    cell = getattr(tf.keras.layers, name)(3, **dict(options, **_CELLS[name]))
    layer = tf.keras.layers.RNN(cell, return_sequences=True, return_state=True)
    x = tf.keras.Input((4, 2))
    outputs = layer(x)
    model = tf.keras.Model(x, outputs)
    config = {key: v for key, v in cell.get_config().items() if not isinstance(v, dict)}
    return [
        Close(model.predict(_one(np, 2, 4, 2)), 1e-4, 1e-6),
        [(w.name, w.constraint is not None) for w in layer.weights],
        Close(tf.keras.backend.get_session().run(model.losses), 1e-4),
        config,
        [cell.state_size, cell.output_size],
        type(cell).from_config(cell.get_config()).get_config()["units"],
    ]


@cases({name: name for name in sorted(_LAYERS)})
def layers_of_scopes(tf, np, name):
    shape, first, weights = _LAYERS[name]
    options = _arguments(tf, weights, tf.initializers)
    layer = getattr(tf.layers, name)(
        name="it",
        activity_regularizer=tf.keras.regularizers.l2(0.1),
        trainable=True,
        **dict(first, **options),
    )
    y = layer(tf.constant(_one(np, *shape)))
    losses = tf.losses.get_regularization_losses()
    made = dict(names(tf))
    constrained = [v.constraint(v) for v in layer.variables]
    return [
        run(tf, [y, losses, constrained]),
        [x.name for x in losses],
        [v.name for v in tf.trainable_variables()],
        made,
    ]


_FUNCTIONS = {
    "dense": ([4, 3], {"units": 2}, "kernel bias"),
    "conv1d": ([2, 5, 3], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "conv2d": ([2, 4, 5, 3], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "conv3d": ([1, 3, 4, 3, 2], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "conv2d_transpose": ([2, 3, 4, 3], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "conv3d_transpose": ([1, 2, 3, 2, 2], {"filters": 2, "kernel_size": 2}, "kernel bias"),
    "separable_conv1d": ([2, 5, 3], {"filters": 2, "kernel_size": 2}, "depthwise pointwise bias"),
    "separable_conv2d": ([2, 4, 5, 3], {"filters": 2, "kernel_size": 2}, "depthwise pointwise bias"),
    "batch_normalization": ([4, 3], {"training": True}, "beta gamma"),
}


@cases({name: name for name in sorted(_FUNCTIONS)})
def functions_of_layers(tf, np, name):
    shape, first, weights = _FUNCTIONS[name]
    options = dict(first, **_arguments(tf, weights, tf.initializers))
    if name != "batch_normalization":
        options["activity_regularizer"] = lambda v: 0.1 * tf.reduce_sum(v)
        options["activation"] = tf.nn.relu
    call = getattr(tf.layers, name)
    with tf.variable_scope("outer", reuse=tf.AUTO_REUSE):
        y = call(inputs=tf.constant(_one(np, *shape)), name="it", reuse=False, **options)
        z = call(tf.constant(_one(np, *shape)) * 2.0, name="it", reuse=True, **options)
        w = call(tf.constant(_one(np, *shape)), name="fixed", trainable=False, **options)
    losses = tf.losses.get_regularization_losses()
    return [
        run(tf, [y, z, w, losses]),
        [x.name for x in losses],
        [v.name for v in tf.trainable_variables()],
        [v.constraint is not None for v in tf.global_variables()],
        dict(names(tf)),
    ]


_NORMALIZATIONS = {
    "renorm": dict(renorm=True, renorm_clipping={"rmax": 1.5, "rmin": 0.5, "dmax": 0.2}, renorm_momentum=0.5),
    "renorm plain": dict(renorm=True, momentum=0.5),
    "virtual": dict(virtual_batch_size=2),
    "adjusted": dict(adjustment=lambda shape: (1.5, 0.25)),
    "virtual and renorm": dict(virtual_batch_size=2, renorm=True, momentum=0.5),
    "no center": dict(center=False, scale=False, epsilon=0.1),
    "fused": dict(fused=True),
    "not fused": dict(fused=False, momentum=0.5),
    "axis": dict(axis=1, fused=False),
    "axes": dict(axis=[1, 3], fused=False),
    "moving": dict(
        moving_mean_initializer="ones", moving_variance_initializer="zeros", momentum=0.25, fused=False
    ),
    "initialized": dict(beta_initializer="ones", gamma_initializer="zeros", fused=True),
}


@cases({name: name for name in _NORMALIZATIONS})
def normalizations(tf, np, name):
    options = dict(_NORMALIZATIONS[name])
    kinds = {"ones": tf.ones_initializer(), "zeros": tf.zeros_initializer()}
    options = {key: kinds.get(v, v) if isinstance(v, str) else v for key, v in options.items()}
    x = tf.constant(_one(np, 4, 3, 2, 5) * 2.0 + 1.0)
    layer = tf.layers.BatchNormalization(name="it", **options)
    trained, plain = layer(x, training=True), layer(x, training=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run([trained, tf.get_collection(tf.GraphKeys.UPDATE_OPS)])[0] for _ in range(2)]
        found.append(session.run(plain))
        found.append(session.run(tf.global_variables()))
    return Close(found, 1e-4, 1e-5), [(v.name, v.shape, v.trainable) for v in tf.global_variables()]


@cases({name: name for name in _NORMALIZATIONS})
def keras_normalizations(tf, np, name):
    layer = tf.keras.layers.BatchNormalization(name="it", **_NORMALIZATIONS[name])
    x = tf.keras.Input((3, 2, 5), batch_size=4)
    model = tf.keras.Model(x, layer(x))
    model.compile("sgd", "mse")
    given = _one(np, 4, 3, 2, 5) * 2.0 + 1.0
    losses = [float(model.train_on_batch(given, given)) for _ in range(2)]
    config = {key: v for key, v in layer.get_config().items() if not isinstance(v, dict)}
    return Close([losses, model.predict(given, batch_size=4), model.get_weights()], 1e-4, 1e-5), config


_NORMALIZATION_REFUSED = {
    "axis type": dict(axis="last"),
    "axis": dict(axis=7),
    "repeated axis": dict(axis=[1, 1]),
    "fused of axis": dict(axis=2, fused=True),
    "fused renorm": dict(fused=True, renorm=True),
    "fused adjustment": dict(fused=True, adjustment=lambda shape: (1.0, 0.0)),
    "fused virtual": dict(fused=True, virtual_batch_size=2),
    "clipping": dict(renorm=True, renorm_clipping={"rmid": 1.0}),
    "virtual and adjusted": dict(virtual_batch_size=2, adjustment=lambda shape: (2.0, -1.0)),
    "virtual size": dict(virtual_batch_size=3),
    "bad": dict(nothing=3),
}


@cases({name: name for name in _NORMALIZATION_REFUSED})
def normalizations_refused(tf, np, name):
    x, options = tf.ones((4, 3, 2, 5)), _NORMALIZATION_REFUSED[name]

    def call(kind):
        return kind(**options)(x, training=True)

    return raises(call, tf.layers.BatchNormalization), raises(call, tf.keras.layers.BatchNormalization)


_FUSED_SHAPES = {"rank 2": (4, 3), "rank 3": (4, 3, 2), "rank 5": (2, 3, 2, 2, 2), "rank 4": (2, 3, 2, 3)}


@cases({name: name for name in _FUSED_SHAPES})
def ranks_of_normalization(tf, np, name):
    x = tf.constant(_one(np, *_FUSED_SHAPES[name]))
    y = tf.layers.batch_normalization(x, training=tf.constant(True), momentum=0.5)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        made = session.run([y] + tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        return Close([made[0], session.run(tf.global_variables())], 1e-4, 1e-5), names(tf)


_DROPPED = {
    "noise": lambda l, x: l.Dropout(0.5, noise_shape=(4, 1, 6), seed=3)(x, training=True),
    "noise with unknown": lambda l, x: l.Dropout(0.5, noise_shape=(None, 1, None), seed=3)(x, training=True),
    "not training": lambda l, x: l.Dropout(0.5, seed=3)(x, training=False),
    "zero": lambda l, x: l.Dropout(0.0)(x, training=True),
}


@cases({name: name for name in _DROPPED})
def dropouts(tf, np, name):
    y = _DROPPED[name](tf.layers, tf.ones((4, 5, 6)))
    z = _DROPPED[name](tf.keras.layers, tf.ones((4, 5, 6)))
    return tf.Session().run([y, z]), [y.shape, z.shape]


def keras_dropouts(tf, np):
    l, x = tf.keras.layers, tf.ones((3, 4, 4, 5))
    made = [
        l.AlphaDropout(0.5, noise_shape=(3, 1, 1, 5), seed=3)(x, training=True),
        l.SpatialDropout2D(0.5)(x, training=False),
        l.SpatialDropout2D(rate=0.5, data_format="channels_first")(x, training=False),
        l.SpatialDropout3D(0.5, data_format="channels_last")(tf.ones((2, 3, 3, 3, 4)), training=False),
        l.GaussianDropout(0.5)(x, training=False),
        l.GaussianNoise(stddev=0.5)(x, training=False),
    ]
    dropped = l.SpatialDropout2D(0.5)(x, training=True)
    first = l.SpatialDropout3D(0.5, "channels_first")(tf.ones((4, 5, 3, 3, 3)), training=True)
    values = tf.Session().run([dropped, first])
    whole = [np.all(values[0] == values[0][:, :1, :1]), np.all(values[1] == values[1][:, :, :1, :1, :1])]
    return (
        tf.Session().run(made),
        [bool(w) for w in whole],
        [set(np.unique(v).tolist()) <= {0.0, 2.0} for v in values],
    )


_POOLS = {
    "AveragePooling1D": ([2, 7, 3], dict(pool_size=3, strides=2, padding="same")),
    "MaxPooling1D": ([2, 7, 3], dict(pool_size=3, strides=3, padding="valid")),
    "AveragePooling2D": ([2, 6, 5, 3], dict(pool_size=(3, 2), strides=(2, 1), padding="same")),
    "MaxPooling2D": ([2, 6, 5, 3], dict(pool_size=(3, 2), strides=2, padding="same")),
    "AveragePooling3D": ([1, 5, 5, 5, 2], dict(pool_size=(3, 2, 2), strides=2, padding="same")),
    "MaxPooling3D": ([1, 5, 5, 5, 2], dict(pool_size=2, strides=(1, 2, 1), padding="valid")),
}


@cases({name: name for name in _POOLS})
def pools(tf, np, name):
    shape, options = _POOLS[name]
    x = tf.constant(_one(np, *shape))
    axes = [0, len(shape) - 1] + list(range(1, len(shape) - 1))
    function = name.replace("ing", "ing").lower()
    function = {"a": "average_pooling", "m": "max_pooling"}[function[0]] + name[-2:].lower()
    layer = getattr(tf.keras.layers, name)
    made = [
        getattr(tf.layers, name)(**options)(x),
        getattr(tf.layers, function)(inputs=x, name="it", **dict(options, strides=options["strides"] or 3)),
        layer(**options)(x),
    ]
    first = layer(data_format="channels_first", **options)
    config = first.get_config()
    return (
        tf.Session().run(made),
        [y.shape for y in made],
        first.compute_output_shape(tf.transpose(x, axes).shape),
        {key: v for key, v in config.items() if key != "name"},
    )


@cases(
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
)
def global_pools(tf, np, name):
    shape = [2, 3, 4, 5, 6][: int(name[-2]) + 2]
    x, kind = tf.constant(_one(np, *shape)), getattr(tf.keras.layers, name)
    made = [kind()(x), kind(data_format="channels_first")(x)]
    shapes = [
        kind(data_format=f).compute_output_shape(tuple(shape)) for f in ("channels_first", "channels_last")
    ]
    return tf.Session().run(made), shapes, kind.__name__
