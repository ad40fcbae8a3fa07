"""Image files decoded and encoded. The files themselves are read and written in `tideflow.io`.

`decode_jpeg`, `decode_png` and `decode_gif` take any of the three kinds, as in TensorFlow: the bytes tell.
"""

from __future__ import annotations

import base64
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
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

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

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


def _decoded_shape(contents, *, channels):
    of_rank(contents, 0)
    return [None, None, _known_channels(channels)]


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

# The pixels of these files, as TensorFlow 1.15 gives them.
_JPEG_PIXELS = np.array([[98, 68, 128, 61], [0, 34, 135, 41], [7, 0, 25, 0]])[..., None]
_JPEG_HALF_PIXELS = np.array([[49, 92], [0, 0]])[..., None]
_PNG_PIXELS = np.zeros([3, 4, 3], int)
_PNG_PIXELS[0], _PNG_PIXELS[1, 2] = 90, [200, 10, 30]


def _is(contents: np.ndarray, other: np.ndarray) -> bool:
    return contents.item() == other.item()


def _decode_jpeg_reference(contents, channels, ratio):
    if _is(contents, _PNG):
        return _PNG_PIXELS
    return np.repeat(_JPEG_PIXELS if ratio == 1 else _JPEG_HALF_PIXELS, channels or 1, 2)


decode_jpeg_op = Op("DecodeJpeg", "contents: string -> image: uint8", **_JPEG_DECODING, differentiable=False)
decode_jpeg_op.shape(_decoded_shape)


@decode_jpeg_op.kernel
def _decode_jpeg_kernel(contents, *, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method):
    return _decoded_jpeg(contents, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method)


decode_jpeg_op.samples(
    (_JPEG,), (_JPEG, {"channels": 3}), (_JPEG, {"ratio": 2}), (_PNG,), against=_decode_jpeg_reference
)
decode_jpeg_op.refuses((_TEXT,), "Expected image (JPEG, PNG, or GIF)", InvalidArgumentError)


@export("image.decode_jpeg", "io.decode_jpeg")
def decode_jpeg(
    contents: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """Decodes a JPEG file; PNG files and GIF files of one frame too.

    Args:
      contents: A string scalar: the bytes of the file.
      channels: How many channels the pixels shall have: 1 (grey), 3 (red, green, blue); 0, the default, for
        what the file has.
      ratio: 1, 2, 4 or 8: every axis is shortened by so much.
      fancy_upscaling: Whether colours that the file has at a lower resolution are enlarged smoothly.
      try_recover_truncated: Whether a file that ends too early is decoded as far as it goes.
      acceptable_fraction: How much of it must be there; has no effect.
      dct_method: "INTEGER_FAST", "INTEGER_ACCURATE" or "" (the default) for the fast one.
      name: A name for the operation.

    Returns:
      A uint8 tensor [height, width, channels].

    Raises:
      InvalidArgumentError: In a step whose file cannot be decoded.
    """
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


_WINDOW = "crop_window must be 1-D, got shape "


@decode_and_crop_jpeg_op.shape
def _decode_and_crop_jpeg_shape(contents, crop_window, *, channels):
    of_rank(contents, 0)
    if vector(crop_window, _WINDOW) is None:
        return [None, None, _known_channels(channels)]
    if len(crop_window) != 4:
        raise ShapeError(
            f"Dimension must be 4 but is {len(crop_window)}",
            f"crop_size must have four elements {len(crop_window)}",
        )
    return [*crop_window[2:], _known_channels(channels)]


@decode_and_crop_jpeg_op.kernel
def _decode_and_crop_jpeg_kernel(
    contents, crop_window, *, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method
):
    if len(vector(crop_window, _WINDOW)) != 4:
        raise ShapeError(f"crop_size must have four elements, got {crop_window}")
    window = tuple(crop_window)
    return _decoded_jpeg(
        contents, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method, window
    )


decode_and_crop_jpeg_op.samples(
    (_JPEG, [1, 1, 2, 3]),
    (_JPEG, [0, 0, 3, 4], {"channels": 3}),
    against=lambda contents, window, channels: np.repeat(
        _JPEG_PIXELS[window[0] :, window[1] :][: window[2], : window[3]], channels or 1, 2
    ),
)
decode_and_crop_jpeg_op.refuses((_JPEG, [1, 1, 3, 3]), "does not lie within 3 by 4", InvalidArgumentError)


@export("image.decode_and_crop_jpeg", "io.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents: TensorLike,
    crop_window: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """Decodes a part of a JPEG file.

    Args:
      contents: A string scalar: the bytes of the file.
      crop_window: An int32 vector [top, left, height, width].
      channels: How many channels the pixels shall have: 1 (grey), 3 (red, green, blue); 0, the default, for
        what the file has.
      ratio: 1, 2, 4 or 8: every axis is shortened by so much.
      fancy_upscaling: Whether colours that the file has at a lower resolution are enlarged smoothly.
      try_recover_truncated: Whether a file that ends too early is decoded as far as it goes.
      acceptable_fraction: How much of it must be there; has no effect.
      dct_method: "INTEGER_FAST", "INTEGER_ACCURATE" or "" (the default) for the fast one.
      name: A name for the operation.

    Returns:
      A uint8 tensor [height of the window, width of the window, channels].

    Raises:
      InvalidArgumentError: In a step whose file cannot be decoded, or whose window is not inside the image.
    """
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
decode_png_op.shape(_decoded_shape)


@decode_png_op.kernel
def _decode_png_kernel(contents, *, channels, dtype):
    return _still(_decoded(contents, channels, dtype is dtypes.uint16))


_GIF_PIXELS = np.repeat([90, 0], 6).reshape(2, 2, 3)


def _decode_png_reference(contents, channels, dtype):
    """Grey is as bright as in television; in 16 bits 255 is 65535, and what is there is opaque."""
    if _is(contents, _GIF):
        return _GIF_PIXELS
    if channels == 1:
        return np.floor(_PNG_PIXELS @ np.array([[0.299], [0.587], [0.114]]) + 1e-6)
    opaque = np.full([3, 4, channels - 3 if channels else 0], 255)
    return np.concatenate([_PNG_PIXELS, opaque], 2) * (257 if dtype is dtypes.uint16 else 1)


decode_png_op.samples(
    (_PNG,),
    (_PNG, {"channels": 1}),
    (_PNG, {"channels": 4, "dtype": dtypes.uint16}),
    (_GIF,),
    against=_decode_png_reference,
)
decode_png_op.refuses((_TEXT,), "Expected image (JPEG, PNG, or GIF)", InvalidArgumentError)


@export("image.decode_png", "io.decode_png")
def decode_png(
    contents: TensorLike, channels: int = 0, dtype: DTypeLike = dtypes.uint8, name: str | None = None
) -> Tensor:
    """Decodes a PNG file; JPEG files and GIF files of one frame too, to 8 bits.

    Args:
      contents: A string scalar: the bytes of the file.
      channels: How many channels the pixels shall have: 1 (grey), 3 (red, green, blue) or 4 (with alpha); 0,
        the default, for what the file has.
      dtype: tf.uint8 or tf.uint16.
      name: A name for the operation.

    Returns:
      A tensor [height, width, channels] of type `dtype`.

    Raises:
      InvalidArgumentError: In a step whose file cannot be decoded.
    """
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


decode_gif_op.samples(
    (_GIF,), (_PNG,), against=lambda contents: (_GIF_PIXELS if _is(contents, _GIF) else _PNG_PIXELS)[None]
)
decode_gif_op.refuses((_TEXT,), "Expected image (JPEG, PNG, or GIF)", InvalidArgumentError)


@export("image.decode_gif", "io.decode_gif")
def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """Decodes all frames of a GIF file, each drawn over the one before.

    Args:
      contents: A string scalar: the bytes of the file. A JPEG or PNG file counts as one frame.
      name: A name for the operation.

    Returns:
      A uint8 tensor [frames, height, width, 3].

    Raises:
      InvalidArgumentError: In a step whose file cannot be decoded.
    """
    return decode_gif_op(contents, name=name)


decode_bmp_op = Op("DecodeBmp", "contents: string -> image: uint8", channels=0, differentiable=False)
decode_bmp_op.shape(_decoded_shape)


@decode_bmp_op.kernel
def _decode_bmp_kernel(contents, *, channels):
    if channels not in (0, 1, 3, 4):
        raise ShapeError(f"channels must be 0, 1, 3 or 4, got {channels}")
    return to_torch(np.ascontiguousarray(bmp.decode(_bytes(contents), channels)))


_BMP = _file(
    "Qk1OAAAAAAAAADYAAAAoAAAAAwAAAAIAAAABABgAAAAAABgAAADEDgAAxA4AAAAAAAAAAAAAAAAAAAAAHgrIAAAAWlpaWlpaWlpaAAAA"
)
decode_bmp_op.samples((_BMP,), (_BMP, {"channels": 3}), against=lambda contents: _PNG_PIXELS[:2, :3])
decode_bmp_op.refuses((_TEXT,), "Incomplete bmp content", InvalidArgumentError)


@export("image.decode_bmp", "io.decode_bmp")
def decode_bmp(contents: TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """Decodes a BMP file.

    Args:
      contents: A string scalar: the bytes of the file.
      channels: How many channels the pixels shall have: 1 (grey), 3 (red, green, blue) or 4 (with alpha); 0,
        the default, for what the file has.
      name: A name for the operation.

    Returns:
      A uint8 tensor [height, width, channels].

    Raises:
      InvalidArgumentError: In a step whose file cannot be decoded.
    """
    return decode_bmp_op(contents, channels=channels, name=name)


extract_jpeg_shape_op = Op(
    "ExtractJpegShape",
    "contents: string -> image_shape: output_type",
    output_type=attr("type", dtypes.int32, allowed=INDICES),
    differentiable=False,
)


@extract_jpeg_shape_op.shape
def _extract_jpeg_shape_shape(contents):
    of_rank(contents, 0)
    return [3]


@extract_jpeg_shape_op.kernel
def _extract_jpeg_shape_kernel(contents, *, output_type):
    return torch.tensor(jpeg.shape(_bytes(contents)), dtype=output_type.torch)


extract_jpeg_shape_op.samples(
    (_JPEG,), (_JPEG, {"output_type": dtypes.int64}), against=lambda contents: np.array(_JPEG_PIXELS.shape)
)
extract_jpeg_shape_op.refuses((_TEXT,), "Invalid JPEG data, size 12", InvalidArgumentError)


@export("image.extract_jpeg_shape", "io.extract_jpeg_shape")
def extract_jpeg_shape(
    contents: TensorLike, output_type: DTypeLike = dtypes.int32, name: str | None = None
) -> Tensor:
    """Reads the size of a JPEG file from its header; the file is not decoded.

    Args:
      contents: A string scalar: the bytes of the file.
      output_type: tf.int32 or tf.int64.
      name: A name for the operation.

    Returns:
      A vector of type `output_type`: height, width and channels.

    Raises:
      InvalidArgumentError: In a step whose file cannot be decoded.
    """
    return extract_jpeg_shape_op(contents, output_type=output_type, name=name)


# ---------------------------------------------------------------------------------- encoding


def _encoded_shape(image):
    of_rank(image, 3)
    return []


def _checked_pixels(image: torch.Tensor, format: str, channels: tuple[int, ...], what: str) -> np.ndarray:
    if image.ndim != 3:
        raise ShapeError(f"image must be 3-dimensional, got shape {brackets(image.shape)}")
    if image.shape[2] not in channels:
        raise ShapeError(f"image must have {what} channels, got {brackets(image.shape)}")
    if not image.numel():
        raise errors.internal(
            f"{format} encoding failed: the image is empty, of shape {brackets(image.shape)}"
        )
    return to_numpy(image)


def _pixels(*shape: int, dtype: dtypes.DType = dtypes.uint8) -> SampleArray:
    return SampleArray(dtype, shape, 0, dtype.max)


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
encode_jpeg_op.shape(_encoded_shape)


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
    pixels = _checked_pixels(image, "JPEG", *allowed)
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


def _encoded_law(image: np.ndarray, contents: bytes, quality: int) -> tuple[Any, list]:
    """The file as Pillow reads it, and what holds of its pixels: they are about as bright as the image's."""
    from PIL import Image  # loaded when asked for

    file = Image.open(BytesIO(contents))
    grey = np.asarray(file.convert("L"), np.float64)
    wanted = image.astype(np.float64) @ ([0.299, 0.587, 0.114] if image.shape[2] == 3 else [1.0])
    allowed = 2 + (100 - quality) / 5
    claims = [
        file.format == "JPEG",
        (file.height, file.width, len(file.getbands())) == image.shape,
        abs(grey.mean() - wanted.mean()) <= allowed,
    ]
    return file, claims


def _encode_jpeg_law(image, contents, quality, progressive, density_unit, x_density, y_density, xmp_metadata):
    file, claims = _encoded_law(image, contents, quality)
    return [
        *claims,
        bool(file.info.get("progressive")) == progressive,
        file.info["jfif_unit"] == {"in": 1, "cm": 2}[density_unit],
        file.info["jfif_density"] == (x_density, y_density),
        file.info.get("xmp", b"") == xmp_metadata.encode(),
    ]


encode_jpeg_op.samples(
    (_pixels(4, 5, 3),),
    (_pixels(4, 5, 1), {"quality": 50, "progressive": True, "density_unit": "cm"}),
    (_pixels(9, 5, 3), {"chroma_downsampling": False, "optimize_size": True, "xmp_metadata": "<x/>"}),
    law=_encode_jpeg_law,
)
encode_jpeg_op.refuses((_pixels(4, 5, 2),), "image must have 1 or 3 channels", InvalidArgumentError)
encode_jpeg_op.refuses((_pixels(4, 5),), "Shape must be rank 3 but is rank 2")


@export("image.encode_jpeg", "io.encode_jpeg")
def encode_jpeg(
    image: TensorLike,
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
    """Encodes pixels as a JPEG file.

    Args:
      image: A uint8 tensor [height, width, channels] with 1 or 3 channels.
      format: "grayscale", "rgb", or "" (the default) for what the channels say.
      quality: How much the pixels resemble the original, from 0 to 100.
      progressive: Whether the file can be shown coarsely before it has arrived as a whole.
      optimize_size: Whether the file is made smaller, at the cost of time.
      chroma_downsampling: Whether colours are stored at half the resolution.
      density_unit: The unit of the densities: "in" or "cm".
      x_density: Pixels per unit from left to right.
      y_density: Pixels per unit from top to bottom.
      xmp_metadata: XMP metadata to put into the file.
      name: A name for the operation.

    Returns:
      A string scalar: the bytes of the file.

    Raises:
      ValueError: Where `image` is not of rank 3.
      InvalidArgumentError: In a step with an image that has other channels or no pixels, or another quality.
    """
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


encode_jpeg_variable_quality_op = Op(
    "EncodeJpegVariableQuality",
    "images: uint8, quality: int32 -> contents: string",
    host="quality",
    differentiable=False,
)


@encode_jpeg_variable_quality_op.shape
def _encode_jpeg_variable_quality_shape(images, quality):
    of_rank(images, 3)
    if isinstance(quality, list):
        raise ShapeError(f"Shape must be rank 0 but is rank {host_rank(quality)}")
    return []


@encode_jpeg_variable_quality_op.kernel
def _encode_jpeg_variable_quality_kernel(images, quality):
    if isinstance(quality, list):
        raise ShapeError(f"quality must be scalar, got {quality}")
    pixels = _checked_pixels(images, "JPEG", (1, 3), "1 or 3")
    return as_array(jpeg.encode(pixels, min(max(quality, 0), 100)), dtypes.string)


encode_jpeg_variable_quality_op.samples(
    (_pixels(4, 5, 3), 50),
    (_pixels(4, 5, 1), 0),
    law=lambda image, quality, contents: _encoded_law(image, contents, quality)[1],
)
encode_jpeg_variable_quality_op.refuses(
    (_pixels(4, 5, 2), 50), "image must have 1 or 3 channels", InvalidArgumentError
)

encode_png_op = Op(
    "EncodePng",
    "image: T -> contents: string",
    compression=-1,
    T=attr("type", dtypes.uint8, allowed=_PIXELS),
    differentiable=False,
)
encode_png_op.shape(_encoded_shape)


@encode_png_op.kernel
def _encode_png_kernel(image, *, compression):
    if not -1 <= compression <= 9:
        raise ShapeError(f"compression should be in [-1,9], got {compression}")
    pixels = _checked_pixels(image, "PNG", (1, 2, 3, 4), "1, 2, 3, or 4")
    return as_array(png.encode(pixels, compression), dtypes.string)


encode_png_op.samples(
    *((_pixels(4, 5, channels),) for channels in (1, 2, 3, 4)),
    (_pixels(4, 5, 3, dtype=dtypes.uint16), {"compression": 9, "T": dtypes.uint16}),
    law=lambda image, contents, T: (png.decode(contents, 0, T is dtypes.uint16), image),
)
encode_png_op.refuses((_pixels(4, 5, 5),), "image must have 1, 2, 3, or 4 channels", InvalidArgumentError)


@export("image.encode_png")
def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """Encodes pixels as a PNG file.

    Args:
      image: A uint8 or uint16 tensor [height, width, channels] with 1 (grey), 2 (with alpha), 3 (red, green,
        blue) or 4 channels.
      compression: From 0 (none) to 9 (most); -1 for zlib's default.
      name: A name for the operation.

    Returns:
      A string scalar: the bytes of the file.

    Raises:
      ValueError: Where `image` is not of rank 3.
      InvalidArgumentError: In a step with an image that has other channels or no pixels.
    """
    return encode_png_op(image, compression=compression, name=name)
