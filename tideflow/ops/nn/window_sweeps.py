"""Maxima and sums of what windows cover, along one axis after the other. On a CPU, comparing or adding whole
slices takes a fraction of the time in which ATen's kernels walk through each window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch


class Part(NamedTuple):
    """The places, from one to another, at which an element of each window lies inside of the image; and which
    element that is at the first of them.
    """

    first: int
    end: int
    begin: int


class Sweep(NamedTuple):
    """Windows along one axis: `places` of them begin every `stride` elements, `before` elements outside."""

    axis: int
    size: int
    width: int
    stride: int
    before: int
    places: int

    def parts(self) -> list[Part]:
        """A part for each element of a window; those that lie inside at most places come first."""
        parts = []
        for offset in range(self.width):
            first = max(0, -(-(self.before - offset) // self.stride))
            end = min(self.places, (self.size - 1 + self.before - offset) // self.stride + 1)
            if first < end:
                parts.append(Part(first, end, first * self.stride - self.before + offset))
        return sorted(parts, key=lambda part: part.first - part.end)

    def is_inside(self) -> bool:
        """Whether one element of each window lies inside of the image."""
        return any(part[:2] == (0, self.places) for part in self.parts())

    def covered(self) -> list[int]:
        """How many elements of the image each window covers."""
        begins = [place * self.stride - self.before for place in range(self.places)]
        return [min(begin + self.width, self.size) - max(begin, 0) for begin in begins]

    def elements(self, image: torch.Tensor, part: Part) -> torch.Tensor:
        """The image's elements in a part, one for each place."""
        last = part.begin + (part.end - part.first - 1) * self.stride + 1
        return image[(*(slice(None),) * self.axis, slice(part.begin, last, self.stride))]


def swept(image: torch.Tensor, sweeps: Sequence[Sweep], combine: Callable[..., torch.Tensor]) -> torch.Tensor:
    """`combine` (`torch.maximum` or `torch.add`) of the elements of each window that lie inside."""
    for sweep in sweeps:
        image = _swept(image, sweep, combine)
    return image


def _swept(image: torch.Tensor, sweep: Sweep, combine: Callable[..., torch.Tensor]) -> torch.Tensor:
    """One element of each window, combined with the second, then with the others."""
    axis, (all_places, *others) = sweep.axis, sweep.parts()
    start = sweep.elements(image, all_places)
    if not others:
        return start
    (first, end, _), *_ = others
    if end - first == sweep.places:
        result = combine(start, sweep.elements(image, others.pop(0)))
    else:
        result = start.clone()
    for part in others:
        target = result.narrow(axis, part.first, part.end - part.first)
        combine(target, sweep.elements(image, part), out=target)
    return result
