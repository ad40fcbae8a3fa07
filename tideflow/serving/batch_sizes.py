"""How many rows a batch may have: fixed, or learned from how long batches take. No clocks inside.

A replica's queue asks its policy for the `limit` of the next batch, and tells it how long each batch took.
A call may wait for one batch and be computed in the next, so a batch should take half of what a call may.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np


class BatchSizes(Protocol):
    """The most rows that a batch may have."""

    limit: int

    def measured(self, rows: int, seconds: float, is_full: bool) -> None:
        """A batch of so many rows took so long. It was full if more rows would not have gone into it."""


@dataclass
class FixedSize:
    """Always the same limit."""

    limit: int

    def measured(self, rows: int, seconds: float, is_full: bool) -> None:
        """Changes nothing."""


@dataclass
class AIMD:
    """Adds a step while full batches keep within the objective, and cuts by a tenth when one overruns it.

    Until the first overrun the limit doubles where twice the rows would be done in time, if every row takes
    as long: a model of a microsecond a row is near its size within a dozen batches. Later that takes
    `patience` such batches in a row: the machine was slow, and is not any more. One overrun of a batch far
    below the limit passes for a hiccup of the machine; a second one in a row counts.
    """

    objective: float  # seconds that a batch may take
    step: int = 1
    cut: float = 0.9
    limit: int = 1
    largest: int = 1 << 20
    patience: int = 5
    _has_overrun: bool = field(default=False, repr=False)  # whether the batch before did
    _is_learning: bool = field(default=True, repr=False)  # whether none has been cut yet
    _quick: int = field(default=0, repr=False)  # full batches in a row that took less than half of the time

    def measured(self, rows: int, seconds: float, is_full: bool) -> None:
        """Grows the limit, if it was what kept the batch small, or cuts it."""
        had_overrun, self._has_overrun = self._has_overrun, seconds > self.objective
        if self._has_overrun:
            # A batch above the limit is one large call: that it is slow says nothing about the limit.
            self._quick = 0
            if rows <= self.limit and (2 * rows > self.limit or had_overrun):
                self._is_learning = False
                self.limit = max(1, min(self.limit - 1, int(self.limit * self.cut)))
        elif is_full:
            self._quick = self._quick + 1 if 2 * seconds <= self.objective else 0
            proven = max(self.limit, rows)
            if self._quick >= (1 if self._is_learning else self.patience):
                self._quick = 0
                self.limit = min(2 * proven, self.largest)
            else:
                self.limit = min(proven + self.step, self.largest)


@dataclass
class QuantileRegression:
    """The size at which a high quantile of the time, as a line over the rows, meets the objective.

    The line is fitted to the latest batches. It is trusted up to twice the largest of them, so that the limit
    finds its way from 1, and is fitted again after every `every` batches.
    """

    objective: float  # seconds that a batch may take
    quantile: float = 0.99
    limit: int = 1
    largest: int = 1 << 20
    every: int = 8
    _latest: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=256), repr=False)
    _unseen: int = field(default=0, repr=False)

    def measured(self, rows: int, seconds: float, is_full: bool) -> None:
        """Keeps the batch, and fits the line where enough have come since the last time."""
        self._latest.append((rows, seconds))
        self._unseen += 1
        if self._unseen >= min(self.every, len(self._latest)):
            self._unseen = 0
            self.limit = self._fitted()

    def _fitted(self) -> int:
        rows, seconds = np.array(self._latest, np.float64).T
        intercept, slope = quantile_line(rows, seconds, self.quantile)
        if intercept + slope > self.objective:
            # Even one row would overrun: hiccups of the machine, not sizes. The median sees past them.
            intercept, slope = quantile_line(rows, seconds, 0.5)
        trusted = 2 * int(rows.max())
        if slope <= 0:
            meets = trusted if intercept <= self.objective else int(rows.min()) // 2
        else:
            meets = int(min((self.objective - intercept) / slope, trusted))
        return max(1, min(meets, trusted, self.largest))


def quantile_line(x: np.ndarray, y: np.ndarray, quantile: float, turns: int = 40) -> tuple[float, float]:
    """Intercept and slope of the line under which a share of the points lies (least squares, reweighted)."""
    center = x.mean()
    offset = x - center
    scale = max(float(np.abs(y).max()), 1e-12)
    weights = np.ones_like(y)
    intercept = slope = 0.0
    for _ in range(turns):
        total = weights.sum()
        mean_x, mean_y = (weights @ offset) / total, (weights @ y) / total
        spread = weights @ (offset - mean_x) ** 2
        slope = float(weights @ ((offset - mean_x) * (y - mean_y)) / spread) if spread > 1e-12 else 0.0
        intercept = float(mean_y - slope * mean_x)
        above = y - (intercept + slope * offset)
        weights = np.where(above > 0, quantile, 1 - quantile) / np.maximum(np.abs(above), 1e-6 * scale)
    return intercept - slope * float(center), slope
