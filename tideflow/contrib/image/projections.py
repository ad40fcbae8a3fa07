"""Images turned, moved, or projected in any way.

A projective transform is eight numbers a0, a1, a2, b0, b1, b2, c0, c1. The place (x, y) of the output shows
the place ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) of the input, where k = c0 x + c1 y + 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.ops.images.warps import (
    flat_transforms_to_matrices,
    image_projective_transform_v2_op,
    matrices_to_flat_transforms,
)
from tideflow.ops.linalg import matmul
from tideflow.ops.math import casting, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_PIXEL_TYPES = {dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64}


def _batch_of(images: Tensor) -> Tensor:
    """Images [batch, height, width, channels], made of one image or of one channel."""
    if images.dtype.base_dtype not in _PIXEL_TYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank == 2:
        return images[None, :, :, None]
    if rank == 3:
        return images[None, :, :, :]
    if rank == 4:
        return images
    raise TypeError("Images should have rank between 2 and 4.")


def _like(images: Tensor, batch: Tensor) -> Tensor:
    """A batch with the rank of what was given."""
    if images.shape.ndims == 2:
        return batch[0, :, :, 0]
    return batch[0, :, :, :] if images.shape.ndims == 3 else batch


@export("contrib.image.rotate")
def rotate(
    images: TensorLike, angles: TensorLike, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Turns images counterclockwise around their centres.

    Args:
      images: Images of rank 4, 3 (one image) or 2 (one image of one channel).
      angles: By how much, in radians; one number, or one for each image.
      interpolation: "NEAREST" or "BILINEAR".
      name: A name for the scope of the new operations.

    Returns:
      A tensor of the shape and type of `images`; what comes in from outside is 0.

    Raises:
      TypeError: If type or rank do not fit.
    """
    with name_scope(name, "rotate"):
        given = convert_to_tensor(images)
        batch = _batch_of(given)
        height = casting.cast(shapes.shape(batch)[1], dtypes.float32)[None]
        width = casting.cast(shapes.shape(batch)[2], dtypes.float32)[None]
        transforms = angles_to_projective_transforms(angles, height, width)
        return _like(given, transform(batch, transforms, interpolation=interpolation))


@export("contrib.image.translate")
def translate(
    images: TensorLike, translations: TensorLike, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Moves images.

    Args:
      images: Images of rank 4, 3 (one image) or 2 (one image of one channel).
      translations: How far to the right and down, [2], or [batch, 2] with one for each image.
      interpolation: "NEAREST" or "BILINEAR".
      name: A name for the scope of the new operations.

    Returns:
      A tensor of the shape and type of `images`; what comes in from outside is 0.

    Raises:
      TypeError: If type or rank do not fit.
    """
    with name_scope(name, "translate"):
        transforms = translations_to_projective_transforms(translations)
        return transform(images, transforms, interpolation=interpolation)


@export("contrib.image.angles_to_projective_transforms")
def angles_to_projective_transforms(
    angles: TensorLike, image_height: Tensor | float, image_width: Tensor | float, name: str | None = None
) -> Tensor:
    """Makes the transforms that turn images counterclockwise around their centres.

    Args:
      angles: By how much, in radians; a scalar or a vector.
      image_height: The height of the images, float32.
      image_width: Their width, float32.
      name: A name for the scope of the new operations.

    Returns:
      A float32 tensor [transforms, 8].

    Raises:
      TypeError: If `angles` is neither a scalar nor a vector.
    """
    with name_scope(name, "angles_to_projective_transforms"):
        angles = convert_to_tensor(angles, name="angles", dtype=dtypes.float32)
        if len(angles.shape) == 0:
            angles = angles[None]
        elif len(angles.shape) != 1:
            raise TypeError("Angles should have rank 0 or 1.")
        last_x, last_y = (image_width - 1), (image_height - 1)
        x_offset = (last_x - (unary.cos(angles) * last_x - unary.sin(angles) * last_y)) / 2.0
        y_offset = (last_y - (unary.sin(angles) * last_x + unary.cos(angles) * last_y)) / 2.0
        count = shapes.shape(angles)[0]
        columns = [
            unary.cos(angles)[:, None],
            -unary.sin(angles)[:, None],
            x_offset[:, None],
            unary.sin(angles)[:, None],
            unary.cos(angles)[:, None],
            y_offset[:, None],
            creation.zeros((count, 2), dtypes.float32),
        ]
        return joining.concat(columns, axis=1)


@export("contrib.image.translations_to_projective_transforms")
def translations_to_projective_transforms(translations: TensorLike, name: str | None = None) -> Tensor:
    """Makes the transforms that move images.

    Args:
      translations: How far to the right and down, [2] or [transforms, 2].
      name: A name for the scope of the new operations.

    Returns:
      A float32 tensor [transforms, 8].

    Raises:
      TypeError: If `translations` is neither a vector nor a matrix.
    """
    with name_scope(name, "translations_to_projective_transforms"):
        moves = convert_to_tensor(translations, name="translations", dtype=dtypes.float32)
        if moves.shape.ndims is None:
            raise TypeError("translation_or_translations rank must be statically known")
        if moves.shape.ndims == 1:
            moves = moves[None]
        elif moves.shape.ndims != 2:
            raise TypeError("Translations should have rank 1 or 2.")
        count = shapes.shape(moves)[0]
        columns = [
            creation.ones((count, 1), dtypes.float32),
            creation.zeros((count, 1), dtypes.float32),
            -moves[:, 0, None],
            creation.zeros((count, 1), dtypes.float32),
            creation.ones((count, 1), dtypes.float32),
            -moves[:, 1, None],
            creation.zeros((count, 2), dtypes.float32),
        ]
        return joining.concat(columns, axis=1)


@export("contrib.image.transform")
def transform(
    images: TensorLike,
    transforms: TensorLike,
    interpolation: str = "NEAREST",
    output_shape: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Projects images.

    Args:
      images: Images of rank 4, 3 (one image) or 2 (one image of one channel).
      transforms: Eight numbers, [8], or [batch, 8] with a transform for each image: where each place of the
        output is taken from.
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: Height and width of the result; those of `images` if None.
      name: A name for the scope of the new operations.

    Returns:
      A tensor of the type of `images`; what comes in from outside is 0.

    Raises:
      TypeError: If type or rank do not fit.
      ValueError: If `output_shape` is not two numbers.
    """
    with name_scope(name, "transform"):
        given = convert_to_tensor(images, name="images")
        transforms = convert_to_tensor(transforms, name="transforms", dtype=dtypes.float32)
        batch = _batch_of(given)
        if output_shape is None:
            output_shape = shapes.shape(batch)[1:3]
        output_shape = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
        if not output_shape.shape.is_compatible_with([2]):
            raise ValueError("output_shape must be a 1-D Tensor of 2 elements: new_height, new_width")
        if len(transforms.shape) == 1:
            transforms = transforms[None]
        elif len(transforms.shape) != 2:
            raise TypeError("Transforms should have rank 1 or 2.")
        made = image_projective_transform_v2_op(
            batch, transforms, output_shape, interpolation=interpolation.upper()
        )
        return _like(given, made)


@export("contrib.image.compose_transforms")
def compose_transforms(*transforms: TensorLike) -> Tensor:
    """Makes one projective transform of several: the first is applied to the result of the second, and so on.

    Args:
      *transforms: Eight numbers each, [8] or [transforms, 8].

    Returns:
      A tensor [transforms, 8].
    """
    assert transforms, "transforms cannot be empty"
    with name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for each in transforms[1:]:
            composed = matmul.matmul(composed, flat_transforms_to_matrices(each))
        return matrices_to_flat_transforms(composed)
