"""Losses made of element-wise ops: logistic and Poisson; and averages of losses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, indexing, shapes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.ops.nn import activations
from tideflow.ops.nn.softmax import check_named

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _same_shape(first_name: str, first: Tensor, second_name: str, second: Tensor) -> None:
    if not first.shape.is_compatible_with(second.shape):
        raise ValueError(
            f"{first_name} and {second_name} must have the same shape ({first.shape} vs {second.shape})"
        )


@export("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(
    _sentinel: None = None,
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the logistic loss of independent classes, in a form that does not overflow.

    For a logit x and a label z it is `max(x, 0) - x * z + log(1 + exp(-abs(x)))`.

    Args:
      _sentinel: Must be None: it makes positional arguments an error.
      labels: The labels, from 0 to 1, of the shape of `logits`.
      logits: The logits.
      name: The name of the operation.

    Returns:
      The loss of each element.

    Raises:
      ValueError: If an argument is missing, or the shapes differ.
    """
    check_named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _same_shape("logits", logits, "labels", labels)
        zeros = creation.zeros_like(logits, dtype=logits.dtype)
        positive = logits >= zeros
        above = indexing.where(positive, logits, zeros)
        minus_size = indexing.where(positive, -logits, logits)
        return binary.add(above - logits * labels, unary.log1p(unary.exp(minus_size)), name=name)


@export("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    pos_weight: TensorLike | None = None,
    name: str | None = None,
    targets: TensorLike | None = None,
) -> Tensor:
    """Computes the logistic loss with a weight for positive labels.

    Args:
      labels: The labels, from 0 to 1, of the shape of `logits`.
      logits: The logits.
      pos_weight: The weight of positive labels. Above 1 it favours recall, below 1 precision.
      name: The name of the operation.
      targets: Another name for `labels`.

    Returns:
      The loss of each element.

    Raises:
      ValueError: If the shapes differ.
    """
    labels = renamed("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _same_shape("logits", logits, "labels", labels)
        weight = 1 + (pos_weight - 1) * labels
        return binary.add(
            (1 - labels) * logits,
            weight * (unary.log1p(unary.exp(-unary.abs(logits))) + activations.relu(-logits)),
            name=name,
        )


@export("nn.log_poisson_loss")
def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """Computes the loss of a Poisson model from the logarithm of its prediction: `exp(c) - c * z`.

    Args:
      targets: The counts z.
      log_input: The logarithms c of the predictions.
      compute_full_loss: Whether the term for `log(z!)`, by Stirling's approximation, is added.
      name: The name of the operation.

    Returns:
      The loss of each element.

    Raises:
      ValueError: If the shapes differ.
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]) as name:
        log_input = convert_to_tensor(log_input, name="log_input")
        targets = convert_to_tensor(targets, name="targets")
        _same_shape("log_input", log_input, "targets", targets)
        result = unary.exp(log_input) - log_input * targets
        return result + _stirling(targets) if compute_full_loss else result


def _stirling(counts: Tensor) -> Tensor:
    """log(count!), nearly; 0 for counts from 0 to 1."""
    dtype = counts.dtype.base_dtype
    half, circle = constants.constant(0.5, dtype=dtype), constants.constant(2 * math.pi, dtype=dtype)
    approximation = counts * unary.log(counts) - counts + half * unary.log(circle * counts)
    zeros, ones = creation.zeros_like(counts, dtype=dtype), creation.ones_like(counts, dtype=dtype)
    small = binary.logical_and(counts >= zeros, counts <= ones)
    return indexing.where(small, zeros, approximation)


@export("nn.compute_average_loss")
def compute_average_loss(
    per_example_loss: TensorLike,
    sample_weight: TensorLike | None = None,
    global_batch_size: TensorLike | None = None,
) -> Tensor:
    """Averages the losses of examples over the global batch.

    Args:
      per_example_loss: The losses.
      sample_weight: The weights of the examples.
      global_batch_size: The size of the batch of all replicas; that of `per_example_loss` if None.

    Returns:
      The sum of the weighted losses divided by the size, a scalar tensor.
    """
    loss = convert_to_tensor(per_example_loss)
    dtype = loss.dtype.base_dtype
    if loss.shape.ndims == 0:
        raise ValueError("The loss of each example must have at least one axis, the batch.")
    if sample_weight is not None:
        loss = loss * casting.cast(sample_weight, dtype)
    if global_batch_size is None:
        global_batch_size = casting.cast(shapes.shape(loss)[0], dtype)
    return reductions.reduce_sum(loss) / global_batch_size


@export("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """Divides the sum of regularization losses by the number of replicas, which is 1.

    Args:
      regularization_loss: The losses.

    Returns:
      A scalar tensor.
    """
    return reductions.reduce_sum(regularization_loss) / 1
