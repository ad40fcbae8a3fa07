"""Lift: how much likelier a label is in the rows that have a value of a categorical feature.

`lift(x, y) = P(y | x) / P(y)`. Of a feature with several values in a row, x means that x is among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tideflow.pipeline.data.lists import is_list, lengths_of
from tideflow.pipeline.statistics.feature_messages import text_of
from tideflow.pipeline.statistics.options import Path

Value = Any  # bytes or int


@dataclass
class Lift:
    """How many rows, or which weight of rows, have each label, each value of each feature, and both."""

    rows: int = 0
    labels: Counter[Value] = field(default_factory=Counter)
    values: dict[Path, Counter[Value]] = field(default_factory=dict)
    both: dict[Path, Counter[tuple[Value, Value]]] = field(default_factory=dict)

    def merge(self, others: Sequence[Lift]) -> Lift:
        """Adds others; returns self."""
        for other in others:
            self.rows += other.rows
            self.labels.update(other.labels)
            for path, counts in other.values.items():
                self.values.setdefault(path, Counter()).update(counts)
            for path, pairs in other.both.items():
                self.both.setdefault(path, Counter()).update(pairs)
        return self

    def add(
        self,
        rows: int,
        label: pa.Array,
        label_weights: np.ndarray | None,
        features: dict[Path, tuple[pa.Array, np.ndarray | None]],
    ) -> None:
        """Adds rows.

        Args:
          rows: How many.
          label: The label's column.
          label_weights: Of each row the label's weight.
          features: By path, the column of a feature and the feature's weight of each row.
        """
        self.rows += rows
        of_label = _present(label)
        self.labels.update(_counted(of_label, label_weights))
        # Labels by row, so that the labels of a value's row are found by two searches.
        label_rows, label_codes, labels = of_label
        for path, (column, weights) in features.items():
            value_rows, codes, values = found = _present(column)
            self.values.setdefault(path, Counter()).update(_counted(found, weights))
            first = np.searchsorted(label_rows, value_rows, side="left")
            counts = np.searchsorted(label_rows, value_rows, side="right") - first
            ends = np.cumsum(counts)
            at = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts - first, counts)
            joint = np.repeat(codes, counts) * max(1, len(labels)) + label_codes[at]
            of_rows = np.repeat(value_rows, counts)
            pairs: Any = self.both.setdefault(path, Counter())  # of numbers; those of weights are not whole
            for code, count in _summed(joint, None if weights is None else weights[of_rows]):
                pairs[values[code // len(labels)], labels[code % len(labels)]] += count


def _present(column: pa.Array) -> tuple[np.ndarray, np.ndarray, list[Value]]:
    """Which values are in which rows, each once: rows (rising), codes of values, and the values by code."""
    rows = np.arange(len(column))
    while is_list(column.type):
        lengths, _ = lengths_of(column)
        rows = np.repeat(rows, lengths)
        column = column.flatten()
    encoded = column.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    keys = np.unique(rows * max(1, len(values)) + codes)
    return keys // max(1, len(values)), keys % max(1, len(values)), values


def _counted(
    present: tuple[np.ndarray, np.ndarray, list[Value]], weights: np.ndarray | None
) -> dict[Value, float]:
    rows, codes, values = present
    return {values[code]: count for code, count in _summed(codes, None if weights is None else weights[rows])}


def _summed(codes: np.ndarray, weights: np.ndarray | None) -> list[tuple[int, float]]:
    """Each different code with how often it occurs, or with the sum of its weights."""
    if weights is None:
        found, counts = np.unique(codes, return_counts=True)
        return list(zip(found.tolist(), counts.tolist()))
    found, at = np.unique(codes, return_inverse=True)
    return list(zip(found.tolist(), np.bincount(at, weights, len(found)).tolist()))


def fill_lift(message: Any, label: Path, state: Lift, is_weighted: bool) -> None:
    """Adds the lift of every feature to the message of a data set."""
    features = {tuple(feature.path.step): feature for feature in message.features}
    crosses = {
        tuple(cross.path_x.step): cross
        for cross in message.cross_features
        if tuple(cross.path_y.step) == label
    }
    for path, values in sorted(state.values.items()):
        if not values:
            continue
        cross = crosses.get(path)
        if cross is None:
            cross = message.cross_features.add()
            cross.path_x.step.extend(path)
            cross.path_y.step.extend(label)
        for y, y_count in sorted(state.labels.items()):
            series = cross.categorical_cross_stats.lift.lift_series.add()
            _set(series, "y", y)
            _set_count(series, "y_count", y_count, is_weighted)
            ranks = features[path].custom_stats.add(name=f"Lift (Y={text_of(y)})").rank_histogram
            for x, lift in _lifts(state, path, values, y, y_count):
                value = series.lift_values.add(lift=lift)
                _set(value, "x", x)
                _set_count(value, "x_count", values[x], is_weighted)
                _set_count(value, "x_and_y_count", state.both[path][x, y], is_weighted)
                ranks.buckets.add(label=text_of(x), sample_count=lift)


def _lifts(
    state: Lift, path: Path, values: Counter[Value], y: Value, y_count: float
) -> list[tuple[Value, float]]:
    """Values with their lift, the largest lift first."""
    rate = y_count / state.rows
    lifts = [
        (x, state.both[path][x, y] / x_count / rate) for x, x_count in values.items() if x_count and rate
    ]
    return sorted(lifts, key=lambda pair: (-pair[1], pair[0]))


def _set(message: Any, name: str, value: Value) -> None:
    if isinstance(value, bytes):
        setattr(message, f"{name}_string", text_of(value))
    else:
        setattr(message, f"{name}_int", value)


def _set_count(message: Any, name: str, count: float, is_weighted: bool) -> None:
    if is_weighted:
        setattr(message, f"weighted_{name}", count)
    else:
        setattr(message, name, int(count))
