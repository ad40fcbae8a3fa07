"""JPEG files, by the libjpeg-turbo in Pillow. Bytes and arrays of pixels [height, width, channels].

TensorFlow's default is libjpeg's fast transform. Pillow has that only together with simple upsampling of the
colour channels. If the colour channels are not subsampled, or not decoded, the pixels are TensorFlow's.
Otherwise the exact transform is used, whose pixels are a few levels closer to the original.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

MOST_VALUES = 1 << 29
"""The largest number of values in an image that TensorFlow allows.

A small file may claim to have far more.
"""

_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_DENSITY_UNITS = {"in": 1, "cm": 2}


def shape(contents: bytes) -> tuple[int, int, int]:
    """Height, width and channels, from the header alone."""
    image = _opened(contents)
    return image.height, image.width, image.layers


def decode(
    contents: bytes,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    recover_truncated: bool = False,
    fast_transform: bool = True,
    crop_window: tuple[int, int, int, int] | None = None,
) -> np.ndarray:
    """The pixels, reduced by `ratio` along each axis. `crop_window` is (top, left, height, width)."""
    image = _opened(contents + b"\xff\xd9" if recover_truncated else contents)
    if image.layers == 4 and channels == 1:
        raise ValueError("a JPEG of four colours cannot be decoded as one channel")
    height, width = -(-image.height // ratio), -(-image.width // ratio)
    try:
        _check_size(height, width, max(channels, image.layers))
        _check_window(crop_window, height, width)
    except ValueError as error:
        raise ValueError(f"Invalid JPEG data or crop window, data size {len(contents)}: {error}") from None
    gray = channels == 1 or image.layers == 1
    enlarges_colors = not gray and _enlarges_colors(image, ratio)
    simple_and_fast = not fancy_upscaling if enlarges_colors else fast_transform
    _prepare(image, "L" if gray else None, ratio, (width, height), simple_and_fast)
    try:
        pixels = np.asarray(image)
    except (OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"Invalid JPEG data or crop window, data size {len(contents)}: {error}") from None
    if image.layers == 4:
        pixels = _without_black(pixels, "adobe" in image.info)
    pixels = pixels.reshape(height, width, -1)
    if channels == 3 and gray:
        pixels = np.repeat(pixels, 3, axis=2)
    if crop_window is None:
        return pixels
    top, left, rows, columns = crop_window
    return pixels[top : top + rows, left : left + columns]


def encode(
    pixels: np.ndarray,
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: bytes = b"",
) -> bytes:
    """A JPEG file of pixels with one channel or three."""
    from PIL import Image  # loaded when asked for

    buffer = BytesIO()
    gray = pixels.shape[2] == 1
    image = Image.fromarray(np.ascontiguousarray(pixels[:, :, 0] if gray else pixels))
    image.save(
        buffer,
        "JPEG",
        quality=quality,
        progressive=progressive,
        optimize=optimize_size,
        subsampling=2 if chroma_downsampling and not gray else 0,
        dpi=(x_density, y_density),
        extra=_xmp_segment(xmp_metadata),
    )
    contents = bytearray(buffer.getvalue())
    contents[13] = _DENSITY_UNITS[density_unit]  # Pillow always writes inches
    return bytes(contents)


def _xmp_segment(metadata: bytes) -> bytes:
    if not metadata:
        return b""
    body = _XMP + metadata
    return b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body


def _opened(contents: bytes) -> Any:
    from PIL.JpegImagePlugin import JpegImageFile  # loaded when asked for

    try:
        return JpegImageFile(BytesIO(contents))
    except (OSError, SyntaxError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ValueError(
            f"Invalid JPEG data, size {len(contents)}: {error or type(error).__name__}"
        ) from None


def _enlarges_colors(image: Any, ratio: int) -> bool:
    """Whether the decoder upsamples colour channels. If it halves the size, half-size channels suffice."""
    samplings = {layer[1:3] for layer in image.layer}
    return len(samplings) > 1 and not (ratio > 1 and samplings == {(2, 2), (1, 1)})


def _prepare(image: Any, mode: str | None, ratio: int, size: tuple[int, int], simple_and_fast: bool) -> None:
    """Does what Pillow's `draft` does, but for any ratio, and with a choice of libjpeg's fast methods."""
    (tile,) = image.tile
    if mode is not None:
        image._mode = mode
        tile = tile._replace(args=(mode, ""))
    image._size = size
    image.tile = [tile._replace(extents=(0, 0, *size))]
    image.decoderconfig = (ratio, int(simple_and_fast))


def _check_size(height: int, width: int, channels: int) -> None:
    if height * width * channels >= MOST_VALUES:
        raise ValueError(f"{height} by {width} pixels are too large; at most {MOST_VALUES} values")


def _check_window(window: tuple[int, int, int, int] | None, height: int, width: int) -> None:
    if window is None:
        return
    top, left, rows, columns = window
    if min(top, left) < 0 or min(rows, columns) <= 0 or top + rows > height or left + columns > width:
        raise ValueError(
            f"{list(window)} (top, left, height, width) does not lie within {height} by {width} pixels"
        )


def _without_black(pixels: np.ndarray, adobe: bool) -> np.ndarray:
    """Converts cyan, magenta, yellow and black to red, green and blue.

    Adobe's files have the former inverted.
    """
    colours = np.empty((*pixels.shape[:2], 3), np.uint8)
    for row, converted in zip(pixels, colours, strict=True):  # row by row: the products are wide
        light = 255 - row if adobe else row
        converted[:] = light[:, :3].astype(np.uint16) * light[:, 3:] // 255
    return colours
