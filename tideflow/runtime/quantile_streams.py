"""Approximate quantiles of weighted values that come in batches, in little memory.

A summary is an array with a row for each kept value: the value, its weight, and the least and the greatest
rank that the value may have among all values. Summaries can be merged without loss, and compressed with
a known one. A stream keeps one summary for each power of two of blocks that it has seen.
"""

from __future__ import annotations

import math

import numpy as np

from tideflow.graph import errors
from tideflow.interrupts import Lock

VALUE, WEIGHT, MIN_RANK, MAX_RANK = range(4)  # the columns of a summary
_EMPTY = np.empty((0, 4), np.float32)


def _above(summary: np.ndarray) -> np.ndarray:
    """The least rank of whatever is larger than each value."""
    ranks: np.ndarray = summary[:, MIN_RANK] + summary[:, WEIGHT]
    return ranks


def _below(summary: np.ndarray) -> np.ndarray:
    """The greatest rank of whatever is smaller than each value."""
    ranks: np.ndarray = summary[:, MAX_RANK] - summary[:, WEIGHT]
    return ranks


def _summary_of(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The exact summary of values."""
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    first = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    summary = np.empty((len(first), 4), np.float32)
    summary[:, VALUE] = values[first]
    summary[:, WEIGHT] = np.add.reduceat(weights, first)
    summary[:, MAX_RANK] = np.cumsum(summary[:, WEIGHT], dtype=np.float32)
    summary[0, MIN_RANK] = 0
    summary[1:, MIN_RANK] = summary[:-1, MAX_RANK]
    return summary


def _merged(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The summary of what two summaries stand for."""
    if not len(one) or not len(other):
        return one if len(one) else other
    rows = []
    for mine, theirs in ((one, other), (other, one)):
        places = np.searchsorted(theirs[:, VALUE], mine[:, VALUE])
        shifted = mine.copy()
        shifted[:, MIN_RANK] += np.r_[np.float32(0), _above(theirs)][places]
        shifted[:, MAX_RANK] += np.r_[_below(theirs), theirs[-1, MAX_RANK]][places]
        inside = places.clip(max=len(theirs) - 1)
        same = theirs[inside, VALUE] == mine[:, VALUE]
        if mine is one:
            shifted[same, WEIGHT:] = mine[same, WEIGHT:] + theirs[inside[same], WEIGHT:]
            rows.append(shifted)
        else:
            rows.append(shifted[~same])
    both = np.concatenate(rows)
    return both[np.argsort(both[:, VALUE], kind="stable")]


def _compressed(summary: np.ndarray, size: int, error: float = 0.0) -> np.ndarray:
    """About `size` rows of a summary, with the first and the last; ranks become less exact by `error`."""
    size = max(size, 2)
    count = len(summary)
    if count <= size:
        return summary
    allowed = float(summary[-1, MAX_RANK]) * max(1.0 / size, error)
    below, above = _below(summary).tolist(), _above(summary).tolist()
    kept, skipped, at = [0], 0, 0
    while at + 1 < count:
        following = at + 1
        while (
            following < count
            and skipped < count
            and float(np.float32(below[following] - above[at])) <= allowed
        ):
            skipped += size
            following += 1
        at = max(at + 1, following - 1)
        kept.append(at)
        skipped -= count
    return summary[kept]


def _approximation_error(summary: np.ndarray) -> float:
    """How far off a rank may be, as a fraction of the total weight."""
    own = summary[1:, MAX_RANK] - summary[1:, MIN_RANK] - summary[1:, WEIGHT]
    gaps = _below(summary)[1:] - _above(summary)[:-1]
    largest = np.max(np.r_[np.float32(0), own, gaps])
    return float(largest) / float(summary[-1, MAX_RANK])


def boundaries_of(summary: np.ndarray, count: int) -> np.ndarray:
    """About `count` values that part the values evenly."""
    if not len(summary):
        return summary[:, VALUE]
    error = _approximation_error(summary) + (1.0 / count if count else math.inf)
    values = _compressed(summary, count, float(np.float32(error)))[:, VALUE]
    return values[np.r_[True, values[1:] != values[:-1]]]


def quantiles_of(summary: np.ndarray, count: int) -> np.ndarray:
    """The values at `count` ranks in equal distances, the least and the largest value among them."""
    steps = max(count - 1, 2)
    if not len(summary) or steps + 1 != count:
        raise errors.invalid_argument(
            f"{count} quantiles were asked for, of {len(summary)} values; there must be three or more"
        )
    ranks = np.arange(count).astype(np.float32) * summary[-1, MAX_RANK] / np.float32(steps) * np.float32(2)
    following = np.searchsorted(summary[:, MIN_RANK] + summary[:, MAX_RANK], ranks, side="right").clip(min=1)
    middle = np.r_[_above(summary)[:-1] + _below(summary)[1:], np.float32(np.inf)]
    chosen: np.ndarray = summary[np.where(ranks < middle[following - 1], following - 1, following), VALUE]
    return chosen


class QuantileStream:
    """The summary of values that come one batch after the other.

    Args:
      epsilon: The fraction of the total weight by which a rank may be off.
      max_elements: The number of values that will come at most.
    """

    def __init__(self, epsilon: float, max_elements: int) -> None:
        self._epsilon = epsilon
        self._block = _block_size(epsilon, max_elements)
        self._buffer = min(2 * self._block, max_elements)
        self._levels: list[np.ndarray] = []

    def push_values(self, values: np.ndarray, weights: np.ndarray) -> None:
        """Adds values. Those without a positive weight do not count."""
        counted = ~(weights <= 0)
        values, weights = values[counted], weights[counted]
        for start in range(0, len(values), self._buffer):
            part = slice(start, start + self._buffer)
            self.push_summary(_summary_of(values[part], weights[part]))

    def push_summary(self, summary: np.ndarray) -> None:
        """Adds what a summary stands for. A level that is full is emptied into the one above."""
        summary = _compressed(summary, self._block, self._epsilon)
        level = 0
        while len(summary):
            if len(self._levels) == level:
                self._levels.append(_EMPTY)
            there = self._levels[level]
            summary = _merged(summary, there)
            if not len(there) or len(summary) <= self._block + 1:
                self._levels[level] = summary
                return
            summary = _compressed(summary, self._block, self._epsilon)
            self._levels[level] = _EMPTY
            level += 1

    def summary(self) -> np.ndarray:
        """The summary of everything that has come."""
        total = _EMPTY
        for level in self._levels:
            total = _merged(total, level)
        return total


def _block_size(epsilon: float, max_elements: int) -> int:
    """The number of values in a block: the more levels are needed, the more exact each must be."""
    if not 0 < epsilon < 1:
        raise errors.invalid_argument(f"epsilon must be in (0, 1), but it is {epsilon}")
    if max_elements <= 0:
        raise errors.invalid_argument(f"max_elements must be positive, but it is {max_elements}")
    if epsilon <= np.finfo(np.float64).eps:
        return max(max_elements, 2)
    level, block = 1, 2
    while (block << level) < max_elements:
        block = math.ceil(level / epsilon) + 1
        level += 1
    return block


class QuantileStreams:
    """The streams of the features of a model, and the boundaries that were made of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = Lock()
        self.initialized = False

    def create(self, epsilon: float, max_elements: int, count: int) -> None:
        """Prepares the streams, unless that was done already."""
        with self.lock:
            if self.initialized:
                return
            _block_size(epsilon, max_elements)
            self._epsilon, self._max_elements, self.count = epsilon, max_elements, count
            self._streams: dict[int, QuantileStream] = {}
            self._boundaries: dict[int, np.ndarray] = {}
            self.initialized = True

    def push_summaries(self, summaries: list[np.ndarray]) -> None:
        """Adds a summary to each stream."""
        with self.lock:
            for number, summary in enumerate(summaries):
                if number not in self._streams:
                    self._streams[number] = QuantileStream(self._epsilon, self._max_elements)
                self._streams[number].push_summary(summary)

    def take_summaries(self, count: int) -> list[np.ndarray]:
        """The summaries of the first streams. All streams are empty afterwards."""
        with self.lock:
            streams, self._streams = self._streams, {}
            return [streams[i].summary() if i in streams else _EMPTY for i in range(count)]

    def flush(self, count: int, as_quantiles: bool) -> None:
        """Makes boundaries of the streams, which are empty afterwards."""
        generate = quantiles_of if as_quantiles else boundaries_of
        with self.lock:
            made = {i: generate(stream.summary(), count) for i, stream in self._streams.items()}
            self._streams, self._boundaries = {}, made

    def boundaries(self) -> list[np.ndarray]:
        """The boundaries of each stream."""
        with self.lock:
            return [self._boundaries.get(i, np.empty(0, np.float32)) for i in range(self.count)]

    def set_boundaries(self, boundaries: list[np.ndarray]) -> None:
        """Replaces the boundaries of the first streams."""
        with self.lock:
            self._boundaries.update(enumerate(boundaries))
