"""CRC-32C as TensorFlow's files carry it: masked, so that data which holds checksums has a good one too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_MASK_DELTA = 0xA282EAD8


@functools.cache
def _extend() -> Callable[[int, Any], int]:
    import google_crc32c  # only programs that use files wait for it

    return google_crc32c.extend


def crc32c(data: Any, before: int = 0) -> int:
    """The checksum of bytes (or of a contiguous array's memory) that follow others of checksum `before`."""
    return _extend()(before, data)


def mask(crc: int) -> int:
    """A checksum as files store it."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def masked_crc32c(data: Any, before: int = 0) -> int:
    """The checksum of bytes, as files store it."""
    return mask(crc32c(data, before))
