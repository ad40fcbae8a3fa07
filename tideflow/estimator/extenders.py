"""Estimators made from estimators: the same model, evaluated by more metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.estimator.estimator import Estimator
from tideflow.estimator.run_config import RunConfig
from tideflow.estimator.spec import EstimatorSpec, ModeKeys
from tideflow.export import export
from tideflow.platform.function_arguments import fn_args, those_taken


@export("estimator.add_metrics")
def add_metrics(estimator: Estimator, metric_fn: Callable[..., dict[str, Any]]) -> Estimator:
    """Makes an estimator that is evaluated by more metrics.

    Args:
      estimator: The estimator.
      metric_fn: A function of `features`, `labels`, `predictions` and `config`, those that it names, that
        returns metrics by name.

    Returns:
      The new estimator, with the same model and directory.

    Raises:
      ValueError: If the function takes other arguments.
    """
    unknown = sorted(set(fn_args(metric_fn)) - {"features", "labels", "predictions", "config"})
    if unknown:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {unknown}")

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        offered = dict(features=features, labels=labels, predictions=spec.predictions, config=config)
        metrics = metric_fn(**those_taken(metric_fn, **offered))
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **metrics})

    return Estimator(
        model_fn, estimator.model_dir, estimator.config, warm_start_from=estimator._warm_start_settings
    )
