"""What is known of tensors before a step runs."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.partial import constant_value, constant_value_as_shape


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("value", [3, [1, 2], None, np.arange(2)])
def test_what_is_no_tensor_is_its_own_value(value):
    assert constant_value(value) is value


def test_comparisons():
    sizes = tf.shape(tf.placeholder(tf.float32, [2, 3]))
    assert constant_value(tf.equal(sizes, 2)).tolist() == [True, False]
    assert constant_value(tf.not_equal(sizes, 2)).tolist() == [False, True]
    assert constant_value(tf.equal(tf.shape(tf.placeholder(tf.float32, [None]))[0], 2)) is None


def test_a_part_of_a_value():
    packed = tf.stack([1, tf.placeholder(tf.int32, []), 2])
    assert constant_value(packed) is None
    assert constant_value(packed, partial=True).tolist() == [1, None, 2]


def test_values_as_shapes():
    image = tf.placeholder(tf.float32, [None, 3])
    assert constant_value_as_shape(tf.concat([tf.shape(image), [-1, 4]], 0)).as_list() == [None, 3, None, 4]
    assert constant_value_as_shape(tf.cast(tf.shape(image), tf.int64)).as_list() == [None, 3]
    assert constant_value_as_shape(tf.placeholder(tf.int32, [2])).as_list() == [None, None]
    assert constant_value_as_shape(tf.constant(-1)).ndims is None
    with pytest.raises(ValueError, match="Received a scalar value '3' as shape"):
        constant_value_as_shape(tf.constant(3))
    with pytest.raises(ValueError, match="a scalar with unknown value as shape"):
        constant_value_as_shape(tf.placeholder(tf.int32, []))


def test_what_is_empty_has_its_sizes():
    empty = constant_value(tf.cast(tf.constant(np.zeros([3, 0, 2], np.float32)), tf.int64))
    assert (empty.shape, empty.dtype) == ((3, 0, 2), np.int64)
