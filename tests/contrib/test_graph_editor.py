"""tf.contrib.graph_editor: what a session sees of a change, and what TensorFlow does otherwise."""

import numpy as np
import pytest

import tideflow as tf

ge = tf.contrib.graph_editor


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_session_runs_the_graph_as_it_is_now():
    a, b = tf.constant([1.0, 2.0], name="a"), tf.constant([10.0, 20.0], name="b")
    y = tf.square(a)
    count = tf.get_variable("count", initializer=0)
    with tf.Session() as session:
        session.run(count.initializer)
        assert session.run(y).tolist() == [1, 4]
        assert ge.reroute_ts(b, a, can_modify=[y.op]) == 1
        assert session.run(y).tolist() == [100, 400]
        ge.add_control_inputs(y.op, tf.assign_add(count, 1).op)
        session.run(y)
        assert session.run(count) == 1
        ge.remove_control_inputs(y.op, y.op.control_inputs)
        session.run(y)
        assert session.run(count) == 1


def test_an_operation_that_takes_both_tensors_takes_each_in_the_place_of_the_other():
    a, b = tf.constant(1.0), tf.constant(5.0)
    y = tf.subtract(a, b)
    assert ge.swap_ts(a, b) == 2
    assert y.op.inputs == (b, a)
    with tf.Session() as session:
        assert session.run(y) == 4


def test_control_outputs_follow_changes_of_edges():
    a, b = tf.constant(1.0), tf.constant(2.0)
    outputs = ge.ControlOutputs(tf.get_default_graph())
    ge.add_control_inputs(b.op, a.op)
    assert list(outputs.get(a.op)) == []
    assert list(outputs.update().get(a.op)) == [b.op]
    ge.detach_control_outputs(a.op, outputs)
    assert b.op.control_inputs == []


def test_a_cut_graph_trains_on_what_is_fed():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    hidden = tf.layers.dense(x, 4, name="hidden")
    loss = tf.reduce_sum(tf.layers.dense(hidden, 1, name="top"))
    view, (hole, *_) = ge.detach_inputs(ge.sgv("top/MatMul", graph=tf.get_default_graph()))
    kernel = tf.trainable_variables("top/kernel")[0]
    (slope,) = tf.gradients(loss, [kernel])
    feeds = {t: np.ones([2, 4]) if t is hole else np.ones([4, 1]) for t in view.inputs}
    assert tf.gradients(loss, [tf.trainable_variables("hidden/kernel")[0]]) == [None]
    assert slope is None  # the kernel was cut off, too
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(loss, feeds) == 8


def test_a_copy_of_a_training_graph_is_independent(graph):
    x = tf.placeholder_with_default([[1.0, 2.0]], [1, 2], name="x")
    w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(x @ w), name="step")
    there = tf.Graph()
    _, info = ge.copy(graph, there)
    assert {op.name for op in there.get_operations()} == {op.name for op in graph.get_operations()}
    with tf.Session(graph=there) as session:
        session.run("w/Assign")
        session.run("step")
        assert session.run("w:0").ravel() == pytest.approx([0.9, 0.8])
        session.run(info.transformed(graph.get_operation_by_name("step")))
        assert session.run("w:0").ravel() == pytest.approx([0.8, 0.6])


def test_indices_of_what_is_not_there():
    a = tf.constant(1.0, name="a")
    view = ge.sgv(tf.negative(a).op)
    with pytest.raises(ValueError, match="Can't find b:0 in inputs"):
        view.input_index(tf.constant(2.0, name="b"))
    with pytest.raises(ValueError, match="Can't find a:0 in outputs"):
        view.output_index(a)
    with pytest.raises(TypeError, match="tensor must be a Tensor"):
        view.op(0)._update_input(0, 3.0)
    with view as same:
        assert same is view
    assert repr(view.inputs).startswith("ListView([<tf.Tensor 'a:0'")
