"""Heads of regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.estimator.export.outputs import ExportOutput, PredictOutput, RegressionOutput
from tideflow.estimator.heads import checks, metrics
from tideflow.estimator.heads.base import PREDICT, REGRESS, SUM_OVER_BATCH_SIZE, SimpleHead, chosen_keys
from tideflow.estimator.heads.keys import MetricKeys, PredictionKeys
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("estimator.RegressionHead")
class RegressionHead(SimpleHead):
    """A head for real numbers: the logits predict them, and the loss is the mean squared error.

    Args:
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      loss_reduction: How the losses of a batch become one: `"sum"` or `"sum_over_batch_size"`.
      loss_fn: A function of `labels`, `logits` and perhaps `features` that gives the loss of each value.
      inverse_link_fn: A function from the logits to the predictions; they are the same if None.
      name: The name, which the names of metrics end with.

    Raises:
      ValueError: If an argument is out of its range.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Callable | None = None,
        inverse_link_fn: Callable | None = None,
        name: str | None = None,
    ):
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        checks.check_loss_fn(loss_fn)
        self._loss_reduction = self._check_reduction(loss_reduction)
        self._logits_dimension, self._weight_column = label_dimension, weight_column
        self._loss_fn, self._inverse_link_fn, self._name = loss_fn, inverse_link_fn, name

    @property
    def logits_dimension(self) -> int:
        """The number of logits for each example."""
        return self._logits_dimension

    def _checked_logits(self, logits: Any) -> Tensor:
        return checks.checked_logits(logits, self._logits_dimension)

    def _processed_labels(self, logits: Tensor, labels: Any) -> Tensor:
        return tf.cast(checks.checked_labels(labels, logits, self._logits_dimension), tf.float32)

    def _unreduced(self, logits: Tensor, labels: Tensor, features: Any) -> tuple[Tensor, Any]:
        if self._loss_fn:
            loss = checks.loss_of(self._loss_fn, labels, logits, features, self._logits_dimension)
        else:
            loss = tf.losses.mean_squared_error(labels, logits, reduction=tf.losses.Reduction.NONE)
        return loss, checks.checked_weights(features, self._weight_column, logits, per_logit=True)

    def predictions(self, logits: TensorLike, keys: Sequence[str] | None = None) -> dict[str, Tensor]:
        """Computes predictions.

        Args:
          logits: The logits.
          keys: The names of the predictions; all if None.

        Returns:
          The predictions by name: `predictions`, and `logits` if they are something else.
        """
        logits = self._checked_logits(logits)
        with tf.name_scope("predictions"):
            wanted = {PredictionKeys.PREDICTIONS: logits}
            if self._inverse_link_fn:
                wanted = {
                    PredictionKeys.PREDICTIONS: self._inverse_link_fn(logits),
                    PredictionKeys.LOGITS: logits,
                }
        return {key: wanted[key] for key in chosen_keys(keys, list(wanted))}

    def metrics(self, regularization_losses: Sequence[Tensor] | None = None) -> dict[str, Any]:
        """Makes the metrics of an evaluation.

        Args:
          regularization_losses: Losses that are added to the loss.

        Returns:
          The metrics by name.
        """
        with tf.name_scope("metrics"):
            made = self._loss_metrics(regularization_losses)
            for key in (MetricKeys.PREDICTION_MEAN, MetricKeys.LABEL_MEAN):
                made[self._key(key)] = metrics.mean(key)
        return made

    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Mapping[str, Any],
        logits: TensorLike,
        labels: Any,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> dict[str, Any]:
        """Adds a batch to the metrics of an evaluation.

        Args:
          eval_metrics: The metrics that `metrics` made.
          features: The features by name, among them the weights.
          logits: The logits.
          labels: The labels.
          regularization_losses: Losses that are added to the loss.

        Returns:
          The metrics by name.
        """
        predicted = self.predictions(logits)[PredictionKeys.PREDICTIONS]
        _, labels, weights = self._evaluated(eval_metrics, features, logits, labels, regularization_losses)
        for key, values in ((MetricKeys.PREDICTION_MEAN, predicted), (MetricKeys.LABEL_MEAN, labels)):
            eval_metrics[self._key(key)].update_state(values, sample_weight=weights)
        return eval_metrics

    def _export_outputs(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        value = RegressionOutput(predictions[PredictionKeys.PREDICTIONS])
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: value,
            REGRESS: value,
            PREDICT: PredictOutput(predictions),
        }


@export("estimator.PoissonRegressionHead")
class PoissonRegressionHead(RegressionHead):
    """A head for counts: the exponential of the logits predicts them, with the loss of their logarithm.

    Args:
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      loss_reduction: How the losses of a batch become one: `"sum"` or `"sum_over_batch_size"`.
      compute_full_loss: Whether the loss includes the term that depends on labels alone.
      name: The name, which the names of metrics end with.

    Raises:
      ValueError: If an argument is out of its range.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        compute_full_loss: bool = True,
        name: str | None = None,
    ):
        def poisson_loss(labels: Any, logits: Any) -> Tensor:
            return tf.nn.log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

        super().__init__(label_dimension, weight_column, loss_reduction, poisson_loss, tf.exp, name)


@export("estimator.LogisticRegressionHead")
class LogisticRegressionHead(RegressionHead):
    """A head for numbers in [0, 1]: the sigmoid of the logit predicts one, with its cross entropy.

    Args:
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      loss_reduction: How the losses of a batch become one: `"sum"` or `"sum_over_batch_size"`.
      name: The name, which the names of metrics end with.

    Raises:
      ValueError: If an argument is out of its range.
    """

    def __init__(
        self,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        name: str | None = None,
    ):
        def logistic_loss(labels: Any, logits: Any) -> Tensor:
            labels = checks.checked_range(labels, 2, "Labels must be in range [0, 1]")
            return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

        super().__init__(1, weight_column, loss_reduction, logistic_loss, tf.sigmoid, name)
