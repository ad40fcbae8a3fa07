"""Images resampled along their rows and columns: the arithmetic under the resizing ops and their gradients.

Along each axis an output element is a weighted sum of a few input elements, its `Taps`. A gradient is the
same with the taps transposed: the output elements that an input element went into. Positions are computed in
float32 and in TensorFlow's order, so that an element is never taken from a neighbour of the right one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

_CACHED_ELEMENTS = 1 << 18  # of an image that is worked on at a time: two of them stay in a core's cache


@dataclass(frozen=True)
class Taps:
    """Places and weights, [taps, outputs] each, of what is summed into the outputs along an axis."""

    places: np.ndarray
    weights: np.ndarray

    def transposed(self, size: int) -> Taps:
        """The taps of the gradient: for each of `size` inputs the outputs it went into.

        Inputs have different numbers of them; the missing ones weigh nothing.
        """
        outputs = np.tile(np.arange(self.places.shape[1]), len(self.places))
        inputs, weights = self.places.reshape(-1), self.weights.reshape(-1)
        inputs, outputs, weights = (part[weights != 0] for part in (inputs, outputs, weights))
        order = np.argsort(inputs, kind="stable")
        inputs, outputs, weights = inputs[order], outputs[order], weights[order]
        counts = np.bincount(inputs, minlength=size)
        starts = np.cumsum(counts) - counts
        slots = np.arange(len(inputs)) - starts[inputs]
        shape = (max(counts.max(initial=0), 1), size)
        places = np.zeros(shape, np.int64)
        if len(outputs):
            places[:] = outputs[np.minimum(starts, len(outputs) - 1)]
        spread = np.zeros(shape, self.weights.dtype)
        places[slots, inputs] = outputs
        spread[slots, inputs] = weights
        return Taps(places, spread)

    def per_channel(self, channels: int) -> Taps:
        """The same along an axis whose elements are `channels` numbers next to each other."""
        places = self.places[:, :, None] * channels + np.arange(channels)
        return Taps(places.reshape(len(places), -1), np.repeat(self.weights, channels, axis=1))


# ---------------------------------------------------------------------------------- applying taps


def resample(
    images: torch.Tensor, rows: Taps, columns: Taps, combine: Callable | None = None
) -> torch.Tensor:
    """Images [batch, height, width, channels] resampled; `combine(parts, weights)` adds up the taps."""
    combine = combine or weighted_sum
    batch, height, width, channels = images.shape
    flat = images.reshape(batch, height, width * channels)
    used, places = np.unique(rows.places, return_inverse=True)
    if 4 * len(used) <= 3 * height:  # the others need not be resampled along their columns
        flat = flat.index_select(-2, torch.from_numpy(used).to(images.device))
        rows = Taps(places.reshape(rows.places.shape), rows.weights)
    along_columns = _on_device(columns.per_channel(channels), images, -1)
    along_rows = _on_device(rows, images, -2)
    shape = (batch, rows.places.shape[1], columns.places.shape[1], channels)
    if not images.numel() or 0 in shape:
        return images.new_zeros(shape)
    step = _images_at_a_time(flat)
    if step >= batch:
        return _both_axes(flat, along_rows, along_columns, combine).reshape(shape)
    result = images.new_empty(shape)
    for start in range(0, batch, step):
        part = _both_axes(flat[start : start + step], along_rows, along_columns, combine)
        result[start : start + step] = part.view(-1, *shape[1:])
    return result


def _images_at_a_time(flat: torch.Tensor) -> int:
    return len(flat) if flat.is_cuda else max(1, _CACHED_ELEMENTS // flat[0].numel())


def _both_axes(flat: torch.Tensor, rows: tuple, columns: tuple, combine: Callable) -> torch.Tensor:
    return _one_axis(_one_axis(flat, -1, *columns, combine), -2, *rows, combine)


def _one_axis(flat: torch.Tensor, axis: int, places: list, weights: list, combine: Callable) -> torch.Tensor:
    if axis != -1:
        return combine((flat.index_select(axis, place) for place in places), weights)
    matrix = flat.flatten(
        0, -2
    )  # of matrices, ATen takes columns ten times faster than of what has more axes
    result = combine((matrix.index_select(-1, place) for place in places), weights)
    return result.view(*flat.shape[:-1], -1)


def _on_device(taps: Taps, images: torch.Tensor, axis: int) -> tuple[list, list]:
    places = torch.from_numpy(taps.places).to(images.device)
    weights = torch.from_numpy(taps.weights).to(images.device, images.dtype)
    return list(places), list(weights if axis == -1 else weights.unsqueeze(-1))


def weighted_sum(parts: Iterator[torch.Tensor], weights: list) -> torch.Tensor:
    """The sum of the parts, each times its weight; the first is overwritten."""
    total = next(parts).mul_(weights[0])
    for part, weight in zip(parts, weights[1:], strict=True):
        total.addcmul_(part, weight)
    return total


def only(parts: Iterator[torch.Tensor], weights: list) -> torch.Tensor:
    """The one part that there is."""
    (part,) = parts
    return part


def lerp(parts: Iterator[torch.Tensor], weights: list) -> torch.Tensor:
    """Between two parts: first + (second - first) * weight of the second. As TensorFlow does, it rounds the
    product, too, which `addcmul` does not do on every processor.
    """
    first, second = parts
    return second.sub_(first).mul_(weights[1]).add_(first)


# ---------------------------------------------------------------------------------- places and weights


def scale_of(size: int, new_size: int, align_corners: bool) -> np.float32:
    """Input elements to one output element."""
    if align_corners and new_size > 1:
        return np.float32(size - 1) / np.float32(new_size - 1)
    return np.float32(size) / np.float32(new_size)


def positions(size: int, new_size: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """Where in the input, in float32, each output element lies."""
    scale = scale_of(size, new_size, align_corners)
    numbers = np.arange(new_size, dtype=np.float32)
    if half_pixel_centers:
        return (numbers + np.float32(0.5)) * scale - np.float32(0.5)
    return numbers * scale


@functools.lru_cache(64)
def nearest(size: int, new_size: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """One element each: the one the position lies in, or with `align_corners` the one nearest to it."""
    scale = scale_of(size, new_size, align_corners)
    numbers = np.arange(new_size, dtype=np.float32)
    at = (numbers + np.float32(0.5)) * scale if half_pixel_centers else numbers * scale
    at = np.floor(at.astype(np.float64) + 0.5) if align_corners else np.floor(at)
    places = np.clip(at.astype(np.int64), 0, size - 1).reshape(1, -1)  # with strides that exporters know
    return Taps(places, np.ones(places.shape, np.float32))


@functools.lru_cache(64)
def bilinear(size: int, new_size: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """The two elements around the position."""
    at = positions(size, new_size, align_corners, half_pixel_centers)
    below = np.floor(at)
    part = at - below
    places = np.stack([np.maximum(below, 0), np.minimum(np.ceil(at), size - 1)])
    return Taps(places.astype(np.int64), np.stack([1 - part, part]))


@functools.lru_cache(64)
def bicubic(size: int, new_size: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """The four elements around the position, weighed by a cubic from a table of 1024 steps.

    The older rule (A = -0.75) repeats the edge; the newer one (A = -0.5) leaves out what lies beyond it.
    """
    near, far = _cubic_tables(-0.5 if half_pixel_centers else -0.75)
    at = positions(size, new_size, align_corners, half_pixel_centers)
    base = np.floor(at)
    step = np.rint((at - base) * np.float32(1024)).astype(np.int64)
    weights = np.stack([far[step], near[step], near[1024 - step], far[1024 - step]])
    wanted = base.astype(np.int64) + np.arange(-1, 3)[:, None]
    places = np.clip(wanted, 0, size - 1)
    if half_pixel_centers:
        weights = np.where(places == wanted, weights, np.float32(0))
        weights = normalized(weights)
    return Taps(places, weights)


@functools.lru_cache(2)
def _cubic_tables(a: float) -> tuple[np.ndarray, np.ndarray]:
    """The cubic's values at distances 0 … 1 and 1 … 2."""
    x = np.arange(1025) / 1024
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x += 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return near.astype(np.float32), far.astype(np.float32)


def normalized(weights: np.ndarray) -> np.ndarray:
    """Weights whose sum over the taps is 1; those that cancel out stay as they are."""
    total = weights.sum(0, dtype=np.float32)
    usable = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
    return weights * np.where(usable, 1 / np.where(usable, total, 1), 1).astype(np.float32)


@functools.lru_cache(64)
def area(size: int, new_size: int, align_corners: bool) -> Taps:
    """All elements that the output element covers, each weighed by how much of it is covered."""
    scale = scale_of(size, new_size, align_corners)
    start = np.arange(new_size, dtype=np.float32) * scale
    stop = np.arange(1, new_size + 1, dtype=np.float32) * scale
    first, last = np.floor(start).astype(np.int64), np.ceil(stop).astype(np.int64)
    count = max(int((last - first).max(initial=0)), 1)
    wanted = first + np.arange(count)[:, None]
    covered = np.minimum(wanted + 1, stop) - np.maximum(wanted, start)
    weights = np.where(wanted < last, covered, 0).astype(np.float32)
    return Taps(np.clip(wanted, 0, size - 1), weights / scale)


# ---------------------------------------------------------------------------------- kernels of any scale


def _lanczos(radius: float) -> tuple[float, Callable]:
    def kernel(x: np.ndarray) -> np.ndarray:
        angle = np.float32(np.pi) * np.maximum(x, np.float32(1e-3))
        wave = radius * np.sin(angle) * np.sin(angle / radius) / (angle * angle)
        return np.where(x > radius, 0, np.where(x <= 1e-3, 1, wave))

    return radius, kernel


def _gaussian(x: np.ndarray) -> np.ndarray:
    return np.where(x >= 1.5, 0, np.exp(-x * x / np.float32(2 * 0.5 * 0.5)))


def _box(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0.5, 1, np.where(x == 0.5, 0.5, 0))


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.maximum(1 - x, 0)


def _keys_cubic(x: np.ndarray) -> np.ndarray:
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, (1.5 * x - 2.5) * x * x + 1))


def _mitchell_cubic(x: np.ndarray) -> np.ndarray:
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, (7 / 6 * x - 2) * x * x + 8 / 9))


KERNELS: dict[str, tuple[float, Callable]] = {
    "lanczos1": _lanczos(1.0),
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, _box),
    "triangle": (1.0, _triangle),
    "keyscubic": (2.0, _keys_cubic),
    "mitchellcubic": (2.0, _mitchell_cubic),
}
"""By name: how far the kernel reaches, and its value at a distance."""


@functools.lru_cache(64)
def by_kernel(
    size: int, new_size: int, scale: float, translation: float, kernel_type: str, antialias: bool
) -> Taps:
    """What a kernel around each output element's place in the input covers; nothing outside of it.

    `antialias` widens the kernel where the input is finer than the output.
    """
    radius, kernel = KERNELS[kernel_type]
    inverse = np.float32(1) / np.float32(scale)
    widening = max(inverse, np.float32(1)) if antialias else np.float32(1)
    reach = np.float32(radius) * widening
    shift = -inverse * np.float32(translation)
    at = (np.arange(new_size, dtype=np.float32) + np.float32(0.5)) * inverse + shift
    first = np.clip(np.ceil(at - reach - np.float32(0.5)).astype(np.int64), 0, size - 1)
    last = np.clip(np.floor(at + reach - np.float32(0.5)).astype(np.int64), 0, size - 1)
    inside = (at >= 0) & (at <= size)
    count = max(int(np.where(inside, last - first + 1, 0).max(initial=0)), 1)
    wanted = first + np.arange(count)[:, None]
    distance = np.abs((wanted + np.float32(0.5) - at) / widening).astype(np.float32)
    used = inside & (wanted <= last)
    weights = np.where(used, kernel(distance), 0).astype(np.float32)
    return Taps(np.minimum(wanted, size - 1), normalized(weights))
