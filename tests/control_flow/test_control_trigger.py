"""ControlTrigger runs behind the side of a Switch that is not taken, as in TensorFlow 1.15."""

import pytest

import tideflow as tf


@pytest.mark.parametrize("executor", ["", "TOKENS"])
@pytest.mark.parametrize("taken", [True, False])
def test_what_waits_for_a_trigger_runs_in_any_case(executor, taken):
    pred = tf.placeholder(tf.bool, [])
    _, side = tf.raw_ops.Switch(data=tf.constant(1.0), pred=pred)
    with tf.control_dependencies([tf.identity(side)]):
        trigger = tf.raw_ops.ControlTrigger()
    with tf.control_dependencies([trigger]):
        behind = tf.identity(tf.constant(3.0))
    config = tf.ConfigProto()
    config.experimental.executor_type = executor
    with tf.Session(config=config) as session:
        assert session.run(behind, {pred: taken}) == 3.0
