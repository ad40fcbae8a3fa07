"""Counts of right and wrong predictions of true and false, and what follows from them: precision, recall."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.metrics.streaming import Metric, collected, metric_doc, metric_variable, squeezed, streamed
from tideflow.ops.arrays import constants, indexing, shapes
from tideflow.ops.math import binary, casting, checks, reductions
from tideflow.ops.state import reference_variables
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _booleans(labels: Any, predictions: Any, weights: Any) -> tuple[Tensor, Tensor, Tensor | None]:
    predictions, labels, weights = squeezed(
        casting.cast(predictions, dtypes.bool), casting.cast(labels, dtypes.bool), weights
    )
    return labels, predictions, weights


def _count(
    condition: Tensor, weights: Tensor | None, metrics_collections: Any, updates_collections: Any
) -> Metric:
    """Counts how often a condition is true, or sums the weights where it is."""
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
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Iterable[Hashable] | None = None,
        updates_collections: Iterable[Hashable] | None = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, metric.__name__, (predictions, labels, weights)):
            labels, predictions, weights = _booleans(labels, predictions, weights)
            condition = binary.logical_and(binary.equal(labels, label), binary.equal(predictions, prediction))
            return _count(condition, weights, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = metric_doc(doc, metric)
    return export(f"metrics.{name}")(metric)


true_positives = _counting("true_positives", True, True, "Counts the predictions of true that are right.")
true_negatives = _counting("true_negatives", False, False, "Counts the predictions of false that are right.")
false_positives = _counting("false_positives", False, True, "Counts the predictions of true that are wrong.")
false_negatives = _counting("false_negatives", True, False, "Counts the predictions of false that are wrong.")


def _share(hits: Any, misses: Any, name: str) -> Tensor:
    """The hits among hits and misses; 0 where there are neither."""
    return indexing.where(binary.greater(hits + misses, 0), binary.div(hits, hits + misses), 0, name=name)


def _share_of_true_positives(name: str, misses: Callable[..., Metric], doc: str) -> Callable[..., Metric]:
    def metric(
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Iterable[Hashable] | None = None,
        updates_collections: Iterable[Hashable] | None = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, metric.__name__, (predictions, labels, weights)):
            labels, predictions, weights = _booleans(labels, predictions, weights)
            pairs = [count(labels, predictions, weights) for count in (true_positives, misses)]
            return streamed(_share, *zip(*pairs, strict=True), metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = metric_doc(doc, metric)
    return export(f"metrics.{name}")(metric)


precision = _share_of_true_positives(
    "precision", false_positives, "Computes the part of the predictions of true that are right."
)
recall = _share_of_true_positives(
    "recall", false_negatives, "Computes the part of the true labels that are predicted."
)
