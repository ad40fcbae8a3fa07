"""The schemas that libraries of kernels declare: `REGISTER_OP("ZeroOut").Attr("T: {float, int32}")`."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DataType

from tideflow.graph import errors
from tideflow.graph.dtypes import as_dtype
from tideflow.graph.schema import REQUIRED, Attr, attr
from tideflow.graph.shapes import TensorShape
from tideflow.graph.tensor_proto import proto_array
from tideflow.ops.helpers.types import types

_ATTR = re.compile(
    r"^\s*(?P<name>\w+)\s*:\s*(?P<list>list\s*\(\s*)?(?P<kind>\w+|\{[^}]*\})\s*(?(list)\))"
    r"\s*(?:>=\s*(?P<minimum>-?\d+))?\s*(?:=\s*(?P<default>.*?))?\s*$",
    re.DOTALL,
)
_REAL = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
_CLASSES = {  # names for sets of types
    "numbertype": types(
        "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 uint16 complex128 "
        "half uint32 uint64"
    ),
    "realnumbertype": types(_REAL),
    "realnumberttype": types(_REAL),  # sic: TensorFlow takes this spelling too
    "quantizedtype": types("qint8 quint8 qint32 qint16 quint16"),
}
_KINDS = frozenset("string int float bool type shape tensor func".split())


@dataclass
class OpDeclaration:
    """What a library says of an op type."""

    name: str
    index: int  # among the op types of the library
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    attrs: dict[str, Attr] = field(default_factory=dict)
    traits: dict[str, bool] = field(default_factory=dict)
    doc: str = ""
    has_shape_function: bool = False

    @property
    def signature(self) -> str:
        return f"{', '.join(self.inputs)} -> {', '.join(self.outputs)}"


@dataclass
class KernelDeclaration:
    """What a library says of a kernel."""

    op: str
    index: int  # among the kernels of the library
    device: str = ""
    constraints: dict[str, list[Any]] = field(default_factory=dict)
    on_host: set[str] = field(default_factory=set)
    label: str = ""
    priority: int = 0

    def __str__(self) -> str:
        words = [f"device='{self.device}'"] + ([f"label='{self.label}'"] if self.label else [])
        words += [
            f"{name} in [{', '.join(DataType.Name(dtype.as_datatype_enum) for dtype in allowed)}]"
            for name, allowed in self.constraints.items()
        ]
        return "; ".join(words)


def declarations(words: list[tuple[bytes, bytes]]) -> tuple[list[OpDeclaration], list[KernelDeclaration]]:
    """The op types and kernels that a library describes."""
    ops: list[OpDeclaration] = []
    kernels: list[KernelDeclaration] = []
    for key, value in ((key.decode(), value.decode()) for key, value in words):
        if key == "op":
            ops.append(OpDeclaration(value, len(ops)))
        elif key == "kernel":
            kernels.append(KernelDeclaration(value, len(kernels)))
        elif kernels:
            _note_kernel(kernels[-1], key, value)
        else:
            _note_op(ops[-1], key, value)
    return ops, kernels


def _note_op(op: OpDeclaration, key: str, value: str) -> None:
    if key == "input":
        op.inputs.append(value)
    elif key == "output":
        op.outputs.append(value)
    elif key == "attr":
        name, spec = parse_attr(value, op.name)
        op.attrs[name] = spec
    elif key == "trait":
        op.traits[value] = True
    elif key == "doc":
        op.doc = value.strip()
    else:
        op.has_shape_function = True


def _note_kernel(kernel: KernelDeclaration, key: str, value: str) -> None:
    if key == "constraint":
        name, *allowed = value.split()
        kernel.constraints[name] = [as_dtype(int(number)) for number in allowed]
    elif key == "host":
        kernel.on_host.add(value)
    elif key == "priority":
        kernel.priority = int(value)
    else:
        setattr(kernel, key, value)  # device, label


def parse_attr(spec: str, op_name: str) -> tuple[str, Attr]:
    """The name and the declaration of an attribute: `"N: int >= 2"`, `"pad: {'SAME', 'VALID'} = 'SAME'"`."""
    found = _ATTR.match(spec)
    if found is None:
        raise _wrong(spec, op_name, "it does not read `name: type = default`")
    kind, allowed = found["kind"], None
    try:
        if kind.startswith("{"):
            items = [item.strip() for item in kind.strip("{} \n").split(",") if item.strip()]
            is_text = items[:1] != [] and items[0][0] in "'\""
            kind = "string" if is_text else "type"
            allowed = [ast.literal_eval(item) if is_text else as_dtype(item) for item in items]
        elif kind in _CLASSES:
            kind, allowed = "type", list(_CLASSES[kind])
        elif kind not in _KINDS:
            raise ValueError(f"there is no type '{kind}'")
        full = f"list({kind})" if found["list"] else kind
        default = REQUIRED if found["default"] is None else _parse_default(found["default"], full)
        minimum = found["minimum"] and int(found["minimum"])
        return found["name"], attr(full, default, allowed=allowed, minimum=minimum)
    except (ValueError, TypeError, SyntaxError, text_format.ParseError) as error:
        raise _wrong(spec, op_name, str(error)) from None


def _parse_default(text: str, kind: str) -> Any:
    if kind.startswith("list("):
        inner = text.strip().removeprefix("[").removesuffix("]")
        each = kind[5:-1]
        if each in ("shape", "tensor"):
            items = re.findall(r"\{(?:[^{}]|\{[^{}]*\})*\}", inner)
        else:
            items = re.findall(r"'[^']*'|\"[^\"]*\"|[^,\s]+", inner)
        return [_parse_default(item, each) for item in items]
    if kind == "bool":
        return {"true": True, "false": False}[text.lower()]
    if kind == "type":
        return as_dtype(text.removeprefix("DT_").lower())
    if kind == "shape":
        return TensorShape(text_format.Parse(_message(text), TensorShapeProto()))
    if kind == "tensor":
        return proto_array(text_format.Parse(_message(text), TensorProto()))
    if kind == "func":
        return text
    if kind == "float":
        return float(text)  # inf and nan too
    return ast.literal_eval(text)


def _message(text: str) -> str:
    return text.strip().removeprefix("{").removesuffix("}")


def _wrong(spec: str, op_name: str, why: str) -> Exception:
    return errors.invalid_argument(f'Trouble parsing Attr("{spec}") for Op {op_name}: {why}')
