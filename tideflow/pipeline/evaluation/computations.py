"""What metrics are worked out from: sums, histograms and matrices over the rows of a slice.

A computation prepares a block once, for all of its slices; its states are added up. Metrics that ask for the
same computation share it: computations are equal if their fields are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tideflow.pipeline.evaluation.inputs import Batch, View, check_fractions

HISTOGRAM_BUCKETS = 10000
_NAN_BUCKET = -1


class Computation(ABC):
    """A value of a set of rows, by a state that is merged."""

    @abstractmethod
    def prepare(self, batch: Batch) -> Any:
        """What `add` needs of a block, whatever the slice."""

    @abstractmethod
    def add(self, prepared: Any, rows: np.ndarray) -> Any:
        """The state of some rows of a block. A row that occurs twice counts twice."""

    @abstractmethod
    def merge(self, one: Any, other: Any) -> Any:
        """The state of the rows of both."""

    @abstractmethod
    def result(self, state: Any) -> Any:
        """What metrics read."""


@dataclass(frozen=True)
class Sums(Computation):
    """Sums of several numbers of each row.

    Args:
      view: The labels, predictions and weights.
      function: Of the view, a block and the options, an array of (rows, numbers).
      options: What the function needs besides.
    """

    view: View
    function: Callable[..., np.ndarray]
    options: tuple[Hashable, ...] = ()

    def prepare(self, batch: Batch) -> np.ndarray:
        return self.function(self.view, batch, *self.options)

    def add(self, prepared: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return prepared[rows].sum(axis=0)

    def merge(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return one + other

    def result(self, state: np.ndarray) -> np.ndarray:
        return state


SparseRows = tuple[np.ndarray, np.ndarray]  # ids in order, and for each a row of numbers


def _added(ids: np.ndarray, numbers: np.ndarray) -> SparseRows:
    """Rows of numbers added up by their ids."""
    distinct, inverse = np.unique(ids, return_inverse=True)
    inverse = inverse.reshape(-1)
    sums = [np.bincount(inverse, column, len(distinct)) for column in numbers.T]
    return distinct, np.stack(sums, axis=1) if len(distinct) else np.zeros((0, numbers.shape[1]))


@dataclass(frozen=True)
class SparseSums(Computation):
    """Sums of several numbers by an id: buckets of a histogram, entries of a matrix.

    Args:
      view: The labels, predictions and weights.
      function: Of the view, a block and the options, the ids (rows, values) and the numbers
        (rows, values, numbers).
      options: What the function needs besides.
    """

    view: View
    function: Callable[..., tuple[np.ndarray, np.ndarray]]
    options: tuple[Hashable, ...] = ()

    def prepare(self, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        return self.function(self.view, batch, *self.options)

    def add(self, prepared: tuple[np.ndarray, np.ndarray], rows: np.ndarray) -> SparseRows:
        ids, numbers = prepared
        return _added(ids[rows].reshape(-1), numbers[rows].reshape(-1, numbers.shape[-1]))

    def merge(self, one: SparseRows, other: SparseRows) -> SparseRows:
        return _added(np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]]))

    def result(self, state: SparseRows) -> SparseRows:
        return state


def buckets(
    view: View, batch: Batch, left: float, right: float, fractional: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The bucket of each prediction, 0 for those below `left`, and its label, prediction and weight."""
    label, prediction, weight = view.flat(batch)
    if fractional:
        check_fractions(label)
    position = (prediction - left) / (right - left) * HISTOGRAM_BUCKETS + 1
    nan = np.isnan(position)
    ids = np.clip(np.where(nan, 0, position), 0, HISTOGRAM_BUCKETS + 1).astype(np.int64)
    ids[nan] = _NAN_BUCKET
    with np.errstate(invalid="ignore"):
        return ids, np.stack([label * weight, prediction * weight, weight], axis=-1)


def histogram(view: View, left: float = 0.0, right: float = 1.0) -> SparseSums:
    """Ten thousand buckets of predictions, from which curves and calibration follow."""
    return SparseSums(view, buckets, (left, right, (left, right) == (0.0, 1.0)))


def rebinned(
    found: SparseRows, thresholds: np.ndarray, left: float = 0.0, right: float = 1.0
) -> np.ndarray | None:
    """The sums (labels, predictions, weights) of the buckets that begin at thresholds; None if one is NaN."""
    ids, numbers = found
    if (ids == _NAN_BUCKET).any():
        return None
    begin = (ids - 1) / HISTOGRAM_BUCKETS * (right - left) + left
    begin = np.where(ids == 0, -np.inf, np.where(ids > HISTOGRAM_BUCKETS, np.inf, begin))
    places = np.searchsorted(thresholds[1:], begin, side="right")
    return np.stack([np.bincount(places, column, len(thresholds)) for column in numbers.T], axis=1)


def exceeded(view: View, batch: Batch, thresholds: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """How many of the thresholds each prediction exceeds, and its weight as a positive and as a negative."""
    label, prediction, weight = view.flat(batch)
    check_fractions(label)
    ids = np.searchsorted(np.asarray(thresholds), prediction, side="left")
    ids[np.isnan(prediction)] = _NAN_BUCKET
    return ids, np.stack([label * weight, (1 - label) * weight], axis=-1)


def counted(found: SparseRows, size: int) -> np.ndarray | None:
    """The sums of the ids from 0 to size; None if a prediction is NaN."""
    ids, numbers = found
    if (ids == _NAN_BUCKET).any():
        return None
    whole = np.zeros((size, numbers.shape[1]))
    whole[ids] = numbers
    return whole
