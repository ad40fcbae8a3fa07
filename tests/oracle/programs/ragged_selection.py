"""Ragged tensors in functions that were made for dense ones; sparse and odd arguments of others."""

from kit import cases, raises, run

_ROWS = [[1, 2], [3], []]
_DEEP = [[[0, 1], [2]], [[3], [4, 5, 6], [7]], [[], [8]]]


def _evaluated(tf, tensor):
    with tf.Session() as session:
        value = session.run(tensor)
    return value.to_list() if hasattr(value, "to_list") else value


@cases(
    {
        "a row": (_ROWS, [0]),
        "elements": (_ROWS, [[0, 1], [1, 0]]),
        "rows": (_ROWS, [[0], [2]]),
        "lists of elements": (_ROWS, [[[0, 1]], [[1, 0]]]),
        "lists of rows": (_ROWS, [[[0], [1]], [[2], [0]]]),
        "tables": (_DEEP, [[2], [0]]),
        "deep rows": (_DEEP, [[2, 1], [0, 0]]),
        "deep elements": (_DEEP, [[0, 0, 1], [1, 1, 2]]),
        "lists of deep rows": (_DEEP, [[[0, 0], [1, 1]], [[2, 1], [1, 0]]]),
    }
)
def index_vectors(tf, np, data, indices):
    taken = tf.gather_nd(tf.ragged.constant(data), tf.constant(indices, tf.int64))
    return [_evaluated(tf, taken), taken.shape, taken.dtype]


def index_vectors_of_size_zero(tf, np):
    taken = tf.gather_nd(tf.ragged.constant(_ROWS), tf.zeros([2, 0], tf.int64))
    return _evaluated(tf, taken)


def ragged_index_vectors(tf, np):
    indices = tf.ragged.constant([[[0, 0]], [[1, 0], [0, 1]]], ragged_rank=1)
    dense = tf.constant([[1, 2], [3, 4]])
    return [_evaluated(tf, tf.gather_nd(params, indices)) for params in (tf.ragged.constant(_ROWS), dense)]


def refused_index_vectors(tf, np):
    ragged = tf.ragged.constant(_ROWS)
    unknown = tf.placeholder(tf.int64), tf.placeholder(tf.int64, [None, None])
    return [
        raises(tf.gather_nd, ragged, ragged),
        raises(tf.gather_nd, ragged, 0),
        [raises(tf.gather_nd, ragged, indices) for indices in unknown],
        raises(tf.gather_nd, ragged, [[0]], batch_dims=1),
        raises(tf.gather_nd, tf.constant([[1, 2], [3, 4]]), ragged),
        raises(tf.batch_gather, tf.constant([1, 2]), 0),
    ]


@cases(
    {
        "first": ([[[1], [2]]], [0]),
        "rows": ([[1], [2], [3]], 1),
        "first and rows": ([[[1]]], [0, 1]),
        "all": ([[[1]]], [0, 1, 2]),
        "inner": ([[[[1]], [[2]]], [[[3]]]], [2]),
        "last": ([[[1], [2]], [[3]]], -1),
        "none": ([[1]], []),
        "a tuple": ([[1], [2]], (1,)),
    }
)
def squeezed(tf, np, data, axis):
    made = tf.squeeze(tf.ragged.constant(data), axis)
    return [_evaluated(tf, made), made.shape]


def squeezed_inside(tf, np):
    dense = tf.ragged.constant([[[1], [2]], [[3]]], ragged_rank=1)
    return _evaluated(tf, tf.squeeze(dense, [2]))


def refused_squeezes(tf, np):
    ragged = tf.ragged.constant([[1], [2]])
    wide = tf.ragged.constant([[1, 2], [3]])
    return [
        raises(tf.squeeze, ragged),
        raises(tf.squeeze, ragged, "a"),
        raises(tf.squeeze, ragged, [1.5]),
        raises(tf.squeeze, ragged, 5),
        raises(_evaluated, tf, tf.squeeze(wide, 1)),
        raises(_evaluated, tf, tf.squeeze(ragged, 0)),
        _evaluated(tf, tf.squeeze(ragged, squeeze_dims=1)),
    ]


def partitions(tf, np):
    ragged = tf.ragged.constant([["a", "b"], ["c"], [], ["d"]])
    return [
        [_evaluated(tf, part) for part in tf.dynamic_partition(ragged, [1, 0, 1, 0], 3)],
        len(tf.dynamic_partition(ragged, [0, 1, 0, 1], 0)),
        raises(tf.dynamic_partition, ragged, [0, 1, 0, 1], tf.constant(2)),
        raises(tf.dynamic_partition, ragged, [0, 1, 0, 1], -1),
    ]


def single_values_joined(tf, np):
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    return [_evaluated(tf, tf.concat(ragged, 0)), _evaluated(tf, tf.ragged.stack(1.5))]


def given_gradients(tf, np):
    x, imaginary = tf.constant([1.0, 2.0]), tf.constant([1j])
    return [
        raises(tf.gradients, x, x, [tf.constant([1j, 1j])]),
        raises(tf.gradients, imaginary, x, [tf.constant([1.0])]),
        tf.gradients(x, tf.constant(1), [tf.constant([1, 2])]),
    ]


def dense_layers_of_sparse_tensors(tf, np):
    x = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    made = tf.layers.dense(
        x, 2, kernel_initializer=tf.initializers.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    )
    return [made, run(tf, made)]


def odd_arguments(tf, np):
    x = tf.constant([1.0, 2.0])
    sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 3])
    return [
        tf.convert_to_tensor_or_indexed_slices(sparse) is sparse,
        tf.random_shuffle(x, seed=1.5).op.get_attr("seed2"),
        raises(tf.random_shuffle, x, seed="a"),
        tf.nn.leaky_relu(x, None).op.get_attr("alpha"),
        raises(tf.nn.leaky_relu, x, "a"),
        raises(tf.py_function, 3, [], tf.int32),
        tf.get_collection("of nobody", 3),
        tf.layers.AveragePooling2D([2, 2], [2, 2], [0, 1]).padding,
        raises(tf.constant, x),
        raises(tf.constant, [x, x]),
        raises(tf.metrics.accuracy, [[1, 2, 3], [4, 5, 6]], [1, 2]),
        raises(tf.layers.MaxPooling2D, ["a", 2], 1),
        raises(tf.layers.MaxPooling2D, 1.5, 1),
    ]
