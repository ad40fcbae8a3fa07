"""The losses and metrics of the heads of tf.contrib.learn."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.ops.nn.weights import broadcast_weights
from tideflow.platform import logging

# A loss is a pair: what is minimized, and its average by weight, which is reported.


def weighted_loss(losses: Any, weights: Any) -> tuple[Any, Any]:
    """The mean of losses with their weights, and the average by weight."""
    with tf.name_scope("loss", values=(losses, weights)) as scope:
        if weights is None:
            loss = tf.reduce_mean(losses, name=scope)
            return loss, loss
        weights = broadcast_weights(weights, losses)
        with tf.name_scope(None, "weighted_loss", (losses, weights)) as name:
            weighted = tf.multiply(losses, weights, name=name)
        mean = tf.reduce_mean(weighted, name=scope)
        total = tf.cast(tf.reduce_sum(weights), tf.float32)
        return mean, tf.div(tf.reduce_sum(weighted), total, name="weighted_average_loss")


def _as_columns(labels: Any, logits: Any) -> tuple[Any, Any]:
    labels, logits = (tf.convert_to_tensor(each) for each in (labels, logits))
    return tuple(tf.expand_dims(each, 1) if len(each.get_shape()) == 1 else each for each in (labels, logits))


def mean_squared_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "mean_squared_loss", (logits, labels)) as name:
        labels, logits = _as_columns(labels, logits)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        losses = tf.squared_difference(logits, tf.cast(labels, tf.float32), name=name)
        return weighted_loss(losses, weights)


def poisson_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "_poisson_loss", (logits, labels)) as name:
        labels, logits = _as_columns(labels, logits)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        losses = tf.nn.log_poisson_loss(labels, logits, compute_full_loss=True, name=name)
        return weighted_loss(losses, weights)


def two_class_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "log_loss_with_two_classes", (logits, labels)) as name:
        logits, labels = tf.convert_to_tensor(logits), tf.cast(labels, tf.float32)
        if len(labels.get_shape()) == 1:
            labels = tf.expand_dims(labels, 1)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
        return weighted_loss(losses, weights)


def softmax_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "softmax_cross_entropy_loss", (logits, labels)) as name:
        labels = tf.convert_to_tensor(labels)
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
        is_column = len(labels.get_shape()) == 2
        if is_column:
            labels = tf.squeeze(labels, axis=(1,))
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
        return weighted_loss(tf.expand_dims(losses, axis=(1,)) if is_column else losses, weights)


def sigmoid_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "sigmoid_cross_entropy_loss", (logits, labels)) as name:
        labels = tf.cast(labels, tf.float32)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
        return weighted_loss(losses, weights)


def hinge_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "hinge_loss", (logits, labels)) as name:
        words = ("labels shape should be either [batch_size, 1] or [batch_size]",)
        with tf.control_dependencies((tf.Assert(tf.less_equal(tf.rank(labels), 2), words),)):
            labels = tf.reshape(labels, (-1, 1))
        losses = tf.losses.hinge_loss(
            labels=labels, logits=logits, scope=name, reduction=tf.losses.Reduction.NONE
        )
        return weighted_loss(losses, weights)


# ---------------------------------------------------------------------------------------------------- metrics


def _of_class(values: Any, weights: Any, class_id: int | None) -> tuple[Any, Any]:
    """Values as floats with their weights, those of one class where it is given."""
    values = tf.cast(values, tf.float32)
    if weights is not None:
        weights = broadcast_weights(tf.cast(weights, tf.float32), values)
    if class_id is None:
        return values, weights
    return values[:, class_id], None if weights is None else weights[:, class_id]


def mean_of(values: Any, weights: Any = None, class_id: int | None = None) -> Any:
    return tf.metrics.mean(*_of_class(values, weights, class_id))


def mean_of_equal(values: Any, weights: Any, class_id: int) -> Any:
    """How large a part of the values is one class."""
    is_class = tf.equal(tf.cast(class_id, tf.int32), tf.cast(values, tf.int32))
    return tf.metrics.mean(tf.where(is_class, tf.ones_like(values), tf.zeros_like(values)), weights=weights)


def auc(
    predictions: Any, labels: Any, weights: Any = None, class_id: int | None = None, curve: str = "ROC"
) -> Any:
    predictions, weights = _of_class(predictions, weights, class_id)
    if labels.dtype.base_dtype != tf.bool:
        logging.warning("Casting %s labels to bool.", labels.dtype)
        labels = tf.cast(labels, tf.bool)
    if class_id is not None:
        labels = labels[:, class_id]
    return tf.metrics.auc(labels, predictions, weights, curve=curve)


def accuracy_at(predictions: Any, labels: Any, weights: Any, threshold: float) -> Any:
    return tf.metrics.accuracy(labels, tf.cast(tf.greater_equal(predictions, threshold), tf.float32), weights)


def at_threshold(metric: Any, predictions: Any, labels: Any, weights: Any, threshold: float) -> Any:
    """A metric of `tf.metrics` that takes thresholds, for one of them."""
    weights = None if weights is None else tf.cast(weights, tf.float32)
    value, update = metric(labels, predictions, (threshold,), weights)
    return tf.squeeze(value), tf.squeeze(update)
