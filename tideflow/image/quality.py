"""How alike images are, and where they change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.image.colors import convert_image_dtype
from tideflow.nn import convolutions
from tideflow.ops.arrays import constants, creation, joining, shapes, tiling
from tideflow.ops.control_flow import conditionals, debugging
from tideflow.ops.math import binary, casting, powers, reductions, unary
from tideflow.ops.nn import activations, mean_pooling, softmax

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("image.total_variation")
def total_variation(images: Tensor, name: str | None = None) -> Tensor:
    """Computes the sum of the absolute differences of neighbouring pixels.

    Args:
      images: An image of shape [height, width, channels], or a batch of images.
      name: The name of the operation.

    Returns:
      A scalar, or a vector with a number for each image.

    Raises:
      ValueError: If the rank is neither 3 nor 4.
    """
    with name_scope(name, "total_variation"):
        if images.shape.ndims not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        down, right = _differences(images)
        axes = [1, 2, 3] if images.shape.ndims == 4 else None
        rises = reductions.reduce_sum(unary.abs(down), axis=axes)
        return rises + reductions.reduce_sum(unary.abs(right), axis=axes)


def _differences(images: Tensor) -> tuple[Tensor, Tensor]:
    """Of each pixel and the next one, down and to the right."""
    if images.shape.ndims == 3:
        return images[1:, :, :] - images[:-1, :, :], images[:, 1:, :] - images[:, :-1, :]
    return images[:, 1:, :, :] - images[:, :-1, :, :], images[:, :, 1:, :] - images[:, :, :-1, :]


@export("image.image_gradients")
def image_gradients(image: Tensor) -> tuple[Tensor, Tensor]:
    """Computes the difference of each pixel to the next one below and to the right.

    Args:
      image: Images of shape [batch, height, width, channels].

    Returns:
      The vertical and the horizontal differences, of the images' shape. The last row and column are zeros.

    Raises:
      ValueError: If the rank is not 4.
    """
    if image.shape.ndims != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}.")
    full = shapes.shape(image)
    batch, height, width, depth = joining.unstack(full)
    down, right = _differences(image)
    last_row = joining.stack([batch, 1, width, depth])
    down = shapes.reshape(joining.concat([down, creation.zeros(last_row, image.dtype)], 1), full)
    last_column = joining.stack([batch, height, 1, depth])
    right = shapes.reshape(joining.concat([right, creation.zeros(last_column, image.dtype)], 2), full)
    return down, right


_SOBEL = np.stack([[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], -1)


@export("image.sobel_edges")
def sobel_edges(image: Tensor) -> Tensor:
    """Computes the Sobel filters of images.

    Args:
      image: Images of shape [batch, height, width, channels].

    Returns:
      The vertical and horizontal slopes, of shape [batch, height, width, channels, 2].
    """
    full = shapes.shape(image)
    filters = constants.constant(_SOBEL[:, :, None, :], dtype=image.dtype)
    filters = tiling.tile(filters, [1, 1, full[-1], 1], name="sobel_filters")
    padded = tiling.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = convolutions.depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    edges = shapes.reshape(edges, joining.concat([full, [2]], 0))
    edges.set_shape(image.shape.concatenate([2]))
    return edges


# ---------------------------------------------------------------------------------- likeness


def _compatible(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor, list[Operation]]:
    """The shapes of two (batches of) images, and assertions that each image has its counterpart."""
    known, other = first.shape.with_rank_at_least(3), second.shape.with_rank_at_least(3)
    known[-3:].assert_is_compatible_with(other[-3:])
    if known.ndims is not None and other.ndims is not None:
        for a, b in zip(reversed(known.tuple[:-3]), reversed(other.tuple[:-3]), strict=False):
            if 1 not in (a, b) and None not in (a, b) and a != b:
                raise ValueError(f"Two images are not compatible: {known} and {other}")
    shape, other_shape = shapes.shape_n([first, second])
    enough = debugging.Assert(binary.greater_equal(shapes.size(shape), 3), [shape, other_shape], summarize=10)
    alike = reductions.reduce_all(binary.equal(shape[-3:], other_shape[-3:]))
    return shape, other_shape, [enough, debugging.Assert(alike, [shape, other_shape], summarize=10)]


@export("image.psnr")
def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """Computes the peak signal-to-noise ratio of pairs of images.

    Args:
      a: Images.
      b: Other images, of the same shape.
      max_val: The difference of the largest and the least possible value.
      name: The name of the operation.

    Returns:
      The ratio in decibels, a number for each pair.
    """
    with name_scope(name, "PSNR", [a, b]):
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        peak = convert_image_dtype(casting.cast(max_val, a.dtype), dtypes.float32)
        a, b = convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32)
        error = reductions.reduce_mean(binary.squared_difference(a, b), [-3, -2, -1])
        peak = 20 * unary.log(peak) / unary.log(10.0)
        ratio = binary.subtract(peak, np.float32(10 / np.log(10)) * unary.log(error), name="psnr")
        *_, checks = _compatible(a, b)
        with control_dependencies(checks):
            return constants.identity(ratio)


@export("image.ssim")
def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Computes the structural similarity of pairs of images (Wang and others, 2004).

    Args:
      img1: Images.
      img2: Other images, of the same shape.
      max_val: The difference of the largest and the least possible value.
      filter_size: The size of the Gaussian filter.
      filter_sigma: The width of the Gaussian filter.
      k1: The first constant of the measure.
      k2: The second constant of the measure.

    Returns:
      The similarity, 1 for equal images, a number for each pair.
    """
    img1, img2 = convert_to_tensor(img1), convert_to_tensor(img2)
    *_, checks = _compatible(img1, img2)
    with control_dependencies(checks):
        img1 = constants.identity(img1)
    peak, img1, img2 = _in_floats(max_val, img1, img2)
    similarity, _ = _similarity(img1, img2, peak, filter_size, filter_sigma, k1, k2)
    return reductions.reduce_mean(similarity, [-1])


def _in_floats(max_val: Any, first: Tensor, second: Tensor) -> list[Tensor]:
    peak = casting.cast(max_val, first.dtype)
    return [convert_image_dtype(value, dtypes.float32) for value in (peak, first, second)]


def _similarity(
    first: Tensor, second: Tensor, peak: Tensor, filter_size: int, filter_sigma: float, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    """By channel: the similarity, and the part of it that is contrast and structure."""
    filter_size = constants.constant(filter_size, dtype=dtypes.int32)
    filter_sigma = constants.constant(filter_sigma, dtype=first.dtype)
    sizes = shapes.shape_n([first, second])
    checks = [
        debugging.Assert(
            reductions.reduce_all(binary.greater_equal(size[-3:-1], filter_size)),
            [size, filter_size],
            summarize=8,
        )
        for size in sizes
    ]
    with control_dependencies(checks):
        first = constants.identity(first)
    kernel = tiling.tile(_gaussian(filter_size, filter_sigma), [1, 1, sizes[0][-1], 1])

    def local_mean(images: Tensor) -> Tensor:
        full = shapes.shape(images)
        flat = shapes.reshape(images, joining.concat([[-1], full[-3:]], 0))
        means = convolutions.depthwise_conv2d(flat, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return shapes.reshape(means, joining.concat([full[:-3], shapes.shape(means)[1:]], 0))

    luminance, structure = _luminance_and_structure(
        first, second, local_mean, (k1 * peak) ** 2, (k2 * peak) ** 2
    )
    axes = constants.constant([-3, -2], dtype=dtypes.int32)
    similarity = reductions.reduce_mean(luminance * structure, axes)
    return similarity, reductions.reduce_mean(structure, axes)


def _luminance_and_structure(
    x: Tensor, y: Tensor, mean: Callable, c1: Tensor, c2: Tensor
) -> tuple[Tensor, Tensor]:
    mean_x, mean_y = mean(x), mean(y)
    product = mean_x * mean_y * 2.0
    squares = unary.square(mean_x) + unary.square(mean_y)
    luminance = (product + c1) / (squares + c1)
    mean_product = mean(x * y) * 2.0
    mean_squares = mean(unary.square(x) + unary.square(y))
    c2 = c2 * 1.0
    return luminance, (mean_product - product + c2) / (mean_squares - squares + c2)


def _gaussian(size: Tensor, sigma: Tensor) -> Tensor:
    """A filter [size, size, 1, 1] whose weights sum to 1."""
    offsets = casting.cast(creation.range(size), sigma.dtype)
    offsets -= casting.cast(size - 1, sigma.dtype) / 2.0
    falls = unary.square(offsets)
    falls *= -0.5 / unary.square(sigma)
    falls = shapes.reshape(falls, [1, -1]) + shapes.reshape(falls, [-1, 1])
    weights = softmax.softmax(shapes.reshape(falls, [1, -1]))
    return shapes.reshape(weights, [size, size, 1, 1])


_SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


@export("image.ssim_multiscale")
def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] = _SCALE_WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Computes the structural similarity of pairs of images over several scales (Wang and others, 2003).

    Args:
      img1: Images.
      img2: Other images, of the same shape.
      max_val: The difference of the largest and the least possible value.
      power_factors: The weights of the scales; each scale has half the size of the one before.
      filter_size: The size of the Gaussian filter.
      filter_sigma: The width of the Gaussian filter.
      k1: The first constant of the measure.
      k2: The second constant of the measure.

    Returns:
      The similarity, 1 for equal images, a number for each pair.
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2 = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
        *full, checks = _compatible(img1, img2)
        with control_dependencies(checks):
            img1 = constants.identity(img1)
        peak, *images = _in_floats(max_val, img1, img2)
        heads, tails = [shape[:-3] for shape in full], [shape[-3:] for shape in full]
        halving = constants.constant([2, 2, 1], dtype=dtypes.int32)
        structures = []
        for scale in range(len(power_factors)):
            with name_scope(None, f"Scale{scale}", images):
                if scale > 0:
                    images, tails = _halved(images, heads, tails, halving)
                similarity, structure = _similarity(*images, peak, filter_size, filter_sigma, k1, k2)
                structures.append(activations.relu(structure))
        structures.pop()
        parts = joining.stack([*structures, activations.relu(similarity)], axis=-1)
        of_channels = reductions.reduce_prod(powers.pow(parts, power_factors), [-1])
        return reductions.reduce_mean(of_channels, [-1])


def _halved(images: list, heads: list, tails: list, halving: Tensor) -> tuple[list, list]:
    """The images at half their size; those of an odd size are padded first."""
    flat = [
        shapes.reshape(image, joining.concat([[-1], tail], 0))
        for image, tail in zip(images, tails, strict=True)
    ]
    odd = tails[0] % halving

    def padded() -> list[Tensor]:
        padding = tiling.pad(shapes.expand_dims(odd, -1), [[1, 0], [1, 0]])
        return [tiling.pad(image, padding, mode="SYMMETRIC") for image in flat]

    even = conditionals.cond(reductions.reduce_any(binary.not_equal(odd, 0)), padded, lambda: flat)
    window = [1, 2, 2, 1]
    halves = [mean_pooling.avg_pool(image, ksize=window, strides=window, padding="VALID") for image in even]
    tails = [shape[1:] for shape in shapes.shape_n(halves)]
    images = [
        shapes.reshape(half, joining.concat([head, tail], 0))
        for half, head, tail in zip(halves, heads, tails, strict=True)
    ]
    return images, tails
