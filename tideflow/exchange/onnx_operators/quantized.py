"""Numbers of 8 bits and fewer, with their scales and zero points."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.exchange.onnx_operators.images import convolved
from tideflow.exchange.onnx_operators.products import product
from tideflow.exchange.onnx_operators.registry import Given, operator, sizes_of


def _per_axis(given: Given, value: Any) -> Any:
    """A scale or zero point, as it stands beside the first input: for all of it, for each place along an
    axis, or for each block of places.
    """
    if value.shape.ndims == 0 or value.shape.as_list() == [1]:
        return tf.reshape(value, [])
    rank = given.rank()
    axis = given.attribute("axis", 1) % rank
    if block := given.attribute("block_size", 0):
        blocks = tf.repeat(value, block, axis)
        size = sizes_of(given.inputs[0])[axis]
        return blocks[(slice(None),) * axis + (slice(None, size),)]
    return tf.reshape(value, [-1 if i == axis else 1 for i in range(rank)])


@operator("QuantizeLinear")
def _quantize_linear(given: Given) -> Any:
    x, scale, zero = given.inputs[0], given.inputs[1], given.input(2)
    dtype = given.dtype("output_dtype") or (tf.uint8 if zero is None else zero.dtype)
    offset = 0 if zero is None else tf.cast(_per_axis(given, zero), scale.dtype)
    return _rounded(tf.cast(x, scale.dtype) / _per_axis(given, scale), offset, dtype)


def _rounded(x: Any, offset: Any, dtype: Any) -> Any:
    return tf.cast(tf.clip_by_value(tf.round(x) + offset, float(dtype.min), float(dtype.max)), dtype)


@operator("DequantizeLinear")
def _dequantize_linear(given: Given) -> Any:
    x, scale, zero = given.inputs[0], given.inputs[1], given.input(2)
    numbers = tf.cast(x, scale.dtype)
    if zero is not None:
        numbers -= tf.cast(_per_axis(given, zero), scale.dtype)
    return numbers * _per_axis(given, scale)


def _centered(x: Any, zero: Any, per_column: bool = False) -> Any:
    """Integers without their zero point, as float64, in which their products and sums are exact."""
    if zero is None:
        return tf.cast(x, tf.float64)
    if zero.shape.ndims and not per_column:
        zero = tf.reshape(zero, [-1, 1] if zero.shape.ndims == 1 and zero.shape.as_list() != [1] else [-1])
    return tf.cast(x, tf.float64) - tf.cast(zero, tf.float64)


@operator("MatMulInteger")
def _mat_mul_integer(given: Given) -> Any:
    a, b = given.inputs[:2]
    made = product(_centered(a, given.input(2)), _centered(b, given.input(3), per_column=True))
    return tf.cast(made, tf.int32)


@operator("QLinearMatMul")
def _quantized_mat_mul(given: Given) -> Any:
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = given.inputs
    made = product(_centered(a, a_zero), _centered(b, b_zero, per_column=True))
    factor = tf.cast(a_scale * b_scale / scale, tf.float64)
    return _rounded(made * factor, tf.cast(zero, tf.float64), zero.dtype)


@operator("ConvInteger")
def _conv_integer(given: Given) -> Any:
    x, weights = given.inputs[:2]
    made = convolved(given, _centered(x, given.input(2)), _filters(weights, given.input(3)))
    return tf.cast(made, tf.int32)


def _filters(weights: Any, zero: Any) -> Any:
    """Filters without their zero points, of which each may have its own."""
    if zero is not None and zero.shape.ndims:
        zero = tf.reshape(zero, [-1, *[1] * (weights.shape.ndims - 1)])
    return _centered(weights, zero, per_column=True)


@operator("QLinearConv")
def _quantized_conv(given: Given) -> Any:
    x, x_scale, x_zero, weights, w_scale, w_zero, scale, zero = given.inputs[:8]
    made = convolved(given, _centered(x, x_zero), _filters(weights, w_zero))
    channels = [1, -1, *[1] * (given.rank() - 2)]
    if (bias := given.input(8)) is not None:
        made += tf.reshape(tf.cast(bias, tf.float64), channels)
    factor = tf.cast(x_scale * w_scale / scale, tf.float64)
    factor = tf.reshape(factor, channels) if factor.shape.ndims else factor
    return _rounded(made * factor, tf.cast(zero, tf.float64), zero.dtype)
