"""Metrics of the k classes with the highest scores: how many of them are right, how many labels they find.

Labels are the numbers of classes, one or several for each example: the last dimension is a set, dense or
sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor, convert_to_tensor_or_sparse_tensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.metrics.streaming import Metric, collected, metric_doc, metric_variable
from tideflow.ops.arrays import creation, indexing, joining, ranking, shapes, slicing, tiling
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import binary, casting, cumulative, reductions
from tideflow.ops.nn.weights import assert_broadcastable, broadcast_weights
from tideflow.ops.sparse import construction, parts, sets
from tideflow.ops.state import reference_variables

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

Labels = Tensor | SparseTensor


def at_k_name(word: str, k: int | None, class_id: int | None = None) -> str:
    name = f"{word}_at_k" if k is None else f"{word}_at_{k:d}"
    return name if class_id is None else f"{name}_class{class_id:d}"


def _with_set_dimension(labels: Any, predictions: Tensor) -> Labels:
    """Labels of the rank of predictions: a single label for each example becomes a set of one."""
    with name_scope(None, "expand_labels", [predictions]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            sizes = labels.dense_shape
            is_short = binary.equal(shapes.rank(predictions), shapes.size(sizes) + 1)
            return conditionals.cond(
                is_short,
                lambda: construction.sparse_reshape(labels, joining.concat([sizes, [1]], 0), name=scope),
                lambda: labels,
            )
        ranks = predictions.shape.ndims, labels.shape.ndims
        if None in ranks:
            is_short = binary.equal(shapes.rank(predictions), shapes.rank(labels) + 1)
            return conditionals.cond(
                is_short, lambda: shapes.expand_dims(labels, -1, name=scope), lambda: labels
            )
        if ranks[0] == ranks[1]:
            return labels
        if ranks[0] == ranks[1] + 1:
            return shapes.expand_dims(labels, -1, name=scope)
        raise ValueError(f"Unexpected labels shape {labels.shape} for predictions shape {predictions.shape}.")


def _only_class(ids: Labels, class_id: int) -> SparseTensor:
    """The sets with every element but `class_id` taken out."""
    if isinstance(ids, SparseTensor):
        return construction.sparse_retain(ids, binary.equal(ids.values, class_id))
    sizes = shapes.shape(ids, out_type=dtypes.int64)
    last = shapes.reshape(shapes.size(sizes) - 1, [1])
    single = creation.fill(reductions.reduced_shape(sizes, last), casting.cast(class_id, dtypes.int64))
    found = sets.set_intersection(single, ids)
    return SparseTensor(found.indices, found.values, sizes)


# --------------------------------------------------------------------------------------------------- counts


def _hits(labels: Labels, predictions: Labels) -> SparseTensor:
    return sets.set_intersection(predictions, labels)


def _wrongly_predicted(labels: Labels, predictions: Labels) -> SparseTensor:
    return sets.set_difference(predictions, labels, aminusb=True)


def _not_predicted(labels: Labels, predictions: Labels) -> SparseTensor:
    return sets.set_difference(predictions, labels, aminusb=False)


_COUNTED = {
    "true_positive": _hits,
    "false_positive": _wrongly_predicted,
    "false_negative": _not_predicted,
}


def _set_sizes(
    word: str,
    labels: Labels,
    predictions: Labels,
    class_id: int | None,
    weights: Any,
    name: str | None = None,
) -> Tensor:
    """How many elements of each set are counted as `word`, times the weights."""
    with name_scope(name, f"{word}s", [predictions, weights]):
        if class_id is not None:
            labels, predictions = _only_class(labels, class_id), _only_class(predictions, class_id)
        found = casting.cast(sets.set_size(_COUNTED[word](labels, predictions)), dtypes.float64)
        if weights is None:
            return found
        with control_dependencies([assert_broadcastable(weights, found)]):
            return binary.multiply(found, casting.cast(weights, dtypes.float64))


def _streaming_count(
    word: str, labels: Labels, predictions: Tensor, k: int | None, class_id: int | None, weights: Any
) -> tuple[Any, Tensor]:
    """The variable that counts `word` over all steps, and its update."""
    with name_scope(None, at_k_name(word, k, class_id), [predictions, weights]) as scope:
        sizes = _set_sizes(word, labels, predictions, class_id, weights)
        total = casting.cast(reductions.reduce_sum(sizes), dtypes.float64)
        variable = metric_variable([], dtypes.float64, name=scope)
        return variable, reference_variables.assign_add(variable, total, name="update")


def _share_at_top_k(word: str, misses: str, doc: str) -> Callable[..., Metric]:
    """The metric of hits among hits and misses, of classes that are already chosen."""

    def metric(
        labels: TensorLike,
        predictions_idx: TensorLike,
        k: int | None = None,
        class_id: int | None = None,
        weights: TensorLike | None = None,
        metrics_collections: Iterable[Hashable] | None = None,
        updates_collections: Iterable[Hashable] | None = None,
        name: str | None = None,
    ) -> Metric:
        default_name = at_k_name(word, k, class_id)
        with name_scope(name, default_name, [predictions_idx, weights]) as scope:
            predictions_idx = convert_to_tensor_or_sparse_tensor(predictions_idx)
            labels = _with_set_dimension(labels, predictions_idx)
            chosen = casting.cast(predictions_idx, dtypes.int64)
            hits, update_hits = _streaming_count("true_positive", labels, chosen, k, class_id, weights)
            missed, update_missed = _streaming_count(misses, labels, chosen, k, class_id, weights)
            value = binary.div(hits, binary.add(hits, missed), name=scope)
            update = binary.div(update_hits, binary.add(update_hits, update_missed), name="update")
            return collected(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = f"{word}_at_top_k"
    metric.__doc__ = metric_doc(doc, metric)
    return export(f"metrics.{metric.__name__}")(metric)


def _share_at_k(word: str, at_top_k: Callable[..., Metric], doc: str) -> Callable[..., Metric]:
    """The same metric of the k classes with the highest scores."""

    def metric(
        labels: TensorLike,
        predictions: TensorLike,
        k: int,
        class_id: int | None = None,
        weights: TensorLike | None = None,
        metrics_collections: Iterable[Hashable] | None = None,
        updates_collections: Iterable[Hashable] | None = None,
        name: str | None = None,
    ) -> Metric:
        with name_scope(name, at_k_name(word, k, class_id), [predictions, weights]) as scope:
            _, chosen = ranking.top_k(predictions, k)
            return at_top_k(
                labels, chosen, k, class_id, weights, metrics_collections, updates_collections, scope
            )

    metric.__name__ = metric.__qualname__ = f"{word}_at_k"
    metric.__doc__ = metric_doc(doc, metric)
    return export(f"metrics.{metric.__name__}")(metric)


precision_at_top_k = _share_at_top_k(
    "precision", "false_positive", "Computes the part of the predicted classes that are labels."
)
recall_at_top_k = _share_at_top_k(
    "recall", "false_negative", "Computes the part of the labels that are among the predicted classes."
)
precision_at_k = _share_at_k(
    "precision",
    precision_at_top_k,
    "Computes the part of the k classes with the highest scores that are labels.",
)
recall_at_k = _share_at_k(
    "recall",
    recall_at_top_k,
    "Computes the part of the labels that are among the k classes with the highest scores.",
)


@export("metrics.sparse_precision_at_k")
def sparse_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the precision at k; an older name of `tf.metrics.precision_at_k`.

    Args:
      labels: The labels: int64, dense or sparse, with the classes of an example along the last axis.
      predictions: The scores of all classes, of shape [..., classes].
      k: The number of classes to consider.
      class_id: If given, only this class is considered.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    return precision_at_k(
        labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name
    )


# ---------------------------------------------------------------------------------------- average precision


@export("metrics.average_precision_at_k")
def average_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the mean of the precisions at 1, 2 and so on up to k, at the ranks that have a label.

    Args:
      labels: The labels: int64, dense or sparse, with the classes of an example along the last axis.
      predictions: The scores of all classes, of shape [..., classes].
      k: The number of classes to consider.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    with name_scope(name, at_k_name("average_precision", k), [predictions, weights]) as scope:
        _, chosen = ranking.top_k(predictions, k)
        num_classes = casting.cast(shapes.shape(predictions)[-1], dtypes.int64)
        labels = _without_unknown_classes(convert_to_tensor_or_sparse_tensor(labels), num_classes)
        averages = _average_precisions(labels, chosen, k)
        return _mean_of_averages(averages, weights, scope, metrics_collections, updates_collections)


def average_precision_at_top_k(
    labels: TensorLike,
    predictions_idx: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """The same for the classes chosen already, of shape [..., k]."""
    with name_scope(name, "average_precision_at_top_k", [predictions_idx, weights]) as scope:
        chosen = convert_to_tensor(predictions_idx)
        k = chosen.shape.as_list()[-1] if chosen.shape.ndims else None
        if k is None:
            raise ValueError(
                f"the last size of top_k_predictions must be known, but its shape is {chosen.shape}"
            )
        averages = _average_precisions(labels, chosen, k)
        return _mean_of_averages(averages, weights, scope, metrics_collections, updates_collections)


@export("metrics.sparse_average_precision_at_k")
def sparse_average_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Computes the average precision at k; an older name of `tf.metrics.average_precision_at_k`.

    Args:
      labels: The labels: int64, dense or sparse, with the classes of an example along the last axis.
      predictions: The scores of all classes, of shape [..., classes].
      k: The number of classes to consider.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it with the current batch.

    Raises:
      ValueError: If shapes do not fit.
    """
    return average_precision_at_k(
        labels, predictions, k, weights, metrics_collections, updates_collections, name
    )


def _without_unknown_classes(labels: Labels, num_classes: Tensor) -> Labels:
    """The labels with -1, which is no class, for those that predictions have no score for."""
    is_sparse = isinstance(labels, SparseTensor)
    values = labels.values if is_sparse else labels

    def cleaned() -> Labels:
        known = indexing.where_v2(
            binary.greater_equal(values, num_classes), -1 * creation.ones_like(values), values
        )
        return SparseTensor(labels.indices, known, labels.dense_shape) if is_sparse else known

    has_unknown = binary.greater_equal(reductions.reduce_max(values), num_classes)
    return conditionals.cond(has_unknown, cleaned, lambda: labels)


def _average_precisions(labels: Labels, chosen: Tensor, k: int) -> Tensor:
    """The average precision of each example."""
    with name_scope(None, "average_precision", [chosen]) as scope:
        chosen = casting.cast(chosen, dtypes.int64, name="predictions_idx")
        labels = _with_set_dimension(labels, chosen)
        one_per_place = shapes.expand_dims(chosen, -1, name="predictions_idx_per_k")
        labels_per_place = _repeated_per_place(labels, k)
        relevant = _set_sizes("true_positive", labels_per_place, one_per_place, None, None, "relevant_per_k")
        hits = cumulative.cumsum(relevant, axis=-1, name="tp_per_k")
        places = cumulative.cumsum(creation.ones_like(relevant), axis=-1, name="retrieved_per_k")
        precisions = binary.div(hits, places, name="precision_per_k")
        precisions = binary.multiply(precisions, relevant, name="relevant_precision_per_k")
        total = reductions.reduce_sum(precisions, axis=(-1,), name="precision_sum")
        return binary.div(total, casting.cast(_num_relevant(labels, k), dtypes.float64), name=scope)


def _repeated_per_place(labels: Labels, k: int) -> Labels:
    """The labels k times, along a new dimension before the last."""
    with name_scope("labels_per_k") as scope:
        if isinstance(labels, SparseTensor):
            sizes = labels.dense_shape
            last = shapes.reshape(shapes.size(sizes) + -1, [1])
            front, back = slicing.slice(sizes, [0], last), slicing.slice(sizes, last, [-1])
            longer = joining.concat([front, [1], back], 0, name="expanded_shape")
            expanded = construction.sparse_reshape(labels, longer, name="expand")
            return parts.sparse_concat(-2, [expanded] * k, name=scope)
        expanded = shapes.expand_dims(labels, -2, name="expand")
        if k == 1:
            return expanded
        ones = creation.ones_like(shapes.shape(labels))
        multiples = joining.concat([ones[:-1], [k], ones[-1:]], 0, name="multiples")
        return tiling.tile(expanded, multiples, name=scope)


def _num_relevant(labels: Labels, k: int) -> Tensor:
    """How many labels of each example k places could hold."""
    with name_scope(None, "num_relevant") as scope:
        if isinstance(labels, SparseTensor):
            return binary.minimum(sets.set_size(labels), k, name=scope)
        is_label = binary.greater_equal(labels, 0)
        marks = indexing.where_v2(is_label, creation.ones_like(labels), creation.zeros_like(labels))
        return binary.minimum(reductions.reduce_sum(marks, -1), k, name=scope)


def _mean_of_averages(
    averages: Tensor, weights: Any, scope: str, metrics_collections: Any, updates_collections: Any
) -> Metric:
    """The weighted mean of all examples' average precisions."""
    if weights is not None:
        weights = broadcast_weights(casting.cast(weights, dtypes.float64), averages)
        averages = binary.multiply(averages, weights)
    with name_scope(None, "max", [averages]) as max_scope:  # what the total would be if all were right
        most = metric_variable([], dtypes.float64, name=max_scope)
        if weights is None:
            batch_most = casting.cast(shapes.size(averages, name="batch_max"), dtypes.float64)
        else:
            batch_most = reductions.reduce_sum(weights, name="batch_max")
        update_most = reference_variables.assign_add(most, batch_most, name="update")
    with name_scope(None, "total", [averages]) as total_scope:
        total = metric_variable([], dtypes.float64, name=total_scope)
        batch_total = reductions.reduce_sum(averages, name="batch_total")
        update_total = reference_variables.assign_add(total, batch_total, name="update")
    value = binary.div_no_nan(total, most, name="mean")
    update = binary.div_no_nan(update_total, update_most, name=scope)
    return collected(value, update, metrics_collections, updates_collections)
