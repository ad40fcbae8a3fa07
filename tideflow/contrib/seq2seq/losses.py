"""The loss of a sequence of predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.keras.losses import Loss
from tideflow.ops.arrays import shapes
from tideflow.ops.math import binary, casting, reductions
from tideflow.ops.nn import softmax


@export("contrib.seq2seq.sequence_loss")
def sequence_loss(
    logits: Tensor,
    targets: Tensor,
    weights: Tensor,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable | None = None,
    name: str | None = None,
) -> Tensor:
    """The cross entropy of logits [batch, time, class] to targets [batch, time], weighted.

    An average is over the weights, a sum over how many of them are not zero. What is neither averaged nor
    summed over remains an axis.

    Args:
      logits: The logits, a tensor [batch, time, classes].
      targets: The right classes, a tensor [batch, time].
      weights: What each place counts, a tensor [batch, time].
      average_across_timesteps: Whether the loss is averaged over time.
      average_across_batch: Whether the loss is averaged over the batch.
      sum_over_timesteps: Whether the loss is summed over time, divided by how many weights are not zero.
      sum_over_batch: Whether the loss is summed over the batch, divided likewise.
      softmax_loss_function: A function of `labels` and `logits` that computes the loss of each place; the
        sparse softmax cross entropy if None.
      name: The name scope of the operations.

    Returns:
      A tensor; what is neither averaged nor summed over remains an axis.

    Raises:
      ValueError: If an axis is both averaged and summed over, or the ranks are not these.
    """
    _check_arguments(logits, targets, weights)
    _check_one_of("timesteps", average_across_timesteps, sum_over_timesteps)
    _check_one_of("batch", average_across_batch, sum_over_batch)
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = shapes.shape(logits)[2]
        flat_logits = shapes.reshape(logits, [-1, classes])
        loss_function = softmax_loss_function or softmax.sparse_softmax_cross_entropy_with_logits
        losses = loss_function(labels=shapes.reshape(targets, [-1]), logits=flat_logits)
        losses *= shapes.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return binary.div_no_nan(reductions.reduce_sum(losses), reductions.reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            return _per_counted(losses, weights, None)
        losses = shapes.reshape(losses, shapes.shape(logits)[0:2])
        if average_across_timesteps:
            return _per_weight(losses, weights, 1)
        if average_across_batch:
            return _per_weight(losses, weights, 0)
        if sum_over_timesteps:
            return _per_counted(losses, weights, 1)
        if sum_over_batch:
            return _per_counted(losses, weights, 0)
        return losses


class SequenceLoss(Loss):
    """`sequence_loss` as a loss of Keras; it reduces as its arguments say, and nothing besides."""

    def __init__(
        self,
        average_across_timesteps: bool = False,
        average_across_batch: bool = False,
        sum_over_timesteps: bool = True,
        sum_over_batch: bool = True,
        softmax_loss_function: Callable | None = None,
        name: str | None = None,
    ):
        super().__init__(name=name)
        self.average_across_timesteps = average_across_timesteps
        self.average_across_batch = average_across_batch
        self.sum_over_timesteps = sum_over_timesteps
        self.sum_over_batch = sum_over_batch
        self.softmax_loss_function = softmax_loss_function

    def __call__(self, y_true: Tensor, y_pred: Tensor, sample_weight: Any = None) -> Tensor:
        return sequence_loss(
            y_pred,
            y_true,
            sample_weight,
            average_across_timesteps=self.average_across_timesteps,
            average_across_batch=self.average_across_batch,
            sum_over_timesteps=self.sum_over_timesteps,
            sum_over_batch=self.sum_over_batch,
            softmax_loss_function=self.softmax_loss_function,
            name=self.name,
        )

    def call(self, y_true: Any, y_pred: Any) -> None:
        """Not used: calling the loss computes it."""


def _check_arguments(logits: Tensor, targets: Tensor, weights: Tensor) -> None:
    if len(logits.shape) != 3:
        raise ValueError("Logits must be a [batch_size x sequence_length x logits] tensor")
    if len(targets.shape) != 2:
        raise ValueError("Targets must be a [batch_size x sequence_length] tensor")
    if len(weights.shape) != 2:
        raise ValueError("Weights must be a [batch_size x sequence_length] tensor")


def _check_one_of(axis: str, average: bool, total: bool) -> None:
    if average and total:
        raise ValueError(f"average_across_{axis} and sum_over_{axis} cannot be set to True at same time.")


def _per_weight(losses: Tensor, weights: Tensor, axis: int) -> Tensor:
    return binary.div_no_nan(
        reductions.reduce_sum(losses, axis=axis), reductions.reduce_sum(weights, axis=axis)
    )


def _per_counted(losses: Tensor, weights: Tensor, axis: int | None) -> Tensor:
    total = reductions.reduce_sum(losses, axis=axis)
    count = casting.cast(reductions.count_nonzero(weights, axis=axis), losses.dtype)
    return binary.div_no_nan(total, count)
