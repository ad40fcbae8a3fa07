"""`tensorflow.python.distribute.numpy_dataset`: arrays that are kept in variables, and datasets of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph import nest

_BYTES_A_SLICE = 64 << 20


class SingleDevice:
    """What a variable is colocated with to stand on one device.

    Args:
      device: The device.
    """

    def __init__(self, device: str):
        self.device = device


def init_var_from_numpy(input_var: Any, numpy_input: np.ndarray, session: tf.Session | None) -> None:
    """Gives a variable the value of an array, by slices, so that no large array is fed at once.

    Args:
      input_var: The variable.
      numpy_input: The array.
      session: The session of graphs; not used in eager mode.
    """
    with tf.init_scope():
        if tf.executing_eagerly():
            input_var.assign(numpy_input)
            return
        assert session is not None
        session.run(input_var.initializer)
        start, end = tf.placeholder(tf.int64, ()), tf.placeholder(tf.int64, ())
        rows = tf.placeholder(input_var.dtype)
        assign = input_var[start:end].assign(rows)
    bytes_a_row = max(1, int(np.prod(numpy_input.shape[1:])) * input_var.dtype.size)
    step = -(-_BYTES_A_SLICE // bytes_a_row)
    for first in range(0, len(numpy_input), step):
        chosen = numpy_input[first : first + step]
        session.run(assign, {start: first, end: first + len(chosen), rows: chosen})


def one_host_numpy_dataset(numpy_input: Any, colocate_with: Any, session: tf.Session | None) -> Any:
    """A dataset of the rows of arrays, which are kept in variables.

    Args:
      numpy_input: A structure of arrays.
      colocate_with: What the variables stand with.
      session: The session of graphs.

    Returns:
      The `tf.data.Dataset`.
    """

    def beside(next_creator: Any, *args: Any, **kwargs: Any) -> Any:
        return next_creator(*args, **{**kwargs, "colocate_with": colocate_with})

    arrays = nest.flatten(numpy_input)
    with tf.variable_creator_scope(beside):
        variables = [tf.Variable(tf.zeros(array.shape, array.dtype), trainable=False) for array in arrays]
    for variable, array in zip(variables, arrays, strict=True):
        init_var_from_numpy(variable, array, session)
    return tf.data.Dataset.from_tensor_slices(nest.pack_sequence_as(numpy_input, variables))
