"""A common mistake, said once: the updates of batch normalization's averages that no training step runs."""

from __future__ import annotations

import warnings
import weakref

from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, ancestors
from tideflow.graph.scopes import GraphKeys

_warned: weakref.WeakSet[Graph] = weakref.WeakSet()


def warn_of_forgotten_updates(train_op: Operation) -> None:
    """Warns, once a graph, where UPDATE_OPS has operations and the train op depends on none of them."""
    graph = train_op.graph
    updates = {getattr(item, "op", item) for item in graph.get_collection(GraphKeys.UPDATE_OPS)}
    if not updates or graph in _warned or not updates.isdisjoint(ancestors(train_op)):
        return
    _warned.add(graph)
    scopes = sorted({op.name.rpartition("/")[0] or op.name for op in updates if isinstance(op, Operation)})
    named = ", ".join(f"'{scope}'" for scope in scopes[:5]) + (", ..." if len(scopes) > 5 else "")
    warnings.warn(
        f"The collection UPDATE_OPS has {len(updates)} operation(s) (in {named}) that '{train_op.name}' does "
        "not depend on: moving averages, such as those of batch normalization, stay as they are unless "
        "something else runs them. To run them with every training step, call minimize inside\n"
        "    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):",
        stacklevel=3,
    )
