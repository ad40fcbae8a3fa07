"""Names of `tensorflow.python.ops.ctc_ops` and `tensorflow.python.ops.nn_impl` that are not public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.graph.operation import Tensor
from tideflow.nn.sampled import logits_of_samples

ctc_loss_dense = tf.nn.ctc_loss_v2


def ctc_loss_and_grad(
    logits: Tensor, labels: Tensor, label_length: Tensor, logit_length: Tensor, unique: Any = None
) -> tuple[Tensor, Tensor]:
    """The CTC loss of each sequence, with blanks as class zero, and its gradient by the logits."""
    loss = tf.nn.ctc_loss_v2(labels, logits, label_length, logit_length, unique=unique)
    return loss, tf.gradients(loss, logits)[0]


def dense_labels_to_sparse(dense: Any, length: Any) -> tf.SparseTensor:
    """The first labels of each row as a SparseTensor.

    Args:
      dense: Labels, a row for each sequence.
      length: How many labels of each row count.

    Returns:
      The labels that count, in rows of the longest length.
    """
    used = tf.sequence_mask(length, maxlen=tf.shape(dense)[1])
    indices, values = tf.where(used), tf.boolean_mask(tf.cast(dense, tf.int32), used)
    rows, longest = tf.shape(dense, out_type=tf.int64)[0], tf.cast(tf.reduce_max(length), tf.int64)
    return tf.SparseTensor(indices, values, [rows, longest])


def _compute_sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Tensor] | None = None,
    subtract_log_q: bool = True,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The logits of the true classes and of sampled ones, and their targets."""
    return logits_of_samples(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
        seed,
        subtract_log_q=subtract_log_q,
    )


def _sum_rows(x: Tensor) -> Tensor:
    """The sum of each row."""
    ones = tf.ones(tf.stack([tf.shape(x)[1], 1]), x.dtype)
    return tf.reshape(tf.matmul(x, ones), [-1])


def _count_nonzero(input_tensor: Tensor, dtype: Any = tf.int64) -> Tensor:
    """How many elements are not zero, in all and as a scalar."""
    return tf.count_nonzero(input_tensor, dtype=dtype, name="num_nonzero")
