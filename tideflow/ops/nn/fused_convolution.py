"""Convolutions of images that are mirrored at their edges, and resized before that, as one op."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from tideflow.graph.op import Op, undefined_gradient
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import tiling
from tideflow.ops.helpers.samples import f32, f64
from tideflow.ops.helpers.types import types
from tideflow.ops.images import resampling
from tideflow.ops.images import resize as image_resize
from tideflow.ops.nn import convolution

_ATTRS = {
    "mode": attr("string", allowed=("REFLECT", "SYMMETRIC")),
    "strides": attr("list(int)"),
    "padding": attr("string", allowed=("SAME", "VALID")),
}
_FIXED = {"data_format": "NHWC", "dilations": [1, 1, 1, 1], "explicit_paddings": []}


def _convolved_shape(input: Any, paddings: Any, filter: TensorShape, strides: list, padding: str) -> Any:
    padded = tiling.mirror_pad_op.shape_rule(TensorShape(input), paddings)
    rule = convolution.conv2d_op.shape_rule
    return rule(TensorShape(padded), filter, strides=strides, padding=padding, **_FIXED)


def _convolved(
    input: torch.Tensor, paddings: Any, filter: torch.Tensor, mode: str, strides: list, padding: str
) -> torch.Tensor:
    padded = tiling.mirror_pad_op.kernels[""](input, paddings, mode=mode)
    node = SimpleNamespace(type="Conv2D", attrs={"strides": strides, "padding": padding, **_FIXED})
    return convolution.conv2d_op.kernels[""](padded, filter, node=node)


_PADDINGS = np.array([[0, 0], [1, 2], [2, 1], [0, 0]], np.int32)
_ONCE = {"mode": "REFLECT", "strides": [1, 1, 1, 1], "padding": "VALID"}
_TWICE = {"mode": "SYMMETRIC", "strides": [1, 2, 2, 1], "padding": "SAME"}


def _padded_convolution(input, paddings, filter, mode, strides, padding):
    padded = np.pad(input, paddings, mode=mode.lower())
    return convolution.convolution_by_definition(padded, filter, strides, padding, [1, 1, 1, 1], "NHWC")


fused_pad_conv2d_op = Op(
    "FusedPadConv2D",
    "input: T, paddings: int32, filter: T -> output: T",
    T=types("half bfloat16 float double"),
    host="paddings",
    **_ATTRS,
)


@fused_pad_conv2d_op.shape
def _fused_pad_conv2d_shape(input, paddings, filter, *, strides, padding):
    return _convolved_shape(input, paddings, filter, strides, padding)


@fused_pad_conv2d_op.kernel
def _fused_pad_conv2d_kernel(input, paddings, filter, *, mode, strides, padding):
    return _convolved(input, paddings, filter, mode, strides, padding)


fused_pad_conv2d_op.gradient(undefined_gradient)
fused_pad_conv2d_op.samples(
    (f32(2, 5, 6, 3), _PADDINGS, f32(3, 2, 3, 4), _ONCE),
    (f64(1, 5, 6, 2), _PADDINGS, f64(3, 3, 2, 1), _TWICE),
    against=_padded_convolution,
)
fused_pad_conv2d_op.refuses(
    (f32(2, 5, 6, 3), _PADDINGS, f32(3, 2, 4, 4), _ONCE), "is not a multiple of input depth of filter"
)

fused_resize_and_pad_conv2d_op = Op(
    "FusedResizeAndPadConv2D",
    "input: T, size: int32, paddings: int32, filter: T -> output: T",
    T=types("half float double"),
    resize_align_corners=False,
    host="size, paddings",
    **_ATTRS,
)


@fused_resize_and_pad_conv2d_op.shape
def _fused_resize_and_pad_conv2d_shape(input, size, paddings, filter, *, strides, padding):
    return _convolved_shape(image_resize.sized_image(input, size), paddings, filter, strides, padding)


@fused_resize_and_pad_conv2d_op.kernel
def _fused_resize_and_pad_conv2d_kernel(
    input, size, paddings, filter, *, mode, strides, padding, resize_align_corners
):
    sizes = image_resize.checked_size(input, size)
    working = input if input.dtype == torch.float64 else input.float()
    resized = image_resize.in_between(
        working, sizes, resampling.bilinear, resampling.lerp, resize_align_corners, False
    )
    return _convolved(resized.to(input.dtype), paddings, filter, mode, strides, padding)


fused_resize_and_pad_conv2d_op.gradient(undefined_gradient)


def _fused_resize_and_pad_conv2d_reference(
    input, size, paddings, filter, mode, strides, padding, resize_align_corners
):
    resized = image_resize.bilinear_by_definition(input, size, resize_align_corners, False)
    return _padded_convolution(resized, paddings, filter, mode, strides, padding)


fused_resize_and_pad_conv2d_op.samples(
    (f32(2, 5, 6, 3), [7, 9], _PADDINGS, f32(3, 2, 3, 4), _ONCE),
    (f64(1, 5, 6, 2), [3, 3], _PADDINGS, f64(3, 3, 2, 1), {**_TWICE, "resize_align_corners": True}),
    against=_fused_resize_and_pad_conv2d_reference,
)
fused_resize_and_pad_conv2d_op.refuses(
    (f32(2, 5, 6, 3), [7, 9, 1], _PADDINGS, f32(3, 2, 3, 4), _ONCE), "Dimension must be 2 but is 3"
)
