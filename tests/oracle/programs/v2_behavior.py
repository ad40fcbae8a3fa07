"""Programs that ask for TensorFlow 2's behaviour, and take its names from tf.compat.v2."""

import glob
import os
import tempfile

from keras_models import close
from kit import cases, normal, raises

EAGER = True


def _with(tf, name, program):
    """Runs a program with one of the behaviours."""
    getattr(tf, "enable_" + name)()
    try:
        return program()
    finally:
        getattr(tf, "disable_" + name)()


def equality(tf, np):
    def program():
        a, b, v = tf.constant([1, 2, 3]), tf.constant([1, 0, 3]), tf.Variable([1.0, 2.0])

        @tf.function
        def chosen(x, y):
            if x == y:
                return x * 10
            return y

        with tf.Graph().as_default():
            c = tf.constant(1)
            in_graph = [c == tf.constant(1), c == c, c != c, isinstance(hash(c), int)]
        return [
            [a == b, a != b, a == [1, 2, 4], a == 1, v == [1.0, 3.0], v != v],
            [a in [a], raises(lambda: a in [b]), raises(lambda: a == tf.constant([1, 2]))],
            [raises(lambda: {a: 1}), raises(lambda: {v}), a.experimental_ref() in {a.experimental_ref()}],
            [chosen(tf.constant(1), tf.constant(1)), chosen(tf.constant(1), tf.constant(2))],
            in_graph,
        ]

    return _with(tf, "tensor_equality", program) + [tf.constant(1) == tf.constant(1)]


def shapes(tf, np):
    def program():
        shape = tf.TensorShape([None, 2])
        x = tf.keras.Input((3,))
        return [
            [shape[0], shape[1], list(shape), shape[1:], str(shape), repr(shape), repr(tf.TensorShape(None))],
            [tf.TensorShape(None)[0], tf.ones([2, 3]).shape[1], x.shape[0], type(x.shape[1]).__name__],
            [tf.compat.dimension_at_index(shape, 1).value, tf.dimension_value(shape[1])],
        ]

    return _with(tf, "v2_tensorshape", program) + [repr(tf.TensorShape([None, 2]))]


def _calls(tf, np):
    v2 = tf.compat.v2
    x = v2.constant([[1.0, 2.0], [3.0, 4.0]])
    images = v2.reshape(v2.range(16.0), [4, 4, 1])
    words = v2.constant(["a b", "c"])
    return {
        "argmax": lambda: v2.argmax(x, 1, v2.int32),
        "gather": lambda: v2.gather(x, [1], None, 1),
        "conv2d": lambda: v2.nn.conv2d(v2.ones([1, 4, 4, 1]), v2.ones([2, 2, 1, 1]), 1, "VALID"),
        "conv1d": lambda: v2.nn.conv1d(v2.ones([1, 4, 1]), v2.ones([2, 1, 1]), 1, "VALID"),
        "max_pool": lambda: v2.nn.max_pool(v2.reshape(images, [1, 4, 4, 1]), 2, 2, "SAME"),
        "convolution": lambda: v2.nn.convolution(v2.ones([1, 4, 1]), v2.ones([2, 1, 1])),
        "softmax": lambda: v2.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], [[1.0, 2.0]]),
        "in_top_k": lambda: v2.nn.in_top_k([1], [[0.0, 1.0]], 1),
        "where": lambda: v2.where(x > 2, 1.0, 0.0),
        "moments": lambda: v2.nn.moments(x, [0], None, True),
        "pad": lambda: v2.pad(x, [[1, 0], [0, 0]], "CONSTANT", 9.0),
        "transpose": lambda: v2.transpose(x, None, True),
        "zeros_like": lambda: v2.zeros_like(input=x),
        "confusion": lambda: v2.math.confusion_matrix([1, 0], [1, 1], 2, [2, 3]),
        "while": lambda: v2.while_loop(lambda i: i < 3, lambda i: [i + 1], [v2.constant(0)]),
        "cond": lambda: v2.cond(x[0, 0] > 0, lambda: v2.constant(1), lambda: v2.constant(2)),
        "substr": lambda: v2.strings.substr("hello", 1, 2, "BYTE"),
        "split": lambda: [v2.strings.split(words).to_list(), v2.strings.split("a b")],
        "decode_raw": lambda: v2.io.decode_raw(["abc"], v2.uint8, fixed_length=4),
        "sparse": lambda: v2.sparse.reduce_sum(v2.sparse.from_dense(x), 1),
        "embedding": lambda: v2.nn.embedding_lookup([x[:1], x[1:]], [1]),
        "dropout": lambda: v2.nn.dropout(x, 0.0),
        "squeeze": lambda: v2.squeeze(x[:1], 0),
        "boolean_mask": lambda: v2.boolean_mask(x, [True, False], 1),
        "losses": lambda: [v2.losses.MeanSquaredError()(x, x + 1.0), v2.losses.mae(x, x)],
        "metrics": lambda: v2.metrics.Mean()(x),
        "initializers": lambda: v2.initializers.Constant(2.0)([2]),
        "recurrent": lambda: [
            v2.keras.layers.LSTM(2).get_config()["recurrent_activation"],
            v2.keras.layers.GRU(2).get_config()["reset_after"],
        ],
        "left out": lambda: [hasattr(v2, "placeholder"), hasattr(v2.nn, "xw_plus_b"), hasattr(v2, "Session")],
        "version 1": lambda: v2.compat.v1.placeholder.__name__,
        "random": lambda: [v2.random.set_seed(3), v2.random.uniform([2])],
        "no image": lambda: raises(v2.image.resize, images, [2, 2], "unheard of"),
    }


@cases(
    *"argmax gather conv2d conv1d max_pool convolution softmax in_top_k where moments pad transpose".split(),
    *"zeros_like confusion while cond substr split decode_raw sparse embedding dropout squeeze".split(),
    *"boolean_mask losses metrics initializers recurrent random".split(),
    *["left out", "version 1", "no image"],
)
def names(tf, np, name):
    return _calls(tf, np)[name]()


@cases(*"bilinear nearest bicubic area lanczos3 lanczos5 gaussian mitchellcubic".split())
def resized(tf, np, method):
    v2 = tf.compat.v2
    images = v2.reshape(v2.range(32.0), [1, 4, 8, 1])
    found = [v2.image.resize(images, size, method) for size in ([3, 5], [8, 8], [4, 8])]
    found += [v2.image.resize(images, [3, 3], method, preserve_aspect_ratio=True, antialias=True)]
    return close(found + [v2.image.resize_with_pad(images[0], 6, 6, method)])


def summaries(tf, np):
    v2, folder = tf.compat.v2, tempfile.mkdtemp()
    writer = v2.summary.create_file_writer(folder)
    with writer.as_default():
        said = [
            v2.summary.scalar("loss", 0.5, step=1),
            v2.summary.histogram("different", [1.0, 2.0, 4.0], step=1, buckets=3),
            v2.summary.histogram("same", [2.0, 2.0], step=1),
            v2.summary.histogram("none", np.zeros([0]), step=1),
            v2.summary.text("words", "hi", step=2),
            v2.summary.image("picture", np.ones([1, 2, 2, 3], np.float32), step=2),
            v2.summary.audio("sound", np.zeros([1, 8, 1], np.float32), 8, step=1),
            raises(v2.summary.scalar, "no step", 1.0),
        ]
        with v2.name_scope("scope"), v2.summary.record_if(True):
            v2.summary.scalar("inner", 1, step=3)
        with v2.summary.record_if(False):
            v2.summary.scalar("left out", 1, step=3)
        v2.summary.experimental.set_step(7)
        v2.summary.scalar("step", 1)
        v2.summary.experimental.set_step(None)
    writer.close()
    (file,) = glob.glob(os.path.join(folder, "*"))
    found = []
    for event in tf.train.summary_iterator(file):
        for value in event.summary.value:
            plugin, array = value.metadata.plugin_data, tf.make_ndarray(value.tensor)
            shown = array if plugin.plugin_name in ("scalars", "histograms", "text") else array.shape
            found.append([event.step, value.tag, plugin.plugin_name, plugin.content, shown])
    return [said, found]


def gradients(tf, np):
    x = [normal(np, 2, 2), normal(np, 2)]
    taped, numeric = tf.compat.v2.test.compute_gradient(lambda a, b: tf.sin(a) * b, x)
    return [close(list(taped)), [np.abs(a - b).max() < 1e-3 for a, b in zip(taped, numeric)]]
