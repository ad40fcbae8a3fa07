"""tf.contrib.copy_graph: operations and variables of one graph in another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys
from tideflow.variables.base import Variable

_SHARED = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)


def _inside(scope: str, name: str) -> str:
    return f"{scope}/{name}" if scope else name


def _collections_of(item: Any, graph: Graph) -> list[str]:
    keys = graph.get_all_collection_keys()
    return [key for key in keys if any(each is item for each in graph.get_collection_ref(key))]


@export("contrib.copy_graph.copy_variable_to_graph")
def copy_variable_to_graph(org_instance: Variable, to_graph: Graph, scope: str = "") -> Variable:
    """Makes a variable like one of another graph, with the value that this one begins with.

    Args:
      org_instance: The variable.
      to_graph: The graph that gets the new one.
      scope: What the name of the new one begins with.

    Returns:
      The new variable.

    Raises:
      TypeError: If it is no variable.
    """
    if not isinstance(org_instance, Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    graph = org_instance.graph
    found = _collections_of(org_instance, graph)
    with graph.as_default(), tf.Session(graph=graph) as session:
        value = session.run(org_instance.initialized_value())
    with to_graph.as_default():
        return tf.Variable(
            value,
            GraphKeys.TRAINABLE_VARIABLES in found,
            name=_inside(scope, org_instance.op.name),
            collections=[key if key in _SHARED else _inside(scope, key) for key in found],
            validate_shape=False,
        )


@export("contrib.copy_graph.copy_op_to_graph")
def copy_op_to_graph(
    org_instance: Operation | Tensor, to_graph: Graph, variables: Iterable[Variable], scope: str = ""
) -> Any:
    """Copies an operation, and all that it needs, into another graph.

    Args:
      org_instance: The operation, or a tensor of it.
      to_graph: The other graph.
      variables: The variables that were copied there with `copy_variable_to_graph`.
      scope: What the names of the copies begin with.

    Returns:
      The copy.

    Raises:
      TypeError: If it is neither an operation nor a tensor.
    """
    if isinstance(org_instance, Variable):
        org_instance = org_instance.value() if org_instance.graph is to_graph else org_instance.op.outputs[0]
    if not isinstance(org_instance, (Operation, Tensor)):
        raise TypeError(f"Could not copy instance: {org_instance}")
    name = _inside(scope, org_instance.name)
    for variable in variables:
        if variable.name == name:
            return to_graph.get_tensor_by_name(name)
    try:
        return to_graph.as_graph_element(name)
    except (KeyError, ValueError):
        pass  # it is not there yet
    if isinstance(org_instance, Tensor):
        op = copy_op_to_graph(org_instance.op, to_graph, variables, scope)
        copy: Any = op.outputs[org_instance.value_index]
    else:
        controls = [
            copy_op_to_graph(each, to_graph, variables, scope) for each in org_instance.control_inputs
        ]
        inputs = [copy_op_to_graph(each, to_graph, variables, scope) for each in org_instance.inputs]
        with to_graph.as_default(), tf.control_dependencies(controls), tf.name_scope(None):
            attributes = dict(org_instance.node_def.attr)
            copy = to_graph.create_op(org_instance.type, inputs, name=name, attrs=attributes)
    for key in _collections_of(org_instance, org_instance.graph):
        to_graph.add_to_collection(_inside(scope, key), copy)
    return copy


@export("contrib.copy_graph.get_copied_op")
def get_copied_op(org_instance: Operation | Tensor | Variable, graph: Graph, scope: str = "") -> Any:
    """Finds the copy of an operation, tensor or variable.

    Args:
      org_instance: What was copied.
      graph: The graph that it was copied into.
      scope: What the names of the copies begin with.

    Returns:
      The copy.

    Raises:
      KeyError: If there is none.
    """
    return graph.as_graph_element(_inside(scope, org_instance.name))
