"""tf.losses: every loss under every reduction and weighting, and the collection of losses."""

from kit import Close, cases, differentiated, graph, normal, product, raises, run

_LOSSES = {
    "absolute_difference": lambda l, y, x, **k: l.absolute_difference(y, x, **k),
    "mean_squared_error": lambda l, y, x, **k: l.mean_squared_error(y, x, **k),
    "huber": lambda l, y, x, **k: l.huber_loss(y, x, delta=0.5, **k),
    "log": lambda l, y, x, **k: l.log_loss(y * 0.5 + 0.25, x * x / (x * x + 1.0), **k),
    "hinge": lambda l, y, x, **k: l.hinge_loss(y, x, **k),
    "sigmoid": lambda l, y, x, **k: l.sigmoid_cross_entropy(y, x, **k),
    "sigmoid smooth": lambda l, y, x, **k: l.sigmoid_cross_entropy(y, x, label_smoothing=0.2, **k),
}
_REDUCTIONS = [
    "none",
    "weighted_sum",
    "weighted_mean",
    "weighted_sum_over_batch_size",
    "weighted_sum_by_nonzero_weights",
]
_WEIGHTS = {
    "none": 1.0,
    "scalar": 2.5,
    "column": [[0.0], [1.0], [3.0]],
    "full": [[1.0, 0.0], [0.5, 0.5], [0.0, 2.0]],
    "zeros": 0.0,
}


def _data(np):
    labels = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    return labels, normal(np, 3, 2)


@cases(*product(_LOSSES, _REDUCTIONS))
def reductions(tf, np, key, reduction):
    labels, x = _data(np)
    found = differentiated(
        tf, np, lambda x: _LOSSES[key](tf.losses, tf.constant(labels), x, reduction=reduction), x
    )
    return Close(found, 3e-5, 3e-6)  # float64 in and out, but summed up in float32


@cases(*product(_LOSSES, _WEIGHTS))
def weights(tf, np, key, which):
    labels, x = (a.astype(np.float32) for a in _data(np))
    found = _LOSSES[key](tf.losses, tf.constant(labels), tf.constant(x), weights=_WEIGHTS[which])
    return [found, run(tf, found)]


@cases(*product(["one hot", "sparse"], _REDUCTIONS))
def cross_entropies(tf, np, kind, reduction):
    x, w = normal(np, 3, 4).astype(np.float32), tf.constant([1.0, 0.0, 2.0])

    def build(x):
        if kind == "sparse":
            return tf.losses.sparse_softmax_cross_entropy([1, 3, 0], x, w, reduction=reduction)
        return tf.losses.softmax_cross_entropy(np.eye(4)[[1, 3, 0]], x, w, reduction=reduction)

    return differentiated(tf, np, build, x)


@cases(0.0, 0.1, 0.5)
def label_smoothing(tf, np, smoothing):
    x = normal(np, 3, 4).astype(np.float32)
    return differentiated(
        tf,
        np,
        lambda x: tf.losses.softmax_cross_entropy(np.eye(4)[[1, 3, 0]], x, label_smoothing=smoothing),
        x,
    )


def cosine_distance(tf, np):
    x = normal(np, 3, 2)
    return differentiated(
        tf, np, lambda x: tf.losses.cosine_distance(tf.constant(_data(np)[0]), x, axis=1), x
    )


def mean_pairwise_squared_error(tf, np):
    x = normal(np, 3, 2).astype(np.float32)
    return differentiated(
        tf,
        np,
        lambda x: tf.losses.mean_pairwise_squared_error(tf.constant(_data(np)[0].astype(np.float32)), x),
        x,
    )


def compute_weighted_loss(tf, np):
    x = normal(np, 3, 2).astype(np.float32)
    return [
        differentiated(tf, np, lambda x: tf.losses.compute_weighted_loss(x, [[1.0], [0.0], [2.0]]), x),
        run(tf, [tf.losses.compute_weighted_loss(tf.constant(x), 2.0, reduction=r) for r in _REDUCTIONS]),
    ]


def the_collection_of_losses(tf, np):
    y, x = tf.constant([[1.0]]), tf.constant([[3.0]])
    with tf.name_scope("a"):
        first = tf.losses.mean_squared_error(y, x)
    tf.losses.absolute_difference(y, x, loss_collection="mine")
    tf.losses.absolute_difference(y, x, loss_collection=None)
    tf.losses.add_loss(tf.constant(7.0, name="extra"))
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(100.0))
    found = [t.name for t in tf.losses.get_losses()]
    scoped = [t.name for t in tf.losses.get_losses("a")]
    totals = [
        tf.losses.get_total_loss(),
        tf.losses.get_total_loss(False),
        tf.losses.get_total_loss(name="mine"),
    ]
    return [
        first,
        found,
        scoped,
        [t.name for t in tf.losses.get_losses(loss_collection="mine")],
        totals,
        run(tf, totals),
    ]


def total_of_no_losses(tf, np):
    return [
        run(
            tf,
            [tf.losses.get_total_loss() if tf.losses.get_losses() else tf.losses.get_regularization_loss()],
        )
    ]


@cases(
    "mean_squared_error",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
    "sigmoid_cross_entropy",
    "huber_loss",
    "hinge_loss",
)
def graphs(tf, np, name):
    x = tf.placeholder(tf.float32, [None, 3], "x")
    y = (
        tf.placeholder(tf.int64, [None], "y")
        if name.startswith("sparse")
        else tf.placeholder(tf.float32, [None, 3], "y")
    )
    return [getattr(tf.losses, name)(y, x), graph(tf)]


@cases("mean_squared_error", "absolute_difference")
def graphs_with_weights(tf, np, name):
    x, y = tf.placeholder(tf.float32, [4, 3], "x"), tf.placeholder(tf.float32, [4, 3], "y")
    w = tf.placeholder(tf.float32, [4, 1], "w")
    return [getattr(tf.losses, name)(y, x, w, scope="mine"), graph(tf)]


@cases(*product(["mean_squared_error", "sparse_softmax_cross_entropy"], ["known", "partly", "unknown"]))
def dynamic_weights(tf, np, name, kind):
    """Weights whose shape only the step knows; those that cannot be broadcast are refused by it."""
    shape = {"known": [3, 2], "partly": [None, 2], "unknown": None}[kind]
    x, w = tf.placeholder(tf.float32, shape, "x"), tf.placeholder(tf.float32, None, "w")
    y = tf.placeholder(
        *((tf.int32, [3] if kind == "known" else None) if "sparse" in name else (tf.float32, shape))
    )
    loss = getattr(tf.losses, name)(y, x, w)
    feeds = {x: normal(np, 3, 2), y: [1, 0, 1] if "sparse" in name else np.ones([3, 2])}
    fitting = [2.0, [1.0, 0.0, 2.0]] if "sparse" in name else [2.0, [[1.0], [0.0], [2.0]], np.ones([3, 2])]
    with tf.Session() as session:
        found = [session.run(loss, {**feeds, w: v}) for v in fitting]
        wrong = [
            raises(session.run, loss, {**feeds, w: v})
            for v in (np.ones([2]), np.ones([3, 3]), np.ones([1, 1, 1]))
        ]
    return [found, wrong, graph(tf)]


def squeezing_of_labels(tf, np):
    x = normal(np, 3, 4).astype(np.float32)
    made = [
        tf.losses.sparse_softmax_cross_entropy([[1], [3], [0]], tf.constant(x)),
        tf.losses.mean_squared_error(tf.constant([1, 2, 3]), tf.constant([1.5, 2.5, 3.5])),
        tf.losses.mean_squared_error([[1.0], [2.0]], tf.constant([[1.0], [3.0]])),
    ]
    return run(tf, made)


def mistakes(tf, np):
    l, a = tf.losses, tf.zeros([2, 3])
    return {
        "shapes": raises(l.mean_squared_error, a, tf.zeros([3, 2])),
        "no labels": raises(l.mean_squared_error, None, a),
        "no predictions": raises(l.absolute_difference, a, None),
        "no weights": raises(l.mean_squared_error, a, a, weights=None),
        "weights": raises(l.mean_squared_error, a, a, weights=tf.zeros([3])),
        "weights size": raises(l.mean_squared_error, a, a, weights=tf.zeros([3, 3])),
        "reduction": raises(l.mean_squared_error, a, a, reduction="what"),
        "cosine without axis": raises(l.cosine_distance, a, a),
        "softmax shapes": raises(l.softmax_cross_entropy, tf.zeros([2, 4]), a),
        "sparse labels": raises(l.sparse_softmax_cross_entropy, tf.zeros([2]), a),
    }


def reduction_names(tf, np):
    r = tf.losses.Reduction
    r.validate("none")
    return [
        r.all(),
        r.NONE,
        r.SUM,
        r.MEAN,
        r.SUM_OVER_BATCH_SIZE,
        r.SUM_BY_NONZERO_WEIGHTS,
        r.SUM_OVER_NONZERO_WEIGHTS,
        raises(r.validate, "what"),
    ]
