"""tf.contrib.framework: matrices of checkpoints for other vocabularies; Python functions of structures."""

import os
import tempfile

from kit import cases, names, raises, run

OLD, NEW = ["a", "b", "c", "d"], ["d", "x", "a", "y", "c"]


def _files(folder):
    paths = []
    for name, words in (("old", OLD), ("new", NEW)):
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "w") as file:
            file.write("\n".join(words) + "\n")
    return paths


def _saved(tf, np, folder, shape):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("old", initializer=np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1)
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, os.path.join(folder, "model"))


def _value(tf, initializer, shape, partitioner=None):
    v = tf.get_variable("v", shape, initializer=initializer, partitioner=partitioner)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tf.convert_to_tensor(v))


@cases("rows", "columns", "both", "parts", "few", "embedding", "bias", "slot")
def matrices(tf, np, which):
    f = tf.contrib.framework

    def fresh(shape, dtype=None, partition_info=None):
        return tf.fill(shape, -1.0)

    with tempfile.TemporaryDirectory() as folder:
        old, new = _files(folder)
        rows = {"old_row_vocab_file": old, "new_row_vocab_file": new}
        columns = {"old_col_vocab_file": old, "new_col_vocab_file": new}
        path = _saved(tf, np, folder, [4, 1] if which == "bias" else [4, 4])
        load = f.load_and_remap_matrix_initializer
        if which == "rows":
            made = load(path, "old", 5, 4, num_row_oov_buckets=2, initializer=fresh, **rows)
            return _value(tf, made, [7, 4])
        if which == "columns":
            made = load(path, "old", 4, 5, num_col_oov_buckets=1, initializer=fresh, **columns)
            return _value(tf, made, [4, 6])
        if which == "both":
            made = load(
                path, "old", 5, 5, num_row_oov_buckets=1, num_col_oov_buckets=1, **dict(rows, **columns)
            )
            return _value(tf, made, [6, 6])
        if which == "parts":
            made = load(path, "old", 5, 4, num_row_oov_buckets=3, initializer=fresh, **rows)
            return _value(tf, made, [8, 4], tf.fixed_size_partitioner(3))
        if which == "few":
            made = load(path, "old", 5, 4, old_row_vocab_size=2, initializer=fresh, **rows)
            return _value(tf, made, [5, 4])
        if which == "embedding":
            made = f.load_embedding_initializer(
                path, "old", 5, 4, old, new, num_oov_buckets=1, initializer=fresh
            )
            return _value(tf, made, [6, 4])
        if which == "bias":
            made = f.load_linear_multiclass_bias_initializer(
                path, "old", 5, old, new, num_class_oov_buckets=1
            )
            return _value(tf, made, [6, 1])
        made = f.load_variable_slot_initializer(path, "old", None, 5, 4, initializer=fresh, **rows)
        return _value(tf, made, [5, 4])


def refused(tf, np):
    load = tf.contrib.framework.load_and_remap_matrix_initializer
    made = load("model", "old", 5, 4, old_row_vocab_file="a", new_row_vocab_file="b")
    return [
        raises(lambda: load("model", "old", 5, 4, initializer=3)),
        raises(lambda: made([5, 4], dtype=tf.float64)),
        raises(lambda: made([5])),
        raises(lambda: made([0, 4])),
        raises(lambda: made([5, 3])),
        raises(lambda: made([6, 4])),
        raises(lambda: load("model", "old", 5, 4)([5, 4])),
        raises(lambda: load("model", "old", 5, 4, old_row_vocab_file="a")([5, 4])),
    ]


def python_functions(tf, np):
    f = tf.contrib.framework

    def double(x, pair, scale=1):
        return {"sum": x + pair[0] + pair[1], "scaled": scale * x}

    x = tf.constant([1.0, 2.0])
    types = {"sum": tf.float32, "scaled": tf.float32}
    shapes = {"sum": [2], "scaled": [2]}
    made = f.py_func(double, [x, (x, x)], {"scale": tf.constant(3.0)}, types, shapes, stateful=False)
    inferred = f.py_func(
        lambda x: x * 2, args=(x,), output_types=lambda x: x.dtype, output_shapes=lambda x: x.shape
    )
    return [
        made,
        inferred,
        run(tf, [made, inferred]),
        names(tf),
        raises(lambda: f.py_func(double, x, output_types=tf.float32)),
        raises(lambda: f.py_func(double, [x], [x], output_types=tf.float32)),
    ]


def reading(tf, np):
    f = tf.contrib.framework
    with tempfile.TemporaryDirectory() as folder:
        path = _saved(tf, np, folder, [2, 2])
        v = tf.get_variable("v", [2, 2])
        f.init_from_checkpoint(checkpoint_dir=folder, assignment_map={"old": v})
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            value = session.run(v)
        return [
            f.load_variable(checkpoint_dir=folder, name="old"),
            f.list_variables(checkpoint_dir=path),
            f.load_checkpoint(filepattern=path).has_tensor("old"),
            value,
        ]
