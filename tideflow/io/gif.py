"""GIF files: bytes to frames [frames, height, width, 3].

As in TensorFlow, each frame is drawn over the one before it; the size of the screen, transparent colours and
disposal methods are ignored. Pillow decompresses each frame, as a file of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

import numpy as np

from tideflow.io.jpeg import MOST_VALUES

# Pixels that one compressed byte can stand for: codes have three bits at least, strings 4096 pixels at most.
_MOST_UNPACKED = 4096 * 8 // 3
_IMAGE, _EXTENSION, _TRAILER = 0x2C, 0x21, 0x3B


@dataclass
class _Frame:
    """A frame: its position, its colours, and its compressed pixels."""

    left: int
    top: int
    width: int
    height: int
    interlaced: bool
    palette: np.ndarray
    data: bytes

    def pixels(self) -> np.ndarray:
        """The colours of its pixels."""
        indices = self._indices()
        if indices.size and indices.max() >= len(self.palette):
            raise ValueError(
                f"found color index {indices.max()} outside of color map range {len(self.palette)}"
            )
        colours: np.ndarray = self.palette[indices]
        return colours

    def _indices(self) -> np.ndarray:
        from PIL.GifImagePlugin import GifImageFile  # loaded when asked for

        grays = np.repeat(np.arange(256, dtype=np.uint8), 3).tobytes()
        screen = b"GIF89a" + struct.pack("<HHBBB", self.width, self.height, 0xF7, 0, 0) + grays
        place = struct.pack("<BHHHHB", _IMAGE, 0, 0, self.width, self.height, 0x40 * self.interlaced)
        return np.asarray(GifImageFile(BytesIO(screen + place + self.data + bytes([_TRAILER]))))


def decode(contents: bytes) -> np.ndarray:
    """All frames."""
    try:
        return _composed(contents)
    except (OSError, SyntaxError, IndexError, EOFError, struct.error, ValueError) as error:
        raise ValueError(f"Invalid GIF data (size {len(contents)}), {error or 'it ends too early'}") from None


def _composed(contents: bytes) -> np.ndarray:
    frames = list(_frames(contents))
    if not frames:
        raise ValueError("it has no frame")
    first = frames[0]
    width, height = max(frame.width for frame in frames), max(frame.height for frame in frames)
    if (first.left, first.top, first.width, first.height) != (0, 0, width, height):
        raise ValueError("the first frame does not fill the canvas")
    if len(frames) * height * width * 3 >= MOST_VALUES:
        raise ValueError(f"{len(frames)} frames of {height} by {width} pixels are too large")
    for frame in frames:
        if frame.width * frame.height > _MOST_UNPACKED * len(frame.data):
            raise ValueError(
                f"{len(frame.data)} bytes cannot hold a frame of {frame.height} by {frame.width} pixels"
            )
    result = np.zeros((len(frames), height, width, 3), np.uint8)
    for number, frame in enumerate(frames):
        if number:
            result[number] = result[number - 1]
        rows = slice(frame.top, min(frame.top + frame.height, height))
        columns = slice(frame.left, min(frame.left + frame.width, width))
        part = result[number, rows, columns]
        part[:] = frame.pixels()[: part.shape[0], : part.shape[1]]
    return result


def _frames(contents: bytes) -> Iterator[_Frame]:
    common, place = _color_table(contents, 13, contents[10])
    while (kind := contents[place]) != _TRAILER:
        place += 1
        if kind == _EXTENSION:
            place = _after_blocks(contents, place + 1)
            continue
        if kind != _IMAGE:
            raise ValueError(f"an unknown block {kind:#x} at byte {place - 1}")
        left, top, width, height, flags = struct.unpack_from("<HHHHB", contents, place)
        palette, start = _color_table(contents, place + 9, flags)
        palette = common if palette is None else palette
        if palette is None:
            raise ValueError("missing color map for frame")
        place = _after_blocks(contents, start + 1)
        data = contents[start:place]
        yield _Frame(left, top, width, height, bool(flags & 0x40), palette, data)


def _color_table(contents: bytes, place: int, flags: int) -> tuple[np.ndarray | None, int]:
    if not flags & 0x80:
        return None, place
    stop = place + 3 * (2 << (flags & 7))
    if stop > len(contents):
        raise ValueError("its color map ends too early")
    return np.frombuffer(contents[place:stop], np.uint8).reshape(-1, 3), stop


def _after_blocks(contents: bytes, place: int) -> int:
    while size := contents[place]:
        place += size + 1
    return place + 1
