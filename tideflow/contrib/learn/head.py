"""tf.contrib.learn.head: the heads for regression, for classes, and for several at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.learn import head_metrics as measures
from tideflow.contrib.learn.head_base import (
    SWITCH,
    Head,
    LossOnlyHead,
    MultiHead,
    SingleHead,
    exported_classes,
    loss_of_user,
)
from tideflow.contrib.learn.modes import MetricKey, PredictionKey, ProblemType
from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.platform.deprecation import deprecated


class RegressionHead(SingleHead):
    """Predicts numbers."""

    default_scope = "regression_head"

    def __init__(
        self,
        label_dimension: int,
        loss_fn: Callable,
        link_fn: Callable,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
    ):
        super().__init__(
            ProblemType.LINEAR_REGRESSION,
            label_dimension,
            loss_fn,
            label_name,
            weight_column_name,
            enable_centered_bias,
            head_name,
        )
        self._link_fn = link_fn

    def _predictions(self, logits: Any) -> dict[str, Any]:
        key = PredictionKey.SCORES
        if self.logits_dimension == 1:
            logits = tf.squeeze(logits, axis=(1,), name=key)
        return {key: self._link_fn(logits)}

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        return {}


def _two_class_logits(logits: Any) -> Any:
    return tf.concat((tf.zeros_like(logits), logits), 1)


class BinaryLogisticHead(SingleHead):
    """Predicts the probability of the second of two classes."""

    default_scope = "binary_logistic_head"

    def __init__(
        self,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
        loss_fn: Callable | None,
        thresholds: Sequence[float] | None,
    ):
        super().__init__(
            ProblemType.LOGISTIC_REGRESSION,
            1,
            loss_fn or measures.two_class_loss,
            label_name,
            weight_column_name,
            enable_centered_bias,
            head_name,
        )
        self._thresholds = thresholds or (0.5,)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        both = _two_class_logits(logits)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.LOGISTIC: tf.sigmoid(logits, name=PredictionKey.LOGISTIC),
            PredictionKey.PROBABILITIES: tf.nn.softmax(both, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: tf.argmax(both, 1, name=PredictionKey.CLASSES),
        }

    def _alternatives(self, predictions: dict[str, Any]) -> dict[str | None, Any]:
        return {self._head_name: (self._problem_type, exported_classes(predictions))}

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        logistic = predictions[PredictionKey.LOGISTIC]
        metrics = {
            MetricKey.ACCURACY: tf.metrics.accuracy(labels, predictions[PredictionKey.CLASSES], weights),
            MetricKey.PREDICTION_MEAN: measures.mean_of(logistic, weights),
            MetricKey.LABEL_MEAN: measures.mean_of(labels, weights),
            MetricKey.ACCURACY_BASELINE: measures.mean_of(labels, weights),
            MetricKey.AUC: measures.auc(logistic, labels, weights),
            MetricKey.AUC_PR: measures.auc(logistic, labels, weights, curve="PR"),
        }
        for threshold in self._thresholds:
            given = (logistic, labels, weights, threshold)
            metrics[MetricKey.ACCURACY_MEAN % threshold] = measures.accuracy_at(*given)
            precision, recall = tf.metrics.precision_at_thresholds, tf.metrics.recall_at_thresholds
            metrics[MetricKey.PRECISION_MEAN % threshold] = measures.at_threshold(precision, *given)
            metrics[MetricKey.RECALL_MEAN % threshold] = measures.at_threshold(recall, *given)
        return metrics


def _checked_class_ids(ids: Sequence[int] | None, n_classes: int) -> tuple[int, ...]:
    for class_id in ids or ():
        if not 0 <= class_id < n_classes:
            raise ValueError(f"Class ID {class_id} not in [0, {n_classes}).")
    return tuple(ids or ())


class MultiClassHead(SingleHead):
    """Predicts one of several classes."""

    default_scope = "multi_class_head"

    def __init__(
        self,
        n_classes: int,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
        loss_fn: Callable | None,
        metric_class_ids: Sequence[int] | None,
        label_keys: Sequence[str] | None,
    ):
        super().__init__(
            ProblemType.CLASSIFICATION,
            n_classes,
            loss_fn or measures.softmax_loss,
            label_name,
            weight_column_name,
            enable_centered_bias,
            head_name,
        )
        self._class_ids = _checked_class_ids(metric_class_ids, n_classes)
        if label_keys and len(label_keys) != n_classes:
            raise ValueError("Length of label_keys must equal n_classes.")
        self._label_keys = label_keys

    def _transformed(self, labels: Any) -> Any:
        """The labels as they stand, and as the numbers of their classes."""
        labels = super()._transformed(labels)
        if not self._label_keys:
            return labels, labels
        table = tf.contrib.lookup.index_table_from_tensor(self._label_keys, name="label_id_lookup")
        return labels, table.lookup(labels)

    def _loss(self, labels: Any, logits: Any, weights: Any) -> tuple[Any, Any]:
        return self._loss_fn(labels[1], logits, weights)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        classes = tf.argmax(logits, 1, name=PredictionKey.CLASSES)
        if self._label_keys:
            table = tf.contrib.lookup.index_to_string_table_from_tensor(
                self._label_keys, name="class_string_lookup"
            )
            classes = table.lookup(classes)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: tf.nn.softmax(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: classes,
        }

    def _alternatives(self, predictions: dict[str, Any]) -> dict[str | None, Any]:
        return {self._head_name: (self._problem_type, exported_classes(predictions, self._label_keys))}

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        metrics = {MetricKey.ACCURACY: tf.metrics.accuracy(labels[0], classes, weights)}
        for number in () if self._label_keys else self._class_ids:
            probabilities = predictions[PredictionKey.PROBABILITIES]
            logits = predictions[PredictionKey.LOGITS]
            metrics |= {
                MetricKey.CLASS_PREDICTION_MEAN % number: measures.mean_of_equal(classes, weights, number),
                MetricKey.CLASS_LABEL_MEAN % number: measures.mean_of_equal(labels[1], weights, number),
                MetricKey.CLASS_PROBABILITY_MEAN % number: measures.mean_of(probabilities, weights, number),
                MetricKey.CLASS_LOGITS_MEAN % number: measures.mean_of(logits, weights, number),
            }
        return metrics


class BinarySvmHead(SingleHead):
    """Predicts one of two classes by the side of a plane."""

    default_scope = "binary_svm_head"

    def __init__(
        self,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
    ):
        super().__init__(
            ProblemType.LOGISTIC_REGRESSION,
            1,
            measures.hinge_loss,
            label_name,
            weight_column_name,
            enable_centered_bias,
            head_name,
        )

    def _predictions(self, logits: Any) -> dict[str, Any]:
        classes = tf.argmax(_two_class_logits(logits), 1, name=PredictionKey.CLASSES)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: classes}

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        return {MetricKey.ACCURACY: tf.metrics.accuracy(labels, predictions[PredictionKey.CLASSES], weights)}


class MultiLabelHead(SingleHead):
    """Predicts for each of several classes whether an example belongs to it."""

    default_scope = "multi_label_head"

    def __init__(
        self,
        n_classes: int,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
        loss_fn: Callable | None,
        metric_class_ids: Sequence[int] | None,
    ):
        super().__init__(
            ProblemType.CLASSIFICATION,
            n_classes,
            loss_fn or measures.sigmoid_loss,
            label_name,
            weight_column_name,
            enable_centered_bias,
            head_name,
        )
        self._class_ids = _checked_class_ids(metric_class_ids, n_classes)

    def _transformed(self, labels: Any) -> Any:
        if isinstance(labels, SparseTensor):
            if self._logits_dimension < 2:
                raise ValueError("Must set num_classes >= 2 when passing labels as a SparseTensor.")
            return tf.cast(tf.sparse_to_indicator(labels, self._logits_dimension), tf.int64)
        return labels

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: tf.sigmoid(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: tf.cast(tf.greater(logits, 0), tf.int64, name=PredictionKey.CLASSES),
        }

    def _alternatives(self, predictions: dict[str, Any]) -> dict[str | None, Any]:
        return {self._head_name: (self._problem_type, exported_classes(predictions))}

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        probabilities = predictions[PredictionKey.PROBABILITIES]
        metrics = {
            MetricKey.ACCURACY: tf.metrics.accuracy(labels, classes, weights),
            MetricKey.AUC: measures.auc(probabilities, labels, weights),
            MetricKey.AUC_PR: measures.auc(probabilities, labels, weights, curve="PR"),
        }
        for number in self._class_ids:
            logits = predictions[PredictionKey.LOGITS]
            metrics |= {
                MetricKey.CLASS_PREDICTION_MEAN % number: measures.mean_of(classes, weights, number),
                MetricKey.CLASS_LABEL_MEAN % number: measures.mean_of(labels, weights, number),
                MetricKey.CLASS_PROBABILITY_MEAN % number: measures.mean_of(probabilities, weights, number),
                MetricKey.CLASS_LOGITS_MEAN % number: measures.mean_of(logits, weights, number),
                MetricKey.CLASS_AUC % number: measures.auc(probabilities, labels, weights, number),
                MetricKey.CLASS_AUC_PR % number: measures.auc(probabilities, labels, weights, number, "PR"),
            }
        return metrics


# ----------------------------------------------------------------------------------- the functions of users


@export("contrib.learn.regression_head", "contrib.learn.head.regression_head")
@deprecated(*SWITCH)
def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable | None = None,
) -> Head:
    """Makes a head that predicts numbers, with the squared error as loss.

    Args:
      label_name: The key of the labels; None where there is only one tensor.
      weight_column_name: The key of the weights among the features.
      label_dimension: The number of labels of an example.
      enable_centered_bias: Whether a bias is learned that all examples share.
      head_name: The name of the head, which its metrics have too.
      link_fn: A function from logits to predictions; the identity if None.

    Returns:
      The head.
    """
    link = link_fn or tf.identity
    loss = measures.mean_squared_loss
    return RegressionHead(
        label_dimension, loss, link, label_name, weight_column_name, enable_centered_bias, head_name
    )


@export("contrib.learn.poisson_regression_head", "contrib.learn.head.poisson_regression_head")
@deprecated(*SWITCH)
def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """Makes a head that predicts the mean of a Poisson distribution.

    Args:
      label_name: The key of the labels; None where there is only one tensor.
      weight_column_name: The key of the weights among the features.
      label_dimension: The number of labels of an example.
      enable_centered_bias: Whether a bias is learned that all examples share.
      head_name: The name of the head, which its metrics have too.

    Returns:
      The head.
    """
    loss = measures.poisson_loss
    return RegressionHead(
        label_dimension, loss, tf.exp, label_name, weight_column_name, enable_centered_bias, head_name
    )


@export("contrib.learn.multi_class_head", "contrib.learn.head.multi_class_head")
@deprecated(*SWITCH)
def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable | None = None,
    label_keys: Sequence[str] | None = None,
) -> Head:
    """Makes a head that predicts one of two or more classes.

    Args:
      n_classes: The number of classes.
      label_name: The key of the labels; None where there is only one tensor.
      weight_column_name: The key of the weights among the features.
      enable_centered_bias: Whether a bias is learned that all examples share.
      head_name: The name of the head, which its metrics have too.
      thresholds: Thresholds for the metrics of two classes; 0.5 if None.
      metric_class_ids: The classes that have metrics of their own, if there are more than two.
      loss_fn: A function of `labels`, `logits` and `weights` that returns the loss.
      label_keys: The names of the classes, if labels are strings and there are more than two classes.

    Returns:
      The head.

    Raises:
      ValueError: If there is one class only, or an argument does not suit two classes.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    loss = loss_of_user(loss_fn)
    shared = (label_name, weight_column_name, enable_centered_bias, head_name, loss)
    if n_classes > 2:
        return MultiClassHead(n_classes, *shared, metric_class_ids, label_keys)
    if metric_class_ids:
        raise ValueError("metric_class_ids invalid for n_classes==2.")
    if label_keys:
        raise ValueError("label_keys is not supported for n_classes=2.")
    return BinaryLogisticHead(*shared, thresholds)


_multi_class_head = multi_class_head  # programs from before it was public call it so


@export("contrib.learn.binary_svm_head", "contrib.learn.head.binary_svm_head")
@deprecated(*SWITCH)
def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
) -> Head:
    """Makes a head that predicts one of two classes, with the hinge loss.

    Args:
      label_name: The key of the labels; None where there is only one tensor.
      weight_column_name: The key of the weights among the features.
      enable_centered_bias: Whether a bias is learned that all examples share.
      head_name: The name of the head, which its metrics have too.
      thresholds: Has no effect.

    Returns:
      The head.
    """
    return BinarySvmHead(label_name, weight_column_name, enable_centered_bias, head_name)


@export("contrib.learn.multi_label_head", "contrib.learn.head.multi_label_head")
@deprecated(*SWITCH)
def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable | None = None,
) -> Head:
    """Makes a head that predicts for each class whether an example belongs to it.

    Args:
      n_classes: The number of classes.
      label_name: The key of the labels; None where there is only one tensor.
      weight_column_name: The key of the weights among the features.
      enable_centered_bias: Whether a bias is learned that all examples share.
      head_name: The name of the head, which its metrics have too.
      thresholds: Has no effect.
      metric_class_ids: The classes that have metrics of their own.
      loss_fn: A function of `labels`, `logits` and `weights` that returns the loss.

    Returns:
      The head.

    Raises:
      ValueError: If there is one class only.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return MultiLabelHead(
        n_classes,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
        loss_of_user(loss_fn),
        metric_class_ids,
    )


@export("contrib.learn.head.loss_only_head")
@deprecated(*SWITCH)
def loss_only_head(loss_fn: Callable[[], Any], head_name: str | None = None) -> Head:
    """Makes a head of a loss alone, for several heads together.

    Args:
      loss_fn: A function that returns the loss, or a list of losses.
      head_name: The name of the head.

    Returns:
      The head.
    """
    return LossOnlyHead(loss_fn, head_name=head_name)


@export("contrib.learn.multi_head", "contrib.learn.head.multi_head")
@deprecated(*SWITCH)
def multi_head(heads: Sequence[Head], loss_weights: Sequence[float] | None = None) -> Head:
    """Makes one head of several.

    Args:
      heads: The heads, which have names.
      loss_weights: The weights of their losses in the sum; 1 if None.

    Returns:
      The head.

    Raises:
      ValueError: If a head has no name, or there is not a weight for each.
    """
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")
    return MultiHead(list(heads), None if loss_weights is None else list(loss_weights))
