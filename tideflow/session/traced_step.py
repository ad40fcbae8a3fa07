"""A step with a trace: what RunOptions and the session's configuration ask to know of a run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, GraphOptions, RunMetadata, RunOptions

from tideflow.compile.request import StepRequest
from tideflow.graph.graph import Graph
from tideflow.runtime.devices import Placement
from tideflow.runtime.waiting import StepContext
from tideflow.session import checks
from tideflow.session.cost_graph import cost_graph
from tideflow.session.executor import Executor
from tideflow.session.fetches import Fetches
from tideflow.session.partitions import Devices
from tideflow.session.step import Step
from tideflow.session.trace import Trace


@dataclass(frozen=True)
class TraceRequest:
    """Which parts of RunMetadata a run is to fill in."""

    step_stats: bool
    partition_graphs: bool
    cost_graph: bool

    @classmethod
    def of(cls, options: RunOptions | None, config: ConfigProto | None, runs: int) -> TraceRequest | None:
        """What is asked for, or None, after so many runs that took a RunMetadata."""
        made = cls(
            options is not None and options.trace_level > 0,
            options is not None and options.output_partition_graphs,
            config is not None and _is_measured(config.graph_options, runs),
        )
        return made if made.step_stats or made.partition_graphs or made.cost_graph else None

    def select(self, run_metadata: RunMetadata) -> None:
        """Of all that the tasks of a cluster have reported, keeps what is asked for."""
        if self.cost_graph:
            costs = cost_graph(run_metadata.step_stats, run_metadata.partition_graphs)
            run_metadata.cost_graph.CopyFrom(costs)
        if not self.cost_graph and not self.step_stats:
            run_metadata.ClearField("step_stats")
        if not self.partition_graphs:
            run_metadata.ClearField("partition_graphs")


def _is_measured(options: GraphOptions, runs: int) -> bool:
    """Whether the costs of the next run are wanted: those of every n-th, after the first few."""
    every, counted = options.build_cost_model, runs - options.build_cost_model_after
    return bool(every > 0 and counted >= 0 and (counted + 1) % every == 0)


class TracedStep(Step):
    """A step of this process with a trace in its plan. It serves one run at a time."""

    def __init__(self, executor: Executor, request: StepRequest, fetches: Fetches, placement: Placement):
        self._devices = Devices(request, placement)
        self._trace = Trace(self._devices)
        hook = checks.combined(self._trace.hook, request.hook)
        super().__init__(executor, dataclasses.replace(request, hook=hook), fetches)

    def run(
        self, values: Any, context: StepContext, graph: Graph, asked: TraceRequest, run_metadata: RunMetadata
    ) -> Any:
        """Runs the step and fills in what is asked for, also when the step fails."""
        self._trace.begin()
        try:
            return self(values, context)
        finally:
            self._fill(graph, asked, run_metadata)

    def _fill(self, graph: Graph, asked: TraceRequest, run_metadata: RunMetadata) -> None:
        if asked.cost_graph or asked.step_stats:
            self._trace.fill(run_metadata)
        if asked.cost_graph or asked.partition_graphs:
            partitions = self._devices.partition_graphs(graph)
            if asked.partition_graphs:
                run_metadata.partition_graphs.extend(partitions)
            if asked.cost_graph:
                run_metadata.cost_graph.CopyFrom(cost_graph(run_metadata.step_stats, partitions))
