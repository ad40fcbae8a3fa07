"""The schema of an op type: its inputs, outputs and attributes, in TensorFlow's own terms.

A signature reads `"values: N * T, axis: Tidx -> output: T"`. A type word is an attribute of kind `type` or
`list(type)`, a dtype name, or `Ref(...)` of one; `N * T` is a list of N tensors of one type. Attribute kinds
are TensorFlow's: int, float, bool, string, type, shape, tensor, func and list(...) of them.
"""

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf import text_format
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.graph.tensor_proto import proto_array

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "<required>"})()

_ARG = re.compile(r"^(\w+)\s*:\s*(?:(\w+)\s*\*\s*)?(Ref\()?(\w+)\)?$")


@dataclass(frozen=True, slots=True)
class Attr:
    """An attribute: its kind, its default (or REQUIRED), its allowed values and its least value or length."""

    kind: str
    default: Any = REQUIRED
    allowed: tuple[Any, ...] | None = None
    minimum: int | None = None


@dataclass(frozen=True, slots=True)
class Arg:
    """One input or output argument. Exactly one of dtype, type_attr and type_list_attr is set."""

    name: str
    dtype: DType | None = None
    type_attr: str | None = None
    type_list_attr: str | None = None
    number_attr: str | None = None
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        return self.number_attr is not None or self.type_list_attr is not None


def attr(
    kind: str, default: Any = REQUIRED, *, allowed: Sequence[Any] | None = None, minimum: int | None = None
) -> Attr:
    """Declares an attribute: `attr("list(int)")`, `attr("string", "NHWC", allowed=("NHWC", "NCHW"))`."""
    if allowed is not None:
        each = kind.removeprefix("list(").removesuffix(")")
        allowed = tuple(normalize("allowed", each, value) for value in allowed)
    if default is not REQUIRED:
        default = normalize("default", kind, default)
    return Attr(kind, default, allowed, minimum)


def declare(value: Any) -> Attr:
    """The attribute declared by a short form: an Attr, a tuple of allowed dtypes, or a default value."""
    if isinstance(value, Attr):
        return value
    if isinstance(value, tuple):
        return Attr("type", REQUIRED, tuple(dtypes.as_dtype(item) for item in value))
    if isinstance(value, DType):
        return Attr("type", value)
    for cls, kind in ((bool, "bool"), (int, "int"), (float, "float"), (str, "string")):
        if isinstance(value, cls):
            return Attr(kind, normalize("default", kind, value))
    raise TypeError(
        f"an attribute is declared by attr(...), a tuple of dtypes or a default, not by {value!r}"
    )


def parse_signature(signature: str, attrs: dict[str, Attr]) -> tuple[tuple[Arg, ...], tuple[Arg, ...]]:
    """Input and output arguments; attributes that only the signature names are added to `attrs`."""
    left, _, right = signature.partition("->")
    return _parse_args(left, attrs), _parse_args(right, attrs)


def _parse_args(text: str, attrs: dict[str, Attr]) -> tuple[Arg, ...]:
    return tuple(_parse_arg(part.strip(), attrs) for part in text.split(",") if part.strip())


def _parse_arg(text: str, attrs: dict[str, Attr]) -> Arg:
    match = _ARG.match(text)
    if not match:
        raise ValueError(f"not an argument of a signature: {text!r}")
    name, number, ref, word = match.groups()
    if number:
        attrs.setdefault(number, Attr("int", minimum=1))
    if word in attrs or not _is_dtype(word):
        kind = attrs.setdefault(word, Attr("type")).kind
        if kind == "list(type)":
            return Arg(name, type_list_attr=word, is_ref=bool(ref))
        return Arg(name, type_attr=word, number_attr=number, is_ref=bool(ref))
    return Arg(name, dtype=dtypes.as_dtype(word), number_attr=number, is_ref=bool(ref))


def _is_dtype(word: str) -> bool:
    try:
        dtypes.as_dtype(word)
    except TypeError:
        return False
    return True


# ------------------------------------------------------------------------------------------------ values


def normalize(name: str, kind: str, value: Any) -> Any:
    """An attribute's value in its stored form.

    The form is an int, float, bool, str, bytes, DType, TensorShape or ndarray, or a list of those.
    """
    if kind.startswith("list("):
        if not isinstance(value, (list, tuple)) and not (isinstance(value, np.ndarray) and value.ndim == 1):
            raise TypeError(f"Expected list for attr {name}")
        return [normalize(name, kind[5:-1], item) for item in value]
    return _NORMALIZERS[kind](name, value)


def _int(name: str, value: Any) -> int:
    if not isinstance(value, (str, bytes)):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return int(value)
    raise TypeError(f"Expected int for argument '{name}' not {value!r}.")


def _float(name: str, value: Any) -> float:
    if not isinstance(value, (int, float, np.integer, np.floating, np.bool_)):
        raise TypeError(f"Expected float for argument '{name}' not {value!r}.")
    return float(np.float32(value))  # the precision of the field in AttrValue


def _bool(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"Expected bool for argument '{name}' not {value!r}.")
    return bool(value)


def _string(name: str, value: Any) -> str | bytes:
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"Expected string for argument '{name}' not {value!r}.")
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    return value


def _type(name: str, value: Any) -> DType:
    try:
        return dtypes.as_dtype(value).base_dtype
    except TypeError:
        raise TypeError(f"Expected DataType for argument '{name}' not {value!r}.") from None


def _shape(name: str, value: Any) -> TensorShape:
    try:
        return as_shape(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Error converting {name} to a TensorShape: {error}") from None


def _func(name: str, value: Any) -> str | NameAttrList:
    if not isinstance(value, (str, NameAttrList)):
        raise TypeError(f"Don't know how to convert {value} to a func for argument {name}")
    return value


def _tensor(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, str):
        value = text_format.Parse(value, TensorProto())
    if not isinstance(value, TensorProto):
        raise TypeError(f"Don't know how to convert {value!r} to a TensorProto for argument '{name}'.")
    return proto_array(value)


_NORMALIZERS = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "string": _string,
    "type": _type,
    "shape": _shape,
    "tensor": _tensor,
    "func": _func,
}


def check_value(op_name: str, name: str, spec: Attr, value: Any) -> None:
    """Raises TensorFlow's error if a stored value is not allowed or too small."""
    wrong = what_is_refused(spec, value)
    if wrong is not None:
        raise refused(op_name, name, spec, wrong)


def what_is_refused(spec: Attr, value: Any) -> DType | str | int | None:
    """What is not allowed of a stored value: an item of it, or its size where that is too small."""
    is_list = spec.kind.startswith("list(")
    if spec.allowed is not None:
        items: Sequence[DType | str] = value if is_list else (value,)
        for item in items:
            if item not in spec.allowed:
                return item
    if spec.minimum is not None:
        size: int = len(value) if is_list else value
        if size < spec.minimum:
            return size
    return None


def refused(
    op_name: str, name: str, spec: Attr, wrong: DType | str | int, given: str = ""
) -> TypeError | ValueError:
    """The error of what `what_is_refused` found, in a graph."""
    choices = spec.allowed or ()
    if isinstance(wrong, DType):
        allowed = ", ".join(dtype.name for dtype in choices)
        return TypeError(
            f"Value passed to parameter '{name}' has DataType {wrong.name} not in list of allowed values: "
            f"{allowed} (op {op_name}{given and ', '}{given})"
        )
    if spec.minimum is not None:
        what = "list of length " if spec.kind.startswith("list(") else ""
        return ValueError(
            f"Attr '{name}' of '{op_name}' Op passed {what}{wrong} less than minimum {spec.minimum}."
        )
    allowed = ", ".join(f'"{choice}"' for choice in choices)
    return ValueError(f"Attr '{name}' of '{op_name}' Op passed string '{wrong}' not in: {allowed}.")
