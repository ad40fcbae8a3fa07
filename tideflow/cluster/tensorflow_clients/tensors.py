"""Tensors in the messages of a TensorFlow client, read and written where they stand in a message.

protobuf copies a tensor's memory when it parses or serializes it. Here a fed tensor is copied once, from the
message to memory of its own, and a fetched one once, into the answer; gRPC copies either of them once more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.cluster.http2.threaded_server import LARGEST_MESSAGE
from tideflow.cluster.tensorflow_clients.messages import NamedTensor
from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor
from tideflow.graph.tensor_proto import array_of_client, tensor_head, values_proto
from tideflow.graph.varints import decode_varint, encode_varint
from tideflow.runtime.values import to_torch

Pieces: TypeAlias = "list[bytes | memoryview]"  # joined, they are the bytes of a message

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # how a field is encoded
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}
_NAME, _TENSOR = 1, 2  # fields of a NamedTensorProto
_CONTENT = 4  # the field of a TensorProto with the memory of all elements
_PARSED_WHOLE = 16 << 10  # bytes of a request whose tensors are copied by protobuf


def split(message: memoryview, number: int) -> tuple[bytes, list[memoryview]]:
    """A message without one of its fields, and the values of this field, which are not copied.

    Raises:
      DecodeError: If the bytes are no message.
    """
    try:
        return _split(message, number)
    except ValueError as error:
        raise DecodeError(str(error)) from None


def _split(message: memoryview, number: int) -> tuple[bytes, list[memoryview]]:
    rest: list[memoryview] = []
    found: list[memoryview] = []
    at, size = 0, len(message)
    while at < size:
        tag, end = decode_varint(message, at, size)
        kind = tag & 7
        if kind == _BYTES:
            length, begin = decode_varint(message, end, size)
            end = begin + length
            if tag >> 3 == number and end <= size:
                found.append(message[begin:end])
                at = end
                continue
        elif kind == _VARINT:
            _, end = decode_varint(message, end, size)
        elif kind in _FIXED_SIZES:
            end += _FIXED_SIZES[kind]
        else:
            raise ValueError(f"the field at byte {at} has the unknown encoding {kind}")
        if end > size:
            raise ValueError(f"the field at byte {at} ends after the message")
        rest.append(message[at:end])
        at = end
    return b"".join(rest), found


# --------------------------------------------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True)
class Feed:
    """A tensor that a client feeds, and the memory of its elements where that is not in the message."""

    name: str
    tensor: TensorProto
    content: memoryview | None = None

    def read(self, to: Tensor) -> Any:
        """What a step takes for a tensor."""
        proto, dtype = self.tensor, to.dtype.base_dtype
        if proto.dtype != dtype.as_datatype_enum:
            raise errors.invalid_argument(
                f"The feed '{to.name}' is of type {dtype.name} ({dtype.as_datatype_enum}), and not of type "
                f"{proto.dtype}, which the client sent."
            )
        shape = [dim.size for dim in proto.tensor_shape.dim]
        if proto.tensor_shape.unknown_rank or min(shape, default=0) < 0:
            raise errors.invalid_argument(f"Invalid TensorProto for feed '{to.name}': its shape is not known")
        if not to.shape.is_compatible_with(tuple(shape)):
            raise errors.invalid_argument(
                f"Cannot feed value of shape {tuple(shape)} for Tensor '{to.name}', which has shape "
                f"'{to.shape}'"
            )
        try:
            content = proto.tensor_content if self.content is None else self.content
            if content and dtype is not dtypes.string:
                return _numbers(content, shape, dtype)
            if self.content is not None:
                proto.tensor_content = bytes(self.content)
            return to_torch(array_of_client(proto, to.name))
        except (ValueError, TypeError) as error:
            raise errors.invalid_argument(f"Invalid TensorProto for feed '{to.name}': {error}") from None


def read_feeds(data: memoryview | bytes, kind: Any) -> tuple[Any, list[Feed]]:
    """The request of a step, of this kind of message, and what it feeds.

    Raises:
      DecodeError: If the bytes are no message.
    """
    if len(data) <= _PARSED_WHOLE:
        message = kind.FromString(bytes(data))
        return message, [_feed(each) for each in message.feed]
    field = kind.DESCRIPTOR.fields_by_name["feed"]
    rest, found = split(memoryview(data), field.number)
    is_named = field.message_type.full_name == NamedTensor.DESCRIPTOR.full_name
    return kind.FromString(rest), [_large_feed(each, is_named) for each in found]


def _feed(message: Any) -> Feed:
    return Feed("", message) if isinstance(message, TensorProto) else Feed(message.name, message.tensor)


def _large_feed(message: memoryview, is_named: bool) -> Feed:
    name = ""
    if is_named:
        rest, found = split(message, _TENSOR)
        name, message = NamedTensor.FromString(rest).name, found[-1] if found else memoryview(b"")
    rest, found = split(message, _CONTENT)
    return Feed(name, TensorProto.FromString(rest), found[-1] if found else None)


def _numbers(content: memoryview | bytes, shape: Sequence[int], dtype: DType) -> torch.Tensor:
    if len(content) != math.prod(shape) * dtype.size:
        raise ValueError(f"{len(content)} bytes are no {dtype.name} tensor of shape {shape}")
    if dtype.torch is None:
        raise TypeError(f"a tensor of type {dtype.name} cannot be fed")
    return torch.frombuffer(bytearray(content), dtype=dtype.torch).reshape(shape)


# --------------------------------------------------------------------------------------------------- writing


def tensor_pieces(value: Any, dtype: DType) -> Pieces:
    """A TensorProto with the value of a fetch."""
    if isinstance(value, torch.Tensor):
        content = _memory(value)
        return [
            tensor_head(dtype.as_datatype_enum, tuple(value.shape)),
            _field(_CONTENT, len(content)),
            content,
        ]
    if isinstance(value, np.ndarray) and value.dtype == object and dtype is dtypes.string:
        return [values_proto(value, dtype).SerializeToString()]
    raise errors.invalid_argument(f"A value of type {dtype.name} stays in its server: it cannot be fetched.")


def _memory(value: torch.Tensor) -> memoryview:
    """The elements of a tensor in their order. Nobody writes to them: a step copies memory that is in use
    elsewhere before it writes.
    """
    flat = value.cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
    if not flat.numel():
        return memoryview(b"")
    if flat.stride(0) != 1:  # one element, which is contiguous to torch whatever its stride is
        flat = flat.clone(memory_format=torch.contiguous_format)
    return flat.view(torch.uint8).numpy().data


def named_pieces(name: str, value: Any, dtype: DType) -> Pieces:
    """A NamedTensorProto with the value of a fetch."""
    text, tensor = name.encode(), tensor_pieces(value, dtype)
    return [_field(_NAME, len(text)), text, _field(_TENSOR, _size(tensor)), *tensor]


def answer(number: int, tensors: Iterable[Pieces], rest: bytes) -> Pieces:
    """A message that has tensors in the field of this number, and whose other fields are `rest`."""
    pieces: Pieces = []
    for tensor in tensors:
        pieces += [_field(number, _size(tensor)), *tensor]
    pieces.append(rest)
    size = _size(pieces)
    if size > LARGEST_MESSAGE:
        raise errors.resource_exhausted(
            f"The fetched tensors have {size} bytes; an answer has at most {LARGEST_MESSAGE}. Fetch fewer."
        )
    return pieces


def _size(pieces: Pieces) -> int:
    return sum(map(len, pieces))


def _field(number: int, size: int) -> bytes:
    """What comes before the bytes of a field whose number is below 16."""
    return bytes((number << 3 | _BYTES,)) + encode_varint(size)
