# Written by `python -m tideflow.programs.stubs`.

from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from tideflow.graph.typing import TensorLike as _TensorLike
from typing import Any as _Any
from tideflow.contrib.metrics import accuracy as accuracy
from tideflow.contrib.metrics import aggregate_metric_map as aggregate_metric_map
from tideflow.contrib.metrics import aggregate_metrics as aggregate_metrics
from tideflow.contrib.metrics import confusion_matrix as confusion_matrix
from tideflow.contrib.metrics import streaming_recall_at_k as streaming_recall_at_k
from tideflow.metrics.means import mean as streaming_mean
from tideflow.metrics.means import mean_tensor as streaming_mean_tensor
from tideflow.metrics.means import percentage_below as streaming_percentage_less
from tideflow.ops.sparse.sets import set_difference as set_difference
from tideflow.ops.sparse.sets import set_intersection as set_intersection
from tideflow.ops.sparse.sets import set_size as set_size
from tideflow.ops.sparse.sets import set_union as set_union

def streaming_accuracy(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """How often predictions equal labels."""

def streaming_auc(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, num_thresholds: _int = 200, metrics_collections=None, updates_collections=None, curve: _str = 'ROC', name: _str | None = None, summation_method: _str = 'trapezoidal', thresholds=None):
    """The area under the curve of true over false positives ("ROC"), or of precision over recall ("PR")."""

def streaming_false_negatives(predictions: _Any, labels: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How often false was predicted, and wrong."""

def streaming_false_negatives_at_thresholds(predictions: _Any, labels: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """The number of false negatives at each threshold."""

def streaming_false_positives(predictions: _Any, labels: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How often true was predicted, and wrong."""

def streaming_false_positives_at_thresholds(predictions: _Any, labels: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """The number of false positives at each threshold."""

def streaming_mean_absolute_error(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The mean of |prediction - label|."""

def streaming_mean_cosine_distance(predictions: _TensorLike, labels: _TensorLike, dim: _int, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The mean of 1 - the dot product along `dim`, of vectors that have length 1 already."""

def streaming_mean_iou(predictions: _TensorLike, labels: _TensorLike, num_classes: _int, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The mean over classes of hits / (hits + false positives + false negatives); the update is a matrix."""

def streaming_mean_relative_error(predictions: _TensorLike, labels: _TensorLike, normalizer: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The mean of |label - prediction| / normalizer, taken as 0 where the normalizer is 0."""

def streaming_mean_squared_error(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The mean of (prediction - label)²."""

def streaming_precision(predictions: _Any, labels: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the predictions of true were right."""

def streaming_precision_at_thresholds(predictions: _Any, labels: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the predictions of true were right, at each threshold."""

def streaming_recall(predictions: _Any, labels: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the true labels were predicted."""

def streaming_recall_at_thresholds(predictions: _Any, labels: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the true labels were predicted, at each threshold."""

def streaming_root_mean_squared_error(predictions: _TensorLike, labels: _TensorLike, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The square root of the mean of (prediction - label)²."""

def streaming_sensitivity_at_specificity(predictions: _TensorLike, labels: _TensorLike, specificity: _float, weights: _TensorLike | None = None, num_thresholds: _int = 200, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The share of true labels found, at the threshold whose share of false labels found is closest to
    `specificity`."""

def streaming_sparse_average_precision_at_k(predictions: _TensorLike, labels: _TensorLike, k: _int, weights: _TensorLike | None = None, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The mean of the precisions at 1, 2, ... k, of those places in the ranking that hold a label."""

def streaming_sparse_precision_at_k(predictions: _Any, labels: _Any, k: _int, class_id: _int | None = None, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the k classes with the highest scores are labels."""

def streaming_sparse_recall_at_k(predictions: _Any, labels: _Any, k: _int, class_id: _int | None = None, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the labels are among the k classes with the highest scores."""

def streaming_specificity_at_sensitivity(predictions: _TensorLike, labels: _TensorLike, sensitivity: _float, weights: _TensorLike | None = None, num_thresholds: _int = 200, metrics_collections=None, updates_collections=None, name: _str | None = None):
    """The share of false labels found, at the last threshold whose share of true labels found is closest to
    `sensitivity`."""

def streaming_true_negatives(predictions: _Any, labels: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How often false was predicted, and right."""

def streaming_true_negatives_at_thresholds(predictions: _Any, labels: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """The number of true negatives at each threshold."""

def streaming_true_positives(predictions: _Any, labels: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How often true was predicted, and right."""

def streaming_true_positives_at_thresholds(predictions: _Any, labels: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """The number of true positives at each threshold."""
