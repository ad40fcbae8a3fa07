"""Stereograms of random dots: pictures in which eyes that look behind them see depths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.types import types

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, TensorLike

_IMAGE, _WINDOW = [1024, 768, 1], [1022, 757]

single_image_random_dot_stereograms_op = Op(
    "SingleImageRandomDotStereograms",
    "depth_values: T -> image: uint8",
    T=types("double float int64 int32"),
    hidden_surface_removal=True,
    convergence_dots_size=8,
    dots_per_inch=72,
    eye_separation=2.5,
    mu=0.3333,
    normalize=True,
    normalize_max=-100.0,
    normalize_min=100.0,
    border_level=0.0,
    number_colors=256,
    output_image_shape=attr("shape", _IMAGE),
    output_data_window=attr("shape", _WINDOW),
    differentiable=False,
)


def _sizes(shape: Any, count: int, name: str) -> list[int]:
    sizes = list(TensorShape(shape).tuple or ())
    if len(sizes) != count or not all(sizes):
        raise ShapeError(f"{name} must have {count} sizes, all of them known and not 0: got {sizes}")
    return sizes


@single_image_random_dot_stereograms_op.shape
def _single_image_random_dot_stereograms_shape(depth_values, *, number_colors, output_image_shape):
    width, height, channels = _sizes(output_image_shape, 3, "output_image_shape")
    return [height, width, 3 if number_colors > 256 else channels]


@single_image_random_dot_stereograms_op.kernel
def _single_image_random_dot_stereograms_kernel(
    depth_values,
    *,
    hidden_surface_removal,
    convergence_dots_size,
    dots_per_inch,
    eye_separation,
    mu,
    normalize,
    normalize_max,
    normalize_min,
    border_level,
    number_colors,
    output_image_shape,
    output_data_window,
):
    if depth_values.dim() != 2:
        raise ShapeError(f"depth_values must be a matrix, not of shape {list(depth_values.shape)}")
    depths = depth_values.double().cpu().numpy()
    if normalize:
        depths = _normalized(depths, normalize_min, normalize_max)
    width, height, channels = _sizes(output_image_shape, 3, "output_image_shape")
    picture = _Picture(
        width,
        height,
        window=_sizes(output_data_window, 2, "output_data_window"),
        eyes=int(eye_separation * dots_per_inch),
        mu=mu,
        border=border_level,
        mark=convergence_dots_size,
        removes_hidden=hidden_surface_removal,
    )
    drawn = picture.drawn(np.clip(np.nan_to_num(depths), 0.0, 1.0), number_colors, channels)
    return torch.from_numpy(drawn).to(depth_values.device)


single_image_random_dot_stereograms_op.samples(covered_by="tests/contrib/test_image.py")


def _normalized(depths: np.ndarray, least: float, most: float) -> np.ndarray:
    """Depths of which the least becomes 0, and the greatest 1."""
    if most < least and depths.size:
        least, most = depths.min(), depths.max()
    with np.errstate(all="ignore"):
        return (depths - least) / np.float64(most - least)


class _Picture:
    """Which of a picture's dots must look the same, by Thimbleby, Inglis and Witten (1994).

    Args:
      width: How many dots it is wide.
      height: How many dots it is high.
      window: The width and height of the part of it that shows depths.
      eyes: How many dots the eyes are apart.
      mu: The depth of the scene, as a part of the distance to it.
      border: The depth around the window.
      mark: The size of the two squares below.
      removes_hidden: Whether points are left out that nearer ones hide.
    """

    def __init__(
        self,
        width: int,
        height: int,
        window: list[int],
        eyes: int,
        mu: float,
        border: float,
        mark: int,
        removes_hidden: bool,
    ):
        self._width, self._height, self._window = width, height, window
        self._eyes, self._mu, self._border = eyes, mu, border
        self._mark, self._removes_hidden = mark, removes_hidden
        free = height - window[1]
        self._top = max(0, free - mark) // 3 if mark > 0 else int(free / 2)
        self._left = int((width - window[0]) / 2)

    def drawn(self, depths: np.ndarray, colors: int, channels: int) -> np.ndarray:
        """The picture of depths from 0 to 1, [height, width, channels]."""
        same = self._equal_dots(self._depths_of_dots(depths))
        sizes = (self._height, self._width, 3 if colors > 256 else channels)
        image = np.random.default_rng().integers(256, size=sizes, dtype=np.uint8)
        if colors == 2:
            image = np.where(image % 2, np.uint8(255), np.uint8(0))
        rows = np.arange(self._height)
        for x in reversed(range(self._width)):
            image[:, x] = image[rows, same[:, x]]
        self._add_marks(image)
        return image

    def _depths_of_dots(self, depths: np.ndarray) -> np.ndarray:
        """The depth behind each dot, that of the border around the window."""
        x = depths.shape[1] * (np.arange(self._width) - self._left) / self._window[0]
        y = depths.shape[0] * (np.arange(self._height) - self._top) / self._window[1]
        inside_x, inside_y = (x >= 0) & (x < depths.shape[1]), (y >= 0) & (y < depths.shape[0])
        found = np.full([self._height, self._width], float(self._border))
        places = np.ix_(y[inside_y].astype(int), x[inside_x].astype(int))
        found[np.ix_(inside_y, inside_x)] = depths[places]
        return found

    def _separation(self, depths: Any) -> np.ndarray:
        """How far from each other the two eyes see a point of this depth, in dots."""
        return ((1 - self._mu * depths) * self._eyes / (2 - self._mu * depths) + 0.5).astype(int)

    def _equal_dots(self, depths: np.ndarray) -> np.ndarray:
        """For each dot one further right in its row that it must equal, or itself."""
        apart = self._separation(depths)
        lefts = np.arange(self._width) - apart // 2
        rights = lefts + apart
        linked = (lefts >= 0) & (rights < self._width)
        if self._removes_hidden:
            linked &= self._visible(depths)
        same = np.tile(np.arange(self._width), [self._height, 1])
        for x in range(self._width):
            rows = np.flatnonzero(linked[:, x])
            _link(same, rows, lefts[rows, x], rights[rows, x])
        return same

    def _visible(self, depths: np.ndarray) -> np.ndarray:
        """Whether both eyes see a point, and nothing nearer hides it."""
        reach = int(abs(self._mu * self._eyes)) + 2
        around = np.pad(depths, [(0, 0), (reach, reach)], constant_values=self._border)
        with np.errstate(all="ignore"):
            slope = 2 * (2 - self._mu * depths) / (self._mu * self._eyes)
        visible = np.ones(depths.shape, bool)
        undecided = visible.copy()
        for step in range(1, reach + 1):
            line = depths + slope * step
            left, right = (around[:, begin : begin + self._width] for begin in (reach - step, reach + step))
            visible &= ~undecided | ((left < line) & (right < line))
            undecided &= visible & (line < 1)
            if not undecided.any():
                break
        return visible

    def _add_marks(self, image: np.ndarray) -> None:
        """Two black squares below, which look like one to eyes that are right."""
        far = int(self._separation(np.array(0.0)))
        last = self._height - self._top
        for center in (self._width // 2 - far // 2, self._width // 2 + far // 2):
            begin = center - self._mark // 2
            image[max(last - self._mark, 0) : last, max(begin, 0) : max(begin + self._mark, 0)] = 0


def _link(same: np.ndarray, rows: np.ndarray, lefts: np.ndarray, rights: np.ndarray) -> None:
    """Lets a dot on the left of each row equal one on the right, and all that these equal already."""
    while len(rows):
        next_ = same[rows, lefts]
        done = (next_ == lefts) | (next_ == rights)
        same[rows[done], lefts[done]] = rights[done]
        rows, lefts, rights, next_ = (each[~done] for each in (rows, lefts, rights, next_))
        crossed = next_ >= rights
        same[rows[crossed], lefts[crossed]] = rights[crossed]
        lefts, rights = np.where(crossed, rights, next_), np.where(crossed, next_, rights)


@export("contrib.image.single_image_random_dot_stereograms")
def single_image_random_dot_stereograms(
    depth_values: TensorLike,
    hidden_surface_removal: bool | None = None,
    convergence_dots_size: int | None = None,
    dots_per_inch: int | None = None,
    eye_separation: float | None = None,
    mu: float | None = None,
    normalize: bool | None = None,
    normalize_max: float | None = None,
    normalize_min: float | None = None,
    border_level: float | None = None,
    number_colors: int | None = None,
    output_image_shape: ShapeLike | None = None,
    output_data_window: ShapeLike | None = None,
) -> Tensor:
    """Draws random dots in which eyes that look behind the picture see depths.

    Args:
      depth_values: A matrix of depths, the far ones less than the near ones.
      hidden_surface_removal: Whether points are left out that nearer ones hide from an eye; True if None.
      convergence_dots_size: The size of the two squares that help eyes to find the picture, 8 if None; 0 for
        none.
      dots_per_inch: How many dots an inch has where the picture is seen, 72 if None.
      eye_separation: How many inches the eyes are apart, 2.5 if None.
      mu: The depth of the scene, as a part of the distance to it, 0.3333 if None.
      normalize: Whether depths are scaled to be from 0 to 1; True if None.
      normalize_max: The depth that becomes 1. If it is less than `normalize_min`, as by default, that is the
        greatest depth, and the least one becomes 0.
      normalize_min: The depth that becomes 0, likewise.
      border_level: The depth around the window, from 0, far (if None), to 1, near.
      number_colors: 2 for black and white, 256 (if None) for gray, more for colors.
      output_image_shape: The width, height and channels of the picture, `[1024, 768, 1]` if None.
      output_data_window: The width and height of the part of it that shows depths, `[1022, 757]` if None.

    Returns:
      A picture of uint8, [height, width, channels].

    Raises:
      ValueError: If the shapes are not fully known.
    """
    given = {
        "hidden_surface_removal": hidden_surface_removal,
        "convergence_dots_size": convergence_dots_size,
        "dots_per_inch": dots_per_inch,
        "eye_separation": eye_separation,
        "mu": mu,
        "normalize": normalize,
        "normalize_max": normalize_max,
        "normalize_min": normalize_min,
        "border_level": border_level,
        "number_colors": number_colors,
        "output_image_shape": output_image_shape,
        "output_data_window": output_data_window,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    return single_image_random_dot_stereograms_op(depth_values, **settings)
