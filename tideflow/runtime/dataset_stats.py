"""Statistics of input pipelines: the latency and the size of elements, collected while steps run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
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
        self._write: Callable[[str, list[float]], None] | None = None

    def write_by(self, write: Callable[[str, list[float]], None]) -> None:
        """From here on, `write(tag, numbers)` is called with all numbers of a tag when there is a new one."""
        with self._lock:
            self._write = write

    def add(self, tag: str, number: float) -> None:
        with self._lock:
            numbers = self._numbers.setdefault(tag, [])
            numbers.append(number)
            if self._write is not None:
                self._write(tag, numbers)

    def all(self) -> dict[str, list[float]]:
        """All numbers so far, by tag, in the order of the tags."""
        with self._lock:
            return {tag: list(self._numbers[tag]) for tag in sorted(self._numbers)}


class WithAggregator(Same):
    """The source. Its statistics go to an aggregator, under tags that begin with a prefix."""

    def __init__(self, source: Dataset, aggregator: StatsAggregator, prefix: str) -> None:
        super().__init__(source)
        self._aggregator, self._prefix = aggregator, f"{prefix}_" if prefix else ""

    def iterate(self, iteration: Iteration) -> Pull:
        iteration.record = lambda tag, number: self._aggregator.add(self._prefix + tag, number)
        return super().iterate(iteration)

    iterate_many = Dataset.iterate_many


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
            record = iteration.record
            if record is not None:
                record(self._tag, self._measure(element, 1e6 * (time.perf_counter() - began)))
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
