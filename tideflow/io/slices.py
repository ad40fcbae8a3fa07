"""Slices of tensors in checkpoints: their specifications (`4 5 0,2:-`), and the keys of their data.

A slice is a start and a length for each axis. A length of -1, written `-`, is the whole axis.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from tideflow.graph import errors

_WHOLE = -1


@dataclass(frozen=True)
class TensorSlice:
    """Part of a tensor: (start, length) for each axis."""

    extents: tuple[tuple[int, int], ...]

    @classmethod
    def whole(cls, rank: int) -> TensorSlice:
        return cls(((0, _WHOLE),) * rank)

    def __str__(self) -> str:
        return ":".join("-" if n == _WHOLE else f"{start},{n}" for start, n in self.extents)

    def region(self, shape: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        """The start and end along each axis of a tensor of this shape.

        Raises ValueError if it does not fit.
        """
        if len(shape) != len(self.extents):
            raise ValueError(f"slice {self} does not have the {len(shape)} axes of the shape {list(shape)}")
        region = []
        for size, (start, length) in zip(shape, self.extents):
            end = size if length == _WHOLE else start + length
            if start < 0 or length < _WHOLE or end > size:
                raise ValueError(f"slice {self} does not fit the shape {list(shape)}")
            region.append((start, end))
        return tuple(region)

    def covers(self, shape: tuple[int, ...]) -> bool:
        """Whether the slice is the whole of a tensor of this shape."""
        return self.region(shape) == tuple((0, size) for size in shape)

    def key(self, name: str) -> bytes:
        """The key of the data of this slice of a tensor. Keys sort in the order of the slices."""
        parts = [_number(0), _text(name.encode()), _number(len(self.extents))]
        for start, length in self.extents:
            parts += [_signed(0 if length == _WHOLE else start), _signed(length)]
        return b"".join(parts)


def region_shape(region: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """The sizes of a region."""
    return tuple(end - start for start, end in region)


def common(
    a: tuple[tuple[int, int], ...], b: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int], ...] | None:
    """The intersection of two regions; None if it is empty."""
    shared = tuple((max(s, t), min(e, f)) for (s, e), (t, f) in zip(a, b))
    return shared if math.prod(max(0, end - start) for start, end in shared) else None


def within(region: tuple[tuple[int, int], ...], outer: tuple[tuple[int, int], ...]) -> tuple[slice, ...]:
    """The index of a region in the array of a region around it."""
    return tuple(slice(s - t, e - t) for (s, e), (t, _) in zip(region, outer))


def parse_shape_and_slice(spec: str) -> tuple[tuple[int, ...], TensorSlice]:
    """The shape of the whole tensor and the slice, from a specification such as `4 5 0,2:-`."""
    *sizes, extents = spec.split(" ")
    try:
        shape = tuple(int(size) for size in sizes)
        found = TensorSlice(tuple(_extent(text) for text in extents.split(":")))
    except ValueError:
        raise errors.invalid_argument(
            "Expected sizes and then start,length or - for each axis (as in '4 5 0,2:-'), but found "
            f"shape_and_slice {spec!r}",
        ) from None
    try:
        found.region(shape)
    except ValueError as error:
        raise errors.invalid_argument(f"shape_and_slice {spec!r}: {error}") from None
    return shape, found


def _extent(text: str) -> tuple[int, int]:
    if text == "-":
        return 0, _WHOLE
    start, length = (int(part) for part in text.split(","))
    if start < 0 or length < 0:
        raise ValueError(text)
    return start, length


# ------------------------------------- encodings of numbers and strings that keep their order when bytes are
# sorted


def _number(value: int) -> bytes:
    """The number of bytes, then the bytes, the highest first."""
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "big")


_ESCAPES = {b"\0": b"\xff", b"\xff": b"\0"}
_ESCAPED = re.compile(b"[\0\xff]")


def _text(value: bytes) -> bytes:
    return _ESCAPED.sub(lambda m: m[0] + _ESCAPES[m[0]], value) + b"\0\1"


def _signed(value: int) -> bytes:
    """Two's complement with as many leading 1 bits as it has bytes, or 0 bits if the number is negative."""
    size = (~value if value < 0 else value).bit_length() // 7 + 1
    plain = (value % (1 << 8 * size)).to_bytes(size, "big")
    header = ((1 << size) - 1 << 16 - size).to_bytes(2, "big")
    return bytes(a ^ b for a, b in zip(plain, header.ljust(size, b"\0")))
