"""tf.contrib.metrics: values and updates over some batches, variables, collections, refusals."""

from kit import Close, cases, names, product, raises


def _batches(np, kind, count=3, size=6):
    random = np.random.RandomState(4)
    for _ in range(count):
        predictions = random.uniform(size=size).astype("float32")
        labels = random.uniform(size=size) < 0.3 + 0.5 * predictions
        weights = random.uniform(size=size).astype("float32") + 0.1
        if kind == "numbers":
            yield predictions, (labels + random.uniform(size=size)).astype("float32"), weights
        elif kind == "classes":
            yield random.randint(0, 3, size), random.randint(0, 3, size), weights
        elif kind == "bits":
            yield (predictions > 0.5).astype("int64"), labels.astype("int64"), weights
        else:
            yield predictions, labels, weights


_METRICS = {
    "accuracy": ("bits", lambda m, p, y, w: m.streaming_accuracy(p, y, w)),
    "mean absolute error": ("numbers", lambda m, p, y, w: m.streaming_mean_absolute_error(p, y, w)),
    "mean relative error": ("numbers", lambda m, p, y, w: m.streaming_mean_relative_error(p, y, y + 1, w)),
    "root": ("numbers", lambda m, p, y, w: m.streaming_root_mean_squared_error(p, y, w)),
    "covariance": ("numbers", lambda m, p, y, w: m.streaming_covariance(p, y, w)),
    "pearson": ("numbers", lambda m, p, y, w: m.streaming_pearson_correlation(p, y, w)),
    "count": ("numbers", lambda m, p, y, w: m.count(p, w)),
    "kappa": ("classes", lambda m, p, y, w: m.cohen_kappa(y, p, 3, w)),
    "mean iou": ("classes", lambda m, p, y, w: m.streaming_mean_iou(p, y, 3, w)),
    "precision": ("bits", lambda m, p, y, w: m.streaming_precision(p, y, w)),
    "recall": ("bits", lambda m, p, y, w: m.streaming_recall(p, y, w)),
    "false positive rate": ("bits", lambda m, p, y, w: m.streaming_false_positive_rate(p, y, w)),
    "false negative rate": ("bits", lambda m, p, y, w: m.streaming_false_negative_rate(p, y, w)),
    "auc": ("scores", lambda m, p, y, w: m.streaming_auc(p, y, w, num_thresholds=20)),
    "pr auc": ("scores", lambda m, p, y, w: m.streaming_auc(p, y, w, num_thresholds=20, curve="PR")),
    "f1": ("scores", lambda m, p, y, w: m.f1_score(y, p, w, num_thresholds=10)),
    "tp at": ("scores", lambda m, p, y, w: m.streaming_true_positives_at_thresholds(p, y, [0.2, 0.6], w)),
    "tn at": ("scores", lambda m, p, y, w: m.streaming_true_negatives_at_thresholds(p, y, [0.2, 0.6], w)),
    "fp at": ("scores", lambda m, p, y, w: m.streaming_false_positives_at_thresholds(p, y, [0.2, 0.6], w)),
    "fn at": ("scores", lambda m, p, y, w: m.streaming_false_negatives_at_thresholds(p, y, [0.2, 0.6], w)),
    "fpr at": (
        "scores",
        lambda m, p, y, w: m.streaming_false_positive_rate_at_thresholds(p, y, [0.2, 0.6], w),
    ),
    "fnr at": (
        "scores",
        lambda m, p, y, w: m.streaming_false_negative_rate_at_thresholds(p, y, [0.2, 0.6], w),
    ),
    "roc points": ("scores", lambda m, p, y, w: m.streaming_curve_points(y, p, w, 7)),
    "pr points": ("scores", lambda m, p, y, w: m.streaming_curve_points(y, p, w, 7, curve="PR")),
    "recall at precision": ("scores", lambda m, p, y, w: m.recall_at_precision(y, p, 0.7, w, 10)),
    "strict recall": ("scores", lambda m, p, y, w: m.recall_at_precision(y, p, 0.7, w, 10, strict_mode=True)),
    "precision at recall": ("scores", lambda m, p, y, w: m.precision_at_recall(y, p, 0.7, w, 10)),
    "equal thresholds": (
        "scores",
        lambda m, p, y, w: m.precision_recall_at_equal_thresholds(y, p, w, num_thresholds=5),
    ),
    "dynamic auc": ("scores", lambda m, p, y, w: m.streaming_dynamic_auc(y, p, weights=w)),
    "dynamic pr": ("scores", lambda m, p, y, w: m.streaming_dynamic_auc(y, p, "PR", weights=w)),
    "confidence": ("scores", lambda m, p, y, w: m.auc_with_confidence_intervals(y, p, w)),
    "plain confidence": (
        "scores",
        lambda m, p, y, w: m.auc_with_confidence_intervals(y, p, w, 0.8, logit_transformation=False),
    ),
    "histogram": ("scores", lambda m, p, y, w: m.auc_using_histogram(y, p, [0.0, 1.0], nbins=8)),
}


@cases(*product(sorted(_METRICS), ["plain", "weighted"]))
def streamed(tf, np, which, weighing):
    kind, make = _METRICS[which]
    first = next(_batches(np, kind))
    p, y, w = [tf.placeholder(x.dtype, x.shape) for x in first]
    value, update = make(tf.contrib.metrics, p, y, w if weighing == "weighted" else None)
    seen = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for batch in _batches(np, kind):
            session.run(update, dict(zip((p, y, w), batch)))
            seen.append(session.run(value, dict(zip((p, y, w), batch))))
    found = [(v.name, v.dtype.name) for v in tf.local_variables()]
    collected = len(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES))
    return [Close([list(s) if isinstance(s, tuple) else s for s in seen], 1e-4, 1e-5), found, collected]


@cases(*sorted(set(_METRICS) - {"histogram", "equal thresholds"}))
def collections_and_names(tf, np, which):
    kind, make = _METRICS[which]
    p, y, w = [tf.placeholder(x.dtype, x.shape) for x in next(_batches(np, kind))]
    value, update = make(tf.contrib.metrics, p, y, w)
    flat = tf.nest.flatten(value) + [update]
    return [each.name for each in flat], [getattr(each, "shape", None) for each in flat]


@cases(*product([0, 1, -1], [None, 4]))
def joined(tf, np, axis, limit):
    x = tf.placeholder(tf.float32, [2, 3])
    value, update = tf.contrib.metrics.streaming_concat(x, axis=axis, max_size=limit)
    seen = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for i in range(4):
            feeds = {x: np.arange(6.0).reshape(2, 3) + 10 * i}
            seen.append([session.run(update, feeds), session.run(value)])
    return [value, seen, [v.name for v in tf.local_variables()]]


@cases(None, 1)
def at_top_k(tf, np, class_id):
    m = tf.contrib.metrics
    chosen = tf.constant([[1, 2], [0, 1], [3, 1]], tf.int64)
    labels = tf.constant([[1, 0], [2, 1], [0, 3]], tf.int64)
    made = [
        m.streaming_sparse_precision_at_top_k(chosen, labels, class_id=class_id),
        m.sparse_recall_at_top_k(labels, chosen, class_id=class_id, weights=[1.0, 2.0, 0.5]),
        m.streaming_sparse_average_precision_at_top_k(chosen, labels),
    ]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        updates = session.run([update for _, update in made])
        values = session.run([value for value, _ in made])
    return [updates, values, [v.name for v in tf.local_variables()], [t for pair in made for t in pair]]


@cases(False, True)
def batch_accuracy(tf, np, weighted):
    weights = [1.0, 0.5, 2.0] if weighted else None
    made = tf.contrib.metrics.accuracy(tf.constant([1, 2, 3]), tf.constant([1, 0, 3]), weights)
    with tf.Session() as session:
        return [session.run(made), names(tf)]


def cosine(tf, np):
    p = tf.constant(np.eye(3, dtype="float32"))
    value, update = tf.contrib.metrics.streaming_mean_cosine_distance(p, p * 0.5, 1)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        return [session.run(update), session.run(value), names(tf)]


def refused(tf, np):
    m = tf.contrib.metrics
    x, y = tf.constant([0.1, 0.2]), tf.constant([True, False])
    return [
        raises(m.recall_at_precision, y, x, 1.5),
        raises(m.precision_at_recall, y, x, -0.5),
        raises(m.streaming_curve_points, y, x, curve="X"),
        raises(m.streaming_dynamic_auc, y, x, curve="X"),
        raises(m.auc_with_confidence_intervals, y, x, alpha=2.0),
        raises(m.cohen_kappa, tf.constant([1, 2]), tf.constant([1, 2]), 1),
        raises(m.streaming_concat, tf.placeholder(tf.float32)),
        raises(m.streaming_concat, x, axis=3),
        raises(m.streaming_concat, tf.placeholder(tf.float32, [2, None])),
        raises(m.auc_using_histogram, tf.constant([1, 2]), x, [0.0, 1.0]),
        raises(m.aggregate_metrics),
        raises(m.precision_recall_at_equal_thresholds, tf.constant([1, 0]), x),
    ]
