"""Quantized numbers: what goes there and back, and what TensorFlow's own kernels are known to give."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tideflow.ops.quantization import quantized_numbers

KINDS = [tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32]


@pytest.fixture(autouse=True)
def own_graph():
    with tf.Graph().as_default():
        yield


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_there_and_back(kind, mode):
    if mode == "SCALED" and kind in (tf.quint8, tf.quint16):
        x = np.linspace(0, 2, 101).astype(np.float32)
    else:
        x = np.linspace(-1, 2, 101).astype(np.float32)
    q = tf.quantization.quantize(x, -1.0, 2.0, kind, mode)
    back, low, high = run([tf.quantization.dequantize(q.output, q.output_min, q.output_max, mode), *q[1:]])
    step = max((high - low) / (quantized_numbers.steps(kind) - 1), 4 * np.spacing(np.float32(2)))
    np.testing.assert_allclose(back[:-1], x[:-1], atol=step)  # the top of 32 bits is beyond float32


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_values_come_out_as_plain_integers(kind):
    array = np.array([0, 1, 5], kind.numpy)
    fed = tf.placeholder(kind, [3])
    for value in (array, array.view(kind.as_numpy_dtype), [0, 1, 5]):
        found = run(tf.identity(fed), {fed: value})
        assert found.dtype == kind.numpy and found.tolist() == [0, 1, 5]
    constant = tf.constant([(0,), (1,)], kind)
    assert constant.dtype is kind and run(constant).tolist() == [0, 1]
    with pytest.raises(TypeError, match=f"Expected {kind.name}, got 0 of type 'int'"):
        tf.constant([0, 1], kind)


def test_known_numbers():
    x = np.array([-1.0, 0.0, 0.5, 1.0], np.float32)
    found = run(tf.quantization.quantize(x, -1.0, 1.0, tf.quint8))
    assert found.output.tolist() == [0, 128, 191, 255] and (found.output_min, found.output_max) == (-1.0, 1.0)
    fake = run(
        tf.quantization.fake_quant_with_min_max_vars_per_channel(
            [[1.0, 2.0, 3.0]], [-1.0, 0.0, 3.0], [3.0, 0.0, 2.0]
        )
    )
    np.testing.assert_array_equal(fake, np.float32([[1.0039216, 0.0, 1.0]]))


@pytest.mark.parametrize("axis", [0, 1])
def test_ranges_along_an_axis_are_those_of_its_parts(axis):
    x = np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32)
    low, high = np.float32([-1, -2, -0.5]), np.float32([1, 0.5, 2])
    whole = run(
        tf.raw_ops.QuantizeV2(input=x, min_range=low, max_range=high, T=tf.qint8, mode="SCALED", axis=axis)
    )
    for i in range(3):
        part = run(tf.quantization.quantize(x.take(i, axis), low[i], high[i], tf.qint8, "SCALED"))
        np.testing.assert_array_equal(whole.output.take(i, axis), part.output)
        assert (whole.output_min[i], whole.output_max[i]) == (part.output_min, part.output_max)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_zero_stays_zero(kind):
    q = tf.quantization.quantize([0.0], -0.37, 1.9, kind, "MIN_FIRST")
    assert run(
        tf.quantization.dequantize(q.output, q.output_min, q.output_max, "MIN_FIRST")
    ) == pytest.approx(0, abs=1e-6)


def test_relu_x_keeps_between_zero_and_its_maximum():
    q = tf.quantization.quantize(np.linspace(-5, 9, 50).astype("f"), -5.0, 9.0, tf.quint8, "MIN_FIRST")
    y = tf.nn.quantized_relu_x(q.output, 2.5, q.output_min, q.output_max)
    found = run(tf.quantization.dequantize(*y, "MIN_FIRST"))
    np.testing.assert_allclose(found, np.clip(np.linspace(-5, 9, 50), 0, 2.5), atol=14 / 255)


def test_gradients_pass_inside_of_the_range():
    x = tf.constant([-2.0, -0.5, 0.0, 0.5, 2.0])
    low, high = tf.constant(-1.0), tf.constant(1.0)
    y = tf.quantization.fake_quant_with_min_max_vars(x, low, high)
    by_x, by_low, by_high = run(tf.gradients(y, [x, low, high], tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])))
    assert by_x.tolist() == [0, 2, 3, 4, 0] and (by_low, by_high) == (1, 5)
