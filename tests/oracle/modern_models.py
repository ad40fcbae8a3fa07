"""Writes SavedModels as TensorFlow 2 does, from modules, functions and Keras models, with what they answer;
or loads those of saved_model_exchange.py as it does, and calls their signatures.

python modern_models.py compat.v1 write FOLDER
python modern_models.py compat.v1 read FOLDER RESULTS
"""

import os
import pickle
import sys

import numpy as np
from saved_model_exchange import INPUT


def module(tf):
    """Variables, a function with a loop and a conditional, two signatures."""

    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2), name="w")
            self.b = tf.Variable(np.float32([0.5, -0.5]), trainable=False)

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
        def serve(self, x):
            y = x @ self.w + self.b
            for _ in tf.range(3):
                y = tf.where(tf.reduce_sum(y) > 0, y * 0.5, y + 1.0)
            if tf.reduce_max(y) > 1.0:
                y = y - 1.0
            return {"y": y, "sum": tf.reduce_sum(y)}

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32, "by")])
        def scaled(self, by):
            return {"w": self.w * by}

    m = Module()
    return (
        m,
        {"serving_default": m.serve, "scaled": m.scaled},
        {
            "serving_default": {"x": np.float32([[1, 2, 3], [-4, 5, -6]])},
            "scaled": {"by": np.float32(2)},
        },
    )


def keras_dense(tf):
    """A Keras network of dense layers."""
    layers = tf.keras.layers
    net = tf.keras.Sequential(
        [
            layers.Input([4]),
            layers.Dense(8, activation="relu"),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.Dense(3, activation="softmax"),
        ]
    )
    return _keras(net, np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4))


def keras_images(tf):
    """A Keras network of convolutions."""
    layers = tf.keras.layers
    net = tf.keras.Sequential(
        [
            layers.Input([8, 8, 1]),
            layers.Conv2D(4, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.SeparableConv2D(4, 3),
            layers.GlobalAveragePooling2D(),
            layers.Dense(2),
        ]
    )
    return _keras(net, np.linspace(-1, 1, 128, dtype=np.float32).reshape(2, 8, 8, 1))


def keras_sequences(tf):
    """A Keras network with an embedding and an LSTM."""
    layers = tf.keras.layers
    net = tf.keras.Sequential(
        [layers.Input([5], dtype="int32"), layers.Embedding(7, 4), layers.LSTM(3), layers.Dense(1)]
    )
    return _keras(net, np.int32([[0, 1, 2, 3, 4], [6, 6, 0, 0, 1]]))


def _keras(net, data):
    archive_signature = net.inputs[0].name
    return net, None, {"serving_default": {archive_signature: data}}


def keras_attention(tf):
    """A Keras network with attention and normalization."""
    layers = tf.keras.layers
    given = layers.Input([5, 8])
    mixed = layers.LayerNormalization()(given + layers.MultiHeadAttention(2, 4)(given, given))
    net = tf.keras.Model(given, layers.Bidirectional(layers.GRU(3))(mixed))
    return _keras(net, np.linspace(-1, 1, 80, dtype=np.float32).reshape(2, 5, 8))


def text(tf):
    """Strings that are cut into words and counted, by a function alone."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "lines")])
    def serve(lines):
        words = tf.strings.split(tf.strings.regex_replace(tf.strings.lower(lines), "[.,]", " "))
        ids = tf.strings.to_hash_bucket_fast(words.flat_values, 10)
        return {
            "lengths": words.row_lengths(),
            "table": words.to_tensor("-"),
            "counts": tf.math.bincount(tf.cast(ids, tf.int32), minlength=10, maxlength=10),
        }

    return _function(tf, serve, {"lines": np.array(["Hello, world.", "", "a b c"])})


def examples(tf):
    """Serialized Examples, dense, sparse and ragged."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "examples")])
    def serve(examples):
        io = tf.io
        spec = {
            "dense": io.FixedLenFeature([2], tf.float32, [0.5, 1.5]),
            "sparse": io.VarLenFeature(tf.string),
            "ragged": io.RaggedFeature(tf.int64),
        }
        parsed = io.parse_example(examples, spec)
        sparse, ragged = parsed["sparse"], parsed["ragged"]
        return {
            "dense": parsed["dense"],
            "sparse": tf.sparse.to_dense(sparse, ""),
            "values": ragged.flat_values,
            "splits": ragged.row_splits,
        }

    def example(**lists):
        made = {key: tf.train.Feature(**{kind: value}) for key, (kind, value) in lists.items()}
        return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()

    numbers, words = tf.train.Int64List(value=[4, 5]), tf.train.BytesList(value=[b"x"])
    floats = tf.train.FloatList(value=[2, 3])
    rows = [
        example(dense=("float_list", floats), ragged=("int64_list", numbers)),
        example(sparse=("bytes_list", words)),
    ]
    return _function(tf, serve, {"examples": np.array(rows, object)})


def choices(tf):
    """One function of several, matrices and their diagonals."""

    @tf.function(input_signature=[tf.TensorSpec([3, 3], tf.float32, "x")])
    def serve(x):
        index = tf.cast(tf.reduce_sum(x) > 0.0, tf.int32)
        chosen = tf.switch_case(index, [lambda: x * 2.0, lambda: tf.linalg.inv(x + 5.0 * tf.eye(3))])
        band = tf.linalg.diag_part(x, k=(-1, 2))
        return {
            "chosen": chosen,
            "band": band,
            "set": tf.linalg.set_diag(x, tf.ones([2, 3]), k=(0, 1), align="LEFT_RIGHT"),
            "diag": tf.linalg.diag(band, k=(-1, 2), num_rows=3, num_cols=3),
        }

    return _function(tf, serve, {"x": np.arange(9, dtype=np.float32).reshape(3, 3)})


def _function(tf, serve, inputs):
    m = tf.Module()
    m.serve = serve
    return m, {"serving_default": serve}, {"serving_default": inputs}


def lookup(tf):
    """A table that is filled from an asset when the model is loaded."""

    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.words = tf.saved_model.Asset(_file("words", "a\nb\nc\n"))
            self.table = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(
                    self.words,
                    tf.string,
                    tf.lookup.TextFileIndex.WHOLE_LINE,
                    tf.int64,
                    tf.lookup.TextFileIndex.LINE_NUMBER,
                ),
                -1,
            )

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "words")])
        def serve(self, words):
            return {"ids": self.table.lookup(words)}

    m = Module()
    return m, {"serving_default": m.serve}, {"serving_default": {"words": np.array(["c", "x", "a"])}}


_FOLDER = []


def _file(name, text):
    path = os.path.join(_FOLDER[0], name)
    with open(path, "w") as stream:
        stream.write(text)
    return path


_NETWORKS = (keras_dense, keras_images, keras_sequences, keras_attention)
MODELS = {f.__name__: f for f in (module, *_NETWORKS, text, examples, choices, lookup)}


def write(tf, folder):
    """Each model, and beside it what its signatures answer."""
    _FOLDER.append(folder)
    os.makedirs(folder)
    for name, build in MODELS.items():
        tf.random.set_seed(7)
        model, signatures, inputs = build(tf)
        path = os.path.join(folder, name)
        if hasattr(model, "export"):
            model.export(path, verbose=False)
        else:
            tf.saved_model.save(model, path, signatures)
        loaded = tf.saved_model.load(path)
        answers = {}
        for key, feeds in inputs.items():
            function = loaded.signatures[key]
            names = list(function.structured_input_signature[1])
            fed = dict(zip(names, map(tf.constant, feeds.values())))
            outputs = {k: v.numpy() for k, v in function(**fed).items()}
            answers[key] = ({k: v.numpy() for k, v in fed.items()}, outputs)
        with open(os.path.join(folder, name + ".answers"), "wb") as stream:
            pickle.dump(answers, stream, protocol=4)


def read(tf, folder, results):
    """What each model answers as an object."""
    answers = {}
    for name in os.listdir(folder):
        path = os.path.join(folder, name, "model")
        if not os.path.isdir(path) or name == "sparse":  # which TensorFlow 2 does not take
            continue
        serve = tf.saved_model.load(path).signatures["serving_default"]
        (spec,) = serve.structured_input_signature[1].values()
        feed = ["c", "zz", "a"] if spec.dtype == tf.string else INPUT
        answers[name] = {key: value.numpy().tolist() for key, value in serve(tf.constant(feed)).items()}
    with open(results, "wb") as stream:
        pickle.dump(answers, stream, protocol=4)


if __name__ == "__main__":
    import tensorflow

    {"write": write, "read": read}[sys.argv[2]](tensorflow, *sys.argv[3:])
