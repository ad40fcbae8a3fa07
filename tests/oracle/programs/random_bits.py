"""Seeded numbers and initial weights, bit for bit."""

import hashlib

from kit import cases, product

_TYPES = ("float16", "float32", "float64")

_NUMBERS = {
    "uniform": lambda tf, t: tf.random_uniform([64, 12], -0.37, 0.61, t, seed=3),
    "normal": lambda tf, t: tf.random_normal([64, 12], 0.3, 0.7, t, seed=3),
    "truncated": lambda tf, t: tf.truncated_normal([64, 12], 0.3, 0.7, t, seed=3),
    "gamma": lambda tf, t: tf.random_gamma([500], [0.5, 2.3, 0.01], dtype=t, seed=3),
    "poisson": lambda tf, t: tf.random_poisson([0.5, 3.0, 30.0], [300], dtype=t, seed=3),
    "stateless uniform": lambda tf, t: tf.random.stateless_uniform([64, 12], [1, 2], -0.37, 0.61, t),
    "stateless normal": lambda tf, t: tf.random.stateless_normal([64, 12], [1, 2], 0.3, 0.7, t),
    "stateless truncated": lambda tf, t: tf.random.stateless_truncated_normal([64, 12], [1, 2], 0.3, 0.7, t),
    "multinomial": lambda tf, t: tf.multinomial(tf.constant([[0.1, 0.5, 1.0], [1, 2, -1]], t), 50, seed=3),
    "shuffle": lambda tf, t: tf.random_shuffle(tf.cast(tf.range(50), t), seed=3),
}


def _bits(tf, np, tensor):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = [session.run(tensor) for _ in range(2)]
    return [[hashlib.sha1(np.ascontiguousarray(value).tobytes()).hexdigest(), value] for value in values]


@cases(*product(sorted(_NUMBERS), _TYPES))
def numbers(tf, np, key, dtype):
    tf.set_random_seed(7)
    return _bits(tf, np, _NUMBERS[key](tf, tf.as_dtype(dtype)))


_INITIALIZERS = {
    "default": lambda tf, seed: None,
    "random_uniform": lambda tf, seed: tf.initializers.random_uniform(-0.1, 0.1, seed),
    "random_normal": lambda tf, seed: tf.initializers.random_normal(0.1, 0.02, seed),
    "truncated_normal": lambda tf, seed: tf.initializers.truncated_normal(0.1, 0.02, seed),
    "glorot_uniform": lambda tf, seed: tf.initializers.glorot_uniform(seed),
    "glorot_normal": lambda tf, seed: tf.initializers.glorot_normal(seed),
    "he_uniform": lambda tf, seed: tf.initializers.he_uniform(seed),
    "he_normal": lambda tf, seed: tf.initializers.he_normal(seed),
    "lecun_uniform": lambda tf, seed: tf.initializers.lecun_uniform(seed),
    "lecun_normal": lambda tf, seed: tf.initializers.lecun_normal(seed),
    "fan_avg": lambda tf, seed: tf.initializers.variance_scaling(1.3, "fan_avg", "uniform", seed),
    "untruncated": lambda tf, seed: tf.initializers.variance_scaling(
        1.3, "fan_out", "untruncated_normal", seed
    ),
    "unit_scaling": lambda tf, seed: tf.uniform_unit_scaling_initializer(1.2, seed),
    "xavier": lambda tf, seed: tf.contrib.layers.xavier_initializer(seed=seed),
    "xavier normal": lambda tf, seed: tf.contrib.layers.xavier_initializer(False, seed),
    "variance": lambda tf, seed: tf.contrib.layers.variance_scaling_initializer(seed=seed),
}


@cases(*product(sorted(_INITIALIZERS), _TYPES))
def initial_weights(tf, np, key, dtype):
    tf.set_random_seed(7)
    made = [
        tf.get_variable(
            "v%d%s" % (len(shape), seed), shape, tf.as_dtype(dtype), initializer=_INITIALIZERS[key](tf, seed)
        )
        for shape, seed in (([64, 12], 3), ([3, 3, 8, 16], None), ([7], 5))
    ]
    return [_bits(tf, np, variable) for variable in made]


def layers(tf, np):
    tf.set_random_seed(7)
    x = tf.zeros([2, 8, 8, 3])
    y = tf.layers.conv2d(x, 5, 3)
    y = tf.layers.dense(tf.layers.flatten(y), 4)
    tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(6), tf.zeros([2, 3, 4]), dtype=tf.float32)
    return [[v.name, _bits(tf, np, v)] for v in tf.global_variables()]
