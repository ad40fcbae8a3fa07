"""Histograms of numbers, made of their quantiles as TensorFlow Data Validation makes them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tideflow.pipeline.engine.quantiles import Quantiles
from tideflow.pipeline.messages.statistics import Histogram

FINER = 100  # quantiles for each bucket of a histogram of equal widths


def quantiles_histogram(boundaries: np.ndarray, weights: np.ndarray) -> Any:
    """A histogram with a bucket between each two boundaries, given the weight up to each."""
    histogram = Histogram(type=Histogram.QUANTILES)
    _fill(histogram, boundaries[:-1], boundaries[1:], _bucket_weights(boundaries, weights))
    return histogram


def number_of_values_histogram(quantiles: Quantiles, buckets: int) -> Any:
    """A histogram of how many values a row has."""
    return quantiles_histogram(*quantiles.boundaries(buckets))


def coarser(boundaries: np.ndarray, weights: np.ndarray, factor: int) -> tuple[np.ndarray, np.ndarray]:
    """Every so many boundaries of all."""
    chosen = np.arange(0, len(boundaries), factor)
    return boundaries[chosen], weights[chosen]


def median(boundaries: np.ndarray) -> float:
    """The number in the middle."""
    middle = len(boundaries) // 2
    if len(boundaries) % 2:
        return float(boundaries[middle])
    return float((boundaries[middle - 1] + boundaries[middle]) / 2)


def equal_width_histogram(
    boundaries: np.ndarray,
    weights: np.ndarray,
    finite_min: float,
    finite_max: float,
    buckets: int,
    infinite_weight: float = 0.0,
) -> Any:
    """A histogram of buckets of equal width, in which the quantiles' weight is spread evenly.

    Infinities have buckets of their own.

    Args:
      boundaries: Many quantiles.
      weights: The weight up to each.
      finite_min: The least number that is not infinite.
      finite_max: The largest.
      buckets: How many there are.
      infinite_weight: The weight of the numbers that are plus infinity.
    """
    histogram = Histogram(type=Histogram.STANDARD)
    if not np.isfinite(finite_min) and not np.isfinite(finite_max):
        histogram.buckets.add(low_value=finite_min, high_value=finite_max, sample_count=weights[-1])
        return histogram
    finite, upto, below = _without_infinities(boundaries, weights, finite_max, infinite_weight)
    edges = np.array([finite_min, finite_max])
    if finite_min != finite_max:
        with np.errstate(over="ignore", invalid="ignore"):
            edges = np.linspace(finite_min, finite_max, buckets + 1)
        if not np.isfinite(edges).all():
            return histogram
    if below:
        histogram.buckets.add(low_value=-np.inf, high_value=-np.inf, sample_count=below)
    counts = _spread(finite[:-1], finite[1:], _bucket_weights(finite, upto), edges)
    _fill(histogram, edges[:-1], edges[1:], counts)
    if infinite_weight:
        histogram.buckets.add(low_value=np.inf, high_value=np.inf, sample_count=infinite_weight)
    return histogram


def _bucket_weights(boundaries: np.ndarray, upto: np.ndarray) -> np.ndarray:
    """The weight between each two boundaries. Buckets with the same upper boundary share theirs evenly."""
    if len(boundaries) < 2:
        return np.zeros(0)
    low, high = boundaries[:-1], boundaries[1:]
    upto = upto.astype(np.float64)
    begins = np.flatnonzero(np.append(True, high[1:] != high[:-1]))
    sizes = np.diff(np.append(begins, len(high)))
    weights = np.repeat(np.add.reduceat(np.diff(upto), begins) / sizes, sizes)
    # The weight of the least number goes to the first bucket, and to those that are like it.
    others = np.flatnonzero((low != low[0]) | (high != high[0]))
    alike = int(others[0]) if len(others) else len(low)
    weights[:alike] += upto[0] / alike
    return weights


def _without_infinities(
    boundaries: np.ndarray, weights: np.ndarray, finite_max: float, infinite_weight: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Finite boundaries, the weight of finite numbers up to each, and the weight of minus infinity."""
    below = 0.0
    first = int(np.searchsorted(boundaries, -np.inf, side="right"))
    if first:
        below = float(weights[first - 1])
        boundaries, weights = boundaries[first:], weights[first:] - below
    if infinite_weight:
        last = int(np.searchsorted(boundaries, np.inf, side="left"))
        total = weights[-1] - infinite_weight
        boundaries = np.append(boundaries[:last], finite_max)
        weights = np.append(weights[:last], total)
    return boundaries, weights, below


def _spread(low: np.ndarray, high: np.ndarray, weights: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The weight between each two edges, if it is spread evenly between `low` and `high`."""
    counts = np.zeros(len(edges) - 1)
    is_point = low == high
    width = np.where(is_point, 1.0, high - low)
    for at, (begin, end) in enumerate(pairwise(edges.tolist())):
        after = low >= begin if at == 0 else low > begin
        within = np.clip((np.minimum(end, high) - np.maximum(begin, low)) / width, 0, None)
        counts[at] = np.sum(weights * np.where(is_point, after & (high <= end), within))
    return counts


def _fill(histogram: Any, low: np.ndarray, high: np.ndarray, counts: np.ndarray) -> None:
    for begin, end, count in zip(low.tolist(), high.tolist(), counts.tolist()):
        histogram.buckets.add(low_value=begin, high_value=end, sample_count=count)
