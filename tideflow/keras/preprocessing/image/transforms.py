"""Changes of an image that leave its meaning alone: turned, moved, sheared, enlarged, lighter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.keras.preprocessing.image.pictures import array_to_img, img_to_array, require_pillow
from tideflow.layers.argument_docs import explained

_WORDS = {
    "x": "An image, an array of rank 3.",
    "row_axis": "Accepted for TensorFlow's sake: the axis of the rows.",
    "col_axis": "Accepted for TensorFlow's sake: the axis of the columns.",
    "channel_axis": "The axis of the channels.",
    "fill_mode": 'What stands outside of the image: `"constant"`, `"nearest"`, `"reflect"` or `"wrap"`.',
    "cval": "The value outside of the image where the mode is constant.",
    "interpolation_order": "The order of the splines between pixels.",
}
_RETURNS = "The image."


def _require_scipy(message: str) -> Any:
    try:
        import scipy.linalg  # loaded when asked for
        import scipy.ndimage
    except ImportError:
        raise ImportError(message) from None
    return scipy


def require_linalg() -> Any:
    """SciPy's module of linear algebra."""
    return _require_scipy("Using zca_whitening requires SciPy. Install SciPy.").linalg


@export("keras.preprocessing.image.apply_affine_transform")
@explained(
    "Turns, moves, shears and enlarges an image.",
    _RETURNS,
    **{**_WORDS, "row_axis": "The axis of the rows.", "col_axis": "The axis of the columns."},
    theta="The angle in degrees.",
    tx="How far it moves along the rows' axis.",
    ty="How far it moves along the columns' axis.",
    shear="The angle of shearing in degrees.",
    zx="The zoom along the rows' axis.",
    zy="The zoom along the columns' axis.",
    order="The order of the splines between pixels.",
)
def apply_affine_transform(
    x: Any,
    theta: float = 0,
    tx: float = 0,
    ty: float = 0,
    shear: float = 0,
    zx: float = 1,
    zy: float = 1,
    row_axis: int = 0,
    col_axis: int = 1,
    channel_axis: int = 2,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    order: int = 1,
) -> np.ndarray:
    scipy = _require_scipy("Image transformations require SciPy. Install SciPy.")
    if (theta, tx, ty, shear, zx, zy) == (0, 0, 0, 0, 1, 1):
        return x
    turn, slant = np.deg2rad(theta), np.deg2rad(shear)
    matrix = (
        np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
        @ np.array([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
        @ np.array([[1, -np.sin(slant), 0], [0, np.cos(slant), 0], [0, 0, 1]])
        @ np.diag([zx, zy, 1])
    )
    center = np.eye(3)
    center[:2, 2] = x.shape[row_axis] / 2 + 0.5, x.shape[col_axis] / 2 + 0.5
    matrix = center @ matrix @ np.linalg.inv(center)
    moved = [
        scipy.ndimage.affine_transform(
            channel, matrix[:2, :2], matrix[:2, 2], order=order, mode=fill_mode, cval=cval
        )
        for channel in np.moveaxis(x, channel_axis, 0)
    ]
    return np.stack(moved, axis=channel_axis)


def _moved(x: Any, channel_axis: int, fill_mode: str, cval: float, order: int, **how: float) -> np.ndarray:
    """As TensorFlow has it, the first two axes count as rows and columns whatever the caller says."""
    return apply_affine_transform(
        x, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=order, **how
    )


@export("keras.preprocessing.image.random_rotation")
@explained("Turns an image by a random angle.", _RETURNS, **_WORDS, rg="The largest angle in degrees.")
def random_rotation(
    x: Any,
    rg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    theta = np.random.uniform(-rg, rg)
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, theta=theta)


@export("keras.preprocessing.image.random_shift")
@explained(
    "Moves an image by a random distance.",
    _RETURNS,
    **{**_WORDS, "row_axis": "The axis of the rows.", "col_axis": "The axis of the columns."},
    wrg="The largest part of the width.",
    hrg="The largest part of the height.",
)
def random_shift(
    x: Any,
    wrg: float,
    hrg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, tx=tx, ty=ty)


@export("keras.preprocessing.image.random_shear")
@explained(
    "Shears an image by a random angle.", _RETURNS, **_WORDS, intensity="The largest angle in degrees."
)
def random_shear(
    x: Any,
    intensity: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    shear = np.random.uniform(-intensity, intensity)
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, shear=shear)


@export("keras.preprocessing.image.random_zoom")
@explained(
    "Enlarges an image by random factors.", _RETURNS, **_WORDS, zoom_range="The least and the largest factor."
)
def random_zoom(
    x: Any,
    zoom_range: Sequence[float],
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    if len(zoom_range) != 2:
        raise ValueError(f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}")
    zx, zy = (1, 1) if tuple(zoom_range) == (1, 1) else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, zx=zx, zy=zy)


@export("keras.preprocessing.image.apply_channel_shift")
@explained(
    "Adds a number to all values, within the range that they have.",
    _RETURNS,
    **_WORDS,
    intensity="The number.",
)
def apply_channel_shift(x: Any, intensity: float, channel_axis: int = 0) -> np.ndarray:
    return np.clip(x + intensity, np.min(x), np.max(x))


@export("keras.preprocessing.image.random_channel_shift")
@explained(
    "Adds a random number to all values, within the range that they have.",
    _RETURNS,
    **_WORDS,
    intensity_range="The largest number.",
)
def random_channel_shift(x: Any, intensity_range: float, channel_axis: int = 0) -> np.ndarray:
    intensity = np.random.uniform(-intensity_range, intensity_range)
    return apply_channel_shift(x, intensity, channel_axis=channel_axis)


@export("keras.preprocessing.image.apply_brightness_shift")
@explained("Makes an image lighter or darker.", _RETURNS, **_WORDS, brightness="The factor.")
def apply_brightness_shift(x: Any, brightness: float) -> np.ndarray:
    require_pillow("Using brightness shifts requires PIL. Install PIL or Pillow.")
    from PIL import ImageEnhance  # loaded when asked for

    picture = array_to_img(x, data_format="channels_last", dtype="float32")
    lighter = ImageEnhance.Brightness(picture).enhance(brightness)
    return img_to_array(lighter, data_format="channels_last", dtype="float32")


@export("keras.preprocessing.image.random_brightness")
@explained(
    "Makes an image lighter or darker by a random factor.",
    _RETURNS,
    **_WORDS,
    brightness_range="The least and the largest factor.",
)
def random_brightness(x: Any, brightness_range: Sequence[float]) -> np.ndarray:
    if len(brightness_range) != 2:
        raise ValueError(
            f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}"
        )
    return apply_brightness_shift(x, np.random.uniform(brightness_range[0], brightness_range[1]))
