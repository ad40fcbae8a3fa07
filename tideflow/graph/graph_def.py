"""Graphs, operations and op types as TensorFlow's messages: GraphDef, NodeDef, AttrValue, OpDef."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import AttrValue, NameAttrList
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.op_def_pb2 import OpDef

from tideflow.export import expose
from tideflow.graph import dtypes
from tideflow.graph.arrays import dtype_of_array
from tideflow.graph.dtypes import DType
from tideflow.graph.schema import REQUIRED
from tideflow.graph.shapes import TensorShape
from tideflow.graph.tensor_proto import proto_array, tensor_proto

if TYPE_CHECKING:
    from tideflow.graph.graph import Graph
    from tideflow.graph.op import Op
    from tideflow.graph.operation import Operation, Tensor

expose(GraphDef, "GraphDef")
expose(NodeDef, "NodeDef")
expose(AttrValue, "AttrValue")
expose(NameAttrList, "NameAttrList")

# ------------------------------------------------------------------------------------------------ attributes

_LIST_FIELDS = {
    "int": "i",
    "float": "f",
    "bool": "b",
    "string": "s",
    "type": "type",
    "shape": "shape",
    "tensor": "tensor",
    "func": "func",
}


def attr_proto(value: Any, kind: str | None = None, dtype: DType | None = None) -> AttrValue:
    """The AttrValue of an attribute value.

    An attribute outside the op type's schema has no `kind`; it follows from the type of the value.
    """
    kind = kind or _kind_of(value)
    message = AttrValue()
    if kind.startswith("list("):
        inner = kind[5:-1]
        message.list.SetInParent()
        getattr(message.list, _LIST_FIELDS[inner]).extend([_element(item, inner, dtype) for item in value])
        return message
    field = _LIST_FIELDS[kind]
    element = _element(value, kind, dtype)
    if kind in ("shape", "tensor", "func"):
        getattr(message, field).CopyFrom(element)
    else:
        setattr(message, field, element)
    return message


def _element(value: Any, kind: str, dtype: DType | None) -> Any:
    if kind == "string":
        return value.encode() if isinstance(value, str) else value
    if kind == "type":
        return value.as_datatype_enum
    if kind == "shape":
        return value.as_proto()
    if kind == "tensor":
        return tensor_proto(value, dtype or dtype_of_array(value)) if isinstance(value, np.ndarray) else value
    if kind == "func":
        return NameAttrList(name=value) if isinstance(value, str) else value
    return value


def _kind_of(value: Any) -> str:
    if isinstance(value, list):
        return f"list({_kind_of(value[0]) if value else 'string'})"
    kinds = (
        (bool, "bool"),
        (int, "int"),
        (float, "float"),
        ((str, bytes), "string"),
        (DType, "type"),
        (TensorShape, "shape"),
        (np.ndarray, "tensor"),
    )
    return next((kind for cls, kind in kinds if isinstance(value, cls)), "func")


def attr_from_proto(message: AttrValue) -> Any:
    """The stored form of an AttrValue."""
    field = message.WhichOneof("value")
    if field is None:
        return None
    if field == "list":
        for name, values in message.list.ListFields():
            return [_from_element(name.name, item) for item in values]
        return []
    return _from_element(field, getattr(message, field))


def _from_element(field: str, value: Any) -> Any:
    if field == "s":
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if field == "type":
        return dtypes.as_dtype(value)
    if field == "shape":
        return TensorShape(value)
    if field == "tensor":
        return proto_array(value)
    return value


# ------------------------------------------------------------------------------------------------ messages


def node_def_proto(op: Operation) -> NodeDef:
    """The NodeDef of an operation."""
    node = NodeDef(name=op.name, op=op.type, device=op.device)
    node.input.extend(_input_name(tensor) for tensor in op.inputs)
    node.input.extend(f"^{control.name}" for control in op.control_inputs)
    newer = newer_attributes().get(op.type, ())
    for key, value in op.attrs.items():
        spec = op.definition.attrs.get(key)
        if spec is not None and key in newer and value == spec.default:
            continue
        node.attr[key].CopyFrom(attr_proto(value, spec.kind if spec else None, op.attrs.get("dtype")))
    return node


@functools.cache
def newer_attributes() -> dict[str, list[str]]:
    """Attributes that TensorFlow 1.15 does not know: a NodeDef has them only if they are not the default."""
    text = resources.files("tideflow.graph").joinpath("data/attrs_after_1_15.json").read_text()
    attributes: dict[str, list[str]] = json.loads(text)
    return attributes


def _input_name(tensor: Tensor) -> str:
    return tensor.op.name if tensor.value_index == 0 else f"{tensor.op.name}:{tensor.value_index}"


def graph_def_proto(graph: Graph, from_version: int | None = None, add_shapes: bool = False) -> GraphDef:
    """The GraphDef of a graph, or of the operations added since a version."""
    message = GraphDef()
    message.versions.CopyFrom(graph.graph_def_versions)
    for op in graph._ops[from_version or 0 :]:
        node = message.node.add()
        node.CopyFrom(op.node_def)
        if add_shapes and op.outputs:
            node.attr["_output_shapes"].list.shape.extend([t.shape.as_proto() for t in op.outputs])
    add_library(graph, message)
    return message


def add_library(graph: Graph, message: GraphDef) -> None:
    """Adds the functions of a graph to a GraphDef."""
    for function in graph._functions.values():
        message.library.function.append(function)
    for name, gradient in graph._function_gradients.items():
        message.library.gradient.add(function_name=name, gradient_func=gradient)


def op_def_proto(op: Op) -> OpDef:
    """The OpDef of an op type."""
    message = OpDef(
        name=op.name, is_stateful=op.stateful, is_commutative=op.commutative, is_aggregate=op.aggregate
    )
    message.allows_uninitialized_input = op.uninitialized_ok
    for args, field in ((op.inputs, message.input_arg), (op.outputs, message.output_arg)):
        for arg in args:
            field.add(
                name=arg.name,
                type=arg.dtype.as_datatype_enum if arg.dtype else 0,
                type_attr=arg.type_attr or "",
                number_attr=arg.number_attr or "",
                type_list_attr=arg.type_list_attr or "",
                is_ref=arg.is_ref,
            )
    for name, spec in op.attrs.items():
        attr = message.attr.add(
            name=name, type=spec.kind, has_minimum=spec.minimum is not None, minimum=spec.minimum or 0
        )
        if spec.default is not REQUIRED:
            attr.default_value.CopyFrom(attr_proto(spec.default, spec.kind))
        if spec.allowed is not None:
            kind = spec.kind if spec.kind.startswith("list(") else f"list({spec.kind})"
            attr.allowed_values.CopyFrom(attr_proto(list(spec.allowed), kind))
    return message
