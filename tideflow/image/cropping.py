"""Images made smaller by cutting off their edges, larger by adding black ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor, is_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import dimension_value
from tideflow.image.checks import at_least_3d, batched, checked, either, known_sizes, require, sizes_of
from tideflow.ops.arrays import joining, shapes, slicing, tiling
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, casting

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

largest = either(binary.maximum, max)
smallest = either(binary.minimum, min)
_equal = either(binary.equal, lambda x, y: x == y)


@export("image.central_crop")
def central_crop(image: TensorLike, central_fraction: float) -> Tensor:
    """Cuts out the middle of an image.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.
      central_fraction: The part of the height and width to keep, in (0, 1].

    Returns:
      The smaller image or images.

    Raises:
      ValueError: If the fraction is not in (0, 1].
    """
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        checked(image)
        rank = image.shape.ndims
        if rank not in (3, 4):
            raise ValueError(
                f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}."
            )
        sizes = [_size(image, axis) for axis in (rank - 3, rank - 2)]
        starts = [_margin(size, central_fraction) for size in sizes]
        kept = [size - start * 2 for size, start in zip(sizes, starts, strict=True)]
        ahead = [0] if rank == 4 else []
        begin = joining.stack([*ahead, *starts, 0])
        result = slicing.slice(image, begin, joining.stack([*[-1 for _ in ahead], *kept, -1]))
        result.set_shape([*image.shape[: rank - 3], *known_sizes(*kept), image.shape[rank - 1]])
        return result


def _size(image: Tensor, axis: int) -> Any:
    known = dimension_value(image.shape[axis])
    return shapes.shape(image)[axis] if known is None else known


def _margin(size: Any, fraction: float) -> Any:
    if not is_tensor(size):
        return int((size - size * fraction) / 2)
    exact = casting.cast(size, dtypes.float64)
    return casting.cast((exact - exact * fraction) / 2, dtypes.int32)


@export("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
) -> Tensor:
    """Puts an image into a larger one of zeros.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.
      offset_height: The number of rows above.
      offset_width: The number of columns to the left.
      target_height: The height of the result.
      target_width: The width of the result.

    Returns:
      An image or images of the target size.

    Raises:
      ValueError: If the image does not fit.
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, unbatched = batched(convert_to_tensor(image, name="image"))
        checks = at_least_3d(image)
        batch, height, width, depth = sizes_of(image, 4)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        checks += require(offset_height >= 0, "offset_height must be >= 0")
        checks += require(offset_width >= 0, "offset_width must be >= 0")
        checks += require(right >= 0, "width must be <= target - offset")
        checks += require(below >= 0, "height must be <= target - offset")
        image = grouping.with_dependencies(checks, image)
        paddings = joining.stack([0, 0, offset_height, below, offset_width, right, 0, 0])
        padded = tiling.pad(image, shapes.reshape(paddings, [4, 2]))
        padded.set_shape(known_sizes(batch, target_height, target_width, depth))
        return unbatched(padded)


@export("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
) -> Tensor:
    """Cuts a part out of an image.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.
      offset_height: The number of rows above.
      offset_width: The number of columns to the left.
      target_height: The height of the result.
      target_width: The width of the result.

    Returns:
      An image or images of the target size.

    Raises:
      ValueError: If the part is not inside the image.
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, unbatched = batched(convert_to_tensor(image, name="image"))
        checks = at_least_3d(image)
        batch, height, width, depth = sizes_of(image, 4)
        checks += require(offset_width >= 0, "offset_width must be >= 0.")
        checks += require(offset_height >= 0, "offset_height must be >= 0.")
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        checks += require(width >= target_width + offset_width, "width must be >= target + offset.")
        checks += require(height >= target_height + offset_height, "height must be >= target + offset.")
        image = grouping.with_dependencies(checks, image)
        begin = joining.stack([0, offset_height, offset_width, 0])
        cropped = slicing.slice(image, begin, joining.stack([-1, target_height, target_width, -1]))
        cropped.set_shape(known_sizes(batch, target_height, target_width, depth))
        return unbatched(cropped)


@export("image.resize_image_with_crop_or_pad", "image.resize_with_crop_or_pad")
def resize_image_with_crop_or_pad(
    image: TensorLike, target_height: TensorLike, target_width: TensorLike
) -> Tensor:
    """Cuts out the middle of an image, or puts it into the middle of zeros, to reach a size.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.
      target_height: The height of the result.
      target_width: The width of the result.

    Returns:
      An image or images of the target size.

    Raises:
      ValueError: If a size is not positive.
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, unbatched = batched(convert_to_tensor(image, name="image"))
        checks = at_least_3d(image)
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        image = grouping.with_dependencies(checks, image)
        if is_tensor(target_height):
            target_height = grouping.with_dependencies(checks, target_height)
        if is_tensor(target_width):
            target_width = grouping.with_dependencies(checks, target_width)
        _, height, width, _ = sizes_of(image, 4)
        wider = target_width - width
        crop_left, pad_left = largest(-wider // 2, 0), largest(wider // 2, 0)
        taller = target_height - height
        crop_top, pad_top = largest(-taller // 2, 0), largest(taller // 2, 0)
        cropped = crop_to_bounding_box(
            image, crop_top, crop_left, smallest(target_height, height), smallest(target_width, width)
        )
        resized = pad_to_bounding_box(cropped, pad_top, pad_left, target_height, target_width)
        _, found_height, found_width, _ = sizes_of(resized, 4)
        checks = require(_equal(found_height, target_height), "resized height is not correct.")
        checks += require(_equal(found_width, target_width), "resized width is not correct.")
        return unbatched(grouping.with_dependencies(checks, resized))
