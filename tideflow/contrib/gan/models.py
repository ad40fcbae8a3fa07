"""From functions that build a generator and a discriminator to a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.contrib.framework.model_variables import get_trainable_variables
from tideflow.contrib.gan.namedtuples import ACGANModel, CycleGANModel, GANModel, InfoGANModel, StarGANModel
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, joining
from tideflow.ops.random.distributions import random_uniform
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tideflow.graph.typing import TensorLike
    from tideflow.variables.variable_scope import VariableScope

    Scope = str | VariableScope


def _tensors(given: Any) -> Any:
    """A tensor, or a list or dictionary of them."""
    if isinstance(given, (list, tuple)):
        return [convert_to_tensor(value) for value in given]
    if isinstance(given, dict):
        return {key: convert_to_tensor(value) for key, value in given.items()}
    return convert_to_tensor(given)


class _Judged(NamedTuple):
    """A discriminator at work."""

    scope: VariableScope
    of_generated: Any
    of_real: Any
    real_data: Tensor


def _judge(
    discriminator_fn: Callable,
    scope: Any,
    generated: Tensor,
    real: Any,
    inputs: Any,
    checked: Callable = lambda outputs: outputs,
) -> _Judged:
    """What a discriminator says of generated and, with the same variables, of real data."""
    with variable_scope(scope) as found, name_scope(f"{found.name}/generated/"):
        of_generated = checked(discriminator_fn(generated, inputs))
    with variable_scope(found, reuse=True), name_scope(f"{found.name}/real/"):
        real = convert_to_tensor(real)
        of_real = checked(discriminator_fn(real, inputs))
    return _Judged(found, of_generated, of_real, real)


def _check_shapes(generated: Tensor, real: Tensor) -> None:
    if not generated.shape.is_compatible_with(real.shape):
        raise ValueError(
            f"Generator output shape ({generated.shape}) must be the same shape as real data ({real.shape})."
        )


@export("contrib.gan.gan_model")
def gan_model(
    generator_fn: Callable,
    discriminator_fn: Callable,
    real_data: TensorLike,
    generator_inputs: TensorLike | Sequence[TensorLike] | Mapping[str, TensorLike],
    generator_scope: Scope = "Generator",
    discriminator_scope: Scope = "Discriminator",
    check_shapes: bool = True,
) -> GANModel:
    """Builds a generator and a discriminator.

    Args:
      generator_fn: A function from `generator_inputs` to generated data.
      discriminator_fn: A function of data and `generator_inputs` to what the discriminator says of the data.
      real_data: Real data.
      generator_inputs: A tensor, or a list or dictionary of them: noise, conditions.
      generator_scope: The variable scope of the generator.
      discriminator_scope: The variable scope of the discriminator.
      check_shapes: Whether generated data must have the shape of real data.

    Returns:
      A `GANModel`.

    Raises:
      ValueError: If shapes differ.
    """
    with variable_scope(generator_scope) as gen_scope:
        inputs = _tensors(generator_inputs)
        generated = generator_fn(inputs)
    judged = _judge(discriminator_fn, discriminator_scope, generated, real_data, inputs)
    if check_shapes:
        _check_shapes(generated, judged.real_data)
    return GANModel(
        generator_inputs=inputs,
        generated_data=generated,
        generator_variables=get_trainable_variables(gen_scope),
        generator_scope=gen_scope,
        generator_fn=generator_fn,
        real_data=judged.real_data,
        discriminator_real_outputs=judged.of_real,
        discriminator_gen_outputs=judged.of_generated,
        discriminator_variables=get_trainable_variables(judged.scope),
        discriminator_scope=judged.scope,
        discriminator_fn=discriminator_fn,
    )


@export("contrib.gan.infogan_model")
def infogan_model(
    generator_fn: Callable,
    discriminator_fn: Callable,
    real_data: TensorLike,
    unstructured_generator_inputs: Sequence[TensorLike],
    structured_generator_inputs: Sequence[TensorLike],
    generator_scope: Scope = "Generator",
    discriminator_scope: Scope = "Discriminator",
) -> InfoGANModel:
    """Builds a GAN whose discriminator also finds the structured part of the noise again.

    Args:
      generator_fn: A function from a list of tensors to generated data.
      discriminator_fn: A function of data and inputs to a pair: what the discriminator says of the data, and
        a list of distributions, one for each structured input.
      real_data: Real data.
      unstructured_generator_inputs: A list of tensors: noise, conditions.
      structured_generator_inputs: A list of tensors: the noise that is found again.
      generator_scope: The variable scope of the generator.
      discriminator_scope: The variable scope of the discriminator.

    Returns:
      An `InfoGANModel`.

    Raises:
      ValueError: If shapes differ, or the distributions do not fit the inputs.
    """
    with variable_scope(generator_scope) as gen_scope:
        structured = _tensors(structured_generator_inputs)
        inputs = _tensors(unstructured_generator_inputs) + structured
        generated = generator_fn(inputs)

    def checked(outputs: Any) -> Any:
        _check_distributions(outputs[1], structured)
        return outputs

    judged = _judge(discriminator_fn, discriminator_scope, generated, real_data, inputs, checked)
    _check_shapes(generated, judged.real_data)
    return InfoGANModel(
        generator_inputs=inputs,
        generated_data=generated,
        generator_variables=get_trainable_variables(gen_scope),
        generator_scope=gen_scope,
        generator_fn=generator_fn,
        real_data=judged.real_data,
        discriminator_real_outputs=judged.of_real[0],
        discriminator_gen_outputs=judged.of_generated[0],
        discriminator_variables=get_trainable_variables(judged.scope),
        discriminator_scope=judged.scope,
        discriminator_fn=lambda data, given: discriminator_fn(data, given)[0],
        structured_generator_inputs=structured,
        predicted_distributions=judged.of_generated[1],
        discriminator_and_aux_fn=discriminator_fn,
    )


def _check_distributions(distributions: Any, noise: list[Tensor]) -> None:
    if not isinstance(distributions, (list, tuple)):
        raise ValueError(f"`predicted_distributions` must be a list. Instead, found {type(distributions)}.")
    for found in distributions:
        if not callable(getattr(found, "log_prob", None)):
            raise ValueError(
                "Every element in `predicted_distributions` must be a `tf.Distribution`. Instead, found "
                f"{type(found)}."
            )
    if len(distributions) != len(noise):
        raise ValueError(
            f"Length of `predicted_distributions` {len(distributions)} must be the same as the length of "
            f"structured noise {len(noise)}."
        )


@export("contrib.gan.acgan_model")
def acgan_model(
    generator_fn: Callable,
    discriminator_fn: Callable,
    real_data: TensorLike,
    generator_inputs: TensorLike | Sequence[TensorLike] | Mapping[str, TensorLike],
    one_hot_labels: TensorLike,
    generator_scope: Scope = "Generator",
    discriminator_scope: Scope = "Discriminator",
    check_shapes: bool = True,
) -> ACGANModel:
    """Builds a GAN whose discriminator also classifies.

    Args:
      generator_fn: A function from `generator_inputs` to generated data.
      discriminator_fn: A function of data and `generator_inputs` to a pair: what the discriminator says of
        the data, and the classes' logits.
      real_data: Real data.
      generator_inputs: A tensor, or a list or dictionary of them: noise, conditions.
      one_hot_labels: The classes, a tensor of one-hot vectors.
      generator_scope: The variable scope of the generator.
      discriminator_scope: The variable scope of the discriminator.
      check_shapes: Whether generated data must have the shape of real data.

    Returns:
      An `ACGANModel`.

    Raises:
      ValueError: If shapes differ.
      TypeError: If the discriminator does not give a pair.
    """
    with variable_scope(generator_scope) as gen_scope:
        inputs = _tensors(generator_inputs)
        generated = generator_fn(inputs)
    judged = _judge(discriminator_fn, discriminator_scope, generated, real_data, inputs, _checked_pair)
    if check_shapes:
        _check_shapes(generated, judged.real_data)
    return ACGANModel(
        generator_inputs=inputs,
        generated_data=generated,
        generator_variables=get_trainable_variables(gen_scope),
        generator_scope=gen_scope,
        generator_fn=generator_fn,
        real_data=judged.real_data,
        discriminator_real_outputs=judged.of_real[0],
        discriminator_gen_outputs=judged.of_generated[0],
        discriminator_variables=get_trainable_variables(judged.scope),
        discriminator_scope=judged.scope,
        discriminator_fn=discriminator_fn,
        one_hot_labels=one_hot_labels,
        discriminator_real_classification_logits=judged.of_real[1],
        discriminator_gen_classification_logits=judged.of_generated[1],
    )


def _checked_pair(outputs: Any) -> tuple[Any, Any]:
    try:
        verdict, logits = outputs
    except (TypeError, ValueError):
        raise TypeError(
            "A discriminator function for ACGAN must output a tuple consisting of (discrimination logits, "
            "classification logits)."
        ) from None
    return verdict, logits


@export("contrib.gan.cyclegan_model")
def cyclegan_model(
    generator_fn: Callable,
    discriminator_fn: Callable,
    data_x: TensorLike,
    data_y: TensorLike,
    generator_scope: Scope = "Generator",
    discriminator_scope: Scope = "Discriminator",
    model_x2y_scope: Scope = "ModelX2Y",
    model_y2x_scope: Scope = "ModelY2X",
    check_shapes: bool = True,
) -> CycleGANModel:
    """Builds two GANs that translate between two kinds of data, there and back.

    Args:
      generator_fn: A function from data of one kind to data of the other.
      discriminator_fn: A function of data and the generator's input to what the discriminator says of it.
      data_x: Data of one kind.
      data_y: Data of the other.
      generator_scope: The variable scope of each generator.
      discriminator_scope: The variable scope of each discriminator.
      model_x2y_scope: The variable scope of the GAN that makes Y of X.
      model_y2x_scope: The variable scope of the GAN that makes X of Y.
      check_shapes: Whether generated data must have the shape of real data.

    Returns:
      A `CycleGANModel`.

    Raises:
      ValueError: If shapes differ.
    """

    def one_way(scope: Any, source: Any, goal: Any) -> GANModel:
        with variable_scope(scope):
            return gan_model(
                generator_fn,
                discriminator_fn,
                goal,
                source,
                generator_scope,
                discriminator_scope,
                check_shapes,
            )

    def sent_back(model: GANModel, data: Tensor) -> Tensor:
        with variable_scope(model.generator_scope, reuse=True):
            return model.generator_fn(data)

    x2y = one_way(model_x2y_scope, data_x, data_y)
    y2x = one_way(model_y2x_scope, data_y, data_x)
    return CycleGANModel(x2y, y2x, sent_back(y2x, x2y.generated_data), sent_back(x2y, y2x.generated_data))


@export("contrib.gan.stargan_model")
def stargan_model(
    generator_fn: Callable,
    discriminator_fn: Callable,
    input_data: TensorLike | Sequence[TensorLike],
    input_data_domain_label: TensorLike | Sequence[TensorLike],
    generator_scope: Scope = "Generator",
    discriminator_scope: Scope = "Discriminator",
) -> StarGANModel:
    """Builds a GAN that translates between many domains, here into random domains.

    Args:
      generator_fn: A function of data and domains, one-hot vectors, to data of these domains.
      discriminator_fn: A function of data and the number of domains to a pair: how real the data is, and the
        domains' logits.
      input_data: Real data, or a list of it.
      input_data_domain_label: Its domains: a tensor [batch, domains] of one-hot vectors, or a list of them.
      generator_scope: The variable scope of the generator.
      discriminator_scope: The variable scope of the discriminator.

    Returns:
      A `StarGANModel`.

    Raises:
      ValueError: If the shape of the domains is not known.
    """
    data, labels = _as_one(input_data), _as_one(input_data_domain_label)
    labels.shape.assert_has_rank(2)
    labels.shape.assert_is_fully_defined()
    batch, domains = labels.shape.as_list()
    with variable_scope(generator_scope) as gen_scope:
        chosen = random_uniform([batch], maxval=domains, dtype=dtypes.int32)
        targets = creation.one_hot(chosen, domains)
        generated = generator_fn(data, targets)
    with variable_scope(gen_scope, reuse=True):
        reconstructed = generator_fn(generated, labels)
    with variable_scope(discriminator_scope) as dis_scope:
        generated_source, generated_domain = discriminator_fn(generated, domains)
    with variable_scope(dis_scope, reuse=True):
        input_source, input_domain = discriminator_fn(data, domains)
    return StarGANModel(
        input_data=data,
        input_data_domain_label=labels,
        generated_data=generated,
        generated_data_domain_target=targets,
        reconstructed_data=reconstructed,
        discriminator_input_data_source_predication=input_source,
        discriminator_generated_data_source_predication=generated_source,
        discriminator_input_data_domain_predication=input_domain,
        discriminator_generated_data_domain_predication=generated_domain,
        generator_variables=get_trainable_variables(gen_scope),
        generator_scope=gen_scope,
        generator_fn=generator_fn,
        discriminator_variables=get_trainable_variables(dis_scope),
        discriminator_scope=dis_scope,
        discriminator_fn=discriminator_fn,
    )


def _as_one(given: Any) -> Tensor:
    tensors = _tensors(given)
    return joining.concat(tensors, 0) if isinstance(tensors, list) else tensors
