"""`tensorflow.python.eager.monitoring`: counters and gauges of a process, by which programs tell what they
use. A metric has a cell for each set of values of its labels.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any, ClassVar

from tideflow.graph import errors

_metrics: set[str] = set()


class CounterCell:
    """A number that grows."""

    def __init__(self) -> None:
        self._value = 0

    def increase_by(self, value: int) -> None:
        """Adds a number that is not negative."""
        self._value += max(value, 0)

    def value(self) -> int:
        """The sum so far."""
        return self._value


class IntGaugeCell:
    """A value that is set."""

    _initial: ClassVar[Any] = 0

    def __init__(self) -> None:
        self._value = self._initial

    def set(self, value: Any) -> None:
        """Sets the value."""
        self._value = value

    def value(self) -> Any:
        """What was set last."""
        return self._value


class StringGaugeCell(IntGaugeCell):
    """A string that is set."""

    _initial = ""


class BoolGaugeCell(IntGaugeCell):
    """A truth value that is set."""

    _initial = False


class ExponentialBuckets:
    """Bounds between samples, each `growth_factor` times the one before."""

    def __init__(self, scale: float, growth_factor: float, bucket_count: int):
        self.bounds = [scale * growth_factor**place for place in range(bucket_count)]


class SamplerCell:
    """How many samples fell between bounds."""

    def __init__(self, bounds: Sequence[float]):
        self._bounds = list(bounds)
        self._counts = [0] * (len(self._bounds) + 1)

    def add(self, value: float) -> None:
        """Counts a sample."""
        self._counts[bisect.bisect_right(self._bounds, value)] += 1

    def value(self) -> list[int]:
        """The counts, the first of them below the first bound."""
        return list(self._counts)


class Metric:
    """What all metrics share: a name that no other has, and a cell for each set of labels.

    Args:
      name: The metric's name, like a path.
      description: What it tells.
      *labels: The names of its labels.

    Raises:
      AlreadyExistsError: If there is a metric of that name.
    """

    _cell: ClassVar[type]

    def __init__(self, name: str, description: str, *labels: str):
        if name in _metrics:
            raise errors.AlreadyExistsError(None, None, "Another metric with the same name already exists.")
        _metrics.add(name)
        self.name, self.description, self._labels = name, description, labels
        self._cells: dict[tuple[Any, ...], Any] = {}

    def get_cell(self, *labels: Any) -> Any:
        """The cell of these values of the labels."""
        if len(labels) != len(self._labels):
            raise ValueError(f"The {type(self).__name__} expects taking {len(self._labels)} labels")
        if labels not in self._cells:
            self._cells[labels] = self._made()
        return self._cells[labels]

    def _made(self) -> Any:
        return self._cell()


class Counter(Metric):
    """Numbers that grow."""

    _cell = CounterCell


class IntGauge(Metric):
    """Numbers that are set."""

    _cell = IntGaugeCell


class StringGauge(Metric):
    """Strings that are set."""

    _cell = StringGaugeCell


class BoolGauge(Metric):
    """Truth values that are set."""

    _cell = BoolGaugeCell


class Sampler(Metric):
    """Histograms.

    Args:
      name: The metric's name, like a path.
      buckets: The bounds between samples, an `ExponentialBuckets`.
      description: What it tells.
      *labels: The names of its labels.
    """

    def __init__(self, name: str, buckets: ExponentialBuckets, description: str, *labels: str):
        super().__init__(name, description, *labels)
        self._buckets = buckets

    def _made(self) -> SamplerCell:
        return SamplerCell(self._buckets.bounds)
