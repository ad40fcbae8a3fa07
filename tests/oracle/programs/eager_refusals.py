"""What eager mode says of inputs that do not fit: the words of kernels, which see the shapes."""

import os
import tempfile

from kit import cases, raises

EAGER = True

_REFUSED = {
    "matmul": lambda tf, m: tf.matmul(m, tf.ones([3, 4])),
    "concat": lambda tf, m: tf.concat([m, tf.ones([3, 4])], 0),
    "add": lambda tf, m: m + tf.ones([3, 4]),
    "reshape": lambda tf, m: tf.reshape(m, [3, 4]),
    "an index": lambda tf, m: m[5],
    "gather": lambda tf, m: tf.gather(m, [1, 7]),
    "gather of columns": lambda tf, m: tf.gather(m, tf.constant([[0, -1]]), axis=1),
    "gather of nothing": lambda tf, m: tf.gather(tf.zeros([2, 0]), [2]),
    "squeeze": lambda tf, m: tf.squeeze(m, 0),
    "stack": lambda tf, m: tf.stack([m, tf.ones([3])]),
    "expand_dims": lambda tf, m: tf.expand_dims(m, 5),
    "zeros": lambda tf, m: tf.zeros([-1, 2]),
    "softmax_cross_entropy": lambda tf, m: tf.nn.softmax_cross_entropy_with_logits(
        labels=m, logits=tf.ones([2, 3])
    ),
    "boolean_mask": lambda tf, m: tf.boolean_mask(m, [True, False, True]),
    "conv2d": lambda tf, m: tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 3, 1]), 1, "SAME"),
    "where": lambda tf, m: tf.where(m > 0, m, tf.ones([3, 4])),
    "bias_add": lambda tf, m: tf.nn.bias_add(m, tf.ones([3])),
    "cholesky": lambda tf, m: tf.linalg.cholesky(m),
}


@cases({name: name for name in _REFUSED})
def refused(tf, np, name):
    return raises(_REFUSED[name], tf, tf.ones([2, 5]))


def kernels_are_told_apart(tf, np):
    """Calls that look alike: equal numbers of other types, other nesting, other values."""
    m = tf.reshape(tf.range(12.0), [3, 4])
    return [
        [tf.pad(m, [[1, 0], [0, 0]]), tf.pad(m, [[0, 1], [0, 0]]), tf.pad(m, ((1, 0), (0, 0)))],
        [m[1:2], m[1, 2], m[1:2, 2], m[1], m[:, 1], m[..., 1], m[:, None, 1]],
        [tf.split(m, 2, 1), tf.split(m, [1, 3], 1), tf.split(m, [3, -1], 1)],
        [tf.squeeze(m[:1]), tf.squeeze(m[:1], 0), tf.squeeze(m[:1], [0]), tf.squeeze(m[:1, :1], [0, 1])],
        [tf.stack([m, m]), tf.stack((m, m), 1), tf.stack([m, m], -1), tf.stack([1, m[0, 0]])],
        [
            tf.zeros([2], tf.int64),
            tf.zeros([2]),
            tf.ones([]),
            tf.zeros(m.shape, tf.bool),
            tf.ones([2], tf.bool),
        ],
        [tf.zeros_like(m), tf.ones_like(m), tf.zeros_like(m, tf.int32), tf.zeros_like(["a"])],
        [tf.one_hot([0, 2], 3), tf.one_hot([0, 2], 3, dtype=tf.int32), tf.one_hot([0, 2], 3, axis=0)],
        [tf.argmax([[1.0, float("nan"), 3.0], [float("-inf"), float("nan"), 0]], 1), tf.argmin(m, 0)],
        [m * 2.0, m * 2, tf.maximum(m, 5.0), tf.minimum(3.0, m), tf.boolean_mask(m, m > 3)],
        [tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax(m), logits=m)],
        [tf.shape(m), tf.shape(m, out_type=tf.int64), tf.concat([m, m], 1), tf.concat((m, m, m), -1)],
    ]


def tapes_see_known_kernels(tf, np):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(2):  # the second time the kernels are known
        with tf.GradientTape() as tape:
            x = v * 1.0
            parts = [tf.reshape(x, [4])[1:3], tf.squeeze(tf.expand_dims(x, 0), 0)[0], tf.concat([x, x], 0)[3]]
            parts += [tf.gather(x, [1, 1])[0], tf.stack([x, x])[1, 0], tf.split(x, [1, 1], 1)[1][:, 0]]
            y = tf.add_n([part * part for part in parts])
            loss = tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[y]))
        found = tape.gradient(loss, v)
    return found


_VALUES = {
    "text as integers": lambda tf: tf.constant("a", tf.int32),
    "a fraction as an integer": lambda tf: tf.constant([1.5], tf.int64),
    "lists of several lengths": lambda tf: tf.constant([[1.0], [2.0, 3.0]]),
    "None": lambda tf: tf.constant(None),
    "None in a list": lambda tf: tf.constant([1.0, None]),
    "a dictionary": lambda tf: tf.constant({}),
    "numbers and text": lambda tf: tf.constant([1, "a"]),
    "a large integer": lambda tf: tf.constant(2**70),
    "a complex number": lambda tf: tf.constant(1j, tf.float32),
    "a number as a truth": lambda tf: tf.constant(1, tf.bool),
    "too many for the shape": lambda tf: tf.constant([1, 2, 3], shape=[2]),
    "too few for the shape": lambda tf: tf.constant([1, 2], shape=[3]),
    "of an operator": lambda tf: 1.5 * tf.constant([1, 2]),
    "of an operation": lambda tf: tf.add(tf.constant([1, 2]), 1.5),
}


@cases({name: name for name in _VALUES})
def refused_values(tf, np, name):
    return raises(_VALUES[name], tf)


def constants_in_a_shape(tf, np):
    return [tf.constant(2, shape=[2, 2]), tf.constant([1, 2, 3, 4], shape=[2, 2])]


def checkpoints_of_other_shapes(tf, np):
    folder = tempfile.mkdtemp()
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(os.path.join(folder, "c"))
    k = tf.keras
    model, other = (k.Sequential([k.layers.Dense(units, input_shape=(3,))]) for units in (4, 5))
    model.save_weights(os.path.join(folder, "w"))
    return [
        raises(tf.train.Checkpoint(v=tf.Variable([1.0, 2.0, 3.0])).restore, path),
        raises(other.load_weights, os.path.join(folder, "w")),
        raises(other.load_weights, os.path.join(folder, "none")),
    ]
