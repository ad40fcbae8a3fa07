"""Writes checkpoints of objects with what is in them, or restores those of another engine.

python object_exchange.py tensorflow|compat.v1|tideflow write FOLDER
python object_exchange.py tensorflow|compat.v1|tideflow read FOLDER RESULTS
"""

import os
import pickle
import sys

import engine


def dense(tf):
    """A layer, its optimizer with slots and powers, the global step."""
    layer = tf.layers.Dense(4, name="d")
    optimizer, step = tf.train.AdamOptimizer(0.1), tf.train.get_or_create_global_step()
    train = optimizer.minimize(tf.reduce_sum(tf.square(layer(tf.ones([2, 3])))), step)
    return tf.train.Checkpoint(model=layer, optimizer=optimizer, step=step), train


def convolutional(tf):
    """Layers with several variables each, and without any."""
    x = tf.ones([2, 8, 8, 3])
    layers = dict(
        norm=tf.layers.BatchNormalization(),
        conv=tf.layers.Conv2D(2, 3),
        separable=tf.layers.SeparableConv2D(2, 3),
        dropout=tf.layers.Dropout(),
    )
    for _, layer in sorted(layers.items()):
        layer(x)
    return tf.train.Checkpoint(**layers), tf.no_op()


def recurrent(tf):
    """Cells in cells, and names with slashes."""
    cells = [tf.nn.rnn_cell.LSTMCell(4), tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), 0.5)]
    stack = tf.nn.rnn_cell.MultiRNNCell(cells)
    stack(tf.ones([2, 3]), stack.zero_state(2, tf.float32))
    return tf.train.Checkpoint(stack=stack), tf.no_op()


def modules(tf):
    """Modules, lists, dictionaries, one variable reached in two ways."""

    class Inner(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([1.0, 2.0])
            self.several = [tf.Variable(1.0), {"a/b.c": tf.Variable(2.0)}]
            self.none = []
            self.resource = tf.Variable(7.0, use_resource=True)

    class Outer(tf.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.same = self.inner.w

    return tf.train.Checkpoint(module=Outer()), tf.no_op()


def tables(tf):
    """A table, a template, a generator, an optimizer around another, and state of the program's own."""

    class State(tf.train.experimental.PythonState):
        value = "some state"

        def serialize(self):
            return self.value

        def deserialize(self, string_value):
            self.value = string_value.decode()

    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, -1, -2, initial_num_buckets=8)
    template = tf.make_template("t", lambda x: x * tf.get_variable("v", initializer=3.0))
    v = tf.Variable(1.0, name="v")
    optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(
        tf.train.MomentumOptimizer(0.1, 0.9), "dynamic"
    )
    train = optimizer.minimize(template(v) * v, var_list=[v])
    checkpoint = tf.train.Checkpoint(
        table=table,
        template=template,
        v=v,
        optimizer=optimizer,
        state=State(),
        generator=tf.random.experimental.Generator.from_seed(3),
    )
    return checkpoint, tf.group(train, table.insert([1, 2], [3.0, 4.0]))


def templates(tf):
    """Templates in templates: first called inside of another, and before it."""

    def scaled(x):
        with tf.variable_scope("deep"):
            return x * tf.get_variable("v", initializer=3.0)

    before, inside = tf.make_template("before", scaled), tf.make_template("inside", scaled)
    before(1.0)
    outer = tf.make_template("outer", lambda x: before(x) + inside(x) * tf.get_variable("w", initializer=2.0))
    outer(1.0)
    outer(2.0)
    return tf.train.Checkpoint(outer=outer, before=before), tf.no_op()


MODELS = {f.__name__: f for f in (dense, convolutional, recurrent, modules, tables, templates)}


def _variables(tf):
    return {v.name: v for v in tf.global_variables()}


def write(tf, np, folder):
    """A checkpoint of each model, after a step."""
    for name, build in MODELS.items():
        with tf.Graph().as_default(), tf.Session() as sess:
            checkpoint, train = build(tf)
            sess.run(tf.global_variables_initializer())
            sess.run(train)
            checkpoint.save(os.path.join(folder, name, "m"), session=sess)
            values = {k: v.tolist() for k, v in sess.run(_variables(tf)).items()}
            with open(os.path.join(folder, name, "values"), "wb") as stream:
                pickle.dump(values, stream, protocol=2)


def read(tf, np, folder, results):
    """The values of each model after it was restored, and whether all was consumed."""
    found = {}
    for name, build in MODELS.items():
        path = tf.train.latest_checkpoint(os.path.join(folder, name))
        with tf.Graph().as_default(), tf.Session() as sess:
            checkpoint, _ = build(tf)
            if name == "tables":
                checkpoint.state.value = "changed"
            checkpoint.restore(path).assert_consumed().initialize_or_restore(sess)
            found[name] = {k: v.tolist() for k, v in sess.run(_variables(tf)).items()}
            if name == "tables":
                looked_up = checkpoint.table.lookup(tf.constant([1, 2, 3], tf.int64))
                found["extra"] = [checkpoint.state.value, sess.run(looked_up).tolist()]
    with open(results, "wb") as stream:
        pickle.dump(found, stream, protocol=2)


if __name__ == "__main__":
    import numpy

    {"write": write, "read": read}[sys.argv[2]](engine.load_engine(sys.argv[1]), numpy, *sys.argv[3:])
