"""`zero_initializer`: zeros for a variable that has no value yet."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.export import export


@export("contrib.framework.zero_initializer", "contrib.slim.zero_initializer")
def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Any:
    """Sets a variable to zeros that has no value yet.

    Args:
      ref: The variable.
      use_locking: Whether updates lock the variable.
      name: A name for the operation.

    Returns:
      The variable's new value, or the operation that sets it.
    """
    with tf.name_scope(name) as scope:
        fresh = tf.logical_not(tf.is_variable_initialized(ref))
        with tf.control_dependencies([tf.Assert(fresh, ["input is already initialized"])]):
            zeros = tf.zeros(ref.shape, ref.dtype.base_dtype)
            return tf.assign(ref, zeros, use_locking=use_locking, name=scope)
