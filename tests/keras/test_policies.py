"""Policies of types that hold for all layers, as after `tf.enable_v2_behavior`."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.variables import behavior

policies = tf.keras.mixed_precision.experimental


@pytest.fixture(autouse=True)
def version_2(monkeypatch):
    monkeypatch.setattr(behavior._Chosen, "v2_behavior", True)
    yield
    policies.set_policy(None)


def test_layers_take_the_global_policy_and_cast_their_inputs():
    policies.set_policy("mixed_float16")
    layer = tf.keras.layers.Dense(2)
    assert layer(tf.zeros([1, 3])).dtype == tf.float16
    assert layer.dtype == "float32" and [weight.dtype for weight in layer.weights] == [tf.float32] * 2


def test_without_a_policy_layers_have_floatx():
    assert policies.global_policy().name == "float32"
    assert tf.keras.layers.Dense(2)(tf.zeros([1, 3], tf.float64)).dtype == tf.float32


def test_a_model_scales_its_loss_as_the_policy_says():
    policies.set_policy(policies.Policy("mixed_float16", loss_scale=4.0))
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    assert isinstance(model.optimizer, policies.LossScaleOptimizer)
    before = model.evaluate(np.ones([4, 2]), np.zeros([4, 1]), verbose=0)
    model.fit(np.ones([4, 2]), np.zeros([4, 1]), epochs=2, verbose=0)
    assert model.evaluate(np.ones([4, 2]), np.zeros([4, 1]), verbose=0) < before
    with pytest.raises(ValueError, match="must be an instance of"):
        model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")


def test_loss_scales_tell_their_numbers():
    experimental = tf.train.experimental
    assert repr(experimental.FixedLossScale(2.0)) == "FixedLossScale(2.0)"
    words = "DynamicLossScale(initial_loss_scale=8.0, increment_period=3, multiplier=2.0)"
    assert repr(experimental.DynamicLossScale(8, 3)) == words
