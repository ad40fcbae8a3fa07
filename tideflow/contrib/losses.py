"""`tf.contrib.losses`: the losses as they were before tf.losses, with the predictions first.

Weights are left-aligned: one for each example will do, whatever the rank of the losses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.export import export, expose
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.losses import collection, functions, reduction
from tideflow.ops.arrays import creation, shapes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.math import binary, casting, reductions, unary

expose(collection.add_loss, "contrib.losses.add_loss")
expose(collection.get_losses, "contrib.losses.get_losses")
expose(collection.get_regularization_losses, "contrib.losses.get_regularization_losses")


@export("contrib.losses.get_total_loss")
def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Tensor:
    """The sum of all losses and, unless told otherwise, the regularization losses."""
    return collection.get_total_loss(add_regularization_losses, name)


def _aligned(weights: Any, rank: int | None) -> Tensor:
    """The weights with as many axes as the losses, those that are lacking added at the end."""
    weights = convert_to_tensor(weights)
    if rank is None or not weights.shape.ndims:
        return weights
    for _ in range(rank - weights.shape.ndims):
        weights = shapes.expand_dims(weights, -1)
    return weights


@export("contrib.losses.compute_weighted_loss")
def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """The mean of the losses over the elements whose weight is not 0, each times its weight."""
    if weights is None:
        raise ValueError("`weights` cannot be None")
    losses = convert_to_tensor(losses)
    return reduction.compute_weighted_loss(losses, _aligned(weights, losses.shape.ndims), scope)


def _elementwise(
    loss: Callable, predictions: Any, labels: Any, weights: Any, scope: Any, **options: Any
) -> Tensor:
    predictions = convert_to_tensor(predictions)
    weights = _aligned(weights, predictions.shape.ndims)
    return loss(labels, predictions, weights=weights, scope=scope, **options)


@export("contrib.losses.absolute_difference")
def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """|prediction - label|"""
    return _elementwise(functions.absolute_difference, predictions, labels, weights, scope)


@export("contrib.losses.mean_squared_error")
def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """(prediction - label)²"""
    return _elementwise(functions.mean_squared_error, predictions, labels, weights, scope)


@export("contrib.losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The squared differences of all pairs of elements of an example, over the square of their number;
    summed.
    """
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        errors = casting.cast(predictions, dtypes.float32) - casting.cast(labels, dtypes.float32)
        weights = casting.cast(weights, dtypes.float32)
        each = list(range(1, errors.shape.ndims))
        present = casting.cast(binary.not_equal(_aligned(weights, errors.shape.ndims), 0.0), dtypes.float32)
        count = reductions.reduce_sum(present * creation.ones_like(errors), each)
        squares = binary.div_no_nan(reductions.reduce_sum(unary.square(errors), each), count)
        means = binary.div_no_nan(reductions.reduce_sum(errors, each), count)
        loss = reductions.reduce_sum((2.0 * squares - 2.0 * unary.square(means)) * weights)
        collection.add_loss(loss)
        return loss


@export("contrib.losses.log_loss")
def log_loss(
    predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None
) -> Tensor:
    """Cross entropy of probabilities."""
    return _elementwise(functions.log_loss, predictions, labels, weights, scope, epsilon=epsilon)


@export("contrib.losses.hinge_loss")
def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Tensor:
    """max(0, 1 - sign * logit) of each element: no sum, and not in the collection."""
    return functions.hinge_loss(
        labels, logits, scope=scope, loss_collection=None, reduction=reduction.Reduction.NONE
    )


@export("contrib.losses.cosine_distance")
def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """1 - the product of unit vectors."""
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    return _elementwise(functions.cosine_distance, predictions, labels, weights, scope, axis=axis)


@export("contrib.losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """Cross entropy of classes that do not exclude each other."""
    loss = functions.sigmoid_cross_entropy
    return _elementwise(loss, logits, multi_class_labels, weights, scope, label_smoothing=label_smoothing)


@export("contrib.losses.softmax_cross_entropy")
def softmax_cross_entropy(
    logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None
) -> Tensor:
    """Cross entropy of classes of which one is right."""
    return functions.softmax_cross_entropy(
        onehot_labels, logits, _flat(weights), label_smoothing=label_smoothing, scope=scope
    )


@export("contrib.losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """Cross entropy of classes of which one is right, labels being its number."""
    labels = convert_to_tensor(labels)
    return functions.sparse_softmax_cross_entropy(
        shapes.reshape(labels, [-1]), logits, _flat(weights), scope=scope
    )


def _flat(weights: Any) -> Tensor:
    """One weight for an example, in one axis."""
    weights = convert_to_tensor(weights)
    return shapes.squeeze(weights) if weights.shape.ndims else weights
