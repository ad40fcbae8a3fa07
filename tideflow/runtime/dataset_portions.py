"""Datasets that give a part of another's elements: smaller batches, samples, what a flag lets pass."""

from __future__ import annotations

import threading

import numpy as np

from tideflow.runtime.dataset_functions import holds
from tideflow.runtime.dataset_random import random_words, seeds_or_random
from tideflow.runtime.datasets import Dataset, Element, Iteration, OfOne, Pull, refuse
from tideflow.runtime.waiting import StepContext


class Rebatch(OfOne):
    """Batches cut into as many parts as there are replicas; the last ones may be smaller, or empty. The
    components may have batches of different sizes.
    """

    def __init__(self, source: Dataset, replicas: int) -> None:
        super().__init__(source)
        if replicas < 1:
            raise refuse(f"num_replicas must be greater than zero (currently num_replicas = {replicas}).")
        self._replicas = replicas

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        rest: list[Element] = []

        def pull(context: StepContext) -> Element:
            if not rest:
                batch = following(context)
                if any(not value.ndim for value in batch):
                    raise refuse("Cannot rebatch a dataset with an element that has no batch dimension.")
                sizes = [-(-len(value) // self._replicas) for value in batch]
                parts = list(zip(batch, sizes, strict=True))
                for i in range(self._replicas):
                    rest.append(tuple(value[i * size : (i + 1) * size] for value, size in parts))
            return rest.pop(0)

        return pull


class Once(OfOne):
    """The source, over which a single pass goes."""

    _began = False

    def iterate(self, iteration: Iteration) -> Pull:
        if self._began:
            raise refuse("Cannot create more than one WrapperIterator per WrapperDataset.")
        self._began = True
        return self.source.iterate(iteration)

    def cardinality(self) -> int:
        return self.source.cardinality()


class Sampling(OfOne):
    """Each element with a probability."""

    def __init__(self, source: Dataset, rate: float, seed: int, seed2: int) -> None:
        super().__init__(source)
        self._rate, self._seeds = np.float32(rate), seeds_or_random(seed, seed2)

    def iterate(self, iteration: Iteration) -> Pull:
        following, words = self.source.iterate(iteration), random_words(*self._seeds)

        def pull(context: StepContext) -> Element:
            while True:
                element = following(context)
                if _as_fraction(next(words)) < self._rate:
                    return element

        return pull


def _as_fraction(word: int) -> float:
    """A number from 0 up to 1, of the last bits of a word, as TensorFlow makes it."""
    return float(np.uint32((127 << 23) | (word & 0x7FFFFF)).view(np.float32)) - 1.0


class ByLast(OfOne):
    """The elements whose last component is true, without that component."""

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)

        def pull(context: StepContext) -> Element:
            while True:
                *element, kept = following(context)
                if holds((kept,)):
                    return tuple(element)

        return pull


class Sleep(OfOne):
    """The elements, each after a pause."""

    def __init__(self, source: Dataset, microseconds: int) -> None:
        super().__init__(source)
        self._seconds = microseconds / 1e6

    def iterate(self, iteration: Iteration) -> Pull:
        following, stopped = self.source.iterate(iteration), threading.Event()
        iteration.at_end(stopped.set)

        def pull(context: StepContext) -> Element:
            element = following(context)
            stopped.wait(self._seconds)
            return element

        return pull

    def cardinality(self) -> int:
        return self.source.cardinality()
