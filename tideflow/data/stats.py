"""Statistics of pipelines: `tf.data.experimental.StatsAggregator` and what it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.ops.datasets import dataset_stats

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("data.experimental.StatsAggregator")
class StatsAggregator:
    """Collects statistics of pipelines. Set it as `Options.experimental_stats.aggregator`."""

    def __init__(self):
        self._resource = dataset_stats.stats_aggregator_handle_op()

    def get_summary(self) -> Tensor:
        """Summarizes the statistics so far.

        Returns:
          A scalar string tensor: a serialized Summary of histograms.
        """
        return dataset_stats.stats_aggregator_summary_op(self._resource)


@export("data.experimental.latency_stats")
def latency_stats(tag: TensorLike) -> Callable[[Any], Any]:
    """Makes a transformation that records how many microseconds each element takes.

    Args:
      tag: The tag of the statistic.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """
    return _measured(dataset_stats.latency_stats_dataset_op, tag)


@export("data.experimental.bytes_produced_stats")
def bytes_produced_stats(tag: TensorLike) -> Callable[[Any], Any]:
    """Makes a transformation that records how many bytes each element has.

    Args:
      tag: The tag of the statistic.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """
    return _measured(dataset_stats.bytes_produced_stats_dataset_op, tag)


def _measured(op: Any, tag: Any) -> Callable[[Any], Any]:
    return lambda dataset: dataset._same(op, convert_to_tensor(tag, dtypes.string))
