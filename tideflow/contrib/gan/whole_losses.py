"""The losses of whole models: of both sides, with penalties and regularization."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.gan import losses_of_models as of_models
from tideflow.contrib.gan import losses_of_outputs as of_outputs
from tideflow.contrib.gan import penalties
from tideflow.contrib.gan.namedtuples import (
    ACGANModel,
    CycleGANLoss,
    CycleGANModel,
    GANLoss,
    GANModel,
    InfoGANModel,
    StarGANModel,
)
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.losses.collection import get_regularization_loss
from tideflow.losses.functions import absolute_difference, softmax_cross_entropy
from tideflow.ops.arrays.constants import identity
from tideflow.ops.math.checks import assert_greater_equal
from tideflow.summary import functions as summaries
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _checked_weight(weight: Any, name: str) -> Any:
    """The weight of a penalty, which is not negative; None where the penalty does not count."""
    if isinstance(weight, Tensor):
        weight.shape.assert_is_compatible_with([])
        with control_dependencies([assert_greater_equal(weight, 0.0)]):
            return identity(weight)
    if weight is not None and weight < 0:
        raise ValueError(f"`{name}` must be greater than 0. Instead, was {weight}")
    return weight or None


@export("contrib.gan.gan_loss")
def gan_loss(
    model: GANModel | InfoGANModel | ACGANModel,
    generator_loss_fn: Callable = of_models.wasserstein_generator_loss,
    discriminator_loss_fn: Callable = of_models.wasserstein_discriminator_loss,
    gradient_penalty_weight: TensorLike | None = None,
    gradient_penalty_epsilon: float = 1e-10,
    gradient_penalty_target: TensorLike = 1.0,
    gradient_penalty_one_sided: bool = False,
    mutual_information_penalty_weight: TensorLike | None = None,
    aux_cond_generator_weight: TensorLike | None = None,
    aux_cond_discriminator_weight: TensorLike | None = None,
    tensor_pool_fn: Callable | None = None,
    add_summaries: bool = True,
) -> GANLoss:
    """Builds the losses of a GAN, regularization included.

    Args:
      model: The model.
      generator_loss_fn: The generator's loss, a function of the model.
      discriminator_loss_fn: The discriminator's loss, a function of the model.
      gradient_penalty_weight: What the gradient penalty counts; it does not if None.
      gradient_penalty_epsilon: A small number that is added to the squared slope.
      gradient_penalty_target: The slope that is best.
      gradient_penalty_one_sided: Whether only steeper slopes count.
      mutual_information_penalty_weight: What the information penalty of an `InfoGANModel` counts; it does not
        if None.
      aux_cond_generator_weight: What classification counts for the generator of an `ACGANModel`.
      aux_cond_discriminator_weight: What it counts for the discriminator.
      tensor_pool_fn: A function that keeps tuples of tensors and gives earlier ones, such as
        `tf.contrib.gan.features.tensor_pool`: the discriminator learns from what it gives.
      add_summaries: Whether the losses are summarized.

    Returns:
      A `GANLoss`.

    Raises:
      ValueError: If a weight is negative, or does not belong to the kind of model.
    """
    for_slopes = _checked_weight(gradient_penalty_weight, "gradient_penalty_weight")
    for_information = _checked_weight(mutual_information_penalty_weight, "infogan_weight")
    for_generator = _checked_weight(aux_cond_generator_weight, "aux_cond_generator_weight")
    for_discriminator = _checked_weight(aux_cond_discriminator_weight, "aux_cond_discriminator_weight")
    if for_information is not None and not isinstance(model, InfoGANModel):
        raise ValueError(
            "When `mutual_information_penalty_weight` is provided, `model` must be an `InfoGANModel`. "
            f"Instead, was {type(model)}."
        )
    if (for_generator is not None or for_discriminator is not None) and not isinstance(model, ACGANModel):
        raise ValueError(
            "When `aux_cond_generator_weight` or `aux_cond_discriminator_weight` is provided, `model` must "
            f"be an `ACGANModel`. Instead, was {type(model)}."
        )
    pooled = _pooled(model, tensor_pool_fn) if tensor_pool_fn else model
    generator_loss = generator_loss_fn(model, add_summaries=add_summaries)
    discriminator_loss = discriminator_loss_fn(pooled, add_summaries=add_summaries)
    if for_slopes is not None:
        discriminator_loss += for_slopes * of_models.wasserstein_gradient_penalty(
            pooled,
            epsilon=gradient_penalty_epsilon,
            target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided,
            add_summaries=add_summaries,
        )
    if for_information is not None:
        found = of_models.mutual_information_penalty(model, add_summaries=add_summaries)
        found_in_pool = found
        if tensor_pool_fn:
            found_in_pool = of_models.mutual_information_penalty(pooled, add_summaries=add_summaries)
        generator_loss += for_information * found
        discriminator_loss += for_information * found_in_pool
    if for_generator is not None:
        generator_loss += for_generator * of_models.acgan_generator_loss(model, add_summaries=add_summaries)
    if for_discriminator is not None:
        discriminator_loss += for_discriminator * of_models.acgan_discriminator_loss(
            pooled, add_summaries=add_summaries
        )
    return GANLoss(
        generator_loss + _regularization(model.generator_scope),
        discriminator_loss + _regularization(model.discriminator_scope),
    )


def _regularization(scope: Any) -> Any:
    return get_regularization_loss(scope.name) if scope else 0


def _pooled(model: Any, tensor_pool_fn: Callable) -> Any:
    """The model with generated data from a pool."""
    if not isinstance(model, (GANModel, ACGANModel, InfoGANModel)):
        raise ValueError(f"Tensor pool does not support `model`: {type(model)}.")
    informed = isinstance(model, InfoGANModel)
    given = (model.generator_inputs, model.generated_data)
    inputs, data, *rest = tensor_pool_fn((*given, model.structured_generator_inputs) if informed else given)
    with variable_scope(model.discriminator_scope, reuse=True):
        judge = model.discriminator_and_aux_fn if informed else model.discriminator_fn
        outputs = judge(data, inputs)
    changed = {"generator_inputs": inputs, "generated_data": data}
    if isinstance(model, GANModel):
        return model._replace(**changed, discriminator_gen_outputs=outputs)
    changed["discriminator_gen_outputs"] = outputs[0]
    if informed:
        return model._replace(
            **changed, structured_generator_inputs=rest[0], predicted_distributions=outputs[1]
        )
    return model._replace(**changed, discriminator_gen_classification_logits=outputs[1])


@export("contrib.gan.cyclegan_loss")
def cyclegan_loss(
    model: CycleGANModel,
    generator_loss_fn: Callable = of_models.least_squares_generator_loss,
    discriminator_loss_fn: Callable = of_models.least_squares_discriminator_loss,
    cycle_consistency_loss_fn: Callable = of_models.cycle_consistency_loss,
    cycle_consistency_loss_weight: TensorLike = 10.0,
    **kwargs: Any,
) -> CycleGANLoss:
    """Builds the losses of two GANs that translate there and back.

    Args:
      model: The model.
      generator_loss_fn: The generators' loss, a function of a `GANModel`.
      discriminator_loss_fn: The discriminators' loss, a function of a `GANModel`.
      cycle_consistency_loss_fn: The loss of data that went there and back, a function of the model.
      cycle_consistency_loss_weight: What that loss counts for the generators.
      kwargs: Further arguments of `tf.contrib.gan.gan_loss`.

    Returns:
      A `CycleGANLoss`.

    Raises:
      ValueError: If it is another model, or the weight negative.
    """
    if not isinstance(model, CycleGANModel):
        raise ValueError(f"`model` must be a `CycleGANModel`. Instead, was {type(model)}.")
    consistency = cycle_consistency_loss_fn(model, add_summaries=kwargs.get("add_summaries", True))
    weight = _checked_weight(cycle_consistency_loss_weight, "cycle_consistency_loss_weight")
    extra = (0.0 if weight is None else weight) * consistency

    def one_way(part: GANModel) -> GANLoss:
        loss = gan_loss(part, generator_loss_fn, discriminator_loss_fn, **kwargs)
        return loss._replace(generator_loss=loss.generator_loss + extra)

    with name_scope("cyclegan_loss_x2y"):
        loss_x2y = one_way(model.model_x2y)
    with name_scope("cyclegan_loss_y2x"):
        loss_y2x = one_way(model.model_y2x)
    return CycleGANLoss(loss_x2y, loss_y2x)


@export("contrib.gan.stargan_loss")
def stargan_loss(
    model: StarGANModel,
    generator_loss_fn: Callable = of_models.stargan_generator_loss_wrapper(
        of_outputs.wasserstein_generator_loss
    ),
    discriminator_loss_fn: Callable = of_models.stargan_discriminator_loss_wrapper(
        of_outputs.wasserstein_discriminator_loss
    ),
    gradient_penalty_weight: TensorLike | None = 10.0,
    gradient_penalty_epsilon: float = 1e-10,
    gradient_penalty_target: TensorLike = 1.0,
    gradient_penalty_one_sided: bool = False,
    reconstruction_loss_fn: Callable = absolute_difference,
    reconstruction_loss_weight: TensorLike = 10.0,
    classification_loss_fn: Callable = softmax_cross_entropy,
    classification_loss_weight: TensorLike = 1.0,
    classification_one_hot: bool = True,
    add_summaries: bool = True,
) -> GANLoss:
    """Builds the losses of a GAN that translates between many domains.

    Args:
      model: The model.
      generator_loss_fn: The generator's loss, a function of the model.
      discriminator_loss_fn: The discriminator's loss, a function of the model.
      gradient_penalty_weight: What the gradient penalty counts; it does not if None or 0.
      gradient_penalty_epsilon: A small number that is added to the squared slope.
      gradient_penalty_target: The slope that is best.
      gradient_penalty_one_sided: Whether only steeper slopes count.
      reconstruction_loss_fn: The loss of data and what it becomes by way of another domain.
      reconstruction_loss_weight: What that loss counts for the generator.
      classification_loss_fn: The loss of domains and their logits, as `onehot_labels` and `logits`.
      classification_loss_weight: What that loss counts.
      classification_one_hot: Whether an example is of one domain; otherwise the losses of its domains are
        added.
      add_summaries: Whether the losses are summarized.

    Returns:
      A `GANLoss`.

    Raises:
      ValueError: If the number of domains is not known.
    """
    labels = model.input_data_domain_label
    labels.shape.assert_has_rank(2)
    labels.shape[1:].assert_is_fully_defined()
    generator_loss = generator_loss_fn(model, add_summaries=add_summaries)
    discriminator_loss = discriminator_loss_fn(model, add_summaries=add_summaries)
    for_slopes = _checked_weight(gradient_penalty_weight, "gradient_penalty_weight")
    if for_slopes is not None:
        penalty = of_models.stargan_gradient_penalty_wrapper(penalties.wasserstein_gradient_penalty)
        slopes = penalty(
            model,
            epsilon=gradient_penalty_epsilon,
            target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided,
            add_summaries=add_summaries,
        )
        discriminator_loss += slopes * for_slopes
    reconstruction = reconstruction_loss_fn(model.input_data, model.reconstructed_data)
    generator_loss += reconstruction * reconstruction_loss_weight
    if add_summaries:
        summaries.scalar("reconstruction_loss", reconstruction)

    def of_domains(targets: Any, logits: Any, side: str) -> Tensor:
        return classification_loss_weight * of_outputs.classification_loss(
            classification_loss_fn,
            targets,
            logits,
            classification_one_hot,
            f"{side}_classification_loss",
            add_summaries,
        )

    generator_loss += of_domains(
        model.generated_data_domain_target, model.discriminator_generated_data_domain_predication, "generator"
    )
    discriminator_loss += of_domains(
        labels, model.discriminator_input_data_domain_predication, "discriminator"
    )
    return GANLoss(generator_loss, discriminator_loss)
