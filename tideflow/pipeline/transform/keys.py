"""Where keys stand among the sorted keys that an analyzer found."""

from __future__ import annotations

from typing import Any

import tideflow as tf


def of_rank(tensor: Any, rank: int | None) -> Any:
    for _ in range((rank or 0) - tensor.shape.ndims):
        tensor = tf.expand_dims(tensor, -1)
    return tensor


def row_of_key(wanted: Any, keys: Any) -> Any:
    """Where each key stands among sorted keys; -1 if it does not."""
    same = tf.equal(tf.expand_dims(wanted, -1), keys)
    places = tf.where(same)
    result = tf.scatter_nd(places[:, :-1], places[:, -1] + 1, tf.shape(wanted, out_type=tf.int64)) - 1
    result.set_shape(wanted.shape)
    return result
