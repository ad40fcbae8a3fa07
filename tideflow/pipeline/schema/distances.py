"""How far apart two distributions are, as TFDV measures it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Counts = Mapping[str, float]


def l_infinity(a: Counts, b: Counts) -> tuple[str, float]:
    """The value whose share of the two distributions differs most, and that difference.

    Args:
      a: How often each value occurs.
      b: The same of the other data.
    """
    return _largest_difference(a, b, sum(a.values()), sum(b.values()))


def normalized_absolute_difference(a: Counts, b: Counts) -> tuple[str, float]:
    """The value whose counts differ most, and that difference by the number of all values of both.

    Args:
      a: How often each value occurs.
      b: The same of the other data.
    """
    total = sum(a.values()) + sum(b.values())
    return _largest_difference(a, b, total, total)


def _largest_difference(a: Counts, b: Counts, total_a: float, total_b: float) -> tuple[str, float]:
    found = ("", 0.0)
    for value in sorted({*a, *b}, key=str.encode):
        share_a = a.get(value, 0.0) / total_a if total_a else 0.0
        share_b = b.get(value, 0.0) / total_b if total_b else 0.0
        if abs(share_a - share_b) >= found[1]:  # of equal ones the last
            found = (value, abs(share_a - share_b))
    return found


def jensen_shannon_of_counts(a: Counts, b: Counts) -> float | None:
    """The Jensen-Shannon divergence of two distributions of values, between 0 and 1 (logarithms of base 2).

    Args:
      a: How often each value occurs.
      b: The same of the other data.

    Returns:
      The divergence, or None where a distribution is empty or has a count that is not positive.
    """
    if not a or not b or min(*a.values(), *b.values(), math.inf) <= 0:
        return None
    values = sorted({*a, *b}, key=str.encode)
    return _divergence([a.get(value, 0.0) for value in values], [b.get(value, 0.0) for value in values])


def jensen_shannon_of_histograms(a: Any, b: Any) -> float | None:
    """The Jensen-Shannon divergence of two histograms, brought to common boundaries.

    The mass of a bucket is spread evenly over it. Buckets of no width, infinite values and NaN count as
    values of their own; infinite values and NaN of the two histograms never match, and NaN are not counted
    where the boundaries differ.

    Args:
      a: A `Histogram`.
      b: A `Histogram`.

    Returns:
      The divergence, or None where the histograms are of different types or one is empty.
    """
    if a.type != b.type:
        return None
    first, second = _parts(a), _parts(b)
    boundaries = sorted({*first.boundaries, *second.boundaries})
    points = sorted({*first.points, *second.points})
    masses = [
        _spread(part.buckets, boundaries) + [part.points.get(point, 0.0) for point in points]
        for part in (first, second)
    ]
    for infinite in ((first.infinite, 0.0), (0.0, second.infinite)):
        if any(infinite):
            masses[0].append(infinite[0])
            masses[1].append(infinite[1])
    # TFDV loses the number of NaN when it changes boundaries.
    if first.boundaries == second.boundaries and (a.num_nan or b.num_nan):
        masses[0] += [0.0, float(a.num_nan)]
        masses[1] += [float(b.num_nan), 0.0]
    if not sum(masses[0]) or not sum(masses[1]):
        return None
    return _divergence(*masses)


class _Parts(NamedTuple):
    buckets: list[tuple[float, float, float]]
    points: dict[float, float]
    infinite: float

    @property
    def boundaries(self) -> set[float]:
        return {edge for low, high, _ in self.buckets for edge in (low, high)}


def _parts(histogram: Any) -> _Parts:
    buckets: list[tuple[float, float, float]] = []
    points: dict[float, float] = {}
    infinite = 0.0
    for bucket in histogram.buckets:
        low, high, count = bucket.low_value, bucket.high_value, bucket.sample_count
        if not (math.isfinite(low) and math.isfinite(high)):
            infinite += count
        elif low == high:
            points[low] = points.get(low, 0.0) + count
        else:
            buckets.append((low, high, count))
    return _Parts(buckets, points, infinite)


def _spread(buckets: Sequence[tuple[float, float, float]], boundaries: Sequence[float]) -> list[float]:
    """The mass of buckets between each two neighbouring boundaries, which hold all edges of the buckets."""
    masses = [0.0] * max(len(boundaries) - 1, 0)
    index = {boundary: i for i, boundary in enumerate(boundaries)}
    for low, high, count in buckets:
        for i in range(index[low], index[high]):
            masses[i] += (boundaries[i + 1] - boundaries[i]) / (high - low) * count
    return masses


def _divergence(a: Sequence[float], b: Sequence[float]) -> float:
    total_a, total_b = sum(a), sum(b)
    result = 0.0
    for count_a, count_b in zip(a, b, strict=True):
        p, q = count_a / total_a, count_b / total_b
        middle = (p + q) / 2
        result += p * math.log2(p / middle) if p > 0 else 0.0
        result += q * math.log2(q / middle) if q > 0 else 0.0
    return min(result / 2, 1.0)
