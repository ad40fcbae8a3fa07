"""tf.gradients and its options, second, sparse and custom gradients, and the graphs they leave."""

from kit import Close, cases, graph, names, raises, run


def graph_of_a_simple_gradient(tf, np):
    x = tf.placeholder(tf.float32, [2], "x")
    found = tf.gradients(tf.square(x, name="y"), x)
    return [found, graph(tf)]


def graph_of_a_linear_model(tf, np):
    x = tf.placeholder(tf.float32, [None, 3], "x")
    w = tf.Variable(np.ones([3, 2], np.float32), name="w")
    b = tf.Variable(np.zeros(2, np.float32), name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b), name="loss")
    return [tf.gradients(loss, [w, b]), graph(tf)]


def graph_of_a_classifier(tf, np):
    x, y = tf.placeholder(tf.float32, [None, 4], "x"), tf.placeholder(tf.int64, [None], "y")
    w = tf.Variable(np.ones([4, 3], np.float32), name="w")
    logits = tf.nn.bias_add(tf.matmul(tf.nn.relu(x), w), tf.Variable(np.zeros(3, np.float32), name="b"))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    return [tf.gradients(loss, tf.trainable_variables()), graph(tf)]


def graph_of_a_convolution(tf, np):
    x = tf.placeholder(tf.float32, [2, 4, 4, 1], "x")
    w = tf.Variable(np.ones([3, 3, 1, 2], np.float32), name="w")
    y = tf.nn.max_pool(
        tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"
    )
    return [tf.gradients(tf.reduce_sum(y), [w, x]), graph(tf)]


def graph_of_resource_variables(tf, np):
    w = tf.get_variable("w", initializer=np.ones([3, 2], np.float32), use_resource=True)
    loss = tf.reduce_sum(tf.matmul(tf.ones([1, 3]), w) * 2.0)
    return [tf.gradients(loss, w), graph(tf)]


_GRADIENTS = {
    "add": lambda tf, x, y: x + y,
    "add broadcast": lambda tf, x, y: x + y[0],
    "sub": lambda tf, x, y: x - y,
    "mul": lambda tf, x, y: x * y,
    "mul scalar": lambda tf, x, y: 3.0 * x,
    "div": lambda tf, x, y: x / y,
    "pow": lambda tf, x, y: x**2,
    "exp": lambda tf, x, y: tf.exp(x),
    "log": lambda tf, x, y: tf.log(x),
    "tanh": lambda tf, x, y: tf.tanh(x),
    "sigmoid": lambda tf, x, y: tf.sigmoid(x),
    "sqrt": lambda tf, x, y: tf.sqrt(x),
    "maximum": lambda tf, x, y: tf.maximum(x, y),
    "reduce_sum": lambda tf, x, y: tf.reduce_sum(x),
    "reduce_mean": lambda tf, x, y: tf.reduce_mean(x, 1),
    "reduce_max": lambda tf, x, y: tf.reduce_max(x),
    "matmul": lambda tf, x, y: tf.matmul(x, y, transpose_b=True),
    "transpose": lambda tf, x, y: tf.transpose(x),
    "reshape": lambda tf, x, y: tf.reshape(x, [3, 2]),
    "concat": lambda tf, x, y: tf.concat([x, y], 1),
    "split": lambda tf, x, y: tf.split(x, 3, 1)[1],
    "stack": lambda tf, x, y: tf.stack([x, y]),
    "unstack": lambda tf, x, y: tf.unstack(x)[0],
    "slice": lambda tf, x, y: x[0, 1:],
    "gather": lambda tf, x, y: tf.gather(x, [0, 0]),
    "tile": lambda tf, x, y: tf.tile(x, [2, 1]),
    "pad": lambda tf, x, y: tf.pad(x, [[1, 0], [0, 1]]),
    "where": lambda tf, x, y: tf.where(x > y, x, y),
    "softmax": lambda tf, x, y: tf.nn.softmax(x),
    "log_softmax": lambda tf, x, y: tf.nn.log_softmax(x),
    "cast": lambda tf, x, y: tf.cast(x, tf.float64),
    "cumsum": lambda tf, x, y: tf.cumsum(x),
    "squeeze": lambda tf, x, y: tf.squeeze(tf.expand_dims(x, 0)),
    "l2_loss": lambda tf, x, y: tf.nn.l2_loss(x),
    "clip": lambda tf, x, y: tf.clip_by_value(x, 0.0, 1.0),
    "squared_difference": lambda tf, x, y: tf.squared_difference(x, y),
    "used twice": lambda tf, x, y: x * x + x,
}


@cases(*_GRADIENTS)
def gradient_graph_of(tf, np, key):
    x, y = tf.placeholder(tf.float32, [2, 3], "x"), tf.placeholder(tf.float32, [2, 3], "y")
    return [tf.gradients(_GRADIENTS[key](tf, x, y), [x, y]), graph(tf)]


# Where the rows are not known, these need them, or do not go through at all.
_ONLY_KNOWN = ("unstack", "reshape", "stack")


@cases(*[key for key in _GRADIENTS if key not in _ONLY_KNOWN])
def gradient_graph_of_unknown_rows(tf, np, key):
    x, y = tf.placeholder(tf.float32, [None, 3], "x"), tf.placeholder(tf.float32, [None, 3], "y")
    return [tf.gradients(_GRADIENTS[key](tf, x, y), [x, y]), graph(tf)]


_MORE_GRADIENTS = {
    "floordiv": lambda tf, x, y: x // y,
    "mod": lambda tf, x, y: x % y,
    "pow of both": lambda tf, x, y: tf.pow(x, y),
    "minimum": lambda tf, x, y: tf.minimum(x, y),
    "sin": lambda tf, x, y: tf.sin(x) + tf.cos(x),
    "tan": lambda tf, x, y: tf.tan(x),
    "asin": lambda tf, x, y: tf.asin(x) + tf.acos(x) + tf.atan(x),
    "sinh": lambda tf, x, y: tf.sinh(x) + tf.cosh(x),
    "asinh": lambda tf, x, y: tf.asinh(x) + tf.acosh(x) + tf.atanh(x),
    "reciprocal": lambda tf, x, y: tf.reciprocal(x),
    "rsqrt": lambda tf, x, y: tf.rsqrt(x),
    "log1p": lambda tf, x, y: tf.log1p(x) + tf.expm1(x),
    "erf": lambda tf, x, y: tf.erf(x) + tf.erfc(x),
    "lgamma": lambda tf, x, y: tf.lgamma(x),
    "abs": lambda tf, x, y: tf.abs(x) + tf.sign(x),
    "relu6": lambda tf, x, y: tf.nn.relu6(x),
    "elu": lambda tf, x, y: tf.nn.elu(x) + tf.nn.selu(x),
    "softplus": lambda tf, x, y: tf.nn.softplus(x) + tf.nn.softsign(x),
    "leaky_relu": lambda tf, x, y: tf.nn.leaky_relu(x, 0.3),
    "prod": lambda tf, x, y: tf.reduce_prod(x, 1),
    "min kept": lambda tf, x, y: tf.reduce_min(x, [0], keepdims=True),
    "logsumexp": lambda tf, x, y: tf.reduce_logsumexp(x, 1),
    "cumprod": lambda tf, x, y: tf.cumprod(x, 1),
    "batch matmul": lambda tf, x, y: tf.matmul(tf.expand_dims(x, 0), tf.expand_dims(y, 0), transpose_b=True),
    "matmul both transposed": lambda tf, x, y: tf.matmul(x, y[:, :2], transpose_a=True, transpose_b=True),
    "gather axis": lambda tf, x, y: tf.gather(x, [2, 0], axis=1),
    "gather_nd": lambda tf, x, y: tf.gather_nd(x, [[0, 1], [1, 1]]),
    "scatter_nd": lambda tf, x, y: tf.scatter_nd([[0], [3]], x, [4, 3]),
    "slice function": lambda tf, x, y: tf.slice(x, [0, 1], [2, 2]),
    "slice new": lambda tf, x, y: x[:, None, ::-1],
    "mirror pad": lambda tf, x, y: tf.pad(x, [[1, 1], [0, 0]], "REFLECT"),
    "broadcast_to": lambda tf, x, y: tf.broadcast_to(x, [4, 2, 3]),
    "reverse": lambda tf, x, y: tf.reverse(x, [1]),
    "expand": lambda tf, x, y: tf.expand_dims(x, 1),
    "fill": lambda tf, x, y: tf.fill([2, 2], tf.reduce_sum(x)),
    "split sizes": lambda tf, x, y: tf.split(x, [1, 2], 1)[1],
    "top_k": lambda tf, x, y: tf.nn.top_k(x, 2).values,
    "add_n": lambda tf, x, y: tf.add_n([x, y, x]),
    "cross entropy": lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x),
    "sparse entropy": lambda tf, x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=[0, 2], logits=x
    ),
    "sigmoid entropy": lambda tf, x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x),
    "softmax axis": lambda tf, x, y: tf.nn.softmax(x, axis=0),
    "l2_normalize": lambda tf, x, y: tf.nn.l2_normalize(x, 1),
    "moments": lambda tf, x, y: tf.nn.moments(x, [0]),
    "dropout": lambda tf, x, y: tf.nn.dropout(x, rate=0.5, seed=1),
    "batch norm": lambda tf, x, y: tf.nn.batch_normalization(x, y, 1.0, None, None, 0.1),
    "bias_add": lambda tf, x, y: tf.nn.bias_add(x, y[0]),
    "clip_by_norm": lambda tf, x, y: tf.clip_by_norm(x, 1.0),
    "global norm": lambda tf, x, y: tf.global_norm([x, y]),
    "norm": lambda tf, x, y: tf.norm(x, axis=1),
    "tensordot": lambda tf, x, y: tf.tensordot(x, y, [[0, 1], [0, 1]]),
    "identity_n": lambda tf, x, y: tf.identity_n([x, y]),
    "tuple": lambda tf, x, y: tf.tuple([x, y]),
    "stop": lambda tf, x, y: tf.stop_gradient(x) * y,
    "mean squared error": lambda tf, x, y: tf.losses.mean_squared_error(y, x),
    "huber": lambda tf, x, y: tf.losses.huber_loss(y, x),
    "embedding": lambda tf, x, y: tf.nn.embedding_lookup(x, [1, 0, 1]),
    "segment_sum": lambda tf, x, y: tf.segment_sum(x, [0, 0]),
    "complex": lambda tf, x, y: tf.abs(tf.complex(x, y)),
}


@cases(*_MORE_GRADIENTS)
def more_gradient_graphs(tf, np, key):
    x, y = tf.placeholder(tf.float32, [2, 3], "x"), tf.placeholder(tf.float32, [2, 3], "y")
    return [tf.gradients(_MORE_GRADIENTS[key](tf, x, y), [x, y]), graph(tf)]


_IMAGE_GRADIENTS = {
    "conv": lambda tf, x, w: tf.nn.conv2d(x, w, [1, 2, 2, 1], "VALID"),
    "conv unknown": lambda tf, x, w: tf.nn.conv2d(
        tf.placeholder_with_default(x, [None, None, None, 2]), w, 1, "SAME"
    ),
    "conv bias relu": lambda tf, x, w: tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), [1.0, 2.0])),
    "dilated": lambda tf, x, w: tf.nn.convolution(x, w, "SAME", dilation_rate=[2, 2]),
    "transpose": lambda tf, x, w: tf.nn.conv2d_transpose(x, w, [1, 8, 8, 2], [1, 2, 2, 1]),
    "depthwise": lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"),
    "max pool": lambda tf, x, w: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
    "avg pool": lambda tf, x, w: tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
    "fused norm": lambda tf, x, w: tf.nn.fused_batch_norm(x, [1.0, 1.0], [0.0, 0.0])[0],
    "fused norm inference": lambda tf, x, w: tf.nn.fused_batch_norm(
        x, [1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0], is_training=False
    )[0],
    "lrn": lambda tf, x, w: tf.nn.lrn(x),
    "conv1d": lambda tf, x, w: tf.nn.conv1d(x[:, 0], w[0], 1, "SAME"),
    "conv3d": lambda tf, x, w: tf.nn.conv3d(x[:, None], w[None], [1, 1, 1, 1, 1], "SAME"),
    "pool3d": lambda tf, x, w: tf.nn.max_pool3d(x[:, None], [1, 1, 2, 2, 1], [1, 1, 2, 2, 1], "SAME"),
}


@cases(*_IMAGE_GRADIENTS)
def image_gradient_graphs(tf, np, key):
    x, w = tf.placeholder(tf.float32, [1, 4, 4, 2], "x"), tf.placeholder(tf.float32, [3, 3, 2, 2], "w")
    return [tf.gradients(_IMAGE_GRADIENTS[key](tf, x, w), [x, w]), graph(tf)]


def gradients_scopes_count(tf, np):
    x = tf.placeholder(tf.float32, [], "x")
    tf.gradients(x * x, x)
    tf.gradients(x * x, x)
    tf.gradients(x * x, x, name="mine")
    with tf.name_scope("s"):
        tf.gradients(x * x, x)
    return names(tf)


def grad_ys_weigh(tf, np):
    x = tf.constant([1.0, 2.0])
    y, z = x * 3.0, x**2
    return run(
        tf,
        [
            tf.gradients(y, x, grad_ys=tf.constant([10.0, 100.0])),
            tf.gradients([y, z], x, grad_ys=[tf.constant([1.0, 0.0]), tf.constant([0.0, 1.0])]),
            tf.gradients([y, z], x, grad_ys=[None, tf.constant([5.0, 5.0])]),
        ],
    )


def grad_ys_mistakes(tf, np):
    x = tf.constant([1.0, 2.0])
    return [
        raises(tf.gradients, x * 2, x, [tf.constant([1.0]), tf.constant([1.0])]),
        raises(tf.gradients, x * 2, x, tf.constant([1, 2])),
        raises(tf.gradients, x * 2, x, tf.constant([1.0, 2.0, 3.0])),
    ]


def sums_over_several_targets(tf, np):
    x = tf.constant(2.0)
    return run(tf, tf.gradients([x**2, x**3, 3 * x], [x]))


def unconnected_gives_none_or_zeros(tf, np):
    x, y = tf.constant([1.0, 2.0]), tf.constant([[3.0]])
    none = tf.gradients(x * 2, [x, y])
    zero = tf.gradients(x * 2, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    text = tf.gradients(x * 2, [y], unconnected_gradients="zero")
    return [
        none[1] is None,
        run(tf, [none[0]] + zero + text),
        raises(tf.gradients, x, y, unconnected_gradients="what"),
    ]


def gradient_of_a_tensor_by_itself(tf, np):
    x = tf.constant([1.0, 2.0])
    return run(tf, tf.gradients(x, x))


def stop_gradients_cut(tf, np):
    a = tf.constant(2.0)
    b = a * 3.0
    c = a * b + b
    return run(
        tf,
        [
            tf.gradients(c, [a, b]),
            tf.gradients(c, [a, b], stop_gradients=[b]),
            tf.gradients(c, [a, b], stop_gradients=[a, b]),
        ],
    )


def stop_gradient_op_cuts(tf, np):
    a = tf.constant(2.0)
    return [
        run(tf, tf.gradients(tf.stop_gradient(a * 3) * a, a)),
        tf.gradients(tf.stop_gradient(a), a) == [None],
    ]


@cases("DEFAULT", "ADD_N", "EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N")
def aggregation_methods(tf, np, method):
    x = tf.placeholder(tf.float32, [2], "x")
    y = tf.add_n([x * float(i) for i in range(1, 6)])
    found = tf.gradients(y, x, aggregation_method=getattr(tf.AggregationMethod, method))
    return [found, run(tf, found, {x: [1.0, 2.0]}), graph(tf)]


@cases(False, True)
def gate_gradients(tf, np, gate):
    x, y = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.float32, [2], "y")
    found = tf.gradients(x * y, [x, y], gate_gradients=gate)
    return [run(tf, found, {x: [1.0, 2.0], y: [3.0, 4.0]}), graph(tf)]


def colocate_gradients(tf, np):
    with tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [2], "x")
        y = tf.exp(x, name="y")
    tf.gradients(y, x, colocate_gradients_with_ops=True)
    return graph(tf)


def integer_sources_and_targets(tf, np):
    i, f = tf.constant([1, 2]), tf.constant([1.0, 2.0])
    cast = tf.cast(i, tf.float32)
    return [tf.gradients(cast * f, [i])[0] is None, tf.gradients(i * 2, i)[0] is None]


def gradients_of_variables_of_both_kinds(tf, np):
    v, r = tf.Variable([1.0, 2.0], name="v"), tf.Variable([3.0, 4.0], name="r", use_resource=True)
    found = tf.gradients(v * v * r, [v, r])
    return [found, run(tf, found)]


def gather_gives_indexed_slices(tf, np):
    v = tf.Variable(np.arange(8.0).reshape(4, 2).astype(np.float32), name="v")
    y = tf.gather(v, [2, 0, 2]) * [[1.0], [2.0], [3.0]]
    found = tf.gradients(y, v)[0]
    return [found, run(tf, found), run(tf, tf.convert_to_tensor(found)), graph(tf)]


def resource_gather_gives_indexed_slices(tf, np):
    v = tf.Variable(np.arange(8.0).reshape(4, 2).astype(np.float32), name="v", use_resource=True)
    found = tf.gradients(tf.nn.embedding_lookup(v, [[1, 0], [1, 3]]) ** 2, v)[0]
    return [found, run(tf, found), run(tf, tf.convert_to_tensor(found))]


def slices_and_slices_are_concatenated(tf, np):
    v = tf.Variable(np.ones([4, 2], np.float32), name="v")
    y = tf.reduce_sum(tf.gather(v, [1, 2])) + 2 * tf.reduce_sum(tf.gather(v, [2]))
    found = tf.gradients(y, v)[0]
    return [type(found).__name__, run(tf, found), run(tf, tf.convert_to_tensor(found))]


def slices_and_dense_become_dense(tf, np):
    v = tf.Variable(np.ones([4, 2], np.float32), name="v")
    found = tf.gradients(tf.reduce_sum(tf.gather(v, [1, 2])) + tf.reduce_sum(v), v)[0]
    return run(tf, tf.convert_to_tensor(found))


def gather_of_axis_one_is_dense(tf, np):
    v = tf.Variable(np.ones([2, 3], np.float32), name="v")
    found = tf.gradients(tf.gather(v, [0, 0, 2], axis=1), v)[0]
    return [type(found).__name__ == "IndexedSlices", run(tf, tf.convert_to_tensor(found))]


def gradient_of_gradient(tf, np):
    x = tf.constant([0.5, 1.5], tf.float64)
    y = tf.exp(x) * tf.sin(x) + x**3
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    third = tf.gradients(second, x)[0]
    return run(tf, [first, second, third])


_SECOND = {
    "matmul": lambda tf, x: tf.reduce_sum(tf.matmul(x, x) ** 2),
    "softmax": lambda tf, x: tf.reduce_sum(tf.nn.softmax(x) ** 2),
    "log_softmax": lambda tf, x: tf.reduce_sum(tf.nn.log_softmax(x) ** 2),
    "tanh": lambda tf, x: tf.reduce_sum(tf.tanh(x) ** 2),
    "sigmoid": lambda tf, x: tf.reduce_sum(tf.sigmoid(x) ** 2),
    "relu": lambda tf, x: tf.reduce_sum(tf.nn.relu(x) ** 3),
    "elu": lambda tf, x: tf.reduce_sum(tf.nn.elu(x) ** 2),
    "softplus": lambda tf, x: tf.reduce_sum(tf.nn.softplus(x) ** 2),
    "division": lambda tf, x: tf.reduce_sum(1.0 / (x + 5.0)),
    "pow": lambda tf, x: tf.reduce_sum(tf.pow(x + 5.0, 2.5)),
    "reduce_max": lambda tf, x: tf.reduce_max(x) ** 3,
    "reduce_prod": lambda tf, x: tf.reduce_prod(x),
    "concat": lambda tf, x: tf.reduce_sum(tf.concat([x, x * x], 0) ** 2),
    "gather": lambda tf, x: tf.reduce_sum(tf.gather(x * 1.0, [0, 0]) ** 3),
    "slice": lambda tf, x: tf.reduce_sum(x[0] ** 3 * x[1]),
    "softmax cross entropy": lambda tf, x: tf.reduce_sum(
        tf.nn.softmax_cross_entropy_with_logits_v2(
            labels=tf.constant([[0.0, 1.0], [0.5, 0.5]], tf.float64), logits=x
        )
    ),
    "sigmoid cross entropy": lambda tf, x: tf.reduce_sum(
        tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.constant([[0.0, 1.0], [0.5, 0.5]], tf.float64), logits=x
        )
    ),
    "l2_normalize": lambda tf, x: tf.reduce_sum(tf.nn.l2_normalize(x, 1)[:, 0]),
    "moments": lambda tf, x: tf.reduce_sum(tf.nn.moments(x, [0])[1] ** 2),
    "logsumexp": lambda tf, x: tf.reduce_sum(tf.reduce_logsumexp(x, 1) ** 2),
    "cumprod": lambda tf, x: tf.reduce_sum(tf.cumprod(x, 1)),
}


@cases(*_SECOND)
def second_gradient_of(tf, np, key):
    x = tf.constant([[0.3, -0.7], [1.2, 0.4]], tf.float64)
    first = tf.gradients(_SECOND[key](tf, x), x)[0]
    return run(tf, [first, tf.gradients(first, x, tf.constant([[1.0, 2.0], [-1.0, 0.5]], tf.float64))[0]])


def second_gradient_of_sparse_cross_entropy(tf, np):
    x = tf.constant([[0.3, -0.7], [1.2, 0.4]])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=x)
    first = tf.gradients(loss, x)[0]
    return [run(tf, first), raises(tf.gradients, first, x)]


@cases("conv", "max pool", "avg pool", "bias", "fused batch norm")
def second_gradient_of_images(tf, np, key):
    x = tf.constant(np.random.RandomState(3).normal(size=(1, 4, 4, 2)).astype(np.float32))
    w = tf.constant(np.random.RandomState(4).normal(size=(3, 3, 2, 2)).astype(np.float32))
    y = {
        "conv": lambda: tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"),
        "max pool": lambda: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"),
        "avg pool": lambda: tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
        "bias": lambda: tf.nn.bias_add(x, tf.constant([1.0, 2.0])),
        "fused batch norm": lambda: tf.nn.fused_batch_norm(x, [1.5, 0.5], [0.0, 1.0])[0],
    }[key]()
    first = tf.gradients(tf.reduce_sum(y**3), x)[0]
    return Close(run(tf, [first, tf.gradients(first, x)[0]]), 1e-3, 1e-4)


def hessians_of_vectors(tf, np):
    x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant([2.0])
    f = tf.reduce_sum(x**3) * tf.reduce_sum(y**2) + x[0] * x[1]
    return run(tf, tf.hessians(f, [x, y]))


def hessians_of_matrices(tf, np):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return run(tf, tf.hessians(tf.reduce_sum(x**3) + x[0, 0] * x[1, 1], x))


def registered_gradient(tf, np):
    @tf.RegisterGradient("OracleClipped")
    def _clipped(op, grad):
        return tf.clip_by_value(grad, -0.5, 0.5)

    x = tf.constant([1.0, -2.0])
    with tf.get_default_graph().gradient_override_map({"Identity": "OracleClipped"}):
        y = tf.identity(x)
    return run(tf, tf.gradients(y * 10.0, x))


def registered_twice_is_refused(tf, np):
    tf.RegisterGradient("OracleTwice")(lambda op, grad: grad)
    return raises(tf.RegisterGradient("OracleTwice"), lambda op, grad: grad)


def wrong_number_of_gradients_is_refused(tf, np):
    tf.RegisterGradient("OracleTooMany")(lambda op, grad: [grad, grad, grad])
    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Exp": "OracleTooMany"}):
        y = tf.exp(x)
    return raises(tf.gradients, y, x)


def not_differentiable_ops_give_none(tf, np):
    x = tf.constant([1.5, 2.5])
    made = [
        tf.floor(x),
        tf.round(x),
        tf.cast(tf.argmax(x), tf.float32),
        tf.zeros_like(x),
        tf.cast(x > 2.0, tf.float32),
        tf.sign(x),
    ]
    found = [tf.gradients(y, x)[0] for y in made]
    return [None if g is None else run(tf, g) for g in found]


def custom_gradient(tf, np):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(dy):
            return dy * (1 - 1 / (1 + e))

        return tf.log(1 + e), grad

    x = tf.constant([0.0, 2.0])
    y = log1pexp(x)
    return run(tf, [y, tf.gradients(y, x)[0], tf.gradients(y * 3.0, x)[0]])


def custom_gradient_of_two(tf, np):
    @tf.custom_gradient
    def scaled(x, y):
        def grad(dy):
            return dy * 100.0, dy * 1000.0

        return x * y, grad

    x, y = tf.constant(2.0), tf.constant(3.0)
    z = scaled(x, y)
    return run(tf, [z] + tf.gradients(z, [x, y]))


def custom_gradient_with_variables(tf, np):
    @tf.custom_gradient
    def affine(x):
        w = tf.get_variable("w", initializer=3.0, use_resource=True)

        def grad(dy, variables=None):
            return dy * 7.0, [dy * 11.0 for _ in variables]

        return x * w, grad

    with tf.variable_scope("s", use_resource=True):
        x = tf.constant(2.0)
        y = affine(x)
    return run(tf, [y] + tf.gradients(y, [x] + tf.trainable_variables()))


def py_func_values(tf, np):
    def both(a, b):
        return (a + b).astype(np.float32), np.array([len(a)], np.int64)

    x = tf.placeholder(tf.float32, [None])
    made = tf.py_func(both, [x, tf.constant([1.0, 1.0])], [tf.float32, tf.int64])
    return [[m.dtype for m in made], [m.shape for m in made], run(tf, made, {x: [1.0, 2.0]})]


def py_func_single_output_and_strings(tf, np):
    x = tf.constant(["a", "b"])
    joined = tf.py_func(lambda a: b"-".join(a.tolist()), [x], tf.string)
    number = tf.py_func(lambda: np.float64(2.5), [], tf.float64, stateful=False)
    return [joined.dtype, run(tf, [joined, number]), tf.gradients(number, x)[0] is None]


def py_func_errors(tf, np):
    def divide(a):
        raise ZeroDivisionError("inside")

    def index(a):
        raise ValueError("inside")

    x = tf.constant(1.0)
    return [
        raises(run, tf, tf.py_func(index, [x], tf.float32)),
        raises(run, tf, tf.py_func(lambda a: np.float64(a), [x], tf.float32)),
        raises(run, tf, tf.py_func(lambda a: (a, a), [x], tf.float32)),
        raises(run, tf, tf.py_func(divide, [x], tf.float32)),
    ]


def raw_ops_take_keywords_only(tf, np):
    x = tf.constant([[1.0, 2.0]])
    made = tf.raw_ops.MatMul(a=x, b=x, transpose_b=True)
    return [made, run(tf, made), raises(tf.raw_ops.MatMul, x, x), raises(tf.raw_ops.Add, x=x, y=x, z=x)]


def no_gradient_registered_is_a_lookup_error(tf, np):
    x = tf.constant([1.0])
    return raises(tf.gradients, tf.raw_ops.TruncateMod(x=x, y=x), x)


def gradient_through_control_dependencies(tf, np):
    x = tf.constant(2.0)
    with tf.control_dependencies([tf.exp(x)]):
        y = tf.square(x)
    return run(tf, tf.gradients(y, x))


def gradients_of_nothing(tf, np):
    x = tf.constant(1.0)
    return [tf.gradients([], x) == [None], tf.gradients(x, []) == []]


def gradient_of_multi_output_ops(tf, np):
    x = tf.constant([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    values, _ = tf.nn.top_k(x, 2)
    mean, variance = tf.nn.moments(x, [1])
    a, b, c = tf.unstack(x, axis=1)
    return run(tf, [tf.gradients(t, x)[0] for t in (values, mean, variance, [a, c], b * a)])


def gradient_of_a_deep_chain(tf, np):
    x = tf.constant(0.01)
    y = x
    for _ in range(300):
        y = y * 1.01 + x
    return run(tf, tf.gradients(y, x))


def jacobian_by_rows(tf, np):
    x = tf.constant([1.0, 2.0])
    y = [x[0] * x[1], x[0] ** 2]
    return run(tf, [tf.gradients(t, x)[0] for t in y])
