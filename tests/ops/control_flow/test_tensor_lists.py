"""Lists of tensors are values: a list that was changed is another list, and what nobody holds is let go."""

import gc
import weakref

import numpy as np
import pytest
import torch

import tideflow as tf
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
    return lists.stack_op(handle, -1, element_dtype=tf.float32)


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
    total = tf.reduce_sum(lists.stack_op(made, [2], element_dtype=tf.float32))
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
