"""A graph of many kinds of ops, for the works that measure graphs themselves."""

from collections import namedtuple

LAYERS = 25

Built = namedtuple("Built", "graph x total size")


def build(tf):
    """A new graph of `size` ops; the scalar `total` needs them all, and `x` fed."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 16])
        h = x
        for _ in range(LAYERS):
            with tf.name_scope("layer"):
                h = mixed_layer(tf, h)
        total = tf.reduce_sum(h)
    return Built(graph, x, total, len(graph.get_operations()))


def mixed_layer(tf, h):
    weights = tf.constant(0.01, tf.float32, [16, 16])
    product = tf.nn.bias_add(tf.matmul(h, weights), tf.zeros([16]))
    left, right = tf.split(tf.nn.relu(product), [8, 8], axis=1)
    gate = tf.sigmoid(left) * tf.tanh(right) + tf.square(left - right)
    wide = tf.concat([gate, tf.where(gate > 0.5, gate, -gate)], axis=1)
    rows = tf.shape(wide)[0]
    cube = tf.transpose(tf.reshape(wide, tf.stack([rows, 4, 4])), [0, 2, 1])
    flat = tf.reshape(cube, [-1, 16])
    centred = flat - tf.reduce_mean(flat, axis=1, keepdims=True)
    scaled = centred / tf.sqrt(tf.reduce_mean(tf.square(centred), axis=1, keepdims=True) + 1e-6)
    steps = tf.cast(tf.range(16), tf.float32)
    return tf.maximum(scaled, 0.1 * scaled) + 0.01 * steps + tf.expand_dims(h[:, 0], 1)
