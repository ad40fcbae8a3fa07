"""Counts of right and wrong predictions of true and false, and what follows from them: precision, recall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.metrics.streaming import Metric, collected, metric_variable, squeezed, streamed
from tideflow.ops.arrays import constants, indexing, shapes
from tideflow.ops.math import binary, casting, checks, reductions
from tideflow.ops.state import reference_variables
from tideflow.variables.variable_scope import variable_scope


def _booleans(labels: Any, predictions: Any, weights: Any) -> tuple[Tensor, Tensor, Tensor | None]:
    predictions, labels, weights = squeezed(
        casting.cast(predictions, dtypes.bool), casting.cast(labels, dtypes.bool), weights
    )
    return labels, predictions, weights


def _count(
    condition: Tensor, weights: Tensor | None, metrics_collections: Any, updates_collections: Any
) -> Metric:
    """How often a condition held, or the sum of the weights where it did."""
    checks.assert_type(condition, dtypes.bool)
    count = metric_variable([], dtypes.float32, name="count")
    hits = casting.cast(condition, dtypes.float32)
    if weights is not None:
        with control_dependencies([checks.assert_rank_in(weights, (0, shapes.rank(hits)))]):
            hits = binary.multiply(hits, casting.cast(weights, dtypes.float32))
    value = constants.identity(count)
    update = reference_variables.assign_add(count, reductions.reduce_sum(hits))
    return collected(value, update, metrics_collections, updates_collections)


def _counting(name: str, label: bool, prediction: bool, doc: str) -> Callable[..., Metric]:
    """The metric that counts one of the four ways in which a label and a prediction can meet."""

    def metric(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, metric.__name__, (predictions, labels, weights)):
            labels, predictions, weights = _booleans(labels, predictions, weights)
            condition = binary.logical_and(binary.equal(labels, label), binary.equal(predictions, prediction))
            return _count(condition, weights, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = doc
    return export(f"metrics.{name}")(metric)


true_positives = _counting("true_positives", True, True, "How often true was predicted, and right.")
true_negatives = _counting("true_negatives", False, False, "How often false was predicted, and right.")
false_positives = _counting("false_positives", False, True, "How often true was predicted, and wrong.")
false_negatives = _counting("false_negatives", True, False, "How often false was predicted, and wrong.")


def _share(hits: Any, misses: Any, name: str) -> Tensor:
    """The hits among hits and misses; 0 where there are neither."""
    return indexing.where(binary.greater(hits + misses, 0), binary.div(hits, hits + misses), 0, name=name)


def _share_of_true_positives(name: str, misses: Callable[..., Metric], doc: str) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, metric.__name__, (predictions, labels, weights)):
            labels, predictions, weights = _booleans(labels, predictions, weights)
            pairs = [count(labels, predictions, weights) for count in (true_positives, misses)]
            return streamed(_share, *zip(*pairs, strict=True), metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = doc
    return export(f"metrics.{name}")(metric)


precision = _share_of_true_positives(
    "precision", false_positives, "How many of the predictions of true were right."
)
recall = _share_of_true_positives("recall", false_negatives, "How many of the true labels were predicted.")
