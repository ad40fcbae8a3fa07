"""Mean pooling: of each window the mean of what it covers of an image, with its gradient."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import shapes
from tideflow.ops.arrays.constants import stop_gradient
from tideflow.ops.helpers import flops
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import as_sizes, merged, of_rank
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST
from tideflow.ops.nn.pool_kernels import avg_pool_back, avg_pool_values, pool_arguments
from tideflow.ops.nn.pooling import (
    FIRST,
    HALVES,
    INSIDE,
    PLANES,
    SIMPLE,
    SLIDING,
    VOLUME_HALVES,
    VOLUME_SLIDING,
    VOLUMES,
    WINDOW,
    WINDOW_3D,
    empty_pool,
    geometry,
    in_format,
    planned_pool,
    pooled_shape,
    sliding_window,
    windows_in,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _mean_shape(value, *, ksize, strides, padding, data_format, in_step=False):
    return pooled_shape(value, ksize, strides, padding, data_format, in_step=in_step)


def _mean(value, *, ksize, strides, padding, data_format):
    if shape := empty_pool(value.shape, ksize, strides, padding, data_format):
        return value.new_zeros(shape)
    return avg_pool_values(value, *pool_arguments(value.shape, data_format, ksize, strides, padding))


def _mean_specialized(node):
    planned = planned_pool(node, node.inputs[0])
    return None if planned is None else (avg_pool_values, [node.inputs[0], *planned])


def _mean_gradient(op: Operation, grad: Tensor, back: Op) -> Tensor:
    return back(shapes.shape(op.inputs[0]), grad, **geometry(op, back))


def _image_shape(sizes: Any, rank: int) -> TensorShape:
    """The shape that a vector of sizes tells."""
    words = f"{'out_backprop' if rank == 4 else 'tensor_in'} must be 1-dimensional and {rank} elements"
    return of_rank(as_shape(as_sizes(sizes, words)), rank, words)


def _mean_grad_shape(orig_input_shape, grad, *, ksize, strides, padding, data_format):
    rank = len(data_format)
    image = _image_shape(orig_input_shape, rank)
    of_rank(grad, rank, f"out_backprop must be {rank}-dimensional")
    merged(as_shape(pooled_shape(image, ksize, strides, padding, data_format, in_step=True)), grad)
    return image


def _mean_grad(orig_input_shape, grad, *, ksize, strides, padding, data_format):
    image = _image_shape(orig_input_shape, len(data_format))
    expected = pooled_shape(image, ksize, strides, padding, data_format, in_step=True)
    if list(grad.shape) != expected:
        raise ShapeError(f"Expected grad shape to be {expected}, but got {list(grad.shape)}")
    if not grad.numel():
        return grad.new_zeros(orig_input_shape)
    return avg_pool_back(
        grad, orig_input_shape, *pool_arguments(orig_input_shape, data_format, ksize, strides, padding)
    )


def _mean_grad_specialized(node):
    planned = planned_pool(node, node.outputs[0])
    return (
        None
        if planned is None
        else (avg_pool_back, [node.inputs[1], node.outputs[0].shape.as_list(), *planned])
    )


def _mean_grad_gradient(op: Operation, grad: Tensor, forward: Op) -> tuple:
    return stop_gradient(op.inputs[0]), forward(grad, **geometry(op, forward))


def _mean_reference(value, ksize, strides, padding, data_format):
    return in_format(np.nanmean(windows_in(value, ksize, strides, padding, data_format), -2), data_format)


def _mean_grad_reference(orig_input_shape, grad, ksize, strides, padding, data_format):
    window = ksize, strides, padding, data_format
    return pulled_back(
        lambda image: _mean_reference(image, *window), np.zeros(orig_input_shape), grad, step=1
    )


avg_pool_op = Op("AvgPool", "value: T -> output: T", T=FLOATS_HALF_FIRST, **WINDOW, **SIMPLE, **PLANES)
avg_pool_op.shape(_mean_shape)
avg_pool_op.kernel(_mean)
avg_pool_op.specialize(_mean_specialized)
avg_pool_op.gradient(lambda op, grad: _mean_gradient(op, grad, avg_pool_grad_op))
avg_pool_op.flops(flops.pooling)
avg_pool_op.samples(
    (f32(2, 5, 4, 3), HALVES),
    (f32(1, 4, 5, 2), SLIDING),
    (f32(1, 4, 4, 2), INSIDE),
    (f32(1, 2, 5, 4), FIRST),
    against=_mean_reference,
)
avg_pool_op.refuses(
    (f32(1, 5, 5, 4), {**INSIDE, "ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2]}),
    "Non-spatial pooling is not yet supported",
)


@export("nn.avg_pool", "nn.avg_pool2d")
def avg_pool(
    value: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """Computes the mean of each window of images, of the elements that lie inside.

    Args:
      value: Images [batch, height, width, channels] of a floating-point type; `data_format` may put the
        channels second.
      ksize: The window's size: one number, two (height, width), or four in the order of `data_format`.
      strides: How far the window moves from place to place: one, two or four numbers as for `ksize`.
      padding: "SAME" (the window begins at every stride-th element and may reach over the edge) or "VALID"
        (it stays inside).
      data_format: "NHWC" (the default: batch, height, width, channels) or "NCHW".
      name: A name for the operation.
      input: Another name of `value`.

    Returns:
      Images of the type of `value` with a place for each position of the window.

    Raises:
      ValueError: Where the window is larger than the images.
    """
    with name_scope(name, "AvgPool", [value]) as name:
        value = renamed("input", input, "value", value)
        return avg_pool_op(
            value, padding=padding, name=name, **sliding_window(ksize, strides, data_format or "NHWC", 2)
        )


avg_pool3d_op = Op("AvgPool3D", "input: T -> output: T", T=FLOATS_HALF_FIRST, **WINDOW_3D, **VOLUMES)
avg_pool3d_op.shape(_mean_shape)
avg_pool3d_op.kernel(_mean)
avg_pool3d_op.specialize(_mean_specialized)
avg_pool3d_op.gradient(lambda op, grad: _mean_gradient(op, grad, avg_pool3d_grad_op))
avg_pool3d_op.samples(
    (f32(1, 3, 4, 3, 2), VOLUME_HALVES),
    (f32(1, 3, 2, 4, 1), VOLUME_SLIDING),
    (f32(1, 3, 2, 1, 2), {**VOLUME_HALVES, "ksize": [1, 2, 5, 7, 1]}),  # larger than the volume
    against=_mean_reference,
)


@export("nn.avg_pool3d")
def avg_pool3d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """Computes the mean of each window of volumes, of the elements that lie inside.

    Args:
      input: Volumes [batch, depth, height, width, channels] of a floating-point type; `data_format` may put
        the channels second.
      ksize: The window's size: one number, three (depth, height, width), or five in the order of
        `data_format`.
      strides: How far the window moves from place to place: one, three or five numbers as for `ksize`.
      padding: "SAME" (the window begins at every stride-th element and may reach over the edge) or "VALID"
        (it stays inside).
      data_format: "NDHWC" (the default: batch, depth, height, width, channels) or "NCDHW".
      name: A name for the operation.

    Returns:
      Volumes of the type of `input` with a place for each position of the window.

    Raises:
      ValueError: Where the window is larger than the volumes.
    """
    with name_scope(name, "AvgPool3D", [input]) as name:
        window = sliding_window(ksize, strides, data_format or "NDHWC", 3)
        return avg_pool3d_op(input, padding=padding, name=name, **window)


avg_pool_grad_op = Op(
    "AvgPoolGrad",
    "orig_input_shape: int32, grad: T -> output: T",
    host="orig_input_shape",
    T=FLOATS_HALF_FIRST,
    **WINDOW,
    **SIMPLE,
    **PLANES,
)
avg_pool_grad_op.shape(_mean_grad_shape)
avg_pool_grad_op.kernel(_mean_grad)
avg_pool_grad_op.specialize(_mean_grad_specialized)
avg_pool_grad_op.gradient(lambda op, grad: _mean_grad_gradient(op, grad, avg_pool_op))


@avg_pool_grad_op.flops
def _avg_pool_grad_flops(op):
    flops.check_format(op)
    return 2 * math.prod(op.attrs["ksize"]) * flops.size(op.inputs[1])


avg_pool_grad_op.samples(
    ([2, 5, 4, 3], f32(2, 3, 2, 3), HALVES),
    ([1, 4, 5, 2], f32(1, 4, 5, 2), SLIDING),
    against=_mean_grad_reference,
)

avg_pool3d_grad_op = Op(
    "AvgPool3DGrad",
    "orig_input_shape: int32, grad: T -> output: T",
    host="orig_input_shape",
    T=FLOATS_HALF_FIRST,
    **WINDOW_3D,
    **VOLUMES,
)
avg_pool3d_grad_op.shape(_mean_grad_shape)
avg_pool3d_grad_op.kernel(_mean_grad)
avg_pool3d_grad_op.specialize(_mean_grad_specialized)
avg_pool3d_grad_op.gradient(lambda op, grad: _mean_grad_gradient(op, grad, avg_pool3d_op))
avg_pool3d_grad_op.samples(([1, 3, 4, 3, 2], f32(1, 2, 2, 2, 2), VOLUME_HALVES), against=_mean_grad_reference)
