"""Mean and variance of numbers, merged without cancellation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass
class Moments:
    """Of numbers, weighted or not: their weight (or number), mean, and sum of squared distances from it."""

    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray | None = None) -> Moments:
        """The moments of float64 numbers."""
        if weights is None:
            weight = float(len(values))
            total = float(values.sum())
        else:
            weight = float(weights.sum())
            total = float((values * weights).sum())
        if not weight:
            return cls()
        mean = total / weight
        squares = values - mean
        squares *= squares
        if weights is not None:
            squares *= weights
        return cls(weight, mean, float(squares.sum()))  # a dot product would wake BLAS's threads

    def merge(self, others: Iterable[Moments]) -> Moments:
        """Adds the moments of other numbers; returns self."""
        for other in others:
            weight = self.weight + other.weight
            if not weight:
                continue
            distance = other.mean - self.mean
            share = other.weight / weight
            self.squares += other.squares + distance * distance * self.weight * share
            self.mean += distance * share
            self.weight = weight
        return self

    @property
    def variance(self) -> float:
        """The population variance."""
        return self.squares / self.weight if self.weight else 0.0
