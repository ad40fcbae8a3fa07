"""What layers know of their inputs, losses and updates; what they, input queues and savers refuse."""

import os
import tempfile

from kit import cases, raises


def losses_and_updates_of_inputs(tf, np):
    x, z = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    dense = tf.layers.Dense(2, kernel_regularizer=tf.nn.l2_loss, activity_regularizer=tf.reduce_sum)
    normal = tf.layers.BatchNormalization()
    found = []
    for inputs in (x, z):
        dense(inputs)
        normal(inputs, training=True)
        for given in (None, x, z, [x, z]):
            found.append((len(dense.get_losses_for(given)), len(normal.get_updates_for(given))))
    return [found, len(dense.losses), len(normal.updates)]


def regularizers_of_partitioned_variables(tf, np):
    x, found = tf.placeholder(tf.float32, [None, 4]), []
    for reuse in (None, True):
        with tf.variable_scope("s", reuse=reuse, partitioner=tf.fixed_size_partitioner(2)):
            tf.layers.dense(x, 3, name="d", kernel_regularizer=tf.nn.l2_loss)
            tf.get_variable("v", [4, 2], regularizer=tf.nn.l2_loss)
        found.append([loss.name for loss in tf.losses.get_regularization_losses()])
    return found


_REFUSED = {
    "strides of three": lambda L, x: L.Conv2D(3, 2, strides=(2, 2, 2)),
    "no strides": lambda L, x: L.MaxPooling2D(2, None),
    "strides of a pool": lambda L, x: L.MaxPooling3D(2, (1, 2)),
    "strides and dilation": lambda L, x: L.Conv2D(3, 2, strides=2, dilation_rate=2)(x(1, 8, 8, 1)),
    "rank": lambda L, x: L.Conv2D(3, 2)(x(1, 8, 8)),
    "channels": lambda L, x: L.Conv2D(3, 2)(x(1, 8, 8, None)),
    "vector": lambda L, x: L.Dense(3)(x(3)),
    "axis": lambda L, x: L.BatchNormalization(axis=1.5),
    "padding": lambda L, x: L.Conv2D(3, 2, padding="x"),
}


@cases(*_REFUSED)
def refused(tf, np, key):
    return raises(_REFUSED[key], tf.layers, lambda *shape: tf.placeholder(tf.float32, shape))


def input_specs(tf, np):
    class Checked(tf.layers.Layer):
        def call(self, inputs):
            return inputs

    def x(*shape):
        return tf.placeholder(tf.float32, shape)

    spec = tf.layers.InputSpec
    rows = [
        (spec(ndim=2), x(2, 3)),
        (spec(ndim=2), x(2)),
        (spec(min_ndim=2), x(2)),
        (spec(max_ndim=1), x(2, 2)),
        (spec(shape=[None, 3]), x(2, 3)),
        (spec(shape=[None, 3]), x(2, 4)),
        (spec(axes={-1: 3}), x(2, 4)),
        (spec(axes={-1: 3}), x(2, None)),
        (spec(dtype=tf.int32), x(2)),
        ([spec(ndim=1), spec(ndim=2)], [x(1), x(1, 2)]),
        ([spec(ndim=1), spec(ndim=2)], [x(1), x(1)]),
        ([spec(ndim=1), spec(ndim=2)], x(1)),
    ]
    found = []
    for wanted, inputs in rows:
        layer = Checked()
        layer.input_spec = wanted
        found.append(raises(layer, inputs))
    return [found, str(spec(ndim=2)), str(spec(min_ndim=1, max_ndim=3, axes={0: 2}))]


@cases("batch_join", "shuffle_batch_join")
def joined_dictionaries(tf, np, name):
    def join(*keys):
        sources = [{key: tf.constant([1.0]) for key in each} for each in keys]
        extra = (5, 1) if name == "shuffle_batch_join" else ()
        return sorted(getattr(tf.train, name)(sources, 2, *extra))

    return [join("xy", "yx"), raises(join, "x", "y"), raises(join, "x", "xy")]


@cases("all", "alone")
def saved_dense_tables(tf, np, how):
    path = os.path.join(tempfile.mkdtemp(), "model")
    found = []
    for keys in ([1, 2], None):
        with tf.Graph().as_default(), tf.Session() as session:
            table = tf.lookup.experimental.DenseHashTable(
                tf.int64, tf.float32, default_value=-1.0, empty_key=0, deleted_key=-1, name="t"
            )
            saver = tf.train.Saver() if how == "all" else tf.train.Saver([table])
            if keys:
                session.run(table.insert(keys, [3.0, 4.0]))
                found.append(sorted(name for name, _ in tf.train.list_variables(saver.save(session, path))))
            else:
                saver.restore(session, path)
                found.append(session.run([table.lookup([1, 2, 3]), table.size()]))
    return found
