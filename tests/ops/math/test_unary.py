"""Functions of one tensor beyond their samples: small types, complex slopes, sparse tensors, parts."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.op import definitions
from tideflow.ops.helpers.types import FLOATS

FUNCTIONS = {
    name: op
    for name, op in definitions().items()
    if len(op.inputs) == len(op.outputs) == 1
    and op.inputs[0].name == "x"
    and "T" in op.attrs
    and set(op.attrs["T"].allowed or ()) >= set(FLOATS)
    and op.outputs[0].type_attr == "T"
}
HOLOMORPHIC = {  # function: its derivative
    "square": lambda z: 2 * z,
    "sqrt": lambda z: 0.5 / np.sqrt(z),
    "rsqrt": lambda z: -0.5 * z**-1.5,
    "exp": np.exp,
    "expm1": np.exp,
    "log": lambda z: 1 / z,
    "log1p": lambda z: 1 / (1 + z),
    "sin": np.cos,
    "cos": lambda z: -np.sin(z),
    "tan": lambda z: np.cos(z) ** -2,
    "sinh": np.cosh,
    "cosh": np.sinh,
    "tanh": lambda z: np.cosh(z) ** -2,
    "asinh": lambda z: 1 / np.sqrt(1 + z * z),
    "atanh": lambda z: 1 / (1 - z * z),
    "reciprocal": lambda z: -(z**-2),
    "negative": lambda z: -np.ones_like(z),
    "sigmoid": lambda z: np.exp(-z) / (1 + np.exp(-z)) ** 2,
}


def run(build, feeds=None):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build(), feeds)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16], ids=lambda t: t.name)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_small_floats_are_computed_to_their_precision(name, dtype):
    sample = FUNCTIONS[name].sample_cases[0][0].array()
    small = sample.astype(dtype.as_numpy_dtype)
    found, exact = run(lambda: [FUNCTIONS[name](small), FUNCTIONS[name](small.astype(np.float64))])
    assert found.dtype == small.dtype
    precision = 0.01 if dtype is tf.bfloat16 else 0.002
    np.testing.assert_allclose(found.astype(np.float64), exact, precision, precision)


@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_complex_gradients_are_conjugate_derivatives(name):
    z = np.array([0.3 + 0.4j, -0.2 + 0.7j, 0.6 - 0.1j])
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(z)
        (grad,) = tf.gradients(getattr(tf.math, name)(x), x, grad_ys=tf.ones_like(x))
        np.testing.assert_allclose(session.run(grad), np.conj(HOLOMORPHIC[name](z)), 1e-12)


@pytest.mark.parametrize(
    "name", ["tanh", "sigmoid", "sqrt", "rsqrt", "reciprocal", "exp", "erf", "lgamma", "asin"]
)
def test_second_derivatives_are_slopes_of_the_first(name):
    at, step = np.array([0.2, 0.5, 0.8]), 1e-6
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float64, [3])
        first = tf.gradients(getattr(tf.math, name)(x), x)[0]
        second = tf.gradients(first, x)[0]
        slope = (session.run(first, {x: at + step}) - session.run(first, {x: at - step})) / (2 * step)
        np.testing.assert_allclose(session.run(second, {x: at}), slope, 1e-7)


def test_sparse_tensors_keep_their_places():
    def build():
        s = tf.SparseTensor([[0, 1], [1, 0]], [-4.0, 9.0], [2, 2])
        return [tf.abs(s), tf.square(s), tf.negative(s), tf.sign(s), tf.tanh(s)]

    for found, function in zip(run(build), [np.abs, np.square, np.negative, np.sign, np.tanh], strict=True):
        assert found.indices.tolist() == [[0, 1], [1, 0]]
        np.testing.assert_allclose(found.values, function(np.float32([-4.0, 9.0])), 1e-6)


def test_real_numbers_are_their_own_real_part_and_conjugate():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2])
        assert tf.math.real(x) is x
        assert tf.math.conj(x) is x
        assert len(graph.get_operations()) == 1
        assert tf.math.imag(x).name == "Imag/zeros_like:0"
        assert tf.math.angle([1.0]).name == "Angle/zeros_like:0"
        with pytest.raises(TypeError, match="Expected numeric or variant tensor"):
            tf.math.conj(tf.constant([True]))


@pytest.mark.parametrize(("dtype", "parts"), [(tf.complex64, tf.float32), (tf.complex128, tf.float64)])
def test_parts_have_half_the_size(dtype, parts):
    with tf.Graph().as_default():
        z = tf.placeholder(dtype, [2])
        made = [tf.abs(z), tf.math.real(z), tf.math.imag(z), tf.math.angle(z)]
        assert [x.dtype for x in made] == [parts] * 4
        assert tf.complex(*made[1:3]).dtype is dtype
        with pytest.raises(TypeError, match="real and imag have incorrect types: int32 int32"):
            tf.complex(1, 2)


def test_halves_round_to_even_and_integers_stay():
    assert run(lambda: tf.round([-2.5, -1.5, 0.5, 2.5])).tolist() == [-2, -2, 0, 2]
    with tf.Graph().as_default():
        whole = tf.constant([1, 2])
        assert tf.round(whole) is whole


def test_log_sigmoid_survives_large_numbers():
    found = run(lambda: tf.math.log_sigmoid(tf.constant([-1000.0, 0.0, 1000.0])))
    np.testing.assert_allclose(found, [-1000.0, -np.log(2), 0.0], 1e-6)


def test_a_type_that_is_not_allowed_is_named():
    with (
        tf.Graph().as_default(),
        pytest.raises(TypeError, match="'x' has DataType int32 not in list of allowed values"),
    ):
        tf.sqrt(tf.constant([1]))
