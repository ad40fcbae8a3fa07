"""Variable-length integers: seven bits a byte, the lowest first."""

from __future__ import annotations


def encode_varint(number: int) -> bytes:
    """A number that is not negative, as bytes."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def decode_varint(data: bytes, at: int, end: int | None = None) -> tuple[int, int]:
    """The number that begins at `at`, and where it ends; ValueError where it does not end before `end`."""
    number = shift = 0
    for position in range(at, min(at + 10, len(data) if end is None else end)):
        byte = data[position]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            if number >> 64:
                break
            return number, position + 1
        shift += 7
    raise ValueError(f"no variable-length integer at byte {at}")
