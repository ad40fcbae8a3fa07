"""Numbers about a tensor's values, in one pass over pieces of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tideflow.inspect.report import number

_PIECE = 1 << 20  # values that are looked at together
_BARS = "▁▂▃▄▅▆▇█"
_BINS = 40


@dataclass(frozen=True)
class Statistics:
    """Of the finite values: least, mean, greatest, Euclidean norm; and how many are not finite."""

    least: float | None
    mean: float | None
    greatest: float | None
    norm: float | None
    nans: int
    infinities: int

    def cells(self) -> list[str]:
        """In words, in the order of COLUMNS."""
        strange = [f"{n} {word}!" for n, word in ((self.nans, "NaN"), (self.infinities, "inf")) if n]
        return [*map(number, (self.least, self.mean, self.greatest, self.norm)), " ".join(strange)]


COLUMNS = ("min", "mean", "max", "norm", "not finite")


def statistics_of(value: np.ndarray) -> Statistics | None:
    """Statistics of numbers; None of strings and of nothing."""
    if value.dtype == object or not value.size:
        return None
    least, greatest, total, squares, count, nans, infinities = math.inf, -math.inf, 0.0, 0.0, 0, 0, 0
    flat = value.reshape(-1)
    for at in range(0, flat.size, _PIECE):
        piece = _as_reals(flat[at : at + _PIECE])
        sound = np.isfinite(piece)
        finite = piece
        if not sound.all():
            finite = piece[sound]
            nans += int(np.isnan(piece).sum())
            infinities += int(np.isinf(piece).sum())
        if finite.size:
            least, greatest = min(least, float(finite.min())), max(greatest, float(finite.max()))
            total += float(finite.sum())
            squares += float(finite @ finite)
            count += finite.size
    if not count:
        return Statistics(None, None, None, None, nans, infinities)
    return Statistics(least, total / count, greatest, math.sqrt(squares), nans, infinities)


def _as_reals(values: np.ndarray) -> np.ndarray:
    """As float64; complex numbers by their absolute values."""
    return np.abs(values).astype(np.float64) if values.dtype.kind == "c" else values.astype(np.float64)


def difference(one: np.ndarray, other: np.ndarray) -> tuple[float, float, int]:
    """Of the difference of two arrays of one shape: norm, greatest value, and how many values differ."""
    squares = greatest = 0.0
    count = 0
    one, other = one.reshape(-1), other.reshape(-1)
    for at in range(0, one.size, _PIECE):
        a, b = one[at : at + _PIECE], other[at : at + _PIECE]
        changed = int(np.sum(a != b if a.dtype == object else _bits(a) != _bits(b)))
        count += changed
        if changed and a.dtype != object:
            with np.errstate(invalid="ignore"):
                gap = np.abs(_as_reals(a) - _as_reals(b))
            gap = gap[np.isfinite(gap)]
            squares += float(gap @ gap)
            greatest = max(greatest, float(gap.max(initial=0.0)))
    return math.sqrt(squares), greatest, count


def _bits(values: np.ndarray) -> np.ndarray:
    """Values as bits, which differ only where they do: a NaN is equal to itself."""
    return values.view(f"{'u' if values.itemsize <= 8 else 'V'}{values.itemsize}")


def histogram_text(value: np.ndarray, statistics: Statistics) -> str:
    """How values are distributed, as a line of bars between the least and the greatest."""
    if statistics.least is None or statistics.least == statistics.greatest:
        return ""
    bounds = statistics.least, statistics.greatest
    counts = np.zeros(_BINS, np.int64)
    flat = value.reshape(-1)
    for at in range(0, flat.size, _PIECE):
        counts += np.histogram(_as_reals(flat[at : at + _PIECE]), _BINS, bounds)[0]
    heights = np.ceil(counts / counts.max() * (len(_BARS) - 1)).astype(int)
    bars = "".join(_BARS[height] for height in heights)
    return f"{number(bounds[0])} {bars} {number(bounds[1])}"
