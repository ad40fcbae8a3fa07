"""Lists of tensors that loops fill: what is taken out has the shape of what a step puts in."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.ops.control_flow import tensor_lists


def pushed_in_a_loop(x, y):
    """A list of four elements, `x` first and `y` then."""
    empty = tensor_lists.empty_list_op([-1, 3], -1, element_dtype=tf.float32)

    def push(i, kept):
        kept = tensor_lists.push_back_op(kept, x, element_dtype=tf.float32)
        return i + 1, tensor_lists.push_back_op(kept, y, element_dtype=tf.float32)

    return tf.while_loop(lambda i, kept: i < 2, push, [0, empty])[1]


@pytest.mark.parametrize(("rows", "shape"), [((2, 2), "[2,3]"), ((2, 1), "[?,3]")])
def test_the_sizes_that_all_elements_have_are_known(rows, shape):
    x, y = (tf.placeholder(tf.float32, [None, 3]) for _ in range(2))
    _, last = tensor_lists.pop_back_op(pushed_in_a_loop(x, y), [-1, 3], element_dtype=tf.float32)
    feeds = {x: np.ones((rows[0], 3)), y: 2 * np.ones((rows[1], 3))}
    with tf.Session() as session:
        plan = session.explain(tf.sinh(last), feeds)
        np.testing.assert_allclose(session.run(last, feeds), feeds[y])
    (line,) = [line for line in plan.splitlines() if "sinh" in line.lower() and "=" in line]
    assert shape in line.replace(" ", ""), plan


def test_a_list_that_is_not_empty_keeps_to_its_declaration():
    x = tf.placeholder(tf.float32, [None, 3])
    given = tf.raw_ops.TensorListFromTensor(tensor=np.ones((2, 1, 3), np.float32), element_shape=[-1, 3])
    kept = tensor_lists.push_back_op(given, x, element_dtype=tf.float32)
    rest, last = tensor_lists.pop_back_op(kept, [-1, 3], element_dtype=tf.float32)
    _, other = tensor_lists.pop_back_op(rest, [-1, 3], element_dtype=tf.float32)
    with tf.Session() as session:
        found = session.run([last, other], {x: np.zeros((5, 3))})
    assert [value.shape for value in found] == [(5, 3), (1, 3)]


def test_an_array_made_outside_of_a_function_is_read_in_it():
    def summed(x):
        array = tf.TensorArray(tf.float32, 2).unstack(tf.stack([x, x]))

        @tf.function
        def body(handle, flow, total):
            values = tf.raw_ops.TensorArrayReadV3(handle=handle, index=1, flow_in=flow, dtype=tf.float32)
            return total + values

        return body(array.handle, array.flow, x)

    x = tf.placeholder(tf.float32, [None])
    total = summed(x)
    with tf.Session() as session:
        for size in (2, 3):
            np.testing.assert_allclose(session.run(total, {x: np.ones(size)}), 2 * np.ones(size))
