"""What eager mode says of inputs that do not fit: the words of kernels, which see the shapes."""

import os
import tempfile

from kit import cases, raises

EAGER = True

_REFUSED = {
    "matmul": lambda tf, m: tf.matmul(m, tf.ones([3, 4])),
    "concat": lambda tf, m: tf.concat([m, tf.ones([3, 4])], 0),
    "add": lambda tf, m: m + tf.ones([3, 4]),
    "reshape": lambda tf, m: tf.reshape(m, [3, 4]),
    "an index": lambda tf, m: m[5],
    "gather": lambda tf, m: tf.gather(m, [1, 7]),
    "gather of columns": lambda tf, m: tf.gather(m, tf.constant([[0, -1]]), axis=1),
    "gather of nothing": lambda tf, m: tf.gather(tf.zeros([2, 0]), [2]),
    "squeeze": lambda tf, m: tf.squeeze(m, 0),
    "stack": lambda tf, m: tf.stack([m, tf.ones([3])]),
    "expand_dims": lambda tf, m: tf.expand_dims(m, 5),
    "zeros": lambda tf, m: tf.zeros([-1, 2]),
    "softmax_cross_entropy": lambda tf, m: tf.nn.softmax_cross_entropy_with_logits(
        labels=m, logits=tf.ones([2, 3])
    ),
    "boolean_mask": lambda tf, m: tf.boolean_mask(m, [True, False, True]),
    "conv2d": lambda tf, m: tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 3, 1]), 1, "SAME"),
    "where": lambda tf, m: tf.where(m > 0, m, tf.ones([3, 4])),
    "bias_add": lambda tf, m: tf.nn.bias_add(m, tf.ones([3])),
    "cholesky": lambda tf, m: tf.linalg.cholesky(m),
}


@cases({name: name for name in _REFUSED})
def refused(tf, np, name):
    return raises(_REFUSED[name], tf, tf.ones([2, 5]))


def kernels_are_told_apart(tf, np):
    """Calls that look alike: equal numbers of other types, other nesting, other values."""
    m = tf.reshape(tf.range(12.0), [3, 4])
    return [
        [tf.pad(m, [[1, 0], [0, 0]]), tf.pad(m, [[0, 1], [0, 0]]), tf.pad(m, ((1, 0), (0, 0)))],
        [m[1:2], m[1, 2], m[1:2, 2], m[1], m[:, 1], m[..., 1], m[:, None, 1]],
        [tf.split(m, 2, 1), tf.split(m, [1, 3], 1), tf.split(m, [3, -1], 1)],
        [tf.squeeze(m[:1]), tf.squeeze(m[:1], 0), tf.squeeze(m[:1], [0]), tf.squeeze(m[:1, :1], [0, 1])],
        [tf.stack([m, m]), tf.stack((m, m), 1), tf.stack([m, m], -1), tf.stack([1, m[0, 0]])],
        [
            tf.zeros([2], tf.int64),
            tf.zeros([2]),
            tf.ones([]),
            tf.zeros(m.shape, tf.bool),
            tf.ones([2], tf.bool),
        ],
        [tf.zeros_like(m), tf.ones_like(m), tf.zeros_like(m, tf.int32), tf.zeros_like(["a"])],
        [tf.one_hot([0, 2], 3), tf.one_hot([0, 2], 3, dtype=tf.int32), tf.one_hot([0, 2], 3, axis=0)],
        [tf.argmax([[1.0, float("nan"), 3.0], [float("-inf"), float("nan"), 0]], 1), tf.argmin(m, 0)],
        [m * 2.0, m * 2, tf.maximum(m, 5.0), tf.minimum(3.0, m), tf.boolean_mask(m, m > 3)],
        [tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax(m), logits=m)],
        [tf.shape(m), tf.shape(m, out_type=tf.int64), tf.concat([m, m], 1), tf.concat((m, m, m), -1)],
    ]


def tapes_see_known_kernels(tf, np):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(2):  # the second time the kernels are known
        with tf.GradientTape() as tape:
            x = v * 1.0
            parts = [tf.reshape(x, [4])[1:3], tf.squeeze(tf.expand_dims(x, 0), 0)[0], tf.concat([x, x], 0)[3]]
            parts += [tf.gather(x, [1, 1])[0], tf.stack([x, x])[1, 0], tf.split(x, [1, 1], 1)[1][:, 0]]
            y = tf.add_n([part * part for part in parts])
            loss = tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[y]))
        found = tape.gradient(loss, v)
    return found


_VALUES = {
    "text as integers": lambda tf: tf.constant("a", tf.int32),
    "a fraction as an integer": lambda tf: tf.constant([1.5], tf.int64),
    "lists of several lengths": lambda tf: tf.constant([[1.0], [2.0, 3.0]]),
    "None": lambda tf: tf.constant(None),
    "None in a list": lambda tf: tf.constant([1.0, None]),
    "a dictionary": lambda tf: tf.constant({}),
    "numbers and text": lambda tf: tf.constant([1, "a"]),
    "a large integer": lambda tf: tf.constant(2**70),
    "a complex number": lambda tf: tf.constant(1j, tf.float32),
    "a number as a truth": lambda tf: tf.constant(1, tf.bool),
    "too many for the shape": lambda tf: tf.constant([1, 2, 3], shape=[2]),
    "too few for the shape": lambda tf: tf.constant([1, 2], shape=[3]),
    "of an operator": lambda tf: 1.5 * tf.constant([1, 2]),
    "of an operation": lambda tf: tf.add(tf.constant([1, 2]), 1.5),
}


@cases({name: name for name in _VALUES})
def refused_values(tf, np, name):
    return raises(_VALUES[name], tf)


def constants_in_a_shape(tf, np):
    return [tf.constant(2, shape=[2, 2]), tf.constant([1, 2, 3, 4], shape=[2, 2])]


def checkpoints_of_other_shapes(tf, np):
    folder = tempfile.mkdtemp()
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(os.path.join(folder, "c"))
    k = tf.keras
    model, other = (k.Sequential([k.layers.Dense(units, input_shape=(3,))]) for units in (4, 5))
    model.save_weights(os.path.join(folder, "w"))
    return [
        raises(tf.train.Checkpoint(v=tf.Variable([1.0, 2.0, 3.0])).restore, path),
        raises(other.load_weights, os.path.join(folder, "w")),
        raises(other.load_weights, os.path.join(folder, "none")),
    ]


def made_for_graphs_alone(tf, np):
    one = tf.constant(1.0)
    train = tf.train
    calls = [
        lambda: train.Supervisor(),
        lambda: train.QueueRunner(None, []),
        lambda: train.start_queue_runners(),
        lambda: train.import_meta_graph("none"),
        lambda: train.export_meta_graph(),
        lambda: train.batch([one], 1),
        lambda: train.batch_join([[one]], 1),
        lambda: train.shuffle_batch([one], 1, 1, 0),
        lambda: train.shuffle_batch_join([[one]], 1, 1, 0),
        lambda: train.maybe_batch([one], True, 1),
        lambda: train.input_producer([1.0]),
        lambda: train.string_input_producer(["a"]),
        lambda: train.range_input_producer(3),
        lambda: train.slice_input_producer([[1.0]]),
        lambda: tf.TextLineReader(),
        lambda: tf.WholeFileReader(),
        lambda: tf.TFRecordReader(),
        lambda: tf.IdentityReader(),
        lambda: tf.FixedLengthRecordReader(3),
        lambda: tf.summary.merge([]),
        lambda: tf.summary.merge_all(),
        lambda: tf.summary.FileWriter("none"),
    ]
    return [raises(call) for call in calls] + [tf.summary.all_v2_summary_ops()]


def failed_assertions(tf, np):
    a, b = tf.constant([1, 2, 3, 4, 5]), tf.constant([1, 3, 3, 5, 6])
    m = tf.ones([2, 2])
    d = tf.debugging
    calls = [
        lambda: d.assert_equal(a, b),
        lambda: d.assert_equal(a, b, summarize=1, message="said"),
        lambda: d.assert_equal(a, b, summarize=-1),
        lambda: d.assert_equal(a, b, data=["given", a, m]),
        lambda: d.assert_equal(1, 2),
        lambda: d.assert_equal(a, 1),
        lambda: d.assert_equal(m, 2.0),
        lambda: d.assert_none_equal(a, b),
        lambda: d.assert_less(a, b),
        lambda: d.assert_greater(m, 2 * m),
        lambda: d.assert_less_equal(b, a),
        lambda: d.assert_greater_equal(a, b),
        lambda: d.assert_positive(-m),
        lambda: d.assert_negative(a, message="said"),
        lambda: d.assert_non_negative(-a, summarize=2),
        lambda: d.assert_non_positive(a),
        lambda: d.assert_near(m, m + 1),
        lambda: d.assert_rank(m, 1),
        lambda: d.assert_rank_at_least(m, 3, message="said"),
        lambda: d.assert_rank_in(m, [0, 1]),
        lambda: d.assert_integer(m),
        lambda: d.assert_type(m, tf.int32),
        lambda: d.assert_scalar(m),
        lambda: d.assert_shapes([(m, ("a", "b")), (a, ("a",))]),
        lambda: tf.Assert(False, [1]),
        lambda: tf.Assert(tf.equal(a[0], 2), [a, "text", m], summarize=2),
        lambda: tf.Assert(False, [a, m], summarize=-1),
        lambda: tf.Assert(False, [a, 1], summarize=0),
        lambda: tf.case([(tf.constant(False), lambda: a), (tf.constant(False), lambda: b)], exclusive=True),
    ]
    held = [
        d.assert_equal(a, a),
        d.assert_equal(1, 1),
        d.assert_less(a, a + 1),
        d.assert_positive(a),
        d.assert_near(m, m),
        tf.Assert(True, [1]),
    ]
    return [raises(call) for call in calls] + [each is None for each in held]


def python_functions_that_fail(tf, np):
    def fails(error):
        def function(x):
            raise error

        return raises(lambda: tf.py_function(function, [1.0], tf.float32))

    errors = [
        ZeroDivisionError("a"),
        ValueError("b"),
        TypeError("c"),
        StopIteration("d"),
        NotImplementedError("e"),
        KeyError("f"),
        MemoryError("g"),
        RuntimeError("h"),
    ]
    return [fails(error) for error in errors] + [raises(lambda: tf.py_function(lambda x: x, [1], tf.string))]


def arguments_of_functions(tf, np):
    @tf.function
    def with_default(x, y=1):
        return x + y

    @tf.function
    def plain(x, y):
        return x - y

    concrete = plain.get_concrete_function(tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32))
    one = tf.constant(1.0)
    calls = [
        lambda: with_default(),
        lambda: plain(1),
        lambda: plain(1, 2, 3),
        lambda: plain(1, 2, z=3),
        lambda: concrete(tf.constant(1), one),
        lambda: concrete(one, y=tf.constant([1])),
        lambda: concrete(one),
        lambda: concrete(1.0, one),
    ]
    return [raises(call) for call in calls] + [
        with_default(2),
        with_default(2, y=3),
        plain(y=1, x=3),
        concrete(one, one),
    ]


def a_variable_in_another_graph(tf, np):
    variable = tf.Variable(1.0)
    with tf.Graph().as_default(), tf.Session() as session:
        return [raises(session.run, variable), raises(session.run, tf.constant(1.0) + 0)]


def a_tape_that_does_not_record(tf, np):
    tape = tf.GradientTape()
    return [raises(tape.reset), raises(lambda: tape.__exit__(None, None, None))]


_OF_ANOTHER_TYPE = {
    "Transpose": lambda tf, m: {"x": m, "perm": m[0]},
    "Slice": lambda tf, m: {"input": m, "begin": m[0], "size": m[0]},
    "StridedSlice": lambda tf, m: {"input": m, "begin": m[0], "end": m[0], "strides": m[0]},
    "FFT": lambda tf, m: {"input": m},
    "BroadcastTo": lambda tf, m: {"input": m, "shape": m[0]},
    "ConcatV2": lambda tf, m: {"values": [m, m], "axis": tf.constant(0.0)},
    "ConcatOffset": lambda tf, m: {"concat_dim": 0, "shape": [tf.constant([1, 2]), m[0]]},
    "RandomUniform": lambda tf, m: {"shape": m[0], "dtype": tf.float32},
    "StatelessRandomNormal": lambda tf, m: {"shape": [2], "seed": m[0]},
    "UnsortedSegmentSum": lambda tf, m: {"data": m, "segment_ids": [0, 1], "num_segments": tf.constant(2.0)},
    "SpaceToBatchND": lambda tf, m: {"input": m, "block_shape": m[0], "paddings": [[0, 0]]},
    "GatherV2": lambda tf, m: {"params": m, "indices": [0], "axis": tf.constant(0.0)},
    "Gather": lambda tf, m: {"params": m, "indices": m[0]},
    "Sum": lambda tf, m: {"input": m, "axis": m[0]},
    "Reshape": lambda tf, m: {"tensor": m, "shape": m[0]},
    "Tile": lambda tf, m: {"input": m, "multiples": m[0]},
    "Pad": lambda tf, m: {"input": m, "paddings": m},
    "Fill": lambda tf, m: {"dims": m[0], "value": 1.0},
    "Cholesky": lambda tf, m: {"input": tf.constant([["a"]])},
    "EncodePng": lambda tf, m: {"image": m},
    "UniqueV2": lambda tf, m: {"x": m, "axis": m[0]},
}
_WITHOUT_KERNEL = ("Gather", "Sum", "Reshape", "Tile", "Pad", "Fill", "Cholesky")


@cases({name: name for name in _OF_ANOTHER_TYPE})
def a_type_that_no_kernel_or_no_op_takes(tf, np, name):
    given = _OF_ANOTHER_TYPE[name](tf, tf.ones([2, 2]))

    def called():
        try:
            return getattr(tf.raw_ops, name)(**given)
        except tf.errors.NotFoundError:  # with a list of all kernels
            return "no kernel"

    return called() if name in _WITHOUT_KERNEL else raises(called)
