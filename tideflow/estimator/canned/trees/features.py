"""What boosted trees make of feature columns: features, each a vector of small integers, the buckets.

A bucketized column is one feature. An indicator column is a feature of two buckets for each category. A
numeric column is a feature for each of its numbers, in buckets of equal weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tideflow as tf
from tideflow.feature_column.base import CategoricalColumn, DenseColumn, FeatureColumn, Inputs
from tideflow.feature_column.dense import IndicatorColumn
from tideflow.feature_column.numeric import BucketizedColumn
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import dimension_value
from tideflow.ops.boosted_trees.quantiles import bucketize_op

_OF_CATEGORY = 2  # buckets: absent or present


def by_name(columns: Iterable[FeatureColumn]) -> list[FeatureColumn]:
    """The columns, in the order in which their features are numbered."""
    return sorted(columns, key=lambda column: column.name)


def is_float(column: FeatureColumn) -> bool:
    """Whether the numbers of a column have yet to be put into buckets."""
    if isinstance(column, (CategoricalColumn, IndicatorColumn)):
        return False
    if not isinstance(column, DenseColumn):
        raise ValueError(f"Encountered unexpected column {column}")
    return column.dtype.is_floating


def _width(column: DenseColumn) -> int:
    """The number of features of a column of numbers."""
    if column.variable_shape.ndims > 1:
        raise ValueError(
            "For now, we only support Dense column with rank of 1, but column "
            f"`{column.name}` got: {column.variable_shape}"
        )
    return dimension_value(column.variable_shape[0]) if column.variable_shape.ndims else 1


def feature_names(columns: Sequence[FeatureColumn]) -> list[str]:
    """For each feature the name of its column; of an indicator column, that of its categories."""
    names = []
    for column in columns:
        if isinstance(column, IndicatorColumn):
            names += [column.categorical_column.name] * column.categorical_column.num_buckets
        elif isinstance(column, BucketizedColumn):
            names += [column.name]
        elif isinstance(column, CategoricalColumn):
            raise ValueError(f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}")
        else:
            names += [column.name] * _width(column)
    return names


def groups_by_buckets(columns: Sequence[FeatureColumn], num_quantiles: int) -> list[tuple[int, list[int]]]:
    """Numbers of buckets, and the features that have so many. All bucketized columns count as the largest."""
    largest = max(
        [_OF_CATEGORY, *(len(c.boundaries) + 1 for c in columns if isinstance(c, BucketizedColumn))]
    )
    groups: dict[int, list[int]] = {}
    bucketized: list[int] = []
    first = 0
    for column in columns:
        ids = list(range(first, first + len(feature_names([column]))))
        first += len(ids)
        if isinstance(column, BucketizedColumn):
            bucketized += ids
        else:
            count = _OF_CATEGORY if isinstance(column, IndicatorColumn) else num_quantiles
            groups.setdefault(count, []).extend(ids)
    if bucketized:
        groups.setdefault(largest, []).extend(bucketized)
    return list(groups.items())


def boundaries_by_column(
    columns: Sequence[FeatureColumn], boundaries: list[Tensor]
) -> dict[str, list[Tensor]]:
    """Parts the boundaries of all numeric features by the names of their columns."""
    parts, first = {}, 0
    for column in columns:
        parts[column.name] = boundaries[first : first + _width(column)]
        first += _width(column)
    return parts


class Transformed:
    """The features of a batch. What columns make of them is made once."""

    def __init__(self, features: Mapping[str, Any]):
        self._features = features
        self._inputs = Inputs(features)

    def numbers(self, columns: Sequence[FeatureColumn]) -> list[Tensor]:
        """The numbers of columns, a vector for each feature."""
        return [vector for column in columns for vector in self._vectors(column)]

    def buckets(
        self, columns: Sequence[FeatureColumn], boundaries: Mapping[str, list[Tensor]]
    ) -> list[Tensor]:
        """The buckets of columns, a vector for each feature."""
        found: list[Tensor] = []
        for column in columns:
            if column.name in boundaries and is_float(column):
                found += bucketize_op(self._vectors(column), boundaries[column.name])
            else:
                found += self._vectors(column)
        return found

    def prepare(self, columns: Iterable[FeatureColumn]) -> None:
        """Has columns make their tensors here and now."""
        for column in columns:
            self._inputs.get(column)

    def _vectors(self, column: FeatureColumn) -> list[Tensor]:
        feature_names([column])  # refuses columns that are no features
        tensor = self._inputs.get(column)
        if isinstance(column, BucketizedColumn):
            vector = tf.squeeze(tensor, axis=1)
            if vector.shape.ndims is not None and vector.shape.ndims > 1:
                source = column.source_column.name
                raise ValueError(
                    f"For now, only supports features equivalent to rank 1 but column `{source}` got: "
                    f"{self._features[source].shape}"
                )
            return [vector]
        if isinstance(column, IndicatorColumn):
            return tf.unstack(tf.cast(tensor, tf.int32), axis=1)
        return tf.unstack(tensor, axis=1)
