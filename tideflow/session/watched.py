"""A step that is watched: what RunOptions and the session's configuration ask to know of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, RunMetadata, RunOptions

from tideflow.graph.operation import Tensor
from tideflow.session import checks
from tideflow.session.cost_graph import cost_graph
from tideflow.session.fetches import Fetches
from tideflow.session.partitions import Devices
from tideflow.session.step import Step
from tideflow.session.trace import Trace

if TYPE_CHECKING:
    from tideflow.session.session import BaseSession


class Watched:
    """A step with a trace in its plan. It serves one run at a time."""

    def __init__(
        self, session: BaseSession, fetches: Fetches, feeds: list[Tensor], checked: Callable | None = None
    ):
        self._graph = session.graph
        self._devices = Devices(fetches.tensors, fetches.targets, feeds, session._placement)
        self._trace = Trace(self._devices)
        self._step = Step(session, fetches, feeds, checks.hooks(self._trace, checked))

    @staticmethod
    def wants(options: RunOptions | None, config: ConfigProto | None) -> bool:
        """Whether anything is asked that an ordinary step does not tell."""
        asked = options is not None and (options.trace_level or options.output_partition_graphs)
        return bool(asked) or _wants_costs(config)

    @staticmethod
    def keep_what_is_asked(
        options: RunOptions | None, config: ConfigProto | None, run_metadata: RunMetadata
    ) -> None:
        """Makes of all that a cluster has told what was asked for."""
        costs = _wants_costs(config)
        if costs:
            run_metadata.cost_graph.CopyFrom(
                cost_graph(run_metadata.step_stats, run_metadata.partition_graphs)
            )
        if not costs and (options is None or not options.trace_level):
            run_metadata.ClearField("step_stats")
        if options is None or not options.output_partition_graphs:
            run_metadata.ClearField("partition_graphs")

    def run(
        self,
        values: Sequence[Any],
        options: RunOptions | None,
        config: ConfigProto | None,
        run_metadata: RunMetadata,
    ) -> Any:
        """Runs the step and fills the message with what was asked for, also when the step fails."""
        self._trace.begin()
        try:
            return self._step(values)
        finally:
            self._tell(options, config, run_metadata)

    def _tell(
        self, options: RunOptions | None, config: ConfigProto | None, run_metadata: RunMetadata
    ) -> None:
        costs = _wants_costs(config)
        if costs or (options is not None and options.trace_level):
            self._trace.fill(run_metadata)
        graphs = options is not None and options.output_partition_graphs
        if costs or graphs:
            partitions = self._devices.partition_graphs(self._graph)
            if graphs:
                run_metadata.partition_graphs.extend(partitions)
            if costs:
                run_metadata.cost_graph.CopyFrom(cost_graph(run_metadata.step_stats, partitions))


def _wants_costs(config: ConfigProto | None) -> bool:
    return config is not None and config.graph_options.build_cost_model > 0
