"""What layers of Keras keep of their arguments, and what they say of their calls."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def _own_session():
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def test_the_config_of_normalization_keeps_renormalization_and_virtual_batches():
    options = {
        "renorm": True,
        "renorm_clipping": {"rmax": 2.0},
        "renorm_momentum": 0.5,
        "virtual_batch_size": 2,
    }
    layer = tf.keras.layers.BatchNormalization(**options)
    again = tf.keras.layers.BatchNormalization.from_config(layer.get_config())
    assert {name: getattr(again, name) for name in options} == options
    assert "renorm" not in tf.keras.layers.BatchNormalization().get_config()


def test_variables_of_virtual_batches_have_the_rank_of_what_they_normalize():
    layer = tf.layers.BatchNormalization(virtual_batch_size=2)
    layer(tf.ones((4, 3, 5)), training=True)
    assert {tuple(v.shape.as_list()) for v in layer.variables} == {(1, 1, 1, 5)}


def test_the_input_of_a_layer_that_was_called_twice_is_that_of_the_first_call():
    layer = tf.keras.layers.Dense(3)
    first, second = tf.keras.Input((2,)), tf.keras.Input((2,))
    outputs = [layer(first), layer(second)]
    assert layer.input is first
    assert layer.output is outputs[0]
    assert layer.get_input_at(1) is second


@pytest.mark.parametrize("name", ["SimpleRNN", "LSTM", "CuDNNGRU"])
def test_a_stateful_layer_is_built_for_the_batch_size_of_a_shape(name):
    layer = getattr(tf.keras.layers, name)(3, stateful=True)
    layer.build((2, 4, 5))
    assert [state.shape.as_list() for state in layer.states] == [[2, 3]] * (2 if name == "LSTM" else 1)


def test_a_lambda_may_have_a_local_variable_called_mask():
    def positive(x):
        mask = tf.cast(x > 0, tf.float32)
        return x * mask

    model = tf.keras.Sequential([tf.keras.layers.Lambda(positive, input_shape=(2,))])
    np.testing.assert_array_equal(model.predict(np.array([[-1.0, 2.0]])), [[0.0, 2.0]])


def test_what_is_no_function_layer_or_metric_is_refused():
    with pytest.raises(TypeError, match="unsupported callable"):
        tf.keras.layers.Lambda(3)
    with pytest.raises(AssertionError):
        tf.keras.layers.Wrapper(3)
    with pytest.raises(TypeError, match="abstract"):
        tf.keras.metrics.Metric()


def test_get_value_gives_numbers_back():
    assert tf.keras.backend.get_value(3) == 3
