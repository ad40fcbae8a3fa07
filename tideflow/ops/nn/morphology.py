"""Grey-scale morphology: dilation, the maximum of an image plus a structuring function, and erosion.

The window may be small, so the kernels go over its places, each time over the whole image at once. What lies
outside of the image takes no part. A NaN is never larger than what was found before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.ops.arrays import tiling
from tideflow.ops.helpers import flops
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import SampleArray, f32, i32
from tideflow.ops.helpers.types import REAL
from tideflow.ops.helpers.unsigned import widened
from tideflow.ops.math import unary
from tideflow.ops.nn.pool_kernels import added_at, signed
from tideflow.ops.nn.windows import Window, aten_padding, windows_of

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_WINDOW = {
    "strides": attr("list(int)", minimum=4),
    "rates": attr("list(int)", minimum=4),
    "padding": attr("string", allowed=("SAME", "VALID")),
}


def _check_depths(input: TensorShape, filter: TensorShape) -> tuple[Any, Any]:
    """The sizes of images and of a filter, which must have the same channels."""
    image = of_rank(input, 4, f"input must be 4-dimensional{brackets(input.tuple or ())}").tuple
    window = of_rank(filter, 3, f"filter must be 3-dimensional: {brackets(filter.tuple or ())}").tuple
    depth, count = image[-1], window[-1]
    if None not in (depth, count) and depth != count:
        raise ShapeError(
            f"Dimensions must be equal, but are {depth} and {count}: channels of the input and of the filter",
            f"input and filter must have the same depth: {depth} vs {count}",
        )
    return image, window


def _window(input: torch.Tensor, filter: torch.Tensor, strides: list, rates: list, padding: str) -> Window:
    _check_depths(TensorShape(input.shape), TensorShape(filter.shape))
    return Window.of(filter.shape[:2], "NHWC", strides, padding, rates)


_plus = widened(torch.add)


def _every(start: int, count: int, stride: int) -> slice:
    return slice(start, start + (count - 1) * stride + 1 if count else start, stride)


def _lowest(dtype: torch.dtype) -> float | int:
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def _dilated(input: torch.Tensor, filter: torch.Tensor, window: Window) -> tuple[torch.Tensor, torch.Tensor]:
    """The maximum at each place, and which offset of the window (counted by rows) had it first."""
    sizes = input.shape[1:3]
    pairs, (height, width) = window.paddings(sizes), window.output_sizes(sizes, in_step=True)
    padded = torch.constant_pad_nd(input, [0, 0, *aten_padding(pairs)])
    inside = torch.constant_pad_nd(
        torch.ones(1, *sizes, 1, dtype=torch.bool, device=input.device), [0, 0, *aten_padding(pairs)]
    )
    best = padded.new_full((len(input), height, width, input.shape[3]), _lowest(input.dtype))
    found_at = torch.zeros_like(best, dtype=torch.int64)
    for offset in range(math.prod(window.sizes)):
        row, column = divmod(offset, window.sizes[1])
        seen = (
            slice(None),
            _every(row * window.dilations[0], height, window.strides[0]),
            _every(column * window.dilations[1], width, window.strides[1]),
        )
        value = _plus(padded[seen], filter[row, column])
        better = (signed(value) > signed(best)) & inside[seen]
        best = torch.where(better, value, best)
        found_at = found_at.masked_fill(better, offset)
    return best, found_at


_ONCE = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
_TWICE = {"strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1], "padding": "VALID"}


def _spread(*sizes: int) -> np.ndarray:
    """Elements far enough from each other that no small step changes which is the maximum."""
    return np.random.default_rng(1).permutation(math.prod(sizes)).reshape(sizes).astype(np.float32)


def _sample(*sizes: int) -> SampleArray:
    return f32(*sizes, low=0.0, high=0.4)


dilation2d_op = Op("Dilation2D", "input: T, filter: T -> output: T", T=REAL, **_WINDOW)


@dilation2d_op.shape
def _dilation2d_shape(input, filter, *, strides, rates, padding):
    (batch, *sizes, depth), (*window, count) = _check_depths(input, filter)
    places = Window.of(window, "NHWC", strides, padding, rates).output_sizes(sizes, in_step=True)
    return [batch, *places, count if depth is None else depth]


@dilation2d_op.kernel
def _dilation2d_kernel(input, filter, *, strides, rates, padding):
    return _dilated(input, filter, _window(input, filter, strides, rates, padding))[0]


@dilation2d_op.gradient
def _dilation2d_gradient(op, grad):
    image, filter = op.inputs
    window = {name: op.attrs[name] for name in _WINDOW}
    return (
        dilation2d_backprop_input_op(image, filter, grad, **window),
        dilation2d_backprop_filter_op(image, filter, grad, **window),
    )


def _dilation2d_reference(input, filter, *, strides, rates, padding):
    windows = windows_of(
        input.astype(np.float64), filter.shape[:2], strides[1:3], padding, rates[1:3], -np.inf
    )
    return (windows + filter).max((3, 4))


dilation2d_op.flops(flops.per_window_element)
dilation2d_op.samples(
    (_spread(2, 4, 5, 2), _sample(2, 3, 2), _ONCE),
    (_spread(1, 5, 6, 1), _sample(2, 2, 1), _TWICE),
    (i32(1, 3, 4, 2), i32(3, 1, 2), _ONCE),
    (f32(0, 4, 5, 2), f32(2, 3, 2), _ONCE),
    against=_dilation2d_reference,
)
dilation2d_op.refuses((f32(1, 4, 4, 3), f32(2, 2, 4), _ONCE), "Dimensions must be equal, but are 3 and 4")
dilation2d_op.refuses((f32(1, 4, 4, 3), f32(2, 2), _ONCE), "Shape must be rank 3 but is rank 2")


@export("nn.dilation2d")
def dilation2d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    padding: str | None = None,
    name: str | None = None,
    filters: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """Computes the grey-scale dilation of images: over each window the maximum of image plus filter.

    Args:
      input: Images [batch, height, width, channels] of a real type.
      filter: A tensor of the same type, [height, width, channels].
      strides: How far the window moves from place to place along each axis, a list of four numbers; those of
        batch and channels are 1.
      rates: How far apart the elements are that neighbouring elements of the filter see, a list of four
        numbers.
      padding: "SAME" (the window begins at every stride-th element and may reach over the edge) or "VALID"
        (it stays inside).
      name: A name for the operation.
      filters: Another name of `filter`.
      dilations: Another name of `rates`.

    Returns:
      Images of the type of `input` with a place for each position of the window.

    Raises:
      ValueError: Where images and filter differ in their channels, or where the window is larger than the
        images.
    """
    filter = renamed("filters", filters, "filter", filter)
    rates = renamed("dilations", dilations, "rates", rates)
    return dilation2d_op(input, filter, strides=strides, rates=rates, padding=padding, name=name)


@export("nn.erosion2d")
def erosion2d(
    value: TensorLike,
    kernel: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Tensor:
    """Computes the grey-scale erosion of images: over each window the minimum of image minus kernel.

    Args:
      value: Images [batch, height, width, channels] of a signed type.
      kernel: A tensor of the same type, [height, width, channels].
      strides: How far the window moves from place to place along each axis, a list of four numbers; those of
        batch and channels are 1.
      rates: How far apart the elements are that neighbouring elements of the kernel see, a list of four
        numbers.
      padding: "SAME" (the window begins at every stride-th element and may reach over the edge) or "VALID"
        (it stays inside).
      name: A name for the operation.

    Returns:
      Images of the type of `value` with a place for each position of the window.

    Raises:
      ValueError: Where images and kernel differ in their channels, or where the window is larger than the
        images.
    """
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        dilated = dilation2d(
            unary.negative(value), tiling.reverse(kernel, [0, 1]), strides, rates, padding, name=scope
        )
        return unary.negative(dilated)


_BACKPROP = "input: T, filter: T, out_backprop: T"


def _check_backprop(output: torch.Tensor, grad: torch.Tensor) -> None:
    if output.shape != grad.shape:
        raise ShapeError(
            f"out_backprop has incompatible size. It must have shape {list(output.shape)}, but has "
            f"{list(grad.shape)}"
        )


dilation2d_backprop_input_op = Op(
    "Dilation2DBackpropInput", f"{_BACKPROP} -> in_backprop: T", T=REAL, **_WINDOW
)


@dilation2d_backprop_input_op.shape
def _dilation2d_backprop_input_shape(input, filter, out_backprop):
    return input


def _places_in_image(offsets: torch.Tensor, window: Window, shape: torch.Size) -> torch.Tensor:
    """The flat place in its image of each maximum."""
    _, height, width, depth = shape
    _, rows, columns, _ = offsets.shape
    (top, _), (left, _) = window.paddings([height, width])
    first_row = torch.arange(rows, device=offsets.device) * window.strides[0] - top
    first_column = torch.arange(columns, device=offsets.device) * window.strides[1] - left
    row = first_row.view(-1, 1, 1) + offsets // window.sizes[1] * window.dilations[0]
    column = first_column.view(-1, 1) + offsets % window.sizes[1] * window.dilations[1]
    # A window in which nothing exceeds the lowest number claims its first place, moved into the image.
    place = row.clamp(min=0) * width + column.clamp(min=0)
    return place * depth + torch.arange(depth, device=offsets.device)


@dilation2d_backprop_input_op.kernel
def _dilation2d_backprop_input_kernel(input, filter, out_backprop, *, strides, rates, padding):
    window = _window(input, filter, strides, rates, padding)
    found, offsets = _dilated(input, filter, window)
    _check_backprop(found, out_backprop)
    places = _places_in_image(offsets, window, input.shape)
    return added_at(
        places.unsqueeze(1), out_backprop.unsqueeze(1), [len(input), 1, *input.shape[1:]]
    ).squeeze(1)


dilation2d_backprop_input_op.gradient(undefined_gradient)


def _dilation2d_backprop_input_reference(input, filter, grad, *, strides, rates, padding):
    window = {"strides": strides, "rates": rates, "padding": padding}
    return pulled_back(lambda image: _dilation2d_reference(image, filter, **window), input, grad)


dilation2d_backprop_input_op.samples(
    (_spread(2, 4, 5, 2), _sample(2, 3, 2), f32(2, 4, 5, 2), _ONCE),
    (_spread(1, 5, 6, 1), _sample(2, 2, 1), f32(1, 2, 4, 1), _TWICE),
    against=_dilation2d_backprop_input_reference,
)

dilation2d_backprop_filter_op = Op(
    "Dilation2DBackpropFilter", f"{_BACKPROP} -> filter_backprop: T", T=REAL, **_WINDOW
)


@dilation2d_backprop_filter_op.shape
def _dilation2d_backprop_filter_shape(input, filter, out_backprop):
    return filter


@dilation2d_backprop_filter_op.kernel
def _dilation2d_backprop_filter_kernel(input, filter, out_backprop, *, strides, rates, padding):
    found, offsets = _dilated(input, filter, _window(input, filter, strides, rates, padding))
    _check_backprop(found, out_backprop)
    if not filter.numel():
        return torch.zeros_like(filter)
    depth = filter.shape[2]
    places = offsets * depth + torch.arange(depth, device=offsets.device)
    return added_at(places[None, None], out_backprop[None, None], [1, 1, *filter.shape])[0, 0]


dilation2d_backprop_filter_op.gradient(undefined_gradient)


def _dilation2d_backprop_filter_reference(input, filter, grad, *, strides, rates, padding):
    window = {"strides": strides, "rates": rates, "padding": padding}
    return pulled_back(lambda moved: _dilation2d_reference(input, moved, **window), filter, grad)


dilation2d_backprop_filter_op.samples(
    (_spread(2, 4, 5, 2), _sample(2, 3, 2), f32(2, 4, 5, 2), _ONCE),
    (_spread(1, 5, 6, 1), _sample(2, 2, 1), f32(1, 2, 4, 1), _TWICE),
    against=_dilation2d_backprop_filter_reference,
)
