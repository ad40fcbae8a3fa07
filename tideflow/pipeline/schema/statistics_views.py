"""Statistics as schemas ask for them: by path, weighted where there are weights, beside control data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tideflow.pipeline.messages.schema import FeatureType
from tideflow.pipeline.messages.statistics import FeatureNameStatistics, Histogram

DEFAULT_SLICE = "All Examples"

INT, FLOAT, STRING, BYTES, STRUCT = (
    FeatureNameStatistics.Type.Value(name) for name in ("INT", "FLOAT", "STRING", "BYTES", "STRUCT")
)
_SCHEMA_TYPES = {
    INT: FeatureType.Value("INT"),
    FLOAT: FeatureType.Value("FLOAT"),
    STRING: FeatureType.Value("BYTES"),
    BYTES: FeatureType.Value("BYTES"),
    STRUCT: FeatureType.Value("STRUCT"),
}
Steps = tuple[str, ...]


def default_dataset(statistics: Any) -> Any:
    """The dataset of statistics that is validated: the only one, or the slice of all examples.

    Args:
      statistics: A `DatasetFeatureStatisticsList`.

    Raises:
      ValueError: There are several datasets, and none is that of all examples.
    """
    if len(statistics.datasets) == 1:
        return statistics.datasets[0]
    for dataset in statistics.datasets:
        if dataset.name == DEFAULT_SLICE:
            return dataset
    raise ValueError(
        "Only statistics proto with one dataset or the default "
        'slice (i.e., "All Examples" slice) is currently supported.'
    )


class DatasetView:
    """The statistics of a dataset, with those of the datasets that it is compared with."""

    def __init__(
        self,
        data: Any,
        *,
        by_weight: bool = False,
        environment: str | None = None,
        previous: DatasetView | None = None,
        serving: DatasetView | None = None,
        previous_version: DatasetView | None = None,
    ) -> None:
        self.data = data
        self.by_weight = by_weight
        self.environment = environment
        self.previous = previous
        self.serving = serving
        self.previous_version = previous_version
        self._by_path = {view.path: view for view in self._views()}
        self._children: dict[Steps, list[FeatureView]] = {}
        for path in sorted(self._by_path):
            self._children.setdefault(path[:-1], []).append(self._by_path[path])

    def _views(self) -> Iterator[FeatureView]:
        filled = [
            feature for feature in self.data.features if feature.WhichOneof("stats") or feature.custom_stats
        ]
        if all(feature.WhichOneof("field_id") != "path" for feature in self.data.features):
            paths = _paths_of_names({f.name: f.type == STRUCT for f in filled})
            yield from (FeatureView(self, paths[feature.name], feature) for feature in filled)
        elif all(feature.WhichOneof("field_id") == "path" for feature in self.data.features):
            yield from (FeatureView(self, tuple(feature.path.step), feature) for feature in filled)
        else:
            raise ValueError(
                "some features of the statistics have a name, and some a path: all must have a path"
            )

    @property
    def features(self) -> list[FeatureView]:
        return list(self._by_path.values())

    @property
    def roots(self) -> list[FeatureView]:
        return [view for path, view in self._by_path.items() if path[:-1] not in self._by_path]

    def find(self, path: Steps) -> FeatureView | None:
        return self._by_path.get(path)

    def children(self, path: Steps) -> list[FeatureView]:
        return self._children.get(path, [])

    @property
    def num_examples(self) -> float:
        return self.data.weighted_num_examples if self.by_weight else float(self.data.num_examples)

    @property
    def has_weights(self) -> bool:
        return self.data.weighted_num_examples != 0.0 and all(
            view.has_weights for view in self.features if view.data.WhichOneof("stats")
        )


def _paths_of_names(is_struct: dict[str, bool]) -> dict[str, Steps]:
    """Paths of features that have names only: a name that continues a struct's is that of a field of it."""
    paths: dict[str, Steps] = {}
    ancestors: list[str] = []
    for name in sorted(is_struct):
        while ancestors and not (name.startswith(ancestors[-1]) and name != ancestors[-1]):
            ancestors.pop()
        parent = ancestors[-1] if ancestors else None
        paths[name] = (name,) if parent is None else (*paths[parent], name[len(parent) + 1 :])
        if is_struct[name]:
            ancestors.append(name)
    return paths


class FeatureView:
    """The statistics of one feature."""

    def __init__(self, dataset: DatasetView, path: Steps, data: Any) -> None:
        self.dataset = dataset
        self.path = path
        self.data = data
        self.type = data.type

    @property
    def schema_type(self) -> int:
        return _SCHEMA_TYPES.get(self.type, FeatureType.Value("TYPE_UNKNOWN"))

    @property
    def children(self) -> list[FeatureView]:
        return self.dataset.children(self.path)

    @property
    def common(self) -> Any:
        stats = self.data.WhichOneof("stats")
        if stats is None:
            raise ValueError(
                f"the statistics of feature {'.'.join(self.path)!r} do not say how often it is there"
            )
        return getattr(self.data, stats).common_stats

    @property
    def num_missing(self) -> float:
        common = self.common
        return (
            common.weighted_common_stats.num_missing if self.dataset.by_weight else float(common.num_missing)
        )

    @property
    def num_present(self) -> float:
        common = self.common
        return (
            common.weighted_common_stats.num_non_missing
            if self.dataset.by_weight
            else float(common.num_non_missing)
        )

    @property
    def fraction_present(self) -> float | None:
        if self.dataset.num_examples <= 0:
            return None
        return 1.0 if self.num_missing == 0.0 else self.num_present / self.dataset.num_examples

    @property
    def missing_by_level(self) -> list[float]:
        """How many lists are missing at each level of nesting."""
        common = self.common
        levels = (
            common.weighted_presence_and_valency_stats
            if self.dataset.by_weight
            else common.presence_and_valency_stats
        )
        return [level.num_missing for level in levels] or [self.num_missing]

    @property
    def num_values_by_level(self) -> list[tuple[int, int]]:
        """The least and the greatest number of values at each level of nesting."""
        common = self.common
        levels = [(level.min_num_values, level.max_num_values) for level in common.presence_and_valency_stats]
        return levels or [(common.min_num_values, common.max_num_values)]

    @property
    def total_values(self) -> float:
        common = self.common
        if self.dataset.by_weight:
            return float(common.weighted_common_stats.tot_num_values)
        # Statistics of early versions lack the total.
        return float(common.tot_num_values or common.num_non_missing * common.avg_num_values)

    @property
    def has_weights(self) -> bool:
        common = self.common
        return common.HasField("weighted_common_stats") and (
            len(common.presence_and_valency_stats) == len(common.weighted_presence_and_valency_stats)
        )

    @property
    def counts(self) -> dict[str, float]:
        """How often each of the most frequent values occurs, in the order of the values' bytes."""
        stats = self.data.string_stats
        ranks = stats.weighted_string_stats.rank_histogram if self.dataset.by_weight else stats.rank_histogram
        found: dict[str, float] = {}
        for bucket in ranks.buckets:
            found.setdefault(bucket.label, bucket.sample_count)
        return {value: found[value] for value in sorted(found, key=str.encode)}

    @property
    def has_invalid_utf8(self) -> bool:
        return bool(self.data.string_stats.invalid_utf8_count > 0)

    @property
    def num_unique(self) -> int | None:
        return self.data.string_stats.unique if self.data.HasField("string_stats") else None

    def histogram(self, kind: int) -> Any | None:
        """The numeric histogram of a type (`Histogram.STANDARD`, `Histogram.QUANTILES`)."""
        if not self.data.HasField("num_stats"):
            return None
        stats = self.data.num_stats
        histograms = stats.weighted_numeric_stats.histograms if self.dataset.by_weight else stats.histograms
        return next((histogram for histogram in histograms if histogram.type == kind), None)

    def custom(self, name: str) -> Any | None:
        return next((stat for stat in self.data.custom_stats if stat.name == name), None)


STANDARD = Histogram.HistogramType.Value("STANDARD")
QUANTILES = Histogram.HistogramType.Value("QUANTILES")
