"""Calls of functions: what cannot be differentiated says so."""

import pytest

import tideflow as tf
from tideflow.ops.control_flow.calls import stateless_while_op
from tideflow.ops.control_flow.defun import Defun


def test_the_gradient_of_a_functional_loop_is_refused_and_not_taken_for_zero():
    @Defun(tf.float32)
    def less(a):
        return a < 10.0

    @Defun(tf.float32)
    def twice(a):
        return a * 2.0

    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        for function in (less, twice):
            function.add_to_graph(graph)
        (y,) = stateless_while_op([x], cond=less.name, body=twice.name)
        assert sess.run(y, {x: 3.0}) == 12.0
        with pytest.raises(LookupError, match=r"No gradient defined .*StatelessWhile"):
            tf.gradients(y, x)
