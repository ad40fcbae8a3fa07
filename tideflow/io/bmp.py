"""BMP files of 8 (gray), 24 and 32 bits a pixel: bytes to pixels [height, width, channels]."""

from __future__ import annotations

import struct

import numpy as np

MOST_BYTES = 1 << 30
_HEADER_BYTES = 32


def decode(contents: bytes, channels: int = 0) -> np.ndarray:
    """The pixels: gray; red, green and blue; or those and alpha."""
    if len(contents) < _HEADER_BYTES:
        raise ValueError(
            f"Incomplete bmp content, requires at least {_HEADER_BYTES} bytes to find the header size, "
            f"width, height, and bpp, got {len(contents)} bytes"
        )
    start, width, height = (struct.unpack_from("<i", contents, place)[0] for place in (10, 18, 22))
    (bits,) = struct.unpack_from("<H", contents, 28)
    compression = int.from_bytes(contents[30:34], "little")
    upside_down, height = height > 0, abs(height)
    found = _channels(bits, compression, channels)
    if width <= 0 or height == 0 or start < 0:
        raise ValueError(f"Bmp width and height must be positive, got {width} and {height}")
    row_bytes = -(-width * found // 4) * 4
    if row_bytes * height >= MOST_BYTES:
        raise ValueError(f"Total possible pixel bytes must be less than 2^30: {width} by {height} pixels")
    wanted = start + (height - 1) * row_bytes + width * found
    if len(contents) < wanted:
        raise ValueError(
            f"Incomplete bmp content, requires at least {wanted} bytes, got {len(contents)} bytes"
        )
    data = np.frombuffer(
        contents[start : start + height * row_bytes].ljust(height * row_bytes, b"\0"), np.uint8
    )
    pixels = data.reshape(height, row_bytes)[:, : width * found].reshape(height, width, found)
    pixels = pixels[::-1] if upside_down else pixels
    return pixels if found == 1 else pixels[:, :, [2, 1, 0, 3][:found]]


def _channels(bits: int, compression: int, wanted: int) -> int:
    # Method 3 is a bit mask for each colour. The masks in the files of common programs are the usual layout.
    if compression not in (0, 3):
        raise ValueError(f"Compressed bmp files (method {compression}) are not supported")
    if bits not in (8, 24, 32):
        raise ValueError(f"Number of bits per pixel must be 8, 24 or 32, but is {bits}")
    if wanted not in (0, bits // 8):
        raise ValueError(f"channels attribute {wanted} does not match bits per pixel from file {bits // 8}")
    return bits // 8
