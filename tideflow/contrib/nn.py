"""tf.contrib.nn: dropout for SELUs, losses by samples, and older orders of arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export, expose
from tideflow.graph.operation import Tensor
from tideflow.nn.sampled import logits_of_samples
from tideflow.ops.arrays.ranking import nth_element_op

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, TensorLike

expose(tf.nn.conv1d_transpose, "contrib.nn.conv1d_transpose")

_SATURATION = -1.7580993408473766  # what SELU gives for very negative inputs


@export("contrib.nn.nth_element")
def nth_element(input: TensorLike, n: TensorLike, reverse: bool = False, name: str | None = None) -> Tensor:
    """Finds the element of a rank in each row.

    Args:
      input: The rows, along the last axis.
      n: The rank, from 0.
      reverse: Whether the largest element is the first.
      name: A name for the operation.

    Returns:
      The elements, without the last axis.
    """
    return nth_element_op(input, n, reverse=reverse, name=name)


@export("contrib.nn.alpha_dropout")
def alpha_dropout(
    x: TensorLike,
    keep_prob: TensorLike,
    noise_shape: ShapeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Leaves out elements so that mean and variance stay, as networks of SELUs need it.

    Args:
      x: The tensor.
      keep_prob: The probability that an element is kept.
      noise_shape: The shape of the random choices, which is broadcast; that of `x` if None.
      seed: The seed.
      name: A name for the operations.

    Returns:
      The tensor.

    Raises:
      ValueError: If the probability is out of range.
    """
    with tf.name_scope(name, "alpha_dropout", [x]):
        x = tf.convert_to_tensor(x, name="x")
        if isinstance(keep_prob, (int, float)) and not 0 < keep_prob <= 1.0:
            raise ValueError(
                f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob:g}"
            )
        keep = tf.convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep.get_shape().assert_has_rank(0)
        if tf.get_static_value(keep) == 1:
            return x
        shape = tf.shape(x) if noise_shape is None else noise_shape
        drawn = tf.random_uniform(shape, seed=seed, dtype=x.dtype)
        kept = tf.cast(tf.greater_equal(drawn, 1 - keep), x.dtype)
        x = x * kept + _SATURATION * (1 - kept)
        scale = (keep + keep * (1 - keep) * _SATURATION**2) ** -0.5
        return scale * x - scale * _SATURATION * (1 - keep)


@export("contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits")
def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, dim: int = -1, name: str | None = None
) -> Tensor:
    """Computes the cross entropy of softmax and labels, with the logits first.

    Args:
      logits: The logits.
      labels: The labels, as probabilities.
      dim: The axis of the classes.
      name: A name for the operations.

    Returns:
      The cross entropy of each example.
    """
    return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


@export("contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits")
def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, name: str | None = None
) -> Tensor:
    """Computes the cross entropy of softmax and numbers of classes, with the logits first.

    Args:
      logits: The logits.
      labels: The numbers of the classes.
      name: A name for the operations.

    Returns:
      The cross entropy of each example.
    """
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


@export("contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits")
def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: TensorLike, targets: TensorLike, name: str | None = None
) -> Tensor:
    """Computes the cross entropy of sigmoid and labels, with the logits first.

    Args:
      logits: The logits.
      targets: The labels, as probabilities.
      name: A name for the operations.

    Returns:
      The cross entropy of each element.
    """
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


@export("contrib.nn.sampled_sparse_softmax_loss")
def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    sampled_values: tuple[Tensor, Tensor, Tensor] | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Tensor:
    """Computes a softmax loss over the true class and some others that are drawn.

    Args:
      weights: The embeddings of the classes, [classes, size], or their parts.
      biases: The biases of the classes.
      labels: The numbers of the classes, [batch, 1].
      inputs: The inputs, [batch, size].
      num_sampled: How many classes are drawn for a batch.
      num_classes: The number of classes.
      sampled_values: The classes that are drawn, as a sampler of `tf.nn` returns them.
      remove_accidental_hits: Whether the true class does not count where it is drawn.
      partition_strategy: How classes are divided among parts: `"div"` or `"mod"`.
      name: A name for the operations.

    Returns:
      The loss of each example.
    """
    logits, _ = logits_of_samples(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        1,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
    )
    first = tf.zeros([tf.shape(logits)[0]], dtype=tf.int64)  # where the true class stands
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=first, logits=logits)


@export("contrib.nn.rank_sampled_softmax_loss")
def rank_sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: tuple[Tensor, Tensor, Tensor] | None,
    resampling_temperature: float | Tensor,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None = None,
) -> Tensor:
    """Computes a softmax loss over the true class and the hardest of some others that are drawn.

    Args:
      weights: The embeddings of the classes, [classes, size], or their parts.
      biases: The biases of the classes.
      labels: The numbers of the classes, [batch, num_true].
      inputs: The inputs, [batch, size].
      num_sampled: How many classes are drawn for a batch.
      num_resampled: How many of these count: those with the largest logits.
      num_classes: The number of classes.
      num_true: The number of true classes of an example.
      sampled_values: The classes that are drawn, as a sampler of `tf.nn` returns them; drawn by
        `tf.nn.learned_unigram_candidate_sampler` if None.
      resampling_temperature: By what logits are divided before they are compared.
      remove_accidental_hits: Whether the true class does not count where it is drawn.
      partition_strategy: How classes are divided among parts: `"div"` or `"mod"`.
      name: A name for the operations.

    Returns:
      The loss of each example.

    Raises:
      ValueError: If the numbers of classes do not fall from one to the next, or the strategy is unknown.
    """
    if num_sampled > num_classes:
        raise ValueError(f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})")
    if num_sampled <= num_resampled:
        raise ValueError(f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})")
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    with tf.name_scope(name, "rank_sampled_softmax_loss") as scope:
        if not sampled_values:
            sampled_values = tf.nn.learned_unigram_candidate_sampler(
                labels, num_true, num_sampled, unique=True, range_max=num_classes
            )
        sampled, true_count, sampled_count = (tf.stop_gradient(each) for each in sampled_values)
        sampled = tf.cast(sampled, tf.int64)
        rows = tf.nn.embedding_lookup(weights, sampled, partition_strategy)
        scaled = tf.matmul(rows, inputs / resampling_temperature, transpose_b=True)
        bias = tf.reshape(tf.nn.embedding_lookup(biases, sampled, partition_strategy), [-1])
        logits = tf.reduce_logsumexp(scaled, axis=1) + bias / resampling_temperature
        _, hardest = tf.nn.top_k(logits, k=num_resampled, sorted=False)
        return tf.nn.sampled_softmax_loss(
            weights=weights,
            biases=biases,
            labels=labels,
            inputs=inputs,
            num_sampled=num_resampled,
            num_classes=num_classes,
            num_true=num_true,
            sampled_values=(tf.gather(sampled, hardest), true_count, tf.gather(sampled_count, hardest)),
            remove_accidental_hits=remove_accidental_hits,
            partition_strategy=partition_strategy,
            name=scope,
        )


@export("contrib.nn.scaled_softplus")
def scaled_softplus(
    x: TensorLike, alpha: TensorLike, clip: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Computes `alpha * softplus(x / alpha)`, clipped above, with gradients that do not overflow.

    Args:
      x: The tensor.
      alpha: The scale, which is broadcast.
      clip: The greatest value, which is broadcast.
      name: A name for the operations.

    Returns:
      The tensor.
    """
    with tf.name_scope(name, "scaled_softplus", [x, alpha]):
        x = tf.convert_to_tensor(x, name="x")
        alpha = tf.convert_to_tensor(alpha, dtype=x.dtype, name="alpha")

        @tf.custom_gradient
        def scaled(x: Tensor, alpha: Tensor) -> Any:
            y = alpha * tf.nn.softplus(x / alpha)

            def grad(g: Tensor) -> tuple[Tensor, Tensor]:
                small = tf.exp(-y / alpha)
                by_x = 1.0 - small
                by_alpha = y / alpha * small - by_x * tf.log(by_x + 1e-8)
                return _summed(g * by_x, x), _summed(g * by_alpha, alpha)

            return y, grad

        y = scaled(x, alpha)
        return y if clip is None else tf.minimum(y, tf.convert_to_tensor(clip, dtype=x.dtype, name="clip"))


def _summed(gradient: Tensor, like: Tensor) -> Tensor:
    """A gradient in the shape of what was broadcast."""
    shape = tf.shape(like)
    axes, _ = tf.raw_ops.BroadcastGradientArgs(s0=shape, s1=tf.shape(gradient))
    return tf.reshape(tf.reduce_sum(gradient, axes), shape)
