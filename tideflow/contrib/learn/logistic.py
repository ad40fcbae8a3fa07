"""LogisticRegressor: an estimator with the metrics of a probability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.learn.estimator import Estimator
from tideflow.contrib.learn.model_fn import ModelFnOps
from tideflow.contrib.learn.modes import MetricKey, ModeKeys, ProblemType
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.export import export


def _metrics(labels: Any, predictions: Any, thresholds: Sequence[float]) -> dict[str, Any]:
    labels = next(iter(labels.values())) if isinstance(labels, dict) and len(labels) == 1 else labels
    metrics = {
        MetricKey.PREDICTION_MEAN: tf.metrics.mean(predictions),
        MetricKey.LABEL_MEAN: tf.metrics.mean(labels),
        MetricKey.ACCURACY_BASELINE: tf.metrics.mean(labels),
        MetricKey.AUC: tf.metrics.auc(labels, predictions),
    }
    for threshold in thresholds:
        decided = tf.cast(
            tf.greater_equal(predictions, threshold),
            tf.float32,
            name=f"predictions_at_threshold_{threshold:f}",
        )
        metrics[MetricKey.ACCURACY_MEAN % threshold] = tf.metrics.accuracy(labels, decided)
        metrics[MetricKey.PRECISION_MEAN % threshold] = tf.metrics.precision(labels, decided)
        metrics[MetricKey.RECALL_MEAN % threshold] = tf.metrics.recall(labels, decided)
    return metrics


@export("contrib.learn.LogisticRegressor")
def LogisticRegressor(
    model_fn: Callable,
    thresholds: Sequence[float] | None = None,
    model_dir: str | None = None,
    config: RunConfig | None = None,
    feature_engineering_fn: Callable | None = None,
) -> Estimator:
    """Makes an estimator of a model that predicts probabilities.

    Args:
      model_fn: A function of features, labels and mode that returns the probabilities, the loss and the
        training operation.
      thresholds: Thresholds for the metrics; 0.5 if None.
      model_dir: The directory of the model.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.

    Returns:
      The estimator.
    """

    def model_fn_with_metrics(features: Any, labels: Any, mode: str, params: dict) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        metrics = None
        if mode == ModeKeys.EVAL:
            metrics = _metrics(labels, predictions, params["thresholds"] or [0.5])
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives={"head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})},
        )

    params = {"thresholds": thresholds}
    return Estimator(model_fn_with_metrics, model_dir, config, params, feature_engineering_fn)
