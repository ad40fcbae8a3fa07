"""Image files of any kind: which one it is shows in their first bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.image.colors import convert_image_dtype
from tideflow.ops.arrays import indexing
from tideflow.ops.control_flow import conditionals, debugging
from tideflow.ops.images import codecs
from tideflow.ops.math import binary
from tideflow.ops.strings import strings

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


@export("io.is_jpeg", "image.is_jpeg")
def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Whether bytes begin like a JPEG file.

    Args:
      contents: A scalar string tensor.
      name: The name of the operation.

    Returns:
      A scalar bool tensor.
    """
    with name_scope(name, "is_jpeg"):
        return binary.equal(strings.substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


def _is_png(contents: Any, name: str | None = None) -> Tensor:
    with name_scope(name, "is_png"):
        return binary.equal(strings.substr(contents, 0, 3), b"\x89PN", name=name)


@export("io.decode_image", "image.decode_image")
def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """Decodes a BMP, GIF, JPEG or PNG file.

    Args:
      contents: The bytes of the file, a scalar string tensor.
      channels: The number of channels: 0 or None for that of the file, 1 for gray, 3 for RGB, 4 for RGBA.
      dtype: The type of the result; floats are scaled to [0, 1].
      name: The name of the operation.
      expand_animations: Whether a GIF gives all its frames, as a tensor of rank 4; else its first one.

    Returns:
      The image of shape [height, width, channels]; a GIF has a first axis of frames.

    Raises:
      ValueError: If `channels` is not valid.
    """
    with name_scope(name, "decode_image"):
        if channels not in (None, 0, 1, 3, 4):
            raise ValueError("channels must be in (None, 0, 1, 3, 4)")
        wanted = channels or 0
        start = strings.substr(contents, 0, 3)

        def jpeg() -> Tensor:
            possible = binary.not_equal(wanted, 4, name="check_jpeg_channels")
            message = "Channels must be in (None, 0, 1, 3) when decoding JPEG images"
            with control_dependencies([debugging.Assert(possible, [message])]):
                return convert_image_dtype(codecs.decode_jpeg(contents, channels), dtype)

        def png() -> Tensor:
            pixels = dtypes.uint8 if dtype == dtypes.uint8 else dtypes.uint16
            return convert_image_dtype(codecs.decode_png(contents, channels, dtype=pixels), dtype)

        def gif() -> Tensor:
            possible = binary.logical_and(
                binary.not_equal(wanted, 1, name="check_gif_channels"),
                binary.not_equal(wanted, 4, name="check_gif_channels"),
            )
            message = "Channels must be in (None, 0, 3) when decoding GIF images"
            with control_dependencies([debugging.Assert(possible, [message])]):
                frames = convert_image_dtype(codecs.decode_gif(contents), dtype)
                return frames if expand_animations else indexing.gather(frames, 0)

        def bmp() -> Tensor:
            is_bmp = binary.equal(strings.substr(contents, 0, 2), "BM", name="is_bmp")
            known = debugging.Assert(is_bmp, ["Unable to decode bytes as JPEG, PNG, GIF, or BMP"])
            possible = binary.not_equal(wanted, 1, name="check_channels")
            message = "Channels must be in (None, 0, 3) when decoding BMP images"
            with control_dependencies([known, debugging.Assert(possible, [message])]):
                return convert_image_dtype(codecs.decode_bmp(contents), dtype)

        def png_or_other() -> Tensor:
            return conditionals.cond(_is_png(contents), png, gif_or_bmp, name="cond_png")

        def gif_or_bmp() -> Tensor:
            is_gif = binary.equal(start, b"GIF", name="is_gif")
            return conditionals.cond(is_gif, gif, bmp, name="cond_gif")

        return conditionals.cond(is_jpeg(contents), jpeg, png_or_other, name="cond_jpeg")
