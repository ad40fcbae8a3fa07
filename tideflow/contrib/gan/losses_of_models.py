"""The losses of GANs, as functions of models (`tf.contrib.gan.losses`)."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.gan import losses_of_outputs as of_outputs
from tideflow.contrib.gan import penalties
from tideflow.contrib.gan.namedtuples import (
    ACGANModel,
    CycleGANModel,
    GANLoss,
    GANModel,
    InfoGANModel,
    StarGANModel,
)
from tideflow.export import export, expose
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_FIELDS = {*GANModel._fields, *InfoGANModel._fields, *ACGANModel._fields}


def _of_model(loss_fn: Callable) -> Callable:
    """A loss whose arguments are found in a model, where it has them."""
    parameters = inspect.signature(loss_fn).parameters
    options = [parameter for name, parameter in parameters.items() if name not in _FIELDS]
    required = [p.name for p in parameters.values() if p.default is inspect.Parameter.empty]

    @functools.wraps(loss_fn)
    def loss_of_model(gan_model: Any, **kwargs: Any) -> Tensor:
        fields = gan_model._fields
        both = set(fields) & set(kwargs)
        if both:
            raise ValueError(
                "The following args are present in both the tuple and keyword args for "
                f"{loss_fn.__name__}: {both}"
            )
        for name in required:
            if name not in fields and name not in kwargs:
                raise ValueError(f"`{name}` must be supplied to {loss_fn.__name__} loss function.")
        return loss_fn(**{n: getattr(gan_model, n) for n in parameters if n in fields}, **kwargs)

    model = inspect.Parameter("gan_model", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="GANModel")
    keyword = inspect.Parameter.KEYWORD_ONLY
    loss_of_model.__signature__ = inspect.Signature([model, *(p.replace(kind=keyword) for p in options)])
    loss_of_model.__doc__ = _described(loss_fn.__doc__ or "", set(parameters) - {p.name for p in options})
    expose(loss_of_model, f"contrib.gan.losses.{loss_fn.__name__}")
    return loss_of_model


def _described(doc: str, of_model: set[str]) -> str:
    """The docstring of the loss with one line for the model in place of what is found in it."""
    entry = "      gan_model: The model, a named tuple.\n"
    for name in of_model:
        doc = re.sub(rf"^      {name}: .*\n(?:        .*\n)*", "", doc, flags=re.MULTILINE)
    return doc.replace("    Args:\n", f"    Args:\n{entry}")


acgan_discriminator_loss = _of_model(of_outputs.acgan_discriminator_loss)
acgan_generator_loss = _of_model(of_outputs.acgan_generator_loss)
least_squares_discriminator_loss = _of_model(of_outputs.least_squares_discriminator_loss)
least_squares_generator_loss = _of_model(of_outputs.least_squares_generator_loss)
modified_discriminator_loss = _of_model(of_outputs.modified_discriminator_loss)
modified_generator_loss = _of_model(of_outputs.modified_generator_loss)
minimax_discriminator_loss = _of_model(of_outputs.minimax_discriminator_loss)
minimax_generator_loss = _of_model(of_outputs.minimax_generator_loss)
wasserstein_discriminator_loss = _of_model(of_outputs.wasserstein_discriminator_loss)
wasserstein_generator_loss = _of_model(of_outputs.wasserstein_generator_loss)
wasserstein_gradient_penalty = _of_model(penalties.wasserstein_gradient_penalty)
mutual_information_penalty = _of_model(of_outputs.mutual_information_penalty)


@export("contrib.gan.losses.combine_adversarial_loss")
def combine_adversarial_loss(
    gan_loss: GANLoss,
    gan_model: GANModel,
    non_adversarial_loss: TensorLike,
    weight_factor: TensorLike | None = None,
    gradient_ratio: TensorLike | None = None,
    gradient_ratio_epsilon: float = 1e-6,
    scalar_summaries: bool = True,
    gradient_summaries: bool = True,
) -> GANLoss:
    """Adds a GAN's generator loss to another; see `tf.contrib.gan.losses.wargs.combine_adversarial_loss`.

    Args:
      gan_loss: The losses of the GAN.
      gan_model: The GAN, whose generator's variables the gradients are of.
      non_adversarial_loss: The other loss, a scalar.
      weight_factor: The factor of the generator's loss; one of this and `gradient_ratio` is given.
      gradient_ratio: The norm of the other loss's gradient over that of the generator's.
      gradient_ratio_epsilon: A small number that is added to the latter norm.
      scalar_summaries: Whether the losses are summarized.
      gradient_summaries: Whether the norms of their gradients are summarized.

    Returns:
      The losses with the sum in place of the generator's.
    """
    combined = penalties.combine_adversarial_loss(
        non_adversarial_loss,
        gan_loss.generator_loss,
        weight_factor,
        gradient_ratio,
        gradient_ratio_epsilon,
        gan_model.generator_variables,
        scalar_summaries,
        gradient_summaries,
    )
    return gan_loss._replace(generator_loss=combined)


@export("contrib.gan.losses.cycle_consistency_loss")
def cycle_consistency_loss(
    cyclegan_model: CycleGANModel, scope: str | None = None, add_summaries: bool = False
) -> Tensor:
    """How far data is from what it becomes by way of the other kind: the mean of both absolute differences.

    Args:
      cyclegan_model: The model.
      scope: The name scope of the operations.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss, a scalar.

    Raises:
      ValueError: If it is another model.
    """
    if not isinstance(cyclegan_model, CycleGANModel):
        raise ValueError(f"`cyclegan_model` must be a `CycleGANModel`. Instead, was {type(cyclegan_model)}.")
    return of_outputs.cycle_consistency_loss(
        cyclegan_model.model_x2y.generator_inputs,
        cyclegan_model.reconstructed_x,
        cyclegan_model.model_y2x.generator_inputs,
        cyclegan_model.reconstructed_y,
        scope,
        add_summaries,
    )


@export("contrib.gan.losses.stargan_generator_loss_wrapper")
def stargan_generator_loss_wrapper(loss_fn: Callable) -> Callable:
    """Makes a generator's loss one of a `StarGANModel`.

    Args:
      loss_fn: A loss of what the discriminator says of generated data.

    Returns:
      A function of a `StarGANModel` and keyword arguments.
    """

    @functools.wraps(loss_fn)
    def loss_of_model(stargan_model: StarGANModel, **kwargs: Any) -> Tensor:
        return loss_fn(stargan_model.discriminator_generated_data_source_predication, **kwargs)

    return loss_of_model


@export("contrib.gan.losses.stargan_discriminator_loss_wrapper")
def stargan_discriminator_loss_wrapper(loss_fn: Callable) -> Callable:
    """Makes a discriminator's loss one of a `StarGANModel`.

    Args:
      loss_fn: A loss of what the discriminator says of real and of generated data.

    Returns:
      A function of a `StarGANModel` and keyword arguments.
    """

    @functools.wraps(loss_fn)
    def loss_of_model(stargan_model: StarGANModel, **kwargs: Any) -> Tensor:
        return loss_fn(
            stargan_model.discriminator_input_data_source_predication,
            stargan_model.discriminator_generated_data_source_predication,
            **kwargs,
        )

    return loss_of_model


@export("contrib.gan.losses.stargan_gradient_penalty_wrapper")
def stargan_gradient_penalty_wrapper(loss_fn: Callable) -> Callable:
    """Makes a gradient penalty one of a `StarGANModel`.

    Args:
      loss_fn: A penalty with the arguments of `tf.contrib.gan.losses.wargs.wasserstein_gradient_penalty`.

    Returns:
      A function of a `StarGANModel` and keyword arguments.
    """

    @functools.wraps(loss_fn)
    def loss_of_model(stargan_model: StarGANModel, **kwargs: Any) -> Tensor:
        return loss_fn(
            real_data=stargan_model.input_data,
            generated_data=stargan_model.generated_data,
            generator_inputs=stargan_model.input_data_domain_label.shape.as_list()[-1],
            discriminator_fn=stargan_model.discriminator_fn,
            discriminator_scope=stargan_model.discriminator_scope,
            **kwargs,
        )

    return loss_of_model
