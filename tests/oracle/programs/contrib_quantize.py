"""tf.contrib.quantize: rewritten graphs, node by node, and what they compute."""

from kit import Close, cases, graph, product, raises

_ATTRS = ["T", "num_bits", "narrow_range", "strides", "padding", "epsilon", "is_training"]


def _norm(tf, fused, training, scale=True):
    return {
        "normalizer_fn": tf.contrib.layers.batch_norm,
        "normalizer_params": {
            "fused": fused, "is_training": training, "scale": scale, "epsilon": 0.01, "decay": 0.9,
        },
    }  # fmt: skip


def _conv(tf, x, training, norm, activation, scope, **more):
    keywords = {} if norm is None else _norm(tf, norm, training, **more)
    return tf.contrib.layers.conv2d(x, 4, 3, activation_fn=activation, scope=scope, **keywords)


def _depthwise(tf, x, training, norm, activation, scope, **more):
    keywords = {} if norm is None else _norm(tf, norm, training, **more)
    return tf.contrib.layers.separable_conv2d(
        x, None, 3, depth_multiplier=2, activation_fn=activation, scope=scope, **keywords
    )


def _dense(tf, x, training, norm, activation, scope, **more):
    keywords = {} if norm is None else _norm(tf, norm, training, **more)
    return tf.contrib.layers.fully_connected(
        tf.contrib.layers.flatten(x), 5, activation_fn=activation, scope=scope, **keywords
    )


_LAYERS = {"conv": _conv, "depthwise": _depthwise, "dense": _dense}


def _rewritten(tf, training, **keywords):
    if training:
        tf.contrib.quantize.experimental_create_training_graph(**keywords)
    else:
        tf.contrib.quantize.experimental_create_eval_graph(**keywords)


def _values(tf, np, x, outputs, follow=True):
    """Values and what is learned in three steps from weights that are the same in every engine.

    Averages follow in steps of their own, of one layer: TensorFlow reads them before or after, by chance.
    """
    weights = [v for v in tf.trainable_variables() if "weights" in v.op.name]
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    made = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i, v in enumerate(weights):
            shape = v.shape.as_list()
            count = int(np.prod(shape))
            v.load(np.sin(np.arange(count) + i).reshape(shape).astype("float32"), session)
        for i in range(3):
            feed = np.cos(np.arange(2 * 6 * 6 * 3) * (i + 1)).reshape(2, 6, 6, 3)
            made.append(session.run(outputs, {x: feed}))
            if follow:
                session.run(updates, {x: feed})
        state = {v.op.name: session.run(v) for v in tf.global_variables()}
    return [Close(made, 1e-3, 0.04), Close(state, 1e-3, 1e-3)]  # a value may be rounded to its neighbour


@cases(*product(["conv", "depthwise", "dense"], [None, True, False], ["relu6", "none"], [True, False]))
def layer(tf, np, kind, norm, activation, training):
    x = tf.placeholder(tf.float32, [2, 6, 6, 3], name="x")
    function = None if activation == "none" else getattr(tf.nn, activation)
    if norm is False and function is None:
        function = tf.identity  # a batch norm of plain ops must have an activation behind it
    y = _LAYERS[kind](tf, x, training, norm, function, "net/layer")
    y = tf.identity(y, name="y")
    _rewritten(tf, training)
    return [graph(tf, _ATTRS), _values(tf, np, x, y)]


@cases(*product(["conv", "dense"], [True, False], [True, False]))
def without_scale(tf, np, kind, norm, training):
    x = tf.placeholder(tf.float32, [2, 6, 6, 3], name="x")
    y = tf.identity(_LAYERS[kind](tf, x, training, norm, tf.nn.relu6, "l", scale=False), name="y")
    _rewritten(tf, training)
    return [graph(tf, _ATTRS), _values(tf, np, x, y)]


def _residual(tf, x, training, norm):
    """Two layers, an addition before an activation, and one after."""
    first = _conv(tf, x, training, norm, tf.nn.relu6, "block/first")
    second = _conv(tf, first, training, norm, None, "block/second")
    with tf.name_scope("block"):
        total = tf.nn.relu(first + second)
        third = _conv(tf, total, training, norm, tf.nn.relu, "third")
        later = tf.add(third, total, name="later")
        pooled = tf.nn.max_pool(later, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        return tf.identity(pooled * 2.0 + later[:, ::2, ::2], name="y")


@cases(*product([None, True], [True, False]))
def residual(tf, np, norm, training):
    x = tf.placeholder(tf.float32, [2, 6, 6, 3], name="x")
    y = _residual(tf, x, training, norm)
    _rewritten(tf, training)
    return [graph(tf, _ATTRS), _values(tf, np, x, y, follow=False)]


@cases(
    {
        "delay": ({"quant_delay": 2},),
        "freeze": ({"freeze_bn_delay": 1},),
        "both": ({"quant_delay": 1, "freeze_bn_delay": 2},),
        "bits": ({"weight_bits": 4, "activation_bits": 5},),
        "symmetric": ({"symmetric": True},),
        "scope": ({"scope": "block"},),
        "first": ({"scope": "block/first/"},),
        "nowhere": ({"scope": "nowhere"},),
    }
)
def options(tf, np, keywords):
    x = tf.placeholder(tf.float32, [2, 6, 6, 3], name="x")
    y = _residual(tf, x, True, True)
    _rewritten(tf, True, **keywords)
    return [graph(tf, _ATTRS), _values(tf, np, x, y, follow=False)]


@cases(True, False)
def plain_functions(tf, np, training):
    x = tf.placeholder(tf.float32, [2, 6, 6, 3], name="x")
    y = _conv(tf, x, training, None, tf.nn.relu, "a")
    y = tf.reduce_mean(_dense(tf, y, training, None, None, "b"), name="y")
    create = tf.contrib.quantize.create_training_graph if training else tf.contrib.quantize.create_eval_graph
    create(tf.get_default_graph())
    return [graph(tf, _ATTRS), _values(tf, np, x, y)]


@cases(True, False)
def resources(tf, np, training):
    x = tf.placeholder(tf.float32, [2, 6, 6, 3], name="x")
    with tf.variable_scope("r", use_resource=True):
        y = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu)
        y = tf.layers.dense(tf.layers.flatten(y), 2, name="top")
        y = tf.identity(y, name="y")
    _rewritten(tf, training)
    return [graph(tf, _ATTRS)]


def gradients(tf, np):
    x = tf.placeholder(tf.float32, [2, 6, 6, 3], name="x")
    y = tf.reduce_sum(tf.square(_residual(tf, x, True, True)))
    tf.contrib.quantize.create_training_graph()
    weights = [v for v in tf.trainable_variables() if "weights" in v.op.name]
    slopes = tf.gradients(y, tf.trainable_variables())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i, v in enumerate(weights):
            shape = v.shape.as_list()
            v.load(np.sin(np.arange(int(np.prod(shape))) + i).reshape(shape).astype("float32"), session)
        feed = np.cos(np.arange(2 * 6 * 6 * 3)).reshape(2, 6, 6, 3)
        return [graph(tf, ["T"]), Close(session.run(slopes, {x: feed}), 1e-2, 1e-2)]


def twice(tf, np):
    x = tf.placeholder(tf.float32, [2, 6, 6, 3], name="x")
    _residual(tf, x, True, None)
    tf.contrib.quantize.create_training_graph()
    tf.contrib.quantize.create_training_graph()
    return graph(tf, _ATTRS)


def refusals(tf, np):
    x = tf.placeholder(tf.float32, [2, 6, 6, 3], name="x")
    y = _conv(tf, x, True, None, tf.nn.relu, "a")
    tf.train.AdamOptimizer().minimize(tf.reduce_sum(y))
    q = tf.contrib.quantize
    return [raises(q.create_training_graph), raises(q.create_eval_graph)]
