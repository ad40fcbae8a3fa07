"""tf.contrib.losses.metric_learning: losses and their gradients."""

from kit import Close, cases, raises


def _embeddings(np, rows=7, i=0):
    return np.sin(np.arange(rows * 3) * 1.3 + i).reshape(rows, 3).astype("float32")


_LABELS = {
    "few": [0, 1, 0, 2, 1, 2, 0],
    "pairs": [0, 0, 1, 1, 2, 2, 3],
    "one": [4] * 7,
    "all": list(range(7)),
}


def _differentiated(tf, loss, sources):
    slopes = tf.gradients(loss, sources)
    with tf.Session() as session:
        return [loss.dtype, loss.shape, Close(session.run([loss, slopes]), 1e-4, 1e-5)]


@cases(*sorted(_LABELS))
def of_one_batch(tf, np, kind):
    m = tf.contrib.losses.metric_learning
    x = tf.constant(_embeddings(np))
    y = tf.constant(_LABELS[kind])
    made = [m.triplet_semihard_loss(y, x), m.triplet_semihard_loss(y, tf.nn.l2_normalize(x, 1), margin=0.3)]
    if kind != "one":
        made.append(m.lifted_struct_loss(y, x, margin=2.0))
    if kind == "all":  # no two have the same label
        with tf.Session() as session:
            return [np.isnan(value) for value in session.run(made[:2])]
    return [_differentiated(tf, loss, [x]) for loss in made]


def equal_embeddings(tf, np):
    m = tf.contrib.losses.metric_learning
    x = tf.constant(np.repeat(_embeddings(np, 3), 2, axis=0))
    made = [m.triplet_semihard_loss([0, 0, 1, 1, 0, 1], x), m.lifted_struct_loss([0, 0, 1, 1, 0, 1], x)]
    return [_differentiated(tf, loss, [x]) for loss in made]


def of_pairs(tf, np):
    m = tf.contrib.losses.metric_learning
    a, b = tf.constant(_embeddings(np)), tf.constant(_embeddings(np, i=2))
    made = [
        m.contrastive_loss(tf.constant([0, 1, 1, 0, 1, 0, 0]), a, b),
        m.contrastive_loss(tf.constant([0, 1, 1, 0, 1, 0, 0]), a, b, margin=3.0),
        m.npairs_loss(tf.constant(_LABELS["few"]), a, b),
        m.npairs_loss(tf.constant(_LABELS["all"]), a, b, reg_lambda=0.5),
    ]
    return [_differentiated(tf, loss, [a, b]) for loss in made]


def of_several_labels(tf, np):
    m = tf.contrib.losses.metric_learning
    a, b = tf.constant(_embeddings(np, 3)), tf.constant(_embeddings(np, 3, 2))
    labels = [
        tf.SparseTensor([[0], [2]], [1, 1], [4]),
        tf.SparseTensor([[1], [2]], [1, 1], [4]),
        tf.SparseTensor([[3]], [1], [4]),
    ]
    made = m.npairs_loss_multilabel(labels, a, b, reg_lambda=0.1)
    return [_differentiated(tf, made, [a, b]), raises(m.npairs_loss_multilabel, [1, 2, 3], a, b)]


def _inner(tf):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    from tensorflow.contrib.losses.python.metric_learning import metric_loss_ops

    return metric_loss_ops


def steps_of_the_clustering_loss(tf, np):
    ops = _inner(tf)
    points = np.sin(np.arange(24.0).reshape(8, 3) ** 1.5).astype(np.float32)
    labels = tf.constant([0, 0, 1, 1, 2, 2, 2, 0], tf.int64)
    distances = ops.pairwise_distance(tf.constant(points))
    data, mask = tf.constant(points), tf.constant((points > 0).astype(np.float32))
    chosen = ops.compute_augmented_facility_locations(distances, labels, tf.range(8), 0.5, "const")
    clusters = ops.get_cluster_assignment(distances, [1, 4, 6])
    fetches = [
        ops.pairwise_distance(tf.constant(points), squared=True),
        ops.masked_maximum(data, mask),
        ops.masked_minimum(data, mask, dim=0),
        ops.update_1d_tensor(tf.constant([5, 6, 7]), 1, 9),
        clusters,
        ops.compute_facility_energy(distances, [1, 4, 6]),
        ops.compute_clustering_score(labels, labels, "const"),
        ops.compute_clustering_score(labels, labels + 1, "const"),
        chosen,
        ops.update_all_medoids(distances, clusters, labels, chosen, 0.5, "const"),
        ops.compute_augmented_facility_locations_pam(distances, labels, 0.5, "const", chosen, 2),
        ops.compute_gt_cluster_score(distances, labels),
    ]
    with tf.Session() as session:
        return [session.run(fetches), raises(ops.compute_clustering_score, labels, labels, "other")]
