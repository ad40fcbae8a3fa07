"""tf.contrib.labeled_tensor: what the oracle's programs do not show."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.contrib.labeled_tensor.checks import Error

lt = tf.contrib.labeled_tensor


def test_arguments_by_position_are_checked_and_the_error_says_what_is_taken() -> None:
    with pytest.raises(
        Error, match=r"of type <class 'list'> is not an instance of the allowed type .*Tensor"
    ):
        lt.identity([1, 2])
    assert issubclass(Error, TypeError)


def test_a_gradient_goes_through_labeled_tensors() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    labeled = lt.LabeledTensor(x, ["a", ("b", ["p", "q"])])
    loss = lt.reduce_sum(lt.square(lt.select(labeled, {"b": "q"})))
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(tf.gradients(loss.tensor, x)[0]), [[0, 4], [0, 8]])


def test_the_order_of_a_scope_ends_with_it() -> None:
    first, second = lt.constant([1.0], axes=["a"]), lt.constant([1.0, 2.0], axes=["b"])
    with pytest.raises(ZeroDivisionError), lt.axis_order_scope(["b", "a"]):
        assert list((first + second).axes) == ["b", "a"]
        raise ZeroDivisionError
    assert list((first + second).axes) == ["a", "b"]


def test_a_tensor_of_unknown_size_keeps_its_axes() -> None:
    labeled = lt.placeholder(tf.float32, ["batch", ("x", 3)])
    total = lt.reduce_sum(labeled, "x")
    assert [(axis.name, axis.size) for axis in total.axes.values()] == [("batch", None)]
