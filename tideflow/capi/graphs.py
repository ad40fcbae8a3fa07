"""Graphs and their operations, for the C API."""

from __future__ import annotations

import threading
from typing import Any

from google.protobuf.message import DecodeError
from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.autodiff.gradients import gradients
from tideflow.graph import errors
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.device import canonical_name
from tideflow.graph.functions import op_definition
from tideflow.graph.graph import Graph
from tideflow.graph.graph_def import attr_proto, op_def_proto
from tideflow.graph.graph_import import all_or_nothing
from tideflow.graph.node_import import InputKey, NodeImporter
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor, ancestors
from tideflow.session.session import Session

# Threads of a C program may build one graph together, which threads of a Python program must not.
building = threading.RLock()


def new_graph() -> Graph:
    return Graph()


def output(op: Operation, index: int) -> Tensor:
    """The tensor of a TF_Output."""
    if not 0 <= index < len(op.outputs):
        raise errors.out_of_range(
            f"Node '{op.name}' (type: '{op.type}', num of outputs: {len(op.outputs)}) does not have output "
            f"{index}"
        )
    return op.outputs[index]


# --------------------------------------------------------------------------------------------- new operations


def add_operation(
    graph: Graph,
    op_type: str,
    name: str,
    device: str,
    inputs: list[Tensor | list[Tensor]],
    controls: list[Operation],
    attrs: dict[str, bytes],
) -> Operation:
    """Adds an operation as a description has it: a list among the inputs is a list argument."""
    with building, graph.as_default():
        definition = _definition(graph, op_type)
        if name in graph._by_name:
            raise ValueError(f"Duplicate node name in graph: '{name}'")
        flat = [tensor for given in inputs for tensor in (given if isinstance(given, list) else [given])]
        node = NodeDef(name=name, op=op_type, device=canonical_name(device))
        for key, value in _attrs_of_inputs(definition, name, inputs).items():
            node.attr[key].CopyFrom(attr_proto(value, definition.attrs[key].kind))
        for key, data in attrs.items():
            given_value = parsed(AttrValue, data)
            if key in node.attr and node.attr[key] != given_value:
                raise ValueError(f"Inconsistent values for attr '{key}' while building NodeDef '{name}'")
            node.attr[key].CopyFrom(given_value)
        node.input.extend(f"{tensor.op.name}:{tensor.value_index}" for tensor in flat)
        node.input.extend(f"^{op.name}" for op in controls)
        check_owner(graph, [*(tensor.op for tensor in flat), *controls])
        mapped: dict[InputKey, Tensor | Operation] = {
            **{(tensor.op.name, tensor.value_index): tensor for tensor in flat},
            **{(f"^{op.name}", -1): op for op in controls},
        }
        message = GraphDef(node=[node], versions=graph.graph_def_versions)
        importer = NodeImporter(
            graph, message, op_definition, mapped=mapped, uniquify=False, neighbours=graph._by_name
        )
        importer.run()
        return importer.ops[name]


def _definition(graph: Graph, op_type: str) -> Op:
    try:
        return op_definition(graph, op_type)
    except errors.NotFoundError as error:
        raise errors.invalid_argument(error.message) from None


def _attrs_of_inputs(definition: Op, name: str, inputs: list[Tensor | list[Tensor]]) -> dict[str, Any]:
    """The attributes that follow from the types and numbers of the inputs."""
    if len(inputs) != len(definition.inputs):
        raise ValueError(
            f"{len(inputs)} inputs specified of {len(definition.inputs)} inputs in Op while building NodeDef "
            f"'{name}' using Op<name={definition.name}>"
        )
    attrs: dict[str, Any] = {}

    def follows(key: str, value: Any) -> None:
        if attrs.setdefault(key, value) != value:
            shown = " vs. ".join(getattr(v, "name", str(v)) for v in (attrs[key], value))
            raise ValueError(f"Inconsistent values for attr '{key}' {shown} while building NodeDef '{name}'")

    for arg, given in zip(definition.inputs, inputs, strict=True):
        if arg.is_list != isinstance(given, list):
            wanted = "a list" if arg.is_list else "one tensor"
            raise ValueError(f"Input '{arg.name}' takes {wanted} while building NodeDef '{name}'")
        types = [tensor.dtype.base_dtype for tensor in (given if isinstance(given, list) else [given])]
        if arg.number_attr is not None:
            follows(arg.number_attr, len(types))
        if arg.type_list_attr is not None:
            follows(arg.type_list_attr, types)
        elif arg.type_attr is not None:
            for dtype in types:
                follows(arg.type_attr, dtype)
    return attrs


def check_owner(graph: Graph, ops: list[Operation]) -> None:
    for op in ops:
        if op.graph is not graph:
            raise ValueError(f"Operation '{op.name}' is of another graph")


def parsed(kind: type, data: bytes) -> Any:
    try:
        return kind.FromString(data)
    except DecodeError:
        raise ValueError(f"Invalid {kind.__name__}") from None


# -------------------------------------------------------------------------------------------------- questions


def operation_by_name(graph: Graph, name: str) -> Operation | None:
    return graph._by_name.get(name)


def is_taken(graph: Graph, scope: str) -> bool:
    """Whether a scope is the name of an operation, or has operations."""
    return any(name == scope or name.startswith(f"{scope}/") for name in graph._by_name)


def operation_at(graph: Graph, position: int) -> Operation | None:
    return graph._ops[position] if position < len(graph._ops) else None


def list_length(op: Operation, arg_name: str, is_input: bool) -> int:
    definition = op.definition
    if is_input:
        pairs = zip(definition.inputs, definition.group_inputs(list(op.inputs), op.attrs), strict=True)
    else:
        pairs = zip(definition.outputs, definition.group_outputs(op), strict=True)
    for arg, tensors in pairs:
        if arg.name == arg_name:
            return len(tensors) if arg.is_list else 1
    raise ValueError(f"{'Input' if is_input else 'Output'} arg name '{arg_name}' not found")


def consumers(tensor: Tensor) -> list[tuple[Operation, int]]:
    """The inputs that take a tensor."""
    return [
        (op, i)
        for op in dict.fromkeys(tensor.consumers())
        for i, taken in enumerate(op.inputs)
        if taken is tensor
    ]


def control_outputs(op: Operation) -> list[Operation]:
    return [other for other in op.graph._ops if op in other.control_inputs]


def shape(tensor: Tensor) -> list[int] | None:
    dims = tensor.shape.dims
    return None if dims is None else [-1 if dim.value is None else dim.value for dim in dims]


def set_shape(tensor: Tensor, dims: list[int] | None) -> None:
    with building:
        tensor.set_shape(None if dims is None else [None if size < 0 else size for size in dims])


def graph_def(graph: Graph) -> bytes:
    return graph.as_graph_def().SerializeToString()


def op_def(graph: Graph, op_type: str) -> bytes:
    return op_def_proto(op_definition(graph, op_type)).SerializeToString()


def versions(graph: Graph) -> bytes:
    return graph.graph_def_versions.SerializeToString()


def node_def(op: Operation) -> bytes:
    return op.node_def.SerializeToString()


def constant_value(tensor: Tensor) -> Any:
    """The value of a tensor that depends on constants alone, or None."""
    needed = list(ancestors(tensor.op))
    if any(op.definition.stateful or op.definition.role == "placeholder" for op in needed):
        return None
    with Session(graph=tensor.graph) as session:
        return session.run(tensor)


# -------------------------------------------------------------------------------------------------- gradients


def add_gradients(
    graph: Graph, prefix: str | None, ys: list[Tensor], xs: list[Tensor], weights: list[Tensor] | None
) -> list[Tensor]:
    """Adds the derivatives of the sum of the ys."""
    if prefix is None:
        name = "gradients"
    else:
        name = f"{prefix}/"
        if is_taken(graph, prefix):
            raise ValueError(f"prefix [{prefix}] conflicts with existing node in the graph.")
    with building, all_or_nothing(graph), graph.as_default():
        made = gradients(ys, xs, weights, name=name)
        for x, gradient in zip(xs, made, strict=True):
            if gradient is None:
                raise ValueError(
                    f"Cannot compute the partial derivative for node '{x.op.name}' as it's unreachable from "
                    "the output node(s)."
                )
        with graph.name_scope(name if prefix is not None else None):
            return [
                convert_to_tensor(gradient) if isinstance(gradient, IndexedSlices) else gradient
                for gradient in made
            ]
