"""Image files decoded and encoded: pixels, bytes, shapes, errors."""

import base64
import struct
import zlib

from kit import cases, graph, product, raises, run

# ---------------------------------------------------------------------------------- files


def _photo(np, height=37, width=53):
    y, x = np.mgrid[0:height, 0:width]
    waves = [128 + 100 * np.sin(x / 7 + y / 9), 128 + 90 * np.cos(x / 5), (x * 3 + y * 2) % 256]
    noise = np.random.RandomState(0).normal(0, 12, (height, width, 3))
    return np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8)


def _jpeg(tf, np, channels=3, **options):
    return run(tf, tf.image.encode_jpeg(_photo(np)[..., :channels], **options))


def _chunk(name, data):
    return (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data) & 0xFFFFFFFF)
    )


def _png(np, pixels, depth, color_type, extra=b"", rows=None):
    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, 0)
    rows = rows or [row.tobytes() for row in pixels.astype(">u2" if depth == 16 else "u1")]
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return (
        b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + extra + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")
    )


def _interlaced(np, pixels, depth, color_type):
    """Adam7: seven passes over ever finer grids."""
    passes = [
        (0, 0, 8, 8),
        (0, 4, 8, 8),
        (4, 0, 8, 4),
        (0, 2, 4, 4),
        (2, 0, 4, 2),
        (0, 1, 2, 2),
        (1, 0, 2, 1),
    ]
    parts = [pixels[top::rows, left::columns] for top, left, rows, columns in passes]
    wide = [part.astype(">u2" if depth == 16 else "u1") for part in parts if part.size]
    rows = [row.tobytes() for part in wide for row in part]
    file = _png(np, pixels, depth, color_type, rows=rows)
    header = file[16:28] + b"\1"
    return file[:8] + _chunk(b"IHDR", header) + file[33:]


def _packed(np, indices, bits):
    spread = np.unpackbits(indices.astype(np.uint8)[:, :, None], axis=2)[:, :, 8 - bits :]
    return [row.tobytes() for row in np.packbits(spread.reshape(len(indices), -1), axis=1)]


def _png_files(np):
    random = np.random.RandomState(0)
    files = {}
    for depth in (8, 16):
        for name, channels, color_type in (
            ("gray", 1, 0),
            ("rgb", 3, 2),
            ("gray alpha", 2, 4),
            ("rgba", 4, 6),
        ):
            pixels = random.randint(0, 2**depth, (9, 7, channels))
            files["%s %d" % (name, depth)] = _png(np, pixels, depth, color_type)
            files["%s %d interlaced" % (name, depth)] = _interlaced(np, pixels, depth, color_type)
            if channels in (1, 3):
                key = _chunk(b"tRNS", struct.pack(">%dH" % channels, *map(int, pixels[2, 3])))
                files["%s %d key" % (name, depth)] = _png(np, pixels, depth, color_type, key)
    palette = random.randint(0, 256, (16, 3)).astype(np.uint8)
    indices = random.randint(0, 16, (9, 7))
    colors = _chunk(b"PLTE", palette.tobytes())
    files["palette 8"] = _png(np, indices, 8, 3, colors)
    files["palette alpha"] = _png(
        np, indices, 8, 3, colors + _chunk(b"tRNS", bytes(bytearray(range(0, 160, 20))))
    )
    for bits in (1, 2, 4):
        low = indices % 2**bits
        files["palette %d" % bits] = _png(np, low, bits, 3, colors, _packed(np, low, bits))
        files["gray %d" % bits] = _png(np, low, bits, 0, b"", _packed(np, low, bits))
    rgb = random.randint(0, 256, (9, 7, 3))
    files["gamma"] = _png(np, rgb, 8, 2, _chunk(b"gAMA", struct.pack(">I", 45455)))
    files["linear"] = _png(np, rgb, 8, 2, _chunk(b"gAMA", struct.pack(">I", 100000)))
    files["srgb"] = _png(np, rgb, 8, 2, _chunk(b"sRGB", b"\0") + _chunk(b"gAMA", struct.pack(">I", 45455)))
    files["significant bits"] = _png(np, rgb, 8, 2, _chunk(b"sBIT", b"\5\6\5"))
    return files


_PNG_NAMES = (
    "gray 8,gray 8 interlaced,gray 8 key,gray alpha 8,gray alpha 8 interlaced,"
    "rgb 8,rgb 8 interlaced,rgb 8 key,rgba 8,rgba 8 interlaced,"
    "gray 16,gray 16 interlaced,gray 16 key,gray alpha 16,gray alpha 16 interlaced,"
    "rgb 16,rgb 16 interlaced,rgb 16 key,rgba 16,rgba 16 interlaced,"
    "palette 8,palette alpha,palette 1,gray 1,palette 2,gray 2,palette 4,gray 4,gamma,linear,srgb,"
    "significant bits"
).split(",")

_GIFS = {
    "still": "R0lGODdhAgACAIEAAFpaWgAAAAAAAAAAACwAAAAAAgACAAAIBwABAAgQICAAOw==",
    "moving": (
        "R0lGODlhBwAGAIIAAAoUHigyPEZQWmRueIKMlqCqtL7I0tzm8CH5BAQBAAAALAAAAAAHAAYAAAgqAAEEEDCAQAEDBA"
        "AUKDDAQAGBBwsIIBBgAAAABgIAoKhxYMYBAwJIBBAQACH5BAQBAAAALAEAAQADAAIAggoUHigyPEZQWmRueIKMlqCq"
        "tL7I0tzm8AgJAAMYMCDAAICAACH5BAQBAAAALAEAAQAEAAMAggoUHigyPEZQWmRueIKMlqCqtL7I0tzm8AgPAAEUKD"
        "AgAACDAwQICBAQACH5BAQBAAAALAIAAgAEAAMAggoUHigyPEZQWmRueIKMlqCqtL7I0tzm8AgQAAsYKCAAwAABBAIM"
        "IFAgIAA7"
    ),
    "beyond its colors": (
        "R0lGODlhBwAGAIEAAAoUHsgoMjzSRlBa3CH5BAQBAAAALAAAAAAHAAYAAAghAAMIGEBwAAABAAgORCiQoEAAAQAkjI"
        "hQIkSDASIOiBgQACH5BAUBAAQALAEAAQADAAIAgQoUHsgoMjzSRlBa3AgJAAMAACBgAICAACH5BAUBAAQALAEAAQAE"
        "AAMAgQoUHsgoMjzSRlBa3AgQAAEMGEAgAIAAAQgIEBAgIAAh+QQFAQAEACwCAAIABAADAIEKFB7IKDI80kZQWtwIDw"
        "AFDBhAAMAAAQAIDAQQEAA7"
    ),
    "moving whole": (
        "R0lGODlhBwAGAIEAAAoUHsgoMjzSRlBa3CH5BAgBAAAALAAAAAAHAAYAAAghAAMIGEBwAAABAAgORCiQoEAAAQAkjI"
        "hQIkSDASIOiBgQACH5BAgBAAAALAAAAAAHAAYAgQoUHsgoMjzSRlBa3AgiAAMIGEBwAAABAQAcHCBgIYABAgEkfJiw"
        "oUKJBgMkhAggIAAh+QQIAQAAACwAAAAABwAGAIEKFB7IKDI80kZQWtwIIQADCBhAcAAAAQAIDkQYAECAhwwFCHh4EI"
        "BFhwYpDmgYEAAh+QQIAQAAACwAAAAABwAGAIEKFB7IKDI80kZQWtwIIQADCBhAcAAAAQAIDkQokKBAAAESIjwIIKFB"
        "gwEiDogYEAA7"
    ),
    "interlaced": (
        "R0lGODdhBQANAIEAAAoUHsgoMjzSRlBa3CwAAAAABQANAAAILQADBBAwYOAAAQIHDiQo8CDCgwMAACCIUACAggUlNh"
        "zgUADCgRc5GgwQkWKAgAA7"
    ),
    "transparent": (
        "R0lGODlhBwAGAIEAAAoUHsgoMjzSRlBa3CH5BAEBAAIALAAAAAAHAAYAAAghAAMIGEBwAAABAAgORCiQoEAAAQAkjI"
        "hQIkSDASIOiBgQACH5BAEBAAIALAEAAQADAAIAgQoUHsgoMjzSRlBa3AgJAAMAACBgAICAACH5BAEBAAIALAEAAQAE"
        "AAMAgQoUHsgoMjzSRlBa3AgPAAEMGCAgAIAAAQQoDBAQACH5BAEBAAIALAIAAgAEAAMAgQoUHsgoMjzSRlBa3AgOAA"
        "UMGCAAAEEAAgcACAgAOw=="
    ),
}


def _bmp(np, pixels, top_down=False, compression=0, bits=None):
    """Pixels with 1, 3 or 4 channels, rows padded to four bytes, the last row first."""
    height, width, channels = pixels.shape
    bits = bits or 8 * channels
    order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[channels]
    rows = [row[:, order].tobytes() for row in (pixels if top_down else pixels[::-1])]
    data = b"".join(row + b"\0" * (-len(row) % 4) for row in rows)
    sizes = struct.pack("<IiiHHI", 40, width, -height if top_down else height, 1, bits, compression)
    header = sizes + struct.pack("<IiiII", len(data), 2835, 2835, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(data), 0, 0, 54) + header + data


# ---------------------------------------------------------------------------------- PNG


@cases(*product(_PNG_NAMES, [0, 1, 3, 4], ["uint8", "uint16"]))
def png(tf, np, name, channels, dtype):
    y = tf.image.decode_png(_png_files(np)[name], channels, dtype)
    return [y, run(tf, y)]


@cases(*product([1, 2, 3, 4], ["uint8", "uint16"], [-1, 0, 9]))
def png_written(tf, np, channels, dtype, compression):
    pixels = np.random.RandomState(0).randint(0, np.iinfo(dtype).max + 1, (9, 7, channels)).astype(dtype)
    contents = tf.image.encode_png(tf.constant(pixels), compression)
    y = tf.image.decode_png(contents, dtype=dtype)
    return [contents, run(tf, contents)[:29], run(tf, y)]


def png_refused(tf, np):
    file = _png(np, np.ones((9, 7, 3)), 8, 2)
    attempts = [
        lambda: tf.image.decode_png(file[:-30]),
        lambda: tf.image.decode_png(file[:-12]),
        lambda: tf.image.decode_png(file[:8]),
        lambda: tf.image.decode_png(file[:40]),
        lambda: tf.image.decode_png(file[:50] + b"x" + file[51:]),
        lambda: tf.image.decode_png(file[:20] + b"x" + file[21:]),
        lambda: tf.image.decode_png(b""),
        lambda: tf.image.decode_png(b"hello"),
        lambda: tf.image.decode_png(file, channels=2),
        lambda: tf.image.decode_png(file, channels=5),
        lambda: tf.image.decode_png([file, file]),
        lambda: tf.image.decode_png(file, dtype=tf.int32),
        lambda: tf.image.decode_png(tf.placeholder_with_default([file], None)),
        lambda: tf.image.encode_png(np.ones((2, 2), np.uint8)),
        lambda: tf.image.encode_png(np.ones((2, 2, 5), np.uint8)),
        lambda: tf.image.encode_png(tf.constant(np.ones((2, 2, 3), np.float32))),
        lambda: tf.image.encode_png(np.ones((2, 2, 3), np.uint8), compression=10),
    ]
    return [raises(lambda: run(tf, attempt())) for attempt in attempts]


# ---------------------------------------------------------------------------------- JPEG

_WRITTEN = {
    "plain": {},
    "50": {"quality": 50},
    "worst": {"quality": 0},
    "best": {"quality": 100},
    "progressive": {"progressive": True},
    "optimized": {"optimize_size": True},
    "full color": {"chroma_downsampling": False},
    "centimeters": {"density_unit": "cm", "x_density": 20, "y_density": 30},
    "metadata": {"xmp_metadata": "<x>hello</x>"},
    "rgb": {"format": "rgb"},
    "gray": {"format": "grayscale", "channels": 1},
    "gray 2": {"channels": 1, "quality": 70},
}


@cases(*_WRITTEN)
def jpeg_written(tf, np, name):
    """To the byte."""
    return _jpeg(tf, np, **_WRITTEN[name])


@cases(0, 33, 75, 100)
def jpeg_written_with_quality(tf, np, quality):
    y = tf.raw_ops.EncodeJpegVariableQuality(images=_photo(np), quality=quality)
    return [y, run(tf, y)]


@cases(*product(["plain", "50", "progressive", "full color", "gray"], [0, 1, 3], [1, 2, 4, 8]))
def jpeg(tf, np, name, channels, ratio):
    """With the exact transform: to the bit."""
    contents = _jpeg(tf, np, **_WRITTEN[name])
    y = tf.image.decode_jpeg(contents, channels, ratio, dct_method="INTEGER_ACCURATE")
    return [y, run(tf, y)]


@cases(
    *product(["full color", "gray"], [0, 1, 3], [1, 2, 8]),
    *product(["plain", "50"], [1], [1, 2]),
    *product(["plain", "50"], [3], [2, 4]),
)
def jpeg_by_default(tf, np, name, channels, ratio):
    """With the fast transform, where the colours need not be enlarged."""
    contents = _jpeg(tf, np, **_WRITTEN[name])
    made = [tf.image.decode_jpeg(contents, channels, ratio, dct_method=m) for m in ("", "INTEGER_FAST")]
    return [made, run(tf, made)]


@cases("plain", "50", "progressive")
def jpeg_nearly(tf, np, name):
    """With the fast transform and the better way of enlarging colours: within a few levels."""
    contents = _jpeg(tf, np, **_WRITTEN[name])
    plain, exact = run(tf, [tf.image.decode_jpeg(contents, dct_method=m) for m in ("", "INTEGER_ACCURATE")])
    difference = np.abs(plain.astype(int) - exact.astype(int))
    return [plain.shape, bool(difference.max() <= 8), bool(difference.mean() < 2)]


def jpeg_with_simple_colors(tf, np):
    contents = _jpeg(tf, np, quality=80)
    return run(tf, tf.image.decode_jpeg(contents, fancy_upscaling=False))


@cases((0, 0, 37, 53), (5, 7, 20, 30), (16, 16, 1, 1), (30, 40, 7, 13))
def jpeg_cropped(tf, np, *window):
    contents = _jpeg(tf, np, chroma_downsampling=False)
    y = tf.image.decode_and_crop_jpeg(contents, window)
    known = tf.image.decode_and_crop_jpeg(contents, tf.placeholder(tf.int32), channels=3)
    return [y, known, run(tf, y)]


def jpeg_truncated(tf, np):
    contents = _jpeg(tf, np, chroma_downsampling=False)
    short = contents[:-2]

    def decoded(data, **options):
        return raises(lambda: run(tf, tf.image.decode_jpeg(data, **options)))

    return [
        decoded(short),
        decoded(contents[: len(contents) // 2]),
        decoded(contents[:300]),
        decoded(contents[:300], try_recover_truncated=True),
        decoded(contents[: len(contents) // 2], try_recover_truncated=True, acceptable_fraction=0.9),
        run(tf, tf.image.decode_jpeg(short, try_recover_truncated=True)),
        run(tf, tf.image.decode_jpeg(contents + b"more", try_recover_truncated=False)),
    ]


def jpeg_shape(tf, np):
    files = [_jpeg(tf, np), _jpeg(tf, np, 1)]
    made = [tf.image.extract_jpeg_shape(f, t) for f in files for t in (tf.int32, tf.int64)]
    short = tf.image.extract_jpeg_shape(files[0][:700])
    return [made, run(tf, made), run(tf, short), raises(lambda: run(tf, tf.image.extract_jpeg_shape(b"xyz")))]


def jpeg_refused(tf, np):
    file = _jpeg(tf, np)
    attempts = [
        lambda: tf.image.decode_jpeg(b""),
        lambda: tf.image.decode_jpeg(b"hello"),
        lambda: tf.image.decode_jpeg(b"\xff\xd8\xff"),
        lambda: tf.image.decode_jpeg(b"\xff\xd8\xff" + b"junk" * 100),
        lambda: tf.image.decode_jpeg(file, channels=4),
        lambda: tf.image.decode_jpeg(file, channels=2),
        lambda: tf.image.decode_jpeg(file, channels=-1),
        lambda: tf.image.decode_jpeg(file, ratio=3),
        lambda: tf.image.decode_jpeg(file, dct_method="FLOAT"),
        lambda: tf.image.decode_jpeg([file]),
        lambda: tf.image.decode_and_crop_jpeg(file, [30, 0, 20, 20]),
        lambda: tf.image.decode_and_crop_jpeg(file, [0, 0, 0, 20]),
        lambda: tf.image.decode_and_crop_jpeg(file, [-1, 0, 10, 20]),
        lambda: tf.image.decode_and_crop_jpeg(file, [0, 0, 20]),
        lambda: tf.image.encode_jpeg(_photo(np), quality=101),
        lambda: tf.image.encode_jpeg(_photo(np), quality=-1),
        lambda: tf.image.encode_jpeg(_photo(np)[0]),
        lambda: tf.image.encode_jpeg(_photo(np)[..., :2]),
        lambda: tf.image.encode_jpeg(_photo(np), format="grayscale"),
        lambda: tf.image.encode_jpeg(_photo(np), format="bgr"),
        lambda: tf.raw_ops.EncodeJpegVariableQuality(images=_photo(np), quality=200),
    ]
    return [raises(lambda: run(tf, attempt())) for attempt in attempts]


@cases(10, 50, 95)
def jpeg_quality(tf, np, quality):
    tf.set_random_seed(3)
    image = tf.constant(_photo(np))
    small = tf.image.adjust_jpeg_quality(image, quality)
    floats = tf.image.adjust_jpeg_quality(tf.cast(image, tf.float32) / 255, quality)
    chance = tf.image.random_jpeg_quality(image, 20, 90, seed=5)
    return [graph(tf), small, floats, chance, [v.shape for v in run(tf, [small, floats, chance])]]


# ---------------------------------------------------------------------------------- GIF and BMP


@cases(*_GIFS)
def gif(tf, np, name):
    contents = base64.b64decode(_GIFS[name])
    y = tf.image.decode_gif(contents)
    if name == "beyond its colors":
        return raises(lambda: run(tf, y))
    return [y, run(tf, y), raises(lambda: run(tf, tf.image.decode_png(contents)))]


_SCREENS = {
    "exact": ((2, 2), [(0, 0)]),
    "larger": ((4, 3), [(0, 0)]),
    "smaller": ((1, 1), [(0, 0)]),
    "first elsewhere": ((4, 3), [(1, 1)]),
    "second elsewhere": ((4, 4), [(0, 0), (1, 1)]),
    "second outside": ((2, 2), [(0, 0), (5, 5)]),
    "nothing": ((2, 2), []),
}


@cases(*_SCREENS)
def gif_screen(tf, np, name):
    screen, places = _SCREENS[name]
    still = base64.b64decode(_GIFS["still"])
    frames = [still[25:26] + struct.pack("<HH", *place) + still[30:-1] for place in places]
    contents = still[:6] + struct.pack("<HH", *screen) + still[10:25] + b"".join(frames) + b";"
    y = tf.image.decode_gif(contents)
    failed = raises(lambda: run(tf, y))
    return failed if failed != "no error" else run(tf, y)


def gif_refused(tf, np):
    contents = base64.b64decode(_GIFS["still"])
    attempts = [
        lambda: tf.image.decode_gif(contents[:-5]),
        lambda: tf.image.decode_gif(contents[:10]),
        lambda: tf.image.decode_gif(b"GIF89a"),
        lambda: tf.image.decode_gif(b""),
        lambda: tf.image.decode_png(contents, channels=1),
        lambda: tf.image.decode_png(contents, dtype=tf.uint16),
        lambda: tf.image.decode_gif([contents]),
    ]
    return [raises(lambda: run(tf, attempt())) for attempt in attempts]


@cases(*product([1, 3, 4], [True, False], ["none", "same"], [4, 5, 6, 7]))
def bmp(tf, np, channels, top_down, asked, width):
    pixels = np.random.RandomState(0).randint(0, 256, (5, width, channels)).astype(np.uint8)
    y = tf.image.decode_bmp(_bmp(np, pixels, top_down), channels if asked == "same" else 0)
    return [y, run(tf, y)]


def bmp_refused(tf, np):
    pixels = np.ones((5, 6, 3), np.uint8)
    file = _bmp(np, pixels)
    attempts = [
        lambda: tf.image.decode_bmp(file[:20]),
        lambda: tf.image.decode_bmp(file[:100]),
        lambda: tf.image.decode_bmp(b""),
        lambda: tf.image.decode_bmp(file, channels=1),
        lambda: tf.image.decode_bmp(file, channels=4),
        lambda: tf.image.decode_bmp(file, channels=2),
        lambda: tf.image.decode_bmp(_bmp(np, pixels[..., :1], compression=1)),
        lambda: tf.image.decode_bmp(_bmp(np, pixels[..., :1], bits=4)),
        lambda: tf.image.decode_bmp(file[:18] + struct.pack("<ii", 1 << 20, 1 << 20) + file[26:]),
        lambda: tf.image.decode_bmp([file]),
    ]
    return [raises(lambda: run(tf, attempt())) for attempt in attempts]


# ---------------------------------------------------------------------------------- any kind


def _any(tf, np, kind):
    return {
        "jpeg": lambda: _jpeg(tf, np, chroma_downsampling=False),
        "png": lambda: _png_files(np)["rgba 8"],
        "wide png": lambda: _png_files(np)["rgb 16"],
        "gif": lambda: base64.b64decode(_GIFS["still"]),
        "bmp": lambda: _bmp(np, _photo(np)),
        "text": lambda: b"neither of them",
    }[kind]()


@cases(*product(["jpeg", "png", "wide png", "gif", "bmp"], [None, 3], ["uint8", "uint16", "float32"]))
def any_image(tf, np, kind, channels, dtype):
    contents = tf.placeholder(tf.string, [])
    y = tf.image.decode_image(contents, channels, tf.as_dtype(dtype))
    first = tf.image.decode_image(contents, channels, tf.as_dtype(dtype), expand_animations=False)
    return [y, first, run(tf, [y, first], {contents: _any(tf, np, kind)})]


@cases("text", "bmp", "gif", "jpeg")
def any_image_refused(tf, np, kind):
    contents = _any(tf, np, kind)
    channels = {"jpeg": 4, "text": None}.get(kind, 1)
    return raises(lambda: run(tf, tf.image.decode_image(contents, channels)))


@cases("jpeg", "png", "gif")
def any_op_any_kind(tf, np, kind):
    contents = _any(tf, np, kind)
    made = [tf.image.decode_png(contents), tf.image.decode_jpeg(contents), tf.image.decode_gif(contents)]
    return [made, run(tf, made)]


def is_jpeg(tf, np):
    made = [tf.image.is_jpeg(_any(tf, np, kind)) for kind in ("jpeg", "png")]
    many = tf.image.is_jpeg([b"\xff\xd8\xff\xe0", b"abcd"])
    return [made, run(tf, made), many, run(tf, many), raises(tf.image.decode_image, b"", channels=2)]


def decoding_static_shapes(tf, np):
    unknown = tf.placeholder(tf.string)
    image = tf.image
    functions = [image.decode_jpeg, image.decode_png, image.decode_bmp]
    made = [f(unknown, c) for f in functions for c in (0, 1, 3)]
    return [made, image.decode_gif(unknown), image.extract_jpeg_shape(unknown), graph(tf)]
