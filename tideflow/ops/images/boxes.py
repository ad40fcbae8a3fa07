"""Boxes on images: drawn on them, and drawn at random to crop them by. A box is [top, left, bottom, right].

What a seed gives is what it gives in TensorFlow: see `tideflow.runtime.philox`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.ops.helpers.axes import as_sizes, brackets, host_rank, of_rank, scalar, vector
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import types
from tideflow.runtime.philox import Philox, Stream
from tideflow.runtime.values import to_numpy

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_SHORT_FLOATS = attr("type", dtypes.float32, allowed=types("float half"))
# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia: opaque.
_COLORS = np.array(
    [
        [1, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 1, 0, 1],
        [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1],
        [0.5, 0, 0, 1],
        [0, 0, 0.5, 1],
        [0, 1, 1, 1],
        [1, 0, 1, 1],
    ],
    np.float32,
)


# ---------------------------------------------------------------------------------- drawing


def _drawn_shape(images, boxes, *colors):
    *_, channels = of_rank(images, 4).tuple
    *_, corners = of_rank(boxes, 3).tuple
    if channels not in (None, 1, 3, 4):
        raise ShapeError(f"Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), got {channels}")
    if corners not in (None, 4):
        raise ShapeError(f"Dimension must be 4 but is {corners}")
    return images


def _default_colors(images: torch.Tensor) -> torch.Tensor:
    colors = torch.from_numpy(_COLORS)
    return torch.ones_like(colors) if images.shape[-1] == 1 else colors


def _corners(boxes: np.ndarray, height: int, width: int) -> list[list[list[int] | None]]:
    """The top, left, bottom and right pixels of each image's boxes; None where nothing of one is drawn: it is
    inverted, or outside of the image.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = boxes * np.array([height - 1, width - 1] * 2, np.float32)
        pixels = np.nan_to_num(scaled).astype(np.int64)
    top, left, bottom, right = np.moveaxis(pixels, -1, 0)
    is_drawn = (
        (top <= bottom) & (left <= right) & (top < height) & (left < width) & (bottom >= 0) & (right >= 0)
    )
    is_drawn &= np.isfinite(boxes).all(-1)
    return [
        [corners if seen else None for corners, seen in zip(*each, strict=True)]
        for each in zip(pixels.tolist(), is_drawn.tolist(), strict=True)
    ]


def _draw(image: np.ndarray, corners: list[int], color: np.ndarray) -> None:
    """The four sides, as far as they lie in the image."""
    top, left, bottom, right = corners
    height, width, _ = image.shape
    rows, columns = slice(max(top, 0), bottom + 1), slice(max(left, 0), right + 1)
    if top >= 0:
        image[top, columns] = color
    if bottom < height:
        image[bottom, columns] = color
    if left >= 0:
        image[rows, left] = color
    if right < width:
        image[rows, right] = color


def _drawn(images: torch.Tensor, boxes: torch.Tensor, colors: torch.Tensor) -> torch.Tensor:
    if images.ndim != 4:
        raise ShapeError(f"The rank of the images should be 4, got shape {brackets(images.shape)}")
    if images.shape[3] not in (1, 3, 4):
        raise ShapeError(f"The images must have 1, 3 or 4 channels, got shape {brackets(images.shape)}")
    if boxes.ndim != 3:
        raise ShapeError(f"The rank of the boxes tensor should be 3, got shape {brackets(boxes.shape)}")
    if boxes.shape[2] != 4:
        raise ShapeError(f"The boxes must be [batch size, boxes, 4], got shape {brackets(boxes.shape)}")
    if len(boxes) != len(images):
        raise ShapeError(f"The batch sizes should be the same, but are {len(images)} and {len(boxes)}")
    palette = list(to_numpy(colors[:, : images.shape[3]].to(images.dtype)))
    result = to_numpy(images).copy()
    for image, boxes_of_image in zip(result, _corners(to_numpy(boxes), *images.shape[1:3]), strict=True):
        for corners, color in zip(boxes_of_image, itertools.cycle(palette)):
            if corners is not None:
                _draw(image, corners, color)
    return torch.from_numpy(result).to(images.device)


_DRAWN = np.array(
    [[[0.1, 0.2, 0.8, 0.9], [-0.3, 0.5, 0.5, 1.4]], [[0.6, 0.6, 0.2, 0.2], [0, 0, 1, 1]]], np.float32
)


def _drawn_reference(images, boxes, colors=None):
    """Box after box: all pixels that lie on its sides."""
    result = images.copy()
    rows, columns = np.indices(images.shape[1:3])
    if colors is None or not len(colors):
        colors = np.ones_like(_COLORS) if images.shape[3] == 1 else _COLORS
    for image, image_boxes in zip(result, boxes):
        for number, box in enumerate(image_boxes):
            last = np.array(images.shape[1:3]) - 1
            top, left, bottom, right = np.trunc(box * np.tile(last, 2))
            inside = (top <= rows) & (rows <= bottom) & (left <= columns) & (columns <= right)
            sides = (rows == top) | (rows == bottom) | (columns == left) | (columns == right)
            image[inside & sides] = colors[number % len(colors)][: images.shape[3]]
    return result


draw_boxes_op = Op(
    "DrawBoundingBoxes", "images: T, boxes: float -> output: T", T=_SHORT_FLOATS, differentiable=False
)
draw_boxes_op.shape(_drawn_shape)


@draw_boxes_op.kernel
def _draw_boxes_kernel(images, boxes):
    return _drawn(images, boxes, _default_colors(images))


draw_boxes_op.samples(
    (f32(2, 6, 8, 3), _DRAWN),
    (f32(2, 6, 8, 1), _DRAWN),
    (f32(2, 6, 8, 4), _DRAWN[:, :0]),
    against=_drawn_reference,
)
draw_boxes_op.refuses((f32(6, 8, 3), _DRAWN), "Shape must be rank 4 but is rank 3")

draw_boxes_v2_op = Op(
    "DrawBoundingBoxesV2", "images: T, boxes: float, colors: float -> output: T", T=_SHORT_FLOATS
)
draw_boxes_v2_op.shape(_drawn_shape)


@draw_boxes_v2_op.kernel
def _draw_boxes_v2_kernel(images, boxes, colors):
    if colors.ndim != 2:
        raise ShapeError(f"colors must be a 2-D matrix, got shape {brackets(colors.shape)}")
    if images.ndim == 4 and len(colors) and colors.shape[1] < images.shape[3]:
        channels = images.shape[3]
        raise ShapeError(f"colors must have equal or more channels than the image provided: {channels}")
    return _drawn(images, boxes, colors if len(colors) else _default_colors(images))


draw_boxes_v2_op.gradient(undefined_gradient)
draw_boxes_v2_op.samples(
    (f32(2, 6, 8, 3), _DRAWN, f32(2, 3)),
    (f32(2, 6, 8, 4), _DRAWN, f32(1, 4)),
    (f32(2, 6, 8, 1), _DRAWN, f32(0, 1)),
    against=_drawn_reference,
)
draw_boxes_v2_op.refuses((f32(6, 8, 3), _DRAWN, f32(2, 3)), "Shape must be rank 4 but is rank 3")


@export("image.draw_bounding_boxes")
def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, name: str | None = None, colors: TensorLike | None = None
) -> Tensor:
    """Draws boxes on images.

    Args:
      images: Images [batch, height, width, channels] of float32 or half, with 1, 3 or 4 channels.
      boxes: A float32 tensor [batch, boxes, 4] of [top, left, bottom, right] in parts of the image's size.
      name: A name for the operation.
      colors: A float32 tensor [colours, channels] whose rows are taken in turn; ten colours by default.

    Returns:
      A tensor of the shape and type of `images`.

    Raises:
      ValueError: Where shapes do not fit, or the images have another number of channels.
    """
    if colors is None:
        return draw_boxes_op(images, boxes, name=name)
    return draw_boxes_v2_op(images, boxes, colors, name=name)


# ---------------------------------------------------------------------------------- random crops

_PLACES = types("uint8 int8 int16 int32 int64")
_SAMPLING = {
    "seed": 0,
    "seed2": 0,
    "aspect_ratio_range": attr("list(float)", [0.75, 1.33]),
    "area_range": attr("list(float)", [0.05, 1.0]),
    "max_attempts": 100,
    "use_image_if_no_bounding_boxes": False,
}
_HOST_SAMPLING = {"stateful": True, "on_host": True, "differentiable": False}


def _sampled_shapes(image_size, bounding_boxes, *covered):
    if vector(image_size) is not None and len(image_size) != 3:
        raise ShapeError(f"Dimension must be 3 but is {len(image_size)}")
    *_, corners = of_rank(bounding_boxes, 3).tuple
    if corners not in (None, 4):
        raise ShapeError(f"Dimension must be 4 but is {corners}")
    return [[3], [3], [1, 1, 4]]


class _Words:
    """A stream's 32-bit words, one after the other."""

    def __init__(self, generator: Philox):
        self._generator = generator
        self._block = 0
        self._left: list[int] = []

    def next(self) -> int:
        if not self._left:
            self._left = self._generator.words(self._block, 1)[0].tolist()[::-1]
            self._block += 1
        return self._left.pop()

    def unit(self) -> np.float32:
        """A number in [0, 1)."""
        return np.uint32(self.next() & 0x7FFFFF | 127 << 23).view(np.float32) - np.float32(1)

    def below(self, limit: int) -> int:
        """An integer in [0, limit), all equally likely."""
        if limit & (limit - 1) == 0:
            return self.next() & (limit - 1)
        skewed = 0xFFFFFFFF % limit + 1
        while (word := self.next()) < skewed:
            pass
        return word % limit


def _rounded(number: np.float32) -> int:
    return int(np.rint(np.float32(number)))


def _area(top: int, left: int, bottom: int, right: int) -> int:
    return (bottom - top) * (right - left)


def _shared(box: tuple, other: tuple) -> tuple[int, int, int, int]:
    top, left = max(box[0], other[0]), max(box[1], other[1])
    bottom, right = min(box[2], other[2]), min(box[3], other[3])
    return (0, 0, 0, 0) if top > bottom or left > right else (top, left, bottom, right)


@dataclass(frozen=True)
class _Sampler:
    """What a random part of an image must be like."""

    height: int
    width: int
    aspects: list[np.float32]
    areas: list[np.float32]
    objects: list[tuple[int, int, int, int]]
    covered: np.float32
    attempts: int

    def sample(self, words: _Words) -> tuple[int, int, int, int]:
        """(top, left, bottom, right) of a part; the whole image where none was found."""
        for _ in range(self.attempts):
            aspect = words.unit() * (self.aspects[1] - self.aspects[0]) + self.aspects[0]
            box = self._attempt(aspect, words)
            if box is not None and self._covers(box):
                return box
        return 0, 0, self.height, self.width

    def _attempt(self, aspect: np.float32, words: _Words) -> tuple[int, int, int, int] | None:
        least, most = (area * np.float32(self.width) * np.float32(self.height) for area in self.areas)
        if aspect <= 0 or most <= 0 or least > most or self.width <= 0 or self.height <= 0:
            return None
        height = _rounded(np.sqrt(least / aspect))
        tallest = min(self._tallest(_rounded(np.sqrt(most / aspect)), aspect), self.height)
        height = min(height, tallest)
        if height < tallest:
            height += words.below(tallest - height + 1)
        width = _rounded(height * aspect)
        # Rounding may have put the area just outside of what is wanted.
        if np.float32(width * height) < least:
            height += 1
            width = _rounded(height * aspect)
        if np.float32(width * height) > most:
            height -= 1
            width = _rounded(height * aspect)
        fits = 0 < width <= self.width and 0 < height <= self.height
        if not fits or not least <= np.float32(width * height) <= most:
            return None
        top = words.below(self.height - height) if height < self.height else 0
        left = words.below(self.width - width) if width < self.width else 0
        return top, left, top + height, left + width

    def _tallest(self, height: int, aspect: np.float32) -> int:
        """The greatest height, up to this one, at which the width still fits."""
        if _rounded(height * aspect) <= self.width:
            return height
        height = int((self.width + 0.5 - 1e-7) / float(aspect))
        return height - 1 if _rounded(height * aspect) > self.width else height

    def _covers(self, box: tuple[int, int, int, int]) -> bool:
        """Whether enough of an object is in the box; objects without an area do not count."""
        for thing in self.objects:
            area = _area(*thing)
            if area >= 1 and _area(*_shared(box, thing)) / np.float32(area) >= self.covered:
                return True
        return False


def _checked_sampling(image_size: Any, boxes: torch.Tensor, covered: Any) -> tuple[int, int]:
    if len(vector(image_size, "image_size must be 1-dimensional: ")) != 3:
        raise ShapeError(f"image_size must contain 3 elements [height, width, channels], got {image_size}")
    height, width, _ = image_size
    for word, size in (("height", height), ("width", width)):
        if not 0 <= size < 2**31 - 1:
            wrong = "negative" if size < 0 else ">= int32 max"
            raise ShapeError(f"image {word} cannot be {wrong}, got {size}")
    if boxes.ndim == 3 and boxes.shape[2] != 4:
        raise ShapeError(f"bounding boxes must have shape [4] or [*, 4], got {brackets(boxes.shape)}")
    if boxes.ndim != 3:
        raise ShapeError(f"input boxes must be [batch, boxes, 4], got shape {brackets(boxes.shape)}")
    if scalar(covered, "min_object_covered must be 0-D, got shape ") < 0:
        raise ShapeError(f"Min object covered must be a non-negative scalar, got {covered}")
    wrong = ~((boxes >= 0) & (boxes <= 1)).all(-1)
    if bool(wrong.any()):
        corners = boxes[wrong][0].tolist()
        raise ShapeError(f"All bounding box coordinates must be in [0.0, 1.0]: [{corners}]")
    return height, width


def _checked_ranges(aspects: list[float], areas: list[float], attempts: int) -> tuple[list, list]:
    if len(aspects) != 2 or min(aspects) <= 0 or aspects[0] > aspects[1]:
        raise ShapeError(f"Aspect ratio range must be two growing positive numbers, got {aspects}")
    if len(areas) != 2 or min(areas) <= 0 or max(areas) > 1 or areas[0] > areas[1]:
        raise ShapeError(f"Area range must be two growing numbers in (0.0, 1.0], got {areas}")
    if attempts <= 0:
        raise ShapeError(f"Max attempts must be positive, got {attempts}")
    return [np.float32(value) for value in aspects], [np.float32(value) for value in areas]


def _sampled(
    image_size,
    bounding_boxes,
    *covered_input,
    seed,
    seed2,
    aspect_ratio_range,
    area_range,
    max_attempts,
    use_image_if_no_bounding_boxes,
    node,
    T,
    state,
):
    covered = covered_input[0] if covered_input else node.attrs["min_object_covered"]
    height, width = _checked_sampling(image_size, bounding_boxes, covered)
    aspects, areas = _checked_ranges(aspect_ratio_range, area_range, max_attempts)
    scale = np.array([height, width, height, width], np.float32)
    objects = [
        tuple(box) for box in (to_numpy(bounding_boxes).reshape(-1, 4) * scale).astype(np.int32).tolist()
    ]
    if not objects and not use_image_if_no_bounding_boxes:
        raise ShapeError(
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish "
            "to not provide any bounding boxes."
        )
    objects = objects or [(0, 0, height, width)]
    sampler = _Sampler(height, width, aspects, areas, objects, np.float32(covered), max_attempts)
    stream = state.get("stream") or state.setdefault("stream", Stream(seed, seed2))
    top, left, bottom, right = box = sampler.sample(_Words(stream.reserve_blocks(max_attempts)))
    with np.errstate(invalid="ignore"):  # an image without pixels
        corners = np.array(box, np.float32) / scale
    return [
        torch.tensor([top, left, 0], dtype=T.torch),
        torch.tensor([bottom - top, right - left, -1], dtype=T.torch),
        torch.from_numpy(corners).view(1, 1, 4),
    ]


_IMAGE = np.array([40, 60, 3], np.int32)
_OBJECTS = np.array([[[0.1, 0.2, 0.8, 0.9]], [[0.5, 0.1, 0.7, 0.4]]], np.float32)


def _add_sampling_refusals(op: Op, *covered: float) -> None:
    op.refuses((_IMAGE[:2], _OBJECTS, *covered), "Dimension must be 3 but is 2")
    op.refuses((_IMAGE, _OBJECTS[:, :0], *covered), "No bounding boxes provided", InvalidArgumentError)
    op.refuses(
        (_IMAGE.astype(np.int64) << 36, _OBJECTS, *covered),
        "cannot be >= int32",
        InvalidArgumentError,
    )
    op.refuses((_IMAGE, _OBJECTS * 2, *covered), "must be in [0.0, 1.0]", InvalidArgumentError)


def _sampled_law(image_size, objects, *rest, aspect_ratio_range, area_range, min_object_covered=None):
    """A part of the image, of an area and an aspect in their ranges up to rounding, that has enough of an
    object in it; or, where none was found, the whole image.
    """
    *covered, begin, size, box = rest
    (covered,) = covered or [min_object_covered]
    top, left, bottom, right = box.ravel()
    height, width = image_size[:2]
    scaled = np.array([top, left, bottom - top, right - left]) * np.tile(image_size[:2], 2)
    same = np.allclose(np.concatenate([begin[:2], size[:2]]), scaled)
    claims = [begin[2] == 0, size[2] == -1, same, begin[:2] >= 0, begin[:2] + size[:2] <= image_size[:2]]
    if tuple(size[:2]) == (height, width):
        return claims
    area, aspect = np.prod(size[:2]) / (height * width), size[1] / size[0]
    slack = 1 / size[0]
    whole = np.array([[0, 0, 1, 1]], np.float32)
    things = objects.reshape(-1, 4) if objects.size else whole
    stops, starts = np.minimum(things[:, 2:], [bottom, right]), np.maximum(things[:, :2], [top, left])
    shares = np.prod(np.maximum(stops - starts, 0), 1) / np.prod(things[:, 2:] - things[:, :2], 1)
    return [
        *claims,
        area_range[0] <= area <= area_range[1],
        aspect_ratio_range[0] - slack <= aspect <= aspect_ratio_range[1] + slack,
        shares.max() >= covered - 0.1,
    ]


sample_box_op = Op(
    "SampleDistortedBoundingBox",
    "image_size: T, bounding_boxes: float -> begin: T, size: T, bboxes: float",
    host="image_size",
    T=_PLACES,
    min_object_covered=0.1,
    **_SAMPLING,
    **_HOST_SAMPLING,
)
sample_box_op.shape(_sampled_shapes)
sample_box_op.kernel(_sampled)
sample_box_op.samples(
    (_IMAGE, _OBJECTS, {"seed": 3}),
    (_IMAGE.astype(np.int64), _OBJECTS[:, :0], {"seed2": 2, "use_image_if_no_bounding_boxes": True}),
    law=_sampled_law,
)

sample_box_v2_op = Op(
    "SampleDistortedBoundingBoxV2",
    "image_size: T, bounding_boxes: float, min_object_covered: float -> begin: T, size: T, bboxes: float",
    host="image_size min_object_covered",
    T=_PLACES,
    **_SAMPLING,
    **_HOST_SAMPLING,
)
_add_sampling_refusals(sample_box_op)
sample_box_v2_op.shape(_sampled_shapes)
sample_box_v2_op.kernel(_sampled)
sample_box_v2_op.samples(
    (_IMAGE, _OBJECTS, 0.5, {"seed": 3}),
    (_IMAGE, _OBJECTS, 1.0, {"seed": 3, "max_attempts": 2}),
    (_IMAGE, _OBJECTS, 0.1),
    law=_sampled_law,
)
_add_sampling_refusals(sample_box_v2_op, 0.1)


@export("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draws a part of an image at random that has enough of one of the objects on it.

    Args:
      image_size: Height, width and channels of the image, an integer vector.
      bounding_boxes: A float32 tensor [batch, boxes, 4]: the [top, left, bottom, right] of each object, in
        parts of the image's size.
      seed: The first seed; without seeds every run draws others.
      seed2: The second seed.
      min_object_covered: How much of at least one object must be in the part, between 0 and 1.
      aspect_ratio_range: The least and the largest width / height of the part; [0.75, 1.33] by default.
      area_range: The least and the largest share of the image's area; [0.05, 1] by default.
      max_attempts: After how many attempts the whole image is given; 100 by default.
      use_image_if_no_bounding_boxes: Whether the whole image counts as an object where `bounding_boxes` is
        empty, instead of an error.
      name: A name for the operation.

    Returns:
      `begin` and `size`, two vectors of three elements for `tf.slice`, and `bboxes`, a float32 tensor [1, 1,
      4] for `tf.image.draw_bounding_boxes`.

    Raises:
      ValueError: Where shapes do not fit.
      InvalidArgumentError: In a step, where boxes or ranges are not of that form, or where there is no box.
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        return sample_box_v2_op(
            image_size,
            bounding_boxes,
            min_object_covered,
            seed=seed,
            seed2=seed2,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
            name=name,
        )


random_crop_op = Op(
    "RandomCrop",
    "image: T, size: int64 -> output: T",
    host="size",
    T=(*_PLACES, *types("float double")),
    seed=0,
    seed2=0,
    stateful=True,
    differentiable=False,
)


@random_crop_op.shape
def _random_crop_shape(image, size):
    *_, channels = of_rank(image, 3).tuple
    if vector(size) is None:
        return [None, None, channels]
    if len(size) != 2:
        raise ShapeError(f"Dimension must be 2 but is {len(size)}")
    return [*as_sizes(size), channels]


@random_crop_op.kernel
def _random_crop_kernel(image, size, *, seed, seed2, state):
    if image.ndim != 3 or host_rank(size) != 1 or len(size) != 2:
        raise ShapeError(
            f"image must be 3-D and size [height, width], got {brackets(image.shape)} and {size}"
        )
    spare = [length - wanted for length, wanted in zip(image.shape, size)]
    if min(size) < 0 or min(spare) < 0:
        raise ShapeError(f"image {brackets(image.shape)} must be at least as large as the crop {size}")
    stream = state.get("stream") or state.setdefault("stream", Stream(seed, seed2))
    words = _Words(stream.reserve_blocks(1))
    left, top = (words.next() % (room + 1) if room else 0 for room in reversed(spare))
    return image[top : top + size[0], left : left + size[1]]


def _random_crop_law(image, size, output):
    """The output is the image's part at one of the places at which there is room."""
    windows = np.lib.stride_tricks.sliding_window_view(image, [*size, image.shape[2]])
    return (windows == output).all((-3, -2, -1)).any()


random_crop_op.samples(
    (f32(6, 8, 3), [2, 3], {"seed": 3}),
    (f32(6, 8, 3), [6, 8], {"seed2": 3}),
    (f32(6, 8, 1), [2, 3]),
    law=_random_crop_law,
)
random_crop_op.refuses((f32(6, 8), [2, 3]), "Shape must be rank 3 but is rank 2")
random_crop_op.refuses((f32(6, 8, 3), [7, 3]), "must be at least as large as the crop", InvalidArgumentError)
