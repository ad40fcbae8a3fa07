"""Initializers: values (TensorFlow 1.15's, where a seed fixes them), scales, types and configurations."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.variables.initializers import ConvolutionDeltaOrthogonal, fans


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def value(tensor):
    with tf.Session() as sess:
        return sess.run(tensor)


# Initializer, shape, and the first numbers that TensorFlow 1.15 makes with these seeds.
SEEDED = {
    "uniform": (tf.random_uniform_initializer(-1, 2, seed=3), [2, 3], [0.16078818, 0.08007872, 1.9306388]),
    "normal": (tf.random_normal_initializer(1.0, 2.0, seed=3), [2, 3], [3.1233242, -0.7571566, 1.2237443]),
    "truncated": (
        tf.truncated_normal_initializer(1.0, 2.0, seed=3),
        [2, 3],
        [3.1233242, -0.7571566, 1.2237443, 1.3702344, 0.6753304],
    ),
    "unit scaling": (
        tf.uniform_unit_scaling_initializer(1.5, seed=3),
        [2, 3, 4],
        [-0.23985898, -0.29692918, 1.0116143],
    ),
    "fan in": (tf.variance_scaling_initializer(seed=3), [2, 3, 4], [0.4927343, -0.4077622, 0.05192165]),
    "fan out": (
        tf.variance_scaling_initializer(2.0, "fan_out", "uniform", seed=3),
        [2, 3, 4],
        [-0.19584405, -0.24244165, 0.82597965],
    ),
    "untruncated": (
        tf.variance_scaling_initializer(2.0, "fan_avg", "untruncated_normal", seed=3),
        [4],
        [0.75070846, -0.62124866, 0.07910556],
    ),
    "scalar": (tf.variance_scaling_initializer(2.0, "fan_avg", "normal", seed=3), [], [1.7068816]),
    "glorot normal": (tf.glorot_normal_initializer(seed=3), [3, 3, 2, 4], [0.23227718, -0.19222094]),
    "glorot uniform": (tf.glorot_uniform_initializer(seed=3), [3, 3, 2, 4], [-0.07538041, -0.09331584]),
    "he normal": (tf.initializers.he_normal(seed=3), [2, 4], [1.2069476, -0.99880934]),
    "he uniform": (tf.initializers.he_uniform(seed=3), [2, 4], [-0.3916881, -0.4848833]),
    "lecun normal": (tf.initializers.lecun_normal(seed=3), [2, 4], [0.8534408, -0.70626485]),
    "lecun uniform": (tf.initializers.lecun_uniform(seed=3), [2, 4], [-0.27696532, -0.34286427]),
    "orthogonal": (
        tf.orthogonal_initializer(2.0, seed=3),
        [4, 3],
        [1.233814, -0.66909933, -1.1790512, 0.21513453],
    ),
}


@pytest.mark.parametrize("name", SEEDED)
def test_seeded_values_are_tensorflows(name):
    initializer, shape, wanted = SEEDED[name]
    found = value(initializer(shape))
    assert found.shape == tuple(shape)
    np.testing.assert_allclose(np.ravel(found)[: len(wanted)], wanted, rtol=2e-5)


def test_constants():
    assert value(tf.zeros_initializer(tf.int32)([2])).tolist() == [0, 0]
    assert value(tf.ones_initializer()([2], tf.int64)).tolist() == [1, 1]
    assert value(tf.constant_initializer([1.0, 2.0])([2, 2])).tolist() == [[1, 2], [2, 2]]
    assert value(tf.constant_initializer("a", tf.string)([2])).tolist() == [b"a", b"a"]
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(2, 2\), got \(2,\)"):
        tf.constant_initializer([1.0, 2.0], verify_shape=True)([2, 2])
    with pytest.raises(ValueError, match="Too many elements"):
        tf.constant_initializer([1.0, 2.0, 3.0])([2])
    with pytest.raises(TypeError, match="Invalid type for initial value"):
        tf.constant_initializer(object())


def test_identity_and_its_parts():
    np.testing.assert_array_equal(value(tf.initializers.identity(2.0)([2, 3])), [[2, 0, 0], [0, 2, 0]])
    v = tf.get_variable(
        "w", [4, 4], initializer=tf.initializers.identity(), partitioner=tf.fixed_size_partitioner(2)
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(v.as_tensor()), np.eye(4))
    with pytest.raises(ValueError, match="2D matrices"):
        tf.initializers.identity()([2, 2, 2])


@pytest.mark.parametrize("shape", [[5, 3], [3, 5], [2, 3, 4]])
def test_orthogonal_matrices_are(shape):
    matrix = value(tf.orthogonal_initializer(dtype=tf.float64)(shape)).reshape(-1, shape[-1])
    small = min(matrix.shape)
    product = matrix @ matrix.T if matrix.shape[0] == small else matrix.T @ matrix
    np.testing.assert_allclose(product, np.eye(small), atol=1e-12)


def test_delta_orthogonal_filters_are_orthogonal_at_their_centre():
    kernel = value(ConvolutionDeltaOrthogonal(dtype=tf.float64)([3, 3, 2, 4]))
    np.testing.assert_allclose(kernel[1, 1] @ kernel[1, 1].T, np.eye(2), atol=1e-12)
    kernel[1, 1] = 0
    assert not kernel.any()
    with pytest.raises(ValueError, match="In_filters cannot be greater"):
        ConvolutionDeltaOrthogonal()([3, 4, 2])


def test_fans():
    assert fans([]) == (1, 1) and fans([5]) == (5, 5) and fans([2, 3]) == (2, 3)
    assert fans([3, 3, 2, 4]) == (18, 36)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.variance_scaling_initializer(-1.0),
        lambda: tf.variance_scaling_initializer(mode="fan"),
        lambda: tf.variance_scaling_initializer(distribution="other"),
        lambda: tf.truncated_normal_initializer(dtype=tf.int32),
        lambda: tf.orthogonal_initializer()([3]),
    ],
)
def test_arguments_that_are_refused(make):
    with pytest.raises(ValueError):
        make()


INITIALIZERS = [
    tf.zeros_initializer(tf.int32),
    tf.ones_initializer(),
    tf.constant_initializer(2.0),
    tf.random_uniform_initializer(1, 2),
    tf.random_normal_initializer(seed=3),
    tf.truncated_normal_initializer(stddev=0.1),
    tf.uniform_unit_scaling_initializer(2.0),
    tf.variance_scaling_initializer(distribution="normal"),
    tf.orthogonal_initializer(3.0),
    tf.initializers.identity(),
    tf.glorot_uniform_initializer(seed=2),
    tf.glorot_normal_initializer(),
]


@pytest.mark.parametrize("initializer", INITIALIZERS, ids=lambda i: type(i).__name__)
def test_configurations_make_the_same_again(initializer):
    again = type(initializer).from_config(initializer.get_config())
    assert vars(again) == vars(initializer)


def test_keras_names():
    keras = tf.keras.initializers
    assert keras.Zeros is tf.zeros_initializer and keras.glorot_uniform is tf.glorot_uniform_initializer
    assert keras.RandomNormal().stddev == 0.05 and keras.RandomUniform().minval == -0.05
    assert isinstance(keras.get("he_normal"), keras.VarianceScaling) and keras.get(None) is None
    assert isinstance(keras.get("Ones"), keras.Ones) and isinstance(keras.get(keras.Ones), keras.Ones)
    assert keras.get(keras.serialize(keras.Constant(3.0))).value == 3.0
    with pytest.raises(ValueError, match="Unknown initializer"):
        keras.get("nonsense")
    with pytest.raises(ValueError, match="Could not interpret"):
        keras.get(3)
