"""Images resized by the method of one's choice."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor, is_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import partial_value
from tideflow.graph.scopes import name_scope
from tideflow.image.checks import at_least_3d, batched, require, sizes_of
from tideflow.image.cropping import largest, pad_to_bounding_box
from tideflow.ops.control_flow import grouping
from tideflow.ops.images import resize
from tideflow.ops.math import binary, casting, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("image.ResizeMethod")
class ResizeMethod:
    """The methods of interpolation for `tf.image.resize`.

    Attributes:
      BILINEAR: Linear in both directions.
      NEAREST_NEIGHBOR: The nearest pixel.
      BICUBIC: Cubic in both directions.
      AREA: The mean of the area that a new pixel covers.
    """

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


# By number, and by the names that TensorFlow 2 gives them.
_RESIZERS: dict[Any, Callable] = {
    ResizeMethod.BILINEAR: resize.resize_bilinear,
    ResizeMethod.NEAREST_NEIGHBOR: resize.resize_nearest_neighbor,
    ResizeMethod.BICUBIC: resize.resize_bicubic,
    ResizeMethod.AREA: resize.resize_area,
    "bilinear": resize.resize_bilinear,
    "nearest": resize.resize_nearest_neighbor,
    "bicubic": resize.resize_bicubic,
    "area": resize.resize_area,
}


@export("image.resize_images", "image.resize")
def resize_images(
    images: TensorLike,
    size: TensorLike,
    method: int | str = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """Resizes images.

    Args:
      images: An image of shape [height, width, channels], or a batch of images.
      size: The new height and width.
      method: The method, one of `tf.image.ResizeMethod`.
      align_corners: Whether the centres of the corner pixels of input and output are aligned.
      preserve_aspect_ratio: Whether the proportions are kept: `size` is then a bound.
      name: The name of the operation.

    Returns:
      The resized images: of the images' type if the method is NEAREST_NEIGHBOR or the size does not change,
      else float32.

    Raises:
      ValueError: If shapes do not fit, or the method is unknown.
    """
    if method not in _RESIZERS:
        raise ValueError(f"Resize method is not implemented: {method!r}. It is one of {list(_RESIZERS)}")
    by_method = functools.partial(_RESIZERS[method], align_corners=align_corners)
    return resized(images, size, by_method, preserve_aspect_ratio, name)


def resized(
    images: TensorLike,
    size: TensorLike,
    resize: Callable[[Tensor, Tensor], Tensor],
    preserve_aspect_ratio: bool,
    name: str | None,
    same_as_is: bool = True,
) -> Tensor:
    """One image or a batch of them, resized by a function of batches and sizes; with `same_as_is`, those that
    have the size are left alone.
    """
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        if images.shape.ndims is None:
            raise ValueError("'images' contains no shape.")
        if images.shape.ndims not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        images, unbatched = batched(images)
        size = _size_tensor(size)
        known = partial_value(size) or [None, None]
        if preserve_aspect_ratio:
            size, known = _fitted(images, *known)
        elif same_as_is and None not in known and known == images.shape.as_list()[1:3]:
            return unbatched(images)
        made = resize(images, size)
        made.set_shape([None, *known, None])
        return unbatched(made)


def _size_tensor(size: Any) -> Tensor:
    try:
        size = convert_to_tensor(size, dtypes.int32, name="size")
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if not size.shape.is_compatible_with([2]):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return size


def _fitted(images: Tensor, new_height: Any, new_width: Any) -> tuple[Tensor, list[int | None]]:
    """The largest size with the images' proportions that fits: a tensor, and what is known of it."""
    in_single = lambda number: casting.cast(number, dtypes.float32)
    _, height, width, _ = sizes_of(images, 4)
    scale_of_height = in_single(new_height) / in_single(height)
    scale_of_width = in_single(new_width) / in_single(width)
    scale = binary.minimum(scale_of_height, scale_of_width)
    sides = [casting.cast(unary.round(scale * in_single(side)), dtypes.int32) for side in (height, width)]
    known = [None, None]
    if not is_tensor(height) and not is_tensor(width):
        old, new = np.array([height, width], np.float32), np.array([new_height, new_width], np.float32)
        known = np.rint(min(new / old) * old).astype(int).tolist()
    return convert_to_tensor(sides, dtypes.int32, name="size"), known


@export("image.resize_image_with_pad")
def resize_image_with_pad(
    image: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
    method: int | str = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """Resizes images without changing their proportions, and pads them with zeros to a size.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.
      target_height: The height of the result.
      target_width: The width of the result.
      method: The method, one of `tf.image.ResizeMethod`.
      align_corners: Whether the centres of the corner pixels are aligned.

    Returns:
      An image or images of the target size.
    """
    resize = functools.partial(resize_images, method=method, align_corners=align_corners)
    return resized_with_pad(image, target_height, target_width, resize)


def resized_with_pad(
    image: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
    resize: Callable[[Tensor, Any], Tensor],
) -> Tensor:
    """Images that a function of images and sizes has made fit into a size, with zeros around them."""
    with name_scope(None, "resize_image_with_pad", [image]):
        image, unbatched = batched(convert_to_tensor(image, name="image"))
        checks = at_least_3d(image)
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        image = grouping.with_dependencies(checks, image)
        in_double = lambda number: casting.cast(number, dtypes.float64)
        as_size = lambda number: casting.cast(number, dtypes.int32)
        _, height, width, _ = sizes_of(image, 4)
        height, width = in_double(height), in_double(width)
        full_height, full_width = in_double(target_height), in_double(target_width)
        ratio = largest(width / full_width, height / full_height)
        height, width = height / ratio, width / ratio
        new_height, new_width = as_size(unary.floor(height)), as_size(unary.floor(width))
        above, before = (full_height - height) / 2, (full_width - width) / 2
        above, before = unary.floor(above), unary.floor(before)
        above, before = largest(0, as_size(above)), largest(0, as_size(before))
        fitting = resize(image, [new_height, new_width])
        padded = pad_to_bounding_box(fitting, above, before, target_height, target_width)
        return unbatched(padded)
