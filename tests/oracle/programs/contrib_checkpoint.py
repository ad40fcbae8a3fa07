"""tf.contrib.checkpoint: containers, arrays and names in checkpoints of objects."""

import os
import tempfile

from kit import cases, raises


def _saved(tf, root):
    """The keys of a checkpoint of the root, and what the root says of itself."""
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = root.save(os.path.join(folder, "model"), session=session)
        keys = sorted(name for name, _ in tf.train.list_variables(path))
        return [keys, tf.contrib.checkpoint.dot_graph_from_checkpoint(path)]


def containers(tf, np):
    c = tf.contrib.checkpoint
    layers = c.List([tf.layers.Dense(2, name="a")])
    layers.append(tf.layers.Dense(3, trainable=False, name="b"))
    layers += [tf.Variable(1.0, name="v", use_resource=True)]
    mapping = c.Mapping(x=layers, y=tf.Variable(2.0, trainable=False, name="w", use_resource=True))
    mapping.update({"z": c.List()})
    for layer in layers[:2]:
        layer(tf.ones([1, 2]))
    root = tf.train.Checkpoint(mapping=mapping)
    shown = [
        [v.name for v in box.variables] + [v.name for v in box.trainable_variables]
        for box in (layers, mapping)
    ]
    return [
        shown,
        [len(layers), len(mapping), sorted(mapping), [layer.name for layer in mapping.layers]],
        [v.name for v in layers.non_trainable_weights],
        len(layers + [layers[0]]),
        layers == layers,
        layers == c.List(layers),
        _saved(tf, root),
        len(c.list_objects(root)),
    ]


def _is_value_error(call):
    try:
        call()
    except ValueError:
        return True


def refused(tf, np):
    c = tf.contrib.checkpoint
    mapping = c.Mapping(v=tf.Variable(1.0))

    def overwrite():
        mapping["v"] = tf.Variable(2.0)

    def numbered():
        mapping[1] = tf.Variable(2.0)

    def not_an_array():
        c.NumpyState().x = 3

    return [
        _is_value_error(lambda: c.List([3])),
        _is_value_error(lambda: c.List().append("text")),
        raises(overwrite),
        raises(numbered),
        raises(not_an_array),
        raises(lambda: c.UniqueNameTracker().track(3, "x")),
    ]


def no_dependency(tf, np):
    c = tf.contrib.checkpoint
    root = tf.train.Checkpoint()
    root.kept = tf.Variable(1.0, name="kept", use_resource=True)
    root.left = c.NoDependency(tf.Variable(2.0, name="left", use_resource=True))

    class Model(tf.keras.Model):
        def __init__(self):
            super(Model, self).__init__()
            self.first = tf.keras.layers.Dense(2)
            self.second = c.NoDependency(tf.keras.layers.Dense(3))

        def call(self, inputs):
            return self.second(self.first(inputs))

    root.model = Model()
    root.model(tf.ones([1, 2]))
    names = [root.left.name, len(root.model.layers), len(root.model.variables)]
    keys, _ = _saved(tf, root)
    root.left = tf.Variable(3.0, use_resource=True)
    return [names, keys, _saved(tf, root)[0]]


def unique_names(tf, np):
    tracker = tf.contrib.checkpoint.UniqueNameTracker()
    for name in ("a", "b", "a", "a_1", "a"):
        tracker.track(tf.Variable(1.0, name="x", use_resource=True), name)
    return _saved(tf, tf.train.Checkpoint(names=tracker))


@cases(True, False)
def arrays(tf, np, known):
    c = tf.contrib.checkpoint
    root = tf.train.Checkpoint(numpy=c.NumpyState())
    root.numpy.x = np.arange(6.0).reshape(2, 3)
    root.numpy.y = np.float32(4)
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        path = root.save(os.path.join(folder, "model"), session=session)
        root.numpy.x = np.ones(2)
        other = tf.train.Checkpoint(numpy=c.NumpyState())
        if known:
            other.numpy.x = np.zeros(1)
        other.restore(path).assert_consumed()
        return [other.numpy.x, other.numpy.y, root.numpy.x]


def optimizer_graph(tf, np):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(tf.reduce_sum(v * v))
    return _saved(tf, tf.train.Checkpoint(optimizer=optimizer, v=v))


def _halves(tf, owner, names):
    """Makes two dependencies of the two elements of a variable."""

    def fill(values):
        values.update({name: owner.both[place] for place, name in enumerate(names)})

    def consume(values):
        return owner.both.assign(tf.stack([values[name] for name in names]))

    parts = tf.contrib.checkpoint.split_dependency(names, [tf.float32] * 2, fill, consume, device="")
    for name in names:
        owner._track_trackable(parts[name], name)
    return owner


def split_values(tf, np):
    def variable(name, value):
        return tf.get_variable(name, initializer=np.float32(value), use_resource=True)

    names = ("first", "second")
    whole = tf.contrib.checkpoint.Checkpointable()
    whole.both = variable("both", [3.0, 4.0])
    _halves(tf, whole, names)
    parts = tf.contrib.checkpoint.Checkpointable()
    parts.first, parts.second = variable("first", 0.0), variable("second", 0.0)
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(x=whole).save(os.path.join(folder, "whole"), session=session)
        keys = sorted(name for name, _ in tf.train.list_variables(path))
        tf.train.Checkpoint(x=parts).restore(path).run_restore_ops(session)
        taken_apart = session.run([parts.first, parts.second])
        session.run(parts.first.assign(7.0))
        path = tf.train.Checkpoint(x=parts).save(os.path.join(folder, "parts"), session=session)
        tf.train.Checkpoint(x=whole).restore(path).run_restore_ops(session)
        return [keys, taken_apart, session.run(whole.both)]


def captured_variables(tf, np):
    class Captures(tf.contrib.checkpoint.Checkpointable):
        def __init__(self, name, inner=None):
            with tf.variable_scope(name) as self.variable_scope:
                with tf.contrib.checkpoint.capture_dependencies(template=self):
                    tf.get_variable("w", [], use_resource=True)
                    with tf.variable_scope("deep"):
                        tf.get_variable("v", [], use_resource=True)
                    if inner:
                        Captures(inner)
                    tf.Variable(1.0, name="plain", use_resource=True)

    return _saved(tf, tf.train.Checkpoint(x=Captures("outer", inner="inner")))
