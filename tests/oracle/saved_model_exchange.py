"""Writes SavedModels with what they answer, or loads and runs those of another engine.

python saved_model_exchange.py tensorflow|compat.v1|tideflow write FOLDER
python saved_model_exchange.py tensorflow|compat.v1|tideflow read FOLDER RESULTS
"""

import os
import pickle
import sys

import engine
from function_models import _defun

INPUT = [[1.0, 2.0, 3.0], [-4.0, 5.0, -6.0]]


def _placeholder(tf):
    return tf.placeholder(tf.float32, [None, 3], name="x")


def _variable(tf, np, name, resource=False, **options):
    return tf.get_variable(
        name,
        initializer=np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2),
        use_resource=resource,
        **options,
    )


def references(tf, np, folder):
    """Variables of the first kind, on a device."""
    x = _placeholder(tf)
    with tf.device("/cpu:0"):
        w = _variable(tf, np, "w")
    return {"x": x}, {"y": tf.nn.softmax(tf.matmul(x, w))}, {}


def resources(tf, np, folder):
    """Resource variables, trained a step."""
    x = _placeholder(tf)
    y = tf.matmul(x, _variable(tf, np, "w", resource=True))
    tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.square(y)))
    return {"x": x}, {"y": y}, {}


def partitioned(tf, np, folder):
    """Variables in parts, and those that other collections hold."""
    x = _placeholder(tf)
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", shape=[3, 4], initializer=tf.random_uniform_initializer(seed=3))
    average = tf.train.ExponentialMovingAverage(0.9)
    b = tf.get_variable("b", initializer=np.float32([1, 2, 3, 4]))
    average.apply([b])
    return {"x": x}, {"y": tf.matmul(x, tf.convert_to_tensor(w)) + average.average(b)}, {}


def tables(tf, np, folder):
    """Assets: a vocabulary that a table is filled from when the model is loaded."""
    path = os.path.join(folder, "words.txt")
    with open(path, "w") as stream:
        stream.write("a\nb\nc\n")
    words = tf.placeholder(tf.string, [None], name="words")
    ids = tf.contrib.lookup.index_table_from_file(path, num_oov_buckets=1)
    back = tf.contrib.lookup.index_to_string_table_from_file(path, default_value="?")
    found = ids.lookup(words)
    return {"words": words}, {"ids": found, "back": back.lookup(found)}, {"main_op": tf.tables_initializer()}


def local(tf, np, folder):
    """What no checkpoint holds is set up by the main op."""
    x = _placeholder(tf)
    scale = tf.get_variable(
        "scale", initializer=np.float32(3), collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False
    )
    return {"x": x}, {"y": x * scale}, {"legacy_init_op": tf.local_variables_initializer()}


def flow(tf, np, folder):
    """Loops and conditionals."""
    x = _placeholder(tf)
    w = _variable(tf, np, "w")
    total = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * 0.5 + tf.matmul(x, w)), [0, x[:, :2]])[
        1
    ]
    y = tf.cond(
        tf.reduce_sum(total) > 0, lambda: total, lambda: tf.cond(x[0, 0] > 0, lambda: -total, lambda: w)
    )
    return {"x": x}, {"y": y}, {"strip_default_attrs": True}


def sequences(tf, np, folder):
    """A recurrent network, by dynamic_rnn."""
    x = _placeholder(tf)
    cell = tf.nn.rnn_cell.LSTMCell(4, initializer=tf.random_uniform_initializer(-1, 1, seed=2))
    y, state = tf.nn.dynamic_rnn(cell, tf.expand_dims(x, 2), dtype=tf.float32)
    return {"x": x}, {"y": y, "c": state.c}, {}


def functions(tf, np, folder):
    """Calls of functions."""

    @_defun(tf, tf.float32)
    def twice(a):
        return a * 2.0 + 1.0

    x = _placeholder(tf)
    return {"x": x}, {"y": tf.identity(twice(tf.matmul(x, _variable(tf, np, "w"))))}, {}


def sparse(tf, np, folder):
    """A sparse input."""
    x = tf.sparse.placeholder(tf.float32, [None, 3], name="s")
    return {"x": x}, {"y": tf.sparse.matmul(x, _variable(tf, np, "w"))}, {}


def stateless(tf, np, folder):
    """No variables at all."""
    x = _placeholder(tf)
    return {"x": x}, {"y": tf.reduce_sum(x, 1), "n": tf.shape(x)}, {"as_text": True}


_ALL = (references, resources, partitioned, tables, local, flow, sequences, functions, sparse, stateless)
MODELS = {f.__name__: f for f in _ALL}


def _feeds(tf, np, inputs):
    """What each input is fed, by the names that its TensorInfo has."""
    feeds = {}
    for info in inputs.values():
        if info.WhichOneof("encoding") == "coo_sparse":
            feeds[info.coo_sparse.indices_tensor_name] = np.int64([[0, 0], [1, 2]])
            feeds[info.coo_sparse.values_tensor_name] = np.float32([2, 3])
            feeds[info.coo_sparse.dense_shape_tensor_name] = np.int64([2, 3])
        elif info.dtype == tf.string.as_datatype_enum:
            feeds[info.name] = ["c", "zz", "a"]
        else:
            feeds[info.name] = np.float32(INPUT)
    return feeds


def _answers(tf, np, sess, signature):
    fetches = {key: info.name for key, info in signature.outputs.items()}
    values = sess.run(fetches, _feeds(tf, np, signature.inputs))
    return {key: np.asarray(value).tolist() for key, value in values.items()}


def write(tf, np, folder):
    """Each model, twice in one SavedModel: with all of its tags, and for training alone."""
    answers = {}
    for name, build in MODELS.items():
        home = os.path.join(folder, name)
        os.makedirs(home)
        with tf.Graph().as_default(), tf.Session() as sess:
            inputs, outputs, options = build(tf, np, home)
            as_text = options.pop("as_text", False)
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            sess.run(tf.tables_initializer())
            signature = tf.saved_model.predict_signature_def(inputs, outputs)
            assets = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
            builder = tf.saved_model.builder.SavedModelBuilder(os.path.join(home, "model"))
            builder.add_meta_graph_and_variables(
                sess, ["serve"], {"serving_default": signature}, assets_collection=assets, **options
            )
            answers[name] = _answers(tf, np, sess, signature)
            builder.save(as_text=as_text)
        if os.path.exists(os.path.join(home, "words.txt")):
            os.remove(os.path.join(home, "words.txt"))
    with open(os.path.join(folder, "answers"), "wb") as stream:
        pickle.dump(answers, stream, protocol=2)


def read(tf, np, folder, results):
    """What each model answers here: loaded into a graph, and under a scope of one that is in use."""
    found = {}
    for name in MODELS:
        path = os.path.join(folder, name, "model")
        with tf.Graph().as_default(), tf.Session() as sess:
            message = tf.saved_model.loader.load(sess, ["serve"], path)
            plain = _answers(tf, np, sess, message.signature_def["serving_default"])
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.get_variable("w", [1])
            message = tf.saved_model.loader.load(sess, ["serve"], path, import_scope="a/b")
            scoped = _answers(tf, np, sess, _under_scope(message.signature_def["serving_default"], "a/b"))
        found[name] = {"plain": plain, "scoped": scoped}
    with open(results, "wb") as stream:
        pickle.dump(found, stream, protocol=2)


def _under_scope(signature, scope):
    """The signature with the names that its tensors have where the model was imported under a scope."""
    for infos in (signature.inputs, signature.outputs):
        for info in infos.values():
            if info.WhichOneof("encoding") == "name":
                info.name = scope + "/" + info.name
            else:
                for field in ("indices_tensor_name", "values_tensor_name", "dense_shape_tensor_name"):
                    setattr(info.coo_sparse, field, scope + "/" + getattr(info.coo_sparse, field))
    return signature


if __name__ == "__main__":
    import numpy

    {"write": write, "read": read}[sys.argv[2]](engine.load_engine(sys.argv[1]), numpy, *sys.argv[3:])
