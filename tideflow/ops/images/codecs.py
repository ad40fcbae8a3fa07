"""Image files decoded and encoded. The files themselves are read and written in `tideflow.io`.

`decode_jpeg`, `decode_png` and `decode_gif` take any of the three kinds, as in TensorFlow: the bytes tell.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.arrays import as_array
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.io import bmp, gif, jpeg, png
from tideflow.ops.helpers.axes import brackets, host_rank, of_rank, vector
from tideflow.ops.helpers.samples import SampleArray
from tideflow.ops.helpers.types import INDICES, types
from tideflow.runtime.values import to_numpy, to_torch

_JPEG_DECODING = {
    "channels": 0,
    "ratio": 1,
    "fancy_upscaling": True,
    "try_recover_truncated": False,
    "acceptable_fraction": 1.0,
    "dct_method": "",
}
_TRANSFORMS = {"": True, "INTEGER_FAST": True, "INTEGER_ACCURATE": False}


def _known_channels(channels: int) -> int | None:
    if channels < 0:
        raise ShapeError(f"channels must be non-negative, got {channels}")
    return channels or None


# ---------------------------------------------------------------------------------- decoding: shapes


def _decode_jpeg_family_shape(contents, *, channels):
    of_rank(contents, 0)
    return [None, None, _known_channels(channels)]


# ---------------------------------------------------------------------------------- decoding: kernels


def _bytes(contents: np.ndarray) -> bytes:
    if contents.ndim:
        raise ShapeError(f"contents must be scalar, got shape {brackets(contents.shape)}")
    return contents.item()


def _decoded(contents: np.ndarray, channels: int, wide: bool = False, **jpeg_options: Any) -> np.ndarray:
    """The image, or for a GIF its frames."""
    if channels not in (0, 1, 3, 4):
        raise ShapeError(f"channels must be 0, 1, 3, or 4, got {channels}")
    data = _bytes(contents)
    if data.startswith(png.SIGNATURE):
        return png.decode(data, channels, wide)
    kind = "JPEG" if data.startswith(b"\xff\xd8\xff") else "GIF" if data.startswith(b"GIF8") else None
    if kind is None:
        found = f"unknown format starting with {data[:16]!r}" if data else "empty file"
        raise ShapeError(f"Expected image (JPEG, PNG, or GIF), got {found}")
    if wide:
        raise ShapeError(f"{kind} does not support uint16 output")
    if kind == "GIF":
        if channels not in (0, 3):
            raise ShapeError(f"channels must be 0 or 3 for GIF, got {channels}")
        return gif.decode(data)
    if channels == 4:
        raise ShapeError(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    return jpeg.decode(data, channels, **jpeg_options)


def _still(image: np.ndarray) -> torch.Tensor:
    if image.ndim == 4:
        if len(image) != 1:
            raise ShapeError(
                f"Got {len(image)} frames, but animated gifs can only be decoded by tf.image.decode_gif or "
                "tf.image.decode_image"
            )
        image = image[0]
    return to_torch(np.ascontiguousarray(image))


def _decoded_jpeg(
    contents: np.ndarray,
    channels: int,
    ratio: int,
    fancy: bool,
    recover: bool,
    transform: str,
    window: Any = None,
) -> torch.Tensor:
    if ratio not in (1, 2, 4, 8):
        raise ShapeError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if transform not in _TRANSFORMS:
        raise ShapeError(f"dct_method must be one of {list(_TRANSFORMS)}, got {transform!r}")
    return _still(
        _decoded(
            contents,
            channels,
            ratio=ratio,
            fancy_upscaling=fancy,
            recover_truncated=recover,
            fast_transform=_TRANSFORMS[transform],
            crop_window=window,
        )
    )


def _file(text: str) -> np.ndarray:
    return as_array(base64.b64decode(text), dtypes.string)


_JPEG = _file(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hn"
    "Pk1xeXBkeFxlZ2P/wAALCAADAAQBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABv/EAB4QAAIBAwUAAAAAAAAAAAAAAAECEQMEQQAhIjFR"
    "/9oACAEBAAA/AAzXtywUGvU4iBDRmd/e86//2Q=="
)
_PNG = _file(
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAIAAAA7ljmRAAAAE0lEQVR4nGOMiopiQAMnuOTQhQA43gIAPxw8jQAAAABJRU5ErkJggg=="
)
_TEXT = as_array(b"not an image", dtypes.string)

decode_jpeg_op = Op("DecodeJpeg", "contents: string -> image: uint8", **_JPEG_DECODING, differentiable=False)
decode_jpeg_op.shape(_decode_jpeg_family_shape)


@decode_jpeg_op.kernel
def _decode_jpeg_kernel(contents, *, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method):
    return _decoded_jpeg(contents, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method)


decode_jpeg_op.samples((_JPEG,), (_JPEG, {"channels": 3}), (_JPEG, {"ratio": 2}), (_PNG,))
decode_jpeg_op.refuses((_TEXT,), "Expected image (JPEG, PNG, or GIF)", InvalidArgumentError)


@export("image.decode_jpeg", "io.decode_jpeg")
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The pixels of a JPEG; `ratio` gives a half, a quarter or an eighth of them along each axis."""
    return decode_jpeg_op(
        contents,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


decode_and_crop_jpeg_op = Op(
    "DecodeAndCropJpeg",
    "contents: string, crop_window: int32 -> image: uint8",
    host="crop_window",
    **_JPEG_DECODING,
    differentiable=False,
)


@decode_and_crop_jpeg_op.shape
def _decode_and_crop_jpeg_shape(contents, crop_window, *, channels):
    of_rank(contents, 0)
    if vector(crop_window) is None:
        return [None, None, _known_channels(channels)]
    if len(crop_window) != 4:
        raise ShapeError(f"Dimension must be 4 but is {len(crop_window)}")
    return [*crop_window[2:], _known_channels(channels)]


@decode_and_crop_jpeg_op.kernel
def _decode_and_crop_jpeg_kernel(
    contents, crop_window, *, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method
):
    if host_rank(crop_window) != 1 or len(crop_window) != 4:
        raise ShapeError(f"crop_window must have four elements, got {crop_window}")
    window = tuple(crop_window)
    return _decoded_jpeg(
        contents, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method, window
    )


decode_and_crop_jpeg_op.samples((_JPEG, [1, 1, 2, 3]), (_JPEG, [0, 0, 3, 4], {"channels": 3}))
decode_and_crop_jpeg_op.refuses((_JPEG, [1, 1, 3, 3]), "does not lie within 3 by 4", InvalidArgumentError)


@export("image.decode_and_crop_jpeg", "io.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The part of a JPEG's pixels in [top, left, height, width]."""
    return decode_and_crop_jpeg_op(
        contents,
        crop_window,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


_PIXELS = types("uint8 uint16")
_GIF = _file("R0lGODdhAgACAIEAAFpaWgAAAAAAAAAAACwAAAAAAgACAAAIBwABAAgQICAAOw==")

decode_png_op = Op(
    "DecodePng",
    "contents: string -> image: dtype",
    channels=0,
    dtype=attr("type", dtypes.uint8, allowed=_PIXELS),
    differentiable=False,
)
decode_png_op.shape(_decode_jpeg_family_shape)


@decode_png_op.kernel
def _decode_png_kernel(contents, *, channels, dtype):
    return _still(_decoded(contents, channels, dtype is dtypes.uint16))


decode_png_op.samples(
    (_PNG,), (_PNG, {"channels": 1}), (_PNG, {"channels": 4, "dtype": dtypes.uint16}), (_GIF,)
)
decode_png_op.refuses((_TEXT,), "Expected image (JPEG, PNG, or GIF)", InvalidArgumentError)


@export("image.decode_png", "io.decode_png")
def decode_png(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Tensor:
    """The pixels of a PNG, of 8 or 16 bits."""
    return decode_png_op(contents, channels=channels, dtype=dtype, name=name)


decode_gif_op = Op("DecodeGif", "contents: string -> image: uint8", differentiable=False)


@decode_gif_op.shape
def _decode_gif_shape(contents):
    of_rank(contents, 0)
    return [None, None, None, 3]


@decode_gif_op.kernel
def _decode_gif_kernel(contents):
    frames = _decoded(contents, 3)
    return to_torch(np.ascontiguousarray(frames if frames.ndim == 4 else frames[None]))


decode_gif_op.samples((_GIF,), (_PNG,))
decode_gif_op.refuses((_TEXT,), "Expected image (JPEG, PNG, or GIF)", InvalidArgumentError)


@export("image.decode_gif", "io.decode_gif")
def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """The frames of a GIF, each over the one before: [frames, height, width, 3]."""
    return decode_gif_op(contents, name=name)


decode_bmp_op = Op("DecodeBmp", "contents: string -> image: uint8", channels=0, differentiable=False)
decode_bmp_op.shape(_decode_jpeg_family_shape)


@decode_bmp_op.kernel
def _decode_bmp_kernel(contents, *, channels):
    if channels not in (0, 1, 3, 4):
        raise ShapeError(f"channels must be 0, 1, 3 or 4, got {channels}")
    return to_torch(np.ascontiguousarray(bmp.decode(_bytes(contents), channels)))


_BMP = _file(
    "Qk1OAAAAAAAAADYAAAAoAAAAAwAAAAIAAAABABgAAAAAABgAAADEDgAAxA4AAAAAAAAAAAAAAAAAAAAAHgrIAAAAWlpaWlpaWlpaAAAA"
)
decode_bmp_op.samples((_BMP,), (_BMP, {"channels": 3}))
decode_bmp_op.refuses((_TEXT,), "Incomplete bmp content", InvalidArgumentError)


@export("image.decode_bmp", "io.decode_bmp")
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """The pixels of a BMP."""
    return decode_bmp_op(contents, channels=channels, name=name)


jpeg_shape_op = Op(
    "ExtractJpegShape",
    "contents: string -> image_shape: output_type",
    output_type=attr("type", dtypes.int32, allowed=INDICES),
    differentiable=False,
)


@jpeg_shape_op.shape
def _jpeg_shape_shape(contents):
    of_rank(contents, 0)
    return [3]


@jpeg_shape_op.kernel
def _jpeg_shape_kernel(contents, *, output_type):
    return torch.tensor(jpeg.shape(_bytes(contents)), dtype=output_type.torch)


jpeg_shape_op.samples((_JPEG,), (_JPEG, {"output_type": dtypes.int64}))
jpeg_shape_op.refuses((_TEXT,), "Invalid JPEG data, size 12", InvalidArgumentError)


@export("image.extract_jpeg_shape", "io.extract_jpeg_shape")
def extract_jpeg_shape(contents: Any, output_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Height, width and channels of a JPEG, which is not decoded."""
    return jpeg_shape_op(contents, output_type=output_type, name=name)


def _encode_jpeg_family_shape(image):
    of_rank(image, 3)
    return []


def _checked_pixels(image: torch.Tensor, channels: tuple[int, ...], what: str) -> np.ndarray:
    if image.ndim != 3:
        raise ShapeError(f"image must be 3-dimensional, got shape {brackets(image.shape)}")
    if image.shape[2] not in channels:
        raise ShapeError(f"image must have {what} channels, got {brackets(image.shape)}")
    if not image.numel():
        raise ShapeError(f"image must not be empty, got shape {brackets(image.shape)}")
    return to_numpy(image)


def _pixels(*shape: int, dtype: dtypes.DType = dtypes.uint8) -> SampleArray:
    return SampleArray(dtype, shape, 0, dtype.max)


# ---------------------------------------------------------------------------------- encoding

encode_jpeg_op = Op(
    "EncodeJpeg",
    "image: uint8 -> contents: string",
    format=attr("string", "", allowed=("", "grayscale", "rgb")),
    quality=95,
    progressive=False,
    optimize_size=False,
    chroma_downsampling=True,
    density_unit=attr("string", "in", allowed=("in", "cm")),
    x_density=300,
    y_density=300,
    xmp_metadata="",
    differentiable=False,
)
encode_jpeg_op.shape(_encode_jpeg_family_shape)


@encode_jpeg_op.kernel
def _encode_jpeg_kernel(
    image,
    *,
    format,
    quality,
    progressive,
    optimize_size,
    chroma_downsampling,
    density_unit,
    x_density,
    y_density,
    xmp_metadata,
):
    if not 0 <= quality <= 100:
        raise ShapeError(f"quality must be in [0,100], got {quality}")
    allowed = {"": ((1, 3), "1 or 3"), "grayscale": ((1,), "1"), "rgb": ((3,), "3")}[format]
    pixels = _checked_pixels(image, *allowed)
    metadata = xmp_metadata if isinstance(xmp_metadata, bytes) else xmp_metadata.encode()
    contents = jpeg.encode(
        pixels,
        quality,
        progressive,
        optimize_size,
        chroma_downsampling,
        density_unit,
        x_density,
        y_density,
        metadata,
    )
    return as_array(contents, dtypes.string)


encode_jpeg_op.samples(
    (_pixels(4, 5, 3),),
    (_pixels(4, 5, 1), {"quality": 50, "progressive": True, "density_unit": "cm"}),
    (_pixels(9, 5, 3), {"chroma_downsampling": False, "optimize_size": True, "xmp_metadata": "<x/>"}),
)
encode_jpeg_op.refuses((_pixels(4, 5, 2),), "image must have 1 or 3 channels", InvalidArgumentError)
encode_jpeg_op.refuses((_pixels(4, 5),), "Shape must be rank 3 but is rank 2")


@export("image.encode_jpeg", "io.encode_jpeg")
def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """A JPEG of gray or coloured pixels."""
    return encode_jpeg_op(
        image,
        format=format,
        quality=quality,
        progressive=progressive,
        optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling,
        density_unit=density_unit,
        x_density=x_density,
        y_density=y_density,
        xmp_metadata=xmp_metadata,
        name=name,
    )


encode_jpeg_quality_op = Op(
    "EncodeJpegVariableQuality",
    "images: uint8, quality: int32 -> contents: string",
    host="quality",
    differentiable=False,
)


@encode_jpeg_quality_op.shape
def _encode_jpeg_quality_shape(images, quality):
    of_rank(images, 3)
    if isinstance(quality, list):
        raise ShapeError(f"Shape must be rank 0 but is rank {host_rank(quality)}")
    return []


@encode_jpeg_quality_op.kernel
def _encode_jpeg_quality_kernel(images, quality):
    if isinstance(quality, list):
        raise ShapeError(f"quality must be scalar, got {quality}")
    pixels = _checked_pixels(images, (1, 3), "1 or 3")
    return as_array(jpeg.encode(pixels, min(max(quality, 0), 100)), dtypes.string)


encode_jpeg_quality_op.samples((_pixels(4, 5, 3), 50), (_pixels(4, 5, 1), 0))
encode_jpeg_quality_op.refuses(
    (_pixels(4, 5, 2), 50), "image must have 1 or 3 channels", InvalidArgumentError
)

encode_png_op = Op(
    "EncodePng",
    "image: T -> contents: string",
    compression=-1,
    T=attr("type", dtypes.uint8, allowed=_PIXELS),
    differentiable=False,
)
encode_png_op.shape(_encode_jpeg_family_shape)


@encode_png_op.kernel
def _encode_png_kernel(image, *, compression):
    if not -1 <= compression <= 9:
        raise ShapeError(f"compression should be in [-1,9], got {compression}")
    pixels = _checked_pixels(image, (1, 2, 3, 4), "1, 2, 3, or 4")
    return as_array(png.encode(pixels, compression), dtypes.string)


encode_png_op.samples(
    *((_pixels(4, 5, channels),) for channels in (1, 2, 3, 4)),
    (_pixels(4, 5, 3, dtype=dtypes.uint16), {"compression": 9, "T": dtypes.uint16}),
)
encode_png_op.refuses((_pixels(4, 5, 5),), "image must have 1, 2, 3, or 4 channels", InvalidArgumentError)


@export("image.encode_png")
def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """A PNG of pixels of 8 or 16 bits, with one to four channels."""
    return encode_png_op(image, compression=compression, name=name)
