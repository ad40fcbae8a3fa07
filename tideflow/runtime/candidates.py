"""Candidate samplers: they draw classes from a range, each class with a probability of its own.

A sampler turns random words into the same sequence of draws as TensorFlow. `draw` takes the first n draws,
or the first n different ones. The expected count of a class in the sample is p * n or, if it took t draws to
find n different classes, 1 - (1 - p) ** t.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence

import numpy as np

from tideflow.runtime.distributions import unit_numbers
from tideflow.runtime.philox import Philox

RESERVED_PER_CANDIDATE = 512
"""Blocks of the stream that an op reserves for each candidate it draws."""

_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


class Sampler(abc.ABC):
    """Draws classes of [0, size)."""

    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def possible(self) -> int:
        """The number of classes with a probability above zero."""
        return self.size

    @abc.abstractmethod
    def draws(self, words: Words) -> np.ndarray:
        """The next draws, as many as are available at once. Further calls return further draws."""

    @abc.abstractmethod
    def probability(self, classes: np.ndarray) -> np.ndarray:
        """The probability that one draw is each of these classes."""

    def learn(self, classes: np.ndarray) -> None:  # noqa: B027 - most samplers have nothing to learn
        """Counts classes that occurred in the data."""

    def draw(self, generator: Philox, count: int, unique: bool) -> tuple[np.ndarray, int]:
        """Draws `count` classes; returns them, and how many tries that took."""
        words = Words(generator, count)
        return self._first_different(words, count) if unique else (self._first(words, count), count)

    def _first(self, words: Words, count: int) -> np.ndarray:
        drawn = self.draws(words)
        while len(drawn) < count:
            drawn = np.concatenate([drawn, self.draws(words)])
        return drawn[:count]

    def _first_different(self, words: Words, count: int) -> tuple[np.ndarray, int]:
        taken, tries = np.empty(0, np.int64), 0
        while True:
            drawn = self.draws(words)
            different, places = np.unique(drawn, return_index=True)
            if tries:
                places = places[~np.isin(different, taken, assume_unique=True)]
            places, missing = np.sort(places), count - len(taken)
            taken = np.concatenate([taken, drawn[places[:missing]]])
            if len(taken) == count:
                return taken, tries + int(places[missing - 1]) + 1
            tries += len(drawn)

    def expected(self, classes: np.ndarray, count: int, tries: int) -> np.ndarray:
        """How often each of the classes is to be expected among `count` that were found in so many tries."""
        probability = self.probability(classes).astype(np.float32)
        if tries == count:
            return probability * np.float32(count)
        with np.errstate(all="ignore"):
            expected: np.ndarray = -np.expm1(np.float32(tries) * np.log1p(-probability))
        return expected


class Words:
    """A sequence of random words."""

    def __init__(self, generator: Philox, count: int) -> None:
        self._generator, self._place, self._chunk = generator, 0, max(8, count)
        self._left = np.empty(0, np.uint32)

    def take(self, width: int) -> np.ndarray:
        """The next words in rows of `width`, as many as are available at once, and at least one row."""
        found = self._left
        if len(found) < width:
            more = self._generator.words(self._place, self._chunk).reshape(-1)
            self._place += self._chunk
            found = np.concatenate([found, more])
        rows = len(found) // width
        self._left = found[rows * width :]
        return found[: rows * width].reshape(rows, width)

    def put_back(self, words: np.ndarray) -> None:
        """Returns words that were taken but not used."""
        self._left = np.concatenate([words, self._left])


def _skew(size: int, bits: int) -> int:
    """The number of values to reject, from 0 up, so that the remainders modulo `size` are equally likely."""
    return 0 if size & (size - 1) == 0 else (1 << bits) % size


def draw_below(size: int, count: int, generator: Philox) -> np.ndarray:
    """`count` numbers of [0, size), all equally likely."""
    words, found = Words(generator, count), np.empty(0, np.int64)
    while len(found) < count:
        more = words.take(1)[:, 0]
        found = np.concatenate([found, (more[more >= _skew(size, 32)] % size).astype(np.int64)])
    return found[:count]


class All:
    """Not a random sampler: it returns every class once."""

    def __init__(self, size: int) -> None:
        self.size = self.possible = size

    def learn(self, classes: np.ndarray) -> None:
        """Does nothing."""

    def draw(self, generator: Philox, count: int, unique: bool) -> tuple[np.ndarray, int]:
        """All classes."""
        return np.arange(count), count

    def expected(self, classes: np.ndarray, count: int, tries: int) -> np.ndarray:
        """Once each."""
        return np.ones(classes.shape, np.float32)


class Uniform(Sampler):
    """All classes are equally likely."""

    def draws(self, words: Words) -> np.ndarray:
        numbers = words.take(2).view(np.uint64)[:, 0]
        return (numbers[numbers >= _skew(self.size, 64)] % np.uint64(self.size)).astype(np.int64)

    def probability(self, classes: np.ndarray) -> np.ndarray:
        return np.full(classes.shape, 1.0 / self.size, np.float32)


class LogUniform(Sampler):
    """Class k has probability log((k + 2) / (k + 1)) / log(size + 1), like words sorted by frequency."""

    def draws(self, words: Words) -> np.ndarray:
        numbers = unit_numbers(words.take(2), _FLOAT64)[:, 0]
        drawn: np.ndarray = np.exp(numbers * np.log1p(float(self.size))).astype(np.int64) - 1
        drawn %= self.size
        return drawn

    def probability(self, classes: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            likely: np.ndarray = np.log((classes + 2.0) / (classes + 1.0)) / np.log1p(float(self.size))
        return likely


class Unigram(Sampler):
    """The probability of a class is proportional to its count so far. All counts begin at 1."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._seen = np.ones(size, np.int32)

    def draws(self, words: Words) -> np.ndarray:
        total = np.cumsum(self._seen)
        numbers = words.take(1)[:, 0]
        numbers = numbers[numbers >= _skew(int(total[-1]), 32)]
        return np.searchsorted(total, numbers % np.uint32(total[-1]), side="right")

    def probability(self, classes: np.ndarray) -> np.ndarray:
        known = (classes >= 0) & (classes < self.size)
        return np.where(known, self._seen[np.where(known, classes, 0)], 0) / np.float32(self._seen.sum())

    def learn(self, classes: np.ndarray) -> None:
        known = classes[(classes >= 0) & (classes < self.size)]
        self._seen += np.bincount(known.reshape(-1), minlength=self.size).astype(np.int32)


class FixedUnigram(Sampler):
    """The probability of a class is proportional to its weight; by Vose's alias method.

    Each class has a bucket, which contains the class itself up to some height and one other class above it.
    One random number selects the bucket, another the height.
    """

    def __init__(self, weights: Sequence[float]) -> None:
        super().__init__(len(weights))
        self._weights = np.array(weights, np.float32)
        self._total = np.cumsum(self._weights)[-1]  # added one by one, as TensorFlow does
        self._height, self._other = _buckets(self._weights)

    @property
    def possible(self) -> int:
        return int(np.count_nonzero(self._weights))

    def draws(self, words: Words) -> np.ndarray:
        pairs = words.take(2)
        skewed = np.flatnonzero(pairs[:, 1] < _skew(self.size, 32))
        if len(skewed):  # the word is rejected: the height is paired with a later word
            first = skewed[0]
            words.put_back(np.concatenate([pairs[first, :1], pairs[first + 1 :].reshape(-1)]))
            pairs = pairs[:first]
        bucket = (pairs[:, 1] % np.uint32(self.size)).astype(np.int64)
        height = unit_numbers(pairs[:, :1].copy(), _FLOAT32)[:, 0]
        return np.where(height < self._height[bucket], bucket, self._other[bucket])

    def probability(self, classes: np.ndarray) -> np.ndarray:
        known = (classes >= 0) & (classes < self.size)
        likely: np.ndarray = np.where(known, self._weights[np.where(known, classes, 0)], 0) / self._total
        return likely


def _buckets(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The height of each bucket's own class, and the class above it.

    The free part of a rare class's bucket is filled from a frequent class, which may become rare by that.
    """
    size = len(weights)
    height = ((weights * np.float32(size)).astype(np.float64) / weights.astype(np.float64).sum()).tolist()
    other = list(range(size))
    rare = [place for place in range(size) if height[place] < 1]
    frequent = [place for place in range(size) if not height[place] < 1]
    while rare and frequent:
        low, high = rare.pop(), frequent.pop()
        other[low] = high
        height[high] -= 1 - height[low]
        (rare if height[high] < 1 else frequent).append(high)
    for place in rare + frequent:  # full, except for rounding errors
        height[place] = 1.0
    return np.array(height, np.float32), np.array(other, np.int64)
