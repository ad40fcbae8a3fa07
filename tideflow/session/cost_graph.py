"""What the operations of a step cost, as RunMetadata.cost_graph has it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tensorboard.compat.proto.cost_graph_pb2 import CostGraphDef
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.step_stats_pb2 import NodeExecStats, StepStats


def cost_graph(step_stats: StepStats, partitions: Sequence[GraphDef]) -> CostGraphDef:
    """The nodes of a step with their measured time and the sizes of what they make. A node that ran several
    times, in a loop, costs the sum.
    """
    measured: dict[str, list[NodeExecStats]] = defaultdict(list)
    for device in step_stats.dev_stats:
        if "stream" not in device.device:  # a GPU's own times: the same ops again
            for stats in device.node_stats:
                measured[stats.node_name].append(stats)
    graph = CostGraphDef()
    for partition in partitions:
        ids = {node.name: i for i, node in enumerate(partition.node)}
        for node in partition.node:
            cost = graph.node.add(name=node.name, device=node.device, id=ids[node.name])
            cost.is_final = node.op in ("_Retval", "_Send")
            for edge in node.input:
                name, _, port = edge.lstrip("^").partition(":")
                if edge.startswith("^"):
                    cost.control_input.append(ids[name])
                else:
                    cost.input_info.add(preceding_node=ids[name], preceding_port=int(port or 0))
            runs = measured.get(node.name, [])
            cost.compute_cost = cost.compute_time = sum(stats.all_end_rel_micros for stats in runs)
            _add_outputs(cost, runs)
    return graph


def _add_outputs(cost: CostGraphDef.Node, runs: Sequence[NodeExecStats]) -> None:
    for stats in runs[-1:]:
        for output in stats.output:
            made = output.tensor_description
            size = made.allocation_description.requested_bytes
            cost.output_info.add(size=size, alias_input_port=-1, shape=made.shape, dtype=made.dtype)
        cost.persistent_memory_size = stats.memory_stats.persistent_memory_size
