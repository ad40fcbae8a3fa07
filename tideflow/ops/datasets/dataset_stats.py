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


def _add_shape_and_kernel_and_samples_of_stats_aggregator_handle_family(op: Op) -> None:
    op.shape(lambda: [])
    op.kernel(_handle)
    op.samples(covered_by="tests/data/test_datasets.py")


_add_shape_and_kernel_and_samples_of_stats_aggregator_handle_family(stats_aggregator_handle_op)
_add_shape_and_kernel_and_samples_of_stats_aggregator_handle_family(_old_handle_op)


def _summary(iterator: Any) -> np.ndarray:
    message = Summary()
    for tag, numbers in held(iterator).all().items():
        message.value.add(tag=tag, histo=histogram_message(np.array(numbers)))
    return np.array(message.SerializeToString(), dtype=object)


def _add_shape_and_kernel_and_samples_of_stats_aggregator_summary_family(op: Op) -> None:
    op.shape(lambda iterator: [])
    op.kernel(_summary)
    op.samples(covered_by="tests/data/test_datasets.py")


_add_shape_and_kernel_and_samples_of_stats_aggregator_summary_family(stats_aggregator_summary_op)
_add_shape_and_kernel_and_samples_of_stats_aggregator_summary_family(_old_summary_op)


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
