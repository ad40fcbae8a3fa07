"""HParamDef: hyperparameters as a message, on TensorFlow's wire format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tideflow.graph.own_protos import make_messages

_MESSAGES = make_messages(
    "hparam",
    {
        "HParamDef": {"hparam": "map HParamDef.HParamType"},
        "HParamDef.BytesList": {"value": "repeated bytes"},
        "HParamDef.FloatList": {"value": "repeated float"},
        "HParamDef.Int64List": {"value": "repeated int64"},
        "HParamDef.BoolList": {"value": "repeated bool"},
        "HParamDef.HParamType": {
            "int64_value": "1 oneof kind int64",
            "float_value": "2 oneof kind float",
            "bytes_value": "3 oneof kind bytes",
            "bool_value": "7 oneof kind bool",
            "int64_list": "4 oneof kind HParamDef.Int64List",
            "float_list": "5 oneof kind HParamDef.FloatList",
            "bytes_list": "6 oneof kind HParamDef.BytesList",
            "bool_list": "8 oneof kind HParamDef.BoolList",
        },
    },
)
HParamDef = _MESSAGES["HParamDef"]
DESCRIPTOR = HParamDef.DESCRIPTOR.file


def values_of(definition: Any) -> dict[str, Any]:
    """The hyperparameters of a message: numbers, text, or lists of these."""
    assert isinstance(definition, HParamDef)
    return {name: _value_of(each) for name, each in definition.hparam.items()}


def _value_of(each: Any) -> Any:
    kind = each.WhichOneof("kind")
    found = getattr(each, kind)
    if kind.endswith("_value"):
        return found.decode() if isinstance(found, bytes) else found
    return [item.decode() if isinstance(item, bytes) else item for item in found.value]


_KINDS = {int: "int64", float: "float", str: "bytes", bytes: "bytes", bool: "bool"}


def definition_of(values: Mapping[str, tuple[Any, type]]) -> Any:
    """The message of hyperparameters, each with its type, or the type of its items."""
    definition = HParamDef()
    for name, (value, given) in values.items():
        if given not in _KINDS:
            raise ValueError(f"Unsupported parameter type: {given}")
        kind = _KINDS[given]
        entry = definition.hparam[name]
        if isinstance(value, list):
            getattr(entry, f"{kind}_list").value.extend(map(_plain, value))
        else:
            setattr(entry, f"{kind}_value", _plain(value))
    return definition


def _plain(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value
