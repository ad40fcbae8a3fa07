"""Seeded randomness: the numbers themselves are TensorFlow's."""

from kit import cases, graph, product, raises, run


def _runs(tf, tensor, times=2):
    with tf.Session() as session:
        return [session.run(tensor) for _ in range(times)]


@cases(*product([1, 42, 2**31 - 1], ["float32", "float64", "float16"]))
def uniform(tf, np, seed, dtype):
    return _runs(tf, tf.random_uniform([3, 5], seed=seed, dtype=dtype))


@cases(*product([1, 42], ["float32", "float64", "float16"]))
def normal(tf, np, seed, dtype):
    return _runs(tf, tf.random_normal([3, 5], seed=seed, dtype=dtype))


@cases(*product([1, 42], ["float32", "float64", "float16"]))
def truncated(tf, np, seed, dtype):
    return _runs(tf, tf.truncated_normal([3, 5], seed=seed, dtype=dtype))


@cases(
    *product(
        ["random_uniform", "random_normal", "truncated_normal"],
        [[1], [7], [2, 0], [], [4, 4], [257], [33, 40]],
    )
)
def shapes(tf, np, name, shape):
    return _runs(tf, getattr(tf, name)(shape, seed=3), 3)


@cases(*product(["random_uniform", "random_normal", "truncated_normal"]))
def large(tf, np, name):
    with tf.Session() as session:
        x = session.run(getattr(tf, name)([100000], seed=11))
    return [x[:8], x[-8:], x[49996:50004]]


@cases(*product(["int32", "int64"], [(0, 10), (-5, 5), (0, 1 << 30), (3, 4)]))
def uniform_integers(tf, np, dtype, bounds):
    return _runs(tf, tf.random_uniform([3, 6], bounds[0], bounds[1], dtype, seed=5))


@cases({"scaled": (-2.0, 3.0), "unit": (0, None), "tiny": (1.0, 1.0000001)})
def uniform_bounds(tf, np, low, high):
    return _runs(tf, tf.random_uniform([8], low, high, seed=5))


def normal_with_mean_and_deviation(tf, np):
    return [
        _runs(tf, tf.random_normal([6], 10.0, 0.5, seed=5)),
        _runs(tf, tf.truncated_normal([6], -3.0, 2.0, seed=5)),
    ]


def graph_seed_alone(tf, np):
    tf.set_random_seed(1234)
    made = [tf.random_uniform([3]), tf.random_uniform([3]), tf.random_normal([3])]
    with tf.Session() as session:
        return [session.run(made), session.run(made)]


def graph_and_op_seed(tf, np):
    tf.set_random_seed(1234)
    made = [tf.random_uniform([3], seed=1), tf.random_uniform([3], seed=1), tf.random_uniform([3], seed=2)]
    with tf.Session() as session:
        return [session.run(made), session.run(made)]


@cases(0, 1, 87654321)
def graph_seed_values(tf, np, seed):
    tf.set_random_seed(seed)
    return _runs(tf, [tf.random_uniform([3]), tf.random_uniform([3], seed=0)])


def each_session_starts_anew(tf, np):
    x = tf.random_uniform([3], seed=9)
    return [_runs(tf, x), _runs(tf, x)]


def two_fetches_share_one_draw(tf, np):
    x = tf.random_uniform([3], seed=9)
    return _runs(tf, [x, x + 1, x * 2])


def each_op_has_its_own_stream(tf, np):
    tf.set_random_seed(3)
    a, b = tf.random_uniform([2]), tf.random_uniform([2])
    with tf.Session() as session:
        return [session.run(a), session.run(b), session.run([a, b]), session.run(a)]


def unseeded_draws_differ(tf, np):
    x, y = tf.random_uniform([20]), tf.random_uniform([20])
    with tf.Session() as session:
        first, other, again = session.run(x), session.run(y), session.run(x)
    return [
        bool((first == other).all()),
        bool((first == again).all()),
        bool(((first >= 0) & (first < 1)).all()),
    ]


@cases(*product([1, 7], [[10], [5, 2], [1], [0]]))
def shuffle(tf, np, seed, shape):
    x = tf.reshape(tf.range(int(np.prod(shape))), shape)
    return _runs(tf, tf.random_shuffle(x, seed=seed), 3)


def shuffle_of_strings_and_gradient(tf, np):
    return _runs(tf, tf.random_shuffle(["a", "b", "c", "d"], seed=2))


@cases(*product([1, 7], ["int32", "int64"]))
def multinomial(tf, np, seed, dtype):
    logits = tf.log([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    return _runs(tf, tf.multinomial(logits, 12, seed=seed, output_dtype=dtype))


def categorical(tf, np):
    return _runs(tf, tf.random.categorical(tf.log([[0.3, 0.3, 0.4]]), 12, seed=7, dtype=tf.int32))


@cases("float32", "float64")
def multinomial_of_dtypes(tf, np, dtype):
    return _runs(tf, tf.multinomial(tf.constant([[0.0, 1.0, 2.0]], dtype), 9, seed=7))


@cases(0.1, 0.5, 0.9)
def dropout(tf, np, rate):
    return _runs(tf, tf.nn.dropout(tf.ones([4, 5]), rate=rate, seed=6))


def dropout_with_noise_shape(tf, np):
    return _runs(tf, tf.nn.dropout(tf.ones([4, 5]), rate=0.5, noise_shape=[4, 1], seed=6))


def dropout_gradient_uses_the_same_mask(tf, np):
    x = tf.constant(np.arange(1.0, 11.0))
    y = tf.nn.dropout(x, rate=0.5, seed=6)
    with tf.Session() as session:
        value, slope = session.run([y, tf.gradients(y, x)[0]])
    return [value, slope]


_INITIALIZERS = {
    "random_uniform": lambda tf: tf.random_uniform_initializer(-1.0, 1.0, seed=4),
    "random_normal": lambda tf: tf.random_normal_initializer(2.0, 0.5, seed=4),
    "truncated_normal": lambda tf: tf.truncated_normal_initializer(stddev=0.1, seed=4),
    "uniform_unit_scaling": lambda tf: tf.uniform_unit_scaling_initializer(seed=4),
    "glorot_uniform": lambda tf: tf.glorot_uniform_initializer(seed=4),
    "glorot_normal": lambda tf: tf.glorot_normal_initializer(seed=4),
    "variance fan_in": lambda tf: tf.variance_scaling_initializer(2.0, seed=4),
    "variance fan_out": lambda tf: tf.variance_scaling_initializer(1.0, "fan_out", "normal", seed=4),
    "variance fan_avg": lambda tf: tf.variance_scaling_initializer(1.0, "fan_avg", "uniform", seed=4),
    "variance untruncated": lambda tf: tf.variance_scaling_initializer(
        distribution="untruncated_normal", seed=4
    ),
    "he_normal": lambda tf: tf.initializers.he_normal(seed=4),
    "he_uniform": lambda tf: tf.initializers.he_uniform(seed=4),
    "lecun_normal": lambda tf: tf.initializers.lecun_normal(seed=4),
    "lecun_uniform": lambda tf: tf.initializers.lecun_uniform(seed=4),
    "keras glorot": lambda tf: tf.keras.initializers.glorot_uniform(seed=4),
    "keras random_normal": lambda tf: tf.keras.initializers.RandomNormal(seed=4),
    "keras truncated": lambda tf: tf.keras.initializers.TruncatedNormal(seed=4),
}


@cases(*product(_INITIALIZERS, [[4, 3], [3, 3, 2, 4], [5]]))
def initializers(tf, np, key, shape):
    v = tf.get_variable("v", shape, initializer=_INITIALIZERS[key](tf))
    return [run(tf, v), graph(tf)]


@cases(None, 21)
def default_initializer_follows_the_graph_seed(tf, np, op_seed):
    tf.set_random_seed(7)
    with tf.variable_scope(
        "s", initializer=None if op_seed is None else tf.random_normal_initializer(seed=op_seed)
    ):
        made = [tf.get_variable("a", [3, 2]), tf.get_variable("b", [3, 2]), tf.get_variable("c", [4])]
    return run(tf, made)


def default_initializers_of_layers(tf, np):
    tf.set_random_seed(7)
    x = tf.ones([2, 3])
    y = tf.layers.dense(tf.layers.dense(x, 4, tf.nn.relu), 2)
    return run(tf, [y] + tf.global_variables())


@cases(False, True)
def orthogonal_is_orthogonal(tf, np, tall):
    v = tf.get_variable("v", [5, 3] if tall else [3, 5], initializer=tf.orthogonal_initializer(2.0, seed=3))
    w = run(tf, v)
    product_ = w.T.dot(w) if tall else w.dot(w.T)
    return product_.astype(np.float16)


def random_mistakes(tf, np):
    return [
        raises(tf.random_uniform, [2], 0, None, tf.int32),
        raises(tf.random_uniform, [2], dtype=tf.string),
        raises(tf.random_normal, [2], dtype=tf.int32),
        raises(
            run,
            tf,
            tf.random_uniform(
                tf.placeholder_with_default([2], None), tf.constant(5), tf.constant(5), tf.int32
            ),
        ),
        raises(tf.nn.dropout, tf.ones([2]), rate=1.5),
        raises(tf.nn.dropout, tf.constant([1]), rate=0.5),
    ]
