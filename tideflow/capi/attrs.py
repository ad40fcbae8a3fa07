"""Attributes of operations, for the C API."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from tideflow.capi.graphs import parsed
from tideflow.graph import errors
from tideflow.graph.dtypes import as_dtype
from tideflow.graph.node_checks import other_kind
from tideflow.graph.operation import Operation
from tideflow.graph.summaries import node_summary
from tideflow.graph.tensor_proto import make_ndarray

_KINDS = ["s", "i", "f", "b", "type", "shape", "tensor", "placeholder", "func"]  # in the order of TF_AttrType
_MESSAGES = ("shape", "tensor")
_SCHEMA_KINDS = ["string", "int", "float", "bool", "type", "shape", "tensor", "placeholder", "func"]


def _attr(op: Operation, name: str) -> AttrValue:
    if name not in op.attrs:
        raise ValueError(f"Operation '{op.name}' has no attr named '{name}'.")
    return op.node_def.attr[name]


def message(op: Operation, name: str) -> bytes:
    """The AttrValue."""
    return _attr(op, name).SerializeToString()


def metadata(op: Operation, name: str) -> tuple[bool, int, int, int]:
    """The fields of TF_AttrMetadata."""
    attr = _attr(op, name)
    field = attr.WhichOneof("value")
    if field != "list":
        return False, -1, _KINDS.index(field), _size(field, getattr(attr, field))
    for found, items in attr.list.ListFields():
        if found.name in ("s", "shape"):
            size = sum(max(_size(found.name, item), 0) for item in items)
        else:
            size = -1
        return True, len(items), _KINDS.index(found.name), size
    kind = op.definition.attrs[name].kind.removeprefix("list(").removesuffix(")")
    return True, 0, _SCHEMA_KINDS.index(kind), 0 if kind in ("string", "shape") else -1


def _size(field: str, value: Any) -> int:
    if field == "s":
        return len(value)
    if field == "shape":
        return -1 if value.unknown_rank else len(value.dim)
    return -1


def values(op: Operation, name: str, field: str, is_list: bool) -> list[Any]:
    """The values of an attribute, which must be of this kind: numbers, bytes, lists of sizes (None for an
    unknown rank), or arrays with the numbers of their types. A list of another kind has none.
    """
    if is_list and field not in _MESSAGES:
        attr = _attr(op, name)
        _check_list(attr, name, "" if field == "s" else ".")
    elif field == "s":
        attr = _attr(op, name)
        if attr.WhichOneof("value") != "s":
            raise ValueError(f"Attribute '{name}' is not a string")
    else:
        if name not in op.attrs:
            place = node_summary(op.name)
            raise errors.not_found(f"No attr named '{name}' in NodeDef:\n\t [[{place}]]")
        attr = _attr(op, name)
        kind = _SCHEMA_KINDS[_KINDS.index(field)]
        refused = other_kind(attr, f"list({kind})" if is_list else kind)
        if refused:
            raise ValueError(refused)
    found = getattr(attr.list, field) if is_list else [getattr(attr, field)]
    return [_value(field, item) for item in found]


def _check_list(attr: AttrValue, name: str, end: str = "") -> None:
    if attr.WhichOneof("value") != "list":
        raise ValueError(f"Value for '{name}' is not a list{end}")


def _value(field: str, item: Any) -> Any:
    if field == "shape":
        return None if item.unknown_rank else [dim.size for dim in item.dim]
    if field == "tensor":
        return make_ndarray(item), as_dtype(item.dtype).as_datatype_enum
    return item


def shape_messages(op: Operation, name: str, is_list: bool) -> list[bytes]:
    """The TensorShapeProtos of an attribute."""
    attr = _attr(op, name)
    if is_list:
        _check_list(attr, name)
    elif attr.WhichOneof("value") != "shape":
        raise ValueError(f"Value for '{name}' is not a shape.")
    return [item.SerializeToString() for item in (attr.list.shape if is_list else [attr.shape])]


def check_message(data: bytes) -> None:
    """Raises ValueError where the bytes are no AttrValue."""
    parsed(AttrValue, data)


def check_shape_message(data: bytes) -> None:
    """Raises ValueError where the bytes are no TensorShapeProto."""
    parsed(TensorShapeProto, data)
