"""What the steps of making a GAN hand on: models, losses and training operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.variables.variable_scope import VariableScope


@export("contrib.gan.GANModel")
class GANModel(NamedTuple):
    """A generator and a discriminator, and what they make of a batch.

    Args:
      generator_inputs: What the generator is given: noise, conditions.
      generated_data: What it makes of it.
      generator_variables: Its variables.
      generator_scope: The variable scope that they are in.
      generator_fn: The function that builds it.
      real_data: Real data.
      discriminator_real_outputs: What the discriminator says of real data.
      discriminator_gen_outputs: What it says of generated data.
      discriminator_variables: Its variables.
      discriminator_scope: The variable scope that they are in.
      discriminator_fn: The function that builds it.
    """

    generator_inputs: Any
    generated_data: TensorLike
    generator_variables: Sequence[Any]
    generator_scope: VariableScope
    generator_fn: Callable
    real_data: TensorLike
    discriminator_real_outputs: TensorLike
    discriminator_gen_outputs: TensorLike
    discriminator_variables: Sequence[Any]
    discriminator_scope: VariableScope
    discriminator_fn: Callable


@export("contrib.gan.InfoGANModel")
class InfoGANModel(NamedTuple):
    """A GAN whose discriminator also finds the structured part of the noise again.

    Args:
      generator_inputs: What the generator is given: noise, conditions.
      generated_data: What it makes of it.
      generator_variables: Its variables.
      generator_scope: The variable scope that they are in.
      generator_fn: The function that builds it.
      real_data: Real data.
      discriminator_real_outputs: What the discriminator says of real data.
      discriminator_gen_outputs: What it says of generated data.
      discriminator_variables: Its variables.
      discriminator_scope: The variable scope that they are in.
      discriminator_fn: The function that builds it, without the distributions.
      structured_generator_inputs: A list of tensors: the structured part of the noise.
      predicted_distributions: A list of distributions: what the discriminator says of each of these.
      discriminator_and_aux_fn: The function that builds the discriminator, distributions included.
    """

    generator_inputs: Any
    generated_data: TensorLike
    generator_variables: Sequence[Any]
    generator_scope: VariableScope
    generator_fn: Callable
    real_data: TensorLike
    discriminator_real_outputs: TensorLike
    discriminator_gen_outputs: TensorLike
    discriminator_variables: Sequence[Any]
    discriminator_scope: VariableScope
    discriminator_fn: Callable
    structured_generator_inputs: Sequence[TensorLike]
    predicted_distributions: Sequence[Any]
    discriminator_and_aux_fn: Callable


@export("contrib.gan.ACGANModel")
class ACGANModel(NamedTuple):
    """A GAN whose discriminator also classifies.

    Args:
      generator_inputs: What the generator is given: noise, conditions.
      generated_data: What it makes of it.
      generator_variables: Its variables.
      generator_scope: The variable scope that they are in.
      generator_fn: The function that builds it.
      real_data: Real data.
      discriminator_real_outputs: What the discriminator says of real data.
      discriminator_gen_outputs: What it says of generated data.
      discriminator_variables: Its variables.
      discriminator_scope: The variable scope that they are in.
      discriminator_fn: The function that builds it.
      one_hot_labels: The classes, a tensor of one-hot vectors.
      discriminator_real_classification_logits: The classes' logits for real data.
      discriminator_gen_classification_logits: Those for generated data.
    """

    generator_inputs: Any
    generated_data: TensorLike
    generator_variables: Sequence[Any]
    generator_scope: VariableScope
    generator_fn: Callable
    real_data: TensorLike
    discriminator_real_outputs: TensorLike
    discriminator_gen_outputs: TensorLike
    discriminator_variables: Sequence[Any]
    discriminator_scope: VariableScope
    discriminator_fn: Callable
    one_hot_labels: TensorLike
    discriminator_real_classification_logits: TensorLike
    discriminator_gen_classification_logits: TensorLike


@export("contrib.gan.CycleGANModel")
class CycleGANModel(NamedTuple):
    """Two GANs that translate between two kinds of data, there and back.

    Args:
      model_x2y: The GAN that makes Y of X.
      model_y2x: The GAN that makes X of Y.
      reconstructed_x: What becomes of X by way of Y.
      reconstructed_y: What becomes of Y by way of X.
    """

    model_x2y: GANModel
    model_y2x: GANModel
    reconstructed_x: TensorLike
    reconstructed_y: TensorLike


@export("contrib.gan.StarGANModel")
class StarGANModel(NamedTuple):
    """A GAN that translates between many domains.

    Args:
      input_data: Real data.
      input_data_domain_label: Its domains, a tensor of one-hot vectors.
      generated_data: What the generator makes of it.
      generated_data_domain_target: The domains that it was to make.
      reconstructed_data: What the generator makes of that for the first domains.
      discriminator_input_data_source_predication: How real the discriminator finds real data.
      discriminator_generated_data_source_predication: How real it finds generated data.
      discriminator_input_data_domain_predication: The domains' logits for real data.
      discriminator_generated_data_domain_predication: Those for generated data.
      generator_variables: The generator's variables.
      generator_scope: The variable scope that they are in.
      generator_fn: The function that builds the generator.
      discriminator_variables: The discriminator's variables.
      discriminator_scope: The variable scope that they are in.
      discriminator_fn: The function that builds the discriminator.
    """

    input_data: TensorLike
    input_data_domain_label: TensorLike
    generated_data: TensorLike
    generated_data_domain_target: TensorLike
    reconstructed_data: TensorLike
    discriminator_input_data_source_predication: TensorLike
    discriminator_generated_data_source_predication: TensorLike
    discriminator_input_data_domain_predication: TensorLike
    discriminator_generated_data_domain_predication: TensorLike
    generator_variables: Sequence[Any]
    generator_scope: VariableScope
    generator_fn: Callable
    discriminator_variables: Sequence[Any]
    discriminator_scope: VariableScope
    discriminator_fn: Callable


@export("contrib.gan.GANLoss")
class GANLoss(NamedTuple):
    """The losses of a GAN.

    Args:
      generator_loss: The generator's.
      discriminator_loss: The discriminator's.
    """

    generator_loss: TensorLike
    discriminator_loss: TensorLike


@export("contrib.gan.CycleGANLoss")
class CycleGANLoss(NamedTuple):
    """The losses of a `CycleGANModel`.

    Args:
      loss_x2y: Those of the GAN that makes Y of X.
      loss_y2x: Those of the GAN that makes X of Y.
    """

    loss_x2y: GANLoss
    loss_y2x: GANLoss


@export("contrib.gan.GANTrainOps")
class GANTrainOps(NamedTuple):
    """The operations that train a GAN.

    Args:
      generator_train_op: A step of the generator.
      discriminator_train_op: A step of the discriminator.
      global_step_inc_op: The operation that counts a step of both.
      train_hooks: Hooks that training needs, such as those of synchronous replicas.
    """

    generator_train_op: Any
    discriminator_train_op: Any
    global_step_inc_op: Any
    train_hooks: Sequence[Any] = ()


@export("contrib.gan.GANTrainSteps")
class GANTrainSteps(NamedTuple):
    """How often each side is trained in a step of the whole.

    Args:
      generator_train_steps: How many steps the generator makes.
      discriminator_train_steps: How many the discriminator makes.
    """

    generator_train_steps: int
    discriminator_train_steps: int
