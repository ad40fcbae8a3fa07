"""Messages as frames: a small header with a version, then raw tensor memory. One encode, one decode.

Frame 0 is a fixed prefix, JSON (kind, fields, what each tensor is), and the bytes of small tensors. Every
larger tensor is a frame of its own, a view of its memory on the way out and of the received frame on the way
in, or stands in shared memory (`shared_memory.py`) and is only named. Nothing that arrives is believed:
lengths, types and shapes are compared with what is there before any memory is taken.
"""

from __future__ import annotations

import itertools
import math
import reprlib
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np
import torch
from msgspec import Meta
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.graph import errors
from tideflow.graph.dtypes import DT_BFLOAT16, DT_BOOL, DT_FLOAT, DT_STRING, DType
from tideflow.graph.errors import OpError

VERSION = 1
MAX_HEADER_BYTES = 16 << 20
MAX_TENSORS = 65536
MAX_RANK = 64  # NumPy's limit; torch's kernels have it, too
INLINE_BYTES = 64 << 10  # a smaller tensor travels in frame 0: copying it costs less than a frame

_MAGIC = b"TIDE"
_PREFIX = struct.Struct("<4sHHQQII")  # magic, version, flags, request, incarnation, pid, bytes of JSON
_OURS = (_MAGIC, VERSION)
_LENGTH_BYTES = 8  # of each string
_INLINE, _FRAME = 0, 1  # where a tensor's bytes are; a list names shared memory
_TYPES = {  # by TensorFlow's number; quantized values travel as the integers they are stored as
    number: dtype
    for number in range(1, 24)
    if (dtype := DType(number)).torch is not None and not dtype.is_quantized or number == DT_STRING
}
_ARRAYS = {  # what NumPy takes them for
    number: np.dtype(np.int16 if number == DT_BFLOAT16 else dtype.numpy) for number, dtype in _TYPES.items()
}
_NUMBERS = {dtype.torch: number for number, dtype in _TYPES.items() if number != DT_STRING}
_Extent = Annotated[int, Meta(ge=0, le=2**62)]
_Shape = Annotated[list[_Extent], Meta(max_length=MAX_RANK)]
_Where = Literal[0, 1] | list[Any]
_Tensor = tuple[int, int, _Shape, int, _Where]  # type, type as stored, shape, bytes, where they are
_Header = tuple[str, dict[str, Any], Annotated[list[_Tensor | None], Meta(max_length=MAX_TENSORS)]]
_to_json = msgspec.json.Encoder().encode
_from_json = msgspec.json.Decoder(_Header).decode  # which believes nothing, either

Buffer = Any  # whatever has the buffer protocol: bytes, memoryview, zmq.Frame
Share = Callable[
    [torch.Tensor], "list | None"
]  # bytes -> their name in shared memory, None where it does not pay
Attach = Callable[[list, int], Buffer]  # a name and a length -> the bytes


@dataclass
class Message:
    """What tasks tell each other. `tensors` holds numbers as torch tensors, strings as object arrays of
    bytes, and None for a dead value.
    """

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    tensors: list[Any] = field(default_factory=list)


class Envelope(NamedTuple):
    """What the transport writes on a message: how to treat it, which request, to which life, from whom."""

    flags: int = 0
    request: int = 0
    incarnation: int = 0
    pid: int = 0


# ---------------------------------------------------------------------------------------------------- encode


def encode(
    message: Message,
    envelope: Envelope = Envelope(),
    *,
    compress: bool = False,
    share: Share | None = None,
) -> list[Buffer]:
    """The message's frames. Large tensors are not copied: they must not change until the frames are sent."""
    specs, inline, frames = [], [], []
    for value in message.tensors:
        if value is None:
            specs.append(None)
            continue
        number, stored, array = _stored(value, compress)
        length, where = array.nbytes, _INLINE
        if length <= INLINE_BYTES:
            inline.append(np.ascontiguousarray(array))
        else:
            data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            where = share(torch.from_numpy(data)) if share is not None and number != DT_STRING else None
            if where is None:
                where = _FRAME
                frames.append(data)
        specs.append([number, stored, list(value.shape), length, where])
    try:
        header = _to_json([message.kind, message.fields, specs])
    except (TypeError, ValueError) as error:
        raise errors.invalid_argument(
            f"Message '{message.kind}' has a field that is not JSON: {error}."
        ) from None
    prefix = _PREFIX.pack(_MAGIC, VERSION, *envelope, len(header))
    return [b"".join([prefix, header, *inline]), *frames]


def _stored(value: Any, compress: bool) -> tuple[int, int, np.ndarray]:
    """A tensor's type, the type it travels as, and an array of its bytes."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return DT_STRING, DT_STRING, np.frombuffer(_joined(value), np.uint8)
        value = torch.from_numpy(np.ascontiguousarray(value))
    number = _NUMBERS.get(value.dtype) if isinstance(value, torch.Tensor) else None
    if number is None:
        raise errors.invalid_argument(
            f"A {type(value).__name__} is not a tensor and cannot leave its task: {value!r:.100}."
        )
    if number == DT_FLOAT and compress:
        return number, DT_BFLOAT16, _upper_halves(value).numpy(force=True)
    if number == DT_BFLOAT16:
        value = value.view(torch.int16)  # NumPy has no such type
    return number, number, value.numpy(force=True)


def _joined(strings: np.ndarray) -> bytes:
    """The lengths of the strings, then the strings."""
    contents = strings.ravel().tolist()
    for content in contents:
        if not isinstance(content, bytes):
            raise errors.invalid_argument(
                f"A string tensor holds bytes; this one holds {type(content).__name__}: {content!r:.100}.",
            )
    return b"".join([np.fromiter(map(len, contents), "<u8", len(contents)).tobytes(), *contents])


_QUIET_NAN = 0x7FC0


def _upper_halves(value: torch.Tensor) -> torch.Tensor:
    """float32 cut to its upper 16 bits, as TensorFlow sends it; what is not a number stays none."""
    value = value.reshape(-1)
    return value.view(torch.int16)[1::2].masked_fill(value.isnan(), _QUIET_NAN)


def size_of(value: Any) -> int:
    """The bytes that a tensor takes, about."""
    if value is None:
        return 0
    if value.dtype == object:
        return sum(map(len, value.ravel().tolist()))
    return value.nbytes


# ---------------------------------------------------------------------------------------------------- decode


def open_envelope(frame: Buffer) -> Envelope:
    """The envelope of the message whose frame 0 this is; an error where it is none of this version."""
    return Envelope._make(_prefix(frame)[2:-1])


def request_of(frame: Buffer) -> int | None:
    """The request that a message of any version makes, None where it is none: this much never changes."""
    view = memoryview(frame)
    if len(view) < _PREFIX.size or bytes(view[:4]) != _MAGIC:
        return None
    return _PREFIX.unpack_from(view)[3]


def _prefix(frame: Buffer) -> tuple[Any, ...]:
    if len(frame) < _PREFIX.size:
        raise errors.data_loss(
            f"A message of {len(frame)} bytes is truncated: the header alone has {_PREFIX.size}."
        )
    prefix = _PREFIX.unpack_from(frame)
    if prefix[:2] == _OURS:
        return prefix
    magic, version, *_ = prefix
    if magic != _MAGIC:
        raise errors.invalid_argument(f"Not a message of this protocol: it starts with {magic!r}.")
    raise errors.failed_precondition(
        f"The other side speaks version {version} of the protocol, this one version {VERSION}: "
        "both need the same release.",
    )


def decode(frames: Sequence[Buffer], *, attach: Attach | None = None) -> Message:
    """The message of these frames; its large tensors stand in their memory."""
    first = memoryview(frames[0] if frames else b"")
    end = _PREFIX.size + _prefix(first)[-1]
    if end > min(len(first), MAX_HEADER_BYTES):
        raise errors.data_loss(
            f"A header of {end} bytes in a frame of {len(first)}: truncated, or over {MAX_HEADER_BYTES}.",
        )
    kind, fields, specs = _header(first[_PREFIX.size : end])
    large, tensors = iter(frames[1:]), []
    for spec in specs:
        if spec is None:
            tensors.append(None)
            continue
        number, stored, shape, length, where = spec
        _check(number, stored, shape, length)
        if where == _INLINE:
            data: Any = bytearray(first[end : end + length])
            end += length
            if end > len(first):
                raise errors.data_loss(f"A tensor of {length} bytes is not all there: truncated.")
        elif where == _FRAME:
            data = _frame(next(large, None), length)
        elif attach is not None:
            data = attach(where, length)
        else:
            raise errors.invalid_argument("A tensor is said to be in memory that is not shared.")
        tensors.append(_tensor(number, stored, shape, data))
    if end != len(first) or next(large, None) is not None:
        raise errors.data_loss(f"Message '{kind}' has more bytes or frames than its header names.")
    return Message(kind, fields, tensors)


def _header(text: memoryview) -> tuple[str, dict[str, Any], list[tuple | None]]:
    """Kind, fields and tensors' descriptions."""
    try:
        return _from_json(text)
    except msgspec.ValidationError as error:
        raise errors.invalid_argument(
            f"A header is a kind, fields and a description of at most {MAX_TENSORS} tensors: {error!s:.200}.",
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise errors.data_loss(f"A message's header is not JSON: {error!s:.100}.") from None


def _check(number: int, stored: int, shape: list[int], length: int) -> None:
    """An error unless a tensor can be as described."""
    if number not in _TYPES or (stored != number and (number, stored) != (DT_FLOAT, DT_BFLOAT16)):
        raise errors.invalid_argument(f"Not the description of a tensor: type {number}, stored as {stored}.")
    needed = math.prod(shape) * (_LENGTH_BYTES if number == DT_STRING else _TYPES[stored].size)
    if length != needed and (number != DT_STRING or length < needed):
        raise errors.data_loss(
            f"A tensor of {_TYPES[number].name}{shape} needs {needed} bytes; its header says {length}.",
        )


def _tensor(number: int, stored: int, shape: list[int], data: Any) -> Any:
    """The tensor that stands in these bytes."""
    if number == DT_STRING:
        return _split(memoryview(data), shape)
    try:
        # NumPy's view has the shape at once; torch's own way takes two calls, and twice the time.
        array = np.ndarray(shape, _ARRAYS[stored], data)
    except ValueError:  # empty, with other extents whose product is no number of a machine
        raise errors.invalid_argument(f"No tensor has the shape {reprlib.repr(shape)}.") from None
    if not array.flags.aligned:
        array = array.copy()
    if number == DT_BOOL and array.size and array.view(np.uint8).max() > 1:
        raise errors.invalid_argument("A tensor of bool has a byte that is neither 0 nor 1.")
    values = torch.from_numpy(array)
    if stored != number:
        return (values.to(torch.int32) << 16).view(torch.float32)
    return values.view(torch.bfloat16) if number == DT_BFLOAT16 else values


def _frame(frame: Buffer | None, length: int) -> Buffer:
    if frame is None:
        raise errors.data_loss(f"A tensor of {length} bytes has no frame: the message is truncated.")
    view = memoryview(frame)
    if view.nbytes != length:
        raise errors.data_loss(f"A tensor of {length} bytes has a frame of {view.nbytes}.")
    return bytearray(view) if view.readonly else view


def _split(view: memoryview, shape: list[int]) -> np.ndarray:
    count = math.prod(shape)
    lengths = np.frombuffer(view[: _LENGTH_BYTES * count], "<u8").tolist()
    ends = list(itertools.accumulate(lengths, initial=_LENGTH_BYTES * count))
    if ends[-1] != len(view):
        raise errors.data_loss(
            f"Strings whose last ends at byte {ends[-1]} are announced; there are {len(view)} bytes.",
        )
    strings = np.empty(count, object)
    strings[:] = [bytes(view[start:end]) for start, end in itertools.pairwise(ends)]
    return strings.reshape(shape)


# ---------------------------------------------------------------------------------------------------- errors

ERROR = "error"

_CODE_OF_PYTHON = {  # as TensorFlow has it for the errors of Python functions
    ValueError: errors.INVALID_ARGUMENT,
    TypeError: errors.INVALID_ARGUMENT,
    StopIteration: errors.OUT_OF_RANGE,
    MemoryError: errors.RESOURCE_EXHAUSTED,
    NotImplementedError: errors.UNIMPLEMENTED,
}


def error_message(error: BaseException) -> Message:
    """The error as a message: its code and text, and which op of which line it was about."""
    if isinstance(error, OpError):
        node = error.node_def
        named = {"node": node.name, "op": node.op} if node is not None else {}
        fields = {"code": error.error_code, "message": error.message, "origin": error._origin(), **named}
    else:
        code = next(
            (code for kind, code in _CODE_OF_PYTHON.items() if isinstance(error, kind)), errors.UNKNOWN
        )
        fields = {"code": code, "message": f"{type(error).__name__}: {error}"}
    return Message(ERROR, fields)


def error_of(message: Message) -> OpError:
    """The error that a message tells of, as its class of `tf.errors`."""
    fields = message.fields
    node = NodeDef(name=str(fields["node"]), op=str(fields.get("op", ""))) if "node" in fields else None
    code = fields.get("code")
    error = errors.make_error(
        node, None, str(fields.get("message")), code if type(code) is int else errors.UNKNOWN
    )
    error._origin_elsewhere = str(fields.get("origin", ""))
    return error


def raise_error(message: Message) -> Message:
    """The message, unless it tells of an error, which is raised."""
    if message.kind == ERROR:
        raise error_of(message)
    return message
