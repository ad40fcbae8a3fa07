"""Lists of tensors are values: a list that was changed is another list, and what nobody holds is let go."""

import gc
import weakref

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.ops.control_flow import tensor_list_tensors as conversions
from tideflow.ops.control_flow import tensor_lists as lists
from tideflow.runtime.tensor_lists import TensorList, as_variant, list_in


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def pushed(*values, element_shape=-1):
    made = lists.empty_list_op(element_shape, -1, element_dtype=tf.float32)
    for value in values:
        made = lists.push_back_op(made, tf.convert_to_tensor(value))
    return made


def stacked(handle):
    return conversions.stack_op(handle, -1, element_dtype=tf.float32)


def test_every_version_of_a_list_stays():
    one = pushed([1.0], [2.0])
    other = lists.set_item_op(one, 0, [9.0])
    shorter, last = lists.pop_back_op(one, -1, element_dtype=tf.float32)
    longer = lists.push_back_op(one, [3.0])
    with tf.Session() as session:
        found = session.run([stacked(handle) for handle in (one, other, shorter, longer)] + [last])
    assert [value.ravel().tolist() for value in found] == [
        [1.0, 2.0],
        [9.0, 2.0],
        [1.0],
        [1.0, 2.0, 3.0],
        [2.0],
    ]


@pytest.mark.parametrize("executor", ["", "TOKENS"], ids=["plan", "tokens"])
def test_a_list_is_a_loop_variable(executor):
    def body(i, made):
        return i + 1, lists.push_back_op(made, tf.cast(i, tf.float32) * [1.0, 2.0])

    _, made = tf.while_loop(lambda i, _: i < 3, body, [0, pushed(element_shape=[2])])

    def back(i, left, total):
        left, value = lists.pop_back_op(left, [2], element_dtype=tf.float32)
        return i + 1, left, total * 10.0 + value

    _, left, total = tf.while_loop(lambda i, *_: i < 3, back, [0, made, tf.zeros([2])])
    config = tf.ConfigProto(experimental=tf.ConfigProto.Experimental(executor_type=executor))
    with tf.Session(config=config) as session:
        found = session.run([stacked(made), total, lists.length_op(left)])
    assert found[0].tolist() == [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]
    assert found[1].tolist() == [210.0, 420.0]
    assert found[2] == 0


def test_a_gradient_through_a_list_in_a_loop():
    x = tf.placeholder(tf.float32, [2])

    def body(i, made, v):
        return i + 1, lists.push_back_op(made, v), v * x

    _, made, _ = tf.while_loop(lambda i, *_: i < 3, body, [0, pushed(element_shape=[2]), x])
    total = tf.reduce_sum(conversions.stack_op(made, [2], element_dtype=tf.float32))
    slope = tf.gradients(total, x)[0]
    with tf.Session() as session:
        total, slope = session.run([total, slope], {x: [1.0, 2.0]})
    assert total == 1 + 1 + 1 + 2 + 4 + 8
    assert slope.tolist() == [1 + 2 + 3, 1 + 2 * 2 + 3 * 4]


def test_a_choice_of_lists():
    p = tf.placeholder(tf.bool, [])
    chosen = tf.cond(p, lambda: pushed([1.0], [2.0]), lambda: pushed([5.0]))
    with tf.Session() as session:
        assert session.run(stacked(chosen), {p: True}).ravel().tolist() == [1.0, 2.0]
        assert session.run(stacked(chosen), {p: False}).ravel().tolist() == [5.0]


def test_what_is_popped_is_let_go():
    """Nothing keeps an element but the lists that hold it."""
    element = torch.ones(2)
    whole = TensorList(tf.float32, tf.TensorShape(None)).pushed(element)
    reference = weakref.ref(element)
    rest = whole.with_values(whole.values[:-1])
    del element, whole
    gc.collect()
    assert reference() is None
    assert rest.values == ()


def test_what_is_no_list_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a list"):
        list_in(as_variant(3))


def test_a_list_does_not_change_with_the_array_that_was_fed():
    x = tf.placeholder(tf.float32, [1])
    handle = pushed(element_shape=[1])
    y = stacked(lists.push_back_op(handle, x))
    value = np.array([1.0], np.float32)
    with tf.Session() as session:
        found = session.run(y, {x: value})
        value[0] = 7.0
    assert found.tolist() == [[1.0]]


# ------------------------------------------------------------------------------------------ op by op

F32 = {"element_dtype": tf.float32}
ROWS = np.float32([[1, 2], [3, 4], [5, 6]])


def run(*fetches):
    with tf.Session() as session:
        return session.run(list(fetches))


def test_elements_are_set_and_got():
    blank = lists.reserve_op([2], 3, **F32)
    made = lists.set_item_op(lists.set_item_op(blank, 2, ROWS[2]), 0, ROWS[0])
    found = run(*[lists.get_item_op(made, i, [2], **F32) for i in range(3)], lists.length_op(made))
    assert [value.tolist() for value in found[:3]] == [[1.0, 2.0], [0.0, 0.0], [5.0, 6.0]]
    assert found[3] == 3
    assert run(lists.element_shape_op(made, shape_type=tf.int32))[0].tolist() == [2]


def test_a_list_is_made_longer_and_shorter():
    made = conversions.from_tensor_op(ROWS, [2])
    longer, shorter = lists.resize_op(made, 4), lists.resize_op(made, 1)
    found = run(*[conversions.stack_op(handle, [2], **F32) for handle in (longer, shorter)])
    assert found[0].tolist() == [*ROWS.tolist(), [0.0, 0.0]]
    assert found[1].tolist() == ROWS[:1].tolist()


def test_elements_are_gathered_and_scattered():
    order = [2, 0, 1]
    scattered = [
        conversions.scatter_op(ROWS, order, [2]),
        conversions.scatter_v2_op(ROWS, order, [2], -1),
        conversions.scatter_into_op(lists.reserve_op([2], 3, **F32), ROWS, order),
    ]
    for made in scattered:
        stacked_rows, back = run(
            conversions.stack_op(made, [2], **F32), conversions.gather_op(made, order, [2], **F32)
        )
        assert stacked_rows.tolist() == ROWS[[1, 2, 0]].tolist()
        assert back.tolist() == ROWS.tolist()


def test_a_tensor_is_split_and_joined():
    made = conversions.split_op(ROWS, [-1, 2], [2, 0, 1])
    joined = conversions.concat_op(made, element_shape=[None, 2], **F32)
    joined_v2 = conversions.concat_v2_op(made, [-1, 2], np.int64([]), **F32)
    for tensor, lengths in (run(*joined), run(*joined_v2)):
        assert tensor.tolist() == ROWS.tolist()
        assert lengths.tolist() == [2, 0, 1]


def test_one_list_after_the_other():
    both = lists.concat_lists_op(pushed([1.0]), pushed([2.0], [3.0]), **F32)
    assert run(stacked(both))[0].ravel().tolist() == [1.0, 2.0, 3.0]


def test_a_batch_of_lists():
    handles = tf.stack([pushed([1.0]), pushed([2.0])])
    made = lists.push_back_batch_op(handles, np.float32([[3], [4]]))
    found = run(*[stacked(made[i]) for i in range(2)])
    assert [value.ravel().tolist() for value in found] == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.parametrize(
    "through",
    [
        lambda x: conversions.stack_op(conversions.from_tensor_op(x, [2]), [2], **F32),
        lambda x: conversions.gather_op(
            conversions.scatter_v2_op(x, [2, 0, 1], [2], 3), [2, 0, 1], [2], **F32
        ),
        lambda x: (
            conversions.concat_v2_op(
                conversions.split_op(x, [-1, 2], [1, 2]), [-1, 2], np.int64([]), **F32
            ).tensor
        ),
        lambda x: tf.stack(
            [lists.get_item_op(conversions.from_tensor_op(x, [2]), i, [2], **F32) for i in range(3)]
        ),
    ],
)
def test_gradients_pass_through(through):
    x = tf.constant(ROWS)
    value, slope = run(through(x * x), tf.gradients(through(x * x), x)[0])
    np.testing.assert_array_equal(value, ROWS**2)
    np.testing.assert_array_equal(slope, 2 * ROWS)
