"""A pruned model without its masks: constants in the place of masked weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.graph_util import convert_variables_to_constants, extract_sub_graph
from tideflow.graph.scopes import get_default_graph
from tideflow.io.checkpoint_state import latest_checkpoint
from tideflow.ops.arrays.constants import constant
from tideflow.platform import logging
from tideflow.session.session import Session
from tideflow.train.meta_graph import import_meta_graph


@export("contrib.model_pruning.strip_pruning_vars_fn")
def strip_pruning_vars_fn(input_graph_def: GraphDef, output_node_names: Sequence[str]) -> GraphDef:
    """Takes masks and thresholds out of a model.

    Args:
      input_graph_def: A GraphDef without variables, as `graph_def_from_checkpoint` gives one.
      output_node_names: The names of the nodes that the result must compute.

    Returns:
      A GraphDef in which weights that were under masks are constants with their zeros.
    """
    names = [node.name for node in input_graph_def.node if "masked_weight" in node.name]
    graph = Graph()
    with graph.as_default(), Session(graph=graph) as session:
        import_graph_def(input_graph_def, name="")
        values = dict(zip(names, session.run([f"{name}:0" for name in names])))
    stripped = GraphDef()
    for node in input_graph_def.node:
        if node.name in values:
            value = values[node.name]
            logging.info("%s has %d values, %.2f%% zeros", node.name, value.size, 100 * np.mean(value == 0))
            stripped.node.add().CopyFrom(_constant(node.name, value))
        else:
            stripped.node.add().CopyFrom(node)
    return extract_sub_graph(stripped, output_node_names)


def _constant(name: str, value: np.ndarray):
    with Graph().as_default():
        return constant(value, name=name).op.node_def


@export("contrib.model_pruning.graph_def_from_checkpoint")
def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: Sequence[str]) -> GraphDef:
    """Reads the last checkpoint of a model, and makes its variables constants.

    The model is imported into the default graph.

    Args:
      checkpoint_dir: The directory of the checkpoints.
      output_node_names: The names of the nodes that the result must compute.

    Returns:
      The GraphDef.

    Raises:
      ValueError: If there is no checkpoint.
    """
    path = latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    saver = import_meta_graph(f"{path}.meta", clear_devices=True)
    with Session() as session:
        saver.restore(session, path)
        return convert_variables_to_constants(
            session, get_default_graph().as_graph_def(), list(output_node_names)
        )
