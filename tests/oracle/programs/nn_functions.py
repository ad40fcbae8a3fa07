"""Softmaxes, cross entropies, normalizations, top-k, embeddings and the other functions of tf.nn."""

from kit import Close, cases, differentiated, normal, product, raises, run


@cases(*product(["softmax", "log_softmax"], [-1, 0, 1], ["float16", "float32", "float64"]))
def softmaxes(tf, np, name, axis, dtype):
    return differentiated(
        tf, np, lambda x: getattr(tf.nn, name)(x, axis=axis), normal(np, 3, 4).astype(dtype)
    )


@cases(*product(["softmax", "log_softmax"], [[4], [2, 3, 4], [0, 3], [1, 1]]))
def softmaxes_of_shapes(tf, np, name, shape):
    return differentiated(tf, np, getattr(tf.nn, name), normal(np, *shape))


@cases("softmax", "log_softmax")
def softmaxes_of_large_values(tf, np, name):
    x = np.array([[1000.0, 1001.0, 999.0], [-1000.0, 0.0, 1000.0]], np.float32)
    return differentiated(tf, np, getattr(tf.nn, name), x)


def softmax_mistakes(tf, np):
    return [
        raises(tf.nn.softmax, tf.constant([1, 2])),
        raises(tf.nn.softmax, tf.constant(1.0)),
        raises(tf.nn.softmax, tf.zeros([2]), 3),
    ]


@cases(*product(["float16", "float32", "float64"], [-1, 0]))
def softmax_cross_entropy_v2(tf, np, dtype, axis):
    labels = np.array([[0.1, 0.2, 0.7], [1.0, 0.0, 0.0]])
    build = tf.nn.softmax_cross_entropy_with_logits_v2
    return differentiated(
        tf,
        np,
        lambda y, x: build(labels=y, logits=x, axis=axis),
        labels.astype(dtype),
        normal(np, 2, 3).astype(dtype),
    )


def softmax_cross_entropy_leaves_labels_alone(tf, np):
    labels, x = np.array([[0.1, 0.2, 0.7]]), normal(np, 1, 3)
    return differentiated(
        tf, np, lambda y, x: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x), labels, x
    )


@cases([2, 2, 3], [3], [0, 3])
def softmax_cross_entropy_of_shapes(tf, np, shape):
    labels, x = np.abs(normal(np, *shape)), normal(np, *shape) * 3
    return differentiated(
        tf, np, lambda y, x: tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x), labels, x
    )


@cases(*product(["int32", "int64"], ["float32", "float64"]))
def sparse_softmax_cross_entropy(tf, np, index, dtype):
    labels, x = np.array([2, 0, 1], index), normal(np, 3, 3).astype(dtype)
    return differentiated(
        tf, np, lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x), x
    )


def sparse_softmax_cross_entropy_of_batches(tf, np):
    labels, x = np.array([[2, 0], [1, 1]]), normal(np, 2, 2, 3)
    return differentiated(
        tf, np, lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x), x
    )


def sparse_softmax_cross_entropy_mistakes(tf, np):
    function = tf.nn.sparse_softmax_cross_entropy_with_logits
    x, y = tf.zeros([2, 3]), tf.placeholder(tf.int32, [2])
    return {
        "positional": raises(function, x, y),
        "missing": raises(function, labels=y),
        "rank": raises(function, labels=tf.constant([[1, 2]]), logits=x),
        "size": raises(function, labels=tf.constant([1, 2, 0]), logits=x),
        "floats": raises(function, labels=tf.constant([1.0, 2.0]), logits=x),
        "scalar": raises(function, labels=tf.constant(1), logits=tf.constant(2.0)),
        "out of range": raises(run, tf, function(labels=y, logits=x), {y: [0, 3]}),
    }


def softmax_cross_entropy_mistakes(tf, np):
    function, x = tf.nn.softmax_cross_entropy_with_logits_v2, tf.zeros([2, 3])
    return [
        raises(function, labels=tf.zeros([2, 4]), logits=x),
        raises(function, labels=None, logits=x),
        raises(tf.nn.softmax_cross_entropy_with_logits, x, x),
        raises(function, labels=tf.constant([[1, 2, 3]]), logits=tf.constant([[1, 2, 3]])),
    ]


@cases("float16", "float32", "float64")
def sigmoid_cross_entropy(tf, np, dtype):
    labels, x = np.array([[0.0, 1.0, 0.3]], dtype), np.array([[-50.0, 2.0, 0.5]], dtype)
    return differentiated(
        tf, np, lambda y, x: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x), labels, x
    )


def weighted_cross_entropy(tf, np):
    labels, x = np.array([[0.0, 1.0, 0.3]]), np.array([[-3.0, 2.0, 0.5]])
    return differentiated(tf, np, lambda y, x: tf.nn.weighted_cross_entropy_with_logits(y, x, 2.5), labels, x)


def sigmoid_cross_entropy_mistakes(tf, np):
    function = tf.nn.sigmoid_cross_entropy_with_logits
    return [
        raises(function, labels=tf.zeros([2]), logits=tf.zeros([3])),
        raises(function, tf.zeros([2]), tf.zeros([2])),
    ]


@cases(*product([False, True], [None, 0.5]))
def log_poisson_loss(tf, np, full, offset):
    y, x = np.array([1.0, 2.0, 0.5]), np.array([0.1, 1.0, -1.0])
    return differentiated(
        tf, np, lambda x: tf.nn.log_poisson_loss(tf.constant(y), x + (offset or 0.0), full), x
    )


@cases(*product([0, 1, [0, 1], -1], ["float32", "float64"]))
def l2_normalize(tf, np, axis, dtype):
    return differentiated(tf, np, lambda x: tf.nn.l2_normalize(x, axis), normal(np, 3, 4).astype(dtype))


def l2_normalize_of_zeros(tf, np):
    return differentiated(
        tf, np, lambda x: tf.nn.l2_normalize(x, 1, epsilon=1e-6), np.zeros([2, 3], np.float32)
    )


@cases("float16", "float32", "float64")
def l2_loss(tf, np, dtype):
    return differentiated(tf, np, tf.nn.l2_loss, normal(np, 3, 4).astype(dtype))


@cases(*product([True, False], [True, False]))
def batch_normalization(tf, np, scale, offset):
    x, mean, variance = normal(np, 4, 3), np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 0.5])
    s, o = (
        (tf.constant([1.5, 0.5, 2.0], tf.float64) if scale else None),
        (tf.constant([1.0, 2.0, 3.0], tf.float64) if offset else None),
    )
    return differentiated(
        tf, np, lambda x, m, v: tf.nn.batch_normalization(x, m, v, o, s, 1e-3), x, mean, variance
    )


def batch_norm_of_old(tf, np):
    x, v = normal(np, 2, 2, 2, 3).astype(np.float32), np.ones(3, np.float32)
    made = tf.nn.batch_norm_with_global_normalization(
        tf.constant(x), v * 0.1, v * 2, v * 0.5, v * 1.5, 1e-3, True
    )
    return run(tf, made)


@cases(*product([True, False], [1e-3, 0.1]))
def fused_batch_norm(tf, np, training, epsilon):
    x = normal(np, 2, 3, 4, 3).astype(np.float32) * 2 + 1
    scale, offset = np.array([1.5, 0.5, 2.0], np.float32), np.array([1.0, -1.0, 0.0], np.float32)
    mean, variance = (
        (None, None)
        if training
        else (np.array([0.1, 0.2, 0.3], np.float32), np.array([1.0, 2.0, 0.5], np.float32))
    )

    def build(x, scale, offset):
        return tf.nn.fused_batch_norm(x, scale, offset, mean, variance, epsilon, is_training=training)[0]

    return Close(differentiated(tf, np, build, x, scale, offset), 1e-4, 1e-5)


def fused_batch_norm_outputs(tf, np):
    x = normal(np, 2, 3, 4, 3).astype(np.float32)
    made = tf.nn.fused_batch_norm(tf.constant(x), [1.0, 1.0, 1.0], [0.0, 0.0, 0.0])
    return [[m.shape for m in made], Close(run(tf, made), 1e-4, 1e-5)]


@cases(*product([True, False], ["mean", "variance", "both"]))
def fused_batch_norm_gradient_of_statistics(tf, np, training, followed):
    x, scale, offset = tf.constant(normal(np, 2, 3, 4, 2).astype(np.float32)), tf.ones([2]), tf.zeros([2])
    moments = (None, None) if training else (tf.constant([0.1, 0.2]), tf.constant([1.0, 2.0]))
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset, *moments, is_training=training)
    sums = {"mean": mean**2, "variance": variance**2, "both": mean**2 + variance**2}
    losses = [tf.reduce_sum(sums[followed]), tf.reduce_sum(y**3) + tf.reduce_sum(sums[followed])]
    return Close(run(tf, [tf.gradients(loss, [x, scale, offset]) for loss in losses]), 1e-4, 1e-5)


@cases("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm_raw(tf, np, name):
    x = tf.constant(normal(np, 2, 3, 3, 2).astype(np.float32))
    made = getattr(tf.raw_ops, name)(x=x, scale=[1.0, 2.0], offset=[0.5, 0.0], mean=[], variance=[])
    return [[m.shape for m in made], Close(run(tf, list(made[:3])), 1e-4, 1e-5)]


def fused_batch_norm_mistakes(tf, np):
    x = tf.zeros([2, 3, 3, 2])
    return [
        raises(tf.nn.fused_batch_norm, x, tf.ones([3]), tf.zeros([3])),
        raises(tf.nn.fused_batch_norm, tf.zeros([2, 2]), tf.ones([2]), tf.zeros([2])),
        raises(
            tf.nn.fused_batch_norm, x, tf.ones([2]), tf.zeros([2]), mean=tf.zeros([2]), variance=tf.ones([2])
        ),
        raises(tf.nn.fused_batch_norm, x, tf.ones([2]), tf.zeros([2]), is_training=False),
    ]


@cases(*product([1, 2, 4], [True, False], ["float32", "int32"]))
def top_k(tf, np, k, ordered, dtype):
    x = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]]).astype(dtype)
    made = tf.nn.top_k(tf.constant(x), k, sorted=ordered)
    values, indices = run(tf, made)
    if not ordered:
        values, indices = np.sort(values), np.sort(indices)
    return [made, values, indices]


def top_k_of_ties_and_batches(tf, np):
    made = [
        tf.nn.top_k([1.0, 3.0, 3.0, 1.0], 3),
        tf.nn.top_k(tf.constant(normal(np, 2, 2, 5)), 2),
        tf.nn.top_k(tf.zeros([2, 3]), 0),
    ]
    return run(tf, made)


def top_k_gradient(tf, np):
    x = np.array([[3.0, 1.0, 4.0], [1.0, 5.0, 9.0]])
    return differentiated(tf, np, lambda x: tf.nn.top_k(x, 2).values, x)


def top_k_mistakes(tf, np):
    k = tf.placeholder(tf.int32, [])
    return [
        raises(tf.nn.top_k, tf.zeros([3]), 4),
        raises(run, tf, tf.nn.top_k(tf.zeros([3]), k), {k: 4}),
        raises(run, tf, tf.nn.top_k(tf.zeros([3]), k), {k: -1}),
        raises(tf.nn.top_k, tf.constant(1.0)),
        tf.nn.top_k(tf.zeros([2, 3]), k).values.shape,
    ]


@cases(1, 2, 3)
def in_top_k(tf, np, k):
    predictions = np.array(
        [[0.1, 0.5, 0.4], [0.3, 0.3, 0.4], [0.9, 0.05, 0.05], [float("nan"), 1.0, 2.0]], np.float32
    )
    return run(
        tf, [tf.nn.in_top_k(predictions, np.array(t), k) for t in ([1, 0, 2, 1], [0, 1, 0, 0], [2, 2, 1, 2])]
    )


def in_top_k_mistakes(tf, np):
    return [
        raises(tf.nn.in_top_k, tf.zeros([2, 3]), [0, 1, 2], 1),
        raises(tf.nn.in_top_k, tf.zeros([3]), [0], 1),
    ]


@cases(*product(["mod", "div"], [1, 2, 3]))
def embedding_lookup(tf, np, strategy, shards):
    table = np.arange(14.0).reshape(7, 2).astype(np.float32)
    parts = [table[i::shards] for i in range(shards)] if strategy == "mod" else np.array_split(table, shards)
    variables = [tf.Variable(p, name="part%d" % i) for i, p in enumerate(parts)]
    ids = tf.constant([0, 6, 3, 3])
    found = tf.nn.embedding_lookup(variables, ids, partition_strategy=strategy)
    return [
        found.shape,
        run(tf, found),
        run(tf, [tf.convert_to_tensor(g) for g in tf.gradients(found**2, variables)]),
    ]


def embedding_lookup_max_norm(tf, np):
    v = tf.Variable([[3.0, 4.0], [0.3, 0.4]])
    return run(tf, tf.nn.embedding_lookup(v, [[0, 1], [1, 0]], max_norm=1.0))


@cases(*product(["sum", "mean", "sqrtn"], [False, True]))
def embedding_lookup_sparse(tf, np, combiner, weighted):
    v = tf.Variable(np.arange(8.0).reshape(4, 2).astype(np.float32))
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 3, 0], tf.int64), [2, 2])
    weights = tf.SparseTensor(ids.indices, tf.constant([2.0, 0.5, 1.0]), [2, 2]) if weighted else None
    found = tf.nn.embedding_lookup_sparse(v, ids, weights, combiner=combiner)
    return [run(tf, found), run(tf, tf.convert_to_tensor(tf.gradients(found, v)[0]))]


def xw_plus_b_and_relu_layer(tf, np):
    x, w, b = normal(np, 2, 3), normal(np, 3, 4), normal(np, 4)
    return [
        differentiated(tf, np, tf.nn.xw_plus_b, x, w, b),
        differentiated(tf, np, tf.nn.relu_layer, x, w, b),
    ]


def zero_fraction(tf, np):
    return run(
        tf,
        [tf.nn.zero_fraction(tf.constant([0.0, 1.0, 0.0, 2.0])), tf.nn.zero_fraction(tf.constant([[0, 3]]))],
    )


def dropout_keeps_everything_at_rate_zero(tf, np):
    x = tf.constant([1.0, 2.0])
    return run(
        tf, [tf.nn.dropout(x, rate=0.0), tf.nn.dropout(x, 1.0), tf.nn.dropout(x, keep_prob=tf.constant(1.0))]
    )


def dropout_scales_what_it_keeps(tf, np):
    with tf.Session() as session:
        y = session.run(tf.nn.dropout(tf.ones([2000]), rate=0.2))
    return [sorted(set(np.round(y, 4).tolist())), bool(0.7 < (y > 0).mean() < 0.9)]


@cases("Assert true", "Assert false", "Assert with data")
def assertions(tf, np, key):
    if key == "Assert true":
        return [
            run(tf, tf.Assert(True, ["fine"])) is None,
            tf.Assert(tf.constant(True), [tf.constant(1)]).type,
        ]
    condition = tf.placeholder(tf.bool, [])
    data = ["message", tf.constant([1.0, 2.0]), condition] if key == "Assert with data" else ["no"]
    return raises(run, tf, tf.Assert(condition, data), {condition: False})


_ASSERTS = {
    "assert_equal": ([1, 2], [1, 3]),
    "assert_none_equal": ([1, 2], [3, 2]),
    "assert_less": ([1, 2], [2, 2]),
    "assert_less_equal": ([1, 3], [2, 2]),
    "assert_greater": ([3, 2], [2, 2]),
    "assert_greater_equal": ([3, 1], [2, 2]),
}


@cases(*_ASSERTS)
def comparing_assertions(tf, np, name):
    left, right = _ASSERTS[name]
    x = tf.placeholder(tf.int32, [2])
    late = getattr(tf, name)(x, right)
    return [
        raises(getattr(tf, name), tf.constant(left), tf.constant(right)),
        raises(run, tf, late, {x: left}),
        raises(getattr(tf, name), left, right, message="m"),
    ]


@cases(
    "assert_positive",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_rank",
    "assert_type",
    "assert_integer",
)
def other_assertions(tf, np, name):
    x = tf.placeholder(tf.float32, [3])
    more = {"assert_rank": [2], "assert_type": [tf.int32]}.get(name, [])

    def check():
        run(tf, getattr(tf, name)(x, *more), {x: [-1.0, 0.0, 1.0]})

    return raises(check)


def check_numerics_refuses(tf, np):
    x = tf.placeholder(tf.float32, [2])
    y = tf.check_numerics(x, "oops")
    inf, nan = float("inf"), float("nan")
    return [raises(run, tf, y, {x: [1.0, v]}) for v in (inf, nan, -inf)] + [run(tf, y, {x: [1.0, 2.0]})]


def add_check_numerics_ops(tf, np):
    x = tf.placeholder(tf.float32, [])
    y = tf.log(x)
    check = tf.add_check_numerics_ops()
    return [raises(run, tf, check, {x: -1.0}), run(tf, [check, y], {x: 1.0})[1]]


def print_passes_its_input(tf, np):
    x = np.array([1.0, 2.0])
    return differentiated(tf, np, lambda x: tf.Print(x, [x, "text", 3], "message: ", summarize=1), x)


def print_version_two_is_an_operation(tf, np):
    op = tf.print("a", tf.constant([1, 2]), {"k": 3})
    return [op.type, run(tf, op) is None]


def accumulating_confusions(tf, np):
    return run(tf, tf.math.confusion_matrix([0, 1, 2, 1], [0, 2, 2, 1], weights=[1, 2, 3, 4]))
