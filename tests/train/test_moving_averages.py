"""Moving averages: what they follow, their names, and how they are restored."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode
from tideflow.train.moving_averages import assign_moving_average


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def followed(variable, ema, values):
    """The average of a variable after each of the values it was given."""
    update = ema.apply([variable])
    value = tf.placeholder(tf.float32)
    assign = variable.assign(value)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for v in values:
            session.run(assign, {value: v})
            session.run(update)
            seen.append(session.run(ema.average(variable)))
        return seen


@pytest.mark.parametrize("use_resource", [False, True])
def test_an_average_starts_with_the_value_and_follows_it(use_resource):
    v = tf.Variable(10.0, name="v", use_resource=use_resource)
    np.testing.assert_allclose(
        followed(v, tf.train.ExponentialMovingAverage(0.9), [20.0, 0.0]), [11.0, 9.9], 1e-6
    )


def test_the_number_of_updates_shortens_the_memory():
    v = tf.Variable(10.0, name="v")
    decay = (1 + 3) / (10 + 3)
    expected = 20.0 + (10.0 - 20.0) * decay
    np.testing.assert_allclose(
        followed(v, tf.train.ExponentialMovingAverage(0.9, num_updates=3), [20.0]), [expected], 1e-6
    )


def test_names_and_collections():
    v = tf.Variable(1.0, name="v")
    with tf.name_scope("s"):
        t = tf.multiply(v, 2.0, name="t")
    ema = tf.train.ExponentialMovingAverage(0.5, name="EMA")
    assert ema.average(v) is None
    assert ema.average_name(v) == "v/EMA"
    update = ema.apply([v, t])
    assert (update.name, update.type) == ("EMA", "NoOp")
    assert [ema.average(x).op.name for x in (v, t)] == ["v/EMA", "s/t/EMA"]
    assert ema.average_name(t) == "s/t/EMA"
    assert tf.moving_average_variables() == [v]
    assert not ema.average(v).trainable
    ema.apply([v])
    assert len(tf.global_variables()) == 3


def test_all_trainable_variables_are_averaged_by_default():
    tf.Variable(1.0, name="v")
    tf.Variable(2.0, name="w", trainable=False)
    tf.train.ExponentialMovingAverage(0.9).apply()
    assert [x.op.name for x in tf.global_variables()] == ["v", "w", "v/ExponentialMovingAverage"]


@pytest.mark.parametrize("zero_debias", [False, True])
def test_the_average_of_a_tensor_starts_at_zero(zero_debias):
    x = tf.placeholder(tf.float32, [], name="x")
    ema = tf.train.ExponentialMovingAverage(0.5, zero_debias=zero_debias)
    update = ema.apply([x])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for value in (8.0, 8.0, 0.0):
            session.run(update, {x: value})
            seen.append(session.run(ema.average(x)))
    raw = np.array([4.0, 6.0, 3.0])
    np.testing.assert_allclose(seen, raw / [0.5, 0.75, 0.875] if zero_debias else raw)


@pytest.mark.parametrize("use_resource", [False, True])
def test_debiased_averages_keep_what_they_need_beside_the_variable(use_resource):
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=use_resource)
    update = assign_moving_average(v, 8.0, 0.5)
    assign_moving_average(v, 8.0, 0.5)
    assert [x.op.name for x in tf.global_variables()] == [
        *("v", "v/biased", "v/local_step", "v/biased_1", "v/local_step_1")
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        np.testing.assert_allclose(session.run(v), 8.0)


def test_eagerly_an_average_is_debiased_at_each_call():
    with eager_mode():
        v = tf.Variable(0.0, use_resource=True)
        seen = [assign_moving_average(v, value, 0.5).numpy() for value in (8.0, 8.0)]
        np.testing.assert_allclose([*seen, v.numpy()], [8.0, 8.0, 8.0])


def test_other_types():
    v = tf.Variable([1.0, 2.0], dtype=tf.float64, name="v")
    seen = assign_moving_average(v, tf.constant([3.0, 4.0], tf.float64), 0.75, zero_debias=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(seen), [1.5, 2.5])
    with pytest.raises(TypeError, match="must be half, float, or double"):
        tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1)])


def test_variables_to_restore():
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w", trainable=False)
    ema = tf.train.ExponentialMovingAverage(0.9)
    ema.apply([v])
    assert ema.variables_to_restore() == {"v/ExponentialMovingAverage": v, "w": w}
    assert ema.variables_to_restore([w]) == {
        "w/ExponentialMovingAverage": w,
        "v": v,
        "v/ExponentialMovingAverage": ema.average(v),
    }
