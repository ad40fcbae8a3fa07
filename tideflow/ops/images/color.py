"""Colours and contrast of images. The last axis holds red, green and blue, or hue, saturation and value."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, indexing, tiling
from tideflow.ops.helpers.axes import brackets, of_rank, of_rank_at_least, one_value
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import types
from tideflow.ops.math import binary, casting, positions, reductions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_FLOATS = attr("type", dtypes.float32, allowed=types("half bfloat16 float double"))
_PICTURE = f32(2, 3, 4, 3, low=0.0)


def _colors(images: TensorShape) -> TensorShape:
    """Images whose last axis may hold three colours."""
    sizes = images.tuple
    if sizes is None:
        return images
    if not sizes:
        raise ShapeError("Shape must be at least rank 1 but is rank 0")
    if sizes[-1] not in (None, 3):
        raise ShapeError(f"Dimension must be 3 but is {sizes[-1]}: the last axis holds three colours")
    return TensorShape([*sizes[:-1], 3])


def _check_colors(images: torch.Tensor, rank: int = 1) -> torch.Tensor:
    if images.ndim < rank:
        raise ShapeError(f"input must be at least {rank}-D, got shape {brackets(images.shape)}")
    if images.shape[-1] != 3:
        channels = images.shape[-1]
        if rank == 1:
            raise errors.failed_precondition(
                f"input must have 3 channels but input only has {channels} channels."
            )
        raise ShapeError(f"input must have 3 channels but instead has {channels} channels.")
    return images


_PIXELS_AT_A_TIME = 1 << 14  # what is computed of so many stays in a core's cache


def _by_pixels(images: torch.Tensor, function: Callable) -> torch.Tensor:
    """`function` of the three colours, each a vector, to three others."""
    wide = images if images.dtype == torch.float64 else images.float()
    pixels = wide.reshape(-1, 3)
    if type(images) is torch.Tensor and images.is_cpu:
        found = torch.empty_like(pixels)
        for start in range(0, len(pixels), _PIXELS_AT_A_TIME):
            part = slice(start, start + _PIXELS_AT_A_TIME)
            # NumPy takes a sixth of ATen's time for taking colours apart, and for putting them together.
            colors = torch.from_numpy(np.ascontiguousarray(pixels.numpy()[part].T))
            for number, color in enumerate(function(*colors)):
                found.numpy()[part, number] = color.numpy()
    else:
        found = torch.stack(list(function(*pixels.t().contiguous())), -1)
    return found.view(images.shape).to(images.dtype)


def _value_and_spread(
    red: torch.Tensor, green: torch.Tensor, blue: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest colour, and how far it is from the smallest."""
    value = torch.maximum(torch.maximum(red, green), blue)
    return value, value - torch.minimum(torch.minimum(red, green), blue)


def _hue(
    red: torch.Tensor, green: torch.Tensor, blue: torch.Tensor, value: torch.Tensor, spread: torch.Tensor
) -> torch.Tensor:
    """The hue of colours, given their largest one and how far it is from the smallest; between 0 and 1."""
    sixth = 1 / (6 * spread)
    from_green = torch.where(green == value, sixth * (blue - red) + 2 / 6, sixth * (red - green) + 4 / 6)
    hue = torch.where(red == value, sixth * (green - blue), from_green)
    hue = torch.where(spread > 0, hue, 0)
    return hue + (hue < 0)


def _hsv(red: torch.Tensor, green: torch.Tensor, blue: torch.Tensor) -> tuple[torch.Tensor, ...]:
    value, spread = _value_and_spread(red, green, blue)
    return _hue(red, green, blue, value, spread), torch.where(value > 0, spread / value, 0), value


def _by_pixel(function: Callable) -> Callable:
    """A reference that computes one pixel after another; `function` may take the op's other input too."""

    def reference(images, *others):
        pixels = [function(*pixel, *others) for pixel in images.reshape(-1, 3)]
        return np.array(pixels).reshape(images.shape)

    return reference


rgb_to_hsv_op = Op("RGBToHSV", "images: T -> output: T", T=_FLOATS)
rgb_to_hsv_op.shape(_colors)


@rgb_to_hsv_op.kernel
def _rgb_to_hsv_kernel(images):
    return _by_pixels(_check_colors(images), _hsv)


@rgb_to_hsv_op.gradient
def _rgb_to_hsv_gradient(op, grad):
    """Slopes by each colour. Of equal colours red counts as the largest and blue as the smallest."""
    images = op.inputs[0]
    dtype = images.dtype
    value = op.outputs[0][..., 2:3]
    lowest = reductions.reduce_min(images, axis=-1, keepdims=True)
    spread = value - lowest
    largest = creation.one_hot(positions.argmax(images, axis=-1), 3, dtype=dtype)
    smallest = positions.argmin(tiling.reverse(images, [-1]), axis=-1)
    smallest = tiling.reverse(creation.one_hot(smallest, 3, dtype=dtype), [-1])
    turn = indexing.gather(largest, [2, 0, 1], axis=-1) - indexing.gather(largest, [1, 2, 0], axis=-1)
    between = reductions.reduce_sum(images * turn, axis=-1, keepdims=True)  # of the two other colours
    hue = binary.div_no_nan(turn, spread) - binary.div_no_nan(
        between * (largest - smallest), binary.multiply(spread, spread)
    )
    saturation = binary.div_no_nan(largest * lowest, value * value) - binary.div_no_nan(smallest, value)
    return (
        grad[..., 2:3] * largest
        + grad[..., 1:2] * saturation * casting.cast(images > 0, dtype)
        + grad[..., 0:1] * hue * casting.cast(value > 0, dtype) / 6
    )


rgb_to_hsv_op.samples(_PICTURE, f32(3, low=0.1), f32(0, 3), against=_by_pixel(colorsys.rgb_to_hsv))
rgb_to_hsv_op.refuses((f32(2, 4),), "Dimension must be 3 but is 4")
rgb_to_hsv_op.refuses((f32(),), "Shape must be at least rank 1 but is rank 0")


@export("image.rgb_to_hsv")
def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts colours from red, green and blue to hue, saturation and value.

    Args:
      images: A tensor of a floating-point type whose last axis has size 3, of numbers between 0 and 1.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `images`, of numbers between 0 and 1.

    Raises:
      ValueError: Where the last axis is not of size 3.
    """
    return rgb_to_hsv_op(images, name=name)


def _rgb(sextant: torch.Tensor, spread: torch.Tensor, value: torch.Tensor) -> list[torch.Tensor]:
    """Colours from a hue between 0 and 6, the largest colour, and how far it is from the smallest."""
    lacking = (
        (2 - (sextant - 3).abs()).clamp_(0, 1),
        ((sextant - 2).abs() - 1).clamp_(0, 1),
        ((sextant - 4).abs() - 1).clamp_(0, 1),
    )
    return [torch.addcmul(value, spread, share, value=-1) for share in lacking]


hsv_to_rgb_op = Op("HSVToRGB", "images: T -> output: T", T=_FLOATS, differentiable=False)
hsv_to_rgb_op.shape(_colors)


@hsv_to_rgb_op.kernel
def _hsv_to_rgb_kernel(images):
    def colors(hue: torch.Tensor, saturation: torch.Tensor, value: torch.Tensor) -> list[torch.Tensor]:
        return _rgb(hue * 6, saturation * value, value)

    return _by_pixels(_check_colors(images), colors)


hsv_to_rgb_op.samples(_PICTURE, f32(3, low=0.1), f32(0, 3), against=_by_pixel(colorsys.hsv_to_rgb))
hsv_to_rgb_op.refuses((f32(2, 4),), "Dimension must be 3 but is 4")


@export("image.hsv_to_rgb")
def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts colours from hue, saturation and value to red, green and blue.

    Args:
      images: A tensor of a floating-point type whose last axis has size 3, of numbers between 0 and 1.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `images`, of numbers between 0 and 1.

    Raises:
      ValueError: Where the last axis is not of size 3.
    """
    return hsv_to_rgb_op(images, name=name)


_SHORT_FLOATS = attr("type", dtypes.float32, allowed=types("half float"))


def _adjusted_shape(images, amount):
    return of_rank_at_least(images, 3)


def _one(value: Any, name: str) -> float:
    if isinstance(value, list):
        raise ShapeError(f"{name} must be scalar: {value}")
    return value


adjust_hue_op = Op("AdjustHue", "images: T, delta: float -> output: T", host="delta", T=_SHORT_FLOATS)
adjust_hue_op.shape(_adjusted_shape)


@adjust_hue_op.kernel
def _adjust_hue_kernel(images, delta):
    """The largest and the smallest colour stay; the hue turns, by `delta` of a full circle."""
    turn = float(np.float32(_one(delta, "delta")) * np.float32(6))

    def turned(*colors: torch.Tensor) -> list[torch.Tensor]:
        value, spread = _value_and_spread(*colors)
        hue = _hue(*colors, value, spread)
        return _rgb(torch.remainder(hue * 6 + turn, 6), spread, value)

    return _by_pixels(_check_colors(images, 3), turned)


adjust_hue_op.gradient(undefined_gradient)


def _turned_pixel(red, green, blue, delta):
    hue, saturation, value = colorsys.rgb_to_hsv(red, green, blue)
    return colorsys.hsv_to_rgb((hue + delta) % 1.0, saturation, value)


adjust_hue_op.samples(
    (_PICTURE, 0.3), (_PICTURE, -0.9), (f32(0, 2, 3), 0.5), against=_by_pixel(_turned_pixel)
)
adjust_hue_op.refuses((f32(4, 3), 0.3), "Shape must be at least rank 3 but is rank 2")

adjust_saturation_op = Op(
    "AdjustSaturation", "images: T, scale: float -> output: T", host="scale", T=_SHORT_FLOATS
)
adjust_saturation_op.shape(_adjusted_shape)


@adjust_saturation_op.kernel
def _adjust_saturation_kernel(images, scale):
    factor = _one(scale, "scale")

    def scaled(*colors: torch.Tensor) -> list[torch.Tensor]:
        value, spread = _value_and_spread(*colors)
        colored = (value > 0) & (spread > 0)
        saturation = (spread / value).mul_(factor).clamp_(0, 1)
        wanted = torch.where(colored, saturation * value, 0)
        spread = torch.where(colored, spread, 1)
        # The smallest colour has a share of exactly 1: it becomes 0 where the saturation is full.
        return [torch.addcmul(value, (value - color).div_(spread), wanted, value=-1) for color in colors]

    return _by_pixels(_check_colors(images, 3), scaled)


adjust_saturation_op.gradient(undefined_gradient)


def _saturated_pixel(red, green, blue, scale):
    hue, saturation, value = colorsys.rgb_to_hsv(red, green, blue)
    return colorsys.hsv_to_rgb(hue, min(max(saturation * scale, 0.0), 1.0), value)


adjust_saturation_op.samples(
    (_PICTURE, 0.5), (_PICTURE, 3.0), (f32(0, 2, 3), 0.5), against=_by_pixel(_saturated_pixel)
)
adjust_saturation_op.refuses((f32(4, 3), 0.3), "Shape must be at least rank 3 but is rank 2")


# What an RGB pixel is as YIQ: brightness, and two axes of colour.
_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])


def _turned_in_yiq(delta_h: float, scale_s: float, scale_v: float) -> np.ndarray:
    """The matrix that turns and stretches the colour of a pixel, and makes it brighter."""
    across, along = scale_s * math.sin(delta_h), scale_s * math.cos(delta_h)
    inside = np.array([[1, 0, 0], [0, along, -across], [0, across, along]])
    return scale_v * np.linalg.inv(_YIQ) @ inside @ _YIQ


adjust_hsv_in_yiq_op = Op(
    "AdjustHsvInYiq",
    "images: T, delta_h: float, scale_s: float, scale_v: float -> output: T",
    host="delta_h scale_s scale_v",
    T=attr("type", allowed=types("uint8 int8 int16 int32 int64 half float double")),
    differentiable=False,
)


@adjust_hsv_in_yiq_op.shape
def _adjust_hsv_in_yiq_shape(images, delta_h, scale_s, scale_v):
    return of_rank_at_least(images, 3)


@adjust_hsv_in_yiq_op.kernel
def _adjust_hsv_in_yiq_kernel(images, delta_h, scale_s, scale_v):
    amounts = _one(delta_h, "delta_h"), _one(scale_s, "scale_s"), _one(scale_v, "scale_v")
    matrix = torch.from_numpy(_turned_in_yiq(*amounts))
    return _check_colors(images, 3) @ matrix.t().to(images.device, images.dtype)


adjust_hsv_in_yiq_op.samples(
    (_PICTURE, 0.3, 1.0, 1.0),
    (_PICTURE, -0.9, 0.5, 2.0),
    (f32(0, 2, 3), 0.5, 1.0, 1.0),
    against=lambda images, *amounts: np.einsum("ij,...j->...i", _turned_in_yiq(*amounts), images),
)
adjust_hsv_in_yiq_op.refuses((f32(4, 3), 0.3, 1.0, 1.0), "Shape must be at least rank 3 but is rank 2")


def _contrast(images: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """The distance of each pixel from its channel's mean over the image, times the factor."""
    if images.ndim < 3:
        raise ShapeError(f"input must be at least 3-D, got shape {brackets(images.shape)}")
    images = images.float()
    mean = images.mean((-3, -2), keepdim=True)
    return (images - mean) * one_value(factor, "contrast_factor") + mean


def _contrast_reference(images, factor, low=-np.inf, high=np.inf):
    """Between each channel's mean and its pixels, or beyond them."""
    means = np.mean(images, (-3, -2), np.float64, keepdims=True)
    return np.clip(factor * images + (1 - factor) * means, low, high)


adjust_contrast_op = Op("AdjustContrastv2", "images: T, contrast_factor: float -> output: T", T=_SHORT_FLOATS)


@adjust_contrast_op.shape
def _adjust_contrast_shape(images, contrast_factor):
    found = brackets(contrast_factor.tuple or ())
    of_rank(contrast_factor, 0, f"contrast_factor must be scalar: {found}")
    return of_rank_at_least(images, 3)


@adjust_contrast_op.kernel
def _adjust_contrast_kernel(images, contrast_factor):
    return _contrast(images, contrast_factor).to(images.dtype)


@adjust_contrast_op.gradient
def _adjust_contrast_gradient(op, grad):
    images, factor = op.inputs
    centred = images - reductions.reduce_mean(images, axis=[-3, -2], keepdims=True)
    to_factor = reductions.reduce_sum(casting.cast(grad * centred, dtypes.float32))
    return [adjust_contrast_op(grad, factor), to_factor]


adjust_contrast_op.samples(
    (_PICTURE, np.float32(0.5)),
    (f32(3, 4, 2), np.float32(2)),
    (f32(0, 2, 2, 3), np.float32(2)),
    against=_contrast_reference,
)
adjust_contrast_op.refuses((f32(4, 3), np.float32(1)), "Shape must be at least rank 3 but is rank 2")

adjust_contrast_v1_op = Op(
    "AdjustContrast",
    "images: T, contrast_factor: float, min_value: float, max_value: float -> output: float",
    T=types("uint8 int8 int16 int32 int64 float double"),
)


@adjust_contrast_v1_op.shape
def _adjust_contrast_v1_shape(images, contrast_factor, min_value, max_value):
    return of_rank_at_least(images, 3)


@adjust_contrast_v1_op.kernel
def _adjust_contrast_v1_kernel(images, contrast_factor, min_value, max_value):
    low, high = one_value(min_value, "min_value"), one_value(max_value, "max_value")
    return _contrast(images, contrast_factor).clamp(low, high)


adjust_contrast_v1_op.gradient(undefined_gradient)
adjust_contrast_v1_op.samples(
    (_PICTURE, np.float32(2), np.float32(0.1), np.float32(0.9)),
    (i32(2, 3, 2), np.float32(0.5), np.float32(-3), np.float32(3)),
    against=_contrast_reference,
)
