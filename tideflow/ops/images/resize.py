"""Images resized: bilinear, bicubic, nearest neighbour, by area, and by any kernel, scale and translation.

`half_pixel_centers` takes a pixel's centre for its place; without it the upper left corner is, as in old
programs. `align_corners` makes the corners of input and output coincide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32, i32, quantized
from tideflow.ops.helpers.types import types
from tideflow.ops.images import resampling
from tideflow.ops.images.resampling import Taps
from tideflow.ops.math import casting

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_RULE = {"align_corners": False, "half_pixel_centers": False}


def sized_image(images: TensorShape, size: Any) -> list:
    """Images of a new height and width, as far as those are known."""
    batch, _, _, channels = of_rank(images, 4).tuple
    if vector(size) is None:
        return [batch, None, None, channels]
    if len(size) != 2:
        raise ShapeError(f"Dimension must be 2 but is {len(size)}")
    height, width = (None if side is None or side < 0 else side for side in size)
    return [batch, height, width, channels]


def checked_size(images: torch.Tensor, size: Any, name: str = "input") -> tuple[int, int]:
    """The new height and width; ShapeError unless they are positive and the images have pixels."""
    if images.ndim != 4:
        raise ShapeError(f"{name} must be 4-dimensional, got {brackets(images.shape)}")
    if host_rank(size) != 1 or len(size) != 2:
        shape = brackets(np.shape(size))
        raise ShapeError(
            f"shape_t must have two elements{shape}"
            if host_rank(size) == 1
            else f"shape_t must be 1-dimensional{shape}"
        )
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


def _rule_of(op: Operation) -> dict[str, bool]:
    return {name: op.attrs[name] for name in _RULE}


# ---------------------------------------------------------------------------------- references, in NumPy


def _centres(size: int, new_size: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """Where in the input each output element lies."""
    corners = align_corners and new_size > 1
    scale = (size - 1) / (new_size - 1) if corners else size / new_size
    return (np.arange(new_size) + 0.5) * scale - 0.5 if half_pixel_centers else np.arange(new_size) * scale


def _weighed(images: np.ndarray, size: Any, weights: Callable) -> np.ndarray:
    """Images whose rows and columns are multiplied by matrices: `weights(old size, new size, axis)`."""
    rows, columns = (weights(images.shape[axis + 1], size[axis], axis) for axis in (0, 1))
    return np.einsum("yi,xj,bijc->byxc", rows, columns, images)


def bilinear_by_definition(
    images: np.ndarray, size: Any, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """In NumPy: an element at distance d weighs max(0, 1 - d); outside, the edge is repeated."""

    def weights(old: int, new: int, axis: int) -> np.ndarray:
        at = np.clip(_centres(old, new, align_corners, half_pixel_centers), 0, old - 1)
        return np.maximum(0, 1 - np.abs(at[:, None] - np.arange(old)))

    return _weighed(images, size, weights)


def _cubic(x: np.ndarray, b: float, c: float) -> np.ndarray:
    """The family of cubic splines of Mitchell and Netravali."""
    x = np.abs(x)
    near = (12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + 6 - 2 * b
    far = (-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 + (-12 * b - 48 * c) * x + 8 * b + 24 * c
    return np.where(x < 1, near, np.where(x < 2, far, 0)) / 6


def _bicubic_by_definition(
    images: np.ndarray, size: Any, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """In NumPy: Keys' cubic at distances in steps of 1/1024. The older rule repeats the edge outside, the
    newer one leaves out what lies there.
    """

    def weights(old: int, new: int, axis: int) -> np.ndarray:
        at = np.round(_centres(old, new, align_corners, half_pixel_centers) * 1024) / 1024
        if half_pixel_centers:
            found = _cubic(at[:, None] - np.arange(old), 0, 0.5)
            return found / found.sum(1, keepdims=True)
        beyond = np.arange(-2, old + 2)
        found = _cubic(at[:, None] - beyond, 0, 0.75)
        return found @ (np.clip(beyond, 0, old - 1)[:, None] == np.arange(old))

    return _weighed(images, size, weights)


def _nearest_by_definition(
    images: np.ndarray, size: Any, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    shift = 0.5 if align_corners or half_pixel_centers else 0.0
    rows, columns = (
        np.floor(_centres(old, new, align_corners, half_pixel_centers) + shift).astype(int)
        for old, new in zip(images.shape[1:3], size)
    )
    return images[:, rows][:, :, columns]


def _area_by_definition(images: np.ndarray, size: Any, align_corners: bool) -> np.ndarray:
    """In NumPy: how much each output element covers of each input element, of which the last is repeated."""

    def weights(old: int, new: int, axis: int) -> np.ndarray:
        edges = np.append(np.arange(old, dtype=np.float64), np.inf)
        scale = (old - 1) / (new - 1) if align_corners and new > 1 else old / new
        start = np.arange(new)[:, None] * scale
        return np.maximum(0, np.minimum(start + scale, edges[1:]) - np.maximum(start, edges[:-1])) / scale

    return _weighed(images, size, weights)


_KERNELS = {
    "lanczos1": lambda x: np.where(np.abs(x) < 1, np.sinc(x) ** 2, 0),
    "lanczos3": lambda x: np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0),
    "lanczos5": lambda x: np.where(np.abs(x) < 5, np.sinc(x) * np.sinc(x / 5), 0),
    "gaussian": lambda x: np.where(np.abs(x) < 1.5, np.exp(-2 * x**2), 0),
    "box": lambda x: (np.abs(x) < 0.5) + 0.5 * (np.abs(x) == 0.5),
    "triangle": lambda x: np.maximum(0, 1 - np.abs(x)),
    "keyscubic": lambda x: _cubic(x, 0, 0.5),
    "mitchellcubic": lambda x: _cubic(x, 1 / 3, 1 / 3),
}


def _scaled_by_definition(images, size, scale, translation, kernel_type, antialias):
    """In NumPy: a kernel around each output element's place in the input, wider where that is finer."""

    def weights(old: int, new: int, axis: int) -> np.ndarray:
        at = (np.arange(new)[:, None] + 0.5 - translation[axis]) / scale[axis]
        width = max(1 / scale[axis], 1) if antialias else 1
        found = _KERNELS[kernel_type]((np.arange(old) + 0.5 - at) / width)
        total = found.sum(1, keepdims=True)
        return np.where((at >= 0) & (at <= old), found / np.where(total == 0, 1, total), 0)

    return _weighed(images, size, weights)


# ---------------------------------------------------------------------------------- bilinear, bicubic


def in_between(
    images: torch.Tensor, sizes: Any, taps: Callable, combine: Callable, *rule: bool
) -> torch.Tensor:
    """Images of a floating-point type resized by interpolation between the elements that `taps` tells."""
    if tuple(sizes) == tuple(images.shape[1:3]):
        return images
    return resampling.resample(images, *_rows_and_columns(taps, images.shape[1:3], sizes, *rule), combine)


def _interpolated(taps: Callable, combine: Callable) -> Callable:
    """The kernel of an op that interpolates between the elements that `taps` tells."""

    def _kernel(images, size, *, align_corners, half_pixel_centers):
        _check_rule(align_corners, half_pixel_centers)
        sizes = checked_size(images, size)
        return in_between(images.float(), sizes, taps, combine, align_corners, half_pixel_centers)

    return _kernel


def _interpolated_gradient(op: Operation, grad: Tensor, grad_op: Op) -> list:
    image = op.inputs[0]
    if image.dtype not in grad_op.attrs["T"].allowed:
        return [None, None]
    return [grad_op(grad, image, **_rule_of(op)), None]


def _add_interpolated_samples(op: Op, against: Callable) -> None:
    op.samples(
        (f32(2, 4, 6, 3), [7, 5]),
        (f32(2, 4, 6, 3), [2, 3]),
        (f32(2, 4, 6, 3), [4, 6]),
        (f32(2, 4, 6, 1), [9, 4], {"align_corners": True}),
        (f32(1, 4, 6, 2), [9, 4], {"half_pixel_centers": True}),
        (i32(1, 3, 3, 2), [1, 1]),
        against=against,
    )
    op.refuses((f32(4, 6, 3), [7, 5]), "Shape must be rank 4 but is rank 3")
    op.refuses((f32(1, 4, 6, 3), [7, 5, 3]), "Dimension must be 2 but is 3")


def _checked_gradient(grads: torch.Tensor, original_image: torch.Tensor) -> tuple[int, int]:
    if original_image.ndim != 4:
        raise ShapeError(f"original_image must be 4-dimensional, got {brackets(original_image.shape)}")
    return checked_size(grads, list(original_image.shape[1:3]), "input_grad")


def _original_shape(grads, original_image):
    return of_rank(original_image, 4, "original_image must be 4-dimensional")


def _handed_back(taps: Callable) -> Callable:
    """The kernel of the gradient of an op that interpolates between the elements that `taps` tells."""

    def _kernel(grads, original_image, *, align_corners, half_pixel_centers):
        _check_rule(align_corners, half_pixel_centers)
        sizes = _checked_gradient(grads, original_image)
        rule = align_corners, half_pixel_centers
        along = _rows_and_columns(taps, sizes, grads.shape[1:3], *rule)
        along = (tap.transposed(size) for tap, size in zip(along, sizes, strict=True))
        working = grads.to(torch.float64 if original_image.dtype == torch.float64 else torch.float32)
        return resampling.resample(working, *along).to(original_image.dtype)

    return _kernel


def _handed_back_gradient(op: Operation, grad: Tensor, forward: Op) -> list:
    grads, _ = op.inputs
    return [forward(grad, shapes.shape(grads)[1:3], **_rule_of(op)), None]


def _add_handed_back_samples(op: Op, resized: Callable) -> None:
    def reference(grads, original_image, align_corners, half_pixel_centers):
        rule = align_corners, half_pixel_centers
        return pulled_back(
            lambda images: resized(images, grads.shape[1:3], *rule), original_image, grads, step=1
        )

    for rule in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
        op.samples((f32(2, 7, 5, 3), f32(2, 4, 6, 3), rule), (f32(1, 2, 3, 2), f32(1, 4, 6, 2), rule))
    op.samples(against=reference)


resize_bilinear_op = Op(
    "ResizeBilinear",
    "images: T, size: int32 -> resized_images: float",
    host="size",
    T=types("int8 uint8 int16 uint16 int32 int64 bfloat16 half float double bfloat16"),
    **_RULE,
)
resize_bilinear_op.shape(sized_image)
resize_bilinear_op.kernel(_interpolated(resampling.bilinear, resampling.lerp))
resize_bilinear_op.gradient(lambda op, grad: _interpolated_gradient(op, grad, resize_bilinear_grad_op))
_add_interpolated_samples(resize_bilinear_op, against=bilinear_by_definition)


@export("image.resize_bilinear")
def resize_bilinear(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Resizes images: each new pixel lies linearly between four old ones.

    Args:
      images: Images [batch, height, width, channels] of a real type.
      size: The new height and width, an int32 vector of two elements.
      align_corners: Whether the centres of the corner pixels of old and new images coincide.
      name: A name for the operation.
      half_pixel_centers: Whether a pixel's place is its centre, and not its upper left corner. Not together
        with `align_corners`.

    Returns:
      Images [batch, new height, new width, channels] of float32.

    Raises:
      ValueError: Where `images` is not of rank 4, or `size` has not two elements.
      InvalidArgumentError: In a step, where a size is not positive, or both rules are asked for.
    """
    return resize_bilinear_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


resize_bilinear_grad_op = Op(
    "ResizeBilinearGrad",
    "grads: float, original_image: T -> output: T",
    T=types("float bfloat16 half double"),
    **_RULE,
)
resize_bilinear_grad_op.shape(_original_shape)
resize_bilinear_grad_op.kernel(_handed_back(resampling.bilinear))
resize_bilinear_grad_op.gradient(lambda op, grad: _handed_back_gradient(op, grad, resize_bilinear_op))
_add_handed_back_samples(resize_bilinear_grad_op, bilinear_by_definition)

_ANY_NUMBER = types("int8 uint8 int16 uint16 int32 int64 half float double bfloat16")

resize_bicubic_op = Op(
    "ResizeBicubic", "images: T, size: int32 -> resized_images: float", host="size", T=_ANY_NUMBER, **_RULE
)
resize_bicubic_op.shape(sized_image)
resize_bicubic_op.kernel(_interpolated(resampling.bicubic, resampling.weighted_sum))
resize_bicubic_op.gradient(lambda op, grad: _interpolated_gradient(op, grad, resize_bicubic_grad_op))
_add_interpolated_samples(resize_bicubic_op, against=_bicubic_by_definition)


@export("image.resize_bicubic")
def resize_bicubic(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Resizes images: each new pixel is a cubic function of sixteen old ones.

    Args:
      images: Images [batch, height, width, channels] of a real type.
      size: The new height and width, an int32 vector of two elements.
      align_corners: Whether the centres of the corner pixels of old and new images coincide.
      name: A name for the operation.
      half_pixel_centers: Whether a pixel's place is its centre, and not its upper left corner. Not together
        with `align_corners`.

    Returns:
      Images [batch, new height, new width, channels] of float32.

    Raises:
      ValueError: Where `images` is not of rank 4, or `size` has not two elements.
      InvalidArgumentError: In a step, where a size is not positive, or both rules are asked for.
    """
    return resize_bicubic_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


resize_bicubic_grad_op = Op(
    "ResizeBicubicGrad", "grads: float, original_image: T -> output: T", T=types("float double"), **_RULE
)
resize_bicubic_grad_op.shape(_original_shape)
resize_bicubic_grad_op.kernel(_handed_back(resampling.bicubic))
resize_bicubic_grad_op.gradient(lambda op, grad: _handed_back_gradient(op, grad, resize_bicubic_op))
_add_handed_back_samples(resize_bicubic_grad_op, _bicubic_by_definition)

# ---------------------------------------------------------------------------------- nearest neighbour


def _add_nearest_samples(op: Op, against: Callable) -> None:
    op.samples(
        (f32(2, 4, 6, 3), [7, 5]),
        (f32(2, 4, 6, 1), [2, 3]),
        (i32(1, 4, 6, 2), [9, 3], {"align_corners": True}),
        (f32(1, 4, 6, 2), [3, 9], {"half_pixel_centers": True}),
        against=against,
    )
    op.refuses((f32(4, 6, 3), [7, 5]), "Shape must be rank 4 but is rank 3")


resize_nearest_neighbor_op = Op(
    "ResizeNearestNeighbor",
    "images: T, size: int32 -> resized_images: T",
    host="size",
    T=_ANY_NUMBER,
    **_RULE,
)
resize_nearest_neighbor_op.shape(sized_image)


@resize_nearest_neighbor_op.kernel
def _resize_nearest_neighbor_kernel(images, size, *, align_corners, half_pixel_centers):
    _check_rule(align_corners, half_pixel_centers)
    sizes = checked_size(images, size)
    rule = align_corners, half_pixel_centers
    along = _rows_and_columns(resampling.nearest, images.shape[1:3], sizes, *rule)
    return resampling.resample(images, *along, resampling.only)


@resize_nearest_neighbor_op.gradient
def _resize_nearest_neighbor_gradient(op, grad):
    image = op.inputs[0]
    size = image.shape[1:3]
    if not size.is_fully_defined():
        size = shapes.shape(image)[1:3]
    return [resize_nearest_neighbor_grad_op(grad, size, **_rule_of(op)), None]


_add_nearest_samples(resize_nearest_neighbor_op, against=_nearest_by_definition)


@export("image.resize_nearest_neighbor")
def resize_nearest_neighbor(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Resizes images: each new pixel is one of the old ones.

    Args:
      images: Images [batch, height, width, channels] of a real type.
      size: The new height and width, an int32 vector of two elements.
      align_corners: Whether the centres of the corner pixels of old and new images coincide.
      name: A name for the operation.
      half_pixel_centers: Whether a pixel's place is its centre, and not its upper left corner. Not together
        with `align_corners`.

    Returns:
      Images [batch, new height, new width, channels] of the type of `images`.

    Raises:
      ValueError: Where `images` is not of rank 4, or `size` has not two elements.
      InvalidArgumentError: In a step, where a size is not positive, or both rules are asked for.
    """
    return resize_nearest_neighbor_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


resize_nearest_neighbor_grad_op = Op(
    "ResizeNearestNeighborGrad",
    "grads: T, size: int32 -> output: T",
    host="size",
    T=types("uint8 int8 int32 half float double bfloat16"),
    **_RULE,
)
resize_nearest_neighbor_grad_op.shape(sized_image)


@resize_nearest_neighbor_grad_op.kernel
def _resize_nearest_neighbor_grad_kernel(grads, size, *, align_corners, half_pixel_centers):
    _check_rule(align_corners, half_pixel_centers)
    sizes = checked_size(grads, size)
    rule = align_corners, half_pixel_centers
    along = _rows_and_columns(resampling.nearest, sizes, grads.shape[1:3], *rule)
    return resampling.resample(grads, *(tap.transposed(size) for tap, size in zip(along, sizes, strict=True)))


@resize_nearest_neighbor_grad_op.gradient
def _resize_nearest_neighbor_grad_gradient(op, grad):
    return [resize_nearest_neighbor_op(grad, shapes.shape(op.inputs[0])[1:3], **_rule_of(op)), None]


def _resize_nearest_neighbor_grad_reference(grads, size, align_corners, half_pixel_centers):
    def resized(images: np.ndarray) -> np.ndarray:
        return _nearest_by_definition(images, grads.shape[1:3], align_corners, half_pixel_centers)

    zeros = np.zeros([len(grads), *size, grads.shape[3]])
    return pulled_back(resized, zeros, grads, step=1)


_add_nearest_samples(resize_nearest_neighbor_grad_op, against=_resize_nearest_neighbor_grad_reference)

# ---------------------------------------------------------------------------------- by area

resize_area_op = Op(
    "ResizeArea",
    "images: T, size: int32 -> resized_images: float",
    host="size",
    T=_ANY_NUMBER,
    align_corners=False,
    differentiable=None,
)


resize_area_op.shape(sized_image)


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
    against=_area_by_definition,
)
resize_area_op.refuses((f32(4, 6, 3), [7, 5]), "Shape must be rank 4 but is rank 3")


@export("image.resize_area")
def resize_area(
    images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None
) -> Tensor:
    """Resizes images: each new pixel is the mean of what it covers of the old ones.

    Args:
      images: Images [batch, height, width, channels] of a real type.
      size: The new height and width, an int32 vector of two elements.
      align_corners: Whether the centres of the corner pixels of old and new images coincide.
      name: A name for the operation.

    Returns:
      Images [batch, new height, new width, channels] of float32.

    Raises:
      ValueError: Where `images` is not of rank 4, or `size` has not two elements.
      InvalidArgumentError: In a step, where a size is not positive.
    """
    return resize_area_op(images, size, align_corners=align_corners, name=name)


# ---------------------------------------------------------------------------------- by any kernel


def _taps_by_kernel(
    sizes: Any, new_sizes: Any, scale: Any, translation: Any, kernel_type: str, antialias: bool
) -> list[Taps]:
    if kernel_type not in resampling.KERNELS:
        names = ", ".join(resampling.KERNELS)
        raise ShapeError(f"Unrecognized kernel type: {kernel_type}; it must be one of {names}")
    for name, pair in (("scale", scale), ("translation", translation)):
        if host_rank(pair) != 1 or len(pair) != 2:
            shape = brackets(np.shape(pair))
            wrong = "have two elements" if host_rank(pair) == 1 else "be 1-dimensional"
            raise ShapeError(f"t must {wrong}{shape}: {name}, rows and columns, is {pair}")
    if min(scale) <= 0:
        raise ShapeError(f"scale must be greater than zero, got {scale}")
    pairs = zip(sizes, new_sizes, scale, translation, strict=True)
    return [resampling.by_kernel(*pair, kernel_type, antialias) for pair in pairs]


def _kernel_of(op: Operation) -> dict[str, Any]:
    return {name: op.attrs[name] for name in ("kernel_type", "antialias")}


def _pair(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


scale_and_translate_op = Op(
    "ScaleAndTranslate",
    "images: T, size: int32, scale: float, translation: float -> resized_images: float",
    host="size scale translation",
    T=types("int8 uint8 int16 uint16 int32 int64 bfloat16 half float double"),
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
        (f32(1, 6, 8, 2), [4, 5], _pair(0.7, 0.6), _pair(0.2, -0.35), {"kernel_type": kernel})
        for kernel in resampling.KERNELS
    ),
    (f32(2, 4, 5, 1), [7, 9], _pair(1.5, 2.0), _pair(-1.0, 20.0), {"antialias": False}),
    against=_scaled_by_definition,
)
scale_and_translate_op.refuses(
    (f32(1, 6, 8, 2), [4, 5], _pair(0.7), _pair(0.2, 0.3)),
    "t must have two elements[1]: scale",
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
    return _original_shape(grads, original_image)


@scale_and_translate_grad_op.kernel
def _scale_and_translate_grad_kernel(grads, original_image, scale, translation, *, kernel_type, antialias):
    sizes = _checked_gradient(grads, original_image)
    along = _taps_by_kernel(sizes, grads.shape[1:3], scale, translation, kernel_type, antialias)
    return resampling.resample(grads, *(tap.transposed(size) for tap, size in zip(along, sizes, strict=True)))


@scale_and_translate_grad_op.gradient
def _scale_and_translate_grad_gradient(op, grad):
    grads, _, scale, translation = op.inputs
    size = shapes.shape(grads)[1:3]
    return [scale_and_translate_op(grad, size, scale, translation, **_kernel_of(op)), None, None, None]


def _scale_and_translate_grad_reference(grads, original_image, scale, translation, kernel_type, antialias):
    geometry = grads.shape[1:3], scale, translation, kernel_type, antialias
    return pulled_back(lambda images: _scaled_by_definition(images, *geometry), original_image, grads, step=1)


scale_and_translate_grad_op.samples(
    (f32(1, 4, 5, 2), f32(1, 6, 8, 2), _pair(0.7, 0.6), _pair(0.2, -0.3)),
    (f32(2, 7, 9, 1), f32(2, 4, 5, 1), _pair(1.5, 2.0), _pair(-1.0, 2.0), {"kernel_type": "triangle"}),
    against=_scale_and_translate_grad_reference,
)

# ---------------------------------------------------------------------------------- quantized

quantized_resize_bilinear_op = Op(
    "QuantizedResizeBilinear",
    "images: T, size: int32, min: float, max: float -> resized_images: T, out_min: float, out_max: float",
    host="size",
    T=types("quint8 qint32 float"),
    **_RULE,
    differentiable=None,
)


@quantized_resize_bilinear_op.shape
def _quantized_resize_bilinear_shape(images, size, min, max):
    return [sized_image(images, size), of_rank(min, 0), of_rank(max, 0)]


_STEPS = 128  # into which the way between two pixels of 8 bits is divided


def _in_steps(images: torch.Tensor, rows: Taps, columns: Taps) -> torch.Tensor:
    """Bilinear in whole steps between pixels, truncated where TensorFlow's integer arithmetic is."""

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


@quantized_resize_bilinear_op.kernel
def _quantized_resize_bilinear_kernel(images, size, min, max, *, align_corners, half_pixel_centers):
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


def _quantized_resize_bilinear_law(
    images, size, low, high, resized, new_low, new_high, align_corners, half_pixel_centers
):
    """Numbers are resized as by `tf.image.resize_bilinear`, integers with weights cut to 7 bits."""
    numbers = images if images.dtype == np.float32 else images.view(np.uint8)
    wanted = bilinear_by_definition(numbers, size, align_corners, half_pixel_centers)
    close = np.abs(resized - wanted) <= (1e-5 if images.dtype == np.float32 else 2 * 255 / _STEPS + 1)
    return [close, new_low == low, new_high == high]


_LOW, _HIGH = np.float32(-1), np.float32(3)
quantized_resize_bilinear_op.samples(
    (f32(2, 4, 6, 3), [7, 5], _LOW, _HIGH),
    (f32(2, 4, 6, 1), [3, 9], _LOW, _HIGH, {"align_corners": True}),
    (quantized(dtypes.quint8, 1, 4, 6, 2), [7, 5], _LOW, _HIGH),
    law=_quantized_resize_bilinear_law,
)
quantized_resize_bilinear_op.refuses(
    (f32(4, 6, 3), [7, 5], _LOW, _HIGH), "Shape must be rank 4 but is rank 3"
)
