"""Quantized convolutions and matrix products with what follows them: a bias, a sum, a rectifier, a new range.

These are the layers of networks that were quantized as a whole. Their ranges are symmetric around 0, so an
integer stands for itself times a unit: the reach of the range over the type's highest integer. The filter may
have a range for each channel of the result. A bias in floats, or a summand, is brought to the unit of the
products first; a bias in integers is in it already.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.helpers.axes import host_rank, merged, of_rank
from tideflow.ops.helpers.samples import f32, quantized
from tideflow.ops.helpers.types import QUANTIZED, types
from tideflow.ops.linalg import matmul
from tideflow.ops.nn import convolution, depthwise_convolution
from tideflow.ops.quantization.quantized_math import exact_product
from tideflow.ops.quantization.quantized_nn import whole_convolution
from tideflow.ops.quantization.quantized_numbers import (
    as_scalars,
    as_stored,
    bounds,
    check_scalars,
    numbers_of,
    plain,
    step_of,
)

_F = np.float32
_BIAS_TYPES = types("float qint32")
_Ends = Any  # a number, or one for each channel


def _reach(low: _Ends, high: _Ends) -> np.ndarray:
    """How far a range goes from 0."""
    return np.maximum(np.abs(np.float64(low)), np.abs(np.float64(high)))


def _unit(dtype: DType, low: _Ends, high: _Ends) -> np.ndarray:
    """What one stands for in a symmetric range."""
    return _reach(low, high) / bounds(dtype)[1]


def _level(dtype: DType, low: _Ends, high: _Ends) -> np.ndarray:
    """The distance of what neighbouring integers stand for; the lowest of signed types is not used."""
    lowest, highest = bounds(dtype)
    return (_F(high) - _F(low)) / _F(highest - max(lowest, -highest))


def _on(device: torch.device, numbers: Any) -> torch.Tensor:
    return torch.from_numpy(np.asarray(numbers, np.float64)).to(device)


def _finished(
    sums: torch.Tensor,
    unit: np.ndarray,
    levels: np.ndarray,
    values: dict[str, Any],
    attrs: dict[str, Any],
    out_type: DType,
    relu: bool,
    device: torch.device,
) -> tuple:
    """The sums of products, in units, with what follows them; `levels` tell the range of plain sums."""
    unit = _on(device, unit)
    if "bias" in values:
        in_units = attrs.get("Tbias") is dtypes.qint32
        bias = values["bias"].double()
        sums = sums + (bias if in_units else torch.round(bias / unit))
    if "summand" in values and "min_summand" not in values:
        sums = sums + torch.round(values["summand"].double() / unit)
    if "min_freezed_output" not in values:
        lowest, highest = bounds(out_type)
        ends = [torch.from_numpy(np.asarray(levels * _F(end))).to(device) for end in (lowest, highest)]
        return as_stored(sums.clamp(min=0) if relu else sums, out_type), *ends
    within = values["min_freezed_output"], values["max_freezed_output"]
    new_unit = float(_unit(out_type, *within))
    numbers = sums * unit
    if "summand" in values:
        summand_unit = float(_unit(attrs["Tsummand"], values["min_summand"], values["max_summand"]))
        numbers = numbers + values["summand"].double() * summand_unit
    places = torch.round(numbers / new_unit).clamp(*bounds(out_type))
    return as_stored(places.clamp(min=0) if relu else places, out_type), *as_scalars(device, *within)


# ---------------------------------------------------------------------------- convolutions


def _convolution_signature(bias: str, summand: str, requantize: bool) -> str:
    inputs = ["input: Tinput", "filter: Tfilter"]
    inputs += [f"bias: {bias}"] if bias else []
    inputs += [f"{name}: float" for name in ("min_input", "max_input", "min_filter", "max_filter")]
    inputs += ["min_freezed_output: float", "max_freezed_output: float"] if requantize else []
    inputs += [f"summand: {summand}"] if summand else []
    inputs += ["min_summand: float", "max_summand: float"] if summand == "Tsummand" else []
    return f"{', '.join(inputs)} -> output: out_type, min_output: float, max_output: float"


def _channel_ends(ends: Any) -> Any:
    """The shape of a range's end: a number, or one for each channel."""
    return None if ends is None else [len(ends)] if host_rank(ends) == 1 else []


def _check_channels(ends: tuple, count: int) -> None:
    for end in ends:
        if isinstance(end, list) and len(end) != count:
            raise ShapeError(
                f"min_filter and max_filter must be scalars or have {count} elements, not {len(end)}"
            )


def _unit_reference(integers: np.ndarray, low: _Ends, high: _Ends) -> np.ndarray:
    """In NumPy: what one stands for in a range symmetric around 0."""
    return np.maximum(np.abs(low), np.abs(high)) / np.iinfo(plain(integers).dtype).max


def _finished_law(numbers, unit, given, output, low, high, relu):
    """The numbers with what follows them, to the nearest step: of the frozen range, or of the products."""
    numbers = numbers + given.get("bias", 0.0)
    if "min_summand" in given:
        summand_unit = _unit_reference(given["summand"], given["min_summand"], given["max_summand"])
        numbers = numbers + plain(given["summand"]) * summand_unit
    else:
        numbers = numbers + given.get("summand", 0.0)
    info = np.iinfo(output.dtype)
    claims = [np.allclose(high, unit * info.max)]
    if "min_freezed_output" in given:
        unit = _unit_reference(output, given["min_freezed_output"], given["max_freezed_output"])
        claims = [low == given["min_freezed_output"], high == given["max_freezed_output"]]
    wanted = np.clip(numbers, info.min * unit, info.max * unit)
    wanted = np.maximum(wanted, 0) if relu else wanted
    return [*claims, np.abs(output * unit - wanted) <= 1.01 * unit]


def _add_convolution_samples(op: Op, depthwise: bool, relu: bool) -> None:
    names = [arg.name for arg in op.inputs]

    def law(*values, strides, padding, dilations):
        given, outputs = dict(zip(names, values)), values[len(names) :]
        ends = (given["min_input"], given["max_input"]), (given["min_filter"], given["max_filter"])
        image, filter = plain(given["input"]), plain(given["filter"])
        unit = _unit_reference(image, *ends[0]) * _unit_reference(filter, *ends[1])
        filter = depthwise_convolution.in_groups(filter) if depthwise else filter
        sums = convolution.convolution_by_definition(image, filter, strides, padding, dilations, "NHWC")
        return _finished_law(sums * unit, unit, given, *outputs, relu)

    channels = 2 if depthwise else 3
    values = {
        "input": quantized(dtypes.quint8, 1, 4, 5, 2),
        "filter": quantized(dtypes.qint8, 2, 2, 2, 1 if depthwise else 3),
        "bias": f32(channels),
        **{"min_input": 0.0, "max_input": 3.0, "min_filter": -1.0, "max_filter": 1.0},
        **{"min_freezed_output": -4.0, "max_freezed_output": 4.0, "min_summand": 0.0, "max_summand": 2.0},
    }
    kind = op.attrs.get("Tsummand")
    each = {"min_filter": [-1.0, -0.5, -2.0][:channels], "max_filter": [1.0, 0.5, 2.0][:channels]}
    for attrs, sizes, more in (
        ({"strides": [1, 1, 1, 1], "padding": "VALID"}, (1, 3, 4, channels), {}),
        ({"strides": [1, 2, 2, 1], "padding": "SAME"}, (1, 2, 3, channels), each),
    ):
        summand = {"summand": quantized(dtypes.quint8, *sizes) if kind else f32(*sizes)}
        given = {**values, **summand, **more}
        op.samples((*(given[name] for name in names), attrs), law=law)


def _convolution(
    name: str,
    out_type: DType,
    *,
    bias: str = "",
    summand: str = "",
    relu: bool = False,
    requantize: bool = False,
    padding_list: bool = True,
) -> Op:
    """An op of the family; `bias` and `summand` are their types in the signature, or empty."""
    op = Op(
        name,
        _convolution_signature(bias, summand, requantize),
        host="min_input max_input min_filter max_filter min_freezed_output max_freezed_output min_summand "
        "max_summand",
        Tinput=QUANTIZED,
        Tfilter=QUANTIZED,
        out_type=attr("type", out_type, allowed=QUANTIZED),
        strides=attr("list(int)"),
        padding=attr("string", allowed=("SAME", "VALID")),
        dilations=attr("list(int)", [1, 1, 1, 1]),
        **({"Tbias": _BIAS_TYPES} if bias == "Tbias" else {}),
        **({"Tsummand": QUANTIZED} if summand == "Tsummand" else {}),
        **({"padding_list": attr("list(int)", [])} if padding_list else {}),
    )
    names = [arg.name for arg in op.inputs]
    depthwise = "Depthwise" in name

    @op.shape
    def _shape(*inputs, strides, padding, dilations, padding_list=()):
        given = dict(zip(names, inputs, strict=True))
        rule = depthwise_convolution.depthwise_conv2d_native_op if depthwise else convolution.conv2d_op
        window = {
            "strides": strides,
            "padding": "EXPLICIT" if padding_list else padding,
            "dilations": dilations,
        }
        shape = as_shape(
            rule.shape_rule(
                given["input"], given["filter"], data_format="NHWC", explicit_paddings=padding_list, **window
            )
        )
        check_scalars(given["min_input"], given["max_input"])
        channels = as_shape(shape.tuple[3:])
        if "bias" in given:
            merged(of_rank(given["bias"], 1), channels)
        if "summand" in given:
            shape = merged(shape, given["summand"])
        if requantize:
            check_scalars(given["min_freezed_output"], given["max_freezed_output"])
            return [shape, [], []]
        ends = _channel_ends(given["min_filter"])
        return [shape, ends, ends]

    @op.kernel
    def _kernel(*inputs, node, device):
        given, attrs = dict(zip(names, inputs, strict=True)), node.attrs
        sums = whole_convolution(
            given["input"].double(),
            given["filter"].double(),
            attrs["strides"],
            attrs["padding"],
            attrs["dilations"],
            attrs.get("padding_list", ()),
            depthwise,
        )
        image, filter = (given["min_input"], given["max_input"]), (given["min_filter"], given["max_filter"])
        _check_channels(filter, sums.shape[3])
        unit = _unit(attrs["Tinput"], *image) * _unit(attrs["Tfilter"], *filter)
        levels = _level(attrs["Tinput"], *image) * _level(attrs["Tfilter"], *filter)
        return _finished(sums, unit, levels, given, attrs, attrs["out_type"], relu, device)

    op.gradient(undefined_gradient)
    _add_convolution_samples(op, depthwise, relu)
    return op


quantized_conv2d_and_relu_op = _convolution("QuantizedConv2DAndRelu", dtypes.qint32, relu=True)
quantized_conv2d_and_requantize_op = _convolution(
    "QuantizedConv2DAndRequantize", dtypes.qint8, requantize=True
)
quantized_conv2d_and_relu_and_requantize_op = _convolution(
    "QuantizedConv2DAndReluAndRequantize", dtypes.quint8, relu=True, requantize=True
)
quantized_conv2d_per_channel_op = _convolution("QuantizedConv2DPerChannel", dtypes.qint32, padding_list=False)
quantized_conv2d_with_bias_op = _convolution("QuantizedConv2DWithBias", dtypes.qint32, bias="float")
quantized_conv2d_with_bias_and_relu_op = _convolution(
    "QuantizedConv2DWithBiasAndRelu", dtypes.qint32, bias="float", relu=True
)
quantized_conv2d_with_bias_and_requantize_op = _convolution(
    "QuantizedConv2DWithBiasAndRequantize", dtypes.qint8, bias="Tbias", requantize=True
)
quantized_conv2d_with_bias_and_relu_and_requantize_op = _convolution(
    "QuantizedConv2DWithBiasAndReluAndRequantize", dtypes.quint8, bias="Tbias", relu=True, requantize=True
)
quantized_conv2d_with_bias_sum_and_relu_op = _convolution(
    "QuantizedConv2DWithBiasSumAndRelu", dtypes.qint32, bias="float", summand="float", relu=True
)
quantized_conv2d_with_bias_sum_and_relu_and_requantize_op = _convolution(
    "QuantizedConv2DWithBiasSumAndReluAndRequantize",
    dtypes.quint8,
    bias="Tbias",
    summand="Tsummand",
    relu=True,
    requantize=True,
)
quantized_conv2d_with_bias_signed_sum_and_relu_and_requantize_op = _convolution(
    "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
    dtypes.quint8,
    bias="Tbias",
    summand="Tsummand",
    relu=True,
    requantize=True,
)
quantized_depthwise_conv2d_op = _convolution("QuantizedDepthwiseConv2D", dtypes.qint32, padding_list=False)
quantized_depthwise_conv2d_with_bias_op = _convolution(
    "QuantizedDepthwiseConv2DWithBias", dtypes.qint32, bias="float", padding_list=False
)
quantized_depthwise_conv2d_with_bias_and_relu_op = _convolution(
    "QuantizedDepthwiseConv2DWithBiasAndRelu", dtypes.qint32, bias="float", relu=True
)
quantized_depthwise_conv2d_with_bias_and_relu_and_requantize_op = _convolution(
    "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
    dtypes.quint8,
    bias="Tbias",
    relu=True,
    requantize=True,
)

# ---------------------------------------------------------------------------- matrix products


def _product(name: str, out_type: DType, *, bias: str, relu: bool = False, requantize: bool = False) -> Op:
    """An op of the family. In mode MIN_FIRST the left matrix is spread from its minimum to its maximum."""
    frozen = ", min_freezed_output: float, max_freezed_output: float" if requantize else ""
    op = Op(
        name,
        f"a: T1, b: T2, bias: {bias}, min_a: float, max_a: float, min_b: float, max_b: float{frozen} "
        "-> out: Toutput, min_out: float, max_out: float",
        host="min_a max_a min_b max_b min_freezed_output max_freezed_output",
        T1=QUANTIZED,
        T2=QUANTIZED,
        Toutput=attr("type", out_type, allowed=QUANTIZED),
        transpose_a=False,
        transpose_b=False,
        input_quant_mode=attr("string", "MIN_FIRST", allowed=("MIN_FIRST", "SCALED")),
        **({"Tbias": _BIAS_TYPES} if bias == "Tbias" else {}),
    )
    names = [arg.name for arg in op.inputs]

    @op.shape
    def _shape(a, b, bias, *ends, transpose_a, transpose_b):
        check_scalars(*ends)
        shape = as_shape(matmul.matmul_op.shape_rule(a, b, transpose_a=transpose_a, transpose_b=transpose_b))
        merged(of_rank(bias, 1), TensorShape(shape.tuple[1:]))
        return [shape, [], []]

    @op.kernel
    def _kernel(*inputs, node, device):
        given, attrs = dict(zip(names, inputs, strict=True)), node.attrs
        left, right = (given["min_a"], given["max_a"]), (given["min_b"], given["max_b"])
        turned = attrs["transpose_a"], attrs["transpose_b"]
        sums = exact_product(given["a"].double(), given["b"].double(), *turned, dtypes.qint32).double()
        levels = _level(attrs["T1"], *left) * _level(attrs["T2"], *right)
        unit, right_unit = _unit(attrs["T1"], *left), _unit(attrs["T2"], *right)
        if attrs["input_quant_mode"] == "MIN_FIRST":
            unit = np.float64(_level(attrs["T1"], *left))
            if attrs.get("Tbias") is not dtypes.qint32:  # the part of a's minimum; integer biases include it
                total = given["b"].double().sum(1 if turned[1] else 0)
                given["bias"] = given["bias"].double() + total * float(left[0] * right_unit)
        unit = unit * right_unit
        return _finished(sums, unit, levels, given, attrs, attrs["Toutput"], relu, device)

    op.gradient(undefined_gradient)

    def law(*values):
        given, outputs = dict(zip(names, values)), values[len(names) :]
        left = numbers_of(given["a"], given["min_a"], given["max_a"])
        right_unit = _unit_reference(given["b"], given["min_b"], given["max_b"])
        unit = step_of(given["a"], given["min_a"], given["max_a"]) * right_unit
        return _finished_law(left @ plain(given["b"]) * right_unit, unit, given, *outputs, relu)

    ends = (0.0, 3.0, -1.0, 1.0, *((0.0, 4.0) if requantize else ()))
    matrices = quantized(dtypes.quint8, 2, 3), quantized(dtypes.qint8, 3, 4)
    op.samples(
        (*matrices, f32(4), *ends),
        (*matrices, f32(4), -1.0, *ends[1:], {"input_quant_mode": "MIN_FIRST"}),
        law=law,
    )
    op.refuses((matrices[0], matrices[0], f32(3), *ends), "Dimensions must be equal, but are 3 and 2")
    return op


quantized_matmul_with_bias_op = _product("QuantizedMatMulWithBias", dtypes.qint32, bias="Tbias")
quantized_matmul_with_bias_and_relu_op = _product(
    "QuantizedMatMulWithBiasAndRelu", dtypes.qint32, bias="float", relu=True
)
quantized_matmul_with_bias_and_relu_and_requantize_op = _product(
    "QuantizedMatMulWithBiasAndReluAndRequantize", dtypes.quint8, bias="Tbias", relu=True, requantize=True
)
