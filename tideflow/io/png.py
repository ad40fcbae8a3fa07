"""PNG files of 8 and 16 bits. Bytes and arrays of pixels [height, width, channels].

Pillow decompresses and unpacks. The colour conversions of libpng are done here, and colour images of 16 bits,
which Pillow does not have.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO

import numpy as np

from tideflow.io.jpeg import MOST_VALUES

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GRAY, _RGB, _PALETTE, _GRAY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_COLOR_TYPES = {1: _GRAY, 2: _GRAY_ALPHA, 3: _RGB, 4: _RGBA}
_DEPTHS = {
    _GRAY: (1, 2, 4, 8, 16),
    _RGB: (8, 16),
    _PALETTE: (1, 2, 4, 8),
    _GRAY_ALPHA: (8, 16),
    _RGBA: (8, 16),
}
_CHANNELS = {_GRAY: 1, _RGB: 3, _GRAY_ALPHA: 2, _RGBA: 4}
_LARGEST_SIDE = 1_000_000  # libpng's
_MOST_UNPACKED = 1032  # bytes that one compressed byte can stand for
_ROWS_AT_ONCE = 1 << 20  # values of whole rows that are converted together
_GRAY_WEIGHTS = (9797, 19234, 3737)  # the weights of red, green and blue, times 32768
_SRGB_GAMMA = 0.45455


@dataclass
class _Header:
    """The header of a file and its chunks other than pixels."""

    width: int
    height: int
    depth: int
    color_type: int
    chunks: dict[bytes, bytes] = field(default_factory=dict)
    packed_bytes: int = 0  # the size of the compressed pixels

    @property
    def transparency(self) -> bytes | None:
        return self.chunks.get(b"tRNS")

    @property
    def channels(self) -> int:
        """The default number of channels. A palette may have transparent colours."""
        if self.color_type == _PALETTE:
            return 3 if self.transparency is None else 4
        return _CHANNELS[self.color_type]

    @property
    def pixel_bytes(self) -> int:
        """The bytes of the pixels in the file, unpacked."""
        stored = 1 if self.color_type == _PALETTE else _CHANNELS[self.color_type]
        return self.height * (self.width * stored * self.depth // 8)


# ---------------------------------------------------------------------------------- reading


def decode(contents: bytes, channels: int = 0, wide: bool = False) -> np.ndarray:
    """The pixels, of uint16 if `wide`, else of uint8."""
    header = _header(contents)
    channels = channels or header.channels
    if header.height * header.width * max(channels, header.channels) >= MOST_VALUES:
        raise ValueError(
            f"PNG size too large for int: {header.width} by {header.height}; at most {MOST_VALUES} values"
        )
    if header.packed_bytes * _MOST_UNPACKED < header.pixel_bytes:
        raise ValueError(
            f"Invalid PNG data, size {len(contents)}: {header.packed_bytes} bytes cannot hold "
            f"{header.width} by {header.height} pixels"
        )
    pixels = _with_channels(_pixels(contents, header), channels, header)
    if pixels.dtype == np.uint8:
        return pixels * np.uint16(257) if wide else pixels
    return pixels if wide else (pixels >> 8).astype(np.uint8)


def _header(contents: bytes) -> _Header:
    chunks = _chunks(contents)
    name, data = next(chunks, (b"", b""))
    if name != b"IHDR" or len(data) != 13:
        raise ValueError(f"Invalid PNG header, data size {len(contents)}")
    width, height, depth, color_type = struct.unpack(">IIBB", data[:10])
    sizes_fit = 0 < width <= _LARGEST_SIDE and 0 < height <= _LARGEST_SIDE
    if depth not in _DEPTHS.get(color_type, ()) or not sizes_fit:
        raise ValueError(
            f"Invalid PNG header, data size {len(contents)}: {width} by {height} pixels, colour type "
            f"{color_type}, depth {depth}"
        )
    header = _Header(width, height, depth, color_type)
    for name, data in chunks:
        if name == b"IDAT":
            header.packed_bytes += len(data)
        else:
            header.chunks.setdefault(name, data)
    if b"IEND" not in header.chunks:
        raise ValueError(f"Invalid PNG data, size {len(contents)}: it ends too early")
    return header


def _chunks(contents: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The names and data of the chunks, up to the last complete one."""
    place = len(SIGNATURE)
    while place + 12 <= len(contents):
        (length,) = struct.unpack_from(">I", contents, place)
        name = contents[place + 4 : place + 8]
        data = contents[place + 8 : place + 8 + length]
        place += 12 + length
        if place > len(contents):
            return
        (checksum,) = struct.unpack_from(">I", contents, place - 4)
        if zlib.crc32(data, zlib.crc32(name)) != checksum:
            raise ValueError(f"Invalid PNG data, size {len(contents)}: the checksum of {name!r} is wrong")
        yield name, data
        if name == b"IEND":
            return


def _pixels(contents: bytes, header: _Header) -> np.ndarray:
    """The stored pixels, with the colours of palette entries: uint8, or uint16 if the file has 16 bits."""
    if header.depth == 16:
        return _wide_pixels(contents, header)
    pixels = _unpacked(contents)
    if header.color_type == _PALETTE:
        return _looked_up(pixels, header)
    if header.depth == 1:
        pixels = pixels * np.uint8(255)
    return pixels.reshape(header.height, header.width, -1)


def _looked_up(indices: np.ndarray, header: _Header) -> np.ndarray:
    colors = np.frombuffer(header.chunks.get(b"PLTE", b""), np.uint8)
    colors = colors[: len(colors) // 3 * 3].reshape(-1, 3)
    table = np.zeros((256, header.channels), np.uint8)
    table[: len(colors), :3] = colors
    if header.transparency is not None:
        alphas = np.frombuffer(header.transparency, np.uint8)[:256]
        table[:, 3] = 255
        table[: len(alphas), 3] = alphas
    colours: np.ndarray = table[indices]
    return colours


def _wide_pixels(contents: bytes, header: _Header) -> np.ndarray:
    """Pixels of 16 bits.

    Pillow returns one byte of each number: the upper or, by another layout, the lower.
    """
    shape = (header.height, header.width, header.channels)
    if header.color_type == _GRAY:
        return _unpacked(contents).astype(np.uint16).reshape(shape)
    if header.color_type == _GRAY_ALPHA:  # four bytes a pixel
        return _unpacked(contents, "RGBA").view(">u2").astype(np.uint16)
    mode = "RGB" if header.color_type == _RGB else "RGBA"
    pixels: np.ndarray = _unpacked(contents, f"{mode};16B").astype(np.uint16)
    pixels <<= 8
    pixels |= _unpacked(contents, f"{mode};16L")
    return pixels


def _unpacked(contents: bytes, layout: str | None = None) -> np.ndarray:
    from PIL.PngImagePlugin import PngImageFile  # loaded when asked for

    try:
        image = PngImageFile(BytesIO(contents))
        if layout is not None:
            image.tile = [image.tile[0]._replace(args=layout)]
        return np.asarray(image)
    except (OSError, SyntaxError, ValueError, KeyError, IndexError, EOFError, struct.error) as error:
        raise ValueError(f"Invalid PNG data, size {len(contents)}: {error}") from None


# ---------------------------------------------------------------------------------- colours


def _with_channels(pixels: np.ndarray, channels: int, header: _Header) -> np.ndarray:
    """The pixels with the requested channels: gray, gray and alpha, colours, or colours and alpha."""
    colors, alpha = _apart(pixels)
    wants_color, wants_alpha = channels > 2, channels in (2, 4)
    if wants_alpha and alpha is None:
        alpha = _alpha(pixels, header)
    if wants_color and colors.shape[2] == 1:
        colors = np.repeat(colors, 3, axis=2)
    elif not wants_color and colors.shape[2] == 3:
        colors = _in_gray(colors, header)
    return np.concatenate([colors, alpha], axis=2) if wants_alpha else colors


def _apart(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    if pixels.shape[2] in (2, 4):
        return pixels[:, :, :-1], pixels[:, :, -1:]
    return pixels, None


def _alpha(pixels: np.ndarray, header: _Header) -> np.ndarray:
    """The alpha channel: 0 for the colour that the file declares transparent, elsewhere the largest number.

    It is the largest of the file's own depth, which for less than 8 bits is not opaque: TensorFlow does the
    same.
    """
    largest = (1 << header.depth) - 1
    alpha = np.full((*pixels.shape[:2], 1), largest, pixels.dtype)
    given = header.transparency
    if given is not None and header.color_type in (_GRAY, _RGB) and len(given) == 2 * pixels.shape[2]:
        color = np.frombuffer(given, ">u2").astype(np.int64)
        if header.depth < 8:
            color = color * (255 // (2**header.depth - 1))
        alpha[(pixels == color).all(-1)] = 0
    return alpha


def _in_gray(colors: np.ndarray, header: _Header) -> np.ndarray:
    """Converts to gray as libpng does. It takes wide numbers, so a few rows are converted at once."""
    gray = np.empty((*colors.shape[:2], 1), colors.dtype)
    rows = max(1, _ROWS_AT_ONCE // colors[0].size)
    for start in range(0, len(colors), rows):
        gray[start : start + rows] = _rows_in_gray(colors[start : start + rows], header)
    return gray


def _rows_in_gray(colors: np.ndarray, header: _Header) -> np.ndarray:
    """In linear light if the file has a gamma, with a table each way."""
    largest = np.iinfo(colors.dtype).max
    gamma = _gamma(header)
    half = 16384 if colors.dtype == np.uint16 or gamma else 0
    levels = _curve(largest, 1 / gamma)[colors] if gamma else colors.astype(np.int64)
    gray = (levels @ np.array(_GRAY_WEIGHTS) + half) >> 15
    if gamma:
        gray = _curve(largest, gamma)[gray]
        even = (colors[:, :, :1] == colors).all(-1)
        gray = np.where(even, colors[:, :, 0], gray)
    result: np.ndarray = gray.astype(colors.dtype)[:, :, None]
    return result


def _curve(largest: int, power: float) -> np.ndarray:
    return np.floor(largest * (np.arange(largest + 1) / largest) ** power + 0.5).astype(np.int64)


def _gamma(header: _Header) -> float | None:
    if b"sRGB" in header.chunks:
        return _SRGB_GAMMA
    gamma = int.from_bytes(header.chunks.get(b"gAMA", b"")[:4], "big") / 100000
    return None if gamma == 0 or abs(gamma - 1) <= 0.05 else gamma  # libpng ignores a small correction too


# ---------------------------------------------------------------------------------- writing


def encode(pixels: np.ndarray, compression: int = -1) -> bytes:
    """A file of uint8 or uint16 pixels with one to four channels."""
    height, width, channels = pixels.shape
    depth = 8 * pixels.dtype.itemsize
    header = struct.pack(">IIBBBBB", width, height, depth, _COLOR_TYPES[channels], 0, 0, 0)
    raw = pixels.astype(pixels.dtype.newbyteorder(">"), order="C").view(np.uint8).reshape(height, -1)
    data = zlib.compress(_filtered(raw, channels * pixels.dtype.itemsize).tobytes(), compression)
    parts = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(*part) for part in parts)


def _filtered(rows: np.ndarray, pixel_bytes: int) -> np.ndarray:
    """Filters each row with the filter that leaves the smallest numbers. The first byte names the filter."""
    left, above, corner = (np.zeros_like(rows) for _ in range(3))
    left[:, pixel_bytes:] = rows[:, :-pixel_bytes]
    above[1:] = rows[:-1]
    corner[1:, pixel_bytes:] = rows[:-1, :-pixel_bytes]
    mean = ((left.astype(np.uint16) + above) >> 1).astype(np.uint8)
    guesses = (np.uint8(0), left, above, mean, _paeth(left, above, corner))
    attempts = np.stack([rows - guess for guess in guesses])
    best = np.abs(attempts.view(np.int8).astype(np.int16)).sum(2).argmin(0)
    chosen = attempts[best, np.arange(len(rows))]
    return np.concatenate([best.astype(np.uint8)[:, None], chosen], axis=1)


def _paeth(left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """The one of the three neighbours that is nearest to left + above - corner."""
    a, b, c = (part.astype(np.int16) for part in (left, above, corner))
    to_left, to_above, to_corner = np.abs(b - c), np.abs(a - c), np.abs(a + b - 2 * c)
    return np.where(
        (to_left <= to_above) & (to_left <= to_corner), left, np.where(to_above <= to_corner, above, corner)
    )


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(name)))
