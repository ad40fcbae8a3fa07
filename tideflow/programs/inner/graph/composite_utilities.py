"""`tensorflow.python.framework.composite_tensor_utils`: composite tensors and their values, joined."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.graph.composite import is_composite
from tideflow.keras.engine.composites import joined

_VALUES = (tf.SparseTensorValue, tf.ragged.RaggedTensorValue)


def is_composite_or_composite_value(tensor: Any) -> bool:
    """Whether this is a tensor that is made of several, or the value of one."""
    return is_composite(tensor) or isinstance(tensor, _VALUES)


def get_shape(tensor: Any) -> Any:
    """The shape of a composite tensor or of a value of one."""
    return tensor.dense_shape if isinstance(tensor, tf.SparseTensorValue) else tensor.shape


def append_composite_tensor(target: Any, to_append: Any) -> Any:
    """The rows of a composite tensor or value, and behind them those of another of its type.

    Args:
      target: The first rows.
      to_append: The last rows.

    Returns:
      All rows.
    """
    if type(target) is not type(to_append):
        raise RuntimeError(f"Unable to concatenate {type(target)} and {type(to_append)}")
    if not isinstance(target, (tf.SparseTensor, tf.RaggedTensor, *_VALUES)):
        raise RuntimeError(f"Attempted to concatenate unsupported object {type(target)}.")
    return joined([target, to_append])
