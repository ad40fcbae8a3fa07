# Written by `python -m tideflow.programs.stubs`.

from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Sequence as _Sequence
from tideflow.graph.typing import TensorLike as _TensorLike
from tideflow.contrib.metrics.at_thresholds import f1_score as f1_score
from tideflow.contrib.metrics.at_thresholds import precision_at_recall as precision_at_recall
from tideflow.contrib.metrics.at_thresholds import precision_recall_at_equal_thresholds as precision_recall_at_equal_thresholds
from tideflow.contrib.metrics.at_thresholds import recall_at_precision as recall_at_precision
from tideflow.contrib.metrics.at_thresholds import streaming_curve_points as streaming_curve_points
from tideflow.contrib.metrics.curves import auc_using_histogram as auc_using_histogram
from tideflow.contrib.metrics.curves import auc_with_confidence_intervals as auc_with_confidence_intervals
from tideflow.contrib.metrics.curves import streaming_dynamic_auc as streaming_dynamic_auc
from tideflow.contrib.metrics.renamed import accuracy as accuracy
from tideflow.contrib.metrics.renamed import aggregate_metric_map as aggregate_metric_map
from tideflow.contrib.metrics.renamed import aggregate_metrics as aggregate_metrics
from tideflow.contrib.metrics.renamed import confusion_matrix as confusion_matrix
from tideflow.contrib.metrics.renamed import sparse_recall_at_top_k as sparse_recall_at_top_k
from tideflow.contrib.metrics.renamed import streaming_auc as streaming_auc
from tideflow.contrib.metrics.renamed import streaming_mean_cosine_distance as streaming_mean_cosine_distance
from tideflow.contrib.metrics.renamed import streaming_recall_at_k as streaming_recall_at_k
from tideflow.contrib.metrics.renamed import streaming_sparse_average_precision_at_top_k as streaming_sparse_average_precision_at_top_k
from tideflow.contrib.metrics.renamed import streaming_sparse_precision_at_top_k as streaming_sparse_precision_at_top_k
from tideflow.contrib.metrics.statistics import cohen_kappa as cohen_kappa
from tideflow.contrib.metrics.statistics import count as count
from tideflow.contrib.metrics.statistics import streaming_concat as streaming_concat
from tideflow.contrib.metrics.statistics import streaming_covariance as streaming_covariance
from tideflow.contrib.metrics.statistics import streaming_pearson_correlation as streaming_pearson_correlation
from tideflow.metrics.means import mean as _streaming_mean
from tideflow.metrics.means import mean_tensor as _streaming_mean_tensor
from tideflow.metrics.means import percentage_below as _streaming_percentage_less
from tideflow.ops.sparse.sets import set_difference as set_difference
from tideflow.ops.sparse.sets import set_intersection as set_intersection
from tideflow.ops.sparse.sets import set_size as set_size
from tideflow.ops.sparse.sets import set_union as set_union

def streaming_accuracy(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the part of the predictions that equal their labels.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit."""

def streaming_false_negative_rate(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The part of the true labels that are predicted to be false.

    Args:
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      labels: The labels: what is true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def streaming_false_negative_rate_at_thresholds(predictions: _TensorLike, labels: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The part of the true labels that are predicted to be false, at each threshold.

    Args:
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      labels: The labels: what is true.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def streaming_false_negatives(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
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

def streaming_false_negatives_at_thresholds(predictions: _TensorLike, labels: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None):
    """The false negatives at each threshold: the variable that counts, and its update.

    Args:
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      labels: The labels: what is true.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.

    Returns:
      The value, and the operation that updates it."""

def streaming_false_positive_rate(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The part of the false labels that are predicted to be true.

    Args:
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      labels: The labels: what is true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def streaming_false_positive_rate_at_thresholds(predictions: _TensorLike, labels: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The part of the false labels that are predicted to be true, at each threshold.

    Args:
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      labels: The labels: what is true.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it."""

def streaming_false_positives(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
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

def streaming_false_positives_at_thresholds(predictions: _TensorLike, labels: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None):
    """The false positives at each threshold: the variable that counts, and its update.

    Args:
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      labels: The labels: what is true.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.

    Returns:
      The value, and the operation that updates it."""

streaming_mean = _streaming_mean
def streaming_mean_absolute_error(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the mean absolute difference of predictions and labels.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit."""

def streaming_mean_iou(predictions: _TensorLike, labels: _TensorLike, num_classes: _int, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the mean over classes of intersection over union.

    For a class it is `hits / (hits + false positives + false negatives)`. The update is the confusion matrix.

    Args:
      labels: The classes.
      predictions: The predicted classes, of the same shape.
      num_classes: The number of classes.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit."""

def streaming_mean_relative_error(predictions: _TensorLike, labels: _TensorLike, normalizer: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the mean absolute difference of predictions and labels, divided by a normalizer.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      normalizer: The normalizer, of the same shape. The relative error is 0 where it is 0.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit."""

def streaming_mean_squared_error(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the mean squared difference of predictions and labels.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit."""

streaming_mean_tensor = _streaming_mean_tensor
streaming_percentage_less = _streaming_percentage_less
def streaming_precision(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
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

def streaming_precision_at_thresholds(predictions: _TensorLike, labels: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
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

def streaming_recall(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
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

def streaming_recall_at_thresholds(predictions: _TensorLike, labels: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
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

def streaming_root_mean_squared_error(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the root of the mean squared difference of predictions and labels.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit."""

def streaming_sensitivity_at_specificity(predictions: _TensorLike, labels: _TensorLike, specificity: _float, weights: _TensorLike | None = None, num_thresholds: _int = 200, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the part of the true labels that are found, at a given specificity.

    Args:
      labels: The labels, true or false.
      predictions: The predicted probabilities, in [0, 1], of the same shape.
      specificity: The specificity, in [0, 1]: the part of the false labels that are recognized.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      num_thresholds: The number of thresholds, spread evenly over [0, 1].
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If `specificity` is not in [0, 1]."""

def streaming_sparse_average_precision_at_k(predictions: _TensorLike, labels: _TensorLike, k: _int, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the mean of the precisions at 1, 2 and so on up to k, at the ranks that have a label.

    Args:
      labels: The labels: int64, dense or sparse, with the classes of an example along the last axis.
      predictions: The scores of all classes, of shape [..., classes].
      k: The number of classes to consider.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit."""

def streaming_sparse_precision_at_k(predictions: _TensorLike, labels: _TensorLike, k: _int, class_id: _int | None = None, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
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

def streaming_sparse_recall_at_k(predictions: _TensorLike, labels: _TensorLike, k: _int, class_id: _int | None = None, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
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

def streaming_specificity_at_sensitivity(predictions: _TensorLike, labels: _TensorLike, sensitivity: _float, weights: _TensorLike | None = None, num_thresholds: _int = 200, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """Computes the part of the false labels that are recognized, at a given sensitivity.

    Args:
      labels: The labels, true or false.
      predictions: The predicted probabilities, in [0, 1], of the same shape.
      sensitivity: The sensitivity, in [0, 1]: the part of the true labels that are found.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      num_thresholds: The number of thresholds, spread evenly over [0, 1].
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If `sensitivity` is not in [0, 1]."""

def streaming_true_negatives(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
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

def streaming_true_negatives_at_thresholds(predictions: _TensorLike, labels: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None):
    """The true negatives at each threshold: the variable that counts, and its update.

    Args:
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      labels: The labels: what is true.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.

    Returns:
      The value, and the operation that updates it."""

def streaming_true_positives(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
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

def streaming_true_positives_at_thresholds(predictions: _TensorLike, labels: _TensorLike, thresholds: _Sequence[_float], weights: _TensorLike | None = None):
    """The true positives at each threshold: the variable that counts, and its update.

    Args:
      predictions: The predictions. They are of the same shape, unless the metric says otherwise.
      labels: The labels: what is true.
      thresholds: The thresholds, in [0, 1]: a prediction above one counts as true.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.

    Returns:
      The value, and the operation that updates it."""
