"""Corners of the public API: what is said, and when, where a value or a type does not fit."""

from kit import cases, raises, run


def _result(tf, build):
    """What is built, and its value; or the error, and when it came."""
    made = []
    error = raises(lambda: made.append(build()))
    if not made:
        return ["while the graph is built", error]
    try:
        return [made[0], run(tf, made[0])]
    except Exception as failed:
        return ["while a step runs", raises(_again, failed)]


def _again(error):
    raise error


# ---------------------------------------------------------------------------------- types of values


@cases(
    {
        "number and text": lambda tf: tf.add(1, "a"),
        "text compared": lambda tf: tf.constant(1.0) < "a",
        "number for bool": lambda tf: tf.logical_and(1, 0),
        "number for string": lambda tf: tf.string_to_number([1]),
        "lists of two types": lambda tf: tf.concat([[1], ["a"]], 0),
        "number in a list of strings": lambda tf: tf.string_join([1, "a"]),
        "tensor in a list of strings": lambda tf: tf.string_join([tf.constant(1)]),
        "text assigned": lambda tf: tf.Variable(1.0).assign("a"),
        "bool for float": lambda tf: tf.constant([True, 1.0], tf.float32),
        "bool for complex": lambda tf: tf.constant(True, tf.complex64),
        "float and bool": lambda tf: tf.constant(1.0) + True,
        "object": lambda tf: tf.convert_to_tensor({"a": 1}),
    }
)
def values_of_types(tf, np, build):
    return _result(tf, lambda: build(tf))


# ---------------------------------------------------------------------------------- when a check fails


@cases(
    {
        "constant": lambda tf: 1,
        "shape": lambda tf: tf.shape([1, 2]),
        "rank": lambda tf: tf.cast(tf.rank([1, 2]), tf.int32),
        "range": lambda tf: tf.range(2),
        "stack": lambda tf: tf.stack([1, 2]),
        "identity": lambda tf: tf.identity(1),
        "sum": lambda tf: tf.constant(1) + 1,
        "slice": lambda tf: tf.constant([1, 2])[0],
        "cast of a sum": lambda tf: tf.cast(tf.reduce_sum([1, 1]), tf.int32),
    }
)
def assertion(tf, np, value):
    return _result(tf, lambda: tf.assert_equal(value(tf), 7))


def confusion_of_labels_out_of_bound(tf, np):
    return _result(tf, lambda: tf.confusion_matrix([0, 5], [1, 1], 3))


@cases({"splits": ([0, 3],), "turned": ([1, 2],)})
def ragged_splits(tf, np, splits):
    return _result(tf, lambda: tf.RaggedTensor.from_row_splits([1, 2], splits).to_tensor())


# ---------------------------------------------------------------------------------- composites


def _twice(tf, value, axis=0):
    if isinstance(value, tf.SparseTensor):
        return tf.sparse_concat(axis, [value, value])
    if isinstance(value, tf.IndexedSlices):
        parts = [tf.concat([part, part], 0) for part in (value.values, value.indices)]
        return tf.IndexedSlices(parts[0], parts[1], value.dense_shape)
    return tf.concat([value, value], axis)


@cases(
    {
        "sparse": (lambda tf: tf.SparseTensor([[0, 1]], [1], [2, 3]), 0, "none given"),
        "sparse of rank 2": (lambda tf: tf.SparseTensor([[0, 1]], [1], [2, 3]), 0, [2]),
        "sparse of any rank": (lambda tf: tf.SparseTensor([[0, 1]], [1], [2, 3]), 0, None),
        "sparse of a wrong shape": (lambda tf: tf.SparseTensor([[0, 1]], [1], [2, 3]), 0, [2, 3]),
        "ragged": (lambda tf: tf.ragged.constant([[1], [2, 3]]), 1, "none given"),
        "ragged twice": (lambda tf: tf.ragged.constant([[[1]], [[2], [3]]]), 2, "none given"),
        "rows of a ragged": (lambda tf: tf.ragged.constant([[1], [2, 3]]), 0, "none given"),
        "any rows of a ragged": (lambda tf: tf.ragged.constant([[1], [2, 3]]), 0, [None, None]),
        "ragged of a wrong shape": (lambda tf: tf.ragged.constant([[1], [2, 3]]), 0, [5, None]),
        "slices": (lambda tf: tf.IndexedSlices(*map(tf.constant, ([[1.0]], [0], [3, 1]))), 0, [None, 1]),
    }
)
def loop_of(tf, np, make, axis, invariant):
    value = make(tf)
    shapes = None if invariant == "none given" else [tf.TensorShape([]), tf.TensorShape(invariant)]

    def build():
        done = tf.while_loop(
            lambda i, v: i < 2, lambda i, v: (i + 1, _twice(tf, v, axis)), [0, value], shape_invariants=shapes
        )[1]
        return done.values if isinstance(done, (tf.SparseTensor, tf.IndexedSlices)) else done.flat_values

    return _result(tf, build)


@cases(True, False)
def ragged_result_of_cond(tf, np, which):
    rows = tf.ragged.constant([[1], [2, 3]])
    chosen = tf.placeholder_with_default(which, [])
    result = tf.cond(chosen, lambda: (rows, 1), lambda: (rows + 1, 2))
    return [result[0].values, result[0].row_splits, run(tf, [result[0].to_tensor(), result[1]])]


def gradient_through_a_loop_of_ragged_rows(tf, np):
    rows = tf.ragged.constant([[1.0], [2.0, 3.0]])
    done = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v * 2.0), [0, rows])[1]
    return run(tf, tf.gradients(done.values, rows.values))


# ---------------------------------------------------------------------------------- shapes and arguments


@cases(
    {
        "biases": lambda tf, unknown: tf.nn.bias_add(unknown([[1.0, 2.0]]), unknown([1.0])),
        "select": lambda tf, unknown: tf.where(
            unknown([True, False, True]), unknown([1, 2]), unknown([3, 4])
        ),
        "stitch": lambda tf, unknown: tf.dynamic_stitch([[0], [1]], [[1], [[2]]]),
        "scatter into a scalar": lambda tf, unknown: tf.scatter_nd([[0]], [1], []),
        "scatter by long indices": lambda tf, unknown: tf.scatter_nd([[0, 1]], [[1]], [4]),
        "roll": lambda tf, unknown: tf.roll([1], [1, 2], 0),
        "repeat": lambda tf, unknown: tf.repeat([[1, 2]], 2, axis=5),
        "blocks": lambda tf, unknown: tf.space_to_batch(tf.ones([1, 2, 2, 1]), [[0, 0]], 2),
        "default of another shape": lambda tf, unknown: tf.placeholder_with_default([1, 2], [3]),
        "split of a scalar": lambda tf, unknown: tf.TensorArray(tf.float32, 2).split(1.0, [1, 1]).flow,
        "vector as condition": lambda tf, unknown: tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2),
        "cond without results": lambda tf, unknown: tf.cond(tf.constant(True), lambda: [], lambda: []),
        "loop without variables": lambda tf, unknown: tf.while_loop(lambda: True, lambda: 1, None),
        "lengths of ctc": lambda tf, unknown: tf.nn.ctc_loss(
            tf.SparseTensor([[0, 0]], [0], [1, 1]), tf.zeros([2, 1, 3]), [5]
        ),
        "assign to a constant": lambda tf, unknown: tf.assign(tf.constant(1.0), 2.0),
        "object of py_func": lambda tf, unknown: tf.py_func(lambda: object(), [], tf.int64),
    }
)
def refused(tf, np, build):
    return _result(tf, lambda: build(tf, lambda value: tf.placeholder_with_default(value, None)))


def tuple_of_numbers(tf, np):
    return run(tf, tf.tuple([1, tf.constant(2.0)]))


def names_of_hessians(tf, np):
    x = tf.constant([1.0, 2.0])
    return [tf.hessians(x * x, x), run(tf, tf.hessians(x * x, x))]


@cases({"of one": 1, "of two": 2})
def weights_of_samples(tf, np, count):
    sources = [tf.data.Dataset.range(2)] * count
    return raises(tf.data.experimental.sample_from_datasets, sources, [0.2, 0.3, 0.5])
