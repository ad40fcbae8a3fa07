"""Functions of `tf.compat.v2` that do something else than those of `tf`, or more."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.eager.gradient_checker import compute_gradient
from tideflow.feature_column.shared import shared_embeddings
from tideflow.image.resizing import resized, resized_with_pad
from tideflow.keras.layers.feature_layers import NamedDenseFeatures
from tideflow.variables.second_form import Variable

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike


def constant(
    value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike | None = None, name: str = "Const"
) -> Tensor:
    """Creates a tensor of a value, in a shape with as many elements; one element may stand in every place.

    Args:
      value: A number, a string, an array or nested lists.
      dtype: The type of the elements.
      shape: The shape of the tensor; that of the value if None.
      name: The name of the operation.

    Returns:
      The tensor.

    Raises:
      TypeError: If the value has another number of elements than the shape.
    """
    sizes = None if shape is None else tf.TensorShape(shape)
    if sizes is not None and sizes.is_fully_defined() and not isinstance(value, tf.Tensor):
        given = tf.contrib.util.make_tensor_proto(value, dtype).tensor_shape
        has = tuple(dim.size for dim in given.dim)
        if has not in ((), (1,)) and np.prod(has) != sizes.num_elements():
            raise TypeError(f"Expected Tensor's shape: {tuple(sizes.as_list())}, got {has}.")
    return tf.constant(value, dtype, shape, name)


class ResizeMethod:
    """The methods of `tf.compat.v2.image.resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# By resampling with a kernel; the first two only where antialiasing is asked for.
_KERNELS = {
    ResizeMethod.BILINEAR: "triangle",
    ResizeMethod.BICUBIC: "keyscubic",
    ResizeMethod.LANCZOS3: "lanczos3",
    ResizeMethod.LANCZOS5: "lanczos5",
    ResizeMethod.GAUSSIAN: "gaussian",
    ResizeMethod.MITCHELLCUBIC: "mitchellcubic",
}


def _resizer(method: str, antialias: bool) -> Callable[[Tensor, Tensor], Tensor]:
    centred = {
        ResizeMethod.BILINEAR: tf.image.resize_bilinear,
        ResizeMethod.BICUBIC: tf.image.resize_bicubic,
        ResizeMethod.NEAREST_NEIGHBOR: tf.image.resize_nearest_neighbor,
    }
    if method == ResizeMethod.AREA:
        return tf.image.resize_area
    if method in centred and not (antialias and method in _KERNELS):
        return functools.partial(centred[method], half_pixel_centers=True)
    if method not in _KERNELS:
        raise ValueError(f"Resize method is not implemented: {method!r}.")

    def resampled(images: Tensor, size: Tensor) -> Tensor:
        scale = tf.cast(size, tf.float32) / tf.cast(tf.shape(images)[1:3], tf.float32)
        return tf.raw_ops.ScaleAndTranslate(
            images=images,
            size=size,
            scale=scale,
            translation=tf.zeros([2]),
            kernel_type=_KERNELS[method],
            antialias=antialias,
        )

    return resampled


def resize(
    images: TensorLike,
    size: TensorLike,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Resizes images; pixels are squares, whose centres are half a pixel from the border.

    Args:
      images: An image of shape [height, width, channels], or a batch of images.
      size: The new height and width.
      method: The method, one of `tf.compat.v2.image.ResizeMethod`.
      preserve_aspect_ratio: Whether the proportions are kept: `size` is then a bound.
      antialias: Whether an image is smoothed before it becomes smaller.
      name: The name of the operation.

    Returns:
      The resized images, of type float32 but for the nearest neighbour.
    """
    return resized(images, size, _resizer(method, antialias), preserve_aspect_ratio, name, same_as_is=False)


def resize_with_pad(
    image: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Resizes images without changing their proportions, and pads them with zeros to a size.

    Args:
      image: An image of shape [height, width, channels], or a batch of images.
      target_height: The height of the result.
      target_width: The width of the result.
      method: The method, one of `tf.compat.v2.image.ResizeMethod`.
      antialias: Whether an image is smoothed before it becomes smaller.

    Returns:
      An image or images of the target size.
    """
    fit = functools.partial(resize, method=method, antialias=antialias)
    return resized_with_pad(image, target_height, target_width, fit)


def extract_glimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """Cuts a window around a point out of each image.

    Args:
      input: A float32 tensor [batch, height, width, channels].
      size: The height and the width of the windows.
      offsets: The centres of the windows, of shape [batch, 2].
      centered: Whether the origin is the centre of the image.
      normalized: Whether offsets are in units of the image's size.
      noise: What fills a window outside of the image: `"uniform"`, `"gaussian"` or `"zero"`.
      name: A name for the operation.

    Returns:
      The windows.
    """
    return tf.raw_ops.ExtractGlimpse(
        input=input,
        size=size,
        offsets=offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=noise == "uniform",
        noise=noise,
        name=name,
    )


def decode_raw(
    input_bytes: TensorLike,
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The bytes of strings as numbers.

    Args:
      input_bytes: A tensor of strings, all of the same length unless `fixed_length` is given.
      out_type: The type of the numbers.
      little_endian: Whether the least significant byte of a number comes first.
      fixed_length: The number of bytes of each string that count; shorter ones are filled with zeros.
      name: A name for the operation.

    Returns:
      The numbers.
    """
    if fixed_length is None:
        return tf.io.decode_raw(input_bytes, out_type, little_endian, name=name)
    return tf.raw_ops.DecodePaddedRaw(
        input_bytes=input_bytes,
        fixed_length=fixed_length,
        out_type=out_type,
        little_endian=little_endian,
        name=name,
    )


def _reduction(dense: str, sparse: str) -> Callable[..., Any]:
    def reduce(
        sp_input: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        output_is_sparse: bool = False,
        name: str | None = None,
    ) -> Any:
        with tf.name_scope(name, dense):
            return getattr(tf.sparse, sparse if output_is_sparse else dense)(sp_input, axis, keepdims)

    reduce.__name__ = reduce.__qualname__ = dense
    reduce.__doc__ = getattr(tf.sparse, dense).__doc__
    return reduce


def split(input: TensorLike, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Splits strings.

    Args:
      input: A tensor of strings.
      sep: What stands between the parts; white space if None.
      maxsplit: The largest number of splits; any if negative.
      name: A name for the operation.

    Returns:
      A ragged tensor of the parts; a vector for one string.
    """
    strings = tf.convert_to_tensor(input, tf.string)
    alone = strings.shape.ndims == 0
    parts = tf.strings.split(
        tf.stack([strings]) if alone else strings, sep, maxsplit, result_type="RaggedTensor", name=name
    )
    return parts[0] if alone else parts


def dilation2d(
    input: TensorLike,
    filters: TensorLike,
    strides: Sequence[int],
    padding: str,
    data_format: str,
    dilations: Sequence[int],
    name: str | None = None,
) -> Tensor:
    """`tf.nn.dilation2d`, which is told the format of the images as well.

    Args:
      input: Images [batch, height, width, channels].
      filters: The window, of shape [height, width, channels].
      strides: The steps of the window along the axes of `input`.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NHWC"`.
      dilations: The distances of the window's elements, along the axes of `input`.
      name: A name for the operation.

    Returns:
      The images.
    """
    _check_format(data_format)
    return tf.nn.dilation2d(input, filters, strides, dilations, padding, name)


def erosion2d(
    value: TensorLike,
    filters: TensorLike,
    strides: Sequence[int],
    padding: str,
    data_format: str,
    dilations: Sequence[int],
    name: str | None = None,
) -> Tensor:
    """`tf.nn.erosion2d`, which is told the format of the images as well.

    Args:
      value: Images [batch, height, width, channels].
      filters: The window, of shape [height, width, channels].
      strides: The steps of the window along the axes of `value`.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NHWC"`.
      dilations: The distances of the window's elements, along the axes of `value`.
      name: A name for the operation.

    Returns:
      The images.
    """
    _check_format(data_format)
    return tf.nn.erosion2d(value, filters, strides, dilations, padding, name)


def _check_format(data_format: str) -> None:
    if data_format != "NHWC":
        raise ValueError(f"Data formats other than NHWC are not yet supported, got {data_format!r}")


NAMES = {
    "Variable": Variable,
    "constant": constant,
    "feature_column.shared_embeddings": shared_embeddings,
    "image.ResizeMethod": ResizeMethod,
    "image.resize": resize,
    "image.resize_with_pad": resize_with_pad,
    "image.extract_glimpse": extract_glimpse,
    "io.decode_raw": decode_raw,
    "keras.layers.DenseFeatures": NamedDenseFeatures,
    "nn.dilation2d": dilation2d,
    "nn.erosion2d": erosion2d,
    "sparse.reduce_max": _reduction("reduce_max", "reduce_max_sparse"),
    "sparse.reduce_sum": _reduction("reduce_sum", "reduce_sum_sparse"),
    "strings.split": split,
    "test.compute_gradient": compute_gradient,
}
