"""Convolutions over volumes, with their two gradients; `convolution` has what they share with images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tideflow.export import export
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers import flops
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST, INDICES, types
from tideflow.ops.nn.convolution import (
    FORWARD,
    TO_FILTER,
    against_definition,
    convolved,
    convolved_shape,
    forward_gradient,
    forward_reference,
    gradient_to_filter,
    gradient_to_input,
    specialized,
    to_filter_gradient,
    to_filter_reference,
    to_filter_shape,
    to_filter_specialized,
    to_input_gradient,
    to_input_reference,
    to_input_shape,
    to_input_specialized,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_VOLUME = {
    "strides": attr("list(int)", minimum=5),
    "padding": attr("string", allowed=("SAME", "VALID")),
    "data_format": attr("string", "NDHWC", allowed=("NDHWC", "NCDHW")),
    "dilations": attr("list(int)", [1, 1, 1, 1, 1]),
}
_ONCE = {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}
_TWICE = {"strides": [1, 1, 2, 2, 1], "padding": "VALID"}

conv3d_op = Op("Conv3D", FORWARD, T=FLOATS_HALF_FIRST, **_VOLUME)
conv3d_op.shape(convolved_shape)
conv3d_op.kernel(convolved)
conv3d_op.specialize(specialized)
conv3d_op.gradient(
    lambda op, grad: forward_gradient(op, grad, conv3d_backprop_input_v2_op, conv3d_backprop_filter_v2_op)
)
conv3d_op.flops(flops.convolution)
conv3d_op.samples(
    (f32(1, 2, 3, 4, 2), f32(2, 2, 2, 2, 1), _ONCE),
    (f32(1, 3, 4, 4, 1), f32(2, 2, 2, 1, 2), _TWICE),
    (f32(1, 2, 3, 3, 3), f32(2, 2, 1, 2, 1), {**_ONCE, "data_format": "NCDHW"}),
    against=forward_reference,
)


@export("nn.conv3d")
def conv3d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Sequence[int] | None = None,
    padding: str | None = None,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """Computes the 3-D convolution of volumes by a filter.

    Args:
      input: Volumes [batch, depth, height, width, channels] of a floating-point type; `data_format` may put
        the channels second.
      filter: A tensor of the same type, [depth, height, width, in channels, out channels].
      strides: How far the window moves from place to place along each axis, a list of five numbers in the
        order of `data_format`; those of batch and channels are 1.
      padding: "SAME" (zeros around the volumes let the window begin at every stride-th element) or "VALID"
        (the window stays inside).
      data_format: "NDHWC" (the default: batch, depth, height, width, channels) or "NCDHW".
      dilations: How far apart the elements are that neighbouring elements of the filter see, a list of five
        numbers.
      name: A name for the operation.
      filters: Another name of `filter`.

    Returns:
      Volumes of the type of `input` with a place for each position of the window and the filter's out
      channels, in the order of `data_format`.

    Raises:
      ValueError: Where the channels do not fit, or where the window is larger than the volumes.
    """
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


conv3d_backprop_input_v2_op = Op(
    "Conv3DBackpropInputV2",
    "input_sizes: Tshape, filter: T, out_backprop: T -> output: T",
    host="input_sizes",
    T=FLOATS_HALF_FIRST,
    Tshape=attr("type", "int32", allowed=INDICES),
    **_VOLUME,
)
conv3d_backprop_input_v2_op.shape(to_input_shape)
conv3d_backprop_input_v2_op.kernel(gradient_to_input)
conv3d_backprop_input_v2_op.specialize(to_input_specialized)
conv3d_backprop_input_v2_op.gradient(
    lambda op, grad: to_input_gradient(op, grad, conv3d_op, conv3d_backprop_filter_v2_op)
)
conv3d_backprop_input_v2_op.samples(
    ([1, 2, 3, 4, 2], f32(2, 2, 2, 2, 1), f32(1, 2, 3, 4, 1), _ONCE),
    ([1, 3, 4, 4, 1], f32(2, 2, 2, 1, 2), f32(1, 2, 2, 2, 2), _TWICE),
    against=to_input_reference,
)

conv3d_backprop_input_op = Op(
    "Conv3DBackpropInput",
    "input: T, filter: T, out_backprop: T -> output: T",
    differentiable=None,
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
    return gradient_to_input(input.shape, filter, out_backprop, node=node)


conv3d_backprop_input_op.specialize(to_input_specialized)
conv3d_backprop_input_op.samples(
    (f32(1, 2, 3, 4, 2), f32(2, 2, 2, 2, 1), f32(1, 2, 3, 4, 1), _ONCE),
    against=against_definition(
        lambda convolution, image, filter, grad: pulled_back(
            lambda moved: convolution(moved, filter), image, grad, step=1
        )
    ),
)


conv3d_backprop_filter_v2_op = Op(
    "Conv3DBackpropFilterV2", TO_FILTER, host="filter_sizes", T=FLOATS_HALF_FIRST, **_VOLUME
)
conv3d_backprop_filter_v2_op.shape(to_filter_shape)
conv3d_backprop_filter_v2_op.kernel(gradient_to_filter)
conv3d_backprop_filter_v2_op.specialize(to_filter_specialized)
conv3d_backprop_filter_v2_op.gradient(
    lambda op, grad: to_filter_gradient(op, grad, conv3d_op, conv3d_backprop_input_v2_op)
)
conv3d_backprop_filter_v2_op.samples(
    (f32(1, 2, 3, 4, 2), [2, 2, 2, 2, 1], f32(1, 2, 3, 4, 1), _ONCE),
    (f32(1, 3, 4, 4, 1), [2, 2, 2, 1, 2], f32(1, 2, 2, 2, 2), _TWICE),
    against=to_filter_reference,
)


@export("nn.conv3d_backprop_filter", "nn.conv3d_backprop_filter_v2")
def conv3d_backprop_filter_v2(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Computes the gradient of a 3-D convolution by its filter.

    Args:
      input: The convolution's input.
      filter_sizes: The sizes of the convolution's filter, an int32 vector of five elements.
      out_backprop: The gradient by the convolution's output.
      strides: How far the window moves from place to place along each axis, a list of five numbers in the
        order of `data_format`; those of batch and channels are 1.
      padding: "SAME" (zeros around the volumes let the window begin at every stride-th element) or "VALID"
        (the window stays inside).
      data_format: "NDHWC" (the default: batch, depth, height, width, channels) or "NCDHW".
      dilations: How far apart the elements are that neighbouring elements of the filter see, a list of five
        numbers.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input` and of the sizes `filter_sizes`.
    """
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
    differentiable=None,
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
    return gradient_to_filter(input, list(filter.shape), out_backprop, node=node)


conv3d_backprop_filter_op.specialize(to_filter_specialized)
conv3d_backprop_filter_op.samples(
    (f32(1, 2, 3, 4, 2), f32(2, 2, 2, 2, 1), f32(1, 2, 3, 4, 1), _ONCE),
    against=against_definition(
        lambda convolution, image, filter, grad: pulled_back(
            lambda moved: convolution(image, moved), filter, grad, step=1
        )
    ),
)
