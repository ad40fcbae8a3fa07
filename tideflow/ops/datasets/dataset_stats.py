"""Statistics of pipelines as ops: aggregators, datasets that report to them, and their summaries."""

from __future__ import annotations

import collections
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary

from tideflow.graph.op import Op
from tideflow.ops.files.summaries import histogram_message
from tideflow.ops.helpers.dataset_origins import node_names
from tideflow.ops.helpers.datasets import dataset_op
from tideflow.ops.helpers.session_objects import NAMED, found, held
from tideflow.runtime import dataset_stats as stats
from tideflow.runtime.datasets import as_cell, dataset_in

_TESTS = "tests/ops/datasets/test_dataset_stats.py"


def _aggregator_op(name: str) -> Op:
    """An op that makes an aggregator."""
    op = Op(name, " -> handle: resource", stateful=True, handle=True, differentiable=False, **NAMED)
    op.shape(lambda: [])

    @op.kernel
    def _kernel(*, resources: Any, node: Any) -> stats.StatsAggregator:
        return found("stats aggregator", stats.StatsAggregator, resources, node)

    op.samples(covered_by=_TESTS)
    return op


stats_aggregator_handle_op = _aggregator_op("StatsAggregatorHandle")
experimental_stats_aggregator_handle_op = _aggregator_op("ExperimentalStatsAggregatorHandle")
stats_aggregator_handle_v2_op = _aggregator_op("StatsAggregatorHandleV2")


def _add(message: Summary, tag: str, value: list[float] | float) -> None:
    """Adds a histogram of numbers to a message, or a number that stands for itself."""
    if isinstance(value, list):
        message.value.add(tag=tag, histo=histogram_message(np.array(value)))
    else:
        message.value.add(tag=tag, simple_value=value)


set_summary_writer_op = Op(
    "StatsAggregatorSetSummaryWriter",
    "stats_aggregator: resource, summary: resource",
    stateful=True,
    on_host=True,
    differentiable=False,
)
set_summary_writer_op.shape(lambda stats_aggregator, summary: [])


@set_summary_writer_op.kernel
def _set_summary_writer_kernel(stats_aggregator, summary):
    log = held(summary)

    counts = collections.Counter[str]()

    def write(tag: str, value: list[float] | float) -> None:
        counts[tag] += 1
        message = Summary()
        _add(message, tag, value)
        log.write(Event(wall_time=time.time(), step=counts[tag], summary=message))

    held(stats_aggregator).write_by(write)
    return []


set_summary_writer_op.samples(covered_by=_TESTS)


def _aggregator_summary_op(name: str) -> Op:
    """An op that tells what an aggregator has heard: a Summary with a histogram or a number for each tag."""
    op = Op(name, "iterator: resource -> summary: string", stateful=True, on_host=True, differentiable=False)
    op.shape(lambda iterator: [])

    @op.kernel
    def _kernel(iterator: Any) -> np.ndarray:
        message = Summary()
        for tag, value in held(iterator).all().items():
            _add(message, tag, value)
        return np.array(message.SerializeToString(), dtype=object)

    op.samples(covered_by=_TESTS)
    return op


stats_aggregator_summary_op = _aggregator_summary_op("StatsAggregatorSummary")
experimental_stats_aggregator_summary_op = _aggregator_summary_op("ExperimentalStatsAggregatorSummary")


def _measured_op(name: str, measure: Callable) -> Op:
    """An op that makes a dataset with the elements of another, of which it reports a number each."""

    def _kernel(input_dataset, tag):
        return as_cell(stats.Measured(dataset_in(input_dataset), tag.decode(), measure))

    return dataset_op(
        name,
        "input_dataset: variant, tag: string",
        _kernel,
        host="tag",
        metadata=False,
        covered_by=_TESTS,
    )


latency_stats_dataset_op = _measured_op("LatencyStatsDataset", stats.latency)
experimental_latency_stats_dataset_op = _measured_op("ExperimentalLatencyStatsDataset", stats.latency)

bytes_produced_stats_dataset_op = _measured_op("BytesProducedStatsDataset", stats.bytes_produced)
experimental_bytes_produced_stats_dataset_op = _measured_op(
    "ExperimentalBytesProducedStatsDataset", stats.bytes_produced
)


def _with_aggregator_op(name: str) -> Op:
    """An op that makes a dataset whose reports go to an aggregator."""

    def _kernel(input_dataset, stats_aggregator, tag, counter_prefix):
        source = dataset_in(input_dataset)
        names = node_names(source)
        return as_cell(stats.WithAggregator(source, held(stats_aggregator), tag.decode(), names))

    return dataset_op(
        name,
        "input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string",
        _kernel,
        host="tag counter_prefix",
        metadata=False,
        stateful=True,
        covered_by=_TESTS,
    )


set_stats_aggregator_dataset_op = _with_aggregator_op("SetStatsAggregatorDataset")
experimental_set_stats_aggregator_dataset_op = _with_aggregator_op("ExperimentalSetStatsAggregatorDataset")
