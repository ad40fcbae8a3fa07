"""Assertions: which are made at once, which in the step, and what they say."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def test_what_is_known_is_checked_while_the_graph_is_built():
    with pytest.raises(tf.errors.InvalidArgumentError, match="because\nCondition x < y did not hold"):
        tf.assert_less(3, 2, message="because")
    assert tf.assert_less(2, 3).type == "Assert"


def test_what_is_not_known_is_checked_in_the_step_and_shown():
    x = tf.placeholder(tf.float32, [None])
    check = tf.assert_positive(x, message="because", summarize=2)
    run(check, {x: [1.0, 2.0]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)because.*x > 0.*\[5 0\.\.\.\]"):
        run(check, {x: [5.0, 0.0, 7.0]})


def test_a_tensor_equals_itself():
    x = tf.placeholder(tf.float32, [None])
    assert tf.assert_equal(x, x).type == "NoOp"


def test_ranks_are_named():
    with pytest.raises(
        ValueError, match=r"Tensor x:0 must have rank in \[0, 3\].  Received rank 1, shape \(2,\)"
    ):
        tf.assert_rank_in(tf.placeholder(tf.float32, [2], "x"), [0, 3])


def test_near_has_a_tolerance_of_its_own_for_each_type():
    for dtype in (tf.bfloat16, tf.float16, tf.float32, tf.float64):
        run(tf.assert_near(tf.constant(1.0, dtype), tf.constant(1.0, dtype)))
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.assert_near(tf.constant(1.0), 1.1))
    with pytest.raises(ValueError, match="rtol and atol"):
        tf.assert_near(1, 2)


def test_shapes_agree_by_symbol():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, None)
    check = tf.debugging.assert_shapes({x: ("N", "D"), y: ("*", "N")})
    run(check, {x: np.ones([2, 3]), y: np.ones([5, 2])})
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have size"):
        run(check, {x: np.ones([2, 3]), y: np.ones([5, 4])})


@pytest.mark.parametrize(
    "values, expected", [([], [1, 1]), ([2, 2], [1, 0]), ([1, 2], [1, 1]), ([2, 1], [0, 0])]
)
def test_order(values, expected):
    x = tf.constant(values, tf.int32)
    assert run([tf.is_non_decreasing(x), tf.is_strictly_increasing(x)]) == expected


def test_numeric_checks_find_the_first_tensor():
    x = tf.placeholder(tf.float32, [], "x")
    tf.log(x, name="logarithm")
    check = tf.add_check_numerics_ops()
    run(check, {x: 1.0})
    with pytest.raises(tf.errors.InvalidArgumentError, match="logarithm:0"):
        run(check, {x: -1.0})


def test_types_of_sparse_tensors_are_compared():
    sparse = tf.SparseTensor([[0]], [1], [1])
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.debugging.assert_same_float_dtype([tf.constant(1.0), sparse])
