"""The boundaries between buckets of equal weight, of all values or of those of each key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tideflow.pipeline.engine import quantiles
from tideflow.pipeline.engine.accumulators import Accumulator
from tideflow.pipeline.transform.reductions import PerKey


@dataclass(frozen=True)
class Boundaries(Accumulator):
    """The values that part all values into buckets with equal weight. NaN is left out.

    Its blocks are values, and their weights where there are any.

    Args:
      buckets: The number of buckets.
      features: How many values each row has that are looked at separately; None takes all values together.
    """

    buckets: int
    features: int | None = None

    def create(self) -> list[quantiles.Quantiles]:
        return [quantiles.Quantiles() for _ in range(1 if self.features is None else self.features)]

    def add(self, state: list[quantiles.Quantiles], block: Any) -> list[quantiles.Quantiles]:
        if not block[0].size:
            return state
        values = block[0].reshape(-1, len(state))
        weights = None
        if len(block) > 1:
            weights = np.broadcast_to(block[1].reshape(len(values), -1), values.shape).astype(np.float64)
        for number, summary in enumerate(state):
            column = values[:, number]
            known = ~np.isnan(column)
            summary.add(column[known], None if weights is None else weights[known, number])
        return state

    def merge(self, states: Sequence[list[quantiles.Quantiles]]) -> list[quantiles.Quantiles]:
        return [first.merge(others) for first, *others in zip(*states, strict=True)]

    def extract(self, state: list[quantiles.Quantiles]) -> tuple[np.ndarray, ...]:
        return (np.stack([self._inner(summary) for summary in state]).astype(np.float32),)

    def _inner(self, summary: quantiles.Quantiles) -> np.ndarray:
        if not summary.total:
            return np.zeros(self.buckets - 1)
        return summary.boundaries(self.buckets)[0][1:-1]


class BoundariesPerKey(PerKey):
    """The sorted keys, and a row of boundaries for each, of which none are equal.

    TFT moves equal boundaries apart by a millionth of their range, so that a value which equals them is in
    the lowest of the buckets that they part.

    Args:
      buckets: The number of buckets.
    """

    buckets: int

    def __init__(self, buckets: int) -> None:
        super().__init__(Boundaries(buckets), 1)
        object.__setattr__(self, "buckets", buckets)  # reductions are frozen

    def extract(self, state: dict[Any, Any]) -> tuple[np.ndarray, ...]:
        keys, rows = super().extract(state)
        rows = rows.reshape(len(keys), self.buckets - 1).astype(np.float32)
        if rows.shape[1] > 1:
            least = np.float32(1e-6) * (rows[:, -1:] - rows[:, :1])
            steps = np.maximum(np.diff(rows, axis=1), np.where(least > 0, least, np.float32(1e-6)))
            rows[:, 1:] = rows[:, :1] + np.cumsum(steps, axis=1)
        return keys, rows
