"""Names of contrib that few programs use."""

from kit import cases, normal, product, raises, run


def fused_nodes(tf, np):
    fuse = tf.contrib.framework.fuse_op

    def node(graph, name, *inputs):
        graph.node.add(name=name, op="op_" + name, input=inputs)

    graph = tf.GraphDef()
    for name, inputs in (
        ("A", ()),
        ("B", ("A",)),
        ("C", ("B",)),
        ("D", ("C",)),
        ("E", ("D",)),
        ("F", ("A",)),
    ):
        node(graph, name, *inputs)
    fused = fuse(graph, ["A"], ["D"], [tf.float32.as_datatype_enum], True, "fused", "Fused")
    told = [(n.name, n.op, list(n.input), sorted(n.attr)) for n in fused.node]
    other = tf.GraphDef()
    for name, inputs in (("A", ()), ("B", ()), ("C", ("A", "B")), ("D", ("C",)), ("Z", ("B",))):
        node(other, name, *inputs)
    refused = [
        raises(fuse, graph, "A", ["D"], [1], False, "f", "F"),
        raises(fuse, graph, ["A"], "D", [1], False, "f", "F"),
        raises(fuse, "graph", ["A"], ["D"], [1], False, "f", "F"),
        raises(fuse, graph, ["nothing"], ["D"], [1], False, "f", "F"),
        raises(fuse, other, ["A", "Z"], ["D"], [1], False, "f", "F"),
    ]
    return told, refused


def zeros(tf, np):
    v = tf.get_variable("v", [2, 3])
    first = tf.contrib.framework.zero_initializer(v)
    with tf.Session() as session:
        return session.run(first), session.run(v), raises(session.run, first)


@cases(*product(["mean", "sum", "sqrtn", None], [1, 3], [False, True]))
def embedded(tf, np, combiner, parts, weighted):
    params = [tf.constant(normal(np, 3, 4).astype("float32")) * (p + 1) for p in range(parts)]
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0]], tf.constant([0, 2, 1, 2], tf.int64), [3, 2])
    weights = tf.SparseTensor(ids.indices, tf.constant([1.0, 2.0, 0.5, 3.0]), ids.dense_shape)
    look_up = tf.contrib.slim.embedding_lookup_sparse_with_distributed_aggregation
    return run(tf, look_up(params, ids, weights if weighted else None, combiner=combiner))


def machine_target(tf, np):
    slim = tf.contrib.slim
    target = slim.binary_svm_target(weight_column_name="w")
    logits, labels = tf.constant([[0.5], [-2.0], [1.5]]), tf.constant([1, 0, 0])
    features = {"w": tf.constant([1.0, 2.0, 3.0])}
    values = [
        target.training_loss(logits, labels, features),
        target.loss(logits, labels, features),
        target.logits_to_predictions(logits),
    ]
    names = sorted(slim.get_default_binary_metrics_for_eval([0.2, 0.5]))
    kinds = [slim.ProblemType.CLASSIFICATION, slim.ProblemType.LOGISTIC_REGRESSION]
    return run(tf, values), names, kinds, raises(target.logits_to_predictions, logits, proba=True)


def described_ops(tf, np):
    util = tf.contrib.util
    tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]))
    graph = tf.get_default_graph().as_graph_def()
    listed = util.stripped_op_list_for_graph(graph)
    graph.node.add(name="n", op="Nothing")
    return [op.name for op in listed.op], raises(util.stripped_op_list_for_graph, graph)


def sizes_of_layers(tf, np):
    utils, shape = tf.contrib.layers.utils if hasattr(tf.contrib.layers, "utils") else None, tf.TensorShape
    utils = utils or tf.contrib.slim.utils
    return [
        [int(size) for size in utils.two_element_tuple(shape([3, 4]))],
        utils.n_positive_integers(2, shape([3, 4])),
        utils.n_positive_integers(3, 2),
        raises(utils.n_positive_integers, 2, [1, 0]),
        raises(utils.n_positive_integers, 2, [1, 2, 3]),
        raises(utils.n_positive_integers, 2, -1),
        raises(utils.n_positive_integers, 0, 1),
        raises(utils.n_positive_integers, 2, ["a", "b"]),
        raises(utils.two_element_tuple, [1, 2, 3]),
        raises(utils.two_element_tuple, shape([3])),
        raises(tf.contrib.layers.legacy_fully_connected, tf.constant(1.0), 3),
        raises(tf.contrib.framework.smart_cond, True, lambda: 1),
    ]


def volumes(tf, np):
    layers = tf.contrib.layers
    x = tf.constant(normal(np, 2, 3, 4, 5, 6).astype("float32"))
    pools = [layers.avg_pool3d, layers.max_pool3d]
    found = [p(x, 2, data_format="NCDHW", padding=padding) for p in pools for padding in ("SAME", "VALID")]
    return found, run(tf, found), [layers.max_pool3d(x, x.shape[1:4], stride=1)]


def optimizers_of_programs(tf, np):
    class Doubled(tf.train.GradientDescentOptimizer):
        """Takes what `minimize` passes on by name."""

        def compute_gradients(self, loss, var_list=None, **kwargs):
            self.passed = sorted(kwargs)
            pairs = super(Doubled, self).compute_gradients(loss, var_list=var_list, **kwargs)
            return [(2.0 * gradient, variable) for gradient, variable in pairs]

    optimizer, v = Doubled(0.1), tf.get_variable("v", initializer=1.0)
    train = optimizer.minimize(v * v)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        return session.run(v), optimizer.passed
