"""Statistics of whole data sets, and of their slices, as an accumulator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from tideflow.graph import errors
from tideflow.pipeline.data.lists import is_list
from tideflow.pipeline.data.splits import row_hashes
from tideflow.pipeline.engine.accumulators import Accumulator
from tideflow.pipeline.messages.statistics import DatasetFeatureStatisticsList
from tideflow.pipeline.statistics.components import Composite, Fit, fill_fit
from tideflow.pipeline.statistics.crosses import Comoments, Pair, add_crosses, fill_crosses
from tideflow.pipeline.statistics.feature_messages import feature_message
from tideflow.pipeline.statistics.features import Feature, Level
from tideflow.pipeline.statistics.language import Language, Rules, language_rules
from tideflow.pipeline.statistics.lift import Lift, fill_lift
from tideflow.pipeline.statistics.options import Path, StatsOptions
from tideflow.pipeline.statistics.schema_facts import SchemaFacts, leaf_features
from tideflow.pipeline.statistics.slices import ALL, slices_of

Column = tuple[Path, pa.Array, dict[str, np.ndarray]]


@dataclass
class Dataset:
    """What was accumulated of a data set or a slice. `rows` is a level of one list: all its rows."""

    rows: Level = field(default_factory=Level)
    features: dict[Path, Feature] = field(default_factory=dict)
    crosses: dict[Pair, Comoments] = field(default_factory=dict)
    fits: dict[Composite, Fit] = field(default_factory=dict)
    lift: Lift = field(default_factory=Lift)
    weighted_lift: Lift = field(default_factory=Lift)

    def merge(self, other: Dataset) -> None:
        """Adds another."""
        self.rows.merge([other.rows])
        pairs: list[tuple[dict[Any, Any], dict[Any, Any]]] = [
            (self.features, other.features),
            (self.crosses, other.crosses),
            (self.fits, other.fits),
        ]
        for mine, its in pairs:
            for key, part in its.items():
                mine[key] = mine[key].merge([part]) if key in mine else part
        self.lift.merge([other.lift])
        self.weighted_lift.merge([other.weighted_lift])


@dataclass(frozen=True)
class Statistics(Accumulator):
    """The statistics of all rows and of slices. Its result is a DatasetFeatureStatisticsList."""

    options: StatsOptions = field(default_factory=StatsOptions)

    @property
    def is_threaded(self) -> bool:
        options = self.options
        return not (options.slice_functions or options.slice_sqls or self._languages)

    @cached_property
    def _facts(self) -> SchemaFacts:
        return SchemaFacts.of(self.options.schema)

    @cached_property
    def _languages(self) -> dict[Path, Rules]:
        return (
            {}
            if self.options.schema is None
            else language_rules(leaf_features(self.options.schema), self.options)
        )

    def create(self) -> dict[str, Dataset]:
        return {ALL: Dataset()}

    def add(self, state: dict[str, Dataset], block: pa.RecordBatch) -> dict[str, Dataset]:
        if self.options.sample_rate is not None:
            block = sampled(block, self.options.sample_rate)
        for name, rows in slices_of(block, self.options):
            self._add(state.setdefault(name, Dataset()), self._chosen(rows))
        return state

    def _chosen(self, block: pa.RecordBatch) -> pa.RecordBatch:
        wanted = self.options.feature_allowlist
        if wanted is None:
            return block
        return block.select([name for name in block.schema.names if name in wanted])

    def _add(self, dataset: Dataset, block: pa.RecordBatch) -> None:
        facts = self._facts
        names = {self.options.weight_feature, *self.options.per_feature_weight_override.values()} - {None}
        weights = {name: weights_of(block, name) for name in names if name is not None}
        count = block.num_rows
        dataset.rows.total += count
        if self.options.weight_feature is not None:
            dataset.rows.weighted_total += float(weights[self.options.weight_feature].sum())
        columns = {path: (array, its) for path, array, its in columns_of(block, weights)}
        for path, (array, its_weights) in columns.items():
            feature = dataset.features.get(path)
            if feature is None:
                feature = dataset.features[path] = Feature(path)
            feature.add(
                array,
                its_weights.get(self.options.weight_of(path) or ""),
                is_bytes=path in facts.images,
                is_category=path in facts.categories,
                look_for_times=self.options.enable_semantic_domain_stats,
            )
            if path in self._languages:
                feature.language = feature.language or Language()
                feature.language.add(array, self._languages[path], self.options.num_histogram_buckets)
        if self.options.cross_features:
            add_crosses(dataset.crosses, block, self.options.cross_features)
        for composite in facts.composites:
            arrays = {path: array for path, (array, _) in columns.items()}
            dataset.fits.setdefault(composite, Fit()).add(composite, arrays, count)
        if self._label is not None:
            self._add_lift(dataset, block, weights)

    @property
    def _label(self) -> str | None:
        """The label whose lift is computed: only a schema says which features are categorical."""
        return self.options.label_feature if self.options.schema is not None else None

    def _add_lift(self, dataset: Dataset, block: pa.RecordBatch, weights: dict[str, np.ndarray]) -> None:
        assert self._label is not None
        if (self._label,) not in self._facts.categorical:
            raise errors.invalid_argument(f"The label {self._label} is no categorical feature of the schema")

        def weight(path: Path, is_weighted: bool) -> np.ndarray | None:
            return weights.get(self.options.weight_of(path) or "") if is_weighted else None

        names = set(block.schema.names)
        if self._label not in names:
            return
        paths = [path for path in self._facts.categorical if path[0] in names and path[0] != self._label]
        for lift, is_weighted in ((dataset.lift, False), (dataset.weighted_lift, True)):
            if is_weighted and not weights:
                continue
            lift.add(
                block.num_rows,
                block.column(self._label),
                weight((self._label,), is_weighted),
                {
                    path: (block.column(path[0]), weight(path, is_weighted))
                    for path in paths
                    if len(path) == 1
                },
            )

    def settle(self, state: dict[str, Dataset]) -> dict[str, Dataset]:
        for dataset in state.values():
            for feature in dataset.features.values():
                feature.settle()
        return state

    def merge(self, states: Sequence[dict[str, Dataset]]) -> dict[str, Dataset]:
        merged, *others = states
        for other in others:
            for name, its in other.items():
                if name in merged:
                    merged[name].merge(its)
                else:
                    merged[name] = its
        return merged

    def extract(self, state: dict[str, Dataset]) -> Any:
        result = DatasetFeatureStatisticsList()
        options = self.options
        is_sliced = bool(options.slice_features or options.slice_functions or options.slice_sqls)
        for name in sorted(state, key=lambda name: (name != ALL, name)):
            message = result.datasets.add(name=name if is_sliced else "")
            self._fill(message, state[name])
        return result

    def _fill(self, message: Any, dataset: Dataset) -> None:
        message.num_examples = dataset.rows.total
        message.weighted_num_examples = dataset.rows.weighted_total
        for path, feature in dataset.features.items():
            parent = dataset.features.get(path[:-1])
            message.features.append(
                feature_message(
                    feature,
                    parent.levels[-1] if parent is not None else None,
                    dataset.rows,
                    self.options,
                    is_bytes=path in self._facts.images,
                )
            )
        fill_crosses(message, dataset.crosses)
        for composite, fit in dataset.fits.items():
            fill_fit(message, composite, fit)
        if self._label is not None:
            fill_lift(message, (self._label,), dataset.lift, is_weighted=False)
            if dataset.weighted_lift.rows:
                fill_lift(message, (self._label,), dataset.weighted_lift, is_weighted=True)


def columns_of(block: pa.RecordBatch, weights: dict[str, np.ndarray]) -> Iterator[Column]:
    """Every column of a block, and those in its structs: the path, the lists, and the weight of each list."""
    for name, array in zip(block.schema.names, block.columns):
        yield from _within((name,), array, weights)


def _within(path: Path, array: pa.Array, weights: dict[str, np.ndarray]) -> Iterator[Column]:
    if pa.types.is_struct(array.type):
        array = pa.ListArray.from_arrays(pa.array(np.arange(len(array) + 1, dtype=np.int32)), array)
    inner = array
    yield path, array, weights
    while is_list(inner.type):
        if weights:
            lengths = np.diff(inner.offsets.to_numpy())
            weights = {name: np.repeat(each, lengths) for name, each in weights.items()}
        inner = inner.flatten()
        if pa.types.is_struct(inner.type):
            for field_, child in zip(inner.type, inner.flatten()):
                yield from _within((*path, field_.name), child, weights)
            return
        if not is_list(inner.type):
            return


def sampled(block: pa.RecordBatch, rate: float) -> pa.RecordBatch:
    """About this fraction of the rows, chosen by what is in them: the same in whatever parts they come."""
    return block.filter(pa.array(row_hashes(block) < np.uint64(rate * 2.0**64)))


def weights_of(block: pa.RecordBatch, name: str) -> np.ndarray:
    """The weight of each row."""
    at = block.schema.get_field_index(name)
    if at < 0:
        raise errors.invalid_argument(f'Weight column "{name}" not present in the input record batch.')
    column = block.column(at)
    if column.null_count or not (np.diff(column.offsets.to_numpy()) == 1).all():
        raise errors.invalid_argument(f'Weight column "{name}" must have exactly one value in each example.')
    values = column.flatten()
    if not (pa.types.is_floating(values.type) or pa.types.is_integer(values.type)):
        raise errors.invalid_argument(f'Weight column "{name}" must be of numeric type. Found {values.type}.')
    weights: np.ndarray = values.to_numpy(zero_copy_only=False).astype(np.float64)
    return weights
