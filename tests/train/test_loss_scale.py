"""Loss scales, and the optimizer that uses them."""

import numpy as np
import pytest

import tideflow as tf

experimental = tf.train.experimental


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_a_fixed_scale():
    scale = experimental.FixedLossScale(8)
    with tf.Session() as session:
        assert session.run(scale()) == 8.0
    assert scale.update([])[1] is True and scale.get_config() == {"loss_scale_value": 8.0}
    assert experimental.FixedLossScale.from_config(scale.get_config())._loss_scale_value == 8.0
    with pytest.raises(ValueError, match="at least 1"):
        experimental.FixedLossScale(0.5)
    with pytest.raises(ValueError, match="int or float"):
        experimental.FixedLossScale("x")


def test_a_dynamic_scale_grows_and_shrinks():
    scale = experimental.DynamicLossScale(4.0, increment_period=2, multiplier=2.0)
    grad = tf.placeholder(tf.float32, [])
    update, should_apply = scale.update([grad, None])
    current = scale()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for value in (1.0, 1.0, np.nan, 1.0, np.inf, np.nan, np.nan, np.nan):
            seen.append((bool(session.run([should_apply, update], {grad: value})[0]), session.run(current)))
    fit, scales = zip(*seen)
    assert fit == (True, True, False, True, False, False, False, False)
    assert scales == (4.0, 8.0, 4.0, 4.0, 2.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("resource", [False, True])
def test_steps_with_gradients_that_overflow_are_left_out(resource):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=resource)
    factor = tf.placeholder_with_default(1.0, [])
    scale = experimental.DynamicLossScale(increment_period=2)
    optimizer = experimental.MixedPrecisionLossScaleOptimizer(tf.train.AdamOptimizer(0.1), scale)
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(tf.reduce_sum(v * v) * factor, global_step=step)
    current = scale()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        before = session.run([v, step])
        session.run(train, {factor: np.nan})
        np.testing.assert_array_equal(session.run(v), before[0])
        assert session.run([step, current]) == [1, 2.0**14]
        session.run(train)
        assert (session.run(v) < before[0]).all()
    assert optimizer.get_slot_names() == ["m", "v"]


def test_a_fixed_scale_changes_nothing_but_rounding():
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    optimizer = experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), 64.0)
    pairs = optimizer.compute_gradients(tf.reduce_sum(v * v))
    train = optimizer.apply_gradients(pairs)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(pairs[0][0]), [2.0, 4.0])
        session.run(train)
        np.testing.assert_allclose(session.run(v), [0.8, 1.6])
    with pytest.raises(ValueError, match='"opt" must be an instance'):
        experimental.MixedPrecisionLossScaleOptimizer("sgd", 1.0)
    with pytest.raises(ValueError, match="Could not interpret loss scale"):
        experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), "x")
