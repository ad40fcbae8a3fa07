"""What libraries written for TensorFlow 1 do, and single programs seldom."""

import os
import tempfile


def variables_without_modes(tf, np):
    made = [
        tf.get_variable("a", [2], aggregation=None, synchronization=None),
        tf.get_variable("b", [2], aggregation=None, use_resource=True),
        tf.Variable([1.0], aggregation=None),
        tf.Variable([1.0], synchronization=None, use_resource=True),
    ]
    return [(str(v.aggregation), str(v.synchronization)) for v in made]


def cells_that_are_built_by_hand(tf, np):
    found = []
    for kind in ("LSTMCell", "GRUCell", "BasicLSTMCell", "BasicRNNCell"):
        cell = getattr(tf.nn.rnn_cell, kind)(3)
        before = cell.dtype
        cell.build(tf.TensorShape([2, 4]))
        found.append((before, str(cell.dtype), [(v.name, v.dtype.name) for v in cell.variables]))
    return found


def functions_without_results_in_a_graph(tf, np):
    a = tf.constant([1.0])
    v = tf.Variable(1.0, use_resource=True)
    calls = [
        tf.py_func(lambda x: None, [a], []),
        tf.py_function(lambda x: None, [a], []),
        tf.function(lambda: None)(),
    ]

    @tf.function
    def counted():
        v.assign_add(1.0)

    with tf.Session() as session:
        session.run(v.initializer)
        fetched = session.run([counted()])
        return [type(call).__name__ for call in calls], fetched, session.run(v)


def an_object_saved_without_a_session(tf, np):
    class Adder(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def add(self, x):
            return x + 1.0

    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Adder(), os.path.join(folder, "m"))
        v = tf.Variable([1.0, 2.0])
        tf.keras.backend.get_session().run(v.initializer)
        path = tf.train.Checkpoint(v=v).save(os.path.join(folder, "c"))
        return sorted(os.listdir(os.path.join(folder, "m"))), os.path.basename(path)


def attributes_that_modules_leave_out(tf, np):
    class Holder(tf.Module):
        _TF_MODULE_IGNORED_PROPERTIES = tf.Module._TF_MODULE_IGNORED_PROPERTIES.union(("hidden",))

    holder = Holder()
    holder.seen, holder.hidden = tf.Variable(1.0, name="seen"), tf.Variable(2.0, name="hidden")
    holder.parameters = holder._no_dependency({"one": tf.Variable(3.0, name="one")})
    return [v.name for v in holder.variables], sorted(holder.parameters)


def reductions_of_version_two(tf, np):
    two, x = tf.compat.v2, tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.Session() as session:
        return session.run(
            [
                two.reduce_sum(x, 1, True),
                two.math.reduce_mean(x, axis=0, keepdims=False),
                two.squeeze(two.expand_dims(x, 0), 0),
                two.nn.softmax(x, 0),
                two.math.l2_normalize(x, 1),
            ]
        )


def columns_of_version_two(tf, np):
    kind = tf.compat.v2.keras.layers.DenseFeatures
    ids = tf.feature_column.categorical_column_with_identity("i", 4)
    layer = kind([tf.feature_column.numeric_column("x"), tf.feature_column.embedding_column(ids, 2)])
    again = kind.from_config(layer.get_config())
    old = tf.compat.v1.keras.layers.DenseFeatures
    return kind is old, issubclass(kind, old), type(again) is kind, len(again._feature_columns)
