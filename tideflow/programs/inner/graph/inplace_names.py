"""Functions of `tensorflow.python.ops.inplace_ops`: rows of a tensor replaced, added to or subtracted from.

The results are new tensors, so that those that share their input's memory in TensorFlow and those that do not
are the same here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow import raw_ops
from tideflow.graph.operation import Tensor


def inplace_update(x: Any, i: Any, v: Any) -> Tensor:
    """A tensor with some rows replaced.

    Args:
      x: The tensor.
      i: The number of a row, a list of such numbers, or None for the whole tensor.
      v: What stands there instead.

    Returns:
      The tensor with these rows.
    """
    return _changed(raw_ops.InplaceUpdate, x, i, v)


def inplace_add(x: Any, i: Any, v: Any) -> Tensor:
    """A tensor with some rows added to.

    Args:
      x: The tensor.
      i: The number of a row, a list of such numbers, or None for the whole tensor.
      v: What is added to them.

    Returns:
      The tensor with the sums.
    """
    return _changed(raw_ops.InplaceAdd, x, i, v)


def inplace_sub(x: Any, i: Any, v: Any) -> Tensor:
    """A tensor with some rows subtracted from.

    Args:
      x: The tensor.
      i: The number of a row, a list of such numbers, or None for the whole tensor.
      v: What is subtracted from them.

    Returns:
      The tensor with the differences.
    """
    return _changed(raw_ops.InplaceSub, x, i, v)


alias_inplace_update, alias_inplace_add, alias_inplace_sub = inplace_update, inplace_add, inplace_sub


def empty_like(x: Any, init: bool | None = None) -> Tensor:
    """A tensor of another one's shape and type, whose elements nobody has set.

    Args:
      x: The other tensor.
      init: Whether the elements are zeros; otherwise they may be anything.

    Returns:
      The tensor.
    """
    x = tf.convert_to_tensor(x)
    return raw_ops.Empty(shape=tf.shape(x), dtype=x.dtype, init=bool(init))


def _changed(op: Callable[..., Tensor], x: Any, i: Any, v: Any) -> Tensor:
    x = tf.convert_to_tensor(x)
    v = tf.convert_to_tensor(v, x.dtype)
    if i is None:
        return tf.reshape(op(x=tf.reshape(x, [1, -1]), i=[0], v=tf.reshape(v, [1, -1])), tf.shape(x))
    rows = tf.cast(i, tf.int32)
    if rows.shape.ndims == 0:
        return op(x=x, i=tf.reshape(rows, [1]), v=tf.expand_dims(v, 0))
    return op(x=x, i=rows, v=v)
