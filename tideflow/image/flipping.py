"""Images mirrored, turned and transposed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.image.checks import checked
from tideflow.ops.arrays import shapes, tiling
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import binary, casting, unary
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _is_batch(image: Tensor) -> bool:
    rank = image.shape.ndims
    if rank not in (None, 3, 4):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    return rank == 4


def _with_shape_of(image: Tensor, result: Tensor) -> Tensor:
    result.set_shape([None, None, None] if image.shape.ndims is None else image.shape)
    return result


@export("image.flip_left_right")
def flip_left_right(image: TensorLike) -> Tensor:
    """Mirrors images: reverses the order of the columns.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If the rank is neither 3 nor 4.
    """
    return _flipped(image, 1, "flip_left_right")


@export("image.flip_up_down")
def flip_up_down(image: TensorLike) -> Tensor:
    """Turns images upside down: reverses the order of the rows.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If the rank is neither 3 nor 4.
    """
    return _flipped(image, 0, "flip_up_down")


def _flipped(image: Any, axis: int, scope: str) -> Tensor:
    with name_scope(None, scope, [image]):
        image = checked(convert_to_tensor(image, name="image"))
        if _is_batch(image):
            return tiling.reverse(image, [axis + 1])
        return _with_shape_of(image, tiling.reverse(image, [axis]))


@export("image.random_flip_left_right")
def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Mirrors each image with probability one half.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.
      seed: The seed of the random numbers.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If the rank is neither 3 nor 4.
    """
    return _randomly_flipped(image, 1, seed, "random_flip_left_right")


@export("image.random_flip_up_down")
def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Turns each image upside down with probability one half.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.
      seed: The seed of the random numbers.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If the rank is neither 3 nor 4.
    """
    return _randomly_flipped(image, 0, seed, "random_flip_up_down")


def _randomly_flipped(image: Any, axis: int, seed: int | None, scope: str) -> Tensor:
    with name_scope(None, scope, [image]) as name:
        image = checked(convert_to_tensor(image, name="image"))
        if not _is_batch(image):
            mirrored = binary.less(distributions.random_uniform([], 0, 1.0, seed=seed), 0.5)
            result = conditionals.cond(
                mirrored, lambda: tiling.reverse(image, [axis]), lambda: image, name=name
            )
            return _with_shape_of(image, result)
        count = shapes.shape(image)[0]
        chances = distributions.random_uniform([count], 0, 1.0, seed=seed)
        flips = casting.cast(unary.round(shapes.reshape(chances, [count, 1, 1, 1])), image.dtype)
        flipped = tiling.reverse(image, [axis + 1])
        return flips * flipped + (1 - flips) * image


@export("image.rot90")
def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None) -> Tensor:
    """Rotates images counter-clockwise by a multiple of 90 degrees.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.
      k: The number of right angles.
      name: The name of the operation.

    Returns:
      The rotated image or images.
    """
    with name_scope(name, "rot90", [image, k]) as name:
        image = checked(convert_to_tensor(image, name="image"))
        k = convert_to_tensor(k, dtype=dtypes.int32, name="k")
        k.shape.assert_has_rank(0)
        k = binary.floormod(k, 4)
        batch = _is_batch(image)
        rows, columns = (1, 2) if batch else (0, 1)
        swapped = [0, 2, 1, 3] if batch else [1, 0, 2]
        turns: list[Callable] = [
            lambda: shapes.transpose(tiling.reverse(image, [columns]), swapped),
            lambda: tiling.reverse(image, [rows, columns]),
            lambda: tiling.reverse(shapes.transpose(image, swapped), [columns]),
        ]
        cases = [(binary.equal(k, count), turn) for count, turn in enumerate(turns, 1)]
        result = conditionals.case(cases, default=lambda: image, exclusive=True, name=name)
        known = result.shape if batch else [None, None, image.shape[2]]
        result.set_shape([known[0], None, None, known[3]] if batch else known)
        return result


@export("image.transpose", "image.transpose_image")
def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """Exchanges the rows and the columns of images.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.
      name: The name of the operation.

    Returns:
      The image or images with the axes exchanged.
    """
    with name_scope(name, "transpose", [image]):
        image = checked(convert_to_tensor(image, name="image"))
        return shapes.transpose(image, [0, 2, 1, 3] if _is_batch(image) else [1, 0, 2], name=name)
