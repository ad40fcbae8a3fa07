"""Images in other number types and colour spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, joining, shapes, tiling
from tideflow.ops.control_flow import grouping
from tideflow.ops.linalg import contraction
from tideflow.ops.math import binary, casting, checks

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


@export("image.convert_image_dtype")
def convert_image_dtype(
    image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> Tensor:
    """Converts an image to another type, and scales it so that 1.0 and the largest integer mean the same.

    Args:
      image: An image or a batch of images, with the channels along the last axis.
      dtype: The type.
      saturate: Whether values out of the new range are clipped.
      name: The name of the operation.

    Returns:
      The image in the new type.
    """
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return constants.identity(image, name=name)
    convert = casting.saturate_cast if saturate else casting.cast
    with name_scope(name, "convert_image", [image]) as name:
        if image.dtype.is_floating and dtype.is_floating:
            return casting.cast(image, dtype, name=name)
        if dtype.is_floating:
            return binary.multiply(casting.cast(image, dtype), 1.0 / image.dtype.max, name=name)
        if image.dtype.is_floating:
            # Half a step more than the largest, so that cutting off the fraction rounds.
            return convert(binary.multiply(image, dtype.max + 0.5), dtype, name=name)
        if image.dtype.max > dtype.max:
            return convert(binary.div(image, (image.dtype.max + 1) // (dtype.max + 1)), dtype, name=name)
        return binary.multiply(convert(image, dtype), (dtype.max + 1) // (image.dtype.max + 1), name=name)


@export("image.rgb_to_grayscale")
def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts RGB images to gray: the brightness of each pixel.

    Args:
      images: RGB images, with 3 channels along the last axis.
      name: The name of the operation.

    Returns:
      Images with one channel, of the same type.
    """
    with name_scope(name, "rgb_to_grayscale", [images]) as name:
        images = convert_to_tensor(images, name="images")
        floats = convert_image_dtype(images, dtypes.float32)
        gray = shapes.expand_dims(contraction.tensordot(floats, [0.2989, 0.587, 0.114], [-1, -1]), -1)
        return convert_image_dtype(gray, images.dtype, name=name)


@export("image.grayscale_to_rgb")
def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts gray images to RGB by repeating the channel.

    Args:
      images: Images with one channel along the last axis.
      name: The name of the operation.

    Returns:
      Images with three channels, of the same type.
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as name:
        images = convert_to_tensor(images, name="images")
        images = grouping.with_dependencies(_single_channel(images), images)
        all_but_last = shapes.expand_dims(shapes.rank(images) - 1, 0)
        multiples = [creation.ones(all_but_last, dtype=dtypes.int32), shapes.expand_dims(3, 0)]
        rgb = tiling.tile(images, joining.concat(multiples, 0), name=name)
        rgb.set_shape(images.shape[:-1].concatenate([3]))
        return rgb


def _single_channel(images: Tensor) -> list[Operation]:
    known = images.shape
    if known.ndims is not None and known.ndims < 2:
        raise ValueError("A grayscale image must be at least two-dimensional.")
    if known.is_fully_defined():
        if known[-1] != 1:
            raise ValueError("Last dimension of a grayscale image should be size 1.")
        return []
    return [
        checks.assert_equal(
            shapes.shape(images)[-1], 1, message="Last dimension of a grayscale image should be size 1."
        ),
        checks.assert_greater_equal(
            shapes.rank(images), 3, message="A grayscale image must be at least two-dimensional."
        ),
    ]


# Each row is what one colour gives to the three numbers of a pixel.
_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_FROM_YIQ = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _mixed(images: Any, matrix: list[list[float]]) -> Tensor:
    images = convert_to_tensor(images, name="images")
    kernel = convert_to_tensor(matrix, dtype=images.dtype, name="kernel")
    return contraction.tensordot(images, kernel, axes=[[images.shape.ndims - 1], [0]])


@export("image.rgb_to_yiq")
def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Converts RGB images to YIQ: the brightness and the two colour signals of NTSC.

    Args:
      images: RGB images with values in [0, 1].

    Returns:
      A floating-point tensor of the same shape.
    """
    return _mixed(images, _YIQ)


@export("image.yiq_to_rgb")
def yiq_to_rgb(images: TensorLike) -> Tensor:
    """Converts YIQ images to RGB.

    Args:
      images: YIQ images.

    Returns:
      A floating-point tensor of the same shape.
    """
    return _mixed(images, _FROM_YIQ)


@export("image.rgb_to_yuv")
def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Converts RGB images to YUV: the brightness and the two colour signals of PAL.

    Args:
      images: RGB images with values in [0, 1].

    Returns:
      A floating-point tensor of the same shape.
    """
    return _mixed(images, _YUV)


@export("image.yuv_to_rgb")
def yuv_to_rgb(images: TensorLike) -> Tensor:
    """Converts YUV images to RGB.

    Args:
      images: YUV images.

    Returns:
      A floating-point tensor of the same shape.
    """
    return _mixed(images, _FROM_YUV)
