"""What is to be computed: the options of TensorFlow Data Validation that say it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str, ...]  # of a feature: its name, and those of the structs around it before it


@dataclass(frozen=True)
class StatsOptions:
    """Options of statistics.

    Args:
      schema: A Schema. It says which features are images, which numbers are categories, and which features
        make up a sparse or a weighted one.
      label_feature: The label, with which the lift of categorical features is computed. Needs a schema.
      weight_feature: The feature that holds the weight of each row.
      per_feature_weight_override: By path of a feature, the feature that holds its weight instead.
      feature_allowlist: The features to look at. By default all.
      slice_features: Slices: of each, by the feature's name, the values it is divided by (None: each value
        that occurs). `[{"country": None}, {"country": ["de"], "year": None}]`
      slice_functions: Functions of a block that yield pairs of a slice's name and the rows in it.
      slice_sqls: Slices: `SELECT STRUCT(country) FROM example.country WHERE country != 'de'`
        (`data/slice_queries.py`).
      vocab_paths: The file of each vocabulary that a `natural_language_domain` of the schema names: a word a
        line, or a record of a `tfrecord.gz`.
      sample_rate: The fraction of rows to look at, chosen by a hash of the row. By default all.
      num_top_values: How many most frequent values are listed.
      frequency_threshold: The least count of a value that is listed.
      weighted_frequency_threshold: The least weight of a value that is listed by weight.
      num_rank_histogram_buckets: How many values the rank histogram has.
      num_values_histogram_buckets: Buckets of the histograms of numbers of values.
      num_histogram_buckets: Buckets of equal width of a histogram of numbers.
      num_quantiles_histogram_buckets: Buckets of equal weight of a histogram of numbers.
      epsilon: The largest error of a rank among the quantiles. The error here is below 0.001.
      cross_features: Whether correlations and covariances of all pairs of numeric features are computed, or
        the pairs of which they are.
      enable_semantic_domain_stats: Whether text, images and times are looked for in string features.
    """

    schema: Any = None
    label_feature: str | None = None
    weight_feature: str | None = None
    per_feature_weight_override: Mapping[Path, str] = field(default_factory=dict)
    feature_allowlist: Sequence[str] | None = None
    slice_features: Sequence[Mapping[str, Sequence[str | bytes | int] | None]] = ()
    slice_functions: Sequence[Callable[[Any], Any]] = ()
    slice_sqls: Sequence[str] = ()
    vocab_paths: Mapping[str, str] = field(default_factory=dict)
    sample_rate: float | None = None
    num_top_values: int = 20
    frequency_threshold: int = 1
    weighted_frequency_threshold: float = 1.0
    num_rank_histogram_buckets: int = 1000
    num_values_histogram_buckets: int = 10
    num_histogram_buckets: int = 10
    num_quantiles_histogram_buckets: int = 10
    epsilon: float = 0.01
    cross_features: bool | Sequence[tuple[str, str]] = False
    enable_semantic_domain_stats: bool = False

    def weight_of(self, path: Path) -> str | None:
        """The feature that holds the weight of a feature."""
        return self.per_feature_weight_override.get(path, self.weight_feature)
