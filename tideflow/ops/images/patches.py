"""Patches of images and volumes: every place of a sliding window, its elements side by side as channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from tideflow.export import export
from tideflow.graph.dtypes import bool as bool_type
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import of_rank, size_product
from tideflow.ops.helpers.integers import check_int32
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import COMPLEX, FLOATS, INTEGERS, REAL
from tideflow.ops.math import reductions, segments
from tideflow.ops.nn.windows import Window, aten_padding, windows_of

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_GEOMETRY = ("ksizes", "strides", "rates", "padding")
_PADDING = attr("string", allowed=("SAME", "VALID"))


def _window(
    ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int] | None, padding: str, rank: int
) -> Window:
    given = {"ksizes": ksizes, "strides": strides, "rates": rates or [1] * rank}
    for name, values in given.items():
        if len(values) != rank:
            raise ShapeError(
                f"{name} requires the attribute to contain {rank} values, but got: {len(values)}"
            )
        if min(values) < 1 or values[0] != 1 or values[-1] != 1:
            raise ShapeError(
                f"{name} must be positive, and 1 for the batch and the channels, but got: {list(values)}"
            )
        check_int32(name, values)
    return Window(ksizes[1:-1], strides[1:-1], given["rates"][1:-1], padding, [])


def _patches_shape(images: TensorShape, window: Window) -> list:
    batch, *sizes, channels = of_rank(
        images,
        len(window.sizes) + 2,
        f"input must be {len(window.sizes) + 2}-dimensional{brackets(images.tuple or ())}",
    ).tuple
    places = window.output_sizes(sizes, in_step=True)
    return [batch, *places, size_product(*window.sizes, channels)]


def _patches(images: torch.Tensor, window: Window) -> torch.Tensor:
    """A view with the axes of the window beside those of its places, copied once."""
    shape = _patches_shape(TensorShape(images.shape), window)
    pairs = window.paddings(images.shape[1:-1])
    if any(map(any, pairs)):
        images = torch.constant_pad_nd(images, aten_padding([*pairs, (0, 0)]))
    images = images.contiguous()
    if 0 in shape:
        return images.new_empty(shape)
    batch, *spatial, channel = images.stride()
    places = [step * stride for step, stride in zip(spatial, window.strides, strict=True)]
    inside = [step * rate for step, rate in zip(spatial, window.dilations, strict=True)]
    sizes = [*shape[:-1], *window.sizes, images.shape[-1]]
    return images.as_strided(sizes, [batch, *places, *inside, channel]).reshape(shape)


def _patches_gradient(op: Operation, grad: Tensor) -> Tensor:
    """Every element of a patch is added where it came from; what came from the padding is dropped.

    The op itself finds where that is: applied to an image of places, counted from 1, it gives 0 for padding.
    """
    images = op.inputs[0]
    rank = len(op.attrs["ksizes"])
    full = shapes.shape(images)
    spatial, batch, channels = full[1:-1], full[:1], full[-1:]
    count = reductions.reduce_prod(spatial) + 1
    numbered = shapes.reshape(creation.range(1, count), joining.concat([[1], spatial, [1]], 0))
    geometry = {name: op.attrs[name] for name in _GEOMETRY if name in op.attrs}
    sources = shapes.reshape(op.definition(numbered, **geometry), [-1])
    patch_sizes = joining.concat([shapes.shape(grad)[:-1], [math.prod(op.attrs["ksizes"])], channels], 0)
    by_place = shapes.transpose(shapes.reshape(grad, patch_sizes), [*range(1, rank), 0, rank])
    rows = shapes.reshape(by_place, joining.concat([[-1], batch * channels], 0))
    sums = segments.unsorted_segment_sum(rows, sources, count)[1:]
    image_last = shapes.reshape(sums, joining.concat([spatial, batch, channels], 0))
    return shapes.transpose(image_last, [rank - 2, *range(rank - 2), rank - 1])


def _patches_reference(images, ksizes, strides, padding, rates=None):
    windows = windows_of(images, ksizes[1:-1], strides[1:-1], padding, rates and rates[1:-1])
    return windows.reshape(*windows.shape[: images.ndim - 1], -1)


def _geometry_of(ksizes: list, strides: list, padding: str, rates: list | None = None) -> dict:
    geometry = {"ksizes": [1, *ksizes, 1], "strides": [1, *strides, 1], "padding": padding}
    return geometry if rates is None else {**geometry, "rates": [1, *rates, 1]}


image_patches_op = Op(
    "ExtractImagePatches",
    "images: T -> patches: T",
    ksizes=attr("list(int)", minimum=4),
    strides=attr("list(int)", minimum=4),
    rates=attr("list(int)", minimum=4),
    T=(*FLOATS, *INTEGERS, *COMPLEX, bool_type),
    padding=_PADDING,
)


@image_patches_op.shape
def _image_patches_shape(images, *, ksizes, strides, rates, padding):
    return _patches_shape(images, _window(ksizes, strides, rates, padding, 4))


@image_patches_op.kernel
def _image_patches_kernel(images, *, ksizes, strides, rates, padding):
    return _patches(images, _window(ksizes, strides, rates, padding, 4))


image_patches_op.gradient(_patches_gradient)
image_patches_op.samples(
    (f32(2, 5, 6, 3), _geometry_of([3, 2], [1, 2], "VALID", [1, 1])),
    (f32(2, 5, 6, 3), _geometry_of([3, 2], [2, 3], "SAME", [2, 1])),
    (i32(1, 4, 4, 1), _geometry_of([2, 2], [4, 4], "SAME", [1, 1])),
    (f32(2, 5, 6, 1), _geometry_of([1, 1], [1, 1], "VALID", [1, 1])),
    against=_patches_reference,
)
image_patches_op.refuses(
    (f32(5, 6, 3), _geometry_of([3, 2], [1, 2], "VALID", [1, 1])), "Shape must be rank 4 but is rank 3"
)
image_patches_op.refuses(
    (f32(1, 1, 6, 3), _geometry_of([3, 2], [1, 2], "VALID", [1, 1])),
    "Computed output size would be negative: -1",
)


@export("image.extract_patches")
def extract_patches(
    images: TensorLike,
    sizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Tensor:
    """Takes every position of a sliding window over images, and puts its elements side by side as channels.

    Args:
      images: Images [batch, height, width, channels] of a numeric type or bool.
      sizes: The window's size along each axis, a list of four numbers; those of batch and channels are 1.
      strides: How far the window moves from place to place along each axis, a list of four numbers.
      rates: How far apart the elements of a window are along each axis, a list of four numbers.
      padding: "SAME" (the window begins at every stride-th element, and zeros are around) or "VALID" (it
        stays inside).
      name: A name for the operation.

    Returns:
      A tensor of the same type with a place for each position of the window, whose channels are the window's
      elements one after the other.

    Raises:
      ValueError: Where shapes or lists are not of that form, or where the window is larger than the images.
    """
    return image_patches_op(images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name)


@export("image.extract_image_patches", "extract_image_patches")
def extract_image_patches(
    images: TensorLike,
    ksizes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: Sequence[int] | None = None,
) -> Tensor:
    """Takes every position of a sliding window over images, as `tf.image.extract_patches` does.

    Args:
      images: Images [batch, height, width, channels] of a numeric type or bool.
      ksizes: The window's size along each axis, a list of four numbers; those of batch and channels are 1.
      strides: How far the window moves from place to place along each axis, a list of four numbers.
      rates: How far apart the elements of a window are along each axis, a list of four numbers.
      padding: "SAME" (the window begins at every stride-th element, and zeros are around) or "VALID" (it
        stays inside).
      name: A name for the operation.
      sizes: Another name of `ksizes`.

    Returns:
      A tensor of the same type with a place for each position of the window, whose channels are the window's
      elements one after the other.

    Raises:
      ValueError: Where shapes or lists are not of that form, or where the window is larger than the images.
    """
    return extract_patches(images, renamed("sizes", sizes, "ksizes", ksizes), strides, rates, padding, name)


volume_patches_op = Op(
    "ExtractVolumePatches",
    "input: T -> patches: T",
    ksizes=attr("list(int)", minimum=5),
    strides=attr("list(int)", minimum=5),
    T=REAL,
    padding=_PADDING,
)


@volume_patches_op.shape
def _volume_patches_shape(input, *, ksizes, strides, padding):
    return _patches_shape(input, _window(ksizes, strides, None, padding, 5))


@volume_patches_op.kernel
def _volume_patches_kernel(input, *, ksizes, strides, padding):
    return _patches(input, _window(ksizes, strides, None, padding, 5))


volume_patches_op.gradient(_patches_gradient)
volume_patches_op.samples(
    (f32(2, 4, 5, 6, 3), _geometry_of([2, 3, 2], [1, 2, 3], "VALID")),
    (f32(1, 4, 5, 6, 2), _geometry_of([2, 3, 2], [2, 2, 3], "SAME")),
    against=_patches_reference,
)
volume_patches_op.refuses(
    (f32(5, 6, 3, 1), _geometry_of([2, 3, 2], [1, 2, 3], "VALID")), "Shape must be rank 5 but is rank 4"
)


@export("extract_volume_patches")
def extract_volume_patches(
    input: TensorLike, ksizes: Sequence[int], strides: Sequence[int], padding: str, name: str | None = None
) -> Tensor:
    """Takes every position of a sliding window over volumes, and puts its elements side by side as channels.

    Args:
      input: Volumes [batch, depth, height, width, channels] of a real type.
      ksizes: The window's size along each axis, a list of five numbers; those of batch and channels are 1.
      strides: How far the window moves from place to place along each axis, a list of five numbers.
      padding: "SAME" (the window begins at every stride-th element, and zeros are around) or "VALID" (it
        stays inside).
      name: A name for the operation.

    Returns:
      A tensor of the same type with a place for each position of the window, whose channels are the window's
      elements one after the other.

    Raises:
      ValueError: Where shapes or lists are not of that form, or where the window is larger than the volumes.
    """
    return volume_patches_op(input, ksizes=ksizes, strides=strides, padding=padding, name=name)
