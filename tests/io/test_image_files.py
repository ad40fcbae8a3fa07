"""Image files: round trips, what Pillow writes, broken and hostile files."""

from __future__ import annotations

import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.io.images import photo, saved
from tideflow.io import bmp, gif, jpeg, png

RNG = np.random.default_rng(0)
PICTURE = Image.fromarray(photo())

FILES = {
    "jpeg": (jpeg.decode, saved(PICTURE, "JPEG", quality=80)),
    "progressive": (jpeg.decode, saved(PICTURE, "JPEG", progressive=True)),
    "cmyk": (jpeg.decode, saved(PICTURE.convert("CMYK"), "JPEG")),
    "png": (png.decode, saved(PICTURE, "PNG")),
    "palette": (png.decode, saved(PICTURE.quantize(17), "PNG")),
    "wide png": (png.decode, png.encode(photo().astype(np.uint16) * 257)),
    "gif": (gif.decode, saved(PICTURE.quantize(64), "GIF")),
    "moving": (
        gif.decode,
        saved(PICTURE, "GIF", save_all=True, append_images=[PICTURE.rotate(90 * i) for i in (1, 2)]),
    ),
    "bmp": (bmp.decode, saved(PICTURE, "BMP")),
}


# ---------------------------------------------------------------------------------- broken files


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_changed_file_is_an_image_or_an_error(name, data):
    """Whatever bytes are changed: no other exception, and nothing of a monstrous size."""
    decode, contents = FILES[name]
    changed = bytearray(contents)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = decode(bytes(changed))
    except ValueError:
        return
    assert found.dtype in (np.uint8, np.uint16) and found.size < 1 << 29


@pytest.mark.parametrize("name", FILES)
@given(share=st.floats(0, 0.97))
@settings(max_examples=25, deadline=None)
def test_a_file_cut_short_is_an_error(name, share):
    decode, contents = FILES[name]
    with pytest.raises(ValueError):
        decode(contents[: int(len(contents) * share)])


def test_a_small_file_that_claims_to_be_huge():
    size = struct.pack(">II", 100_000, 100_000)
    header = size + bytes([8, 2, 0, 0, 0])
    chunk = b"IHDR" + header
    bomb = png.encode(np.zeros((1, 1, 3), np.uint8))
    bomb = bomb[:12] + chunk + struct.pack(">I", zlib.crc32(chunk)) + bomb[33:]
    with pytest.raises(ValueError, match="too large for int: 100000 by 100000"):
        png.decode(bomb)

    contents = bytearray(FILES["jpeg"][1])
    frame = contents.index(b"\xff\xc0")
    contents[frame + 5 : frame + 9] = struct.pack(">HH", 60_000, 60_000)
    with pytest.raises(ValueError, match="60000 by 60000 pixels are too large"):
        jpeg.decode(bytes(contents))

    contents = bytearray(FILES["bmp"][1])
    contents[18:26] = struct.pack("<ii", 1 << 20, 1 << 20)
    with pytest.raises(ValueError, match="must be less than"):
        bmp.decode(bytes(contents))


def _png_of(width, height, data):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return png.SIGNATURE + b"".join(png._chunk(*part) for part in parts)


def test_sizes_that_the_file_has_too_few_bytes_for():
    with pytest.raises(ValueError, match="bytes cannot hold 10000 by 10000 pixels"):
        png.decode(_png_of(10_000, 10_000, zlib.compress(bytes(1000))))
    with pytest.raises(ValueError, match=r"Invalid PNG header.*2000000 by 1"):
        png.decode(_png_of(2_000_000, 1, zlib.compress(bytes(6_000_001))))
    contents = bytearray(saved(Image.new("P", (2, 2)), "GIF"))
    frame = contents.index(b"\x2c\0\0\0\0")
    contents[frame + 5 : frame + 9] = struct.pack("<HH", 10_000, 10_000)
    with pytest.raises(ValueError, match="bytes cannot hold a frame of 10000 by 10000 pixels"):
        gif.decode(bytes(contents))


def test_a_large_image_is_converted_to_gray_in_pieces():
    side = 2000
    bomb = _png_of(side, side, zlib.compress(bytes(side * (3 * side + 1))))
    tracemalloc.start()
    try:
        assert png.decode(bomb, channels=1).shape == (side, side, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20  # the wide numbers of the whole image would take 96 MB


# ---------------------------------------------------------------------------------- PNG


@given(
    height=st.integers(1, 20),
    width=st.integers(1, 20),
    channels=st.integers(1, 4),
    dtype=st.sampled_from([np.uint8, np.uint16]),
    compression=st.integers(-1, 9),
    smooth=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_png_there_and_back(height, width, channels, dtype, compression, smooth):
    pixels = np.random.default_rng(height * width).integers(0, np.iinfo(dtype).max, (height, width, channels))
    if smooth:  # so that every filter is of use somewhere
        pixels = pixels.cumsum(0) // 7 + pixels.cumsum(1) // 5
    pixels = pixels.astype(dtype)
    contents = png.encode(pixels, compression)
    np.testing.assert_array_equal(png.decode(contents, wide=dtype is np.uint16), pixels)
    if dtype is np.uint8:  # Pillow reads it too
        modes = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
        from io import BytesIO

        found = Image.open(BytesIO(contents))
        assert found.mode == modes[channels]
        np.testing.assert_array_equal(np.asarray(found).reshape(pixels.shape), pixels)


def test_filters_make_photos_smaller():
    pixels = photo(100, 100)
    assert len(png.encode(pixels)) < len(zlib.compress(pixels.tobytes()))


def test_png_of_16_bits_as_8_and_of_8_as_16():
    pixels = RNG.integers(0, 65536, (5, 6, 3)).astype(np.uint16)
    np.testing.assert_array_equal(png.decode(png.encode(pixels)), pixels >> 8)
    small = photo(5, 6)
    np.testing.assert_array_equal(png.decode(png.encode(small), wide=True), small * np.uint16(257))


def test_a_palette_that_is_too_short_is_black():
    contents = saved(PICTURE.quantize(8), "PNG")
    start = contents.index(b"PLTE") - 4
    stop = contents.index(b"IDAT") - 4
    chunk = b"PLTE" + b"\xff\x80\x40"
    short = struct.pack(">I", 3) + chunk + struct.pack(">I", zlib.crc32(chunk))
    found = png.decode(contents[:start] + short + contents[stop:])
    assert {tuple(color) for color in found.reshape(-1, 3).tolist()} == {(255, 128, 64), (0, 0, 0)}


# ---------------------------------------------------------------------------------- JPEG


@pytest.mark.parametrize("channels", [1, 3])
def test_jpeg_there_and_back(channels):
    pixels = photo()[..., :channels]
    found = jpeg.decode(jpeg.encode(pixels, quality=100, chroma_downsampling=False), fast_transform=False)
    assert np.abs(found.astype(int) - pixels).max() <= 4


@pytest.mark.parametrize("size", [(37, 53), (3, 50), (1, 1), (8, 7)])
@pytest.mark.parametrize("ratio", [1, 2, 4, 8])
def test_a_part_of_the_pixels(size, ratio):
    """Also of an image that is smaller than what becomes one pixel."""
    found = jpeg.decode(jpeg.encode(photo(*size)), ratio=ratio)
    assert found.shape == (-(-size[0] // ratio), -(-size[1] // ratio), 3)


def test_the_shape_without_decoding():
    assert jpeg.shape(FILES["jpeg"][1][:700]) == (37, 53, 3)
    assert jpeg.shape(FILES["cmyk"][1]) == (37, 53, 4)


def test_the_faster_ways_are_a_few_levels_off():
    contents = jpeg.encode(photo(), quality=90)
    exact = jpeg.decode(contents, fast_transform=False).astype(int)
    for options in ({}, {"fancy_upscaling": False}):
        assert np.abs(jpeg.decode(contents, **options) - exact).mean() < 4


def test_a_truncated_jpeg_is_gray_where_it_ends():
    contents = jpeg.encode(photo(64, 64), chroma_downsampling=False)
    cut = contents[: len(contents) * 2 // 3]
    with pytest.raises(ValueError, match="Invalid JPEG data"):
        jpeg.decode(cut)
    found = jpeg.decode(cut, recover_truncated=True)
    np.testing.assert_array_equal(found[:16], jpeg.decode(contents)[:16])
    assert (found[-8:] == 128).all()


def test_four_colors():
    found = jpeg.decode(FILES["cmyk"][1])
    assert np.abs(found.astype(int) - photo()).mean() < 8
    with pytest.raises(ValueError, match="four colours"):
        jpeg.decode(FILES["cmyk"][1], channels=1)


# ---------------------------------------------------------------------------------- GIF and BMP


def test_frames_cover_what_was_there():
    first = Image.new("P", (6, 5), 0)
    first.putpalette([10, 20, 30, 200, 100, 50])
    second = first.copy()
    second.paste(1, (1, 2, 4, 4))
    frames = gif.decode(saved(first, "GIF", save_all=True, append_images=[second], disposal=2))
    assert frames.shape == (2, 5, 6, 3)
    assert (frames[0] == [10, 20, 30]).all()
    assert (frames[1, 2:4, 1:4] == [200, 100, 50]).all()


def test_interlaced_frames():
    image = PICTURE.quantize(64)
    np.testing.assert_array_equal(
        gif.decode(saved(image, "GIF", interlace=1)), gif.decode(saved(image, "GIF", interlace=0))
    )


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_bmp_that_pillow_writes(mode):
    image = PICTURE.convert(mode)
    found = bmp.decode(saved(image, "BMP"))
    np.testing.assert_array_equal(found, np.asarray(image).reshape(37, 53, -1))


def test_bmp_from_the_top():
    contents = bytearray(FILES["bmp"][1])
    contents[22:26] = struct.pack("<i", -37)
    np.testing.assert_array_equal(bmp.decode(bytes(contents)), photo()[::-1])


@pytest.mark.parametrize("method", [1, 2])
def test_compressed_bmp_is_refused(method):
    contents = bytearray(saved(PICTURE.convert("L"), "BMP"))
    contents[30:34] = struct.pack("<i", method)
    with pytest.raises(ValueError, match=f"Compressed bmp files .method {method}. are not supported"):
        bmp.decode(bytes(contents))
