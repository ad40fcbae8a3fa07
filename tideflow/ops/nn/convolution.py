"""Convolutions over images and volumes, plain and depthwise, with the two gradients of each.

The gradient by the input is the transposed convolution of the output's gradient; the gradient by the filter
correlates the input with it. Each of the three is linear in both of its tensors, so the derivative of each is
made of the other two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from tideflow.export import export
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import as_shape
from tideflow.ops.arrays import shapes
from tideflow.ops.helpers.arguments import per_axis, renamed
from tideflow.ops.helpers.axes import as_sizes, of_rank, size_product
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST, INDICES, types
from tideflow.ops.nn.windows import (
    Window,
    aten_padding,
    channels,
    channels_first,
    from_channels_first,
    has_channels_first,
    image_shape,
    out_in_first,
    out_in_last,
    spatial,
)

_PLANE = {
    "strides": attr("list(int)"),
    "padding": attr("string", allowed=("SAME", "VALID", "EXPLICIT")),
    "explicit_paddings": attr("list(int)", []),
    "data_format": attr("string", "NHWC", allowed=("NHWC", "NCHW")),
    "dilations": attr("list(int)", [1, 1, 1, 1]),
}
_CUDNN_PLANE = {**_PLANE, "use_cudnn_on_gpu": True}
_FORWARD = "input: T, filter: T -> output: T"
_NUMBERS = types("half bfloat16 float double int32")

# ---------------------------------------------------------------------------- how ATen is called


def _format(node: Any) -> str:
    return node.attrs.get("data_format", "NDHWC")


def _is_depthwise(node: Any) -> bool:
    return node.type.startswith("Depthwise")


def _window(node: Any, filter: Sequence[int]) -> Window:
    attrs = node.attrs
    return Window.of(
        filter[:-2],
        _format(node),
        attrs["strides"],
        attrs["padding"],
        attrs["dilations"],
        attrs.get("explicit_paddings", ()),
    )


def _conv2d_family_shape(input, filter, *, data_format, strides, padding, dilations, explicit_paddings=()):
    image = of_rank(input, len(data_format)).tuple
    *sizes, depth, count = of_rank(filter, len(data_format)).tuple
    given = channels(image, data_format)
    if given is not None and depth is not None and given != depth and (depth == 0 or given % depth):
        raise ShapeError(f"Depth of input ({given}) is not a multiple of input depth of filter ({depth})")
    window = Window.of(sizes, data_format, strides, padding, dilations, explicit_paddings)
    return image_shape(image[0], window.output_sizes(spatial(image, data_format)), count, data_format)


def _output_shape(node: Any, image: Sequence[int], filter: Sequence[int]) -> list[int]:
    sizes = _window(node, filter).output_sizes(spatial(image, _format(node)))
    count = math.prod(filter[-2:]) if _is_depthwise(node) else filter[-1]
    return image_shape(image[0], sizes, count, _format(node))


def _conv2d_family_kernel(input, filter, *, node):
    arguments = how(node, input.shape, filter.shape)
    if not input.numel() or not filter.numel():
        return input.new_zeros(_output_shape(node, input.shape, filter.shape))
    return (convolve_depthwise if _is_depthwise(node) else convolve)(input, filter, *arguments)


def _conv2d_family_specialized(node):
    image, filter = node.inputs
    if not known_shapes(image, filter):
        return None
    function = convolve_depthwise if _is_depthwise(node) else convolve
    return function, [image, filter, *how(node, image.shape.tuple, filter.shape.tuple)]


_ONCE = {"strides": [1, 1, 1, 1], "padding": "SAME"}
_TWICE = {"strides": [1, 2, 2, 1], "padding": "SAME"}  # an even image: more padding after than before
_DILATED = {"strides": [1, 1, 1, 1], "padding": "VALID", "dilations": [1, 2, 1, 1]}
_PADDED = {"strides": [1, 1, 2, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 2, 0, 1, 1, 0, 0]}
_FIRST = {"strides": [1, 1, 1, 1], "padding": "VALID", "data_format": "NCHW"}


def _explicit(padding: Any) -> dict[str, Any]:
    """The padding attributes: a rule's name, or pairs of (before, after) for every axis."""
    if padding == "EXPLICIT":
        raise ValueError(
            '"EXPLICIT" is not a valid value for the padding parameter. To use explicit padding, the padding '
            "parameter must be a list."
        )
    if not isinstance(padding, (list, tuple)):
        return {"padding": padding}
    for i, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ValueError(
                "When padding is a list, each element of padding must be a list/tuple of size 2. "
                f"Element with index {i} of padding is {pair!r}"
            )
    if len(padding) != 4:
        raise ValueError(f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}")
    return {"padding": "EXPLICIT", "explicit_paddings": [size for pair in padding for size in pair]}


# ---------------------------------------------------------------------------- convolutions

conv2d_op = Op("Conv2D", _FORWARD, T=_NUMBERS, **_CUDNN_PLANE)
conv2d_op.shape(_conv2d_family_shape)
conv2d_op.kernel(_conv2d_family_kernel)
conv2d_op.specialize(_conv2d_family_specialized)
conv2d_op.samples(
    (f32(2, 4, 5, 2), f32(3, 2, 2, 3), _ONCE),
    (f32(1, 4, 4, 1), f32(3, 3, 1, 2), _TWICE),
    (f32(1, 5, 4, 2), f32(2, 2, 2, 1), _DILATED),
    (f32(1, 3, 4, 2), f32(2, 3, 2, 2), _PADDED),
    (f32(1, 2, 4, 3), f32(2, 2, 2, 2), _FIRST),
    (f32(1, 3, 3, 4), f32(2, 2, 2, 2), _ONCE),  # two groups
    (f32(0, 3, 3, 1), f32(2, 2, 1, 2), _ONCE),
)
conv2d_op.refuses(
    (f32(1, 2, 2, 3), f32(3, 3, 3, 4), {"strides": [1, 1, 1, 1], "padding": "VALID"}), "subtracting 3 from 2"
)
conv2d_op.refuses((f32(1, 5, 5, 4), f32(3, 3, 3, 4), _ONCE), "Depth of input (4) is not a multiple")
conv2d_op.refuses((f32(1, 5, 5), f32(3, 3, 3, 4), _ONCE), "Shape must be rank 4 but is rank 3")
conv2d_op.refuses(
    (f32(1, 5, 5, 3), f32(3, 3, 3, 4), {**_ONCE, "strides": [1, 0, 1, 1]}), "Stride must be > 0"
)


@export("nn.conv2d")
def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """The 2-D convolution of images by a filter [height, width, in, out]."""
    filter = renamed("filters", filters, "filter", filter)
    data_format = data_format or "NHWC"
    first = has_channels_first(data_format)
    return conv2d_op(
        input,
        filter,
        strides=per_axis(strides, 2, first, "strides"),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=per_axis(dilations, 2, first, "dilations"),
        name=name,
        **_explicit(padding),
    )


_VOLUME = {
    "strides": attr("list(int)", minimum=5),
    "padding": attr("string", allowed=("SAME", "VALID")),
    "data_format": attr("string", "NDHWC", allowed=("NDHWC", "NCDHW")),
    "dilations": attr("list(int)", [1, 1, 1, 1, 1]),
}
_VOLUME_ONCE = {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}
_VOLUME_TWICE = {"strides": [1, 1, 2, 2, 1], "padding": "VALID"}

conv3d_op = Op("Conv3D", _FORWARD, T=FLOATS_HALF_FIRST, **_VOLUME)
conv3d_op.shape(_conv2d_family_shape)
conv3d_op.kernel(_conv2d_family_kernel)
conv3d_op.specialize(_conv2d_family_specialized)
conv3d_op.samples(
    (f32(1, 2, 3, 4, 2), f32(2, 2, 2, 2, 1), _VOLUME_ONCE),
    (f32(1, 3, 4, 4, 1), f32(2, 2, 2, 1, 2), _VOLUME_TWICE),
    (f32(1, 2, 3, 3, 3), f32(2, 2, 1, 2, 1), {**_VOLUME_ONCE, "data_format": "NCDHW"}),
)


@export("nn.conv3d")
def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: str | None = None,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """The 3-D convolution of volumes by a filter [depth, height, width, in, out]."""
    filter = renamed("filters", filters, "filter", filter)
    return conv3d_op(
        input,
        filter,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


depthwise_conv2d_native_op = Op("DepthwiseConv2dNative", _FORWARD, T=FLOATS_HALF_FIRST, **_PLANE)


@depthwise_conv2d_native_op.shape
def _depthwise_conv2d_native_shape(
    input, filter, *, data_format, strides, padding, dilations, explicit_paddings
):
    image = of_rank(input, 4).tuple
    *sizes, depth, multiplier = of_rank(filter, 4).tuple
    given = channels(image, data_format)
    if given is not None and depth is not None and given != depth:
        raise ShapeError(
            f"Dimensions must be equal, but are {given} and {depth}: channels of the input and of the filter"
        )
    window = Window.of(sizes, data_format, strides, padding, dilations, explicit_paddings)
    count = size_product(given if depth is None else depth, multiplier)
    return image_shape(image[0], window.output_sizes(spatial(image, data_format)), count, data_format)


depthwise_conv2d_native_op.kernel(_conv2d_family_kernel)
depthwise_conv2d_native_op.specialize(_conv2d_family_specialized)
depthwise_conv2d_native_op.samples(
    (f32(2, 4, 3, 2), f32(3, 2, 2, 3), _ONCE),
    (f32(1, 4, 4, 3), f32(3, 3, 3, 1), _TWICE),
    (f32(1, 2, 4, 3), f32(2, 2, 2, 2), _FIRST),
)
depthwise_conv2d_native_op.refuses(
    (f32(1, 5, 5, 3), f32(3, 3, 4, 2), _ONCE), "Dimensions must be equal, but are 3 and 4"
)


@export("nn.depthwise_conv2d_native")
def depthwise_conv2d_native(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The convolution of each channel by its own filters, from a filter [height, width, in, multiplier]."""
    return depthwise_conv2d_native_op(
        input,
        filter,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


_TO_INPUT = "input_sizes: int32, filter: T, out_backprop: T -> output: T"


def _check_gradient(window: Window, image_sizes: list[int], places: list[int]) -> None:
    expected = window.output_sizes(image_sizes)
    for axis, (given, computed) in enumerate(zip(places, expected, strict=True)):
        if given != computed:
            raise ShapeError(
                f"Size of out_backprop doesn't match computed: actual = {given}, computed = {computed} along "
                f"spatial axis {axis}; input: {image_sizes[axis]} filter: {window.sizes[axis]} "
                f"stride: {window.strides[axis]} dilation: {window.dilations[axis]}"
            )


def _how_back(node: Any, image: Sequence[int], filter: Sequence[int], grad: Sequence[int]) -> tuple:
    """What `convolve_back` needs: as `how`, and the rows and columns at the end that no window reaches."""
    data_format, window = _format(node), _window(node, filter)
    sizes, places = spatial(image, data_format), spatial(grad, data_format)
    _check_gradient(window, sizes, places)
    reached = [
        (n - 1) * stride + (size - 1) * dilation + 1 - before - after
        for n, stride, size, dilation, (before, after) in zip(
            places, window.strides, window.sizes, window.dilations, window.paddings(sizes), strict=True
        )
    ]
    unreached = [size - covered for size, covered in zip(sizes, reached, strict=True)]
    return *how(node, image, filter), unreached


def _conv2d_backprop_input_family_shape(input_sizes, filter, out_backprop, *, data_format):
    of_rank(filter, len(data_format))
    of_rank(out_backprop, len(data_format))
    return of_rank(as_shape(as_sizes(input_sizes)), len(data_format))


def _by_input(sizes, filter, grad, node):
    arguments = _how_back(node, sizes, filter.shape, grad.shape)
    if not grad.numel() or not filter.numel():
        return grad.new_zeros(sizes)
    function = convolve_depthwise_back if _is_depthwise(node) else convolve_back
    if not grad.is_floating_point():  # ATen has no transposed convolution of integers
        return function(filter.double(), grad.double(), *arguments).to(grad.dtype)
    return function(filter, grad, *arguments)


def _conv2d_backprop_input_family_kernel(input_sizes, filter, out_backprop, *, node):
    return _by_input(input_sizes, filter, out_backprop, node)


def _conv2d_backprop_input_family_specialized(node):
    _, filter, grad = node.inputs
    image = node.outputs[0].shape
    if not known_shapes(filter, grad) or not image.is_fully_defined() or not grad.dtype.is_floating:
        return None
    arguments = _how_back(node, image.tuple, filter.shape.tuple, grad.shape.tuple)
    return convolve_depthwise_back if _is_depthwise(node) else convolve_back, [filter, grad, *arguments]


# ---------------------------------------------------------------------------- gradients by the input

conv2d_backprop_input_op = Op(
    "Conv2DBackpropInput", _TO_INPUT, host="input_sizes", T=_NUMBERS, **_CUDNN_PLANE
)
conv2d_backprop_input_op.shape(_conv2d_backprop_input_family_shape)
conv2d_backprop_input_op.kernel(_conv2d_backprop_input_family_kernel)
conv2d_backprop_input_op.specialize(_conv2d_backprop_input_family_specialized)
conv2d_backprop_input_op.samples(
    ([2, 4, 5, 2], f32(3, 2, 2, 3), f32(2, 4, 5, 3), _ONCE),
    ([1, 4, 4, 1], f32(3, 3, 1, 2), f32(1, 2, 2, 2), _TWICE),
    ([1, 5, 4, 2], f32(2, 2, 2, 1), f32(1, 3, 3, 1), _DILATED),
    ([1, 6, 5, 1], f32(2, 2, 1, 1), f32(1, 3, 2, 1), {"strides": [1, 2, 2, 1], "padding": "VALID"}),
    ([1, 3, 4, 2], f32(2, 3, 2, 2), f32(1, 4, 2, 2), _PADDED),
)


@export("nn.conv2d_backprop_input")
def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """The gradient of a 2-D convolution by its input."""
    return conv2d_backprop_input_op(
        input_sizes,
        renamed("filters", filters, "filter", filter),
        out_backprop,
        strides=strides,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=dilations,
        name=name,
        **_explicit(padding),
    )


conv3d_backprop_input_v2_op = Op(
    "Conv3DBackpropInputV2",
    "input_sizes: Tshape, filter: T, out_backprop: T -> output: T",
    host="input_sizes",
    T=FLOATS_HALF_FIRST,
    Tshape=attr("type", "int32", allowed=INDICES),
    **_VOLUME,
)
conv3d_backprop_input_v2_op.shape(_conv2d_backprop_input_family_shape)
conv3d_backprop_input_v2_op.kernel(_conv2d_backprop_input_family_kernel)
conv3d_backprop_input_v2_op.specialize(_conv2d_backprop_input_family_specialized)
conv3d_backprop_input_v2_op.samples(
    ([1, 2, 3, 4, 2], f32(2, 2, 2, 2, 1), f32(1, 2, 3, 4, 1), _VOLUME_ONCE),
    ([1, 3, 4, 4, 1], f32(2, 2, 2, 1, 2), f32(1, 2, 2, 2, 2), _VOLUME_TWICE),
)

conv3d_backprop_input_op = Op(
    "Conv3DBackpropInput",
    "input: T, filter: T, out_backprop: T -> output: T",
    differentiable=False,
    T=types("half float double"),
    **{name: spec for name, spec in _VOLUME.items() if name != "data_format"},
)


@conv3d_backprop_input_op.shape
def _conv3d_backprop_input_shape(input, filter, out_backprop):
    of_rank(filter, 5)
    of_rank(out_backprop, 5)
    return of_rank(input, 5)


@conv3d_backprop_input_op.kernel
def _conv3d_backprop_input_kernel(input, filter, out_backprop, *, node):
    return _by_input(input.shape, filter, out_backprop, node)


conv3d_backprop_input_op.specialize(_conv2d_backprop_input_family_specialized)
conv3d_backprop_input_op.samples((f32(1, 2, 3, 4, 2), f32(2, 2, 2, 2, 1), f32(1, 2, 3, 4, 1), _VOLUME_ONCE))

depthwise_conv2d_native_backprop_input_op = Op(
    "DepthwiseConv2dNativeBackpropInput", _TO_INPUT, host="input_sizes", T=FLOATS_HALF_FIRST, **_PLANE
)
depthwise_conv2d_native_backprop_input_op.shape(_conv2d_backprop_input_family_shape)
depthwise_conv2d_native_backprop_input_op.kernel(_conv2d_backprop_input_family_kernel)
depthwise_conv2d_native_backprop_input_op.specialize(_conv2d_backprop_input_family_specialized)
depthwise_conv2d_native_backprop_input_op.samples(
    ([2, 4, 3, 2], f32(3, 2, 2, 3), f32(2, 4, 3, 6), _ONCE),
    ([1, 4, 4, 3], f32(3, 3, 3, 1), f32(1, 2, 2, 3), _TWICE),
)


@export("nn.depthwise_conv2d_native_backprop_input", "nn.depthwise_conv2d_backprop_input")
def depthwise_conv2d_native_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of a depthwise convolution by its input."""
    return depthwise_conv2d_native_backprop_input_op(
        input_sizes,
        filter,
        out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


_TO_FILTER = "input: T, filter_sizes: int32, out_backprop: T -> output: T"


def _how_correlated(node: Any, image: Sequence[int], filter: Sequence[int], grad: Sequence[int]) -> tuple:
    """What `correlate` needs: as `how`, of a gradient that fits."""
    data_format = _format(node)
    _check_gradient(_window(node, filter), spatial(image, data_format), spatial(grad, data_format))
    return how(node, image, filter)


def _conv2d_backprop_filter_family_shape(input, filter_sizes, out_backprop, *, data_format):
    of_rank(input, len(data_format))
    of_rank(out_backprop, len(data_format))
    return of_rank(as_shape(as_sizes(filter_sizes)), len(data_format))


def _by_filter(input, sizes, grad, node):
    arguments = _how_correlated(node, input.shape, sizes, grad.shape)
    if not grad.numel() or not input.numel():
        return grad.new_zeros(sizes)
    return (correlate_depthwise if _is_depthwise(node) else correlate)(input, grad, sizes, *arguments)


def _conv2d_backprop_filter_family_kernel(input, filter_sizes, out_backprop, *, node):
    return _by_filter(input, filter_sizes, out_backprop, node)


def _conv2d_backprop_filter_family_specialized(node):
    image, _, grad = node.inputs
    filter = node.outputs[0].shape
    if not known_shapes(image, grad) or not filter.is_fully_defined():
        return None
    arguments = _how_correlated(node, image.shape.tuple, filter.tuple, grad.shape.tuple)
    function = correlate_depthwise if _is_depthwise(node) else correlate
    return function, [image, grad, filter.as_list(), *arguments]


# ---------------------------------------------------------------------------- gradients by the filter

conv2d_backprop_filter_op = Op(
    "Conv2DBackpropFilter", _TO_FILTER, host="filter_sizes", T=FLOATS_HALF_FIRST, **_CUDNN_PLANE
)
conv2d_backprop_filter_op.shape(_conv2d_backprop_filter_family_shape)
conv2d_backprop_filter_op.kernel(_conv2d_backprop_filter_family_kernel)
conv2d_backprop_filter_op.specialize(_conv2d_backprop_filter_family_specialized)
conv2d_backprop_filter_op.samples(
    (f32(2, 4, 5, 2), [3, 2, 2, 3], f32(2, 4, 5, 3), _ONCE),
    (f32(1, 4, 4, 1), [3, 3, 1, 2], f32(1, 2, 2, 2), _TWICE),
    (f32(1, 5, 4, 2), [2, 2, 2, 1], f32(1, 3, 3, 1), _DILATED),
    (f32(1, 3, 4, 2), [2, 3, 2, 2], f32(1, 4, 2, 2), _PADDED),
)


@export("nn.conv2d_backprop_filter")
def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of a 2-D convolution by its filter."""
    return conv2d_backprop_filter_op(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=dilations,
        name=name,
        **_explicit(padding),
    )


conv3d_backprop_filter_v2_op = Op(
    "Conv3DBackpropFilterV2", _TO_FILTER, host="filter_sizes", T=FLOATS_HALF_FIRST, **_VOLUME
)
conv3d_backprop_filter_v2_op.shape(_conv2d_backprop_filter_family_shape)
conv3d_backprop_filter_v2_op.kernel(_conv2d_backprop_filter_family_kernel)
conv3d_backprop_filter_v2_op.specialize(_conv2d_backprop_filter_family_specialized)
conv3d_backprop_filter_v2_op.samples(
    (f32(1, 2, 3, 4, 2), [2, 2, 2, 2, 1], f32(1, 2, 3, 4, 1), _VOLUME_ONCE),
    (f32(1, 3, 4, 4, 1), [2, 2, 2, 1, 2], f32(1, 2, 2, 2, 2), _VOLUME_TWICE),
)


@export("nn.conv3d_backprop_filter", "nn.conv3d_backprop_filter_v2")
def conv3d_backprop_filter_v2(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of a 3-D convolution by its filter."""
    return conv3d_backprop_filter_v2_op(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


conv3d_backprop_filter_op = Op(
    "Conv3DBackpropFilter",
    "input: T, filter: T, out_backprop: T -> output: T",
    differentiable=False,
    T=types("half float double"),
    **{name: spec for name, spec in _VOLUME.items() if name != "data_format"},
)


@conv3d_backprop_filter_op.shape
def _conv3d_backprop_filter_shape(input, filter, out_backprop):
    of_rank(input, 5)
    of_rank(out_backprop, 5)
    return of_rank(filter, 5)


@conv3d_backprop_filter_op.kernel
def _conv3d_backprop_filter_kernel(input, filter, out_backprop, *, node):
    return _by_filter(input, list(filter.shape), out_backprop, node)


conv3d_backprop_filter_op.specialize(_conv2d_backprop_filter_family_specialized)
conv3d_backprop_filter_op.samples((f32(1, 2, 3, 4, 2), f32(2, 2, 2, 2, 1), f32(1, 2, 3, 4, 1), _VOLUME_ONCE))

depthwise_conv2d_native_backprop_filter_op = Op(
    "DepthwiseConv2dNativeBackpropFilter", _TO_FILTER, host="filter_sizes", T=FLOATS_HALF_FIRST, **_PLANE
)
depthwise_conv2d_native_backprop_filter_op.shape(_conv2d_backprop_filter_family_shape)
depthwise_conv2d_native_backprop_filter_op.kernel(_conv2d_backprop_filter_family_kernel)
depthwise_conv2d_native_backprop_filter_op.specialize(_conv2d_backprop_filter_family_specialized)
depthwise_conv2d_native_backprop_filter_op.samples(
    (f32(2, 4, 3, 2), [3, 2, 2, 3], f32(2, 4, 3, 6), _ONCE),
    (f32(1, 4, 4, 3), [3, 3, 3, 1], f32(1, 2, 2, 3), _TWICE),
)


@export("nn.depthwise_conv2d_native_backprop_filter", "nn.depthwise_conv2d_backprop_filter")
def depthwise_conv2d_native_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of a depthwise convolution by its filter."""
    return depthwise_conv2d_native_backprop_filter_op(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


# ---------------------------------------------------------------------------- derivatives


def _geometry(op: Operation) -> dict[str, Any]:
    return {name: value for name, value in op.attrs.items() if name in _CUDNN_PLANE}


def _derivatives(forward: Op, to_input: Op, to_filter: Op) -> None:
    """y = forward(x, w), dx = to_input(w, dy) and dw = to_filter(x, dy): each is linear in either tensor."""

    @forward.gradient
    def forward_gradient(op, grad):
        image, filter = op.inputs
        if forward is conv2d_op:
            image_sizes, filter_sizes = shapes.shape_n([image, filter])
        else:
            image_sizes, filter_sizes = shapes.shape(image), shapes.shape(filter)
        return (
            to_input(image_sizes, filter, grad, **_geometry(op)),
            to_filter(image, filter_sizes, grad, **_geometry(op)),
        )

    @to_input.gradient
    def to_input_gradient(op, grad):
        _, filter, out_backprop = op.inputs
        by_filter = to_filter(grad, shapes.shape(filter), out_backprop, **_geometry(op))
        return None, by_filter, forward(grad, filter, **_geometry(op))

    @to_filter.gradient
    def to_filter_gradient(op, grad):
        image, _, out_backprop = op.inputs
        by_image = to_input(shapes.shape(image), grad, out_backprop, **_geometry(op))
        return by_image, None, forward(image, grad, **_geometry(op))


_derivatives(conv2d_op, conv2d_backprop_input_op, conv2d_backprop_filter_op)
_derivatives(conv3d_op, conv3d_backprop_input_v2_op, conv3d_backprop_filter_v2_op)
_derivatives(
    depthwise_conv2d_native_op,
    depthwise_conv2d_native_backprop_input_op,
    depthwise_conv2d_native_backprop_filter_op,
)


def how(node: Any, image: Sequence[int], filter: Sequence[int]) -> tuple:
    """What `convolve` needs to know besides its tensors: everything that follows from shapes.

    ATen pads both sides alike; where they differ (SAME with a stride, often) `margin` holds all padding.
    """
    data_format, window = _format(node), _window(node, filter)
    window.output_sizes(spatial(image, data_format))  # refuses a window larger than the image
    pairs = window.paddings(spatial(image, data_format))
    groups = channels(image, data_format) // (1 if _is_depthwise(node) else filter[-2] or 1)
    if all(before == after for before, after in pairs):
        return data_format, groups, window.strides, [before for before, _ in pairs], window.dilations, []
    return data_format, groups, window.strides, [0] * len(pairs), window.dilations, aten_padding(pairs)


def convolve(input, filter, data_format, groups, stride, padding, dilation, margin, bias=None):
    """The convolution of an image by a filter [spatial..., in, out]."""
    return _convolve(
        input, out_in_first(filter), data_format, groups, stride, padding, dilation, margin, bias
    )


def _convolve(input, filter, data_format, groups, stride, padding, dilation, margin, bias=None):
    image = padded_image(input, data_format, margin)
    result = torch.convolution(
        image, filter, bias, stride, padding, dilation, False, [0] * len(stride), groups
    )
    return from_channels_first(result, data_format)


def convolve_back(filter, grad, data_format, groups, stride, padding, dilation, margin, unreached):
    """The transposed convolution: the gradient by the image."""
    return _convolve_back(
        out_in_first(filter), grad, data_format, groups, stride, padding, dilation, margin, unreached
    )


def _convolve_back(filter, grad, data_format, groups, stride, padding, dilation, margin, unreached):
    grad = channels_first(grad, data_format)
    result = torch.convolution(grad, filter, None, stride, padding, dilation, True, unreached, groups)
    if margin:
        result = torch.constant_pad_nd(result, [-size for size in margin])
    return from_channels_first(result, data_format)


def correlate(input, grad, filter_sizes, data_format, groups, stride, padding, dilation, margin):
    """The gradient by a filter [spatial..., in, out]."""
    *window, depth, count = filter_sizes
    if data_format[1] == "C":
        like = grad.new_empty(count, depth, *window)
    else:  # as the result will be laid out: another layout would be copied first
        like = grad.new_empty(count, *window, depth).movedim(-1, 1)
    return out_in_last(_correlate(input, grad, like, data_format, groups, stride, padding, dilation, margin))


def _correlate(input, grad, filter, data_format, groups, stride, padding, dilation, margin):
    image = padded_image(input, data_format, margin)
    return torch.ops.aten.convolution_backward.default(
        channels_first(grad, data_format),
        image,
        filter,
        None,
        stride,
        padding,
        dilation,
        False,
        [0] * len(stride),
        groups,
        [False, True, False],
    )[1]


def convolve_depthwise(input, filter, *how):
    """The convolution of each channel by its own filters, from a filter [height, width, in, multiplier]."""
    return _convolve(input, _each_channel(filter), *how)


def _each_channel(filter: torch.Tensor) -> torch.Tensor:
    """A filter [height, width, in, multiplier] as that of a convolution in as many groups as channels."""
    return filter.flatten(2).permute(2, 0, 1).unsqueeze(1)


def convolve_depthwise_back(filter, grad, *how):
    """The gradient of `convolve_depthwise` by the image."""
    return _convolve_back(_each_channel(filter), grad, *how)


def correlate_depthwise(input, grad, filter_sizes, *how):
    """The gradient of `convolve_depthwise` by the filter."""
    by_filter = _correlate(input, grad, _each_channel(grad.new_empty(filter_sizes)), *how)
    return by_filter.squeeze(1).permute(1, 2, 0).unflatten(2, filter_sizes[2:])


def padded_image(input: torch.Tensor, data_format: str, margin: list[int]) -> torch.Tensor:
    """The image as [batch, channels, spatial...], with the padding that ATen does not do itself."""
    image = channels_first(input, data_format)
    return torch.constant_pad_nd(image, margin) if margin else image


def known_shapes(*values: Any) -> bool:
    """Whether all shapes are known when the plan is made, and none is empty (ATen refuses some that are)."""
    return all(value.shape.num_elements() for value in values)
