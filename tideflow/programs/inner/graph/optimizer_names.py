"""Names of `tensorflow.python.grappler.tf_optimizer`."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

from tideflow.graph.graph_util import extract_sub_graph
from tideflow.graph.scopes import GraphKeys


def OptimizeGraph(
    config_proto: ConfigProto,
    metagraph: MetaGraphDef,
    verbose: bool = True,
    graph_id: bytes = b"graph_to_optimize",
    cluster: Any = None,
    strip_default_attributes: bool = False,
) -> GraphDef:
    """Takes from a graph what its training operations need. A step optimizes the rest when it is planned.

    Args:
      config_proto: The options of a session; none of them changes what a training operation needs.
      metagraph: The graph, with its training operations in the collection `GraphKeys.TRAIN_OP`.
      verbose: Kept for TensorFlow's programs; nothing is written.
      graph_id: Kept for TensorFlow's programs; nothing is kept under a name.
      cluster: Kept for TensorFlow's programs; the graph does not depend on machines.
      strip_default_attributes: Kept for TensorFlow's programs; attributes stay.

    Returns:
      A GraphDef with the needed nodes, and all of the library.

    Raises:
      ValueError: If the graph has no training operations.
    """
    wanted = [name.partition(":")[0] for name in metagraph.collection_def[GraphKeys.TRAIN_OP].node_list.value]
    if not wanted:
        raise ValueError("The graph has no operations in the collection train_op.")
    return extract_sub_graph(metagraph.graph_def, wanted)
