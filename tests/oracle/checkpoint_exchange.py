"""Writes checkpoints with what is in them, or reads those of another engine.

python checkpoint_exchange.py tensorflow|compat.v1|tideflow write FOLDER
python checkpoint_exchange.py tensorflow|compat.v1|tideflow read FOLDER RESULTS
"""

import os
import pickle
import sys

import engine

NUMBERS = (
    "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 uint16 bool complex64 complex128".split()
)
OLD_NUMBERS = "float16 float32 float64 int8 int16 int32 int64 uint8 bool complex64".split()
SHAPES = {"scalar": (), "vector": (5,), "matrix": (3, 4), "empty": (0, 3)}


def _values(np, shape):
    count = int(np.prod(shape))
    return (np.arange(count) % 7 - 3).reshape(shape)


def numbers(tf, np, types=NUMBERS):
    """Every type of numbers, in several shapes."""
    for dtype in types:
        for label, shape in SHAPES.items():
            value = tf.cast(tf.constant(_values(np, shape), tf.float64), dtype)
            tf.Variable(value, name="%s/%s" % (dtype, label))


def strings(tf, np):
    """Strings, empty and long, and none."""
    tf.Variable(np.array([b"", b"x", b"\0\xff", b"long" * 5000], object), name="vector")
    tf.Variable(tf.constant([["a", "b"], ["c", "\u00e9"]]), name="matrix")
    tf.Variable(tf.constant("scalar"), name="scalar")
    tf.Variable(tf.zeros([0, 2], tf.string), name="empty")


def kinds(tf, np):
    """Resource variables and reference variables."""
    tf.get_variable("resource", initializer=np.float32([1, 2]), use_resource=True)
    tf.get_variable("reference", initializer=np.float32([3, 4]), use_resource=False)


def partitioned(tf, np):
    """Variables in parts, along either axis."""
    for axis in (0, 1):
        for resource in (False, True):
            tf.get_variable(
                "axis%d/%s" % (axis, resource),
                shape=[300, 7],
                initializer=tf.random_uniform_initializer(seed=3),
                partitioner=tf.fixed_size_partitioner(3, axis=axis),
                use_resource=resource,
            )


def many(tf, np):
    """More keys than fit a block of the table."""
    for i in range(270):
        tf.Variable(np.int32(i), name="v%03d%s" % (i, "y" * 1000))


def sharded(tf, np):
    """Variables on two devices."""
    with tf.device("/cpu:0"):
        tf.Variable(np.float32([1, 2, 3]), name="a")
    tf.Variable(np.float32([4, 5]), name="b")


def overwritten(tf, np):
    """A checkpoint in the place of another."""
    tf.Variable(np.float32([1, 2, 3]), name="a")


def old(tf, np):
    """The first format."""
    numbers(tf, np, OLD_NUMBERS)
    strings(tf, np)
    tf.get_variable("p", shape=[7, 3], partitioner=tf.fixed_size_partitioner(3))


MODELS = {f.__name__: f for f in (numbers, strings, kinds, partitioned, many, sharded, overwritten, old)}


def _saver(tf, name):
    return tf.train.Saver(sharded=name == "sharded", write_version=1 if name == "old" else 2)


def write(tf, np, folder):
    """A checkpoint of each model."""
    for name, build in MODELS.items():
        with tf.Graph().as_default(), tf.Session() as sess:
            build(tf, np)
            saver = _saver(tf, name)
            sess.run(tf.global_variables_initializer())
            os.makedirs(os.path.join(folder, name))
            for _ in range(2 if name == "overwritten" else 1):
                saver.save(sess, os.path.join(folder, name, "m"), global_step=1)
            values = {v.name: v for v in tf.global_variables()}
            with open(os.path.join(folder, name, "values"), "wb") as stream:
                pickle.dump(_plain(np, sess.run(values)), stream, protocol=2)


def read(tf, np, folder, results):
    """What is read of each checkpoint: by the model's own saver, by its graph, and by name."""
    found = {}
    for name, build in MODELS.items():
        path = tf.train.latest_checkpoint(os.path.join(folder, name))
        with tf.Graph().as_default(), tf.Session() as sess:
            build(tf, np)
            _saver(tf, name).restore(sess, path)
            restored = _plain(np, sess.run({v.name: v for v in tf.global_variables()}))
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.train.import_meta_graph(path + ".meta").restore(sess, path)
            imported = _plain(np, sess.run({v.name: v for v in tf.global_variables()}))
        reader = tf.train.NewCheckpointReader(path)
        names = [] if name == "old" else reader.get_variable_to_shape_map()  # TensorFlow reads few types so
        listed = {key: reader.get_tensor(key) for key in names}
        found[name] = {"restored": restored, "imported": imported, "listed": _plain(np, listed)}
    with open(results, "wb") as stream:
        pickle.dump(found, stream, protocol=2)


def _plain(np, values):
    """Arrays as bytes: what types NumPy has differs."""
    return {name: _encoded(np, np.asarray(value)) for name, value in values.items()}


def _encoded(np, array):
    data = array.ravel().tolist() if array.dtype == object else array.tobytes()
    return array.dtype.name, array.shape, data


if __name__ == "__main__":
    import numpy

    {"write": write, "read": read}[sys.argv[2]](engine.load_engine(sys.argv[1]), numpy, *sys.argv[3:])
