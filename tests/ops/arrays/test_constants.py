"""Shapes and dimensions as tensors."""

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
