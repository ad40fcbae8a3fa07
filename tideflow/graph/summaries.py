"""What error messages show of op types, nodes and attributes: TensorFlow's short forms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.op_def_pb2 import OpDef
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DataType

from tideflow.graph.dtypes import as_dtype
from tideflow.graph.errors import type_name
from tideflow.graph.graph_def import op_def_proto
from tideflow.graph.op import Op
from tideflow.graph.shapes import brackets

MOST_ITEMS = 10  # of a list that is shown whole; of a longer one the first and last five are


def node_summary(name: str) -> str:
    """A node, in the form that clients of TensorFlow put the line of the program in for."""
    return f"{{{{node {name}}}}}"


def op_summary(op: Op) -> str:
    """An op type: `Op<name=Neg; signature=x:T -> y:T; attr=T:type,allowed=[DT_FLOAT, DT_INT32]>`."""
    message = op_def_proto(op)
    parts = [f"name={op.name}", f"signature={_args(message.input_arg)} -> {_args(message.output_arg)}"]
    parts += [f"attr={_attr_of_schema(attr)}" for attr in message.attr]
    traits = ("is_commutative", "is_aggregate", "is_stateful", "allows_uninitialized_input")
    parts += [f"{trait}=true" for trait in traits if getattr(message, trait)]
    return f"Op<{'; '.join(parts)}>"


def _args(args: Iterable[OpDef.ArgDef]) -> str:
    return ", ".join(f"{arg.name}:{_type_of(arg)}" for arg in args)


def _type_of(arg: OpDef.ArgDef) -> str:
    number = f"{arg.number_attr}*" if arg.number_attr else ""
    text = number + (type_name(as_dtype(arg.type)) if arg.type else arg.type_attr)
    return f"Ref({text})" if arg.is_ref else text


def _attr_of_schema(attr: OpDef.AttrDef) -> str:
    text = f"{attr.name}:{attr.type}"
    if attr.HasField("default_value"):
        text += f",default={attr_summary(attr.default_value)}"
    if attr.has_minimum:
        text += f",min={attr.minimum}"
    if attr.HasField("allowed_values"):
        text += f",allowed={attr_summary(attr.allowed_values)}"
    return text


def attr_summary(message: AttrValue) -> str:
    """The value of an attribute: `DT_FLOAT`, `[1, 2]`, `"SAME"`."""
    field = message.WhichOneof("value")
    if field is None:
        return "<Unknown AttrValue type>"
    if field != "list":
        return _item(field, getattr(message, field))
    items = [_item(kind.name, value) for kind, values in message.list.ListFields() for value in values]
    if len(items) > MOST_ITEMS:
        items[5:-5] = ["..."]
    return f"[{', '.join(items)}]"


def _item(field: str, value: Any) -> str:
    """One value, by the field of AttrValue that it is in."""
    if field == "s":
        text = value.decode("ascii", "backslashreplace")
        return f'"{text}"'
    if field == "b":
        return str(value).lower()
    if field == "f":
        return f"{value:g}"
    if field == "type":
        return str(DataType.Name(value)) if value in DataType.values() else str(value)
    if field == "shape":
        return "<unknown>" if value.unknown_rank else brackets(_sizes(value))
    if field == "tensor":
        return (
            f"Tensor<type: {type_name(as_dtype(value.dtype))} shape: {brackets(_sizes(value.tensor_shape))}>"
        )
    if field == "func":
        attrs = sorted(f"{name}={attr_summary(attr)}" for name, attr in value.attr.items())
        return f"{value.name}[{', '.join(attrs)}]"
    return str(value) if field == "i" else f"${value}"  # a placeholder names an attribute of the function


def _sizes(shape: TensorShapeProto) -> list[int | None]:
    return [None if dim.size < 0 else dim.size for dim in shape.dim]
