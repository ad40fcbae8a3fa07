"""How the parts of sparse and weighted features fit together: which are missing, and whose lengths differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tideflow.pipeline.data.lists import lengths_of
from tideflow.pipeline.statistics.options import Path


@dataclass(frozen=True)
class Composite:
    """A sparse feature (a value and indices by name) or a weighted one (a value and its weight)."""

    path: Path
    value: Path
    others: tuple[Path, ...]
    is_sparse: bool


@dataclass
class Fit:
    """Over the rows with any part: how often each is missing, and how much longer than the value it is."""

    missing: dict[Path, int] = field(default_factory=dict)
    least: dict[Path, int] = field(default_factory=dict)
    most: dict[Path, int] = field(default_factory=dict)

    def add(self, composite: Composite, columns: Mapping[Path, pa.Array], rows: int) -> None:
        """Adds rows: the columns of a block by path."""
        parts = (composite.value, *composite.others)
        found = {path: _lengths(columns.get(path), rows) for path in parts}
        any_there = np.any([present for _, present in found.values()], axis=0)
        for path, (lengths, present) in found.items():
            self.missing[path] = self.missing.get(path, 0) + int((any_there & ~present).sum())
            differences = (lengths - found[composite.value][0])[any_there]
            if path != composite.value and len(differences):
                self.least[path] = min(self.least.get(path, int(differences[0])), int(differences.min()))
                self.most[path] = max(self.most.get(path, int(differences[0])), int(differences.max()))

    def merge(self, others: Sequence[Fit]) -> Fit:
        """Adds others; returns self."""
        for other in others:
            for path, count in other.missing.items():
                self.missing[path] = self.missing.get(path, 0) + count
            for path, least in other.least.items():
                self.least[path] = min(self.least.get(path, least), least)
                self.most[path] = max(self.most.get(path, other.most[path]), other.most[path])
        return self


def _lengths(column: pa.Array | None, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The length of each list, and which are there."""
    if column is None or pa.types.is_null(column.type):
        return np.zeros(rows, np.int64), np.zeros(rows, bool)
    lengths, present = lengths_of(column)
    return lengths.astype(np.int64), np.ones(rows, bool) if present is None else present


def composites_of(schema: Any, within: Path = ()) -> Iterator[Composite]:
    """The sparse and weighted features of a schema, and of the structs in it."""
    for sparse in schema.sparse_feature:
        indices = sorted((*within, index.name) for index in sparse.index_feature)
        yield Composite(
            (*within, sparse.name), (*within, sparse.value_feature.name), tuple(indices), is_sparse=True
        )
    if not within:
        for weighted in schema.weighted_feature:
            weight = tuple(weighted.weight_feature.step)
            yield Composite((weighted.name,), tuple(weighted.feature.step), (weight,), is_sparse=False)
    for feature in schema.feature:
        if feature.HasField("struct_domain"):
            yield from composites_of(feature.struct_domain, (*within, feature.name))


def fill_fit(message: Any, composite: Composite, fit: Fit) -> None:
    """Adds the statistics of a sparse or weighted feature to the message of a data set."""
    feature = message.features.add()
    feature.path.step.extend(composite.path)
    missing_value = fit.missing.get(composite.value, 0)
    if not composite.is_sparse:
        (weight,) = composite.others
        numbers = {
            "missing_weight": fit.missing.get(weight, 0),
            "missing_value": missing_value,
            "min_weight_length_diff": fit.least.get(weight, 0),
            "max_weight_length_diff": fit.most.get(weight, 0),
        }
        for name, number in numbers.items():
            feature.custom_stats.add(name=name, num=number)
        return
    feature.custom_stats.add(name="missing_value", num=missing_value)
    for name, numbers_of in (
        ("missing_index", fit.missing),
        ("max_length_diff", fit.most),
        ("min_length_diff", fit.least),
    ):
        ranks = feature.custom_stats.add(name=name).rank_histogram
        for index in composite.others:
            ranks.buckets.add(label=index[-1], sample_count=numbers_of.get(index, 0))
