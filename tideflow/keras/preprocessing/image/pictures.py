"""Pictures of Pillow, and arrays."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.layers import keras_state

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike

_MODES = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}
_METHODS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")


def require_pillow(message: str) -> Any:
    """Pillow's module of pictures."""
    try:
        from PIL import Image  # loaded when asked for
    except ImportError:
        raise ImportError(message) from None
    return Image


def checked_format(data_format: str | None, words: str) -> str:
    """The data format, or that of Keras for None."""
    data_format = keras_state.image_data_format() if data_format is None else data_format
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"{words}: {data_format}")
    return data_format


@export("keras.preprocessing.image.array_to_img")
def array_to_img(
    x: Any, data_format: str | None = None, scale: bool = True, dtype: DTypeLike | None = None
) -> Any:
    """Makes a picture of an array.

    Args:
      x: An array of rank 3.
      data_format: `"channels_last"` or `"channels_first"`; the default of Keras if None.
      scale: Whether the values are stretched to the range from 0 to 255.
      dtype: The type of the numbers meanwhile; that of Keras if None.

    Returns:
      A picture of Pillow.

    Raises:
      ImportError: If Pillow is not there.
      ValueError: If the array is no picture.
    """
    pillow = require_pillow("Could not import PIL.Image. The use of `array_to_img` requires PIL.")
    x = np.asarray(x, dtype=dtype or keras_state.floatx())
    if x.ndim != 3:
        raise ValueError(
            f"Expected image array to have rank 3 (single image). Got array with shape: {x.shape}"
        )
    if checked_format(data_format, "Invalid data_format") == "channels_first":
        x = x.transpose(1, 2, 0)
    if scale:
        x = x - np.min(x)
        largest = np.max(x)
        x = (x / largest if largest != 0 else x) * 255
    channels = x.shape[2]
    if channels in (3, 4):
        return pillow.fromarray(x.astype("uint8"))
    if channels == 1:
        return pillow.fromarray(x[:, :, 0].astype("int32" if np.max(x) > 255 else "uint8"))
    raise ValueError(f"Unsupported channel number: {channels}")


@export("keras.preprocessing.image.img_to_array")
def img_to_array(img: Any, data_format: str | None = None, dtype: DTypeLike | None = None) -> np.ndarray:
    """Makes an array of a picture.

    Args:
      img: A picture of Pillow, or an array of rank 2 or 3.
      data_format: `"channels_last"` or `"channels_first"`; the default of Keras if None.
      dtype: The type of the array; that of Keras if None.

    Returns:
      An array of rank 3.

    Raises:
      ValueError: If it is no picture.
    """
    first = checked_format(data_format, "Unknown data_format") == "channels_first"
    x = np.asarray(img, dtype=dtype or keras_state.floatx())
    if x.ndim == 3:
        return x.transpose(2, 0, 1) if first else x
    if x.ndim == 2:
        return x[None] if first else x[..., None]
    raise ValueError(f"Unsupported image shape: {x.shape}")


@export("keras.preprocessing.image.save_img")
def save_img(
    path: Any,
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Writes an array as a picture.

    Args:
      path: The path, or an open file.
      x: An array of rank 3.
      data_format: `"channels_last"` or `"channels_first"`; the default of Keras if None.
      file_format: The format; that which the path's ending says if None.
      scale: Whether the values are stretched to the range from 0 to 255.
      **kwargs: Arguments of Pillow's `save`.
    """
    picture = array_to_img(x, data_format=data_format, scale=scale)
    if picture.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        warnings.warn("The JPG format does not support RGBA images, converting to RGB.", stacklevel=2)
        picture = picture.convert("RGB")
    picture.save(path, format=file_format, **kwargs)


@export("keras.preprocessing.image.load_img")
def load_img(
    path: str,
    grayscale: bool = False,
    color_mode: str = "rgb",
    target_size: Sequence[int] | None = None,
    interpolation: str = "nearest",
) -> Any:
    """Reads a picture.

    Args:
      path: The path.
      grayscale: An old name of `color_mode="grayscale"`.
      color_mode: `"grayscale"`, `"rgb"` or `"rgba"`.
      target_size: The height and width; those of the file if None.
      interpolation: How it is resized: `"nearest"`, `"bilinear"`, `"bicubic"`, `"hamming"`, `"box"` or
        `"lanczos"`.

    Returns:
      A picture of Pillow.

    Raises:
      ImportError: If Pillow is not there.
      ValueError: If a name is not known.
    """
    if grayscale is True:
        warnings.warn('grayscale is deprecated. Please use color_mode = "grayscale"', stacklevel=2)
        color_mode = "grayscale"
    pillow = require_pillow("Could not import PIL.Image. The use of `load_img` requires PIL.")
    with open(path, "rb") as file:
        picture = pillow.open(io.BytesIO(file.read()))
    if color_mode not in _MODES:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    gray = color_mode == "grayscale" and picture.mode in ("L", "I;16", "I")
    if not gray and picture.mode != _MODES[color_mode]:
        picture = picture.convert(_MODES[color_mode])
    if target_size is not None and picture.size != (target_size[1], target_size[0]):
        if interpolation not in _METHODS:
            raise ValueError(
                f"Invalid interpolation method {interpolation} specified. Supported methods are "
                f"{', '.join(_METHODS)}"
            )
        method = getattr(pillow.Resampling, interpolation.upper())
        picture = picture.resize((target_size[1], target_size[0]), method)
    return picture
