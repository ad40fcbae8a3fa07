"""`tensorflow.contrib.distributions.python.ops.distribution_util`: mixtures, and axes that move."""

from __future__ import annotations

import hashlib
from typing import Any

import tideflow as tf
from tideflow.contrib.distributions import tools
from tideflow.contrib.distributions.mixtures import pad_mixture_dimensions  # noqa: F401


def mixture_stddev(mixture_weight_vector: Any, mean_vector: Any, stddev_vector: Any) -> Any:
    """The standard deviation of each mixture of a batch, from the moments of its components."""
    mixture_weight_vector.shape.assert_has_rank(2)
    for values, what in ((mean_vector, "means"), (stddev_vector, "stddevs")):
        if not values.shape.is_compatible_with(mixture_weight_vector.shape):
            raise ValueError(f"Expecting {what} to have same shape as mixture weights.")

    def mean(values: Any) -> Any:
        return tf.reduce_sum(mixture_weight_vector * values, axis=1)

    second_moment = mean(tf.square(stddev_vector)) + mean(tf.square(mean_vector))
    return tf.sqrt(second_moment - tf.square(mean(mean_vector)))


def move_dimension(x: Any, source_idx: Any, dest_idx: Any) -> Any:
    """Puts one axis of a tensor at another place; the others stay in their order."""
    rank = tools.rank_of(x)
    source, target = (rank + index if index < 0 else index for index in (source_idx, dest_idx))
    if all(isinstance(number, int) for number in (rank, source, target)):
        order: Any = [axis for axis in range(rank) if axis != source]
        order.insert(target, source)
        return x if source == target else tf.transpose(x, perm=order)
    rest = tf.concat([tf.range(source), tf.range(source + 1, rank)], axis=0)
    return tf.transpose(x, perm=tf.concat([rest[:target], [source], rest[target:]], axis=0))


def gen_new_seed(seed: int | None, salt: str) -> int | None:
    """A seed made of another one and a word, so that parts of a sampler draw different numbers.

    Args:
      seed: The seed; None stays None.
      salt: The word.

    Returns:
      A number below 2**31.
    """
    if seed is None:
        return None
    digest = hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False)
    return int(digest.hexdigest()[:8], 16) & 0x7FFFFFFF
