"""tf.metrics: streaming values over several batches, with and without weights; local variables and names."""

from kit import Close, cases, graph, product, raises

_BINARY = {
    "accuracy": lambda m, y, p, w: m.accuracy(y > 0.5, p > 0.5, w),
    "precision": lambda m, y, p, w: m.precision(y > 0.5, p > 0.5, w),
    "recall": lambda m, y, p, w: m.recall(y > 0.5, p > 0.5, w),
    "true_positives": lambda m, y, p, w: m.true_positives(y > 0.5, p > 0.5, w),
    "true_negatives": lambda m, y, p, w: m.true_negatives(y > 0.5, p > 0.5, w),
    "false_positives": lambda m, y, p, w: m.false_positives(y > 0.5, p > 0.5, w),
    "false_negatives": lambda m, y, p, w: m.false_negatives(y > 0.5, p > 0.5, w),
    "auc": lambda m, y, p, w: m.auc(y > 0.5, p, w, num_thresholds=20),
    "auc careful": lambda m, y, p, w: m.auc(
        y > 0.5, p, w, num_thresholds=20, summation_method="careful_interpolation"
    ),
    "auc pr": lambda m, y, p, w: m.auc(
        y > 0.5, p, w, num_thresholds=20, curve="PR", summation_method="careful_interpolation"
    ),
    "precision_at_thresholds": lambda m, y, p, w: m.precision_at_thresholds(y > 0.5, p, [0.2, 0.5, 0.8], w),
    "recall_at_thresholds": lambda m, y, p, w: m.recall_at_thresholds(y > 0.5, p, [0.2, 0.5, 0.8], w),
    "true_positives_at_thresholds": lambda m, y, p, w: m.true_positives_at_thresholds(
        y > 0.5, p, [0.2, 0.5, 0.8], w
    ),
    "false_negatives_at_thresholds": lambda m, y, p, w: m.false_negatives_at_thresholds(
        y > 0.5, p, [0.2, 0.8], w
    ),
    "true_negatives_at_thresholds": lambda m, y, p, w: m.true_negatives_at_thresholds(
        y > 0.5, p, [0.2, 0.8], w
    ),
    "false_positives_at_thresholds": lambda m, y, p, w: m.false_positives_at_thresholds(
        y > 0.5, p, [0.2, 0.8], w
    ),
    "auc minoring": lambda m, y, p, w: m.auc(y > 0.5, p, w, num_thresholds=20, summation_method="minoring"),
    "auc majoring": lambda m, y, p, w: m.auc(y > 0.5, p, w, num_thresholds=20, summation_method="majoring"),
    "auc pr trapezoidal": lambda m, y, p, w: m.auc(y > 0.5, p, w, num_thresholds=20, curve="PR"),
    "auc thresholds": lambda m, y, p, w: m.auc(y > 0.5, p, w, thresholds=[0.7, 0.2, 0.4]),
    "sensitivity_at_specificity": lambda m, y, p, w: m.sensitivity_at_specificity(
        y > 0.5, p, 0.5, w, num_thresholds=20
    ),
    "specificity_at_sensitivity": lambda m, y, p, w: m.specificity_at_sensitivity(
        y > 0.5, p, 0.5, w, num_thresholds=20
    ),
    "mean": lambda m, y, p, w: m.mean(p, w),
    "mean_tensor": lambda m, y, p, w: m.mean_tensor(p, w),
    "mean_absolute_error": lambda m, y, p, w: m.mean_absolute_error(y, p, w),
    "mean_squared_error": lambda m, y, p, w: m.mean_squared_error(y, p, w),
    "mean_relative_error": lambda m, y, p, w: m.mean_relative_error(y, p, y + 1.0, w),
    "root_mean_squared_error": lambda m, y, p, w: m.root_mean_squared_error(y, p, w),
    "percentage_below": lambda m, y, p, w: m.percentage_below(p, 0.5, w),
    "mean_iou": lambda m, y, p, w: m.mean_iou(y > 0.5, p > 0.5, 2, w),
    "mean_per_class_accuracy": lambda m, y, p, w: m.mean_per_class_accuracy(y > 0.5, p > 0.5, 2, w),
}


def _stream(tf, build, batches, feeds):
    """The update's value after each batch, the value after it, and the local variables at the end."""
    value, update = build()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        seen = [session.run(value)]
        for batch in batches:
            seen.append([session.run(update, dict(zip(feeds, batch))), session.run(value)])
        state = session.run(tf.local_variables())
    described = [(v.name, v.dtype.name) for v in tf.local_variables()]
    collected = [v.name for v in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)]
    return [Close([seen, state], 1e-4, 1e-5), [value.name, update.name], described, collected]


def _batches(np):
    rng = np.random.RandomState(8)
    made = []
    for _ in range(3):
        labels, predictions = (rng.rand(6) > 0.4).astype(np.float32), rng.rand(6).astype(np.float32)
        made.append((labels, predictions, np.array([1.0, 0.0, 2.0, 1.0, 0.5, 1.0], np.float32)))
    return made


@cases(*product(_BINARY, ["plain", "weighted"]))
def streaming(tf, np, key, kind):
    y, p, w = (tf.placeholder(tf.float32, [6]) for _ in range(3))
    if kind == "weighted":
        return _stream(tf, lambda: _BINARY[key](tf.metrics, y, p, w), _batches(np), [y, p, w])
    return _stream(tf, lambda: _BINARY[key](tf.metrics, y, p, None), [b[:2] for b in _batches(np)], [y, p])


@cases(
    "accuracy",
    "precision",
    "mean",
    "mean_squared_error",
    "root_mean_squared_error",
    "recall",
    "mean_iou",
    "auc",
)
def graphs(tf, np, key):
    y, p = tf.placeholder(tf.float32, [6], "y"), tf.placeholder(tf.float32, [6], "p")
    made = _BINARY[key](tf.metrics, y, p, None)
    return [list(made), graph(tf)]


def accuracy_of_classes(tf, np):
    y, p = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None])
    return _stream(tf, lambda: tf.metrics.accuracy(y, p), [([1, 2, 3], [1, 2, 0]), ([4, 4], [4, 4])], [y, p])


def mean_of_batches_of_other_sizes(tf, np):
    x = tf.placeholder(tf.float32, [None, 2])
    return _stream(tf, lambda: tf.metrics.mean(x), [([[1.0, 2.0]],), ([[3.0, 4.0], [5.0, 6.0]],)], [x])


def mean_per_class(tf, np):
    y, p = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    return _stream(
        tf, lambda: tf.metrics.mean_iou(y, p, 3), [([0, 1, 2], [0, 1, 1]), ([2, 2], [2, 0])], [y, p]
    )


@cases(1, 2)
def at_k(tf, np, k):
    y, p = tf.placeholder(tf.int64, [3, 1]), tf.placeholder(tf.float32, [3, 4])
    batch = (
        np.array([[0], [2], [3]]),
        np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.5, 0.3, 0.1], [0.6, 0.3, 0.1, 0.0]]),
    )
    return [
        _stream(tf, lambda: tf.metrics.recall_at_k(y, p, k), [batch], [y, p]),
        _stream(tf, lambda: tf.metrics.precision_at_k(y, p, k), [batch], [y, p]),
        _stream(tf, lambda: tf.metrics.average_precision_at_k(y, p, k), [batch], [y, p]),
    ]


_AT_K = {
    "recall_at_k": lambda m, y, p, top, c, w: m.recall_at_k(y, p, 2, c, w),
    "precision_at_k": lambda m, y, p, top, c, w: m.precision_at_k(y, p, 2, c, w),
    "sparse_precision_at_k": lambda m, y, p, top, c, w: m.sparse_precision_at_k(y, p, 1, c, w),
    "recall_at_top_k": lambda m, y, p, top, c, w: m.recall_at_top_k(y, top, 2, c, w),
    "precision_at_top_k": lambda m, y, p, top, c, w: m.precision_at_top_k(y, top, None, c, w),
    "average_precision_at_k": lambda m, y, p, top, c, w: m.average_precision_at_k(y, p, 3, w),
    "sparse_average_precision_at_k": lambda m, y, p, top, c, w: m.sparse_average_precision_at_k(y, p, 2, w),
}


@cases(*product(_AT_K, ["dense", "sparse", "single"], ["all", "class", "weighted"]))
def sets_of_labels_at_k(tf, np, key, kind, which):
    p, w = tf.placeholder(tf.float32, [3, 4], "p"), tf.placeholder(tf.float32, [3], "w")
    weights, class_id = (w if which == "weighted" else None), (1 if which == "class" else None)
    rng = np.random.RandomState(5)
    if kind == "sparse":
        parts = [([[0, 0], [0, 1], [2, 0]], [1, 3, 1], [3, 2]), ([[1, 0], [1, 1]], [0, 7], [3, 2])]
        y = tf.SparseTensor(
            tf.placeholder(tf.int64, [None, 2]),
            tf.placeholder(tf.int64, [None]),
            tf.placeholder(tf.int64, [2]),
        )
        feeds = [y.indices, y.values, y.dense_shape, p, w]
    else:
        y = tf.placeholder(tf.int64, [3, 2] if kind == "dense" else [3], "y")
        parts = [(rng.randint(0, 5, y.shape.as_list()),) for _ in range(2)]
        feeds = [y, p, w]
    batches = [tuple(part) + (rng.rand(3, 4), [1.0, 0.0, 2.0]) for part in parts]
    top = tf.constant([[0, 1], [2, 1], [1, 3]])
    found = _stream(tf, lambda: _AT_K[key](tf.metrics, y, p, top, class_id, weights), batches, feeds)
    return [found, graph(tf)]


@cases("recall_at_k", "average_precision_at_k")
def unknown_shapes_at_k(tf, np, name):
    y, p = tf.placeholder(tf.int64, [3] if "average" in name else None), tf.placeholder(tf.float32, [None, 4])
    batch = ([1, 2, 3], np.arange(12).reshape(3, 4) % 5)
    return _stream(tf, lambda: getattr(tf.metrics, name)(y, p, 2), [batch], [y, p])


@cases(*product(["accuracy", "mean_squared_error", "true_positives", "recall", "auc"], ["", "column", "row"]))
def unknown_shapes(tf, np, key, kind):
    y, p, w = (tf.placeholder(tf.float32, None, n) for n in "ypw")
    labels, predictions, weights = _batches(np)[0]
    if kind == "column":
        labels, weights = labels[:, None], weights[:, None]
    elif kind == "row":
        weights = np.float32(2.0)
    build = lambda: _BINARY[key](tf.metrics, y, p, w)
    if key in ("true_positives", "recall", "auc") and kind == "column":
        labels = labels[:, 0]
    return [_stream(tf, build, [(labels, predictions, weights)], [y, p, w]), graph(tf)]


@cases("accuracy", "mean_iou", "mean_per_class_accuracy")
def classes_with_columns(tf, np, name):
    y, p = tf.placeholder(tf.int32, [None, 2]), tf.placeholder(tf.int64, [None, 2])
    options = () if name == "accuracy" else (4,)
    batches = [([[0, 1], [2, 3]], [[0, 1], [1, 3]]), ([[2, 2]], [[2, 0]])]
    return _stream(tf, lambda: getattr(tf.metrics, name)(y, p, *options), batches, [y, p])


@cases("mean", "accuracy", "precision", "mean_iou", "auc", "recall_at_k")
def resource_variables(tf, np, name):
    with tf.variable_scope("s", use_resource=True):
        y, p = tf.placeholder(tf.float32, [6]), tf.placeholder(tf.float32, [6])
        if name == "recall_at_k":
            scores = tf.stack([p, 1.0 - p], 1)
            build = lambda: tf.metrics.recall_at_k(tf.cast(y, tf.int64), scores, 1)
        else:
            build = lambda: _BINARY[name](tf.metrics, y, p, None)
        found = _stream(tf, build, [b[:2] for b in _batches(np)], [y, p])
    return found[0], found[2:]


def integers(tf, np):
    x = tf.placeholder(tf.int32, [2])
    return [
        _stream(tf, lambda: tf.metrics.mean(x), [([1, 2],), ([3, 4],)], [x]),
        _stream(tf, lambda: tf.metrics.mean_tensor(x), [([1, 2],), ([3, 4],)], [x]),
        _stream(tf, lambda: tf.metrics.mean_squared_error(x, x + 1), [([1, 2],)], [x]),
    ]


def nothing_in_a_batch(tf, np):
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.bool, [None])
    return [
        _stream(tf, lambda: tf.metrics.mean(x), [([],), ([1.0],)], [x]),
        _stream(tf, lambda: tf.metrics.precision(y, y), [([],), ([True],)], [y]),
        _stream(tf, lambda: tf.metrics.auc(y, x, num_thresholds=4), [([], [])], [y, x]),
    ]


def starting_over(tf, np):
    x = tf.placeholder(tf.float32, [None])
    value, update = tf.metrics.mean(x)
    with tf.Session() as session:
        seen = []
        for _ in range(2):
            session.run(tf.variables_initializer(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)))
            session.run(update, {x: [1.0, 3.0]})
            seen.append(session.run(value))
    return seen


def weights_that_do_not_fit(tf, np):
    x, w = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, None)
    _, update = tf.metrics.mean(x, w)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        fits = [
            session.run(update, {x: np.ones([3, 2]), w: v})
            for v in (2.0, [[1.0], [0.0], [2.0]], [[1.0, 3.0]])
        ]
        return [
            fits,
            [raises(session.run, update, {x: np.ones([3, 2]), w: v}) for v in ([1.0] * 2, np.ones([2, 2]))],
        ]


def mean_cosine_distance(tf, np):
    y, p = tf.placeholder(tf.float32, [2, 2]), tf.placeholder(tf.float32, [2, 2])
    batch = (np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([[0.0, 1.0], [0.6, 0.8]]))
    return _stream(tf, lambda: tf.metrics.mean_cosine_distance(y, p, 1), [batch], [y, p])


def collections_and_names(tf, np):
    y = tf.placeholder(tf.float32, [2])
    value, update = tf.metrics.mean(y, metrics_collections=["m"], updates_collections=["u"], name="mine")
    with tf.variable_scope("s"):
        other, _ = tf.metrics.mean(y)
    found = [tf.get_collection("m")[0] is value, tf.get_collection("u")[0] is update]
    return [value, update, other, found, [v.name for v in tf.local_variables()]]


def mistakes(tf, np):
    a = tf.zeros([3])
    return {
        "shapes": raises(tf.metrics.accuracy, a, tf.zeros([4])),
        "weights": raises(tf.metrics.mean, a, tf.zeros([4])),
        "threshold": raises(tf.metrics.auc, a > 0, a, curve="WHAT"),
        "specificity": raises(tf.metrics.sensitivity_at_specificity, a > 0, a, 1.5),
        "collections": raises(tf.metrics.mean, a, metrics_collections=3),
        "summation": raises(tf.metrics.auc, a > 0, a, summation_method="what"),
        "sensitivity": raises(tf.metrics.specificity_at_sensitivity, a > 0, a, -0.5),
        "k": raises(tf.metrics.average_precision_at_k, tf.zeros([3, 1], tf.int64), tf.zeros([3, 4]), 0),
        "rank": raises(tf.metrics.recall_at_k, tf.zeros([3, 1, 1], tf.int64), tf.zeros([3, 4]), 1),
        "classes": raises(tf.metrics.mean_iou, a, tf.zeros([4]), 2),
    }


def out_of_range_predictions(tf, np):
    p = tf.placeholder(tf.float32, [2])
    _, update = tf.metrics.auc([True, False], p)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        return raises(session.run, update, {p: [0.5, 1.5]})
