"""Heads as functions; they reduce losses as `tf.losses` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.estimator.canned.heads import (
    CannedBinaryClassHead,
    CannedLogisticRegressionHead,
    CannedMultiClassHead,
    CannedMultiLabelHead,
    CannedPoissonRegressionHead,
    CannedRegressionHead,
)
from tideflow.estimator.heads.base import Head
from tideflow.estimator.heads.several import MultiHead
from tideflow.export import export
from tideflow.losses.reduction import Reduction


@export("contrib.estimator.binary_classification_head")
def binary_classification_head(
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable | None = None,
    name: str | None = None,
) -> Head:
    """Makes a head for two classes.

    Args:
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      thresholds: Thresholds in (0, 1) for which accuracy, precision and recall are computed.
      label_vocabulary: The labels, if they are strings.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
      loss_fn: A function of `labels`, `logits` and perhaps `features` that gives the loss of each example.
      name: The name, which the names of metrics end with.

    Returns:
      The head.
    """
    return CannedBinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


@export("contrib.estimator.multi_class_head")
def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable | None = None,
    name: str | None = None,
) -> Head:
    """Makes a head for more than two classes.

    Args:
      n_classes: The number of classes, above 2.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
      loss_fn: A function of `labels`, `logits` and perhaps `features` that gives the loss of each example.
      name: The name, which the names of metrics end with.

    Returns:
      The head.
    """
    return CannedMultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


@export("contrib.estimator.multi_label_head")
def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable | None = None,
    classes_for_class_based_metrics: Sequence[int | str] | None = None,
    name: str | None = None,
) -> Head:
    """Makes a head for classes of which an example has any number.

    Args:
      n_classes: The number of classes, above 1.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      thresholds: Thresholds in (0, 1) for which accuracy, precision and recall are computed.
      label_vocabulary: The labels, if they are strings.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
      loss_fn: A function of `labels`, `logits` and perhaps `features` that gives the loss of each example.
      classes_for_class_based_metrics: Classes that have metrics of their own.
      name: The name, which the names of metrics end with.

    Returns:
      The head.
    """
    return CannedMultiLabelHead(
        n_classes,
        weight_column,
        thresholds,
        label_vocabulary,
        loss_reduction,
        loss_fn,
        classes_for_class_based_metrics,
        name,
    )


@export("contrib.estimator.regression_head")
def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable | None = None,
    inverse_link_fn: Callable | None = None,
    name: str | None = None,
) -> Head:
    """Makes a head for real numbers.

    Args:
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_dimension: The number of values for each example.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
      loss_fn: A function of `labels`, `logits` and perhaps `features` that gives the loss of each value.
      inverse_link_fn: A function from the logits to the predictions; they are the same if None.
      name: The name, which the names of metrics end with.

    Returns:
      The head.
    """
    return CannedRegressionHead(
        label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name
    )


@export("contrib.estimator.poisson_regression_head")
def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> Head:
    """Makes a head for counts.

    Args:
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_dimension: The number of values for each example.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
      compute_full_loss: Whether the loss includes the term that depends on labels alone.
      name: The name, which the names of metrics end with.

    Returns:
      The head.
    """
    return CannedPoissonRegressionHead(
        label_dimension, weight_column, loss_reduction, compute_full_loss, name
    )


@export("contrib.estimator.logistic_regression_head")
def logistic_regression_head(
    weight_column: Any = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    name: str | None = None,
) -> Head:
    """Makes a head for numbers in [0, 1].

    Args:
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      loss_reduction: How the losses of a batch become one, of `tf.losses.Reduction`.
      name: The name, which the names of metrics end with.

    Returns:
      The head.
    """
    return CannedLogisticRegressionHead(weight_column, loss_reduction, name)


@export("contrib.estimator.multi_head")
def multi_head(heads: Sequence[Head], head_weights: Sequence[float] | None = None) -> Head:
    """Makes a head of several heads.

    Args:
      heads: The heads, which must have names.
      head_weights: The weights of their losses; all 1 if None.

    Returns:
      The head.
    """
    return MultiHead(heads, head_weights)
