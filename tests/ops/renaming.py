"""Graphs with the same nodes under other op types: generations of one op do the same."""

from collections.abc import Callable, Iterator
from typing import Any

import tideflow as tf
from tideflow.graph.op import definition, definitions


def with_op_types(graph: tf.Graph, rename: Callable[[str], str]) -> tf.Graph:
    """A copy of a graph in which each node is of the op type that `rename` makes of its own. Attributes that
    only the other type has are dropped.
    """
    message = graph.as_graph_def()
    for node in _nodes(message):
        if node.op in definitions():  # and not a function's name
            node.op = rename(node.op)
            for key in set(node.attr) - set(definition(node.op).attrs):
                del node.attr[key]
    with tf.Graph().as_default() as copy:
        tf.import_graph_def(message, name="")
    return copy


def op_types(graph: tf.Graph) -> set[str]:
    """The op types of a graph and of its functions."""
    return {node.op for node in _nodes(graph.as_graph_def())}


def _nodes(message: Any) -> Iterator[Any]:
    yield from message.node
    for function in message.library.function:
        yield from function.node_def
