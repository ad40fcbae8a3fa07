"""What tests of Keras programs take from TensorFlow's own tests."""

import unittest

import numpy as np
import pytest
from absl.testing import parameterized

import tideflow as tf
from tideflow.programs.inner.testing import keras_modes, keras_testing


def test_data_are_points_with_noise():
    (x, y), (x_test, y_test) = keras_testing.get_test_data(6, 2, (3,), 4, random_seed=1)
    assert x.shape == (6, 3) and x.dtype == np.float32 and y.shape == (6,) and x_test.shape == (2, 3)
    again = keras_testing.get_test_data(6, 2, (3,), 4, random_seed=1)
    np.testing.assert_array_equal(again[0][0], x)
    assert set(y) | set(y_test) <= set(range(4))


def test_a_layer_is_checked():
    with tf.Graph().as_default(), tf.Session():
        data = np.ones([2, 3], np.float32)
        found = keras_testing.layer_test(
            tf.keras.layers.Dense,
            {"units": 2, "kernel_initializer": "ones"},
            input_data=data,
            expected_output=np.full([2, 2], 3.0),
        )
        assert found.shape == (2, 2)

        class Wrong(tf.keras.layers.Layer):
            def call(self, inputs):
                return inputs

            def compute_output_shape(self, input_shape):
                return tf.TensorShape([2, 5])

        with pytest.raises(
            AssertionError, match=r"found output_shape=\(2, 3\) but expected to find \[2, 5\]"
        ):
            keras_testing.layer_test(Wrong, input_data=data)
        with pytest.raises(ValueError, match="input_shape is None"):
            keras_testing.layer_test(Wrong)


def test_models_are_of_the_type_that_is_tested():
    with pytest.raises(ValueError, match="outside of a `model_type_scope"):
        keras_testing.get_small_mlp(2, 3, 4)
    with tf.Graph().as_default():
        for kind in ("functional", "sequential", "subclass", "subclass_custom_build"):
            with keras_testing.model_type_scope(kind):
                model = keras_testing.get_small_mlp(2, 3, 4)
                assert model(tf.ones([5, 4])).shape.as_list() == [5, 3]
                dense = tf.keras.layers.Dense(2)
                model = keras_testing.get_model_from_layers([dense], input_shape=(4,))
                assert model(tf.ones([5, 4])).shape.as_list() == [5, 2]
        with keras_testing.model_type_scope("functional"):
            first, second = tf.keras.Input((2,)), tf.keras.Input((3,))
            branches = [first, tf.keras.layers.Dense(1)], [second, tf.keras.layers.Dense(1)]
            model = keras_testing.get_multi_io_model(*branches, shared_output_branch=[tf.keras.layers.Add()])
            assert len(model.inputs) == 2 and len(model.outputs) == 1


def test_tests_run_in_all_modes_and_for_all_models():
    seen = []

    class Case(keras_modes.TestCase):
        @keras_modes.run_all_keras_modes(always_skip_eager=True)
        @keras_modes.run_with_all_model_types(exclude_models="subclass")
        @parameterized.parameters((1,))
        def test_it(self, number):
            kind = keras_testing.get_model_type()
            seen.append((tf.executing_eagerly(), keras_testing.should_run_tf_function(), kind, number))

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert not result.errors and not result.failures
    modes = [(True, True), (True, False), (False, False)]
    kinds = ["functional", "sequential"]
    assert sorted(seen) == sorted((*mode, kind, 1) for mode in modes for kind in kinds)


def test_all_tests_of_a_class():
    seen = []

    @keras_modes.run_with_all_model_types
    class Case(keras_modes.TestCase):
        def test_it(self):
            seen.append(keras_testing.get_model_type())

    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(unittest.TestResult())
    assert sorted(seen) == ["functional", "sequential", "subclass"]
