"""Whether the attributes of a NodeDef are what the schema of its op type says, with TensorFlow's errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.types_pb2 import DataType

from tideflow.graph.dtypes import DType, as_dtype
from tideflow.graph.errors import type_name
from tideflow.graph.op import Op
from tideflow.graph.schema import Attr
from tideflow.graph.summaries import node_summary, op_summary

MOST_TENSORS = 100_000  # inputs or outputs of one argument of a node

_KINDS = {"s": "string", "i": "int", "f": "float", "b": "bool"}  # by the field of AttrValue
_TYPES = frozenset(DataType.values())
_REFERENCES = 100  # what the number of a type is greater by, where it is a reference to a variable


def unknown_attr(key: str, op: Op, node: str) -> ValueError:
    """The error of an attribute that the op type does not have."""
    return ValueError(
        f"NodeDef mentions attr '{key}' not in {op_summary(op)}; NodeDef: {node_summary(node)}. (Check "
        "whether your GraphDef-interpreting binary is up to date with your GraphDef-generating binary.)."
    )


def check_all_there(keys: Iterable[str], op: Op, node: str) -> None:
    """Raises ValueError if an attribute that has no default is not among the keys."""
    missing = [key for key in op._required if key not in keys]
    if missing:
        names = "', '".join(missing)
        raise ValueError(
            f"NodeDef missing attr{'s' if len(missing) > 1 else ''} '{names}' from {op_summary(op)}; "
            f"NodeDef: {node_summary(node)}"
        )


def check_message(key: str, message: AttrValue, op: Op, node: str) -> None:
    """Raises ValueError if a message has a value of another kind than the schema says."""
    found = other_kind(message, op.attrs[key].kind) or _no_type(message)
    if found:
        raise ValueError(f"{found}\n\t for attr '{key}'{_place(op, node)}")


def check_value(key: str, value: Any, op: Op, node: str) -> None:
    """Raises ValueError if a value is not one that the schema allows."""
    found = not_allowed(key, op.attrs[key], value)
    if found:
        raise ValueError(f"{found}{_place(op, node)}")


def check_counts(attrs: dict[str, Any], op: Op, node: str) -> None:
    """Raises ValueError if an attribute says that the node has more tensors than any has."""
    for arg in (*op.inputs, *op.outputs):
        count = attrs.get(arg.number_attr) if arg.number_attr else None
        if count is not None and not 0 <= count <= MOST_TENSORS:
            raise ValueError(
                f"Value for attr '{arg.number_attr}' of {count} is not from 0 to {MOST_TENSORS}; NodeDef: "
                f"{node_summary(node)}"
            )


def _place(op: Op, node: str) -> str:
    return f"\n\t; NodeDef: {node_summary(node)}; {op_summary(op)}"


def other_kind(message: AttrValue, kind: str) -> str:
    """Why a message has no value of a kind, in TensorFlow's words; "" where it has one."""
    found = kind_of(message)
    if not found:
        return f"AttrValue missing value with expected type '{kind}'"
    if found == "placeholder":
        return "AttrValue had value with unexpected type 'placeholder'"
    if found == kind or found == "list" and kind.startswith("list("):
        return ""
    return f"AttrValue had value with type '{found}' when '{kind}' expected"


def kind_of(message: AttrValue) -> str:
    """The kind of a message's value as schemas write it: "list" for an empty list, "" for no value."""
    field = message.WhichOneof("value") or ""
    if field != "list":
        return _KINDS.get(field, field)
    fields = [kind.name for kind, _ in message.list.ListFields()]
    return f"list({_KINDS.get(fields[0], fields[0])})" if fields else "list"


def _no_type(message: AttrValue) -> str:
    """Why one of a message's types is none that a tensor may have; "" where all are."""
    for number in [message.type] if message.WhichOneof("value") == "type" else message.list.type:
        if number not in _TYPES:
            return f"AttrValue has invalid DataType enum: {number}"
        if number > _REFERENCES:
            name = type_name(as_dtype(number - _REFERENCES))
            return f"AttrValue must not have reference type value of {name}_ref"
        if number == 0:
            return "AttrValue has invalid DataType"
    return ""


def not_allowed(key: str, spec: Attr, value: Any) -> str:
    """Why a schema does not allow a value of the right kind, in TensorFlow's words; "" where it does."""
    is_list = spec.kind.startswith("list(")
    if spec.minimum is not None:
        size = len(value) if is_list else value
        if size < spec.minimum:
            what = "Length" if is_list else "Value"
            return f"{what} for attr '{key}' of {size} must be at least minimum {spec.minimum}"
    if spec.allowed is not None:
        for item in value if is_list else [value]:
            if item not in spec.allowed:
                known = ", ".join(map(_shown, spec.allowed))
                return (
                    f"Value for attr '{key}' of {_shown(item)} is not in the list of allowed values: {known}"
                )
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, DType):
        return type_name(value)
    return f'"{value.decode("ascii", "backslashreplace") if isinstance(value, bytes) else value}"'
