"""`tf.contrib.losses`: the losses as they were before tf.losses, with the predictions first.

Weights are left-aligned: one for each example will do, whatever the rank of the losses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.framework.argument_scopes import add_arg_scope
from tideflow.export import export, expose
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.losses import collection, functions, reduction
from tideflow.ops.arrays import creation, indexing, shapes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.math import binary, casting, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

# Its arguments can be set for all losses: arg_scope([add_loss], loss_collection=None) keeps them apart.
add_loss = add_arg_scope(collection.add_loss)
expose(add_loss, "contrib.losses.add_loss")
expose(collection.get_losses, "contrib.losses.get_losses")
expose(collection.get_regularization_losses, "contrib.losses.get_regularization_losses")


@export("contrib.losses.get_total_loss")
def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Tensor:
    """Adds up all losses in the collection.

    Args:
      add_regularization_losses: Whether regularization losses count.
      name: The name of the sum.

    Returns:
      A scalar.
    """
    return collection.get_total_loss(add_regularization_losses, name)


def _aligned(weights: Any, rank: int | None) -> Tensor:
    """The weights with as many axes as the losses, those that are lacking added at the end."""
    weights = convert_to_tensor(weights)
    if rank is None:
        raise ValueError("losses.get_shape().ndims cannot be None")
    if weights.shape.ndims is None:
        raise ValueError("weights.get_shape().ndims cannot be None")
    if not weights.shape.ndims:
        return weights
    for _ in range(rank - weights.shape.ndims):
        weights = shapes.expand_dims(weights, -1)
    return weights


@export("contrib.losses.compute_weighted_loss")
def compute_weighted_loss(losses: TensorLike, weights: TensorLike = 1.0, scope: str | None = None) -> Tensor:
    """Adds a loss: the mean over the elements whose weight is not 0, each times its weight.

    Args:
      losses: The loss of each element.
      weights: What each element counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.

    Returns:
      The loss, a scalar, which is in the collection of losses.

    Raises:
      ValueError: If shapes or weights do not fit.
    """
    if weights is None:
        raise ValueError("`weights` cannot be None")
    losses = convert_to_tensor(losses)
    weights = _aligned(weights, losses.shape.ndims)
    return _added(reduction.compute_weighted_loss(losses, weights, scope, loss_collection=None))


def _added(loss: Tensor) -> Tensor:
    """A loss, which is now in the collection of losses."""
    add_loss(loss)
    return loss


def _elementwise(
    loss: Callable, predictions: Any, labels: Any, weights: Any, scope: Any, **options: Any
) -> Tensor:
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    rank = None if labels.shape.ndims is None else predictions.shape.ndims
    weights = _aligned(weights, rank)
    return _added(loss(labels, predictions, weights=weights, scope=scope, loss_collection=None, **options))


@export("contrib.losses.absolute_difference")
def absolute_difference(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> Tensor:
    """Adds a loss: `|prediction - label|`.

    Args:
      predictions: The predictions.
      labels: The labels, of the shape of the predictions.
      weights: What each element counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.

    Returns:
      The loss, a scalar, which is in the collection of losses.

    Raises:
      ValueError: If shapes or weights do not fit.
    """
    return _elementwise(functions.absolute_difference, predictions, labels, weights, scope)


@export("contrib.losses.mean_squared_error")
def mean_squared_error(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> Tensor:
    """Adds a loss: `(prediction - label)²`.

    Args:
      predictions: The predictions.
      labels: The labels, of the shape of the predictions.
      weights: What each element counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.

    Returns:
      The loss, a scalar, which is in the collection of losses.

    Raises:
      ValueError: If shapes or weights do not fit.
    """
    return _elementwise(functions.mean_squared_error, predictions, labels, weights, scope)


@export("contrib.losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> Tensor:
    """Adds a loss: the squared differences of all pairs of elements of an example, over the square of their
    number.

    Args:
      predictions: The predictions.
      labels: The labels, of the shape of the predictions.
      weights: What each example counts: a number, or a vector.
      scope: The name scope of the operations.

    Returns:
      The loss, a scalar, which is in the collection of losses.

    Raises:
      ValueError: If shapes or weights do not fit.
    """
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        errors = casting.cast(predictions, dtypes.float32) - casting.cast(labels, dtypes.float32)
        weights = casting.cast(weights, dtypes.float32)
        each = list(range(1, errors.shape.ndims))
        count = _present(errors, weights)
        squares = binary.div_no_nan(reductions.reduce_sum(unary.square(errors), each), count, name="value")
        sums = unary.square(reductions.reduce_sum(errors, each))
        means = binary.div_no_nan(sums, unary.square(count), name="value")
        loss = reductions.reduce_sum((2.0 * squares - 2.0 * means) * weights)
        counted = binary.greater(reductions.reduce_sum(count), 0.0)
        return _added(indexing.where(counted, loss, creation.zeros_like(loss), name="value"))


def _present(losses: Tensor, weights: Tensor) -> Tensor:
    """How many elements of each example count: those whose weight is not zero."""
    _aligned(weights, losses.shape.ndims)  # refuses unknown ranks
    rank = weights.shape.ndims
    weighted = casting.cast(binary.not_equal(weights, 0.0), dtypes.float32)
    sizes = casting.cast(shapes.shape(losses), dtypes.float32)
    if rank == 0:
        return weighted * reductions.reduce_prod(sizes[1:]) * creation.ones([shapes.shape(losses)[0]])
    return reductions.reduce_sum(weighted, list(range(1, rank))) * reductions.reduce_prod(sizes[rank:])


@export("contrib.losses.log_loss")
def log_loss(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Tensor:
    """Adds a loss: the cross entropy of probabilities.

    Args:
      predictions: Probabilities.
      labels: The labels, from 0 to 1.
      weights: What each element counts: a number, or a tensor that broadcasts.
      epsilon: A small number that is added to probabilities.
      scope: The name scope of the operations.

    Returns:
      The loss, a scalar, which is in the collection of losses.

    Raises:
      ValueError: If shapes or weights do not fit.
    """
    return _elementwise(functions.log_loss, predictions, labels, weights, scope, epsilon=epsilon)


@export("contrib.losses.hinge_loss")
def hinge_loss(logits: TensorLike, labels: TensorLike | None = None, scope: str | None = None) -> Tensor:
    """Computes `max(0, 1 - sign * logit)`, the sign being that of the label.

    Args:
      logits: The logits.
      labels: The labels, 0 or 1.
      scope: The name scope of the operations.

    Returns:
      The loss of each element: it is not reduced, and not in the collection.
    """
    return functions.hinge_loss(
        labels, logits, scope=scope, loss_collection=None, reduction=reduction.Reduction.NONE
    )


@export("contrib.losses.cosine_distance")
def cosine_distance(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """Adds a loss: 1 less the product of unit vectors.

    Args:
      predictions: Unit vectors.
      labels: Unit vectors of the same shape.
      axis: The axis of the vectors.
      weights: What each element counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      dim: A deprecated name of `axis`.

    Returns:
      The loss, a scalar, which is in the collection of losses.

    Raises:
      ValueError: If shapes or weights do not fit.
    """
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    return _elementwise(functions.cosine_distance, predictions, labels, weights, scope, axis=axis)


@export("contrib.losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    logits: TensorLike,
    multi_class_labels: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """Adds a loss: the cross entropy of classes that do not exclude each other.

    Args:
      logits: The logits.
      multi_class_labels: The labels, from 0 to 1.
      weights: What each element counts: a number, or a tensor that broadcasts.
      label_smoothing: How far labels are moved towards equal ones, from 0 to 1.
      scope: The name scope of the operations.

    Returns:
      The loss, a scalar, which is in the collection of losses.

    Raises:
      ValueError: If shapes or weights do not fit.
    """
    loss = functions.sigmoid_cross_entropy
    return _elementwise(loss, logits, multi_class_labels, weights, scope, label_smoothing=label_smoothing)


@export("contrib.losses.softmax_cross_entropy")
def softmax_cross_entropy(
    logits: TensorLike,
    onehot_labels: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """Adds a loss: the cross entropy of classes of which one is right.

    Args:
      logits: The logits.
      onehot_labels: The labels, a vector of probabilities for each example.
      weights: What each example counts: a number, or a vector.
      label_smoothing: How far labels are moved towards equal ones, from 0 to 1.
      scope: The name scope of the operations.

    Returns:
      The loss, a scalar, which is in the collection of losses.

    Raises:
      ValueError: If shapes or weights do not fit.
    """
    loss = functions.softmax_cross_entropy(
        onehot_labels,
        logits,
        _flat(weights),
        label_smoothing=label_smoothing,
        scope=scope,
        loss_collection=None,
    )
    return _added(loss)


@export("contrib.losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(
    logits: TensorLike, labels: TensorLike, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """Adds a loss: the cross entropy of classes of which one is right, by its number.

    Args:
      logits: The logits.
      labels: The number of the right class of each example.
      weights: What each example counts: a number, or a vector.
      scope: The name scope of the operations.

    Returns:
      The loss, a scalar, which is in the collection of losses.

    Raises:
      ValueError: If shapes or weights do not fit.
    """
    labels = convert_to_tensor(labels)
    labels = shapes.reshape(labels, [shapes.shape(labels)[0]])  # one for each example
    return _added(
        functions.sparse_softmax_cross_entropy(
            labels, logits, _flat(weights), scope=scope, loss_collection=None
        )
    )


def _flat(weights: Any) -> Tensor:
    """One weight for an example, in one axis."""
    weights = convert_to_tensor(weights)
    return shapes.squeeze(weights) if weights.shape.ndims else weights
