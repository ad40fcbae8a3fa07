"""Messages as frames: a small header with a version, then raw tensor memory. One encode, one decode.

Frame 0 is a fixed prefix, the message as JSON (`messages.py`) with a description of each tensor, and the
bytes of small tensors. Every larger tensor is a frame of its own, a view of its memory on the way out and of
the received frame on the way in, or is in shared memory (`shared_memory.py`) and only named. A received
message is not trusted: lengths, types and shapes are compared with the frames before any memory is allocated.
"""

from __future__ import annotations

import itertools
import math
import reprlib
import struct
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
import torch
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.cluster import messages
from tideflow.cluster.messages import FRAME, INLINE, Failure, Kinds, Message, SegmentName, TensorHeader
from tideflow.graph import errors
from tideflow.graph.dtypes import DT_BFLOAT16, DT_BOOL, DT_FLOAT, DT_STRING, DType
from tideflow.graph.errors import OpError

VERSION = 3
MAX_HEADER_BYTES = 16 << 20
INLINE_BYTES = 64 << 10  # a smaller tensor travels in frame 0: copying it costs less than a frame

_MAGIC = b"TIDE"
_PREFIX = struct.Struct("<4sHHQQIII")  # magic, version, the envelope's fields, bytes of JSON
_MAGIC_AND_VERSION = (_MAGIC, VERSION)
_LENGTH_BYTES = 8  # the size of the length before each string
_TYPES = {  # by TensorFlow's number; quantized values travel as the integers they are stored as
    number: dtype
    for number in range(1, 24)
    if (dtype := DType(number)).torch is not None and not dtype.is_quantized or number == DT_STRING
}
_ARRAY_TYPES = {  # NumPy has no bfloat16 of its own: its bytes are handled as int16
    number: np.dtype(np.int16 if number == DT_BFLOAT16 else dtype.numpy) for number, dtype in _TYPES.items()
}
_NUMBERS = {dtype.torch: number for number, dtype in _TYPES.items() if number != DT_STRING}
_to_json = msgspec.json.Encoder().encode

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Buffer: TypeAlias = Any  # an object with the buffer protocol: bytes, memoryview, zmq.Frame
Share: TypeAlias = Callable[[torch.Tensor], "SegmentName | None"]  # None where a socket is quicker
Attach: TypeAlias = Callable[[SegmentName, int], Buffer]  # a segment and a length to the bytes there


class Envelope(NamedTuple):
    """What the transport adds to a message: flags, the number of the request, the incarnation of the task
    that it is for, the process that sends it, and how many frames are behind the first one.
    """

    flags: int = 0
    request: int = 0
    incarnation: int = 0
    pid: int = 0
    frames: int = 0  # `encode` counts them


# ---------------------------------------------------------------------------------------------------- encode


def encode(
    message: Message,
    envelope: Envelope = Envelope(),
    *,
    compress: bool = False,
    share: Share | None = None,
) -> list[Buffer]:
    """The message's frames. Large tensors are not copied: they must not change until the frames are sent.

    With `compress`, floats are cut to 16 bits. `share` puts the bytes of a large tensor into shared memory.
    """
    inline: list[Buffer] = []
    frames: list[Buffer] = []
    if message.tensors:
        headers = [_add(value, compress, share, inline, frames) for value in message.tensors]
        message = msgspec.structs.replace(message, tensors=headers)
    try:
        header = _to_json(message)
    except (TypeError, ValueError) as error:
        raise errors.invalid_argument(
            f"Message '{message.kind}' has a field that is not JSON: {error}."
        ) from None
    prefix = _PREFIX.pack(_MAGIC, VERSION, *envelope[:-1], len(frames), len(header))
    return [b"".join([prefix, header, *inline]), *frames]


def _add(
    value: Any, compress: bool, share: Share | None, inline: list[Buffer], frames: list[Buffer]
) -> TensorHeader | None:
    """Puts a tensor's bytes with the small or the large ones; the header that describes it."""
    if value is None:
        return None
    number, stored, array = _stored(value, compress)
    length = array.nbytes
    where: Literal[0, 1] | SegmentName = INLINE
    if length <= INLINE_BYTES:
        inline.append(np.ascontiguousarray(array))
    else:
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        shared = share(torch.from_numpy(data)) if share is not None and number != DT_STRING else None
        if shared is None:
            frames.append(data)
        where = shared or FRAME
    return TensorHeader(number, stored, list(value.shape), length, where)


def _stored(value: Any, compress: bool) -> tuple[int, int, Array]:
    """A tensor's type, the type that it has on its way, and an array of its bytes."""
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
        value = value.view(torch.int16)
    return number, number, value.numpy(force=True)


def _joined(strings: Array) -> bytes:
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
    """float32 cut to its upper 16 bits, as TensorFlow sends it; a NaN stays one."""
    value = value.reshape(-1)
    return value.view(torch.int16)[1::2].masked_fill(value.isnan(), _QUIET_NAN)


def size_of(value: Any) -> int:
    """About how many bytes a tensor has; 0 for a dead value."""
    if value is None:
        return 0
    if value.dtype == object:
        return sum(map(len, value.ravel().tolist()))
    return int(value.nbytes)


# ---------------------------------------------------------------------------------------------------- decode


def open_envelope(frame: Buffer) -> Envelope:
    """The envelope of the message that begins with this frame; an error if it is not of this version."""
    return Envelope._make(_prefix(frame)[2:-1])


def request_of(frame: Buffer) -> int | None:
    """The number of the request in a message of any version, whose prefix never changes; None if the frame is
    not a message.
    """
    view = memoryview(frame)
    if len(view) < _PREFIX.size or bytes(view[:4]) != _MAGIC:
        return None
    return int(_PREFIX.unpack_from(view)[3])


def _prefix(frame: Buffer) -> tuple[Any, ...]:
    if len(frame) < _PREFIX.size:
        raise errors.data_loss(
            f"A message of {len(frame)} bytes is truncated: the header alone has {_PREFIX.size}."
        )
    prefix = _PREFIX.unpack_from(frame)
    if prefix[:2] == _MAGIC_AND_VERSION:
        return prefix
    magic, version, *_ = prefix
    if magic != _MAGIC:
        raise errors.invalid_argument(f"Not a message of this protocol: it starts with {magic!r}.")
    raise errors.failed_precondition(
        f"The other side speaks version {version} of the protocol, this one version {VERSION}: "
        "both need the same release.",
    )


def decode(
    frames: Sequence[Buffer], kinds: Kinds = messages.CLUSTER, *, attach: Attach | None = None
) -> Message:
    """The message of these frames, of one of the `kinds`. Its large tensors are views of the frames' memory,
    or of the shared memory that `attach` maps.
    """
    first = memoryview(frames[0] if frames else b"")
    end = _PREFIX.size + _prefix(first)[-1]
    if end > min(len(first), MAX_HEADER_BYTES):
        raise errors.data_loss(
            f"A header of {end} bytes in a frame of {len(first)}: truncated, or over {MAX_HEADER_BYTES}.",
        )
    message = kinds.parse(first[_PREFIX.size : end])
    tensors, large = message.tensors, iter(frames[1:])
    for i, header in enumerate(tensors):
        if header is None:
            continue
        length, where = header.length, header.where
        _check(header)
        if where == INLINE:
            data: Any = bytearray(first[end : end + length])
            end += length
            if end > len(first):
                raise errors.data_loss(f"A tensor of {length} bytes is not all there: truncated.")
        elif where == FRAME:
            data = _frame(next(large, None), length)
        elif attach is not None:
            data = attach(where, length)
        else:
            raise errors.invalid_argument("A tensor is said to be in memory that is not shared.")
        tensors[i] = _tensor(header.dtype, header.stored, header.shape, data)
    if end != len(first) or next(large, None) is not None:
        raise errors.data_loss(f"Message '{message.kind}' has more bytes or frames than its header names.")
    return message


def _check(header: TensorHeader) -> None:
    """Raises an error unless a tensor of this type and shape has so many bytes."""
    number, stored, shape, length = header.dtype, header.stored, header.shape, header.length
    if number not in _TYPES or (stored != number and (number, stored) != (DT_FLOAT, DT_BFLOAT16)):
        raise errors.invalid_argument(f"Not the description of a tensor: type {number}, stored as {stored}.")
    needed = math.prod(shape) * (_LENGTH_BYTES if number == DT_STRING else _TYPES[stored].size)
    if length != needed and (number != DT_STRING or length < needed):
        raise errors.data_loss(
            f"A tensor of {_TYPES[number].name}{shape} needs {needed} bytes; its header says {length}.",
        )


def _tensor(number: int, stored: int, shape: list[int], data: Any) -> Any:
    """The tensor that these bytes are."""
    if number == DT_STRING:
        return _split(memoryview(data), shape)
    try:
        # NumPy's view has the shape at once; torch's own way takes two calls, and twice the time.
        array: Array = np.ndarray(shape, _ARRAY_TYPES[stored], data)
    except ValueError:  # it is empty, and the product of its other extents is too large
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


def _split(view: memoryview, shape: list[int]) -> Array:
    """The strings that `_joined` has put together."""
    count = math.prod(shape)
    lengths = np.frombuffer(view[: _LENGTH_BYTES * count], "<u8").tolist()
    ends = list(itertools.accumulate(lengths, initial=_LENGTH_BYTES * count))
    if ends[-1] != len(view):
        raise errors.data_loss(
            f"Strings whose last ends at byte {ends[-1]} are announced; there are {len(view)} bytes.",
        )
    strings: Array = np.empty(count, object)
    strings[:] = [bytes(view[start:end]) for start, end in itertools.pairwise(ends)]
    return strings.reshape(shape)


# ---------------------------------------------------------------------------------------------------- errors

_CODE_OF_PYTHON = {  # as TensorFlow has it for the errors of Python functions
    ValueError: errors.INVALID_ARGUMENT,
    TypeError: errors.INVALID_ARGUMENT,
    StopIteration: errors.OUT_OF_RANGE,
    MemoryError: errors.RESOURCE_EXHAUSTED,
    NotImplementedError: errors.UNIMPLEMENTED,
}


def failure_of(error: BaseException) -> Failure:
    """The error as a message: its code and text, and the op and the line of the program that it is about."""
    if isinstance(error, OpError):
        node = error.node_def
        return Failure(
            code=error.error_code,
            message=str(error.message),
            origin=error._origin(),
            node=None if node is None else node.name,
            op="" if node is None else node.op,
        )
    codes = (code for kind, code in _CODE_OF_PYTHON.items() if isinstance(error, kind))
    return Failure(code=next(codes, errors.UNKNOWN), message=f"{type(error).__name__}: {error}")


def error_of(failure: Failure) -> OpError:
    """The error that a message reports, as its class of `tf.errors`."""
    node = None if failure.node is None else NodeDef(name=failure.node, op=failure.op)
    error = errors.make_error(node, None, failure.message, failure.code)
    error._origin_elsewhere = failure.origin
    return error


def raise_failure(message: Message) -> Message:
    """The message, unless it reports an error, which is raised."""
    if type(message) is Failure:
        raise error_of(message)
    return message
