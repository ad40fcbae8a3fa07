"""Embeddings: lookups in whole and partitioned tables, of dense and sparse ids, with gradients and graphs."""

from kit import cases, graph, normal, product, raises, run


def _tables(tf, np, kind, rows=7, width=3):
    """A table of `rows` rows, whole or in parts."""
    table = normal(np, rows, width)
    if kind == "tensor":
        return [tf.constant(table)]
    if kind == "variable":
        return tf.Variable(table, name="table")
    if kind == "resource":
        return tf.Variable(table, name="table", use_resource=True)
    if kind == "parts":
        cut = [table[:3], table[3:5], table[5:]]
        return [tf.Variable(part, name="part_%d" % i) for i, part in enumerate(cut)]
    if kind == "resource parts":
        cut = [table[:3], table[3:5], table[5:]]
        return [tf.Variable(part, name="part_%d" % i, use_resource=True) for i, part in enumerate(cut)]
    return tf.get_variable("table", initializer=tf.constant(table), partitioner=tf.fixed_size_partitioner(3))


_KINDS = ["tensor", "variable", "resource", "parts", "resource parts", "partitioned"]


def _variables(tf, tables):
    return [t for t in (list(tables) if not isinstance(tables, tf.Variable) else [tables])]


def _ids(tf, np, dtype="int64"):
    return tf.SparseTensor(
        [[0, 0], [0, 2], [2, 1], [3, 0], [3, 1]], tf.constant([1, 3, 6, 3, 0], dtype), [4, 3]
    )


def _weights(tf, dtype="float64"):
    indices = [[0, 0], [0, 2], [2, 1], [3, 0], [3, 1]]
    return tf.SparseTensor(indices, tf.constant([1.0, 0.5, -2.0, 3.0, 0.0], dtype), [4, 3])


def _told(tf, made, tables):
    grads = tf.gradients(tf.reduce_sum(made * made), _variables(tf, tables))
    return [run(tf, [made, grads]), made.shape, made.dtype, [type(g).__name__ for g in grads]]


@cases(*product(_KINDS, ["mod", "div"], [(), (4,), (2, 2)], [None, 0.5]))
def dense_ids(tf, np, kind, strategy, shape, max_norm):
    tables = _tables(tf, np, kind)
    ids = np.array([6, 0, 3, 5]).reshape(shape) if shape else np.array(4)
    made = tf.nn.embedding_lookup(tables, ids, strategy, max_norm=max_norm)
    return _told(tf, made, tables)


@cases(*product(_KINDS, ["mod", "div"], ["sum", "mean", "sqrtn"], [False, True]))
def sparse_ids(tf, np, kind, strategy, combiner, weighted):
    tables = _tables(tf, np, kind)
    weights = _weights(tf) if weighted else None
    made = tf.nn.embedding_lookup_sparse(tables, _ids(tf, np), weights, strategy, combiner=combiner)
    return _told(tf, made, tables)


@cases(*product(["tensor", "parts", "resource parts"], ["sum", "mean", "sqrtn"], [None, 2], [False, True]))
def safe_ids(tf, np, kind, combiner, default_id, weighted):
    tables = _tables(tf, np, kind)
    ids = tf.SparseTensor(_ids(tf, np).indices, tf.constant([1, -3, -6, 3, 0], tf.int64), [5, 3])
    weights = tf.SparseTensor(ids.indices, _weights(tf).values, [5, 3]) if weighted else None
    made = tf.nn.safe_embedding_lookup_sparse(tables, ids, weights, combiner, default_id)
    return _told(tf, made, tables)


@cases(*product(["known", "unknown"], [None, 0.4]))
def safe_ids_of_rank_three(tf, np, how, max_norm):
    tables = _tables(tf, np, "parts")
    indices, values, shape = [[0, 0, 0], [0, 1, 2], [1, 1, 1]], [1, 2, 5], [2, 3, 3]
    if how == "unknown":
        shape = tf.placeholder_with_default(tf.constant(shape, tf.int64), [None])
    ids = tf.SparseTensor(indices, tf.constant(values, tf.int64), shape)
    made = tf.nn.safe_embedding_lookup_sparse(tables, ids, max_norm=max_norm)
    return _told(tf, made, tables)


_GRAPHS = {
    "whole": lambda tf, np: tf.nn.embedding_lookup(tf.ones([4, 2]), [[1, 2]]),
    "whole named": lambda tf, np: tf.nn.embedding_lookup(tf.Variable(tf.ones([4, 2])), [1], name="mine"),
    "resource": lambda tf, np: tf.nn.embedding_lookup(tf.Variable(tf.ones([4, 2]), use_resource=True), [1]),
    "clipped": lambda tf, np: tf.nn.embedding_lookup(tf.ones([4, 2]), [1, 2], max_norm=1.0),
    "mod": lambda tf, np: tf.nn.embedding_lookup([tf.ones([2, 2]), tf.ones([2, 2])], [1, 3]),
    "div": lambda tf, np: tf.nn.embedding_lookup([tf.ones([2, 2]), tf.ones([2, 2])], [1, 3], "div"),
    "div unknown": lambda tf, np: tf.nn.embedding_lookup(
        [tf.ones([2, 2]), tf.placeholder_with_default(tf.ones([2, 2]), [None, 2])], [1, 3], "div"
    ),
    "sparse": lambda tf, np: tf.nn.embedding_lookup_sparse(tf.ones([7, 2]), _ids(tf, np), None),
    "sparse weighted": lambda tf, np: tf.nn.embedding_lookup_sparse(
        tf.ones([7, 2]), _ids(tf, np), _weights(tf, "float32"), combiner="sqrtn", name="mine"
    ),
    "sparse cast": lambda tf, np: tf.nn.embedding_lookup_sparse(
        tf.ones([7, 2]), _ids(tf, np, "int32"), _weights(tf), combiner="mean"
    ),
    "sparse half": lambda tf, np: tf.nn.embedding_lookup_sparse(
        tf.ones([7, 2], tf.float16), _ids(tf, np), None, combiner="sum"
    ),
    "safe": lambda tf, np: tf.nn.safe_embedding_lookup_sparse(tf.ones([7, 2]), _ids(tf, np)),
    "safe default": lambda tf, np: tf.nn.safe_embedding_lookup_sparse(
        [tf.ones([4, 2]), tf.ones([3, 2])], _ids(tf, np), default_id=1, name="mine"
    ),
    "safe weighted": lambda tf, np: tf.nn.safe_embedding_lookup_sparse(
        tf.ones([7, 2]), _ids(tf, np), _weights(tf, "float32"), "sum"
    ),
}


@cases(*_GRAPHS)
def graphs(tf, np, key):
    made = _GRAPHS[key](tf, np)
    return [made, graph(tf), run(tf, made)]


@cases(*product([0, 1, 6, 11], [1, 2, 3, 5], ["mod", "div"]))
def every_row_in_its_part(tf, np, seed, count, strategy):
    rows = 11
    table = normal(np, rows, 2)
    if strategy == "mod":
        parts = [table[i::count] for i in range(count)]
    else:
        parts = np.array_split(table, count)
    ids = np.random.RandomState(seed).randint(0, rows, size=20)
    found = run(tf, tf.nn.embedding_lookup([tf.constant(p) for p in parts], ids, strategy))
    return [found, bool(np.array_equal(found, table[ids]))]


def mistakes(tf, np):
    ids, table = _ids(tf, np), tf.ones([7, 2])
    return {
        "none": raises(tf.nn.embedding_lookup, None, [1]),
        "empty": raises(tf.nn.embedding_lookup, [], [1]),
        "strategy": raises(tf.nn.embedding_lookup, [table, table], [1], "pow"),
        "combiner": raises(tf.nn.embedding_lookup_sparse, table, ids, None, combiner="max"),
        "dense": raises(tf.nn.embedding_lookup_sparse, table, [1], None, combiner="sum"),
        "dense weights": raises(tf.nn.embedding_lookup_sparse, table, ids, [1.0], combiner="sum"),
        "fewer weights": raises(
            tf.nn.embedding_lookup_sparse,
            table,
            ids,
            tf.SparseTensor([[0, 0]], [1.0], [4, 3]),
            combiner="sum",
        ),
        "safe none": raises(tf.nn.safe_embedding_lookup_sparse, None, ids),
        "safe empty": raises(tf.nn.safe_embedding_lookup_sparse, [], ids),
        "out of range": raises(run, tf, tf.nn.embedding_lookup(table, [7])),
        "shapes": raises(tf.nn.embedding_lookup, [tf.ones([2, 2]), tf.ones([2, 3])], [1]),
    }
