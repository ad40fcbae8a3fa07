"""Covariances and correlations of pairs of numeric features, over the rows in which both have one value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from tideflow.pipeline.data.lists import is_list, lengths_of
from tideflow.pipeline.statistics.features import FLOAT, INT, kind_of

Pair = tuple[str, str]
_ROUNDING = 1e-15  # of a mean, relatively


@dataclass
class Comoments:
    """Of pairs of numbers: how many, the means, and the sums of squares and products of the distances."""

    count: int = 0
    means: tuple[float, float] = (0.0, 0.0)
    squares: tuple[float, float] = (0.0, 0.0)
    products: float = 0.0

    @classmethod
    def of(cls, x: np.ndarray, y: np.ndarray) -> Comoments:
        """The co-moments of two columns of equal length."""
        if not len(x):
            return cls()
        means = float(x.mean()), float(y.mean())
        dx, dy = x - means[0], y - means[1]
        return cls(len(x), means, (float(dx @ dx), float(dy @ dy)), float(dx @ dy))

    def merge(self, others: Iterable[Comoments]) -> Comoments:
        """Adds others; returns self."""
        for other in others:
            count = self.count + other.count
            if not other.count:
                continue
            dx, dy = other.means[0] - self.means[0], other.means[1] - self.means[1]
            share = other.count / count
            both = self.count * share
            self.squares = (
                self.squares[0] + other.squares[0] + dx * dx * both,
                self.squares[1] + other.squares[1] + dy * dy * both,
            )
            self.products += other.products + dx * dy * both
            self.means = (self.means[0] + dx * share, self.means[1] + dy * share)
            self.count = count
        return self


def add_crosses(
    state: dict[Pair, Comoments], block: pa.RecordBatch, wanted: bool | Sequence[tuple[str, str]]
) -> None:
    """Adds the rows of a block to the co-moments of the wanted pairs of its features."""
    columns = {}
    needed = None if isinstance(wanted, bool) else {name for pair in wanted for name in pair}
    for name, array in zip(block.schema.names, block.columns):
        if (needed is None or name in needed) and (values := _single_numbers(array)) is not None:
            columns[name] = values
    pairs = combinations(sorted(columns), 2) if isinstance(wanted, bool) else [tuple(pair) for pair in wanted]
    for x, y in pairs:
        if x in columns and y in columns:
            both = ~(np.isnan(columns[x]) | np.isnan(columns[y]))
            with np.errstate(invalid="ignore"):  # the distance of infinities is no number
                found = Comoments.of(columns[x][both], columns[y][both])
            state.setdefault((x, y), Comoments()).merge([found])


def _single_numbers(array: pa.Array) -> np.ndarray | None:
    """Of each row its number; NaN where it has none or several. None for a feature that has no such row."""
    if not is_list(array.type) or kind_of(array.type.value_type) not in (INT, FLOAT):
        return None
    lengths, _ = lengths_of(array)
    single = lengths == 1
    if not single.any():
        return None
    values = array.flatten().to_numpy(zero_copy_only=False)
    result = np.full(len(array), np.nan)
    result[single] = values[(np.cumsum(lengths) - lengths)[single]]
    return result


def fill_crosses(message: Any, state: dict[Pair, Comoments]) -> None:
    """Adds the cross features of a data set to its message."""
    for (x, y), found in sorted(state.items()):
        cross = message.cross_features.add(count=found.count)
        cross.path_x.step.append(x)
        cross.path_y.step.append(y)
        if not found.count:
            continue
        cross.num_cross_stats.covariance = found.products / found.count
        spread = [_spread(found.count, *each) for each in zip(found.means, found.squares)]
        if all(spread):
            cross.num_cross_stats.correlation = found.products / (spread[0] * spread[1])


def _spread(count: int, mean: float, squares: float) -> float:
    """The root of a sum of squares; 0 where equal numbers have one by the rounding of their mean."""
    return 0.0 if squares <= count * (_ROUNDING * mean) ** 2 else float(np.sqrt(squares))
