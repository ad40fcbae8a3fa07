"""The frames and the header blocks of HTTP/2 (RFC 9113): their bytes, and what may be in them."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from enum import IntEnum

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEAD = 9  # bytes before a frame's payload
LARGEST_WINDOW = LARGEST_STREAM = 2**31 - 1

(DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION) = (
    range(10)
)
END_STREAM = ACK = 0x1
END_HEADERS, PADDED, HAS_PRIORITY = 0x4, 0x8, 0x20
(_TABLE_SIZE, ENABLE_PUSH, MOST_STREAMS, INITIAL_WINDOW, FRAME_SIZE, HEADER_LIST_SIZE) = range(1, 7)

_FORBIDDEN = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"})
_PSEUDO = frozenset({b":method", b":path", b":scheme", b":authority"})
_REQUIRED = frozenset({b":method", b":path", b":scheme"})


class Code(IntEnum):
    """Why a stream or a connection is ended."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    INTERNAL_ERROR = 2
    FLOW_CONTROL_ERROR = 3
    SETTINGS_TIMEOUT = 4
    STREAM_CLOSED = 5
    FRAME_SIZE_ERROR = 6
    REFUSED_STREAM = 7
    CANCEL = 8
    COMPRESSION_ERROR = 9
    ENHANCE_YOUR_CALM = 11


class Violation(Exception):
    """The client broke the protocol, so that the connection cannot go on."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


def header_block(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Headers as HPACK has them, without its tables, so that a block means the same at any time."""
    return b"".join(b"\x00" + _text(name) + _text(value) for name, value in headers)


def _text(value: bytes) -> bytes:
    """A string of HPACK, not compressed: its length as a number of seven or more bits, and the bytes."""
    length = len(value)
    if length < 0x7F:
        return bytes((length,)) + value
    out, rest = bytearray((0x7F,)), length - 0x7F
    while rest >= 0x80:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out) + value


def frame(kind: int, flags: int, stream: int, payload: bytes | memoryview = b"") -> bytes:
    """The bytes of a frame."""
    return frame_head(kind, flags, stream, len(payload)) + payload


def frame_head(kind: int, flags: int, stream: int, size: int) -> bytes:
    """The bytes before a frame's payload, which has so many."""
    return struct.pack(">HBBBL", size >> 8, size & 0xFF, kind, flags, stream)


def settings(values: dict[int, int]) -> bytes:
    """The payload of a SETTINGS frame."""
    return b"".join(struct.pack(">HL", *item) for item in values.items())


def without_padding(payload: bytes | memoryview) -> bytes | memoryview:
    """The payload of a frame with the flag PADDED, as it is without."""
    if not payload or payload[0] >= len(payload):
        raise Violation(Code.PROTOCOL_ERROR, "more padding than there is")
    return payload[1 : len(payload) - payload[0]]


def check_priority(number: int, payload: bytes) -> None:
    """Raises a violation unless the payload begins with a priority of this stream."""
    if len(payload) < 5:
        raise Violation(Code.FRAME_SIZE_ERROR, "a priority needs five bytes")
    if int.from_bytes(payload[:4], "big") & LARGEST_STREAM == number:
        raise Violation(Code.PROTOCOL_ERROR, f"stream {number} depends on itself")


def as_request(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes] | None:
    """Headers by name, of a request as RFC 9113 has it; None if they are not those of one."""
    found: dict[bytes, bytes] = {}
    has_regular = False
    for name, value in headers:
        if name[:1] == b":":
            if name not in _PSEUDO or name in found or has_regular:
                return None
        else:
            has_regular = True
            if name != name.lower() or name in _FORBIDDEN or (name == b"te" and value != b"trailers"):
                return None
            if name in found:
                value = b"%s, %s" % (found[name], value)
        found[name] = value
    return found if found.keys() >= _REQUIRED and found[b":path"] else None
