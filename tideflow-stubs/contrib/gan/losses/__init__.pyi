# Written by `python -m tideflow.programs.stubs`.

from builtins import bool as _bool
from builtins import float as _float
from builtins import str as _str
from tideflow.graph.typing import TensorLike as _TensorLike
from tideflow.contrib.gan.losses import wargs as wargs
from tideflow.contrib.gan.losses_of_models import combine_adversarial_loss as combine_adversarial_loss
from tideflow.contrib.gan.losses_of_models import cycle_consistency_loss as cycle_consistency_loss
from tideflow.contrib.gan.losses_of_models import stargan_discriminator_loss_wrapper as stargan_discriminator_loss_wrapper
from tideflow.contrib.gan.losses_of_models import stargan_generator_loss_wrapper as stargan_generator_loss_wrapper
from tideflow.contrib.gan.losses_of_models import stargan_gradient_penalty_wrapper as stargan_gradient_penalty_wrapper

def acgan_discriminator_loss(gan_model, *, label_smoothing: _float = 0.0, real_weights: _TensorLike = 1.0, generated_weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """How badly the discriminator classifies real and generated data.

    Args:
      gan_model: The model, a named tuple.
      label_smoothing: How much of the labels of real data is spread over all classes.
      real_weights: What each real example counts: a number, or a tensor that broadcasts.
      generated_weights: What each generated example counts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss."""

def acgan_generator_loss(gan_model, *, weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """How badly the discriminator classifies generated data.

    Args:
      gan_model: The model, a named tuple.
      weights: What each example counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss."""

def least_squares_discriminator_loss(gan_model, *, real_label: _float = 1, fake_label: _float = 0, real_weights: _TensorLike = 1.0, generated_weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """The discriminator's loss of least squares: `(D(x) - real_label)² / 2 + (D(G(z)) - fake_label)² / 2`.

    Args:
      gan_model: The model, a named tuple.
      real_label: What it is to say of real data.
      fake_label: What it is to say of generated data.
      real_weights: What each real example counts: a number, or a tensor that broadcasts.
      generated_weights: What each generated example counts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss."""

def least_squares_generator_loss(gan_model, *, real_label: _float = 1, weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """The generator's loss of least squares: `(D(G(z)) - real_label)² / 2`.

    Args:
      gan_model: The model, a named tuple.
      real_label: What the discriminator is to say of real data.
      weights: What each example counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss."""

def minimax_discriminator_loss(gan_model, *, label_smoothing: _float = 0.25, real_weights: _TensorLike = 1.0, generated_weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """The discriminator's loss of the first GANs: `-log sigmoid D(x) - log(1 - sigmoid D(G(z)))`.

    Args:
      gan_model: The model, a named tuple.
      label_smoothing: How far the labels of real data are moved from 1 towards a half.
      real_weights: What each real example counts: a number, or a tensor that broadcasts.
      generated_weights: What each generated example counts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss."""

def minimax_generator_loss(gan_model, *, label_smoothing: _float = 0.0, weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """The generator's loss of the first GANs: what the discriminator loses.

    Args:
      gan_model: The model, a named tuple.
      label_smoothing: How far the labels of real data are moved from 1 towards a half.
      weights: What each example counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss."""

def modified_discriminator_loss(gan_model, *, label_smoothing: _float = 0.25, real_weights: _TensorLike = 1.0, generated_weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """The discriminator's loss beside `modified_generator_loss`: `minimax_discriminator_loss`.

    Args:
      gan_model: The model, a named tuple.
      label_smoothing: How far the labels of real data are moved from 1 towards a half.
      real_weights: What each real example counts: a number, or a tensor that broadcasts.
      generated_weights: What each generated example counts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss."""

def modified_generator_loss(gan_model, *, label_smoothing: _float = 0.0, weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """The generator's loss whose gradient does not vanish: `-log sigmoid D(G(z))`.

    Args:
      gan_model: The model, a named tuple.
      label_smoothing: How far the labels are moved from 1 towards a half.
      weights: What each example counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss."""

def mutual_information_penalty(gan_model, *, weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """How badly the structured part of the noise can be told from generated data.

    Args:
      gan_model: The model, a named tuple.
      weights: What each input counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the mean likelihood is added to; None for none.
      reduction: How the inputs' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss: the negative mean of the logarithms of the likelihoods.

    Raises:
      ValueError: If the lists do not fit each other."""

def wasserstein_discriminator_loss(gan_model, *, real_weights: _TensorLike = 1.0, generated_weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """The discriminator's loss of a Wasserstein GAN: `D(G(z)) - D(x)`.

    Args:
      gan_model: The model, a named tuple.
      real_weights: What each real example counts: a number, or a tensor that broadcasts.
      generated_weights: What each generated example counts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss."""

def wasserstein_generator_loss(gan_model, *, weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """The generator's loss of a Wasserstein GAN: `-D(G(z))`.

    Args:
      gan_model: The model, a named tuple.
      weights: What each example counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss."""

def wasserstein_gradient_penalty(gan_model, *, epsilon: _float = 1e-10, target: _TensorLike = 1.0, one_sided: _bool = False, weights: _TensorLike = 1.0, scope: _str | None = None, loss_collection='losses', reduction: _str = 'weighted_sum_by_nonzero_weights', add_summaries: _bool = False):
    """How far the discriminator's slope is from 1, somewhere between real and generated data.

    Args:
      gan_model: The model, a named tuple.
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
      ValueError: If a rank is not known."""
