"""tf.contrib.factorization: k-means, mixtures of normal distributions, factors of matrices."""

from kit import Close, cases, product, raises


def _points(np, count=30, size=2, seed=0):
    chance = np.random.RandomState(seed)
    centers = np.array([[0.0, 0.0], [5.0, 5.0], [-5.0, 4.0]])[:, :size]
    return (centers[np.arange(count) % 3] + chance.normal(size=(count, size)) * 0.5).astype("float32")


def _steps(tf, fetches, first=(), steps=3, feeds=None):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op in first:
            session.run(op)
        return [session.run(fetches, feeds) for _ in range(steps)]


@cases(*product(["squared_euclidean", "cosine"], ["kmeans_plus_plus", "given", "function"]))
def clustered(tf, np, distance, start):
    points = tf.constant(_points(np) + 6)
    given = tf.constant(_points(np, 3, seed=1) + 6)
    starts = {"given": given, "function": lambda inputs, count: inputs[0][:count]}
    kmeans = tf.contrib.factorization.KMeans(
        points,
        3,
        starts.get(start, start),
        distance_metric=distance,
        random_seed=7,
        kmc2_chain_length=5,
    )
    everything, nearest, distances, done, init, train = kmeans.training_graph()
    centers = [v for v in tf.global_variables() if v.op.name.startswith("clusters")]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(init)
        while not session.run(done):
            session.run(init)
        found = [session.run([everything, nearest, distances, done, centers])]
        for _ in range(3):
            session.run(train)
        found.append(session.run([nearest, distances, centers]))
        session.run(init)
        return [Close(found, 1e-3, 1e-4), [v.name for v in tf.global_variables()]]


def centers_over_steps(tf, np):
    points = tf.placeholder(tf.float32, [None, 2])
    kmeans = tf.contrib.factorization.KMeans(points, 5, "random", use_mini_batch=True)
    _, _, _, done, init, _ = kmeans.training_graph()
    centers = tf.global_variables()[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(init, {points: _points(np, 3)})
        first = session.run([centers, done])
        session.run(init, {points: _points(np, 2, seed=1)})
        return [first, session.run([centers, done])]


def clustering_refuses(tf, np):
    KMeans = tf.contrib.factorization.KMeans
    return [
        raises(KMeans, tf.zeros([3, 2]), 2, "nearest"),
        raises(KMeans, tf.zeros([3, 2]), 2, distance_metric="manhattan"),
    ]


@cases(*product(["full", "diag"], ["wmc", "m", "mc"]))
def mixed(tf, np, kind, params):
    points = tf.constant(_points(np))
    loss, scores, assigned, train, init, done = tf.contrib.factorization.gmm(
        points, _points(np, 3, seed=1), 3, 0, covariance_type=kind, params=params
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(init)
        found = []
        for _ in range(3):
            session.run(train)
            found.append(session.run([loss, scores, assigned, done]))
        states = session.run(tf.global_variables())
    return [Close([found, states], 2e-3, 1e-3), [v.name for v in tf.global_variables()]]


def _elements(np):
    return (
        np.array([[0, 0], [0, 3], [1, 1], [2, 2], [2, 0], [3, 3], [4, 1], [4, 2]]),
        np.array([1.0, -2.0, 0.5, 3.0, 1.5, -1.0, 2.0, 0.25], dtype="float32"),
    )


@cases(
    {
        "plain": (None, {}),
        "regularized": (0.5, {}),
        "weighted": (0.1, {"row_weights": [1.0, 2.0, 0.5, 1.0, 3.0], "col_weights": [1.0, 0.2, 2.0, 1.0]}),
        "unweighted": (0.1, {"row_weights": None, "col_weights": None}),
        "sharded": (0.1, {"num_row_shards": 3, "num_col_shards": 2}),
        "uncached": (0.1, {"use_factors_weights_cache": False, "use_gramian_cache": False}),
        "scoped": (0.1, {"use_scoped_vars": True}),
    }
)
def factors(tf, np, regularization, options):
    chance = np.random.RandomState(3)
    rows, cols = chance.normal(size=(5, 2)).astype("float32"), chance.normal(size=(4, 2)).astype("float32")
    row_init = [rows[0:2], rows[2:4], rows[4:]] if "num_row_shards" in options else rows
    col_init = [cols[0:2], cols[2:]] if "num_col_shards" in options else cols
    model = tf.contrib.factorization.WALSModel(
        5, 4, 2, regularization=regularization, row_init=row_init, col_init=col_init, **options
    )
    places, values = _elements(np)
    whole = tf.SparseTensor(places, values, [5, 4])
    turned = tf.sparse_transpose(whole)
    some = tf.SparseTensor(places[3:6], values[3:6], [5, 4])
    row_update = model.update_row_factors(whole)
    col_update = model.update_col_factors(turned, transpose_input=True)
    partial = model.update_row_factors(some)
    found = []
    with tf.Session() as session:
        session.run(model.initialize_op)
        session.run(tf.local_variables_initializer())
        session.run(model.worker_init)
        for _ in range(2):
            session.run(model.row_update_prep_gramian_op)
            session.run(model.initialize_row_update_op)
            found.append([part for part in session.run(row_update) if part is not None])
            session.run(model.col_update_prep_gramian_op)
            session.run(model.initialize_col_update_op)
            found.append([part for part in session.run(col_update) if part is not None])
        session.run(model.row_update_prep_gramian_op)
        session.run(model.initialize_row_update_op)
        found.append([part for part in session.run(partial) if part is not None])
        found.append(session.run([model.row_factors, model.col_factors]))
        if options.get("row_weights", 1) is not None:
            found.append(session.run(model.project_row_factors(some, projection_weights=0.5)))
        found.append(session.run(model.project_row_factors(tf.sparse_transpose(some), True)))
    names = [v.name for v in tf.global_variables()] + [v.name for v in tf.local_variables()]
    return [Close(found, 1e-3, 1e-3), names]
