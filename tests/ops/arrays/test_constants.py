"""Shapes and dimensions as tensors, and placeholders."""

import pytest

import tideflow as tf


def test_sizes_choose_their_type():
    with tf.Graph().as_default():
        small, large = tf.TensorShape([2, 3]), tf.TensorShape([2**40])
        assert tf.convert_to_tensor(small).dtype == tf.int32
        assert tf.convert_to_tensor(large).dtype == tf.int64
        assert tf.convert_to_tensor(small, tf.int64).dtype == tf.int64
        assert tf.convert_to_tensor(tf.Dimension(4)).shape.as_list() == []
        assert tf.convert_to_tensor(small).name == "shape_as_tensor_4:0"
        with pytest.raises(ValueError, match="a size is too large"):
            tf.convert_to_tensor(large, tf.int32)
        with pytest.raises(TypeError, match="Cannot convert a TensorShape to dtype: float32"):
            tf.convert_to_tensor(small, tf.float32)


@pytest.mark.parametrize("unknown", [tf.TensorShape(None), tf.TensorShape([2, None]), tf.Dimension(None)])
def test_sizes_must_be_known(unknown):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.convert_to_tensor(unknown)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.placeholder(tf.float32, [None, 2], name="x"),
        lambda: tf.raw_ops.PlaceholderV2(dtype=tf.float32, shape=[None, 2], name="x"),
    ],
    ids=["Placeholder", "PlaceholderV2"],
)
def test_placeholders_are_fed(make, request):
    with tf.Graph().as_default(), tf.Session() as session:
        x = make()
        assert x.op.type == request.node.callspec.id
        assert x.shape.as_list() == [None, 2]
        assert session.run(x + 1.0, {x: [[1.0, 2.0]]}).tolist() == [[2.0, 3.0]]
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="must feed a value for placeholder tensor 'x'"
        ):
            session.run(x)


def test_a_size_that_is_not_fed_is_asked_for():
    size = tf.placeholder(tf.int32, name="size")
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="tensor 'size' with dtype"),
    ):
        session.run(size + 1)
