"""`tensorflow.contrib.image.python.ops.distort_image_ops`: colours changed in YIQ space."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.ops.images.color import adjust_hsv_in_yiq_op


def adjust_hsv_in_yiq(
    image: Any, delta_hue: Any = 0, scale_saturation: Any = 1, scale_value: Any = 1, name: str | None = None
) -> tf.Tensor:
    """Turns the colours of images around the axis of brightness, by radians, and scales them."""
    with tf.name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = tf.convert_to_tensor(image, name="image")
        pixels = tf.image.convert_image_dtype(image, tf.float32)
        changed = adjust_hsv_in_yiq_op(pixels, delta_hue, scale_saturation, scale_value)
        return tf.image.convert_image_dtype(changed, image.dtype)


def random_hsv_in_yiq(
    image: Any,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> tf.Tensor:
    """`adjust_hsv_in_yiq` by amounts drawn from ranges; a range without width is taken as it is."""
    if max_delta_hue < 0:
        raise ValueError("max_delta must be non-negative.")
    if lower_saturation < 0:
        raise ValueError("lower_saturation must be non-negative.")
    if lower_value < 0:
        raise ValueError("lower_value must be non-negative.")
    if lower_saturation > upper_saturation:
        raise ValueError("lower_saturation must be < upper_saturation.")
    if lower_value > upper_value:
        raise ValueError("lower_value must be < upper_value.")

    def drawn(low: float, high: float) -> Any:
        return low if low == high else tf.random_uniform([], low, high, seed=seed)

    hue = drawn(-max_delta_hue, max_delta_hue)
    saturation = drawn(lower_saturation, upper_saturation)
    return adjust_hsv_in_yiq(image, hue, saturation, drawn(lower_value, upper_value))
