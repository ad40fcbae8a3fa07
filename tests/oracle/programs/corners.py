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
