"""Small parts of tf.contrib: slim.pool, framework.BoundedTensorSpec, layers.summaries."""

from kit import cases, product, raises, run


@cases(*product(["MAX", "AVG"], [3, 4, 5], [{}, {"stride": 2}, {"padding": "SAME"}, {"dilation_rate": 2}]))
def pools(tf, np, kind, rank, keywords):
    slim = tf.contrib.slim
    x = tf.constant(
        np.sin(np.arange(2 * 6 ** (rank - 2) * 3)).reshape([2] + [6] * (rank - 2) + [3]), tf.float32
    )
    if rank == 5 and "dilation_rate" in keywords:
        keywords = {}
    y = slim.pool(x, 2, kind, outputs_collections="out", **keywords)
    return [y, run(tf, y), [t.name for t in tf.get_collection("out")]]


def pools_refused(tf, np):
    pool = tf.contrib.slim.pool
    return [raises(pool, tf.zeros([2, 3]), 2, "MAX"), raises(pool, tf.placeholder(tf.float32), 2, "MAX")]


def bounded_specs(tf, np):
    spec = tf.contrib.framework.BoundedTensorSpec
    a = spec([2, 3], tf.int32, 0, (5, 6, 7), "a")
    plain = spec.from_spec(tf.TensorSpec([2], tf.int32, "t"))
    return [
        [a.shape.as_list(), a.dtype, a.minimum, a.maximum, a.name, repr(a)],
        [plain.minimum, plain.maximum, plain.name],
        a == spec([2, 3], tf.int32, 0, (5, 6, 7), "a"),
        a == spec([2, 3], tf.int32, 1, (5, 6, 7), "a"),
        a != spec([2, 3], tf.int32, 0, (5, 6, 7), "b"),
        a.is_compatible_with(tf.zeros([2, 3], tf.int32)),
        raises(spec, [2, 3], tf.int32, None, 3),
        raises(spec, [2, 3], tf.int32, [1, 2], 3),
        raises(spec, [2, 3], tf.int32, 1, [[1], [2], [3]]),
    ]


def summarized(tf, np):
    made = tf.contrib.layers.summaries.summarize_tensor(tf.constant(1.0, name="x"))
    return [
        made.name,
        tf.contrib.layers.summaries.summarize_activation is tf.contrib.layers.summarize_activation,
    ]
