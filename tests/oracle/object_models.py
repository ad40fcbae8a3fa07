"""Objects with functions that one engine saves and another loads: see test_object_models.py.

Each model is a function that makes an object, and one that uses it: the original, and what was loaded of it,
must give the same.

python object_models.py MODULE write FOLDER
python object_models.py MODULE read FOLDER RESULTS
python object_models.py MODULE run FOLDER RESULTS       (the signatures, in a graph)
"""

import collections
import os
import pickle
import sys

import numpy as np

Pair = collections.namedtuple("Pair", "left right")


def _numpy(value):
    if isinstance(value, dict):
        return {key: _numpy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_numpy(item) for item in value]
    if hasattr(value, "to_list"):
        return value.to_list()
    if hasattr(value, "dense_shape"):
        return [value.indices.numpy(), value.values.numpy(), value.dense_shape.numpy()]
    return value.numpy() if hasattr(value, "numpy") else value


# ------------------------------------------------------------------------------------------------ models


class Variables:
    """Variables at all kinds of places, a function for one signature and one for many, a call in a call."""

    def build(tf, folder):
        class Module(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
                self.b = tf.Variable([0.5, 0.5], trainable=False, name="b")
                self.parts = [tf.Variable(1.0), tf.Variable(2.0)]
                self.named = {"a": tf.Variable(3.0)}
                self.c = tf.constant([10.0, 20.0])

            @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
            def serve(self, x):
                return {"y": tf.matmul(x, self.w) + self.b + self.c}

            @tf.function
            def many(self, x, scale=2, flag=False):
                if flag:
                    return x * scale
                return self.inner(x) * scale + self.parts[0]

            @tf.function
            def inner(self, x):
                return tf.reduce_sum(tf.matmul(x, self.w) ** 2)

        m = Module()
        m.sub = tf.Module()
        m.sub.shared = m.parts[1]
        m.sub.up = m
        return m

    def use(tf, m):
        x = tf.constant([[1.0, 2.0]])
        with tf.GradientTape() as tape:
            y = m.many(tf.ones([2, 2]))
        grads = tape.gradient(y, [m.w, m.parts[0]])
        m.w.assign_add(m.w)
        answers = [m.serve(x), m.many(tf.ones([2, 2]), flag=True), m.many(tf.ones([3, 2]), 3), y, grads]
        m.w.assign(m.w / 2.0)
        trained = [bool(v.trainable) for v in (m.w, m.b, m.parts[0], m.named["a"])]
        return [*answers, trained, m.sub.shared is m.parts[1], m.sub.up is m, m.w.name]

    signature = {"x": np.float32([[1, 2]])}


class Structures:
    """Arguments and results in dictionaries, lists and tuples, defaults, and arguments by name."""

    def build(tf, folder):
        m = tf.Module()

        @tf.function
        def f(pair, options, *rest, **named):
            total = pair[0] + options["b"][1] * 2.0 + rest[0] + named["last"]
            return {"total": total, "none": None, "both": [total, Pair(pair[1], options["a"])]}

        @tf.function
        def g(x, y=None, sign=1):
            if y is None:
                return x if sign == 1 else -x
            return x + y

        m.f, m.g = f, g
        return m

    def use(tf, m):
        one = tf.constant(1.0)
        found = m.f((one, one + 1.0), {"a": one * 3.0, "b": [one, one * 4.0]}, one * 5.0, last=one * 6.0)
        both = found["both"]
        more = [m.g(one), m.g(one, one), m.g(one, sign=-1), m.g(x=one, y=one + 2.0)]
        return [found["total"], found["none"], both[0], both[1].left, both[1].right, more]

    signature = None


class ControlFlow:
    """Loops and conditionals over tensors, by AutoGraph."""

    def build(tf, folder):
        m = tf.Module()
        m.v = tf.Variable(0.5)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32, "x"), tf.TensorSpec([], tf.int32, "n")])
        def f(x, n):
            for i in tf.range(n):
                if tf.equal(i % 2, 0):
                    x = x * 2.0 + m.v
                else:
                    x = tf.sin(x)
            while x > 1.0:
                x = x / 2.0
            return x

        m.f = f
        return m

    def use(tf, m):
        return [m.f(tf.constant(1.5), tf.constant(n)) for n in (5, 0)]

    signature = {"x": np.float32(1.5), "n": np.int32(4)}


class Gradients(ControlFlow):
    """The same, differentiated."""

    def use(tf, m):
        x = tf.constant(1.5)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = m.f(x, tf.constant(5))
        return [y, tape.gradient(y, [x, m.v])]


class Tables:
    """Tables over a file and over tensors: both are there when the model is loaded."""

    def build(tf, folder):
        path = os.path.join(folder, "words.txt")
        with open(path, "w") as stream:
            stream.write("a\nb\nc\n")
        m = tf.Module()
        index = tf.lookup.TextFileIndex
        m.words = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER), -1
        )
        m.numbers = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(
                tf.constant([0, 2], tf.int64), tf.constant([5.0, 7.0], tf.float32)
            ),
            0.5,
        )

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "words")])
        def f(words):
            ids = m.words.lookup(words)
            return {"ids": ids, "values": m.numbers.lookup(ids)}

        m.f = f
        return m

    def use(tf, m):
        return [m.f(tf.constant(["c", "zz", "a", "b"]))]

    signature = {"words": np.array(["c", "zz", "a"])}


class Composites:
    """Sparse and ragged tensors, in and out."""

    def build(tf, folder):
        m = tf.Module()

        @tf.function
        def f(sparse, ragged):
            return tf.sparse.to_dense(sparse) * 2.0, ragged * 2

        m.f = f
        return m

    def use(tf, m):
        sparse = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
        return list(m.f(sparse, tf.ragged.constant([[1, 2], [], [3]])))

    signature = None


class Training:
    """A step that trains, with what the optimizer keeps."""

    def build(tf, folder):
        m = tf.Module()
        m.w = tf.Variable([1.0, -2.0], name="weights")
        m.optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
        m.steps = tf.Variable(0, dtype=tf.int64)

        @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, "x")])
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((m.w * x - 1.0) ** 2)
            m.optimizer.apply_gradients([(tape.gradient(loss, m.w), m.w)])
            m.steps.assign_add(1)
            return loss

        m.step = step
        return m

    def use(tf, m):
        start = [m.w.numpy(), m.steps.numpy()]
        losses = [m.step(tf.constant([1.0, 2.0])) for _ in range(3)]
        end = m.w.numpy()
        m.w.assign(start[0])
        m.steps.assign(start[1])
        return [start, losses[:1], end.shape]

    signature = {"x": np.float32([1, 2])}


class Callables:
    """An object that is called, a function traced once, and one without results."""

    def build(tf, folder):
        class Callable(tf.Module):
            def __init__(self):
                super().__init__()
                self.count = tf.Variable(0.0)

            @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
            def __call__(self, x):
                return x + 1.0

            @tf.function(input_signature=[])
            def grow(self):
                self.count.assign_add(1.0)

        m = Callable()
        m.once = m.__call__.get_concrete_function()
        return m

    def use(tf, m):
        x = tf.constant([1.0, 2.0])
        before = m.count.numpy()
        m.grow()
        m.grow()
        grown = m.count.numpy() - before
        m.count.assign(0.0)
        return [m(x), m.once(x), grown]

    signature = None  # several functions could be it


MODELS = (Variables, Structures, ControlFlow, Gradients, Tables, Composites, Training, Callables)
NOT_OF_TENSORFLOW_2 = (Training,)  # whose Keras keeps slots in another way
# TensorFlow differentiates loops only if their first two variables are its own: it runs other loops.
ONLY_READ_HERE = (Gradients,)


# ------------------------------------------------------------------------------------------------ engines


def _engine(module):
    if module == "tideflow":
        import tideflow as tf
    else:
        import tensorflow as tf
    modern = not hasattr(tf, "Session")
    if not modern:
        (tf.enable_eager_execution if module == "tideflow" else tf.enable_v2_behavior)()
    return tf, modern


def write(module, folder):
    tf, modern = _engine(module)
    os.makedirs(folder)
    answers = {}
    for model in MODELS:
        if modern and model in NOT_OF_TENSORFLOW_2:
            continue
        made = model.build(tf, folder)
        answers[model.__name__] = _numpy(model.use(tf, made))
        tf.saved_model.save(made, os.path.join(folder, model.__name__))
    _keep(answers, os.path.join(folder, "answers"))


def read(module, folder, results):
    tf, modern = _engine(module)
    load = tf.saved_model.load if modern else tf.saved_model.load_v2
    answers = {}
    for model in MODELS:
        path = os.path.join(folder, model.__name__)
        if os.path.isdir(path) and not (module != "tideflow" and model in ONLY_READ_HERE):
            loaded = load(path)
            answers[model.__name__] = _numpy(model.use(tf, loaded))
            again = os.path.join(results + ".again", model.__name__)
            tf.saved_model.save(loaded, again)
            answers[model.__name__ + " again"] = _numpy(model.use(tf, load(again)))
    _keep(answers, results)


def run(module, folder, results):
    """What the signatures answer in a graph."""
    if module == "tideflow":
        import tideflow as tf
    else:
        import tensorflow as tf
    tf = tf if hasattr(tf, "Session") else tf.compat.v1
    answers = {}
    for model in MODELS:
        path = os.path.join(folder, model.__name__)
        if model.signature is None or not os.path.isdir(path):
            continue
        with tf.Graph().as_default(), tf.Session() as session:
            message = tf.saved_model.load(session, ["serve"], path)
            signature = message.signature_def["serving_default"]
            feeds = {signature.inputs[key].name: value for key, value in model.signature.items()}
            fetches = {key: info.name for key, info in signature.outputs.items()}
            answers[model.__name__] = session.run(fetches, feeds)
    _keep(answers, results)


def _keep(answers, path):
    with open(path, "wb") as stream:
        pickle.dump(answers, stream, protocol=4)


if __name__ == "__main__":
    {"write": write, "read": read, "run": run}[sys.argv[2]](sys.argv[1], *sys.argv[3:])
