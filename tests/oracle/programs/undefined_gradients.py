"""tf.gradients through op types that have no gradient: an error, or None where that is declared."""

from kit import cases, raises

_UNDEFINED = {
    "bitcast": lambda tf, x: tf.bitcast(x, tf.float32),
    "unique": lambda tf, x: tf.unique(tf.reshape(x, [-1]))[0],
    "unique axis": lambda tf, x: tf.unique_with_counts(tf.reshape(x, [-1]))[0],
    "list diff": lambda tf, x: tf.setdiff1d(tf.reshape(x, [-1]), [1.0])[0],
    "resize area": lambda tf, x: tf.image.resize_area(tf.reshape(x, [1, 2, 2, 1]), [4, 4]),
    "bincount": lambda tf, x: tf.bincount([0, 1, 1, 0], weights=tf.reshape(x, [-1]), dtype=tf.float32),
    "lrn twice": lambda tf, x: _twice(tf, tf.nn.lrn(tf.reshape(x, [1, 2, 2, 1])), x),
    "combined": lambda tf, x: tf.image.combined_non_max_suppression(
        tf.reshape(x, [1, 1, 1, 4]), tf.ones([1, 1, 1]), 1, 1
    )[0],
    "conv3d transposed": lambda tf, x: tf.nn.max_pool_with_argmax(
        tf.reshape(x, [1, 2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1], "SAME"
    )[0] * 1.0,
}  # fmt: skip
_NONE = {
    "sign of stopped": lambda tf, x: tf.stop_gradient(x),
    "ones": lambda tf, x: tf.ones_like(x),
    "one hot": lambda tf, x: tf.one_hot(tf.cast(x, tf.int32), 3),
    "py_func": lambda tf, x: tf.py_func(lambda v: v, [x], tf.float32),
    "histogram": lambda tf, x: tf.to_float(tf.histogram_fixed_width(x, [0.0, 5.0])),
}


def _twice(tf, y, x):
    return tf.gradients(y, x)[0]


@cases(*sorted(_UNDEFINED))
def undefined(tf, np, which):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return raises(tf.gradients, _UNDEFINED[which](tf, x), x)


@cases(*sorted(_NONE))
def declared(tf, np, which):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return tf.gradients(_NONE[which](tf, x), x)


def stopped(tf, np):
    x = tf.constant([1.0, 2.0])
    y = tf.bitcast(x, tf.float32)
    through = tf.gradients(y * x, x, stop_gradients=[y])[0]
    beyond = tf.gradients(y * 2.0, y)[0]
    with tf.Session() as session:
        return session.run([through, beyond])


def registered(tf, np):
    x = tf.constant([1.0, 2.0])

    @tf.RegisterGradient("Bincount")
    def of_bincount(op, grad):
        return None, None, tf.gather(grad, op.inputs[0])

    y = tf.bincount([0, 1], weights=x, dtype=tf.float32)
    with tf.Session() as session:
        return session.run(tf.gradients(y * y, x)[0])
