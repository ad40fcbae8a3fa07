"""The metrics of heads: objects that are updated and have a result, made of the functions of `tf.metrics`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.graph.operation import Operation, Tensor


class HeadMetric:
    """A metric with `update_state` and `result`. `tf.metrics` notes its variables."""

    variables: tuple = ()

    def __init__(self, function: Callable[..., tuple[Any, Any]], name: str):
        self._function, self.name = function, name
        self.updates: list[Operation | Tensor] = []
        self._result: Tensor | None = None

    def update_state(self, *args: Any, **kwargs: Any) -> Operation | Tensor:
        """Adds a batch; the arguments are those of the metric's function."""
        self._result, update = self._function(*args, **kwargs)
        self.updates = [update]
        return update

    def result(self) -> Tensor:
        """The value over all batches."""
        if self._result is None:
            raise ValueError(f'Please call update_state(...) on the "{self.name}" metric')
        return self._result


def mean(name: str) -> HeadMetric:
    def weighted_mean(values: Any, sample_weight: Any = None) -> tuple[Any, Any]:
        values = tf.cast(values, tf.float32)
        if sample_weight is not None:
            sample_weight = tf.broadcast_to(sample_weight, tf.shape(values))
        return tf.metrics.mean(values, weights=sample_weight, name=name)

    return HeadMetric(weighted_mean, name)


def _of_predictions(function: Callable, name: str, **fixed: Any) -> HeadMetric:
    def metric(y_true: Any, y_pred: Any, sample_weight: Any = None) -> tuple[Any, Any]:
        return function(y_true, y_pred, weights=sample_weight, name=name, **fixed)

    return HeadMetric(metric, name)


def accuracy(name: str) -> HeadMetric:
    return _of_predictions(tf.metrics.accuracy, name)


def precision(name: str) -> HeadMetric:
    return _of_predictions(tf.metrics.precision, name)


def recall(name: str) -> HeadMetric:
    return _of_predictions(tf.metrics.recall, name)


def auc(name: str, curve: str = "ROC", summation_method: str = "trapezoidal") -> HeadMetric:
    def area(y_true: Any, y_pred: Any, sample_weight: Any = None) -> tuple[Any, Any]:
        if sample_weight is not None:
            sample_weight = tf.broadcast_to(sample_weight, tf.shape(y_pred))
        return tf.metrics.auc(
            y_true,
            y_pred,
            weights=sample_weight,
            curve=curve,
            name=name,
            summation_method=summation_method,
        )

    return HeadMetric(area, name)


def accuracy_at(threshold: float, name: str) -> HeadMetric:
    def above(y_true: Any, y_pred: Any, sample_weight: Any = None) -> tuple[Any, Any]:
        classes = tf.cast(y_pred >= threshold, tf.float32)
        return tf.metrics.accuracy(y_true, classes, weights=sample_weight, name=name)

    return HeadMetric(above, name)


def _at_threshold(function: Callable, threshold: float, name: str) -> HeadMetric:
    def metric(y_true: Any, y_pred: Any, sample_weight: Any = None) -> tuple[Any, Any]:
        value, update = function(y_true, y_pred, (threshold,), weights=sample_weight, name=name)
        return tf.squeeze(value), tf.squeeze(update)

    return HeadMetric(metric, name)


def precision_at(threshold: float, name: str) -> HeadMetric:
    return _at_threshold(tf.metrics.precision_at_thresholds, threshold, name)


def recall_at(threshold: float, name: str) -> HeadMetric:
    return _at_threshold(tf.metrics.recall_at_thresholds, threshold, name)


def baseline(name: str) -> HeadMetric:
    """The accuracy of always saying the more frequent class, from the mean of the labels."""

    def more_frequent(label_mean: HeadMetric) -> tuple[Any, Any]:
        value, update = label_mean.result(), label_mean.updates[0]
        return tf.maximum(value, 1.0 - value, name="value"), tf.maximum(update, 1 - update, name="update_op")

    return HeadMetric(more_frequent, name)
