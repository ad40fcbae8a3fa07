"""Variable-length integers: seven bits in each byte, the lowest first."""

from __future__ import annotations


def encode_varint(number: int) -> bytes:
    """The bytes of a number that is not negative."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def decode_varint(data: bytes | memoryview, at: int, end: int | None = None) -> tuple[int, int]:
    """The number at `at`, and the position after it. Raises ValueError if it does not end before `end`."""
    limit = len(data) if end is None else end
    if at < limit and data[at] < 0x80:  # most are of one byte
        return data[at], at + 1
    number = shift = 0
    for position in range(at, min(at + 10, limit)):
        byte = data[position]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            if number >> 64:
                break
            return number, position + 1
        shift += 7
    raise ValueError(f"no variable-length integer at byte {at}")
