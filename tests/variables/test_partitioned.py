"""Variables in parts: how they are cut, joined, shared and written, and the partitioners that say so."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.variables.partitioned import PartitionedVariable

TWO = tf.fixed_size_partitioner(2)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_parts_and_their_sum():
    start = tf.constant_initializer(np.arange(3.0))
    v = tf.get_variable("w", [5, 2], initializer=tf.ones_initializer(), partitioner=TWO)
    assert [part.name for part in v] == ["w/part_0:0", "w/part_1:0"] and len(v) == 2
    assert [part.shape.as_list() for part in v] == [[3, 2], [2, 2]]
    assert [part._get_save_slice_info().spec for part in v] == ["5 2 0,3:0,2", "5 2 3,2:0,2"]
    assert (v.name, v.shape.as_list(), v.dtype) == ("w", [5, 2], tf.float32)
    assert v.as_tensor().name == "w:0" and tf.convert_to_tensor(v).shape.as_list() == [5, 2]
    whole = tf.get_variable("one", [3], initializer=start, partitioner=tf.fixed_size_partitioner(1))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(tf.identity(v)), np.ones([5, 2]))
        assert sess.run(tf.identity(whole)).tolist() == [0, 1, 2]


def test_writing_to_all_parts():
    v = tf.get_variable("w", [2, 5], initializer=tf.zeros_initializer(), partitioner=lambda **_: [1, 2])
    value = np.arange(10, dtype=np.float32).reshape(2, 5)
    steps = [v.assign(value), v.assign_add(value, name="q"), v.assign_sub(np.ones([2, 5], np.float32))]
    assert [t.op.name for t in steps[1]] == ["q", "q_1"]
    with tf.Session() as sess:
        for step in steps:
            sess.run(step)
        np.testing.assert_array_equal(sess.run(v.as_tensor()), 2 * value - 1)
    assert all(isinstance(op, tf.Operation) for op in v.assign(value, read_value=False))


def test_sharing_parts():
    with tf.variable_scope("a", partitioner=TWO):
        made = tf.get_variable("w", [4, 2])
        with pytest.raises(ValueError, match="Partitioned variable with name a/w already exists"):
            tf.get_variable("w", [4, 2])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("w", [4, 2]) is made
        assert tf.get_variable("w", [4, 2], partitioner=TWO) is made
        with pytest.raises(ValueError, match=r"specified partitions \[3, 1\] and found partitions \[2, 1\]"):
            tf.get_variable("w", [4, 2], partitioner=tf.fixed_size_partitioner(3))
        with pytest.raises(ValueError, match="specified shape"):
            tf.get_variable("w", [6, 2], partitioner=TWO)
    with tf.variable_scope("a"), pytest.raises(ValueError, match="No partitioner was provided"):
        tf.get_variable("w", [4, 2])
    tf.get_variable("single", [4, 2])
    with pytest.raises(ValueError, match="an unpartitioned version of the variable was found: single"):
        tf.get_variable("single", [4, 2], partitioner=TWO)


@pytest.mark.parametrize(
    ("partitioner", "message"),
    [
        (3, "Partitioner must be callable"),
        (lambda **_: [2, 2], "Can only slice a variable along one dimension"),
        (lambda **_: [0, 1], "zero partitions"),
        (lambda **_: [1], "does not match the Variable's rank"),
        (lambda **_: 2, "must return a sequence"),
        (lambda **_: [4, 1], "Expected 0 <= offset < shape"),
    ],
)
def test_partitioners_that_are_refused(partitioner, message):
    with pytest.raises(ValueError, match=message):
        tf.get_variable("w", [3, 3], partitioner=partitioner)
    assert not tf.global_variables()


def test_scalars_and_unknown_shapes():
    assert isinstance(tf.get_variable("s", [], partitioner=TWO), tf.Variable)
    with pytest.raises(ValueError, match="must be fully defined"):
        tf.get_variable("u", initializer=tf.zeros_initializer(), partitioner=TWO)


def test_random_parts_are_scaled_by_the_whole():
    seen = []

    def initializer(shape, dtype, partition_info):
        seen.append((shape, partition_info.full_shape, partition_info.var_offset))
        return tf.zeros(shape, dtype)

    tf.get_variable("w", [4, 3], initializer=initializer, partitioner=TWO)
    assert seen == [([2, 3], [4, 3], [0, 0]), ([2, 3], [4, 3], [2, 0])]


def test_create_partitioned_variables():
    value = np.arange(8, dtype=np.float32).reshape(4, 2)
    parts = tf.create_partitioned_variables([4, 2], [1, 2], value)
    assert [part.name for part in parts] == ["PartitionedVariable/part_0:0", "PartitionedVariable/part_1:0"]
    named = tf.create_partitioned_variables([4, 2], [2, 1], tf.ones_initializer(), name="p")
    assert [part.name for part in named] == ["p/part_0:0", "p/part_1:0"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(np.concatenate(sess.run(parts), 1), value)
    with pytest.raises(ValueError, match="must have the length"):
        tf.create_partitioned_variables([4, 2], [3], tf.ones_initializer())


def test_parts_are_checked_by_the_shape_of_the_whole():
    parts = tf.create_partitioned_variables([4, 2], [2, 1], tf.ones_initializer(), name="p")
    whole = PartitionedVariable("other", [4, 2], tf.float32, parts, [2, 1])
    assert whole.name == "other" and whole.shape == [4, 2]
    with pytest.raises(ValueError, match="full shapes must match shape: "):
        PartitionedVariable("p", [4, 3], tf.float32, parts, [2, 1])
    with pytest.raises(ValueError, match=r"len\(shape\) != len\(partitions\)"):
        PartitionedVariable("p", [4, 2], tf.float32, parts, [2])


def test_sizes_that_partitioners_choose():
    shape = tf.TensorShape([4, 8])

    def parts(partitioner, dtype=tf.float32):
        return partitioner(shape=shape, dtype=dtype)

    assert parts(tf.variable_axis_size_partitioner(8)) == [4, 1]
    assert parts(tf.variable_axis_size_partitioner(64)) == [2, 1]
    assert parts(tf.variable_axis_size_partitioner(100, axis=1)) == [1, 2]
    assert parts(tf.variable_axis_size_partitioner(8, max_shards=3)) == [3, 1]
    assert parts(tf.variable_axis_size_partitioner(8), tf.string) == [4, 1]
    assert parts(tf.min_max_variable_partitioner(5, min_slice_size=16)) == [4, 1]
    assert parts(tf.min_max_variable_partitioner(2, axis=1, min_slice_size=16)) == [1, 2]
    assert parts(tf.min_max_variable_partitioner(10)) == [1, 1]
    with pytest.raises(ValueError, match="must be positive"):
        tf.variable_axis_size_partitioner(0)
