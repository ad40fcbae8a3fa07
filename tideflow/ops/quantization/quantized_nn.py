"""Layers of networks on quantized images: convolution, pooling, normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import brackets, of_rank, same_size
from tideflow.ops.helpers.samples import quantized
from tideflow.ops.helpers.types import QUANTIZED
from tideflow.ops.nn import conv_kernels, convolution, mean_pooling, pooling
from tideflow.ops.nn.windows import Window, aten_padding, spatial
from tideflow.ops.quantization.quantized_numbers import (
    Range,
    as_scalars,
    as_stored,
    check_scalars,
    dequantized,
    meaning,
    nearest_inside,
    numbers_of,
    plain,
    product_range,
    products_of,
    step_of,
    zero_point,
)
from tideflow.ops.quantization.quantized_numbers import quantized as quantize
from tideflow.runtime.values import to_numpy

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_F = np.float32
_PADDING = attr("string", allowed=("SAME", "VALID"))
_IMAGE, _VECTOR = quantized(dtypes.quint8, 2, 5, 4, 3), quantized(dtypes.quint8, 3)
_ONCE, _TWICE = {"strides": [1, 1, 1, 1], "padding": "VALID"}, {"strides": [1, 2, 2, 1], "padding": "SAME"}

# ---------------------------------------------------------------------------- convolution


def whole_convolution(
    image: torch.Tensor,
    filter: torch.Tensor,
    strides: Sequence[int],
    padding: str,
    dilations: Sequence[int],
    explicit_paddings: Sequence[int] = (),
    depthwise: bool = False,
) -> torch.Tensor:
    """The convolution of whole numbers in float64, which holds it exactly; 0 is around the image."""
    rule = "EXPLICIT" if explicit_paddings else padding
    window = Window.of(filter.shape[:2], "NHWC", strides, rule, dilations, explicit_paddings)
    sizes = spatial(image.shape, "NHWC")
    places = window.output_sizes(sizes)
    if not image.numel() or not filter.numel():
        count = filter.shape[2] * filter.shape[3] if depthwise else filter.shape[3]
        return image.new_zeros(image.shape[0], *places, count)
    margin = aten_padding(window.paddings(sizes))
    groups = image.shape[3] // (1 if depthwise else filter.shape[2])
    if not depthwise and (groups * filter.shape[2] != image.shape[3] or filter.shape[3] % groups):
        raise ShapeError(f"input and filter must have the same depth: {image.shape[3]} vs {filter.shape[2]}")
    function = conv_kernels.convolve_depthwise if depthwise else conv_kernels.convolve
    return function(image, filter, "NHWC", groups, window.strides, [0, 0], window.dilations, margin)


quantized_conv2d_op = Op(
    "QuantizedConv2D",
    "input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, "
    "max_filter: float -> output: out_type, min_output: float, max_output: float",
    host="min_input max_input min_filter max_filter",
    Tinput=QUANTIZED,
    Tfilter=QUANTIZED,
    out_type=attr("type", "qint32", allowed=QUANTIZED),
    strides=attr("list(int)"),
    padding=_PADDING,
    dilations=attr("list(int)", [1, 1, 1, 1]),
)


@quantized_conv2d_op.shape
def _quantized_conv2d_shape(
    input, filter, min_input, max_input, min_filter, max_filter, *, strides, padding, dilations
):
    check_scalars(min_input, max_input, min_filter, max_filter)
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    return [convolution.conv2d_op.shape_rule(input, filter, data_format="NHWC", **window), [], []]


@quantized_conv2d_op.kernel
def _quantized_conv2d_kernel(
    input,
    filter,
    min_input,
    max_input,
    min_filter,
    max_filter,
    *,
    Tinput,
    Tfilter,
    out_type,
    strides,
    padding,
    dilations,
    device,
):
    image_range, filter_range = (min_input, max_input), (min_filter, max_filter)
    image = input.to(torch.float64) - zero_point(Tinput, image_range)
    weights = filter.to(torch.float64) - zero_point(Tfilter, filter_range)
    result = as_stored(whole_convolution(image, weights, strides, padding, dilations), out_type)
    within = product_range(Tinput, image_range, Tfilter, filter_range, out_type)
    return result, *as_scalars(device, *within)


quantized_conv2d_op.gradient(undefined_gradient)


def _quantized_conv2d_law(
    input,
    filter,
    min_input,
    max_input,
    min_filter,
    max_filter,
    output,
    low,
    high,
    strides,
    padding,
    dilations,
):
    image, weights = numbers_of(input, min_input, max_input), numbers_of(filter, min_filter, max_filter)
    wanted = convolution.convolution_by_definition(image, weights, strides, padding, dilations, "NHWC")
    return [np.allclose(products_of(output, high), wanted, 1e-6, 1e-5)]


quantized_conv2d_op.samples(
    (_IMAGE, quantized(dtypes.quint8, 2, 3, 3, 2), -1.0, 2.0, 0.0, 3.0, _ONCE),
    (_IMAGE, quantized(dtypes.quint8, 2, 3, 3, 2), -1.0, 2.0, 0.0, 3.0, _TWICE),
    law=_quantized_conv2d_law,
)
quantized_conv2d_op.refuses(
    (_IMAGE, quantized(dtypes.quint8, 2, 3, 2, 2), -1.0, 2.0, 0.0, 3.0, _ONCE), "is not a multiple"
)


@export("nn.quantized_conv2d")
def quantized_conv2d(
    input: TensorLike,
    filter: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    min_filter: TensorLike,
    max_filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    out_type: DTypeLike = dtypes.qint32,
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the 2-D convolution of quantized images by a quantized filter.

    Args:
      input: Images [batch, height, width, channels] of a quantized type.
      filter: A tensor of a quantized type, [height, width, in channels, out channels].
      min_input: The number that the lowest integer of `input` stands for, a float32 scalar.
      max_input: The number that the highest integer of `input` stands for, a float32 scalar.
      min_filter: The number that the lowest integer of `filter` stands for, a float32 scalar.
      max_filter: The number that the highest integer of `filter` stands for, a float32 scalar.
      strides: How far the window moves from place to place along each axis, a list of four numbers.
      padding: "SAME" (zeros around the images let the window begin at every stride-th element) or "VALID"
        (the window stays inside).
      out_type: The quantized type of the result.
      dilations: How far apart the elements are that neighbouring elements of the filter see, a list of four
        numbers.
      name: A name for the operation.

    Returns:
      The integers, images of type `out_type`, and the minimum and maximum of their range, two scalars.

    Raises:
      ValueError: Where the channels do not fit, or where the window is larger than the images.
    """
    return quantized_conv2d_op(
        input,
        filter,
        min_input,
        max_input,
        min_filter,
        max_filter,
        strides=strides,
        padding=padding,
        out_type=out_type,
        dilations=dilations,
        name=name,
    )


# ---------------------------------------------------------------------------- pooling

_POOL = {"ksize": attr("list(int)"), "strides": attr("list(int)"), "padding": _PADDING}
_POOLED = "input: T, min_input: float, max_input: float -> output: T, min_output: float, max_output: float"


def _pooled_shapes(input, min_input, max_input, *, ksize, strides, padding):
    check_scalars(min_input, max_input)
    window = {"ksize": ksize, "strides": strides, "padding": padding, "data_format": "NHWC"}
    return [mean_pooling.avg_pool_op.shape_rule(input, **window), [], []]


def _add_pool_samples(op: Op, pool: Callable) -> None:
    """What is common to both pools; `pool` is NumPy's function of the integers that a window sees."""

    def reference(input, low, high, ksize, strides, padding):
        windows = pooling.windows_in(plain(input).astype(np.float64), ksize, strides, padding, "NHWC")
        return np.trunc(pool(windows, -2)), low, high

    op.samples(
        (_IMAGE, -1.0, 1.0, {"ksize": [1, 2, 3, 1], **_ONCE}),
        (_IMAGE, -1.0, 1.0, {"ksize": [1, 3, 2, 1], **_TWICE}),
        (quantized(dtypes.qint8, 1, 3, 3, 1), -1.0, 1.0, {"ksize": [1, 2, 2, 1], **_TWICE}),
        against=reference,
    )
    op.refuses((_IMAGE, -1.0, 1.0, {"ksize": [1, 7, 3, 1], **_ONCE}), "subtracting 7 from 5")


quantized_avg_pool_op = Op("QuantizedAvgPool", _POOLED, host="min_input max_input", T=QUANTIZED, **_POOL)
quantized_avg_pool_op.shape(_pooled_shapes)


@quantized_avg_pool_op.kernel
def _quantized_avg_pool_kernel(input, min_input, max_input, *, T, ksize, strides, padding, device):
    pool = mean_pooling.avg_pool_op.kernels[""]
    whole = input.to(torch.float64)
    result = pool(whole, ksize=ksize, strides=strides, padding=padding, data_format="NHWC")
    # TensorFlow truncates the mean. In float64 a whole mean may come out slightly too small.
    return as_stored(torch.trunc(result + torch.sign(result) * 1e-6), T), *as_scalars(
        device, min_input, max_input
    )


quantized_avg_pool_op.gradient(undefined_gradient)
_add_pool_samples(quantized_avg_pool_op, np.nanmean)


@export("nn.quantized_avg_pool")
def quantized_avg_pool(
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the mean of each window of quantized images, of the elements that lie inside.

    Args:
      input: Images [batch, height, width, channels] of a quantized type.
      min_input: The number that the lowest integer of `input` stands for, a float32 scalar.
      max_input: The number that the highest integer of `input` stands for, a float32 scalar.
      ksize: The window's size along each axis, a list of four numbers; those of batch and channels are 1.
      strides: How far the window moves from place to place along each axis, a list of four numbers.
      padding: "SAME" (the window begins at every stride-th element and may reach over the edge) or "VALID"
        (it stays inside).
      name: A name for the operation.

    Returns:
      The integers, images of the type of `input`, and the minimum and maximum of their range, which are the
      given ones.

    Raises:
      ValueError: Where the window is larger than the images.
    """
    return quantized_avg_pool_op(
        input, min_input, max_input, ksize=ksize, strides=strides, padding=padding, name=name
    )


quantized_max_pool_op = Op("QuantizedMaxPool", _POOLED, host="min_input max_input", T=QUANTIZED, **_POOL)
quantized_max_pool_op.shape(_pooled_shapes)


@quantized_max_pool_op.kernel
def _quantized_max_pool_kernel(input, min_input, max_input, *, T, ksize, strides, padding, device):
    pool = pooling.max_pool_op.kernels[""]
    whole = input.to(torch.float64)  # in which every integer of these types is exact, on every device
    result = pool(whole, ksize=ksize, strides=strides, padding=padding, data_format="NHWC")
    return as_stored(result, T), *as_scalars(device, min_input, max_input)


quantized_max_pool_op.gradient(undefined_gradient)
_add_pool_samples(quantized_max_pool_op, np.nanmax)


@export("nn.quantized_max_pool")
def quantized_max_pool(
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the maximum of each window of quantized images.

    Args:
      input: Images [batch, height, width, channels] of a quantized type.
      min_input: The number that the lowest integer of `input` stands for, a float32 scalar.
      max_input: The number that the highest integer of `input` stands for, a float32 scalar.
      ksize: The window's size along each axis, a list of four numbers; those of batch and channels are 1.
      strides: How far the window moves from place to place along each axis, a list of four numbers.
      padding: "SAME" (the window begins at every stride-th element and may reach over the edge) or "VALID"
        (it stays inside).
      name: A name for the operation.

    Returns:
      The integers, images of the type of `input`, and the minimum and maximum of their range, which are the
      given ones.

    Raises:
      ValueError: Where the window is larger than the images.
    """
    return quantized_max_pool_op(
        input, min_input, max_input, ksize=ksize, strides=strides, padding=padding, name=name
    )


# ---------------------------------------------------------------------------- normalization

quantized_batch_norm_op = Op(
    "QuantizedBatchNormWithGlobalNormalization",
    ", ".join(
        f"{name}: Tinput, {name}_min: float, {name}_max: float" for name in ("t", "m", "v", "beta", "gamma")
    )
    + " -> result: out_type, result_min: float, result_max: float",
    host=[f"{name}_{end}" for name in ("t", "m", "v", "beta", "gamma") for end in ("min", "max")],
    Tinput=QUANTIZED,
    out_type=QUANTIZED,
    variance_epsilon=attr("float"),
    scale_after_normalization=attr("bool"),
)


@quantized_batch_norm_op.shape
def _quantized_batch_norm_shape(
    t, t_min, t_max, m, m_min, m_max, v, v_min, v_max, beta, beta_min, beta_max, gamma, gamma_min, gamma_max
):
    check_scalars(t_min, t_max, m_min, m_max, v_min, v_max, beta_min, beta_max, gamma_min, gamma_max)
    image = list(of_rank(t, 4, f"input must be 4-dimensional{brackets(t.tuple or ())}").tuple)
    for name, vector in (("mean", m), ("var", v), ("beta", beta), ("gamma", gamma)):
        (depth,) = of_rank(vector, 1, f"{name} must be 1-dimensional{brackets(vector.tuple or ())}").tuple
        image[3] = same_size(image[3], depth)
    return [image, [], []]


_NORMALIZED_RANGE = (-float(1 << 20), float(1 << 20))  # most numbers fit, with ten bits for their fractions


def _fixed(numbers: Any, dtype: DType) -> Any:
    return nearest_inside(numbers, dtype, _NORMALIZED_RANGE).astype(np.int64)


@quantized_batch_norm_op.kernel
def _quantized_batch_norm_kernel(
    t, t_min, t_max, m, m_min, m_max, v, v_min, v_max, beta, beta_min, beta_max, gamma, gamma_min, gamma_max,
    *, Tinput, out_type, variance_epsilon, scale_after_normalization, device,
):  # fmt: skip
    mean = meaning(to_numpy(m), Tinput, (m_min, m_max))
    scale = _F(1) / np.sqrt(meaning(to_numpy(v), Tinput, (v_min, v_max)) + _F(variance_epsilon))
    if scale_after_normalization:
        scale = scale * meaning(to_numpy(gamma), Tinput, (gamma_min, gamma_max))
    offset = -mean * scale + meaning(to_numpy(beta), Tinput, (beta_min, beta_max))
    image = meaning(to_numpy(t), Tinput, (t_min, t_max))
    image, scale, offset, one = (_fixed(each, out_type) for each in (image, scale, offset, _F(1)))
    product = (image * scale).astype(out_type.numpy).astype(np.int64)  # as its product is, cut to its bits
    quotient = np.abs(product) // one * np.sign(product)
    result = torch.from_numpy((quotient + offset).astype(out_type.numpy)).to(device)
    return result, *as_scalars(device, *_NORMALIZED_RANGE)


quantized_batch_norm_op.gradient(undefined_gradient)


def _quantized_batch_norm_law(*values, variance_epsilon, scale_after_normalization):
    """The formula on the numbers; `t` and `m` are off alike, `beta` and the fixed point by little."""
    *inputs, result, low, high = values
    t, m, v, beta, gamma = (numbers_of(*inputs[place : place + 3]) for place in range(0, 15, 3))
    scale = gamma if scale_after_normalization else 1.0
    wanted = (t - m) / np.sqrt(v + variance_epsilon) * scale + beta
    return [np.abs(numbers_of(result, low, high) - wanted) < 0.02]


_NORMALIZED = (
    *(_IMAGE, -1.0, 1.0),
    *(_VECTOR, -1.0, 1.0),
    *(_VECTOR, 0.0, 2.0),
    *(_VECTOR, -1.0, 1.0),
    *(_VECTOR, 0.0, 1.0),
)
_SETTINGS = {"out_type": dtypes.qint32, "variance_epsilon": 0.01}
quantized_batch_norm_op.samples(
    (*_NORMALIZED, {**_SETTINGS, "scale_after_normalization": True}),
    (*_NORMALIZED, {**_SETTINGS, "scale_after_normalization": False}),
    law=_quantized_batch_norm_law,
)

quantized_instance_norm_op = Op(
    "QuantizedInstanceNorm",
    "x: T, x_min: float, x_max: float -> y: T, y_min: float, y_max: float",
    host="x_min x_max",
    T=QUANTIZED,
    output_range_given=False,
    given_y_min=0.0,
    given_y_max=0.0,
    variance_epsilon=attr("float", 9.999999747378752e-06),
    min_separation=attr("float", 0.0010000000474974513),
)


@quantized_instance_norm_op.shape
def _quantized_instance_norm_shape(x, x_min, x_max):
    check_scalars(x_min, x_max)
    return [of_rank(x, 4) if x.ndims is not None else x, [], []]


def _normalized(images: torch.Tensor, epsilon: float) -> torch.Tensor:
    variance, mean = torch.var_mean(images, (1, 2), correction=0, keepdim=True)
    return (images - mean) / torch.sqrt(variance + epsilon)


def _ends(numbers: torch.Tensor) -> Range:
    if not numbers.numel():
        return 0.0, 0.0
    low, high = torch.aminmax(numbers)
    return low.item(), high.item()


def _separated(within: Range, least: float) -> Range:
    """The range, not smaller than `least`."""
    low, high = within
    return low, max(high, float(_F(low) + _F(least)))


@quantized_instance_norm_op.kernel
def _quantized_instance_norm_kernel(
    x,
    x_min,
    x_max,
    *,
    T,
    output_range_given,
    given_y_min,
    given_y_max,
    variance_epsilon,
    min_separation,
    device,
):
    if not x_min < x_max:
        raise ShapeError(f"input_min must be less than input_max : {x_min:g} >= {x_max:g}")
    numbers = dequantized(x, T, (x_min, x_max))
    normal = _normalized(numbers, variance_epsilon) if numbers.numel() else numbers
    within = (given_y_min, given_y_max) if output_range_given else _ends(normal)
    within = _separated(within, min_separation)
    return quantize(normal, T, within), *as_scalars(device, *within)


quantized_instance_norm_op.gradient(undefined_gradient)


def _quantized_instance_norm_law(x, x_min, x_max, y, y_min, y_max, variance_epsilon):
    """Each channel of each image less its mean, over its deviation, to the nearest step."""
    numbers = numbers_of(x, x_min, x_max)
    mean, variance = numbers.mean((1, 2), keepdims=True), numbers.var((1, 2), keepdims=True)
    wanted = np.clip((numbers - mean) / np.sqrt(variance + variance_epsilon), y_min, y_max)
    return [np.abs(numbers_of(y, y_min, y_max) - wanted) <= step_of(y, y_min, y_max)]


quantized_instance_norm_op.samples(
    (_IMAGE, -1.0, 1.0),
    (_IMAGE, -1.0, 1.0, {"output_range_given": True, "given_y_min": -1.0, "given_y_max": 2.0}),
    law=_quantized_instance_norm_law,
)
quantized_instance_norm_op.refuses((_IMAGE, 1.0, 1.0), "input_min must be less", InvalidArgumentError)
