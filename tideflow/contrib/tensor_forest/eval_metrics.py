"""`tf.contrib.tensor_forest.eval_metrics`: metrics of forests by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor

PROBABILITIES, CLASSES, SCORES = "probabilities", "classes", "scores"
_THRESHOLDS = np.arange(0, 1, 0.01, dtype=np.float32)


def _one_hot(targets: Tensor, probabilities: Tensor) -> Tensor:
    classes = tf.cast(tf.squeeze(targets, axis=[1]), tf.int32)
    return tf.one_hot(classes, tf.shape(probabilities)[1])


def _top_k_generator(k: int) -> Callable:
    def _top_k(probabilities: Tensor, targets: Tensor) -> Any:
        classes = tf.cast(targets, tf.int32)
        if classes.shape.ndims > 1:
            classes = tf.squeeze(classes, axis=[1])
        return tf.metrics.mean(tf.nn.in_top_k(probabilities, classes, k))

    return _top_k


def _r2(probabilities: Tensor, targets: Tensor, weights: Any = None) -> Any:
    targets = tf.cast(targets, tf.float32)
    total = tf.reduce_sum(tf.squared_difference(targets, tf.reduce_mean(targets, 0)), 0)
    residual = tf.reduce_sum(tf.squared_difference(targets, probabilities), 0)
    return tf.metrics.mean(1 - tf.reduce_sum(residual / total), weights=weights)


def _sigmoid_entropy(probabilities: Tensor, targets: Tensor, weights: Any = None) -> Any:
    loss = tf.contrib.losses.sigmoid_cross_entropy(probabilities, _one_hot(targets, probabilities))
    return tf.metrics.mean(loss, weights=weights)


def _softmax_entropy(probabilities: Tensor, targets: Tensor, weights: Any = None) -> Any:
    loss = tf.contrib.losses.sparse_softmax_cross_entropy(probabilities, tf.cast(targets, tf.int32))
    return tf.metrics.mean(loss, weights=weights)


def _log_loss(probabilities: Tensor, targets: Tensor, weights: Any = None) -> Any:
    loss = tf.contrib.losses.log_loss(probabilities, _one_hot(targets, probabilities))
    return tf.metrics.mean(loss, weights=weights)


def _of_classes(metric: str) -> Callable:
    def found(predictions: Tensor, targets: Tensor, weights: Any = None) -> Any:
        return getattr(tf.metrics, metric)(labels=targets, predictions=predictions, weights=weights)

    return found


def _of_class_1(metric: str, **options: Any) -> Callable:
    def found(probabilities: Tensor, targets: Tensor, weights: Any = None) -> Any:
        of_class = tf.slice(probabilities, [0, 1], [-1, 1])
        return getattr(tf.metrics, metric)(labels=targets, predictions=of_class, weights=weights, **options)

    return found


_accuracy = _of_classes("accuracy")
_METRICS: dict[str, tuple[Callable, str]] = {
    "auc": (_of_class_1("auc"), PROBABILITIES),
    "sigmoid_entropy": (_sigmoid_entropy, PROBABILITIES),
    "softmax_entropy": (_softmax_entropy, PROBABILITIES),
    "accuracy": (_accuracy, CLASSES),
    "r2": (_r2, SCORES),
    "predictions": (lambda predictions, unused_targets, **unused_kwargs: predictions, CLASSES),
    "classification_log_loss": (_log_loss, PROBABILITIES),
    "precision": (_of_classes("precision"), CLASSES),
    "precision_at_thresholds": (
        _of_class_1("precision_at_thresholds", thresholds=_THRESHOLDS),
        PROBABILITIES,
    ),
    "recall": (_of_classes("recall"), CLASSES),
    "recall_at_thresholds": (_of_class_1("recall_at_thresholds", thresholds=_THRESHOLDS), PROBABILITIES),
    "top_5": (_top_k_generator(5), PROBABILITIES),
}


@export("contrib.tensor_forest.eval_metrics.get_metric")
def get_metric(metric_name: str) -> Callable:
    """Finds a metric.

    Args:
      metric_name: Its name, such as `"accuracy"`.

    Returns:
      A function of predictions and targets.
    """
    return _METRICS[metric_name][0]


@export("contrib.tensor_forest.eval_metrics.get_prediction_key")
def get_prediction_key(metric_name: str) -> str:
    """Says which of a forest's predictions a metric takes.

    Args:
      metric_name: Its name, such as `"accuracy"`.

    Returns:
      The key of the prediction.
    """
    return _METRICS[metric_name][1]
