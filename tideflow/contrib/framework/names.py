"""Names of scopes and ops, and which placeholders a graph has."""

from __future__ import annotations

import re
from typing import Any

from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_default_graph, graph_of
from tideflow.ops.arrays import constants


@export("contrib.framework.get_name_scope")
def get_name_scope() -> str:
    """The name scope in force here."""
    return get_default_graph().get_name_scope()


@export("contrib.framework.strip_name_scope")
def strip_name_scope(name: str, export_scope: str | None) -> str:
    """Takes a scope from the start of a name.

    Args:
      name: The name.
      export_scope: The scope; None for none.

    Returns:
      The name without the scope, if it begins with it.
    """
    if not export_scope:
        return name
    scope = re.escape(export_scope.rstrip("/"))
    return re.sub(rf"([\^]|loc:@|^){scope}[\/]+(.*)", r"\1\2", name, count=1)


@export("contrib.framework.prepend_name_scope")
def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """Puts a scope before a name.

    Args:
      name: The name.
      import_scope: The scope; None for none.

    Returns:
      The name within the scope.
    """
    if not import_scope:
        return name
    return re.sub(r"([\^]|loc:@|^)(.*)", rf"\1{import_scope.rstrip('/')}/\2", name, count=1)


@export("contrib.framework.get_graph_from_inputs")
def get_graph_from_inputs(op_input_list: Any, graph: Graph | None = None) -> Graph:
    """The graph that all these tensors are of.

    Args:
      op_input_list: Tensors and operations.
      graph: The graph that they must be of; that of the first if None.

    Returns:
      The graph.

    Raises:
      ValueError: If they are of several graphs.
    """
    found = graph or graph_of(list(op_input_list))
    of_graph = [value for value in op_input_list if hasattr(value, "graph")]
    for value in of_graph:
        if value.graph is not found and graph is None:
            raise ValueError(f"{value} must be from the same graph as {of_graph[0]}.")
        if value.graph is not found:
            raise ValueError(f"{value} is not from the passed-in graph.")
    return found


@export("contrib.framework.get_placeholders")
def get_placeholders(graph: Graph) -> list[Tensor]:
    """The placeholders of a graph.

    Args:
      graph: The graph.

    Returns:
      A list of tensors.
    """
    return [op.outputs[0] for op in graph.get_operations() if op.definition is constants.placeholder_op]
