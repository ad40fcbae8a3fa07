"""Scores and distances of generated images, by a classifier's logits or activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.gan.classifiers import in_batches, logits_of_inception, pool_of_inception
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import creation, diagonals, indexing, joining, shapes
from tideflow.ops.control_flow.conditionals import cond
from tideflow.ops.control_flow.map_and_fold import map_fn
from tideflow.ops.linalg.contraction import trace
from tideflow.ops.linalg.matmul import matmul
from tideflow.ops.linalg.spectra import svd
from tideflow.ops.math import binary, casting, cumulative, reductions, unary
from tideflow.ops.nn.softmax import log_softmax, softmax

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


def _in_double(*tensors: Tensor) -> tuple[Tensor, ...]:
    for tensor in tensors:
        tensor.shape.assert_has_rank(2)
    return tuple(casting.cast(tensor, dtypes.float64) for tensor in tensors)


# ------------------------------------------------------------------------------------------- Inception score


@export("contrib.gan.eval.classifier_score")
def classifier_score(images: TensorLike, classifier_fn: Callable, num_batches: int = 1) -> Tensor:
    """Computes the Inception score, with any classifier: how sure and how manifold it finds the images.

    Args:
      images: The images.
      classifier_fn: A function from images to logits.
      num_batches: In how many batches the images are classified.

    Returns:
      A scalar of the logits' type.
    """
    return classifier_score_from_logits(in_batches(classifier_fn, images, num_batches))


@export("contrib.gan.eval.classifier_score_from_logits")
def classifier_score_from_logits(logits: TensorLike) -> Tensor:
    """Computes the Inception score of logits: `exp(E[KL(p(y|x) || p(y))])`.

    Args:
      logits: A tensor [images, classes].

    Returns:
      A scalar of the same type.
    """
    (wide,) = _in_double(logits)
    each = softmax(wide)
    overall = reductions.reduce_mean(each, axis=0)
    divergence = reductions.reduce_sum(each * (log_softmax(wide) - unary.log(overall)), axis=1)
    return casting.cast(unary.exp(reductions.reduce_mean(divergence)), logits.dtype)


@export("contrib.gan.eval.inception_score")
def inception_score(
    images: TensorLike, classifier_fn: Callable = logits_of_inception, num_batches: int = 1
) -> Tensor:
    """Computes the Inception score of images.

    Args:
      images: Images as `tf.contrib.gan.eval.preprocess_image` makes them.
      classifier_fn: A function from images to logits; Inception, which is downloaded, by default.
      num_batches: In how many batches the images are classified.

    Returns:
      A scalar of the logits' type.
    """
    return classifier_score(images, classifier_fn, num_batches)


# ------------------------------------------------------------------------------------------ Fréchet distance


def _root(matrix: Tensor) -> Tensor:
    """The square root of a symmetric matrix without negative eigenvalues."""
    values, left, right = svd(matrix)
    roots = indexing.where(binary.less(values, 1e-10), values, unary.sqrt(values))
    return matmul(matmul(left, diagonals.diag(roots)), right, transpose_b=True)


def _covariance(centered: Tensor, count: Tensor) -> Tensor:
    return matmul(centered, centered, transpose_a=True) / (count - 1)


def _distance(real: Any, generated: Any, of_variances: Callable[[Tensor, Tensor, Tensor], Any]) -> Tensor:
    """The squared distance of the means, and that of the variances as given, in the activations' type."""
    a, b = _in_double(real, generated)
    mean_a, mean_b = reductions.reduce_mean(a, 0), reductions.reduce_mean(b, 0)
    count = casting.cast(shapes.shape(a)[0], dtypes.float64)
    between = reductions.reduce_sum(unary.square(mean_a - mean_b))
    return casting.cast(between + of_variances(a - mean_a, b - mean_b, count), real.dtype)


@export("contrib.gan.eval.frechet_classifier_distance_from_activations")
def frechet_classifier_distance_from_activations(
    real_activations: TensorLike, generated_activations: TensorLike
) -> Tensor:
    """Computes the Fréchet distance of two sets of activations, taken as normal distributions.

    Args:
      real_activations: A tensor [images, size] for real images.
      generated_activations: The same for generated images.

    Returns:
      A scalar of the same type: `|m - m'|² + Tr(C + C' - 2 (C C')^½)`.
    """

    def of_covariances(a: Tensor, b: Tensor, count: Tensor) -> Tensor:
        one, other = _covariance(a, count), _covariance(b, count)
        # C C' is not symmetric, but A C' A, with A² = C, is, and has the same eigenvalues.
        root = _root(one)
        shared = trace(_root(matmul(root, matmul(other, root))))
        return trace(one + other) - 2.0 * shared

    return _distance(real_activations, generated_activations, of_covariances)


@export("contrib.gan.eval.mean_only_frechet_classifier_distance_from_activations")
def mean_only_frechet_classifier_distance_from_activations(
    real_activations: TensorLike, generated_activations: TensorLike
) -> Tensor:
    """Computes the squared distance of the means of two sets of activations.

    Args:
      real_activations: A tensor [images, size] for real images.
      generated_activations: The same for generated images.

    Returns:
      A scalar of the same type.
    """
    return _distance(real_activations, generated_activations, lambda a, b, count: 0.0)


@export("contrib.gan.eval.diagonal_only_frechet_classifier_distance_from_activations")
def diagonal_only_frechet_classifier_distance_from_activations(
    real_activations: TensorLike, generated_activations: TensorLike
) -> Tensor:
    """Computes the Fréchet distance of two sets of activations, as if their elements were independent.

    Args:
      real_activations: A tensor [images, size] for real images.
      generated_activations: The same for generated images.

    Returns:
      A scalar of the same type.
    """

    def of_variances(a: Tensor, b: Tensor, count: Tensor) -> Tensor:
        one, other = reductions.reduce_mean(unary.square(a), 0), reductions.reduce_mean(unary.square(b), 0)
        return reductions.reduce_sum(one + other - 2.0 * unary.sqrt(one * other))

    return _distance(real_activations, generated_activations, of_variances)


@export("contrib.gan.eval.frechet_classifier_distance")
def frechet_classifier_distance(
    real_images: TensorLike, generated_images: TensorLike, classifier_fn: Callable, num_batches: int = 1
) -> Tensor:
    """Computes the Fréchet distance of real and generated images by a classifier's activations.

    Args:
      real_images: Real images.
      generated_images: Generated images, as many.
      classifier_fn: A function from images to activations.
      num_batches: In how many batches each set is classified.

    Returns:
      A scalar of the activations' type.
    """
    return frechet_classifier_distance_from_activations(
        *_activations(real_images, generated_images, classifier_fn, num_batches)
    )


def _activations(real: Any, generated: Any, classifier_fn: Callable, num_batches: int) -> list[Tensor]:
    return [in_batches(classifier_fn, images, num_batches) for images in (real, generated)]


@export("contrib.gan.eval.frechet_inception_distance")
def frechet_inception_distance(
    real_images: TensorLike,
    generated_images: TensorLike,
    classifier_fn: Callable = pool_of_inception,
    num_batches: int = 1,
) -> Tensor:
    """Computes the Fréchet Inception distance of real and generated images.

    Args:
      real_images: Real images, as `tf.contrib.gan.eval.preprocess_image` makes them.
      generated_images: Generated images, as many.
      classifier_fn: A function from images to activations; Inception, which is downloaded, by default.
      num_batches: In how many batches each set is classified.

    Returns:
      A scalar of the activations' type.
    """
    return frechet_classifier_distance(real_images, generated_images, classifier_fn, num_batches)


# ------------------------------------------------------------------------------------------- kernel distance


@export("contrib.gan.eval.kernel_classifier_distance_and_std_from_activations")
def kernel_classifier_distance_and_std_from_activations(
    real_activations: TensorLike,
    generated_activations: TensorLike,
    max_block_size: int = 1024,
    dtype: DTypeLike | None = None,
) -> tuple[Tensor, Tensor]:
    """Computes the kernel distance of two sets of activations: an unbiased estimate of the squared MMD.

    Args:
      real_activations: A tensor [images, size] for real images.
      generated_activations: The same for generated images.
      max_block_size: The size of the blocks of images whose estimates are averaged.
      dtype: The type of the computation; that of the activations if None.

    Returns:
      The distance, and the standard error of the mean of the blocks' estimates, which is NaN for one block.
    """
    for activations in (real_activations, generated_activations):
        activations.shape.assert_has_rank(2)
    dtype = dtype or real_activations.dtype
    real, generated = (casting.cast(a, dtype) for a in (real_activations, generated_activations))
    counts = [shapes.shape(real)[0], shapes.shape(generated)[0]]
    largest = binary.maximum(*counts)
    blocks = casting.cast(unary.ceil(largest / max_block_size), dtypes.int32)
    real_ends, generated_ends = (_block_ends(count, blocks) for count in counts)
    size = casting.cast(shapes.shape(real)[1], dtype)

    def kernel(a: Tensor, b: Tensor) -> Tensor:
        return (matmul(a, b, transpose_b=True) / size + 1) ** 3

    def within(a: Tensor) -> Tensor:
        """The mean of the kernel over pairs of different images."""
        found, count = kernel(a, a), casting.cast(shapes.shape(a)[0], dtype)
        return (reductions.reduce_sum(found) - trace(found)) / (count * (count - 1))

    def estimate(i: Tensor) -> Tensor:
        a, b = real[real_ends[i] : real_ends[i + 1]], generated[generated_ends[i] : generated_ends[i + 1]]
        return within(a) + within(b) - 2 * reductions.reduce_mean(kernel(a, b))

    estimates = map_fn(estimate, creation.range(blocks), dtype=dtype, back_prop=False)
    mean, number = reductions.reduce_mean(estimates), casting.cast(blocks, dtype)
    spread = reductions.reduce_sum(unary.square(estimates - mean))
    variance = cond(
        binary.less_equal(blocks, 1),
        lambda: casting.cast(float("nan"), dtype),
        lambda: spread / (number - 1),
    )
    return mean, unary.sqrt(variance / number)


def _block_ends(count: Tensor, blocks: Tensor) -> Tensor:
    """Where blocks begin and end: all of one size, but for the last ones, which are one longer."""
    size = count // blocks
    longer = count - size * blocks
    sizes = joining.concat([creation.fill([blocks - longer], size), creation.fill([longer], size + 1)], 0)
    return joining.concat([[0], cumulative.cumsum(sizes)], 0)


@export("contrib.gan.eval.kernel_classifier_distance_from_activations")
def kernel_classifier_distance_from_activations(
    real_activations: TensorLike,
    generated_activations: TensorLike,
    max_block_size: int = 1024,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Computes the kernel distance of two sets of activations.

    Args:
      real_activations: A tensor [images, size] for real images.
      generated_activations: The same for generated images.
      max_block_size: The size of the blocks of images whose estimates are averaged.
      dtype: The type of the computation; that of the activations if None.

    Returns:
      A scalar.
    """
    return kernel_classifier_distance_and_std_from_activations(
        real_activations, generated_activations, max_block_size, dtype
    )[0]


@export("contrib.gan.eval.kernel_classifier_distance_and_std")
def kernel_classifier_distance_and_std(
    real_images: TensorLike,
    generated_images: TensorLike,
    classifier_fn: Callable,
    num_classifier_batches: int = 1,
    max_block_size: int = 1024,
    dtype: DTypeLike | None = None,
) -> tuple[Tensor, Tensor]:
    """Computes the kernel distance of real and generated images by a classifier's activations.

    Args:
      real_images: Real images.
      generated_images: Generated images.
      classifier_fn: A function from images to activations.
      num_classifier_batches: In how many batches each set is classified.
      max_block_size: The size of the blocks of images whose estimates are averaged.
      dtype: The type of the computation; that of the activations if None.

    Returns:
      The distance, and the standard error of the mean of the blocks' estimates.
    """
    return kernel_classifier_distance_and_std_from_activations(
        *_activations(real_images, generated_images, classifier_fn, num_classifier_batches),
        max_block_size,
        dtype,
    )


@export("contrib.gan.eval.kernel_classifier_distance")
def kernel_classifier_distance(
    real_images: TensorLike,
    generated_images: TensorLike,
    classifier_fn: Callable,
    num_classifier_batches: int = 1,
    max_block_size: int = 1024,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Computes the kernel distance of real and generated images by a classifier's activations.

    Args:
      real_images: Real images.
      generated_images: Generated images.
      classifier_fn: A function from images to activations.
      num_classifier_batches: In how many batches each set is classified.
      max_block_size: The size of the blocks of images whose estimates are averaged.
      dtype: The type of the computation; that of the activations if None.

    Returns:
      A scalar.
    """
    return kernel_classifier_distance_and_std(
        real_images, generated_images, classifier_fn, num_classifier_batches, max_block_size, dtype
    )[0]


@export("contrib.gan.eval.kernel_inception_distance")
def kernel_inception_distance(
    real_images: TensorLike,
    generated_images: TensorLike,
    classifier_fn: Callable = pool_of_inception,
    num_classifier_batches: int = 1,
    max_block_size: int = 1024,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Computes the kernel Inception distance of real and generated images.

    Args:
      real_images: Real images, as `tf.contrib.gan.eval.preprocess_image` makes them.
      generated_images: Generated images.
      classifier_fn: A function from images to activations; Inception, which is downloaded, by default.
      num_classifier_batches: In how many batches each set is classified.
      max_block_size: The size of the blocks of images whose estimates are averaged.
      dtype: The type of the computation; that of the activations if None.

    Returns:
      A scalar.
    """
    return kernel_inception_distance_and_std(
        real_images, generated_images, classifier_fn, num_classifier_batches, max_block_size, dtype
    )[0]


@export("contrib.gan.eval.kernel_inception_distance_and_std")
def kernel_inception_distance_and_std(
    real_images: TensorLike,
    generated_images: TensorLike,
    classifier_fn: Callable = pool_of_inception,
    num_classifier_batches: int = 1,
    max_block_size: int = 1024,
    dtype: DTypeLike | None = None,
) -> tuple[Tensor, Tensor]:
    """Computes the kernel Inception distance of real and generated images, and how sure it is.

    Args:
      real_images: Real images, as `tf.contrib.gan.eval.preprocess_image` makes them.
      generated_images: Generated images.
      classifier_fn: A function from images to activations; Inception, which is downloaded, by default.
      num_classifier_batches: In how many batches each set is classified.
      max_block_size: The size of the blocks of images whose estimates are averaged.
      dtype: The type of the computation; that of the activations if None.

    Returns:
      The distance, and the standard error of the mean of the blocks' estimates.
    """
    return kernel_classifier_distance_and_std(
        real_images, generated_images, classifier_fn, num_classifier_batches, max_block_size, dtype
    )
