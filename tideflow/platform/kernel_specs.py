"""The words by which C++ declares attributes and arguments: `"T: {float, int32} = DT_FLOAT"`, `"x: N * T"`.

What is wrong with them is said as TensorFlow says it when it loads the library.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from tideflow.graph.dtypes import as_dtype
from tideflow.graph.node_checks import not_allowed
from tideflow.graph.schema import REQUIRED, Attr, attr
from tideflow.graph.shapes import TensorShape
from tideflow.graph.tensor_proto import proto_array
from tideflow.ops.helpers.types import types

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


class SpecError(ValueError):
    """Words that declare nothing."""


class _Words:
    """What is left of a declaration while it is read. White space before a piece belongs to no piece."""

    def __init__(self, text: str) -> None:
        self.left = text

    def take(self, pattern: str) -> str | None:
        """The piece that comes next, which is then gone, or None."""
        found = re.match(rf"\s*({pattern})", self.left)
        if found is None:
            return None
        self.left = self.left[found.end() :]
        return found[1]

    def need(self, pattern: str, wrong: str) -> str:
        """The piece that must come next; the error ends with what is there in its place."""
        piece = self.take(pattern)
        if piece is None:
            raise SpecError(f"{wrong} '{self.left.lstrip()}'")
        return piece

    def end(self) -> None:
        """Refuses what is left."""
        if self.left.strip():
            raise SpecError(f"Extra '{self.left.strip()}' unparsed at the end")


# --------------------------------------------------------------------------------------------- attributes


def parse_attr(spec: str) -> tuple[str, Attr]:
    """The name and the declaration of an attribute: `"N: int >= 2"`, `"pad: {'SAME', 'VALID'} = 'SAME'"`.

    Raises:
      SpecError: If the words declare no attribute.
    """
    words = _Words(spec)
    name = _name_before_colon(words, r"[A-Za-z]\w*", "<name>:")
    is_list = words.take(r"list\s*\(") is not None
    kind, allowed = _kind(words)
    if is_list:
        words.need(r"\)", "Expected ) to close 'list(', not:")
        kind = f"list({kind})"
    minimum = _minimum(words) if is_list or kind == "int" else None
    default = REQUIRED
    if words.take("=") is not None:
        text, words.left = words.left.strip(), ""
        try:
            default = _parse_default(text, kind)
        except (ValueError, TypeError, SyntaxError, KeyError, text_format.ParseError):
            raise SpecError(f"Could not parse default value '{text}'") from None
    words.end()
    declared = attr(kind, default, allowed=allowed, minimum=minimum)
    _check_default(name, declared)
    return name, declared


def _name_before_colon(words: _Words, pattern: str, shown: str) -> str:
    name = words.take(rf"{pattern}\s*:")
    if name is None:
        raise SpecError(f"Trouble parsing '{shown}'")
    return name[:-1].rstrip()


def _kind(words: _Words) -> tuple[str, list[Any] | None]:
    """The kind of an attribute's values, and those that are allowed."""
    if words.take(r"\{") is not None:
        return _allowed(words)
    wrong = f"Trouble parsing type string at '{words.left.strip()}'"
    word = words.take(r"[a-z]\w*") or ""
    if word in _CLASSES:
        return "type", list(_CLASSES[word])
    if word not in _KINDS:
        raise SpecError(wrong)
    return word, None


def _allowed(words: _Words) -> tuple[str, list[Any]]:
    """What stands in braces: texts in quotes, or names of types."""
    kind = "string" if re.match(r"\s*['\"]", words.left) else "type"
    allowed: list[Any] = []
    while words.take(r"\}") is None:  # a comma may stand before the brace
        if kind == "string":
            text = words.need(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "Trouble parsing allowed string at")
            allowed.append(ast.literal_eval(text))
        else:
            allowed.append(_type(words.need(r"[a-z0-9]+", "Trouble parsing type string at")))
        words.need(r",|(?=\})", f"Expected , or }} after {kind}s, not:")
    if not allowed:
        raise SpecError("Trouble parsing type string at '}'")
    return kind, allowed


def _type(word: str) -> Any:
    try:
        return as_dtype(word)
    except TypeError:
        raise SpecError(f"Unrecognized type string '{word}'") from None


def _minimum(words: _Words) -> int | None:
    if words.take(">=") is None:
        return None
    before = words.left
    number = words.take(r"-?\d+")
    if number is None:
        raise SpecError(f"Could not parse integer lower limit after '>=', found '{before}' instead")
    return int(number)


def _parse_default(text: str, kind: str) -> Any:
    if kind.startswith("list("):
        inner = text.removeprefix("[").removesuffix("]")
        each = kind[5:-1]
        if each in ("shape", "tensor"):
            items = re.findall(r"\{(?:[^{}]|\{[^{}]*\})*\}", inner)
        else:
            items = re.findall(r"'[^']*'|\"[^\"]*\"|[^,\s]+", inner)
        return [_parse_default(item, each) for item in items]
    if kind == "bool":
        return {"true": True, "false": False}[text.lower()]
    if kind == "type":
        return as_dtype(int(text) if text.isdecimal() else text.removeprefix("DT_").lower())
    if kind == "shape":
        return TensorShape(text_format.Parse(_message(text), TensorShapeProto()))
    if kind == "tensor":
        return proto_array(text_format.Parse(_message(text), TensorProto()))
    if kind == "func":
        return text
    if kind == "float":
        return float(text)  # inf and nan too
    value = ast.literal_eval(text)
    if not isinstance(value, str if kind == "string" else int):
        raise ValueError(text)
    return value


def _message(text: str) -> str:
    if not text.startswith("{"):
        raise ValueError(text)
    return text.removeprefix("{").removesuffix("}")


def _check_default(name: str, declared: Attr) -> None:
    """Refuses a default that a program would not be allowed to give."""
    if declared.default is REQUIRED:
        return
    refused = not_allowed(name, declared, declared.default)
    if refused:
        raise SpecError(refused)


# --------------------------------------------------------------------------------------------- arguments


def check_argument(spec: str, attrs: dict[str, Attr]) -> tuple[str, str | None]:
    """Reads `"x: float"`, `"x: Ref(T)"`, `"x: N * T"`, where T and N are attributes.

    Args:
      spec: The words.
      attrs: The attributes that they may name.

    Returns:
      The name of the argument, and the attribute that says how many tensors it is.

    Raises:
      SpecError: If the words declare no argument of the attributes.
    """
    words = _Words(spec)
    name = _name_before_colon(words, r"[a-z][a-z0-9_]*", "name:")
    is_ref = words.take(r"Ref\s*\(") is not None
    word = words.need(r"[A-Za-z]\w*", "Trouble parsing either a type or an attr name at")
    number = None
    if words.take(r"\*") is not None:
        number = word
        word = words.need(r"[A-Za-z]\w*", "Trouble parsing either a type or an attr name at")
    _check_type(word, attrs)
    if is_ref:
        words.need(r"\)", "Did not find closing ')' for 'Ref(', instead found:")
    words.end()
    return name, number


def _check_type(word: str, attrs: dict[str, Attr]) -> None:
    """Refuses what is neither a type nor an attribute that is one."""
    if word in attrs:
        if attrs[word].kind not in ("type", "list(type)"):
            raise SpecError(
                f"Reference to attr '{word}' with type {attrs[word].kind} that isn't type or list(type)"
            )
        return
    try:
        as_dtype(word)
    except TypeError:
        raise SpecError(f"Reference to unknown attr '{word}'") from None
