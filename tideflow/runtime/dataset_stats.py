"""Statistics of pipelines: how long elements take and how large they are, gathered while steps run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import torch

from tideflow.runtime.datasets import Dataset, Element, Iteration, OfOne, Pull, Same


class StatsAggregator:
    """Numbers by tag."""

    def __init__(self, name: str):
        self.name = name
        self._lock = threading.Lock()
        self._numbers: dict[str, list[float]] = {}

    def add(self, tag: str, number: float) -> None:
        with self._lock:
            self._numbers.setdefault(tag, []).append(number)

    def all(self) -> dict[str, list[float]]:
        """Everything so far, tags in order."""
        with self._lock:
            return {tag: list(self._numbers[tag]) for tag in sorted(self._numbers)}


class WithAggregator(Same):
    """The other dataset, whose statistics go to an aggregator, under tags that begin with a prefix."""

    def __init__(self, source: Dataset, aggregator: StatsAggregator, prefix: str):
        super().__init__(source)
        self._aggregator, self._prefix = aggregator, f"{prefix}_" if prefix else ""

    def iterate(self, iteration: Iteration) -> Pull:
        iteration.tell = lambda tag, number: self._aggregator.add(self._prefix + tag, number)
        return super().iterate(iteration)

    iterate_many = Dataset.iterate_many


class Measured(OfOne):
    """The other dataset. What `measure` finds at each element is told to the aggregator, if there is one;
    it is given the element and the microseconds that it took.
    """

    def __init__(self, source: Dataset, tag: str, measure: Callable[[Element, float], float]):
        super().__init__(source)
        self._tag, self._measure = tag, measure

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)

        def pull() -> Element:
            began = time.perf_counter()
            element = following()
            tell = iteration.tell
            if tell is not None:
                tell(self._tag, self._measure(element, 1e6 * (time.perf_counter() - began)))
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
