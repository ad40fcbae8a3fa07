"""`tf.graph_util`: parts of GraphDefs, GraphDefs without training nodes, and with constants for variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation
from tideflow.graph.shapes import TensorShape
from tideflow.graph.tensor_proto import make_tensor_proto

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike

_STATEFUL_ON_CPU = frozenset(
    "Assign AssignAdd AssignSub Queue ScatterAdd ScatterSub ScatterUpdate TruncatedNormal Variable "
    "VariableV2".split()
)
_HANDLE_PASSES_THROUGH = frozenset("Identity Enter Exit Merge NextIteration Switch".split())


def source_name(text: str) -> str:
    """The node that an input's name refers to."""
    return re.sub(r"^\^|:\d+$", "", text)


# ---------------------------------------------------------------------------------- parts of a graph


@export("graph_util.extract_sub_graph")
def extract_sub_graph(graph_def: GraphDef, dest_nodes: Sequence[str]) -> GraphDef:
    """Extracts the part of a graph that some nodes need.

    Args:
      graph_def: The graph.
      dest_nodes: The names of the nodes.

    Returns:
      A GraphDef of these nodes and all nodes that they depend on, in the order of `graph_def`, with its
      library and versions.

    Raises:
      TypeError: If `graph_def` is not a GraphDef, or `dest_nodes` is a single string.
      AssertionError: If the graph has no node of one of the names.
    """
    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        assert name in nodes, f"{name} is not in graph"
    needed, stack = set(), list(dest_nodes)
    while stack:
        name = stack.pop()
        if name not in needed:
            needed.add(name)
            stack += [source_name(text) for text in nodes[name].input]
            stack += [other for other in _colocated(nodes[name]) if other in nodes]
    result = GraphDef(library=graph_def.library, versions=graph_def.versions)
    result.node.extend(node for node in graph_def.node if node.name in needed)
    return result


def _colocated(node: NodeDef) -> list[str]:
    """The nodes in whose colocation groups this one is."""
    groups = node.attr["_class"].list.s if "_class" in node.attr else ()
    return [group.decode().removeprefix("loc:@") for group in groups if group.startswith(b"loc:@")]


@export("graph_util.remove_training_nodes")
def remove_training_nodes(input_graph: GraphDef, protected_nodes: Sequence[str] | None = None) -> GraphDef:
    """Removes nodes that only training needs: CheckNumerics, and Identity without control edges.

    Args:
      input_graph: The graph.
      protected_nodes: Names of nodes that are kept in any case.

    Returns:
      A GraphDef in which the consumers of a removed node take that node's input instead.
    """
    kept = set(protected_nodes or ())
    checks = {node.name for node in input_graph.node if node.op == "CheckNumerics" and node.name not in kept}
    nodes = [_without_control_inputs(node, checks) for node in input_graph.node]
    ordered = {source_name(text) for node in nodes for text in node.input if text.startswith("^")}
    replaced = {
        node.name: node.input[0]
        for node in nodes
        if node.name in checks
        or node.op == "Identity"
        and node.name not in kept | ordered
        and not any(text.startswith("^") for text in node.input)
    }
    result = GraphDef()
    for node in nodes:
        if node.name not in replaced:
            node.input[:] = [_followed(text, replaced) for text in node.input]
            result.node.append(node)
    return result


def _without_control_inputs(node: NodeDef, names: set[str]) -> NodeDef:
    result = NodeDef()
    result.CopyFrom(node)
    result.input[:] = [text for text in node.input if not (text.startswith("^") and text[1:] in names)]
    return result


def _followed(text: str, replaced: dict[str, str]) -> str:
    while text in replaced:
        text = replaced[text]
    return text


# ---------------------------------------------------------------------------------- constants for variables


@export("graph_util.convert_variables_to_constants")
def convert_variables_to_constants(
    sess: SessionLike,
    input_graph_def: GraphDef,
    output_node_names: Sequence[str],
    variable_names_whitelist: Iterable[str] | None = None,
    variable_names_blacklist: Iterable[str] | None = None,
) -> GraphDef:
    """Freezes a graph: replaces its variables by constants of their current values.

    Args:
      sess: The session that has the variables' values.
      input_graph_def: The graph, usually `sess.graph.as_graph_def()`.
      output_node_names: The names of the nodes that the result must compute.
      variable_names_whitelist: If given, only these variables are replaced.
      variable_names_blacklist: Variables that are not replaced.

    Returns:
      A GraphDef of the nodes that the outputs depend on.

    Raises:
      AssertionError: If the graph has no node of one of the output names.
      ValueError: If a frozen variable is read by a gather with `batch_dims`.
    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    allowed = None if variable_names_whitelist is None else set(variable_names_whitelist)
    refused = set(variable_names_blacklist or ())
    reads = {
        node.name: f"{node.name}/Read/ReadVariableOp:0" if node.op == "VarHandleOp" else f"{node.name}:0"
        for node in graph_def.node
        if node.op in ("Variable", "VariableV2", "VarHandleOp")
        and (allowed is None or node.name in allowed)
        and node.name not in refused
    }
    values = dict(zip(reads, sess.run(list(reads.values()) if reads else []), strict=True))
    dtypes_behind = _dtypes_behind_handles(graph_def, values)
    result = GraphDef(library=graph_def.library)
    for node in graph_def.node:
        if node.name in values:
            result.node.append(_constant(node.name, node.attr["dtype"].type, values[node.name]))
        elif node.name in dtypes_behind:
            result.node.append(node)
            result.node[-1].attr["T"].type = dtypes_behind[node.name]
        elif node.op in _WITHOUT_HANDLE and source_name(node.input[0]) in {*values, *dtypes_behind}:
            result.node.extend(_WITHOUT_HANDLE[node.op](node))
        else:
            result.node.append(node)
    return result


def _dtypes_behind_handles(graph_def: GraphDef, frozen: Iterable[str]) -> dict[str, int]:
    """The nodes that only pass on a frozen variable's handle, with the variable's type."""
    frozen = set(frozen)
    known = {node.name: node.attr["dtype"].type for node in graph_def.node if node.name in frozen}
    passing = [
        node
        for node in graph_def.node
        if node.op in _HANDLE_PASSES_THROUGH and node.attr["T"].type == dtypes.resource.as_datatype_enum
    ]
    for _ in passing:  # in the worst order, each round finds one node
        sources = {node.name: source_name(node.input[0]) for node in passing}
        known.update({name: known[source] for name, source in sources.items() if source in known})
    return {node.name: known[node.name] for node in passing if node.name in known}


def _constant(name: str, dtype: int, value: Any) -> NodeDef:
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype))
    return node


def _identity_for_read(node: NodeDef) -> list[NodeDef]:
    identity = NodeDef(name=node.name, op="Identity", input=[node.input[0]])
    return [_with_attrs(identity, node, T="dtype")]


def _gather_for_resource_gather(node: NodeDef) -> list[NodeDef]:
    if node.attr["batch_dims"].i:
        raise ValueError("batch_dims != 0 is not supported by freeze_graph.")
    axis = _constant(f"{node.name}/axis", node.attr["Tindices"].type, np.array(0))
    gather = NodeDef(name=node.name, op="GatherV2", input=[*node.input[:2], axis.name])
    gather.attr["batch_dims"].i = 0
    return [axis, _with_attrs(gather, node, Tparams="dtype", Tindices="Tindices", Taxis="Tindices")]


_WITHOUT_HANDLE: dict[str, Callable[[NodeDef], list[NodeDef]]] = {
    "ReadVariableOp": _identity_for_read,
    "ResourceGather": _gather_for_resource_gather,
}


def _with_attrs(node: NodeDef, old: NodeDef, **names: str) -> NodeDef:
    """The new node with attributes of an old one, under their new names, and its colocation groups."""
    for new_name, old_name in names.items():
        node.attr[new_name].CopyFrom(old.attr[old_name])
    if "_class" in old.attr:
        node.attr["_class"].CopyFrom(old.attr["_class"])
    return node


# ---------------------------------------------------------------------------------- properties


@export("graph_util.must_run_on_cpu")
def must_run_on_cpu(node: Operation | NodeDef, pin_variables_on_cpu: bool = False) -> bool:
    """Whether TensorFlow runs a node on the CPU only.

    Args:
      node: An operation or a NodeDef.
      pin_variables_on_cpu: Whether variables and their updates count as such nodes.

    Returns:
      True for constants of strings and int32, for operations on int32 that have a CPU kernel only, and for
      variables if they are pinned.
    """
    node = node.node_def if isinstance(node, Operation) else node
    if pin_variables_on_cpu and node.op in _STATEFUL_ON_CPU:
        return True
    int32, string = dtypes.int32.as_datatype_enum, dtypes.string.as_datatype_enum
    if node.op == "Const":
        return bool(node.attr["dtype"].type in (string, int32))
    if node.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return bool(node.attr["T"].type == int32)
    return node.op == "Cast" and bool(node.attr["SrcT"].type == int32)


@export("graph_util.tensor_shape_from_node_def_name")
def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> TensorShape:
    """Gets the static shape of a tensor by name.

    Args:
      graph: The graph.
      input_name: The name of the tensor, or of an operation for its first output.

    Returns:
      The shape.

    Raises:
      KeyError: If the graph has no such tensor.
    """
    return graph.get_tensor_by_name(input_name if ":" in input_name else f"{input_name}:0").shape
