"""`tf.contrib.util`: between tensors, protocol buffers and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorboard.compat.proto.op_def_pb2 import OpList

from tideflow.export import export, expose
from tideflow.graph import tensor_proto
from tideflow.graph.graph_def import op_def_proto
from tideflow.graph.op import definitions

if TYPE_CHECKING:
    from tensorboard.compat.proto.graph_pb2 import GraphDef

expose(tensor_proto.make_tensor_proto, "contrib.util.make_tensor_proto")
expose(tensor_proto.make_ndarray, "contrib.util.make_ndarray")


@export("contrib.util.ops_used_by_graph_def")
def ops_used_by_graph_def(graph_def: GraphDef) -> list[str]:
    """Finds the op types of a graph and of the functions in it.

    Args:
      graph_def: The GraphDef.

    Returns:
      A list of op types.
    """
    functions = {function.signature.name: function for function in graph_def.library.function}
    used: set[str] = set()
    nodes = list(graph_def.node)
    while nodes:
        kind = nodes.pop().op
        if kind in functions and kind not in used:
            nodes.extend(functions[kind].node_def)
        used.add(kind)
    return [kind for kind in used if kind not in functions]


@export("contrib.util.stripped_op_list_for_graph")
def stripped_op_list_for_graph(graph_def: GraphDef) -> OpList:
    """Describes the op types of a graph and of the functions in it.

    Args:
      graph_def: The GraphDef.

    Returns:
      An OpList, in the order of their names.

    Raises:
      ValueError: If there is no such op type.
    """
    known = definitions()
    used = sorted(ops_used_by_graph_def(graph_def))
    for kind in used:
        if kind not in known:
            raise ValueError(f"Op {kind} is used by the graph, but is not registered")
    return OpList(op=[op_def_proto(known[kind]) for kind in used])
