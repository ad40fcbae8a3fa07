"""`tensorflow.contrib.learn.python.learn.estimators`: what the unit tests of its estimators share."""

from __future__ import annotations

import unittest
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.contrib.learn import tables

_CONTRACT = "config evaluate export fit get_variable_names get_variable_value model_dir predict".split()


def assert_estimator_contract(tester: unittest.TestCase, estimator_class: type) -> None:
    """Fails the test where a class lacks what estimators have."""
    for name in _CONTRACT:
        tester.assertTrue(hasattr(estimator_class, name), name)


def assert_in_range(min_value: float, max_value: float, key: str, metrics: Mapping[str, float]) -> None:
    """Refuses a metric outside two bounds."""
    found = metrics[key]
    if found < min_value:
        raise ValueError(f"{key}: {found} < {min_value}.")
    if found > max_value:
        raise ValueError(f"{key}: {found} > {max_value}.")


def get_quantile_based_buckets(feature_values: Sequence[float], num_buckets: int) -> list[float]:
    """The edges that divide values into buckets of about the same size."""
    shares = [100 * (i + 1.0) / (num_buckets + 1.0) for i in range(num_buckets)]
    return list(np.percentile(np.array(feature_values), shares))


def prepare_iris_data_for_logistic_regression() -> Any:
    """The flowers of the first two kinds."""
    iris = tf.contrib.learn.datasets.base.load_iris()
    chosen = np.where(iris.target < 2)
    return tables.Dataset(data=iris.data[chosen], target=iris.target[chosen])


def iris_input_multiclass_fn() -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    """All flowers and their kinds, as constants."""
    return _as_constants(tf.contrib.learn.datasets.base.load_iris())


def iris_input_logistic_fn() -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    """The flowers of two kinds, as constants."""
    return _as_constants(prepare_iris_data_for_logistic_regression())


def _as_constants(iris: Any) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    features = {"feature": tf.constant(iris.data, dtype=tf.float32)}
    return features, tf.constant(iris.target, shape=(len(iris.target), 1), dtype=tf.int32)
