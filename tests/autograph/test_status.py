"""Blocks that say whether AutoGraph converts what is called inside of them."""

import pytest

import tideflow as tf
from tideflow.autograph.status import ControlStatusCtx, Status, control_status_ctx


def inner(x):
    if tf.reduce_sum(x) > 0:  # a tensor of a graph is neither true nor false
        return x
    return -x


def outer(x, status):
    with ControlStatusCtx(status):
        return inner(x)


def test_functions_are_called_as_they_are_where_a_block_says_so():
    assert control_status_ctx().status is Status.UNSPECIFIED
    with tf.Graph().as_default(), tf.Session() as session:
        converted = tf.autograph.to_graph(outer)
        assert session.run(converted(tf.constant([-1.0]), Status.ENABLED)) == [1.0]
        with pytest.raises(TypeError, match="as a Python `bool`"):
            converted(tf.constant([-1.0]), Status.DISABLED)
    assert control_status_ctx().status is Status.UNSPECIFIED
