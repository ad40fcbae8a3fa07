"""Cross-entropies of true values and predictions. Where the predictions are a softmax or a sigmoid of logits,
the loss is computed from the logits: that is exact where probabilities would vanish.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.layers.argument_docs import explained
from tideflow.layers.keras_state import epsilon
from tideflow.ops.math import unary
from tideflow.ops.nn.softmax import softmax_op

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike

_WORDS = {
    "target": "The true values, a tensor.",
    "output": "The predictions, a tensor.",
    "from_logits": "Whether the predictions are logits, not probabilities.",
    "axis": "The axis of the classes.",
}


def _logits_behind(output: Any, function: Any) -> Tensor | None:
    """What `function` was applied to to get the output; None where it was not."""
    op = getattr(output, "op", None)
    if isinstance(output, tf.Variable) or op is None or op.definition is not function:
        return None
    return op.inputs[0]


def _clipped(output: Any) -> Tensor:
    small = tf.constant(epsilon(), output.dtype.base_dtype)
    return tf.clip_by_value(output, small, 1.0 - small)


@export("keras.backend.categorical_crossentropy")
@explained("Computes the cross-entropy of one-hot labels.", **_WORDS)
def categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    if not from_logits:
        logits = _logits_behind(output, softmax_op)
        if logits is None:
            output = output / tf.reduce_sum(output, axis, True)
            return -tf.reduce_sum(target * tf.log(_clipped(output)), axis)
        output = logits
    return tf.nn.softmax_cross_entropy_with_logits_v2(labels=target, logits=output, axis=axis)


@export("keras.backend.sparse_categorical_crossentropy")
@explained("Computes the cross-entropy of labels that are the numbers of classes.", **_WORDS)
def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    if not from_logits:
        logits = _logits_behind(output, softmax_op)
        output = tf.log(_clipped(output)) if logits is None else logits
    rank = output.shape.ndims
    if rank is None and axis != -1:
        raise ValueError(
            f"Cannot compute sparse categorical crossentropy with `axis={axis}` on an output tensor with "
            "unknown rank"
        )
    if rank is not None and axis % rank != rank - 1:
        axis %= rank
        output = tf.transpose(output, [*range(axis), *range(axis + 1, rank), axis])
    target = tf.cast(target, "int64")
    shape = tf.shape(output)
    flat = None not in (target.shape.ndims, rank) and target.shape.ndims != rank - 1
    if flat:
        target = tf.reshape(target, [-1])
        output = tf.reshape(output, [-1, shape[-1]])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=output)
    return tf.reshape(losses, shape[:-1]) if flat and rank >= 3 else losses


@export("keras.backend.binary_crossentropy")
@explained("Computes the cross-entropy of labels of 0 and 1, element by element.", **_WORDS)
def binary_crossentropy(target: TensorLike, output: TensorLike, from_logits: bool = False) -> Tensor:
    if not from_logits:
        logits = _logits_behind(output, unary.sigmoid.op)
        if logits is None:
            output = _clipped(output)
            losses = target * tf.log(output + epsilon())
            losses += (1 - target) * tf.log(1 - output + epsilon())
            return -losses
        output = logits
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
