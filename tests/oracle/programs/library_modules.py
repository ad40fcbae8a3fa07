"""Inner modules of TensorFlow that libraries of its time import, and what they do with them."""

import importlib

from kit import Close, cases, product, raises


def _module(tf, name):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow." + name)


def _normalized(tf, np, depthwise, by_hand):
    """A frozen convolution with batch normalization, as graphs from before TensorFlow 1.15 have it."""
    x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
    size = 4
    shape = [3, 3, 2, size // 2 if depthwise else size]
    weights = tf.constant(np.linspace(-1, 1, int(np.prod(shape))).reshape(shape), tf.float32, name="w")
    convolve = tf.nn.depthwise_conv2d_native if depthwise else tf.nn.conv2d
    y = convolve(x, weights, strides=[1, 1, 1, 1], padding="SAME", name="conv")
    mean, variance, beta, gamma = [
        tf.constant(np.linspace(low, low + 1, size), tf.float32, name=name)
        for low, name in ((-0.5, "mean"), (0.25, "variance"), (2.0, "beta"), (-1.0, "gamma"))
    ]
    y = tf.raw_ops.FusedBatchNorm(
        x=y, scale=gamma, offset=beta, mean=mean, variance=variance, is_training=False, name="bn"
    ).y
    tf.identity(y, name="y")
    made = tf.get_default_graph().as_graph_def()
    if by_hand:
        _as_older_op(next(node for node in made.node if node.name == "bn"), by_hand == "scaled")
    return made


def _as_older_op(node, scaled):
    """Writes a node as graphs had it before FusedBatchNorm; no graph of today has such a one."""
    convolution, gamma, beta, mean, variance = node.input
    del node.input[:]
    node.input.extend([convolution, mean, variance, beta, gamma])
    node.op = "BatchNormWithGlobalNormalization"
    for name in ("epsilon", "is_training", "data_format"):
        del node.attr[name]
    node.attr["variance_epsilon"].f = 0.001
    node.attr["scale_after_normalization"].b = scaled


def _ran(tf, np, nodes, outputs="y:0"):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(nodes, name="")
        return sess.run(outputs, {"x:0": np.linspace(0, 1, 32).reshape(1, 4, 4, 2)})


@cases(*product([False, True], ["", "scaled", "unscaled"]))
def normalization_is_folded(tf, np, depthwise, by_hand):
    lib = _module(tf, "python.tools.optimize_for_inference_lib")
    given = _normalized(tf, np, depthwise, by_hand)
    made = lib.optimize_for_inference(given, ["x"], ["y"], tf.float32.as_datatype_enum)
    names = [(node.name, node.op, list(node.input)) for node in made.node]
    values = [lib.values_from_const(node) for node in made.node if node.op == "Const"]
    folded = [node.name for node in lib.fold_batch_norms(given).node]
    return names, folded, Close(values, 1e-6), Close(_ran(tf, np, made), 1e-5, 1e-5)


@cases(*product([False, True], [False, True], [False, True]))
def resizing_is_fused(tf, np, resize, pad, lite):
    lib = _module(tf, "python.tools.optimize_for_inference_lib")
    x = y = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
    if resize:
        y = tf.image.resize_bilinear(x, [8, 8], align_corners=True, name="r")
    if pad:
        y = tf.pad(y, [[0, 0], [1, 1], [2, 2], [0, 0]], mode="SYMMETRIC", name="p")
    kernel = tf.constant(np.linspace(-1, 1, 54).reshape(3, 3, 2, 3), tf.float32, name="w")
    y = tf.nn.conv2d(y, kernel, strides=[1, 2, 2, 1], padding="VALID", name="y")
    given = tf.get_default_graph().as_graph_def()
    made = lib.optimize_for_inference(given, ["x"], ["y"], [tf.float32.as_datatype_enum], lite)
    return sorted((node.name, node.op, list(node.input)) for node in made.node), Close(
        _ran(tf, np, made), 1e-5, 1e-5
    )


def graphs_are_checked(tf, np):
    lib = _module(tf, "python.tools.optimize_for_inference_lib")
    twice, without = tf.GraphDef(), tf.GraphDef()
    for _ in range(2):
        twice.node.add(name="a", op="NoOp")
    without.node.add(name="a", op="Identity", input=["b:0"])
    return (
        [
            raises(lambda: check(given))
            for check in (lib.ensure_graph_is_valid, lib.fold_batch_norms)
            for given in (twice,)
        ],
        raises(lambda: lib.ensure_graph_is_valid(without)),
        raises(lambda: lib.node_from_map({}, "^c:1")),
        raises(lambda: lib.values_from_const(without.node[0])),
        [lib.node_name_from_input(name) for name in ("a", "^a", "a:1", "b/c:10")],
    )


def variables_are_operations(tf, np):
    state_ops = _module(tf, "python.ops.state_ops")
    v = state_ops.variable_op([2, 3], tf.float32, name="old")
    free = state_ops.variable_op([2, 3], tf.float32, set_shape=False)
    new = state_ops.variable_op_v2([2], tf.int64, shared_name="shared")
    assigned = [
        state_ops.init_variable(v, tf.zeros_initializer()),
        state_ops.init_variable(new, np.array([1, 2])),
        tf.assign(free, [[7.0]], validate_shape=False),
    ]
    with tf.Session() as sess:
        values = sess.run(assigned)
        again = sess.run([v, new, free, state_ops.is_variable_initialized(new)])
    nodes = [(op.name, op.type, op.get_attr("shape")) for op in (v.op, free.op, new.op)]
    return values, again, [str(node) for node in nodes], [x.name for x in assigned], [v, free, new]


def a_head_by_its_older_name(tf, np):
    heads = _module(tf, "contrib.learn.python.learn.estimators.head")
    head = heads._multi_class_head(n_classes=3, head_name="h")
    labels = heads.multi_label_head(n_classes=3)
    labels._logits_dimension = 1
    sparse = tf.SparseTensorValue(indices=((0, 0),), values=(2,), dense_shape=(1, 1))
    train = tf.contrib.learn.ModeKeys.TRAIN
    options = dict(features={}, labels=sparse, mode=train, train_op_fn=heads.no_op_train_fn, logits=[[0.0]])
    return (
        type(head).__name__.strip("_"),
        head.logits_dimension,
        raises(lambda: labels.create_model_fn_ops(**options)),
        sorted(n for n in dir(_module(tf, "contrib.batching.python.ops.batch_ops")) if n == "batch_function"),
    )
