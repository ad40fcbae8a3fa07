# Written by `python -m tideflow.programs.stubs`.

from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Sequence as _Sequence
from tideflow.graph.typing import TensorLike as _TensorLike
from tideflow.metrics.at_k import average_precision_at_k as average_precision_at_k
from tideflow.metrics.at_k import sparse_average_precision_at_k as sparse_average_precision_at_k
from tideflow.metrics.at_k import sparse_precision_at_k as sparse_precision_at_k
from tideflow.metrics.classes import mean_iou as mean_iou
from tideflow.metrics.classes import mean_per_class_accuracy as mean_per_class_accuracy
from tideflow.metrics.means import accuracy as accuracy
from tideflow.metrics.means import mean as mean
from tideflow.metrics.means import mean_absolute_error as mean_absolute_error
from tideflow.metrics.means import mean_cosine_distance as mean_cosine_distance
from tideflow.metrics.means import mean_relative_error as mean_relative_error
from tideflow.metrics.means import mean_squared_error as mean_squared_error
from tideflow.metrics.means import mean_tensor as mean_tensor
from tideflow.metrics.means import percentage_below as percentage_below
from tideflow.metrics.means import root_mean_squared_error as root_mean_squared_error
from tideflow.metrics.thresholds import auc as auc
from tideflow.metrics.thresholds import sensitivity_at_specificity as sensitivity_at_specificity
from tideflow.metrics.thresholds import specificity_at_sensitivity as specificity_at_sensitivity

def false_negatives(labels: _TensorLike, predictions: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Counts the predictions of false that are wrong.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def false_negatives_at_thresholds(labels: _TensorLike, predictions: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Counts the false negatives at each threshold.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def false_positives(labels: _TensorLike, predictions: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Counts the predictions of true that are wrong.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def false_positives_at_thresholds(labels: _TensorLike, predictions: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Counts the false positives at each threshold.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def precision(labels: _TensorLike, predictions: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the part of the predictions of true that are right.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def precision_at_k(labels: _TensorLike, predictions: _TensorLike, k: _int, class_id: _int | None = None, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the part of the k classes with the highest scores that are labels.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      k: The number of classes to consider.
      class_id: If given, only this class is considered.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def precision_at_thresholds(labels: _TensorLike, predictions: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the part of the predictions of true that are right, at each threshold.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def precision_at_top_k(labels: _TensorLike, predictions_idx: _TensorLike, k: _int | None = None, class_id: _int | None = None, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the part of the predicted classes that are labels.

    Args:
      labels: The labels: what is true.
      predictions_idx: The predicted classes, of shape [..., k].
      k: The number of classes to consider.
      class_id: If given, only this class is considered.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def recall(labels: _TensorLike, predictions: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the part of the true labels that are predicted.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def recall_at_k(labels: _TensorLike, predictions: _TensorLike, k: _int, class_id: _int | None = None, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the part of the labels that are among the k classes with the highest scores.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      k: The number of classes to consider.
      class_id: If given, only this class is considered.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def recall_at_thresholds(labels: _TensorLike, predictions: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the part of the true labels that are predicted, at each threshold.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def recall_at_top_k(labels: _TensorLike, predictions_idx: _TensorLike, k: _int | None = None, class_id: _int | None = None, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the part of the labels that are among the predicted classes.

    Args:
      labels: The labels: what is true.
      predictions_idx: The predicted classes, of shape [..., k].
      k: The number of classes to consider.
      class_id: If given, only this class is considered.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def true_negatives(labels: _TensorLike, predictions: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Counts the predictions of false that are right.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def true_negatives_at_thresholds(labels: _TensorLike, predictions: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Counts the true negatives at each threshold.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def true_positives(labels: _TensorLike, predictions: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Counts the predictions of true that are right.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def true_positives_at_thresholds(labels: _TensorLike, predictions: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Counts the true positives at each threshold.

    Args:
      labels: The labels: what is true.
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""
