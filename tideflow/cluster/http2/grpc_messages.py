"""gRPC's messages and statuses in the data and headers of HTTP/2."""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from typing import TypeVar

from tideflow.cluster.http2.frames import header_block
from tideflow.graph import errors

PREFIX = 5  # bytes before a message: whether it is compressed, and its length
_LONGEST_TEXT = 4096  # characters of an error's text
WINDOW_BITS = {b"gzip": 31, b"deflate": zlib.MAX_WBITS}  # zlib's number for each encoding

_STATUS_OK = b"\x88"  # `:status 200` of HPACK's static table
HEADERS = _STATUS_OK + header_block(
    [(b"content-type", b"application/grpc"), (b"grpc-accept-encoding", b"identity,deflate,gzip")]
)
TRAILERS = header_block([(b"grpc-status", b"0")])
NOT_GRPC = header_block([(b":status", b"415"), (b"content-type", b"text/plain")])

_Body = TypeVar("_Body", bytes, memoryview)


def is_grpc(headers: dict[bytes, bytes]) -> bool:
    """Whether a request is one of gRPC."""
    return headers.get(b"content-type", b"").startswith(b"application/grpc")


def prefix(size: int, *, is_compressed: bool = False) -> bytes:
    """What comes before a message of so many bytes."""
    return struct.pack(">BL", is_compressed, size)


def message_of(body: _Body, encoding: bytes | None, limit: int) -> _Body | bytes:
    """The one message of a unary request."""
    if len(body) < PREFIX:
        raise errors.internal("The request ends before its message")
    is_compressed, length = struct.unpack_from(">BL", body)
    if length != len(body) - PREFIX:
        raise errors.internal(f"A message of {length} bytes was announced, {len(body) - PREFIX} came")
    message = body[PREFIX:]
    if not is_compressed:
        return message
    bits = WINDOW_BITS.get(encoding or b"")
    if bits is None:
        raise errors.unimplemented(f"Compression {encoding!r} is not known: gzip and deflate are")
    decompressor = zlib.decompressobj(bits)
    try:
        plain = decompressor.decompress(message, limit + 1)
    except zlib.error as error:
        raise errors.internal(f"The message is not compressed as the headers say: {error}") from None
    if len(plain) > limit:
        raise errors.resource_exhausted(f"Received message larger than max ({limit})")
    if not decompressor.eof:
        raise errors.internal("The compressed message ends too early")
    return plain


@lru_cache(maxsize=256)
def status_block(code: int, text: str) -> bytes:
    """The last headers of an answer that is an error. Texts are percent-encoded, as gRPC has it."""
    encoded = b"".join(
        bytes((byte,)) if 0x20 <= byte <= 0x7E and byte != ord("%") else b"%%%02X" % byte
        for byte in text.encode("utf-8", "replace")[:_LONGEST_TEXT]
    )
    return header_block([(b"grpc-status", b"%d" % code), (b"grpc-message", encoded)])
