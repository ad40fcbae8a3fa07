"""Windows that slide over images: TensorFlow's padding rules, and the views in which ATen takes images.

ATen wants the channels before the spatial axes. An NHWC tensor permuted to NCHW is ATen's channels_last
format: the same memory, no copy, and the layout that oneDNN and cuDNN like best. A filter [height, width, in,
out] is permuted likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tideflow.graph.op import ShapeError
from tideflow.ops.helpers.integers import check_int32

_TO_CHANNELS_FIRST = {4: (0, 3, 1, 2), 5: (0, 4, 1, 2, 3)}
_TO_CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
_OUT_IN_FIRST = {4: (3, 2, 0, 1), 5: (4, 3, 0, 1, 2)}
_OUT_IN_LAST = {4: (2, 3, 1, 0), 5: (2, 3, 4, 1, 0)}


def has_channels_first(data_format: str | None) -> bool:
    """Whether the format's name (NHWC, NCHW, NDHWC, ...) puts the channels before the spatial axes."""
    return data_format is not None and data_format.startswith("NC")


def channels_first(image: torch.Tensor, data_format: str) -> torch.Tensor:
    """The image as [batch, channels, spatial...]."""
    if data_format[1] == "C":
        return image
    return image.contiguous().permute(_TO_CHANNELS_FIRST[image.ndim])


def from_channels_first(image: torch.Tensor, data_format: str) -> torch.Tensor:
    """An image [batch, channels, spatial...] in the format."""
    return image if data_format[1] == "C" else image.permute(_TO_CHANNELS_LAST[image.ndim])


def out_in_first(filter: torch.Tensor) -> torch.Tensor:
    """The filter [spatial..., in, out] as [out, in, spatial...]."""
    return filter.permute(_OUT_IN_FIRST[filter.ndim])


def out_in_last(filter: torch.Tensor) -> torch.Tensor:
    """A filter [out, in, spatial...] as [spatial..., in, out]."""
    return filter.permute(_OUT_IN_LAST[filter.ndim])


def spatial(values: Sequence[Any], data_format: str) -> list[Any]:
    """Of a list with one entry for every axis of an image, those of the spatial axes."""
    return list(values[2:] if data_format[1] == "C" else values[1:-1])


def channels(values: Sequence[Any], data_format: str) -> Any:
    """Of a list with one entry for every axis of an image, that of the channels."""
    return values[1] if data_format[1] == "C" else values[-1]


def image_shape(batch: Any, spatial_sizes: Sequence[Any], channel_count: Any, data_format: str) -> list[Any]:
    """The sizes of an image in the order of the format."""
    if data_format[1] == "C":
        return [batch, channel_count, *spatial_sizes]
    return [batch, *spatial_sizes, channel_count]


@dataclass(frozen=True)
class Window:
    """A window over the spatial axes: size, stride and dilation along each, and the padding rule."""

    sizes: list[int | None]
    strides: list[int]
    dilations: list[int]
    padding: str
    explicit: list[tuple[int, int]]

    @classmethod
    def of(
        cls,
        sizes: Sequence[int | None],
        data_format: str,
        strides: Sequence[int],
        padding: str,
        dilations: Sequence[int] | None = None,
        explicit_paddings: Sequence[int] = (),
        in_step: bool = True,
    ) -> Window:
        """The window of an op's attributes, in which every axis of the image has an entry.

        Strides over images of a batch, or over channels, are refused in a step: a graph may have them, as in
        TensorFlow, whose kernels refuse them.
        """
        rank = len(sizes) + 2
        dilations = dilations or [1] * rank
        for name, values in (("ksize", sizes), ("strides", strides), ("dilations", dilations)):
            check_int32(name, values)
        check_int32("explicit_paddings", explicit_paddings)
        _check_positive(strides, "stride", "Stride must be > 0", rank)
        _check_positive(dilations, "dilation", "Dilation rate must be >= 1", rank)
        if in_step:
            _check_unit_axes(strides, "strides", data_format)
            _check_unit_axes(dilations, "dilations", data_format)
        pairs = _explicit_pairs(explicit_paddings, padding, rank, data_format)
        window = cls(
            list(sizes), spatial(strides, data_format), spatial(dilations, data_format), padding, pairs
        )
        extents = [window._extent(axis) for axis, size in enumerate(sizes) if size is not None]
        check_int32("dilations, by which the window is spread,", extents)
        return window

    def output_sizes(self, image_sizes: Sequence[int | None], in_step: bool = False) -> list[int | None]:
        """How many places the window takes along each axis; None where that is unknown.

        A graph refuses a window that is larger than the image. In a step it has no place there, unless it is
        larger by more than a stride: so do TensorFlow's kernels.
        """
        return [self._output_size(axis, size, in_step) for axis, size in enumerate(image_sizes)]

    def paddings(self, image_sizes: Sequence[int]) -> list[tuple[int, int]]:
        """Zeros before and after, along each axis."""
        return [self._padding(axis, size) for axis, size in enumerate(image_sizes)]

    def _extent(self, axis: int) -> int:
        return (self.sizes[axis] - 1) * self.dilations[axis] + 1

    def _output_size(self, axis: int, size: int | None, in_step: bool = False) -> int | None:
        if size is None:
            return None
        stride = self.strides[axis]
        if self.padding == "SAME":
            return -(-size // stride)
        if self.sizes[axis] is None:
            return None
        padded = size + sum(self.explicit[axis]) if self.padding == "EXPLICIT" else size
        extent = self._extent(axis)
        if padded >= extent:
            return (padded - extent) // stride + 1
        missing = (extent - padded - stride) // stride
        if in_step and missing <= 0:
            return 0
        larger = f"along spatial axis {axis} the window is larger than the image"
        if in_step:
            raise ShapeError(
                f"Computed output size would be negative: {-missing} [input_size: {size}, "
                f"effective_filter_size: {extent}, stride: {stride}], since {larger}"
            )
        raise ShapeError(f"Negative dimension size caused by subtracting {extent} from {padded}: {larger}")

    def _padding(self, axis: int, size: int) -> tuple[int, int]:
        if self.padding == "EXPLICIT":
            return self.explicit[axis]
        if self.padding == "VALID":
            return 0, 0
        covered = (self._output_size(axis, size) - 1) * self.strides[axis] + self._extent(axis)
        missing = max(covered - size, 0)
        return missing // 2, missing - missing // 2


def _check_positive(values: Sequence[int], name: str, rule: str, rank: int) -> None:
    if len(values) != rank:
        raise ShapeError(f"The {name} attribute must contain {rank} values, but got: {len(values)}")
    for value in values:
        if value <= 0:
            raise ShapeError(f"{rule}, but got {value}")


def _check_unit_axes(values: Sequence[int], name: str, data_format: str) -> None:
    if values[0] != 1 or channels(values, data_format) != 1:
        raise ShapeError(
            f"Current implementation does not yet support {name} in the batch and depth dimensions, got "
            f"{list(values)}"
        )


def _explicit_pairs(flat: Sequence[int], padding: str, rank: int, data_format: str) -> list[tuple[int, int]]:
    if padding != "EXPLICIT":
        if flat:
            raise ShapeError("explicit_paddings must be empty if the padding is not EXPLICIT")
        return []
    if len(flat) != 2 * rank:
        raise ShapeError(f"explicit_paddings attribute must contain {2 * rank} values, but got: {len(flat)}")
    if min(flat) < 0:
        raise ShapeError("All elements of explicit_paddings must be nonnegative")
    pairs = list(zip(flat[::2], flat[1::2], strict=True))
    if pairs[0] != (0, 0) or channels(pairs, data_format) != (0, 0):
        raise ShapeError("Nonzero explicit padding in the batch or depth dimensions is not supported")
    return spatial(pairs, data_format)


def aten_padding(pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Pairs of padding in the order of `constant_pad_nd`: the last axis first, flat."""
    return [size for pair in reversed(pairs) for size in pair]


def windows_of(
    images: np.ndarray,
    sizes: Sequence[int],
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dilations: Sequence[int] | None = None,
    fill: float = 0.0,
) -> np.ndarray:
    """What a window sees at each of its places, [batch, *places, *sizes, channels]: the definition, in NumPy,
    of which the references of convolutions and pools are made.

    Args:
      images: An array [batch, *spatial sizes, channels].
      sizes: The window's size along each spatial axis; `strides` and `dilations` likewise.
      padding: "SAME", "VALID", or how many elements come before and after along each spatial axis.
      fill: What stands outside of the images.
    """
    axes = range(1, len(sizes) + 1)
    dilations = dilations or [1] * len(sizes)
    extents = [(size - 1) * dilation + 1 for size, dilation in zip(sizes, dilations)]
    if padding == "SAME":
        rests = [(images.shape[axis] - 1) % stride + 1 for axis, stride in zip(axes, strides)]
        missing = [max(extent - rest, 0) for extent, rest in zip(extents, rests)]
        padding = [(size // 2, size - size // 2) for size in missing]
    elif padding == "VALID":
        padding = [(0, 0) for _ in sizes]
    padded = np.pad(images, [(0, 0), *padding, (0, 0)], constant_values=fill)
    windows = np.lib.stride_tricks.sliding_window_view(padded, extents, tuple(axes))
    every = [slice(None, None, step) for step in (*strides, 1, *dilations)]
    return np.moveaxis(windows[(slice(None), *every)], len(sizes) + 1, -1)
