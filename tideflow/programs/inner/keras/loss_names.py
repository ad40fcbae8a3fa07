"""What tests and libraries take from `tensorflow.python.keras.utils.losses_utils` and `keras.metrics`."""

from __future__ import annotations

from typing import Any

from tideflow.distribute.context import get_strategy
from tideflow.graph.operation import Tensor
from tideflow.keras import losses
from tideflow.keras.metrics import metric

ReductionV2 = losses.Reduction
SumOverBatchSizeMetricWrapper = metric.SumOverBatchSizeMetricWrapper


def squeeze_or_expand_dimensions(
    y_pred: Any, y_true: Any = None, sample_weight: Any = None
) -> tuple[Any, ...]:
    """Gives values and weights the rank of the predictions, where they differ by a last axis of size 1.

    Args:
      y_pred: The predictions.
      y_true: The true values; None for none.
      sample_weight: The weights of samples; None for none.

    Returns:
      The predictions, the true values, and the weights.
    """
    return losses.squeeze_or_expand(y_pred, y_true, sample_weight)


def reduce_weighted_loss(weighted_losses: Any, reduction: str = ReductionV2.SUM_OVER_BATCH_SIZE) -> Tensor:
    """One loss of the losses of samples.

    Args:
      weighted_losses: The losses of samples.
      reduction: How they become one.

    Returns:
      The loss.
    """
    return losses.reduced(weighted_losses, reduction)


def compute_weighted_loss(
    losses_of_samples: Any,
    sample_weight: Any = None,
    reduction: str = ReductionV2.SUM_OVER_BATCH_SIZE,
    name: str | None = None,
) -> Tensor:
    """One loss of the losses of samples and their weights.

    Args:
      losses_of_samples: The losses.
      sample_weight: The weights; 1 if None.
      reduction: How they become one.
      name: A name of operations.

    Returns:
      The loss.
    """
    ReductionV2.validate(reduction)
    return losses.reduced(losses.weighted(losses_of_samples, sample_weight), reduction)


def scale_loss_for_distribution(loss_value: Any) -> Any:
    """A replica's share of a loss: the losses of all replicas are summed.

    Args:
      loss_value: The loss of this replica.

    Returns:
      The loss by the number of replicas.
    """
    replicas = get_strategy().num_replicas_in_sync
    return loss_value if replicas == 1 else loss_value * (1.0 / replicas)


class SumOverBatchSize(metric.Reduce):
    """The sum of values by the size of the batch."""

    def __init__(self, name: str = "sum_over_batch_size", dtype: Any = None):
        super().__init__("sum_over_batch_size", name, dtype)


def clone_metric(given: Any) -> Any:
    """A copy of a metric, with variables of its own; what is no metric, as it is.

    Args:
      given: The metric.

    Returns:
      The copy.
    """
    return type(given).from_config(given.get_config()) if isinstance(given, metric.Metric) else given


def clone_metrics(given: Any) -> Any:
    """Copies of metrics, in a list or by name.

    Args:
      given: The metrics; None for none.

    Returns:
      The copies.
    """
    if given is None:
        return None
    if isinstance(given, dict):
        return {name: clone_metric(each) for name, each in given.items()}
    return [clone_metric(each) for each in given]
