"""What is accumulated of one feature: presence, numbers of values, and its numbers or byte strings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tideflow.graph import errors
from tideflow.pipeline.data.lists import is_list, lengths_of
from tideflow.pipeline.engine.moments import Moments
from tideflow.pipeline.engine.quantiles import Quantiles
from tideflow.pipeline.engine.value_counts import ValueCounts
from tideflow.pipeline.messages.statistics import FeatureNameStatistics
from tideflow.pipeline.statistics.language import Language
from tideflow.pipeline.statistics.options import Path

INT, FLOAT, STRING, BYTES, STRUCT = (
    FeatureNameStatistics.Type.Value(name) for name in ("INT", "FLOAT", "STRING", "BYTES", "STRUCT")
)
_NONE = np.iinfo(np.int64).max
_LONGEST_SIGNATURE = 8  # bytes of an image that say its format
# By the number of TimeDomain.IntegerTimeFormat: how many units a day has. Times are those from 1990 to 2030.
_UNITS = {5: 1, 1: 86_400, 2: 86_400_000, 3: 86_400_000_000, 4: 86_400_000_000_000}
_FIRST_DAY, _LAST_DAY = 7305, 21915


@dataclass
class Level:
    """One level of lists: how many are there, and how many elements they have."""

    non_missing: int = 0
    least: int = _NONE
    most: int = 0
    total: int = 0
    weighted_non_missing: float = 0.0
    weighted_total: float = 0.0
    lengths: Quantiles = field(default_factory=Quantiles)

    def add(self, lengths: np.ndarray, present: np.ndarray | None, weights: np.ndarray | None) -> None:
        """Adds lists: the length of each, which of them are there (None: all), and the weight of each."""
        there = lengths if present is None else lengths[present]
        self.non_missing += len(there)
        if len(there):
            least, most = int(there.min()), int(there.max())
            self.least, self.most = min(self.least, least), max(self.most, most)
            self.total += int(there.sum())
            if least == most:
                self.lengths.add(np.array([least]), np.array([len(there)]))
            else:
                self.lengths.add(*np.unique(there, return_counts=True))
        if weights is not None:
            weights_there = weights if present is None else weights[present]
            self.weighted_non_missing += float(weights_there.sum())
            self.weighted_total += float((there * weights_there).sum())

    def merge(self, others: Iterable[Level]) -> None:
        """Adds what others have."""
        others = list(others)
        every = [self, *others]
        self.non_missing = sum(each.non_missing for each in every)
        self.least, self.most = min(each.least for each in every), max(each.most for each in every)
        self.total = sum(each.total for each in every)
        self.weighted_non_missing = sum(each.weighted_non_missing for each in every)
        self.weighted_total = sum(each.weighted_total for each in every)
        self.lengths.merge([each.lengths for each in others])


@dataclass
class Numbers:
    """The numbers of a feature. Means are those of the finite ones."""

    zeros: int = 0
    nans: int = 0
    infinite: tuple[int, int] = (0, 0)  # how many are minus and plus infinity
    infinite_weight: float = 0.0  # of plus infinity
    least: float = np.inf
    most: float = -np.inf
    quantiles: Quantiles = field(default_factory=Quantiles)
    moments: Moments = field(default_factory=Moments)
    weighted_quantiles: Quantiles | None = None
    weighted_moments: Moments | None = None

    def add(self, values: np.ndarray, weights: np.ndarray | None) -> None:
        """Adds numbers and the weight of each."""
        if not len(values):
            return
        finite = values.astype(np.float64)
        finite += 0.0  # there is one zero
        if values.dtype.kind == "f":
            nan = np.isnan(finite)
            if nan.any():
                self.nans += int(nan.sum())
                finite, weights = finite[~nan], None if weights is None else weights[~nan]
        self.quantiles.add(finite)
        if weights is not None:
            if self.weighted_quantiles is None or self.weighted_moments is None:
                self.weighted_quantiles, self.weighted_moments = Quantiles(), Moments()
            self.weighted_quantiles.add(finite, weights)
        if values.dtype.kind == "f":
            finite, weights = self._set_infinities_aside(finite, weights)
        if not len(finite):
            return
        self.least, self.most = min(self.least, float(finite.min())), max(self.most, float(finite.max()))
        self.zeros += len(finite) - int(np.count_nonzero(finite))
        self.moments.merge([Moments.of(finite)])
        if weights is not None and self.weighted_moments is not None:
            self.weighted_moments.merge([Moments.of(finite, weights)])

    def _set_infinities_aside(
        self, values: np.ndarray, weights: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        is_infinite = np.isinf(values)
        if not is_infinite.any():
            return values, weights
        is_plus = is_infinite & (values > 0)
        plus, both = int(is_plus.sum()), int(is_infinite.sum())
        self.infinite = (self.infinite[0] + both - plus, self.infinite[1] + plus)
        if weights is not None:
            self.infinite_weight += float(weights[is_plus].sum())
            weights = weights[~is_infinite]
        return values[~is_infinite], weights

    def merge(self, others: Iterable[Numbers]) -> None:
        """Adds what others have."""
        for other in others:
            self.zeros += other.zeros
            self.nans += other.nans
            self.infinite = (self.infinite[0] + other.infinite[0], self.infinite[1] + other.infinite[1])
            self.infinite_weight += other.infinite_weight
            self.least, self.most = min(self.least, other.least), max(self.most, other.most)
            self.quantiles.merge([other.quantiles])
            self.moments.merge([other.moments])
            if other.weighted_quantiles is not None and other.weighted_moments is not None:
                self.weighted_quantiles = (self.weighted_quantiles or Quantiles()).merge(
                    [other.weighted_quantiles]
                )
                self.weighted_moments = (self.weighted_moments or Moments()).merge([other.weighted_moments])


@dataclass
class Sizes:
    """The number of bytes of each value of a feature that the schema says is bytes."""

    total: int = 0
    least: int = _NONE
    most: int = 0
    begins: Counter[bytes] = field(default_factory=Counter)  # how often values begin with these bytes

    def add(self, values: pa.Array) -> None:
        """Adds values."""
        if len(values):
            for pair in pc.value_counts(pc.binary_slice(values, 0, _LONGEST_SIGNATURE)).to_pylist():
                self.begins[pair["values"]] += pair["counts"]
            sizes = pc.binary_length(values).to_numpy()
            self.total += int(sizes.sum())
            self.least, self.most = min(self.least, int(sizes.min())), max(self.most, int(sizes.max()))

    def merge(self, others: Iterable[Sizes]) -> None:
        """Adds what others have."""
        for other in others:
            self.total += other.total
            self.least, self.most = min(self.least, other.least), max(self.most, other.most)
            self.begins.update(other.begins)


@dataclass
class Feature:
    """All of one feature."""

    path: Path
    kind: int | None = None  # INT, FLOAT, STRING or STRUCT; None while no row has it
    hint: int = STRING  # the type of columns without a row that has it
    levels: list[Level] = field(default_factory=list)
    innermost: Level | None = None  # of nested lists: how many values a row has
    numbers: Numbers | None = None
    counts: ValueCounts | None = None
    sizes: Sizes | None = None
    language: Language | None = None  # of a feature that the schema says is language
    times: Counter[int] = field(default_factory=Counter)  # of integers: how many are times in each unit

    def add(
        self,
        array: pa.Array,
        weights: np.ndarray | None,
        is_bytes: bool,
        is_category: bool,
        look_for_times: bool = False,
    ) -> None:
        """Adds a column of a block, and the weight of each of its rows.

        Args:
          array: Lists.
          weights: Of each list its weight.
          is_bytes: Whether the schema says that it is bytes.
          is_category: Whether the schema says that its integers are categories.
          look_for_times: Whether integers are counted that may be times.
        """
        values, of_values = self._add_levels(array, weights)
        kind = kind_of(values.type)
        if kind is None or array.null_count == len(array):
            self.hint = self.hint if kind is None or kind == STRING else kind
            return
        self._is_of(kind)
        if kind == STRUCT:
            return
        if kind == INT and look_for_times:
            _count_times(self.times, values.to_numpy(zero_copy_only=False))
        if kind == STRING and is_bytes:
            self.sizes = self.sizes or Sizes()
            self.sizes.add(values)
        elif kind == STRING or (kind == INT and is_category):
            self.counts = self.counts or ValueCounts()
            self.counts.add(values, of_values)
        else:
            self.numbers = self.numbers or Numbers()
            self.numbers.add(values.to_numpy(zero_copy_only=False), of_values)

    def _add_levels(self, array: pa.Array, weights: np.ndarray | None) -> tuple[pa.Array, np.ndarray | None]:
        """Counts lists, level by level. Returns the values in all of them, and the weight of each."""
        depth = 0
        whole: tuple[np.ndarray, np.ndarray | None] | None = None
        rows = None
        while is_list(array.type) or pa.types.is_null(array.type):
            if len(self.levels) <= depth:
                self.levels.append(Level())
            if pa.types.is_null(array.type):
                break
            lengths, present = lengths_of(array)
            self.levels[depth].add(lengths, present, weights)
            if whole is None:
                whole = lengths, present
                rows = (
                    None if not is_list(array.type.value_type) else np.repeat(np.arange(len(array)), lengths)
                )
            elif rows is not None:
                rows = np.repeat(rows, lengths)
            if weights is not None:
                weights = np.repeat(weights, lengths)
            array = array.flatten()
            depth += 1
        if rows is not None and whole is not None:
            self.innermost = self.innermost or Level()
            self.innermost.add(np.bincount(rows, minlength=len(whole[0])), whole[1], None)
        return array, weights

    def settle(self) -> None:
        """Sorts and counts the values that wait for it."""
        if self.numbers is not None:
            self.numbers.quantiles.settle()
            if self.numbers.weighted_quantiles is not None:
                self.numbers.weighted_quantiles.settle()
        if self.counts is not None:
            self.counts.settle()

    def _is_of(self, kind: int) -> None:
        if self.kind is None:
            self.kind = kind
        elif self.kind != kind:
            name = FeatureNameStatistics.Type.Name
            raise errors.invalid_argument(
                f"Cannot determine the type of feature {'.'.join(self.path)}. Found values of types "
                f"{name(self.kind)} and {name(kind)}."
            )

    def merge(self, others: Iterable[Feature]) -> Feature:
        """Adds what others have; returns self."""
        for other in others:
            if other.kind is not None:
                self._is_of(other.kind)
            self.hint = self.hint if other.hint == STRING else other.hint
            self.times.update(other.times)
            while len(self.levels) < len(other.levels):
                self.levels.append(Level())
            for mine, its in zip(self.levels, other.levels):
                mine.merge([its])
            for name, make in (
                ("innermost", Level),
                ("numbers", Numbers),
                ("counts", ValueCounts),
                ("sizes", Sizes),
                ("language", Language),
            ):
                its_part = getattr(other, name)
                if its_part is not None:
                    if getattr(self, name) is None:
                        setattr(self, name, make())
                    getattr(self, name).merge([its_part])
        return self


def _count_times(times: Counter[int], values: np.ndarray) -> None:
    """Counts the integers that are times in each unit."""
    for unit, of_day in _UNITS.items():
        found = int(((values >= _FIRST_DAY * of_day) & (values < _LAST_DAY * of_day)).sum())
        if found:
            times[unit] += found


def kind_of(kind: pa.DataType) -> int | None:
    """The type of a feature whose values have a type of Arrow's; None if it has no values."""
    if pa.types.is_null(kind):
        return None
    if pa.types.is_integer(kind):
        return int(INT)
    if pa.types.is_floating(kind):
        return int(FLOAT)
    if pa.types.is_struct(kind):
        return int(STRUCT)
    return int(STRING)
