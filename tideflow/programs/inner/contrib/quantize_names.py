"""`tensorflow.contrib.quantize.python`: what its modules ask of a graph."""

from __future__ import annotations

import re

import tideflow as tf

_TRAINS = re.compile("(Resource)?(Sparse)?Apply")


def _GetOperationByNameDontThrow(graph: tf.Graph, name: str) -> tf.Operation | None:
    """The operation of a name; None if there is none."""
    try:
        return graph.get_operation_by_name(name)
    except KeyError:
        return None


def _check_for_training_ops(g: tf.Graph) -> None:
    """Refuses a graph that has an optimizer's operations."""
    found = {op.type for op in g.get_operations() if _TRAINS.match(op.type)}
    if found:
        raise ValueError(f"Training op found in graph, exiting {found}")
