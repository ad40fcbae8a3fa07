"""Parts of images: boxes cropped and resized at once, and glimpses around a point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn import functional

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.errors import OutOfRangeError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import shapes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import as_sizes, brackets, host_rank, of_rank, vector
from tideflow.ops.helpers.looking import can_look
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import types
from tideflow.ops.random.sources import device_generator

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_PIXELS = types("uint8 uint16 int8 int16 int32 int64 half float double")
_METHOD = attr("string", "bilinear", allowed=("bilinear", "nearest"))


def _box_count(boxes: TensorShape, box_ind: TensorShape) -> int | None:
    count, corners = of_rank(boxes, 2).tuple
    (indices,) = of_rank(box_ind, 1).tuple
    if corners not in (None, 4):
        raise ShapeError(f"Dimension must be 4 but is {corners}")
    if count is not None and indices is not None and count != indices:
        raise ShapeError(f"Dimensions must be equal, but are {count} and {indices}")
    return indices if count is None else count


@dataclass(frozen=True)
class _Axis:
    """Where, along one axis of the image, the elements of each crop lie: [boxes, crop size] each."""

    below: torch.Tensor
    above: torch.Tensor
    part: torch.Tensor  # how far it is from `below` to `above`
    nearest: torch.Tensor
    inside: torch.Tensor

    @classmethod
    def of(cls, start: torch.Tensor, stop: torch.Tensor, size: int, crop_size: int) -> _Axis:
        """Of boxes from `start` to `stop`, which are 0 and 1 at the image's first and last elements."""
        last = size - 1
        if crop_size > 1:
            step = (stop - start) * last / (crop_size - 1)
            numbers = torch.arange(crop_size, dtype=start.dtype, device=start.device)
            at = (start * last)[:, None] + numbers * step[:, None]
        else:
            at = (0.5 * (start + stop) * last)[:, None]
        inside = (at >= 0) & (at <= last)
        at = torch.where(inside, at, 0)
        below = at.floor()
        nearest = (at.double() + 0.5).floor()
        return cls(below.long(), at.ceil().long(), at - below, nearest.long(), inside)


@dataclass(frozen=True)
class _Crops:
    """Where the elements of crops lie in images [batch, height, width], counted as one list of pixels."""

    rows: _Axis
    columns: _Axis
    first: torch.Tensor  # the first row of each box's image
    width: int

    @classmethod
    def of(
        cls, sizes: list[int], boxes: torch.Tensor, box_ind: torch.Tensor, crop_sizes: list[int]
    ) -> _Crops:
        batch, height, width = sizes
        if can_look() and len(box_ind) and not bool(((box_ind >= 0) & (box_ind < batch)).all()):
            raise errors.out_of_range(f"box_index has values outside [0, batch_size), here [0, {batch})")
        top, left, bottom, right = boxes.unbind(1)
        rows = _Axis.of(top, bottom, height, crop_sizes[0])
        columns = _Axis.of(left, right, width, crop_sizes[1])
        return cls(rows, columns, box_ind.long()[:, None] * height, width)

    @property
    def inside(self) -> torch.Tensor:
        """Which elements lie in the image: [boxes, crop height, crop width, 1]."""
        return (self.rows.inside[:, :, None] & self.columns.inside[:, None, :]).unsqueeze(-1)

    def pixels(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """The pixels at these rows and columns of each box's image: a list."""
        return (((self.first + rows) * self.width)[:, :, None] + columns[:, None, :]).reshape(-1)

    def corners(self) -> list[torch.Tensor]:
        """The four pixels around each element: upper left, upper right, lower left, lower right."""
        rows, columns = self.rows, self.columns
        return [self.pixels(y, x) for y in (rows.below, rows.above) for x in (columns.below, columns.above)]

    @property
    def parts(self) -> tuple[torch.Tensor, torch.Tensor]:
        """How far each element lies from the upper and from the left pixel."""
        return self.rows.part[:, :, None, None], self.columns.part[:, None, :, None]


def _checked_boxes(images: list[int], boxes: torch.Tensor, box_ind: torch.Tensor) -> None:
    if len(images) != 4:
        raise ShapeError(f"input image must be 4-D, got {brackets(images)}")
    if min(images[1:]) <= 0:
        raise ShapeError(f"image dimensions must be positive, got {brackets(images)}")
    if boxes.ndim == 2 and boxes.shape[1] != 4:
        raise ShapeError(f"boxes must have 4 columns, got {brackets(boxes.shape)}")
    if boxes.ndim != 2:
        raise ShapeError(f"boxes must be [number of boxes, 4], got {brackets(boxes.shape)}")
    if box_ind.ndim != 1 or len(box_ind) != len(boxes):
        raise ShapeError(
            f"box_index has incompatible shape {brackets(box_ind.shape)} for {len(boxes)} boxes"
            if box_ind.ndim == 1
            else f"box_index must be 1-D{brackets(box_ind.shape)}"
        )


_BOXES = np.array([[0.11, 0.23, 0.83, 0.91], [0.71, 0.63, 0.22, 0.13], [0.17, 0.09, 0.61, 0.94]], np.float32)
_OWNERS = np.array([0, 1, 0], np.int32)

crop_and_resize_op = Op(
    "CropAndResize",
    "image: T, boxes: float, box_ind: int32, crop_size: int32 -> crops: float",
    host="crop_size",
    T=_PIXELS,
    method=_METHOD,
    extrapolation_value=0.0,
)


_CROP = "crop_size must be 1-D, got "


@crop_and_resize_op.shape
def _crop_and_resize_shape(image, boxes, box_ind, crop_size):
    *_, depth = of_rank(image, 4).tuple
    count = _box_count(boxes, box_ind)
    if vector(crop_size, _CROP) is None:
        return [count, None, None, depth]
    if len(crop_size) != 2:
        raise ShapeError(f"Dimension must be 2 but is {len(crop_size)}")
    return [count, *as_sizes(crop_size), depth]


_CACHED_ELEMENTS = 1 << 17  # of crops made at a time: they stay in a core's cache


def _between(
    top_left: torch.Tensor,
    top_right: torch.Tensor,
    bottom_left: torch.Tensor,
    bottom_right: torch.Tensor,
    down: torch.Tensor,
    right: torch.Tensor,
) -> torch.Tensor:
    """Bilinear between four pixels; the tensors given are overwritten."""
    top = top_right.sub_(top_left).mul_(right).add_(top_left)
    bottom = bottom_right.sub_(bottom_left).mul_(right).add_(bottom_left)
    return bottom.sub_(top).mul_(down).add_(top)


def cropped(
    image: torch.Tensor,
    boxes: torch.Tensor,
    box_ind: torch.Tensor,
    crop_size: list[int],
    method: str,
    outside: float,
) -> torch.Tensor:
    """The boxes of images, each in the size `crop_size`; what lies outside of an image is `outside`."""
    *sizes, depth = image.shape
    shape = (len(boxes), *crop_size, depth)
    crops = _Crops.of(sizes, boxes, box_ind, crop_size)
    pixels = image.reshape(-1, depth)
    if method == "nearest":
        places = crops.pixels(crops.rows.nearest, crops.columns.nearest)
        found = pixels.index_select(0, places).view(shape).float()
    elif _are_long_rows(pixels):
        places, weights = zip(*_shares(crops, method), strict=True)
        weights = torch.stack([weight.reshape(-1) for weight in weights], 1)
        found = functional.embedding_bag(
            torch.stack(places, 1), pixels, mode="sum", per_sample_weights=weights
        ).view(shape)
    else:
        corners = [pixels.index_select(0, places).view(shape).float() for places in crops.corners()]
        found = _between(*corners, *crops.parts)
    if not can_look() or image.is_cuda:
        return torch.where(crops.inside, found, outside)
    if not bool(crops.rows.inside.all()) or not bool(crops.columns.inside.all()):
        found.view(-1, depth).index_fill_(0, (~crops.inside).reshape(-1).nonzero().squeeze(1), outside)
    return found


_LONG = 8  # numbers of a pixel


def _are_long_rows(pixels: torch.Tensor) -> bool:
    """Whether ATen's sum of weighted rows is the quickest. Pixels of pictures are too short for it; these
    are also computed to the bit as TensorFlow does, since programs may turn them into bytes.
    """
    return (
        type(pixels) is torch.Tensor
        and pixels.is_cpu
        and pixels.dtype is torch.float32
        and pixels.shape[1] >= _LONG
    )


@crop_and_resize_op.kernel
def _crop_and_resize_kernel(image, boxes, box_ind, crop_size, *, method, extrapolation_value):
    _checked_boxes(list(image.shape), boxes, box_ind)
    if len(vector(crop_size, _CROP)) != 2:
        raise ShapeError(f"crop_size must have two elements, height and width, got {crop_size}")
    if min(crop_size) <= 0:
        raise ShapeError(f"crop dimensions must be positive, got {crop_size}")
    depth = image.shape[3]
    step = max(len(boxes), 1)
    if not image.is_cuda and method == "bilinear" and not _are_long_rows(image.reshape(-1, depth)):
        step = min(step, max(1, _CACHED_ELEMENTS // (crop_size[0] * crop_size[1] * depth)))
    groups = zip(boxes.split(step), box_ind.split(step), strict=True)
    found = [cropped(image, *group, crop_size, method, extrapolation_value) for group in groups]
    return found[0] if len(found) == 1 else torch.cat(found)


@crop_and_resize_op.gradient
def _crop_and_resize_gradient(op, grad):
    """The boxes' slope is that of bilinear crops, even where the nearest pixel was taken."""
    image, boxes, box_ind, _ = op.inputs
    to_boxes = crop_and_resize_grad_boxes_op(grad, image, boxes, box_ind)
    if not image.dtype.is_floating:
        return [None, to_boxes, None, None]
    size = image.shape.as_list() if image.shape.is_fully_defined() else shapes.shape(image)
    to_image = crop_and_resize_grad_image_op(
        grad, boxes, box_ind, size, T=image.dtype, method=op.attrs["method"]
    )
    return [to_image, to_boxes, None, None]


def _crop_by_definition(image, boxes, box_ind, crop_size, method="bilinear", extrapolation_value=0.0):
    """Element after element of each crop."""

    def places(start: float, stop: float, size: int, count: int) -> np.ndarray:
        ends = np.array([start, stop], np.float64) * (size - 1)
        return np.linspace(*ends, count) if count > 1 else ends.mean(keepdims=True)

    def seen(pixels: np.ndarray, y: float, x: float) -> np.ndarray | float:
        if not (0 <= y <= len(pixels) - 1 and 0 <= x <= pixels.shape[1] - 1):
            return extrapolation_value
        if method == "nearest":
            return pixels[int(y + 0.5), int(x + 0.5)]
        down, right = (
            np.maximum(0, 1 - np.abs(at - np.arange(size))) for at, size in zip((y, x), pixels.shape)
        )
        return np.einsum("i,j,ijc->c", down, right, pixels)

    crops = np.zeros([len(boxes), *crop_size, image.shape[3]])
    for crop, (top, left, bottom, right), owner in zip(crops, boxes, box_ind):
        pixels = image[owner]
        for i, y in enumerate(places(top, bottom, pixels.shape[0], crop_size[0])):
            for j, x in enumerate(places(left, right, pixels.shape[1], crop_size[1])):
                crop[i, j] = seen(pixels, y, x)
    return crops


# Even planes, so that moving a corner changes a crop evenly.
_SLOPES = [np.add.outer(np.arange(5) * 0.3, np.arange(6) * slope) for slope in (0.2, -0.5)]
_PLANES = np.stack(_SLOPES)[..., None].astype(np.float32)
crop_and_resize_op.samples(
    (_PLANES, _BOXES, _OWNERS, [3, 4]),
    (_PLANES, _BOXES, _OWNERS, [1, 4], {"extrapolation_value": 7.0}),
    (np.repeat(_PLANES, 3, axis=3), _BOXES, _OWNERS, [7, 1]),
    (f32(2, 5, 6, 1), _BOXES[:0], _OWNERS[:0], [3, 4]),
    against=_crop_by_definition,
)
crop_and_resize_op.refuses((f32(5, 6, 3), _BOXES, _OWNERS, [3, 4]), "Shape must be rank 4 but is rank 3")
crop_and_resize_op.refuses((f32(1, 5, 6, 3), _BOXES, _OWNERS[:2], [3, 4]), "must be equal, but are 3 and 2")
crop_and_resize_op.refuses(
    (f32(1, 5, 6, 3), _BOXES, _OWNERS, [3, 4]), "box_index has values outside", OutOfRangeError
)


@export("image.crop_and_resize")
def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike | None = None,
    crop_size: TensorLike | None = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: TensorLike | None = None,
) -> Tensor:
    """Cuts boxes out of images and resizes them to one size.

    Args:
      image: Images [batch, height, width, channels] of a real type.
      boxes: A float32 tensor [boxes, 4] of [top, left, bottom, right], in which 0 and 1 are the first and
        last pixels. Where bottom is above top, the crop is upside down.
      box_ind: An int32 vector: which image each box is of.
      crop_size: The height and width of the crops, an int32 vector.
      method: "bilinear" or "nearest".
      extrapolation_value: What stands where a box leaves its image.
      name: A name for the operation.
      box_indices: Another name of `box_ind`.

    Returns:
      A float32 tensor [boxes, crop height, crop width, channels].

    Raises:
      ValueError: Where shapes do not fit.
      OutOfRangeError: In a step in which `box_ind` names an image that is not there.
    """
    owners = renamed("box_indices", box_indices, "box_ind", box_ind)
    return crop_and_resize_op(
        image, boxes, owners, crop_size, method=method, extrapolation_value=extrapolation_value, name=name
    )


crop_and_resize_grad_boxes_op = Op(
    "CropAndResizeGradBoxes",
    "grads: float, image: T, boxes: float, box_ind: int32 -> output: float",
    T=_PIXELS,
    method=attr("string", "bilinear", allowed=("bilinear",)),
    differentiable=None,
)


@crop_and_resize_grad_boxes_op.shape
def _crop_and_resize_grad_boxes_shape(grads, image, boxes, box_ind):
    of_rank(grads, 4), of_rank(image, 4)
    _box_count(boxes, box_ind)
    return boxes


def _moves(slopes: torch.Tensor, size: int, crop_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The slopes by the start and by the stop of each box along an axis."""
    last = size - 1
    if crop_size == 1:
        both = slopes.sum(1) * (0.5 * last)
        return both, both
    by_stop = torch.arange(crop_size, dtype=slopes.dtype, device=slopes.device) * (last / (crop_size - 1))
    return (slopes * (last - by_stop)).sum(1), (slopes * by_stop).sum(1)


def _check_crops(grads: torch.Tensor, boxes: torch.Tensor, depth: int, other_depth: str) -> None:
    found = f"the gradients have shape {brackets(grads.shape)}, with {len(boxes)} boxes and depth {depth}"
    if grads.ndim != 4:
        raise ShapeError(f"grads image must be 4-D: {found}")
    if len(grads) != len(boxes):
        raise ShapeError(f"boxes and grads have incompatible shape: {found}")
    if grads.shape[3] != depth:
        raise ShapeError(f"{other_depth}: {found}")
    if not grads.shape[1] * grads.shape[2]:
        raise ShapeError("grads dimensions must be positive")


@crop_and_resize_grad_boxes_op.kernel
def _crop_and_resize_grad_boxes_kernel(grads, image, boxes, box_ind):
    """How crops change as their corners move: the image's slope, times how far each element moves."""
    _checked_boxes(list(image.shape), boxes, box_ind)
    *sizes, depth = image.shape
    _check_crops(grads, boxes, depth, "image, grads depth differ")
    crop_sizes = list(grads.shape[1:3])
    crops = _Crops.of(sizes, boxes, box_ind, crop_sizes)
    pixels = image.reshape(-1, depth)
    corners = [pixels.index_select(0, places).view(grads.shape).float() for places in crops.corners()]
    top_left, top_right, bottom_left, bottom_right = corners
    down, right = crops.parts
    slope_down = (bottom_left - top_left) * (1 - right) + (bottom_right - top_right) * right
    slope_right = (top_right - top_left) * (1 - down) + (bottom_right - bottom_left) * down
    grads = torch.where(crops.inside, grads, 0)
    along_rows = (grads * slope_down).sum((2, 3))
    along_columns = (grads * slope_right).sum((1, 3))
    ends = [
        _moves(along, size, crop_size)
        for along, size, crop_size in zip((along_rows, along_columns), sizes[1:], crop_sizes, strict=True)
    ]
    return torch.stack([ends[0][0], ends[1][0], ends[0][1], ends[1][1]], 1)


def _crop_and_resize_grad_boxes_reference(grads, image, boxes, box_ind):
    return pulled_back(
        lambda moved: _crop_by_definition(image, moved, box_ind, grads.shape[1:3]), boxes, grads, step=1e-7
    )


crop_and_resize_grad_boxes_op.samples(
    (f32(3, 3, 4, 2), f32(2, 5, 6, 2), _BOXES, _OWNERS), against=_crop_and_resize_grad_boxes_reference
)

crop_and_resize_grad_image_op = Op(
    "CropAndResizeGradImage",
    "grads: float, boxes: float, box_ind: int32, image_size: int32 -> output: T",
    host="image_size",
    T=types("float half double"),
    method=_METHOD,
    differentiable=None,
)


_SIZE = "image_size must be 1-D, got "


@crop_and_resize_grad_image_op.shape
def _crop_and_resize_grad_image_shape(grads, boxes, box_ind, image_size):
    of_rank(grads, 4)
    _box_count(boxes, box_ind)
    if vector(image_size, _SIZE) is not None and len(image_size) != 4:
        raise ShapeError(f"Dimension must be 4 but is {len(image_size)}")
    return [None] * 4 if image_size is None else as_sizes(image_size)


def _shares(crops: _Crops, method: str) -> list[tuple]:
    """The pixels that an element is made of, and how much each counts."""
    if method == "nearest":
        return [(crops.pixels(crops.rows.nearest, crops.columns.nearest), 1)]
    down, right = crops.parts
    weights = [(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right]
    return list(zip(crops.corners(), weights, strict=True))


@crop_and_resize_grad_image_op.kernel
def _crop_and_resize_grad_image_kernel(grads, boxes, box_ind, image_size, *, T, method):
    if len(vector(image_size, _SIZE)) != 4:
        raise ShapeError(f"image_size must have four elements, got {image_size}")
    _checked_boxes(image_size, boxes, box_ind)
    *sizes, depth = image_size
    _check_crops(grads, boxes, depth, "image_size and grads are incompatible")
    crops = _Crops.of(sizes, boxes, box_ind, list(grads.shape[1:3]))
    working = torch.float64 if T is dtypes.float64 else torch.float32
    found = grads.new_zeros((math.prod(sizes), depth), dtype=working)
    grads = torch.where(crops.inside, grads, 0)
    for places, weight in _shares(crops, method):
        found.index_add_(0, places, (grads * weight).reshape(-1, depth).to(working))
    return found.view(image_size).to(T.torch)


def _crop_and_resize_grad_image_reference(grads, boxes, box_ind, image_size, method):
    def crops(image: np.ndarray) -> np.ndarray:
        return _crop_by_definition(image, boxes, box_ind, grads.shape[1:3], method)

    return pulled_back(crops, np.zeros(image_size), grads, step=1)


crop_and_resize_grad_image_op.samples(
    (f32(3, 3, 4, 2), _BOXES, _OWNERS, [2, 5, 6, 2], {"T": dtypes.float32}),
    (f32(3, 3, 4, 2), _BOXES, _OWNERS, [2, 5, 6, 2], {"T": dtypes.float64, "method": "nearest"}),
    against=_crop_and_resize_grad_image_reference,
)

# ---------------------------------------------------------------------------------- glimpses

extract_glimpse_op = Op(
    "ExtractGlimpse",
    "input: float, size: int32, offsets: float -> glimpse: float",
    host="size",
    centered=True,
    normalized=True,
    uniform_noise=True,
    noise="uniform",
    differentiable=False,
)


@extract_glimpse_op.shape
def _extract_glimpse_shape(input, size, offsets):
    batch, _, _, depth = of_rank(input, 4).tuple
    count, pair = of_rank(offsets, 2).tuple
    if pair not in (None, 2):
        raise ShapeError(f"Dimension must be 2 but is {pair}")
    if batch is not None and count is not None and batch != count:
        raise ShapeError(f"Dimensions must be equal, but are {batch} and {count}")
    if vector(size) is None:
        return [batch, None, None, depth]
    if len(size) != 2:
        raise ShapeError(f"Dimension must be 2 but is {len(size)}")
    return [count if batch is None else batch, *as_sizes(size), depth]


def _noise_kind(uniform_noise: bool, noise: str) -> str:
    if uniform_noise and noise not in ("", "uniform"):
        raise ShapeError("The uniform_noise and noise should not be specified at the same time")
    kind = noise or ("uniform" if uniform_noise else "gaussian")
    if kind not in ("uniform", "gaussian", "zero"):
        raise ShapeError(f"The noise should be one of uniform, gaussian and zero, got {noise}")
    return kind


def _glimpsed(
    offsets: torch.Tensor, length: int, wanted: int, centered: bool, normalized: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The places along an axis that the windows cover, and which of them are in the image."""
    at = offsets * length if normalized else offsets
    if centered:
        at = at / 2 + length / 2
    start = (at - wanted / 2).long()
    places = start[:, None] + torch.arange(wanted, device=offsets.device)
    return places.clamp(0, length - 1), (places >= 0) & (places < length)


def _noise(kind: str, images: torch.Tensor, like: torch.Tensor) -> torch.Tensor | float:
    if kind == "zero":
        return 0.0
    numbers = torch.empty_like(like)
    generator = device_generator(like.device)
    if kind == "uniform":
        return numbers.uniform_(generator=generator)
    deviation, mean = torch.std_mean(images, (1, 2), correction=0, keepdim=True)
    return numbers.normal_(generator=generator) * deviation + mean


@extract_glimpse_op.kernel
def _extract_glimpse_kernel(input, size, offsets, *, centered, normalized, uniform_noise, noise):
    """A window around each image's offset; what it has outside of the image is noise."""
    if input.ndim != 4:
        raise ShapeError(
            f"input must be 4-dimensional (batch_size, height, width, depth){brackets(input.shape)}"
        )
    if offsets.ndim == 2 and len(offsets) != len(input):
        raise ShapeError(f"first dimension should be batch{brackets(offsets.shape)}")
    if offsets.ndim != 2:
        raise ShapeError(f"input must be a matrix{brackets(offsets.shape)}: the offsets")
    if offsets.shape[1] != 2:
        raise ShapeError(f"second dimension should be of size 2 (y,x){brackets(offsets.shape)}")
    if host_rank(size) != 1 or len(size) != 2:
        raise ShapeError(f"input must be a vector of size 2 (height, width): {size}")
    if min(size) <= 0:
        raise ShapeError(f"size must be two positive sizes (height, width), got {size}")
    if not input.shape[1] or not input.shape[2]:
        raise ShapeError(f"input must have rows and columns, got {brackets(input.shape)}")
    kind = _noise_kind(uniform_noise, noise)
    places, inside = zip(
        *(
            _glimpsed(offsets[:, axis], length, wanted, centered, normalized)
            for axis, (length, wanted) in enumerate(zip(input.shape[1:3], size, strict=True))
        ),
        strict=True,
    )
    images = torch.arange(len(input), device=input.device)[:, None, None]
    found = input[images, places[0][:, :, None], places[1][:, None, :]]
    seen = (inside[0][:, :, None] & inside[1][:, None, :]).unsqueeze(-1)
    return torch.where(seen, found, _noise(kind, input, found))


def _extract_glimpse_reference(input, size, offsets, centered, normalized):
    """Image after image; outside of it are zeros, as the samples have no noise there."""
    glimpses = np.zeros([len(input), *size, input.shape[3]])
    for glimpse, image, offset in zip(glimpses, input, offsets):
        lengths = np.array(image.shape[:2])
        at = offset * lengths if normalized else offset
        at = at / 2 + lengths / 2 if centered else at
        top, left = (at - np.array(size) / 2).astype(int)
        for i, j in np.ndindex(*size):
            if 0 <= top + i < lengths[0] and 0 <= left + j < lengths[1]:
                glimpse[i, j] = image[top + i, left + j]
    return glimpses


_POINTS = np.array([[0.1, -0.2], [0.9, 0.4]], np.float32)
_EMPTY_OUTSIDE = {"uniform_noise": False, "noise": "zero"}
extract_glimpse_op.samples(
    (f32(2, 8, 9, 3), [3, 4], _POINTS[:, ::-1] * 0.3),
    (f32(2, 8, 9, 3), [5, 4], _POINTS, _EMPTY_OUTSIDE),
    (f32(2, 8, 9, 3), [5, 4], _POINTS * 5, {**_EMPTY_OUTSIDE, "normalized": False}),
    (f32(2, 8, 9, 3), [20, 4], _POINTS, {**_EMPTY_OUTSIDE, "centered": False}),
    against=_extract_glimpse_reference,
)
extract_glimpse_op.refuses((f32(8, 9, 3), [3, 4], _POINTS), "Shape must be rank 4 but is rank 3")
extract_glimpse_op.refuses((f32(3, 8, 9, 3), [3, 4], _POINTS), "must be equal, but are 3 and 2")


@export("image.extract_glimpse")
def extract_glimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """Cuts a window around a point out of each image.

    Args:
      input: A float32 tensor [batch, height, width, channels].
      size: The height and width of the windows, an int32 vector.
      offsets: A float32 tensor [batch, 2]: the row and column of each window's centre.
      centered: Whether offsets are counted from the image's centre, in halves of its size, and not from its
        upper left corner.
      normalized: Whether offsets are in parts of the image's size, and not in pixels.
      uniform_noise: Whether what lies outside of the image is noise between 0 and 1, and not normal noise of
        the image's own mean and deviation.
      name: A name for the operation.

    Returns:
      A float32 tensor [batch, window height, window width, channels].

    Raises:
      ValueError: Where shapes do not fit.
    """
    return extract_glimpse_op(
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=uniform_noise,
        name=name,
    )
