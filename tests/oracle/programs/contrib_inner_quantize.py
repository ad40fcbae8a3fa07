"""The parts of contrib.quantize that programs import from contrib.quantize.python."""

import importlib

from kit import cases, names, normal, product, raises


def _module(tf, name):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow.contrib.quantize.python." + name)


def _net(tf, batch_norm=False):
    layers = tf.contrib.layers
    images = tf.placeholder(tf.float32, [2, 5, 5, 3])
    normalizer = layers.batch_norm if batch_norm else None
    found = layers.conv2d(images, 4, 3, normalizer_fn=normalizer, scope="c1", activation_fn=tf.nn.relu6)
    return images, layers.fully_connected(layers.flatten(found), 3, scope="f1")


@cases(*product([True, False], [True, False]))
def folded(tf, np, is_training, batch_norm):
    _net(tf, batch_norm)
    _module(tf, "fold_batch_norms").FoldBatchNorms(tf.get_default_graph(), is_training=is_training)
    return sorted(names(tf))


@cases(
    {
        "plain": {},
        "delay": dict(quant_delay=3),
        "collection": dict(vars_collection="ranges", ema_decay=0.5),
        "scope": dict(scope="c1"),
        "bits": dict(weight_bits=4, activation_bits=4, symmetric=True),
    }
)
def quantized(tf, np, arguments):
    _net(tf)
    _module(tf, "quantize").Quantize(tf.get_default_graph(), True, **arguments)
    nodes = sorted(node for node in names(tf) if "Assign" not in node[0])
    return nodes, [[v.name for v in tf.get_collection(key)] for key in ("ranges", "variables")]


@cases(*product(["LastValueQuantize", "MovingAvgQuantize"], [False, True], [False, True], [False, True]))
def rounded(tf, np, function, per_channel, symmetric, narrow):
    round_ = getattr(_module(tf, "quant_ops"), function)
    x = tf.constant(normal(np, 4, 3).astype("float32"))
    trained = round_(
        x,
        per_channel=per_channel,
        symmetric=symmetric,
        narrow_range=narrow,
        init_min=-1.0,
        init_max=2.0,
        vars_collection="ranges",
    )
    fixed = round_(x, per_channel=per_channel, is_training=False, name_prefix="evaluated")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = [session.run(trained) for _ in range(2)] + [session.run(fixed)]
        ranges = [(v.name, session.run(v)) for v in tf.get_collection("ranges")]
    return values, ranges, [v.name for v in tf.global_variables()]


def helpers(tf, np):
    rounding, common = _module(tf, "quant_ops"), _module(tf, "common")
    step = common.CreateOrGetQuantizationStep()
    images, _ = _net(tf)
    graph = tf.get_default_graph()
    consumers = _module(tf, "input_to_ops").InputToOps(graph).ConsumerOperations(images.op)
    a, b = tf.constant(1.0), tf.constant(2.0)
    changed, kept = tf.abs(a), tf.negative(a)
    count = common.RerouteTensor(b, a, [changed.op])
    return [
        rounding.FixedQuantize(tf.constant([1.0, 7.0, -9.0])),
        step,
        step is common.CreateOrGetQuantizationStep(),
        sorted(op.name for op in consumers),
        count,
        [x.op.inputs[0].name for x in (changed, kept)],
        common.DropStringPrefix("abc", "ab"),
        common.BatchNormGroups(graph),
        common.GetEndpointActivationOp(graph, "c1/").name,
        common.GetEndpointActivationOp(graph, "none/"),
        common.SKIPPED_PREFIXES,
        raises(rounding.LastValueQuantize, tf.ones([2, 2, 2]), per_channel=True),
    ]


def matched(tf, np):
    matcher = _module(tf, "graph_matcher")
    _net(tf)
    graph = tf.get_default_graph()
    kernels = [matcher.OpTypePattern(kind, name="kernel") for kind in ("Conv2D", "MatMul")]
    bias = matcher.OpTypePattern("BiasAdd", "bias", [matcher.OneofPattern(kernels), "*"], False)
    activation = matcher.OpTypePattern("Relu6|Relu", name="activation", inputs=[bias])
    found = list(matcher.GraphMatcher(activation).match_graph(graph))
    told = [
        (
            [one.get_op(name).name for name in ("activation", "bias", "kernel")],
            one.get_tensor("bias").name,
            one.get_tensor("activation"),
            one.get_op("none"),
            one.get_op(activation).name,
        )
        for one in found
    ]
    anything = matcher.GraphMatcher(matcher.OpTypePattern("*")).match_ops(graph.get_operations()[:5])
    refused = [raises(found[0].get_op, 3), raises(matcher.OpTypePattern, "A", inputs=["*"] * 9)]
    return told, len(list(anything)), refused
