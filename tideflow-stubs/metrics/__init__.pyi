# Written by `python -m tideflow.programs.stubs`.

from builtins import int as _int
from builtins import str as _str
from typing import Any as _Any
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

def false_negatives(labels: _Any, predictions: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How often false was predicted, and wrong."""

def false_negatives_at_thresholds(labels: _Any, predictions: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """The number of false negatives at each threshold."""

def false_positives(labels: _Any, predictions: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How often true was predicted, and wrong."""

def false_positives_at_thresholds(labels: _Any, predictions: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """The number of false positives at each threshold."""

def precision(labels: _Any, predictions: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the predictions of true were right."""

def precision_at_k(labels: _Any, predictions: _Any, k: _int, class_id: _int | None = None, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the k classes with the highest scores are labels."""

def precision_at_thresholds(labels: _Any, predictions: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the predictions of true were right, at each threshold."""

def precision_at_top_k(labels: _Any, predictions_idx: _Any, k: _int | None = None, class_id: _int | None = None, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the chosen classes `predictions_idx` are among the labels."""

def recall(labels: _Any, predictions: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the true labels were predicted."""

def recall_at_k(labels: _Any, predictions: _Any, k: _int, class_id: _int | None = None, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the labels are among the k classes with the highest scores."""

def recall_at_thresholds(labels: _Any, predictions: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the true labels were predicted, at each threshold."""

def recall_at_top_k(labels: _Any, predictions_idx: _Any, k: _int | None = None, class_id: _int | None = None, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How many of the labels are among the chosen classes `predictions_idx`."""

def true_negatives(labels: _Any, predictions: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How often false was predicted, and right."""

def true_negatives_at_thresholds(labels: _Any, predictions: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """The number of true negatives at each threshold."""

def true_positives(labels: _Any, predictions: _Any, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """How often true was predicted, and right."""

def true_positives_at_thresholds(labels: _Any, predictions: _Any, thresholds, weights: _Any = None, metrics_collections: _Any = None, updates_collections: _Any = None, name: _str | None = None):
    """The number of true positives at each threshold."""
