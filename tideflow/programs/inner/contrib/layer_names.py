"""`tensorflow.contrib.layers.python.layers.layers` and `.normalization`: what is not public there."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.contrib.layers.utilities import NCHW, NHWC

DATA_FORMAT_NCHW = NCHW
DATA_FORMAT_NHWC = NHWC
DATA_FORMAT_NCDHW = "NCDHW"
DATA_FORMAT_NDHWC = "NDHWC"


def poincare_normalize(x: Any, axis: Any = 1, epsilon: float = 1e-5, name: str | None = None) -> tf.Tensor:
    """Vectors along an axis, moved into the ball of radius `1 - epsilon` where they lie outside."""
    with tf.name_scope(name, "poincare_normalize", [x]) as scope:
        x = tf.convert_to_tensor(x, name="x")
        inverse = tf.rsqrt(tf.reduce_sum(tf.square(x), axis, keepdims=True))
        return tf.multiply(x, tf.minimum((1.0 - epsilon) * inverse, 1.0), name=scope)
