"""Snappy's raw format, read: blocks of tables that other programs compressed.

Compressed data is the length of the plain data, and then elements: bytes as they are, or a copy of bytes that
came before. The two lowest bits of an element's first byte say which kind it is.
"""

from __future__ import annotations

from tideflow.graph.varints import decode_varint

# A copy of at most 64 bytes takes two bytes or more, so plain data is never longer than this many times its
# compressed form.
_MOST_FOR_EACH_BYTE = 32


def uncompressed(data: bytes) -> bytes:
    """The plain bytes. Raises ValueError, which says what is wrong, if `data` is damaged."""
    length, at = decode_varint(data, 0)
    if length > _MOST_FOR_EACH_BYTE * len(data):
        raise ValueError(f"{len(data)} bytes cannot hold {length}")
    plain = bytearray()
    while at < len(data):
        tag = data[at]
        kind, high = tag & 3, tag >> 2
        if kind == 0:
            size, at = _literal_size(data, at, high)
            plain += _slice(data, at, size)
            at += size
        else:
            size, distance, at = _copy(data, at, kind, high)
            _repeat(plain, distance, size)
        if len(plain) > length:
            raise ValueError(f"more than the {length} bytes that it says it holds")
    if len(plain) != length:
        raise ValueError(f"{len(plain)} bytes instead of the {length} that it says it holds")
    return bytes(plain)


def _literal_size(data: bytes, at: int, high: int) -> tuple[int, int]:
    """How many plain bytes follow, and where they begin. From 60 on, `high` says how many bytes say so."""
    if high < 60:
        return high + 1, at + 1
    width = high - 59
    return _number(data, at + 1, width) + 1, at + 1 + width


def _copy(data: bytes, at: int, kind: int, high: int) -> tuple[int, int, int]:
    """The size of a copy, how far back it begins, and the position after the element."""
    if kind == 1:
        return (high & 7) + 4, (high >> 3) << 8 | _number(data, at + 1, 1), at + 2
    width = 2 if kind == 2 else 4
    return high + 1, _number(data, at + 1, width), at + 1 + width


def _number(data: bytes, at: int, width: int) -> int:
    return int.from_bytes(_slice(data, at, width), "little")


def _slice(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise ValueError(f"an element reaches beyond its end, at byte {at}")
    return data[at : at + size]


def _repeat(plain: bytearray, distance: int, size: int) -> None:
    """Appends `size` bytes from `distance` back; a copy longer than its distance repeats itself."""
    if not 0 < distance <= len(plain):
        raise ValueError(f"a copy from {distance} bytes back, where there are {len(plain)}")
    piece = plain[-distance:][:size]
    plain += (piece * (size // len(piece) + 1))[:size]
