"""Streams joined, counted, and compared: covariance, correlation, agreement."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.metrics.streaming import Metric, collected, metric_variable, safe_ratio, squeezed, streamed
from tideflow.ops.arrays import constants, creation, diagonals, indexing, joining, shapes
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import binary, casting, confusion, reductions, unary
from tideflow.ops.nn.weights import broadcast_weights
from tideflow.ops.state import reference_variables
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_GROWTH = 1.5  # of the room for values, when it is full


@export("contrib.metrics.count")
def count(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """The number of values, or the sum of their weights.

    Args:
      values: The values.
      weights: The weights of the values, which are broadcast to their shape; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it.
    """
    with variable_scope(name, "count", (values, weights)):
        total = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = casting.cast(shapes.size(values), dtypes.float32)
        else:
            values, _, weights = squeezed(casting.cast(values, dtypes.float32), None, weights)
            number = reductions.reduce_sum(broadcast_weights(casting.cast(weights, dtypes.float32), values))
        with control_dependencies([values]):
            update = reference_variables.assign_add(total, number)
        return collected(constants.identity(total), update, metrics_collections, updates_collections)


@export("contrib.metrics.streaming_concat")
def streaming_concat(
    values: Tensor,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """All values of all steps, joined along an axis.

    Args:
      values: The values; their sizes along all other axes are known.
      axis: The axis.
      max_size: How many values are kept at most; all if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The joined values, and the operation that adds this step's.

    Raises:
      ValueError: If sizes are not known, or there is no such axis.
    """
    with variable_scope(name, "streaming_concat", (values,)):
        sizes = values.shape.tuple
        if sizes is None:
            raise ValueError("`values` must have known statically known rank")
        rank = len(sizes)
        axis = axis + rank if axis < 0 else axis
        if not 0 <= axis < rank:
            raise ValueError(f"axis = {axis!r} not in [0, {rank!r})")
        fixed = [size for i, size in enumerate(sizes) if i != axis]
        if None in fixed:
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate along must have "
                f"statically known size, but the shape is {values.shape}"
            )
        array = metric_variable(
            [0 if max_size is None else max_size, *fixed], values.dtype, name="array", validate_shape=False
        )
        size = metric_variable([], dtypes.int32, name="size")
        kept = array[:size]
        kept.set_shape([None, *fixed])
        order = [0 if i == axis else i + 1 if i < axis else i for i in range(rank)]
        value = shapes.transpose(kept, order, name="concat")
        batch_size = shapes.shape(values)[axis]
        if max_size is not None:
            batch_size = binary.minimum(batch_size, max_size - size)
        to_front = [axis, *[i for i in range(rank) if i != axis]]
        batch = shapes.transpose(values, to_front)[:batch_size]
        new_size = size + batch_size

        def grown() -> Any:
            empty = creation.zeros(joining.stack([room_for(new_size) - size, *fixed]), values.dtype)
            larger = joining.concat([array[:size], empty], 0)
            with control_dependencies([reference_variables.assign(array, larger, validate_shape=False)]):
                return constants.no_operation()

        room = shapes.shape_of(array, optimize=False)[0]
        has_room = conditionals.cond(new_size > room, grown, constants.no_operation)
        with control_dependencies([has_room]):
            added = array[size:new_size].assign(batch)
        with control_dependencies([added]):
            update = size.assign(new_size)
        return collected(value, update, metrics_collections, updates_collections)


def room_for(required_size: TensorLike, growth_factor: float = _GROWTH) -> Tensor:
    """The least power of the growth factor that is enough."""
    size, factor = (casting.cast(each, dtypes.float32) for each in (required_size, growth_factor))
    powers = unary.log(size) / unary.log(factor)
    return casting.cast(unary.ceil(growth_factor ** unary.ceil(powers)), dtypes.int32)


@export("contrib.metrics.streaming_covariance")
def streaming_covariance(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """The unbiased covariance of predictions and labels; NaN before there are two.

    Means and the co-moment are merged batch by batch (Chan, Golub, LeVeque 1979).

    Args:
      predictions: The predictions, of type float32.
      labels: The labels, of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it.

    Raises:
      ValueError: If shapes do not fit.
    """
    with variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        total = metric_variable([], dtypes.float32, name="count")
        means = [metric_variable([], dtypes.float32, name=f"mean_{word}") for word in ("prediction", "label")]
        comoment = metric_variable([], dtypes.float32, name="comoment")
        if weights is None:
            batch_count = casting.cast(shapes.size(labels), dtypes.float32)
            weighted = [predictions, labels]
        else:
            weights = broadcast_weights(weights, labels)
            batch_count = reductions.reduce_sum(weights)
            weighted = [binary.multiply(each, weights) for each in (predictions, labels)]
        update_total = reference_variables.assign_add(total, batch_count)
        before = update_total - batch_count
        batch_means, means_before = [], []
        for mean, each in zip(means, weighted, strict=True):
            batch_mean = binary.div_no_nan(reductions.reduce_sum(each), batch_count)
            change = binary.div_no_nan((batch_mean - mean) * batch_count, update_total)
            means_before.append(reference_variables.assign_add(mean, change) - change)
            batch_means.append(batch_mean)
        products = (predictions - batch_means[0]) * (labels - batch_means[1])
        batch_comoment = reductions.reduce_sum(products if weights is None else products * weights)
        distance = (means_before[0] - batch_means[0]) * (means_before[1] - batch_means[1])
        change = batch_comoment + distance * (before * batch_count / update_total)
        updated = reference_variables.assign_add(comoment, change)

        def covariance(name: str) -> Tensor:
            ratio = binary.truediv(comoment, total - 1)
            return indexing.where(binary.less_equal(total, 1.0), float("nan"), ratio, name=name)

        value = covariance("covariance")
        with control_dependencies([updated]):
            update = covariance("update_op")
    return collected(value, update, metrics_collections, updates_collections)


@export("contrib.metrics.streaming_pearson_correlation")
def streaming_pearson_correlation(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Pearson's correlation of predictions and labels.

    Args:
      predictions: The predictions, of type float32.
      labels: The labels, of the same shape.
      weights: The weights of the examples, which are broadcast to the shape of the labels; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, and the operation that updates it.

    Raises:
      ValueError: If shapes do not fit.
    """
    with variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        if weights is not None:
            weights = broadcast_weights(weights, labels)
        covariance = streaming_covariance(predictions, labels, weights=weights, name="covariance")
        of_predictions = streaming_covariance(
            predictions, predictions, weights=weights, name="variance_predictions"
        )
        of_labels = streaming_covariance(labels, labels, weights=weights, name="variance_labels")
        value, update = (
            binary.truediv(
                covariance[i],
                binary.multiply(unary.sqrt(of_predictions[i]), unary.sqrt(of_labels[i])),
                name=name,
            )
            for i, name in enumerate(("pearson_r", "update_op"))
        )
    return collected(value, update, metrics_collections, updates_collections)


@export("contrib.metrics.cohen_kappa")
def cohen_kappa(
    labels: Tensor,
    predictions_idx: Tensor,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Iterable[Hashable] | None = None,
    updates_collections: Iterable[Hashable] | None = None,
    name: str | None = None,
) -> Metric:
    """Cohen's kappa: how far predictions and labels agree more than by chance.

    Args:
      labels: The classes, [batch] or [batch, 1].
      predictions_idx: The predicted classes, of that shape.
      num_classes: How many classes there are, at least 2.
      weights: The weights of the examples; 1 if None.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update operation to.
      name: The name of the variable scope.

    Returns:
      The value, a float64 scalar, and the operation that updates it.

    Raises:
      ValueError: If there are fewer classes, or shapes do not fit.
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")

    def kappa(agreed: Any, rows: Any, columns: Any, name: str) -> Tensor:
        agreed, total = reductions.reduce_sum(agreed), reductions.reduce_sum(rows)
        by_chance = reductions.reduce_sum(
            binary.div_no_nan(
                casting.cast(rows * columns, dtypes.float64), casting.cast(total, dtypes.float64)
            )
        )
        agreed, by_chance, total = (casting.cast(x, dtypes.float64) for x in (agreed, by_chance, total))
        return safe_ratio(agreed - by_chance, total - by_chance, name=name)

    with variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels.shape.with_rank_at_most(2)
        if labels.shape.ndims == 2:
            labels = shapes.squeeze(labels, axis=[-1])
        predictions, labels, weights = squeezed(predictions_idx, labels, weights)
        whole = weights is None or weights.dtype.is_integer
        dtype = dtypes.int64 if whole else dtypes.float32
        variables = [metric_variable((num_classes,), dtype, name=word) for word in ("po", "pe_row", "pe_col")]
        table = confusion.confusion_matrix(
            labels,
            predictions,
            num_classes=num_classes,
            weights=weights,
            dtype=dtype,
            name="counts_in_table",
        )
        parts = [
            diagonals.diag_part(table),
            reductions.reduce_sum(table, axis=0),
            reductions.reduce_sum(table, axis=1),
        ]
        updates = [
            reference_variables.assign_add(var, part) for var, part in zip(variables, parts, strict=True)
        ]
        return streamed(kappa, variables, updates, metrics_collections, updates_collections)
