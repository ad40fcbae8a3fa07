"""The values of configs as JSON holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

import tideflow as tf


def plain_value(value: Any) -> Any:
    """What JSON can hold of a value in a config."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, tf.TensorShape):
        return value.as_list()
    if isinstance(value, tf.DType):
        return value.name
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if callable(value):
        return value.__name__
    raise TypeError("Not JSON Serializable:", value)
