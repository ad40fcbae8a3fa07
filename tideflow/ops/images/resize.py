"""Images resized: bilinear, bicubic, nearest neighbour, by area, and by any kernel, scale and translation.

`half_pixel_centers` takes a pixel's centre for its place; without it the upper left corner is, as in old
programs. `align_corners` makes the corners of input and output coincide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import shapes
from tideflow.ops.helpers.axes import brackets, host_rank, of_rank, vector
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import types
from tideflow.ops.images import resampling
from tideflow.ops.images.resampling import Taps
from tideflow.ops.math import casting

_RULE = {"align_corners": False, "half_pixel_centers": False}


def _resize_bilinear_family_shape(images, size):
    return sized_image(images, size)


_BILINEAR_TYPES = types("int8 uint8 int16 uint16 int32 int64 bfloat16 half float double bfloat16")

# ---------------------------------------------------------------------------------- bilinear, bicubic

resize_bilinear_op = Op(
    "ResizeBilinear",
    "images: T, size: int32 -> resized_images: float",
    host="size",
    T=_BILINEAR_TYPES,
    **_RULE,
)
resize_bilinear_op.shape(_resize_bilinear_family_shape)


@export("image.resize_bilinear")
def resize_bilinear(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Images of another size, linear between four pixels."""
    return resize_bilinear_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


_ANY_NUMBER = types("int8 uint8 int16 uint16 int32 int64 half float double bfloat16")

resize_bicubic_op = Op(
    "ResizeBicubic", "images: T, size: int32 -> resized_images: float", host="size", T=_ANY_NUMBER, **_RULE
)
resize_bicubic_op.shape(_resize_bilinear_family_shape)


@export("image.resize_bicubic")
def resize_bicubic(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Images of another size, cubic between sixteen pixels."""
    return resize_bicubic_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def _resize_bilinear_grad_family_shape(grads, original_image):
    return of_rank(original_image, 4)


resize_bilinear_grad_op = Op(
    "ResizeBilinearGrad",
    "grads: float, original_image: T -> output: T",
    T=types("float bfloat16 half double"),
    **_RULE,
)
resize_bilinear_grad_op.shape(_resize_bilinear_grad_family_shape)

resize_bicubic_grad_op = Op(
    "ResizeBicubicGrad", "grads: float, original_image: T -> output: T", T=types("float double"), **_RULE
)
resize_bicubic_grad_op.shape(_resize_bilinear_grad_family_shape)


def checked_size(images: torch.Tensor, size: Any) -> tuple[int, int]:
    """The new height and width, of images that have pixels to make it from."""
    if images.ndim != 4:
        raise ShapeError(f"input must be 4-dimensional, got {brackets(images.shape)}")
    if host_rank(size) != 1 or len(size) != 2:
        raise ShapeError(f"size must be a vector of two elements (height, width), got {size}")
    if min(size) <= 0:
        raise ShapeError(f"output dimensions must be positive, got {size}")
    if 0 in images.shape[1:]:
        raise ShapeError(f"input image must be of non-zero size, got {brackets(images.shape)}")
    return tuple(size)


def _check_rule(align_corners: bool, half_pixel_centers: bool) -> None:
    if align_corners and half_pixel_centers:
        raise ShapeError("If half_pixel_centers is True, align_corners must be False.")


def _rows_and_columns(taps: Callable, sizes: Any, new_sizes: Any, *rule: bool) -> tuple[Taps, Taps]:
    return tuple(taps(old, new, *rule) for old, new in zip(sizes, new_sizes, strict=True))


def _working_type(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def _rule_of(op: Operation) -> dict[str, bool]:
    return {name: op.attrs[name] for name in _RULE}


def _interpolating(
    op: Op, grad_op: Op, taps: Callable, combine: Callable, differentiated: tuple[dtypes.DType, ...]
) -> None:
    """Kernels and gradients of an op that interpolates between elements, and of the op of its gradient."""

    @op.kernel
    def _kernel(images, size, *, align_corners, half_pixel_centers):
        _check_rule(align_corners, half_pixel_centers)
        sizes = checked_size(images, size)
        rule = align_corners, half_pixel_centers
        if sizes == tuple(images.shape[1:3]):
            return images.float()
        along = _rows_and_columns(taps, images.shape[1:3], sizes, *rule)
        return resampling.resample(images.float(), *along, combine)

    @grad_op.kernel
    def grad_kernel(grads, original_image, *, align_corners, half_pixel_centers):
        _check_rule(align_corners, half_pixel_centers)
        sizes = checked_size(grads, list(original_image.shape[1:3]))
        rule = align_corners, half_pixel_centers
        along = _rows_and_columns(taps, sizes, grads.shape[1:3], *rule)
        along = (tap.transposed(size) for tap, size in zip(along, sizes, strict=True))
        working = grads.to(_working_type(original_image.dtype))
        return resampling.resample(working, *along).to(original_image.dtype)

    @op.gradient
    def gradient(node, grad):
        image = node.inputs[0]
        if image.dtype not in differentiated:
            return [None, None]
        return [grad_op(grad, image, **_rule_of(node)), None]

    @grad_op.gradient
    def grad_gradient(node, grad):
        grads, _ = node.inputs
        return [op(grad, shapes.shape(grads)[1:3], **_rule_of(node)), None]

    sizes = ([7, 5], [2, 3], [4, 6])
    op.samples(*((f32(2, 4, 6, 3), size) for size in sizes))
    op.samples(
        (f32(2, 4, 6, 1), [9, 4], {"align_corners": True}),
        (f32(1, 4, 6, 2), [9, 4], {"half_pixel_centers": True}),
        (i32(1, 3, 3, 2), [1, 1]),
    )
    op.refuses((f32(4, 6, 3), [7, 5]), "Shape must be rank 4 but is rank 3")
    op.refuses((f32(1, 4, 6, 3), [7, 5, 3]), "Dimension must be 2 but is 3")
    for rule in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
        grad_op.samples((f32(2, 7, 5, 3), f32(2, 4, 6, 3), rule), (f32(1, 2, 3, 2), f32(1, 4, 6, 2), rule))


_interpolating(
    resize_bilinear_op,
    resize_bilinear_grad_op,
    resampling.bilinear,
    resampling.lerp,
    types("float bfloat16 half double"),
)
_interpolating(
    resize_bicubic_op,
    resize_bicubic_grad_op,
    resampling.bicubic,
    resampling.weighted_sum,
    types("float double"),
)


def _resize_nearest_family_shape(images, size):
    return sized_image(images, size)


def _add_samples_and_refuses_of_resize_nearest_family(op: Op) -> None:
    op.samples(
        (f32(2, 4, 6, 3), [7, 5]),
        (f32(2, 4, 6, 1), [2, 3]),
        (i32(1, 4, 6, 2), [9, 3], {"align_corners": True}),
        (f32(1, 4, 6, 2), [3, 9], {"half_pixel_centers": True}),
    )
    op.refuses((f32(4, 6, 3), [7, 5]), "Shape must be rank 4 but is rank 3")


# ---------------------------------------------------------------------------------- nearest neighbour

resize_nearest_op = Op(
    "ResizeNearestNeighbor",
    "images: T, size: int32 -> resized_images: T",
    host="size",
    T=_ANY_NUMBER,
    **_RULE,
)
resize_nearest_op.shape(_resize_nearest_family_shape)


@resize_nearest_op.kernel
def _resize_nearest_kernel(images, size, *, align_corners, half_pixel_centers):
    _check_rule(align_corners, half_pixel_centers)
    sizes = checked_size(images, size)
    rule = align_corners, half_pixel_centers
    along = _rows_and_columns(resampling.nearest, images.shape[1:3], sizes, *rule)
    return resampling.resample(images, *along, resampling.only)


@resize_nearest_op.gradient
def _resize_nearest_gradient(op, grad):
    image = op.inputs[0]
    size = image.shape[1:3]
    if not size.is_fully_defined():
        size = shapes.shape(image)[1:3]
    return [resize_nearest_grad_op(grad, size, **_rule_of(op)), None]


_add_samples_and_refuses_of_resize_nearest_family(resize_nearest_op)


@export("image.resize_nearest_neighbor")
def resize_nearest_neighbor(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Images of another size, each pixel one of the old ones."""
    return resize_nearest_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


_NEAREST_GRADS = types("uint8 int8 int32 half float double bfloat16")

resize_nearest_grad_op = Op(
    "ResizeNearestNeighborGrad", "grads: T, size: int32 -> output: T", host="size", T=_NEAREST_GRADS, **_RULE
)
resize_nearest_grad_op.shape(_resize_nearest_family_shape)


@resize_nearest_grad_op.kernel
def _resize_nearest_grad_kernel(grads, size, *, align_corners, half_pixel_centers):
    _check_rule(align_corners, half_pixel_centers)
    sizes = checked_size(grads, size)
    rule = align_corners, half_pixel_centers
    along = _rows_and_columns(resampling.nearest, sizes, grads.shape[1:3], *rule)
    return resampling.resample(grads, *(tap.transposed(size) for tap, size in zip(along, sizes, strict=True)))


@resize_nearest_grad_op.gradient
def _resize_nearest_grad_gradient(op, grad):
    return [resize_nearest_op(grad, shapes.shape(op.inputs[0])[1:3], **_rule_of(op)), None]


_add_samples_and_refuses_of_resize_nearest_family(resize_nearest_grad_op)

# ---------------------------------------------------------------------------------- by area

resize_area_op = Op(
    "ResizeArea",
    "images: T, size: int32 -> resized_images: float",
    host="size",
    T=_ANY_NUMBER,
    align_corners=False,
    differentiable=False,
)


@resize_area_op.shape
def _resize_area_shape(images, size):
    return sized_image(images, size)


@resize_area_op.kernel
def _resize_area_kernel(images, size, *, align_corners):
    sizes = checked_size(images, size)
    along = _rows_and_columns(resampling.area, images.shape[1:3], sizes, align_corners)
    return resampling.resample(images.float(), *along)


resize_area_op.samples(
    (f32(2, 4, 6, 3), [2, 3]),
    (f32(2, 4, 6, 1), [3, 4]),
    (i32(1, 4, 6, 2), [9, 7]),
    (f32(1, 5, 7, 2), [3, 4], {"align_corners": True}),
)
resize_area_op.refuses((f32(4, 6, 3), [7, 5]), "Shape must be rank 4 but is rank 3")


@export("image.resize_area")
def resize_area(images: Any, size: Any, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Images of another size, each pixel the mean of what it covers."""
    return resize_area_op(images, size, align_corners=align_corners, name=name)


def _taps_by_kernel(
    sizes: Any, new_sizes: Any, scale: Any, translation: Any, kernel_type: str, antialias: bool
) -> list[Taps]:
    if kernel_type not in resampling.KERNELS:
        names = ", ".join(resampling.KERNELS)
        raise ShapeError(f"Unrecognized kernel type: {kernel_type}; it must be one of {names}")
    for name, pair in (("scale", scale), ("translation", translation)):
        if host_rank(pair) != 1 or len(pair) != 2:
            raise ShapeError(f"{name} must be a vector of two elements (rows, columns), got {pair}")
    if min(scale) <= 0:
        raise ShapeError(f"scale must be greater than zero, got {scale}")
    pairs = zip(sizes, new_sizes, scale, translation, strict=True)
    return [resampling.by_kernel(*pair, kernel_type, antialias) for pair in pairs]


def _kernel_of(op: Operation) -> dict[str, Any]:
    return {name: op.attrs[name] for name in ("kernel_type", "antialias")}


def _pair(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


_SCALED_TYPES = types("int8 uint8 int16 uint16 int32 int64 bfloat16 half float double")

# ---------------------------------------------------------------------------------- by any kernel

scale_and_translate_op = Op(
    "ScaleAndTranslate",
    "images: T, size: int32, scale: float, translation: float -> resized_images: float",
    host="size scale translation",
    T=_SCALED_TYPES,
    kernel_type="lanczos3",
    antialias=True,
)


@scale_and_translate_op.shape
def _scale_and_translate_shape(images, size, scale, translation):
    return sized_image(images, size)


@scale_and_translate_op.kernel
def _scale_and_translate_kernel(images, size, scale, translation, *, kernel_type, antialias):
    sizes = checked_size(images, size)
    along = _taps_by_kernel(images.shape[1:3], sizes, scale, translation, kernel_type, antialias)
    return resampling.resample(images.float(), *along)


@scale_and_translate_op.gradient
def _scale_and_translate_gradient(op, grad):
    images, _, scale, translation = op.inputs
    if not images.dtype.is_floating:
        return [None] * 4
    in_single = casting.cast(images, dtypes.float32)
    found = scale_and_translate_grad_op(grad, in_single, scale, translation, **_kernel_of(op))
    return [casting.cast(found, images.dtype), None, None, None]


scale_and_translate_op.samples(
    *(
        (f32(1, 6, 8, 2), [4, 5], _pair(0.7, 0.6), _pair(0.2, -0.3), {"kernel_type": kernel})
        for kernel in resampling.KERNELS
    ),
    (f32(2, 4, 5, 1), [7, 9], _pair(1.5, 2.0), _pair(-1.0, 20.0), {"antialias": False}),
)
scale_and_translate_op.refuses(
    (f32(1, 6, 8, 2), [4, 5], _pair(0.7), _pair(0.2, 0.3)),
    "scale must be a vector of two elements",
    InvalidArgumentError,
)

scale_and_translate_grad_op = Op(
    "ScaleAndTranslateGrad",
    "grads: T, original_image: T, scale: float, translation: float -> output: T",
    host="scale translation",
    T=types("float"),
    kernel_type="lanczos3",
    antialias=True,
)


@scale_and_translate_grad_op.shape
def _scale_and_translate_grad_shape(grads, original_image, scale, translation):
    return of_rank(original_image, 4)


@scale_and_translate_grad_op.kernel
def _scale_and_translate_grad_kernel(grads, original_image, scale, translation, *, kernel_type, antialias):
    sizes = checked_size(grads, list(original_image.shape[1:3]))
    along = _taps_by_kernel(sizes, grads.shape[1:3], scale, translation, kernel_type, antialias)
    return resampling.resample(grads, *(tap.transposed(size) for tap, size in zip(along, sizes, strict=True)))


@scale_and_translate_grad_op.gradient
def _scale_and_translate_grad_gradient(op, grad):
    grads, _, scale, translation = op.inputs
    size = shapes.shape(grads)[1:3]
    return [scale_and_translate_op(grad, size, scale, translation, **_kernel_of(op)), None, None, None]


scale_and_translate_grad_op.samples(
    (f32(1, 4, 5, 2), f32(1, 6, 8, 2), _pair(0.7, 0.6), _pair(0.2, -0.3)),
    (f32(2, 7, 9, 1), f32(2, 4, 5, 1), _pair(1.5, 2.0), _pair(-1.0, 2.0), {"kernel_type": "triangle"}),
)

# ---------------------------------------------------------------------------------- quantized

quantized_resize_op = Op(
    "QuantizedResizeBilinear",
    "images: T, size: int32, min: float, max: float -> resized_images: T, out_min: float, out_max: float",
    host="size",
    T=types("quint8 qint32 float"),
    **_RULE,
    differentiable=False,
)


@quantized_resize_op.shape
def _quantized_resize_shape(images, size, min, max):
    return [sized_image(images, size), of_rank(min, 0), of_rank(max, 0)]


_STEPS = 128  # between two pixels of 8 bits


def _in_steps(images: torch.Tensor, rows: Taps, columns: Taps) -> torch.Tensor:
    """Between pixels in whole steps, cut off where TensorFlow's arithmetic of integers does."""

    def between(values: torch.Tensor, axis: int, taps: Taps) -> tuple[torch.Tensor, ...]:
        first, second = (
            values.index_select(axis, torch.from_numpy(p).to(values.device)) for p in taps.places
        )
        steps = torch.from_numpy((taps.weights[1] * _STEPS).astype(np.int32)).to(values.device)
        shape = [-1 if place == axis else 1 for place in range(4)]
        return first, second - first, steps.view(shape)

    left, rise, steps = between(images.int(), 2, columns)
    top, fall, steps_down = between(left * _STEPS + rise * steps, 1, rows)
    exact = top + torch.div(fall, _STEPS, rounding_mode="trunc") * steps_down
    return torch.div(exact + _STEPS // 2, _STEPS, rounding_mode="trunc").to(torch.uint8)


@quantized_resize_op.kernel
def _quantized_resize_kernel(images, size, min, max, *, align_corners, half_pixel_centers):
    _check_rule(align_corners, half_pixel_centers)
    sizes = checked_size(images, size)
    if min.ndim or max.ndim:
        raise ShapeError(f"min and max must be scalars, not {brackets(min.shape)} and {brackets(max.shape)}")
    rule = align_corners, half_pixel_centers
    along = _rows_and_columns(resampling.bilinear, images.shape[1:3], sizes, *rule)
    if images.dtype == torch.uint8:
        resized = _in_steps(images, *along)
    elif images.dtype == torch.float32:
        resized = resampling.resample(images, *along, resampling.lerp)
    else:
        resized = resampling.resample(images.double(), *along, resampling.lerp).round().to(images.dtype)
    return [resized, min, max]


_LOW, _HIGH = np.float32(-1), np.float32(3)
quantized_resize_op.samples(
    (f32(2, 4, 6, 3), [7, 5], _LOW, _HIGH), (f32(2, 4, 6, 1), [3, 9], _LOW, _HIGH, {"align_corners": True})
)
quantized_resize_op.refuses((f32(4, 6, 3), [7, 5], _LOW, _HIGH), "Shape must be rank 4 but is rank 3")

# ---------------------------------------------------------------------------------- sizes


def sized_image(images: TensorShape, size: Any) -> list:
    """Images of a new height and width, as far as those are known."""
    batch, _, _, channels = of_rank(images, 4).tuple
    if vector(size) is None:
        return [batch, None, None, channels]
    if len(size) != 2:
        raise ShapeError(f"Dimension must be 2 but is {len(size)}")
    height, width = (None if side is None or side < 0 else side for side in size)
    return [batch, height, width, channels]
