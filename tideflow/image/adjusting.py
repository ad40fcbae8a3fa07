"""Images made brighter, stronger in contrast or colour, by an amount given or drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor, is_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.image.checks import checked, require
from tideflow.image.colors import convert_image_dtype
from tideflow.ops.arrays import shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.images import codecs, color
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def in_floats(image: Tensor) -> Tensor:
    """The image as it is if it is of float16 or float32, else between 0 and 1."""
    if image.dtype in (dtypes.float16, dtypes.float32):
        return image
    return convert_image_dtype(image, dtypes.float32)


@export("image.per_image_standardization")
def per_image_standardization(image: TensorLike) -> Tensor:
    """Scales each image to mean 0 and variance 1.

    The standard deviation is at least `1 / sqrt(number of values)`, so that an even image is not amplified.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.

    Returns:
      A float32 tensor of the same shape.
    """
    with name_scope(None, "per_image_standardization", [image]) as name:
        image = checked(convert_to_tensor(image, name="image"))
        dtype = image.dtype
        image = in_floats(image)
        pixels = reductions.reduce_prod(shapes.shape(image)[-3:])
        mean = reductions.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = reductions.reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        least = unary.rsqrt(casting.cast(pixels, image.dtype))
        deviation = binary.maximum(deviation, least)
        image = binary.div(image - mean, deviation, name=name)
        return convert_image_dtype(image, dtype, saturate=True)


@export("image.adjust_brightness")
def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """Adds a number to all pixels.

    Args:
      image: An image or a batch of images, with the channels along the last axis.
      delta: The number, as a part of the range of the image's type.

    Returns:
      A tensor of the same shape and type.
    """
    with name_scope(None, "adjust_brightness", [image, delta]) as name:
        image = convert_to_tensor(image, name="image")
        floats = in_floats(image)
        adjusted = binary.add(floats, casting.cast(delta, floats.dtype), name=name)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


@export("image.adjust_contrast")
def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """Multiplies the difference of each pixel from the mean of its channel by a factor.

    Args:
      images: An image or a batch of images.
      contrast_factor: The factor.

    Returns:
      A tensor of the same shape and type.
    """
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        images = convert_to_tensor(images, name="images")
        adjusted = color.adjust_contrast_op(in_floats(images), contrast_factor, name=name)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


@export("image.adjust_gamma")
def adjust_gamma(image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1) -> Tensor:
    """Computes `gain * image ** gamma`.

    Args:
      image: An image or a batch of images, with the channels along the last axis.
      gamma: The exponent, not negative.
      gain: The factor.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If `gamma` is negative.
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        floats = in_floats(image)
        checks = require(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = grouping.with_dependencies(checks, gamma)
        return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)


@export("image.adjust_hue")
def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """Rotates the hues of RGB images.

    Args:
      image: An RGB image or a batch of RGB images.
      delta: The angle, as a part of a full circle, in [-1, 1].
      name: The name of the operation.

    Returns:
      A tensor of the same shape and type.
    """
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(color.adjust_hue_op(in_floats(image), delta), image.dtype)


@export("image.adjust_saturation")
def adjust_saturation(image: TensorLike, saturation_factor: TensorLike, name: str | None = None) -> Tensor:
    """Multiplies the saturation of RGB images by a factor.

    Args:
      image: An RGB image or a batch of RGB images.
      saturation_factor: The factor.
      name: The name of the operation.

    Returns:
      A tensor of the same shape and type.
    """
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        adjusted = color.adjust_saturation_op(in_floats(image), saturation_factor)
        return convert_image_dtype(adjusted, image.dtype)


@export("image.adjust_jpeg_quality")
def adjust_jpeg_quality(image: TensorLike, jpeg_quality: TensorLike, name: str | None = None) -> Tensor:
    """Encodes an RGB image as JPEG and decodes it again.

    Args:
      image: An RGB image of shape [height, width, 3].
      jpeg_quality: The quality, from 0 to 100.
      name: The name of the operation.

    Returns:
      A tensor of the same shape and type.
    """
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        pixels = convert_image_dtype(image, dtypes.uint8)
        if not is_tensor(jpeg_quality):
            jpeg_quality = convert_to_tensor(jpeg_quality, dtype=dtypes.int32)
        contents = codecs.encode_jpeg_variable_quality_op(pixels, jpeg_quality)
        return convert_image_dtype(codecs.decode_jpeg(contents), image.dtype)


# ---------------------------------------------------------------------------------- at random


@export("image.random_brightness")
def random_brightness(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """Adds a random number to all pixels.

    Args:
      image: An image or a batch of images, with the channels along the last axis.
      max_delta: The number is drawn from [-max_delta, max_delta).
      seed: The seed of the random numbers.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If `max_delta` is negative.
    """
    return adjust_brightness(image, _deviation(max_delta, seed))


@export("image.random_hue")
def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """Rotates the hues of RGB images by a random angle.

    Args:
      image: An RGB image or a batch of RGB images.
      max_delta: The angle is drawn from [-max_delta, max_delta), at most 0.5.
      seed: The seed of the random numbers.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If `max_delta` is not in [0, 0.5].
    """
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    return adjust_hue(image, _deviation(max_delta, seed))


@export("image.random_contrast")
def random_contrast(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Multiplies the contrast of images by a random factor.

    Args:
      image: An image or a batch of images, with the channels along the last axis.
      lower: The least factor.
      upper: The upper bound of the factor.
      seed: The seed of the random numbers.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If the bounds are not in order or negative.
    """
    return _by_factor(adjust_contrast, image, lower, upper, seed)


@export("image.random_saturation")
def random_saturation(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Multiplies the saturation of RGB images by a random factor.

    Args:
      image: An RGB image or a batch of RGB images.
      lower: The least factor.
      upper: The upper bound of the factor.
      seed: The seed of the random numbers.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If the bounds are not in order or negative.
    """
    return _by_factor(adjust_saturation, image, lower, upper, seed)


def _deviation(max_delta: float, seed: int | None) -> Tensor:
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return distributions.random_uniform([], -max_delta, max_delta, seed=seed)


def _by_factor(adjust: Callable, image: Any, lower: float, upper: float, seed: int | None) -> Tensor:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return adjust(image, distributions.random_uniform([], lower, upper, seed=seed))


@export("image.random_jpeg_quality")
def random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """Encodes an RGB image as JPEG of a random quality and decodes it again.

    Args:
      image: An RGB image of shape [height, width, 3].
      min_jpeg_quality: The least quality, from 0 to 100.
      max_jpeg_quality: The upper bound of the quality.
      seed: The seed of the random numbers.

    Returns:
      A tensor of the same shape and type.

    Raises:
      ValueError: If the bounds are not in order or out of range.
    """
    if min_jpeg_quality < 0 or max_jpeg_quality < 0 or min_jpeg_quality > 100 or max_jpeg_quality > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = distributions.random_uniform(
        [], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32
    )
    return adjust_jpeg_quality(image, quality)
