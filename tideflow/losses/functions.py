"""The losses by name: each is a function of labels and predictions, weighted and reduced the same way."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, control_dependencies, name_scope
from tideflow.losses.collection import add_loss
from tideflow.losses.reduction import Reduction, compute_weighted_loss, num_present
from tideflow.nn import cross_entropy
from tideflow.ops.arrays import constants, creation, indexing, shapes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.math import binary, casting, confusion, reductions, unary
from tideflow.ops.nn import activations, softmax
from tideflow.ops.nn.weights import assert_broadcastable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _not_none(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _float_pair(labels: Any, predictions: Any) -> tuple[Tensor, Tensor]:
    """Both as float32, of one shape."""
    predictions = casting.cast(predictions, dtypes.float32)
    labels = casting.cast(labels, dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def _elementwise(
    name: str,
    losses: Callable[[Tensor, Tensor], Tensor],
    labels: Any,
    predictions: Any,
    weights: Any,
    scope: str | None,
    loss_collection: Any,
    reduction: str,
) -> Tensor:
    """A loss that `losses(labels, predictions)` computes for each element, in float32."""
    _not_none(labels=labels, predictions=predictions)
    with name_scope(scope, name, [predictions, labels, weights]) as scope:
        found = losses(*_float_pair(labels, predictions))
        return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


@export("losses.absolute_difference")
def absolute_difference(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Adds a loss: the absolute difference of predictions and labels.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      weights: The weight of each loss: a tensor that is broadcast to the shape of the losses.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; none if None.
      reduction: How the losses are reduced, one of `tf.losses.Reduction`.

    Returns:
      The loss: a scalar tensor, or a tensor of the losses' shape if `reduction` is NONE.

    Raises:
      ValueError: If an argument is missing, or shapes do not fit.
    """

    def losses(labels: Tensor, predictions: Tensor) -> Tensor:
        return unary.abs(binary.subtract(predictions, labels))

    return _elementwise(
        "absolute_difference", losses, labels, predictions, weights, scope, loss_collection, reduction
    )


@export("losses.mean_squared_error")
def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Adds a loss: the squared difference of predictions and labels.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      weights: The weight of each loss: a tensor that is broadcast to the shape of the losses.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; none if None.
      reduction: How the losses are reduced, one of `tf.losses.Reduction`.

    Returns:
      The loss: a scalar tensor, or a tensor of the losses' shape if `reduction` is NONE.

    Raises:
      ValueError: If an argument is missing, or shapes do not fit.
    """

    def losses(labels: Tensor, predictions: Tensor) -> Tensor:
        return binary.squared_difference(predictions, labels)

    return _elementwise(
        "mean_squared_error", losses, labels, predictions, weights, scope, loss_collection, reduction
    )


@export("losses.huber_loss")
def huber_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: Hashable = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Adds a Huber loss: half the squared error up to `delta`, and linear beyond.

    Args:
      labels: The labels.
      predictions: The predictions, of the same shape.
      weights: The weight of each loss: a tensor that is broadcast to the shape of the losses.
      delta: The absolute error at which the loss becomes linear.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; none if None.
      reduction: How the losses are reduced, one of `tf.losses.Reduction`.

    Returns:
      The loss: a scalar tensor, or a tensor of the losses' shape if `reduction` is NONE.

    Raises:
      ValueError: If an argument is missing, or shapes do not fit.
    """

    def losses(labels: Tensor, predictions: Tensor) -> Tensor:
        error = unary.abs(binary.subtract(predictions, labels))
        quadratic = binary.minimum(error, delta)
        linear = binary.subtract(error, quadratic)
        half = convert_to_tensor(0.5, dtype=quadratic.dtype)
        return binary.add(
            binary.multiply(half, binary.multiply(quadratic, quadratic)), binary.multiply(delta, linear)
        )

    return _elementwise("huber_loss", losses, labels, predictions, weights, scope, loss_collection, reduction)


@export("losses.log_loss")
def log_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: Hashable = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Adds a log loss: `-label * log(p + epsilon) - (1 - label) * log(1 - p + epsilon)` for a prediction p.

    Args:
      labels: The labels, from 0 to 1.
      predictions: The predicted probabilities, of the same shape.
      weights: The weight of each loss: a tensor that is broadcast to the shape of the losses.
      epsilon: A small number that keeps the logarithms finite.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; none if None.
      reduction: How the losses are reduced, one of `tf.losses.Reduction`.

    Returns:
      The loss: a scalar tensor, or a tensor of the losses' shape if `reduction` is NONE.

    Raises:
      ValueError: If an argument is missing, or shapes do not fit.
    """

    def losses(labels: Tensor, predictions: Tensor) -> Tensor:
        missed = -binary.multiply(labels, unary.log(predictions + epsilon))
        return missed - binary.multiply(1 - labels, unary.log(1 - predictions + epsilon))

    return _elementwise("log_loss", losses, labels, predictions, weights, scope, loss_collection, reduction)


@export("losses.cosine_distance")
def cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: int | None = None,
) -> Tensor:
    """Adds a cosine distance: 1 minus the dot product along an axis.

    Args:
      labels: The labels, normalized to length 1.
      predictions: The predictions, normalized to length 1.
      axis: The axis.
      weights: The weight of each loss: a tensor that is broadcast to the shape of the losses.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; none if None.
      reduction: How the losses are reduced, one of `tf.losses.Reduction`.
      dim: Another name for `axis`.

    Returns:
      The loss: a scalar tensor, or a tensor of the losses' shape if `reduction` is NONE.

    Raises:
      ValueError: If an argument is missing, or shapes do not fit.
    """
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")

    def losses(labels: Tensor, predictions: Tensor) -> Tensor:
        products = binary.multiply(predictions, labels)
        return 1 - reductions.reduce_sum(products, axis=(axis,), keepdims=True)

    return _elementwise(
        "cosine_distance_loss", losses, labels, predictions, weights, scope, loss_collection, reduction
    )


@export("losses.hinge_loss")
def hinge_loss(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Adds a hinge loss: `max(0, 1 - sign * logit)`.

    The sign is 1 for the label 1, and -1 for the label 0.

    Args:
      labels: The labels, 0 or 1.
      logits: The logits, of the same shape.
      weights: The weight of each loss: a tensor that is broadcast to the shape of the losses.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; none if None.
      reduction: How the losses are reduced, one of `tf.losses.Reduction`.

    Returns:
      The loss: a scalar tensor, or a tensor of the losses' shape if `reduction` is NONE.

    Raises:
      ValueError: If an argument is missing, or shapes do not fit.
    """
    _not_none(labels=labels, logits=logits)

    def losses(labels: Tensor, logits: Tensor) -> Tensor:
        ones = creation.ones_like(labels)
        signs = binary.subtract(2 * labels, ones)
        return activations.relu(binary.subtract(ones, binary.multiply(signs, logits)))

    return _elementwise("hinge_loss", losses, labels, logits, weights, scope, loss_collection, reduction)


@export("losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable = GraphKeys.LOSSES,
) -> Tensor:
    """Adds a loss: the mean squared difference of the errors of all pairs of elements in an example.

    Args:
      labels: The labels, of shape [batch, ...].
      predictions: The predictions, of the same shape.
      weights: The weight of each example.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; none if None.

    Returns:
      The loss as a scalar tensor.

    Raises:
      ValueError: If an argument is missing, or shapes do not fit.
    """
    _not_none(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        weights = casting.cast(weights, dtypes.float32)
        labels = casting.cast(labels, dtypes.float32)
        with control_dependencies([assert_broadcastable(weights, labels)]):
            loss = _pairwise(*_float_pair(labels, predictions), weights)
            add_loss(loss, loss_collection)
            return loss


def _pairwise(labels: Tensor, predictions: Tensor, weights: Tensor) -> Tensor:
    """Σ (d_i - d_j)² over pairs, from Σ d² and (Σ d)² of the errors d in each row."""
    errors = binary.subtract(predictions, labels)
    axes = creation.range(1, shapes.rank(errors))
    squares = reductions.reduce_sum(unary.square(errors), axis=axes, keepdims=True)
    present = num_present(errors, weights, per_batch=True)
    mean_square = 2.0 * binary.div_no_nan(squares, binary.maximum(present - 1, 0), name="value")
    square_of_sum = unary.square(reductions.reduce_sum(errors, axis=axes, keepdims=True))
    pairs = binary.maximum(binary.multiply(present, present - 1), 0)
    square_of_mean = 2.0 * binary.div_no_nan(square_of_sum, pairs, name="value")
    loss = reductions.reduce_sum(binary.multiply(mean_square - square_of_mean, weights))
    is_any_present = reductions.reduce_sum(present) > 0
    return indexing.where(is_any_present, loss, creation.zeros_like(loss), name="value")


# ------------------------------------------------------------------------------------------ cross entropies


@export("losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    multi_class_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: Hashable = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Adds the cross entropy of independent classes.

    Args:
      multi_class_labels: The labels, from 0 to 1, of shape [batch, classes].
      logits: The logits, of the same shape.
      weights: The weight of each loss: a tensor that is broadcast to the shape of the losses.
      label_smoothing: If above 0, labels are moved towards one half by this fraction.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; none if None.
      reduction: How the losses are reduced, one of `tf.losses.Reduction`.

    Returns:
      The loss: a scalar tensor, or a tensor of the losses' shape if `reduction` is NONE.

    Raises:
      ValueError: If an argument is missing, or shapes do not fit.
    """
    _not_none(multi_class_labels=multi_class_labels, logits=logits)
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        logits = convert_to_tensor(logits)
        labels = casting.cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = cross_entropy.sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("losses.softmax_cross_entropy")
def softmax_cross_entropy(
    onehot_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: Hashable = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Adds the cross entropy of classes of which exactly one is true.

    Args:
      onehot_labels: The labels as probabilities of the classes, of shape [batch, classes].
      logits: The logits, of the same shape.
      weights: The weight of each loss: a tensor that is broadcast to the shape of the losses.
      label_smoothing: If above 0, this fraction of each label is distributed over all classes.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; none if None.
      reduction: How the losses are reduced, one of `tf.losses.Reduction`.

    Returns:
      The loss: a scalar tensor, or a tensor of the losses' shape if `reduction` is NONE.

    Raises:
      ValueError: If an argument is missing, or shapes do not fit.
    """
    _not_none(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        logits = convert_to_tensor(logits)
        labels = casting.cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            num_classes = casting.cast(shapes.shape(labels)[-1], logits.dtype)
            spread = label_smoothing / num_classes
            labels = labels * (1.0 - label_smoothing) + spread
        labels = constants.stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Adds the cross entropy of classes of which one is true, for labels that are the classes' numbers.

    Args:
      labels: The numbers of the classes, of shape [batch].
      logits: The logits, of shape [batch, classes].
      weights: The weight of each loss: a tensor that is broadcast to the shape of the losses.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; none if None.
      reduction: How the losses are reduced, one of `tf.losses.Reduction`.

    Returns:
      The loss: a scalar tensor, or a tensor of the losses' shape if `reduction` is NONE.

    Raises:
      ValueError: If an argument is missing, or shapes do not fit.
    """
    _not_none(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels, logits = confusion.remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        weights = _squeezed_weights(convert_to_tensor(weights), labels)
        losses = softmax.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _squeezed_weights(weights: Tensor, labels: Tensor) -> Tensor:
    """The weights without a last axis of size 1 that the labels do not have."""
    ranks = weights.shape.ndims, labels.shape.ndims
    if None not in ranks:
        return shapes.squeeze(weights, [-1]) if ranks[0] - ranks[1] == 1 else weights
    excess = shapes.rank(weights) - shapes.rank(labels)
    if not confusion.may_end_in_one(weights):
        return weights
    return confusion.squeezed_if(binary.equal(1, excess), weights)
