"""Fractional pooling and other functions of tf.nn that stand alone."""

from kit import cases, differentiated, graph, normal, product, raises, run

_POOLS = ["fractional_max_pool", "fractional_avg_pool"]


def _without_wrong_shapes(result):
    """TensorFlow infers pooling sequences that are shorter than those it computes."""
    return dict(result, shapes=result["shapes"][:1])


_FLAGS = product([False, True], [False, True])


@cases(*product(_POOLS, _FLAGS, [(1.0, 1.0), (1.4, 1.7), (2.0, 1.3), (2.5, 3.0)], [(1, 0), (7, 3), (0, 9)]))
def fractional_pools(tf, np, pool, flags, ratio, seeds):
    pseudo_random, overlapping = flags
    x = normal(np, 2, 11, 10, 3).astype(np.float32)
    build = lambda x: getattr(tf.nn, pool)(x, [1.0, *ratio, 1.0], pseudo_random, overlapping, True, *seeds)
    return _without_wrong_shapes(differentiated(tf, np, build, x))


@cases(*product(_POOLS, ["float64", "int32", "int64"], [False, True]))
def fractional_pools_of_types(tf, np, pool, dtype, overlapping):
    x = (100 * normal(np, 1, 9, 8, 2)).astype(dtype)
    build = lambda x: getattr(tf.nn, pool)(x, [1.0, 1.5, 1.4, 1.0], False, overlapping, True, 3, 4)
    return _without_wrong_shapes(differentiated(tf, np, build, x))


@cases(*product(["Max", "Avg"], ["int32", "int64"], [False, True]))
def fractional_gradients_of_integers(tf, np, kind, dtype, overlapping):
    grad = np.arange(-12, 12).reshape([1, 3, 4, 2]).astype(dtype)
    x = np.random.RandomState(0).permutation(60).reshape([1, 5, 6, 2]).astype(dtype)
    same = {
        "out_backprop": grad,
        "row_pooling_sequence": [0, 2, 3, 5],
        "col_pooling_sequence": [0, 1, 3, 5, 6],
    }
    rows, columns = same["row_pooling_sequence"], same["col_pooling_sequence"]
    if kind == "Avg":
        shape = tf.constant([1, 5, 6, 2], tf.int64)
        return run(
            tf,
            tf.raw_ops.FractionalAvgPoolGrad(orig_input_tensor_shape=shape, overlapping=overlapping, **same),
        )
    pooled = np.zeros_like(grad)
    for i in range(3):
        for j in range(4):
            last = int(overlapping)
            pooled[:, i, j] = x[:, rows[i] : rows[i + 1] + last, columns[j] : columns[j + 1] + last].max(
                (1, 2)
            )
    return run(
        tf,
        tf.raw_ops.FractionalMaxPoolGrad(orig_input=x, orig_output=pooled, overlapping=overlapping, **same),
    )


@cases(*_POOLS)
def fractional_ties(tf, np, pool):
    x = np.round(normal(np, 1, 9, 9, 2)).astype(np.float32)
    build = lambda x: getattr(tf.nn, pool)(x, [1.0, 1.5, 1.4, 1.0], True, True, True, 3, 4)
    return _without_wrong_shapes(differentiated(tf, np, build, x))


@cases(*product(_POOLS, [1, 2, 3, 16], [2, 5, 31]))
def fractional_sequences(tf, np, pool, rows, columns):
    x = tf.constant(normal(np, 1, rows * 2, columns * 2 + 1, 1).astype(np.float32))
    made = [
        getattr(tf.nn, pool)(x, [1.0, 2.0, 1.7, 1.0], pseudo, False, True, seed, 11)
        for pseudo in (False, True)
        for seed in (1, 2, 3)
    ]
    return run(tf, [list(m) for m in made])


@cases(*_POOLS)
def fractional_nodes(tf, np, pool):
    x = tf.ones([1, 6, 6, 2])
    y = getattr(tf.nn, pool)(x, [1.0, 1.5, 1.5, 1.0], name="pool")
    tf.gradients(y[0], x)
    return [graph(tf), y._fields, type(y).__name__]


@cases(*product(_POOLS, [None, [None, 6, None, 2]]))
def fractional_shapes(tf, np, pool, shape):
    y = getattr(tf.nn, pool)(tf.placeholder(tf.float32, shape), [1.0, 1.5, 1.5, 1.0])
    return y[0].shape


@cases(*_POOLS)
def fractional_unseeded(tf, np, pool):
    """A deterministic pool draws its windows once."""
    x = tf.placeholder(tf.float32, [1, 50, 60, 1])
    y = getattr(tf.nn, pool)(x, [1.0, 1.5, 1.7, 1.0], deterministic=True)
    feeds = {x: normal(np, 1, 50, 60, 1)}
    with tf.Session() as session:
        first, second = session.run([y.output, y[1], y[2]], feeds), session.run([y.output, y[1], y[2]], feeds)
    return [np.array_equal(a, b) for a, b in zip(first, second)]


@cases(*_POOLS)
def fractional_refused(tf, np, pool):
    x = tf.ones([1, 6, 6, 2])
    function = getattr(tf.nn, pool)
    with tf.Session() as session:
        return [
            raises(function, x, [1.0, 1.5, 1.5]),
            raises(function, tf.ones([6, 6, 2]), [1.0, 1.5, 1.5, 1.0]),
            raises(lambda: session.run(function(x, [1.0, 1.5, 1.5, 1.0], seed=1))),
        ]
