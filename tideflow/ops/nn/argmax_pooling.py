"""Maximum pooling that tells where in the flattened image each maximum is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import as_shape
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import merged, of_rank
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import INDICES, REAL
from tideflow.ops.nn.pool_kernels import added_at, max_pool_places, pool_arguments, signed, unsigned_again
from tideflow.ops.nn.pooling import (
    HALVES,
    SIMPLE,
    SLIDING,
    WINDOW,
    empty_pool,
    geometry,
    maximum_reference,
    pooled_shape,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_ARGMAX = {**WINDOW, **SIMPLE, "include_batch_in_index": False}

max_pool_with_argmax_op = Op(
    "MaxPoolWithArgmax",
    "input: T -> output: T, argmax: Targmax",
    T=REAL,
    Targmax=attr("type", "int64", allowed=INDICES),
    **_ARGMAX,
)


@max_pool_with_argmax_op.shape
def _max_pool_with_argmax_shape(input, *, ksize, strides, padding, in_step=False):
    shape = pooled_shape(input, ksize, strides, padding, "NHWC", in_step=in_step)
    return [shape, shape]


@max_pool_with_argmax_op.kernel
def _max_pool_with_argmax_kernel(input, *, ksize, strides, padding, Targmax, include_batch_in_index):
    if shape := empty_pool(input.shape, ksize, strides, padding, "NHWC"):
        return input.new_zeros(shape), input.new_zeros(shape, dtype=Targmax.torch)
    places = max_pool_places(input, *pool_arguments(input.shape, "NHWC", ksize, strides, padding))[1]
    batch, height, width, depth = input.shape
    found = signed(input).flatten(1, 2).gather(1, places.flatten(1, 2)).view(places.shape)
    argmax = places * depth + torch.arange(depth, device=input.device)
    if include_batch_in_index:
        first = torch.arange(batch, device=input.device) * (height * width * depth)
        argmax = argmax + first.view(-1, 1, 1, 1)
    return unsigned_again(found, input.dtype), argmax.to(Targmax.torch)


@max_pool_with_argmax_op.gradient
def _max_pool_with_argmax_gradient(op, grad, argmax_grad):
    window = geometry(op, max_pool_grad_with_argmax_op)
    return max_pool_grad_with_argmax_op(op.inputs[0], grad, op.outputs[1], **window)


def _max_pool_with_argmax_law(input, output, argmax, ksize, strides, padding, include_batch_in_index):
    """There the flat input, or the flat image of the batch, is as large as its windows' maxima."""
    images = input.reshape(1 if include_batch_in_index else len(input), -1)
    found = np.take_along_axis(images, argmax.reshape(len(images), -1), 1).reshape(output.shape)
    return [(found, output), (output, maximum_reference(input, ksize, strides, padding))]


max_pool_with_argmax_op.samples(
    (f32(2, 5, 4, 2), HALVES),
    (f32(2, 4, 5, 1), {**SLIDING, "include_batch_in_index": True}),
    law=_max_pool_with_argmax_law,
)


@export("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    Targmax: DTypeLike | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
    include_batch_in_index: bool = False,
) -> tuple[Tensor, Tensor]:
    """Computes the maximum of each window of images, and where in the flattened image it is.

    Args:
      input: Images [batch, height, width, channels] of a real type.
      ksize: The window's size along each axis, a list of four numbers; those of batch and channels are 1.
      strides: How far the window moves from place to place along each axis, a list of four numbers.
      padding: "SAME" (the window begins at every stride-th element and may reach over the edge) or "VALID"
        (it stays inside).
      data_format: "NHWC"; no other is supported.
      Targmax: A deprecated name of `output_dtype`.
      name: A name for the operation.
      output_dtype: The type of the places: tf.int64 (the default) or tf.int32.
      include_batch_in_index: Whether places are counted in the whole flattened batch, ((b * height + y) *
        width + x) * channels + c, rather than in each image.

    Returns:
      The maxima, of the type of `input`, and their places; both [batch, places along height, places along
      width, channels].

    Raises:
      ValueError: Where `data_format` is another, or where the window is larger than the images.
    """
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    return max_pool_with_argmax_op(
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=renamed("output_dtype", output_dtype, "Targmax", Targmax),
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def _within_image(argmax: torch.Tensor, image: torch.Tensor, include_batch: bool) -> torch.Tensor:
    """Flat places [batch, ...] in each image of the batch."""
    size = image[:1].numel()
    places = argmax.long().flatten(1)
    limit = size * len(image) if include_batch else size
    bad = (places < 0) | (places >= limit)
    if bad.any():
        raise ShapeError(f"argmax has the place {int(places[bad][0])}, which is not in [0, {limit})")
    return places % max(size, 1) if include_batch else places


max_pool_grad_with_argmax_op = Op(
    "MaxPoolGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    T=REAL,
    Targmax=INDICES,
    differentiable=None,
    **_ARGMAX,
)


@max_pool_grad_with_argmax_op.shape
def _max_pool_grad_with_argmax_shape(input, grad, argmax, *, ksize, strides, padding):
    pooled = pooled_shape(input, ksize, strides, padding, "NHWC", in_step=True)
    merged(merged(as_shape(pooled), argmax), grad)
    return of_rank(input, 4)


@max_pool_grad_with_argmax_op.kernel
def _max_pool_grad_with_argmax_kernel(input, grad, argmax, *, include_batch_in_index):
    places = _within_image(argmax, input, include_batch_in_index)
    return added_at(
        places.unsqueeze(1), grad.flatten(1).unsqueeze(1), [len(places), 1, *input.shape[1:]]
    ).squeeze(1)


def _max_pool_grad_with_argmax_reference(input, grad, argmax):
    result = np.zeros([len(input), input[0].size])
    for image, places, values in zip(result, argmax, grad):
        np.add.at(image, places.ravel(), values.ravel())
    return result.reshape(input.shape)


max_pool_grad_with_argmax_op.samples(
    (f32(1, 4, 4, 1), f32(1, 2, 2, 1), np.array([0, 3, 8, 14]).reshape(1, 2, 2, 1), HALVES),
    against=_max_pool_grad_with_argmax_reference,
)

max_pool_grad_with_argmax_op.refuses(
    (f32(1, 4, 4, 1), f32(1, 2, 2, 1), np.array([0, 3, 8, 2**40]).reshape(1, 2, 2, 1), HALVES),
    "which is not in [0, 16)",
    InvalidArgumentError,
)

max_pool_grad_grad_with_argmax_op = Op(
    "MaxPoolGradGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    T=REAL,
    Targmax=INDICES,
    differentiable=None,
    **_ARGMAX,
)


@max_pool_grad_grad_with_argmax_op.shape
def _max_pool_grad_grad_with_argmax_shape(input, grad, argmax, *, ksize, strides, padding):
    image = merged(of_rank(input, 4), grad)
    pooled = pooled_shape(image, ksize, strides, padding, "NHWC", in_step=True)
    return merged(as_shape(pooled), argmax)


@max_pool_grad_grad_with_argmax_op.kernel
def _max_pool_grad_grad_with_argmax_kernel(input, grad, argmax, *, include_batch_in_index):
    places = _within_image(argmax, input, include_batch_in_index)
    taken = signed(grad).flatten(1).gather(1, places).view(argmax.shape)
    return unsigned_again(taken, grad.dtype)


max_pool_grad_grad_with_argmax_op.samples(
    (f32(1, 4, 4, 1), f32(1, 4, 4, 1), np.array([0, 3, 8, 14]).reshape(1, 2, 2, 1), HALVES),
    against=lambda input, grad, argmax: np.take_along_axis(
        grad.reshape(len(grad), -1), argmax.reshape(len(grad), -1), 1
    ).reshape(argmax.shape),
)
max_pool_grad_grad_with_argmax_op.refuses(
    (f32(1, 4, 4, 1), f32(1, 4, 4, 1), np.array([0, 3, -8, 14]).reshape(1, 2, 2, 1), HALVES),
    "which is not in [0, 16)",
    InvalidArgumentError,
)
