"""Iterators whose elements several devices take in turn, each its own."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from tideflow.graph import errors
from tideflow.graph.errors import OutOfRangeError
from tideflow.runtime.datasets import Dataset, Element
from tideflow.runtime.iterators import DatasetIterator, end_of_sequence
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import StepContext


class MultiDeviceIterator:
    """Gives the elements of a dataset to devices in turn: element `i` is for device `i % count`."""

    def __init__(
        self, name: str, count: int, types: Sequence[Any], shapes: Sequence[Any], resources: ResourceManager
    ) -> None:
        self.name, self.types, self.shapes, self.count = name, list(types), list(shapes), count
        self._iterator = DatasetIterator(name, types, shapes, resources)
        self._waiting: list[collections.deque[Element]] = []
        self._incarnation = self._next = 0
        self._started = False

    def start(self, dataset: Dataset, context: StepContext) -> int:
        """Begins a pass over a dataset; its number, by which its elements are asked for."""
        self._iterator.start(dataset, context)
        self._waiting = [collections.deque() for _ in range(self.count)]
        self._started, self._next = True, 0
        self._incarnation += 1
        return self._incarnation

    def next_of(self, shard: int, incarnation: int, context: StepContext) -> Element:
        """The next element for a device. Those of others that come before it are kept for them."""
        if not self._started:
            raise errors.failed_precondition("MultiDeviceIterator has not been initialized.")
        if incarnation != self._incarnation:
            raise errors.invalid_argument(
                f"Invalid incarnation id. Provided: {incarnation}; Expected: {self._incarnation}"
            )
        if not 0 <= shard < self.count:
            raise errors.invalid_argument(
                f"Invalid shard_num provided: {shard}; there are {self.count} devices."
            )
        while not self._waiting[shard]:
            try:
                element = self._iterator.next(context)
            except OutOfRangeError:
                raise end_of_sequence() from None
            self._waiting[self._next % self.count].append(element)
            self._next += 1
        return self._waiting[shard].popleft()
