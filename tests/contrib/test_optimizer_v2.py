"""tf.contrib.optimizer_v2: eager mode, checkpoints and replicas, beside what the oracle's programs show."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode

v2 = tf.contrib.optimizer_v2


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (v2.AdamOptimizer(0.1), tf.train.AdamOptimizer(0.1)),
        (v2.MomentumOptimizer(lambda: 0.1, 0.9), tf.train.MomentumOptimizer(0.1, 0.9)),
    ],
)
def test_eager_steps_are_those_of_tf_train(new, old) -> None:
    with eager_mode():
        found = []
        for optimizer in (new, old):
            variable = tf.Variable([3.0, -2.0])
            for _ in range(3):
                optimizer.minimize(lambda v=variable: tf.reduce_sum(v * v), var_list=[variable])
            found.append(variable.numpy())
        np.testing.assert_allclose(*found, rtol=1e-6)


def test_a_function_is_asked_for_each_eager_update() -> None:
    rates = iter([1.0, 0.25])
    with eager_mode():
        variable = tf.Variable(1.0)
        optimizer = v2.GradientDescentOptimizer(lambda: next(rates))
        for _ in range(2):
            optimizer.apply_gradients([(tf.constant(1.0), variable)])
        assert variable.numpy() == -0.25


def test_the_gradients_of_replicas_are_added() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with tf.Graph().as_default(), strategy.scope():
        variable = tf.get_variable("v", initializer=1.0)
        optimizer = v2.AdamOptimizer(0.5)
        train = strategy.experimental_run_v2(
            lambda: optimizer.minimize(lambda: variable * variable, var_list=[variable])
        )
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(tf.global_variables_initializer())
            session.run(strategy.group(train))
            assert session.run(
                variable.primary if hasattr(variable, "primary") else variable
            ) == pytest.approx(0.5)


def test_the_state_is_part_of_a_checkpoint(tmp_path) -> None:
    with eager_mode():
        for restored in (False, True):
            variable, optimizer = tf.Variable(1.0), v2.AdamOptimizer(0.1)
            checkpoint = tf.train.Checkpoint(v=variable, optimizer=optimizer)
            if restored:
                checkpoint.restore(tf.train.latest_checkpoint(str(tmp_path)))
            optimizer.apply_gradients([(tf.constant(1.0), variable)])
            if not restored:
                checkpoint.save(str(tmp_path / "saved"))
        np.testing.assert_allclose(variable.numpy(), 0.8, rtol=1e-5)
        power = next(each for each in optimizer.variables() if "beta1_power" in each.name)
        np.testing.assert_allclose(power.numpy(), 0.9**3, rtol=1e-5)
