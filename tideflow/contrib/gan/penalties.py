"""Losses of GANs that look at gradients: the gradient penalty, and losses weighed by their gradients."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.autodiff.gradients import gradients
from tideflow.contrib.framework.model_variables import get_trainable_variables
from tideflow.contrib.gan.losses_of_outputs import LOSSES, MEAN
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.losses.reduction import compute_weighted_loss
from tideflow.ops.arrays import shapes
from tideflow.ops.arrays.constants import stop_gradient
from tideflow.ops.math import binary, clipping, reductions, unary
from tideflow.ops.random.distributions import random_uniform
from tideflow.summary import functions as summaries
from tideflow.variables.variable_scope import AUTO_REUSE, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.variables.variable_scope import VariableScope


@export("contrib.gan.losses.wargs.wasserstein_gradient_penalty")
def wasserstein_gradient_penalty(
    real_data: TensorLike,
    generated_data: TensorLike,
    generator_inputs: Any,
    discriminator_fn: Callable,
    discriminator_scope: str | VariableScope | None,
    epsilon: float = 1e-10,
    target: TensorLike = 1.0,
    one_sided: bool = False,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """How far the discriminator's slope is from 1, somewhere between real and generated data.

    Args:
      real_data: Real data.
      generated_data: Generated data.
      generator_inputs: What the generator was given.
      discriminator_fn: The function that builds the discriminator.
      discriminator_scope: The variable scope of the discriminator.
      epsilon: A small number that is added to the squared slope.
      target: The slope that is best.
      one_sided: Whether only steeper slopes count.
      weights: What each example counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss.

    Raises:
      ValueError: If a rank is not known.
    """
    with name_scope(scope, "wasserstein_gradient_penalty", (real_data, generated_data)) as scope:
        real_data, generated_data = convert_to_tensor(real_data), convert_to_tensor(generated_data)
        for name, data in (("real_data", real_data), ("generated_data", generated_data)):
            if data.shape.ndims is None:
                raise ValueError(f"`{name}` can't have unknown rank.")
        differences = generated_data - real_data
        rank = differences.shape.ndims
        batch = differences.shape.as_list()[0] or shapes.shape(differences)[0]
        between = real_data + random_uniform([batch] + [1] * (rank - 1)) * differences
        # Updates that the discriminator makes belong into its own scope.
        with (
            name_scope(None),
            variable_scope(discriminator_scope, "gpenalty_dscope", reuse=AUTO_REUSE),
        ):
            outputs = discriminator_fn(between, generator_inputs)
        if isinstance(outputs, tuple):  # with those of a classifier behind it
            outputs = outputs[0]
        slope = gradients(outputs, between)[0]
        squares = reductions.reduce_sum(unary.square(slope), axis=list(range(1, rank)))
        if isinstance(batch, int):
            squares.set_shape([batch])
        excess = unary.sqrt(squares + epsilon) / target - 1.0
        if one_sided:
            excess = binary.maximum(0.0, excess)
        loss = compute_weighted_loss(unary.square(excess), weights, scope, loss_collection, reduction)
        if add_summaries:
            summaries.scalar("gradient_penalty_loss", loss)
        return loss


@export("contrib.gan.losses.wargs.combine_adversarial_loss")
def combine_adversarial_loss(
    main_loss: TensorLike,
    adversarial_loss: TensorLike,
    weight_factor: TensorLike | None = None,
    gradient_ratio: TensorLike | None = None,
    gradient_ratio_epsilon: float = 1e-6,
    variables: Sequence[Any] | None = None,
    scalar_summaries: bool = True,
    gradient_summaries: bool = True,
    scope: str | None = None,
) -> Tensor:
    """Adds an adversarial loss to another, times a factor, or so that their gradients have a given ratio.

    Args:
      main_loss: A loss, a scalar.
      adversarial_loss: The adversarial loss, a scalar.
      weight_factor: The factor of the adversarial loss; one of this and `gradient_ratio` is given.
      gradient_ratio: The norm of the main loss's gradient over that of the adversarial loss's.
      gradient_ratio_epsilon: A small number that is added to the latter norm.
      variables: The variables of the gradients; all trainable ones if None.
      scalar_summaries: Whether the losses are summarized.
      gradient_summaries: Whether the norms of their gradients are summarized.
      scope: The name scope of the operations.

    Returns:
      The loss, a scalar.

    Raises:
      ValueError: If not one of factor and ratio is given, or a loss is not a scalar.
    """
    for loss in (main_loss, adversarial_loss):
        loss.shape.assert_is_compatible_with([])
    if weight_factor is None and gradient_ratio is None:
        raise ValueError("`weight_factor` and `gradient_ratio` cannot both be `None.`")
    if weight_factor is not None and gradient_ratio is not None:
        raise ValueError("`weight_factor` and `gradient_ratio` cannot both be specified.")
    if variables is None:
        variables = get_trainable_variables()
    with name_scope(scope, "adversarial_loss", [main_loss, adversarial_loss]):
        if gradient_summaries or gradient_ratio is not None:
            main_norm = _global_norm(gradients(main_loss, variables))
            adversarial_norm = _global_norm(gradients(adversarial_loss, variables))
        if scalar_summaries:
            summaries.scalar("main_loss", main_loss)
            summaries.scalar("adversarial_loss", adversarial_loss)
        if gradient_summaries:
            summaries.scalar("main_loss_gradients", main_norm)
            summaries.scalar("adversarial_loss_gradients", adversarial_norm)
        given = gradient_ratio if weight_factor is None else weight_factor
        if constant_value(convert_to_tensor(given)) == 0:
            return main_loss
        if gradient_ratio is None:
            return main_loss + stop_gradient(weight_factor) * adversarial_loss
        factor = main_norm / (adversarial_norm + gradient_ratio_epsilon) / gradient_ratio
        summaries.scalar("adversarial_coefficient", factor)
        return main_loss + stop_gradient(factor) * adversarial_loss


def _global_norm(tensors: Sequence[Tensor | None]) -> Any:
    """The norm of all gradients, divided by the largest element before they are squared."""
    there = [tensor for tensor in tensors if tensor is not None]
    if not there:
        return 0.0
    largest = reductions.reduce_max([reductions.reduce_max(unary.abs(tensor)) for tensor in there])
    return largest * clipping.global_norm([tensor / largest for tensor in there])
