"""Convolutions and their gradients as ATen computes them, with arguments that follow TensorFlow's rules.

The functions that give arguments use only a node's attributes and shapes: where a plan knows the shapes, they
run once, when the plan is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tideflow.graph.op import ShapeError
from tideflow.graph.shapes import brackets
from tideflow.ops.helpers.axes import SIZES, host_rank, vector
from tideflow.ops.nn.windows import (
    Window,
    aten_padding,
    channels,
    channels_first,
    from_channels_first,
    out_in_first,
    out_in_last,
    spatial,
)


def format_of(node: Any) -> str:
    """The data format of a node; some nodes over volumes have no such attribute."""
    return node.attrs.get("data_format", "NDHWC")


def is_depthwise(node: Any) -> bool:
    """Whether each channel has filters of its own."""
    return node.type.startswith("Depthwise")


def window_of(node: Any, filter: Sequence[int]) -> Window:
    """The window that a filter of these sizes is, by the node's attributes."""
    attrs = node.attrs
    return Window.of(
        filter[:-2],
        format_of(node),
        attrs["strides"],
        attrs["padding"],
        attrs["dilations"],
        attrs.get("explicit_paddings", ()),
    )


def convolution_arguments(node: Any, image: Sequence[int], filter: Sequence[int]) -> tuple:
    """What `convolve` needs to know besides its tensors: everything that follows from shapes.

    ATen pads both sides alike; where they differ (SAME with a stride, often) `margin` holds all padding.
    """
    data_format, window = format_of(node), window_of(node, filter)
    window.output_sizes(spatial(image, data_format), in_step=True)  # refuses a window that is too large
    pairs = window.paddings(spatial(image, data_format))
    depth = channels(image, data_format)
    groups = depth // (1 if is_depthwise(node) else filter[-2] or 1)
    if not is_depthwise(node) and groups and filter[-1] % groups:
        raise ShapeError(
            f"Depth of output ({filter[-1]}) is not a multiple of the groups ({groups}) in which a filter of "
            f"depth {filter[-2]} sees an input of depth {depth}"
        )
    if all(before == after for before, after in pairs):
        return data_format, groups, window.strides, [before for before, _ in pairs], window.dilations, []
    return data_format, groups, window.strides, [0] * len(pairs), window.dilations, aten_padding(pairs)


_KERNEL_NAMES = {
    "Conv2DBackprop": "Conv2DCustomBackprop{}",
    "Conv3DBackprop": "Conv3DBackprop{}Op",
    "DepthwiseConv2dNativeBackprop": "DepthwiseConv2DBackprop{}",
}


def _kernel_name(node: Any) -> str:
    """What TensorFlow's kernel of a gradient calls itself."""
    for ours, theirs in _KERNEL_NAMES.items():
        if node.type.startswith(ours):
            return theirs.format(node.type.removeprefix(ours).removesuffix("V2"))
    return node.type


def _check_sizes(node: Any, name: str, sizes: Any) -> None:
    """Refuses an input of sizes, or the sizes of an input, that are no sizes."""
    count = 1 if isinstance(sizes, tuple) else host_rank(sizes)  # a tuple is the shape of a tensor
    if count != 1 and node.type.startswith("Conv3D"):
        vector(sizes, SIZES)
    if count != 1:
        kind = "" if is_depthwise(node) or name == "input_sizes" else "Custom"
        said = f"Conv2D{kind}Backprop{name.removesuffix('_sizes').capitalize()}"
        raise ShapeError(f"{said}: {name} input must be 1-dim, not {count}")
    for axis, size in enumerate(sizes):
        if size < 0:
            said = f"Dimension {axis} of {name} must be >= 0" if is_depthwise(node) else ""
            raise ShapeError(said or f"Dimension {size} must be >= 0: {node.type} got {name} {list(sizes)}")


def _check_gradient(node: Any, image: Sequence[int], filter: Sequence[int], grad: Sequence[int]) -> None:
    """Refuses sizes that do not belong to one convolution: ATen would take their word."""
    data_format, rank = format_of(node), len(format_of(node))
    for name, sizes in (("input", image), ("filter", filter), ("out_backprop", grad)):
        _check_sizes(node, f"{name}_sizes", sizes)
        if len(sizes) != rank:
            raise ShapeError(
                f"{_kernel_name(node)}: {name} must be {rank}-dimensional, not of shape {brackets(sizes)}"
            )
    if image[0] != grad[0]:
        raise ShapeError(
            f"{_kernel_name(node)}: input and out_backprop must have the same batch size: input batch: "
            f"{image[0]} outbackprop batch: {grad[0]} batch_dim: 0"
        )
    depth, out_depth = channels(image, data_format), channels(grad, data_format)
    divides = depth == filter[-2] if is_depthwise(node) else filter[-2] and depth % filter[-2] == 0
    if depth and not divides:
        raise ShapeError(
            f"{_kernel_name(node)}: input depth must be evenly divisible by filter depth, but they are "
            f"{depth} and {filter[-2]}"
        )
    made = filter[-2] * filter[-1] if is_depthwise(node) else filter[-1]
    if is_depthwise(node) and made != out_depth:
        raise ShapeError(
            f"{_kernel_name(node)}: depth_multiplier * in_depth not equal to out_depth: {made} and "
            f"{out_depth}"
        )
    if made != out_depth or depth and filter[-2] and not is_depthwise(node) and made % (depth // filter[-2]):
        raise ShapeError(
            f"{_kernel_name(node)}: filter and out_backprop must have the same out_depth, a multiple of the "
            f"groups of channels, but have {made} and {out_depth}"
        )
    window = window_of(node, filter)
    image_sizes, places = spatial(image, data_format), spatial(grad, data_format)
    wanted = window.output_sizes(image_sizes, in_step=True)
    for axis, (given, computed) in enumerate(zip(places, wanted, strict=True)):
        if given != computed:
            raise ShapeError(
                f"{_kernel_name(node)}: Size of out_backprop doesn't match computed: actual = {given}, "
                f"computed = {computed} along spatial axis {axis}; input: {image_sizes[axis]} "
                f"filter: {window.sizes[axis]} "
                f"stride: {window.strides[axis]} dilation: {window.dilations[axis]}"
            )


def input_gradient_arguments(
    node: Any, image: Sequence[int], filter: Sequence[int], grad: Sequence[int]
) -> tuple:
    """What `convolve_back` needs: the same, and the rows and columns at the end that no window reaches."""
    _check_gradient(node, image, filter, grad)
    data_format, window = format_of(node), window_of(node, filter)
    sizes, places = spatial(image, data_format), spatial(grad, data_format)
    reached = [
        (n - 1) * stride + (size - 1) * dilation + 1 - before - after
        for n, stride, size, dilation, (before, after) in zip(
            places, window.strides, window.sizes, window.dilations, window.paddings(sizes), strict=True
        )
    ]
    unreached = [size - covered for size, covered in zip(sizes, reached, strict=True)]
    return *convolution_arguments(node, image, filter), unreached


def filter_gradient_arguments(
    node: Any, image: Sequence[int], filter: Sequence[int], grad: Sequence[int]
) -> tuple:
    """What `correlate` needs: the same, of a gradient that fits."""
    _check_gradient(node, image, filter, grad)
    return convolution_arguments(node, image, filter)


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
    # The margin before and after, from the last axis on. ExecuTorch has no padding by less than nothing.
    for place, width in enumerate(margin or ()):
        axis = result.ndim - 1 - place // 2
        result = result.narrow(axis, 0 if place % 2 else width, result.shape[axis] - width)
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


def convolve_depthwise(input, filter, *arguments):
    """The convolution of each channel by its own filters, from a filter [height, width, in, multiplier]."""
    return _convolve(input, _each_channel(filter), *arguments)


def _each_channel(filter: torch.Tensor) -> torch.Tensor:
    """A filter [height, width, in, multiplier] as that of a convolution in as many groups as channels."""
    return filter.flatten(2).permute(2, 0, 1).unsqueeze(1)


def convolve_depthwise_back(filter, grad, *arguments):
    """The gradient of `convolve_depthwise` by the image."""
    return _convolve_back(_each_channel(filter), grad, *arguments)


def correlate_depthwise(input, grad, filter_sizes, *arguments):
    """The gradient of `convolve_depthwise` by the filter."""
    by_filter = _correlate(input, grad, _each_channel(grad.new_empty(filter_sizes)), *arguments)
    return by_filter.squeeze(1).permute(1, 2, 0).unflatten(2, filter_sizes[2:])


def padded_image(input: torch.Tensor, data_format: str, margin: list[int]) -> torch.Tensor:
    """The image as [batch, channels, spatial...], with the padding that ATen does not do itself."""
    image = channels_first(input, data_format)
    return torch.constant_pad_nd(image, margin) if margin else image


def known_shapes(*values: Any) -> bool:
    """Whether all shapes are known when the plan is made, and none is empty (ATen refuses some that are)."""
    return all(value.shape.num_elements() for value in values)
