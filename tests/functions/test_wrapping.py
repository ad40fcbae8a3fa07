"""Code for graphs as functions: what runs, and the parts of them that become functions."""

import pytest

import tideflow as tf
from tideflow.functions.lifting import UnliftableError


def test_only_what_results_need_is_run():
    v, w = tf.Variable(0), tf.Variable(0)

    def grow(x):
        v.assign_add(1, name="first")
        with tf.control_dependencies([w.assign_add(x, name="second")]):
            return tf.identity(x, name="same")

    wrapped = tf.compat.v1.wrap_function(grow, [tf.TensorSpec([], tf.int32)])
    assert wrapped(tf.constant(3)).numpy() == 3
    assert (v.numpy(), w.numpy()) == (0, 3)


def test_operations_and_inner_tensors_are_parts_of_functions():
    v = tf.Variable(0)

    def grow():
        step = tf.compat.v1.placeholder(tf.int32, [], name="step")
        v.assign_add(step, name="grow", read_value=False)
        return tf.constant(1, name="other")

    wrapped = tf.compat.v1.wrap_function(grow, [])
    both = wrapped.prune("step:0", (wrapped.graph.get_operation_by_name("grow"), "other:0"))
    nothing, one = both(tf.constant(2))
    assert (nothing, one.numpy(), v.numpy()) == (None, 1, 2)
    assert both(step=tf.constant(3))[1].numpy() == 1 and v.numpy() == 5
    assert [op.type for op in both.graph.control_outputs] == ["AssignAddVariableOp"]
    other = wrapped.prune("step:0", "other:0")
    assert other(tf.constant(9)).numpy() == 1 and v.numpy() == 5
    with pytest.raises(UnliftableError, match="depends transitively on placeholder"):
        wrapped.prune([], "grow")
    with pytest.raises(ValueError, match="Feeds must be tensors"):
        wrapped.prune("grow", "other:0")
    for unknown in ("nothing:0", tf.constant(1)):
        with pytest.raises(ValueError, match="tensors of the graph that this function wraps"):
            wrapped.prune([], unknown)


def test_captured_values_need_not_be_fed():
    v = tf.Variable(2.0)
    wrapped = tf.compat.v1.wrap_function(lambda x: tf.identity(v * x, "out"), [tf.TensorSpec([], tf.float32)])
    part = wrapped.prune(wrapped.inputs, "out:0")
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = part(x)
    assert [y.numpy(), *(slope.numpy() for slope in tape.gradient(y, [x, v]))] == [6.0, 2.0, 3.0]


def test_composite_values_are_fed_by_their_parts():
    made = []

    def squared(x):
        made.append((x, x * x))
        return made[-1][1]

    tf.compat.v1.wrap_function(squared, [tf.RaggedTensorSpec([None, None], tf.float32)])
    wrapped = tf.compat.v1.wrap_function(squared, [tf.RaggedTensorSpec([None, None], tf.float32)])
    part = wrapped.prune(*made[-1])
    rows = tf.ragged.constant([[1.0, 2.0], [3.0]])
    assert part(rows.values, rows.row_splits).to_list() == [[1.0, 4.0], [9.0]]
