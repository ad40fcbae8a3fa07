"""`fuse_op`: a part of a GraphDef becomes one node of another op type."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.export import export
from tideflow.graph.graph_util import source_name


@export("contrib.framework.fuse_op")
def fuse_op(
    graph_def: GraphDef,
    input_nodes: Sequence[str],
    output_nodes: Sequence[str],
    output_dtypes: Sequence[int],
    output_quantized: bool,
    op_name: str,
    op_type: str,
) -> GraphDef:
    """Replaces what stands between some nodes of a GraphDef by one node.

    Args:
      graph_def: The graph.
      input_nodes: The nodes that the new one takes its inputs from.
      output_nodes: The nodes that take its outputs, one each.
      output_dtypes: The types of its outputs, as numbers.
      output_quantized: Whether its outputs are quantized.
      op_name: Its name.
      op_type: Its op type.

    Returns:
      Another GraphDef.

    Raises:
      TypeError: If an argument has a wrong type, or a node between takes an input from elsewhere.
      AssertionError: If the graph has no node of one of the names.
    """
    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    for argument, names in (("input_nodes", input_nodes), ("output_nodes", output_nodes)):
        if isinstance(names, str):
            raise TypeError(f"{argument} must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in [*input_nodes, *output_nodes]:
        assert name in nodes, f"{name} is not in graph"
    before, through = _needed(nodes, input_nodes), _needed(nodes, output_nodes)
    _check_inner(nodes, through - before - set(output_nodes), before - set(input_nodes), set(input_nodes))
    fused = GraphDef(library=graph_def.library, versions=graph_def.versions)
    fused.node.extend(node for node in graph_def.node if node.name in before)
    made = fused.node.add(name=op_name, op=op_type, input=input_nodes)
    made.attr["_output_types"].list.type[:] = output_dtypes
    made.attr["_output_quantized"].b = output_quantized
    for index, name in enumerate(output_nodes):
        assert len(nodes[name].input) == 1, f"{name} takes more than one input"
        output = fused.node.add()
        output.CopyFrom(nodes[name])
        output.input[:] = [f"{op_name}:{index}" if index else op_name]
    fused.node.extend(node for node in graph_def.node if node.name not in before | through)
    return fused


def _needed(nodes: dict[str, Any], names: Iterable[str]) -> set[str]:
    """The nodes of these names, and all that they depend on."""
    found, queue = set(names), deque(names)
    while queue:
        for name in map(source_name, nodes[queue.popleft()].input):
            if name not in found:
                found.add(name)
                queue.append(name)
    return found


def _check_inner(nodes: dict[str, Any], inner: set[str], outside: set[str], inputs: set[str]) -> None:
    """TypeError where a node of the part takes something that is not one of its inputs."""
    for name in inner:
        for source in map(source_name, nodes[name].input):
            if source in outside and source not in inputs:
                raise TypeError(f"Node {name} uses input {source} not in input_nodes.")
