"""Operators that work element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, Operator, of_one, operator, register_all

_UNARY = {
    "Abs": tf.abs,
    "Acos": tf.acos,
    "Acosh": tf.acosh,
    "Asin": tf.asin,
    "Asinh": tf.asinh,
    "Atan": tf.atan,
    "Atanh": tf.atanh,
    "BitwiseNot": tf.bitwise.invert,
    "Ceil": tf.ceil,
    "Cos": tf.cos,
    "Cosh": tf.cosh,
    "Erf": tf.erf,
    "Exp": tf.exp,
    "Floor": tf.floor,
    "IsNaN": tf.is_nan,
    "Log": tf.log,
    "Neg": tf.negative,
    "Not": tf.logical_not,
    "Reciprocal": tf.reciprocal,
    "Relu": tf.nn.relu,
    "Round": tf.round,
    "Sigmoid": tf.sigmoid,
    "Sign": tf.sign,
    "Sin": tf.sin,
    "Sinh": tf.sinh,
    "Softplus": tf.nn.softplus,
    "Softsign": tf.nn.softsign,
    "Sqrt": tf.sqrt,
    "Tan": tf.tan,
    "Tanh": tf.tanh,
}
_BINARY = {
    "And": tf.logical_and,
    "BitwiseAnd": tf.bitwise.bitwise_and,
    "BitwiseOr": tf.bitwise.bitwise_or,
    "BitwiseXor": tf.bitwise.bitwise_xor,
    "Equal": tf.equal,
    "Greater": tf.greater,
    "GreaterOrEqual": tf.greater_equal,
    "Less": tf.less,
    "LessOrEqual": tf.less_equal,
    "Mul": tf.multiply,
    "Or": tf.logical_or,
    "Sub": tf.subtract,
    "Xor": tf.logical_xor,
}


def _of_two(function: Callable) -> Operator:
    return lambda given: function(given.inputs[0], _spread(given))


def _spread(given: Given) -> Any:
    """The second input. Before version 7, an attribute says which axes of the first one it has."""
    y, axis = given.inputs[1], given.attribute("axis")
    if given.opset >= 7 or axis is None:
        return y
    missing = given.rank() - axis % given.rank() - given.rank(1)
    return tf.reshape(y, tf.concat([tf.shape(y), [1] * missing], 0))


register_all({name: of_one(function) for name, function in _UNARY.items()})
register_all({name: _of_two(function) for name, function in _BINARY.items()})


@operator("Identity")
def _identity(given: Given) -> Any:
    value = given.inputs[0]
    return tf.identity(value) if isinstance(value, tf.Tensor) else value


@operator("Add")
def _add(given: Given) -> Any:
    x, y = given.inputs[0], _spread(given)
    if x.dtype in (tf.uint16, tf.uint32, tf.uint64):  # of which there are no sums, but these are the same
        return tf.cast(tf.cast(x, tf.int64) + tf.cast(y, tf.int64), x.dtype)
    return tf.add(x, y)


@operator("Dropout")
def _dropout(given: Given) -> Any:
    x = given.inputs[0]
    rate, training = given.input(1), given.input(2)
    if training is None:
        return x, tf.ones_like(x, tf.bool)
    rate = tf.constant(0.5) if rate is None else tf.cast(tf.reshape(rate, []), tf.float32)
    rate = tf.where(tf.reshape(training, []), rate, 0.0)
    kept = tf.random_uniform(tf.shape(x)) >= rate
    return tf.where(kept, x / tf.cast(1 - rate, x.dtype), tf.zeros_like(x)), kept


@operator("Div")
def _div(given: Given) -> Any:
    x, y = given.inputs[0], _spread(given)
    return tf.truncatediv(x, y) if x.dtype.is_integer else tf.divide(x, y)


@operator("Mod")
def _mod(given: Given) -> Any:
    x, y = given.inputs
    if given.attribute("fmod", 0):
        return tf.truncatemod(x, y)
    if x.dtype.is_integer:
        return tf.floormod(x, y)
    # The remainder by infinity, too, has the divisor's sign.
    rest = tf.truncatemod(x, y)
    return tf.where(tf.not_equal(rest, 0) & tf.not_equal(rest < 0, y < 0), rest + y, rest)


@operator("Pow")
def _pow(given: Given) -> Any:
    x, y = given.inputs[0], _spread(given)
    if x.dtype.is_integer and y.dtype.is_floating:
        return tf.cast(tf.pow(tf.cast(x, y.dtype), y), x.dtype)
    return tf.pow(x, tf.cast(y, x.dtype))


@operator("BitShift")
def _bit_shift(given: Given) -> Any:
    x, by = given.inputs
    left, width = given.attribute("direction") == "LEFT", 8 * x.dtype.size
    moved = (tf.bitwise.left_shift if left else tf.bitwise.right_shift)(x, by)
    nothing = tf.zeros_like(x)
    emptied = (
        nothing if left or x.dtype.is_unsigned else tf.where_v2(x < 0, tf.bitwise.invert(nothing), nothing)
    )
    return tf.where_v2((by < 0) | (by >= width), emptied, moved)


@operator("BitCast")
def _bit_cast(given: Given) -> Any:
    x, dtype = given.inputs[0], given.dtype("to")
    x = tf.cast(x, tf.uint8) if x.dtype == tf.bool else x
    return tf.not_equal(x, 0) if dtype == tf.bool else tf.bitcast(x, dtype)


@operator("IsInf")
def _is_inf(given: Given) -> Any:
    x = given.inputs[0]
    found = tf.is_inf(x)
    if not given.flag("detect_negative", True):
        found &= x > 0
    if not given.flag("detect_positive", True):
        found &= x < 0
    return found


@operator("Sum")
def _sum(given: Given) -> Any:
    return _joined(tf.add, given)


@operator("Max")
def _max(given: Given) -> Any:
    return _joined(tf.maximum, given)


@operator("Min")
def _min(given: Given) -> Any:
    return _joined(tf.minimum, given)


@operator("Mean")
def _mean(given: Given) -> Any:
    return _joined(tf.add, given) / len(given.inputs)


def _joined(function: Callable, given: Given) -> Any:
    total = given.inputs[0]
    for value in given.inputs[1:]:
        total = function(total, value)
    return total


@operator("LeakyRelu")
def _leaky_relu(given: Given) -> Any:
    return tf.nn.leaky_relu(given.inputs[0], given.attribute("alpha", 0.01))


@operator("PRelu")
def _prelu(given: Given) -> Any:
    x, slope = given.inputs
    return tf.where(x < 0, x * slope, x + tf.zeros_like(x))


@operator("Elu")
def _elu(given: Given) -> Any:
    x, alpha = given.inputs[0], given.attribute("alpha", 1.0)
    return tf.where(x < 0, alpha * tf.expm1(x), x)


@operator("Selu")
def _selu(given: Given) -> Any:
    x = given.inputs[0]
    alpha = given.attribute("alpha", 1.6732632423543772)
    gamma = given.attribute("gamma", 1.0507009873554805)
    return gamma * tf.where(x < 0, alpha * tf.expm1(x), x)


@operator("Gelu")
def _gelu(given: Given) -> Any:
    x = given.inputs[0]
    if given.attribute("approximate", "none") == "tanh":
        return 0.5 * x * (1 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + tf.erf(x / math.sqrt(2)))


@operator("Celu")
def _celu(given: Given) -> Any:
    x, alpha = given.inputs[0], given.attribute("alpha", 1.0)
    return tf.where(x < 0, alpha * tf.expm1(x / alpha), x)


@operator("Mish")
def _mish(given: Given) -> Any:
    x = given.inputs[0]
    return x * tf.tanh(tf.nn.softplus(x))


@operator("ThresholdedRelu")
def _thresholded_relu(given: Given) -> Any:
    x = given.inputs[0]
    return tf.where(x > given.attribute("alpha", 1.0), x, tf.zeros_like(x))


@operator("HardSigmoid")
def _hard_sigmoid(given: Given) -> Any:
    alpha, beta = given.attribute("alpha", 0.2), given.attribute("beta", 0.5)
    return tf.clip_by_value(alpha * given.inputs[0] + beta, 0.0, 1.0)


@operator("HardSwish")
def _hard_swish(given: Given) -> Any:
    x = given.inputs[0]
    return x * tf.clip_by_value(x / 6 + 0.5, 0.0, 1.0)


@operator("Clip")
def _clip(given: Given) -> Any:
    x = given.inputs[0]
    low, high = given.attribute("min", given.input(1)), given.attribute("max", given.input(2))
    x = x if low is None else tf.maximum(x, low)
    return x if high is None else tf.minimum(x, high)


@operator("Where")
def _where(given: Given) -> Any:
    return tf.where_v2(*given.inputs)


@operator("Cast")
def _cast(given: Given) -> Any:
    return _converted(given.inputs[0], given.dtype("to"))


@operator("CastLike")
def _cast_like(given: Given) -> Any:
    return _converted(given.inputs[0], given.inputs[1].dtype)


def _converted(x: Any, dtype: Any) -> Any:
    if dtype == tf.string and x.dtype != tf.string:
        return tf.as_string(x)
    if x.dtype == tf.string and dtype != tf.string:
        return tf.cast(tf.string_to_number(x, tf.float64 if dtype.is_floating else tf.int64), dtype)
    return tf.cast(x, dtype)
