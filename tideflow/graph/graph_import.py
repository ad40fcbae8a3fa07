"""`import_graph_def` adds the nodes of a GraphDef to the default graph: all, or none if one is invalid."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.export import export
from tideflow.graph import device as device_names
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import op_definition
from tideflow.graph.graph import Graph
from tideflow.graph.graph_def import attr_from_proto
from tideflow.graph.node_import import NODE_NAME, NodeImporter, input_key, stands_with_others
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph, name_scope

if TYPE_CHECKING:
    from tensorboard.compat.proto.op_def_pb2 import OpList

    from tideflow.graph.typing import TensorLike


@export("import_graph_def", "graph_util.import_graph_def")
def import_graph_def(
    graph_def: GraphDef,
    input_map: dict[str, TensorLike | Operation] | None = None,
    return_elements: list[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: OpList | None = None,
) -> list[Any] | None:
    """Adds the nodes of a GraphDef to the default graph.

    If a node is invalid, the graph stays as it was.

    Args:
      graph_def: The nodes and functions, from this package or from TensorFlow.
      input_map: Replacements for tensors of `graph_def`, by their names (`"op:0"`, or `"^op"` for a control
        input): the nodes that take such a tensor take the given value instead.
      return_elements: The names of operations (`"op"`) and tensors (`"op:0"`) of `graph_def` to return.
      name: The name scope of the new operations; "import" if None, no scope if "".
      op_dict: Ignored: the registered op types are used.
      producer_op_list: An OpList with the op types as the program that wrote `graph_def` knew them. An
        attribute that is unknown here and has its default value there is dropped.

    Returns:
      The elements named in `return_elements`, or None if it is None.

    Raises:
      TypeError: If an argument has the wrong type.
      ValueError: If a node is invalid, `input_map` names a tensor that no node takes, or `return_elements`
        names an element that does not exist.
      NotFoundError: If an op type is not registered.
    """
    if not isinstance(graph_def, GraphDef):
        graph_def = _as_graph_def(graph_def)
    if input_map is not None and not (
        isinstance(input_map, dict) and all(isinstance(k, (str, bytes)) for k in input_map)
    ):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    if return_elements is not None and not (
        isinstance(return_elements, (list, tuple))
        and all(isinstance(e, (str, bytes)) for e in return_elements)
    ):
        raise TypeError("return_elements must be a list of strings.")
    values = list((input_map or {}).values())
    if name == "" and not all(isinstance(value, (Tensor, Operation)) for value in values):
        raise ValueError(
            "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values. "
            "Try calling tf.convert_to_tensor() on `input_map` values before calling tf.import_graph_def()."
        )
    graph = get_default_graph()
    with all_or_nothing(graph), name_scope(name, "import", values) as scope:
        mapped = {input_key(_as_text(k)): _mapped_value(v) for k, v in (input_map or {}).items()}
        importer = NodeImporter(graph, graph_def, op_definition, scope, mapped, producer_op_list)
        importer.run()
        _take_devices_of_groups(graph, importer.ops.values())
        if return_elements is not None:
            return [importer.element(_as_text(e)) for e in return_elements]
    return None


def _take_devices_of_groups(graph: Graph, ops: Iterable[Operation]) -> None:
    """Gives operations that stand with others the device of the first of these that has one, whatever their
    own was: so does TensorFlow's Python, its C library does not.
    """
    grouped = list(filter(stands_with_others, ops))
    for op in grouped:
        op._device = ""
    for op in grouped:
        others = [graph._by_name.get(group.removeprefix("loc:@")) for group in op.attrs["_class"]]
        op._device = next((other.device for other in others if other is not None and other.device), "")


def _as_text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name


def extend_graph(graph: Graph, graph_def: GraphDef) -> None:
    """Adds nodes to a graph under their own names; their inputs may be operations that the graph has."""
    added = {node.name for node in graph_def.node}
    inputs = {text for node in graph_def.node for text in node.input}
    outside = {text for text in inputs if text.lstrip("^").partition(":")[0] not in added}
    mapped = {input_key(text): _element(graph, text) for text in outside}
    with graph.as_default(), all_or_nothing(graph):
        NodeImporter(
            graph, graph_def, op_definition, mapped=mapped, uniquify=False, neighbours=graph._by_name
        ).run()


def _element(graph: Graph, text: str) -> Tensor | Operation:
    """What a node's input names: a tensor, or the operation of a control input."""
    if text.startswith("^"):
        return graph.get_operation_by_name(text[1:])
    return graph.get_tensor_by_name(text if ":" in text else f"{text}:0")


def add_described_node(
    graph: Graph, node: NodeDef, inputs: Sequence[Tensor], control_inputs: Sequence[Any]
) -> Operation:
    """Adds the operation that a program describes by a NodeDef and what it takes: `tf.Operation(…)`."""
    if not isinstance(node, NodeDef):
        raise TypeError(f"node_def needs to be a NodeDef: {node}")
    if not NODE_NAME.match(node.name):
        raise ValueError(f"'{node.name}' is not a valid node name")
    if not isinstance(graph, Graph):
        raise TypeError(f"g needs to be a Graph: {graph}")
    if not isinstance(inputs, list | tuple):
        raise TypeError(f"inputs needs to be a list of Tensors: {inputs}")
    for tensor in inputs:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"input needs to be a Tensor: {tensor}")
    controls = [getattr(item, "op", item) for item in control_inputs]
    for item, control in zip(control_inputs, controls, strict=True):
        if not isinstance(control, Operation):
            raise TypeError(f"Control input must be an Operation, a Tensor, or IndexedSlices: {item}")
    op = add_node(graph, node, list(inputs))
    op._add_control_inputs(controls)
    return op


def add_node(graph: Graph, node: NodeDef, inputs: list[Tensor]) -> Operation:
    """Adds the operation that a NodeDef describes, with these inputs and without control inputs.

    It has the name and the device that the NodeDef says: the scopes around it do not count.
    """
    local = graph._local
    outer = local.name_stack, local.devices, local.controls, local.colocations, local.attrs
    local.name_stack, local.devices, local.controls, local.colocations, local.attrs = "", (), (), (), {}
    attrs = {key: attr_from_proto(value) for key, value in node.attr.items()}
    definition = op_definition(graph, node.op)
    attrs = {**definition.inferred_attrs(inputs), **attrs}
    try:
        with graph.as_default():
            op = definition.node_from_flat(inputs, attrs, f"{node.name}/")
    finally:
        local.name_stack, local.devices, local.controls, local.colocations, local.attrs = outer
    op._device = device_names.canonical_name(node.device)
    return op


def _as_graph_def(message: Any) -> GraphDef:
    """Converts a GraphDef of another protobuf pool, such as TensorFlow's, by serializing it."""
    if type(message).__name__ != "GraphDef" or not hasattr(message, "SerializeToString"):
        raise TypeError("graph_def must be a GraphDef proto.")
    return GraphDef.FromString(message.SerializeToString())


def _mapped_value(value: TensorLike | Operation) -> Tensor | Operation:
    return value if isinstance(value, (Tensor, Operation)) else convert_to_tensor(value)


@contextlib.contextmanager
def all_or_nothing(graph: Graph) -> Iterator[None]:
    """Removes everything that the block added to the graph, if the block raises an exception."""
    count, names, functions = len(graph._ops), dict(graph._names), dict(graph._functions)
    versions = graph._producer, graph._min_consumer, set(graph._bad_consumers)
    try:
        yield
    except BaseException:
        for op in reversed(graph._ops[count:]):
            del graph._by_name[op.name]
            for tensor in op.inputs:
                tensor._consumers.remove(op)
        del graph._ops[count:]
        graph._names, graph._functions = names, functions
        graph._producer, graph._min_consumer, graph._bad_consumers = versions
        raise
