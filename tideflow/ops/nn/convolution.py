"""Convolutions over images with their two gradients, and what those over volumes and by channels share.

The gradient by the input is the transposed convolution of the output's gradient; the gradient by the filter
correlates the input with it. Each of the three is linear in both of its tensors, so the derivative of each is
made of the other two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import as_shape, brackets
from tideflow.ops.arrays import shapes
from tideflow.ops.helpers import flops
from tideflow.ops.helpers.arguments import per_axis, renamed
from tideflow.ops.helpers.axes import as_sizes, of_rank
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST, types
from tideflow.ops.nn.conv_kernels import (
    convolution_arguments,
    convolve,
    convolve_back,
    convolve_depthwise,
    convolve_depthwise_back,
    correlate,
    correlate_depthwise,
    filter_gradient_arguments,
    format_of,
    input_gradient_arguments,
    is_depthwise,
    known_shapes,
    window_of,
)
from tideflow.ops.nn.pixel_convolution import (
    convolve_pixels,
    convolve_pixels_back,
    correlate_pixels,
    is_by_pixels,
    strides_of,
)
from tideflow.ops.nn.windows import (
    Window,
    channels,
    has_channels_first,
    image_shape,
    spatial,
    windows_of,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

FORWARD = "input: T, filter: T -> output: T"
TO_INPUT = "input_sizes: int32, filter: T, out_backprop: T -> output: T"
TO_FILTER = "input: T, filter_sizes: int32, out_backprop: T -> output: T"
_NUMBERS = types("half bfloat16 float double int32")
PLANE = {
    "strides": attr("list(int)"),
    "padding": attr("string", allowed=("SAME", "VALID", "EXPLICIT")),
    "explicit_paddings": attr("list(int)", []),
    "data_format": attr("string", "NHWC", allowed=("NHWC", "NCHW")),
    "dilations": attr("list(int)", [1, 1, 1, 1]),
}
_CUDNN_PLANE = {**PLANE, "use_cudnn_on_gpu": True}

# ---------------------------------------------------------------------------- what the families share


def convolved_shape(
    input, filter, *, data_format, strides, padding, dilations, explicit_paddings=(), in_step=False
):
    """The shape rule of a convolution, whose filter may see a part of the channels."""
    rank = len(data_format)
    image = of_rank(input, rank, f"input must be {rank}-dimensional{brackets(input.tuple or ())}").tuple
    *sizes, depth, count = of_rank(
        filter, rank, f"filter must be {rank}-dimensional: {brackets(filter.tuple or ())}"
    ).tuple
    given = channels(image, data_format)
    if given is not None and depth is not None and given != depth and (depth == 0 or given % depth):
        raise ShapeError(
            f"Depth of input ({given}) is not a multiple of input depth of filter ({depth})",
            f"input depth must be evenly divisible by filter depth: {given} vs {depth}",
        )
    window = Window.of(sizes, data_format, strides, padding, dilations, explicit_paddings, in_step)
    places = window.output_sizes(spatial(image, data_format), in_step)
    return image_shape(image[0], places, count, data_format)


def _output_shape(node: Any, image: Sequence[int], filter: Sequence[int]) -> list[int]:
    sizes = window_of(node, filter).output_sizes(spatial(image, format_of(node)), in_step=True)
    count = math.prod(filter[-2:]) if is_depthwise(node) else filter[-1]
    return image_shape(image[0], sizes, count, format_of(node))


def convolved(input, filter, *, node):
    """The kernel of a convolution."""
    arguments = convolution_arguments(node, input.shape, filter.shape)
    shape = _output_shape(node, input.shape, filter.shape)
    if not input.numel() or not filter.numel() or 0 in shape:
        return input.new_zeros(shape)
    return (convolve_depthwise if is_depthwise(node) else convolve)(input, filter, *arguments)


def specialized(node):
    """A convolution of known shapes: everything that follows from them is worked out in the plan."""
    image, filter = node.inputs
    if not known_shapes(image, filter, node.outputs[0]):
        return None
    if is_by_pixels(node, image.shape.tuple, filter.shape.tuple):
        return convolve_pixels, [image, filter, strides_of(node)]
    function = convolve_depthwise if is_depthwise(node) else convolve
    return function, [image, filter, *convolution_arguments(node, image.shape.tuple, filter.shape.tuple)]


def to_input_shape(input_sizes, filter, out_backprop, *, data_format):
    """The shape rule of a gradient by the input."""
    of_rank(filter, len(data_format))
    of_rank(out_backprop, len(data_format))
    return of_rank(as_shape(as_sizes(input_sizes)), len(data_format))


def gradient_to_input(input_sizes, filter, out_backprop, *, node):
    """The kernel of a gradient by the input."""
    arguments = input_gradient_arguments(node, input_sizes, filter.shape, out_backprop.shape)
    if not out_backprop.numel() or not filter.numel() or 0 in input_sizes:
        return out_backprop.new_zeros(input_sizes)
    function = convolve_depthwise_back if is_depthwise(node) else convolve_back
    if not out_backprop.is_floating_point():  # ATen has no transposed convolution of integers
        return function(filter.double(), out_backprop.double(), *arguments).to(out_backprop.dtype)
    return function(filter, out_backprop, *arguments)


def to_input_specialized(node):
    """A gradient by the input of known shapes."""
    _, filter, grad = node.inputs
    image = node.outputs[0].shape
    if not known_shapes(filter, grad) or not image.num_elements() or not grad.dtype.is_floating:
        return None
    arguments = input_gradient_arguments(node, image.tuple, filter.shape.tuple, grad.shape.tuple)
    if is_by_pixels(node, image.tuple, filter.shape.tuple):
        return convolve_pixels_back, [filter, grad, image.as_list(), strides_of(node)]
    return convolve_depthwise_back if is_depthwise(node) else convolve_back, [filter, grad, *arguments]


def to_filter_shape(input, filter_sizes, out_backprop, *, data_format):
    """The shape rule of a gradient by the filter."""
    of_rank(input, len(data_format))
    of_rank(out_backprop, len(data_format))
    return of_rank(as_shape(as_sizes(filter_sizes)), len(data_format))


def gradient_to_filter(input, filter_sizes, out_backprop, *, node):
    """The kernel of a gradient by the filter."""
    arguments = filter_gradient_arguments(node, input.shape, filter_sizes, out_backprop.shape)
    if not out_backprop.numel() or not input.numel() or 0 in filter_sizes:
        return out_backprop.new_zeros(filter_sizes)
    function = correlate_depthwise if is_depthwise(node) else correlate
    return function(input, out_backprop, filter_sizes, *arguments)


def to_filter_specialized(node):
    """A gradient by the filter of known shapes."""
    image, _, grad = node.inputs
    filter = node.outputs[0].shape
    if not known_shapes(image, grad) or not filter.num_elements():
        return None
    arguments = filter_gradient_arguments(node, image.shape.tuple, filter.tuple, grad.shape.tuple)
    if is_by_pixels(node, image.shape.tuple, filter.tuple):
        return correlate_pixels, [image, grad, strides_of(node)]
    function = correlate_depthwise if is_depthwise(node) else correlate
    return function, [image, grad, filter.as_list(), *arguments]


def _geometry(op: Operation) -> dict[str, Any]:
    return {name: value for name, value in op.attrs.items() if name in _CUDNN_PLANE}


def forward_gradient(op: Operation, grad: Tensor, to_input: Op, to_filter: Op) -> tuple:
    """The gradient of y = forward(x, w): dx = to_input(w, dy) and dw = to_filter(x, dy)."""
    image, filter = op.inputs
    if op.type == "Conv2D":
        image_sizes, filter_sizes = shapes.shape_n([image, filter])
    else:
        image_sizes, filter_sizes = shapes.shape(image), shapes.shape(filter)
    return (
        to_input(image_sizes, filter, grad, **_geometry(op)) if op.wants_gradient(0) else None,
        to_filter(image, filter_sizes, grad, **_geometry(op)) if op.wants_gradient(1) else None,
    )


def to_input_gradient(op: Operation, grad: Tensor, forward: Op, to_filter: Op) -> tuple:
    """The gradient of dx = to_input(w, dy)."""
    _, filter, out_backprop = op.inputs
    by_filter = to_filter(grad, shapes.shape(filter), out_backprop, **_geometry(op))
    return None, by_filter, forward(grad, filter, **_geometry(op))


def to_filter_gradient(op: Operation, grad: Tensor, forward: Op, to_input: Op) -> tuple:
    """The gradient of dw = to_filter(x, dy)."""
    image, _, out_backprop = op.inputs
    by_image = to_input(shapes.shape(image), grad, out_backprop, **_geometry(op))
    return by_image, None, forward(image, grad, **_geometry(op))


def convolution_by_definition(
    images: np.ndarray,
    filter: np.ndarray,
    strides: Sequence[int],
    padding: str,
    dilations: Sequence[int],
    data_format: str,
    explicit_paddings: Sequence[int] = (),
) -> np.ndarray:
    """The convolution in NumPy: at each place the window's elements times the filter's, added up."""
    if has_channels_first(data_format):
        images = np.moveaxis(images, 1, -1)
    pairs = list(zip(explicit_paddings[::2], explicit_paddings[1::2]))
    windows = windows_of(
        images.astype(np.float64),
        filter.shape[:-2],
        spatial(strides, data_format),
        spatial(pairs, data_format) or padding,
        spatial(dilations, data_format),
    )
    groups = images.shape[-1] // filter.shape[-2]
    parts = zip(np.split(windows, groups, -1), np.split(filter, groups, -1))
    result = np.concatenate([np.tensordot(part, each, filter.ndim - 1) for part, each in parts], -1)
    return np.moveaxis(result, -1, 1) if has_channels_first(data_format) else result


def against_definition(expected: Callable) -> Callable:
    """A reference: `expected` of a function that convolves as the attributes say, and of the inputs."""

    def reference(*inputs, strides, padding, dilations, data_format="NDHWC", explicit_paddings=()):
        def convolution(images: np.ndarray, filter: np.ndarray) -> np.ndarray:
            return convolution_by_definition(
                images, filter, strides, padding, dilations, data_format, explicit_paddings
            )

        return expected(convolution, *inputs)

    return reference


forward_reference = against_definition(lambda convolution, image, filter: convolution(image, filter))
to_input_reference = against_definition(
    lambda convolution, sizes, filter, grad: pulled_back(
        lambda image: convolution(image, filter), np.zeros(sizes), grad, step=1
    )
)
to_filter_reference = against_definition(
    lambda convolution, image, sizes, grad: pulled_back(
        lambda filter: convolution(image, filter), np.zeros(sizes), grad, step=1
    )
)

ONCE = {"strides": [1, 1, 1, 1], "padding": "SAME"}
TWICE = {"strides": [1, 2, 2, 1], "padding": "SAME"}  # an even image: more padding after than before
_DILATED = {"strides": [1, 1, 1, 1], "padding": "VALID", "dilations": [1, 2, 1, 1]}
_PADDED = {"strides": [1, 1, 2, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 2, 0, 1, 1, 0, 0]}
FIRST = {"strides": [1, 1, 1, 1], "padding": "VALID", "data_format": "NCHW"}

# ---------------------------------------------------------------------------- images


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


conv2d_op = Op("Conv2D", FORWARD, T=_NUMBERS, **_CUDNN_PLANE)
conv2d_op.shape(convolved_shape)
conv2d_op.kernel(convolved)
conv2d_op.specialize(specialized)
conv2d_op.gradient(
    lambda op, grad: forward_gradient(op, grad, conv2d_backprop_input_op, conv2d_backprop_filter_op)
)
conv2d_op.flops(flops.convolution)
conv2d_op.samples(
    (f32(2, 4, 5, 2), f32(3, 2, 2, 3), ONCE),
    (f32(1, 4, 4, 1), f32(3, 3, 1, 2), TWICE),
    (f32(1, 5, 4, 2), f32(2, 2, 2, 1), _DILATED),
    (f32(1, 3, 4, 2), f32(2, 3, 2, 2), _PADDED),
    (f32(1, 2, 4, 3), f32(2, 2, 2, 2), FIRST),
    (f32(1, 3, 3, 4), f32(2, 2, 2, 2), ONCE),  # two groups
    (f32(0, 3, 3, 1), f32(2, 2, 1, 2), ONCE),
    against=forward_reference,
)
conv2d_op.refuses(
    (f32(1, 2, 2, 3), f32(4, 4, 3, 4), {"strides": [1, 1, 1, 1], "padding": "VALID"}), "subtracting 4 from 2"
)
conv2d_op.refuses((f32(1, 5, 5, 4), f32(3, 3, 3, 4), ONCE), "Depth of input (4) is not a multiple")
conv2d_op.refuses((f32(1, 5, 5), f32(3, 3, 3, 4), ONCE), "Shape must be rank 4 but is rank 3")
conv2d_op.refuses((f32(1, 5, 5, 3), f32(3, 3, 3, 4), {**ONCE, "strides": [1, 0, 1, 1]}), "Stride must be > 0")


@export("nn.conv2d")
def conv2d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: int | Sequence[int] | None = None,
    padding: str | Sequence[Sequence[int]] | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: int | Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """Computes the 2-D convolution of images by a filter.

    At each place the window's elements, of all input channels, are multiplied by the filter's and added up.
    The filter is not mirrored: strictly, this is a correlation.

    Args:
      input: Images [batch, height, width, channels] of a floating-point type or int32; `data_format` may put
        the channels second.
      filter: A tensor of the same type, [height, width, in channels, out channels]. Where the images have a
        multiple of its channels, these are divided into so many groups.
      strides: How far the window moves from place to place: one number, two (height, width), or four in the
        order of `data_format`.
      padding: "SAME" (zeros around the images let the window begin at every stride-th element), "VALID" (the
        window stays inside), or a list of four pairs: how many zeros come before and after along each axis.
      use_cudnn_on_gpu: Has no effect: ATen chooses its kernels.
      data_format: "NHWC" (the default: batch, height, width, channels) or "NCHW".
      dilations: How far apart the elements are that neighbouring elements of the filter see; one, two or four
        numbers as for `strides`.
      name: A name for the operation.
      filters: Another name of `filter`.

    Returns:
      Images of the type of `input`, [batch, places along height, places along width, out channels] in the
      order of `data_format`.

    Raises:
      ValueError: Where the channels do not fit, or where the window is larger than the padded images.
    """
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


conv2d_backprop_input_op = Op("Conv2DBackpropInput", TO_INPUT, host="input_sizes", T=_NUMBERS, **_CUDNN_PLANE)
conv2d_backprop_input_op.shape(to_input_shape)
conv2d_backprop_input_op.kernel(gradient_to_input)
conv2d_backprop_input_op.specialize(to_input_specialized)
conv2d_backprop_input_op.gradient(
    lambda op, grad: to_input_gradient(op, grad, conv2d_op, conv2d_backprop_filter_op)
)
conv2d_backprop_input_op.flops(lambda op: flops.convolution_gradient(op, op.outputs[0], op.inputs[1]))
conv2d_backprop_input_op.samples(
    ([2, 4, 5, 2], f32(3, 2, 2, 3), f32(2, 4, 5, 3), ONCE),
    ([1, 4, 4, 1], f32(3, 3, 1, 2), f32(1, 2, 2, 2), TWICE),
    ([1, 5, 4, 2], f32(2, 2, 2, 1), f32(1, 3, 3, 1), _DILATED),
    ([1, 6, 5, 1], f32(2, 2, 1, 1), f32(1, 3, 2, 1), {"strides": [1, 2, 2, 1], "padding": "VALID"}),
    ([1, 3, 4, 2], f32(2, 3, 2, 2), f32(1, 4, 2, 2), _PADDED),
    against=to_input_reference,
)


conv2d_backprop_input_op.refuses(
    ([1, 4, 5, 2], f32(3, 2, 2, 3), f32(1, 4, 5, 4), ONCE),
    "filter and out_backprop must have the same out_depth",
    InvalidArgumentError,
)
conv2d_backprop_input_op.refuses(
    ([2, 4, 5, 2], f32(3, 2, 2, 3), f32(1, 4, 5, 3), ONCE),
    "input and out_backprop must have the same batch size",
    InvalidArgumentError,
)


@export("nn.conv2d_backprop_input")
def conv2d_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike | None = None,
    out_backprop: TensorLike | None = None,
    strides: Sequence[int] | None = None,
    padding: str | Sequence[Sequence[int]] | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """Computes the gradient of a 2-D convolution by its input: the transposed convolution.

    Args:
      input_sizes: The sizes of the convolution's input, an int32 vector of four elements.
      filter: The convolution's filter, [height, width, in channels, out channels].
      out_backprop: The gradient by the convolution's output.
      strides: How far the window moves from place to place along each axis, a list of four numbers in the
        order of `data_format`; those of batch and channels are 1.
      padding: "SAME" (zeros around the images let the window begin at every stride-th element) or "VALID"
        (the window stays inside), or a list of four pairs: how many zeros come before and after along each
        axis.
      use_cudnn_on_gpu: Has no effect: ATen chooses its kernels.
      data_format: "NHWC" (the default: batch, height, width, channels) or "NCHW".
      dilations: How far apart the elements are that neighbouring elements of the filter see, a list of four
        numbers.
      name: A name for the operation.
      filters: Another name of `filter`.

    Returns:
      A tensor of the type of `filter` and of the sizes `input_sizes`.
    """
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


conv2d_backprop_filter_op = Op(
    "Conv2DBackpropFilter", TO_FILTER, host="filter_sizes", T=FLOATS_HALF_FIRST, **_CUDNN_PLANE
)
conv2d_backprop_filter_op.shape(to_filter_shape)
conv2d_backprop_filter_op.kernel(gradient_to_filter)
conv2d_backprop_filter_op.specialize(to_filter_specialized)
conv2d_backprop_filter_op.gradient(
    lambda op, grad: to_filter_gradient(op, grad, conv2d_op, conv2d_backprop_input_op)
)
conv2d_backprop_filter_op.flops(lambda op: flops.convolution_gradient(op, op.inputs[0], op.outputs[0]))
conv2d_backprop_filter_op.samples(
    (f32(2, 4, 5, 2), [3, 2, 2, 3], f32(2, 4, 5, 3), ONCE),
    (f32(1, 4, 4, 1), [3, 3, 1, 2], f32(1, 2, 2, 2), TWICE),
    (f32(1, 5, 4, 2), [2, 2, 2, 1], f32(1, 3, 3, 1), _DILATED),
    (f32(1, 3, 4, 2), [2, 3, 2, 2], f32(1, 4, 2, 2), _PADDED),
    against=to_filter_reference,
)


conv2d_backprop_filter_op.refuses(
    (f32(1, 4, 5, 2), [3, 2, 3, 3], f32(1, 4, 5, 3), ONCE),
    "input depth must be evenly divisible by filter depth",
    InvalidArgumentError,
)
conv2d_backprop_filter_op.refuses(
    (f32(1, 4, 5, 2), [3, 2, 2, -1], f32(1, 4, 5, 3), ONCE),
    "Dimension -1 must be >= 0",
    InvalidArgumentError,
)


@export("nn.conv2d_backprop_filter")
def conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Computes the gradient of a 2-D convolution by its filter.

    Args:
      input: The convolution's input.
      filter_sizes: The sizes of the convolution's filter, an int32 vector of four elements.
      out_backprop: The gradient by the convolution's output.
      strides: How far the window moves from place to place along each axis, a list of four numbers in the
        order of `data_format`; those of batch and channels are 1.
      padding: "SAME" (zeros around the images let the window begin at every stride-th element) or "VALID"
        (the window stays inside), or a list of four pairs: how many zeros come before and after along each
        axis.
      use_cudnn_on_gpu: Has no effect: ATen chooses its kernels.
      data_format: "NHWC" (the default: batch, height, width, channels) or "NCHW".
      dilations: How far apart the elements are that neighbouring elements of the filter see, a list of four
        numbers.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input` and of the sizes `filter_sizes`.
    """
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
