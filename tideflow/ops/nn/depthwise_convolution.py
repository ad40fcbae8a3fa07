"""Depthwise convolutions, of each channel by filters of its own, with their two gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tideflow.export import export
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import brackets
from tideflow.ops.helpers import flops
from tideflow.ops.helpers.axes import of_rank, size_product
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST
from tideflow.ops.nn.convolution import (
    FIRST,
    FORWARD,
    ONCE,
    PLANE,
    TO_FILTER,
    TO_INPUT,
    TWICE,
    against_definition,
    convolved,
    forward_gradient,
    gradient_to_filter,
    gradient_to_input,
    specialized,
    to_filter_gradient,
    to_filter_shape,
    to_filter_specialized,
    to_input_gradient,
    to_input_shape,
    to_input_specialized,
)
from tideflow.ops.nn.windows import Window, channels, image_shape, spatial

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def in_groups(filter: np.ndarray) -> np.ndarray:
    """The filter of a depthwise convolution as that of one with as many groups as channels."""
    return filter.reshape(*filter.shape[:-2], 1, -1)


depthwise_conv2d_native_op = Op("DepthwiseConv2dNative", FORWARD, T=FLOATS_HALF_FIRST, **PLANE)


@depthwise_conv2d_native_op.shape
def _depthwise_conv2d_native_shape(
    input, filter, *, data_format, strides, padding, dilations, explicit_paddings, in_step=False
):
    image = of_rank(input, 4, f"input must be 4-dimensional{brackets(input.tuple or ())}").tuple
    *sizes, depth, multiplier = of_rank(
        filter, 4, f"filter must be 4-dimensional: {brackets(filter.tuple or ())}"
    ).tuple
    given = channels(image, data_format)
    if given is not None and depth is not None and given != depth:
        raise ShapeError(
            f"Dimensions must be equal, but are {given} and {depth}: channels of the input and of the filter",
            f"input and filter must have the same depth: {given} vs {depth}",
        )
    window = Window.of(sizes, data_format, strides, padding, dilations, explicit_paddings, in_step)
    count = size_product(given if depth is None else depth, multiplier)
    places = window.output_sizes(spatial(image, data_format), in_step)
    return image_shape(image[0], places, count, data_format)


depthwise_conv2d_native_op.kernel(convolved)
depthwise_conv2d_native_op.specialize(specialized)
depthwise_conv2d_native_op.gradient(
    lambda op, grad: forward_gradient(
        op, grad, depthwise_conv2d_native_backprop_input_op, depthwise_conv2d_native_backprop_filter_op
    )
)
depthwise_conv2d_native_op.flops(flops.per_window_element)
depthwise_conv2d_native_op.samples(
    (f32(2, 4, 3, 2), f32(3, 2, 2, 3), ONCE),
    (f32(1, 4, 4, 3), f32(3, 3, 3, 1), TWICE),
    (f32(1, 2, 4, 3), f32(2, 2, 2, 2), FIRST),
    against=against_definition(lambda convolution, image, filter: convolution(image, in_groups(filter))),
)
depthwise_conv2d_native_op.refuses(
    (f32(1, 5, 5, 3), f32(3, 3, 4, 2), ONCE), "Dimensions must be equal, but are 3 and 4"
)


@export("nn.depthwise_conv2d_native")
def depthwise_conv2d_native(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Convolves each channel of images by its own filters.

    Args:
      input: Images [batch, height, width, channels] of a floating-point type; `data_format` may put the
        channels second.
      filter: A tensor of the same type, [height, width, channels, multiplier]: so many filters for each
        channel.
      strides: How far the window moves from place to place along each axis, a list of four numbers in the
        order of `data_format`; those of batch and channels are 1.
      padding: "SAME" (zeros around the images let the window begin at every stride-th element) or "VALID"
        (the window stays inside).
      data_format: "NHWC" (the default: batch, height, width, channels) or "NCHW".
      dilations: How far apart the elements are that neighbouring elements of the filter see, a list of four
        numbers.
      name: A name for the operation.

    Returns:
      Images of the type of `input` with channels * multiplier channels: those of the first channel come
      first.

    Raises:
      ValueError: Where images and filter differ in their channels, or where the window is larger than the
        images.
    """
    return depthwise_conv2d_native_op(
        input,
        filter,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


depthwise_conv2d_native_backprop_input_op = Op(
    "DepthwiseConv2dNativeBackpropInput", TO_INPUT, host="input_sizes", T=FLOATS_HALF_FIRST, **PLANE
)
depthwise_conv2d_native_backprop_input_op.shape(to_input_shape)
depthwise_conv2d_native_backprop_input_op.kernel(gradient_to_input)
depthwise_conv2d_native_backprop_input_op.specialize(to_input_specialized)
depthwise_conv2d_native_backprop_input_op.gradient(
    lambda op, grad: to_input_gradient(
        op, grad, depthwise_conv2d_native_op, depthwise_conv2d_native_backprop_filter_op
    )
)
depthwise_conv2d_native_backprop_input_op.samples(
    ([2, 4, 3, 2], f32(3, 2, 2, 3), f32(2, 4, 3, 6), ONCE),
    ([1, 4, 4, 3], f32(3, 3, 3, 1), f32(1, 2, 2, 3), TWICE),
    against=against_definition(
        lambda convolution, sizes, filter, grad: pulled_back(
            lambda image: convolution(image, in_groups(filter)), np.zeros(sizes), grad, step=1
        )
    ),
)


@export("nn.depthwise_conv2d_native_backprop_input", "nn.depthwise_conv2d_backprop_input")
def depthwise_conv2d_native_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Computes the gradient of a depthwise convolution by its input.

    Args:
      input_sizes: The sizes of the convolution's input, an int32 vector of four elements.
      filter: The convolution's filter, [height, width, channels, multiplier].
      out_backprop: The gradient by the convolution's output.
      strides: How far the window moves from place to place along each axis, a list of four numbers in the
        order of `data_format`; those of batch and channels are 1.
      padding: "SAME" (zeros around the images let the window begin at every stride-th element) or "VALID"
        (the window stays inside).
      data_format: "NHWC" (the default: batch, height, width, channels) or "NCHW".
      dilations: How far apart the elements are that neighbouring elements of the filter see, a list of four
        numbers.
      name: A name for the operation.

    Returns:
      A tensor of the type of `filter` and of the sizes `input_sizes`.
    """
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


depthwise_conv2d_native_backprop_filter_op = Op(
    "DepthwiseConv2dNativeBackpropFilter", TO_FILTER, host="filter_sizes", T=FLOATS_HALF_FIRST, **PLANE
)
depthwise_conv2d_native_backprop_filter_op.shape(to_filter_shape)
depthwise_conv2d_native_backprop_filter_op.kernel(gradient_to_filter)
depthwise_conv2d_native_backprop_filter_op.specialize(to_filter_specialized)
depthwise_conv2d_native_backprop_filter_op.gradient(
    lambda op, grad: to_filter_gradient(
        op, grad, depthwise_conv2d_native_op, depthwise_conv2d_native_backprop_input_op
    )
)
depthwise_conv2d_native_backprop_filter_op.samples(
    (f32(2, 4, 3, 2), [3, 2, 2, 3], f32(2, 4, 3, 6), ONCE),
    (f32(1, 4, 4, 3), [3, 3, 3, 1], f32(1, 2, 2, 3), TWICE),
    against=against_definition(
        lambda convolution, image, sizes, grad: pulled_back(
            lambda filter: convolution(image, in_groups(filter)), np.zeros(sizes), grad, step=1
        )
    ),
)


@export("nn.depthwise_conv2d_native_backprop_filter", "nn.depthwise_conv2d_backprop_filter")
def depthwise_conv2d_native_backprop_filter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Computes the gradient of a depthwise convolution by its filter.

    Args:
      input: The convolution's input.
      filter_sizes: The sizes of the convolution's filter, an int32 vector of four elements.
      out_backprop: The gradient by the convolution's output.
      strides: How far the window moves from place to place along each axis, a list of four numbers in the
        order of `data_format`; those of batch and channels are 1.
      padding: "SAME" (zeros around the images let the window begin at every stride-th element) or "VALID"
        (the window stays inside).
      data_format: "NHWC" (the default: batch, height, width, channels) or "NCHW".
      dilations: How far apart the elements are that neighbouring elements of the filter see, a list of four
        numbers.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input` and of the sizes `filter_sizes`.
    """
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
