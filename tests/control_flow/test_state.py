"""Variables read and assigned in branches and loops, by both executors: in the order the graph asks for."""

import numpy as np
import pytest

import tideflow as tf

pytestmark = pytest.mark.usefixtures("graph")

KINDS = pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])


@pytest.fixture
def variable(session):
    def make(resource, value=1.0):
        v = tf.get_variable("v", initializer=value, use_resource=resource)
        session.run(v.initializer)
        return v

    return make


@KINDS
def test_only_the_taken_branch_assigns(session, variable, resource):
    v, p = variable(resource), tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.identity(tf.assign_add(v, 10.0)), lambda: tf.identity(tf.assign(v, -1.0)))
    assert [session.run(y, {p: side}) for side in (True, True, False, True)] == [11.0, 21.0, -1.0, 9.0]
    assert session.run(v) == 9.0


@KINDS
def test_a_loop_assigns_in_every_iteration(session, variable, resource):
    v = variable(resource)

    def body(i, total):
        with tf.control_dependencies([total]):
            return i + 1, total + tf.assign_add(v, 1.0)

    _, total = tf.while_loop(lambda i, _: i < 4, body, [0, 0.0])
    assert session.run(total) == 2.0 + 3.0 + 4.0 + 5.0
    assert session.run(v) == 5.0


def test_a_read_waits_for_the_assignment_it_was_told_to(session, variable):
    """The variable is brought into the loop by the read itself, inside the block of dependencies."""
    v, w = variable(True), tf.get_variable("w", initializer=0.0, use_resource=True)
    session.run(w.initializer)

    def body(i, seen):
        with tf.control_dependencies([v.assign_add(1.0)]):
            value = w.read_value()
        with tf.control_dependencies([value]):
            return i + 1, seen + value

    tf.while_loop(lambda i, _: i < 3, body, [0, 0.0])
    reads = [op for op in tf.get_default_graph().get_operations() if op.type == "ReadVariableOp"]
    inside = next(
        op for op in reads if op.inputs[0].op.type == "Enter" and op.inputs[0].op.inputs[0] is w.handle
    )
    assert any("AssignAddVariableOp" in control.type for control in inside.control_inputs)


def test_a_loop_reads_what_it_has_written(session, variable):
    v = variable(True)

    def body(i, total):
        with tf.control_dependencies([v.assign(v.read_value() * 2.0)]):
            return i + 1, total + v.read_value()

    _, total = tf.while_loop(lambda i, _: i < 4, body, [0, 0.0], parallel_iterations=1)
    assert session.run(total) == 2.0 + 4.0 + 8.0 + 16.0


@KINDS
def test_what_was_read_before_a_loop_stays(session, variable, resource):
    v = variable(resource, [1.0, 2.0])
    before = v.read_value() + 0.0
    with tf.control_dependencies([before]):
        done = tf.while_loop(
            lambda i: i < 3,
            lambda i: i + tf.cast(tf.reduce_sum(tf.assign_add(v, [1.0, 1.0])) > 0, tf.int32),
            [0],
        )
    with tf.control_dependencies([done]):
        after = v.read_value() + 0.0
    found = session.run([before, after])
    assert [value.tolist() for value in found] == [[1.0, 2.0], [4.0, 5.0]]


def test_training_inside_a_loop(session):
    """Ten steps of gradient descent in one step of the session."""
    w = tf.get_variable("w", initializer=5.0, use_resource=True)
    session.run(w.initializer)

    def body(i):
        slope = 2.0 * (w.read_value() - 3.0)
        with tf.control_dependencies([w.assign_sub(0.1 * slope)]):
            return i + 1

    session.run(tf.while_loop(lambda i: i < 10, body, [0], parallel_iterations=1))
    np.testing.assert_allclose(session.run(w), 3.0 + 2.0 * 0.8**10, rtol=1e-5)


@KINDS
def test_the_gradient_by_a_variable_used_in_a_loop(session, variable, resource):
    v = variable(resource, 2.0)
    y = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * v), [0, 1.0])[1]
    slope = tf.gradients(y, v)[0]
    assert session.run([y, slope]) == [8.0, 12.0]


@KINDS
def test_the_gradient_by_a_variable_used_in_a_branch(session, variable, resource):
    v, p = variable(resource, 2.0), tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: v * v, lambda: v * 5.0)
    slope = tf.gradients(y, v)[0]
    assert session.run(slope, {p: True}) == 4.0
    assert session.run(slope, {p: False}) == 5.0


def test_an_uninitialized_variable_in_a_branch_not_taken(session):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: v.read_value() + 1.0, lambda: tf.constant(0.0))
    assert session.run(y, {p: False}) == 0.0
    with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
        session.run(y, {p: True})


def test_assertions_in_branches_and_loops(session):
    n = tf.placeholder(tf.int32, [])

    def body(i):
        with tf.control_dependencies([tf.Assert(i < 3, ["too far:", i])]):
            return i + 1

    y = tf.while_loop(lambda i: i < n, body, [0])
    assert session.run(y, {n: 3}) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="too far"):
        session.run(y, {n: 5})


def test_random_numbers_in_a_loop_are_new_in_every_iteration(session):
    def body(i, made):
        return i + 1, made.write(i, tf.random_uniform([], seed=5))

    made = tf.TensorArray(tf.float32, 4, element_shape=[])
    values = session.run(tf.while_loop(lambda i, _: i < 4, body, [0, made])[1].stack())
    assert len(set(values.tolist())) == 4
