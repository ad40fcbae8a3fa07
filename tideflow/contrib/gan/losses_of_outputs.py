"""The losses of GANs, as functions of what the discriminator says (`tf.contrib.gan.losses.wargs`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, name_scope
from tideflow.losses.collection import add_loss
from tideflow.losses.functions import absolute_difference, sigmoid_cross_entropy, softmax_cross_entropy
from tideflow.losses.reduction import Reduction, compute_weighted_loss
from tideflow.ops.arrays import creation
from tideflow.ops.math import binary, casting, reductions
from tideflow.summary import functions as summaries

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

LOSSES = GraphKeys.LOSSES
MEAN = Reduction.SUM_BY_NONZERO_WEIGHTS


def _summarized(add_summaries: bool, **losses: Any) -> None:
    if add_summaries:
        for name, loss in losses.items():
            summaries.scalar(name, loss)


def _of_both(on_real: Any, on_generated: Any, word: str, collection: Any, add_summaries: bool) -> Tensor:
    """The discriminator's loss: the sum of those on real and on generated data."""
    loss = on_real + on_generated
    add_loss(loss, collection)
    _summarized(
        add_summaries,
        **{
            f"discriminator_gen_{word}_loss": on_generated,
            f"discriminator_real_{word}_loss": on_real,
            f"discriminator_{word}_loss": loss,
        },
    )
    return loss


def _pair(real: Any, generated: Any) -> tuple[Tensor, Tensor]:
    real, generated = casting.to_float(real), casting.to_float(generated)
    real.shape.assert_is_compatible_with(generated.shape)
    return real, generated


# --------------------------------------------------------------------------------------------- Wasserstein


@export("contrib.gan.losses.wargs.wasserstein_generator_loss")
def wasserstein_generator_loss(
    discriminator_gen_outputs: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """The generator's loss of a Wasserstein GAN: `-D(G(z))`.

    Args:
      discriminator_gen_outputs: What the discriminator says of generated data.
      weights: What each example counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss.
    """
    with name_scope(scope, "generator_wasserstein_loss", (discriminator_gen_outputs, weights)) as scope:
        losses = -casting.to_float(discriminator_gen_outputs)
        loss = compute_weighted_loss(losses, weights, scope, loss_collection, reduction)
        _summarized(add_summaries, generator_wass_loss=loss)
        return loss


@export("contrib.gan.losses.wargs.wasserstein_discriminator_loss")
def wasserstein_discriminator_loss(
    discriminator_real_outputs: TensorLike,
    discriminator_gen_outputs: TensorLike,
    real_weights: TensorLike = 1.0,
    generated_weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """The discriminator's loss of a Wasserstein GAN: `D(G(z)) - D(x)`.

    Args:
      discriminator_real_outputs: What the discriminator says of real data.
      discriminator_gen_outputs: What it says of generated data.
      real_weights: What each real example counts: a number, or a tensor that broadcasts.
      generated_weights: What each generated example counts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss.
    """
    given = (discriminator_real_outputs, discriminator_gen_outputs, real_weights, generated_weights)
    with name_scope(scope, "discriminator_wasserstein_loss", given) as scope:
        real, generated = _pair(discriminator_real_outputs, discriminator_gen_outputs)
        on_generated = compute_weighted_loss(generated, generated_weights, scope, None, reduction)
        on_real = compute_weighted_loss(real, real_weights, scope, None, reduction)
        loss = on_generated - on_real
        add_loss(loss, loss_collection)
        _summarized(
            add_summaries,
            discriminator_gen_wass_loss=on_generated,
            discriminator_real_wass_loss=on_real,
            discriminator_wass_loss=loss,
        )
        return loss


# ------------------------------------------------------------------------------------- auxiliary classifier


@export("contrib.gan.losses.wargs.acgan_discriminator_loss")
def acgan_discriminator_loss(
    discriminator_real_classification_logits: TensorLike,
    discriminator_gen_classification_logits: TensorLike,
    one_hot_labels: TensorLike,
    label_smoothing: float = 0.0,
    real_weights: TensorLike = 1.0,
    generated_weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """How badly the discriminator classifies real and generated data.

    Args:
      discriminator_real_classification_logits: The classes' logits for real data.
      discriminator_gen_classification_logits: Those for generated data.
      one_hot_labels: The classes, a tensor of one-hot vectors.
      label_smoothing: How much of the labels of real data is spread over all classes.
      real_weights: What each real example counts: a number, or a tensor that broadcasts.
      generated_weights: What each generated example counts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss.
    """
    real, generated = discriminator_real_classification_logits, discriminator_gen_classification_logits
    with name_scope(scope, "acgan_discriminator_loss", (real, generated, one_hot_labels)) as scope:
        on_generated = softmax_cross_entropy(
            one_hot_labels, generated, generated_weights, 0, scope, None, reduction
        )
        on_real = softmax_cross_entropy(
            one_hot_labels, real, real_weights, label_smoothing, scope, None, reduction
        )
        return _of_both(on_real, on_generated, "ac", loss_collection, add_summaries)


@export("contrib.gan.losses.wargs.acgan_generator_loss")
def acgan_generator_loss(
    discriminator_gen_classification_logits: TensorLike,
    one_hot_labels: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """How badly the discriminator classifies generated data.

    Args:
      discriminator_gen_classification_logits: The classes' logits for generated data.
      one_hot_labels: The classes, a tensor of one-hot vectors.
      weights: What each example counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss.
    """
    logits = discriminator_gen_classification_logits
    with name_scope(scope, "acgan_generator_loss", (logits, one_hot_labels)) as scope:
        loss = softmax_cross_entropy(one_hot_labels, logits, weights, 0, scope, loss_collection, reduction)
        _summarized(add_summaries, generator_ac_loss=loss)
        return loss


# ------------------------------------------------------------------------------------------------- minimax


@export("contrib.gan.losses.wargs.minimax_discriminator_loss")
def minimax_discriminator_loss(
    discriminator_real_outputs: TensorLike,
    discriminator_gen_outputs: TensorLike,
    label_smoothing: float = 0.25,
    real_weights: TensorLike = 1.0,
    generated_weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """The discriminator's loss of the first GANs: `-log sigmoid D(x) - log(1 - sigmoid D(G(z)))`.

    Args:
      discriminator_real_outputs: What the discriminator says of real data, as logits.
      discriminator_gen_outputs: What it says of generated data.
      label_smoothing: How far the labels of real data are moved from 1 towards a half.
      real_weights: What each real example counts: a number, or a tensor that broadcasts.
      generated_weights: What each generated example counts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss.
    """
    real, generated = discriminator_real_outputs, discriminator_gen_outputs
    given = (real, generated, real_weights, generated_weights, label_smoothing)
    with name_scope(scope, "discriminator_minimax_loss", given) as scope:
        on_real = sigmoid_cross_entropy(
            creation.ones_like(real), real, real_weights, label_smoothing, scope, None, reduction
        )
        on_generated = sigmoid_cross_entropy(
            creation.zeros_like(generated), generated, generated_weights, 0, scope, None, reduction
        )
        return _of_both(on_real, on_generated, "minimax", loss_collection, add_summaries)


@export("contrib.gan.losses.wargs.minimax_generator_loss")
def minimax_generator_loss(
    discriminator_gen_outputs: TensorLike,
    label_smoothing: float = 0.0,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """The generator's loss of the first GANs: what the discriminator loses.

    Args:
      discriminator_gen_outputs: What the discriminator says of generated data, as logits.
      label_smoothing: How far the labels of real data are moved from 1 towards a half.
      weights: What each example counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss.
    """
    outputs = discriminator_gen_outputs
    with name_scope(scope, "generator_minimax_loss") as scope:
        of_discriminator = minimax_discriminator_loss(
            creation.ones_like(outputs),
            outputs,
            label_smoothing,
            weights,
            weights,
            scope,
            loss_collection,
            reduction,
        )
        loss = -of_discriminator
    _summarized(add_summaries, generator_minimax_loss=loss)
    return loss


@export("contrib.gan.losses.wargs.modified_discriminator_loss")
def modified_discriminator_loss(
    discriminator_real_outputs: TensorLike,
    discriminator_gen_outputs: TensorLike,
    label_smoothing: float = 0.25,
    real_weights: TensorLike = 1.0,
    generated_weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """The discriminator's loss beside `modified_generator_loss`: `minimax_discriminator_loss`.

    Args:
      discriminator_real_outputs: What the discriminator says of real data, as logits.
      discriminator_gen_outputs: What it says of generated data.
      label_smoothing: How far the labels of real data are moved from 1 towards a half.
      real_weights: What each real example counts: a number, or a tensor that broadcasts.
      generated_weights: What each generated example counts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss.
    """
    return minimax_discriminator_loss(
        discriminator_real_outputs,
        discriminator_gen_outputs,
        label_smoothing,
        real_weights,
        generated_weights,
        scope or "discriminator_modified_loss",
        loss_collection,
        reduction,
        add_summaries,
    )


@export("contrib.gan.losses.wargs.modified_generator_loss")
def modified_generator_loss(
    discriminator_gen_outputs: TensorLike,
    label_smoothing: float = 0.0,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """The generator's loss whose gradient does not vanish: `-log sigmoid D(G(z))`.

    Args:
      discriminator_gen_outputs: What the discriminator says of generated data, as logits.
      label_smoothing: How far the labels are moved from 1 towards a half.
      weights: What each example counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss.
    """
    outputs = discriminator_gen_outputs
    with name_scope(scope, "generator_modified_loss", [outputs]) as scope:
        loss = sigmoid_cross_entropy(
            creation.ones_like(outputs), outputs, weights, label_smoothing, scope, loss_collection, reduction
        )
        _summarized(add_summaries, generator_modified_loss=loss)
        return loss


# ------------------------------------------------------------------------------------------- least squares


@export("contrib.gan.losses.wargs.least_squares_generator_loss")
def least_squares_generator_loss(
    discriminator_gen_outputs: TensorLike,
    real_label: float = 1,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """The generator's loss of least squares: `(D(G(z)) - real_label)² / 2`.

    Args:
      discriminator_gen_outputs: What the discriminator says of generated data.
      real_label: What the discriminator is to say of real data.
      weights: What each example counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss.
    """
    with name_scope(scope, "lsq_generator_loss", (discriminator_gen_outputs, real_label)) as scope:
        losses = _half_square(casting.to_float(discriminator_gen_outputs), real_label)
        loss = compute_weighted_loss(losses, weights, scope, loss_collection, reduction)
    _summarized(add_summaries, generator_lsq_loss=loss)
    return loss


def _half_square(outputs: Tensor, label: float) -> Tensor:
    return binary.squared_difference(outputs, label) / 2.0


@export("contrib.gan.losses.wargs.least_squares_discriminator_loss")
def least_squares_discriminator_loss(
    discriminator_real_outputs: TensorLike,
    discriminator_gen_outputs: TensorLike,
    real_label: float = 1,
    fake_label: float = 0,
    real_weights: TensorLike = 1.0,
    generated_weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """The discriminator's loss of least squares: `(D(x) - real_label)² / 2 + (D(G(z)) - fake_label)² / 2`.

    Args:
      discriminator_real_outputs: What the discriminator says of real data.
      discriminator_gen_outputs: What it says of generated data.
      real_label: What it is to say of real data.
      fake_label: What it is to say of generated data.
      real_weights: What each real example counts: a number, or a tensor that broadcasts.
      generated_weights: What each generated example counts.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; None for none.
      reduction: How the examples' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss.
    """
    with name_scope(scope, "lsq_discriminator_loss", (discriminator_gen_outputs, real_label)) as scope:
        real, generated = _pair(discriminator_real_outputs, discriminator_gen_outputs)
        on_real = compute_weighted_loss(_half_square(real, real_label), real_weights, scope, None, reduction)
        on_generated = compute_weighted_loss(
            _half_square(generated, fake_label), generated_weights, scope, None, reduction
        )
        return _of_both(on_real, on_generated, "lsq", loss_collection, add_summaries)


# -------------------------------------------------------------------------- information, cycles, two losses


@export("contrib.gan.losses.wargs.mutual_information_penalty")
def mutual_information_penalty(
    structured_generator_inputs: Sequence[TensorLike],
    predicted_distributions: Sequence[Any],
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable | None = LOSSES,
    reduction: str = MEAN,
    add_summaries: bool = False,
) -> Tensor:
    """How badly the structured part of the noise can be told from generated data.

    Args:
      structured_generator_inputs: A list of tensors: the structured part of the noise.
      predicted_distributions: A list of distributions: what the discriminator says of each of these.
      weights: What each input counts: a number, or a tensor that broadcasts.
      scope: The name scope of the operations.
      loss_collection: The collection that the mean likelihood is added to; None for none.
      reduction: How the inputs' losses become one; see `tf.losses.Reduction`.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss: the negative mean of the logarithms of the likelihoods.

    Raises:
      ValueError: If the lists do not fit each other.
    """
    inputs, distributions = structured_generator_inputs, predicted_distributions
    if not isinstance(distributions, (list, tuple)):
        raise ValueError(f"`distributions` must be a list or tuple. Instead, found {type(distributions)}.")
    for found in distributions:
        if not callable(getattr(found, "log_prob", None)):
            raise ValueError(
                f"`distributions` must be a list of `Distributions`. Instead, found {type(found)}."
            )
    if len(inputs) != len(distributions):
        raise ValueError(
            f"`structured_generator_inputs` length {len(inputs)} must be the same as "
            f"`predicted_distributions` length {len(distributions)}."
        )
    with name_scope(scope, "mutual_information_loss") as scope:
        likelihoods = [
            reductions.reduce_mean(distribution.log_prob(noise))
            for distribution, noise in zip(distributions, inputs, strict=True)
        ]
        loss = -1 * compute_weighted_loss(likelihoods, weights, scope, loss_collection, reduction)
        _summarized(add_summaries, mutual_information_penalty=loss)
        return loss


@export("contrib.gan.losses.wargs.cycle_consistency_loss")
def cycle_consistency_loss(
    data_x: TensorLike,
    reconstructed_data_x: TensorLike,
    data_y: TensorLike,
    reconstructed_data_y: TensorLike,
    scope: str | None = None,
    add_summaries: bool = False,
) -> Tensor:
    """How far data is from what it becomes by way of the other kind: the mean of both absolute differences.

    Args:
      data_x: The data X.
      reconstructed_data_x: What becomes of X by way of Y.
      data_y: The data Y.
      reconstructed_data_y: What becomes of Y by way of X.
      scope: The name scope of the operations.
      add_summaries: Whether the loss is summarized.

    Returns:
      The loss, a scalar.
    """
    given = [data_x, reconstructed_data_x, data_y, reconstructed_data_y]
    with name_scope(scope, "cycle_consistency_loss", given):
        loss_x = absolute_difference(data_x, reconstructed_data_x)
        loss_y = absolute_difference(data_y, reconstructed_data_y)
        loss = (loss_x + loss_y) / 2.0
        _summarized(
            add_summaries,
            cycle_consistency_loss_x2x=loss_x,
            cycle_consistency_loss_y2y=loss_y,
            cycle_consistency_loss=loss,
        )
        return loss


def classification_loss(
    loss_fn: Callable, labels: Any, logits: Any, one_hot: bool, name: str, add_summaries: bool
) -> Tensor:
    """The mean loss of classifying domains."""
    with name_scope(name, values=(labels, logits)):
        loss = loss_fn(onehot_labels=labels, logits=logits)
        if not one_hot:
            loss = reductions.reduce_sum(loss, axis=1)
        loss = reductions.reduce_mean(convert_to_tensor(loss))
        _summarized(add_summaries, **{name: loss})
        return loss
