"""Strings as tensors and back: raw bytes, compressed data, JSON, serialized tensors."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.example_proto import Example
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.graph.tensor_proto import make_ndarray
from tideflow.io.examples import shape_text, shown
from tideflow.io.records import LARGEST_INFLATED, too_large
from tideflow.ops.helpers import axes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.samples import c64, f32, i64, text
from tideflow.ops.helpers.types import types
from tideflow.ops.strings.strings import each
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike, TensorOrRagged

# ------------------------------------------------------------------------------------------------ raw bytes


def _numbers(data: bytes, dtype: DType, little_endian: bool, shape: tuple) -> Any:
    if dtype.is_bool:
        return to_torch(np.frombuffer(data, np.uint8).reshape(shape) != 0)
    rows = np.frombuffer(data, np.uint8).reshape(-1, dtype.size)
    rows = rows.copy() if little_endian else np.ascontiguousarray(rows[:, ::-1])
    return to_torch(rows.view(dtype.as_numpy_dtype).reshape(shape))


def _from_bytes(strings: list[bytes], out_type: DType, little_endian: bool) -> np.ndarray:
    """A reference: a row of numbers for each string."""
    if out_type.is_bool:
        return np.array([[byte > 0 for byte in string] for string in strings])
    order = np.dtype(out_type.as_numpy_dtype).newbyteorder("<" if little_endian else ">")
    return np.array([np.frombuffer(string, order) for string in strings])


decode_raw_op = Op(
    "DecodeRaw",
    "bytes: string -> output: out_type",
    out_type=types(
        "half float double int32 uint16 uint8 int16 int8 int64 complex64 complex128 bool bfloat16"
    ),
    little_endian=True,
    on_host=True,
    differentiable=False,
)


@decode_raw_op.shape
def _decode_raw_shape(bytes):
    return None if bytes.ndims is None else [*bytes.tuple, None]


@decode_raw_op.kernel
def _decode_raw_kernel(bytes, *, out_type, little_endian):
    strings = bytes.ravel().tolist()
    length = len(strings[0]) if strings else 0
    for i, string in enumerate(strings):
        if len(string) != length:
            raise errors.invalid_argument(
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{i} has size {length} != {len(string)}"  # in the order of TensorFlow's words
            )
    if length % out_type.size:
        raise errors.invalid_argument(
            f"Input to DecodeRaw has length {length} that is not a multiple of {out_type.size}, the size of "
            f"{out_type.name}"
        )
    return _numbers(b"".join(strings), out_type, little_endian, (*bytes.shape, length // out_type.size))


def _raw_reference(bytes, out_type, little_endian):
    length = len(bytes.flat[0]) if bytes.size else 0
    return _from_bytes(bytes.ravel().tolist(), out_type, little_endian).reshape(
        *bytes.shape, length // out_type.size
    )


decode_raw_op.samples(
    (text(b"abcd", b"efgh"), {"out_type": dtypes.int16}),
    (text(b"abcd", shape=()), {"out_type": dtypes.int32, "little_endian": False}),
    (text(b"\0\1\2"), {"out_type": dtypes.bool}),
    (text(b"01234567", b"89abcdef", shape=(2, 1)), {"out_type": dtypes.complex64}),
    (text(), {"out_type": dtypes.float32}),
    (text(b"", b""), {"out_type": dtypes.uint8}),
    against=_raw_reference,
)

decode_raw_op.refuses(
    (text(b"abc"), {"out_type": dtypes.int16}),
    "Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16",
    InvalidArgumentError,
)
decode_raw_op.refuses(
    (text(b"ab", b"c"), {"out_type": dtypes.uint8}), "element 1 has size 2 != 1", InvalidArgumentError
)


@export("io.decode_raw", "decode_raw")
def decode_raw(
    input_bytes: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: TensorLike | None = None,
) -> Tensor:
    """The bytes of strings as numbers.

    Args:
      input_bytes: A tensor of strings, all of the same length.
      out_type: The type of the numbers: an integer, floating-point or complex one, or bool.
      little_endian: Whether the least significant byte of a number comes first.
      name: A name for the operation.
      bytes: Another name for `input_bytes`.

    Returns:
      A tensor of `out_type` with one more axis than `input_bytes`: the numbers of each string.

    Raises:
      InvalidArgumentError: When the step runs and the strings differ in length, or the length is no multiple
        of the size of `out_type`.
    """
    input_bytes = renamed("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return decode_raw_op(input_bytes, out_type=out_type, little_endian=little_endian, name=name)


decode_padded_raw_op = Op(
    "DecodePaddedRaw",
    "input_bytes: string, fixed_length: int32 -> output: out_type",
    out_type=types("half float double int32 uint16 uint8 int16 int8 int64 bfloat16"),
    little_endian=True,
    host="fixed_length",
    on_host=True,
    differentiable=False,
)


def _elements_in(length: int, dtype: DType) -> int:
    if length % dtype.size:
        raise ShapeError(
            f"Dimension size must be evenly divisible by {dtype.size} but is {length}",
            f"fixed_length ({length}) must be a multiple of the size of out_type ({dtype.size})",
        )
    if length <= 0:
        raise ShapeError(f"fixed_length ({length}) must be greater than zero.")
    return length // dtype.size


@decode_padded_raw_op.shape
def _decode_padded_raw_shape(input_bytes, fixed_length, *, out_type):
    width = None
    if fixed_length is not None:
        length = axes.scalar(fixed_length, "k must be scalar, got shape ", axes.COUNT)
        if length < 0:
            raise ShapeError(f"Dimension size, given by scalar input 1, must be non-negative but is {length}")
        width = _elements_in(length, out_type)
    return None if input_bytes.ndims is None else [*input_bytes.tuple, width]


@decode_padded_raw_op.kernel
def _decode_padded_raw_kernel(input_bytes, fixed_length, *, out_type, little_endian):
    width = _elements_in(fixed_length, out_type)
    rows = (string[:fixed_length].ljust(fixed_length, b"\0") for string in input_bytes.ravel().tolist())
    return _numbers(b"".join(rows), out_type, little_endian, (*input_bytes.shape, width))


def _padded_raw_reference(input_bytes, fixed_length, out_type, little_endian):
    length = int(fixed_length)
    rows = [(string + bytes(length))[:length] for string in input_bytes.ravel().tolist()]
    return _from_bytes(rows, out_type, little_endian).reshape(*input_bytes.shape, length // out_type.size)


decode_padded_raw_op.samples(
    (text(b"abcd", b"efghij"), np.array(4, np.int32), {"out_type": dtypes.int16}),
    (text(b"a", b"", shape=(2, 1)), np.array(2, np.int32), {"out_type": dtypes.uint8}),
    (text(), np.array(4, np.int32), {"out_type": dtypes.float32, "little_endian": False}),
    (text(b"abc", b"d"), np.array(2, np.int32), {"out_type": dtypes.int16, "little_endian": False}),
    against=_padded_raw_reference,
)

decode_padded_raw_op.refuses(
    (text(b"abcd"), np.array(3, np.int32), {"out_type": dtypes.int16}),
    "Dimension size must be evenly divisible by 2 but is 3",
)

# ------------------------------------------------------------------------------------- compressed data, JSON

decode_compressed_op = Op(
    "DecodeCompressed",
    "bytes: string -> output: string",
    compression_type="",
    on_host=True,
    differentiable=False,
)
decode_compressed_op.shape(same_shape)

_WINDOW = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}


@decode_compressed_op.kernel
def _decode_compressed_kernel(bytes, *, compression_type):
    if not compression_type:
        return bytes
    if compression_type not in _WINDOW:
        raise errors.invalid_argument("Only ZLIB, GZIP or NONE are supported compressions")

    left = LARGEST_INFLATED  # for all strings of the tensor

    def inflated(data: bytes) -> bytes:
        nonlocal left
        try:
            found = zlib.decompressobj(_WINDOW[compression_type]).decompress(data, left + 1)
            left -= len(found)
            if left < 0:
                raise too_large("The decompressed tensor")
            return found
        except zlib.error as error:
            code, _, reason = str(error).partition(" while decompressing data: ")
            code = code.removeprefix("Error ")
            raise errors.data_loss(f"inflate() failed with error {code}: {reason}") from None

    return each(inflated, bytes)


def _decompressed(bytes, compression_type):
    inverse = {"": lambda data: data, "ZLIB": zlib.decompress, "GZIP": gzip.decompress}[compression_type]
    return text(*map(inverse, bytes.ravel()), shape=bytes.shape)


decode_compressed_op.samples(
    (text("plain"),),
    (text(zlib.compress(b"Hello"), zlib.compress(b""), shape=(2, 1)), {"compression_type": "ZLIB"}),
    (text(gzip.compress(b"Hello", mtime=0)), {"compression_type": "GZIP"}),
    (text(), {"compression_type": "GZIP"}),
    against=_decompressed,
)

decode_compressed_op.refuses(
    (text("plain"), {"compression_type": "ZIP"}), "Only ZLIB, GZIP or NONE", InvalidArgumentError
)


@export("io.decode_compressed", "decode_compressed", ragged="values")
def decode_compressed(bytes: TensorOrRagged, compression_type: str = "", name: str | None = None) -> Tensor:
    """The contents of compressed strings.

    Args:
      bytes: A tensor of strings, each compressed by itself.
      compression_type: "ZLIB", "GZIP", or "" for strings that are not compressed.
      name: A name for the operation.

    Returns:
      A tensor of strings of the same shape.

    Raises:
      DataLossError: When the step runs and a string is not compressed in that way.
    """
    return decode_compressed_op(bytes, compression_type=compression_type, name=name)


decode_json_example_op = Op(
    "DecodeJSONExample",
    "json_examples: string -> binary_examples: string",
    on_host=True,
    differentiable=False,
)
decode_json_example_op.shape(same_shape)


@decode_json_example_op.kernel
def _decode_json_example_kernel(json_examples):
    from google.protobuf import json_format  # loaded when asked for

    def binary(data: bytes) -> bytes:
        if data.lstrip()[:1] not in (b"{", b""):
            is_value = re.match(rb"""\s*([\["']|-?\d|(true|false|null)\s*$)""", data)
            wrong = ": Root element must be a message." if is_value else "Unexpected token."
            raise errors.invalid_argument(f"Error while parsing JSON: {wrong}\n{shown(data)}")
        try:
            return json_format.Parse(data, Example()).SerializeToString()
        except (json_format.ParseError, ValueError, AttributeError, TypeError) as error:
            raise errors.invalid_argument(f"Error while parsing JSON: {error}") from None

    return each(binary, json_examples)


def _example_of_integers(data: str) -> bytes:
    """The message that JSON describes whose features are all lists of integers."""
    message = Example()
    for key, feature in json.loads(data).get("features", {}).get("feature", {}).items():
        message.features.feature[key].int64_list.value.extend(map(int, feature["int64List"]["value"]))
    return message.SerializeToString()


decode_json_example_op.samples(
    (text('{"features": {"feature": {"a": {"int64List": {"value": [1, "2"]}}}}}', "{}"),),
    (text("{}", shape=()),),
    against=lambda json_examples: text(
        *map(_example_of_integers, json_examples.ravel()), shape=json_examples.shape
    ),
)

decode_json_example_op.refuses((text("{"),), "Error while parsing JSON", InvalidArgumentError)


@export("io.decode_json_example", "decode_json_example")
def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Example messages in protobuf's JSON form as serialized messages.

    Args:
      json_examples: A tensor of strings, each an Example in JSON.
      name: A name for the operation.

    Returns:
      A tensor of strings of the same shape, for `tf.io.parse_example`.

    Raises:
      InvalidArgumentError: When the step runs and a string is not such a message.
    """
    return decode_json_example_op(json_examples, name=name)


# ------------------------------------------------------------------------------------------ tensors as bytes


def content_proto(array: np.ndarray, dtype: dtypes.DType) -> TensorProto:
    """The message whose numbers are bytes, as many as there are; strings stay strings."""
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShape(array.shape).as_proto())
    if dtype is dtypes.string:
        proto.string_val.extend(array.ravel().tolist())
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


serialize_tensor_op = Op(
    "SerializeTensor", "tensor: T -> serialized: string", on_host=True, differentiable=False
)


@serialize_tensor_op.shape
def _serialize_tensor_shape(tensor):
    return []


@serialize_tensor_op.kernel
def _serialize_tensor_kernel(tensor, *, T):
    serialized = np.empty((), object)
    serialized[()] = content_proto(to_numpy(tensor), T).SerializeToString()
    return serialized


serialize_tensor_op.samples(
    (f32(2, 3),),
    (i64(),),
    (c64(0, 2),),
    (text("a", b"\xff"),),
    law=lambda tensor, serialized: (make_ndarray(TensorProto.FromString(serialized)), tensor),
)


@export("io.serialize_tensor", "serialize_tensor")
def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """A tensor as one string.

    Args:
      tensor: A tensor of numbers, bools or strings.
      name: A name for the operation.

    Returns:
      A scalar string, a serialized TensorProto, which `tf.io.parse_tensor` reads.
    """
    return serialize_tensor_op(tensor, name=name)


parse_tensor_op = Op(
    "ParseTensor", "serialized: string -> output: out_type", on_host=True, differentiable=False
)


@parse_tensor_op.shape
def _parse_tensor_shape(serialized):
    return None


@parse_tensor_op.kernel
def _parse_tensor_kernel(serialized, *, out_type):
    if serialized.ndim:
        raise errors.invalid_argument(
            f"Expected `serialized` to be a scalar, got shape: {shape_text(serialized.shape)}"
        )
    data = serialized.item()
    try:
        proto = TensorProto.FromString(data)
    except DecodeError:
        raise errors.invalid_argument(
            f"Could not parse `serialized` as TensorProto: '{shown(data)}'"
        ) from None
    try:
        found = dtypes.as_dtype(proto.dtype)
        array = make_ndarray(proto)
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        raise errors.invalid_argument(
            f"Cannot parse tensor from proto: {shown(str(proto).encode())} ({error})"
        ) from None
    if found != out_type:
        raise errors.invalid_argument(
            f"Type mismatch between parsed tensor ({errors.type_name(found)}) and dtype "
            f"({errors.type_name(out_type)})"
        )
    return to_torch(array)


def _serialized(array: np.ndarray, dtype: DType) -> np.ndarray:
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShape(array.shape).as_proto())
    proto.tensor_content = array.tobytes()
    return text(proto.SerializeToString(), shape=())


def _contents_of(serialized: np.ndarray) -> np.ndarray:
    proto = TensorProto.FromString(serialized.item())
    sizes = [dim.size for dim in proto.tensor_shape.dim]
    return np.frombuffer(proto.tensor_content, dtypes.as_dtype(proto.dtype).numpy).reshape(sizes)


parse_tensor_op.samples(
    (_serialized(np.arange(6.0).reshape(2, 3), dtypes.float64), {"out_type": dtypes.float64}),
    (_serialized(np.zeros((0, 2), np.int32), dtypes.int32), {"out_type": dtypes.int32}),
    against=_contents_of,
)

parse_tensor_op.refuses(
    (_serialized(np.zeros(2, np.int32), dtypes.int32), {"out_type": dtypes.float32}),
    "Type mismatch between parsed tensor (int32) and dtype (float)",
    InvalidArgumentError,
)
parse_tensor_op.refuses(
    (text(b"\xff\xff", shape=()), {"out_type": dtypes.float32}), "Could not parse", InvalidArgumentError
)


@export("io.parse_tensor", "parse_tensor")
def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor that a string holds.

    Args:
      serialized: A scalar string, a serialized TensorProto.
      out_type: The tensor's type.
      name: A name for the operation.

    Returns:
      A tensor of `out_type`, of a shape that only the step tells.

    Raises:
      InvalidArgumentError: When the step runs and the string is no TensorProto, or one of another type.
    """
    return parse_tensor_op(serialized, out_type=out_type, name=name)
