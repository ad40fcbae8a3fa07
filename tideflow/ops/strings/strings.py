"""Strings one by one: length, case, parts, base64. Strings are bytes; UTF-8 where an op is told so.

`each` is how string kernels work: a Python function of bytes, applied to every element of arrays that
broadcast together.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.samples import text
from tideflow.ops.helpers.types import INDICES
from tideflow.runtime.values import to_numpy, to_torch

_UNIT = attr("string", "BYTE", allowed=("BYTE", "UTF8_CHAR"))
_TEXTS = text("a", "héllo wörld", "", "日本語")

string_length_op = Op(
    "StringLength", "input: string -> output: int32", unit=_UNIT, on_host=True, differentiable=False
)
string_length_op.shape(same_shape)

_CONTINUATION = bytes(range(0x80, 0xC0))


def _characters(data: bytes) -> int:
    """How many bytes of the string are not continuation bytes of UTF-8."""
    return len(data.translate(None, _CONTINUATION))


# ------------------------------------------------------------------------------------------------ length


@string_length_op.kernel
def _string_length_kernel(input, *, unit):
    lengths = each(len if unit == "BYTE" else _characters, input)
    return to_torch(lengths.astype(np.int32))


string_length_op.samples(
    (_TEXTS,),
    (_TEXTS.reshape(2, 2), {"unit": "UTF8_CHAR"}),
    (_TEXTS[0:0],),
    (text("abc", shape=()),),
    against=lambda input, unit: np.array(
        [len(s if unit == "BYTE" else s.decode()) for s in input.flat], np.int32
    ).reshape(input.shape),
)


@export("strings.length")
def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """The number of bytes, or of UTF-8 characters, of each string."""
    return string_length_op(input, unit=unit, name=name)


# ------------------------------------------------------------------------------------------------ case


def _recased(strings: np.ndarray, encoding: str, recase: Callable) -> np.ndarray:
    if encoding == "utf-8":
        return each(lambda data: recase(data.decode("utf-8", "replace")).encode(), strings)
    if encoding:
        raise errors.invalid_argument(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    return each(recase, strings)


string_lower_op = Op(
    "StringLower", "input: string -> output: string", encoding="", on_host=True, differentiable=False
)
string_lower_op.shape(same_shape)


@string_lower_op.kernel
def _string_lower_kernel(input, *, encoding):
    return _recased(input, encoding, lambda text: text.lower())


string_lower_op.samples((text("ABC É"),), (text("ABC É", "ΑΣ"), {"encoding": "utf-8"}), (text(),))


@export("strings.lower")
def string_lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Upper case to lower: of ASCII letters only, or of all with encoding "utf-8"."""
    return string_lower_op(input, encoding=encoding, name=name)


string_upper_op = Op(
    "StringUpper", "input: string -> output: string", encoding="", on_host=True, differentiable=False
)
string_upper_op.shape(same_shape)


@string_upper_op.kernel
def _string_upper_kernel(input, *, encoding):
    return _recased(input, encoding, lambda text: text.upper())


string_upper_op.samples((text("abc é"),), (text("straße"), {"encoding": "utf-8"}), (text(),))


@export("strings.upper")
def string_upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Lower case to upper: of ASCII letters only, or of all with encoding "utf-8"."""
    return string_upper_op(input, encoding=encoding, name=name)


string_strip_op = Op("StringStrip", "input: string -> output: string", on_host=True, differentiable=False)
string_strip_op.shape(same_shape)


@string_strip_op.kernel
def _string_strip_kernel(input):
    return each(bytes.strip, input)


string_strip_op.samples((text(" a b ", "\t\r\nc\v\f", ""),), (text("x ", shape=()),), (text(),))


@export("strings.strip", "string_strip")
def string_strip(input: Any, name: str | None = None) -> Tensor:
    """The strings without whitespace at both ends."""
    return string_strip_op(input, name=name)


substr_op = Op(
    "Substr",
    "input: string, pos: T, len: T -> output: string",
    T=INDICES,
    unit=_UNIT,
    on_host=True,
    differentiable=False,
)

# ------------------------------------------------------------------------------------------------ substrings


@substr_op.shape
def _substr_shape(input, pos, len):
    if len.ndims is not None:
        pos = of_rank(pos, len.ndims)
    elif pos.ndims is not None:
        len = of_rank(len, pos.ndims)
    for place, count in zip(pos.tuple or (), len.tuple or (), strict=False):
        if None not in (place, count) and place != count:
            raise ShapeError(f"pos and len must have same shape, but are {pos} and {len}")
    return broadcast_shapes(input, pos)


def _start(data: bytes, size: int, pos: int) -> int:
    if not -size <= pos <= size:
        raise errors.invalid_argument(f"pos {pos} out of range for string {data!r}")
    return pos + size if pos < 0 else pos


def _part(data: bytes, pos: int, count: int) -> bytes:
    start = _start(data, len(data), pos)
    return data[start : start + count] if count >= 0 else data[start:]


_CHARACTER = re.compile(rb"(?s:.)[\x80-\xbf]*")  # a byte and the continuation bytes that follow it


def _part_of_characters(data: bytes, pos: int, count: int) -> bytes:
    characters = _CHARACTER.findall(data)
    start = _start(data, len(characters), pos)
    return b"".join(characters[start : start + max(count, 0)])


@substr_op.kernel
def _substr_kernel(input, pos, len, *, unit):
    pos, len = to_numpy(pos), to_numpy(len)
    if pos.shape != len.shape:
        raise ShapeError(f"pos and len must have same shape, but are {pos.shape} and {len.shape}")
    return each(_part if unit == "BYTE" else _part_of_characters, input, pos, len)


substr_op.samples(
    (_TEXTS, np.int32(0), np.int32(1)),
    (_TEXTS[:2], np.int32([[0], [1]]), np.int32([[1], [2]])),
    (_TEXTS[1], np.int64([-3, 1]), np.int64([2, 20]), {"unit": "UTF8_CHAR"}),
    (_TEXTS[:0], np.int32(0), np.int32(1)),
)
substr_op.refuses((text("abc"), np.int32(4), np.int32(1)), "pos 4 out of range", InvalidArgumentError)
substr_op.refuses((text("abc"), np.int32([1]), np.int32(1)), "Shape must be rank 0 but is rank 1")


@export("strings.substr", "substr")
def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """`len` bytes or UTF-8 characters of each string from `pos`, which counts from the end where negative."""
    return substr_op(input, pos, len, unit=unit, name=name)


encode_base64_op = Op(
    "EncodeBase64", "input: string -> output: string", pad=False, on_host=True, differentiable=False
)
encode_base64_op.shape(same_shape)

# ------------------------------------------------------------------------------------------------ base64


@encode_base64_op.kernel
def _encode_base64_kernel(input, *, pad):
    if pad:
        return each(base64.urlsafe_b64encode, input)
    return each(lambda data: base64.urlsafe_b64encode(data).rstrip(b"="), input)


encode_base64_op.samples(
    (text("", "a", "ab", "abc", "日本"),),
    (text("a", shape=()), {"pad": True}),
    (text(),),
    against=lambda input, pad: each(
        lambda s: base64.urlsafe_b64encode(s) if pad else base64.urlsafe_b64encode(s).strip(b"="), input
    ),
)


@export("io.encode_base64", "encode_base64")
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Each string in web-safe base64, with or without the padding at its end."""
    return encode_base64_op(input, pad=pad, name=name)


decode_base64_op = Op("DecodeBase64", "input: string -> output: string", on_host=True, differentiable=False)
decode_base64_op.shape(same_shape)

_BASE64 = re.compile(rb"(?:[\w-]{4})*(?:[\w-]{2}(?:==)?|[\w-]{3}=?)?")


def _decoded(data: bytes) -> bytes:
    if not _BASE64.fullmatch(data):
        raise errors.invalid_argument(f"Invalid character or length found in base64: {data!r}")
    return base64.urlsafe_b64decode(data.rstrip(b"=") + b"==")


@decode_base64_op.kernel
def _decode_base64_kernel(input):
    return each(_decoded, input)


decode_base64_op.samples((text("", "YQ", "YQ==", "_v79"),), (text("YWJj", shape=()),), (text(),))
decode_base64_op.refuses((text("/v79"),), "Invalid character", InvalidArgumentError)
decode_base64_op.refuses((text("Y"),), "Invalid character or length", InvalidArgumentError)


@export("io.decode_base64", "decode_base64")
def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """Strings from their web-safe base64, padded or not."""
    return decode_base64_op(input, name=name)


def each(function: Callable, *arrays: np.ndarray) -> np.ndarray:
    """The function of every element, as an object array; arrays broadcast together."""
    return np.asarray(np.frompyfunc(function, len(arrays), 1)(*arrays), dtype=object)
