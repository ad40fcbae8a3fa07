"""Distributions whose values are drawn in sequence: a value begins where the words of the last one end.

Their parameters (`counts`, `means` and so on) have one entry for all rows, or one for each row. TensorFlow
divides many rows among its threads, each of which starts at its own place of the stream: then its values
depend on the number of cores. The values here are those of one thread.

Values are drawn many at a time: a range of blocks is turned into candidates at once, and the accepted
candidates are the values, until a row has enough. The next row begins behind the block of the last value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tideflow.runtime.distributions import normal_numbers, unit_numbers
from tideflow.runtime.philox import CHUNK, Philox, Stream

ROWS_OF_ONE_PARAMETER = 100
"""The number of values in a row, where all values share their parameters."""

_RARELY_REJECTED = 2
_PATIENCE = 1000
"""So many candidates are rejected in sequence only if parameters exceed a type's range: then any will do."""


def rows_of(shape: Sequence[int], parameters: Sequence[np.ndarray]) -> tuple[int, int]:
    """The number of rows and their size: by the first axis, or of a fixed size if parameters are shared."""
    size = math.prod(shape)
    if all(parameter.size == 1 for parameter in parameters):
        return -(-size // ROWS_OF_ONE_PARAMETER), ROWS_OF_ONE_PARAMETER
    return shape[0], size // max(1, shape[0])


def reserved_blocks(rows: int, columns: int, tries: int) -> int:
    """The number of blocks to reserve for rows of values: two numbers for each try, four in a block."""
    return rows * 2 * tries * (columns + 3) // 4


class _Cursor:
    """A place in a stream of blocks, which advances as values are drawn."""

    def __init__(self, generator: Philox) -> None:
        self.generator, self.place = generator, 0

    def accepted(
        self,
        count: int,
        blocks_each: int,
        candidates: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    ) -> np.ndarray:
        """The first `count` values that `candidates` accepts.

        `candidates` takes the words of n groups of `blocks_each` blocks. It returns two arrays with n rows:
        values, and whether they are accepted.
        """
        found: list[np.ndarray] = []
        rejected = 0
        while count:
            groups = min(CHUNK, _RARELY_REJECTED * count + 8)
            words = self.generator.words(self.place, groups * blocks_each)
            values, good = candidates(words.reshape(groups, blocks_each, 4))
            rejected = 0 if good.any() else rejected + good.size
            places = np.flatnonzero(good | (rejected > _PATIENCE))[:count]
            found.append(values.reshape(-1)[places])
            count -= len(places)
            used = groups if count else places[-1] // values.shape[1] + 1
            self.place += int(used) * blocks_each
        return np.concatenate(found) if found else np.empty(0)


# ---------------------------------------------------------------------------------- truncated normal

TRUNCATED_NORMAL_TRIES = 1000
_ENOUGH_DEVIATIONS = 1.3


def parameterized_truncated_normal(
    source: Stream, shape: Sequence[int], *parameters: np.ndarray, dtype: np.dtype[Any]
) -> np.ndarray:
    """Normal numbers of given means and standard deviations, within bounds, by row or for all rows."""
    rows, columns = rows_of(shape, parameters)
    generator = source.reserve_blocks(reserved_blocks(rows, columns, TRUNCATED_NORMAL_TRIES))
    size = math.prod(shape)
    result = np.empty(size, dtype)
    cursor = _Cursor(generator)
    with np.errstate(all="ignore"):
        for row in range(rows):
            start, stop = row * columns, min((row + 1) * columns, size)
            mine = (p.reshape(-1)[0 if p.size == 1 else row] for p in parameters)
            result[start:stop] = _truncated_row(cursor, stop - start, *mine)
    return result.reshape(shape)


def _truncated_row(cursor: _Cursor, count: int, mean: Any, stddev: Any, low: Any, high: Any) -> np.ndarray:
    if not (stddev > 0 and low < high and (np.isfinite(low) or np.isfinite(high))):
        raise ValueError(
            f"Invalid parameters: a deviation of {stddev} is not positive, or bounds {low} and {high} are "
            "not in order, or both are infinite"
        )
    if low == -math.inf or high < mean:  # mirrored, so that the lower bound is finite and the nearer one
        low, high, stddev = high, low, -stddev
    lower, upper = (low - mean) / stddev, (high - mean) / stddev
    row: np.ndarray = _standard_row(cursor, count, lower, upper) * stddev + mean
    return row


def _standard_row(cursor: _Cursor, count: int, lower: Any, upper: Any) -> np.ndarray:
    """Standard normal numbers between two bounds, by the proposal distribution with the best acceptance."""
    kind = lower.dtype.type
    many = kind(_ENOUGH_DEVIATIONS)
    if (lower < -many and upper >= 0) or (upper > many and lower <= 0):
        return cursor.accepted(count, 1, lambda words: _from_normal(words, lower, upper))
    root = np.sqrt(lower * lower + kind(4))
    cutoff = kind(2) * np.exp(kind(0.5) + lower * (lower - root) / kind(4)) / (lower + root)
    if upper - lower < cutoff:
        return cursor.accepted(count, 2, lambda words: _from_uniform(words, lower, upper))
    alpha = (lower + root) / kind(2)
    return cursor.accepted(count, 1, lambda words: _from_exponential(words, lower, upper, alpha))


def _from_normal(words: np.ndarray, lower: Any, upper: Any) -> tuple[np.ndarray, np.ndarray]:
    values = normal_numbers(words[:, 0], lower.dtype)
    return values, (values >= lower) & (values <= upper)


def _from_uniform(words: np.ndarray, lower: Any, upper: Any) -> tuple[np.ndarray, np.ndarray]:
    kind = lower.dtype.type
    proposed, fraction = (unit_numbers(np.ascontiguousarray(words[:, i]), lower.dtype) for i in (0, 1))
    values = proposed * (upper - lower) + lower
    highest = kind(0) if lower < 0 else lower * lower
    return values, fraction <= np.exp((highest - values * values) / kind(2))


def _from_exponential(words: np.ndarray, lower: Any, upper: Any, alpha: Any) -> tuple[np.ndarray, np.ndarray]:
    kind = lower.dtype.type
    numbers = unit_numbers(words[:, 0], lower.dtype)
    values = -np.log(numbers[:, ::2]) / alpha + lower
    distance = alpha - values if lower < alpha else lower - alpha
    accepted = np.exp(-distance * distance / kind(2))
    return values, (numbers[:, 1::2] <= accepted) & (values < upper)


# ---------------------------------------------------------------------------------- binomial

BINOMIAL_TRIES = 100
_FEW_SUCCESSES = 10
_STIRLING_TAILS = np.array(
    [
        0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
        0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
    ]
)  # fmt: skip


def binomial(
    generator: Philox, shape: Sequence[int], counts: np.ndarray, probs: np.ndarray, dtype: np.dtype[Any]
) -> np.ndarray:
    """The number of `counts` trials that succeed, each with probability `probs`, by row or for all rows."""
    rows, columns = rows_of(shape, (counts, probs))
    size = math.prod(shape)
    result = np.empty(size, dtype)
    cursor = _Cursor(generator)
    with np.errstate(all="ignore"):
        for row in range(rows):
            start, stop = row * columns, min((row + 1) * columns, size)
            count, prob = (p.reshape(-1)[0 if p.size == 1 else row] for p in (counts, probs))
            drawn = _binomial_row(cursor, stop - start, count, prob)
            result[start:stop] = np.asarray(drawn).astype(dtype)  # NaN becomes an integer as it does in C
    return result.reshape(shape)


def _binomial_row(cursor: _Cursor, samples: int, count: Any, prob: Any) -> Any:
    if math.isnan(count) or math.isnan(prob):
        return math.nan
    if prob <= 0.5:
        return _successes(cursor, samples, float(count), float(prob))
    return float(count) - _successes(cursor, samples, float(count), float(1 - prob))


def _successes(cursor: _Cursor, samples: int, count: float, prob: float) -> Any:
    if prob <= 0 or count <= 0:
        return np.zeros(samples)
    if count * prob >= _FEW_SUCCESSES:
        return _transform_and_reject(cursor, samples, count, prob)
    return _count_waits(cursor, samples, count, prob)


def _count_waits(cursor: _Cursor, samples: int, count: float, prob: float) -> np.ndarray:
    """The number of successes, each after a geometric number of trials, that fit into `count` trials.

    Each value has blocks of its own. From the cumulative sums of the numbers of trials in a range of blocks,
    a search finds for every block where a value that begins there would end. Then the values are read off one
    after the other.
    """
    result = np.empty(samples)
    done = 0
    while done < samples:
        blocks = min(CHUNK, 64 + (samples - done) * (2 + int(count * prob)))
        waits = _waits(cursor.generator.words(cursor.place, blocks), count, prob)
        sums = np.cumsum(waits)
        begins = np.arange(0, len(sums), 2)
        ends = np.searchsorted(sums, sums[begins] - waits[begins] + count, side="right").tolist()
        block = 0
        while done < samples and block < blocks and ends[block] < len(sums):
            result[done] = ends[block] - 2 * block
            block = ends[block] // 2 + 1
            done += 1
        cursor.place += block
    return result


def _waits(words: np.ndarray, count: float, prob: float) -> np.ndarray:
    """The numbers of trials up to each success, at most `count` + 1, in the order of their use."""
    uniforms = unit_numbers(words, np.dtype(np.float64))[:, ::-1].reshape(-1)
    waits: np.ndarray = np.minimum(np.ceil(np.log(uniforms) / math.log1p(-prob)), count + 1)
    return waits


def _transform_and_reject(cursor: _Cursor, samples: int, count: float, prob: float) -> np.ndarray:
    """Hörmann's method (BTRS): a transformed uniform number is accepted by the probability of its floor."""
    deviation = np.sqrt(np.float64(count) * prob * (1 - prob))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * prob
    alpha = (2.83 + 5.1 / b) * deviation
    odds = prob / (1 - prob)
    mode = np.floor((count + 1) * prob)

    def candidates(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        uniforms = unit_numbers(words[:, 0], np.dtype(np.float64))
        u, v = uniforms[:, 1:] - 0.5, uniforms[:, :1]
        distance = 0.5 - np.abs(u)
        k = np.floor((2 * a / distance + b) * u + (count * prob + 0.5))
        surely = (distance >= 0.07) & (v <= 0.92 - 4.2 / b)
        possible = ~((k < 0) | (k > count))
        safe = np.where(possible, k, mode)
        bound = (
            (mode + 0.5) * np.log((mode + 1) / (odds * (count - mode + 1)))
            + (count + 1) * np.log((count - mode + 1) / (count - safe + 1))
            + (safe + 0.5) * np.log(odds * (count - safe + 1) / (safe + 1))
            + (_stirling_tail(mode) + _stirling_tail(count - mode))
            - _stirling_tail(safe)
            - _stirling_tail(count - safe)
        )
        accepted = np.log(v * alpha / (a / (distance * distance) + b)) <= bound
        return k, surely | (possible & accepted)

    return cursor.accepted(samples, 1, candidates)


def _stirling_tail(k: Any) -> Any:
    """log k! minus Stirling's approximation of it."""
    squares = (k + 1) * (k + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / squares) / squares) / (k + 1)
    small = np.where(k <= 9, k, 0)
    return np.where(k <= 9, _STIRLING_TAILS[np.nan_to_num(small).astype(int)], series)
