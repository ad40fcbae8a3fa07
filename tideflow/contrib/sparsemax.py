"""tf.contrib.sparsemax: the projection of logits onto probabilities, which makes many of them zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.sparsemax.sparsemax")
def sparsemax(logits: TensorLike, name: str | None = None) -> Tensor:
    """Finds the probabilities that are nearest to logits.

    Args:
      logits: The logits, [batch, classes].
      name: A name for the operations.

    Returns:
      The probabilities.
    """
    with tf.name_scope(name, "sparsemax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        batch, classes = tf.shape(logits)[0], tf.shape(logits)[1]
        falling, _ = tf.nn.top_k(logits, k=classes)
        sums = tf.cumsum(falling, axis=1)
        numbers = tf.range(1, tf.cast(classes, logits.dtype) + 1, dtype=logits.dtype)
        # The support: as many of the largest as stay above the threshold that they make together.
        support = tf.reduce_sum(tf.cast(1 + numbers * falling > sums, tf.int32), axis=1)
        last = tf.stack([tf.range(batch), tf.maximum(support, 1) - 1], axis=1)
        threshold = (tf.gather_nd(sums, last) - 1) / tf.cast(support, logits.dtype)
        found = tf.maximum(tf.cast(0, logits.dtype), logits - threshold[:, tf.newaxis])
        undefined = tf.logical_or(tf.equal(support, 0), tf.is_nan(sums[:, -1]))
        nothing = tf.fill([batch, classes], tf.cast(float("nan"), logits.dtype))
        return tf.where(undefined, nothing, found)


@export("contrib.sparsemax.sparsemax_loss")
def sparsemax_loss(
    logits: TensorLike, sparsemax: TensorLike, labels: TensorLike, name: str | None = None
) -> Tensor:
    """Computes the loss whose gradient is the difference of sparsemax and labels.

    Args:
      logits: The logits, [batch, classes].
      sparsemax: The result of `sparsemax` for them.
      labels: The labels, as probabilities.
      name: A name for the operations.

    Returns:
      The loss of each example.
    """
    with tf.name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = tf.convert_to_tensor(logits, name="logits")
        sparsemax = tf.convert_to_tensor(sparsemax, name="sparsemax")
        labels = tf.convert_to_tensor(labels, name="labels")
        # Where a factor is zero, infinite logits do not count.
        counts = tf.logical_or(sparsemax > 0, tf.is_nan(sparsemax))
        chosen = tf.where(counts, sparsemax * (logits - 0.5 * sparsemax), tf.zeros_like(sparsemax))
        wanted = labels * (0.5 * labels - logits)
        is_void = tf.logical_and(tf.equal(labels, 0), tf.is_inf(logits))
        return tf.reduce_sum(chosen + tf.where(is_void, tf.zeros_like(logits), wanted), axis=1)
