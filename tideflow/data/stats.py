"""Statistics of pipelines: `tf.data.experimental.StatsAggregator` and what it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.ops.datasets import dataset_stats


@export("data.experimental.StatsAggregator")
class StatsAggregator:
    """Gathers what pipelines tell of themselves; one is named in `Options.experimental_stats.aggregator`."""

    def __init__(self):
        self._resource = dataset_stats.stats_aggregator_handle_op()

    def get_summary(self) -> Tensor:
        """Histograms of everything so far, as a serialized Summary."""
        return dataset_stats.stats_aggregator_summary_op(self._resource)


@export("data.experimental.latency_stats")
def latency_stats(tag: Any) -> Callable[[Any], Any]:
    """Has the aggregator told how many microseconds each element takes."""
    return _measured(dataset_stats.latency_stats_dataset_op, tag)


@export("data.experimental.bytes_produced_stats")
def bytes_produced_stats(tag: Any) -> Callable[[Any], Any]:
    """Has the aggregator told how many bytes each element has."""
    return _measured(dataset_stats.bytes_produced_stats_dataset_op, tag)


def _measured(op: Any, tag: Any) -> Callable[[Any], Any]:
    return lambda dataset: dataset._same(op, convert_to_tensor(tag, dtypes.string))
