"""A first schema made from statistics, and a schema brought up to date with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.pipeline.messages.schema import Schema
from tideflow.pipeline.messages.statistics import DatasetFeatureStatistics
from tideflow.pipeline.schema.fitting import FittedSchema
from tideflow.pipeline.schema.statistics_views import DatasetView, default_dataset

Transformation = Callable[[Any, Any], Any]


def infer_schema(
    statistics: Any,
    infer_feature_shape: bool = True,
    max_string_domain_size: int = 100,
    schema_transformations: Sequence[Transformation] | None = None,
) -> Any:
    """Makes a schema that accepts statistics and is otherwise as loose as it can be.

    It is a draft for people to review: whether a feature is there in all examples, has a fixed number of
    values, or has one of few strings, is taken from the data.

    Args:
      statistics: A `DatasetFeatureStatisticsList`: of one dataset, or of slices among which is that of all
        examples.
      infer_feature_shape: Whether a feature that is always there with the same number of values gets a shape.
      max_string_domain_size: How many distinct strings a feature may have that gets a domain.
      schema_transformations: Functions of the schema and the statistics, each of which returns the schema
        that the next one gets.

    Returns:
      A `Schema`.
    """
    dataset = DatasetFeatureStatistics()
    dataset.CopyFrom(default_dataset(statistics))
    # Features made of several columns have custom statistics only, from which nothing follows.
    described = [feature for feature in dataset.features if feature.WhichOneof("stats")]
    del dataset.features[:]
    dataset.features.extend(described)
    schema = _fit(
        Schema(),
        dataset,
        max_string_domain_size=max_string_domain_size,
        infer_feature_shape=infer_feature_shape,
    )
    for transformation in schema_transformations or ():
        schema = transformation(schema, statistics.datasets[0])
    return schema


def update_schema(schema: Any, statistics: Any, max_string_domain_size: int = 100) -> Any:
    """Makes a schema that accepts statistics, by loosening another where it does not.

    Args:
      schema: A `Schema`. It is left as it is.
      statistics: A `DatasetFeatureStatisticsList`.
      max_string_domain_size: How many distinct strings a new feature may have that gets a domain.

    Returns:
      A `Schema`.
    """
    return _fit(schema, default_dataset(statistics), max_string_domain_size=max_string_domain_size)


def _fit(schema: Any, dataset: Any, **options: Any) -> Any:
    view = DatasetView(dataset)
    if view.has_weights:
        view = DatasetView(dataset, by_weight=True)
    fitted = FittedSchema(schema, **options)
    for feature in view.roots:
        fitted.fit_recursively(feature)
    for path in fitted.missing_paths(view):
        fitted.drop(path)
    return fitted.schema
