"""Quantiles of numbers, in bounded memory, the same whatever parts the numbers came in.

Every number has a key, an integer in the same order. The summary counts keys; where too many are different,
it drops as few of their lowest bits as make them few enough. How many bits that are depends on the numbers
alone. Few numbers, and many of few different values, are kept exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_MOST_KEPT = 1 << 16
_PENDING = 1 << 18  # numbers that wait to be sorted together
_MAGNITUDE = np.int64(0x7FFFFFFFFFFFFFFF)


class Quantiles:
    """A summary of numbers, weighted or not, without NaN."""

    def __init__(self, most_kept: int = _MOST_KEPT) -> None:
        self.most_kept = most_kept
        self.shift = 0  # dropped bits: keys that agree in the others are one bucket
        self.keys = np.zeros(0, np.int64)  # the largest of each bucket, rising
        self.weights = np.zeros(0, np.int64)  # the number of numbers in each bucket, or their weight
        self.least = np.inf
        self._pending: list[tuple[np.ndarray, np.ndarray | None]] = []
        self._waiting = 0

    def add(self, values: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Adds numbers, each once or with its weight. Those with weight zero do not count."""
        if weights is not None:
            counted = weights > 0
            values, weights = values[counted], weights[counted]
        if not len(values):
            return
        values = values.astype(np.float64)
        values += 0.0  # there is one zero
        self.least = min(self.least, float(values.min()))
        self._pending.append((_keys(values.view(np.int64)), weights))
        self._waiting += len(values)
        if self._waiting >= _PENDING:
            self.settle()

    def merge(self, others: Sequence[Quantiles]) -> Quantiles:
        """Adds what others have summarized; returns self."""
        for other in others:
            self.least, self.shift = min(self.least, other.least), max(self.shift, other.shift)
            self._pending += other._pending
            if len(other.keys):
                self._pending.append((other.keys, other.weights))
            self._waiting += other._waiting + len(other.keys)
        if self._waiting >= _PENDING:
            self.settle()
        return self

    @property
    def total(self) -> float:
        """The number of all numbers, or their weight."""
        self.settle()
        total: float = self.weights.sum().item()
        return total

    def boundaries(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The `count` + 1 numbers between which lie `count` parts of equal weight, and the weight up to each.

        The first is the least number and the last the largest. There must be one.
        """
        self.settle()
        upto = np.cumsum(self.weights)
        ranks = upto[-1] * np.arange(count + 1) / count
        at = np.minimum(np.searchsorted(upto, ranks, side="right"), len(upto) - 1)
        values = _keys(self.keys[at]).view(np.float64)
        values[0] = self.least
        return values, upto[at].astype(np.float64)

    def settle(self) -> None:
        """Sorts and counts what waits for it."""
        if not self._pending:
            return
        counted = [(self.keys, self.weights)]
        counted += [(keys, weights) for keys, weights in self._pending if weights is not None]
        single = [keys for keys, weights in self._pending if weights is None]
        self._pending, self._waiting = [], 0
        if single:
            keys = np.concatenate(single)
            keys.sort()
            ends = _ends(keys)
            counted.append((keys[ends], np.diff(ends, prepend=-1)))
        self._keep(np.concatenate([keys for keys, _ in counted]), np.concatenate([of for _, of in counted]))

    def _keep(self, keys: np.ndarray, weights: np.ndarray) -> None:
        order = np.argsort(keys, kind="stable")  # merges what is sorted already
        keys, weights = keys[order], weights[order]
        ends = _ends(keys >> self.shift)
        if len(ends) > self.most_kept:
            self.shift, ends = self._fewest_bits(keys)
        self.keys = keys[ends]
        self.weights = np.add.reduceat(weights, np.append(0, ends[:-1] + 1))

    def _fewest_bits(self, keys: np.ndarray) -> tuple[int, np.ndarray]:
        """The smallest shift under which the keys are few enough, and the end of each bucket under it."""
        too_few, enough = self.shift, 63
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if len(_ends(keys >> middle)) > self.most_kept:
                too_few = middle
            else:
                enough = middle
        return enough, _ends(keys >> enough)

    def __getstate__(self) -> dict[str, Any]:
        self.settle()
        return self.__dict__


def _keys(bits: np.ndarray) -> np.ndarray:
    """Of the bits of floats, integers in the order of the floats; and of these, the bits."""
    keys: np.ndarray = bits ^ ((bits >> 63) & _MAGNITUDE)
    return keys


def _ends(rising: np.ndarray) -> np.ndarray:
    """Where each run of equal numbers ends."""
    return (
        np.flatnonzero(np.append(rising[1:] != rising[:-1], True)) if len(rising) else np.zeros(0, np.int64)
    )
