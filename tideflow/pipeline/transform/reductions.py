"""What analyzers compute of the arrays that a step gives for each block: reductions in parts.

Each is an accumulator (`engine/accumulators.py`) whose blocks are tuples of arrays, the values of the tensors
that an analyzer takes. Sums are kept in 64 bits, so that results do not depend on how rows were divided into
blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tideflow.pipeline.engine.accumulators import Accumulator
from tideflow.pipeline.transform.tukey import tukey_parameters

Arrays = tuple[np.ndarray, ...]


def _same_shape(arrays: Sequence[np.ndarray], fill: float) -> list[np.ndarray]:
    """Arrays of one rank, made as large as the largest: a sparse column may be wider in another block."""
    shape = tuple(np.max([array.shape for array in arrays], axis=0)) if arrays[0].ndim else ()
    return [
        array
        if array.shape == shape
        else np.pad(
            array, [(0, int(w) - n) for w, n in zip(shape, array.shape, strict=True)], constant_values=fill
        )
        for array in arrays
    ]


def _flat(values: np.ndarray, elementwise: bool) -> np.ndarray:
    return values if elementwise else values.reshape(-1)


@dataclass(frozen=True)
class Extremes(Accumulator):
    """The least and the largest value, of all elements or of each position in a row.

    Args:
      dtype: The type of the values.
      elementwise: Whether each position has extremes of its own.
      skip_nan: Whether NaN stands for an element that is not there.
    """

    dtype: Any
    elementwise: bool = False
    skip_nan: bool = False

    def create(self) -> Any:
        return None

    def add(self, state: Any, block: Any) -> Any:
        (values,) = block
        values = _flat(values, self.elementwise)
        if not len(values):
            return state
        least, largest = (np.fmin, np.fmax) if self.skip_nan else (np.minimum, np.maximum)
        own = (least.reduce(values, axis=0), largest.reduce(values, axis=0))
        return own if state is None else self.merge([state, own])

    def merge(self, states: Sequence[Any]) -> Any:
        states = [state for state in states if state is not None]
        if not states:
            return None
        fill = np.nan if self.skip_nan else 0
        least, largest = (np.fmin, np.fmax) if self.skip_nan else (np.minimum, np.maximum)
        low = _same_shape([np.asarray(state[0]) for state in states], fill)
        high = _same_shape([np.asarray(state[1]) for state in states], fill)
        return least.reduce(low), largest.reduce(high)

    def extract(self, state: Any) -> Arrays:
        if state is None:  # no values at all: an interval that is empty
            kind = np.finfo if np.issubdtype(self.dtype, np.floating) else np.iinfo
            limits = (np.inf, -np.inf) if kind is np.finfo else (kind(self.dtype).max, -kind(self.dtype).max)
            return tuple(np.array(limit, self.dtype) for limit in limits)
        return tuple(np.asarray(limit, self.dtype) for limit in state)


@dataclass(frozen=True)
class Total(Accumulator):
    """The sum of all elements, or of each position.

    Args:
      dtype: The type of the result.
      shape: The shape of the sum of no rows.
      elementwise: Whether each position has a sum of its own.
    """

    dtype: Any
    shape: tuple[int, ...] = ()
    elementwise: bool = False

    @property
    def _wide(self) -> Any:
        return np.float64 if np.issubdtype(self.dtype, np.floating) else self.dtype

    def create(self) -> np.ndarray:
        return np.zeros(self.shape, self._wide)

    def add(self, state: np.ndarray, block: Any) -> np.ndarray:
        (values,) = block
        return self.merge([state, _flat(values, self.elementwise).sum(axis=0, dtype=self._wide)])

    def merge(self, states: Sequence[np.ndarray]) -> np.ndarray:
        total: np.ndarray = np.sum(_same_shape([np.asarray(state) for state in states], 0), axis=0)
        return total

    def extract(self, state: np.ndarray) -> Arrays:
        return (np.asarray(state, self.dtype),)


def _pooled(states: Sequence[Arrays]) -> Arrays:
    """Count, mean and sum of squared deviations of several parts."""
    counts, means, squares = (np.stack(_same_shape(parts, 0)) for parts in zip(*states, strict=True))
    count = counts.sum(axis=0)
    some = np.maximum(count, 1)
    mean = (counts * means).sum(axis=0) / some
    return count, mean, squares.sum(axis=0) + (counts * (means - mean) ** 2).sum(axis=0)


@dataclass(frozen=True)
class MeanAndVariance(Accumulator):
    """Mean and variance of the finite elements, of all or of each position.

    Args:
      dtype: The type of the results.
      shape: The shape of the results of no rows.
      elementwise: Whether each position has results of its own.
    """

    dtype: Any
    shape: tuple[int, ...] = ()
    elementwise: bool = False

    def create(self) -> Arrays:
        nothing = np.zeros(self.shape)
        return nothing, nothing, nothing

    def add(self, state: Arrays, block: Any) -> Arrays:
        (values,) = block
        values = _flat(values, self.elementwise).astype(np.float64)
        finite = np.isfinite(values)
        values = np.where(finite, values, 0.0)
        count = finite.sum(axis=0, dtype=np.float64)
        mean = values.sum(axis=0) / np.maximum(count, 1)
        squares = (np.where(finite, values - mean, 0.0) ** 2).sum(axis=0)
        return _pooled([state, (count, mean, squares)])

    def merge(self, states: Sequence[Arrays]) -> Arrays:
        return _pooled(states)

    def extract(self, state: Arrays) -> Arrays:
        count, mean, squares = state
        return np.asarray(mean, self.dtype), np.asarray(squares / np.maximum(count, 1), self.dtype)


@np.errstate(invalid="ignore")  # of infinities
def _l_moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many samples, pairs, triplets and quadruplets there are along axis 0, and the four L-moments that
    are means over them.
    """
    n = len(values)
    ordered = np.sort(values, axis=0).astype(np.float64)
    rank = np.arange(n, dtype=np.float64).reshape(-1, *[1] * (values.ndim - 1))
    # Probability-weighted moments: b_r is the mean of x over (rank choose r) / (n - 1 choose r).
    weights, moments = np.ones_like(rank), []
    for r in range(4):
        scale = np.prod([max(n - 1.0 - i, 1.0) for i in range(r)]) * max(n, 1)
        moments.append((weights * ordered).sum(axis=0) / scale)
        weights = weights * (rank - r)
    b0, b1, b2, b3 = moments
    lambdas = [b0, 2 * b1 - b0, 6 * b2 - 6 * b1 + b0, 20 * b3 - 30 * b2 + 12 * b1 - b0]
    counts = [
        float(n),
        n * (n - 1) / 2.0,
        n * (n - 1) * (n - 2) / 6.0,
        n * (n - 1) * (n - 2) * (n - 3) / 24.0,
    ]
    lambdas = [each if count > 0 else np.zeros_like(b0) for each, count in zip(lambdas, counts, strict=True)]
    return np.stack([np.full(np.shape(b0), count) for count in counts]), np.stack(lambdas)


@dataclass(frozen=True)
class TukeyParameters(Accumulator):
    """Location, scale and the two tail parameters of Tukey's HH distribution, fitted by L-moments.

    The L-moments of the whole are the means of those of blocks, weighted by the number of pairs, triplets and
    quadruplets in each. That is an estimate without bias which, like TFT's, depends on the blocks.

    Args:
      dtype: The type of the results.
      elementwise: Whether each position has parameters of its own.
    """

    dtype: Any
    shape: tuple[int, ...] = ()
    elementwise: bool = False

    def create(self) -> Arrays:
        return np.zeros((4, *self.shape)), np.zeros((4, *self.shape))

    def add(self, state: Arrays, block: Any) -> Arrays:
        (values,) = block
        values = _flat(values, self.elementwise)
        if not (self.elementwise and values.ndim > 1 and np.isnan(values).any()):
            return self.merge([state, self._finite(_l_moments(values))])
        # NaN stands for an element that a sparse row does not have: positions have unlike numbers of samples.
        columns = values.reshape(len(values), -1).T
        parts = [_l_moments(column[~np.isnan(column)]) for column in columns]
        shape = (4, *values.shape[1:])
        own = tuple(np.stack([part[i] for part in parts], axis=1).reshape(shape) for i in range(2))
        return self.merge([state, self._finite(own)])

    def _finite(self, state: Arrays) -> Arrays:
        """Moments of numbers that are not finite are 0 or the largest number, as TFT has them."""
        counts, moments = state
        largest = np.finfo(np.result_type(self.dtype, np.float32)).max
        return counts, np.nan_to_num(moments, posinf=largest, neginf=-largest)

    def merge(self, states: Sequence[Arrays]) -> Arrays:
        counts, moments = (np.stack(_same_shape(parts, 0)) for parts in zip(*states, strict=True))
        total = counts.sum(axis=0)
        return total, (counts * moments).sum(axis=0) / np.where(total > 0, total, 1)

    def extract(self, state: Arrays) -> Arrays:
        counts, moments = state
        return tuple(np.asarray(each, self.dtype) for each in tukey_parameters(counts, moments))


@dataclass(frozen=True)
class Covariance(Accumulator):
    """The covariance matrix of the columns of a matrix.

    Args:
      width: The number of columns.
      dtype: The type of the result.
    """

    width: int
    dtype: Any

    def create(self) -> Arrays:
        return np.zeros((self.width, self.width)), np.zeros(self.width), np.zeros(())

    def add(self, state: Arrays, block: Any) -> Arrays:
        (rows,) = block
        rows = rows.astype(np.float64)
        return self.merge([state, (rows.T @ rows, rows.sum(axis=0), np.asarray(float(len(rows))))])

    def merge(self, states: Sequence[Arrays]) -> Arrays:
        return tuple(np.sum(parts, axis=0) for parts in zip(*states, strict=True))

    def extract(self, state: Arrays) -> Arrays:
        return (self._covariance(state).astype(self.dtype),)

    def _covariance(self, state: Arrays) -> np.ndarray:
        products, sums, count = state
        if not count:
            return products
        mean = sums / count
        covariance: np.ndarray = products / count - np.outer(mean, mean)
        return covariance


@dataclass(frozen=True)
class PrincipalComponents(Covariance):
    """The eigenvectors of the covariance matrix with the largest eigenvalues, as columns.

    Args:
      output_dim: How many of them.
    """

    output_dim: int = 0

    def extract(self, state: Arrays) -> Arrays:
        if not state[2]:
            return (np.eye(self.width, self.output_dim, dtype=self.dtype),)
        values, vectors = np.linalg.eigh(self._covariance(state).astype(self.dtype))
        return (vectors[:, np.argsort(values)[::-1]][:, : self.output_dim],)


@dataclass(frozen=True)
class PerKey(Accumulator):
    """Another reduction for the rows of each key. Its first result is the sorted keys.

    Args:
      reduction: The reduction; its results for each key are stacked.
      results: The number of its results.
    """

    reduction: Accumulator
    results: int

    def create(self) -> dict[Any, Any]:
        return {}

    def add(self, state: dict[Any, Any], block: Any) -> dict[Any, Any]:
        keys, *arrays = block
        unique, inverse = np.unique(keys, return_inverse=True)
        order = np.argsort(inverse, kind="stable")
        ends = np.cumsum(np.bincount(inverse, minlength=len(unique)))
        start = 0
        for key, end in zip(unique.tolist(), ends, strict=True):
            rows = order[start:end]
            own = state[key] if key in state else self.reduction.create()
            state[key] = self.reduction.add(own, tuple(array[rows] for array in arrays))
            start = end
        return state

    def merge(self, states: Sequence[dict[Any, Any]]) -> dict[Any, Any]:
        parts: dict[Any, list[Any]] = {}
        for state in states:
            for key, own in state.items():
                parts.setdefault(key, []).append(own)
        return {key: own[0] if len(own) == 1 else self.reduction.merge(own) for key, own in parts.items()}

    def extract(self, state: dict[Any, Any]) -> Arrays:
        keys = sorted(state)
        rows = [self.reduction.extract(state[key]) for key in keys]
        columns = [np.stack(parts) for parts in zip(*rows, strict=True)] or [np.zeros(0)] * self.results
        return (np.array(keys, object), *columns)


@dataclass(frozen=True)
class KeyCounts(Accumulator):
    """How often each key occurs: the sorted keys, and their counts."""

    def create(self) -> dict[bytes, int]:
        return {}

    def add(self, state: dict[bytes, int], block: Any) -> dict[bytes, int]:
        unique, counts = np.unique(block[0].reshape(-1), return_counts=True)
        for key, count in zip(unique.tolist(), counts.tolist(), strict=True):
            state[key] = state.get(key, 0) + count
        return state

    def merge(self, states: Sequence[dict[bytes, int]]) -> dict[bytes, int]:
        total = states[0]
        for state in states[1:]:
            for key, count in state.items():
                total[key] = total.get(key, 0) + count
        return total

    def extract(self, state: dict[bytes, int]) -> Arrays:
        keys = sorted(state)
        return np.array(keys, object), np.array([state[key] for key in keys], np.int64)
