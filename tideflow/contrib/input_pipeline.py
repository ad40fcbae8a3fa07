"""tf.contrib.input_pipeline: files that several workers take one after the other from one list."""

from __future__ import annotations

import random
from collections.abc import Sequence

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Tensor


def _epochs(names: list[str], shuffle: bool, seed: int | None, num_epochs: int | None) -> list[str]:
    """The names of all epochs, each in an order of its own if they are shuffled."""
    if shuffle and seed:
        random.seed(seed)
    listed: list[str] = []
    for _ in range(num_epochs or 1):
        if shuffle:
            random.shuffle(names)
        listed.extend(names)
    return listed


@export("contrib.input_pipeline.obtain_next")
def obtain_next(string_list_tensor: Tensor, counter: Tensor) -> Tensor:
    """Takes the string after the last one that was taken; after the last of the list, the first.

    Args:
      string_list_tensor: The strings, a vector.
      counter: A variable of type int64: the place of the last string that was taken, -1 at first.

    Returns:
      The string.
    """
    place = tf.assign(counter, tf.mod(counter + 1, tf.size(string_list_tensor, out_type=tf.int64)))
    return tf.gather(string_list_tensor, place)


@export("contrib.input_pipeline.seek_next")
def seek_next(
    string_list: Sequence[str], shuffle: bool = False, seed: int | None = None, num_epochs: int | None = None
) -> Tensor:
    """Makes a tensor that is the next string of a list each time it is run, in whatever session.

    The list and the place in it are variables: workers of a cluster share them.

    Args:
      string_list: The strings.
      shuffle: Whether they come in random order.
      seed: The seed of this order.
      num_epochs: How often the list is gone through; then OutOfRangeError is raised. Without end if None.

    Returns:
      The tensor.
    """
    listed = _epochs(list(string_list), shuffle, seed, num_epochs)
    with tf.variable_scope("obtain_next"):
        start = tf.constant(-1, tf.int64)
        counter = tf.get_variable("obtain_next_counter", initializer=start, trainable=False)
        with tf.colocate_with(counter):
            strings = tf.get_variable(
                "obtain_next_expanded_list", initializer=tf.constant(listed), trainable=False
            )
        if not num_epochs:
            return obtain_next(strings, counter)
        taken = tf.get_variable(
            "obtain_next_filename_counter", initializer=tf.constant(0, tf.int64), trainable=False
        )
        with tf.control_dependencies([taken.count_up_to(len(listed))]):
            return obtain_next(strings, counter)
