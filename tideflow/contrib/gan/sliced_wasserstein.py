"""The sliced Wasserstein distance of images: of patches of their Laplacian pyramids, along random lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.nn.statistics import moments
from tideflow.ops.arrays import blocks, creation, joining, shapes, tiling
from tideflow.ops.arrays.ranking import top_k
from tideflow.ops.control_flow.python_functions import py_func
from tideflow.ops.linalg.matmul import matmul
from tideflow.ops.linalg.spectra import svd
from tideflow.ops.math import casting, reductions, unary
from tideflow.ops.nn.convolution import conv2d
from tideflow.ops.random.distributions import random_normal

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_BINOMIAL = np.float32([1, 4, 6, 4, 1]) / 16
_BLUR = np.outer(_BINOMIAL, _BINOMIAL).reshape(5, 5, 1, 1)


def _blurred(images: Tensor, gain: float) -> Tensor:
    """Each channel of each image smoothed, mirrored at its edges."""
    batch, height, width, channels = (shapes.shape(images)[i] for i in range(4))
    padded = tiling.pad(images, [[0, 0], [2, 2], [2, 2], [0, 0]], "REFLECT")
    apart = shapes.transpose(padded, [0, 3, 1, 2])
    apart = shapes.reshape(apart, [batch * channels, height + 4, width + 4, 1])
    smooth = conv2d(apart, _BLUR * np.float32(gain), [1, 1, 1, 1], "VALID")
    return shapes.transpose(shapes.reshape(smooth, [batch, channels, height, width]), [0, 2, 3, 1])


def _doubled(images: Tensor) -> Tensor:
    """Images of twice the size: a pixel and three zeros for each pixel, smoothed."""
    batch, height, width, channels = (shapes.shape(images)[i] for i in range(4))
    zeros = creation.zeros([3 * batch, height, width, channels])
    spread = blocks.batch_to_space(joining.concat([images, zeros], 0), crops=[[0, 0], [0, 0]], block_size=2)
    return _blurred(spread, 4)


def _pyramid(images: Any, levels: int) -> list[Tensor]:
    """What each halving of the size loses, and what is left at last."""
    pyramid = [casting.to_float(images)]
    for _ in range(1, levels):
        pyramid.append(_blurred(pyramid[-1], 1)[:, ::2, ::2])
        pyramid[-2] -= _doubled(pyramid[-1])
    return pyramid


def _patches(images: Tensor, patches_per_image: int, patch_size: int) -> Tensor:
    """Random patches, as rows with mean 0 and deviation 1."""
    half = patch_size // 2

    def cut(batch: np.ndarray) -> np.ndarray:
        count, height, width, channels = batch.shape
        total = patches_per_image * count
        number, y, x, channel = np.ogrid[0:total, -half : half + 1, -half : half + 1, 0:3]
        y = y + np.random.randint(half, height - half, size=(total, 1, 1, 1))
        x = x + np.random.randint(half, width - half, size=(total, 1, 1, 1))
        image = number // patches_per_image
        return batch.flat[((image * height + y) * width + x) * channels + channel]

    patches = py_func(cut, [images], images.dtype)
    mean, variance = moments(patches, [1, 2, 3], keep_dims=True)
    normal = (patches - mean) / unary.sqrt(variance)
    return shapes.reshape(normal, [shapes.shape(normal)[0], -1])


def _apart(a: Tensor, b: Tensor, count: Tensor) -> Tensor:
    """The mean distance of the sorted columns of two matrices."""
    columns = [top_k(shapes.transpose(matrix, [1, 0]), count)[0] for matrix in (a, b)]
    return reductions.reduce_mean(unary.abs(columns[0] - columns[1]))


def _along_random_lines(a: Tensor, b: Tensor, samples: int, dimensions: int) -> Tensor:
    rows, size = shapes.shape(a)[0], shapes.shape(a)[1]
    distances = []
    for _ in range(samples):
        lines = random_normal([size, dimensions])
        lines *= unary.rsqrt(reductions.reduce_sum(unary.square(lines), 0, keepdims=True))
        distances.append(_apart(matmul(a, lines), matmul(b, lines), rows))
    return reductions.reduce_mean(distances)


def _along_singular_vectors(a: Tensor, b: Tensor) -> Tensor:
    values, left = svd(joining.concat([a, b], 0))[:2]
    first, second = joining.split(left * values, 2, axis=0)
    return _apart(first[:, ::-1], second[:, ::-1], shapes.shape(a)[0])


@export("contrib.gan.eval.sliced_wasserstein_distance")
def sliced_wasserstein_distance(
    real_images: TensorLike,
    fake_images: TensorLike,
    resolution_min: int = 16,
    patches_per_image: int = 64,
    patch_size: int = 7,
    random_sampling_count: int = 1,
    random_projection_dim: int = 7 * 7 * 3,
    use_svd: bool = False,
) -> list[tuple[Tensor, Tensor]]:
    """Computes the Wasserstein distance of images' patches along random lines, for each resolution.

    Args:
      real_images: Real images [batch, size, size, 3].
      fake_images: Generated images of the same shape.
      resolution_min: The smallest resolution.
      patches_per_image: How many patches are cut out of an image.
      patch_size: The height and width of a patch.
      random_sampling_count: How many sets of lines are averaged.
      random_projection_dim: How many lines a set has.
      use_svd: Whether singular vectors are taken instead of random lines.

    Returns:
      For each resolution, the largest first, the distance of real images to themselves and to generated ones.

    Raises:
      ValueError: If these are no such images.
    """
    size = real_images.shape[1]
    real_images.shape.assert_is_compatible_with([None, None, size, 3])
    fake_images.shape.assert_is_compatible_with(real_images.shape)
    smallest = min(resolution_min, int(size))
    levels = int(np.log2(int(size))) - int(np.log2(smallest)) + 1

    def distance(a: Tensor, b: Tensor) -> Tensor:
        if use_svd:
            return _along_singular_vectors(a, b)
        return _along_random_lines(a, b, random_sampling_count, random_projection_dim)

    def patches(level: Tensor) -> Tensor:
        return _patches(level, patches_per_image, patch_size)

    distances = []
    for real, fake in zip(_pyramid(real_images, levels), _pyramid(fake_images, levels), strict=True):
        reference, again, generated = patches(real), patches(real), patches(fake)
        distances.append((distance(reference, again), distance(reference, generated)))
    return distances
