"""Losses of lists of predictions, and models of several lengths that share their variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import shapes
from tideflow.ops.math import adding, casting, reductions
from tideflow.ops.nn import softmax
from tideflow.variables import variable_scope as scopes


@export("contrib.legacy_seq2seq.sequence_loss_by_example")
def sequence_loss_by_example(
    logits: list[Tensor],
    targets: list[Tensor],
    weights: list[Tensor],
    average_across_timesteps: bool = True,
    softmax_loss_function: Callable | None = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of a list of predictions, for each example.

    Args:
      logits: The scores of each step, [batch, symbols].
      targets: The right symbols of each step, int32, [batch].
      weights: How much each step of an example counts, [batch].
      average_across_timesteps: Whether the sum is divided by that of the weights.
      softmax_loss_function: Called with `labels` and `logits` instead of the cross entropy.
      name: A name for the scope of the new operations.

    Returns:
      A vector, [batch].

    Raises:
      ValueError: If the lists are not of one length.
    """
    if not len(targets) == len(weights) == len(logits):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    with name_scope(name, "sequence_loss_by_example", logits + targets + weights):
        losses = []
        for scores, labels, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                labels = shapes.reshape(labels, [-1])
                loss = softmax.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)
            else:
                loss = softmax_loss_function(labels=labels, logits=scores)
            losses.append(loss * weight)
        total = adding.add_n(losses)
        if average_across_timesteps:
            total /= adding.add_n(weights) + 1e-12  # an example whose weights are all zero
        return total


@export("contrib.legacy_seq2seq.sequence_loss")
def sequence_loss(
    logits: list[Tensor],
    targets: list[Tensor],
    weights: list[Tensor],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Callable | None = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of a list of predictions.

    Args:
      logits: The scores of each step, [batch, symbols].
      targets: The right symbols of each step, int32, [batch].
      weights: How much each step of an example counts, [batch].
      average_across_timesteps: Whether the loss of an example is divided by the sum of its weights.
      average_across_batch: Whether the sum is divided by the number of examples.
      softmax_loss_function: Called with `labels` and `logits` instead of the cross entropy.
      name: A name for the scope of the new operations.

    Returns:
      A scalar.

    Raises:
      ValueError: If the lists are not of one length.
    """
    with name_scope(name, "sequence_loss", logits + targets + weights):
        losses = sequence_loss_by_example(
            logits,
            targets,
            weights,
            average_across_timesteps=average_across_timesteps,
            softmax_loss_function=softmax_loss_function,
        )
        total = reductions.reduce_sum(losses)
        if not average_across_batch:
            return total
        return total / casting.cast(shapes.shape(targets[0])[0], total.dtype)


@export("contrib.legacy_seq2seq.model_with_buckets")
def model_with_buckets(
    encoder_inputs: list[Tensor],
    decoder_inputs: list[Tensor],
    targets: list[Tensor],
    weights: list[Tensor],
    buckets: list[tuple[int, int]],
    seq2seq: Callable,
    softmax_loss_function: Callable | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[list[Tensor]], list[Tensor]]:
    """Makes a model for each of several lengths; all of them share their variables.

    Args:
      encoder_inputs: The inputs of the encoder, one for each step.
      decoder_inputs: The inputs of the decoder, one for each step.
      targets: The right symbols of each step of the decoder.
      weights: How much they count.
      buckets: The lengths of input and output for each model, the longest last.
      seq2seq: Makes outputs and a state from the inputs of the encoder and of the decoder.
      softmax_loss_function: Called with `labels` and `logits` instead of the cross entropy.
      per_example_loss: Whether losses are vectors, [batch], instead of scalars.
      name: A name for the scope of the new operations.

    Returns:
      A list of the outputs of each model, and a list of their losses.

    Raises:
      ValueError: If a list is shorter than the last bucket.
    """
    longest = buckets[-1]
    for word, given, least in (
        ("encoder_inputs", encoder_inputs, longest[0]),
        ("targets", targets, longest[1]),
        ("weights", weights, longest[1]),
    ):
        if len(given) < least:
            raise ValueError(
                f"Length of {word} ({len(given)}) must be at least that of last bucket ({least})."
            )
    loss = sequence_loss_by_example if per_example_loss else sequence_loss
    losses: list[Tensor] = []
    outputs: list[Any] = []
    with name_scope(name, "model_with_buckets", encoder_inputs + decoder_inputs + targets + weights):
        for number, (sources, steps) in enumerate(buckets):
            with scopes.variable_scope(scopes.get_variable_scope(), reuse=True if number > 0 else None):
                made, _ = seq2seq(encoder_inputs[:sources], decoder_inputs[:steps])
                outputs.append(made)
                losses.append(
                    loss(made, targets[:steps], weights[:steps], softmax_loss_function=softmax_loss_function)
                )
    return outputs, losses
