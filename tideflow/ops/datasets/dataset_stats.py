"""Statistics of pipelines as ops: aggregators, datasets that tell them something, and their summaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from tideflow.graph.op import Op
from tideflow.ops.datasets.datasets import dataset_op
from tideflow.ops.files.summaries import histogram_message
from tideflow.ops.helpers.session_objects import NAMED, found, held
from tideflow.runtime import dataset_stats as stats
from tideflow.runtime.datasets import as_cell, dataset_in

stats_aggregator_handle_op, _old_handle_op = (
    Op(name, " -> handle: resource", stateful=True, handle=True, differentiable=False, **NAMED)
    for name in ("StatsAggregatorHandle", "ExperimentalStatsAggregatorHandle")
)
stats_aggregator_summary_op, _old_summary_op = (
    Op(name, "iterator: resource -> summary: string", stateful=True, on_host=True, differentiable=False)
    for name in ("StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary")
)


def _handle(*, resources: Any, node: Any) -> stats.StatsAggregator:
    return found("stats aggregator", stats.StatsAggregator, resources, node)


def _summary(iterator: Any) -> np.ndarray:
    message = Summary()
    for tag, numbers in held(iterator).all().items():
        message.value.add(tag=tag, histo=histogram_message(np.array(numbers)))
    return np.array(message.SerializeToString(), dtype=object)


for _op in (stats_aggregator_handle_op, _old_handle_op):
    _op.shape(lambda: [])
    _op.kernel(_handle)
    _op.samples()
for _op in (stats_aggregator_summary_op, _old_summary_op):
    _op.shape(lambda iterator: [])
    _op.kernel(_summary)
    _op.samples()


def _measured(name: str, measure: Callable) -> Op:
    def kernel(input_dataset, tag):
        return as_cell(stats.Measured(dataset_in(input_dataset), tag.decode(), measure))

    return dataset_op(
        name, "input_dataset: variant, tag: string", kernel, host="tag", twin=True, metadata=False
    )


latency_stats_dataset_op = _measured("LatencyStatsDataset", stats.latency)
bytes_produced_stats_dataset_op = _measured("BytesProducedStatsDataset", stats.bytes_produced)
set_stats_aggregator_dataset_op = dataset_op(
    "SetStatsAggregatorDataset",
    "input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string",
    lambda input_dataset, stats_aggregator, tag, counter_prefix: as_cell(
        stats.WithAggregator(dataset_in(input_dataset), held(stats_aggregator), tag.decode())
    ),
    host="tag counter_prefix",
    twin=True,
    metadata=False,
    stateful=True,
)
