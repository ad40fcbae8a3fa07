"""Random datasets: random numbers, and elements in random order.

For given seeds both are TensorFlow's own.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator

import numpy as np
import torch

from tideflow.runtime.dataset_joins import Concatenate, Directed, Zip
from tideflow.runtime.datasets import (
    INFINITE,
    Dataset,
    Element,
    End,
    Iteration,
    OfOne,
    Pull,
    Repeat,
    refuse,
)
from tideflow.runtime.philox import Philox
from tideflow.runtime.waiting import StepContext


def seeds_or_random(seed: int, seed2: int) -> tuple[int, int]:
    """The seeds, or a random pair if both are zero."""
    if seed or seed2:
        return seed, seed2
    first, second = np.random.default_rng().integers(1, 1 << 62, 2)
    return int(first), int(second)


def random_words(seed: int, seed2: int) -> Iterator[int]:
    """The stream of 32-bit words of a pair of seeds."""
    generator, start = Philox.from_seeds(seed, seed2), 0
    while True:
        yield from generator.words(start, 256).reshape(-1).tolist()
        start += 256


class Random(Dataset):
    """An infinite sequence of random 32-bit numbers."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._seeds = seeds_or_random(seed, seed2)

    def iterate(self, iteration: Iteration) -> Pull:
        words = random_words(*self._seeds)
        return lambda context: (torch.tensor(next(words)),)

    def cardinality(self) -> int:
        return INFINITE


class SeedGenerator:
    """Gives the seeds of one pass after the other."""

    def __init__(self, seed: int, seed2: int) -> None:
        self.seeds = seeds_or_random(seed, seed2)
        self._words = random_words(*self.seeds)

    def following(self) -> tuple[int, int]:
        """The seeds of the next pass."""
        return next(self._words), next(self._words)


class Shuffle(OfOne):
    """Elements in random order: each is drawn from a buffer of the next `size`.

    Each pass has a different order if `reshuffle` is set; with seeds, the orders are the same for every
    iterator.
    """

    def __init__(self, source: Dataset, size: int, seed: int, seed2: int, reshuffle: bool = True) -> None:
        super().__init__(source)
        self.size, self.reshuffle = _buffer_size(size), reshuffle
        self._seed_generator = None if seed or seed2 else SeedGenerator(seed, seed2)
        self.seeds = (seed, seed2) if self._seed_generator is None else self._seed_generator.seeds

    def iterate(self, iteration: Iteration) -> Pull:
        seeds = self._generator(iteration).following() if self.reshuffle else self.seeds
        return _shuffled(self.source, 1, self.size, random_words(*seeds), iteration.inner("shuffled"))

    def _generator(self, iteration: Iteration) -> SeedGenerator:
        if self._seed_generator is not None:
            return self._seed_generator
        key = ("shuffle", iteration.place, self.seeds, self.size)
        kept: SeedGenerator = iteration.whole.keep(key, lambda: SeedGenerator(*self.seeds))
        return kept

    def cardinality(self) -> int:
        return self.source.cardinality()


class ShuffleBySeeds(OfOne):
    """Elements in random order, another in each pass, by the seeds of a generator that lives beside it."""

    def __init__(self, source: Dataset, size: int, generator: SeedGenerator) -> None:
        super().__init__(source)
        self._size, self._generator = _buffer_size(size), generator

    def iterate(self, iteration: Iteration) -> Pull:
        words = random_words(*self._generator.following())
        return _shuffled(self.source, 1, self._size, words, iteration)

    def cardinality(self) -> int:
        return self.source.cardinality()


class ShuffleAndRepeat(OfOne):
    """Shuffled epochs with one random stream. The next epoch is read into the buffer while one epoch ends."""

    def __init__(self, source: Dataset, size: int, seed: int, seed2: int, count: int) -> None:
        super().__init__(source)
        self._size, self._count = _buffer_size(size), count
        self._seeds = seeds_or_random(seed, seed2)

    def iterate(self, iteration: Iteration) -> Pull:
        return _shuffled(self.source, self._count, self._size, random_words(*self._seeds), iteration)

    def cardinality(self) -> int:
        return Repeat(self.source, self._count).cardinality()


def _buffer_size(size: int) -> int:
    if size < 1:
        raise refuse("buffer_size must be greater than zero.")
    return size


def _shuffled(source: Dataset, count: int, size: int, words: Iterator[int], iteration: Iteration) -> Pull:
    """`count` epochs of a dataset (infinitely many if negative), each shuffled, in one buffer."""
    epochs: collections.deque[collections.deque[Element]] = collections.deque([collections.deque()])
    held, number = 0, 0
    following: Pull | None = None if not count else source.iterate(iteration)
    part = iteration

    def fill(context: StepContext) -> None:
        nonlocal held, number, following, part
        while following is not None and held < size:
            try:
                epochs[-1].append(following(context))
                held += 1
            except End:
                number += 1
                if number == count or count < 0 and not held and not epochs[-1]:
                    following = None
                    return
                if part is not iteration:
                    part.stop()
                part = iteration.inner()
                following = source.iterate(part)
                epochs.append(collections.deque())

    def pull(context: StepContext) -> Element:
        nonlocal held
        fill(context)
        if not held:
            raise End
        while not epochs[0]:
            epochs.popleft()
        first = epochs[0]
        # The first element moves to the place of the chosen one, so that only the first place is removed.
        chosen = next(words) % len(first)
        element, first[chosen] = first[chosen], first[0]
        first.popleft()
        held -= 1
        return element

    return pull


def fused(dataset: Dataset) -> Dataset:
    """Repeat(Shuffle(x)) -> ShuffleAndRepeat(x), everywhere in a pipeline."""
    if isinstance(dataset, Repeat) and isinstance(dataset.source, Shuffle) and dataset.source.reshuffle:
        shuffle = dataset.source
        return ShuffleAndRepeat(fused(shuffle.source), shuffle.size, *shuffle.seeds, dataset.count)
    if isinstance(dataset, OfOne):
        dataset.source = fused(dataset.source)
    elif isinstance(dataset, (Zip, Concatenate, Directed)):
        dataset.sources = [fused(source) for source in dataset.sources]
    return dataset
