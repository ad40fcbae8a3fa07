"""What is known of the elements of stacks and TensorArrays, in the plans of steps and in their results."""

import numpy as np
import pytest

import tideflow as tf

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


def _plan(fetches, feeds):
    with tf.Session() as session:
        return session.explain(fetches, feeds), session.run(fetches, feeds)


def test_a_backward_loop_knows_the_sizes_of_the_batch():
    x = tf.placeholder(tf.float32, [None, 2])
    w = tf.constant([0.5, 2.0])
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w + x), [0, x])[1]
    plan, (grad_x, grad_w) = _plan(tf.gradients(y, [x, w]), {x: ROWS})
    assert "BroadcastGradientArgs(" not in plan
    assert "unknown shape" not in plan
    np.testing.assert_allclose(grad_x, np.tile(1 + w_sum(np.array([0.5, 2.0])), (3, 1)))
    assert grad_w.shape == (2,)


def w_sum(w):
    """What the first factor of x, and its additions, come to after three rounds of `y * w + x`."""
    return w**3 + w**2 + w


def test_other_batches_have_plans_of_their_own():
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * y), [0, x])[1]
    grad = tf.gradients(y, x)[0]
    with tf.Session() as session:
        for rows in (1, 3, 2):
            batch = np.full([rows, 2], 3.0, np.float32)
            np.testing.assert_allclose(session.run(grad, {x: batch}), 4 * batch**3)


def test_what_is_read_from_an_array_has_the_shape_of_what_was_written():
    x = tf.placeholder(tf.float32, [4, None])
    array = tf.TensorArray(tf.float32, 4).unstack(x)
    y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, array.read(i) + y), [0, x[0] * 0])[1]
    written = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, y).write(1, y)
    plan, result = _plan(written.stack(), {x: np.ones([4, 3], np.float32)})
    assert "TensorArrayReadV3 float32[3]" in plan
    assert "TensorArrayGatherV3 float32[?,3]" in plan
    np.testing.assert_array_equal(result, np.full([2, 3], 4.0))


def test_elements_of_different_shapes_are_not_taken_for_one():
    x = tf.placeholder(tf.float32, [None])
    array = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False)
    array = array.write(0, x).write(1, tf.concat([x, x], 0))
    sizes = tf.stack([tf.size(array.read(i)) for i in (0, 1)])
    assert _plan(sizes, {x: np.ones(3, np.float32)})[1].tolist() == [3, 6]


def test_an_element_that_the_next_iteration_replaces_by_another_shape():
    x = tf.placeholder(tf.float32, [None])
    array = tf.TensorArray(tf.float32, 4, infer_shape=False, clear_after_read=False).write(0, x)

    def body(i, array):
        last = array.read(i)
        return i + 1, array.write(i + 1, tf.concat([last, [0.0]], 0))

    _, array = tf.while_loop(lambda i, array: i < 3, body, [0, array])
    assert _plan(tf.size(array.read(3)), {x: np.ones(2, np.float32)})[1] == 5


@pytest.mark.parametrize("takes", [True, False])
def test_what_a_branch_pops_is_of_that_branch(takes):
    x, flag = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.bool, [])

    def body(i, y):
        return i + 1, tf.cond(flag, lambda: y * x, lambda: y + x)

    y = tf.while_loop(lambda i, y: i < 2, body, [0, x])[1]
    grad = tf.gradients(y, x)[0]
    result = _plan(grad, {x: np.array([2.0, 3.0], np.float32), flag: takes})[1]
    np.testing.assert_allclose(result, [12.0, 27.0] if takes else [3.0, 3.0])


def test_a_stack_of_constants_and_an_empty_one():
    def pops(count):
        handle = tf.raw_ops.StackV2(max_size=-1, elem_type=tf.int32)
        pushed = tf.raw_ops.StackPushV2(handle=handle, elem=tf.constant([7, 8]))
        popped = []
        for _ in range(count):
            with tf.control_dependencies([pushed, *popped]):
                popped.append(tf.raw_ops.StackPopV2(handle=handle, elem_type=tf.int32))
        return popped[-1] + 1

    with tf.Session() as session:
        assert session.run(pops(1)).tolist() == [8, 9]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Stack is empty"):
            session.run(pops(2))
