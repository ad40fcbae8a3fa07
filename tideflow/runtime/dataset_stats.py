"""Statistics of input pipelines: the latency and the size of elements, collected while steps run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch

from tideflow.runtime.datasets import Dataset, Element, Iteration, OfOne, Pull, Same
from tideflow.runtime.waiting import StepContext


class StatsAggregator:
    """Collects numbers by tag."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._numbers: dict[str, list[float]] = {}
        self._latest: dict[str, float] = {}
        self._write: Callable[[str, list[float] | float], None] | None = None

    def write_by(self, write: Callable[[str, list[float] | float], None]) -> None:
        """From here on, `write(tag, value)` is called when there is a new number: with all numbers of a
        histogram, or with one that stands for itself.
        """
        with self._lock:
            self._write = write

    def set(self, tag: str, number: float) -> None:
        """Says what a number is by now."""
        with self._lock:
            self._latest[tag] = number
            if self._write is not None:
                self._write(tag, number)

    def add(self, tag: str, number: float) -> None:
        """Adds a number to a histogram."""
        with self._lock:
            numbers = self._numbers.setdefault(tag, [])
            numbers.append(number)
            if self._write is not None:
                self._write(tag, numbers)

    def all(self) -> dict[str, list[float] | float]:
        """What there is so far, by tag: the histograms, then the single numbers, in the order of the tags."""
        with self._lock:
            histograms = {tag: list(self._numbers[tag]) for tag in sorted(self._numbers)}
            return histograms | {tag: self._latest[tag] for tag in sorted(self._latest)}


class WithAggregator(Same):
    """The source. Its statistics go to an aggregator, under tags that begin with a prefix.

    `names` are those of the datasets that the source is made of, by their ids.
    """

    def __init__(
        self, source: Dataset, aggregator: StatsAggregator, prefix: str, names: Mapping[int, str]
    ) -> None:
        super().__init__(source)
        self._aggregator, self._prefix, self._names = aggregator, f"{prefix}::" if prefix else "", names

    def iterate(self, iteration: Iteration) -> Pull:
        iteration.statistics = self
        return super().iterate(iteration)

    def add(self, tag: str, number: float) -> None:
        """Adds a number to a histogram."""
        self._aggregator.add(self._prefix + tag, number)

    def of(self, dataset: Dataset) -> _OfDataset | None:
        """What takes the statistics of a dataset."""
        name = self._names.get(id(dataset))
        return None if name is None else _OfDataset(self._aggregator, f"{self._prefix}{name}::")

    iterate_many = Dataset.iterate_many


class _OfDataset:
    """Takes the statistics of a dataset, under its name."""

    def __init__(self, aggregator: StatsAggregator, prefix: str) -> None:
        self._aggregator, self._prefix = aggregator, prefix

    def set(self, name: str, number: float) -> None:
        self._aggregator.set(self._prefix + name, number)

    def add(self, name: str, number: float) -> None:
        self._aggregator.add(self._prefix + name, number)


class Measured(OfOne):
    """The source.

    For each element, `measure(element, microseconds)` is recorded, if there is an aggregator.
    """

    def __init__(self, source: Dataset, tag: str, measure: Callable[[Element, float], float]) -> None:
        super().__init__(source)
        self._tag, self._measure = tag, measure

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)

        def pull(context: StepContext) -> Element:
            began = time.perf_counter()
            element = following(context)
            if iteration.statistics is not None:
                iteration.statistics.add(
                    self._tag, self._measure(element, 1e6 * (time.perf_counter() - began))
                )
            return element

        return pull

    def cardinality(self) -> int:
        return self.source.cardinality()


def latency(element: Element, microseconds: float) -> float:
    return microseconds


def bytes_produced(element: Element, microseconds: float) -> float:
    return float(sum(map(_bytes_of, element)))


def _bytes_of(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return value.nbytes
    return sum(len(cell) for cell in value.ravel().tolist() if isinstance(cell, bytes))
