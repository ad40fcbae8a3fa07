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
    """Each image scaled to mean 0 and variance 1; one without much variance is not blown up."""
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
    """The image with `delta` added, where 1 is the difference of black and white."""
    with name_scope(None, "adjust_brightness", [image, delta]) as name:
        image = convert_to_tensor(image, name="image")
        floats = in_floats(image)
        adjusted = binary.add(floats, casting.cast(delta, floats.dtype), name=name)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


@export("image.adjust_contrast")
def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """Each channel's distance from its mean, times the factor."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        images = convert_to_tensor(images, name="images")
        adjusted = color.adjust_contrast_op(in_floats(images), contrast_factor, name=name)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


@export("image.adjust_gamma")
def adjust_gamma(image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1) -> Tensor:
    """gain * image ** gamma."""
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        floats = in_floats(image)
        checks = require(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = grouping.with_dependencies(checks, gamma)
        return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)


@export("image.adjust_hue")
def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """Colours turned by `delta` of a full circle of hues."""
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(color.adjust_hue_op(in_floats(image), delta), image.dtype)


@export("image.adjust_saturation")
def adjust_saturation(image: TensorLike, saturation_factor: TensorLike, name: str | None = None) -> Tensor:
    """Colours that differ from gray by the factor more."""
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        adjusted = color.adjust_saturation_op(in_floats(image), saturation_factor)
        return convert_image_dtype(adjusted, image.dtype)


@export("image.adjust_jpeg_quality")
def adjust_jpeg_quality(image: TensorLike, jpeg_quality: TensorLike, name: str | None = None) -> Tensor:
    """The image as it looks after it was kept as a JPEG of this quality."""
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
    """The image with something between -max_delta and max_delta added."""
    return adjust_brightness(image, _deviation(max_delta, seed))


@export("image.random_hue")
def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """Colours turned by something between -max_delta and max_delta of a full circle."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    return adjust_hue(image, _deviation(max_delta, seed))


@export("image.random_contrast")
def random_contrast(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """The image with its contrast changed by a factor between `lower` and `upper`."""
    return _by_factor(adjust_contrast, image, lower, upper, seed)


@export("image.random_saturation")
def random_saturation(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """The image with its saturation changed by a factor between `lower` and `upper`."""
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
    """The image as it looks after it was kept as a JPEG of some quality in this range."""
    if min_jpeg_quality < 0 or max_jpeg_quality < 0 or min_jpeg_quality > 100 or max_jpeg_quality > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = distributions.random_uniform(
        [], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32
    )
    return adjust_jpeg_quality(image, quality)
