"""Arithmetic of quantized tensors: sums, products and rectifiers of what their integers stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.samples import quantized
from tideflow.ops.helpers.types import QUANTIZED
from tideflow.ops.linalg import matmul
from tideflow.ops.nn import activations
from tideflow.ops.quantization.quantized_numbers import (
    Range,
    as_scalars,
    as_stored,
    bounds,
    check_rising,
    check_scalars,
    meaning,
    nearest,
    nearest_inside,
    numbers_of,
    product_range,
    products_of,
    requantized,
    step_of,
    zero_point,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_WIDE_TYPE = attr("type", "qint32", allowed=QUANTIZED)

# ---------------------------------------------------------------------------- sums and products

_PAIR = "x: T1, y: T2, min_x: float, max_x: float, min_y: float, max_y: float"
_PAIR_ENDS = "min_x max_x min_y max_y"
_PAIR_TYPES = {"T1": QUANTIZED, "T2": QUANTIZED, "Toutput": _WIDE_TYPE}
_RESULT = "z: Toutput, min_z: float, max_z: float"


def _pair_shapes(x, y, min_x, max_x, min_y, max_y):
    check_scalars(min_x, max_x, min_y, max_y)
    return [broadcast_shapes(x, y), [], []]


def _sum_range(first: Range, second: Range, bits: int) -> Range:
    """A symmetric range, much wider than those of both terms."""
    reach = max(first[1], -first[0], second[1], -second[0]) * (1 << bits)
    return -reach, reach


_X, _ROW = quantized(dtypes.quint8, 2, 3), quantized(dtypes.quint8, 3)
_BOTH = -1.0, 2.0, 0.0, 3.0


def _add_pair_refusals(op: Op) -> None:
    op.refuses((_X, quantized(dtypes.quint8, 2), *_BOTH), "must be equal, but are 3 and 2")
    op.refuses((_X, _X, 1.0, 1.0, 0.0, 3.0), "max_x must be larger than min_x", InvalidArgumentError)


quantized_add_op = Op("QuantizedAdd", f"{_PAIR} -> {_RESULT}", host=_PAIR_ENDS, **_PAIR_TYPES)
quantized_add_op.shape(_pair_shapes)

_SUM_BITS = 14  # a sum's range is 2 ** 14 times as wide as its terms': many sums fit into it


def _by_steps(
    values: torch.Tensor, dtype: DType, within: Range, out_type: DType, out_within: Range
) -> torch.Tensor:
    """Integers in a wider type and range: a step becomes a whole number of steps. A single one is exact."""
    if values.numel() == 1:
        number = float(meaning(values.item(), dtype, within))
        return torch.full_like(values, int(nearest_inside(number, out_type, out_within)), dtype=torch.int64)
    first, second = (
        int(nearest(float(meaning(code, dtype, within)), out_type, out_within)) for code in (0, 1)
    )
    return (values.to(torch.int64) * (second - first) + first).clamp(*bounds(out_type))


@quantized_add_op.kernel
def _quantized_add_kernel(x, y, min_x, max_x, min_y, max_y, *, T1, T2, Toutput, device):
    check_rising(min_x, max_x, "max_x min_x")
    check_rising(min_y, max_y, "max_y min_y")
    within = _sum_range((min_x, max_x), (min_y, max_y), _SUM_BITS)
    total = _by_steps(x, T1, (min_x, max_x), Toutput, within)
    total = total + _by_steps(y, T2, (min_y, max_y), Toutput, within)
    return total.to(Toutput.torch), *as_scalars(device, *within)


quantized_add_op.gradient(undefined_gradient)


def _quantized_add_law(x, y, min_x, max_x, min_y, max_y, z, min_z, max_z):
    """The sum of the numbers; each step of a term is rounded to whole steps of the sum."""
    wanted = numbers_of(x, min_x, max_x) + numbers_of(y, min_y, max_y)
    return [np.abs(numbers_of(z, min_z, max_z) - wanted) <= 256 * step_of(z, min_z, max_z)]


quantized_add_op.samples(
    (_X, _X, *_BOTH), (_X, _ROW, *_BOTH), (_X, quantized(dtypes.quint8), *_BOTH), law=_quantized_add_law
)
_add_pair_refusals(quantized_add_op)

quantized_mul_op = Op("QuantizedMul", f"{_PAIR} -> {_RESULT}", host=_PAIR_ENDS, **_PAIR_TYPES)
quantized_mul_op.shape(_pair_shapes)


@quantized_mul_op.kernel
def _quantized_mul_kernel(x, y, min_x, max_x, min_y, max_y, *, T1, T2, Toutput, device):
    check_rising(min_x, max_x, "max_x min_x")
    check_rising(min_y, max_y, "max_y min_y")
    first = x.to(torch.int64) - zero_point(T1, (min_x, max_x))
    second = y.to(torch.int64) - zero_point(T2, (min_y, max_y))
    within = product_range(T1, (min_x, max_x), T2, (min_y, max_y), Toutput)
    return (first * second).to(Toutput.torch), *as_scalars(device, *within)


quantized_mul_op.gradient(undefined_gradient)


def _quantized_mul_law(x, y, min_x, max_x, min_y, max_y, z, min_z, max_z):
    wanted = numbers_of(x, min_x, max_x) * numbers_of(y, min_y, max_y)
    return [np.allclose(products_of(z, max_z), wanted, 1e-6, 1e-6)]


quantized_mul_op.samples(
    (_X, _X, *_BOTH),
    (_X, _ROW, *_BOTH),
    (quantized(dtypes.qint8, 2, 1), _ROW, *_BOTH),
    law=_quantized_mul_law,
)
_add_pair_refusals(quantized_mul_op)

quantized_bias_add_op = Op(
    "QuantizedBiasAdd",
    "input: T1, bias: T2, min_input: float, max_input: float, min_bias: float, max_bias: float "
    "-> output: out_type, min_out: float, max_out: float",
    host="min_input max_input min_bias max_bias",
    T1=QUANTIZED,
    T2=QUANTIZED,
    out_type=QUANTIZED,
)


@quantized_bias_add_op.shape
def _quantized_bias_add_shape(input, bias, min_input, max_input, min_bias, max_bias):
    check_scalars(min_input, max_input, min_bias, max_bias)
    return [activations.bias_add_op.shape_rule(input, bias), [], []]


_BIAS_BITS = 17


@quantized_bias_add_op.kernel
def _quantized_bias_add_kernel(
    input, bias, min_input, max_input, min_bias, max_bias, *, T1, T2, out_type, device
):
    if bias.ndim != 1 or not input.ndim or input.shape[-1] != len(bias):
        raise ShapeError(
            f"Must provide as many biases as the last dimension of the input tensor: {list(bias.shape)} vs. "
            f"{list(input.shape)}"
        )
    within = _sum_range((min_input, max_input), (min_bias, max_bias), _BIAS_BITS)
    value = requantized(input, T1, (min_input, max_input), out_type, within).to(torch.int64)
    more = requantized(bias, T2, (min_bias, max_bias), out_type, within).to(torch.int64)
    zero = int(nearest_inside(0.0, out_type, within))
    return (value + more + zero).to(out_type.torch), *as_scalars(device, *within)


quantized_bias_add_op.gradient(undefined_gradient)


def _quantized_bias_add_law(input, bias, min_input, max_input, min_bias, max_bias, output, low, high):
    """The sum of the numbers, to the nearest steps of the result."""
    wanted = numbers_of(input, min_input, max_input) + numbers_of(bias, min_bias, max_bias)
    return [np.abs(numbers_of(output, low, high) - wanted) <= 3 * step_of(output, low, high)]


quantized_bias_add_op.samples(
    (_X, _ROW, *_BOTH, {"out_type": dtypes.qint32}),
    (quantized(dtypes.qint8, 2, 3), quantized(dtypes.qint8, 3), *_BOTH, {"out_type": dtypes.qint32}),
    law=_quantized_bias_add_law,
)

_TYPE = attr("type", "quint8", allowed=QUANTIZED)


def exact_product(
    left: torch.Tensor, right: torch.Tensor, transpose_left: bool, transpose_right: bool, out_type: DType
) -> torch.Tensor:
    """The matrix product of whole numbers in float64, which holds it exactly, as integers."""
    product = torch.matmul(left.T if transpose_left else left, right.T if transpose_right else right)
    return as_stored(product, out_type)


quantized_matmul_op = Op(
    "QuantizedMatMul",
    "a: T1, b: T2, min_a: float, max_a: float, min_b: float, max_b: float "
    "-> out: Toutput, min_out: float, max_out: float",
    host="min_a max_a min_b max_b",
    transpose_a=False,
    transpose_b=False,
    Tactivation=_TYPE,
    **_PAIR_TYPES,
)


@quantized_matmul_op.shape
def _quantized_matmul_shape(a, b, min_a, max_a, min_b, max_b, *, transpose_a, transpose_b):
    check_scalars(min_a, max_a, min_b, max_b)
    turned = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    return [matmul.matmul_op.shape_rule(a, b, **turned), [], []]


@quantized_matmul_op.kernel
def _quantized_matmul_kernel(
    a, b, min_a, max_a, min_b, max_b, *, T1, T2, Toutput, transpose_a, transpose_b, device
):
    check_rising(min_a, max_a, "max_a min_a")
    check_rising(min_b, max_b, "max_b min_b")
    within = product_range(T1, (min_a, max_a), T2, (min_b, max_b), Toutput)
    left = a.to(torch.float64) - zero_point(T1, (min_a, max_a))
    right = b.to(torch.float64) - zero_point(T2, (min_b, max_b))
    return exact_product(left, right, transpose_a, transpose_b, Toutput), *as_scalars(device, *within)


quantized_matmul_op.gradient(undefined_gradient)


def _quantized_matmul_law(a, b, min_a, max_a, min_b, max_b, out, low, high, transpose_a, transpose_b):
    left, right = numbers_of(a, min_a, max_a), numbers_of(b, min_b, max_b)
    wanted = (left.T if transpose_a else left) @ (right.T if transpose_b else right)
    return [np.allclose(products_of(out, high), wanted, 1e-6, 1e-6)]


quantized_matmul_op.samples(
    (_X, quantized(dtypes.quint8, 3, 4), *_BOTH),
    (_X, quantized(dtypes.quint8, 4, 2), *_BOTH, {"transpose_a": True, "transpose_b": True}),
    (quantized(dtypes.quint8, 2, 0), quantized(dtypes.quint8, 0, 4), *_BOTH),
    law=_quantized_matmul_law,
)
quantized_matmul_op.refuses((_X, _X, *_BOTH), "Dimensions must be equal, but are 3 and 2")

# ---------------------------------------------------------------------------- rectifiers

_FEATURES = "features: Tinput, min_features: float, max_features: float"
_ACTIVATIONS = "activations: out_type, min_activations: float, max_activations: float"
_RELU_TYPES = {"Tinput": QUANTIZED, "out_type": _TYPE}


def _rectified_shapes(features, min_features, max_features):
    check_scalars(min_features, max_features)
    return [features, [], []]


def _rectified(
    values: torch.Tensor,
    dtype: DType,
    out_type: DType,
    within: Range,
    largest: float | None,
    device: torch.device,
) -> tuple:
    lower = int(nearest_inside(0.0, dtype, within))
    upper = bounds(dtype)[1] if largest is None else int(nearest_inside(largest, dtype, within))
    inside = values.to(torch.int64).clamp(min=lower).clamp(max=upper)
    return inside.to(out_type.torch), *as_scalars(device, *within)


def _rectified_law(features, largest, low, high, activations, new_low, new_high):
    """The numbers cut off at 0 and at the largest, to the nearest step; the range stays."""
    wanted = np.clip(numbers_of(features, low, high), 0, largest)
    close = np.abs(numbers_of(activations, new_low, new_high) - wanted) <= 0.51 * step_of(features, low, high)
    return [close, new_low == low, new_high == high]


def _add_rectified_samples(op: Op, largest: float) -> None:
    op.samples(
        (_X, -5.0, 9.0),
        (quantized(dtypes.qint32, 4), -5.0, 9.0, {"out_type": dtypes.qint32}),
        law=lambda features, *rest: _rectified_law(features, largest, *rest),
    )
    op.refuses((_X, [0.0], 1.0), "Shape must be rank 0 but is rank 1")


quantized_relu_op = Op(
    "QuantizedRelu", f"{_FEATURES} -> {_ACTIVATIONS}", host="min_features max_features", **_RELU_TYPES
)
quantized_relu_op.shape(_rectified_shapes)


@quantized_relu_op.kernel
def _quantized_relu_kernel(features, min_features, max_features, *, Tinput, out_type, device):
    return _rectified(features, Tinput, out_type, (min_features, max_features), None, device)


quantized_relu_op.gradient(undefined_gradient)
_add_rectified_samples(quantized_relu_op, np.inf)

quantized_relu6_op = Op(
    "QuantizedRelu6", f"{_FEATURES} -> {_ACTIVATIONS}", host="min_features max_features", **_RELU_TYPES
)
quantized_relu6_op.shape(_rectified_shapes)


@quantized_relu6_op.kernel
def _quantized_relu6_kernel(features, min_features, max_features, *, Tinput, out_type, device):
    return _rectified(features, Tinput, out_type, (min_features, max_features), 6.0, device)


quantized_relu6_op.gradient(undefined_gradient)
_add_rectified_samples(quantized_relu6_op, 6.0)

quantized_relu_x_op = Op(
    "QuantizedReluX",
    f"features: Tinput, max_value: float, min_features: float, max_features: float -> {_ACTIVATIONS}",
    host="max_value min_features max_features",
    **_RELU_TYPES,
)


@quantized_relu_x_op.shape
def _quantized_relu_x_shape(features, max_value, min_features, max_features):
    check_scalars(max_value, min_features, max_features)
    return [features, [], []]


@quantized_relu_x_op.kernel
def _quantized_relu_x_kernel(features, max_value, min_features, max_features, *, Tinput, out_type, device):
    return _rectified(features, Tinput, out_type, (min_features, max_features), max_value, device)


quantized_relu_x_op.gradient(undefined_gradient)
quantized_relu_x_op.samples((_X, 2.5, -5.0, 9.0), law=_rectified_law)


@export("nn.quantized_relu_x")
def quantized_relu_x(
    features: TensorLike,
    max_value: TensorLike,
    min_features: TensorLike,
    max_features: TensorLike,
    out_type: DTypeLike = dtypes.quint8,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes min(max(x, 0), max_value) of the numbers that quantized integers stand for.

    Args:
      features: A tensor of a quantized type.
      max_value: The largest number that stays, a float32 scalar.
      min_features: The number that the lowest integer stands for, a float32 scalar.
      max_features: The number that the highest integer stands for, a float32 scalar.
      out_type: The quantized type of the result.
      name: A name for the operation.

    Returns:
      The integers, a tensor of the shape of `features` and of type `out_type`, and the minimum and maximum of
      their range, which are the given ones.
    """
    return quantized_relu_x_op(features, max_value, min_features, max_features, out_type=out_type, name=name)
