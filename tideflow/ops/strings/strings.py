"""Strings one by one: length, case, parts, base64. Strings are bytes; UTF-8 where an op is told so.

`each` is how string kernels work: a Python function of bytes, applied to every element of arrays that
broadcast together.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorOrRagged


def each(function: Callable, *arrays: np.ndarray) -> np.ndarray:
    """The function of every element, as an object array; arrays broadcast together."""
    return np.asarray(np.frompyfunc(function, len(arrays), 1)(*arrays), dtype=object)


_UNIT = attr("string", "BYTE", allowed=("BYTE", "UTF8_CHAR"))
_TEXTS = text("a", "héllo wörld", "", "日本語")

_CONTINUATION = bytes(range(0x80, 0xC0))


def _characters(data: bytes) -> int:
    """How many bytes of the string are not continuation bytes of UTF-8."""
    return len(data.translate(None, _CONTINUATION))


string_length_op = Op(
    "StringLength", "input: string -> output: int32", unit=_UNIT, on_host=True, differentiable=False
)
string_length_op.shape(same_shape)


@string_length_op.kernel
def _string_length_kernel(input, *, unit):
    count = len if unit == "BYTE" else _characters
    lengths = np.fromiter(map(count, input.ravel().tolist()), np.int32, input.size)
    return to_torch(lengths.reshape(input.shape))


string_length_op.samples(
    (_TEXTS,),
    (_TEXTS.reshape(2, 2), {"unit": "UTF8_CHAR"}),
    (_TEXTS[0:0],),
    (text("abc", shape=()),),
    against=lambda input, unit: np.array(
        [len(s if unit == "BYTE" else s.decode()) for s in input.flat], np.int32
    ).reshape(input.shape),
)


@export("strings.length", ragged="values")
def string_length(input: TensorOrRagged, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Counts the bytes or characters of each string.

    Args:
      input: A string tensor.
      name: A name for the operation.
      unit: "BYTE" (the default) or "UTF8_CHAR" for code points in UTF-8.

    Returns:
      An int32 tensor of the shape of `input`.
    """
    return string_length_op(input, unit=unit, name=name)


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


_LOWER_CASE = {"ABC É": "abc é", "ΑΣ": "ας"}


def _string_lower_reference(input, encoding):
    if encoding == "utf-8":
        return each(lambda data: _LOWER_CASE[data.decode()].encode(), input)
    return each(lambda data: bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in data), input)


string_lower_op.samples(
    (text("ABC É"),), (text("ABC É", "ΑΣ"), {"encoding": "utf-8"}), (text(),), against=_string_lower_reference
)


@export("strings.lower", ragged="values")
def string_lower(input: TensorOrRagged, encoding: str = "", name: str | None = None) -> Tensor:
    """Makes upper case letters lower case.

    Args:
      input: A string tensor.
      encoding: "" (the default), where only ASCII letters change, or "utf-8" for all letters.
      name: A name for the operation.

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: In a step, where `encoding` is another.
    """
    return string_lower_op(input, encoding=encoding, name=name)


string_upper_op = Op(
    "StringUpper", "input: string -> output: string", encoding="", on_host=True, differentiable=False
)
string_upper_op.shape(same_shape)


@string_upper_op.kernel
def _string_upper_kernel(input, *, encoding):
    return _recased(input, encoding, lambda text: text.upper())


def _string_upper_reference(input, encoding):
    if encoding == "utf-8":
        return each({"straße".encode(): b"STRASSE"}.get, input)
    return each(lambda data: bytes(byte - 32 if 97 <= byte <= 122 else byte for byte in data), input)


string_upper_op.samples(
    (text("abc é"),), (text("straße"), {"encoding": "utf-8"}), (text(),), against=_string_upper_reference
)


@export("strings.upper", ragged="values")
def string_upper(input: TensorOrRagged, encoding: str = "", name: str | None = None) -> Tensor:
    """Makes lower case letters upper case.

    Args:
      input: A string tensor.
      encoding: "" (the default), where only ASCII letters change, or "utf-8" for all letters.
      name: A name for the operation.

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: In a step, where `encoding` is another.
    """
    return string_upper_op(input, encoding=encoding, name=name)


string_strip_op = Op("StringStrip", "input: string -> output: string", on_host=True, differentiable=False)
string_strip_op.shape(same_shape)


@string_strip_op.kernel
def _string_strip_kernel(input):
    return each(bytes.strip, input)


string_strip_op.samples(
    (text(" a b ", "\t\r\nc\v\f", ""),),
    (text("x ", shape=()),),
    (text(),),
    against=lambda input: each(lambda data: re.sub(rb"^\s+|\s+$", b"", data), input),
)


@export("strings.strip", "string_strip", ragged="values")
def string_strip(input: TensorOrRagged, name: str | None = None) -> Tensor:
    """Removes whitespace from both ends of each string.

    Args:
      input: A string tensor.
      name: A name for the operation.

    Returns:
      A string tensor of the shape of `input`.
    """
    return string_strip_op(input, name=name)


substr_op = Op(
    "Substr",
    "input: string, pos: T, len: T -> output: string",
    T=INDICES,
    unit=_UNIT,
    on_host=True,
    differentiable=False,
)


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


def _part(data: bytes, pos: int, count: int, place: int) -> bytes:
    if not -len(data) <= pos <= len(data):
        raise errors.invalid_argument(f"pos {pos} out of range for string {data!r} at index {place}")
    start = pos + len(data) if pos < 0 else pos
    return data[start : start + count] if count >= 0 else data[start:]


_CHARACTER = re.compile(rb"(?s:.)[\x80-\xbf]*")  # a byte and the continuation bytes that follow it


def _part_of_characters(data: bytes, pos: int, count: int, place: int) -> bytes:
    characters = _CHARACTER.findall(data)
    if not -len(characters) <= pos <= len(characters):
        raise errors.invalid_argument(f"pos {pos} out of range for string at index {place}: {data!r}")
    start = pos + len(characters) if pos < 0 else pos
    return b"".join(characters[start : start + max(count, 0)])


@substr_op.kernel
def _substr_kernel(input, pos, len, *, unit):
    pos, len = to_numpy(pos), to_numpy(len)
    if pos.shape != len.shape:
        raise ShapeError(f"pos and len must have same shape, but are {pos.shape} and {len.shape}")
    shape = np.broadcast_shapes(input.shape, pos.shape)
    places = np.arange(math.prod(shape)).reshape(shape)
    return each(_part if unit == "BYTE" else _part_of_characters, input, pos, len, places)


def _substr_reference(input, pos, len, unit):
    def part(data: bytes, start: int, count: int) -> bytes:
        return data[start:][:count] if unit == "BYTE" else data.decode()[start:][:count].encode()

    return each(part, input, pos, len)


substr_op.samples(
    (_TEXTS, np.int32(0), np.int32(1)),
    (_TEXTS[:2], np.int32([[0], [1]]), np.int32([[1], [2]])),
    (_TEXTS[1], np.int64([-3, 1]), np.int64([2, 20]), {"unit": "UTF8_CHAR"}),
    (_TEXTS[:0], np.int32(0), np.int32(1)),
    against=_substr_reference,
)
substr_op.refuses((text("abc"), np.int32(4), np.int32(1)), "pos 4 out of range", InvalidArgumentError)
substr_op.refuses((text("abc"), np.int32([1]), np.int32(1)), "Shape must be rank 0 but is rank 1")


@export("strings.substr", "substr", ragged="values")
def substr(
    input: TensorOrRagged,
    pos: TensorOrRagged,
    len: TensorOrRagged,
    name: str | None = None,
    unit: str = "BYTE",
) -> Tensor:
    """Takes a part of each string.

    Args:
      input: A string tensor.
      pos: Where the part begins, an int32 or int64 tensor whose shape broadcasts with that of `input`;
        counted from the end where it is negative.
      len: How long the part is, a tensor of the shape and type of `pos`. The part ends with the string.
      name: A name for the operation.
      unit: In what `pos` and `len` count: "BYTE" (the default) or "UTF8_CHAR".

    Returns:
      A string tensor of the shape to which `input` and `pos` broadcast.

    Raises:
      ValueError: Where `pos` and `len` differ in shape.
      InvalidArgumentError: In a step in which `pos` lies outside of a string.
    """
    return substr_op(input, pos, len, unit=unit, name=name)


encode_base64_op = Op(
    "EncodeBase64", "input: string -> output: string", pad=False, on_host=True, differentiable=False
)
encode_base64_op.shape(same_shape)


@encode_base64_op.kernel
def _encode_base64_kernel(input, *, pad):
    if pad:
        return each(base64.urlsafe_b64encode, input)
    return each(lambda data: base64.urlsafe_b64encode(data).rstrip(b"="), input)


def _encode_base64_law(input, output, pad):
    """What is decoded is the input; with padding, groups of four are whole."""
    padded = each(lambda data: data + b"=" * (-len(data) % 4), output)
    is_whole = pad and all(np.ravel(padded == output))
    is_bare = not pad and b"=" not in b"".join(np.ravel(output))
    return [is_whole or is_bare, each(base64.urlsafe_b64decode, padded) == input]


encode_base64_op.samples(
    (text("", "a", "ab", "abc", "日本"),),
    (text("a", shape=()), {"pad": True}),
    (text(),),
    law=_encode_base64_law,
)


@export("io.encode_base64", "encode_base64", ragged="values")
def encode_base64(input: TensorOrRagged, pad: bool = False, name: str | None = None) -> Tensor:
    """Encodes each string in web-safe base64.

    Args:
      input: A string tensor.
      pad: Whether results are filled up with "=" to groups of four characters.
      name: A name for the operation.

    Returns:
      A string tensor of the shape of `input`.
    """
    return encode_base64_op(input, pad=pad, name=name)


decode_base64_op = Op("DecodeBase64", "input: string -> output: string", on_host=True, differentiable=False)
decode_base64_op.shape(same_shape)

_BASE64 = re.compile(rb"(?:[\w-]{4})*(?:[\w-]{2}(?:==)?|[\w-]{3}=?)?")


def _decoded(data: bytes) -> bytes:
    if not _BASE64.fullmatch(data):
        if len(data) % 4 == 1 and re.fullmatch(rb"[\w-]*", data):
            raise errors.invalid_argument(f"Base64 string length cannot be 1 modulo 4: {data!r}")
        raise errors.invalid_argument(f"Invalid character found in base64: {data!r}")
    return base64.urlsafe_b64decode(data.rstrip(b"=") + b"==")


@decode_base64_op.kernel
def _decode_base64_kernel(input):
    return each(_decoded, input)


decode_base64_op.samples(
    (text("", "YQ", "YQ==", "_v79"),),
    (text("YWJj", shape=()),),
    (text(),),
    law=lambda input, output: (
        each(lambda data: base64.urlsafe_b64encode(data).rstrip(b"="), output)
        == each(lambda data: data.rstrip(b"="), input)
    ),
)
decode_base64_op.refuses((text("/v79"),), "Invalid character", InvalidArgumentError)
decode_base64_op.refuses((text("Y"),), "Base64 string length cannot be 1 modulo 4", InvalidArgumentError)


@export("io.decode_base64", "decode_base64", ragged="values")
def decode_base64(input: TensorOrRagged, name: str | None = None) -> Tensor:
    """Decodes strings from web-safe base64, whether padded or not.

    Args:
      input: A string tensor.
      name: A name for the operation.

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: In a step with a string that is not web-safe base64.
    """
    return decode_base64_op(input, name=name)
