"""Where a TensorProto has its values, and TensorProtos that describe far more than they hold."""

import numpy as np
import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.tensor_pb2 import TensorProto

import tideflow as tf
from tideflow.graph.tensor_proto import LARGEST_REPETITION, is_repeated

HUGE = [1 << 20, 1 << 24]  # 64 TB of floats


def _huge(values=(1.0,), shape=HUGE):
    proto = TensorProto(dtype=tf.float32.as_datatype_enum, float_val=values)
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    return proto


def _graph(proto):
    graph_def = GraphDef()
    node = graph_def.node.add(name="c", op="Const")
    node.attr["dtype"].type = proto.dtype
    node.attr["value"].tensor.CopyFrom(proto)
    return graph_def


@pytest.fixture
def huge():
    with tf.Graph().as_default():
        yield tf.import_graph_def(_graph(_huge()), return_elements=["c:0"], name="")[0]


def test_a_repeated_value_takes_no_memory_until_a_step_needs_it(huge):
    assert huge.shape == HUGE and is_repeated(huge.op.attrs["value"])
    with tf.Session() as sess:
        assert sess.run([tf.shape(huge), tf.size(huge, out_type=tf.int64), tf.rank(huge)])[1] == 1 << 44


@pytest.mark.parametrize("executor", ["", "TOKENS"])
def test_a_step_that_needs_it_says_what_does_not_fit(huge, executor):
    config = tf.ConfigProto()
    config.experimental.executor_type = executor
    with tf.Session(config=config) as sess:
        for fetch in (huge, huge + 1, tf.reduce_sum(huge)):
            with pytest.raises(tf.errors.ResourceExhaustedError, match=r"shape\[1048576,16777216\]") as info:
                sess.run(fetch)
            assert info.value.op is huge.op


def test_as_sizes_of_another_op(huge):
    with tf.Session() as sess, pytest.raises((tf.errors.OpError, ValueError)):
        sess.run(tf.fill(tf.cast(tf.reshape(huge, [-1]), tf.int32), 1.0))


def test_goes_through_a_graph_def_as_one_value(huge):
    assert huge.graph.as_graph_def().ByteSize() < 200
    assert huge.op.node_def.attr["value"].tensor == _huge()


def test_a_constant_of_the_program_is_as_small():
    with tf.Graph().as_default():
        made = tf.constant(2.5, shape=HUGE)
        assert len(made.op.node_def.SerializeToString()) < 100
        small = tf.constant(2.5, shape=[2, 3])
        with tf.Session() as sess:
            assert sess.run(small).tolist() == [[2.5] * 3] * 2


def test_make_ndarray_refuses_what_does_not_fit():
    with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM"):
        tf.make_ndarray(_huge())
    array = tf.make_ndarray(_huge(shape=[2, 2]))
    array[0, 0] = 7  # it is the caller's own
    assert array.tolist() == [[7, 1], [1, 1]]


def test_several_values_are_repeated_up_to_a_limit():
    assert tf.make_ndarray(_huge([1.0, 2.0], [4])).tolist() == [1, 2, 2, 2]
    with pytest.raises(tf.errors.ResourceExhaustedError, match="LARGEST_REPETITION"):
        tf.make_ndarray(_huge([1.0, 2.0], [LARGEST_REPETITION]))


@pytest.mark.parametrize("shape", [[1 << 62, 0], [1 << 62, 4], [1 << 31, 1 << 31, 2], [1] * 65, [2, -1]])
def test_shapes_that_no_array_has(shape):
    with pytest.raises(ValueError):
        tf.make_ndarray(_huge(shape=shape))
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.import_graph_def(_graph(_huge(shape=shape)))


def test_one_string_for_all():
    proto = TensorProto(dtype=tf.string.as_datatype_enum, string_val=[b"a"])
    proto.tensor_shape.dim.add(size=3)
    assert tf.make_ndarray(proto).tolist() == [b"a"] * 3
    with tf.Graph().as_default(), tf.Session() as sess:
        (words,) = tf.import_graph_def(_graph(proto), return_elements=["c:0"])
        assert sess.run(words).tolist() == [b"a"] * 3
        assert sess.run(tf.strings.length(words)).tolist() == [1, 1, 1]


def test_half_of_a_complex_number():
    proto = TensorProto(dtype=tf.complex64.as_datatype_enum, scomplex_val=[1.0])
    with pytest.raises(ValueError, match="imaginary"):
        tf.make_ndarray(proto)


def test_a_proto_of_a_repeated_array():
    proto = tf.make_tensor_proto(np.float16(1.5), shape=[3, 2])
    assert not proto.tensor_content
    assert tf.make_ndarray(proto).tolist() == [[1.5, 1.5]] * 3


@pytest.mark.parametrize(
    ("values", "dtype", "shape", "field", "entries"),
    [
        (10.0, tf.float32, [3, 4], "float_val", [10.0]),
        ([1, 2], tf.int32, [4], "int_val", [1, 2]),
        ([True, False], tf.bool, None, "bool_val", [True, False]),
        ([1 + 2j, 3 - 4j], tf.complex64, None, "scomplex_val", [1, 2, 3, -4]),
        ([1.0, 2.0], tf.float16, None, "half_val", [0x3C00, 0x4000]),
        ("s", tf.string, [2], "string_val", [b"s"]),
    ],
)
def test_field_entries(values, dtype, shape, field, entries):
    proto = tf.make_tensor_proto(values, dtype, shape)
    assert list(getattr(proto, field)) == entries
    assert not proto.tensor_content
    assert [dim.size for dim in proto.tensor_shape.dim] == (shape or [2])


def test_bytes():
    assert tf.make_tensor_proto([1, 2], tf.int16).tensor_content == b"\x01\x00\x02\x00"


def test_the_last_value_fills_the_shape():
    assert tf.make_ndarray(tf.make_tensor_proto([1, 2], shape=[4])).tolist() == [1, 2, 2, 2]


def test_too_many_values_are_refused():
    with pytest.raises(ValueError, match=r"Too many elements provided\. Needed at most 2, but received 3"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])


@pytest.mark.parametrize(
    "given, dtype, held",
    [([-1, 2], tf.uint8, [255, 2]), (300, tf.uint8, 44), (~(1 << 31), tf.int32, 2**31 - 1)],
)
def test_numbers_that_a_type_cannot_hold_keep_their_lowest_bits(given, dtype, held):
    assert tf.make_ndarray(tf.make_tensor_proto(given, dtype)).tolist() == held


def test_numbers_of_more_than_64_bits_are_refused():
    with pytest.raises(ValueError, match="9223372036854775808 does not fit int64"):
        tf.make_tensor_proto(2**63, tf.int64)


def test_strings_as_the_runtime_of_tensorflow_packs_them():
    proto = TensorProto(dtype=tf.string.as_datatype_enum, tensor_content=b"\x00\x03\x01abcd")
    proto.tensor_shape.dim.add(size=3)
    assert tf.make_ndarray(proto).tolist() == [b"", b"abc", b"d"]
    with tf.Graph().as_default(), tf.Session() as session:
        (made,) = tf.import_graph_def(_graph(proto), return_elements=["c:0"])
        assert session.run(made).tolist() == [b"", b"abc", b"d"]
    for content in (b"\x00", b"\x00\x03\x01abcde", b"\x00\x03\x81", b"\xff\xff\xff\xff\x0fab"):
        proto.tensor_content = content
        with pytest.raises(ValueError, match=r"tensor_content|variable-length"):
            tf.make_ndarray(proto)
