"""CRC-32C checksums as in TensorFlow's files: masked, because the CRC of data that contains CRCs is weak."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_MASK_DELTA = 0xA282EAD8


@functools.cache
def _extend() -> Callable[[int, Any], int]:
    import google_crc32c  # loaded when asked for

    extend: Callable[[int, Any], int] = google_crc32c.extend
    return extend


def crc32c(data: Any, before: int = 0) -> int:
    """The checksum of bytes (or of a contiguous array's memory) that follow bytes with checksum `before`."""
    return _extend()(before, data)


def mask(crc: int) -> int:
    """A checksum as files store it."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def masked_crc32cs(pieces: Sequence[bytes]) -> np.ndarray:
    """The checksum of each of many byte strings, as files store it."""
    import google_crc32c  # loaded when asked for

    crcs = np.fromiter(map(google_crc32c.value, pieces), np.uint32, len(pieces))
    return (crcs >> np.uint32(15) | crcs << np.uint32(17)) + np.uint32(_MASK_DELTA)


def masked_crc32c(data: Any, before: int = 0) -> int:
    """The checksum of bytes, as files store it."""
    return mask(crc32c(data, before))
