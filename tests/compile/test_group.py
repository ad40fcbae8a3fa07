"""Grouped optimizer updates: one call for many variables, and every value as if each were updated alone."""

import numpy as np
import pytest

import tideflow as tf
from tests.compile.steps import PLAIN, Compiled, normal, program, types
from tideflow.compile.group import group_updates
from tideflow.compile.rewrite import optimize

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
OPTIMIZERS = {
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.3),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.3, 0.8),
    "Adam": lambda: tf.train.AdamOptimizer(0.3, 0.7, 0.9, 1e-3),
}
SHAPES = [(3, 2), (4,), (), (2, 1, 3)]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def variables(use_resource, dtype=np.float32):
    return [tf.Variable(normal(*s).astype(dtype), use_resource=use_resource) for s in SHAPES]


def trained(step, fetches, feeds=None, steps=3, config=None):
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(step, feeds)
        return session.run(fetches)


def grouped(fetches, feeds=None):
    """The types of the program once updates are grouped."""
    made = program(fetches, feeds)
    optimize(made, check=True)
    group_updates(made)
    made.check()
    return types(made)


@KINDS
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_grouped_updates_are_the_single_ones(name, use_resource):
    made = variables(use_resource)
    loss = tf.add_n([tf.reduce_sum(v**2 + tf.sin(v)) for v in made])
    step = OPTIMIZERS[name]().minimize(loss)
    found = grouped(step)
    assert found.count(f"_Grouped{name}") == 1
    assert not any(t.endswith(f"Apply{name}") for t in found)
    everything = tf.global_variables()
    assert len(everything) >= len(made)
    for a, b in zip(trained(step, everything), trained(step, everything, config=PLAIN), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_group_can_be_switched_off_alone(name):
    made = variables(False)
    step = OPTIMIZERS[name]().minimize(tf.add_n([tf.reduce_sum(v**2) for v in made]))
    assert "group_updates" in Compiled(step).plan.applied
    without = Compiled(step, disabled={"group_updates"})
    assert "group_updates" not in without.plan.applied
    assert sum(t == f"Apply{name}" for t in without.types) == len(made)


def test_one_update_alone_is_no_group():
    v = tf.Variable(1.0)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(v**2)
    assert "group_updates" not in Compiled(step).plan.applied


def test_types_and_rates_are_grouped_apart():
    updates = [
        tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=rate, delta=v * 2.0)
        for dtype, rates in ((np.float32, (0.5, 0.1)), (np.float64, (0.5,)))
        for rate in (tf.constant(r, dtype) for r in rates)
        for v in variables(True, dtype)
    ]
    assert grouped(updates).count("_GroupedGradientDescent") == 3


def test_nesterov_is_not_grouped():
    made = variables(True)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)
    assert "_GroupedMomentum" not in grouped(
        optimizer.minimize(tf.add_n([tf.reduce_sum(v**2) for v in made]))
    )


@KINDS
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_two_updates_of_one_variable_are_both_made(name, use_resource):
    v, w = (tf.Variable([1.0, 2.0], use_resource=use_resource) for _ in range(2))
    optimizer = OPTIMIZERS[name]()
    first = optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v), (tf.constant([1.0, 1.0]), w)])
    second = optimizer.apply_gradients([(tf.constant([2.0, 1.0]), v)])
    steps = [first, second]
    for a, b in zip(trained(steps, [v, w]), trained(steps, [v, w], config=PLAIN), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_the_same_variable_as_its_own_accumulator_is_not_lost():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    step = tf.raw_ops.ResourceApplyMomentum(
        var=v.handle, accum=v.handle, lr=0.1, grad=[1.0, 1.0], momentum=0.5
    )
    assert np.isfinite(trained(step, v)).all()


@KINDS
def test_no_update_is_drawn_across_a_read(use_resource):
    """What reads a variable between two updates sees the first and not the second."""
    v, w = (tf.Variable(float(k), use_resource=use_resource) for k in (1, 2))
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    first = optimizer.apply_gradients([(tf.constant(1.0), v)])
    with tf.control_dependencies([first]):
        seen = [v.read_value() + 0.0, w.read_value() + 0.0]
    with tf.control_dependencies(seen):
        second = optimizer.apply_gradients([(tf.constant(1.0), w)])
    with tf.control_dependencies([second]):
        after = [v.read_value() * 1.0, w.read_value() * 1.0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([seen, after]) == [[0.0, 2.0], [0.0, 1.0]]


def test_no_update_is_drawn_across_a_read_by_another_name():
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    handed_on = v.assign(5.0)
    with tf.control_dependencies([handed_on]):
        step = tf.train.GradientDescentOptimizer(0.5).apply_gradients(
            [(tf.constant(1.0), v), (tf.constant(1.0), w)]
        )
    with tf.control_dependencies([step]):
        seen = handed_on + 0.0
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([seen, step])[0] == 4.5


def test_no_update_is_drawn_across_a_write():
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    first = optimizer.apply_gradients([(tf.constant(1.0), v)])
    with tf.control_dependencies([first]):
        doubled = tf.group(v.assign(v.read_value() * 2.0 + 6.0), w.assign(9.0))
    with tf.control_dependencies([doubled]):
        second = optimizer.apply_gradients([(tf.constant(1.0), v), (tf.constant(1.0), w)])
    assert trained(second, [v, w], steps=1) == [5.0, 8.0]


def test_reads_of_other_variables_do_not_part_a_group():
    made = variables(False)
    other = tf.Variable(7.0)
    loss = tf.add_n([tf.reduce_sum(v**2) for v in made])
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss * other)
    assert grouped(step).count("_GroupedGradientDescent") == 1


def test_updates_whose_result_is_taken_stay_single():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    updates = [tf.raw_ops.ApplyGradientDescent(var=x._ref(), alpha=0.5, delta=1.0) for x in (v, w)]
    assert "_GroupedGradientDescent" not in grouped([u + 0.0 for u in updates])


def test_updates_in_a_branch_stay_single():
    pred = tf.placeholder(tf.bool, [])
    made = variables(True)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    loss = tf.add_n([tf.reduce_sum(v**2) for v in made])
    grads = tf.gradients(loss, made)
    step = tf.cond(pred, lambda: optimizer.apply_gradients(zip(grads, made, strict=True)), tf.no_op)
    before = trained(step, made, {pred: False})
    for value, v in zip(before, SHAPES, strict=True):
        np.testing.assert_array_equal(value, normal(*v))
    after = trained(step, made, {pred: True}, steps=1)
    for value, v in zip(after, SHAPES, strict=True):
        np.testing.assert_allclose(value, normal(*v) * 0.8, rtol=1e-5)


def test_a_bad_gradient_changes_no_variable_of_the_group():
    made = [tf.Variable(tf.zeros([2]), validate_shape=False) for _ in range(3)]
    fed = tf.placeholder(tf.float32, None)
    updates = [
        tf.raw_ops.ApplyGradientDescent(var=v._ref(), alpha=1.0, delta=g)
        for v, g in zip(made, ([1.0, 1.0], [1.0, 1.0], fed), strict=True)
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="same shape"):
            session.run([u.op for u in updates], {fed: [1.0, 2.0, 3.0]})
        assert [v.tolist() for v in session.run(made)] == [[0.0, 0.0]] * 3


def test_errors_of_a_group_name_an_update_of_it():
    made = [tf.Variable(1.0, name=f"weights{k}") for k in range(3)]
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.add_n([v**2 for v in made]))
    with tf.Session() as session:
        session.run([v.initializer for v in made[1:]])
        with pytest.raises(tf.errors.FailedPreconditionError, match="weights0"):
            session.run(step)


@KINDS
def test_updates_under_one_condition_are_grouped(use_resource):
    made = variables(use_resource)
    is_due = tf.placeholder(tf.bool, [])
    gradients = tf.gradients(tf.add_n([tf.reduce_sum(v**2) for v in made]), made)
    optimizer = tf.train.MomentumOptimizer(0.3, 0.8)
    optimizer._create_slots(made)

    def update():
        return tf.group(optimizer.apply_gradients(zip(gradients, made, strict=True)))

    step = tf.cond(is_due, update, tf.no_op)
    assert grouped(step, {is_due: True}).count("_GroupedMomentum") == 1
    for due in (True, False):
        everything = tf.global_variables()
        found = trained(step, everything, {is_due: due})
        for a, b in zip(found, trained(step, everything, {is_due: due}, config=PLAIN), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@KINDS
def test_moving_averages_are_grouped(use_resource):
    made = variables(use_resource)
    x = [tf.sin(v * 2.0) for v in made]
    updates = [tf.assign_sub(v, (v - value) * 0.1) for v, value in zip(made, x, strict=True)]
    step = tf.group(*updates)
    found = grouped(step)
    assert found.count("_GroupedMovingAverage") == 1 and "Sub" not in found
    for a, b in zip(trained(step, made), trained(step, made, config=PLAIN), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@KINDS
def test_a_moving_average_of_an_old_value_is_not_grouped(use_resource):
    """Between the read and the update, another node changes the variable."""
    made = variables(use_resource)[:2]
    old = [v.read_value() * 1.0 for v in made]
    with tf.control_dependencies(old):
        changed = [v.assign_add(tf.ones_like(o)) for v, o in zip(made, old, strict=True)]
    with tf.control_dependencies(changed):
        step = tf.group(*(tf.assign_sub(v, (o - 3.0 * tf.ones_like(o)) * 0.5) for v, o in zip(made, old)))
    for a, b in zip(trained(step, made), trained(step, made, config=PLAIN), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
